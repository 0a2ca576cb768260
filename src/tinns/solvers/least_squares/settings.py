"""The settings of training: optimiser, points, strategies."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tinns._runtime.errors import UserError
from tinns.geometry import Counts, QuasiRandom, Sampler, spans_grids
from tinns.optim import AcceleratedLM, Optimizer
from tinns.solvers.least_squares.balancing import Balancing
from tinns.solvers.least_squares.emphasis import Emphasis
from tinns.solvers.least_squares.redraw import Redraw
from tinns.solvers.least_squares.renewal import Renewal

if TYPE_CHECKING:
    from tinns.solvers.solver import Run, Task


@dataclass(frozen=True)
class LeastSquares:
    """Train a field: minimise the sum of squares of all rows by an optimiser's steps."""

    optimizer: Optimizer = AcceleratedLM()
    points: Counts = Counts(2500, 250, 100)
    validation: Counts = Counts(2500, 250, 100)
    sampler: Sampler = QuasiRandom()
    redraw: Redraw | None = Redraw(2.0, candidates=4, ladder=(1, 2, 4, 8))
    renewal: Renewal | None = None  # None: validation points stay the same
    balance: Balancing | None = None  # None: weights stay fixed
    emphasis: Emphasis | None = None  # None: all points of a region count alike
    fit_initial_layer: bool = False  # the last layer starts as a fit of the initial values
    validate: int = 1  # iterations between computations of the validation loss
    chunk: int | None = None  # rows whose Jacobian is held at once; None: as memory allows
    devices: int | None = None  # over which the rows are distributed; None: all
    keep: Literal["best", "last"] = "best"  # which ψ is the result

    def check(self, hard: tuple[str, ...], in_windows: bool) -> None:
        """Refuse settings that do not go together."""
        name = type(self.optimizer).__name__
        on_grid, every = spans_grids(self.sampler), self.redraw and self.redraw.every
        if self.emphasis is not None and self.emphasis.needs_grids and not on_grid:
            given = type(self.emphasis).__name__
            raise UserError(f"recipe: emphasis={given}(...) needs sampler=TensorGrid(...)")
        if every is not None and in_windows:
            raise UserError(
                f"recipe: time windows with points that change every {every} steps; "
                "use windows=1, or Redraw(5.0)"
            )
        if every is not None and self.optimizer.restarts_on_redraw:
            raise UserError(
                f"recipe: {name}(...) restarts whenever points change, and Redraw(every={every}) "
                "changes them all the time; use Redraw(5.0)"
            )
        if not (on_grid or self.emphasis):
            return
        given = "sampler=TensorGrid(...)" if on_grid else "emphasis=Causal(...)"
        if self.optimizer.forms_jacobian:
            raise UserError(
                f"recipe: {given} with optimizer={name}(...), which takes rows one by one; use "
                "Adam(), SOAP() or LBFGS()"
            )
        if on_grid and (in_windows or hard):
            raise UserError(f"recipe: {given} works neither with time windows nor with `hard`")

    def prepare(self, task: "Task", in_windows: bool = False) -> "Run":
        from tinns.solvers.least_squares.training import Training

        return Training(self, task, in_windows)
