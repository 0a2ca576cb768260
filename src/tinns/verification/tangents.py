"""The tangent functions ∂u/∂ψ_j of a field, as functions that represent a change of u.

While a network is trained its error lies mostly in their span. Networks with many parameters are
represented by random combinations of these functions.
"""

from collections.abc import Mapping
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.flatten_util import ravel_pytree

from tinns._runtime.compilation import jitted
from tinns.geometry import TIME, MultiIndex
from tinns.nn import Field
from tinns.objective import Psi
from tinns.problem.base import Problem
from tinns.verification.linear_model import Linearisation, Numbers, at_points
from tinns.verification.linear_rows import Points, Rows

PIECE = 512  # points whose tangent functions are evaluated at once
MOST_NUMBERS = 1e7  # that are evaluated at once


class Tangents:
    """`count` tangent functions of the field of one time window, or all if there are fewer."""

    def __init__(
        self, model: Linearisation, psi: Psi, window: int, count: int, seed: int = 0
    ) -> None:
        self.model, self.psi, self.window = model, psi, window
        flat, self._unravel = ravel_pytree(model.parameters(psi, window))
        self.parameters = int(flat.size)
        self._mixing: np.ndarray | None = None
        if self.parameters > count:
            random = np.random.default_rng(seed)
            self._mixing = random.standard_normal((self.parameters, count)) / np.sqrt(count)
        self.count = min(count, self.parameters)

    def columns(self, rows: Rows) -> np.ndarray:
        """The weighted changes of the rows by each tangent function: (rows, functions)."""
        indices = self.model.all_indices
        chosen = [indices.index(k) for k in rows.indices]
        found = np.zeros((rows.residual.size, self.count))
        for place, slopes in zip(rows.places, rows.slopes, strict=True):
            weighted = np.swapaxes(slopes * rows.weight[:, :, None, None], 0, 1)
            kinds, points, _, unknowns = weighted.shape
            full = np.zeros((kinds * points, len(indices), unknowns))
            full[:, chosen] = weighted.reshape(kinds * points, len(chosen), unknowns)
            everywhere = {axis: np.tile(column, kinds) for axis, column in place.items()}
            found += self._combinations(everywhere, full)
        return found

    def values(self, points: Points) -> np.ndarray:
        """The unknowns, one after the other, of each tangent function at points."""
        model, found = self.model, []
        for unknown in range(len(model.unknowns)):
            shape = len(points[TIME]), len(model.all_indices), len(model.unknowns)
            slopes = np.zeros(shape)
            slopes[:, model.value, unknown] = 1.0
            found.append(self._combinations(points, slopes))
        return np.concatenate(found)

    def derivatives(self, points: Points, coefficients: np.ndarray) -> np.ndarray:
        """Σ c_j φ_j with all derivatives of the model: (points, indices, unknowns)."""
        mixed = coefficients if self._mixing is None else self._mixing @ coefficients
        direction = self._unravel(jnp.asarray(mixed))
        return self.model.changes(self.psi, self.window, points, direction)

    def _combinations(self, points: Points, slopes: np.ndarray) -> np.ndarray:
        """Σ slopes ∂^k (∂u/∂ψ_j) at many points: (points, functions)."""
        model, count = self.model, len(slopes)
        settings = (model.field, model.problem, model.all_indices, model.windows > 1)
        span = np.array(model.span(self.window))
        psi = {"field": model.parameters(self.psi, self.window)}
        piece = 2 ** int(np.log2(np.clip(MOST_NUMBERS / max(self.parameters, 1), 16, PIECE)))
        found = np.empty((count, self.count))
        for first in range(0, count, piece):
            order = np.arange(first, first + piece) % count
            own = {axis: points[axis][order] for axis in model.domain.axes}
            part = np.asarray(_combined(*settings, psi, span, own, slopes[order]))
            part = part[: min(piece, count - first)]
            found[first : first + piece] = part if self._mixing is None else part @ self._mixing
        return found


@partial(jitted, static_argnums=(0, 1, 2, 3))
def _combined(
    field: Field,
    problem: Problem,
    indices: tuple[MultiIndex, ...],
    in_windows: bool,
    psi: Psi,
    span: Numbers,
    points: Mapping[str, Numbers],
    slopes: Numbers,
) -> Array:
    def combined(point: dict[str, Array], slope: Array) -> Array:
        def total(psi: Psi) -> Array:
            own = jax.tree.map(lambda c: c[None], point)
            values = at_points(field, problem, indices, in_windows, psi, span, own)[0]
            return jnp.sum(slope * values)

        return ravel_pytree(jax.grad(total)(psi))[0]

    given = jax.tree.map(jnp.asarray, (dict(points), slopes))
    return jax.vmap(combined)(*given)
