"""Weights between points: by hand, and as derivatives say."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import MLP, Adam, Causal, Counts, Difficulty, Recipe, Separable, TensorGrid, UserError
from tinns.least_squares import Layout
from tinns.least_squares.rows import Block, loss_and_gradient, losses
from tinns.residuals import assemble
from tinns.sampling import Interior
from tinns.training.emphasis import causal_weights, difficulty_weights, emphasised

pytestmark = pytest.mark.usefixtures("float64")


@pytest.fixture(scope="module")
def timed():
    """Rows psi * value at given times."""
    return Block("interior", ("equation",), lambda psi, datum: jnp.array([psi * datum["value"]]))


def test_causal_weights_by_hand(timed):
    # In order of time: values 1, 2 | 3, 0 | 1, 1, with mean squares 2.5, 4.5, 1.
    data = {
        "t": jnp.array([0.5, 0.1, 0.9, 0.2, 0.8, 0.6]),
        "value": jnp.array([3.0, 1, 1, 2, 1, 0]),
    }
    rows = timed.all_rows(1.0, data)
    weights = causal_weights(Causal(0.3, 3), timed, 1.0, data, rows)
    second, third = np.exp(-0.3 * 2.5), np.exp(-0.3 * 7.0)
    np.testing.assert_allclose(weights[:, 0], [second, 1, third, 1, third, second], rtol=1e-14)


def test_causal_weights_are_constants_of_the_gradient(timed):
    data = {"t": jnp.linspace(0, 1, 8), "value": jnp.arange(8.0)}
    weighed = emphasised([timed], [Interior()], Causal(0.1, 4), 0.0)
    loss, gradient, _ = loss_and_gradient(weighed, 0.7, [data], Layout())
    weights = causal_weights(Causal(0.1, 4), timed, 0.7, data, timed.all_rows(0.7, data))
    np.testing.assert_allclose(loss, np.mean(weights[:, 0] * (0.7 * data["value"]) ** 2))
    np.testing.assert_allclose(gradient, np.mean(weights[:, 0] * 2 * 0.7 * data["value"] ** 2))


def test_all_times_count_alike_where_the_equation_holds(timed):
    data = {"t": jnp.linspace(0, 1, 7), "value": jnp.zeros(7)}
    weights = causal_weights(Causal(1e3, 3), timed, 1.0, data, timed.all_rows(1.0, data))
    np.testing.assert_array_equal(weights, np.ones((7, 1)))


def test_only_the_equation_is_weighed(heat, small_field):
    system = assemble(heat, small_field)
    weighed = emphasised(system.blocks, system.regions, Causal(), 0.0)
    assert [block.emphasis is not None for block in weighed] == [True, False, False]


@pytest.mark.parametrize("spent", [0.0, 0.25, 1.0])
def test_difficulty_is_the_slope_of_the_loss_along_the_axes(heat, spent):
    grid = TensorGrid(4)
    system = assemble(heat, Separable(MLP((5, 5)), rank=2), sampler=grid)
    psi = system.init(jax.random.key(3))
    block, axes = system.blocks[0], system.draw(jax.random.key(4), Counts(1, 1, 1), grid)[0]
    weights = difficulty_weights(
        Difficulty(0.1), spent, block, psi, axes, block.all_rows(psi, axes)
    )

    def loss(points):
        return float(losses([block], psi, [points], Layout())[0])

    slopes = {axis: np.zeros(4) for axis in axes}
    for axis, column in axes.items():
        for n in range(4):
            moved = [axes | {axis: column.at[n].add(h)} for h in (1e-5, -1e-5)]
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
