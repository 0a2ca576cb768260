"""Scaled damping: its metric, and how plain and scaled damping take turns."""

import jax.numpy as jnp
import numpy as np
import pytest

from tinns.optim.lm import ColumnScaling

pytestmark = pytest.mark.usefixtures("float64")


@pytest.fixture
def gram():
    return jnp.diag(jnp.array([4.0, 1.0, 0.25]))


def test_the_metric_is_that_of_the_columns_with_mean_one(gram):
    rule = ColumnScaling()
    off = rule.init()
    np.testing.assert_array_equal(rule.metric(off, gram), np.ones(3))
    on = rule.metric(off._replace(on=jnp.asarray(True)), gram)
    np.testing.assert_allclose(on, np.array([4.0, 1.0, 0.25]) / 1.75, rtol=1e-14)


def test_short_columns_are_lifted_to_the_floor():
    rule = ColumnScaling(smallest=0.1)
    metric = rule.metric(rule.init()._replace(on=jnp.asarray(True)), jnp.diag(jnp.array([1, 1e-9])))
    assert metric[1] / metric[0] == pytest.approx(0.01)


def trace(rule, gram, gains, iterations):
    """Which damping was on at each iteration, where plain and scaled gain so much a step."""
    state, mu, seen = rule.init(), jnp.asarray(1.0), []
    for _ in range(iterations):
        seen.append(bool(state.on))
        mu, state = rule.update(state, mu, gram, jnp.asarray(gains[int(state.on)]))
    return np.array(seen), float(mu)


def test_the_damping_that_gains_more_is_kept_between_comparisons(gram):
    rule = ColumnScaling(stretch=2, period=5)
    better, _ = trace(rule, gram, (0.1, 0.2), 60)
    worse, _ = trace(rule, gram, (0.2, 0.1), 60)
    assert not better[:10].any()  # plain damping until the first comparison
    assert better[10:].mean() > 0.8
    assert 0 < worse.mean() < 0.2  # tried now and then, never kept


def test_the_damping_is_converted_there_and_back(gram):
    rule = ColumnScaling(stretch=1, period=2)
    seen, mu = trace(rule, gram, (0.2, 0.1), 4)
    assert seen.tolist() == [False, False, True, False]
    assert mu == pytest.approx(1 / np.exp(np.mean(np.log(np.array([4.0, 1.0, 0.25]) / 1.75))))
    assert trace(rule, gram, (0.2, 0.1), 5)[1] == pytest.approx(1.0)
