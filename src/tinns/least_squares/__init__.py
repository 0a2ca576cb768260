"""Nonlinear least squares from rows: normal equations in chunks, damping, Levenberg-Marquardt."""

from tinns.least_squares.accelerated import AcceleratedLM
from tinns.least_squares.damping import Algorithm1
from tinns.least_squares.levenberg_marquardt import LevenbergMarquardt
from tinns.least_squares.rows import Block, linearise, normal_equations, residuals

__all__ = [
    "AcceleratedLM",
    "Algorithm1",
    "Block",
    "LevenbergMarquardt",
    "linearise",
    "normal_equations",
    "residuals",
]
