"""What happened during a run, as columns of numbers."""

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field

import jax
import numpy as np

# The columns that every solver writes; the others belong to an optimiser or to one solver.
ITERATION, SECONDS = "iteration", "seconds"
LOSS, VALIDATION_LOSS, ERROR = "loss", "validation_loss", "relative_l2"


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class History:
    """Columns by name, one entry per iteration; entries that were not measured are NaN."""

    columns: dict[str, np.ndarray] = dataclass_field(default_factory=dict)

    def __len__(self) -> int:
        return max((len(column) for column in self.columns.values()), default=0)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def extended(self, entries: Mapping[str, np.ndarray]) -> "History":
        """The history with equally long pieces of columns appended."""
        before, count = len(self), len(next(iter(entries.values())))
        missing, none = np.full(before, np.nan), np.full(count, np.nan)
        names = dict.fromkeys([*self.columns, *entries])
        return History(
            {
                name: np.concatenate([self.columns.get(name, missing), entries.get(name, none)])
                for name in names
            }
        )

    def measured(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The iterations at which `name` was measured, and its values there."""
        if name not in self.columns:
            return np.array([]), np.array([])
        known = np.isfinite(self.columns[name])
        return self.columns[ITERATION][known], self.columns[name][known]

    def to_csv(self) -> str:
        """The columns as CSV with ten significant digits, the most important columns first."""
        import pandas

        frame = pandas.DataFrame(self.columns, columns=_ordered(self.columns))
        return frame.to_csv(index=False, float_format="%.10g", lineterminator="\r\n")

    @classmethod
    def from_csv(cls, text: str) -> "History":
        import pandas

        frame = pandas.read_csv(io.StringIO(text), dtype=float)
        return cls({str(name): frame[name].to_numpy() for name in frame.columns})


def _ordered(names: Iterable[str]) -> list[str]:
    first = [ITERATION, SECONDS, LOSS, VALIDATION_LOSS, ERROR, "damping"]
    present = list(names)
    return [n for n in first if n in present] + sorted(n for n in present if n not in first)
