"""What is measured: a way to make a module fast, behind one small class each.

A subject that can't be used on this machine says why (`Unavailable`) and its cells get a row that carries the reason.
One of your own is named as `package.module:Class` or `path/to/file.py:Class`; it derives from `Subject` and needs
`jit`, and `mark` if it can tell a call that was served from its cache from one that was not.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import sys
import warnings
from pathlib import Path
from typing import Any, ClassVar

from harness.errors import UsageError, nearest
from harness.lines import shortened


class Unavailable(Exception):
    """This subject can't run here; the text says why and what would help."""


class Subject:
    """One jit under one executor, inside the process of one cell. Made afresh for each cell."""

    name: ClassVar[str] = ""
    #: The executors that it knows. Empty: it takes any name.
    executors: ClassVar[tuple[str, ...]] = ()

    def __init__(self, executor: str = "eager"):
        self.executor = executor

    @classmethod
    def preload(cls):
        """Imports what it needs, in the parent, so that no cell pays for it. Raises Unavailable."""

    def forgo(self, lookasides):
        """Does without these lookasides, given by name. Of no concern to a subject that has none."""

    def jit(self, module) -> Any:
        """The callable that stands in for `module`; nothing was run through it yet."""
        raise Unavailable(f"the subject {self.name} has no jit method")

    def mark(self, jitted) -> dict[str, int]:
        """Counts so far: `hits` and `misses`. A call was served from the cache if it added hits and no misses."""
        return {"hits": 0, "misses": 0}

    def misses(self, jitted) -> list[str]:
        """Why earlier entries did not serve, in words."""
        return []

    def phases(self, jitted) -> dict[str, float]:
        """Seconds of all recording calls so far by phase. Empty where the subject does not say."""
        return {}

    def counters(self, jitted) -> dict:
        """Exact facts for the row: graphs, operations, guards, checks, entries, instructions, tail, sharp_edges ..."""
        return {}

    def ledger(self, jitted) -> list[dict]:
        """Rows of callable, route, calls, where, sharp."""
        return []

    def program(self, jitted) -> str:
        """What was recorded, as text that is the same in every process; "" where there is none."""
        return ""


class Eager(Subject):
    """The module itself. Its ratio is eager against eager: what this machine's noise looks like."""

    name = "eager"
    executors = ("eager",)

    def __init__(self, executor="eager"):
        super().__init__(executor)
        self.calls = 0

    def jit(self, module):
        def call(*args, **kwargs):
            self.calls += 1
            return module(*args, **kwargs)
        return call

    def mark(self, jitted):
        return {"hits": max(self.calls - 1, 0), "misses": min(self.calls, 1)}


