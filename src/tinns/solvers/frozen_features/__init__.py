"""Space-time separation: frozen features in space, an ODE in time."""
