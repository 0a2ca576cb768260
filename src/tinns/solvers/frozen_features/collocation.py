"""Where the equation is collocated, and which features are drawn there.

Points are denser where the initial value is steep, and weights compensate for it: weighted sums are
means over the box. A least-squares projection in that norm inherits the stability of the equation;
with rows of equal weight it need not.
"""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from scipy.spatial import KDTree

from tinns._runtime.errors import UserError
from tinns.geometry import TIME, Coordinates, Counts, Domain, Initial, QuasiRandom
from tinns.nn import RandomFeatures
from tinns.nn.embeddings import embed_space
from tinns.solvers.frozen_features.options import FrozenFeatures

CANDIDATES = 256  # for each point
PAIRS = 40  # candidates for each feature
NEIGHBOURS = 8  # a feature rises over more points than these, or the points would miss it

Targets = Callable[[Coordinates], jax.Array]  # the initial values at one point, one after the other


@dataclass(frozen=True)
class Collocation:
    """Points of space, the share of the box that each represents, and the initial values there."""

    points: dict[str, np.ndarray]
    shares: np.ndarray
    targets: np.ndarray


def collocation(
    settings: FrozenFeatures, count: int, domain: Domain, targets: Targets, key: jax.Array
) -> Collocation:
    """`count` points, a share of them with a density proportional to the initial slope."""
    total = CANDIDATES * count

    def candidates(key: jax.Array) -> tuple[Coordinates, jax.Array, jax.Array]:
        pool = Initial().draw(key, domain, Counts(0, total), QuasiRandom()).coordinates
        return pool, *_with_slopes(targets, domain, pool)

    pool, values, slopes = jax.tree.map(np.asarray, jax.jit(candidates)(key))
    good = np.isfinite(values).all(axis=1) & np.isfinite(slopes)
    if good.mean() < 0.9:
        where = {axis: float(pool[axis][np.argmin(good)]) for axis in domain.space}
        raise UserError(
            f"separation: the initial value is not finite at {where} and elsewhere; it must be "
            "finite almost everywhere"
        )
    good &= slopes <= settings.steepest * slopes[good].mean()
    density = np.where(good, 1 - settings.focus, 0.0)
    if slopes[good].mean() > 0:
        density += np.where(good, settings.focus * slopes / slopes[good].mean(), 0.0)
    else:
        density += np.where(good, settings.focus, 0.0)
    # Along the first axis, evenly spaced steps of the cumulated density: random in other axes,
    # well spread in one dimension.
    order = np.argsort(pool[domain.space[0]])
    cumulated = np.cumsum(density[order])
    steps = (np.arange(count) + 0.5) / count * cumulated[-1]
    chosen = np.unique(order[np.searchsorted(cumulated, steps)])
    shares = 1 / density[chosen]
    return Collocation(
        {axis: column[chosen] for axis, column in pool.items()},
        shares / shares.sum(),
        values[chosen],
    )


def draw_hidden(
    field: RandomFeatures, domain: Domain, places: Collocation, seed: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Weights and biases of the features, of shapes (width, inputs) and (width,)."""
    random = np.random.default_rng(seed)
    x = np.asarray(jax.jit(jax.vmap(lambda p: embed_space(domain, p, scaled=True)))(places.points))
    if field.kind == "elm":
        weights = random.normal(0, field.scale, (field.width, x.shape[1]))
        return weights, field.scale * random.uniform(-np.pi, np.pi, field.width)
    first, second = _pairs(x, places.targets, field.width, random)
    step = x[second] - x[first]
    weights = np.log(3.0) * field.scale * step / np.sum(step**2, axis=1, keepdims=True)
    # A chord of a circle is perpendicular to the radius through its middle: centred there, all
    # features of a periodic axis would be odd functions. They are centred anywhere on the chord.
    share = random.uniform(size=(field.width, 1)) if domain.periodic else 0.5
    return weights, -np.sum(weights * (x[first] + share * step), axis=1)


def _pairs(
    x: np.ndarray, values: np.ndarray, width: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of points drawn with probability ∝ |Δu0| / |Δx| (SWIM); evenly if u0 is constant."""
    count = len(x)
    first = random.integers(0, count, PAIRS * width)
    second = (first + random.integers(1, count, PAIRS * width)) % count
    distance = np.linalg.norm(x[second] - x[first], axis=1)
    nearest = KDTree(x).query(x, k=min(NEIGHBOURS, count - 1) + 1)[0][:, -1]
    chance = np.abs(values[second] - values[first]).max(axis=1) / np.maximum(distance, 1e-10)
    far = distance >= np.maximum(nearest[first], nearest[second])
    chance = np.where(far, chance if (chance * far).max() > 0 else 1.0, 0.0)
    if np.count_nonzero(chance) < width:
        raise UserError(
            f"separation: {count} points are too few for {width} features; give FrozenFeatures "
            "more points, or RandomFeatures a smaller width"
        )
    chosen = random.choice(len(chance), width, replace=False, p=chance / chance.sum())
    return first[chosen], second[chosen]


def _with_slopes(
    targets: Targets, domain: Domain, pool: Coordinates
) -> tuple[jax.Array, jax.Array]:
    """The targets at all points, and the size of their gradient on the box scaled to a cube."""
    lengths = {axis: domain.interval(axis)[1] - domain.interval(axis)[0] for axis in domain.space}

    def at(point: Coordinates) -> tuple[jax.Array, jax.Array]:
        def value(space: Coordinates) -> jax.Array:
            return targets(space | {TIME: point[TIME]})

        space = {axis: point[axis] for axis in domain.space}
        gradient = jax.jacfwd(value)(space)
        squares = sum(jnp.sum((gradient[a] * lengths[a]) ** 2) for a in domain.space)
        return value(space), jnp.sqrt(squares)

    return jax.vmap(at)(pool)
