"""What need not be looked at again: a snapshot of the dicts behind an entry's guards.

CPython gives each dict a version that changes with every change of the dict (torch's `dict_version` reads it, or keeps
one by a dict watcher where CPython no longer has it). When the version is what it was when all guards held, then every
key of that dict is there or absent as it was, and holds the very object that it held. So a module's attributes, its
tables of parameters, buffers and submodules, a function's globals and the attributes of its class are all proved
unchanged by one number each, and what hangs on them is *fixed*: it is a constant of the check. What versions don't tell
is asked of all objects at once: that hooks are empty, that types are what they were, that an attribute kept in native
code (a function's code, a cell's content) is the same object.

A dict that changes from call to call (the buffers of a cache) is *volatile*: its items are asked for in the generated
check, and what lies below them stays fixed as long as the same object is found there. When a snapshot no longer fits,
the guards themselves decide.
"""

from __future__ import annotations

import gc
from operator import attrgetter
from types import CellType, FunctionType, MappingProxyType, MethodType

from torch._C._dynamo import guards as c_guards

from interpreter.recording import guards
from interpreter.recording.layout import Layout, Node
from interpreter.recording.sources import Attribute, Dict, Item, Pinned
from interpreter.vm.lookups import HEAP_TYPE

CONTENT = (guards.Absent, guards.Present, guards.Keys, guards.Length, guards.Truth)

NATIVE_OWNERS = (FunctionType, CellType, MethodType, type)
dict_version = c_guards.dict_version
own_dict = attrgetter("__dict__")


def available() -> bool:
    """Whether versions of dicts can be had here: set an item and see the version change."""
    probe: dict = {"a": 1}
    try:
        before = dict_version(probe)
        probe["a"] = 2
        return dict_version(probe) != before
    except Exception:
        return False


AVAILABLE = available()


class Snapshot:
    """The state in which all guards of a layout held. `values` maps ids of sources to what was found there."""

    def __init__(self, layout: Layout, values: dict, volatile: set):
        self.values = values
        self.volatile = volatile
        self.fixed: dict = {}
        self.remaining: dict[int, list] = {}
        self.dicts: dict[int, tuple] = {}
        self.typed: dict[int, object] = {}
        self.objects: dict[int, object] = {}
        self.empty: list = []
        self.attributes: dict[str, list] = {}
        self.pinned: list = []
        for root in layout.roots:
            if isinstance(root.source, Pinned):
                self.cover(root)
        self.versions = [dict_version(space) for space, _ in self.dicts.values()]
        self.values = {}  # what is not fixed, the arguments above all, is not to be held

    def left(self, node: Node) -> list:
        """The guards of a node that the snapshot does not vouch for."""
        return self.remaining.get(id(node.source), []) if id(node.source) in self.fixed else node.guards

    def cover(self, node: Node):
        """Take a node whose value can't have become another object, and what hangs on it."""
        source, value = node.source, self.values[id(node.source)]
        self.fixed[id(source)] = value
        space = dict_behind(value)
        steady = space is not None and id(source) not in self.volatile
        if steady:
            self.dicts[id(space)] = space, source
        left = []
        for guard in node.guards:
            if isinstance(guard, CONTENT) and not steady and type(value) not in (tuple, frozenset):
                if type(guard) is guards.Truth and not guard.answer and not node.children:
                    self.empty.append(value)
                else:
                    left.append(guard)
            elif not guard.lasting:
                left.append(guard)
            elif type(guard) is guards.Type and type(value).__flags__ & HEAP_TYPE:
                self.typed[id(value)] = value
        if left:
            self.remaining[id(source)] = left
        for child in node.children:
            self.cover_child(node, child, value, steady, space is not None)

    def cover_child(self, node, child, value, steady, is_dict):
        kind = type(child.source)
        found = self.values[id(child.source)]
        if kind is Item:
            if steady or type(value) is tuple:
                self.cover(child)
            elif is_dict and child.children and not child.wanted:
                self.pinned.append((value, child.source.key, found))
                self.cover(child)
        elif kind is Dict:
            self.objects[id(value)] = value
            self.cover(child)
        elif kind is Attribute and type(value) in NATIVE_OWNERS:
            self.attributes.setdefault(child.source.name, []).append((value, found))
            self.cover(child)

    def conditions(self, names: dict):
        """Lines that compare the snapshot with what is now; where they differ, `changed` decides."""
        spaces = [space for space, _ in self.dicts.values()]
        objects = list(self.objects.values())
        typed = list(self.typed.values())
        names.update(
            dict_version=dict_version,
            own_dict=own_dict,
            spaces=spaces,
            versions=self.versions,
            objects=objects,
            typed=typed,
            kinds=[*map(type, typed)],
            own=[id(own_dict(each)) for each in objects],
            empties=tuple(self.empty),
            kept=[self.fixed],
        )
        tests = ["[*map(dict_version, spaces)] != versions"]
        if typed:
            tests.append("[*map(type, typed)] != kinds")
        if objects:
            tests.append("[*map(id, map(own_dict, objects))] != own")
        if self.empty:
            tests.append("any(empties)")
        for number, (name, pairs) in enumerate(self.attributes.items()):
            names[f"get{number}"] = attrgetter(name)
            names[f"owners{number}"] = [owner for owner, _ in pairs]
            names[f"held{number}"] = [id(found) for _, found in pairs]
            tests.append(f"[*map(id, map(get{number}, owners{number}))] != held{number}")
        for number, (space, key, found) in enumerate(self.pinned):
            names[f"space{number}"], names[f"key{number}"], names[f"item{number}"] = space, key, found
            tests.append(f"space{number}.get(key{number}) is not item{number}")
        return [f"if {' or '.join(tests)}: return changed(args, kwargs)"]

    def fits(self) -> bool:
        """Whether the dicts and the pinned items are as they were."""
        return not self.changes() and all(space.get(key) is found for space, key, found in self.pinned)

    def changes(self) -> set:
        """Ids of the sources of the dicts that have changed since."""
        return {
            id(source)
            for (space, source), version in zip(self.dicts.values(), self.versions)
            if dict_version(space) != version
        }


def dict_behind(value):
    """The plain dict that a value is, or of which it is a view (a class's `__dict__`); None where there is none."""
    if type(value) is dict:
        return value
    if type(value) is MappingProxyType:
        found = gc.get_referents(value)
        return found[0] if len(found) == 1 and type(found[0]) is dict else None
    return None
