"""What every Reference promises: shapes, precision, chunks, grids and clear complaints."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns._runtime.errors import UserError
from tinns.problem.reference import CHUNK
from tinns.problems.references import Reference, exact


@pytest.fixture
def wave():
    return exact(lambda x, t: jnp.sin(3 * x - t))


def test_exact_states_its_source_and_accuracy(wave):
    assert isinstance(wave, Reference)
    assert (wave.source, wave.accuracy, wave.grid) == ("closed form", 1e-15, None)


@pytest.mark.parametrize(
    ("x", "t", "shape"),
    [
        (0.3, 0.5, ()),
        (np.zeros(4), 0.5, (4,)),
        (np.zeros((5, 1)), np.zeros(3), (5, 3)),
        (np.zeros((2, CHUNK)), 1.0, (2, CHUNK)),
        (np.zeros(0), 0.5, (0,)),
        ([1, 2], [3, 4], (2,)),
    ],
)
def test_coordinates_broadcast_together(wave, x, t, shape):
    values = wave(x=x, t=t)
    assert isinstance(values, np.ndarray)
    assert values.shape == shape
    assert values.dtype == np.float64


def test_values_are_float64_although_the_caller_is_not(wave):
    assert not jax.config.jax_enable_x64
    x = np.linspace(0, 1, 3 * CHUNK + 17)
    np.testing.assert_allclose(wave(x=x, t=0.25), np.sin(3 * x - 0.25), rtol=0, atol=1e-15)
    assert not jax.config.jax_enable_x64


def test_a_system_adds_a_last_axis():
    pair = exact(lambda x, t: jnp.stack([x + t, x * t]))
    values = pair(x=np.arange(3.0)[:, None], t=np.arange(4.0))
    assert values.shape == (3, 4, 2)
    assert values[2, 3].tolist() == [5, 6]
    assert pair(x=np.zeros(0), t=0.0).shape == (0, 2)


def test_grid_axes_follow_the_keywords():
    mixed = exact(lambda x, y, t: x + 10 * y + 100 * t)
    x, y, t = np.arange(2.0), np.arange(3.0), np.arange(4.0)
    assert mixed.on_grid(x=x, y=y, t=t).shape == (2, 3, 4)
    values = mixed.on_grid(t=t, x=x, y=y)
    assert values.shape == (4, 2, 3)
    assert values[3, 1, 2] == 321


def test_mistakes_are_named(wave):
    with pytest.raises(UserError, match="x, t"):
        wave(x=0.0)
    with pytest.raises(UserError, match="x, t"):
        wave(x=0.0, y=0.0, t=0.0)
    with pytest.raises(UserError, match="coordinate x"):
        wave(x="left", t=0.0)
    with pytest.raises(UserError, match="1-D"):
        wave.on_grid(x=np.zeros((2, 2)), t=np.zeros(2))


@pytest.mark.parametrize("name", ["allen_cahn_reference", "kdv_reference"])
def test_spectral_grids_equal_pointwise_calls(name, request):
    reference = request.getfixturevalue(name)
    # Panel edges, ends and odd times alike.
    x, t = np.linspace(-1, 1, 41), np.array([0.0, 1e-5, 0.25, 0.37123, 0.5, 0.9, 1.0])
    grid = reference.on_grid(x=x, t=t)
    np.testing.assert_allclose(grid, reference(x=x[:, None], t=t), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(reference.on_grid(t=t, x=x), grid.T)


@pytest.mark.parametrize("name", ["allen_cahn_reference", "kdv_reference"])
def test_times_outside_give_nan(name, request):
    reference = request.getfixturevalue(name)
    outside = np.array([-0.1, 1.1])
    assert np.isnan(reference(x=0.2, t=outside)).all()
    assert np.isnan(reference.on_grid(x=np.array([0.2]), t=outside)).all()
