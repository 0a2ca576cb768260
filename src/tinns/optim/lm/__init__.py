"""Levenberg-Marquardt: the paper's own, and the accelerated one that is the default."""

from tinns.optim.lm.accelerated import AcceleratedLM
from tinns.optim.lm.paper_damping import PaperDamping
from tinns.optim.lm.paper_lm import PaperLM
from tinns.optim.lm.scaling import ColumnScaling

__all__ = ["AcceleratedLM", "ColumnScaling", "PaperDamping", "PaperLM"]
