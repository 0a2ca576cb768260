"""Allen-Cahn: convergence, a second method in another basis, the equation, the corner."""

import numpy as np
import pytest
from numpy.polynomial import legendre
from scipy.integrate import solve_ivp
from scipy.sparse import csr_matrix

from tinns._runtime.errors import UserError
from tinns.problems.references import allen_cahn
from tinns.problems.references.allen_cahn_spectral import (
    initial_kink,
    initial_value,
    smooth_part_problem,
    solve_smooth_part,
)
from tinns.problems.references.spectral_collocation import integrate_uniformly

D, R = 1e-4, 5.0


def relative_l2(values, truth, weights=1.0):
    return np.sqrt(np.sum(weights * (values - truth) ** 2) / np.sum(weights * truth**2))


def full_solution(modes, x, t):
    """u from the cosine coefficients of its smooth part."""
    cosines = np.cos(np.pi * np.outer(x, np.arange(len(modes))))
    return cosines @ modes + np.exp(R * t) * initial_kink()(x, D * t)


def spectral_elements(elements, degree):
    """Nodes, lumped masses and stiffness on [0, 1]; the zero-slope ends come for free."""
    basis = np.eye(degree + 1)
    nodes = np.concatenate([[-1], legendre.legroots(legendre.legder(basis[degree])), [1]])
    weights = 2 / (degree * (degree + 1) * legendre.legval(nodes, basis[degree]) ** 2)
    slopes = np.stack([legendre.legval(nodes, legendre.legder(row)) for row in basis], axis=1)
    differentiate = slopes @ np.linalg.inv(legendre.legvander(nodes, degree))
    size, length = elements * degree + 1, 1 / elements
    x, mass, stiffness = np.zeros(size), np.zeros(size), np.zeros((size, size))
    for element in range(elements):
        part = slice(element * degree, (element + 1) * degree + 1)
        x[part] = length * (element + (nodes + 1) / 2)
        mass[part] += weights * length / 2
        stiffness[part, part] += differentiate.T @ (weights[:, None] * differentiate) * 2 / length
    return x, mass, stiffness


def test_self_convergence(allen_cahn_reference):
    x, t = np.linspace(0, 1, 501), np.array([0.001, 0.1, 0.37123, 1.0])
    values = allen_cahn_reference.on_grid(x=x, t=t)
    finer = solve_smooth_part(D, R, modes=768, stages=28).at(t)
    for column, modes, time in zip(values.T, finer, t, strict=True):
        assert relative_l2(column, full_solution(modes, x, time)) < allen_cahn_reference.accuracy


def test_halving_the_panels_changes_nothing():
    problem = smooth_part_problem(D, R, 512)
    x, end = np.linspace(0, 1, 501), 0.25
    coarse, fine = (
        full_solution(integrate_uniformly(*problem, np.linspace(0, end, n + 1), 16), x, end)
        for n in (32, 64)
    )
    assert relative_l2(coarse, fine) < 1e-12


def test_agrees_with_spectral_elements_and_a_runge_kutta_method(allen_cahn_reference):
    # No kink is split off here, no cosine is used, and the integrator is an explicit one.
    x, mass, stiffness = spectral_elements(elements=40, degree=20)
    diffuse = csr_matrix(-D * stiffness / mass[:, None])

    def rate(t, u):
        return diffuse @ u + R * (u - u**3)

    state, start = initial_value(x), 0.0
    for end in (0.05, 0.37123, 1.0):
        run = solve_ivp(rate, (start, end), state, method="DOP853", rtol=2.3e-14, atol=1e-15)
        state, start = run.y[:, -1], end
        truth = allen_cahn_reference(x=x, t=end)
        assert relative_l2(truth, state, mass) < allen_cahn_reference.accuracy


def test_initial_value_is_exact(allen_cahn_reference):
    x = np.linspace(-1, 1, 2001)
    values = allen_cahn_reference(x=x, t=0.0)
    np.testing.assert_allclose(values, initial_value(x), rtol=0, atol=2e-14)


def test_even_and_periodic(allen_cahn_reference):
    x, t = np.linspace(0, 1, 57)[:, None], np.array([0.0, 0.2, 1.0])
    right, left = allen_cahn_reference(x=x, t=t), allen_cahn_reference(x=-x, t=t)
    np.testing.assert_allclose(left, right, rtol=0, atol=1e-12)
    np.testing.assert_allclose(allen_cahn_reference(x=x + 2, t=t), right, rtol=0, atol=1e-12)


def test_equation_holds(allen_cahn_reference, derivative, interior_points):
    x, t = interior_points
    # Also beside the corner x = 1, t = 0, where the solution is least smooth, and on nodes.
    x = np.concatenate([x, [0.99, 0.999, 0.9999, 1.0, -1.0, 0.0, 0.5, 1.0]])
    t = np.concatenate([t, [1e-3, 1e-4, 1e-6, 0.0, 0.0, 0.0, 0.25, 0.5]])
    u = allen_cahn_reference(x=x, t=t)
    terms = [
        derivative(allen_cahn_reference, "t", x, t),
        -D * derivative(allen_cahn_reference, "xx", x, t),
        R * (u**3 - u),
    ]
    residual, size = np.abs(np.sum(terms, axis=0)), np.sum(np.abs(terms), axis=0)
    assert np.linalg.norm(residual) < 1e-9 * np.linalg.norm(size)
    assert np.max(residual / (size + 0.01)) < 1e-8


def test_corner_curvature_is_that_of_the_initial_value(allen_cahn_reference, derivative):
    x = np.array([-1.0, -0.97, 0.3, 0.99, 1.0])
    c, s = np.cos(3 * np.pi * x), np.sin(3 * np.pi * x)
    exact = 2 * (1 + c) - 12 * np.pi * x * s - 9 * np.pi**2 * x**2 * c
    curvature = derivative(allen_cahn_reference, "xx", x, 0.0)
    np.testing.assert_allclose(curvature, exact, rtol=1e-6, atol=0)


def test_parameters_outside_the_verified_range_are_refused():
    for parameters in ({"diffusion": 0.0}, {"diffusion": 1.0}, {"rate": -1.0}, {"rate": np.nan}):
        with pytest.raises(UserError, match="verified"):
            allen_cahn(**parameters)
