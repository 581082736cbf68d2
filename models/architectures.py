"""The configurations of LitGPT, grouped into the architectures they are.

Two names whose scaled configurations are the same run the same code, so one model stands for both. The names chosen
to stand for their group are listed here, since they name rows of reports that outlive a release of LitGPT. A later
release may bring a configuration that none of them stands for: it is `missing()`, and is reported as such.
"""

import re
from functools import cache

from litgpt.config import Config, name_to_config

from models.scale import full, scaled, shape_of

REPRESENTATIVES = (
    "pythia-14m",
    "stablelm-3b-4e1t",
    "falcon-7b",
    "falcon-40b",
    "Llama-2-7b-hf",
    "LLaMA-2-7B-32K",
    "Llama-3-8B",
    "Llama-3.1-8B",
    "OLMo-1B-hf",
    "OLMo-2-1124-7B",
    "Gemma-2b",
    "Gemma-7b",
    "Gemma-2-2b",
    "Gemma-3-1b-it",
    "Gemma-3-4b-it",
    "phi-1_5",
    "phi-2",
    "Phi-3-mini-4k-instruct",
    "Phi-4-mini-instruct",
    "Mistral-7B-v0.1",
    "Mixtral-8x7B-v0.1",
    "Qwen2.5-0.5B",
    "Qwen3-0.6B",
    "Qwen3-30B-A3B",
)


def config_names() -> list[str]:
    """Every configuration name of the installed LitGPT, in its order."""
    return list(name_to_config)


@cache
def stands_for() -> dict[str, tuple[str, ...]]:
    """For each representative the installed LitGPT has: the names it stands for, itself among them."""
    groups = {shape(name): name for name in REPRESENTATIVES if name in name_to_config}
    members: dict[str, list[str]] = {name: [] for name in groups.values()}
    for name in config_names():
        representative = groups.get(shape(name))
        if representative is not None:
            members[representative].append(name)
    return {name: tuple(names) for name, names in members.items()}


def missing() -> list[str]:
    """Names of the installed LitGPT that no model of the zoo stands for."""
    known = {name for names in stands_for().values() for name in names}
    return [name for name in config_names() if name not in known]


@cache
def shape(name: str) -> str:
    """What makes the scaled configuration `name` the same model as another."""
    return shape_of(configuration(name))


def configuration(
    name: str, scale: str = "tiny", depth: int | None = None, kind: type[Config] = Config, **fields: object
) -> Config:
    """The configuration `name` of LitGPT at `scale`, `depth` layers deep (None: 2 when tiny, all when full).

    `kind` is the Config class to make (the adapters have their own), `fields` are set last.
    """
    original = Config.from_name(name)
    sized = full(original, depth) if scale == "full" else scaled(original, *([depth] if depth else []))
    return kind(**(sized | fields))


# The families whose names don't say so by their first letters.
FAMILIES = {
    "camel": "llama",
    "codellama": "llama",
    "freewilly": "llama",
    "micro-llama": "llama",
    "open_llama": "llama",
    "platypus": "llama",
    "r1-distill-llama": "llama",
    "stable-platypus": "llama",
    "tiny-llama": "llama",
    "codegemma": "gemma",
    "mathstral": "mistral",
    "qwq": "qwen",
    "stable": "stablelm",
}


def family(name: str) -> str:
    """The family a configuration name belongs to: `llama` for `Llama-3-8B` and `CodeLlama-7b-hf`."""
    lower = name.lower()
    for prefix in sorted(FAMILIES, key=len, reverse=True):
        if lower.startswith(prefix):
            return FAMILIES[prefix]
    letters = re.match(r"[a-z]*", lower)
    return (letters.group() if letters else "") or "other"
