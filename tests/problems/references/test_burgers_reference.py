"""Burgers: the Cole-Hopf formula against other ways to evaluate the same exact solution."""

import jax
import numpy as np
import pytest
from scipy.special import ive

from tinns._runtime.errors import UserError
from tinns.problems.references import burgers
from tinns.problems.references.burgers_exact import (
    TAYLOR_TERMS,
    cole_hopf_quotient,
    initial_taylor_series,
    quadrature_nodes,
    taylor_sum,
)

NU = 0.01 / np.pi


@pytest.fixture(scope="module")
def reference():
    return burgers(NU)


def relative_l2(values, truth):
    return np.linalg.norm(values - truth) / np.linalg.norm(truth)


def by_gauss_quadrature(x, t, nu):
    """Cole-Hopf in the original variable, by composite Gauss-Legendre in extended precision."""
    node, weight = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(x - 3, x + 3, 1201)
    half = np.diff(edges)[:, None] / 2
    y = ((edges[:-1, None] + half) + half * node).astype(np.longdouble)
    exponent = -((x - y) ** 2) / (4 * nu * t) - np.cos(np.pi * y) / (2 * np.pi * nu)
    mass = np.exp(exponent - exponent.max()) * weight * half
    return float(-(np.sin(np.pi * y) * mass).sum() / mass.sum())


def by_bessel_series(x, t, nu):
    """-2 nu phi_x / phi with phi expanded in modified Bessel functions; for moderate 1/nu."""
    n = np.arange(1, 60)
    terms = (-1.0) ** n * ive(n, 1 / (2 * np.pi * nu)) * np.exp(-nu * (n * np.pi) ** 2 * t)
    phi = ive(0, 1 / (2 * np.pi * nu)) + 2 * np.cos(np.pi * np.outer(x, n)) @ terms
    phi_x = -2 * np.sin(np.pi * np.outer(x, n)) @ (n * np.pi * terms)
    return -2 * nu * phi_x / phi


def test_agrees_with_gauss_quadrature(reference):
    random = np.random.default_rng(1)
    # Half of the points inside the front of width 0.01 at x = 0.
    x = np.concatenate([random.uniform(-1, 1, 30), random.normal(0, 0.01, 30)])
    t = random.uniform(0.01, 1, 60)
    truth = np.array([by_gauss_quadrature(*point, NU) for point in zip(x, t, strict=True)])
    values = reference(x=x, t=t)
    assert relative_l2(values, truth) < reference.accuracy
    np.testing.assert_allclose(values, truth, rtol=0, atol=1e-14)


@pytest.mark.parametrize("nu", [0.1, 0.3, 1.0, 5.0])
def test_agrees_with_the_bessel_series_when_diffusion_is_strong(nu):
    x, reference = np.linspace(-1, 1, 41), burgers(nu)
    # The series alternates near x = 0 and itself loses this factor there.
    lost = np.exp(1 / (np.pi * nu))
    for t in (1e-4, 0.01, 0.1, 0.7, 1.0):
        truth = by_bessel_series(x, t, nu)
        np.testing.assert_allclose(reference(x=x, t=t), truth, rtol=0, atol=3e-15 * lost)


def test_steepest_slope_is_the_published_one(reference, derivative):
    # Basdevant et al. (1986): 152.00516 at t = 1.6037 / pi.
    t = np.linspace(0.50, 0.52, 2001)
    slope = derivative(reference, "x", 0.0, t)
    assert slope.min() == pytest.approx(-152.00516, abs=5e-6)
    assert np.pi * t[slope.argmin()] == pytest.approx(1.6037, abs=5e-5)
    assert derivative(reference, "x", 0.0, 0.51) == pytest.approx(-152.0048, abs=5e-5)


def test_odd_and_zero_on_the_boundary(reference):
    x, t = np.linspace(0, 1, 101)[:, None], np.linspace(0, 1, 21)
    np.testing.assert_allclose(reference(x=-x, t=t), -reference(x=x, t=t), rtol=0, atol=1e-15)
    np.testing.assert_allclose(reference(x=np.array([[-1], [0], [1]]), t=t), 0, atol=1e-15)


def test_early_times(reference, derivative):
    x = np.linspace(-1, 1, 101)
    start, rate = -np.sin(np.pi * x), derivative(reference, "t", x, 0.0)
    np.testing.assert_allclose(reference(x=x, t=0.0), start, rtol=0, atol=1e-15)
    np.testing.assert_allclose(reference(x=x, t=1e-12), start + 1e-12 * rate, rtol=0, atol=3e-16)
    expected = -np.pi * np.sin(np.pi * x) * np.cos(np.pi * x) + NU * np.pi**2 * np.sin(np.pi * x)
    np.testing.assert_allclose(rate, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("nu", [1e-3, NU, 0.1, 1.0, 10.0])
def test_taylor_series_and_quadrature_meet(nu):
    x, switch = np.linspace(-1, 1, 41), 1e-3 / (1 + 100 * nu)
    taylor = initial_taylor_series(nu, TAYLOR_TERMS)
    nodes = quadrature_nodes(nu)
    with jax.enable_x64(True):
        early = jax.vmap(lambda x: taylor_sum(taylor, x, switch))(x)
        late = jax.vmap(lambda x: cole_hopf_quotient(nodes, nu, x, switch))(x)
    np.testing.assert_allclose(early, late, rtol=0, atol=1e-14)


def test_equation_holds(reference, derivative, interior_points):
    x, t = interior_points
    x = np.concatenate([x, x / 100])  # the front too
    t = np.concatenate([t, t])
    terms = [
        derivative(reference, "t", x, t),
        reference(x=x, t=t) * derivative(reference, "x", x, t),
        -NU * derivative(reference, "xx", x, t),
    ]
    size = np.sum(np.abs(terms), axis=0)
    assert np.max(np.abs(np.sum(terms, axis=0)) / (size + 1e-3)) < 1e-9


@pytest.mark.parametrize("nu", [0.0, -1.0, np.nan, np.inf])
def test_viscosity_must_be_positive(nu):
    with pytest.raises(UserError, match="viscosity"):
        burgers(nu)
