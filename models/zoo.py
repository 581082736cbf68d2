"""The list of all models, and choosing from it."""

import difflib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from models.adapters import adapters, loras
from models.architectures import config_names, stands_for
from models.blocks import blocks
from models.experts import experts
from models.gpt import architecture, architectures
from models.hf import PREFIX, available, families
from models.latent import variants
from models.model import Model, UnknownModel
from models.own import own


@cache
def _zoo() -> tuple[Model, ...]:
    return (*architectures(), *experts(), *loras(), *adapters(), *variants(), *blocks(), *families())


def zoo() -> list[Model]:
    """Every model: the architectures of LitGPT first, in a fixed order."""
    return list(_zoo())


def select(patterns: list[str] | None = None) -> list[Model]:
    """The models that the patterns name, in the zoo's order and once each, then models of one's own.

    A pattern is a name or a glob over names (`Llama*`), `family:llama`, a configuration name of LitGPT (the model that
    stands for it), or a class of one's own (`file.py:Name`, `file.py:*`, `package.module:Name`). Case matters only
    where a pattern matches with it. None or [] gives the default models. Raises UnknownModel for a pattern that
    matches nothing, naming the nearest.
    """
    if not patterns:
        return [model for model in zoo() if model.default]
    chosen = {model.name: model for pattern in patterns for model in matches(pattern)}
    order = {model.name: index for index, model in enumerate(zoo())}
    return sorted(chosen.values(), key=lambda model: order.get(model.name, len(order)))


def matches(pattern: str) -> list[Model]:
    """The models one pattern names."""
    if pattern.startswith("family:"):
        return of_family(pattern.removeprefix("family:"))
    if ":" in pattern:
        return own(pattern)
    models = zoo()
    found = [model for model in models if fnmatchcase(model.name, pattern)]
    found = found or [model for model in models if fnmatchcase(model.name.lower(), pattern.lower())]
    if not found and pattern in config_names():
        found = [model for model in models if pattern in model.stands_for] or [architecture(pattern)]
    if not found and pattern.startswith(PREFIX) and not available():
        raise UnknownModel(f"model {pattern!r} needs transformers: pip install 'zoobench[hf]'")
    if not found and pattern.endswith(".py"):
        if not Path(pattern).is_file():
            raise UnknownModel(f"{pattern}: no such file")
        raise UnknownModel(f"{pattern}: which class of it? {pattern}:Name is one, {pattern}:* are all")
    if not found:
        raise UnknownModel(f"unknown model {pattern!r}: {suggestion(pattern)}")
    return found


def of_family(name: str) -> list[Model]:
    found = [model for model in zoo() if model.family == name]
    if not found:
        families = sorted({model.family for model in zoo()})
        raise UnknownModel(f"unknown family {name!r}: there are {', '.join(families)}")
    return found


def suggestion(pattern: str) -> str:
    """The names nearest to a pattern that matched nothing."""
    names = {name.lower(): name for name in [*config_names(), *(model.name for model in zoo())]}
    near = difflib.get_close_matches(pattern.lower().replace("*", ""), names, n=3, cutoff=0.6)
    near = near or [name for name in names if pattern.lower() in name][:3]
    if not near:
        return "`python -m harness list` lists the models"
    return f"did you mean {', '.join(names[name] for name in near)}?"


def counted() -> int:
    """How many configuration names the models stand for."""
    return sum(len(names) for names in stands_for().values())
