"""Optimisers: each moves the parameters by one step of a least-squares problem."""

from tinns.optim.adam import Adam
from tinns.optim.lbfgs import LBFGS, scale_by_compact_lbfgs
from tinns.optim.lm import AcceleratedLM, ColumnScaling, PaperDamping, PaperLM
from tinns.optim.optimizer import Clock, MultiProgram, Optimizer, OptimizerState, Report
from tinns.optim.schedules import Schedule
from tinns.optim.self_scaled_broyden import SelfScaledBroyden, scale_by_self_scaled_broyden
from tinns.optim.soap import SOAP, scale_by_soap

__all__ = [
    "LBFGS",
    "SOAP",
    "AcceleratedLM",
    "Adam",
    "Clock",
    "ColumnScaling",
    "MultiProgram",
    "Optimizer",
    "OptimizerState",
    "PaperDamping",
    "PaperLM",
    "Report",
    "Schedule",
    "SelfScaledBroyden",
    "scale_by_compact_lbfgs",
    "scale_by_self_scaled_broyden",
    "scale_by_soap",
]
