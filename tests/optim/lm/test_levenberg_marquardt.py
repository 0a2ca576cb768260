"""Levenberg-Marquardt: Algorithm 1 step by step, linear and curve-fitting problems, failures."""

import jax
import jax.numpy as jnp
import numpy as np
import optimistix
import pytest
from jax.flatten_util import ravel_pytree

from tinns import (
    AcceleratedLM,
    ColumnScaling,
    PaperDamping,
    PaperLM,
    Uniform,
    UserError,
)
from tinns.geometry import Batch
from tinns.objective import Block, Objective, assemble
from tinns.problems import Burgers

pytestmark = pytest.mark.usefixtures("float64")


def algorithm_1(residual, jacobian, psi, steps, mu, up, down, mu_min, mu_max, eta, every, half):
    """[TINN, Alg. 1] in plain NumPy. Yields the loss, the damping used and ψ after the step."""
    loss_old = 1e5
    for k in range(steps):
        r, j = residual(psi), jacobian(psi)
        loss = (r @ r) / 2 if half else r @ r
        used = mu
        psi = psi - np.linalg.solve(j.T @ j + mu * np.eye(psi.size), j.T @ r)
        if k % every == 0:
            mu = max(mu / down, mu_min) if loss < loss_old else min(mu * up, mu_max)
            loss_old = loss
        if loss / mu > 1e5:
            mu = loss / 10
            mu_min = eta * mu_min
        yield r @ r, used, psi


def run(optimizer, blocks, psi, data, steps):
    """ψ after each step, with the reports and the last state."""
    objective = Objective.of(blocks, data)
    advance = jax.jit(lambda p, s: optimizer.step(objective, p, s))
    state, reports, trail = optimizer.init(psi), [], []
    for _ in range(steps):
        psi, state, report = advance(psi, state)
        trail.append(ravel_pytree(psi)[0])
        reports.append(report.as_columns())
    return trail, reports, state


@pytest.fixture(scope="module")
def burgers(float64, small_field, few_points):
    system = assemble(Burgers(), small_field)
    psi = system.init(jax.random.key(0))
    data = system.draw(jax.random.key(1), few_points, Uniform())
    flat, unravel = ravel_pytree(psi)

    def vector(p):
        parts = Objective(system.blocks, data).residuals(unravel(p))
        return jnp.concatenate([r.reshape(-1) for r in parts])

    residual, jacobian = jax.jit(vector), jax.jit(jax.jacfwd(vector))
    numpy_functions = (lambda p: np.asarray(residual(p)), lambda p: np.asarray(jacobian(p)))
    return (system.blocks, psi, data), numpy_functions, np.asarray(flat)


ORDINARY = {"mu0": 10.0, "up": 1.7, "down": 1.3, "mu_min": 1e-12, "mu_max": 1e8, "eta": 1.0}
# Each fall takes the damping to its floor, where the safeguard catches it and doubles the floor.
UNSAFE = {"mu0": 10.0, "up": 1.7, "down": 1e20, "mu_min": 1e-14, "mu_max": 1e8, "eta": 2.0}


