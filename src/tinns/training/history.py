"""What happened during a run, as columns of numbers."""

import csv
import io
from collections.abc import Mapping, Sequence

import numpy as np


class History:
    """Columns by name, one entry per iteration; entries not measured are NaN."""

    def __init__(self, columns: Mapping[str, np.ndarray] | None = None) -> None:
        self.columns: dict[str, np.ndarray] = dict(columns or {})

    def __len__(self) -> int:
        return max((len(column) for column in self.columns.values()), default=0)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def extend(self, entries: Mapping[str, np.ndarray]) -> None:
        """Append equally long pieces of columns."""
        before = len(self)
        count = len(next(iter(entries.values())))
        for name in entries.keys() | self.columns.keys():
            old = self.columns.get(name, np.full(before, np.nan))
            self.columns[name] = np.concatenate([old, entries.get(name, np.full(count, np.nan))])

    def measured(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The iterations at which `name` was measured, and its values there."""
        if name not in self.columns:
            return np.array([]), np.array([])
        known = np.isfinite(self.columns[name])
        return self.columns["iteration"][known], self.columns[name][known]

    def to_csv(self) -> str:
        names = _ordered(self.columns)
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(names)
        for row in zip(*(self.columns[name] for name in names), strict=True):
            writer.writerow(["" if np.isnan(v) else f"{v:.10g}" for v in row])
        return text.getvalue()

    @classmethod
    def from_csv(cls, text: str) -> "History":
        names, *rows = list(csv.reader(io.StringIO(text)))
        values = np.array([[float(v) if v else np.nan for v in row] for row in rows], dtype=float)
        values = values.reshape(len(rows), len(names))
        return cls({name: values[:, number] for number, name in enumerate(names)})


def _ordered(names: Sequence[str] | Mapping[str, np.ndarray]) -> list[str]:
    first = ["iteration", "seconds", "loss", "validation_loss", "relative_l2", "damping"]
    return [n for n in first if n in names] + sorted(n for n in names if n not in first)
