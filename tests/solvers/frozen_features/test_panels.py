"""Paths fitted to steps: smooth ones to the tolerance, on few panels, without jumps."""

import numpy as np
from numpy.polynomial import chebyshev

from tinns.nn.random_features import DEGREE
from tinns.solvers.frozen_features.panels import fit_panels


def value(edges, path, t):
    panel = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, len(edges) - 2)
    tau = 2 * (t - edges[panel]) / (edges[panel + 1] - edges[panel]) - 1
    return np.array([chebyshev.chebval(s, path[:, p]) for s, p in zip(tau, panel, strict=True)])


def test_a_polynomial_is_found_on_one_panel():
    times = np.sort(np.random.default_rng(0).uniform(0, 2, 40))
    curves = np.stack([times**DEGREE, 1 - times**3], axis=1)
    edges, path = fit_panels(times, curves, 1e-9)
    assert path.shape == (DEGREE + 1, 1, 2)
    between = (times[1:] + times[:-1]) / 2
    known = np.stack([between**DEGREE, 1 - between**3], axis=1)
    np.testing.assert_allclose(value(edges, path, between), known, atol=1e-8)


def test_panels_crowd_where_the_path_is_fast():
    times = np.geomspace(1e-3, 1, 600)
    edges, path = fit_panels(times, np.log(times)[:, None], 1e-8)
    between = np.sqrt(times[1:] * times[:-1])
    np.testing.assert_allclose(value(edges, path, between)[:, 0], np.log(between), atol=1e-7)
    assert len(edges) < 20
    assert np.diff(edges)[0] < np.diff(edges)[-1] / 20


def test_rates_sharpen_the_derivative():
    times = np.linspace(0, 1, 60)
    noise = 1e-6 * np.random.default_rng(0).normal(size=(60, 1))
    curve, slope = np.sin(9 * times)[:, None] + noise, 9 * np.cos(9 * times)[:, None]
    errors = []
    for rates in (None, slope):
        edges, path = fit_panels(times, curve, 1e-5, rates)
        h = 1e-4
        between = times[1:-1] + 0.004
        found = (value(edges, path, between + h) - value(edges, path, between - h)) / (2 * h)
        errors.append(np.abs(found[:, 0] - 9 * np.cos(9 * between)).max())
    assert errors[1] < errors[0]


def test_a_few_steps_give_a_polynomial_through_them():
    times = np.array([0.0, 0.1, 0.5])
    edges, path = fit_panels(times, np.array([[1.0], [2.0], [-1.0]]), 1e-9)
    np.testing.assert_allclose(value(edges, path, times)[:, 0], [1.0, 2.0, -1.0], atol=1e-6)
