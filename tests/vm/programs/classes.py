"""Class statements, metaclasses, descriptors, attributes, super."""


def plain_class():
    class A:
        """Docs."""

        x: int = 1
        y = [n for n in range(3)]

        def __init__(self, z):
            self.z = z

    a = A(5)
    a.x += 1
    del a.z
    return A.__doc__, A.__annotations__, a.x, A.x, A.y, hasattr(a, "z"), A.__qualname__, A.__module__ == __name__


def no_argument_super():
    class A:
        def f(self):
            return ["A"]

        @classmethod
        def g(cls):
            return [cls.__name__]

    class B(A):
        def f(self):
            return [*super().f(), "B"]

        @classmethod
        def g(cls):
            return [*super().g(), "B"]

        def in_comprehension(self):
            return [__class__.__name__ for _ in range(2)]

    class C(B):
        def f(self):
            return [*super(C, self).f(), "C"]

    return C().f(), C.g(), C().in_comprehension()


def super_without_class():
    def f(self):
        return super()

    f(1)


def metaclass():
    log = []

    class Meta(type):
        @classmethod
        def __prepare__(mcs, name, bases, **keywords):
            log.append(("prepare", name, keywords))
            return {"prepared": True}

        def __new__(mcs, name, bases, names, **keywords):
            log.append(("new", name, sorted(k for k in names if not k.startswith("__"))))
            return super().__new__(mcs, name, bases, names)

        def __init__(cls, name, bases, names, **keywords):
            super().__init__(name, bases, names)

        def __call__(cls, *args):
            log.append(("call", args))
            return super().__call__(*args)

    class A(metaclass=Meta, flag=1):
        def __init__(self, x):
            self.x = x

    return A(3).x, A.prepared, log


def hooks_of_subclasses():
    log = []

    class Named:
        def __set_name__(self, owner, name):
            log.append((owner.__name__, name))

    class Base:
        def __init_subclass__(cls, **keywords):
            log.append((cls.__name__, keywords))

        def __class_getitem__(cls, item):
            return cls.__name__, item

    class A(Base, k=2):
        field = Named()

    return A[int], log


def descriptors():
    log = []

    class D:
        def __get__(self, obj, owner):
            log.append(("get", obj is None))
            return 7

        def __set__(self, obj, value):
            log.append(("set", value))

        def __delete__(self, obj):
            log.append("delete")

    class A:
        d = D()

        @property
        def p(self):
            return self._p

        @p.setter
        def p(self, value):
            self._p = value * 2

        @p.deleter
        def p(self):
            del self._p

    a = A()
    a.d = 1
    value = a.d, A.d
    del a.d
    a.p = 4
    seen = a.p
    del a.p
    return value, seen, hasattr(a, "p"), log


def attribute_hooks():
    log = []

    class A:
        def __getattr__(self, name):
            if name.startswith("no"):
                raise AttributeError(name)
            return "made " + name

        def __setattr__(self, name, value):
            log.append((name, value))
            object.__setattr__(self, name, value)

        def __delattr__(self, name):
            log.append(("del", name))
            object.__delattr__(self, name)

    class B(A):
        def __getattribute__(self, name):
            if name == "never":
                raise AttributeError
            return super().__getattribute__(name)

    a = A()
    a.x = 1
    del a.x
    return a.x, B().never, getattr(a, "nope", 0), log


def missing_attribute():
    class A:
        pass

    A().missing


def read_only_property():
    class A:
        @property
        def p(self):
            return 1

    A().p = 2


def bad_init():
    class A:
        def __init__(self):
            return 1

    A()


def new_of_another_type():
    class A:
        def __new__(cls, *args):
            return args

        def __init__(self):
            raise ValueError

    return A(1, 2)


def slots():
    class A:
        __slots__ = ("x",)

    a = A()
    a.x = 1
    try:
        a.y = 2
    except AttributeError as error:
        return str(error), a.x


def conflicting_metaclasses():
    class M(type):
        pass

    class N(type):
        pass

    class A(metaclass=M):
        pass

    class B(metaclass=N):
        pass

    class C(A, B):
        pass


def dataclasses_and_enums():
    import dataclasses
    import enum

    @dataclasses.dataclass(order=True)
    class P:
        x: int
        y: list = dataclasses.field(default_factory=list)

    class Colour(enum.Enum):
        RED = 1
        BLUE = enum.auto()

        @property
        def low(self):
            return self.name.lower()

    return P(1) < P(2), P(3), Colour.BLUE.low, list(Colour), Colour(1)


def operators_of_classes():
    class V:
        def __init__(self, x):
            self.x = x

        def __add__(self, other):
            return V(self.x + other.x) if isinstance(other, V) else NotImplemented

        def __radd__(self, other):
            return V(self.x + other)

        def __iadd__(self, other):
            self.x += 100
            return self

        def __eq__(self, other):
            return isinstance(other, V) and self.x == other.x

        def __lt__(self, other):
            return self.x < other.x

        def __hash__(self):
            return 1

        def __bool__(self):
            return self.x > 0

        def __len__(self):
            return 3

        def __getitem__(self, key):
            return key

        def __contains__(self, item):
            return item == self.x

        def __neg__(self):
            return V(-self.x)

        def __repr__(self):
            return f"V({self.x})"

        def __format__(self, spec):
            return f"<{spec}>"

    v = V(1)
    v += 1
    text = f"{v} {v!r:>8} {v:abc}"
    return v + V(2), 5 + V(1), v == V(101), V(1) < V(2), V(3) > V(2), not V(0), v[1:2], 1 in V(1), -v, text


