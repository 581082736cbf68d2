"""Hot straight runs of instructions, turned into one Python function each: a template compiler.

A *superblock* is a run of decoded instructions that is entered at its first one only and may be left in many places.
It begins as a counter in front of its first instruction. Once it has been reached ``HOT`` times, ``emitting`` writes a
Python function that does what the handlers of all its instructions do, with the values between them in local variables
instead of on the stack, and the function takes the place of the first instruction in the list.

Nothing is lost of what the machine knows of a frame:

- The function holds only the quick ways of handlers. What is not of the expected type *leaves* the superblock: the
  values go on the stack, and the loop goes on with the ordinary entry of that very instruction, which is in the list
  still. Where there is none, as it is the first of the run or the second of two fused ones, one is put at the end of
  the list, followed by a jump back.
- No call is in a superblock, of Python code or of native code. So the frame's place may rest at the first instruction
  while the function runs (only a finalizer could tell), and its variables have died before any call.
- Each instruction is a line of the function. Where one raises, the line of the traceback says which, and the frame is
  put there before the exception goes its way (``placed``).
- Instructions that leave again and again end the run: it is cut in two there (``Superblock.cut``).

Only the plain machine has superblocks: those that record override what the functions leave out.
"""

from threading import Lock

from .code import PACKAGE, VARARGS, VARKEYWORDS
from .emitting import FIRST_ONLY, LAST_ONLY, WRITERS, written
from .registry import Table

HOT = 200
"""So often an entry is reached before the run behind it is compiled."""
PATIENCE = 25
"""So often an instruction may leave a superblock before the run is cut at it."""
SHORTEST = 4
"""Instructions of a run that is worth it."""
FILENAME = PACKAGE + "vm/superblock"

_writing = Lock()


class Waiting:
    """A run that has not been reached often enough."""

    __slots__ = ("left", "original", "parts", "sure")

    def __init__(self, parts, sure, original):
        self.parts, self.sure, self.original, self.left = parts, sure, original, HOT


class Superblock:
    """A compiled run: the operand of its function in the list.

    ``places`` are the indices where the loop goes on after a part has left, ``end`` the one behind the run, ``lines``
    the part of each line of the function, ``counts`` how often each part has left, ``following`` the part that the run
    was cut from, if it was.
    """

    __slots__ = ("counts", "end", "following", "lines", "original", "parts", "places", "sure")

    def __init__(self, plan, waiting, parts, following):
        self.parts, self.sure, self.original = parts, waiting.sure, waiting.original
        self.following = following
        start, last = parts[0].entry, parts[-1].entry
        self.end = last + 1 if following is None else place(plan, self.original, start, following)
        self.counts = [0] * len(parts)
        self.lines = self.places = ()

    def leave(self, frame, position, values):
        """A value is not of the type that a part expects: go on with its ordinary entry."""
        frame.stack += values
        frame.iterator.__setstate__(self.places[position])
        self.counts[position] += 1
        if self.counts[position] >= PATIENCE:
            alone(self.cut, frame.plan, position)

    def cut(self, plan, position):
        """A part has left ``PATIENCE`` times: the run ends before it, and another begins behind it."""
        start = self.parts[0].entry
        if plan.instructions[start][1] is not self:
            return
        plan.instructions[start] = self.original
        before, after = self.parts[:position], self.parts[position + 1 :]
        compile_run(plan, Waiting(before, self.sure, self.original), before, self.parts[position])
        while after and not after[0].leads:
            del after[0]
        if after:
            compile_run(plan, Waiting(after, self.sure, plan.instructions[after[0].entry]), after, self.following)


class BlockTable(Table):
    """The handlers of a machine that compiles superblocks."""

    keeps_parts = True

    def finish(self, plan, decoder):
        """Put a counter in front of each run that is long enough."""
        sure = None
        for parts in runs(decoder):
            if len(parts) < SHORTEST:
                continue
            if sure is None:
                sure = always_bound(plan, decoder)
            entry = parts[0].entry
            plan.instructions[entry] = count_down, Waiting(parts, sure, plan.instructions[entry])


