"""Kuramoto-Sivashinsky: convergence beyond double precision, a second method, the equation.

Most tests use the paper's coefficients divided by eight: the same solution for t <= 1/8, which
holds the steepening of the initial waves and takes a second to compute.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tinns._runtime.errors import UserError
from tinns.problems.references import kuramoto_sivashinsky
from tinns.problems.references.kuramoto_sivashinsky_spectral import (
    EXTENDED,
    kuramoto_sivashinsky_problem,
    solve_kuramoto_sivashinsky,
)
from tinns.problems.references.spectral_collocation import DOUBLE, PanelSeries, integrate_adaptively

PAPER = np.array([100 / 16, 100 / 16**2, 100 / 16**4])
EARLY = PAPER / 8

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture(scope="module")
def reference():
    return kuramoto_sivashinsky(*EARLY)


@pytest.fixture(scope="module")
def points():
    """Random (x, t) inside [0, 2 pi] x [0, 1], and some on the edges of time panels."""
    random = np.random.default_rng(7)
    x, t = random.uniform(0, 2 * np.pi, 205), random.uniform(0, 1, 205)
    t[-5:] = [0.0, 1.0, 0.5, 0.25, 1e-9]
    return x, t


def relative_l2(values, truth):
    """The largest, over the times in the rows, of the relative errors."""
    padded = np.zeros_like(truth)
    padded[:, : values.shape[1]] = values
    norms = np.linalg.norm(truth, axis=1)
    return float((np.linalg.norm(padded - truth, axis=1) / norms).max())


def test_self_convergence(reference):
    t = np.array([0.01, 0.37123, 0.5, 0.75, 1.0])
    x = 2 * np.pi * np.arange(700) / 700
    finer = solve_kuramoto_sivashinsky(*EARLY, modes=288, stages=20, precision=DOUBLE).at(t)
    values = np.sin(np.outer(x - np.pi / 2, np.arange(1, 289))) @ finer.T
    assert relative_l2(reference.on_grid(x=x, t=t).T, values.T) < 1e-13


def test_double_precision_keeps_its_digits_until_chaos_takes_them():
    t = np.append(np.linspace(0.125, 1, 8), 0.8)
    coarse = solve_kuramoto_sivashinsky(*PAPER, modes=256, precision=DOUBLE).at(t)
    fine = solve_kuramoto_sivashinsky(*PAPER, modes=272, stages=28, precision=DOUBLE).at(t)
    assert relative_l2(coarse[:1], fine[:1]) < 1e-13
    assert relative_l2(coarse, fine) < 2e-11


@pytest.mark.skipif(not EXTENDED, reason="long double is not the 80-bit format here")
def test_extended_precision_beats_chaos():
    t = np.append(np.linspace(0.125, 1, 8), 0.8)
    double = solve_kuramoto_sivashinsky(*PAPER, modes=256, precision=DOUBLE)
    extended = solve_kuramoto_sivashinsky(*PAPER, modes=256, guess=double).at(t)
    fewer = PanelSeries(double.edges, double.coefficients[..., :240])
    other = solve_kuramoto_sivashinsky(*PAPER, modes=240, stages=28, guess=fewer).at(t)
    assert relative_l2(other[:1], extended[:1]) < 1e-17
    assert relative_l2(other, extended) < 1e-14
    assert relative_l2(double.at(t), extended) < 2e-11


def test_small_changes_grow_as_chaos_has_it():
    linear, nonlinear, start = kuramoto_sivashinsky_problem(*PAPER, 192, DOUBLE)
    change = np.zeros_like(start)
    change[:30] = np.random.default_rng(5).standard_normal(30)
    change *= 1e-8 * np.linalg.norm(start) / np.linalg.norm(change)
    plain, changed = (
        integrate_adaptively(linear, nonlinear, state, stages=24).at(np.array([0.8]))
        for state in (start, start + change)
    )
    assert 3e2 < relative_l2(changed, plain) / 1e-8 < 3e4


def test_agrees_with_an_explicit_method_that_knows_no_symmetry(reference):
    # Full Fourier series, the advective form u u_x, another integrator, the paper's own time.
    alpha, beta, gamma = PAPER
    points, end = 256, 1 / 20
    x = 2 * np.pi * np.arange(points) / points
    k = np.arange(points // 2 + 1)
    kept, linear = k < points / 3, beta * k**2 - gamma * k**4

    def rate(t, state):
        modes = state.view(complex)
        u, u_x = np.fft.irfft(modes, n=points), np.fft.irfft(1j * k * modes, n=points)
        return (kept * (linear * modes - alpha * np.fft.rfft(u * u_x))).view(float)

    start = np.fft.rfft(np.cos(x) * (1 + np.sin(x))).view(float)
    run = solve_ivp(rate, (0, end), start, method="DOP853", rtol=1e-13, atol=1e-13)
    final = np.fft.irfft(np.ascontiguousarray(run.y[:, -1]).view(complex), n=points)
    assert relative_l2(reference(x=x, t=8 * end)[None], final[None]) < 1e-12


def test_initial_value_period_and_symmetry(reference):
    x = np.linspace(0, 2 * np.pi, 301)
    initial = np.cos(x) * (1 + np.sin(x))
    np.testing.assert_allclose(reference(x=x, t=0.0), initial, rtol=0, atol=2e-15)
    u = reference(x=x, t=0.9)
    np.testing.assert_allclose(reference(x=x + 2 * np.pi, t=0.9), u, rtol=0, atol=1e-12)
    np.testing.assert_allclose(reference(x=np.pi - x, t=0.9), -u, rtol=0, atol=1e-12)


def test_formula_and_grid_agree(reference, points):
    x, t = points[0][:20], np.array([0.0, 0.123, 0.5, 1.0])
    values = reference(x=x[:, None], t=t)
    np.testing.assert_allclose(reference.on_grid(x=x, t=t), values, rtol=0, atol=2e-14)
    np.testing.assert_allclose(reference.on_grid(t=t, x=x), values.T, rtol=0, atol=2e-14)
    assert np.isnan(reference(x=1.0, t=np.array([-0.1, 1.1]))).all()


def test_equation_holds(reference, derivative, points):
    x, t = points
    alpha, beta, gamma = EARLY
    terms = [
        derivative(reference, "t", x, t),
        alpha * reference(x=x, t=t) * derivative(reference, "x", x, t),
        beta * derivative(reference, "xx", x, t),
        gamma * derivative(reference, "xxxx", x, t),
    ]
    residual, size = np.abs(np.sum(terms, axis=0)), np.sum(np.abs(terms), axis=0)
    assert np.linalg.norm(residual) < 1e-11 * np.linalg.norm(size)


def test_mean_is_kept_and_energy_balances(reference, derivative):
    # d/dt of the mean of u^2 / 2 is beta times that of u_x^2 less gamma times that of u_xx^2.
    x, t = 2 * np.pi * np.arange(300)[:, None] / 300, np.array([0.0, 0.37, 0.8])
    u, u_t, u_x, u_xx = (derivative(reference, axes, x, t) for axes in ("", "t", "x", "xx"))
    _, beta, gamma = EARLY
    np.testing.assert_allclose(u.mean(axis=0), 0, atol=1e-14)
    balance = (beta * u_x**2 - gamma * u_xx**2).mean(axis=0)
    np.testing.assert_allclose((u * u_t).mean(axis=0), balance, rtol=1e-9)


@pytest.mark.parametrize(
    "coefficients",
    [
        (-1.0, 0.4, 2e-3),
        (100.0, 0.4, 2e-3),
        (6.25, -0.1, 2e-3),
        (6.25, 0.4, 0.0),
        (6.25, 0.4, 2.0),
        (6.25, 0.4, np.nan),
        (6.25, 0.5, 2e-3),  # the fastest wave grows too quickly
        (0.01, 0.4, 2e-3),  # and here nothing holds it back
    ],
)
def test_coefficients_outside_the_verified_range_are_refused(coefficients):
    with pytest.raises(UserError, match="verified"):
        kuramoto_sivashinsky(*coefficients)
