"""``class`` statements: ``__build_class__`` taken apart, so that the body and the metaclass's Python code are
interpreted."""

from types import FunctionType

from .frame import CellType, Frame
from .hooks import Then, hooked
from .lookups import derives, lookup
from .names import builtins_of
from .values import NULL


def build_class(machine, args, kwargs):
    """What a ``class`` statement calls: ``(body, name, *bases, metaclass=..., **keywords)``."""
    if len(args) < 2 or type(args[0]) is not FunctionType or type(args[1]) is not str:
        return machine.call_native(__build_class__, args, kwargs)
    body, name, *given = args
    keywords = dict(kwargs)
    bases = resolve_bases(machine, given)
    meta = keywords.pop("metaclass", NULL)
    if meta is NULL:
        meta = type(bases[0]) if bases else type
    if issubclass(type(meta), type):
        meta = winner(meta, bases)
    namespace = prepare(machine, meta, name, bases, keywords)
    cell = run_body(machine, body, namespace)
    if bases != tuple(given):
        namespace["__orig_bases__"] = tuple(given)
    result = machine.call(meta, [name, bases, namespace], keywords)

    def checked(cls):
        if issubclass(type(cls), type) and type(cell) is CellType:
            check_cell(cell, cls, name)
        return cls

    return hooked(result, Then(checked)) if type(result) is Frame else checked(result)


def resolve_bases(machine, given):
    """Bases with those replaced that have ``__mro_entries__``."""
    bases = []
    for base in given:
        if issubclass(type(base), type):
            bases.append(base)
            continue
        entries = getattr(base, "__mro_entries__", NULL)
        if entries is NULL:
            bases.append(base)
            continue
        found = machine.invoke(entries, tuple(given))
        if not issubclass(type(found), tuple):
            raise TypeError("__mro_entries__ must return a tuple")
        bases.extend(found)
    return tuple(bases)


def winner(meta, bases):
    """The most derived metaclass."""
    for base in bases:
        kind = type(base)
        if derives(meta, kind):
            continue
        if derives(kind, meta):
            meta = kind
            continue
        raise TypeError(
            "metaclass conflict: the metaclass of a derived class must be a (non-strict) subclass of the metaclasses "
            "of all its bases"
        )
    return meta


def prepare(machine, meta, name, bases, keywords):
    """The namespace for the body: what ``__prepare__`` gives."""
    maker = getattr(meta, "__prepare__", NULL)
    namespace = {} if maker is NULL else machine.invoke(maker, name, bases, **keywords)
    if lookup(type(namespace), "__getitem__") is NULL:
        shown = meta.__name__ if issubclass(type(meta), type) else "<metaclass>"
        raise TypeError(f"{shown}.__prepare__() must return a mapping, not {type(namespace).__name__}")
    return namespace


def run_body(machine, body, namespace):
    """Execute the body of a class in its namespace; gives the ``__class__`` cell or None."""
    code = body.__code__
    plan = machine.plan(code)
    slots = [NULL] * plan.size
    frame = Frame(machine, code, plan, body, body.__globals__, builtins_of(body.__globals__), slots, namespace)
    return machine.finish(frame)


def check_cell(cell, cls, name):
    """``type.__new__`` must have filled the ``__class__`` cell with the class."""
    try:
        held = cell.cell_contents
    except ValueError:
        text = f"__class__ not set defining {name!r} as {cls!r}. Was __classcell__ propagated to type.__new__?"
        raise RuntimeError(text) from None
    if held is not cls:
        raise TypeError(f"__class__ set to {held!r} defining {name!r} as {cls!r}")
