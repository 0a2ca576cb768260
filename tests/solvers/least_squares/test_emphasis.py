"""Weights between points: by hand, and as derivatives say."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import (
    MLP,
    Adam,
    Causal,
    Counts,
    Difficulty,
    Recipe,
    SeparableField,
    TensorGrid,
    UserError,
)
from tinns.geometry import Batch
from tinns.objective import Block, Objective, assemble
from tinns.solvers.least_squares.emphasis import emphasised

pytestmark = pytest.mark.usefixtures("float64")


@pytest.fixture(scope="module")
def timed():
    """Rows psi * value at given times."""
    return Block("interior", ("equation",), lambda psi, datum: jnp.array([psi * datum["value"]]))


def test_causal_weights_by_hand(timed):
    # In order of time: values 1, 2 | 3, 0 | 1, 1, with mean squares 2.5, 4.5, 1.
    times, values = [0.5, 0.1, 0.9, 0.2, 0.8, 0.6], [3.0, 1, 1, 2, 1, 0]
    data = Batch({"t": jnp.array(times), "value": jnp.array(values)})
    rows = timed.all_rows(1.0, data)
    weights = Causal(0.3, 3).weights(0.0, timed, 1.0, data, rows)
    second, third = np.exp(-0.3 * 2.5), np.exp(-0.3 * 7.0)
    np.testing.assert_allclose(weights[:, 0], [second, 1, third, 1, third, second], rtol=1e-14)


def test_causal_weights_are_constants_of_the_gradient(timed):
    data = Batch({"t": jnp.linspace(0, 1, 8), "value": jnp.arange(8.0)})
    rule = partial(Causal(0.1, 4).weights, 0.0)
    weighted = replace(timed, emphasis=rule)
    loss, gradient, _ = Objective((weighted,), (data,)).loss_and_gradient(0.7)
    weights = rule(timed, 0.7, data, timed.all_rows(0.7, data))
    np.testing.assert_allclose(loss, np.mean(weights[:, 0] * (0.7 * data["value"]) ** 2))
    np.testing.assert_allclose(gradient, np.mean(weights[:, 0] * 2 * 0.7 * data["value"] ** 2))


def test_all_times_count_alike_where_the_equation_holds(timed):
    data = Batch({"t": jnp.linspace(0, 1, 7), "value": jnp.zeros(7)})
    weights = Causal(1e3, 3).weights(0.0, timed, 1.0, data, timed.all_rows(1.0, data))
    np.testing.assert_array_equal(weights, np.ones((7, 1)))


def test_only_the_equation_is_weighed(heat, small_field):
    system = assemble(heat, small_field)
    weighed = emphasised(system, Causal(), 0.0)
    assert [block.emphasis is not None for block in weighed] == [True, False, False]


@pytest.mark.parametrize("spent", [0.0, 0.25, 1.0])
def test_difficulty_is_the_slope_of_the_loss_along_the_axes(heat, spent):
    grid = TensorGrid(4)
    system = assemble(heat, SeparableField(MLP((5, 5)), rank=2), sampler=grid)
    psi = system.init(jax.random.key(3))
    block, axes = system.blocks[0], system.draw(jax.random.key(4), Counts(1, 1, 1), grid)[0]
    weights = Difficulty(0.1).weights(spent, block, psi, axes, block.all_rows(psi, axes))

    def loss(points):
        return float(Objective((block,), (points,)).losses(psi)[0])

    slopes = {axis: np.zeros(4) for axis in axes.coordinates}
    for axis, column in axes.coordinates.items():
        for n in range(4):
            moved = [axes.at(**{axis: column.at[n].add(h)}) for h in (1e-5, -1e-5)]
            slopes[axis][n] = (loss(moved[0]) - loss(moved[1])) / 2e-5
    lengths = np.sqrt(slopes["x"][:, None] ** 2 + slopes["t"][None, :] ** 2).reshape(-1)
    scaled = (lengths - lengths.min()) / (lengths.max() - lengths.min())
    expected = 1 - spent - 0.1 * (1 - 2 * spent) * scaled
    np.testing.assert_allclose(weights[:, 0], expected, atol=1e-7)


@pytest.mark.parametrize(
    "settings", [{"tolerance": 0.0}, {"chunks": 0}, {"chunks": 2.5}, {"tolerance": -1.0}]
)
def test_impossible_causal_settings_are_refused(settings):
    with pytest.raises(UserError, match=next(iter(settings))):
        Causal(**settings)


def test_what_an_emphasis_needs_is_told():
    with pytest.raises(UserError, match="strength"):
        Difficulty(2.0)
    with pytest.raises(UserError, match="TensorGrid"):
        Recipe(optimizer=Adam(), emphasis=Difficulty())
    with pytest.raises(UserError, match=r"Causal.*AcceleratedLM"):
        Recipe(emphasis=Causal())
