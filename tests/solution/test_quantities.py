"""Quantities derived from the unknowns: their values, their errors, and mistakes in them."""

from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import (
    Box,
    Counts,
    PaperLM,
    Problem,
    Recipe,
    Trainable,
    UserError,
    exact,
    initial,
)
from tinns.nn import Formula
from tinns.solution.core import Solution

pytestmark = pytest.mark.usefixtures("quick_compilation")


class Advection(Problem):
    """u_t + c u_x = 0, with its slope and its flux."""

    c: float = 2.0
    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t + self.c * u.x

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x))]

    def reference(self):
        return exact(lambda x, t: jnp.sin(pi * (x - 2 * t)))

    def quantities(self, u, x, t):
        return {"slope": u.x, "flux": (self.c * u, x * u.xx), "itself": u}


def solution_of(formula, problem, precision="float64", **coefficients):
    psi = {"field": (), "coefficients": {n: np.asarray(c) for n, c in coefficients.items()}}
    return Solution(problem.domain, problem.unknowns, Formula(formula), psi, precision, problem)


EXACT = Advection().reference().formula
X, T = np.linspace(0.1, 0.9, 5), np.linspace(0, 1, 3)


def test_a_quantity_broadcasts_like_a_solution():
    solution = solution_of(EXACT, Advection())
    phase = pi * (X[:, None] - 2 * T)
    slope = solution.quantity("slope", x=X[:, None], t=T)
    flux = solution.quantity("flux", x=X[:, None], t=T)
    np.testing.assert_allclose(slope, pi * np.cos(phase), atol=1e-13)
    expected = np.stack([2 * np.sin(phase), -(pi**2) * X[:, None] * np.sin(phase)], axis=-1)
    np.testing.assert_allclose(flux, expected, atol=1e-12)
    assert np.shape(solution.quantity("itself", x=0.3, t=0.5)) == ()


def test_the_exact_solution_has_no_errors():
    errors = solution_of(EXACT, Advection()).errors()
    assert errors == pytest.approx({"slope": 0.0, "flux": 0.0, "itself": 0.0}, abs=1e-14)


def test_errors_are_those_of_a_direct_computation():
    def disturbed(x, t):
        return EXACT(x, t) + 0.01 * x**2 * t

    errors = solution_of(disturbed, Advection()).errors(x=X, t=T)
    x, t = np.meshgrid(X, T, indexing="ij")
    phase, norm = pi * (x - 2 * t), np.linalg.norm
    expected = {
        "slope": norm(0.02 * x * t) / norm(pi * np.cos(phase)),
        "flux": norm([0.02 * x**2 * t, 0.02 * x * t])
        / norm([2 * np.sin(phase), pi**2 * x * np.sin(phase)]),
        "itself": norm(0.01 * x**2 * t) / norm(np.sin(phase)),
    }
    assert errors == pytest.approx(expected, rel=1e-10)


def test_large_grids_are_evaluated_in_pieces(monkeypatch):
    whole = solution_of(lambda x, t: x * t, Advection()).errors(x=20, t=10)
    monkeypatch.setattr("tinns.solution.core.EVALUATION_CHUNK", 7)
    monkeypatch.setattr("tinns.problem.reference.FORMULA_CHUNK", 9)
    pieces = solution_of(lambda x, t: x * t, Advection()).errors(x=20, t=10)
    assert pieces == pytest.approx(whole, rel=1e-13)


def test_the_reference_is_double_precision_even_if_the_run_was_not():
    errors = solution_of(EXACT, Advection(), "float32").errors(x=X, t=T)
    assert 1e-9 < errors["slope"] < 1e-5
    assert not jax.config.jax_enable_x64


def test_a_quantity_of_a_coefficient_that_is_sought_has_a_value_but_no_error():
    solution = solution_of(EXACT, Advection(c=Trainable(1.0)), c=3.0)
    flux = solution.quantity("flux", x=0.25, t=0.0)
    assert flux[0] == pytest.approx(3 * np.sin(pi / 4))
    assert set(solution.errors(x=X, t=T)) == {"slope", "itself"}


def test_a_problem_without_quantities_has_no_errors_to_state(heat):
    solution = solution_of(heat.reference().formula, heat)
    assert solution.errors() == {}
    with pytest.raises(UserError, match="quantity 'slope'"):
        solution.quantity("slope", x=0.5, t=0.5)


def test_an_unknown_quantity_suggests_the_nearest():
    with pytest.raises(UserError, match=r"'slop'.*did you mean 'slope'"):
        solution_of(EXACT, Advection()).quantity("slop", x=0.5, t=0.5)


def test_solve_records_the_errors_of_quantities(small_field, few_points):
    recipe = Recipe(small_field, PaperLM(), few_points, few_points)
    solution = tinns.solve(Advection(), recipe, iterations=2, progress=False)
    assert solution.result["errors"] == pytest.approx(solution.errors())
    assert solution.result["errors"]["itself"] == pytest.approx(solution.result["relative_l2"])


class Pair(Problem):
    """Two unknowns, of which the reference tells only the first."""

    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, v, x, t):
        return u.t - v, v.t + u

    def conditions(self):
        return [initial(1.0)]

    def reference(self):
        return exact(lambda x, t: jnp.cos(t) + jnp.sin(t) + 0 * x)

    def quantities(self, u, v, x, t):
        return {"energy": u**2 + v**2}


def test_a_reference_of_some_unknowns_scores_no_quantities(small_field, few_points):
    recipe = Recipe(small_field, PaperLM(), few_points, few_points)
    solution = tinns.solve(Pair(), recipe, iterations=2, progress=False)
    assert solution.result["errors"] == {}
    assert solution.quantity("energy", x=0.5, t=0.5) > 0
    with pytest.raises(UserError, match="does not give all of u, v"):
        solution.errors()


@pytest.mark.parametrize(
    ("quantities", "named"),
    [
        (lambda self, u, x: {"a": u}, r"quantities takes \(u, x\); expected .*\(u, x, t\)"),
        (lambda self, v, x, t: {"a": v}, r"takes \(v, x, t\)"),
        (lambda self, u, x, t: u.x, "quantities returned .*expected a dict"),
        (lambda self, u, x, t: {"a": None}, "'a' returned None"),
        (lambda self, u, x, t: {"a": jnp.stack([u.x, u.t])}, r"quantity 'a' .*\(2,\)"),
        (lambda self, u, x, t: {"a": ()}, "quantity 'a'"),
        (lambda self, u, x, t: {"a": u.y}, r"u.y.*'y'"),
        (lambda self, u, x, t: {"a": np.sin(u)}, "'quantities' cannot be evaluated"),
        (
            lambda self, u, x, t: {"a": self.strength * u},
            "'quantities' cannot be evaluated.*strength",
        ),
    ],
)
def test_mistakes_in_quantities_are_named_before_the_training(quantities, named, monkeypatch):
    monkeypatch.setattr(Advection, "quantities", quantities)
    monkeypatch.setattr("tinns._solve.solve_task", lambda *_: pytest.fail("trained"))
    with pytest.raises(UserError, match=named) as caught:
        tinns.solve(Advection(), Recipe(points=Counts(5, 5)), iterations=1, progress=False)
    assert len(str(caught.value).splitlines()) == 1
