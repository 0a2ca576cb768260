"""Recipes: the settings of a method on a problem, as data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from dataclasses import field as dataclass_field
from itertools import pairwise
from typing import Any, Literal

from tinns.errors import UserError
from tinns.fields import Field, RandomFeatures, TimeInduced
from tinns.least_squares import AcceleratedLM, LevenbergMarquardt
from tinns.optimizers import Step
from tinns.sampling import Counts, QuasiRandom, Sampler, Uniform
from tinns.separation import Separation

Precision = Literal["float64", "float32"]


@dataclass(frozen=True)
class Redraw:
    """Redraw all training points whenever validation exceeds `ratio` times training.

    With `candidates` > 1 so many times more points are drawn, and those kept are chosen with a
    density proportional to |residual|, but for a `uniform` share that is chosen evenly. Points that
    lasted less than `lasting` iterations are followed by more: `ladder` gives the counts, in
    multiples of the recipe's. A CPU starts on its first rung, other devices with 10,000 points.
    """

    ratio: float = 5.0
    candidates: int = 1
    uniform: float = 0.5
    ladder: tuple[int, ...] = (1,)
    lasting: int = 20

    def __post_init__(self) -> None:
        climbs = all(a < b for a, b in pairwise(self.ladder))
        if not self.ladder or self.ladder[0] < 1 or not climbs:
            raise UserError(
                f"ladder={self.ladder!r}: expected rising whole numbers as in (1, 2, 4)"
            )


@dataclass(frozen=True)
class Balance:
    """Weights that follow the losses: at every step, times (mean loss / own loss)^rate.

    Losses are the weighted mean squares by kind of row. Weights stay within a factor of `limit` of
    those of the recipe, and their geometric mean stays what it was.
    """

    rate: float = 0.05
    limit: float = 100.0

    def __post_init__(self) -> None:
        if not (0 < self.rate < 1 and self.limit > 1):
            raise UserError(
                f"Balance: rate={self.rate!r} must be in (0, 1), limit={self.limit!r} above 1"
            )


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
    balance: Balance | None = None  # None: weights stay as they are
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
        for name, kind in (("balance", Balance), ("redraw", Redraw), ("stop", Stop)):
            value = getattr(self, name)
            if not isinstance(value, kind) and (value is not None or name == "stop"):
                raise UserError(f"recipe: {name}={value!r}; expected {kind.__name__}(...)")
        for name in ("chunk", "devices"):
            number = getattr(self, name)
            if number is not None and not (isinstance(number, int) and number >= 1):
                raise UserError(f"recipe: {name}={number!r}; expected a whole number >= 1, or None")

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


# What the paper's program does on every problem [TINN, Appendix E]: uniform points, Algorithm 1 as
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
