"""Records of error estimates beside true errors, as `benchmarks/effectivity.py` makes them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

Kind = Literal["classical", "network", "stated"]
KINDS: tuple[Kind, ...] = ("classical", "network", "stated")
RANGE = (1 / 3, 10.0)  # of estimates relative to true errors that are good enough
LEAST = 0.1  # below which no estimate should be


@dataclass(frozen=True)
class Attempt:
    """One way to estimate an error: the estimate, or why there is none."""

    estimate: float | None
    seconds: float
    why: str = ""


@dataclass(frozen=True)
class Estimated:
    """A solution with its true error and the estimates of it."""

    problem: str
    seed: int
    moment: float  # share of the training time at which it was taken
    device: str
    seconds: float  # of training
    relative_l2: float
    classical: Attempt
    network: Attempt

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> "Estimated":
        own = {name: data[name] for name in cls.__dataclass_fields__ if name in data}
        for kind in ("classical", "network"):
            found = data[kind]
            own[kind] = Attempt(found["estimate"], found["seconds"], found.get("why", ""))
        return cls(**own)

    def attempt(self, kind: Kind) -> Attempt:
        """The attempt of a kind; `stated` is the one that a user is shown."""
        if kind == "network" or (kind == "stated" and self.classical.estimate is None):
            return self.network
        return self.classical

    def effectivity(self, kind: Kind) -> float | None:
        """The estimate over the true error."""
        estimate = self.attempt(kind).estimate
        return None if estimate is None else estimate / self.relative_l2


@dataclass(frozen=True)
class Summary:
    """How far estimates are from true errors."""

    count: int
    within: float  # share in RANGE
    smallest: float
    median: float
    largest: float

    @property
    def sentence(self) -> str:
        low, high = RANGE
        return (
            f"{self.within:.1%} of {self.count} within [{low:.2g}, {high:g}], smallest "
            f"{self.smallest:.2g}, median {self.median:.2g}, largest {self.largest:.2g}"
        )


def read_effectivity(path: Path) -> list[Estimated]:
    """All records of a file; none if there is no such file."""
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [Estimated.from_data(each) for each in found]


def summarised(records: Sequence[Estimated], kind: Kind) -> Summary | None:
    """The summary of all estimates of a kind; None if there are none."""
    found = [record.effectivity(kind) for record in records]
    ratios = np.array([ratio for ratio in found if ratio is not None])
    if not len(ratios):
        return None
    within = float(np.mean((ratios >= RANGE[0]) & (ratios <= RANGE[1])))
    return Summary(
        len(ratios), within, float(ratios.min()), float(np.median(ratios)), float(ratios.max())
    )
