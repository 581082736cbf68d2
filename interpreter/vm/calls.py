"""Calls: which route a callable takes, and how classes, bound methods and callable objects are taken apart."""

import re
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)

from .binding import bind
from .borrowed import DESCRIPTORS, STANDARD, call_from, looks
from .code import OPTIMIZED
from .frame import Frame
from .hooks import Instance, Then, hooked
from .ledger import text_of
from .lookups import HEAP_TYPE, derives, flags_of, lookup, mro_of, namespace_of, special, verdicts
from .reentry import Reentry
from .values import NULL

BUILTINS = (BuiltinFunctionType, type(re.compile("").sub))  # the second knows the class that defines it


class Calls:
    """The part of the machine that deals with calls."""

    def call(self, function, args, kwargs=None):
        """Call ``function``: its value, or the Frame that will give it."""
        kind = type(function)
        if kind is FunctionType:
            if function in self.routes:
                result = self.stand_in(function, args, kwargs)
                if result is not NULL:
                    return result
            return self.enter(function, args, kwargs)
        if kind is MethodType:
            return self.call(function.__func__, [function.__self__, *args], kwargs)
        if kind in BUILTINS:
            owner = function.__self__
            if owner is not None and type(owner) is not ModuleType and not issubclass(type(owner), type):
                target = lookup(type(owner), function.__name__)
                if type(target) is MethodDescriptorType and target in self.routes:
                    result = self.stand_in(target, [owner, *args], kwargs)
                    if result is not NULL:
                        return result
                return self.call_native(function, args, kwargs)
            return self.call_listed(function, args, kwargs)
        if issubclass(kind, type):
            return self.call_class(function, kind, args, kwargs)
        if kind in DESCRIPTORS:
            return self.call_listed(function, args, kwargs)
        if kind is MethodWrapperType:
            target = lookup(type(function.__self__), function.__name__)
            if type(target) is WrapperDescriptorType and target in self.routes:
                result = self.stand_in(target, [function.__self__, *args], kwargs)
                if result is not NULL:
                    return result
            return self.call_native(function, args, kwargs)
        return self.call_object(function, kind, args, kwargs)

    def call_listed(self, function, args, kwargs):
        """A native callable, for which there may be a lookaside."""
        if function in self.routes:
            result = self.stand_in(function, args, kwargs)
            if result is not NULL:
                return result
        return self.call_native(function, args, kwargs)

    def call_object(self, function, kind, args, kwargs):
        """A callable object that is no function, method or class."""
        if kind is Reentry:
            return self.call(function.function, args, kwargs)
        if kind is partial:
            keywords = {**function.keywords, **kwargs} if kwargs else dict(function.keywords)
            return self.call(function.func, [*function.args, *args], keywords)
        caller = special(kind, "__call__")
        if caller is not None:
            return self.call(caller, [function, *args], kwargs)
        slot = lookup(kind, "__call__")
        if type(slot) is WrapperDescriptorType and slot in self.routes:
            result = self.stand_in(slot, [function, *args], kwargs)
            if result is not NULL:
                return result
        return self.call_native(function, args, kwargs)

    def stand_in(self, target, args, kwargs):
        """Go by the lookaside or native handler for ``target``; NULL where the original is to be called.

        That is so when no argument can lead to Python code, and when the call is made by the lookaside itself.
        """
        found = self.routes[target]
        body = found.function
        frame = self.frame
        if not found.needed(args, kwargs):
            return NULL
        if found.native:
            if getattr(found, "counted", True):
                self.note(target, "lookaside")
            return body(self, *args, **kwargs) if kwargs else body(self, *args)
        if frame.code is not None and within(frame, body):
            return NULL
        self.note(target, "lookaside")
        entered = self.enter(body, args, kwargs, noted=True)
        if type(entered) is Frame:
            entered.plan.silent = True  # wherever its file is: it stands for code that has no frame
        return entered

    unnoted = False

    def note(self, key, route):
        """Count a call in the ledger, at the user's line. What a lookaside calls natively is its own affair."""
        if self.unnoted:
            self.unnoted = False
            return
        frame = self.frame
        if frame.code is None or frame.plan.silent:
            if frame.code is not None and route != "interpreted":
                return
            while frame is not None and (frame.code is None or frame.plan.silent):
                frame = frame.back
            if frame is None:
                self.ledger.note(key, route, None, 0)
                return
        self.ledger.note(key, route, frame.plan, frame.plan.count - frame.iterator.__length_hint__() - 1)

    def note_special(self, kind, *names):
        """Whether a class has these special methods decides what is done: a machine that records overrides this."""

    def original(self, function, args, kwargs=None):
        """Call natively what a native handler stands in for: the call is in the ledger already."""
        self.unnoted = True
        try:
            return self.call_native(function, args, kwargs)
        finally:
            self.unnoted = False

    def enter(self, function, args, kwargs=None, noted=False):
        """A new Frame for a Python function."""
        code = function.__code__
        plan = self.plans.get(id(code)) or self.plan(code)
        slots = None if plan.own else bind(function, plan, args, kwargs)
        if slots is None:
            # The arguments do not fit. CPython finds the same before it runs any of the body, and words it.
            return function(*args, **(kwargs or {}))
        if not noted and not plan.silent:
            self.note(plan, "interpreted")
        space = function.__globals__
        if plan.flags & OPTIMIZED:
            return Frame(self, code, plan, function, space, function.__builtins__, slots)
        return Frame(self, code, plan, function, space, function.__builtins__, slots, space)

    def call_class(self, cls, kind, args, kwargs):
        """``type.__call__`` taken apart: the metaclass's ``__call__``, then ``__new__`` and ``__init__``."""
        if cls in self.routes:
            result = self.stand_in(cls, args, kwargs)
            if result is not NULL:
                return result
            if kind is type:  # written in C, as what has a lookaside is
                return self.call_native(cls, args, kwargs)
        caller = special(kind, "__call__")
        if caller is not None:
            return self.call(caller, [cls, *args], kwargs)
        return self.construct(cls, args, kwargs)

    def construct(self, cls, args, kwargs):
        """Make an instance of a class as ``type.__call__`` does."""
        if cls is type:
            return self.call_native(cls, args, kwargs)
        init = special(cls, "__init__")
        new = lookup(cls, "__new__")
        if type(new) is BuiltinFunctionType and not allocates(cls):
            return self.call_native(cls, args, kwargs)
        plain = new is _plain_new
        if type(new) is staticmethod:
            new = new.__func__
        if type(new) is FunctionType:
            if special(type(cls), "__getattribute__") is not None:
                new = self.finished(self.get_attribute(cls, "__new__"))

            def initialise(instance):
                if not derives(type(instance), cls):
                    return instance
                return self.initialise(instance, args, kwargs)

            result = self.call(new, [cls, *args], kwargs)
            if type(result) is Frame:
                return hooked(result, Then(initialise))
            return initialise(result)
        if init is None or lookup(type(cls), "__call__") is not _type_call_slot:
            return self.call_native(cls, args, kwargs)
        if plain:
            return self.initialised(_plain_new(cls), init, args, kwargs)
        instance = cls.__new__(cls, *args, **(kwargs or {}))
        if not derives(type(instance), cls):
            return instance
        return self.initialise(instance, args, kwargs)

    def initialise(self, instance, args, kwargs):
        """Run ``__init__`` of a new instance; the value is the instance."""
        cls = type(instance)
        init = special(cls, "__init__")
        if init is None:
            cls.__init__(instance, *args, **(kwargs or {}))
            return instance
        return self.initialised(instance, init, args, kwargs)

    def initialised(self, instance, init, args, kwargs):
        """The same with ``__init__`` at hand."""
        result = self.call(init, [instance, *args], kwargs)
        hook = Instance(instance)
        if type(result) is Frame:
            return hooked(result, hook)
        return hook.returned(self.frame, result)

    def is_listed(self, key, function):
        """Is there a lookaside for a native callable?"""
        return (function if type(key) is str and issubclass(type(function), type) else key) in self.routes

    def call_native(self, function, args, kwargs=None):
        """Call the real thing, natively."""
        key = native_key(function)
        self.note(key, "lookaside" if self.is_listed(key, function) else "opaque")
        frame = self.frame
        if frame.code is not None:
            odd = frame.builtins is not STANDARD and not frame.plan.silent
            if odd or looks(function):
                return call_from(frame, function, args, kwargs)
        return function(*args, **kwargs) if kwargs else function(*args)


