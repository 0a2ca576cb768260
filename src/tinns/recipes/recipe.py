"""Recipes: the settings of a run, as data."""

import warnings
from collections.abc import Mapping
from dataclasses import InitVar, dataclass, fields, replace
from dataclasses import field as dataclass_field
from typing import Literal

from tinns._runtime.errors import UserError
from tinns._runtime.precision import Precision
from tinns.geometry import Counts, QuasiRandom, Sampler
from tinns.nn import Field, TimeInduced
from tinns.objective import find_scales
from tinns.optim import AcceleratedLM, Optimizer
from tinns.problem import Problem
from tinns.solvers import (
    Balancing,
    Emphasis,
    LeastSquares,
    Redraw,
    Renewal,
    Solver,
    Stop,
    Task,
    Windows,
)
from tinns.solvers.progress import Reporter, Silent
from tinns.solvers.solver import Measure


@dataclass(frozen=True)
class Recipe:
    """Everything that determines a run except the problem and the seed; the default is untuned.

    With `solver` left out the field is trained by least squares with the optimiser, points and
    strategies given here; a solver of another kind, such as `FrozenFeatures`, takes their place.
    """

    field: Field = TimeInduced()
    optimizer: Optimizer = AcceleratedLM()
    points: Counts = Counts(2500, 250, 100)
    validation: Counts = Counts(2500, 250, 100)
    sampler: Sampler = QuasiRandom()
    redraw: Redraw | None = Redraw(2.0, candidates=4, ladder=(1, 2, 4, 8), crowded=True)
    renewal: Renewal | None = Renewal()  # None: validation points stay the same
    dimensionless: bool = True  # unknowns divided by their sizes, rows by those of their terms
    weights: Mapping[str, float] = dataclass_field(default_factory=dict)
    balance: Balancing | None = None  # None: weights stay fixed
    emphasis: Emphasis | None = None  # None: all points of a region count alike
    fit_initial_layer: bool = False  # the last layer starts as a fit of the initial values
    validate: int = 1  # iterations between computations of the validation loss
    hard: tuple[str, ...] = ()  # conditions built into the field: "initial", "boundary", ...
    windows: int | tuple[float, ...] = 1  # time windows solved in turn: how many, or their edges
    stop: Stop = Stop(seconds=60.0, patience=500)
    precision: Precision = "float64"
    chunk: int | None = None  # rows whose Jacobian is held at once; None: as memory allows
    devices: int | None = None  # over which the rows are distributed; None: all
    keep: Literal["best", "last"] = "best"  # which ψ is the result: lowest validation loss, or last
    solver: Solver | None = None  # None: least squares
    informed: InitVar[bool | None] = None  # the former name of `fit_initial_layer`

    def __post_init__(self, informed: bool | None) -> None:
        if isinstance(informed, bool):
            _warn("informed=...", "fit_initial_layer=...")
            object.__setattr__(self, "fit_initial_layer", informed)
        if isinstance(self.optimizer, Solver):
            _warn("optimizer=FrozenFeatures(...)", "solver=FrozenFeatures(...)")
            object.__setattr__(self, "solver", self.optimizer)
            object.__setattr__(self, "optimizer", AcceleratedLM())
        self._check_kind("field", Field, "TimeInduced(...)")
        self._check_kind("optimizer", Optimizer, "AcceleratedLM() or Adam()")
        self._check_kind("stop", Stop, "Stop(...)")
        self._check_kind("balance", Balancing, "Balance(...) or GradientNorms(...)", True)
        self._check_kind("emphasis", Emphasis, "Causal(...) or Difficulty(...)", True)
        self._check_kind("redraw", Redraw, "Redraw(...)", True)
        self._check_kind("renewal", Renewal, "Renewal(...)", True)
        self._check_kind("solver", Solver, "FrozenFeatures(...)", True)
        hard = (self.hard,) if isinstance(self.hard, str) else self.hard
        if not isinstance(hard, tuple | list) or any(not isinstance(name, str) for name in hard):
            raise UserError(
                f"recipe: hard={self.hard!r}; expected names of conditions, as in "
                '("initial", "boundary")'
            )
        object.__setattr__(self, "hard", tuple(dict.fromkeys(hard)))
        if self.precision not in ("float64", "float32"):
            raise UserError(f"recipe: precision={self.precision!r}; expected float64 or float32")
        if self.keep not in ("best", "last"):
            raise UserError(f"recipe: keep={self.keep!r}; expected best or last")
        for name in ("chunk", "devices", "validate"):
            number = getattr(self, name)
            if (number is not None or name == "validate") and not (
                isinstance(number, int) and number >= 1
            ):
                raise UserError(f"recipe: {name}={number!r}; expected a whole number >= 1")
        if self.solver is None:
            self.least_squares().check(self.hard, self.windows != 1)
        frozen, wanted = (getattr(o, "frozen", False) for o in (self.field, self.solver))
        if frozen != wanted:
            raise UserError(
                f"recipe: field={type(self.field).__name__} with "
                f"solver={self.solver and type(self.solver).__name__}; RandomFeatures(...) and "
                "FrozenFeatures(...) are used together, and with nothing else"
            )

    def _check_kind(self, name: str, kind: type, example: str, optional: bool = False) -> None:
        value = getattr(self, name)
        if value is None and optional:
            return
        if isinstance(value, str | type) or not isinstance(value, kind):
            raise UserError(f"recipe: {name}={value!r}; expected an object such as {example}")

    def least_squares(self) -> LeastSquares:
        """The part of the settings that belongs to training."""
        return LeastSquares(**{f.name: getattr(self, f.name) for f in fields(LeastSquares)})

    def build_solver(self, edges: tuple[float, ...]) -> Solver:
        """The solver for time windows between the given edges."""
        inner = self.solver or self.least_squares()
        return Windows(inner, edges) if len(edges) > 2 else inner

    def task(
        self,
        problem: Problem,
        seed: int = 0,
        measure: Measure | None = None,
        reporter: Reporter | None = None,
        windows: int = 1,
    ) -> Task:
        """The task that a solver is given, to be solved in a number of time windows."""
        is_scaled = self.dimensionless and self.solver is None
        return Task(
            problem,
            self.field,
            self.stop,
            seed,
            self.weights,
            find_scales(problem, windows) if is_scaled else None,
            self.hard,
            self.precision,
            self.points,
            self.validation,
            self.sampler,
            measure,
            reporter or Silent(),
        )

    def replace(self, **changes: object) -> "Recipe":
        """The same recipe with some settings changed."""
        return replace(self, **changes)

    def but(self, **changes: object) -> "Recipe":
        """The former name of `replace`."""
        _warn("but(...)", "replace(...)", stacklevel=3)
        return self.replace(**changes)


def _warn(former: str, present: str, stacklevel: int = 4) -> None:
    """Warn of a setting that has been renamed; by default from `__post_init__`."""
    message = f"Recipe: {former} is now called {present}"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)


def check_seed(seed: object) -> None:
    """Refuse what cannot seed a run."""
    if not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise UserError(f"seed: expected a whole number from 0 to {2**32 - 1}, got {seed!r}")
