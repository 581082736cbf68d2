"""Subjects with a known fault each: the harness has to find it."""

import time

import torch

from harness.subjects import Dynamo, Subject, Unavailable


class Fake(Subject):
    """Right: the module itself, served from a cache that the first call fills."""

    executors = ("eager",)

    def __init__(self, executor="eager"):
        super().__init__(executor)
        self.hits = self.misses_ = 0

    def jit(self, module):
        calls = 0

        def call(*args, **kwargs):
            nonlocal calls
            calls += 1
            if calls == 1:
                self.misses_ += 1
                return module(*args, **kwargs)
            self.hits += 1
            return self.later(module, *args, **kwargs)
        return call

    def later(self, module, *args, **kwargs):
        return module(*args, **kwargs)

    def mark(self, jitted):
        return {"hits": self.hits, "misses": self.misses_}


class Right(Fake):
    pass


class Threefold(Fake):
    """Does all the work three times."""

    def later(self, module, *args, **kwargs):
        module(*args, **kwargs)
        module(*args, **kwargs)
        return module(*args, **kwargs)


class Wrong(Fake):
    """Wrong on hits only, by far more than rounding."""

    def later(self, module, *args, **kwargs):
        return module(*args, **kwargs) + 1e-3


class Rounds(Fake):
    """Computes in float64 and rounds once: nearer to the truth than eager, and not the same bits."""

    def later(self, module, *args, **kwargs):
        wide = [a.double() if a.is_floating_point() else a for a in args]
        try:
            return module.double()(*wide, **kwargs).float()
        finally:
            module.float()


class WrongDtype(Fake):
    def later(self, module, *args, **kwargs):
        return module(*args, **kwargs).double()


class Forgets(Fake):
    """Does not write what the module writes."""

    def later(self, module, *args, **kwargs):
        kept = {name: value.clone() for name, value in module.named_buffers()}
        result = module(*args, **kwargs)
        for name, value in module.named_buffers():
            value.copy_(kept[name])
        return result


class DrawsMore(Fake):
    def later(self, module, *args, **kwargs):
        result = module(*args, **kwargs)
        torch.rand(1)
        return result


class WrongPart(Fake):
    """Gets every module wrong that is, or contains, a Marked one."""

    def later(self, module, *args, **kwargs):
        result = module(*args, **kwargs)
        if any(type(part).__name__ == "Marked" for part in module.modules()):
            return result + 1
        return result


class NeverHits(Fake):
    def jit(self, module):
        def call(*args, **kwargs):
            self.misses_ += 1
            return module(*args, **kwargs)
        return call

    def misses(self, jitted):
        return ["args[0].shape was another"]


class FailsAtOnce(Fake):
    def jit(self, module):
        def call(*args, **kwargs):
            raise NotADirectoryError("no way")
        return call


class FailsOnHits(Fake):
    def later(self, module, *args, **kwargs):
        raise NotADirectoryError("not any more")


class OtherMessage(Fake):
    """Turns the user's exception into one with another text."""

    def later(self, module, *args, **kwargs):
        try:
            return module(*args, **kwargs)
        except IndexError:
            raise IndexError("something else") from None


class Absent(Fake):
    @classmethod
    def preload(cls):
        raise Unavailable("its library is not here")


class HangsOnHits(Fake):
    def later(self, module, *args, **kwargs):
        time.sleep(1000)


class Ledgered(Fake):
    """Keeps a ledger with a sharp edge, and has an interpreted tail."""

    def counters(self, jitted):
        return {"entries": 1, "graphs": 1, "operations": 3, "guards": 5, "checks": 0, "instructions": 100,
                "tail": "opaque call of builtins.zip (model.py:7)", "sharp_edges": 1}

    def ledger(self, jitted):
        return [{"callable": "builtins.zip", "route": "opaque", "calls": 4, "where": "model.py:7", "sharp": True},
                {"callable": "builtins.len", "route": "lookaside", "calls": 9, "where": "model.py:8", "sharp": False}]

    def program(self, jitted):
        return "def program(x): ..."


def counting(graph, inputs):
    """An executor of one's own: torch.compile's backend convention."""
    def run(*args):
        return graph(*args)
    return run


class OtherToken(Fake):
    """Rounds otherwise: the second score comes out larger by one unit in the last place."""

    def later(self, module, *args, **kwargs):
        with torch.no_grad():
            module.weight[1] += torch.finfo(torch.float32).eps
            try:
                return module(*args, **kwargs)
            finally:
                module.weight[1] = 1


class WrongToken(Fake):
    def later(self, module, *args, **kwargs):
        token, rest = module(*args, **kwargs)
        return 1 - token, rest


class OtherTokenAndMore(OtherToken):
    """Besides, what does not depend on the token is wrong."""

    def later(self, module, *args, **kwargs):
        token, rest = super().later(module, *args, **kwargs)
        return token, rest + 1


class SaysWhatItCompiled(Dynamo):
    """Its program is what torch's compilers found on disk, what they did not, and where they keep headers."""

    def program(self, jitted):
        from torch._dynamo.utils import counters
        from torch._inductor import codecache
        found = counters["inductor"]["fxgraph_cache_hit"] + counters["aot_autograd"]["autograd_cache_hit"]
        return f"{found} {counters['inductor']['fxgraph_cache_miss']} {codecache._HEADER_DIR}"


class SaysItToo(SaysWhatItCompiled):
    pass
