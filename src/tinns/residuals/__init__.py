"""From conditions, points and a field to the weighted rows of one least-squares problem."""

from tinns.residuals.evaluation import as_numbers, evaluate_at, faults_told, traced
from tinns.residuals.system import Psi, System, Window, assemble

__all__ = [
    "Psi",
    "System",
    "Window",
    "as_numbers",
    "assemble",
    "evaluate_at",
    "faults_told",
    "traced",
]
