"""Solvers: from a posed problem to a field that satisfies it."""

from tinns.solvers.checkpoint import pack
from tinns.solvers.frozen_features.options import FrozenFeatures
from tinns.solvers.history import History
from tinns.solvers.least_squares.balancing import (
    Balance,
    Balancing,
    GradientNorms,
    TangentKernel,
)
from tinns.solvers.least_squares.emphasis import Causal, Difficulty, Emphasis
from tinns.solvers.least_squares.redraw import Redraw
from tinns.solvers.least_squares.renewal import Renewal
from tinns.solvers.least_squares.settings import LeastSquares
from tinns.solvers.least_squares.state import RunState
from tinns.solvers.solver import Run, Solver, Stage, Task, Trained, resume, solve_task
from tinns.solvers.stopping import Stop, StopReason
from tinns.solvers.windows import Windows, window_edges

__all__ = [
    "Balance",
    "Balancing",
    "Causal",
    "Difficulty",
    "Emphasis",
    "FrozenFeatures",
    "GradientNorms",
    "History",
    "LeastSquares",
    "Redraw",
    "Renewal",
    "Run",
    "RunState",
    "Solver",
    "Stage",
    "Stop",
    "StopReason",
    "TangentKernel",
    "Task",
    "Trained",
    "Windows",
    "pack",
    "resume",
    "solve_task",
    "window_edges",
]
