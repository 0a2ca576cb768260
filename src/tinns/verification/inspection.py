"""The residuals of all conditions at new points, dimensionless, and where they are largest.

Half of the points crowd towards the initial time and the faces, where a network can hide an error.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns._runtime.compilation import jitted
from tinns._runtime.precision import computing_in
from tinns.geometry import Batch, Counts, HasEdges, QuasiRandom, graded
from tinns.nn import Field
from tinns.objective import Psi
from tinns.objective.evaluation import as_numbers, evaluate_at, traced
from tinns.objective.scales import Scales, find_scales
from tinns.problem.base import Condition, Problem

COUNTS = Counts(4000, 1000, 1000)


@dataclass(frozen=True)
class Misfit:
    """The residuals of one row relative to its terms: root mean square, largest, and where."""

    name: str  # of the condition, with a number if it has several rows
    rms: float
    largest: float
    at: Mapping[str, float]

    @property
    def sentence(self) -> str:
        where = ", ".join(f"{axis} = {value:.4g}" for axis, value in self.at.items())
        return (
            f"{self.name}: residuals of {self.rms:.1e} (root mean square), at most "
            f"{self.largest:.1e} at {where}"
        )


@dataclass(frozen=True)
class Inspection:
    """The misfits of all rows of a problem, in the order of its conditions."""

    misfits: tuple[Misfit, ...]
    seconds: float = 0.0

    @property
    def worst(self) -> Misfit:
        """The row with the largest residuals on average."""
        return max(self.misfits, key=lambda misfit: misfit.rms)

    def as_data(self) -> dict[str, Any]:
        """Plain data for a record; `from_data` gives it back."""
        return {"rows": [asdict(misfit) for misfit in self.misfits], "seconds": self.seconds}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> "Inspection":
        return cls(tuple(Misfit(**row) for row in data["rows"]), data["seconds"])


def inspect_residuals(
    problem: Problem,
    field: Field,
    psi: Psi,
    *,
    scales: Scales | None = None,
    counts: Counts = COUNTS,
    seed: int = 0,
) -> Inspection:
    """The residuals of a field with parameters ψ."""
    started = time.monotonic()
    with computing_in("float64"), jax.default_device(jax.devices("cpu")[0]):
        scales = scales or find_scales(problem, len(getattr(field, "edges", (0, 1))) - 1)
        own = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf, float)), psi)
        conditions = problem.all_conditions()
        program = jitted(lambda p, key: _residuals(problem, conditions, field, p, key, counts))
        found = jax.tree.map(np.asarray, program(own, jax.random.key(seed)))
    misfits = []
    for number, (condition, (batch, rows)) in enumerate(zip(conditions, found, strict=True)):
        points = {axis: np.asarray(batch[axis]) for axis in problem.domain.axes}
        weight = np.ones(len(rows)) if batch.weight is None else np.asarray(batch.weight)
        misfits += _misfits(condition, points, weight, rows * np.array(scales.of(number)))
    return Inspection(tuple(misfits), time.monotonic() - started)


def _residuals(
    problem: Problem,
    conditions: Sequence[Condition],
    field: Field,
    psi: Psi,
    key: Array,
    counts: Counts,
) -> list[tuple[Batch, Array]]:
    """For each condition, its points and its residuals there."""
    posed = problem.with_coefficients(psi["coefficients"])
    found = []
    for number, condition in enumerate(conditions):
        region = condition.region
        own_key = jax.random.fold_in(key, number)
        batch = region.draw(own_key, problem.domain, counts, QuasiRandom())
        if isinstance(region, HasEdges):
            batch = graded(batch, region.edges(problem.domain))
        evaluate = evaluate_at(problem, field, psi, traced(problem, region, [condition])[0])

        def rows(point: Batch, condition=condition, evaluate=evaluate) -> Array:
            values = as_numbers(condition.name, condition.residual(posed, evaluate, point))
            return jnp.stack([jnp.asarray(value, float) for value in values])

        found.append((batch, jax.vmap(rows)(batch)))
    return found


def _misfits(
    condition: Condition, points: Mapping[str, np.ndarray], weight: np.ndarray, rows: np.ndarray
) -> list[Misfit]:
    sizes = np.where(np.isfinite(rows), np.abs(rows), np.inf)
    found = []
    for number, column in enumerate(sizes.T):
        place = int(np.argmax(column))
        at = {axis: float(values[place]) for axis, values in points.items()}
        name = condition.name if rows.shape[1] == 1 else f"{condition.name}_{number + 1}"
        rms = float(np.sqrt(np.mean((weight * column) ** 2)))
        found.append(Misfit(name, rms, float(column[place]), at))
    return found
