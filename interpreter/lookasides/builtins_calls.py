"""Operators by another name, what makes bytes, and what looks at the caller: pow, divmod, bytes, compile."""
from __future__ import annotations

from interpreter.lookasides.hooks import any_hooked, atoms, has_hook, iterated_natively
from interpreter.lookasides.lent import INDEX, lend
from interpreter.lookasides.registry import lookaside
from interpreter.vm.natives import user_frame

FUTURE = 0x1FF0000  # the bits of co_flags that __future__ imports set
POWER = any_hooked("__pow__", "__rpow__")


@lookaside(pow, native=True, needed=POWER)
def pow_(machine, base, exp, mod=None):
    """``base ** exp``; with a modulus, what the base's own ``__pow__`` makes of the three."""
    if mod is None:
        return machine.binary("**", base, exp)
    return machine.original(pow, [lend(machine, base, ("__pow__",)), exp, mod])


@lookaside(divmod, native=True, needed=any_hooked("__divmod__", "__rdivmod__"))
def divmod_(machine, x, y, /):
    """Quotient and remainder, by ``__divmod__`` of the first or ``__rdivmod__`` of the second."""
    names = (None, "__divmod__", "__rdivmod__")
    return machine.python_binary("divmod()", divmod, names, x, y, type(x), type(y))


BYTES = ("__bytes__", "__iter__", "__getitem__", "__len__", "__length_hint__", *INDEX)


def makes_bytes(args, kwargs):
    """``needed`` of bytes and bytearray of one argument."""
    return len(args) == 1 and not kwargs and not (iterated_natively(args[0]) and atoms(args[0])) \
        and not issubclass(type(args[0]), (bytes, bytearray, memoryview))


def bytes_from(target):
    def handler(machine, source, /):
        if has_hook(source, "__bytes__") or has_hook(source, "__index__"):
            return machine.original(target, [lend(machine, source, BYTES)])
        if issubclass(type(source), int):
            return machine.original(target, [source])
        return machine.original(target, [machine.entered(source)])

    handler.__doc__ = "The original, of what the machine goes through."
    return handler


lookaside(bytes, native=True, needed=makes_bytes)(bytes_from(bytes))
lookaside(bytearray, native=True, needed=makes_bytes)(bytes_from(bytearray))


def takes_flags(args, kwargs):
    """``needed`` of compile: there are flags to add to."""
    return type(args[3] if len(args) > 3 else (kwargs or {}).get("flags", 0)) is int


@lookaside(compile, native=True, needed=takes_flags)
def compile_(machine, source, filename, mode, flags=0, dont_inherit=False, optimize=-1, *, _feature_version=-1):
    """Compiles with the ``__future__`` imports of the user's code, unless it says not to."""
    frame = user_frame(machine)
    inherited = 0 if dont_inherit or frame is None else frame.code.co_flags & FUTURE
    keywords = {"flags": flags | inherited, "optimize": optimize, "_feature_version": _feature_version}
    return machine.original(compile, [source, filename, mode], {**keywords, "dont_inherit": True})
