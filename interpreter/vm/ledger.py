"""Which route each callable took, how often, and from which line of the user."""

from .code import Plan

NONE = (0,)  # another thread has folded it
FEW = 1000
"""So many places are kept in any case."""


class Ledger:
    """Counts calls by (callable, route, place). Names and lines are worked out when the rows are asked for."""

    __slots__ = ("calls", "counted", "enough")

    def __init__(self):
        self.calls, self.counted = {}, {}
        self.enough = FEW

    def note(self, key, route, plan, index):
        """One call from the instruction ``index`` of ``plan``; ``key`` is a Plan or a callable."""
        self.counter(key, route, plan, index)[0] += 1

    def counter(self, key, route, plan, index):
        """The count of such calls, in a list that whoever makes more of them may count up."""
        place = (key, route, plan, index)
        counter = self.calls.get(place)
        if counter is None:
            if len(self.calls) >= self.enough:
                self.fold()
            counter = self.calls[place] = [0]
        return counter

    def fold(self):
        """Keep of the calls of code, or from code, that is no longer there only what the rows will say of them."""
        for place in list(self.calls):
            if is_gone(place[0]) or is_gone(place[2]):
                text = described(*place)
                self.counted[text] = self.counted.get(text, 0) + self.calls.pop(place, NONE)[0]
        self.enough = max(FEW, 2 * len(self.calls))

    def count(self, callable, route, where):
        """One call from a known ``file:line``."""
        place = (qualified_name(callable), route, where)
        self.counted[place] = self.counted.get(place, 0) + 1

    def rows(self):
        """A dict for each callable, route and line: callable, route, calls, where ("file:line"), sharp."""
        found = dict(self.counted)
        for place, (calls,) in list(self.calls.items()):
            text = described(*place)
            found[text] = found.get(text, 0) + calls
        return [
            {"callable": name, "route": route, "calls": calls, "where": where, "sharp": False}
            for (name, route, where), calls in found.items()
        ]


def is_gone(key):
    """Is this the plan of a code object that nobody has any more?"""
    return type(key) is Plan and key.code() is None


def described(key, route, plan, index):
    """A place of the ledger in words: callable, route, "file:line"."""
    return qualified_name(key), route, "" if plan is None else f"{plan.filename}:{plan_line(plan, index)}"


def plan_line(plan, index):
    """The line of an instruction, also of a code object that is no longer there."""
    code = plan.code()
    return plan.line(code, index) if code is not None else (plan.lines or {}).get(plan.offsets[index])


PUBLIC = {"_operator": "operator", "_functools": "functools", "_collections": "collections", "_abc": "abc", "_io": "io"}


def qualified_name(key):
    """``module.qualname`` of a callable, as far as it has one; of C modules, by the module that people import."""
    if isinstance(key, str):
        return key
    if isinstance(key, Plan):
        return key.qualname
    name = getattr(key, "__qualname__", None) or repr(key)
    owner = getattr(key, "__objclass__", None)
    bound = getattr(key, "__self__", None)
    if owner is None and isinstance(bound, type):
        owner, name = bound, f"{bound.__qualname__}.{key.__name__}"
    module = getattr(key, "__module__", None)
    if module is None and owner is not None:
        module = owner.__module__
    return text_of(module, name)


def text_of(module, name):
    """``module.name``, or the name alone where there is no module."""
    return f"{PUBLIC.get(module, module)}.{name}" if isinstance(module, str) else str(name)
