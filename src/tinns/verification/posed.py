"""A problem as the classical check sees it: orders in time, rows of the equation and conditions."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jax import Array

from tinns.geometry import Boundary, Box, Face, Initial, Interior, Observations
from tinns.problem.base import Condition, Problem
from tinns.verification.refusals import NotApplicable
from tinns.verification.rows import Name, Rows, compiled_rows, in_time, used

Compiled = Callable[..., tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class Posed:
    """Conditions by where they hold, and which derivatives they use."""

    problem: Problem
    box: Box
    orders: tuple[int, ...]  # the highest time derivative of each unknown
    names: tuple[Name, ...]  # all derivatives that occur
    interior: tuple[Condition, ...]
    initial: tuple[Condition, ...]
    faces: tuple[tuple[Face, tuple[Condition, ...]], ...]

    @property
    def levels(self) -> list[tuple[int, int]]:
        """The components of the state: (unknown, order in time)."""
        return [(k, j) for k, order in enumerate(self.orders) for j in range(order)]

    @property
    def state_names(self) -> list[int]:
        """Where the components of the state are among the names."""
        return [self.names.index((k, self.in_time(j))) for k, j in self.levels]

    @property
    def values(self) -> list[int]:
        """Where the unknowns themselves are among the components of the state."""
        return [self.levels.index((k, 0)) for k in range(len(self.orders))]

    def in_time(self, order: int) -> tuple[int, ...]:
        """The multi-index of a derivative in time alone."""
        return (*(0,) * len(self.box.space), order)

    @cached_property
    def equation(self) -> Compiled:
        return compiled_rows(Rows(self.problem, self.interior, self.names))

    @cached_property
    def start(self) -> Compiled:
        return compiled_rows(Rows(self.problem, self.initial, self.names))

    @cached_property
    def boundary(self) -> list[Compiled]:
        """One function for each face; time derivatives of the rows follow them."""
        order = max(self.orders) - 1
        return [
            compiled_rows(Rows(self.problem, conditions, self.names, face), order)
            for face, conditions in self.faces
        ]

    def spatial_order(self, unknown: int | None = None, axis: int | None = None) -> int:
        return max(
            (sum(i[:-1]) if axis is None else i[axis])
            for k, i in self.names
            if unknown in (None, k)
        )


def posed(problem: Problem, dimensions: int) -> Posed:
    """Sort the conditions of a problem; refuse what the check cannot treat."""
    box = problem.domain
    if not isinstance(box, Box):
        raise NotApplicable("form", "the domain is not a Box")
    if len(box.space) > dimensions:
        count = {2: "two", 3: "three"}[len(box.space)]
        raise NotApplicable("dimension", f"the problem has {count} space dimensions")
    if problem.trainable:
        raise NotApplicable("form", "coefficients are estimated")
    interior, start, on_faces = [], [], {face: [] for face in box.faces}
    for condition in problem.all_conditions():
        region = condition.region
        if condition.weight == 0:
            continue
        if isinstance(region, Interior):
            interior.append(condition)
        elif isinstance(region, Initial):
            if any(box.interval(axis) != tuple(interval) for axis, interval in region.within):
                raise NotApplicable("form", "the initial value is given on a part of space only")
            start.append(condition)
        elif isinstance(region, Boundary):
            for face in box.on(region.faces):
                on_faces[face].append(condition)
        elif not isinstance(region, Observations):
            raise NotApplicable("form", f"condition '{condition.name}' compares different points")
    if any(isinstance(c.region, Observations) for c in problem.conditions()) and not start:
        raise NotApplicable("initial", "the initial value is not given")
    faces = tuple((face, tuple(found)) for face, found in on_faces.items() if found)
    within = used(problem, interior)
    orders = tuple(
        max(index[-1] for k, index in within if k == number)
        for number in range(len(problem.unknowns))
    )
    for name, order in zip(problem.unknowns, orders, strict=True):
        if order == 0:
            raise NotApplicable(
                "form",
                f"the equations are not solved for their highest time derivatives: none of "
                f"{name} occurs",
            )
    conditions = [*start, *(condition for _, found in faces for condition in found)]
    names = within | used(problem, conditions)
    for _ in range(max(orders) - 1):  # conditions on the boundary are differentiated in time
        names |= {n for n in map(in_time, names) if n[1][-1] < orders[n[0]]}
    names |= {(k, (*(0,) * len(box.space), j)) for k, m in enumerate(orders) for j in range(m + 1)}
    for k, index in names:
        if index[-1] > orders[k]:
            raise NotApplicable(
                "form",
                f"a condition contains higher time derivatives of {problem.unknowns[k]} than "
                "the equation",
            )
    sorted_names = tuple(sorted(names))
    return Posed(problem, box, orders, sorted_names, tuple(interior), tuple(start), faces)


def solved_for_slopes(given: Posed, slopes: np.ndarray) -> np.ndarray:
    """The combination of the equations whose k-th row determines the highest derivative of u_k.

    `slopes` are the derivatives of the rows in `given.names` at some points,
    (points, rows, names). The result multiplies the rows.
    """
    problem = given.problem
    count, unknowns = slopes.shape[1], len(problem.unknowns)
    if count != unknowns:
        words = ["no", "one", "two", "three", "four", "five", "six"]
        rows, columns = (words[n] if n < len(words) else str(n) for n in (count, unknowns))
        raise NotApplicable(
            "form",
            f"there {'is' if count == 1 else 'are'} {rows} equation{'s' * (count != 1)} for "
            f"{columns} unknown{'s' * (unknowns != 1)}",
        )
    flat = (0,) * len(given.box.space)
    highest = [given.names.index((k, (*flat, m))) for k, m in enumerate(given.orders)]
    mass = slopes[:, :, highest]
    typical = np.abs(mass).max(axis=0)
    typical = typical / np.maximum(typical.max(axis=1, keepdims=True), 1e-300)
    scaled = mass / np.maximum(np.abs(mass).max(axis=2, keepdims=True), 1e-300)
    if not np.isfinite(scaled).all() or np.linalg.cond(scaled).max() > 1e10:
        raise NotApplicable(
            "form",
            "the equations are not solved for their highest time derivatives: their matrix is "
            "singular",
        )
    if (np.count_nonzero(typical > 1e-12, axis=1) == 1).all():  # a permutation
        return np.eye(unknowns)[np.argmax(typical, axis=1)].T
    return np.linalg.inv(mass[0])
