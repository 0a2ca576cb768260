"""A series computed at first use, kept on disk, and evaluated in JAX at any time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import jax
import jax.numpy as jnp
import numpy as np

from tinns._runtime.errors import UserError
from tinns.problems.references.cache import Arrays, load_or_compute
from tinns.problems.references.spectral_collocation import PanelSeries

# What the highest eighth of the modes may hold, relative to all of them, to count as resolved.
RESOLVED = 1e-14


@dataclass(frozen=True)
class StoredSeries:
    """Real modes y(t) on t in [0, 1]; nothing is computed or read before the first value."""

    problem: str
    parameters: Mapping[str, float]
    compute: Callable[[], PanelSeries]

    @cached_property
    def series(self) -> PanelSeries:
        """The series as NumPy arrays, which stay concrete also while JAX is tracing."""
        arrays = load_or_compute(self.problem, self.parameters, self._compute_arrays, _is_valid)
        return PanelSeries(**arrays)

    def modes(self, t: jax.Array) -> jax.Array:
        """The vector y(t) of a scalar t, traceable and differentiable; NaN outside [0, 1].

        The Chebyshev polynomials come from their recurrence, which has no node where a
        derivative would be 0/0.
        """
        edges = jnp.asarray(self.series.edges)
        coefficients = jnp.asarray(self.series.coefficients)
        panel = jnp.searchsorted(edges, jax.lax.stop_gradient(t), side="right") - 1
        panel = jnp.clip(panel, 0, len(edges) - 2)
        left, right = edges[panel], edges[panel + 1]
        local = 2 * (t - left) / (right - left) - 1
        local = jnp.where((t >= 0) & (t <= 1), local, jnp.nan)
        polynomials = [jnp.ones_like(local), local]
        for _ in range(coefficients.shape[1] - 2):
            polynomials.append(2 * local * polynomials[-1] - polynomials[-2])
        return jnp.stack(polynomials) @ coefficients[panel]

    def _compute_arrays(self) -> Arrays:
        series = self.compute()
        # A series of higher precision is rounded here, once, to what JAX computes in.
        return {"edges": series.edges, "coefficients": series.coefficients.astype(np.float64)}


def first_resolved(
    solve: Callable[[int], PanelSeries], counts: Iterable[int], resolved: float = RESOLVED
) -> PanelSeries:
    """The series with the fewest modes, of those tried, whose last modes are negligible."""
    count = 0
    for count in counts:
        try:
            series = solve(count)
        except ArithmeticError:  # too few modes can make the nonlinear terms blow up
            continue
        if unresolved_part(series) <= resolved:
            return series
    raise UserError(
        f"{count} modes do not resolve this solution: its fronts or waves are too thin. "
        "Use a larger diffusion or dispersion."
    )


def unresolved_part(series: PanelSeries) -> float:
    """The largest share that the highest eighth of the modes ever has."""
    size = np.sqrt((np.abs(series.coefficients) ** 2).sum(axis=2).max())
    highest = series.coefficients[:, :, -(series.coefficients.shape[2] // 8) :]
    return float(np.sqrt((np.abs(highest) ** 2).sum(axis=2).max()) / size)


def _is_valid(arrays: Arrays) -> bool:
    """Whether stored arrays are a series at all: names, kinds, shapes and finite values."""
    if set(arrays) != {"edges", "coefficients"}:
        return False
    edges, coefficients = arrays["edges"], arrays["coefficients"]
    return (
        edges.dtype == coefficients.dtype == np.float64
        and edges.ndim == 1
        and coefficients.ndim == 3
        and len(edges) == len(coefficients) + 1 >= 2
        and coefficients.shape[1] >= 2
        and bool(np.isfinite(coefficients).all())
        and edges[0] == 0
        and edges[-1] == 1
        and bool((np.diff(edges) > 0).all())
    )
