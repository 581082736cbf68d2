"""``{**mapping}`` and ``f(**mapping)`` of all kinds of mappings: what is asked of them, and in which order."""

import collections
import types


def _noisy(base, *methods, **members):
    """A class that notes which of its methods are called, and the list of notes."""
    notes = []

    def noting(name):
        def method(self, *args):
            notes.append((name, args))
            if name == "keys":
                return ["a", "b"]
            if name == "__iter__":
                return iter("xy")
            return f"value of {args[0]}"

        return method

    return type("Noisy", (base,), {name: noting(name) for name in methods} | members), notes


def _merged(mapping):
    """What both forms make of a mapping, or say of it."""

    def taken(**names):
        return names

    found = []
    for attempt in (lambda: {**mapping}, lambda: taken(**mapping), lambda: {"z": 0, **mapping}):
        try:
            found.append([*attempt().items()])
        except Exception as error:
            found.append((type(error).__name__, str(error), error.__context__))
    return found


def subclasses_of_dict():
    results = []
    for base in (dict, collections.OrderedDict, collections.defaultdict):
        for methods in (
            (), ("keys",), ("__iter__",), ("__getitem__",), ("keys", "__getitem__"), ("keys", "__iter__"),
            ("__iter__", "__getitem__"), ("keys", "__iter__", "__getitem__"),
        ):  # fmt: skip
            made, notes = _noisy(base, *methods)
            mapping = made()
            dict.update(mapping, a=1, b=2)
            results.append((base.__name__, methods, _merged(mapping), notes))
    return results


def plain_classes():
    results = []
    for methods in (("keys", "__getitem__"), ("keys",), ("__getitem__",), ("__iter__",)):
        made, notes = _noisy(object, *methods)
        results.append((methods, _merged(made()), notes))
    return results


def native_mappings():
    return [
        _merged(mapping)
        for mapping in (
            types.MappingProxyType({"a": 1}), collections.ChainMap({"a": 1}, {"b": 2}), collections.UserDict(a=1),
            collections.Counter("ab"), [("a", 1)], None, 3, "text", dict, {1: 2},
        )
    ]  # fmt: skip


def keys_of_the_instance():
    class Lazy:
        def __getattr__(self, name):
            return {"keys": lambda: ("a", "b")}[name]

        def __getitem__(self, key):
            return key * 2

    class Own:
        def __init__(self):
            self.keys = lambda: iter("ab")

        def __getitem__(self, key):
            return key * 2

    return _merged(Lazy()), _merged(Own())


def odd_keys():
    def of(answer):
        class Odd:
            def keys(self):
                return answer

            def __getitem__(self, key):
                return key

        return Odd()

    class Failing:
        def keys(self):
            raise AttributeError("in keys")

        __getitem__ = None

    class Late:
        def keys(self):
            return ["a"]

        def __getitem__(self, key):
            raise AttributeError("in getitem")

    class Wrong:
        def keys(self):
            raise ValueError("in keys")

        def __getitem__(self, key):
            return key

    return [_merged(each) for each in (of(None), of(3), of("ab"), of([1]), Failing(), Late(), Wrong())]


def keys_before_values():
    notes = []

    class Mapping:
        def keys(self):
            for name in "ab":
                notes.append(name)
                yield name

        def __getitem__(self, key):
            notes.append(f"value of {key}")
            return key

    return {**Mapping()}, notes


def doubled():
    def f(**names):
        return names

    return f(**collections.UserDict(a=1), **collections.UserDict(a=2))
