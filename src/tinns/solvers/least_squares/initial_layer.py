"""A start from the initial values: the last layer is fitted to them, at all times."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.typing import ArrayLike

from tinns._runtime.compilation import jitted
from tinns._runtime.errors import UserError
from tinns.geometry import TIME, Initial
from tinns.geometry.batch import mesh
from tinns.nn import LinearOutput
from tinns.objective import Psi, System

POINTS = 4000  # about how many points of space and time are fitted
TIMES = 10


def fit_initial_layer(system: System, psi: Psi) -> Psi:
    """ψ with the output weights W that minimise Σ |u(x, t; W) - u0(x)|² over a grid of (x, t).

    u is linear in W, so this is a linear least-squares problem; of all solutions the shortest is
    taken (S. Wang, B. Li, Y. Chen, P. Perdikaris, 2024, for PirateNets).
    """
    field, problem, outputs = system.field, system.problem, len(system.problem.unknowns)
    if not isinstance(field, LinearOutput):
        raise UserError(
            f"recipe: fit_initial_layer=True needs a field with a linear last layer, such as "
            f"SpaceTime(...); got {type(field).__name__}"
        )
    start = field.output_weights(psi["field"])
    zero = (0,) * len(problem.domain.axes)
    points = _grid(system)

    def value(weights: Array, point: dict[str, Array]) -> Array:
        changed = field.with_output_weights(psi["field"], weights)
        return field.derivatives(changed, system.domain, outputs, point, [zero])[zero]

    @jitted
    def linear(points: dict[str, Array]) -> tuple[Array, Array, dict[int, Array]]:
        def at(point: dict[str, Array]) -> tuple[Array, Array, dict[int, Array]]:
            nothing = jnp.zeros_like(start)
            slope = jax.jacrev(value)(nothing, point).reshape(outputs, start.size)
            return slope, value(nothing, point), _initial_values(system, point)

        return jax.vmap(at)(points)

    slopes, offsets, targets = jax.tree.map(lambda a: np.asarray(a, float), linear(points))
    matrix = np.concatenate([slopes[:, n] for n in targets])
    wanted = np.concatenate([values - offsets[:, n] for n, values in targets.items()])
    cutoff = float(jnp.finfo(start.dtype).eps) * len(matrix)
    weights = np.linalg.lstsq(matrix, wanted, rcond=cutoff)[0]
    fitted = jnp.asarray(weights.reshape(start.shape), start.dtype)
    return psi | {"field": field.with_output_weights(psi["field"], fitted)}


def _initial_values(system: System, point: dict[str, Array]) -> dict[int, Array]:
    """The prescribed initial values at a point, by number of the unknown."""
    found: dict[int, ArrayLike] = {}
    for condition in system.problem.all_conditions():
        given = condition.prescribes
        is_initial = isinstance(condition.region, Initial)
        if is_initial and given is not None and given.kind == "value":
            at_start = point | {TIME: jnp.full_like(point[TIME], system.problem.domain.start)}
            found |= given.targets(system.problem, at_start)
    if not found:
        raise UserError(
            f"recipe: fit_initial_layer=True, but {system.problem.name} has no initial values"
        )
    return {n: jnp.broadcast_to(jnp.asarray(v, float), ()) for n, v in found.items()}


def _grid(system: System) -> dict[str, Array]:
    domain = system.domain
    per_axis = max(2, round((POINTS / TIMES) ** (1 / len(domain.space))))
    counts = {axis: per_axis for axis in domain.space} | {TIME: TIMES}
    axes = {axis: jnp.linspace(*domain.interval(axis), counts[axis]) for axis in domain.axes}
    return mesh(domain.axes, axes)
