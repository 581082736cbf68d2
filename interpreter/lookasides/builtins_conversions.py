"""Builtins that turn an object into a number or a text by asking it for a special method."""
from __future__ import annotations

from interpreter.lookasides.asking import asks
from interpreter.lookasides.lent import INDEX, NUMBER, lend_number

TEXT = ("__str__", "__repr__")
FORMAT = ("__format__", *TEXT)

for target in (bin, oct, hex, chr, range, slice.indices):
    asks(target, INDEX, take=lend_number)
asks(abs, ("__abs__",))
asks(ascii, ("__repr__",))
asks(bool, ("__bool__", "__len__"))
asks(complex, ("__complex__", *NUMBER))
asks(float, NUMBER)
asks(format, FORMAT)
asks(hash, ("__hash__",))
asks(int, ("__int__", "__trunc__", *INDEX), INDEX)
asks(len, ("__len__",))
asks(object.__format__, FORMAT)
asks(object.__str__, ("__repr__",))
asks(repr, ("__repr__",))
asks(reversed, ("__reversed__", "__getitem__", "__len__"))
asks(round, ("__round__",), INDEX)
asks(str, TEXT, ())
