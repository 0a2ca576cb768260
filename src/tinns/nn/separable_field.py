"""Separable networks: sums of products of one network per axis, cheap on tensor grids [SPINN]."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import jax
import jax.numpy as jnp
from jax import Array

from tinns._runtime.errors import UserError
from tinns.geometry import Domain, MultiIndex
from tinns.nn.backbones import MLP, Backbone, Params, Theta, check_counts
from tinns.nn.embeddings import Coordinates, embed_axis
from tinns.nn.fields import Derivatives, sized, taylor_derivatives
from tinns.nn.separable_mlp import summed_over_rank
from tinns.nn.series import Series, concatenate

AxisFeatures = list[Array]  # by order of the derivative, each of shape (points, outputs, rank)


@dataclass(frozen=True)
class SeparableField:
    """u_o(x, ..., t) = Σ_{j <= rank} f_oj(x) ... g_oj(t), one network for every axis.

    The network of a periodic axis sees its cosine and sine; with `split_periodic` each of the two
    has its own network, and the axis' feature is their product. `scaled` maps the other
    coordinates to [-1, 1] first.
    """

    network: Backbone = MLP((64, 64, 64, 64), output_bias=True, glorot="normal")
    rank: int = 32
    scaled: bool = True
    split_periodic: bool = False
    sizes: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_counts("SeparableField", rank=self.rank)

    def init(self, key: Array, domain: Domain, outputs: int) -> tuple[tuple[Theta, ...], ...]:
        """The parameters of all networks, axis by axis."""
        keys = jax.random.split(key, len(domain.axes))
        return tuple(
            tuple(
                self.network.init(jax.random.fold_in(each, number), width, outputs * self.rank)
                for number, width in enumerate(self._widths(domain, axis))
            )
            for each, axis in zip(keys, domain.axes, strict=True)
        )

    def __call__(
        self, psi: Params, domain: Domain, outputs: int, coordinates: Coordinates
    ) -> Array | Series:
        features = [
            self._feature(thetas, domain, axis, coordinates[axis])
            for thetas, axis in zip(psi, domain.axes, strict=True)
        ]
        product = reduce(lambda product, feature: feature * product, features)
        return sized(summed_over_rank(product, self.rank), self.sizes)

    def with_sizes(self, sizes: tuple[float, ...]) -> "SeparableField":
        return replace(self, sizes=sizes)

    def derivatives(self, psi, domain, outputs, point, indices) -> Derivatives:
        return taylor_derivatives(self, psi, domain, outputs, point, indices)

    def derivatives_on_grid(
        self,
        psi: Params,
        domain: Domain,
        outputs: int,
        axes: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        """∂^k u on the grid of the given points: networks run on axes, products make the grid."""
        wanted = tuple(indices)
        if set(axes) != set(domain.axes):
            raise UserError(
                f"a grid over the axes {', '.join(axes) or 'none'}; expected points for each of "
                f"{', '.join(domain.axes)}"
            )
        highest = [max(orders) for orders in zip(*wanted, strict=True)]
        features = [
            self._on_axis(thetas, domain, axis, jnp.asarray(axes[axis]), order)
            for thetas, axis, order in zip(psi, domain.axes, highest, strict=True)
        ]
        combined = _combined(features, wanted)
        return {k: jnp.asarray(sized(values, self.sizes)) for k, values in combined.items()}

    def _on_axis(
        self, thetas: tuple[Theta, ...], domain: Domain, axis: str, points: Array, order: int
    ) -> AxisFeatures:
        """The features of one axis and their derivatives up to an order, at all its points."""
        basis = tuple((n,) for n in range(order + 1))

        def at(point: Array) -> list[Array]:
            feature = self._feature(thetas, domain, axis, Series.variable(point, 0, basis))
            assert isinstance(feature, Series)
            return [feature.derivative(k).reshape(-1, self.rank) for k in basis]

        return jax.vmap(at)(points)

    def _feature(
        self, thetas: tuple[Theta, ...], domain: Domain, axis: str, value: Array | Series
    ) -> Array | Series:
        """f(x) of shape (outputs * rank,) for one axis."""
        entries = embed_axis(domain, axis, value, self.scaled)
        inputs = [[entry] for entry in entries] if len(thetas) > 1 else [entries]
        return reduce(
            lambda product, factor: product * factor,
            [
                self.network(theta, concatenate(each))
                for theta, each in zip(thetas, inputs, strict=True)
            ],
        )

    def _widths(self, domain: Domain, axis: str) -> tuple[int, ...]:
        """The input widths of an axis' networks."""
        if axis not in domain.periodic:
            return (1,)
        return (1, 1) if self.split_periodic else (2,)


def _combined(features: list[AxisFeatures], wanted: tuple[MultiIndex, ...]) -> Derivatives:
    """Σ_j Π_axes of the features' derivatives, for each wanted multi-index.

    The axes are split into two halves. The products within a half keep the rank and are small, as
    they span half of the axes; one matrix product of the halves sums over the rank and makes the
    grid. So no array of the grid's size times the rank is ever formed.
    """
    middle = (len(features) + 1) // 2
    shape = tuple(axis[0].shape[0] for axis in features)
    outputs = features[0][0].shape[1]
    halves = (slice(None, middle), slice(middle, None))
    first, second = (
        {orders: _within(features[half], orders) for orders in {k[half]: None for k in wanted}}
        for half in halves
    )
    return {
        k: jnp.einsum(
            "aor,bor->abo",
            first[k[:middle]],
            second[k[middle:]],
            precision=jax.lax.Precision.HIGHEST,
        ).reshape(*shape, outputs)
        for k in wanted
    }


def _within(features: list[AxisFeatures], orders: MultiIndex) -> Array:
    """Products over some axes, of shape (points of all of them, outputs, rank)."""
    chosen = [axis[order] for axis, order in zip(features, orders, strict=True)]
    product = chosen[0]
    for other in chosen[1:]:
        product = product[:, None] * other
        product = product.reshape(prod(product.shape[:2]), *product.shape[2:])
    return product
