"""`jit` with each executor under a name of its own, for tools that take a jit by its name."""

from functools import partial

from interpreter import jit

jit_aot = partial(jit, executor="aot")
jit_inductor = partial(jit, executor="inductor")
jit_background = partial(jit, executor="aot", compile="background")


def graph_itself(graph, examples):
    """A backend of torch.compile's convention that compiles nothing."""
    return graph.forward


jit_graph = partial(jit, executor=graph_itself)
