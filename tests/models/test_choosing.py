"""Names, globs, families and classes of one's own; and one clear line for what is none of them."""

import pytest
import torch

import models
from models import UnknownModel, UnknownWorkload, expand_workloads, select, zoo


def names(*patterns: str) -> list[str]:
    return [model.name for model in select(list(patterns))]


def test_without_patterns_all_that_litgpt_has_is_meant():
    """`make bench` leaves out what an optional extra brings; LoRA and the adapters are of LitGPT itself."""
    assert select() == select([]) == [model for model in zoo() if model.family != "hf"]
    assert {"lora", "adapter", "latent", "block", "moe"} <= {model.family for model in select()}
    assert select(["*"]) == zoo()


def test_a_pattern_is_a_name_a_glob_a_family_or_a_configuration():
    assert names("LLaMAMoE") == ["LLaMAMoE"]
    assert names("Gemma-3*") == ["Gemma-3-1b-it", "Gemma-3-4b-it"]
    assert names("mixtral*") == ["Mixtral-8x7B-v0.1"]
    assert names("family:olmo") == ["OLMo-1B-hf", "OLMo-2-1124-7B"]
    assert names("Llama-3.1-405B") == ["Llama-3.1-8B"]


def test_models_come_once_and_in_the_order_of_the_zoo():
    assert names("phi-2", "pythia*", "p*") == ["pythia-14m", "phi-1_5", "phi-2"]


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [("Llamma-3-8B", "Llama-3-8B"), ("StaticExpert", "StaticExperts"), ("family:lama", "llama"),
     ("nowhere.py:Model", "no such file"), ("no.such.package:Model", "importing it failed"), ("zzzzzz", "list")],
)
def test_an_unknown_model_gets_one_line_with_what_is_near(pattern, hint):
    with pytest.raises(UnknownModel) as caught:
        select([pattern])
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_workloads_are_named_all_or_the_default():
    assert [workload.name for workload in expand_workloads(None)] == list(models.DEFAULT_WORKLOADS)
    assert expand_workloads(["all"]) == list(models.WORKLOADS.values())
    assert [workload.name for workload in expand_workloads(["train", "forward", "train"])] == ["train", "forward"]
    with pytest.raises(UnknownWorkload, match="decode"):
        expand_workloads(["decod"])


OWN = '''
import torch
from torch import nn

class Scaled(nn.Module):
    def __init__(self, factor=2.0):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.factor = factor

    def forward(self, x, index):
        return self.linear(x)[index] * self.factor

    def example_inputs(self):
        return torch.randn(4, 3), torch.tensor([0, 2])

class Alone(Scaled):
    def forward(self, x):
        return self.linear(x)

    def example_inputs(self):
        return torch.randn(2, 3)

class Sized(nn.Module):
    def __init__(self, width):
        super().__init__()

    def example_inputs(self):
        return (torch.ones(1),)

class Mute(nn.Module):
    pass

numbers = [1, 2]
'''


@pytest.fixture
def own_file(tmp_path):
    path = tmp_path / "own_layers.py"
    path.write_text(OWN)
    return path


def test_a_class_of_ones_own(own_file):
    (model,) = select([f"{own_file}:Scaled"])
    module = model.build(seed=1, dtype=torch.float64)
    first, second = model.inputs(seed=1, dtype=torch.float64), model.inputs(seed=1, dtype=torch.float64)
    assert torch.equal(first[0], second[0])
    assert first[0] is not second[0]
    assert (first[0].dtype, first[1].dtype) == (torch.float64, torch.int64)
    assert not torch.equal(first[0], model.inputs(seed=2, dtype=torch.float64)[0])
    assert torch.equal(module.linear.weight, model.build(seed=1, dtype=torch.float64).linear.weight)
    for workload in model.workloads:
        assert models.WORKLOADS[workload].prepare(model, module).run(module)


def test_a_single_tensor_is_the_only_argument(own_file):
    (model,) = select([f"{own_file}:Alone"])
    assert [tensor.shape for tensor in model.inputs()] == [(2, 3)]


def test_a_module_that_can_be_imported(own_file, monkeypatch):
    monkeypatch.syspath_prepend(own_file.parent)
    (model,) = select(["own_layers:Scaled"])
    assert model.build()(*model.inputs()).shape == (2, 3)


def test_a_star_takes_the_classes_that_have_inputs(own_file):
    own_file.write_text(OWN.replace("width", "width=1"))
    assert names(f"{own_file}:*") == [f"{own_file}:{name}" for name in ("Scaled", "Alone", "Sized")]


def test_a_star_does_not_pass_over_a_class_that_cannot_be_built(own_file):
    with pytest.raises(UnknownModel, match="needs width"):
        select([f"{own_file}:*"])


@pytest.mark.parametrize(
    ("name", "hint"),
    [("Scalde", "Scaled"), ("Sized", "needs width"), ("Mute", "example_inputs"), ("numbers", "no torch.nn.Module")],
)
def test_a_class_that_cannot_be_used_says_why(own_file, name, hint):
    with pytest.raises(UnknownModel, match=hint):
        select([f"{own_file}:{name}"])


def test_a_file_that_does_not_import_says_why(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import nothing_of_that_name")
    with pytest.raises(UnknownModel, match="ModuleNotFoundError"):
        select([f"{path}:Model"])
