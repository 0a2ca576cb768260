"""Optimisers that see the rows through ‖r‖² and its gradient, stepping in the same loop."""

from tinns.optimizers.gradient_steps import LBFGS, Adam, warmup_exponential_decay
from tinns.optimizers.step import Step

__all__ = ["LBFGS", "Adam", "Step", "warmup_exponential_decay"]
