"""Which row is at fault where a run never moved: a residual or a gradient that is not finite."""

import jax
import numpy as np

from tinns.objective import System
from tinns.objective.blocks import linearise
from tinns.solvers.least_squares.program import loss_column
from tinns.solvers.least_squares.state import RunState

MOST_POINTS = 2000  # looked at in each block


def faulty_row(system: System, state: RunState) -> str:
    """Name the first row whose value or gradient is not finite, or else the largest row."""
    psi = state.loop.best
    for block, data in zip(system.blocks, state.points, strict=True):
        if block.grid is not None:
            continue
        data = jax.tree.map(lambda column: column[:MOST_POINTS], data)

        def at(point, rows=block.rows):
            values, jacobian = linearise(rows, psi, point)
            return values, jax.numpy.isfinite(jacobian).all(axis=1)

        values, sound = (np.asarray(a) for a in jax.jit(jax.vmap(at))(data))
        for what, bad in (("value", ~np.isfinite(values)), ("gradient", ~sound)):
            if bad.any():
                point, kind = np.argwhere(bad)[0]
                where = ", ".join(
                    f"{axis} = {float(data[axis][point]):g}" for axis in system.domain.axes
                )
                return (
                    f"the {what} of '{block.row_names[kind]}' is not finite at {where}: check its "
                    "functions there (roots, logarithms and divisions have infinite or undefined "
                    "derivatives at zero)"
                )
    losses = {name: float(state.history[loss_column(name)][0]) for name in system.row_names}
    largest = max(losses, key=lambda name: losses[name])
    return f"all rows and gradients are finite; the largest is '{largest}', {losses[largest]:.2e}"
