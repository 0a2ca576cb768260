"""From a problem to a solution in one call."""

import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import (
    MLP,
    AcceleratedLM,
    Counts,
    Layerwise,
    PaperLM,
    Recipe,
    Stop,
    TimeInduced,
    UserError,
)
from tinns._solve import resolve_recipe
from tinns.problems import Burgers

pytestmark = pytest.mark.usefixtures("quick_compilation")

QUICK = Recipe(
    TimeInduced(MLP((10, 10)), Layerwise(MLP((5,)))),
    AcceleratedLM(),
    points=Counts(800, 100, 40),
    validation=Counts(300, 50, 20),
    weights={"initial": 2.0},
    stop=Stop(iterations=60),
)


@pytest.fixture(scope="module")
def solution(quick_compilation):
    return tinns.solve(Burgers(viscosity=0.05), QUICK, progress=False)


def test_a_short_burgers_run_comes_close_to_the_exact_solution(solution):
    assert solution.relative_l2() < 6e-4


def test_the_solution_satisfies_what_was_asked_of_it(solution):
    x = np.linspace(-1, 1, 41)
    np.testing.assert_allclose(solution(x=x, t=0.0), -np.sin(np.pi * x), atol=0.02)
    np.testing.assert_allclose(solution(x=[-1.0, 1.0], t=[[0.3], [0.8]]), 0, atol=0.02)
    point = {"x": x, "t": 0.4}
    u, u_x, u_xx, u_t = (solution.derivative(f"u{d}", **point) for d in ("", "_x", "_xx", "_t"))
    assert np.abs(u_t + u * u_x - 0.05 * u_xx).max() < 0.05 * np.abs(u_t).max()


def test_the_result_records_the_run(solution):
    result = solution.result
    assert result["problem"] == "burgers"
    assert result["recipe"] == "custom"
    assert result["iterations"] == len(solution.history) == 60
    assert result["stop_reason"] == "iterations done"
    assert result["parameters"] == solution.parameters == 2 * 140 + (5 + 5 + 25) + 5
    assert result["relative_l2"] == pytest.approx(solution.relative_l2())
    assert 0 < result["loss"] < solution.history["loss"][0]
    assert result["precision"] == "float64"
    assert result["settings"]["optimizer"]["class"] == "AcceleratedLM"


def test_the_error_during_the_run_ends_at_that_of_the_result(solution):
    _, errors = solution.history.measured("relative_l2")
    assert errors.min() == pytest.approx(solution.relative_l2(), rel=0.5)


def test_hard_conditions_are_exact_and_the_rest_is_fitted(heat, small_field, few_points):
    recipe = Recipe(small_field, points=few_points, validation=few_points, weights={"initial": 2})
    hard = ("initial", "boundary")
    solution = tinns.solve(heat, recipe, iterations=8, progress=False, hard=hard)
    assert solution.result["settings"]["hard"] == list(hard)
    assert solution.result["loss"] < 0.1 * solution.history["loss"][0]
    x = np.linspace(0, 1, 33)
    np.testing.assert_allclose(solution(x=x, t=0.0), np.sin(np.pi * x), rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution(x=[0.0, 1.0], t=[[0.3], [1]]), 0, rtol=0, atol=1e-12)
    assert solution.relative_l2() < 0.1
    _, errors = solution.history.measured("relative_l2")
    assert errors.min() == pytest.approx(solution.relative_l2(), rel=0.5)


def test_single_precision(heat, small_field, few_points):
    recipe = Recipe(small_field, PaperLM(), few_points, few_points, precision="float32")
    solution = tinns.solve(heat, recipe, iterations=3, progress=False)
    assert solution.psi["field"]["offset"][0][0].dtype == np.float32
    assert solution.result["precision"] == "float32"
    assert np.isfinite(solution.relative_l2())


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"problem": "burgrs"}, "did you mean 'burgers'"),
        ({"recipe": "fsat"}, "did you mean 'fast'"),
        ({"method": "tinn-adm"}, "did you mean 'tinn-adam'"),
        ({"iterations": 0}, "iterations"),
        ({"seconds": -1.0}, "seconds"),
        ({"hard": ("inital",)}, "did you mean 'initial'"),
        ({"hard": "equation"}, "'equation' cannot be built in"),
        ({"hard": 3}, "hard=3"),
    ],
)
def test_mistakes_are_found_before_any_work(settings, named):
    with pytest.raises(UserError, match=named):
        tinns.solve(**({"problem": "burgers", "progress": False} | settings))


def test_coefficients_without_observations_are_refused():
    with pytest.raises(UserError, match="viscosity cannot be estimated without observations"):
        tinns.solve(Burgers(viscosity=tinns.Trainable(0.1)), QUICK, progress=False)


