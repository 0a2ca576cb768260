"""Quasi-Newton methods as minimisers: L-BFGS and self-scaled Broyden."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize

from tinns import LBFGS, SelfScaledBroyden, UserError
from tinns.geometry import Batch
from tinns.objective import Block, Objective
from tinns.optim import Clock

pytestmark = pytest.mark.usefixtures("float64")

DATA = Batch({"s": jnp.zeros(1)})


def rosenbrock(n):
    """10 (x_{i+1} - x_i²) and 1 - x_i."""
    names = tuple(f"r{i}" for i in range(2 * n - 2))
    return Block(
        "valley", names, lambda x, _: jnp.concatenate([10 * (x[1:] - x[:-1] ** 2), 1 - x[:-1]])
    )


def stepping(optimizer, block):
    @jax.jit
    def step(psi, state, data, changed):
        objective = Objective((block,), (data,))
        psi, state, report = optimizer.step(objective, psi, state, Clock(changed=changed))
        return psi, state, report.as_columns() | {"losses": report.losses}

    return step


def minimised(optimizer, block, psi, steps, forgets=True):
    step = stepping(optimizer, block)
    state, history = optimizer.init(psi, len(block.row_names)), []
    for number in range(steps):
        psi, state, report = step(psi, state, DATA, forgets or number == 0)
        assert float(report["loss"]) == pytest.approx(float(sum(report["losses"])), nan_ok=True)
        history.append(float(report["loss"]))
    assert set(report) == {"loss", "losses", "learning_rate", "step_norm"}
    return psi, history


@pytest.mark.parametrize("optimizer", [SelfScaledBroyden(), LBFGS(memory=10)], ids=repr)
def test_they_minimise_a_quadratic(optimizer):
    scales = jnp.asarray([1.0, 3.0, 10.0, 30.0])
    target = jnp.asarray([1.0, -2.0, 3.0, -4.0])
    block = Block("bowl", ("a", "b", "c", "d"), lambda psi, datum: scales * (psi - target))
    step, psi, state = stepping(optimizer, block), jnp.zeros(4), optimizer.init(jnp.zeros(4), 4)
    for _ in range(25):
        psi, state, report = step(psi, state, DATA, True)
    assert report["loss"] < 1e-10
    assert report["learning_rate"] > 0
    np.testing.assert_allclose(psi, target, atol=1e-5)


@pytest.mark.parametrize(
    "optimizer", [SelfScaledBroyden("broyden"), SelfScaledBroyden("bfgs"), LBFGS()], ids=repr
)
@pytest.mark.parametrize(("n", "steps"), [(2, 50), (10, 110)])
def test_they_walk_down_rosenbrocks_valley(optimizer, n, steps):
    start = jnp.tile(jnp.asarray([-1.2, 1.0]), n // 2)
    psi, history = minimised(optimizer, rosenbrock(n), start, steps)
    assert history[-1] < 1e-20
    np.testing.assert_allclose(psi, np.ones(n), atol=1e-10)
    assert np.all(np.diff(history) <= 1e-6 * np.asarray(history[:-1]))


@pytest.mark.parametrize("optimizer", [SelfScaledBroyden(), LBFGS()], ids=repr)
def test_what_a_line_search_arrived_at_need_not_be_computed_again(optimizer):
    start = jnp.tile(jnp.asarray([-1.2, 1.0]), 2)
    psi, history = minimised(optimizer, rosenbrock(4), start, 20)
    same, remembered = minimised(optimizer, rosenbrock(4), start, 20, forgets=False)
    np.testing.assert_allclose(remembered, history, rtol=1e-6)
    np.testing.assert_allclose(same, psi, rtol=1e-6)


@pytest.mark.parametrize("optimizer", [SelfScaledBroyden(), LBFGS()], ids=repr)
def test_what_is_known_counts_until_points_or_weights_change(optimizer):
    block = Block("bowl", ("r",), lambda psi, datum: psi - datum["s"])
    step, elsewhere = stepping(optimizer, block), Batch({"s": jnp.full(1, 5.0)})
    psi, state, _ = step(jnp.ones(1), optimizer.init(jnp.ones(1)), DATA, True)
    _, _, known = step(psi, state, elsewhere, False)
    _, _, told = step(psi, state, elsewhere, True)
    assert known["loss"] == pytest.approx(float(psi[0]) ** 2)
    assert told["loss"] == pytest.approx((float(psi[0]) - 5) ** 2)


@pytest.mark.parametrize("memory", [5, 50])
def test_lbfgs_takes_about_as_many_steps_as_that_of_scipy(memory):
    start, valley = np.tile([-1.2, 1.0], 10), rosenbrock(20)
    _, ours = minimised(LBFGS(memory), valley, jnp.asarray(start), 150)
    loss = jax.jit(jax.value_and_grad(lambda x: jnp.sum(valley.rows(x, None) ** 2)))
    theirs = []
    scipy.optimize.minimize(
        lambda x: tuple(np.asarray(part) for part in loss(x)),
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxcor": memory, "maxiter": 150, "ftol": 0, "gtol": 0},
        callback=lambda intermediate_result: theirs.append(intermediate_result.fun),
    )
    ours_needs, theirs_needs = (np.argmax(np.asarray(h) < 1e-8) for h in (ours, theirs))
    assert ours_needs > 0
    assert ours_needs <= 1.2 * theirs_needs


@pytest.mark.parametrize("optimizer", [SelfScaledBroyden(), LBFGS()], ids=repr)
def test_a_step_into_nothing_is_not_taken(optimizer):
    # No number right of 0.5, and the way down leads there.
    block = Block("cliff", ("r",), lambda x, _: jnp.where(x < 0.5, 2 - x, jnp.nan))
    psi, history = minimised(optimizer, block, jnp.asarray([0.0]), 12)
    assert np.all(np.isfinite(history))
    assert 0 < psi[0] < 0.5
    lost, history = minimised(optimizer, block, jnp.asarray([0.7]), 3)
    assert lost[0] == 0.7
    assert not np.any(np.isfinite(history))


@pytest.mark.parametrize("optimizer", [SelfScaledBroyden(), LBFGS()], ids=repr)
def test_a_step_along_the_gradient_is_shortened_until_it_fits(optimizer, monkeypatch):
    # The minimum is 1e-11 away, the gradient has length 1 or more, and the slopes are no help.
    block = Block("gorge", ("r",), lambda x, _: 1e6 * jnp.tanh(1e3 * x) * (1 + 1e6 * x**2))
    start = jnp.asarray([1e-11])
    psi, history = minimised(optimizer, block, start, 6)
    assert history[-1] < 1e-6 * history[0]
    monkeypatch.setattr("tinns.optim.quasi_newton.HALVINGS", 0)
    stuck, _ = minimised(optimizer, block, start, 6)
    assert stuck[0] == start[0]
    assert psi[0] != start[0]


@pytest.mark.parametrize("optimizer", [SelfScaledBroyden, LBFGS])
@pytest.mark.parametrize(
    "settings", [{"line_search_steps": 0}, {"curvature": 1.0}, {"curvature": 0.0}], ids=repr
)
def test_impossible_settings_are_refused(optimizer, settings):
    match = f"{optimizer.__name__}: {next(iter(settings))}=.*expected"
    with pytest.raises(UserError, match=match):
        optimizer(**settings)
