import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import Box, Counts, QuasiRandom, Uniform, UserError
from tinns.geometry import Boundary, Initial, Interior, LowerFace, Observations

BOX = Box(x=(-1, 3), y=(10, 11), t=(2, 5))
COUNTS = Counts(64, 32, 24)
KEY = jax.random.key(0)


@pytest.mark.parametrize("sampler", [Uniform(), QuasiRandom()], ids=["uniform", "quasi-random"])
@pytest.mark.parametrize(
    ("region", "count"),
    [(Interior(), 64), (Initial(), 32), (Boundary(), 24), (LowerFace("y"), 12)],
    ids=lambda value: getattr(value, "name", value),
)
def test_points_lie_in_the_box_and_fill_it(region, count, sampler):
    points = jax.jit(lambda key: region.draw(key, BOX, COUNTS, sampler))(KEY)
    assert all(column.shape == (count,) for column in points.coordinates.values())
    for axis in BOX.axes:
        lower, upper = BOX.interval(axis)
        assert lower <= points[axis].min() <= points[axis].max() <= upper
    assert np.ptp(points["x"]) > 2
    assert not np.allclose(points["x"], region.draw(jax.random.key(1), BOX, COUNTS, sampler)["x"])


def test_initial_points_are_at_the_initial_time():
    assert set(Initial().draw(KEY, BOX, COUNTS, Uniform())["t"].tolist()) == {2.0}


def test_boundary_points_lie_on_their_faces_with_outward_normals():
    points = Boundary().draw(KEY, BOX, COUNTS, Uniform())
    ends = {"x": {-1: -1, 1: 3}, "y": {-1: 10, 1: 11}}
    for axis, other in (("x", "y"), ("y", "x")):
        normal = points.normals[axis]
        for outward, value in ends[axis].items():
            on_face = normal == outward
            assert on_face.sum() == 6
            assert (points[axis][on_face] == value).all()
            assert (points.normals[other][on_face] == 0).all()


def test_named_faces_get_the_share_they_have_of_the_whole_boundary():
    points = Boundary(("y+",)).draw(KEY, BOX, COUNTS, Uniform())
    assert points["y"].tolist() == [11.0] * 6
    assert (points.normals["y"] == 1).all()


def test_a_boundary_without_faces_is_an_error():
    with pytest.raises(UserError, match="periodic"):
        Boundary().draw(KEY, Box(x=(0, 1), t=(0, 1), periodic="x"), COUNTS, Uniform())


def test_observations_are_never_redrawn():
    given = {axis: np.array([0.1, 0.2]) for axis in BOX.axes}
    region = Observations(given | {"u": np.array([3.0, 4.0])})
    for key in (KEY, jax.random.key(1)):
        batch = region.draw(key, BOX, COUNTS, Uniform())
        np.testing.assert_allclose(batch["x"], [0.1, 0.2])
        np.testing.assert_allclose(batch.values["u"], [3.0, 4.0])


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_quasi_random_points_integrate_better_than_independent_ones(dimension):
    def mean_of_smooth_function(sampler, key):
        return jnp.prod(1 + 0.5 * jnp.sin(3 * sampler(key, 500, dimension)), axis=1).mean()

    exact = (1 + 0.5 * (1 - np.cos(3)) / 3) ** dimension
    keys = jax.random.split(KEY, 20)
    errors = {
        sampler: np.sqrt(
            np.mean([(mean_of_smooth_function(sampler, key) - exact) ** 2 for key in keys])
        )
        for sampler in (Uniform(), QuasiRandom())
    }
    assert errors[QuasiRandom()] < 0.2 * errors[Uniform()]


@pytest.mark.parametrize("counts", [(-1,), (10, -2), (10, 0, -3)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(UserError, match="expected a whole number"):
        Counts(*counts)
