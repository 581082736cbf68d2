"""Arguments to slots: what a call of a Python function puts into the locals of its frame."""

from .code import VARARGS, VARKEYWORDS
from .values import NULL


def bind(function, plan, args, kwargs):
    """The slots for the locals of a call, or None where the arguments do not fit (CPython then says why)."""
    count, given = plan.argcount, len(args)
    if plan.plain and not kwargs:
        if given == count:
            return [*args, *plan.blank]
        defaults = function.__defaults__
        if defaults and given < count <= given + len(defaults):
            return [*args, *defaults[given - count :], *plan.blank]
        return None
    return bind_general(function, plan, args, kwargs or {})


def bind_general(function, plan, args, kwargs):
    """The same for keyword arguments, ``*args`` and ``**kwargs``."""
    names, count, kwonly = plan.names, plan.argcount, plan.kwonly
    slots = [NULL] * plan.size
    total, given = count + kwonly, len(args)
    taken = min(given, count)
    slots[:taken] = args[:taken]
    extra_keywords = {} if plan.flags & VARKEYWORDS else None
    if plan.flags & VARARGS:
        slots[total] = tuple(args[count:])
    elif given > count:
        return None
    if extra_keywords is not None:
        slots[total + (1 if plan.flags & VARARGS else 0)] = extra_keywords
    places = names[plan.posonly : total]
    for name, value in kwargs.items():
        if not isinstance(name, str):
            return None
        if name in places:
            place = plan.posonly + places.index(name)
            if slots[place] is not NULL:
                return None
            slots[place] = value
        elif extra_keywords is None:
            return None
        else:
            extra_keywords[name] = value
    return slots if fill_defaults(function, slots, count, kwonly, names) else None


def fill_defaults(function, slots, count, kwonly, names):
    """Put defaults where nothing was given; False if something is missing."""
    defaults = function.__defaults__ or ()
    first = count - len(defaults)
    for place in range(count):
        if slots[place] is NULL:
            if place < first:
                return False
            slots[place] = defaults[place - first]
    if kwonly:
        keyword_defaults = function.__kwdefaults__ or {}
        for place in range(count, count + kwonly):
            if slots[place] is NULL:
                value = keyword_defaults.get(names[place], NULL)
                if value is NULL:
                    return False
                slots[place] = value
    return True
