"""What raw operands become when a code object is decoded."""


def constant(decoder, raw):
    return decoder.consts[raw]


def name(decoder, raw):
    return decoder.names[raw]


def flagged_name(decoder, raw):
    """(name, lowest bit): of instructions that may push an empty place beside the value."""
    return decoder.names[raw >> 1], raw & 1


def slot(decoder, raw):
    """(index of a local, its name)."""
    return raw, decoder.plan.names[raw]


def slot_pair(decoder, raw):
    """Two indices of locals in one operand."""
    return raw >> 4, raw & 15


def passed(decoder, raw):
    """How many instructions have been executed when this one is done."""
    return decoder.passed
