"""What fills a mapping from another one, or from an iterable of pairs: dict, its subclasses in C, and their update."""
from __future__ import annotations

import collections

from interpreter.lookasides.hooks import MAPPING_IDS, in_python, iterated_natively, native, plain
from interpreter.lookasides.machinery import finish
from interpreter.lookasides.registry import lookaside
from interpreter.vm.lookups import Host
from interpreter.vm.reentry import entered

OrderedDict, defaultdict = collections.OrderedDict, collections.defaultdict


class LentMapping(Host):
    """What native code that fills a mapping gets in the place of the user's: keys and items asked in the machine."""

    __slots__ = ("machine", "source")

    def keys(self):
        return self.machine.entered(self.machine.reentered(keys_of)(self.source))

    def __getitem__(self, key):
        return self.machine.reentered(item_of)(self.source, key)


class LentItems(LentMapping):
    """The same for what has no keys, but items."""

    __slots__ = ()
    keys = property()  # raises AttributeError

    def items(self):
        pairs = self.machine.reentered(items_of)(self.source)
        return map(self.machine.reentered(entered), self.machine.entered(pairs))


def keys_of(mapping):
    return mapping.keys()


def items_of(mapping):
    return mapping.items()


def item_of(mapping, key):
    return mapping[key]


def has(machine, source, name):
    try:
        finish(machine, machine.get_attribute(source, name))
    except AttributeError:
        return False
    return True


def prepared(machine, source, kinds=(("keys", LentMapping),)):
    """A mapping or an iterable of pairs, ready for native code to go through."""
    kind = type(source)
    if id(kind) in MAPPING_IDS or (issubclass(kind, dict) and not in_python(kind, "__iter__")):
        return source
    for name, base in kinds:
        if has(machine, source, name):
            lent = type(kind.__name__, (base,), {"__slots__": ()})()
            lent.machine, lent.source = machine, source
            return lent
    return map(machine.reentered(entered), machine.entered(source))


ORDERED = (("keys", LentMapping), ("items", LentItems))


def fills(position):
    """``needed`` of what takes a mapping or an iterable of pairs at this position."""

    def needed(args, kwargs):
        return len(args) > position and id(type(args[position])) not in MAPPING_IDS and not plain(args[position])

    return needed


@lookaside(dict, native=True, needed=fills(0))
def dict_(machine, source=(), /, **items):
    """A dict, from a mapping or an iterable of pairs that the machine goes through."""
    return machine.original(dict, [prepared(machine, source)], items)


@lookaside(dict.__init__, native=True, needed=fills(1))
def dict_init_(machine, self, source=(), /, **items):
    """A dict is filled from a mapping or an iterable of pairs that the machine goes through."""
    return machine.original(dict.__init__, [self, prepared(machine, source)], items)


@lookaside(dict.update, native=True, needed=fills(1))
def dict_update_(machine, self, source=(), /, **items):
    """Items are added from a mapping or an iterable of pairs that the machine goes through."""
    return machine.original(dict.update, [self, prepared(machine, source)], items)


@lookaside(dict.__ior__, native=True, needed=fills(1))
def dict_ior_(machine, self, source, /):
    """Items are added from a mapping or an iterable of pairs that the machine goes through."""
    return machine.original(dict.__ior__, [self, prepared(machine, source)])


@lookaside(OrderedDict, native=True, needed=fills(0))
def ordered_dict_(machine, source=(), /, **items):
    """An OrderedDict, from a mapping or an iterable of pairs that the machine goes through."""
    return machine.original(OrderedDict, [prepared(machine, source, ORDERED)], items)


@lookaside(OrderedDict.__init__, native=True, needed=fills(1))
def ordered_dict_init_(machine, self, source=(), /, **items):
    """An OrderedDict is filled from a mapping or an iterable of pairs that the machine goes through."""
    return machine.original(OrderedDict.__init__, [self, prepared(machine, source, ORDERED)], items)


@lookaside(OrderedDict.update, native=True, needed=fills(1))
def ordered_dict_update_(machine, self, source=(), /, **items):
    """Items are added from a mapping or an iterable of pairs that the machine goes through."""
    return machine.original(OrderedDict.update, [self, prepared(machine, source, ORDERED)], items)


def makes(args, kwargs):
    """``needed`` of defaultdict."""
    return bool(args) and (args[0] is None or callable(args[0])) and fills(1)(args, kwargs)


@lookaside(defaultdict, native=True, needed=makes)
def defaultdict_(machine, factory=None, source=(), /, **items):
    """A defaultdict, filled from a mapping or an iterable of pairs that the machine goes through."""
    return machine.original(defaultdict, [factory, prepared(machine, source)], items)


@lookaside(defaultdict.__missing__, needed=lambda args, kwargs: not native(args[0].default_factory))
def missing_(self, key, /):
    """The value for a new key: what the factory gives."""
    self[key] = value = self.default_factory()
    return value


@lookaside(dict.fromkeys, needed=lambda args, kwargs: not iterated_natively(args[0]))
def fromkeys_(iterable, value=None, /):
    """A dict with these keys, all of one value."""
    return dict.fromkeys(entered(iterable), value)


def filled(kind, iterable, value=None, /):
    """What ``fromkeys`` does for a class derived from dict."""
    made = kind()
    for key in iterable:
        made[key] = value
    return made


@lookaside(OrderedDict.fromkeys)
def ordered_fromkeys_(iterable, value=None):
    """An OrderedDict with these keys, all of one value."""
    return OrderedDict.fromkeys(entered(iterable), value)


@lookaside(collections._count_elements, needed=lambda args, kwargs: not iterated_natively(args[1]))
def count_elements_(mapping, iterable, /):
    """Counts items into a mapping: what Counter does with an iterable."""
    return collections._count_elements(mapping, entered(iterable))
