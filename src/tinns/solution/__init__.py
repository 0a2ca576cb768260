"""Solutions: u(x, t) as a function, its files and its pictures."""

from tinns.solution.core import Solution
from tinns.solution.storage import load
from tinns.solution.uncertainty import Estimate

__all__ = ["Estimate", "Solution", "load"]
