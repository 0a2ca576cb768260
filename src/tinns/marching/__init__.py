"""Space-time separation: frozen features in space, an ODE in time."""

from tinns.marching.march import march

__all__ = ["march"]
