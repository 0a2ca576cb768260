"""Korteweg-de Vries: convergence, invariants, a second integrator, the equation."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tinns._runtime.errors import UserError
from tinns.problems.references import korteweg_de_vries
from tinns.problems.references.kdv_spectral import kdv_problem, solve_kdv
from tinns.problems.references.spectral_collocation import integrate_uniformly

D = 0.022**2


def relative_l2(values, truth):
    return np.linalg.norm(values - truth) / np.linalg.norm(truth)


def values_on_grid(modes, points):
    return np.fft.irfft(modes, n=points, norm="forward")


def test_self_convergence(kdv_reference):
    t = np.array([0.01, 0.37123, 0.8, 1.0])
    x = 2 * np.arange(1024) / 1024
    values = kdv_reference.on_grid(x=x, t=t)
    finer = solve_kdv(D, modes=384, stages=28).at(t)
    for column, modes in zip(values.T, finer, strict=True):
        assert relative_l2(column, values_on_grid(modes, 1024)) < kdv_reference.accuracy


def test_halving_the_panels_changes_nothing():
    problem = kdv_problem(D, 256)
    coarse, fine = (integrate_uniformly(*problem, np.linspace(0, 1, n + 1), 20) for n in (48, 96))
    assert relative_l2(coarse, fine) < 1e-12


def test_agrees_with_an_explicit_method_in_the_rotating_frame(kdv_reference):
    # Other variables (the linear flow removed), the advective form u u_x, another integrator,
    # and an end time that is no node of the reference.
    points, end = 512, 0.57123
    x = 2 * np.arange(points) / points
    k = np.pi * np.arange(points // 2 + 1)
    kept, linear = k < np.pi * points / 3, 1j * D * k**3

    def rate(t, w):
        rotation = np.exp(linear * t)
        modes = rotation * w.view(complex)
        u, u_x = np.fft.irfft(modes, n=points), np.fft.irfft(1j * k * modes, n=points)
        return (-np.fft.rfft(u * u_x) * kept / rotation).view(float)

    start = np.fft.rfft(np.cos(np.pi * x)).view(float)
    run = solve_ivp(rate, (0, end), start, method="DOP853", rtol=2.3e-14, atol=1e-15)
    final = np.ascontiguousarray(run.y[:, -1]).view(complex) * np.exp(linear * end)
    truth = np.fft.irfft(final, n=points)
    assert relative_l2(kdv_reference(x=x, t=end), truth) < kdv_reference.accuracy


def test_mass_momentum_and_energy_are_kept(kdv_reference, derivative):
    x, t = 2 * np.arange(1024)[:, None] / 1024, np.array([0.0, 0.2, 0.37123, 0.7, 1.0])
    u, u_x = kdv_reference(x=x, t=t), derivative(kdv_reference, "x", x, t)
    mass, momentum = u.mean(axis=0), (u**2).mean(axis=0)
    energy = (u**3 / 3 - D * u_x**2).mean(axis=0)
    np.testing.assert_allclose(mass, 0, atol=1e-14)
    np.testing.assert_allclose(momentum, 0.5, rtol=1e-12)
    np.testing.assert_allclose(energy, -D * np.pi**2 / 2, rtol=0, atol=1e-12)


def test_initial_value_and_period(kdv_reference):
    x = np.linspace(-1, 1, 301)
    np.testing.assert_allclose(kdv_reference(x=x, t=0.0), np.cos(np.pi * x), atol=1e-14)
    np.testing.assert_allclose(
        kdv_reference(x=x + 2, t=0.9), kdv_reference(x=x, t=0.9), rtol=0, atol=1e-12
    )


def test_equation_holds(kdv_reference, derivative, interior_points):
    x, t = interior_points
    x = np.concatenate([x, [-1.0, 1.0, 0.0, 0.5, 0.3]])
    t = np.concatenate([t, [0.0, 0.5, 1.0, 0.25, 1e-9]])
    terms = [
        derivative(kdv_reference, "t", x, t),
        kdv_reference(x=x, t=t) * derivative(kdv_reference, "x", x, t),
        D * derivative(kdv_reference, "xxx", x, t),
    ]
    residual, size = np.abs(np.sum(terms, axis=0)), np.sum(np.abs(terms), axis=0)
    assert np.linalg.norm(residual) < 1e-9 * np.linalg.norm(size)
    assert np.max(residual / (size + 0.1)) < 1e-8


@pytest.mark.parametrize("dispersion", [0.0, -1.0, 1e-6, 10.0, np.nan])
def test_dispersion_outside_the_verified_range_is_refused(dispersion):
    with pytest.raises(UserError, match="dispersion"):
        korteweg_de_vries(dispersion)
