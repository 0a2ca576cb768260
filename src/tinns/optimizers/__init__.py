"""Optimisers that see the rows through ‖r‖² and its gradient, stepping in the same loop."""

from tinns.optimizers.gradient_steps import LBFGS, Adam, warmup_exponential_decay
from tinns.optimizers.step import Relay, Step

__all__ = ["LBFGS", "Adam", "Relay", "Step", "warmup_exponential_decay"]
