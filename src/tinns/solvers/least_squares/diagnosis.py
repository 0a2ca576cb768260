"""Which row is at fault: a residual or a gradient that is not finite."""

import jax
import numpy as np

from tinns._runtime.errors import UserError
from tinns.geometry import Batch
from tinns.objective import Block, Layout, Objective, System
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
                return (
                    f"the {what} of '{block.row_names[kind]}' is not finite at "
                    f"{_place(system, block, data, point)}: check its "
                    "functions there (roots, logarithms and divisions have infinite or undefined "
                    "derivatives at zero)"
                )
    losses = {name: float(state.history[loss_column(name)][0]) for name in system.row_names}
    largest = max(losses, key=lambda name: losses[name])
    return f"all rows and gradients are finite; the largest is '{largest}', {losses[largest]:.2e}"


def not_finite(system: System, state: RunState, points: tuple[Batch, ...]) -> UserError:
    """The error for a problem whose residual is not finite before anything was trained."""
    name = system.problem.name
    for block, data in zip(system.blocks, points, strict=True):
        (values,) = Objective((block,), (data,), Layout()).residuals(state.loop.best)
        bad = np.argwhere(~np.isfinite(np.asarray(values)))
        if len(bad):
            point, kind = bad[0]
            return UserError(
                f"{name}: '{block.row_names[kind]}' is {float(values[point, kind])} at "
                f"{_place(system, block, data, point)}; check the equation and the given "
                "functions there"
            )
    return UserError(f"{name}: the loss is not finite at the start")


def _place(system: System, block: Block, data: Batch, point: int) -> str:
    """The coordinates of a point of a block."""
    places = block.points(data)
    return ", ".join(f"{axis} = {float(places[axis][point]):g}" for axis in system.domain.axes)
