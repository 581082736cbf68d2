"""What a run is going to measure: the list of its cells, decided before the first of them starts.

The plan is the denominator of every summary. It is stored before anything runs, so that a cell which never ends,
or takes the run down with it, is missed by name.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.errors import UsageError


@dataclass(frozen=True, slots=True)
class Cell:
    """One thing to be measured. `depth` None means the depth that the scale gives the model."""

    model: str
    workload: str
    subject: str
    executor: str = "eager"
    dtype: str = "float32"
    device: str = "cpu"
    scale: str = "tiny"
    depth: int | None = None

    @property
    def id(self) -> str:
        """A stable name, the same in every run and revision: it joins rows in comparisons and names cells to people."""
        size = self.scale if self.depth is None else f"{self.scale}-{self.depth}"
        return "/".join((self.model, self.workload, self.subject, self.executor, self.dtype, self.device, size))

    def asdict(self) -> dict:
        return dataclasses.asdict(self)

    @classmethod
    def fromdict(cls, values: dict) -> Cell:
        return cls(**{field.name: values[field.name] for field in dataclasses.fields(cls)})


def plan(models: Iterable, workloads: Sequence[str], subjects: Sequence, executors: Sequence[str], *,
         dtypes: Sequence[str] = ("float32",), device: str = "cpu", scale: str = "tiny",
         depths: Sequence[int | None] = (None,)) -> list[Cell]:
    """All cells of the asked combinations, models outermost. A subject takes only the executors that it knows.

    `models` are `catalog.Model`s and `subjects` classes of `harness.subjects`. A model is planned for those of the
    workloads that it has, a workload for those of the dtypes that it takes. Raises UsageError where nothing at all is
    left.
    """
    from models import WORKLOADS
    cells = []
    refused: dict[str, None] = {}
    for model in models:
        for workload in workloads:
            if workload not in model.workloads:
                continue
            for dtype in dtypes:
                reason = WORKLOADS[workload].supports(dtype)
                if reason:
                    refused[reason] = None
                    continue
                for depth in depths:
                    for subject in subjects:
                        for executor in chosen_executors(subject, executors):
                            cells.append(
                                Cell(model.name, workload, subject.name, executor, dtype, device, scale, depth))
    cells = list(dict.fromkeys(cells))
    if not cells and refused:
        raise UsageError(f"nothing to run: {'; '.join(refused)}")
    if not cells:
        raise UsageError(f"nothing to run: none of the chosen models has the workloads {', '.join(workloads)}")
    return cells


def chosen_executors(subject, executors: Sequence[str]) -> list[str]:
    """Those of `executors` that the subject has; its only one where it has no choice to offer (eager, thunder).

    "package.module:function" names an executor of one's own, which every subject with a choice is given.
    """
    if len(subject.executors) == 1:
        return list(subject.executors)
    return [e for e in executors if ":" in e or e in subject.executors or not subject.executors]


def shard(cells: Sequence[Cell], text: str | None) -> list[Cell]:
    """The I-th of N parts, for "I/N". The parts are disjoint, cover the plan and keep its order.

    Each part gets its share of every executor and dtype, whatever N is: these are what makes a cell long, so that the
    parts take about the same time.
    """
    if text is None:
        return list(cells)
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--shard {text}: expected I/N with 1 <= I <= N, such as 2/4")
    dealt = sorted(range(len(cells)), key=lambda place: (cells[place].executor, cells[place].dtype))
    return [cells[place] for place in sorted(dealt[int(match[1]) - 1::int(match[2])])]
