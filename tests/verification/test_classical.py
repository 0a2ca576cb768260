"""Classical estimates: of known errors, with their accuracy, and what stands in their way."""

from math import exp, pi, sqrt

import jax.numpy as jnp
import numpy as np
import pytest

from tinns import Box, Problem, Solution, Trainable, dirichlet, initial, neumann, observed
from tinns.nn import Formula
from tinns.paper.untuned_problems import (
    Beam,
    BlackScholes,
    Burgers2D,
    Convection,
    FisherKPP,
    Heat,
    NonlinearSchroedinger,
    SineGordon,
    TwoSolitons,
)
from tinns.verification import Breakdown, NotApplicable, classical_estimate
from tinns.verification.collocation import Axis, Layer
from tinns.verification.radau import Control, Stopped, integrate
from tinns.verification.symbols import count_decaying

pytestmark = pytest.mark.usefixtures("quick_compilation")

NOTHING = {"field": (), "coefficients": {}}
FAST = 60.0  # seconds: runs end by agreement, not by the budget


def perturbed(problem, size):
    """The exact solution plus a smooth error that meets no condition."""
    exact, axes = problem.reference(), problem.domain.axes

    def function(**at):
        u = jnp.atleast_1d(exact.formula(**at))
        z = sum(
            (n + 1)
            * (at[a] - problem.domain.interval(a)[0])
            * 2
            * pi
            / np.ptp(problem.domain.interval(a))
            for n, a in enumerate(axes)
        )
        return u + size * jnp.cos(z + jnp.arange(len(u)))

    return Formula(function)


def solution_of(problem, field):
    return Solution(problem.domain, problem.unknowns, field, NOTHING, "float64", problem)


@pytest.mark.long
@pytest.mark.parametrize("size", [1e-2, 1e-7])
@pytest.mark.parametrize(
    "problem",
    [
        Heat,
        FisherKPP,
        SineGordon,
        Convection,
        NonlinearSchroedinger,
        TwoSolitons,
        Beam,
        BlackScholes,
    ],
    ids=lambda cls: cls.name,
)
def test_a_known_error_is_found(problem, size):
    """Relative to the error, whatever its size: in all, over time, and within the factor."""
    problem = problem()
    field = perturbed(problem, size * (100 if problem.name == "black-scholes" else 1))
    solution = solution_of(problem, field)
    error = solution.relative_l2()
    found = classical_estimate(problem, field, NOTHING, budget=FAST)
    assert found.by == "classical"
    assert found.relative_l2 == pytest.approx(error, rel=0.02)
    assert found.bounds[0] <= error <= found.bounds[1]
    assert found.factor < 2
    over_time = solution.relative_l2_over_time(t=found.times)
    np.testing.assert_allclose(found.over_time, over_time.values, rtol=0.1)
    assert found.per_unknown.keys() == found.per_unknown_over_time.keys() == {*problem.unknowns}


@pytest.mark.long
def test_two_dimensions_on_request():
    problem = Burgers2D()
    field = perturbed(problem, 1e-3)
    with pytest.raises(NotApplicable, match="two space dimensions") as refusal:
        classical_estimate(problem, field, NOTHING)
    assert refusal.value.kind == "dimension"
    found = classical_estimate(problem, field, NOTHING, budget=FAST, dimensions=2)
    assert found.bounds[0] <= solution_of(problem, field).relative_l2() <= found.bounds[1]


class Growth(Problem):
    """u_t = u_xx + u² on [0, 1], insulated: u = 1 / (1/u₀ - t) for a constant u₀."""

    start: float = 2.0
    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - u.xx - u**2

    def conditions(self):
        return [initial(self.start), neumann(0.0)]


def test_a_solution_that_becomes_infinite():
    field = Formula(lambda x, t: 2.0 + 2 * t + 0 * x)
    with pytest.raises(Breakdown, match=r"becomes infinite near t = 0\.5") as breakdown:
        classical_estimate(Growth(), field, NOTHING)
    assert breakdown.value.kind == "blow-up"
    assert breakdown.value.time == pytest.approx(0.5, rel=0.01)


def test_a_solution_that_grows_but_exists():
    problem = Growth(start=0.9)
    exact = Formula(lambda x, t: 1 / (1 / 0.9 - t) * (1 + 1e-3 * jnp.cos(pi * x)))
    found = classical_estimate(problem, exact, NOTHING, budget=FAST)
    assert found.relative_l2 == pytest.approx(1e-3 * sqrt(0.5), rel=0.5)


class BackwardHeat(Heat):
    """u_t = -k u_xx: ill-posed."""

    k: float = -0.1


def test_an_ill_posed_problem():
    with pytest.raises(Breakdown, match="ill-posed") as breakdown:
        classical_estimate(BackwardHeat(), perturbed(BackwardHeat(), 0.0), NOTHING)
    assert breakdown.value.kind == "ill-posed"


class HalfDirichlet(Heat):
    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0, on="x-")]


class TooMany(Heat):
    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0), neumann(-pi)]


class NoStart(Heat):
    def conditions(self):
        return [dirichlet(0.0)]


