"""The values and derivatives of a trained field at the points of a grid, window by window."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol, cast, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns.nn import Field
from tinns.nn.windowed import InWindow, Windowed
from tinns.objective.blocks import Psi
from tinns.verification.posed import Posed
from tinns.verification.rows import coordinates_of, in_chunks


@runtime_checkable
class Wrapping(Protocol):
    """A field around another one, such as `Constrained`."""

    inner: Field


class NetworkJets:
    """The jets of a field: all derivatives that a problem uses, in the order of its names."""

    def __init__(self, given: Posed, field: Field, psi: Psi) -> None:
        self.given = given
        box, outputs = given.box, len(given.problem.unknowns)
        indices = sorted({index for _, index in given.names})
        own = jax.tree.map(_as_double, psi["field"])
        windows = _edges_of(field)
        self.edges: tuple[float, ...] = windows or (box.start, box.end)

        def jets_at(window: Field, parameters: Any, coordinates: Array) -> Array:
            def one(place: Array) -> Array:
                point = {axis: place[n] for n, axis in enumerate(box.axes)}
                found = window.derivatives(parameters, box, outputs, point, indices)
                return jnp.stack([found[index][k] for k, index in given.names])

            return jax.vmap(one)(coordinates)

        def in_window(parameters: Any, start: Array, length: Array, coordinates: Array) -> Array:
            return jets_at(_between(field, start, length), parameters, coordinates)

        if not windows:
            whole = jax.jit(lambda parameters, coordinates: jets_at(field, parameters, coordinates))
            self._calls: list[Callable[[Array], Array]] = [lambda c: whole(own, c)]
        else:  # one program for all windows
            part = jax.jit(in_window)
            self._calls = [
                lambda c, k=k, a=a, b=b: part(own[k], a, b - a, c)
                for k, (a, b) in enumerate(pairwise(windows))
            ]

    def jets(self, window: int, points: np.ndarray, times: np.ndarray) -> np.ndarray:
        """(times, names, points)."""
        where = coordinates_of(self.given.box, points, times)
        (found,) = in_chunks(self._calls[window], where.reshape(-1, where.shape[-1]))
        return found.reshape(*where.shape[:2], -1).swapaxes(1, 2)

    def state(self, window: int, points: np.ndarray, times: np.ndarray) -> np.ndarray:
        """(times, levels, points)."""
        return self.jets(window, points, times)[:, self.given.state_names]

    def over(self, points: np.ndarray, times: np.ndarray) -> np.ndarray:
        """The state at ascending times of all windows."""
        number = np.searchsorted(self.edges[1:-1], times, side="right")
        parts = [self.state(int(k), points, times[number == k]) for k in np.unique(number)]
        return np.concatenate(parts)


def _edges_of(field: Field) -> tuple[float, ...] | None:
    """The edges of the time windows of a field, or of the one it wraps."""
    if isinstance(field, Windowed):
        return field.edges
    return _edges_of(field.inner) if isinstance(field, Wrapping) else None


def _between(field: Field, start: Array, length: Array) -> Field:
    """A field in windows, restricted to one."""
    if isinstance(field, Windowed):
        return InWindow(field.inner, start, length)
    inner = _between(cast(Wrapping, field).inner, start, length)
    return cast(Field, replace(cast(Any, field), inner=inner))


def _as_double(leaf: Any) -> Array:
    value = np.asarray(leaf)
    return jnp.asarray(value, float if np.issubdtype(value.dtype, np.floating) else None)
