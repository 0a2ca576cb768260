"""A problem on frozen features becomes an ODE for their coefficients.

At every collocation point the equation, affine in its highest derivative in time, gives that
derivative, p = -M⁻¹ R. The coefficients' derivative is the least-squares fit of p by the features,
with a row for every condition on a face: h = 0 there becomes ḣ = -κ h (or ḧ = -2κ ḣ - κ² h), which
keeps h at zero and damps errors.

With K = U S Vᵀ the weighted features and face rows, the state is a = S Vᵀ c: U has orthonormal
columns, so that a is as large as u, whatever the size of c.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jaxtyping import PyTree

from tinns._runtime.errors import UserError
from tinns.geometry import TIME, Batch, Coordinates, MultiIndex
from tinns.nn import RandomFeatures
from tinns.nn.random_features import constant_path
from tinns.objective.evaluation import evaluate_at
from tinns.problem.base import Condition, Evaluate
from tinns.problem.jets import jets_of
from tinns.solvers.frozen_features.collocation import Collocation
from tinns.solvers.frozen_features.options import FrozenFeatures
from tinns.solvers.frozen_features.sorting import (
    METHOD,
    Posed,
    derivatives_of,
    face_points,
    residuals,
)

ROUND_OFF = 1e-8  # how far from affine a residual may seem, relative to its size

Data = dict[str, PyTree]  # the arrays that the rate works on, handed to compiled functions
Rate = Callable[[Array, Array, Data], Array]


@dataclass(frozen=True)
class Semidiscrete:
    """ẏ = rate(t, y, data) with y of shape (order, rank), from `start` at the initial time."""

    rate: Rate
    data: Data
    start: np.ndarray
    coefficients: np.ndarray  # c = coefficients @ a, of shape (width + 1, outputs, rank)


def semidiscrete(
    posed: Posed,
    field: RandomFeatures,
    settings: FrozenFeatures,
    hidden: dict[str, Array],
    places: Collocation,
    key: Array,
) -> Semidiscrete:
    """The ODE of a problem, and where it starts."""
    _check_affine(posed, places)
    domain, outputs = posed.problem.domain, len(posed.problem.unknowns)
    in_space = tuple(sorted({(*k[:-1], 0) for k in posed.indices}))
    tables = jax.jit(jax.vmap(lambda p: field.features(hidden, domain, p, in_space)))(places.points)
    roots = np.sqrt(places.shares)[:, None]
    features = roots * np.asarray(tables[in_space[0]])
    faces = [
        _face(posed, field, settings, hidden, condition, jax.random.fold_in(key, number))
        for number, condition in enumerate(posed.faces)
    ]
    # Columns, and rows of the equation, in the order (feature or point, unknown).
    stacked = np.concatenate([np.kron(features, np.eye(outputs)), *(face.matrix for face in faces)])
    u, s, vt = np.linalg.svd(stacked, full_matrices=False)
    rank = int(np.count_nonzero(s > settings.cutoff * s[0]))
    back = (vt[:rank] / s[:rank, None]).T
    cube = back.reshape(field.width + 1, outputs, rank)
    data = {
        "tables": {k: jnp.einsum("mw,wor->mor", tables[k], cube) for k in in_space},
        "points": {axis: places.points[axis] for axis in domain.space},
        "roots": jnp.asarray(roots),
        "projection": jnp.asarray(u[:, :rank].T),
        "faces": [(face.points, jnp.asarray(face.matrix @ back)) for face in faces],
    }
    rate = _rate(posed, faces, settings)
    return Semidiscrete(rate, data, _start(posed, faces, places, u[:, :rank]), cube)


@dataclass(frozen=True)
class _Face:
    """A linear condition on faces, h(c) = matrix @ c + given(t) with both of them weighted."""

    condition: Condition
    points: Batch
    weight: float
    matrix: np.ndarray


def _face(
    posed: Posed,
    field: RandomFeatures,
    settings: FrozenFeatures,
    hidden: dict[str, Array],
    condition: Condition,
    key: Array,
) -> _Face:
    count = settings.boundary_points or field.width
    points = face_points(posed.problem.domain, condition, count, key)
    weight = settings.boundary_weight / np.sqrt(points.count)
    rows = _face_rows(posed, field, hidden, condition, points)
    return _Face(condition, points, weight, weight * rows)


def _rate(posed: Posed, faces: list[_Face], settings: FrozenFeatures) -> Rate:
    start, end = posed.problem.domain.interval(TIME)
    order, kappa = posed.order, settings.relaxation / (end - start)

    def rate(t: Array, y: Array, data: Data) -> Array:
        values = {
            k: data["tables"][(*k[:-1], 0)] @ y[k[-1]] for k in posed.indices if k[-1] < order
        }
        points = data["points"] | {TIME: jnp.full(data["roots"].shape[0], t)}
        p = jax.vmap(lambda v, point: _highest(posed, v, point))(values, points)
        rows = [(data["roots"] * p).reshape(-1)]
        for face, (places, matrix) in zip(faces, data["faces"], strict=True):
            given = _given(posed, face, places, t, order)
            h = [matrix @ y[n] + given[n] for n in range(order)]
            if order == 1:
                rows.append(-given[1] - kappa * h[0])
            else:
                rows.append(-given[2] - 2 * kappa * h[1] - kappa**2 * h[0])
        top = data["projection"] @ jnp.concatenate(rows)
        return jnp.concatenate([y[1:], top[None]])

    return rate


def _start(posed: Posed, faces: list[_Face], places: Collocation, u: np.ndarray) -> np.ndarray:
    """The features' fit of the initial value (and velocity), with the face conditions at once."""
    outputs, start = len(posed.problem.unknowns), jnp.asarray(posed.problem.domain.start)
    states = []
    for n in range(posed.order):
        given = places.targets[:, n * outputs : (n + 1) * outputs]
        rows = [(np.sqrt(places.shares)[:, None] * given).reshape(-1)]
        for face in faces:
            given = jax.jit(lambda t, face=face, n=n: _given(posed, face, face.points, t, n)[n])
            rows.append(-np.asarray(given(start)))
        states.append(u.T @ np.concatenate(rows))
    return np.stack(states)


