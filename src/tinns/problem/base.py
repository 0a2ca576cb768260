"""A problem: an equation on a domain, its conditions, its coefficients and its reference."""

import copy
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, dataclass_transform

import jax
import numpy as np
from jax import Array
from numpy.typing import ArrayLike

from tinns._runtime.errors import UserError
from tinns.geometry import Batch, Coordinates, Domain, Interior, Observations, Region
from tinns.problem.jets import Jet, Numbers
from tinns.problem.reference import Reference

Evaluate = Callable[[Batch], list[Jet]]


@dataclass(frozen=True)
class Trainable:
    """A coefficient to estimate from data: give it in place of a number, with a starting value."""

    initial: float


@dataclass(frozen=True)
class Prescribed:
    """u = value, or the velocity u_t = value: conditions that can be built into a field."""

    kind: Literal["value", "velocity"]
    targets: Callable[
        ["Problem", Coordinates | Batch], dict[int, jax.typing.ArrayLike]
    ]  # at a point, by number of the unknown


@dataclass(frozen=True)
class Condition:
    """What must vanish on a region: `residual(problem, evaluate, point)`, one or several numbers.

    `point` is a `Batch` of one point; `evaluate(point)` gives the jets of the unknowns, in the
    problem's order. The weight multiplies the residual, so the loss contains its square. A
    condition that `prescribes` u or u_t can be built into the field instead.
    """

    name: str
    region: Region
    residual: Callable[["Problem", Evaluate, Batch], Numbers]
    weight: float = 1.0
    prescribes: Prescribed | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.weight, int | float) and 0 <= self.weight < math.inf):
            raise UserError(f"{self.name}: weight={self.weight!r}; expected a number >= 0")


