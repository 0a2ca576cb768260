"""A field in time windows: each window has parameters of its own, and a time from 0 to 1."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.domain import TIME, Box
from tinns.fields.field import Derivatives, Field
from tinns.fields.series import MultiIndex


@dataclass(frozen=True)
class Windowed:
    """u(x, t) = u_k(x, (t - t_k)/(t_k+1 - t_k)) for t in [t_k, t_k+1), the last window closed."""

    inner: Field
    edges: tuple[float, ...]

    def init(self, key: Array, domain: Box, outputs: int) -> list[Any]:
        keys = [jax.random.fold_in(key, number) for number in range(len(self.edges) - 1)]
        return [self.inner.init(each, domain.over(0, 1), outputs) for each in keys]

    def derivatives(self, psi, domain, outputs, point, indices) -> Derivatives:
        wanted = tuple(indices)
        number = jnp.searchsorted(jnp.asarray(self.edges[1:-1]), point[TIME], side="right")
        # All windows, then a choice: a branch for each would copy ψ for every point of a batch.
        everywhere = [
            derivatives_in_window(
                self.inner, parameters, domain, outputs, point, wanted, start, end - start
            )
            for parameters, (start, end) in zip(psi, itertools.pairwise(self.edges), strict=True)
        ]
        return {k: jnp.stack([values[k] for values in everywhere])[number] for k in wanted}

    def jumps(self, psi: Any, domain: Box, outputs: int, space: dict[str, Array]) -> np.ndarray:
        """‖u(t_k+) - u(t_k-)‖ / ‖u(t_k-)‖ over the given points of space, at every inner edge."""
        zero = (0,) * len(domain.axes)

        @jax.jit
        @partial(jax.vmap, in_axes=(None, 0))
        def ends(parameters: Any, place: dict[str, Array]) -> Array:
            at = [place | {TIME: jnp.asarray(time, float)} for time in (0.0, 1.0)]
            box = domain.over(0, 1)
            return jnp.stack(
                [self.inner.derivatives(parameters, box, outputs, p, [zero])[zero] for p in at]
            )

        values = [np.asarray(ends(parameters, space)) for parameters in psi]
        return np.array(
            [
                np.linalg.norm(after[:, 0] - before[:, 1]) / np.linalg.norm(before[:, 1])
                for before, after in itertools.pairwise(values)
            ]
        )


def derivatives_in_window(
    field: Field,
    psi: Any,
    domain: Box,
    outputs: int,
    point: dict[str, Array],
    indices: Iterable[MultiIndex],
    start: Array | float,
    length: Array | float,
) -> Derivatives:
    """∂^k u where the field's own time runs from 0 to 1 over [start, start + length]."""
    own = point | {TIME: (point[TIME] - start) / length}
    values = field.derivatives(psi, domain.over(0, 1), outputs, own, indices)
    return {k: value / length ** k[-1] for k, value in values.items()}
