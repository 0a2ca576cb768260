"""Optimisers that see the rows through ‖r‖² and its gradient, stepping in the same loop."""

from tinns.optimizers.adam import Adam
from tinns.optimizers.limited_memory import LBFGS, scale_by_compact_lbfgs
from tinns.optimizers.schedules import Schedule
from tinns.optimizers.self_scaled_broyden import SelfScaledBroyden, scale_by_self_scaled_broyden
from tinns.optimizers.soap import SOAP, scale_by_soap
from tinns.optimizers.step import Relay, Step

__all__ = [
    "LBFGS",
    "SOAP",
    "Adam",
    "Relay",
    "Schedule",
    "SelfScaledBroyden",
    "Step",
    "scale_by_compact_lbfgs",
    "scale_by_self_scaled_broyden",
    "scale_by_soap",
]
