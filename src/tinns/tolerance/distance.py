"""How far two trained fields are apart."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns._runtime.compilation import jitted
from tinns.geometry import QuasiRandom
from tinns.nn import Field
from tinns.objective import Psi
from tinns.problem import Problem

POINTS = 2048


def values_of(problem: Problem, field: Field, psi: Psi) -> np.ndarray:
    """The unknowns at points that are always the same: (points, unknowns)."""
    domain, outputs = problem.domain, len(problem.unknowns)
    points = domain.draw_interior(jax.random.key(0), POINTS, QuasiRandom())
    zero = (0,) * len(domain.axes)

    @jitted
    def evaluate(psi: Psi, points: dict[str, Array]) -> Array:
        def at(point: dict[str, Array]) -> Array:
            return field.derivatives(psi["field"], domain, outputs, point, [zero])[zero]

        return jax.vmap(at)(points)

    columns = {axis: jnp.asarray(points[axis], float) for axis in domain.axes}
    return np.asarray(evaluate(psi, columns))


def distance(one: np.ndarray, two: np.ndarray) -> float:
    """‖one - two‖ / ‖two‖."""
    return float(np.linalg.norm(one - two) / max(float(np.linalg.norm(two)), 1e-300))
