"""Scales follow from the data and the equation, and change with the units as these do."""

from itertools import cycle
from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from rescaled import rescaled
from tinns import Box, Problem, Trainable, dirichlet, initial, initial_velocity, neumann, observed
from tinns.objective import assemble, find_scales
from tinns.paper.untuned_problems import Beam, Brusselator, SineGordon

pytestmark = pytest.mark.usefixtures("float64")


class Rod(Problem):
    """u_t = D u_xx on a rod of length 4, for 50 units of time, of size 3."""

    D: float = 0.01
    domain = Box(x=(0, 4), t=(10, 60))

    def equation(self, u, x, t):
        return u.t - self.D * u.xx

    def conditions(self):
        return [initial(lambda x: -3 * jnp.cos(pi * x)), neumann(0.0)]


def test_a_residual_counts_as_what_it_does_over_the_time_span():
    """r acts as T·r on u, which is as large as its data; a slope counts as half the length."""
    scales = find_scales(Rod())
    np.testing.assert_allclose(scales.sizes, [3.0], rtol=1e-3)
    equation, start, slope = (scales.of(n)[0] * scales.sizes[0] for n in range(3))
    np.testing.assert_allclose([equation, start, slope], [50.0, 1.0, 2.0], rtol=1e-12)


def test_a_stiff_residual_counts_as_what_it_does_over_its_own_time():
    """With D = 1 the time in which heat crosses the rod is (L/2)²/D = 4."""
    scales = find_scales(Rod(D=1.0))
    np.testing.assert_allclose(scales.of(0)[0] * scales.sizes[0], 4.0, rtol=1e-12)


def test_in_windows_the_span_is_that_of_one():
    scales = find_scales(Rod(), windows=5)
    np.testing.assert_allclose(scales.of(0)[0] * scales.sizes[0], 10.0, rtol=1e-12)


class Driven(Problem):
    """v follows u, which a force of size 7 drives for T = 2; neither has values of its own."""

    domain = Box(x=(0, 1), t=(0, 2))

    def equation(self, u, v, x, t):
        return u.tt - u.xx / 100 - 7.0, v - 5 * u

    def conditions(self):
        return [initial(0.0, of="u"), initial_velocity(0.0, of="u"), dirichlet(0.0, of="u")]


def test_sizes_follow_from_forces_and_from_other_unknowns():
    """u_tt = 7 gives 7 T², and v = 5 u."""
    np.testing.assert_allclose(find_scales(Driven()).sizes, [28.0, 140.0], rtol=1e-12)


def test_without_data_sizes_are_one():
    class Free(Driven):
        def equation(self, u, v, x, t):
            return u.t - v, v.t + u

        def conditions(self):
            return [initial(0.0)]

    assert find_scales(Free()).sizes == (1.0, 1.0)


class Fitted(Rod):
    """D from two observations."""

    def conditions(self):
        return [*super().conditions(), observed(x=[1.0, 2.0], t=[20.0, 30.0], u=[2.0, -2.5])]


def test_a_coefficient_is_as_large_as_its_first_value_or_as_what_would_be_felt():
    """D u_xx balances u_t over the time span for D = (L/2)²/T."""
    assert find_scales(Fitted(D=Trainable(-0.2))).coefficients == {"D": 0.2}
    found = find_scales(Fitted(D=Trainable(0.0))).coefficients
    np.testing.assert_allclose(found["D"], 2**2 / 50, rtol=1e-12)


def test_coefficients_in_psi_are_dimensionless():
    problem = Fitted(D=Trainable(-0.2))
    system = assemble(problem, tinns.TimeInduced(tinns.MLP((3,))), scales=find_scales(problem))
    psi = system.init(jax.random.key(0))
    assert float(psi["coefficients"]["D"]) == -1.0
    assert float(system.plain(psi)["coefficients"]["D"]) == -0.2
    plain = assemble(problem, system.field, scales=find_scales(problem).of_rows_and_unknowns())
    point = tinns.geometry.Batch({"x": jnp.asarray(0.3), "t": jnp.asarray(12.0)})
    rows = [s.blocks[0].rows(p, point) for s, p in ((system, psi), (plain, system.plain(psi)))]
    np.testing.assert_allclose(*rows, rtol=1e-14)


@pytest.mark.parametrize("problem", [Fitted(D=Trainable(0.0)), SineGordon(), Brusselator(), Beam()])
def test_scales_change_with_the_units(problem):
    """Each axis, unknown and coefficient in other units: dimensionless rows stay the same."""
    before = find_scales(problem)
    names = (*problem.domain.axes, *problem.unknowns, *problem.trainable)
    for name, factor in zip(names, cycle((1e3, 1e-3)), strict=False):
        units = {name: factor}
        after = find_scales(rescaled(problem, units, rows=7.0))
        pairs = zip(problem.unknowns, before.sizes, strict=True)
        np.testing.assert_allclose(after.sizes, [s * units.get(u, 1) for u, s in pairs], 1e-12)
        for own, other in zip(before.factors, after.factors, strict=True):
            np.testing.assert_allclose(np.array(other) * 7, own, rtol=1e-12)
        for unit, size in before.coefficients.items():
            np.testing.assert_allclose(after.coefficients[unit], size * units.get(unit, 1), 1e-12)
