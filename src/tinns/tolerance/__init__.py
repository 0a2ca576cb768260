"""Solving to a tolerance: what a user would have to choose is chosen by what is measured."""

from tinns.tolerance.decisions import Decision
from tinns.tolerance.search import Reached, check_tolerance, reach_tolerance

__all__ = ["Decision", "Reached", "check_tolerance", "reach_tolerance"]
