"""Which special methods a native function asks of its arguments: that a class has none of them is guarded as well."""

from __future__ import annotations

import operator

ITERATION = ("__iter__", "__getitem__", "__len__", "__next__")
ASKED = {  # special methods that a native function asks of its arguments: also that a class has none of them is guarded
    bool: ("__bool__", "__len__"),
    len: ("__len__",),
    int: ("__int__", "__index__", "__trunc__"),
    float: ("__float__", "__index__"),
    complex: ("__complex__", "__float__", "__index__"),
    str: ("__str__", "__repr__"),
    repr: ("__repr__",),
    ascii: ("__repr__",),
    format: ("__format__", "__str__"),
    hash: ("__hash__", "__eq__"),
    abs: ("__abs__",),
    round: ("__round__",),
    divmod: ("__divmod__",),
    pow: ("__pow__",),
    callable: ("__call__",),
    reversed: ("__reversed__", *ITERATION),
    dict: ("keys", *ITERATION),
    **dict.fromkeys((iter, list, tuple, sum, any, all, enumerate, zip, map, filter), ITERATION),
    **dict.fromkeys((set, frozenset), ("__hash__", "__eq__", *ITERATION)),
    **dict.fromkeys((min, max, sorted), ("__lt__", "__gt__", *ITERATION)),
    operator.eq: ("__eq__",),
    operator.ne: ("__ne__", "__eq__"),
    operator.lt: ("__lt__", "__gt__"),
    operator.le: ("__le__", "__ge__"),
    operator.gt: ("__gt__", "__lt__"),
    operator.ge: ("__ge__", "__le__"),
    operator.contains: ("__contains__", "__eq__", *ITERATION),
    operator.index: ("__index__",),
    operator.truth: ("__bool__", "__len__"),
    operator.not_: ("__bool__", "__len__"),
    **{
        function: (f"__{name}__", f"__r{name}__")
        for name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "matmul")
        for function in (getattr(operator, name),)
    },
}
EQUALITY = ("__eq__", "__hash__", "__ne__")
COMPARING = {
    "index",
    "count",
    "remove",
    "__contains__",
    "__eq__",
    "__ne__",
    "__lt__",
    "__le__",
    "__gt__",
    "__ge__",
    "sort",
}