def runs(decoder):
    """The runs of a code object, short and empty ones too: lists of parts that are made of whole entries."""
    run = []
    for entry, parts in enumerate(decoder.parts):
        fits = all(part.handler in WRITERS and part.handler not in FIRST_ONLY for part in parts)
        begins = parts[0].handler in FIRST_ONLY
        if not fits or entry in decoder.joints:
            yield run
            run = []
        if fits or begins:
            run += parts
            if parts[-1].handler in LAST_ONLY:
                yield run
                run = []
    yield run


def always_bound(plan, decoder):
    """Indices of the locals that have a value all the time: arguments that nothing deletes."""
    given = plan.argcount + plan.kwonly + bool(plan.flags & VARARGS) + bool(plan.flags & VARKEYWORDS)
    deleted = {raw for _, name, raw, *_ in decoder.rows if name in ("DELETE_FAST", "LOAD_FAST_AND_CLEAR", "MAKE_CELL")}
    return frozenset(range(given)) - deleted


def count_down(frame, waiting):
    """The first instruction of a run that may get hot."""
    waiting.left -= 1
    if waiting.left <= 0:
        alone(begin, frame.plan, waiting)
    handler, operand = waiting.original
    return handler(frame, operand)


def begin(plan, waiting):
    """A run has become hot."""
    start = waiting.parts[0].entry
    if plan.instructions[start][1] is waiting:
        plan.instructions[start] = waiting.original
        compile_run(plan, waiting, waiting.parts)


def alone(rewrite, *operands):
    """Rewrite a plan, unless one is being rewritten: by another thread, or where a finalizer has come in between."""
    if _writing.acquire(blocking=False):
        try:
            rewrite(*operands)
        finally:
            _writing.release()


def compile_run(plan, waiting, parts, following=None):
    """Put the function for ``parts`` in the list, or as many functions as it takes where some parts do not fit now.

    ``following`` is the part behind them, where the run has been cut.
    """
    while len(parts) >= SHORTEST:
        block = Superblock(plan, waiting, parts, following)
        text, lines, namespace, unfit = written(block)
        if unfit is None:
            block.lines = lines
            block.places = [place(plan, block.original, parts[0].entry, part) for part in parts]
            exec(compile(text, FILENAME, "exec"), namespace)
            plan.instructions[parts[0].entry] = namespace.pop("superblock"), block  # else it would hold itself
            return
        before, cut, parts = parts[:unfit], parts[unfit], parts[unfit + 1 :]
        compile_run(plan, waiting, before, cut)
        while parts and not parts[0].leads:
            parts = parts[1:]
        if parts:
            waiting = Waiting(parts, waiting.sure, plan.instructions[parts[0].entry])


def place(plan, original, start, part):
    """Index of an entry from which the loop goes on as if there were no superblock: with ``part``."""
    if part.leads and part.entry != start:
        return part.entry
    following = plan.executed[start + 1] if part.leads else part.number + 1
    entry = original if part.leads else (part.handler, part.operand)
    offset = plan.offsets[start] if part.leads else part.offset
    return appended(plan, entry, offset, part.number, following, part.entry + 1)


def appended(plan, entry, offset, number, following, after):
    """Put an entry at the end of the list, with a jump to ``after`` behind it: its index."""
    extra = [entry, (go_on, after)]
    if plan.instructions[-1][0] is not go_on:  # the place behind the last instruction keeps what was executed there
        extra.insert(0, (go_on, after))
    index, count = plan.count + len(extra) - 2, plan.count + len(extra)
    plan.executed[index:] = number, following, following
    plan.offsets[plan.count :] = [offset] * len(extra)
    # A frame's place is worked out of the count and of what is left of the list: these two lines are not interrupted.
    plan.instructions += extra
    plan.count = count
    return index


def go_on(frame, index):
    """A jump that stands for no instruction."""
    frame.iterator.__setstate__(index)


def placed(frame, traceback):
    """An exception comes out of a superblock's function: put the frame at the part that has raised it."""
    block = traceback.tb_frame.f_locals["block"]
    part = block.parts[block.lines[traceback.tb_lineno]]
    frame.iterator.__setstate__(part.entry + 1)
    if part.offset != frame.plan.offsets[part.entry]:
        frame.machine.restored = part.offset