@pytest.mark.parametrize("half", [True, False], ids=["printed", "published"])
@pytest.mark.parametrize("settings", [ORDINARY, UNSAFE], ids=["ordinary", "unsafe"])
def test_algorithm_1_is_replayed(burgers, settings, half):
    problem, functions, start = burgers
    rule = (
        PaperDamping.printed(**settings) if half else PaperDamping(**settings, period=2, half=False)
    )
    trail, reports, state = run(PaperLM(rule), *problem, 20)
    numbers = dict(settings)
    transcript = list(
        algorithm_1(
            *functions, start, 20, numbers.pop("mu0"), **numbers, every=1 if half else 2, half=half
        )
    )
    for psi, report, (loss, mu, expected) in zip(trail, reports, transcript, strict=True):
        np.testing.assert_allclose(report["loss"], loss, rtol=1e-9)
        np.testing.assert_allclose(report["damping"], mu, rtol=1e-9)
        np.testing.assert_allclose(psi, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert reports[-1]["failures"] == 0
    assert (state.damping.mu_min > settings["mu_min"]) == (settings is UNSAFE)


def test_the_damping_falls_rises_and_stays_within_its_bounds():
    """As printed: ½‖L‖² is compared at every step; as published: ‖L‖² at every second."""
    squares = [4.0, 2.0, 3.0, 3.5, 1.0, 1.0]
    settings = {"mu0": 1.0, "up": 3.0, "down": 2.0, "mu_min": 0.6, "mu_max": 4.0}
    expected = {
        PaperDamping.printed(**settings): [0.6, 0.6, 1.8, 4.0, 2.0, 4.0],
        PaperDamping(**settings): [0.6, 0.6, 0.6, 0.6, 0.6, 0.6],
    }
    for rule, dampings in expected.items():
        state, seen = rule.init(), []
        for square in squares:
            state = rule.update(state, jnp.asarray(square))
            seen.append(float(state.mu))
        np.testing.assert_allclose(seen, dampings, rtol=1e-15)


@pytest.mark.parametrize("half", [True, False])
def test_the_safeguard_fires_above_a_loss_of_1e5_times_the_damping(half):
    rule = PaperDamping(mu0=1.3e-3, down=1.3, eta=2.0, half=half)
    for loss, mu, mu_min in ((99.0, 1e-3, 1e-12), (101.0, 10.1, 2e-12)):
        state = rule.update(rule.init(), jnp.asarray(2 * loss if half else loss))
        assert float(state.mu) == pytest.approx(mu, rel=1e-14)
        assert float(state.mu_min) == pytest.approx(mu_min, rel=1e-14)


def line_block(matrix, right):
    rows = Block("line", ("line",), lambda psi, datum: (datum["a"] @ psi - datum["b"])[None])
    return [rows], [Batch({"a": jnp.asarray(matrix), "b": jnp.asarray(right)})]


def test_a_linear_problem_is_solved_in_one_step():
    random = np.random.default_rng(0)
    matrix, right = random.normal(size=(30, 4)), random.normal(size=30)
    blocks, data = line_block(matrix, right)
    best = np.linalg.lstsq(matrix, right, rcond=None)[0]
    for optimizer in (
        PaperLM(PaperDamping(mu0=1e-12, mu_min=1e-12)),
        AcceleratedLM(mu0=1e-12),
    ):
        trail, _, _ = run(optimizer, blocks, jnp.zeros(4), data, 1)
        np.testing.assert_allclose(trail[0], best, rtol=1e-10)


@pytest.fixture(scope="module")
def decay(float64):
    """y = a exp(-b s) + c with scatter: a curve fit whose minimum is not zero."""
    s = jnp.linspace(0, 4, 40)
    y = 2.5 * jnp.exp(-1.3 * s) + 0.5 + 0.05 * jnp.sin(37 * s)

    def rows(psi, datum):
        return (psi["a"] * jnp.exp(-psi["b"] * datum["s"]) + psi["c"] - datum["y"])[None]

    start = {name: jnp.asarray(value) for name, value in (("a", 1.0), ("b", 1.0), ("c", 0.0))}
    data = Batch({"s": s, "y": y})
    oracle = optimistix.least_squares(
        lambda psi, d: jax.vmap(lambda datum: rows(psi, datum))(d),
        optimistix.LevenbergMarquardt(rtol=1e-12, atol=1e-12),
        start,
        data,
    ).value
    return [Block("decay", ("decay",), rows)], start, [data], oracle


@pytest.mark.parametrize(
    "optimizer",
    [
        PaperLM(PaperDamping(mu0=0.1)),
        PaperLM(PaperDamping.printed(mu0=0.1)),
        AcceleratedLM(),
    ],
    ids=["published", "printed", "accelerated"],
)
def test_a_curve_fit_has_the_same_minimum_as_optimistix(decay, optimizer):
    blocks, start, data, oracle = decay
    trail, _, _ = run(optimizer, blocks, start, data, 60)
    np.testing.assert_allclose(trail[-1], ravel_pytree(oracle)[0], rtol=1e-7)


def single(rows, start, optimizer, steps):
    block = Block("single", ("single",), lambda psi, datum: rows(psi)[None])
    return run(optimizer, [block], jnp.asarray([start]), [Batch({"s": jnp.zeros(1)})], steps)


def test_a_step_into_overflow_is_taken_back_with_more_damping():
    rule = PaperDamping(mu0=1e-6)
    trail, reports, _ = single(lambda p: jnp.log(p[0]), 10.0, PaperLM(rule), 60)
    assert trail[0][0] < 0  # the first step leaves the domain of the logarithm
    assert reports[1]["failures"] == 1
    assert trail[1].tolist() == [10.0]
    assert reports[2]["damping"] == pytest.approx(10 * float(reports[1]["damping"]))
    assert trail[-1][0] == pytest.approx(1.0, abs=1e-6)


def test_a_failed_factorisation_leaves_psi_and_raises_the_damping():
    # The slope of sqrt at 0 is infinite: the row is a number, the normal equations are not.
    trail, reports, state = single(
        lambda p: jnp.sqrt(p[0]) - 1, 0.0, PaperLM(PaperDamping(mu0=1.0)), 3
    )
    assert [psi.tolist() for psi in trail] == [[0.0]] * 3
    assert [int(report["failures"]) for report in reports] == [1, 2, 3]
    assert [float(report["damping"]) for report in reports] == [1.0, 10.0, 100.0]
    assert state.damping.mu == 1000.0


def test_accelerated_steps_never_raise_the_loss(burgers):
    problem, _, _ = burgers
    _, reports, _ = run(AcceleratedLM(), *problem, 30)
    losses = np.array([report["loss"] for report in reports])
    assert np.all(np.diff(losses) <= 0)
    assert losses[-1] < 0.1 * losses[0]
    assert reports[-1]["accelerated"] > 0


def test_accelerated_steps_reject_what_is_not_a_number():
    trail, reports, _ = single(lambda p: jnp.log(p[0]), 10.0, AcceleratedLM(mu0=1e-6), 20)
    assert np.isfinite(trail).all()
    assert reports[-1]["rejected"] > 0
    assert trail[-1][0] == pytest.approx(1.0, abs=1e-6)


def test_a_fit_with_a_rest_ends_at_the_precision_floor_or_converged(decay):
    """Where ‖r‖² cannot fall any more, steps promise nothing or are all refused."""
    blocks, start, data, _ = decay
    _, reports, _ = run(AcceleratedLM(), blocks, start, data, 120)
    last = reports[-10:]
    refused = [report["step_norm"] == 0 for report in last]
    promised = [report["predicted_reduction"] for report in last]
    assert all(refused) or max(promised) < 1e-10


def doubtful_problem():
    """Rows whose Jacobian has a condition number of 1e9: the normal equations know half of it."""
    matrix = np.linalg.qr(np.random.default_rng(0).standard_normal((40, 6)))[0]
    return line_block(matrix * np.logspace(0, -9, 6), matrix @ np.ones(6))


def test_a_damping_below_round_off_calls_for_the_stable_solve():
    blocks, data = doubtful_problem()
    plain = AcceleratedLM(mu0=1e-20, mu_min=1e-20, scaling=None)
    _, _, state = run(plain, blocks, jnp.zeros(6), data, 1)
    assert plain.should_switch(state)
    stable = plain.program_for(state)
    assert stable.stable
    assert not stable.should_switch(state)


def test_the_stable_program_hands_back_once_the_damping_is_well_above():
    blocks, data = doubtful_problem()
    stable = AcceleratedLM(mu0=1e-3, scaling=None, stable=True)
    _, reports, state = run(stable, blocks, jnp.zeros(6), data, 1)
    assert reports[0]["stable"] == 1
    assert stable.should_switch(state)
    assert not stable.program_for(state).stable


def test_scaled_and_plain_damping_take_turns(burgers):
    problem, _, _ = burgers
    rule = ColumnScaling(stretch=3, period=2)
    _, reports, _ = run(AcceleratedLM(scaling=rule), *problem, 24)
    losses = np.array([report["loss"] for report in reports])
    scaled = np.array([report["scaled"] for report in reports])
    assert 0 < scaled.mean() < 1
    assert np.all(np.diff(losses) <= 0)


@pytest.mark.parametrize(
    "settings", [{"up": 1.0}, {"down": 0.5}, {"eta": 0.9}, {"mu0": 0.0}, {"mu_max": 1.0}]
)
def test_impossible_damping_settings_are_refused(settings):
    with pytest.raises(UserError, match=next(iter(settings))):
        PaperDamping(**settings)
