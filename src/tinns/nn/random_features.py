"""Frozen random features of space with coefficients that move in time (space-time separation)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import factorial, pi
from typing import ClassVar, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.polynomial import chebyshev

from tinns._runtime.errors import UserError
from tinns.geometry import TIME, Domain, MultiIndex
from tinns.nn.activations import activation
from tinns.nn.embeddings import Coordinates, embed_space, embedded_width
from tinns.nn.fields import Derivatives
from tinns.nn.series import Series, closure

DEGREE = 10  # of the polynomials in time


@dataclass(frozen=True)
class RandomFeatures:
    """u(x, t) = Σ_j c_j(t) tanh(w_j·x + b_j) + c_0(t), with w and b drawn once and then frozen.

    x is scaled to [-1, 1] (a periodic axis becomes cosine and sine). `kind` says how w and b are
    drawn: "elm" w ~ N(0, scale²), b ~ U(-π, π)·scale; "swim" from pairs of points between which the
    initial value varies, each feature rising from -½ to ½ from one to the other (steeper for a
    larger `scale`). c(t) is a polynomial of t on each of `panels` panels.
    """

    width: int = 400
    kind: Literal["swim", "elm"] = "swim"
    scale: float = 1.0
    panels: int = 1  # found with the coefficients: a solution has as many as it needs
    frozen: ClassVar[bool] = True  # nothing here is trained

    def __post_init__(self) -> None:
        for name in ("width", "panels"):
            count = getattr(self, name)
            if not isinstance(count, int) or count < 1:
                raise UserError(f"RandomFeatures: {name}={count!r}; expected a whole number >= 1")
        if self.kind not in ("swim", "elm"):
            raise UserError(f"RandomFeatures: kind={self.kind!r}; expected swim or elm")
        if not (isinstance(self.scale, int | float) and self.scale > 0):
            raise UserError(f"RandomFeatures: scale={self.scale!r}; expected a number > 0")

    def init(self, key: Array, domain: Domain, outputs: int) -> dict[str, Array]:
        """Gaussian weights and a zero path, with the shapes that a march fills."""
        weight_key, bias_key = jax.random.split(key)
        inputs = embedded_width(domain)
        biases = jax.random.uniform(bias_key, (self.width,), minval=-pi, maxval=pi)
        return {
            "weights": self.scale * jax.random.normal(weight_key, (self.width, inputs)),
            "biases": self.scale * biases,
            "edges": jnp.linspace(*domain.interval(TIME), self.panels + 1),
            "path": jnp.zeros((DEGREE + 1, self.panels, self.width + 1, outputs)),
        }

    def features(
        self,
        psi: dict[str, Array],
        domain: Domain,
        point: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        """∂^k of all features at a point, each of shape (width + 1,); the last feature is 1."""
        wanted = tuple(indices)
        series = _features(psi, domain, point, closure(wanted))
        return {k: series.derivative(k) for k in wanted}

    def aligned(
        self, psis: list[dict[str, Array]]
    ) -> tuple["RandomFeatures", list[dict[str, Array]]]:
        """The field with the largest number of panels, and the same paths on that many panels."""
        panels = max(len(psi["edges"]) for psi in psis) - 1
        return replace(self, panels=panels), [_divided(psi, panels) for psi in psis]

    def derivatives(
        self,
        psi: dict[str, Array],
        domain: Domain,
        outputs: int,
        point: dict[str, Array],
        indices: Iterable[MultiIndex],
    ) -> Derivatives:
        wanted = tuple(indices)
        orders = range(max(k[-1] for k in wanted) + 1)
        in_space = tuple({(*k[:-1], 0): None for k in wanted})
        features = self.features(psi, domain, point, in_space)
        stacked = jnp.stack([features[k] for k in in_space])
        panel, polynomials = _chebyshev(psi["edges"], jnp.asarray(point[TIME]), len(orders))

        # One degree after the other: the coefficients of all degrees at once, for each of many
        # points, would be the largest array by far.
        def add(sums: Array, degree: tuple[Array, Array]) -> tuple[Array, None]:
            coefficients, polynomial = degree
            return sums + polynomial[:, None, None] * (stacked @ coefficients[panel]), None

        start = jnp.zeros((len(orders), len(in_space), outputs), stacked.dtype)
        sums, _ = jax.lax.scan(add, start, (psi["path"], polynomials))
        return {k: sums[k[-1], in_space.index((*k[:-1], 0))] for k in wanted}


def constant_path(psi: dict[str, Array], coefficients: Array) -> dict[str, Array]:
    """ψ with one panel on which the coefficients, of shape (width + 1, outputs), are constant."""
    path = jnp.zeros((DEGREE + 1, 1, *coefficients.shape), coefficients.dtype)
    edges = psi["edges"][jnp.array([0, -1])]
    return psi | {"edges": edges, "path": path.at[0, 0].set(coefficients)}


def _divided(psi: dict[str, Array], panels: int) -> dict[str, Array]:
    """The same path on `panels` panels: the last one is halved, which keeps polynomials exact."""
    edges, path = np.asarray(psi["edges"]), np.asarray(psi["path"])
    nodes = chebyshev.chebpts1(DEGREE + 1)
    values = chebyshev.chebvander(nodes, DEGREE)
    left, right = (
        np.linalg.solve(values, chebyshev.chebvander((nodes + side) / 2, DEGREE))
        for side in (-1, 1)
    )
    while len(edges) - 1 < panels:
        middle = (edges[-2] + edges[-1]) / 2
        edges = np.concatenate([edges[:-1], [middle], edges[-1:]])
        halves = [np.tensordot(half, path[:, -1:], 1) for half in (left, right)]
        path = np.concatenate([path[:, :-1], *halves], axis=1)
    return psi | {"edges": jnp.asarray(edges), "path": jnp.asarray(path)}


def _features(
    psi: dict[str, Array],
    domain: Domain,
    point: dict[str, Array],
    basis: tuple[MultiIndex, ...],
) -> Series:
    variables: Coordinates = {
        axis: Series.variable(point[axis], number, basis)
        for number, axis in enumerate(domain.axes)
        if axis != TIME
    }
    series = psi["weights"] @ embed_space(domain, variables, scaled=True) + psi["biases"]
    waves = activation("tanh")(series)
    zero = basis[0]
    return Series(
        {k: jnp.append(c, 1.0 if k == zero else 0.0) for k, c in waves.terms.items()}, basis
    )


def _chebyshev(edges: Array, t: Array, orders: int) -> tuple[Array, Array]:
    """The panel that holds t, and ∂_t^n T_k there for n < orders, of shape (degree + 1, orders)."""
    panel = jnp.clip(jnp.searchsorted(edges, t, side="right") - 1, 0, edges.size - 2)
    lower, upper = edges[panel], edges[panel + 1]
    basis = tuple((n,) for n in range(orders))
    tau = Series.variable(t - lower, 0, basis) * (2 / (upper - lower)) - 1
    rows = [Series({(0,): jnp.ones_like(t)}, basis), tau]
    for _ in range(DEGREE - 1):
        rows.append(2 * (tau * rows[-1]) - rows[-2])
    zero = jnp.zeros_like(t)
    return panel, jnp.stack(
        [
            jnp.stack([factorial(n) * row.terms.get((n,), zero) for n in range(orders)])
            for row in rows
        ]
    )
