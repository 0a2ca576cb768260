"""Growth of trained fields: the function stays, to round-off, with all its derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import Box
from tinns.nn import (
    MLP,
    Added,
    Constrained,
    Field,
    Hypernetwork,
    Layerwise,
    Linear,
    PirateNet,
    SpaceTime,
    Sum,
    TimeInduced,
    Wider,
    Windowed,
    sine_induced,
)
from tinns.nn.constrained import Exact

LINE = Box(x=(0, 3), t=(0, 2))
RING = Box(x=(-1, 1), y=(0, 2), t=(0, 1), periodic="x")
SMALL = TimeInduced(MLP((5, 4)), Layerwise(MLP((3, 3))))

FIELDS = {
    "time-induced": SMALL,
    "deeper": TimeInduced(MLP((4, 4, 4)), Layerwise(MLP((3,)))),
    "sines": sine_induced((5, 5)),
    "linear": TimeInduced(MLP((5, 4)), Linear()),
    "with an output bias": TimeInduced(MLP((4,), output_bias=True)),
    "space-time": SpaceTime(MLP((5, 4), "sin")),
    "a sum": Sum(SMALL, SpaceTime(MLP((4, 4)))),
    "unscaled": TimeInduced(MLP((5,)), scaled=False, sizes=(2.0, 0.5)),
}
GROWTHS = [Wider(), Wider(2.0), Added(SpaceTime(MLP((6, 6)))), Added(sine_induced((5, 5)))]


def drawn(field: Field, domain: Box, seed: int):
    """Parameters none of which is zero."""
    psi = field.init(jax.random.key(seed), domain, 2)
    leaves, tree = jax.tree.flatten(psi)
    keys = jax.random.split(jax.random.key(seed + 100), len(leaves))
    moved = [
        leaf + 0.3 * jax.random.normal(key, leaf.shape)
        for leaf, key in zip(leaves, keys, strict=True)
    ]
    return jax.tree.unflatten(tree, moved)


def all_derivatives(field: Field, psi, domain: Box) -> np.ndarray:
    """u and its derivatives up to the second at some points, none of which is special."""
    dimensions = len(domain.axes)
    orders = np.ndindex(*(3,) * dimensions)
    indices = [k for k in orders if sum(k) <= 2]
    starts = jnp.array([domain.interval(axis)[0] for axis in domain.axes])
    lengths = jnp.array([domain.interval(axis)[1] for axis in domain.axes]) - starts

    def at(share):
        place = starts + share * lengths
        point = {axis: place[n] for n, axis in enumerate(domain.axes)}
        found = field.derivatives(psi, domain, 2, point, indices)
        return jnp.stack([found[k] for k in indices])

    shares = np.random.default_rng(0).random((7, dimensions))
    return np.asarray(jax.jit(jax.vmap(at))(shares))


def agree(one: np.ndarray, two: np.ndarray) -> None:
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-12 * np.abs(one).max())


@pytest.mark.parametrize("growth", GROWTHS, ids=str)
@pytest.mark.parametrize("name", FIELDS)
def test_the_function_and_its_derivatives_stay(name, growth):
    field = FIELDS[name]
    domain = RING if name == "time-induced" else LINE
    with jax.enable_x64(True):
        psi = drawn(field, domain, 0)
        larger = growth.applied(field)
        grown = growth.continued(psi, larger.init(jax.random.key(9), domain, 2))
        agree(all_derivatives(field, psi, domain), all_derivatives(larger, grown, domain))
        assert sum(map(np.size, jax.tree.leaves(grown))) > sum(map(np.size, jax.tree.leaves(psi)))


@pytest.mark.parametrize("growth", [Wider(), Added(SpaceTime(MLP((3,))))], ids=str)
def test_inside_hard_conditions_and_in_time_windows(growth):
    exact = (Exact(initial=lambda point: point["x"] ** 2), Exact())
    edges = (0.0, 0.7, 2.0)
    with jax.enable_x64(True):
        larger = growth.applied(SMALL)
        psi, fresh = drawn(SMALL, LINE, 1), larger.init(jax.random.key(2), LINE, 2)
        agree(
            all_derivatives(Constrained(SMALL, exact), psi, LINE),
            all_derivatives(Constrained(larger, exact), growth.continued(psi, fresh), LINE),
        )
        parts = [drawn(SMALL, LINE, seed) for seed in (3, 4)]
        grown = [growth.continued(part, fresh) for part in parts]
        agree(
            all_derivatives(Windowed(SMALL, edges), parts, LINE),
            all_derivatives(Windowed(larger, edges), grown, LINE),
        )


@pytest.mark.parametrize("growth", [Wider(), Added(sine_induced((3,)))], ids=str)
def test_what_was_added_can_learn(growth):
    """Every new output weight changes u, although it starts as zero."""
    with jax.enable_x64(True):
        larger = growth.applied(SMALL)
        psi = growth.continued(drawn(SMALL, LINE, 0), larger.init(jax.random.key(1), LINE, 2))

        def value(psi):
            point = {"x": jnp.asarray(0.7), "t": jnp.asarray(1.1)}
            return jnp.sum(larger.derivatives(psi, LINE, 2, point, [(0, 0)])[0, 0])

        weights = larger.second if isinstance(larger, Sum) else larger
        slope = jax.jit(jax.grad(value))(psi)
        own = slope[1] if isinstance(larger, Sum) else slope
        assert np.all(np.asarray(weights.output_weights(own)) != 0)


def test_a_window_continues_the_one_before():
    field = Sum(SMALL, TimeInduced(MLP((3,)), Linear()))
    with jax.enable_x64(True):
        psi = drawn(field, LINE, 5)
        later = field.advanced(psi, LINE)
        ends, starts = (
            field.derivatives(
                p, LINE, 2, {"x": jnp.asarray(1.3), "t": jnp.asarray(t)}, [(0, 0), (2, 0)]
            )
            for p, t in ((psi, LINE.end), (later, LINE.start))
        )
    for index in ((0, 0), (2, 0)):
        agree(np.asarray(ends[index]), np.asarray(starts[index]))


def test_what_cannot_grow_is_refused():
    for field in (TimeInduced(PirateNet(4, 1)), TimeInduced(trajectory=Hypernetwork())):
        with pytest.raises(tinns.UserError, match="cannot grow"):
            Wider().applied(field)
    with pytest.raises(tinns.UserError, match="factor=1"):
        Wider(1)
    with pytest.raises(tinns.UserError, match="start as zero"):
        Sum(SMALL, Windowed(SMALL, (0.0, 1.0, 2.0)))
