"""Training strategies as data: when points change, how conditions and points are weighed."""

from dataclasses import dataclass
from itertools import pairwise

from tinns.errors import UserError


@dataclass(frozen=True)
class Redraw:
    """Redraw all training points whenever validation exceeds `ratio` times training (None: never).

    Besides, `every` so many iterations, inside the compiled program: every one for fresh batches.
    With `candidates` > 1 so many times more points are drawn, and those kept are chosen with a
    density proportional to |residual|, but for a `uniform` share that is chosen evenly. Points that
    lasted less than `lasting` iterations are followed by more: `ladder` gives the counts, in
    multiples of the recipe's. A CPU starts on its first rung, other devices with 10,000 points.
    """

    ratio: float | None = 5.0
    candidates: int = 1
    uniform: float = 0.5
    ladder: tuple[int, ...] = (1,)
    lasting: int = 20
    every: int | None = None

    def __post_init__(self) -> None:
        if self.every is not None and (self.every < 1 or self.candidates > 1):
            raise UserError(
                f"Redraw: every={self.every!r} with candidates={self.candidates!r}; expected a "
                "whole number >= 1 and candidates=1, since batches are drawn evenly"
            )
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
class GradientNorms:
    """Weights that make the gradients of all conditions equally long.

    Every so many iterations w_i ← m·w_i + (1 - m)·mean_j ‖∇L_j‖ / ‖∇L_i‖, from w = 1, with L_i the
    mean square of one kind of row and m the `momentum` (S. Wang et al., 2023, arXiv:2308.08468).
    """

    every: int = 1000
    momentum: float = 0.9

    def __post_init__(self) -> None:
        _check_followers(self)


@dataclass(frozen=True)
class TangentKernel:
    """As `GradientNorms`, with the mean diagonal of the tangent kernel in place of norms.

    The diagonal's entry for a row r is ‖∂r/∂ψ‖² (S. Wang, X. Yu, P. Perdikaris, 2022).
    """

    every: int = 1000
    momentum: float = 0.9

    def __post_init__(self) -> None:
        _check_followers(self)


Balancing = Balance | GradientNorms | TangentKernel


@dataclass(frozen=True)
class Causal:
    """Early times first: the equation's rows count as exp(-tolerance · Σ losses before them).

    Points are sorted by time and cut into `chunks`; the losses are the chunks' mean squares
    (S. Wang, S. Sankaran, P. Perdikaris, 2024). Off by default. The authors' repository declares
    this algorithm patented and free for non-commercial use only: ask them before other uses.
    """

    tolerance: float = 1.0
    chunks: int = 32

    def __post_init__(self) -> None:
        if not (self.tolerance > 0 and isinstance(self.chunks, int) and self.chunks >= 1):
            raise UserError(
                f"Causal: tolerance={self.tolerance!r} must be positive, chunks={self.chunks!r} a "
                "whole number >= 1"
            )


@dataclass(frozen=True)
class Difficulty:
    """Easy points first, hard ones later: weights 1 - s - β(1 - 2s)·D on the equation's squares.

    s is the spent share of the budget, and D in [0, 1] the normalised length of the gradient of the
    loss with respect to the axes' points [CoPINN]. It needs tensor grids. As published, the weights
    are differentiated too, and all of them fade to at most β towards the end.
    """

    strength: float = 0.001  # β

    def __post_init__(self) -> None:
        if not 0 <= self.strength <= 1:
            raise UserError(f"Difficulty: strength={self.strength!r}; expected 0 to 1")


Emphasis = Causal | Difficulty


def _check_followers(rule: GradientNorms | TangentKernel) -> None:
    if not (isinstance(rule.every, int) and rule.every >= 1 and 0 <= rule.momentum < 1):
        raise UserError(
            f"{type(rule).__name__}: every={rule.every!r} must be a whole number >= 1, "
            f"momentum={rule.momentum!r} in [0, 1)"
        )