def _highest(posed: Posed, values: dict[MultiIndex, Array], point: Coordinates) -> Array:
    """p = -M⁻¹ R: the highest derivative in time of every unknown at a point."""
    outputs = len(posed.problem.unknowns)
    residual = _residual_of(posed, values, point)
    zero = jnp.zeros(outputs)
    rest, matrix = residual(zero), jax.jacfwd(residual)(zero)
    if outputs == 1:
        return -rest / matrix[0]
    return -jnp.linalg.solve(matrix, rest)


def _residual_of(
    posed: Posed, values: dict[MultiIndex, Array], point: Coordinates
) -> Callable[[Array], Array]:
    """The equation's residual as a function of the highest derivative in time."""
    problem = posed.problem
    top = (*(0,) * len(problem.domain.space), posed.order)

    def residual(p: Array) -> Array:
        jets = jets_of(values | {top: p}, problem.domain, problem.unknowns)
        return residuals(posed.equation, problem, lambda _: jets, Batch(point))

    return residual


def _given(posed: Posed, face: _Face, points: Batch, t: Array, order: int) -> list[Array]:
    """h on a face for u = 0, and its derivatives in time up to `order`: [h, ḣ, ...]."""
    problem = posed.problem
    zeros = {k: jnp.zeros(len(problem.unknowns)) for k in derivatives_of(problem, face.condition)}
    jets = jets_of(zeros, problem.domain, problem.unknowns)

    def h(time: Array) -> Array:
        def at(point: Batch) -> Array:
            return residuals(face.condition, problem, lambda _: jets, point.at(**{TIME: time}))

        return face.weight * jax.vmap(at)(points).reshape(-1)

    def derived(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
        return lambda time: jax.jvp(function, (time,), (jnp.ones_like(time),))[1]

    functions: list[Callable[[Array], Array]] = [h]
    for _ in range(order):
        functions.append(derived(functions[-1]))
    return [function(t) for function in functions]


def _face_rows(
    posed: Posed,
    field: RandomFeatures,
    hidden: dict[str, Array],
    condition: Condition,
    points: Batch,
) -> np.ndarray:
    """The matrix of a linear condition: ∂h/∂c, of shape (rows, (width + 1) * outputs)."""
    problem = posed.problem
    indices = derivatives_of(problem, condition)
    outputs = len(problem.unknowns)

    def h(c: Array, point: Batch) -> Array:
        psi = {"field": constant_path(hidden, c), "coefficients": {}}
        evaluate: Evaluate = evaluate_at(problem, field, psi, indices)
        return residuals(condition, problem, evaluate, point)

    zero = jnp.zeros((field.width + 1, outputs))
    columns = jax.jit(jax.vmap(jax.jacrev(h), (None, 0)))
    matrix = columns(zero, points)
    rows = np.asarray(matrix).reshape(-1, zero.size)
    other = jnp.asarray(np.random.default_rng(0).normal(size=zero.shape))
    later = points.at(**{TIME: problem.domain.end + 0 * points[TIME]})
    if not np.allclose(np.asarray(columns(other, later)).reshape(rows.shape), rows, 1e-8, 1e-8):
        raise UserError(
            f"{METHOD} needs conditions on faces that are linear, with coefficients constant in "
            f"time; '{condition.name}' of {problem.name} is not. Choose another method"
        )
    return rows


def _check_affine(posed: Posed, places: Collocation) -> None:
    """R(p) must be affine in p, and M must have an inverse."""
    problem = posed.problem
    outputs = len(problem.unknowns)
    count = min(16, len(places.shares))
    random = np.random.default_rng(0)
    values = {k: random.normal(size=(count, outputs)) for k in posed.indices}
    p = random.normal(size=(count, outputs))
    points = {
        name: column[:: len(column) // count][:count] for name, column in places.points.items()
    }

    @jax.jit
    @jax.vmap
    def at(v: dict[MultiIndex, Array], point: Coordinates, p: Array) -> tuple[Array, ...]:
        residual = _residual_of(posed, v, point)
        rest, matrix = residual(0 * p), jax.jacfwd(residual)(0 * p)
        return rest, residual(p) - rest, matrix @ p, matrix

    rest, change, linear, matrices = (np.asarray(a) for a in at(values, points, p))
    size = np.abs(rest).max() + np.abs(change).max()
    name = f"u.{TIME * posed.order}"
    if change.shape[1] != outputs:
        raise UserError(
            f"{METHOD} needs as many equations as unknowns; {problem.name} has {change.shape[1]} "
            f"for {outputs}. Choose another method"
        )
    if not np.abs(change - linear).max() <= ROUND_OFF * size:
        raise UserError(
            f"{METHOD} needs an equation that is affine in {name}; that of {problem.name} is not. "
            "Choose another method"
        )
    if not (np.linalg.cond(matrices) < 1 / ROUND_OFF).all():
        raise UserError(
            f"{METHOD} cannot solve the equation of {problem.name} for {name} of every unknown: "
            "at some points, or for some unknown, it does not appear. Choose another method"
        )
