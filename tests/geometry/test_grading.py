"""Points that crowd towards edges: their density, and means that do not depend on it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import Box, Counts, QuasiRandom, Uniform
from tinns.geometry import (
    Batch,
    Boundary,
    Edge,
    HasEdges,
    Initial,
    Interior,
    LowerFace,
    Observations,
    graded,
)

pytestmark = pytest.mark.usefixtures("float64")

BOX = Box(x=(-1, 3), y=(10, 11), t=(2, 5), periodic="y")
KEY = jax.random.key(3)
START, LOWER, UPPER = Edge("t", 2.0, 3.0), Edge("x", -1.0, 4.0), Edge("x", 3.0, -4.0)


def crowded(region, counts, sampler):
    return graded(region.draw(KEY, BOX, counts, sampler), region.edges(BOX))


def test_regions_name_the_edges_where_layers_can_be():
    assert Interior().edges(BOX) == (START, LOWER, UPPER)
    assert Initial().edges(BOX) == (LOWER, UPPER)
    assert Initial((("x", (0.0, 1.0)),)).edges(BOX) == ()
    assert Boundary().edges(BOX) == LowerFace("x").edges(BOX) == (START,)
    observed = Observations({"x": np.zeros(1), "y": np.full(1, 10.0), "t": np.full(1, 2.0)})
    assert not isinstance(observed, HasEdges)


def test_every_decade_towards_an_edge_has_as_many_points():
    """Of 60000 points every second one is moved, and every third of these to the same edge."""
    points = crowded(Interior(), Counts(60_000), Uniform())
    for number, edge in enumerate(Interior().edges(BOX)):
        moved = np.arange(60_000)
        moved = (moved % 2 == 1) & ((moved // 2) % 3 == number)
        share = np.asarray(edge.share(points[edge.axis]))[moved]
        decades = np.histogram(np.log10(share), bins=np.arange(-6.0, 0.5))[0]
        np.testing.assert_allclose(decades, 10_000 / 6, rtol=0.1)


@pytest.mark.parametrize("region", [Interior(), Initial(), Boundary(("x-",))])
def test_points_stay_in_the_box_and_weights_are_bounded(region):
    points = crowded(region, Counts(4096, 1024, 1024), QuasiRandom())
    assert BOX.contains({axis: np.asarray(c) for axis, c in points.coordinates.items()}).all()
    assert 0 < float(jnp.min(points.weight)) < 1 < float(jnp.max(points.weight)) <= np.sqrt(2)


def test_weighted_means_are_those_over_the_region():
    """The mean of x²(t - 2) over x from -1 to 3 and t from 2 to 5 is 7/3 · 3/2."""
    points = crowded(Interior(), Counts(1 << 17), QuasiRandom())
    mean = jnp.mean(points.weight**2 * points["x"] ** 2 * (points["t"] - 2))
    np.testing.assert_allclose(mean, 7 / 3 * 3 / 2, rtol=3e-3)
    np.testing.assert_allclose(jnp.mean(points.weight**2), 1.0, rtol=3e-3)


def test_a_thin_layer_is_seen():
    """exp(-2 (t - 2)/δ)/δ has the mean 1/6 over three units of time, however small δ is."""

    def layer(points, width):
        return jnp.exp(-2 * (points["t"] - 2) / width) / width

    points = crowded(Interior(), Counts(1 << 13), QuasiRandom())
    uniform = Interior().draw(KEY, BOX, Counts(1 << 13), QuasiRandom())
    for width in (1e-1, 1e-2, 1e-3):
        np.testing.assert_allclose(jnp.mean(points.weight**2 * layer(points, width)), 1 / 6, 0.1)
    close = [int(jnp.sum(p["t"] < 2 + 1e-4)) for p in (uniform, points)]
    assert close[0] <= 1
    assert close[1] > 300


def test_without_edges_all_points_count_alike():
    batch = Batch({"x": jnp.linspace(0, 1, 5)})
    unchanged = graded(batch, ())
    np.testing.assert_array_equal(unchanged["x"], batch["x"])
    np.testing.assert_array_equal(unchanged.weight, 1.0)
