"""A problem: the equation on its box, the conditions, what is unknown and what is known of u."""

import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, dataclass_transform

import numpy as np
from jax import Array

from tinns.domain import Box
from tinns.errors import UserError, unknown_name
from tinns.fields.jets import Jet
from tinns.recipe import Recipe
from tinns.reference import Reference
from tinns.sampling import Interior, Observations, Points, Region

Evaluate = Callable[[Points], list[Jet]]


@dataclass(frozen=True)
class Unknown:
    """A coefficient to be found: declare it in place of a number, with a starting value."""

    initial: float


@dataclass(frozen=True)
class Prescribed:
    """u = value, or the velocity u_t = value: what a field can be made to meet exactly."""

    kind: Literal["value", "velocity"]
    targets: Callable[["Problem", Points], dict[int, Any]]  # at a point, by number of the unknown


@dataclass(frozen=True)
class Condition:
    """What must vanish on a region: `residual(problem, evaluate, point)`, one or several numbers.

    `evaluate(point)` gives the jets of the unknowns, in the problem's order. The weight multiplies
    the residual, so the loss carries its square. A condition that `prescribes` u or u_t can be
    built into the field instead.
    """

    name: str
    region: Region
    residual: Callable[["Problem", Evaluate, Points], Any]
    weight: float = 1.0
    prescribes: Prescribed | None = None

    def __post_init__(self) -> None:
        if not (isinstance(self.weight, int | float) and 0 <= self.weight < math.inf):
            raise UserError(f"{self.name}: weight={self.weight!r}; expected a number >= 0")


