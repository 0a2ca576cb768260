"""How coordinates enter a network: as they are, scaled to [-1, 1], or round a circle."""

from math import pi

from jax import Array

from tinns.domain import Box
from tinns.fields.activations import cosine, sine
from tinns.fields.series import Series, concatenate

Coordinates = dict[str, Array | Series]


def embed_space(domain: Box, coordinates: Coordinates, scaled: bool) -> Array | Series:
    """The space coordinates as one vector; a periodic axis becomes (cos, sin) of its angle."""
    parts = []
    for axis in domain.space:
        value = coordinates[axis]
        if axis in domain.periodic:
            lower, upper = domain.interval(axis)
            angle = value * (2 * pi / (upper - lower))
            parts += [cosine(angle), sine(angle)]
        else:
            parts.append(scale(domain, axis, value) if scaled else value)
    return concatenate(parts)


def embedded_width(domain: Box) -> int:
    """The length of `embed_space`'s vector."""
    return len(domain.space) + len(domain.periodic)


def scale(domain: Box, axis: str, value: Array | Series) -> Array | Series:
    """The coordinate mapped from its interval to [-1, 1]."""
    lower, upper = domain.interval(axis)
    return value * (2 / (upper - lower)) - (upper + lower) / (upper - lower)