LISTED = ("name in the ledger",)
ALLOCATES = ("allocates",)
qualname_of = type.__dict__["__qualname__"].__get__
_plain_new = object.__new__
_type_call_slot = type.__dict__["__call__"]


def allocates(cls):
    """Is the ``__new__`` of a class, written in C, that of the base it is found in?

    Else a class took another one's into its own namespace, which CPython passes over.
    """
    known = verdicts(cls)
    answer = known.get(ALLOCATES)
    if answer is None:
        base = next(each for each in mro_of(cls) if "__new__" in namespace_of(each))
        answer = known[ALLOCATES] = namespace_of(base)["__new__"].__self__ is base
    return answer


def within(frame, body):
    """Is ``frame`` the body of a lookaside, or code written inside it?"""
    name, plan = body.__code__.co_qualname, frame.plan
    return frame.code is body.__code__ or (
        plan.filename == body.__code__.co_filename and plan.qualname.startswith(name + ".<locals>.")
    )


def native_key(function):
    """What the ledger knows a native callable by: something that lives on anyway, or a name."""
    kind = type(function)
    if kind in BUILTINS or kind is MethodWrapperType:
        owner = function.__self__
        if owner is not None and type(owner) is not ModuleType:
            cls = owner if issubclass(type(owner), type) else type(owner)
            found = lookup(cls, function.__name__)
            if type(found) in DESCRIPTORS:
                return found
            return text_of(namespace_of(cls).get("__module__", "builtins"), f"{qualname_of(cls)}.{function.__name__}")
        return function
    if kind in DESCRIPTORS:
        return function
    return class_key(function if issubclass(kind, type) else kind)


def class_key(cls):
    """A class of the program goes by its name: the ledger is not to keep it alive."""
    if not flags_of(cls) & HEAP_TYPE:
        return cls
    known = verdicts(cls)
    name = known.get(LISTED)
    if name is None:
        name = known[LISTED] = text_of(namespace_of(cls).get("__module__"), qualname_of(cls))
    return name
