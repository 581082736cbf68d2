"""Models of one's own: classes named on the command line as `path/to/file.py:Name` or `package.module:Name`."""

import difflib
import hashlib
import importlib
import importlib.util
import inspect
import sys
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map

from models.draw import Draw
from models.model import Model, UnknownModel


def own(spec: str) -> list[Model]:
    """The models that `spec` names: `file.py:Name`, `file.py:*` or `package.module:Name`.

    A class is a `torch.nn.Module` that is built without arguments and has `example_inputs()`, which returns the
    positional arguments of `forward`, new tensors on each call. Raises UnknownModel with one line that says what is
    wrong with the place, the name or the class.
    """
    place, _, name = spec.rpartition(":")
    offered = classes(load(place))
    if name == "*":
        usable = [key for key, kind in offered.items() if hasattr(kind, "example_inputs")]
        if not usable:
            raise UnknownModel(f"{place}: it has no torch.nn.Module with an example_inputs() method")
        for key in usable:  # one that can't be built is no reason to run the others as if it were not there
            check(place, key)
        return [entry(place, key) for key in usable]
    if find(place, name) is None:
        near = difflib.get_close_matches(name, offered, n=3, cutoff=0.6) or list(offered)
        hint = f"it has {', '.join(near)}" if near else "it has no torch.nn.Module at all"
        raise UnknownModel(f"{place}: no torch.nn.Module named {name!r} in it: {hint}")
    check(place, name)
    return [entry(place, name)]


def check(place: str, name: str) -> None:
    """Raise UnknownModel if the class can't be used as it is."""
    kind = find(place, name)
    if not callable(getattr(kind, "example_inputs", None)):
        raise UnknownModel(f"{place}:{name}: it needs a method example_inputs() that returns forward's arguments")
    needed = [
        parameter.name
        for parameter in inspect.signature(kind).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if needed:
        raise UnknownModel(
            f"{place}:{name}: it must be built without arguments, but __init__ needs {', '.join(needed)}"
        )


def entry(place: str, name: str) -> Model:
    """The model for a class that was found to be usable."""
    return Model(
        name=f"{place}:{name}",
        family="own",
        builder=partial(instance, place, name),
        sampler=partial(example_inputs, place, name),
        workloads=("forward", "train"),
        initialised=True,
    )


def instance(place: str, name: str, scale: str, depth: int | None) -> nn.Module:
    """The class, built. It has one size: scale and depth don't touch it."""
    return find(place, name)()


def example_inputs(place: str, name: str, draw: Draw) -> tuple:
    """What the class's own `example_inputs()` gives under the seed, on the device, floats in the dtype."""

    def move(value: object) -> object:
        if not isinstance(value, torch.Tensor):
            return value
        return value.to(draw.device, draw.dtype) if value.is_floating_point() else value.to(draw.device)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw.seed)
        given = find(place, name)().example_inputs()
    if given is None:
        raise TypeError(f"{name}.example_inputs() returned None: it returns forward's arguments, as (x,) or (x, y)")
    return tuple(tree_map(move, tuple(given) if isinstance(given, (tuple, list)) else (given,)))


def find(place: str, name: str) -> Any:
    """The module class `name` of a file or module, which may have it from elsewhere; None if there is none."""
    kind = getattr(load(place), name, None)
    return kind if isinstance(kind, type) and issubclass(kind, nn.Module) else None


def classes(module: ModuleType) -> dict[str, type[nn.Module]]:
    """The module classes that are defined in `module` itself, in their order."""
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == module.__name__
    }


@cache
def load(place: str) -> ModuleType:
    """Import a file or a module by name. Raises UnknownModel, also when the import itself fails."""
    try:
        if not place.endswith(".py"):
            return importlib.import_module(place)
        path = Path(place).resolve()
        if not path.is_file():
            raise UnknownModel(f"{place}: no such file")
        # A name of its own, in sys.modules: the classes can then be pickled, and two files of one name don't clash.
        name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        return module
    except UnknownModel:
        raise
    except (Exception, SystemExit) as error:
        raise UnknownModel(f"{place}: importing it failed: {type(error).__name__}: {error}") from error