def unsupported_operands():
    class A:
        def __add__(self, other):
            return NotImplemented

    A() + 1


def unsupported_comparison():
    class A:
        pass

    A() < A()


def comparisons_that_change_what_is_compared():
    """Sequences compared while ``__eq__`` of an item shortens or lengthens them."""

    def outcomes(change):
        class Item:
            def __init__(self, answer):
                self.answer = answer

            def __eq__(self, other):
                change(first, second)
                return self.answer

            def __lt__(self, other):
                return "less"

            __gt__ = __lt__

        results = []
        for compare in (
            lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a > b,
            lambda a, b: a >= b, lambda a, b: 1 in a, lambda a, b: a.index(1), lambda a, b: a.count(1),
            lambda a, b: a.remove(1),
        ):  # fmt: skip
            for answer in (False, True, NotImplemented):
                for one, other in ((1, 1), (1, 2), (2, 1), (2, 2)):
                    first, second = [Item(answer) for _ in range(one)], [Item(answer) for _ in range(other)]
                    try:
                        results.append((compare(first, second), len(first), len(second)))
                    except Exception as error:
                        results.append((type(error).__name__, str(error)))
        return results

    return [
        outcomes(change)
        for change in (
            lambda a, b: a.clear(), lambda a, b: b.clear(), lambda a, b: (a.clear(), b.clear()),
            lambda a, b: len(a) < 5 and a.append(1), lambda a, b: len(b) < 5 and b.append(1), lambda a, b: None,
        )
    ]  # fmt: skip


def lengths_by_all_kinds_of_descriptors():
    """``__len__`` and ``__length_hint__`` may be whatever a class can hold."""
    asked = []

    class Descriptor:
        def __init__(self, answer):
            self.answer = answer

        def __get__(self, obj, owner):
            asked.append((obj is None, owner.__name__))
            return lambda: self.answer

    class Failing:
        def __get__(self, obj, owner):
            raise LookupError("no length")

    class Answer:
        def __call__(self):
            asked.append("called")
            return 3

    def of(name, found):
        kind = type("Kind", (), {"__iter__": lambda self: iter((1, 2)), name: found})
        results = []
        for use in (list, tuple, lambda x: [*x], lambda x: [].extend(x), bytes, enumerate, lambda x: list(zip(x, x))):
            try:
                results.append(str(use(kind())).partition(" at ")[0])
            except Exception as error:
                results.append((type(error).__name__, str(error)))
        return results

    makers = (
        Descriptor(2), Descriptor(-1), Descriptor("x"), Descriptor(NotImplemented), Failing(), Answer(), None,
        staticmethod(lambda: 2), classmethod(lambda cls: 2), lambda self: 2, property(lambda self: lambda: 2), 5,
    )  # fmt: skip
    return [(of("__len__", each), of("__length_hint__", each)) for each in makers], asked


def special_methods_that_come_later():
    """What a class was without is asked again when it has changed, or one of its bases has."""

    class Meta(type):
        pass

    class Base(metaclass=Meta):
        @property
        def value(self):
            raise AttributeError("none")

        @value.setter
        def value(self, value):
            seen.append(("set", value))

        @value.deleter
        def value(self):
            seen.append("deleted")

        def method(self):
            return "method"

        def __new__(cls):
            return object.__new__(cls)

    class Derived(Base):
        def __init__(self):
            seen.append("made")

    class Other:
        @property
        def value(self):
            return "other"

        def __getattr__(self, name):
            return f"other {name}"

    def attempt(action):
        try:
            seen.append(action())
        except Exception as error:
            seen.append((type(error).__name__, str(error), error.__traceback__.tb_lineno))

    def use():
        for _ in range(4):
            one.value = 1
            del one.value
            attempt(lambda: one.value)
            attempt(lambda: one.value)
            attempt(lambda: one.method())
            attempt(lambda: str(Derived())[:4])

    seen = []
    one = Derived()
    use()
    Base.__getattr__ = lambda self, name: f"missing {name}"
    use()
    Derived.__setattr__ = lambda self, name, value: seen.append((name, value))
    Base.__delattr__ = lambda self, name: seen.append(("no", name))
    use()
    Meta.__call__ = lambda cls: "called"
    use()
    Derived.__getattribute__ = lambda self, name: lambda: name
    seen.append(one.method())
    del Derived.__getattribute__, Meta.__call__, Base.__getattr__
    use()
    Derived.__bases__ = (Other,)
    del Derived.__setattr__
    attempt(lambda: one.value)
    attempt(lambda: one.method)
    return seen


def new_of_another_class():
    """``__new__`` of a class written in C, taken into the namespace of a class: CPython passes over it."""

    class Number(int):
        __new__ = object.__new__

        def __init__(self):
            self.made = True

    class Static:
        __new__ = staticmethod(object.__new__)

        def __init__(self, *args):
            self.args = args

    class Plain:
        __new__ = object.__new__

        def __init__(self, value):
            self.value = value

    def attempt(action):
        try:
            return action()
        except TypeError as error:
            return str(error)

    return [
        (Number(), Number().made, attempt(lambda: Static().args), attempt(lambda: Static(1)), Plain(3).value)
        for _ in range(3)
    ]