@dataclass_transform(frozen_default=True)
class Problem:
    """A time-dependent PDE. Subclass it with a `domain`, an `equation` and `conditions`.

    Annotated attributes are coefficients, `D: float = 0.01`: `Problem(D=0.02)` changes one and
    `Problem(D=Unknown(0.05))` makes it part of what is solved for. Arguments of `equation` that
    are not axes of the domain are the unknown functions.
    """

    domain: ClassVar[Box]
    recipes: ClassVar[Mapping[str, Recipe]] = {}
    truth: ClassVar[Mapping[str, float]] = {}  # true values of coefficients, where they are known

    name: ClassVar[str]  # unless given, the class name with dashes: AllenCahn -> allen-cahn

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)
        if "name" not in vars(cls):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()

    def equation(self, *jets_and_coordinates: Any) -> Any:
        raise UserError(f"{type(self).__name__} has no equation: define equation(self, u, x, t)")

    def conditions(self) -> list[Condition]:
        raise UserError(
            f"{type(self).__name__} has no conditions: define conditions(self) returning a list "
            "such as [initial(0.0), dirichlet(0.0)]"
        )

    def reference(self) -> Reference | None:
        """What is known of the solution, to state errors against; None if nothing is."""
        return None

    def quantities(self, *jets_and_coordinates: Any) -> dict[str, Any]:
        """What else is worth knowing of a solution, by name: `{"slope": u.x, "flow": (v, w)}`.

        Define it with the arguments of `equation`; errors are then stated for each quantity too.
        """
        return {}

    def known_solution(self) -> Reference | None:
        """The reference, unless it hangs on a coefficient that is itself sought."""
        reference = None
        try:
            reference = self.with_coefficients({n: math.nan for n in self.sought}).reference()
            if reference is not None and self.sought:
                middle = {axis: sum(self.domain.interval(axis)) / 2 for axis in self.domain.axes}
                reference = reference if np.isfinite(reference(**middle)).all() else None
        except UserError:
            if not self.sought:
                raise
        return reference

    def test_grid(self) -> dict[str, np.ndarray]:
        """The tensor grid on which errors are stated."""
        per_axis = {1: 201, 2: 51, 3: 21}[len(self.domain.space)]
        return {
            axis: np.linspace(*self.domain.interval(axis), per_axis) for axis in self.domain.axes
        }

    @property
    def unknowns(self) -> tuple[str, ...]:
        """Names of the unknown functions, as the equation's arguments give them."""
        if not isinstance(getattr(self, "domain", None), Box):
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

    def check_arguments(self, function: Callable[..., Any], told: str) -> None:
        """Refuse a function of jets that does not take what `equation` takes."""
        expected = (*self.unknowns, *self.domain.axes)
        parameters = inspect.signature(function).parameters
        required = [
            name
            for number, (name, parameter) in enumerate(parameters.items())
            if number < len(expected) or parameter.default is inspect.Parameter.empty
        ]
        if tuple(required) != expected:
            raise UserError(
                f"{told} takes ({', '.join(parameters)}); expected the unknowns and then all axes "
                f"of the domain, ({', '.join(expected)})"
            )

    @property
    def coefficients(self) -> dict[str, Any]:
        """The declared coefficients and their values."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # pyright: ignore[reportArgumentType]

    @property
    def sought(self) -> dict[str, float]:
        """The coefficients to be found, with their starting values."""
        return {n: c.initial for n, c in self.coefficients.items() if isinstance(c, Unknown)}

    @property
    def has_observations(self) -> bool:
        """Whether one of the conditions is data."""
        return any(isinstance(c.region, Observations) for c in self.all_conditions())

    def with_coefficients(self, values: Mapping[str, Any]) -> "Problem":
        return replace(self, **values) if values else self  # pyright: ignore[reportArgumentType]

    def reposed(
        self, domain: Box | None = None, conditions: list[Condition] | None = None
    ) -> "Problem":
        """The same equation and coefficients on another box, or with other conditions."""
        changed: dict[str, Any] = {}
        if domain is not None:
            changed["domain"] = domain
        if conditions is not None:
            changed["conditions"] = lambda self: list(conditions)
        return self._with_attributes(changed)

    def observing(
        self, columns: Mapping[str, Any], weight: float = 1.0, simulated: bool = False
    ) -> "Problem":
        """The same problem with these observations in place of its own, or added to it.

        `columns` are as in `observed(x=..., t=..., u=...)`. Of measured data the truth is not
        known: where coefficients are sought, `truth` and the reference are dropped, unless the data
        are `simulated` from them.
        """
        data = _observed(columns, weight)
        assert isinstance(data.region, Observations)
        _check_columns(self, data.region.columns)
        declared = self.conditions() if type(self).conditions is not Problem.conditions else []
        others = [c for c in declared if not isinstance(c.region, Observations)]
        posed = self.reposed(conditions=[*others, data])
        return posed if simulated or not self.sought else posed.without_truth()

    def without_truth(self) -> "Problem":
        """The same problem, saying nothing of its solution."""
        return self._with_attributes({"truth": {}, "reference": lambda self: None})

    def _with_attributes(self, changed: dict[str, Any]) -> "Problem":
        cls = type(self)
        kept = {"name": cls.name, "__doc__": cls.__doc__, "__module__": cls.__module__}
        return type(cls.__name__, (cls,), kept | changed)(**self.coefficients)

    def recipe(self, name: str) -> Recipe:
        if not self.recipes:
            raise UserError(
                f"{self.name} has no recipe called '{name}', having none: leave `recipe` out for "
                "the default one, or give a tinns.Recipe(...)"
            )
        if name not in self.recipes:
            raise unknown_name(f"recipe for {self.name}", name, self.recipes)
        return self.recipes[name]

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


def observed(weight: float = 1.0, **columns: Any) -> Condition:
    """Given values at given points: `observed(x=xs, t=ts, u=values)`, one column each."""
    return _observed(columns, weight)


def _observed(columns: Mapping[str, Any], weight: float) -> Condition:
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

    def residual(problem: Problem, evaluate: Evaluate, point: Points) -> list[Array]:
        _check_columns(problem, arrays)
        jets = dict(zip(problem.unknowns, evaluate(point), strict=True))
        return [jets[name].value - point[name] for name in arrays if name in jets]

    return Condition("observed", Observations(arrays), residual, weight)


def _check_columns(problem: Problem, columns: Mapping[str, np.ndarray]) -> None:
    """All axes, one or more unknowns, nothing else; every point inside the domain."""
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


def _equation_residual(problem: Problem, evaluate: Evaluate, point: Points) -> Any:
    return problem.equation(*evaluate(point), *(point[axis] for axis in problem.domain.axes))
