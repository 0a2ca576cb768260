"""Standard errors: textbook formulas in linear cases, and the coverage of nonlinear fits."""

from dataclasses import replace
from functools import partial
from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import binom, t

import tinns
from tinns import AcceleratedLM, Counts, QuasiRandom, Trainable
from tinns.objective import Objective, assemble
from tinns.solution import uncertainty
from tinns.solution.uncertainty import Estimate, RowFactor, estimates, linear_answer

pytestmark = pytest.mark.usefixtures("float64")

TRUE_D = 0.2


def factor(jacobian, rows):
    return RowFactor(np.linalg.qr(np.column_stack([jacobian, rows]), mode="r"), len(rows))


def test_ordinary_least_squares():
    random = np.random.default_rng(0)
    design, noise = random.normal(size=(40, 5)), random.normal(size=40)
    fit = np.linalg.lstsq(design, noise)[0]
    residual = noise - design @ fit
    errors, freedom, steps = linear_answer([], [factor(design, residual)], 2)
    np.testing.assert_allclose(steps, 0, atol=1e-12)
    _, _, steps = linear_answer([], [factor(design, noise)], 2)
    np.testing.assert_allclose(steps, -fit[-2:], rtol=1e-9)
    assert freedom == pytest.approx(35)
    covariance = residual @ residual / 35 * np.linalg.inv(design.T @ design)
    np.testing.assert_allclose(errors, np.sqrt(np.diagonal(covariance)[-2:]), rtol=1e-9)


def test_a_penalised_fit_answers_to_noise_as_its_matrix_says():
    random = np.random.default_rng(1)
    penalty, first, second = (random.normal(size=(n, 6)) for n in (20, 15, 10))
    residuals_of = [random.normal(size=len(j)) for j in (penalty, first, second)]
    parts = [factor(j, r) for j, r in zip((penalty, first, second), residuals_of, strict=True)]
    errors, freedom, _ = linear_answer(parts[:1], parts[1:], 2)

    data = np.concatenate([first, second])
    inverse = np.linalg.inv(penalty.T @ penalty + data.T @ data)
    rest = np.eye(25) - data @ inverse @ data.T  # residual = rest · noise
    assert freedom == pytest.approx(np.trace(rest @ rest))
    kinds = [slice(0, 15), slice(15, 25)]
    expected = [[np.sum(rest[a, b] ** 2) for b in kinds] for a in kinds]
    variances = np.linalg.solve(expected, [r @ r for r in residuals_of[1:]])
    answer = (inverse @ data.T)[-2:]
    covariance = answer @ np.diag(np.repeat(variances, [15, 10])) @ answer.T
    np.testing.assert_allclose(errors, np.sqrt(np.diagonal(covariance)), rtol=1e-9)


def test_what_the_rows_do_not_determine_has_no_error():
    random = np.random.default_rng(2)
    design = random.normal(size=(30, 3))
    absent = np.column_stack([design, np.zeros(30)])
    imitated = np.column_stack([design, design[:, 0] - 2 * design[:, 2]])
    for jacobian in (absent, imitated):
        errors, _, _ = linear_answer([], [factor(jacobian, random.normal(size=30))], 1)
        assert np.isinf(errors).all()
    errors, _, _ = linear_answer([], [factor(design[:3], np.zeros(3))], 1)
    assert np.isinf(errors).all()  # as many numbers as observations leave no noise to see


def test_parameters_that_repeat_each_other_do_no_harm():
    random = np.random.default_rng(3)
    design, residual = random.normal(size=(30, 3)), random.normal(size=30)
    redundant = np.column_stack([design[:, :2] @ random.normal(size=(2, 8)), design])
    (once,), freedom, _ = linear_answer([], [factor(design, residual)], 1)
    (again,), same, _ = linear_answer([], [factor(redundant, residual)], 1)
    assert again == pytest.approx(once, rel=1e-3)
    assert same == pytest.approx(freedom, rel=1e-3)


def test_an_estimate_survives_as_plain_data():
    for estimate in (Estimate(1.0, 0.1, (0.8, 1.2), 1e-3, 1.1), Estimate(2.0)):
        assert Estimate.from_data(estimate.as_data()) == estimate
    assert Estimate(1.0, true=1.1).as_data()["error"] == pytest.approx(0.1)


class Heat(tinns.Problem):
    """u_t = D u_xx with D sought, u = sin(πx) exp(-0.2 π² t)."""

    D: float | Trainable = Trainable(0.1)
    domain = tinns.Box(x=(0, 1), t=(0, 1))
    truth = {"D": TRUE_D}

    def equation(self, u, x, t):
        return u.t - self.D * u.xx

    def reference(self):
        return tinns.exact(lambda x, t: jnp.sin(pi * x) * jnp.exp(-TRUE_D * pi**2 * t))


