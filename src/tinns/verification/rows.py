"""Equations and conditions at single points, as functions of the derivatives that they use."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.geometry import TIME, Batch, Box, Face, MultiIndex
from tinns.objective.evaluation import as_numbers, describing_errors
from tinns.problem.base import Condition, Problem
from tinns.problem.jets import Jet, multi_index
from tinns.verification.refusals import NotApplicable

Name = tuple[int, MultiIndex]  # a derivative: the number of the unknown, and its index

CHUNK = 512  # points evaluated by one compiled call
FEW = 8  # the same for the ends of an interval


@dataclass(frozen=True)
class Rows:
    """What some conditions evaluate to at one point, a function of `names` and coordinates."""

    problem: Problem
    conditions: tuple[Condition, ...]
    names: tuple[Name, ...]
    face: Face | None = None  # the points lie on it

    def __call__(self, jets: Array, coordinates: Array) -> Array:
        axes = self.problem.domain.axes
        columns = {axis: coordinates[n] for n, axis in enumerate(axes)}
        face, space = self.face, self.problem.domain.space
        normals = face and {axis: jnp.asarray(face.normal(axis)) for axis in space}
        point = Batch(columns, normals)
        places = {name: number for number, name in enumerate(self.names)}

        def lookup(number: int, unknown: str) -> Callable[[str], Array]:
            return lambda name: jets[
                places[number, multi_index(name, self.problem.domain, unknown)]
            ]

        def evaluate(at: Batch) -> list[Jet]:
            if any(at.coordinates[axis] is not columns[axis] for axis in axes):
                raise NotApplicable("form", "a condition compares the solution at several points")
            zero = (0,) * len(axes)
            return [
                Jet(jets[places[number, zero]], lookup(number, unknown))
                for number, unknown in enumerate(self.problem.unknowns)
            ]

        values = []
        for condition in self.conditions:
            with describing_errors(self.problem, condition.name):
                values += as_numbers(
                    condition.name, condition.residual(self.problem, evaluate, point)
                )
        return jnp.stack([jnp.asarray(value, float) for value in values])

    def changes(self, jets: Array, coordinates: Array, order: int) -> list[Array]:
        """The rows and their first `order` total derivatives in time."""
        later = {name: number for number, name in enumerate(self.names)}
        follows = np.array([later.get(in_time(name), len(later)) for name in self.names])
        at_time = jnp.zeros_like(coordinates).at[-1].set(1.0)

        def derivative(function: Callable[[Array, Array], Array]):
            def along(jets: Array, coordinates: Array) -> Array:
                tangent = jnp.append(jets, 0.0)[follows]
                return jax.jvp(function, (jets, coordinates), (tangent, at_time))[1]

            return along

        functions: list[Callable[[Array, Array], Array]] = [self.__call__]
        for _ in range(order):
            functions.append(derivative(functions[-1]))
        return [function(jets, coordinates) for function in functions]


def in_time(name: Name) -> Name:
    unknown, index = name
    return unknown, (*index[:-1], index[-1] + 1)


def used(problem: Problem, conditions: list[Condition]) -> set[Name]:
    """The derivatives that conditions use; the value of each unknown is always among them."""
    zero: MultiIndex = (0,) * len(problem.domain.axes)
    names: set[Name] = {(number, zero) for number in range(len(problem.unknowns))}

    def noting(number: int, unknown: str) -> Callable[[str], Array]:
        def note(name: str) -> Array:
            names.add((number, multi_index(name, problem.domain, unknown)))
            return jnp.zeros(())

        return note

    def evaluate(_: Batch) -> list[Jet]:
        return [Jet(jnp.zeros(()), noting(n, name)) for n, name in enumerate(problem.unknowns)]

    zeros = {axis: jnp.zeros(()) for axis in problem.domain.axes}
    point = Batch(zeros, {axis: jnp.zeros(()) for axis in problem.domain.space})
    for condition in conditions:
        with describing_errors(problem, condition.name):
            jax.eval_shape(
                lambda p, c=condition: as_numbers(c.name, c.residual(problem, evaluate, p)), point
            )
    return names


def in_chunks(function: Callable[..., object], *columns: np.ndarray) -> list[np.ndarray]:
    """A compiled function of many points, called with a fixed number of them at a time."""
    count = len(columns[0])
    chunk = FEW if count <= FEW else CHUNK
    pieces = []
    for start in range(0, count, chunk):
        part = [column[start : start + chunk] for column in columns]
        short = chunk - len(part[0])
        if short:
            part = [np.concatenate([c, np.repeat(c[-1:], short, axis=0)]) for c in part]
        outputs = jax.tree.leaves(function(*part))
        pieces.append([np.asarray(output)[: chunk - short] for output in outputs])
    return [np.concatenate(column) for column in zip(*pieces, strict=True)]


def compiled_rows(rows: Rows, order: int = 0) -> Callable[..., tuple[Array, Array]]:
    """(points, names), (points, axes) -> values (points, rows) and their Jacobians in the names.

    With `order` the derivatives in time follow the rows.
    """

    def values(jets: Array, coordinates: Array) -> tuple[Array, Array]:
        both = jnp.concatenate(rows.changes(jets, coordinates, order))
        return both, both

    def one(jets: Array, coordinates: Array) -> tuple[Array, Array]:
        slopes, value = jax.jacfwd(values, has_aux=True)(jets, coordinates)
        return value, slopes

    return jax.jit(jax.vmap(one))


def coordinates_of(box: Box, points: np.ndarray, times: np.ndarray) -> np.ndarray:
    """All points at all times, (times, points, axes) in the order of the box."""
    assert box.axes[-1] == TIME
    shape = (len(times), len(points), 1)
    where = np.broadcast_to(points[None], (*shape[:2], points.shape[1]))
    return np.concatenate([where, np.broadcast_to(times[:, None, None], shape)], axis=-1)
