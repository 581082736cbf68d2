"""The models of transformers, which are there when the extra is. (test_models.py runs each of them then.)"""

import pytest

from models import UnknownModel, select, zoo
from models.hf import FAMILIES, available


def test_they_are_in_the_zoo_when_transformers_is_installed():
    found = [model for model in zoo() if model.family == "hf"]
    assert len(found) == (len(FAMILIES) if available() else 0)
    assert len(FAMILIES) >= 20


@pytest.mark.skipif(available(), reason="transformers is installed")
def test_without_transformers_they_say_what_to_install():
    with pytest.raises(UnknownModel, match=r"zoobench\[hf\]"):
        select(["hf-gpt2"])
