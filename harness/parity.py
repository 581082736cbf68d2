"""Whether two runs gave the same: bit by bit, within what rounding explains, or not.

Rounding explains a difference when the jitted result lies about as near to a float64 run as eager's own does: at most
twice eager's error, plus an absolute floor of a few units in the last place of the largest value. No tolerance is
chosen per model. The float64 run is believed only where it can be: where it repeats itself, and where eager lies as
near to it as rounding lets it. If eager is far off, the float64 run did something else (it met another state, say, or
the model asks for the type), and explains nothing.

One run of eager is one sample of its error. Among some hundred gradients there is always one where it had luck, and
twice nearly nothing is nothing. So where a result lies too far off, eager and float64 are run from weights that differ
in the last place too (`Runs.again`), and eager's error is the largest that was seen. Each run is held against float64
from the same weights: how much the results depend on the weights adds nothing to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

#: Best to worst. A cell's class is the worst of its calls.
CLASSES = ("bitwise", "close", "differs", "none")

#: The floor, in units of eps(dtype) times the largest magnitude of the reference. The type is the result's, or the
#: coarser one that it was computed in.
FLOOR = 4

#: The part of the largest magnitude that eager's own error may be: a few roots of eps(dtype), and never more than this.
ROOTS, PLAUSIBLE = 4, 1 / 8

#: The part of the largest magnitude by which two float64 runs may differ.
REPEATED = 1e-9


@dataclass
class Comparison:
    """What comparing two dicts of results found."""

    parity: str = "bitwise"
    max_abs_err: float = 0.0
    reasons: list[str] = field(default_factory=list)

    def note(self, parity: str, reason: str):
        self.parity = worst(self.parity, parity)
        if parity == "differs":
            self.reasons.append(reason)


def worst(*classes: str) -> str:
    return max(classes, key=CLASSES.index)


def compare(want: dict, got: dict, reference: dict | None = None, computed: torch.dtype | None = None,
            again: Sequence[tuple[dict, dict]] = ()) -> Comparison:
    """Judges `got` (jitted) by `want` (eager): dicts of names to tensors or plain values.

    `reference` is the same run in float64, if there is one. `computed` is the type that the model computes in: results
    of a wider type, such as a loss in float32 of a model in bfloat16, are no more exact than that. `again` are results
    of eager and float64 from other weights.
    """
    found = Comparison()
    for name in want.keys() - got.keys():
        found.note("differs", f"{name}: missing")
    for name in got.keys() - want.keys():
        found.note("differs", f"{name}: eager has no such result")
    for name in [name for name in want if name in got]:
        others = [(values[name], exact[name]) for values, exact in again if name in values and name in exact]
        compare_value(found, name, want[name], got[name], (reference or {}).get(name), computed, others)
    return found


def repeated(first: dict, second: dict) -> dict:
    """Of a float64 run those results that a second such run gave too; the others depend on what was before."""
    return {name: value for name, value in first.items() if name in second and as_before(value, second[name])}


def as_before(value, again) -> bool:
    if not isinstance(value, torch.Tensor) or not isinstance(again, torch.Tensor):
        return same_value(value, again)
    return value.shape == again.shape and distance(value, again) <= REPEATED * finite_max(value)


def compare_value(found: Comparison, name, want, got, reference, computed, others):
    if not isinstance(want, torch.Tensor) or not isinstance(got, torch.Tensor):
        if type(want) is not type(got) or not same_value(want, got):
            found.note("differs", f"{name}: {shortened(got)} where eager gives {shortened(want)}")
        return
    for what in ("dtype", "shape", "device", "requires_grad"):
        if getattr(want, what) != getattr(got, what):
            found.note("differs", f"{name}: {what} {getattr(got, what)} where eager has {getattr(want, what)}")
            return
    if same_bits(want, got):
        return
    error = distance(want, got)
    found.max_abs_err = max(found.max_abs_err, error)
    if not want.is_floating_point() and not want.is_complex():
        found.note("differs", f"{name}: unequal {want.dtype} values, by up to {error:.3g}")
        return
    allowed = tolerance(want, reference, computed, others)
    if allowed is None:
        found.note("differs", f"{name}: off by up to {error:.3g}, and no float64 run can explain it")
        return
    judged = distance(reference, got)
    if judged <= allowed:
        found.note("close", "")
    else:
        found.note("differs", f"{name}: off by up to {judged:.3g} where rounding explains {allowed:.3g}")


def tolerance(want, reference, computed, others=()) -> float | None:
    """How far a result may lie from the float64 run; None where that run explains nothing."""
    eps = max(torch.finfo(dtype).eps for dtype in (want.dtype, computed) if dtype is not None)
    own = rounding(want, reference, eps)
    if own is None:
        return None
    errors = [rounding(value, exact, eps) for value, exact in others]
    return 2 * max([own, *(error for error in errors if error is not None)]) + FLOOR * eps * finite_max(reference)


def rounding(value, exact, eps: float) -> float | None:
    """How far a result lies from that of a float64 run; None where that is more than rounding does."""
    if exact is None or exact.shape != value.shape:
        return None
    error = distance(exact, value)
    return None if error > min(PLAUSIBLE, ROOTS * math.sqrt(eps)) * finite_max(exact) else error


def same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Bit for bit: a NaN equals itself, and 0.0 differs from -0.0."""
    if a.layout != torch.strided or b.layout != torch.strided:
        return a.layout == b.layout and same_bits(a.to_dense(), b.to_dense())
    if a.numel() == 0:
        return True
    a, b = a.detach().contiguous(), b.detach().contiguous()
    if a.is_complex():
        a, b = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
    return torch.equal(a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8))


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    """The largest absolute difference, in float64. Infinite where one is NaN or infinite and the other is not alike."""
    wide = torch.complex128 if a.is_complex() or b.is_complex() else torch.float64
    a, b = a.detach().to(wide).cpu(), b.detach().to(wide).cpu()
    if a.shape != b.shape:
        return math.inf
    if a.numel() == 0:
        return 0.0
    alike = (a == b) | (a.isnan() & b.isnan())
    apart = torch.where(alike, 0.0, (a - b).abs())
    return float(torch.nan_to_num(apart, nan=math.inf, posinf=math.inf).max())


def finite_max(tensor: torch.Tensor) -> float:
    values = tensor.detach().abs().double()
    values = values[values.isfinite()]
    return float(values.max()) if values.numel() else 0.0


def same_value(a, b) -> bool:
    try:
        return bool(a == b) or (a != a and b != b)  # noqa: PLR0124
    except Exception:
        return False


def shortened(value) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
