"""Adam on rows: its steps, and its schedule."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

from tinns import Adam, Schedule, Uniform, UserError
from tinns.geometry import Batch
from tinns.objective import Block, Objective, assemble
from tinns.optim import Clock

pytestmark = pytest.mark.usefixtures("float64")


def test_adam_is_that_of_optax(heat, small_field, few_points):
    system = assemble(heat, small_field)
    psi = system.init(jax.random.key(0))
    data = system.draw(jax.random.key(1), few_points, Uniform())
    objective = Objective(system.blocks, data)
    ours = Adam(1e-2, 0.9, warmup=2, decay_steps=5, b1=0.8, b2=0.99, epsilon=1e-6)
    rate = Schedule(1e-2, 0.9, warmup=2, decay_steps=5)
    theirs = optax.adam(rate, b1=0.8, b2=0.99, eps=1e-6)

    @jax.jit
    def expected_step(p, state):
        slope = jax.grad(lambda q: jnp.sum(objective.losses(q)))(p)
        updates, state = theirs.update(slope, state)
        return optax.apply_updates(p, updates), state

    step = jax.jit(lambda p, s: ours.step(objective, p, s))
    p, q = psi, psi
    our_state, their_state = ours.init(psi), theirs.init(psi)
    for k in range(5):
        p, our_state, report = step(p, our_state)
        q, their_state = expected_step(q, their_state)
        assert report.columns["learning_rate"] == rate(k)
    np.testing.assert_allclose(ravel_pytree(p)[0], ravel_pytree(q)[0], rtol=1e-10, atol=1e-12)
    assert not np.allclose(ravel_pytree(p)[0], ravel_pytree(psi)[0])


def test_a_stretched_adam_follows_the_budget_in_one_program():
    block = Block("bowl", ("a",), lambda psi, datum: psi - 1.0)
    objective = Objective((block,), (Batch({"s": jnp.zeros(1)}),))
    optimizer = Adam(1e-2, 0.5, warmup=100, decay_steps=300, over=1000)
    step = jax.jit(lambda p, s, spent: optimizer.step(objective, p, s, Clock(spent)))
    psi, state = jnp.zeros(1), optimizer.init(jnp.zeros(1))
    for spent, expected in ((0.0, 0.0), (0.05, 5e-3), (0.1, 1e-2), (0.4, 5e-3), (1.0, 1.25e-3)):
        after, state, report = step(psi, state, spent)
        assert report.columns["learning_rate"] == pytest.approx(expected, rel=1e-12)
        # All gradients so far point one way: Adam moves by the learning rate, roughly.
        assert jnp.abs(after - psi)[0] == pytest.approx(expected, rel=1e-2)
        assert report.step_norm == pytest.approx(float(jnp.abs(after - psi)[0]), rel=1e-12)
        psi = after
    assert step._cache_size() == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"learning_rate": 0.0},
        {"decay_rate": 1.5},
        {"decay_steps": 0},
        {"over": -1},
        {"b1": 1.0},
        {"b2": -0.1},
        {"epsilon": 0.0},
    ],
    ids=repr,
)
def test_impossible_adam_settings_are_refused(settings):
    with pytest.raises(UserError, match=next(iter(settings))):
        Adam(**settings)