@dataclass_transform(frozen_default=True)
class Problem:
    """A time-dependent PDE. Subclass it with a `domain`, an `equation` and `conditions`.

    Annotated attributes are coefficients, `D: float = 0.01`: `Problem(D=0.02)` changes one and
    `Problem(D=Trainable(0.05))` estimates it along with the solution. Arguments of `equation` that
    are not axes of the domain are the unknown functions. `with_domain` poses the same problem on
    another domain.
    """

    domain: ClassVar[Domain]
    recipes: ClassVar[Mapping[str, Any]] = {}  # your own named recipes, for solve(problem, name)
    truth: ClassVar[Mapping[str, float]] = {}  # true values of coefficients, where they are known

    name: ClassVar[str]  # unless given, the class name with dashes: AllenCahn -> allen-cahn

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)
        if "name" not in vars(cls):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    def equation(self, *jets_and_coordinates: Any, **named: Any) -> Numbers:
        raise UserError(f"{type(self).__name__} has no equation: define equation(self, u, x, t)")

    def conditions(self) -> list[Condition]:
        raise UserError(
            f"{type(self).__name__} has no conditions: define conditions(self) returning a list "
            "such as [initial(0.0), dirichlet(0.0)]"
        )

    def reference(self) -> Reference | None:
        """The solution against which errors are computed; None if none is known."""
        return None

    def quantities(self, *jets_and_coordinates: Any, **named: Any) -> Mapping[str, Numbers]:
        """Derived quantities of a solution, by name: `{"slope": u.x, "flow": (v, w)}`.

        It takes the arguments of `equation`; errors are then computed for each quantity too.
        """
        return {}

    def known_solution(self) -> Reference | None:
        """The reference, unless it depends on a coefficient being estimated.

        It is built once for a problem object.
        """
        if "_known" not in vars(self):
            object.__setattr__(self, "_known", self._known_solution())
        return vars(self)["_known"]

    def _known_solution(self) -> Reference | None:
        reference = None
        try:
            reference = self.with_coefficients({n: math.nan for n in self.trainable}).reference()
            if reference is not None and self.trainable:
                middle = {axis: sum(self.domain.interval(axis)) / 2 for axis in self.domain.axes}
                reference = reference if np.isfinite(reference(**middle)).all() else None
        except UserError:
            if not self.trainable:
                raise
        return reference

    def test_grid(self) -> dict[str, np.ndarray]:
        """The tensor grid on which errors are computed."""
        per_axis = {1: 201, 2: 51, 3: 21}[len(self.domain.space)]
        return {
            axis: np.linspace(*self.domain.interval(axis), per_axis) for axis in self.domain.axes
        }

    @property
    def unknowns(self) -> tuple[str, ...]:
        """Names of the unknown functions, as the equation's arguments give them."""
        if not isinstance(getattr(self, "domain", None), Domain):
            raise UserError(
                f"{type(self).__name__} has no domain: add domain = Box(x=(0, 1), t=(0, 1))"
            )
        if type(self).equation is Problem.equation:
            self.equation()
        names = tuple(inspect.signature(self.equation).parameters)
        found = tuple(name for name in names if name not in self.domain.axes)
        if not found or names != (*found, *self.domain.axes):
            raise UserError(
                f"{type(self).__name__}.equation takes ({', '.join(names)}); expected the unknowns "
                f"and then all axes of the domain, as in (u, {', '.join(self.domain.axes)})"
            )
        return found

    def check_arguments(self, function: Callable[..., object], name: str) -> None:
        """Refuse a function whose arguments are not those of `equation`."""
        expected = (*self.unknowns, *self.domain.axes)
        parameters = inspect.signature(function).parameters
        required = [
            name
            for number, (name, parameter) in enumerate(parameters.items())
            if number < len(expected) or parameter.default is inspect.Parameter.empty
        ]
        if tuple(required) != expected:
            raise UserError(
                f"{name} takes ({', '.join(parameters)}); expected the unknowns and then all axes "
                f"of the domain, ({', '.join(expected)})"
            )

    @property
    def coefficients(self) -> dict[str, float | Trainable]:
        """The declared coefficients and their values."""
        names = [field.name for field in fields(self)]  # pyright: ignore[reportArgumentType]
        return {name: getattr(self, name) for name in names if name != "domain"}

    @property
    def trainable(self) -> dict[str, float]:
        """The coefficients to estimate, with their starting values."""
        return {n: c.initial for n, c in self.coefficients.items() if isinstance(c, Trainable)}

    @property
    def has_observations(self) -> bool:
        """Whether the conditions include observations."""
        return any(isinstance(c.region, Observations) for c in self.all_conditions())

    def with_coefficients(self, values: Mapping[str, float | Array | Trainable]) -> "Problem":
        """The same problem with other values of some coefficients."""
        if not values:
            return self
        changed = replace(self, **values)  # pyright: ignore[reportArgumentType]
        own = vars(changed)
        return changed._with({n: v for n, v in vars(self).items() if n not in own})

    def with_domain(self, domain: Domain) -> "Problem":
        """The same problem on another domain."""
        return self._with({"domain": domain})

    def with_conditions(self, conditions: list[Condition]) -> "Problem":
        """The same problem with other conditions."""
        return self._with({"conditions": lambda: list(conditions)})

    def observing(
        self, columns: Mapping[str, ArrayLike], weight: float = 1.0, simulated: bool = False
    ) -> "Problem":
        """The same problem with these observations, which replace any that it has.

        `columns` are as in `observed(x=..., t=..., u=...)`. The truth behind measured data is not
        known: where coefficients are estimated, `truth` and the reference are dropped, unless the
        data are `simulated` from them.
        """
        data = _observed(columns, weight)
        assert isinstance(data.region, Observations)
        _check_columns(self, data.region.columns)
        has_own = "conditions" in vars(self) or type(self).conditions is not Problem.conditions
        declared = self.conditions() if has_own else []
        others = [c for c in declared if not isinstance(c.region, Observations)]
        posed = self.with_conditions([*others, data])
        return posed if simulated or not self.trainable else posed.without_truth()

    def without_truth(self) -> "Problem":
        """The same problem without a reference or true coefficients."""
        return self._with({"truth": {}, "reference": lambda: None})

    def _with(self, attributes: Mapping[str, object]) -> "Problem":
        changed = copy.copy(self)
        for name, value in attributes.items():
            object.__setattr__(changed, name, value)
        vars(changed).pop("_known", None)
        return changed

    def all_conditions(self) -> list[Condition]:
        """The equation on the interior, then the conditions."""
        declared = self.conditions()
        if not isinstance(declared, list | tuple) or not declared:
            found = "a single condition" if isinstance(declared, Condition) else repr(declared)
            raise UserError(
                f"{type(self).__name__}.conditions returned {found}; expected a list such as "
                "[initial(0.0), dirichlet(0.0)]"
            )
        for condition in declared:
            if not isinstance(condition, Condition):
                raise UserError(
                    f"{type(self).__name__}.conditions returned {condition!r}; expected "
                    "initial(...), dirichlet(...), at_start(...), on_boundary(...), observed(...)"
                )
        return [Condition("equation", Interior(), _equation_residual), *declared]


