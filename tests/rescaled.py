"""The same problem in other units: a change of variables, written as a user would."""

import inspect
from collections.abc import Mapping
from dataclasses import replace

import jax.numpy as jnp
import numpy as np

import tinns
from tinns.geometry import Batch, Initial, Observations
from tinns.problem.base import Condition, Prescribed, Trainable
from tinns.problem.jets import Jet


def rescaled(
    problem: tinns.Problem,
    units: Mapping[str, float] | None = None,
    shifts: Mapping[str, float] | None = None,
    rows: float = 1.0,
) -> tinns.Problem:
    """The problem for x' = unit·x + shift, u' = unit·u and D' = unit·D, its rows times `rows`."""
    change = Change(problem, dict(units or {}), dict(shifts or {}), rows)
    base = type(problem)

    class Other(base):
        domain = change.domain
        name = problem.name

        def equation(self, *arguments):
            count = len(problem.unknowns)
            jets = [change.jet(n, u) for n, u in zip(problem.unknowns, arguments, strict=False)]
            axes = zip(problem.domain.axes, arguments[count:], strict=True)
            found = base.equation(
                change.coefficients_of(self), *jets, *(change.back(a, c) for a, c in axes)
            )
            found = found if isinstance(found, tuple | list) else (found,)
            return [rows * r for r in found]

        def conditions(self):
            return [change.condition(c) for c in problem.conditions()]

        def reference(self):
            known, units = problem.reference(), [change.unit(u) for u in problem.unknowns]
            sizes = jnp.asarray(units if len(units) > 1 else units[0])

            def formula(**coordinates):
                return sizes * known.formula(
                    **{a: change.back(a, c) for a, c in coordinates.items()}
                )

            return known and replace(known, formula=formula, grid=None)

        def test_grid(self):
            return {axis: change.there(axis, c) for axis, c in problem.test_grid().items()}

    Other.equation.__signature__ = inspect.signature(base.equation)
    own = {n: change.moved(n, value) for n, value in problem.coefficients.items()}
    return Other(**own)


class Change:
    """A change of variables."""

    def __init__(self, problem, units, shifts, rows) -> None:
        self.problem, self.units, self.shifts, self.rows = problem, units, shifts, rows

    def unit(self, name):
        return self.units.get(name, 1.0)

    def there(self, axis, value):
        return self.unit(axis) * value + self.shifts.get(axis, 0.0)

    def back(self, axis, value):
        return (value - self.shifts.get(axis, 0.0)) / self.unit(axis)

    @property
    def domain(self):
        old = self.problem.domain
        bounds = {a: tuple(self.there(a, e) for e in old.interval(a)) for a in old.axes}
        return tinns.Box(periodic=old.periodic, **bounds)

    def jet(self, unknown, jet):
        """The jet in the old units."""
        size = self.unit(unknown)

        def lookup(name):
            factor = np.prod([self.unit(axis) for axis in name])
            return getattr(jet, name) * (factor / size)

        return Jet(jet.value / size, lookup)

    def point(self, point: Batch) -> Batch:
        moved = {axis: self.back(axis, c) for axis, c in point.coordinates.items()}
        values = point.values and {u: v / self.unit(u) for u, v in point.values.items()}
        return replace(point, coordinates=moved, values=values)

    def moved(self, name, value):
        if isinstance(value, Trainable):
            return Trainable(value.initial * self.unit(name))
        return value * self.unit(name)

    def coefficients_of(self, other):
        return other.with_coefficients(
            {n: getattr(other, n) / self.unit(n) for n in self.problem.coefficients}
        )

    def condition(self, condition: Condition) -> Condition:
        problem = self.problem

        def residual(posed, evaluate, point):
            def evaluate_there(old: Batch):
                new = {axis: self.there(axis, c) for axis, c in old.coordinates.items()}
                jets = evaluate(replace(old, coordinates=new))
                return [self.jet(n, u) for n, u in zip(problem.unknowns, jets, strict=True)]

            own = problem.with_coefficients(
                {n: getattr(posed, n) / self.unit(n) for n in problem.trainable}
            )
            found = condition.residual(own, evaluate_there, self.point(point))
            found = found if isinstance(found, tuple | list) else (found,)
            return [self.rows * (r.value if isinstance(r, Jet) else jnp.asarray(r)) for r in found]

        return replace(
            condition,
            region=self.region(condition.region),
            residual=residual,
            prescribes=condition.prescribes and self.prescribed(condition.prescribes),
        )

    def prescribed(self, given: Prescribed) -> Prescribed:
        per_time = 1 / self.unit("t") if given.kind == "velocity" else 1.0

        def targets(posed, point):
            old = {axis: self.back(axis, point[axis]) for axis in self.problem.domain.axes}
            found = given.targets(self.problem, old)
            names = self.problem.unknowns
            return {n: v * self.unit(names[n]) * per_time for n, v in found.items()}

        return replace(given, targets=targets)

    def region(self, region):
        if isinstance(region, Initial):
            within = [(a, tuple(self.there(a, e) for e in ends)) for a, ends in region.within]
            return Initial(tuple(within))
        if isinstance(region, Observations):
            columns = {
                n: self.there(n, c) if n in self.problem.domain.axes else c * self.unit(n)
                for n, c in region.columns.items()
            }
            return Observations(columns)
        return region
