"""Rows on tensor grids, for fields that are cheap there: all points of a region at once."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry import (
    TIME,
    Batch,
    Boundary,
    Box,
    Coordinates,
    Initial,
    Interior,
    MultiIndex,
    Region,
)
from tinns.geometry.batch import mesh
from tinns.nn import Field, OnGrids
from tinns.objective.blocks import Grid, Psi
from tinns.problem.base import Evaluate, Problem
from tinns.problem.jets import jets_of


def lies_on_grids(region: Region) -> bool:
    """Whether a region is made of tensor grids of the whole axes."""
    whole_start = isinstance(region, Initial) and not region.within
    return whole_start or isinstance(region, Interior | Boundary)


def grid_of(
    problem: Problem,
    field: Field,
    region: Region,
    indices: set[MultiIndex],
    rows: Callable[[Psi, Evaluate, Batch], Array],
) -> Grid:
    """How a region's rows are evaluated from the points of the axes.

    `rows(psi, evaluate, point)` are the rows at one point, where `evaluate` gives the jets.
    """
    domain, unknowns = problem.domain, problem.unknowns
    if not isinstance(field, OnGrids):
        raise UserError(
            "sampler=TensorGrid(...) needs a field that is evaluated on grids, SeparableField(...);"
            f" got {type(field).__name__}: use Uniform() or QuasiRandom() with it"
        )
    if not isinstance(domain, Box):
        raise UserError(
            f"sampler=TensorGrid(...) needs a Box, whose points form grids; got "
            f"{type(domain).__name__}: use Uniform() or QuasiRandom() with it"
        )

    def on(psi: Psi, axes: Coordinates, normals: Coordinates | None) -> Array:
        derivatives = field.derivatives_on_grid(
            psi["field"], domain, len(unknowns), axes, tuple(indices)
        )
        flat = {k: values.reshape(-1, len(unknowns)) for k, values in derivatives.items()}

        def at(point: Coordinates, values: dict[MultiIndex, Array]) -> Array:
            batch = Batch(point, normals)
            return rows(psi, lambda _: jets_of(values, domain, unknowns), batch)

        return jax.vmap(at)(mesh(domain.axes, axes), flat)

    def all_rows(psi: Psi, data: Batch) -> Array:
        parts = [on(psi, *grid) for grid in _grids(region, domain, data.coordinates)]
        return jnp.concatenate(parts) if len(parts) > 1 else parts[0]

    def points(data: Batch) -> Coordinates:
        parts = [mesh(domain.axes, own) for own, _ in _grids(region, domain, data.coordinates)]
        return {axis: jnp.concatenate([part[axis] for part in parts]) for axis in domain.axes}

    return Grid(all_rows, points)


def _grids(
    region: Region, domain: Box, axes: Coordinates
) -> list[tuple[Coordinates, Coordinates | None]]:
    """The axes of each grid in a region, and the outward normal there."""
    if isinstance(region, Initial):
        return [(axes | {TIME: jnp.full(1, domain.start, axes[TIME].dtype)}, None)]
    if not isinstance(region, Boundary):
        return [(axes, None)]
    return [
        (
            axes | {face.axis: jnp.full(1, face.value, axes[face.axis].dtype)},
            {axis: jnp.asarray(face.normal(axis), float) for axis in domain.space},
        )
        for face in domain.on(region.faces)
    ]
