"""Weights that follow the losses."""

import jax.numpy as jnp
import numpy as np
import pytest

from tinns import UserError
from tinns.least_squares.rows import Block
from tinns.strategies import Balance
from tinns.training.balancing import balanced, reweighted

pytestmark = pytest.mark.usefixtures("float64")


def test_one_step_by_hand():
    factors = balanced(Balance(rate=0.5), jnp.ones(2), jnp.array([1.0, 4.0]))
    raw = np.sqrt(2.5 / np.array([1.0, 4.0]))
    np.testing.assert_allclose(factors, raw / np.sqrt(raw.prod()), rtol=1e-14)


def test_losses_in_proportion_to_their_weights_are_balanced():
    own = jnp.array([1.0, 1e-3, 20.0])  # what each condition's loss is at a weight of one
    factors = jnp.ones(3)
    for _ in range(300):
        factors = balanced(Balance(), factors, factors**2 * own)
    losses = factors**2 * own
    np.testing.assert_allclose(losses, np.full(3, losses.mean()), rtol=1e-3)
    assert jnp.prod(factors) == pytest.approx(1.0)


def test_weights_stay_within_their_limit_whatever_the_losses():
    for split in ([0.0, 1.0], [1e-30, 1e30], [0.0, 0.0]):
        factors = jnp.ones(2)
        for _ in range(500):
            factors = balanced(Balance(limit=10.0), factors, jnp.array(split))
        assert np.isfinite(factors).all()
        assert 0.1 <= factors.min() <= factors.max() <= 10.0


def test_each_kind_of_row_gets_its_own_factor():
    blocks = [
        Block("a", ("one", "two"), lambda psi, d: jnp.array([1.0, 1.0]) * psi),
        Block("b", ("three",), lambda psi, d: jnp.array([1.0]) * psi),
    ]
    first, second = reweighted(blocks, jnp.array([2.0, 3.0, 5.0]))
    assert first.rows(7.0, None).tolist() == [14.0, 21.0]
    assert second.rows(7.0, None).tolist() == [35.0]
    assert first.row_names == ("one", "two")


@pytest.mark.parametrize("settings", [{"rate": 0.0}, {"rate": 1.0}, {"limit": 0.5}])
def test_impossible_settings_are_refused(settings):
    with pytest.raises(UserError, match=next(iter(settings))):
        Balance(**settings)
