"""The integrator keeps its order, its stability and its error control."""

import numpy as np
import pytest

from tinns.problems.references.allen_cahn_spectral import smooth_part_problem
from tinns.problems.references.kdv_spectral import kdv_problem
from tinns.problems.references.kuramoto_sivashinsky_spectral import kuramoto_sivashinsky_problem
from tinns.problems.references.spectral_collocation import (
    PanelSeries,
    RadauRule,
    integrate_adaptively,
    integrate_uniformly,
    inverse,
)

PRECISIONS = [np.dtype(np.float64), np.dtype(np.longdouble)]


@pytest.mark.parametrize("precision", PRECISIONS, ids=str)
@pytest.mark.parametrize("stages", [1, 2, 3, 24])
def test_integration_is_exact_for_polynomials(stages, precision):
    rule = RadauRule(stages, precision)
    for degree in range(stages):
        integral = rule.integration @ rule.points**degree
        exact = rule.points ** (degree + 1) / (degree + 1)
        assert np.abs(integral - exact).max() < 20 * np.finfo(precision).eps


@pytest.mark.parametrize("precision", PRECISIONS, ids=str)
@pytest.mark.parametrize("stages", [1, 2, 3, 24])
def test_the_last_row_is_a_quadrature_of_degree_twice_the_stages_less_two(stages, precision):
    # Holds at the Radau points alone, so it tells how precisely they are known.
    rule = RadauRule(stages, precision)
    for degree in range(2 * stages - 1):
        integral = rule.integration[-1] @ rule.points**degree
        assert abs((degree + 1) * integral - 1) < 100 * np.finfo(precision).eps


@pytest.mark.parametrize("precision", PRECISIONS, ids=str)
@pytest.mark.parametrize("imaginary", [0, 1j])
def test_inverse_has_the_precision_of_its_matrices(precision, imaginary):
    random = np.random.default_rng(3)
    matrices = 4 * np.eye(5) + random.uniform(-1, 1, (7, 5, 5)) + imaginary
    matrices = matrices.astype(np.result_type(matrices, precision))
    product = inverse(matrices) @ matrices
    assert np.abs(product - np.eye(5)).max() < 20 * np.finfo(precision).eps


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize(
    ("problem", "steps"),
    [
        (lambda: kdv_problem(0.02, 24), (64, 128)),
        (lambda: smooth_part_problem(1e-2, 2.0, 32), (32, 64)),
        (lambda: kuramoto_sivashinsky_problem(2.0, 1.0, 0.1, 24), (32, 64)),
    ],
    ids=["kdv", "allen-cahn", "kuramoto-sivashinsky"],
)
def test_order_is_twice_the_stages_less_one(problem, steps, stages):
    linear, nonlinear, start = problem()
    end = 0.25

    def final(count, stages):
        edges = np.linspace(0, end, count + 1)
        return integrate_uniformly(linear, nonlinear, start, edges, stages)

    best = final(32, 16)
    coarse, fine = (np.linalg.norm(final(count, stages) - best) for count in steps)
    order = np.log2(coarse / fine)
    assert 2 * stages - 1 - 0.35 < order < 2 * stages - 1 + 0.6


def test_stiff_decay_is_followed_on_long_panels():
    # y' = -1e6 (y - cos t) - sin t with y(0) = 1 is y = cos t.
    series = integrate_adaptively(
        np.array([-1e6]),
        lambda times, states: (1e6 * np.cos(times) - np.sin(times))[:, None],
        np.array([1.0]),
    )
    times = np.linspace(0, 1, 77)
    np.testing.assert_allclose(series.at(times)[:, 0], np.cos(times), rtol=0, atol=1e-13)


def test_long_double_is_kept_throughout():
    # y' = y from 1 is exp(t); NumPy's own exponential function is the judge.
    rate, epsilon = np.ones(1, np.longdouble), float(np.finfo(np.longdouble).eps)
    series = integrate_adaptively(
        rate / 2, lambda times, states: states / 2, rate, tolerance=64 * epsilon, first_panel=0.25
    )
    ends = series.coefficients.sum(axis=1)[:, 0]
    exact = np.exp(series.edges[1:].astype(np.longdouble))
    assert np.abs(ends / exact - 1).max() < 20 * epsilon


def test_a_guess_changes_the_work_alone():
    linear, nonlinear, start = kdv_problem(0.02, 48)
    sweeps = []

    def counted(times, states):
        sweeps.append(times[0])
        return nonlinear(times, states)

    plain = integrate_adaptively(linear, counted, start, stages=16)
    work = len(sweeps)
    rough = plain.coefficients.astype(np.complex64).astype(complex)
    guided = integrate_adaptively(
        linear, counted, start, stages=16, guess=PanelSeries(plain.edges, rough)
    )
    assert len(sweeps) - work < 0.8 * work
    times = np.linspace(0, 1, 9)
    np.testing.assert_allclose(guided.at(times), plain.at(times), rtol=0, atol=1e-13)


def test_panels_shrink_where_the_solution_is_quick():
    def pulse(t):
        return 1 + np.exp(-(((t - 0.5) / 0.02) ** 2))

    def forcing(times, states):
        slope = -2 * (times - 0.5) / 0.02**2 * (pulse(times) - 1)
        return (slope + pulse(times))[:, None]

    # y' = -y + (pulse + pulse') has the solution y = pulse.
    series = integrate_adaptively(np.array([-1.0]), forcing, np.array([1.0]), first_panel=0.25)
    times = np.linspace(0, 1, 500)
    np.testing.assert_allclose(series.at(times)[:, 0], pulse(times), rtol=0, atol=1e-13)
    lengths = np.diff(series.edges)
    assert lengths[0] >= 4 * lengths.min()
    assert lengths[-1] >= 4 * lengths.min()


def test_blow_up_is_reported():
    with pytest.raises(ArithmeticError, match="No time panel"):
        integrate_adaptively(np.array([0.0]), lambda times, y: y**2, np.array([2.0]))
