"""Recipes: the settings of a method on a problem, as data."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any, Literal

from tinns.errors import UserError
from tinns.fields import Field, TimeInduced
from tinns.least_squares import AcceleratedLM, LevenbergMarquardt
from tinns.optimizers import Step
from tinns.sampling import Counts, QuasiRandom, Sampler, Uniform

Precision = Literal["float64", "float32"]


@dataclass(frozen=True)
class Redraw:
    """Redraw all training points whenever validation exceeds `ratio` times training.

    With `candidates` > 1 so many times more points are drawn, and those kept are chosen with a
    density proportional to |residual|, but for a `uniform` share that is chosen evenly.
    """

    ratio: float = 5.0
    candidates: int = 1
    uniform: float = 0.5


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
    """Everything that decides a run but the problem and the seed; made for a CPU by default."""

    field: Field = TimeInduced()
    optimizer: Step = AcceleratedLM()
    points: Counts = Counts(2500, 250, 100)
    validation: Counts = Counts(1250, 125, 50)
    sampler: Sampler = QuasiRandom()
    redraw: Redraw | None = Redraw(2.0, candidates=4)
    weights: Mapping[str, float] = dataclass_field(default_factory=dict)
    hard: tuple[str, ...] = ()  # conditions built into the field: "initial", "boundary", ...
    stop: Stop = Stop(seconds=60.0, patience=200)
    precision: Precision = "float64"
    chunk: int = 16384  # data whose Jacobian is held at once
    keep: Literal["best", "last"] = "best"  # which ψ is the result: lowest validation loss, or last

    def __post_init__(self) -> None:
        for name, kind in (("field", Field), ("optimizer", Step)):
            if isinstance(getattr(self, name), str | type) or not isinstance(
                getattr(self, name), kind
            ):
                raise UserError(
                    f"recipe: {name}={getattr(self, name)!r} is none; expected an object such as "
                    f"{'TimeInduced(...)' if name == 'field' else 'AcceleratedLM() or Adam()'}"
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

    def but(self, **changes: Any) -> "Recipe":
        """The same recipe with some settings changed."""
        return replace(self, **changes)


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
    optimizer=LevenbergMarquardt(),
    sampler=Uniform(),
    redraw=Redraw(5.0),
    stop=Stop(iterations=30_000),
    keep="last",
)

# Made for a GPU: more points, and a minute is thousands of iterations.
ACCURATE = Recipe(
    points=Counts(10_000, 500, 400),
    validation=Counts(5_000, 250, 200),
    chunk=65_536,
)
