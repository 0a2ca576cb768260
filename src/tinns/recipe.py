"""Recipes: the settings of a method on a problem, as data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any, Literal

from tinns.errors import UserError
from tinns.fields import Field, RandomFeatures, TimeInduced
from tinns.least_squares import AcceleratedLM, LevenbergMarquardt
from tinns.optimizers import Step
from tinns.precision import Precision
from tinns.sampling import Counts, QuasiRandom, Sampler, TensorGrid, Uniform
from tinns.separation import Separation
from tinns.strategies import Balancing, Difficulty, Emphasis, Redraw


@dataclass(frozen=True)
class Stop:
    """When to stop: whichever comes first; None means never for that reason.

    Stagnation: the best validation loss of the last `patience` iterations is no better than 99 % of
    the best before them.
    """

    iterations: int | None = None
    seconds: float | None = None
    target_loss: float | None = None
    patience: int | None = None

    def __post_init__(self) -> None:
        for name, limit in vars(self).items():
            whole = name in ("iterations", "patience")
            kind = "whole number" if whole else "number"
            good = isinstance(limit, int if whole else int | float) and 0 < limit < math.inf
            if limit is not None and not good:
                raise UserError(f"{name}: expected a positive {kind}, got {limit!r}")
        if self.iterations is None and self.seconds is None:
            raise UserError("a run needs an end: give iterations or seconds")


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a run but the problem and the seed; the default is untuned."""

    field: Field = TimeInduced(scaled=True)
    optimizer: Step | Separation = AcceleratedLM()
    points: Counts = Counts(2500, 250, 100)
    validation: Counts = Counts(2500, 250, 100)
    sampler: Sampler = QuasiRandom()
    redraw: Redraw | None = Redraw(2.0, candidates=4, ladder=(1, 2, 4, 8))
    weights: Mapping[str, float] = dataclass_field(default_factory=dict)
    balance: Balancing | None = None  # None: weights stay as they are
    emphasis: Emphasis | None = None  # None: all points of a region count alike
    informed: bool = False  # the last layer starts as a fit of the initial values, at all times
    validate: int = 1  # the validation loss is computed every so many iterations
    hard: tuple[str, ...] = ()  # conditions built into the field: "initial", "boundary", ...
    windows: int | tuple[float, ...] = 1  # time windows solved in turn: how many, or their edges
    stop: Stop = Stop(seconds=60.0, patience=500)
    precision: Precision = "float64"
    chunk: int | None = None  # rows whose Jacobian is held at once; None: as many as memory allows
    devices: int | None = None  # over which the rows are dealt out; None: all there are
    keep: Literal["best", "last"] = "best"  # which ψ is the result: lowest validation loss, or last

    def __post_init__(self) -> None:
        for name, kind in (("field", Field), ("optimizer", Step | Separation)):
            if isinstance(getattr(self, name), str | type) or not isinstance(
                getattr(self, name), kind
            ):
                raise UserError(
                    f"recipe: {name}={getattr(self, name)!r} is none; expected an object such as "
                    f"{'TimeInduced(...)' if name == 'field' else 'AcceleratedLM() or Adam()'}"
                )
        if isinstance(self.field, RandomFeatures) != isinstance(self.optimizer, Separation):
            raise UserError(
                f"recipe: field={type(self.field).__name__} with optimizer="
                f"{type(self.optimizer).__name__}; RandomFeatures(...) and Separation(...) go "
                "together, and with nothing else"
            )
        self._check_grids()
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
        for name, kind, example in (
            ("balance", Balancing, "Balance(...) or GradientNorms(...)"),
            ("emphasis", Emphasis, "Causal(...) or Difficulty(...)"),
            ("redraw", Redraw, "Redraw(...)"),
            ("stop", Stop, "Stop(...)"),
        ):
            value = getattr(self, name)
            if not isinstance(value, kind) and (value is not None or name == "stop"):
                raise UserError(f"recipe: {name}={value!r}; expected {example}")
        for name in ("chunk", "devices", "validate"):
            number = getattr(self, name)
            if (number is not None or name == "validate") and not (
                isinstance(number, int) and number >= 1
            ):
                raise UserError(f"recipe: {name}={number!r}; expected a whole number >= 1")

    def _check_grids(self) -> None:
        """Refuse what a tensor grid, or a weighing of all rows at once, does not go with."""
        on_grid = isinstance(self.sampler, TensorGrid)
        if isinstance(self.emphasis, Difficulty) and not on_grid:
            raise UserError("recipe: emphasis=Difficulty(...) needs sampler=TensorGrid(...)")
        if isinstance(self.optimizer, Separation):
            return
        every = self.redraw.every if self.redraw is not None else None
        if every is not None and self.windows != 1:
            raise UserError(
                f"recipe: windows={self.windows!r} with points that change every {every} steps; "
                "use windows=1, or Redraw(5.0)"
            )
        if every is not None and self.optimizer.restarts_on_redraw:
            raise UserError(
                f"recipe: {type(self.optimizer).__name__}(...) starts anew whenever points change, "
                f"and Redraw(every={every}) changes them all the time; use Redraw(5.0)"
            )
        if not (on_grid or self.emphasis):
            return
        what = "sampler=TensorGrid(...)" if on_grid else "emphasis=Causal(...)"
        if self.optimizer.forms_jacobian:
            raise UserError(
                f"recipe: {what} with optimizer={type(self.optimizer).__name__}(...), which takes "
                "rows one by one; use Adam(), SOAP() or LBFGS()"
            )
        if on_grid and (self.windows != 1 or self.hard):
            raise UserError(f"recipe: {what} goes neither with time windows nor with `hard`")

    @property
    def step(self) -> Step:
        """The optimiser of a recipe that trains."""
        if isinstance(self.optimizer, Separation):
            raise UserError("recipe: Separation(...) is no optimiser, and trains nothing")
        return self.optimizer

    def but(self, **changes: Any) -> "Recipe":
        """The same recipe with some settings changed."""
        return replace(self, **changes)


def check_seed(seed: Any) -> None:
    """Refuse what cannot seed a run."""
    if not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise UserError(f"seed: expected a whole number from 0 to {2**32 - 1}, got {seed!r}")


def settings_of(value: Any) -> Any:
    """A recipe, or any part of one, as plain data for a record."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = {f.name: settings_of(getattr(value, f.name)) for f in fields(value)}
        return {"class": type(value).__name__, **inner}
    if isinstance(value, tuple | list):
        return [settings_of(v) for v in value]
    return dict(value) if isinstance(value, dict) else value


# What the paper's program does on every problem [TINN, Appendix F]: uniform points, Algorithm 1 as
# published, all points redrawn when validation exceeds five times training.
PAPER = Recipe(
    field=TimeInduced(),
    optimizer=LevenbergMarquardt(),
    sampler=Uniform(),
    redraw=Redraw(5.0),
    stop=Stop(iterations=30_000),
    keep="last",
)

# Made for a GPU: larger networks and more points; a minute is thousands of iterations.
ACCURATE = Recipe(
    points=Counts(10_000, 500, 400),
    validation=Counts(5_000, 250, 200),
    redraw=Redraw(2.0, candidates=4, ladder=(1,)),
    stop=Stop(seconds=120.0, patience=1000),
)