class Interpreter(Subject):
    """The bundled interpreter. Imported when it is asked for, and never by the rest of the harness."""

    name = "interpreter"
    executors = ("eager", "aot", "inductor", "cudagraphs")

    @classmethod
    def preload(cls):
        try:
            from interpreter import jit  # noqa: F401
        except Exception as error:
            raise Unavailable(f"interpreter.jit cannot be imported: {type(error).__name__}: {error}") from error

    def forgo(self, lookasides):
        if lookasides:
            from interpreter.lookasides import lookasides as registered
            for name in lookasides:
                del registered()[name]

    def jit(self, module):
        from interpreter import jit
        need_device(self.executor)
        return jit(module, executor=own(self.executor) or self.executor)

    def mark(self, jitted):
        return {"hits": jitted.stats.hits, "misses": jitted.stats.misses}

    def misses(self, jitted):
        return [shortened(str(reason)) for entry in jitted.stats.entries for reason in entry.missed]

    def phases(self, jitted):
        found: dict[str, float] = {}
        for entry in jitted.stats.entries:
            for name, seconds in entry.phases.items():
                found[name] = found.get(name, 0.0) + float(seconds)
        return found

    def counters(self, jitted):
        entries = list(jitted.stats.entries)
        graphs = [graph for entry in entries for graph in entry.graphs]
        return {
            "entries": len(entries),
            "graphs": len(graphs),
            "operations": sum(operations(graph) for graph in graphs),
            "guards": sum(len(entry.guards) for entry in entries),
            "checks": sum(len(entry.checks) for entry in entries),
            "instructions": sum(entry.instructions for entry in entries),
            "tail": next((shortened(str(entry.tail)) for entry in entries if entry.tail), None),
            "fallback": next((shortened(reason) for entry in entries for reason in entry.fallbacks), None),
            "sharp_edges": sum(1 for row in jitted.ledger.rows() if row["sharp"]),
        }

    def ledger(self, jitted):
        return [{"callable": row["callable"], "route": row["route"], "calls": int(row["calls"]),
                 "where": shortened(row["where"]), "sharp": bool(row["sharp"])} for row in jitted.ledger.rows()]

    def program(self, jitted):
        parts = []
        for number, entry in enumerate(jitted.stats.entries):
            parts.append(f"# entry {number}")
            parts += [graph.code for graph in entry.graphs]
            parts += [f"check: {check}" for check in entry.checks]
            if entry.tail:
                parts.append(f"tail: {entry.tail}")
        return shortened(without_addresses("\n".join(line for part in parts for line in part.splitlines() if line)))


class Dynamo(Subject):
    """torch.compile, graph breaks allowed; they are counted, and a call that compiled anything is not a hit."""

    name = "dynamo"
    executors = ("eager", "aot", "inductor", "cudagraphs")
    fullgraph: ClassVar[bool] = False
    backends: ClassVar[dict[str, str]] = {"eager": "eager", "aot": "aot_eager", "inductor": "inductor",
                                          "cudagraphs": "cudagraphs"}

    def __init__(self, executor="eager"):
        super().__init__(executor)
        self.graphs: list = []
        self.served = 0

    @classmethod
    def preload(cls):
        try:
            import torch._dynamo
            import torch._dynamo.utils  # noqa: F401
        except Exception as error:
            raise Unavailable(f"torch._dynamo cannot be imported: {type(error).__name__}: {error}") from error

    def jit(self, module):
        import torch
        need_device(self.executor)
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        self.graphs.clear()
        self.served = 0
        compile_graph = own(self.executor) or torch._dynamo.lookup_backend(self.backends[self.executor])

        def backend(graph, inputs):
            self.graphs.append(graph)
            compiled = compile_graph(graph, inputs)

            def serve(*args):
                self.served += 1
                return compiled(*args)
            return serve

        return torch.compile(module, backend=backend, fullgraph=self.fullgraph)

    def mark(self, jitted):
        return {"hits": self.served, "misses": len(self.graphs)}

    def counters(self, jitted):
        breaks = self.breaks()
        return {
            "entries": len(self.graphs),
            "graphs": len(self.graphs),
            "operations": sum(operations(graph) for graph in self.graphs),
            "breaks": sum(breaks.values()),
            "tail": f"{sum(breaks.values())} graph breaks: {'; '.join(breaks)}" if breaks else None,
        }

    @staticmethod
    def breaks() -> dict[str, int]:
        """Graph breaks so far: the first line of each reason, and how often."""
        from torch._dynamo.utils import counters
        found: dict[str, int] = {}
        for reason, times in counters["graph_break"].items():
            line = reason.strip().splitlines()[0]
            found[line] = found.get(line, 0) + times
        return found

    def program(self, jitted):
        return without_addresses("\n".join(graph.code for graph in self.graphs))


class DynamoFullgraph(Dynamo):
    """torch.compile(fullgraph=True): a graph break is an error."""

    name = "dynamo-fullgraph"
    fullgraph = True


