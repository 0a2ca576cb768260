"""An estimate of the error of a solution, with how it was made."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import Any, Literal

import numpy as np


@dataclass(frozen=True)
class ErrorEstimate:
    """‖u - u*‖ / ‖u*‖, estimated without knowing u*.

    `per_unknown` has it for each unknown function, `over_time` at each of `times`, and
    `per_unknown_over_time` both; `sizes` are ‖u*(·, t)‖ at these times. The error is expected
    within [relative_l2 / factor, relative_l2 · factor].
    """

    relative_l2: float
    by: Literal["classical", "network"]
    per_unknown: Mapping[str, float]
    times: np.ndarray
    over_time: np.ndarray
    factor: float
    how: str  # a sentence: how it was made and how far to trust it
    seconds: float = 0.0  # that it took
    per_unknown_over_time: Mapping[str, np.ndarray] = field(default_factory=dict)
    sizes: np.ndarray | None = None

    @property
    def is_finite(self) -> bool:
        """Whether the estimate and its factor are numbers that say something."""
        return isfinite(self.relative_l2) and isfinite(self.factor)

    @property
    def worst(self) -> tuple[float, str]:
        """The largest error of an unknown function, and its name."""
        known = {name: error for name, error in self.per_unknown.items() if isfinite(error)}
        name = max(known, key=lambda each: known[each], default="")
        return (known[name], name) if name and isfinite(self.relative_l2) else (inf, name)

    @property
    def growth(self) -> float:
        """The largest error in the last quarter of time over the median of the first one.

        Errors are not relative to the solution of each time: one that decays is no growth.
        """
        errors = self.over_time if self.sizes is None else self.over_time * self.sizes
        errors = errors[np.isfinite(errors)]
        if len(errors) < 4:
            return 1.0
        quarter = len(errors) // 4
        early = float(np.median(errors[:quarter]))
        return float(np.max(errors[-quarter:])) / early if early > 0 else 1.0

    @property
    def bounds(self) -> tuple[float, float]:
        """Where the error is expected."""
        return self.relative_l2 / self.factor, self.relative_l2 * self.factor

    def times_as_large(self, factor: float) -> "ErrorEstimate":
        """The same estimate of an error that is larger by a factor, everywhere."""
        return replace(
            self,
            relative_l2=factor * self.relative_l2,
            per_unknown={name: factor * error for name, error in self.per_unknown.items()},
            over_time=factor * self.over_time,
            per_unknown_over_time={
                name: factor * errors for name, errors in self.per_unknown_over_time.items()
            },
        )

    def as_data(self) -> dict[str, Any]:
        """Plain data for a record, None for what is not finite; `from_data` gives it back."""
        return {
            "relative_l2": _plain(self.relative_l2),
            "by": self.by,
            "per_unknown": {name: _plain(value) for name, value in self.per_unknown.items()},
            "times": [_plain(t) for t in self.times],
            "over_time": [_plain(value) for value in self.over_time],
            "factor": _plain(self.factor),
            "how": self.how,
            "seconds": _plain(self.seconds),
            "per_unknown_over_time": {
                name: [_plain(value) for value in values]
                for name, values in self.per_unknown_over_time.items()
            },
            "sizes": None if self.sizes is None else [_plain(size) for size in self.sizes],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "ErrorEstimate":
        """The estimate of a record; numbers that were not finite become infinite."""
        return cls(
            relative_l2=_number(data["relative_l2"]),
            by=data["by"],
            per_unknown={name: _number(value) for name, value in data["per_unknown"].items()},
            times=_array(data["times"]),
            over_time=_array(data["over_time"]),
            factor=_number(data["factor"]),
            how=data["how"],
            seconds=_number(data.get("seconds", 0.0)),
            per_unknown_over_time={
                name: _array(values)
                for name, values in data.get("per_unknown_over_time", {}).items()
            },
            sizes=_array(data["sizes"]) if data.get("sizes") else None,
        )


def _plain(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def _number(value: float | None) -> float:
    return float("inf") if value is None else float(value)


def _array(values: list[float | None]) -> np.ndarray:
    return np.array([_number(value) for value in values])
