"""Rows on tensor grids, for fields that are cheap there: all points of a region at once."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from tinns.domain import TIME, Box
from tinns.errors import UserError
from tinns.fields.field import Field, OnGrids
from tinns.fields.jets import jets_of
from tinns.fields.series import MultiIndex
from tinns.least_squares.rows import Grid
from tinns.problem import Evaluate, Problem
from tinns.residuals.evaluation import Psi
from tinns.sampling import Boundary, Initial, Interior, Points, Region, mesh, normal


def lies_on_grids(region: Region) -> bool:
    """Whether a region is made of tensor grids of the whole axes."""
    whole_start = isinstance(region, Initial) and not region.within
    return whole_start or isinstance(region, Interior | Boundary)


def grid_of(
    problem: Problem,
    field: Field,
    region: Region,
    indices: set[MultiIndex],
    rows: Callable[[Psi, Evaluate, Points], Array],
) -> Grid:
    """How a region's rows are had from the points of the axes.

    `rows(psi, evaluate, point)` are those at one point, of which `evaluate` gives the jets.
    """
    if not isinstance(field, OnGrids):
        raise UserError(
            f"sampler=TensorGrid(...) needs a field that is evaluated on grids, Separable(...); "
            f"got {type(field).__name__}: use Uniform() or QuasiRandom() with it"
        )
    domain, unknowns = problem.domain, problem.unknowns

    def on(psi: Psi, axes: Points, normals: Points) -> Array:
        derivatives = field.derivatives_on_grid(
            psi["field"], domain, len(unknowns), axes, tuple(indices)
        )
        flat = {k: values.reshape(-1, len(unknowns)) for k, values in derivatives.items()}

        def at(point: Points, values: dict[MultiIndex, Array]) -> Array:
            return rows(psi, lambda _: jets_of(values, domain, unknowns), point | normals)

        return jax.vmap(at)(mesh(domain, axes), flat)

    def all_rows(psi: Psi, axes: Points) -> Array:
        parts = [on(psi, *grid) for grid in _grids(region, domain, axes)]
        return jnp.concatenate(parts) if len(parts) > 1 else parts[0]

    def points(axes: Points) -> Points:
        parts = [mesh(domain, own) for own, _ in _grids(region, domain, axes)]
        return {axis: jnp.concatenate([part[axis] for part in parts]) for axis in domain.axes}

    return Grid(all_rows, points)


def _grids(region: Region, domain: Box, axes: Points) -> list[tuple[Points, Points]]:
    """The axes of each grid in a region, and the outward normal there."""
    if isinstance(region, Initial):
        return [(axes | {TIME: jnp.full(1, domain.start, axes[TIME].dtype)}, {})]
    if not isinstance(region, Boundary):
        return [(axes, {})]
    return [
        (
            axes | {face.axis: jnp.full(1, face.value, axes[face.axis].dtype)},
            {
                normal(axis): jnp.asarray(face.outward * (axis == face.axis), float)
                for axis in domain.space
            },
        )
        for face in region.on(domain)
    ]
