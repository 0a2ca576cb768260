"""How coordinates enter a network: unchanged, scaled, as an angle, or as Fourier features."""

from dataclasses import dataclass
from math import pi

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry import Domain
from tinns.nn.activations import cosine, sine
from tinns.nn.backbones import Params
from tinns.nn.series import Series, concatenate, joined

Coordinates = dict[str, Array | Series]


@dataclass(frozen=True)
class FourierFeatures:
    """γ(z) = [cos(B z), sin(B z)] with `features` entries and B ~ N(0, scale²).

    B is trained with the network; with `trained=False` it is fixed, drawn from `seed`, and not a
    parameter.
    """

    features: int = 256
    scale: float = 1.0
    trained: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.features, int) or self.features < 2 or self.features % 2:
            raise UserError(
                f"FourierFeatures: features={self.features!r}; expected an even number >= 2, a "
                "cosine and a sine for each wave"
            )
        if not (isinstance(self.scale, int | float) and self.scale > 0):
            raise UserError(f"FourierFeatures: scale={self.scale!r}; expected a number > 0")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**32:
            raise UserError(
                f"FourierFeatures: seed={self.seed!r}; expected a whole number from 0 to "
                f"{2**32 - 1}"
            )

    def init(self, key: Array, inputs: int) -> Params:
        """B of shape (features/2, inputs), or nothing where B is fixed."""
        if not self.trained:
            return ()
        return self.scale * jax.random.normal(key, (self.features // 2, inputs))

    def __call__(self, kernel: Params, z: Array | Series) -> Array | Series:
        inputs = (z.value if isinstance(z, Series) else z).shape[-1]
        waves = (kernel if self.trained else self._fixed(inputs)) @ z
        return joined([cosine(waves), sine(waves)])

    def _fixed(self, inputs: int) -> Array:
        # NumPy guarantees the stream of this generator: a file always gives the same network.
        random = np.random.RandomState(self.seed)
        return jnp.asarray(self.scale * random.standard_normal((self.features // 2, inputs)))


def embed_space(domain: Domain, coordinates: Coordinates, scaled: bool) -> Array | Series:
    """The space coordinates as one vector; a periodic axis becomes (cos, sin) of its angle."""
    parts = [embed_axis(domain, axis, coordinates[axis], scaled) for axis in domain.space]
    return concatenate([entry for entries in parts for entry in entries])


def embed_axis(
    domain: Domain, axis: str, value: Array | Series, scaled: bool
) -> list[Array | Series]:
    """A network's input for one coordinate: (cos, sin) of its angle if periodic, else itself."""
    if axis in domain.periodic:
        lower, upper = domain.interval(axis)
        angle = value * (2 * pi / (upper - lower))
        return [cosine(angle), sine(angle)]
    return [scale(domain, axis, value) if scaled else value]


def embedded_width(domain: Domain) -> int:
    """The length of `embed_space`'s vector."""
    return sum(embedded_widths(domain))


def embedded_widths(domain: Domain) -> tuple[int, ...]:
    """How many entries of `embed_space`'s vector each space axis has."""
    return tuple(2 if axis in domain.periodic else 1 for axis in domain.space)


def scale(domain: Domain, axis: str, value: Array | Series) -> Array | Series:
    """The coordinate mapped from its interval to [-1, 1]."""
    lower, upper = domain.interval(axis)
    return value * (2 / (upper - lower)) - (upper + lower) / (upper - lower)
