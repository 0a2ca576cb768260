"""The same problem in other units gives the same iterates by the default recipe."""

from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from rescaled import rescaled
from tinns import Box, Counts, Problem, Recipe, Stop, TimeInduced, sine_induced
from tinns.paper.untuned_problems import Brusselator, SineGordon, TwoSolitons
from tinns.problems import Burgers

pytestmark = pytest.mark.usefixtures("float64")

COUNTS = Counts(60, 30, 20)
SMALL = Recipe(
    TimeInduced(tinns.MLP((6,))), points=COUNTS, validation=COUNTS, stop=Stop(iterations=20)
)


class Rod(Problem):
    """u_t = D u_xx, insulated, with D from observations."""

    D: float = 0.1
    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - self.D * u.xx

    def conditions(self):
        x, t = (c.ravel() for c in np.meshgrid(np.linspace(0, 1, 7), np.linspace(0.2, 1, 5)))
        values = np.exp(-0.1 * pi**2 * t) * np.cos(pi * x)
        start = tinns.initial(lambda x: jnp.cos(pi * x))
        return [start, tinns.neumann(0.0), tinns.observed(x=x, t=t, u=values)]


PROBLEMS = {
    "diffusion, with a coefficient to estimate": Rod(D=tinns.Trainable(0.3)),
    "convection": Burgers(),
    "second order in time": SineGordon(),
    "third order in space": TwoSolitons(),
    "two unknowns": Brusselator(),
}


@pytest.fixture(scope="module")
def solved(float64):
    """The iterates in the units of the problem."""
    return {name: tinns.solve(p, SMALL, progress=False) for name, p in PROBLEMS.items()}


def units_of(problem, factors):
    """A factor for each axis, unknown and coefficient, in turn."""
    names = (*problem.domain.axes, *problem.unknowns, *problem.trainable)
    return {name: factors[number % len(factors)] for number, name in enumerate(names)}


def difference(problem, before, units, rows, shifts=None):
    """The relative difference of parameters, losses and coefficients after 20 iterations."""
    other = rescaled(problem, units, shifts, rows)
    after = tinns.solve(other, SMALL, progress=False)
    parameters = [
        np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(s.psi["field"])])
        for s in (before, after)
    ]
    compared = [parameters]
    compared += [[s.history[n] for s in (before, after)] for n in ("loss", "validation_loss")]
    compared += [
        [np.array(value * units.get(n, 1.0)), np.array(after.coefficients[n])]
        for n, value in before.coefficients.items()
    ]
    assert len(before.history) == len(after.history) == 20
    return max(float(np.max(np.abs(a - b)) / np.max(np.abs(a))) for a, b in compared)


@pytest.mark.long
@pytest.mark.parametrize("name", PROBLEMS)
def test_any_units_give_the_same_iterates(name, solved):
    problem = PROBLEMS[name]
    units = units_of(problem, (1e3, 1e-3, 1e-3, 1e3))
    assert difference(problem, solved[name], units, rows=7.0) < 1e-6


@pytest.mark.long
def test_units_that_are_powers_of_two_give_the_same_numbers(solved):
    """All operations but those that a compiler reorders are the same."""
    problem = PROBLEMS["two unknowns"]
    units = units_of(problem, (2.0**-10, 2.0**10, 2.0**10, 2.0**-10))
    assert difference(problem, solved["two unknowns"], units, rows=8.0) < 1e-10


@pytest.mark.long
def test_the_origin_of_the_axes_does_not_matter(solved):
    name = "second order in time"
    assert difference(PROBLEMS[name], solved[name], {}, 1.0, {"x": 100.0, "t": -3.0}) < 1e-6


def test_losses_are_dimensionless(solved):
    """The initial loss of a network that begins near zero is about the mean square of u0/size."""
    name = "diffusion, with a coefficient to estimate"
    problem = rescaled(PROBLEMS[name], {"u": 1e6, "t": 1e-4})
    recipe = SMALL.replace(stop=Stop(iterations=1))
    first = tinns.solve(problem, recipe, progress=False).history
    assert 0.05 < first["loss_initial"][0] < 5
    np.testing.assert_allclose(first["loss"][0], solved[name].history["loss"][0], rtol=1e-6)


class LongHeat(Problem):
    """u_t = u_xx / (10 T) until T, with u = sin(πx) exp(-π² t / (10 T))."""

    T: float = 1.0
    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - u.xx / (10 * self.T)

    def conditions(self):
        return [tinns.initial(lambda x: jnp.sin(pi * x)), tinns.dirichlet(0.0)]

    def reference(self):
        return tinns.exact(lambda x, t: jnp.sin(pi * x) * jnp.exp(-(pi**2) * t / (10 * self.T)))


def solved_heat(end, field):
    """The error after 25 iterations on [0, 1] x [0, end]."""
    problem = LongHeat(T=end).with_domain(Box(x=(0, 1), t=(0, end)))
    counts = Counts(200, 40, 40)
    recipe = Recipe(field, points=counts, validation=counts, stop=Stop(iterations=25))
    return tinns.solve(problem, recipe, progress=False).relative_l2()


@pytest.mark.long
def test_a_long_time_is_solved_as_well_as_a_short_one():
    """By networks as a user would write them, whose coordinates are scaled by default."""
    error = solved_heat(1000.0, TimeInduced(tinns.MLP((10, 10))))
    assert error < 1e-3
    np.testing.assert_allclose(error, solved_heat(1.0, TimeInduced(tinns.MLP((10, 10)))), rtol=1e-3)
    assert solved_heat(1000.0, sine_induced((10, 10))) < 1e-3
