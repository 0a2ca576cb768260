"""Space-time separation: how the coefficients of frozen features are advanced in time."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tinns._runtime.errors import UserError

if TYPE_CHECKING:
    from tinns.solvers.solver import Run, Task

SIMULATED_TIME, STEP_SIZE = "time", "step_size"  # columns of the history
EXPLICIT = ("Tsit5", "Dopri5")
IMPLICIT = ("Kvaerno3", "Kvaerno4", "Kvaerno5")


@dataclass(frozen=True)
class FrozenFeatures:
    """ċ = Φ⁺ F(u, u_x, ...): the features' coefficients follow an ODE, solved by diffrax.

    The field must be `RandomFeatures`. Φ are the features at collocation points, with rows for the
    boundary conditions; c(0) fits the initial value.
    """

    frozen: ClassVar[bool] = True  # for fields that are not trained
    solver: str = "auto"  # explicit, unless the ODE is stiff; or a name of diffrax
    rtol: float = 1e-10
    atol: float = 1e-10
    cutoff: float = 1e-13  # singular values of Φ below this share of the largest are left out
    points: int | None = None  # of collocation; None: three for each feature
    boundary_points: int | None = None  # over all faces; None: as many as features (in 1-d, ends)
    focus: float = 0.5  # share of the points that lie where the initial value is steep
    steepest: float = (
        200.0  # no points where |∇u0| is more than this times its mean (a singularity)
    )
    boundary_weight: float = 1.0
    relaxation: float = 10.0  # e-foldings of a boundary error over the time interval

    def __post_init__(self) -> None:
        if self.solver not in ("auto", *EXPLICIT, *IMPLICIT):
            raise UserError(
                f"FrozenFeatures: solver={self.solver!r}; expected auto, {', '.join(EXPLICIT)} "
                f"(explicit), {', '.join(IMPLICIT)} (implicit, for stiff problems)"
            )
        for name in ("rtol", "atol", "cutoff", "steepest", "boundary_weight", "relaxation"):
            number = getattr(self, name)
            low = number >= 0 if name == "relaxation" else number > 0
            if not (low and (number < math.inf or name == "steepest")):
                raise UserError(f"FrozenFeatures: {name}={number!r}; expected a positive number")
        if not 0 <= self.focus < 1:
            raise UserError(f"FrozenFeatures: focus={self.focus!r}; expected a share in [0, 1)")
        for name in ("points", "boundary_points"):
            count = getattr(self, name)
            if count is not None and not (isinstance(count, int) and count >= 1):
                raise UserError(
                    f"FrozenFeatures: {name}={count!r}; expected a whole number, or None"
                )

    def prepare(self, task: "Task", in_windows: bool = False) -> "Run":
        from tinns.solvers.frozen_features.march import March

        return March(self, task, in_windows)
