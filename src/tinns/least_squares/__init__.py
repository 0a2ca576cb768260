"""Nonlinear least squares from rows: normal equations in chunks, damping, Levenberg-Marquardt."""

from tinns.least_squares.accelerated import AcceleratedLM
from tinns.least_squares.damping import Algorithm1
from tinns.least_squares.layout import Layout
from tinns.least_squares.levenberg_marquardt import LevenbergMarquardt
from tinns.least_squares.rows import Block, linearise, residuals
from tinns.least_squares.scaling import ColumnScaling

__all__ = [
    "AcceleratedLM",
    "Algorithm1",
    "Block",
    "ColumnScaling",
    "Layout",
    "LevenbergMarquardt",
    "linearise",
    "residuals",
]
