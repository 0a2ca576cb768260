"""The rows of a condition with their derivatives along the place where it holds.

What vanishes on a face does so with all derivatives along the face. They are taken of a row as a
function of the jets: D r = ∂r/∂x + Σ ∂r/∂(∂^k u) ∂^(k + e) u, with e the unit vector of x.
"""

from collections.abc import Callable, Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns._runtime.compilation import jitted
from tinns.geometry import Batch, Boundary, Counts, MultiIndex, QuasiRandom
from tinns.objective.evaluation import as_numbers, describing_errors, traced
from tinns.problem.base import Condition, Evaluate, Problem
from tinns.problem.jets import Jet, jets_of
from tinns.verification.rows import Name, used
from tinns.verification.strata import Columns

Row = Callable[[Array, Array, Array], Array]


class TangentialRows:
    """∂^β of the rows of a condition, for all β in `orders`, as functions of the jets.

    Jets have the shape (places, indices, unknowns): a condition may use the unknowns at several
    places, such as both ends of an axis. The rows also depend on coordinates and normals.
    """

    def __init__(
        self, problem: Problem, condition: Condition, orders: Iterable[MultiIndex]
    ) -> None:
        self.problem, self.condition = problem, condition
        self.orders = tuple(sorted(set(orders), key=lambda k: (sum(k), k)))
        self.indices = _closure({k for _, k in used(problem, [condition])}, self.orders)
        self.kinds = traced(problem, condition.region, [condition])[1][0]
        along = [_derivative(self._rows, order, self._follows) for order in self.orders]

        def values(jets: Array, place: Array, normal: Array) -> tuple[Array, Array]:
            found = jnp.stack([function(jets, place, normal) for function in along])
            return found, found

        def linearised(jets: Array, place: Array, normal: Array) -> tuple[Array, Array]:
            slopes, found = jax.jacfwd(values, has_aux=True)(jets, place, normal)
            return found, slopes

        self._program = jitted(jax.vmap(linearised))

    def __call__(
        self, jets: np.ndarray, points: Columns, normals: Columns
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows (points, orders, rows), and their slopes by the jets."""
        domain = self.problem.domain
        places = np.stack([points[axis] for axis in domain.axes], axis=1)
        outwards = np.stack([normals[axis] for axis in domain.space], axis=1)
        values, slopes = self._program(*map(jnp.asarray, (jets, places, outwards)))
        return np.asarray(values), np.asarray(slopes)

    def _rows(self, jets: Array, place: Array, normal: Array) -> Array:
        domain, unknowns = self.problem.domain, self.problem.unknowns
        normals = dict(zip(domain.space, normal, strict=True))
        has_normals = isinstance(self.condition.region, Boundary)
        point = Batch(dict(zip(domain.axes, place, strict=True)), normals if has_normals else None)
        remaining = iter(jets)

        def evaluate(_: Batch) -> list[Jet]:
            own = next(remaining)
            return jets_of({k: own[n] for n, k in enumerate(self.indices)}, domain, unknowns)

        found = self.condition.residual(self.problem, evaluate, point)
        return jnp.stack([jnp.asarray(v, float) for v in as_numbers(self.condition.name, found)])

    def _follows(self, axis: int) -> np.ndarray:
        """Where ∂ of each derivative along an axis is among the indices; their number if absent."""
        places = {k: n for n, k in enumerate(self.indices)}
        raised = [(*k[:axis], k[axis] + 1, *k[axis + 1 :]) for k in self.indices]
        return np.array([places.get(k, len(places)) for k in raised])


def places_asked(problem: Problem, condition: Condition) -> int:
    """At how many places a condition uses the unknowns: first at its own point, then elsewhere.

    0 if that is not the order, as for a condition on values at a later time.
    """
    asked: list[bool] = []
    drawn = condition.region.draw(jax.random.key(0), problem.domain, Counts(2, 2, 2), QuasiRandom())

    def evaluate_for(point: Batch) -> Evaluate:
        def evaluate(place: Batch) -> list[Jet]:
            same = [place[axis] is point[axis] for axis in problem.domain.axes]
            asked.append(all(same))
            return [Jet(jnp.ones(()), lambda _: jnp.ones(())) for _ in problem.unknowns]

        return evaluate

    with describing_errors(problem, condition.name):
        jax.eval_shape(
            lambda p: as_numbers(condition.name, condition.residual(problem, evaluate_for(p), p)),
            jax.tree.map(lambda column: column[0], drawn),
        )
    return len(asked) if (asked and asked[0] and not all(asked[1:])) or asked == [True] else 0


def occurring(problem: Problem, condition: Condition, points: Columns) -> list[set[Name]]:
    """The derivatives in each row of a condition."""
    value = (0,) * len(problem.domain.axes)
    rows = TangentialRows(problem, condition, [value])
    count = len(points[problem.domain.axes[0]])
    shape = (count, 1, len(rows.indices), len(problem.unknowns))
    jets = np.random.default_rng(0).uniform(0.5, 1.5, shape)
    _, slopes = rows(jets, points, {axis: np.zeros(count) for axis in problem.domain.space})
    occurs = (slopes[:, 0, :, 0] != 0).any(axis=0)  # (rows, indices, unknowns)
    return [{(int(unknown), rows.indices[n]) for n, unknown in np.argwhere(own)} for own in occurs]


def _closure(indices: Iterable[MultiIndex], orders: Sequence[MultiIndex]) -> tuple[MultiIndex, ...]:
    """All derivatives that occur if rows with these ones are differentiated."""
    lower = {b for order in orders for b in np.ndindex(*(n + 1 for n in order))}
    sums = {tuple(int(i + j) for i, j in zip(k, b, strict=True)) for k in indices for b in lower}
    return tuple(sorted(sums))


def _derivative(rows: Row, order: MultiIndex, follows: Callable[[int], np.ndarray]) -> Row:
    """∂^order of rows along the coordinates."""
    axis = next((n for n, count in enumerate(order) if count), None)
    if axis is None:
        return rows
    rest = _derivative(rows, (*order[:axis], order[axis] - 1, *order[axis + 1 :]), follows)
    later = follows(axis)

    def along(jets: Array, place: Array, normal: Array) -> Array:
        raised = jnp.pad(jets, ((0, 0), (0, 1), (0, 0)))[:, later]
        step = jnp.zeros_like(place).at[axis].set(1.0)
        return jax.jvp(lambda j, p: rest(j, p, normal), (jets, place), (raised, step))[1]

    return along