class Shock(Problem):
    """u_t + u u_x = 0, which becomes discontinuous at t = 1 / (2π)."""

    domain = Box(x=(0, 1), t=(0, 1), periodic="x")

    def equation(self, u, x, t):
        return u.t + u * u.x

    def conditions(self):
        return [initial(lambda x: jnp.sin(2 * pi * x))]


class Estimated(Heat):
    """Its diffusivity is estimated."""

    k: float | Trainable = Trainable(0.1)

    def conditions(self):
        return [*super().conditions(), observed(x=[0.5], t=[0.5], u=[exp(-0.05 * pi**2)])]


@pytest.mark.parametrize(
    ("problem", "kind", "words"),
    [
        (HalfDirichlet, "boundary-missing", r"needs 1 at x\+, and the problem has none"),
        (TooMany, "boundary-excess", "2 at x-, where it needs 1"),
        (NoStart, "initial", "initial value of u is not given"),
        (Shock, "resolution", "discontinuous"),
        (Estimated, "form", "coefficients are estimated"),
    ],
)
def test_why_there_is_no_classical_solution(problem, kind, words):
    field = Formula(lambda x, t: jnp.sin(pi * x) * (1 - t))
    with pytest.raises(NotApplicable, match=words) as refusal:
        classical_estimate(problem(), field, NOTHING, budget=FAST)
    assert refusal.value.kind == kind


class Decay:
    """y' = -λ (y - cos t) - sin t, with y = cos t: a stiff equation as an implicit system."""

    rate = 50.0

    def residual(self, t, y, slope, base):
        value = slope + self.rate * (y - np.cos(t)[:, None, None]) + np.sin(t)[:, None, None]
        return value.reshape(len(t), -1), None

    def jacobians(self, local, stage):
        return self.rate * np.eye(1), np.eye(1)


def error_of_steps(count):
    """The error at t = 2 with steps of equal length."""
    step = 2.0 / count
    control = Control(1e3, np.ones(1), max_step=step, first_step=step)
    _, end = integrate(Decay(), None, (0.0, 2.0), np.ones((1, 1)), np.array([2.0]), control)
    return abs(end[0, 0] - np.cos(2.0))


def test_radau_has_order_five():
    rates = np.log2([error_of_steps(n) / error_of_steps(2 * n) for n in (100, 200)])
    np.testing.assert_allclose(rates, 5, atol=0.3)


def test_radau_meets_its_tolerance_and_its_deadline():
    outputs = np.linspace(0, 2, 9)
    control = Control(1e-8, np.ones(1), 0.5, 1e-4)
    found, _ = integrate(Decay(), None, (0.0, 2.0), np.ones((1, 1)), outputs, control)
    np.testing.assert_allclose(found[:, 0, 0], np.cos(outputs), atol=1e-7)
    late = Control(1e-8, np.ones(1), 0.5, 1e-4, deadline=0.0)
    with pytest.raises(Stopped) as stop:
        integrate(Decay(), None, (0.0, 2.0), np.ones((1, 1)), outputs, late)
    assert stop.value.reason == "time"


@pytest.mark.parametrize(("count", "layer"), [(32, None), (128, Layer(0.3, 6.0))])
def test_chebyshev_grids_differentiate_interpolate_and_integrate(count, layer):
    axis, onto = Axis((-1.0, 3.0), count, layer=layer), np.linspace(-1, 3, 11)
    x = axis.points
    np.testing.assert_allclose(axis.derivative(2) @ np.sin(x), -np.sin(x), atol=1e-6)
    np.testing.assert_allclose(axis.onto(onto) @ np.sin(x), np.sin(onto), atol=1e-10)
    assert axis.weights @ np.sin(x) == pytest.approx(np.cos(1) - np.cos(3), abs=1e-8)
    fewer = axis.resampling(2)
    assert fewer.shape == (count - 2, count)
    np.testing.assert_allclose(fewer @ np.ones(count), 1, atol=1e-12)


def test_fourier_grids_differentiate_and_interpolate():
    axis, onto = Axis((0.0, 2.0), 16, periodic=True), np.linspace(0, 2, 11)
    x = axis.points
    wave = lambda x: np.cos(2 * pi * x + 1)  # noqa: E731
    np.testing.assert_allclose(
        axis.derivative(3) @ wave(x), 8 * pi**3 * np.sin(2 * pi * x + 1), atol=1e-9
    )
    np.testing.assert_allclose(axis.onto(onto) @ wave(x), wave(onto), atol=1e-12)
    assert axis.wanted(wave(x)[None], 1e-6) == 6  # modes 0 to 2: one whole wave per unit


@pytest.mark.parametrize(
    ("roots", "decaying"),
    [([-1.0, 1.0], 1), ([-1.0, -2.0, 3.0], 2), ([1.0, 2.0], 0), ([-1.0, 10.0, -10.0, 1.0], 2)],
)
def test_roots_on_the_left_are_counted(roots, decaying):
    polynomial = np.poly(roots)[::-1]
    assert count_decaying(polynomial[:, None, None]) == decaying
