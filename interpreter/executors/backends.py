"""Backends: `(graph, example inputs, fakes) -> callable`, by the executor's name or from a backend of torch.compile's
convention."""

from __future__ import annotations

import contextlib
import copy

import torch
from torch._functorch import config
from torch._guards import TracingContext, tracing
from torch._prims_common import suggest_memory_format


class Unavailable(ValueError):
    """The executor can't be used on this machine: the message says why."""


def named(executor):
    """The backend of an executor. Raises Unavailable."""
    if callable(executor):
        return convention(executor)
    if executor == "cudagraphs" and not torch.cuda.is_available():
        raise Unavailable('executor="cudagraphs" needs a CUDA device, and torch finds none here')
    return {"aot": aot, "inductor": inductor, "cudagraphs": cudagraphs}[executor]


def load(name: str):
    """Import what a backend will need, so that a thread that compiles need not."""
    import torch._functorch.aot_autograd

    if name == "inductor":
        import torch._inductor.compile_fx  # noqa: F401


@contextlib.contextmanager
def within(fakes):
    """Compilers find the fake tensors' mode, and the symbols of sizes, in torch's tracing context.

    Saved tensors are not given to the backward graph to be overwritten: `retain_graph=True` works as in eager. Whether
    they are is asked again when the backward pass runs, outside of this; where it was compiled along with the forward
    pass (sizes that data decide), nothing has been noted then, and that would be taken for a yes.
    """
    context = TracingContext(fakes.mode)
    with tracing(context), config.patch(donated_buffer=False):
        yield
    if getattr(context.fw_metadata, "bw_donated_idxs", ()) is None:
        context.fw_metadata.bw_donated_idxs = []


def aot(graph, examples, fakes):
    """AOTAutograd with compilers that compile nothing: functional graphs, forward and backward traced together."""
    from torch._dynamo.backends.debugging import boxed_nop
    from torch._functorch.aot_autograd import aot_module_simplified
    from torch._functorch.partitioners import default_partition

    with within(fakes):
        return aot_module_simplified(
            graph,
            examples,
            fw_compiler=boxed_nop,
            bw_compiler=boxed_nop,
            partition_fn=default_partition,
            keep_inference_input_mutations=True,
        )


def inductor(graph, examples, fakes):
    """Torch's compiler. Where it can't compile a graph it is asked once more, to lay out `cat` as eager does."""
    from torch._inductor.compile_fx import compile_fx

    kept = copied(graph)
    with within(fakes):
        try:
            return compile_fx(graph, examples, inner_compile=with_second_try)
        except Exception:
            with contextlib.suppress(Exception):
                return compile_fx(kept, examples, inner_compile=with_second_try, decompositions=with_eagers_cat())
            raise


def with_eagers_cat() -> dict:
    """Inductor's decompositions, but for that of `cat`. It drops what is empty, and leaves a single tensor that remains
    as it lies in memory: where eager's is contiguous, a `view` of it can't be compiled."""
    from torch._inductor.decomposition import select_decomp_table

    table = select_decomp_table()
    cat = torch.ops.aten.cat.default

    def laid_out(tensors, dim=0):
        found = table[cat](tensors, dim)
        return found if found is NotImplemented else found.contiguous(memory_format=suggest_memory_format(found))

    return {**table, cat: laid_out}


def copied(graph):
    """A graph as it is now: compiling it rewrites it."""
    kept = torch.fx.GraphModule(graph, copy.deepcopy(graph.graph))
    kept.meta.update(graph.meta)
    return kept


def with_second_try(graph, examples, **options):
    """Inductor's compilation of one graph, forward or backward. C++ that the C++ compiler refuses is written again
    without loops for several results: where one sum is stored twice in half precision (the gradient of two biases),
    such a loop declares the converted sum twice."""
    from torch._inductor import compile_fx, config, exc

    kept = copied(graph)
    try:
        return compile_fx.compile_fx_inner(graph, examples, **options)
    except exc.InductorError as error:
        if not isinstance(error.inner_exception, exc.CppCompileError):
            raise
    with config.patch({"cpp.max_horizontal_fusion_size": 1}):
        return compile_fx.compile_fx_inner(kept, examples, **options)


def cudagraphs(graph, examples, fakes):
    """AOTAutograd's graphs captured once and replayed. What can't be captured (other devices, changing sizes) torch
    runs as it is, and says so."""
    from torch._dynamo.backends.cudagraphs import cudagraphs as capture

    with within(fakes):
        return capture(graph, examples)


def convention(backend):
    """A backend as `torch.compile(backend=...)` takes it."""

    def make(graph, examples, fakes):
        for node, example in zip(graph.graph.find_nodes(op="placeholder"), examples):
            node.meta["example_value"] = example
        with within(fakes):
            made = backend(graph, examples)
        if not callable(made):
            raise TypeError(
                f"the backend {getattr(backend, '__name__', backend)!r} gave {made!r:.80}, which can't be called"
            )
        return made

    return make