class Thunder(Subject):
    """lightning-thunder, where it is installed.

    0.2.6 looks up, at import, methods for named dimensions that newer torch no longer has. They are put back here for
    this process alone, as functions that only raise; LitGPT's models call none of them.
    """

    name = "thunder"
    executors = ("eager",)
    removed: ClassVar[tuple[str, ...]] = ("align_as", "align_to", "has_names", "refine_names", "rename")

    @classmethod
    def preload(cls):
        if importlib.util.find_spec("thunder") is None:
            raise Unavailable("lightning-thunder is not installed (pip install 'zoobench[thunder]')")
        import torch
        for name in cls.removed:
            if not hasattr(torch.Tensor, name):
                setattr(torch.Tensor, name, cls.stand_in(name))
        try:
            with warnings.catch_warnings():
                # It says at import which accelerators' libraries are not there.
                warnings.simplefilter("ignore")
                import thunder  # noqa: F401
        except Exception as error:
            raise Unavailable(f"thunder cannot be imported: {type(error).__name__}: {error}") from error

    @staticmethod
    def stand_in(name: str):
        """A method under the name of one that torch removed. Thunder asks for its name, and never for more."""
        def removed(*_, **__):
            raise AttributeError(f"{name} was removed from torch, and is put back only so that thunder imports")
        removed.__name__ = removed.__qualname__ = name
        return removed

    def jit(self, module):
        import thunder
        return thunder.jit(module)

    def mark(self, jitted):
        import thunder
        return {"hits": thunder.cache_hits(jitted), "misses": thunder.cache_misses(jitted)}

    def counters(self, jitted):
        import thunder
        traces = thunder.last_traces(jitted)
        return {"graphs": 1, "entries": thunder.cache_misses(jitted),
                "operations": len(traces[0].bound_symbols) if traces else None}

    def program(self, jitted):
        import thunder
        traces = thunder.last_traces(jitted)
        return without_addresses(str(traces[0])) if traces else ""


BUILTIN = {cls.name: cls for cls in (Interpreter, Eager, Dynamo, DynamoFullgraph, Thunder)}


def find(name: str) -> type[Subject]:
    """The class for a name given on the command line. UsageError: there is none."""
    if name in BUILTIN:
        return BUILTIN[name]
    if ":" not in name:
        raise UsageError(f"--subjects {name}: unknown subject{nearest(name, BUILTIN)}; known are "
                         f"{', '.join(BUILTIN)}, or your own as package.module:Class")
    place, _, attribute = name.rpartition(":")
    try:
        module = load_file(place) if place.endswith(".py") else importlib.import_module(place)
        cls = getattr(module, attribute)
    except Exception as error:
        raise UsageError(f"--subjects {name}: {type(error).__name__}: {error}") from None
    if not (isinstance(cls, type) and issubclass(cls, Subject)):
        raise UsageError(f"--subjects {name}: {attribute} is not a class derived from harness.subjects.Subject")
    cls.name = name
    return cls


def need_device(executor: str):
    """Raises Unavailable where there is no device that the executor is for."""
    import torch
    if executor == "cudagraphs" and not torch.cuda.is_available():
        raise Unavailable("cudagraphs need a CUDA device, and torch finds none here")


def own(executor: str):
    """The function that "package.module:function" or "file.py:function" names; None for a name of the subject's."""
    if ":" not in executor:
        return None
    place, _, attribute = executor.rpartition(":")
    return getattr(load_file(place) if place.endswith(".py") else importlib.import_module(place), attribute)


def load_file(path: str):
    """The module in a file, under a name that can't meet another module's."""
    name = "zoobench_" + hashlib.sha256(str(Path(path).resolve()).encode()).hexdigest()[:12]
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def operations(graph) -> int:
    """How many operations an fx graph does, without its inputs, constants and output."""
    return sum(node.op in {"call_function", "call_method", "call_module"} for node in graph.graph.nodes)


def without_addresses(text: str) -> str:
    """The text without what differs from process to process: addresses of objects."""
    return re.sub(r"0x[0-9a-fA-F]{6,}", "0x...", text)