class Fitted:
    """Heat with 60 exact observations, fitted; `fit` goes on from there with other values."""

    def __init__(self):
        problem = Heat()
        self.exact = tinns.simulate_observations(problem, 60)
        problem = problem.observing(self.exact, simulated=True)
        field = tinns.TimeInduced(tinns.MLP((6,)), tinns.Layerwise(tinns.MLP((3,))))
        self.system = assemble(problem, field)
        self.points = self.system.draw(jax.random.key(1), Counts(150), QuasiRandom())
        start = self.system.init(jax.random.key(0))
        self.psi = start
        self.psi = self.fit(self.points, 120)

    def fit(self, points, steps):
        return self._steps(self.psi, points, jnp.asarray(steps))

    @partial(jax.jit, static_argnums=0)
    def _steps(self, psi, points, steps):
        optimizer, objective = AcceleratedLM(), Objective(self.system.blocks, points)

        def step(_, carry):
            return optimizer.step(objective, *carry)[:2]

        return jax.lax.fori_loop(0, steps, step, (psi, optimizer.init(psi)))[0]

    def with_values(self, u):
        interior, data = self.points
        return interior, replace(data, values=data.values | {"u": jnp.asarray(u)})


@pytest.fixture(scope="module")
def fitted(float64):
    return Fitted()


def test_the_estimate_is_that_of_the_whole_jacobian(fitted, monkeypatch):
    system, psi, points = fitted.system, fitted.psi, fitted.points

    @jax.jit
    def linear_model(psi):
        model = Objective(system.blocks, points).linearise(psi)
        return model.held, model.flattened(model.rows)

    jacobian, r = (np.asarray(a) for a in linear_model(psi))
    (column,) = np.flatnonzero(ravel_pytree(_marked(psi))[0])
    answer = np.linalg.pinv(jacobian, rcond=1e-12)
    hat = jacobian[150:] @ answer[:, 150:]
    freedom = np.trace((np.eye(60) - hat) @ (np.eye(60) - hat))
    error = np.sqrt(r[150:] @ r[150:] / freedom) * np.linalg.norm(answer[column, 150:])

    found = estimates(system, psi, system.blocks, points)["D"]
    assert found.value == float(psi["coefficients"]["D"])
    assert found.standard_error == pytest.approx(error, rel=1e-3)
    half = t.ppf(0.975, freedom) * error
    np.testing.assert_allclose(found.interval, [found.value - half, found.value + half], rtol=1e-3)
    assert (found.true, found.error) == (TRUE_D, abs(found.value - TRUE_D))

    monkeypatch.setattr(uncertainty, "CHUNK_ROWS", 100)  # the interior in two pieces
    chunked = estimates(system, psi, system.blocks, points)["D"]
    assert chunked.standard_error == pytest.approx(found.standard_error, rel=1e-6)


def test_a_network_too_large_to_factor_keeps_its_values(fitted, monkeypatch):
    monkeypatch.setattr(uncertainty, "LARGEST", 10)
    found = estimates(fitted.system, fitted.psi, fitted.system.blocks, fitted.points)["D"]
    assert found == Estimate(float(fitted.psi["coefficients"]["D"]), true=TRUE_D)


def _marked(psi):
    zeros = jax.tree.map(jnp.zeros_like, psi)
    return zeros | {"coefficients": {"D": jnp.ones(())}}


def test_intervals_cover_the_truth_as_often_as_they_say(fitted):
    u, noise, repetitions = fitted.exact["u"], 0.05, 40
    random = np.random.default_rng(5)
    found = []
    for _ in range(repetitions):
        points = fitted.with_values(u + noise * u.std() * random.standard_normal(u.size))
        psi = fitted.fit(points, 15)
        found.append(estimates(fitted.system, psi, fitted.system.blocks, points)["D"])
    covered = sum(e.interval[0] <= TRUE_D <= e.interval[1] for e in found)
    assert covered >= binom.ppf(0.005, repetitions, 0.95)
    spread = np.std([e.value for e in found], ddof=1)  # itself known to 11 %
    mean_error = np.mean([e.standard_error for e in found])
    assert 0.65 < mean_error / spread < 1.5
    assert np.median([abs(e.remaining_step / e.standard_error) for e in found]) < 0.3
    assert abs(np.mean([e.value for e in found]) - TRUE_D) < 4 * spread / np.sqrt(repetitions)
