"""First-order and quasi-Newton steps on rows."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

from tinns import LBFGS, Adam, Uniform, UserError
from tinns.least_squares import Layout
from tinns.least_squares.rows import Block, losses
from tinns.optimizers import warmup_exponential_decay
from tinns.residuals import assemble

pytestmark = pytest.mark.usefixtures("float64")


def test_the_schedule_rises_linearly_and_then_decays():
    schedule = warmup_exponential_decay(peak=2e-3, rate=0.5, warmup=100, steps=40)
    k = np.arange(0, 400, 7)
    expected = np.where(k < 100, 2e-3 * k / 100, 2e-3 * 0.5 ** ((k - 100) / 40))
    np.testing.assert_allclose(schedule(jnp.asarray(k)), expected, rtol=1e-13)


def test_the_schedule_is_continuous_at_its_peak():
    schedule = warmup_exponential_decay(peak=2e-3, rate=0.5, warmup=100, steps=40)
    assert schedule(100) == 2e-3
    assert schedule(99.999) == pytest.approx(2e-3, rel=1e-4)


def test_without_warm_up_the_schedule_starts_at_its_peak():
    assert warmup_exponential_decay(1e-3, 0.9, 0, 10)(0) == 1e-3


def test_adam_is_that_of_optax(heat, small_field, few_points):
    system = assemble(heat, small_field)
    psi = system.init(jax.random.key(0))
    data = system.draw(jax.random.key(1), few_points, Uniform())
    ours = Adam(1e-2, 0.9, warmup=2, decay_steps=5)
    theirs = optax.adam(warmup_exponential_decay(1e-2, 0.9, 2, 5))

    @jax.jit
    def expected_step(p, state):
        slope = jax.grad(lambda q: jnp.sum(losses(system.blocks, q, data, Layout())))(p)
        updates, state = theirs.update(slope, state)
        return optax.apply_updates(p, updates), state

    step = jax.jit(lambda p, s: ours.step(system.blocks, p, data, s, Layout()))
    p, q = psi, psi
    our_state, their_state = ours.init(psi), theirs.init(psi)
    for k in range(5):
        p, our_state, report = step(p, our_state)
        q, their_state = expected_step(q, their_state)
        assert report["learning_rate"] == warmup_exponential_decay(1e-2, 0.9, 2, 5)(k)
    np.testing.assert_allclose(ravel_pytree(p)[0], ravel_pytree(q)[0], rtol=1e-10, atol=1e-12)
    assert not np.allclose(ravel_pytree(p)[0], ravel_pytree(psi)[0])


def test_lbfgs_minimises_a_quadratic():
    scales = jnp.asarray([1.0, 3.0, 10.0, 30.0])
    target = jnp.asarray([1.0, -2.0, 3.0, -4.0])
    block = Block("bowl", ("a", "b", "c", "d"), lambda psi, datum: scales * (psi - target))
    data = [{"s": jnp.zeros(1)}]
    optimizer = LBFGS(memory=10)
    step = jax.jit(lambda p, s: optimizer.step([block], p, data, s, Layout(10)))
    psi, state = jnp.zeros(4), optimizer.init(jnp.zeros(4))
    for _ in range(25):
        psi, state, report = step(psi, state)
    assert report["loss"] < 1e-10
    np.testing.assert_allclose(psi, target, atol=1e-5)


@pytest.mark.parametrize(
    "settings", [{"learning_rate": 0.0}, {"decay_rate": 1.5}, {"decay_steps": 0}]
)
def test_impossible_adam_settings_are_refused(settings):
    with pytest.raises(UserError, match=next(iter(settings))):
        Adam(**settings)
