"""Every scene looks the same eager and jitted."""

import pytest

from tests.recording import (
    scenes_caches,
    scenes_given,
    scenes_guards,
    scenes_more,
    scenes_numbers,
    scenes_torch,
    scenes_writes,
)
from tests.recording.agree import same

SCENES = [
    build
    for module in (
        scenes_caches,
        scenes_given,
        scenes_guards,
        scenes_writes,
        scenes_torch,
        scenes_numbers,
        scenes_more,
    )
    for build in module.SCENES
]


@pytest.mark.parametrize("build", SCENES, ids=lambda build: build.__name__)
def test_scene(build):
    same(build)
