"""A field given by a formula: exact solutions, and data continued into the box."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import Array

from tinns.geometry import Domain, MultiIndex
from tinns.nn.fields import Derivatives


@dataclass(frozen=True)
class Formula:
    """u(x, t) given by any JAX function of the coordinates by name; it has no parameters."""

    function: Callable[..., Array]

    def init(self, key: Array, domain: Domain, outputs: int) -> tuple[()]:
        return ()

    def derivatives(self, psi, domain, outputs, point, indices) -> Derivatives:
        def value(*coordinates: Array) -> Array:
            u = self.function(**dict(zip(domain.axes, coordinates, strict=True)))
            return jnp.reshape(jnp.stack(u) if isinstance(u, tuple | list) else u, (outputs,))

        coordinates = [jnp.asarray(point[axis]) for axis in domain.axes]
        return {k: _nested(value, k)(*coordinates) for k in indices}


def _nested(function: Callable[..., Array], index: MultiIndex) -> Callable[..., Array]:
    """∂^index of a function of scalars, by forward mode inside forward mode."""
    for axis, order in enumerate(index):
        for _ in range(order):
            function = _partial(function, axis)
    return function


def _partial(function: Callable[..., Array], axis: int) -> Callable[..., Array]:
    def partial(*coordinates: Array) -> Array:
        along = [
            jnp.ones_like(c) if i == axis else jnp.zeros_like(c) for i, c in enumerate(coordinates)
        ]
        return jax.jvp(function, coordinates, tuple(along))[1]

    return partial
