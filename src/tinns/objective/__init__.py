"""From conditions, points and a field to a sum of squares and its linear model."""

from tinns.objective.assembly import System, Window, assemble
from tinns.objective.blocks import Block, Psi
from tinns.objective.layout import Layout
from tinns.objective.linearised import Linearised
from tinns.objective.scales import Scales, find_scales
from tinns.objective.sum_of_squares import Objective

__all__ = [
    "Block",
    "Layout",
    "Linearised",
    "Objective",
    "Psi",
    "Scales",
    "System",
    "Window",
    "assemble",
    "find_scales",
]