def test_a_method_that_is_a_recipe_keeps_what_is_asked_for_besides():
    name, recipe = resolve_recipe(Burgers(), None, "pinn", hard=("initial",))
    assert (name, recipe.hard) == ("pinn", ("initial",))
    with pytest.raises(UserError, match="nonsense"):
        resolve_recipe(Burgers(), None, "pinn", hard=("nonsense",))
    for given, named in ((QUICK, "yours"), ("fast", "recipe 'fast'")):
        with pytest.raises(UserError, match=rf"'pinn' is a recipe of its own .*{named}"):
            resolve_recipe(Burgers(), given, "pinn")
    with pytest.raises(UserError, match=r"time windows .*every 100 steps"):
        resolve_recipe(Burgers(), None, "copinn", windows=3)


def test_coefficients_are_not_sought_on_grids():
    with pytest.raises(UserError, match=r"convection, viscosity.*TensorGrid"):
        tinns.solve("inverse-burgers", method="copinn", progress=False)


def test_coefficients_that_were_sought_are_recorded_with_their_errors():
    class Decay(tinns.Problem):
        k: float | tinns.Trainable = tinns.Trainable(1.0)
        domain = tinns.Box(x=(0, 1), t=(0, 1))
        truth = {"k": 2.0}

        def equation(self, u, x, t):
            return u.t + self.k * u

        def conditions(self):
            x, t = np.random.default_rng(0).uniform(size=(2, 30))
            return [tinns.observed(x=x, t=t, u=np.exp(-2 * t))]

    counts = Counts(60)
    field = TimeInduced(MLP((5,)), Layerwise(MLP((3,))))
    recipe = Recipe(field, points=counts, validation=counts, balance=tinns.Balance())
    solution = tinns.solve(Decay(), recipe, iterations=40, progress=False)
    k, error = solution.coefficients["k"], solution.result["coefficient_errors"]["k"]
    assert error == abs(k - 2.0) < 0.01
    stored = solution.result["estimates"]["k"]
    assert (stored["value"], stored["true"], stored["error"]) == (k, 2.0, error)
    assert 0 < stored["standard_error"] < 0.01
    assert stored["interval"][0] < k < stored["interval"][1]
    assert solution.estimates["k"].interval == tuple(stored["interval"])


def test_problems_without_unknown_coefficients_have_no_estimates(solution):
    assert solution.estimates == {}
    assert "coefficient_errors" not in solution.result


class RootAtZero(tinns.Problem):
    """A finite residual whose derivative in u is infinite everywhere."""

    domain = tinns.Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t + jnp.sqrt(0.0 * u.value)

    def conditions(self):
        return [tinns.initial(0.0)]


def test_a_failed_run_warns_and_names_the_row_at_fault():
    few = QUICK.replace(points=Counts(40, 10, 4), validation=Counts(40, 10, 4))
    with pytest.warns(RuntimeWarning, match=r"random start.*gradient of 'equation'.*x = "):
        solution = tinns.solve(RootAtZero(), few, iterations=9, progress=False)
    assert solution.result["stop_reason"] == "every factorisation failed"
    assert "gradient of 'equation'" in solution.result["stop_detail"]


class NoDomain(tinns.Problem):
    """Everything but a domain."""

    def equation(self, u, x, t):
        return u.t - u.xx

    def conditions(self):
        return [tinns.initial(0.0)]


def test_a_problem_without_a_domain_is_refused():
    with pytest.raises(UserError, match=r"NoDomain has no domain: add domain = Box"):
        tinns.solve(NoDomain(), progress=False)


@pytest.mark.parametrize("setting", ["points", "validation"])
@pytest.mark.parametrize(
    ("counts", "name"), [(Counts(0, 9, 9), "equation"), (Counts(9, 0, 9), "initial")]
)
def test_a_condition_without_points_is_refused(setting, counts, name):
    recipe = QUICK.replace(**{setting: counts})
    with pytest.raises(UserError, match=rf"{setting}=.*'{name}' no points"):
        tinns.solve(Burgers(), recipe, progress=False)


def test_observations_must_be_columns():
    with pytest.raises(UserError, match="read_observations"):
        Burgers().observing("obs.csv")


def test_a_run_builds_its_reference_once(heat, monkeypatch):
    built = []
    reference = type(heat).reference

    def counted(problem):
        built.append(problem)
        return reference(problem)

    monkeypatch.setattr(type(heat), "reference", counted)
    problem = type(heat)(D=0.2)
    few = QUICK.replace(points=Counts(40, 10, 4), validation=Counts(40, 10, 4), weights={})
    solution = tinns.solve(problem, few, iterations=4, windows=2, progress=False)
    assert solution.relative_l2() == solution.result["relative_l2"]
    assert len(built) == 1