def observed(weight: float = 1.0, **columns: ArrayLike) -> Condition:
    """Given values at given points: `observed(x=xs, t=ts, u=values)`, one column each."""
    return _observed(columns, weight)


def _observed(columns: Mapping[str, ArrayLike], weight: float) -> Condition:
    if not isinstance(columns, Mapping):
        raise UserError(
            f"observations: got {columns!r}; expected columns by name, such as those that "
            "tinns.read_observations(path) returns"
        )
    arrays = {name: np.asarray(column, dtype=float) for name, column in columns.items()}
    lengths = {name: array.shape for name, array in arrays.items()}
    if not arrays or any(len(s) != 1 for s in lengths.values()) or len(set(lengths.values())) != 1:
        raise UserError(f"observed: expected columns of one length, got shapes {lengths}")
    if 0 in next(iter(lengths.values())):
        raise UserError("observed: the columns are empty; give at least one observation")
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            row = int(np.flatnonzero(~np.isfinite(array))[0])
            raise UserError(f"observed: column {name} holds {array[row]} in row {row}; remove it")

    def residual(problem: Problem, evaluate: Evaluate, point: Batch) -> list[Array]:
        _check_columns(problem, arrays)
        jets = dict(zip(problem.unknowns, evaluate(point), strict=True))
        given = point.values or {}
        return [jets[name].value - given[name] for name in arrays if name in jets]

    return Condition("observed", Observations(arrays), residual, weight)


def _check_columns(problem: Problem, columns: Mapping[str, np.ndarray]) -> None:
    """Check for all axes, one or more unknowns, nothing else, and points inside the domain."""
    domain, unknowns = problem.domain, problem.unknowns
    missing = [axis for axis in domain.axes if axis not in columns]
    strange = set(columns) - set(domain.axes) - set(unknowns)
    if missing or strange or not set(columns) & set(unknowns):
        raise UserError(
            f"observed: got columns {', '.join(columns)}; expected "
            f"{', '.join(domain.axes)} and one or more of {', '.join(unknowns)}"
        )
    for axis in domain.axes:
        lower, upper = domain.interval(axis)
        strays = np.flatnonzero((columns[axis] < lower) | (columns[axis] > upper))
        if strays.size and axis not in domain.periodic:
            raise UserError(
                f"observed: {axis} = {columns[axis][strays[0]]:g} is outside the domain "
                f"[{lower:g}, {upper:g}] (row {strays[0]}, of {strays.size} outside); remove it"
            )


def _equation_residual(problem: Problem, evaluate: Evaluate, point: Batch) -> Numbers:
    return problem.equation(*evaluate(point), *(point[axis] for axis in problem.domain.axes))
