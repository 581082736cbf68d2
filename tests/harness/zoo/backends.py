"""Executors of one's own that don't do what they are there for."""


def refuses(graph, examples):
    raise NotImplementedError("not on a Tuesday")
