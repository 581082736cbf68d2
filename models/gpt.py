"""LitGPT's GPT in each of its architectures."""

from functools import partial

from litgpt.config import Config
from litgpt.model import GPT
from torch import nn

from models.architectures import configuration, family, stands_for
from models.draw import Draw
from models.model import Model
from models.routing import decisive
from models.scale import VOCABULARY

WORKLOADS = (
    "forward",
    "train",
    "decode",
    "decode-maxp1",
    "decode-batched",
    "generate",
    "generate-sampled",
    "generate-loop",
    "chunked-head",
    "forward-autocast",
    "train-autocast",
    "decode-autocast",
)


def gpt(name: str, scale: str, depth: int | None) -> nn.Module:
    """The configuration `name` as a GPT."""
    return GPT(configuration(name, scale, depth))


def token_ids(name: str, draw: Draw) -> tuple:
    """A batch of token ids, (B, T)."""
    vocabulary = Config.from_name(name).padded_vocab_size if draw.scale == "full" else VOCABULARY
    return (draw.ids(vocabulary or VOCABULARY, draw.batch, draw.tokens),)


def architecture(name: str, names: tuple[str, ...] = ()) -> Model:
    """The model for the configuration `name`, standing for `names`."""
    return Model(
        name=name,
        family=family(name),
        builder=partial(gpt, name),
        sampler=partial(token_ids, name),
        workloads=WORKLOADS,
        stands_for=names or (name,),
        loss="tokens",
        finish=decisive,
    )


def architectures() -> list[Model]:
    """A model for each architecture; together they stand for all names that are not missing."""
    return [architecture(name, names) for name, names in stands_for().items()]
