"""Every scene looks the same eager and jitted."""

import importlib
import pkgutil

import pytest

from tests.recording import scenes
from tests.recording.agree import same

SCENES = [
    build
    for found in pkgutil.iter_modules(scenes.__path__)
    for build in importlib.import_module(f"{scenes.__name__}.{found.name}").SCENES
]


@pytest.mark.parametrize("build", SCENES, ids=lambda build: build.__name__)
def test_scene(build):
    same(build)
