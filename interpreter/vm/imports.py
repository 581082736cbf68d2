"""``from module import name``, where the module has no such attribute."""

import sys


def import_submodule(module, name):
    """The submodule of that name, if it is loaded; else ImportError as CPython words it."""
    holder = getattr(module, "__name__", None)
    if isinstance(holder, str):
        found = sys.modules.get(f"{holder}.{name}")
        if found is not None:
            return found
    path = getattr(module, "__file__", None)
    shown = holder if isinstance(holder, str) else "<unknown module name>"
    spec = getattr(module, "__spec__", None)
    if getattr(spec, "_initializing", False):
        text = (
            f"cannot import name {name!r} from partially initialized module {shown!r} "
            f"(most likely due to a circular import) ({path if isinstance(path, str) else 'unknown location'})"
        )
    else:
        text = f"cannot import name {name!r} from {shown!r} ({path if isinstance(path, str) else 'unknown location'})"
    raise ImportError(text, name=holder, path=path if isinstance(path, str) else None)
