"""Every solve ends with a verdict: exact solutions are trusted, wrong ones are not."""

import json
from dataclasses import replace
from math import pi

import jax
import jax.numpy as jnp
import pytest

import tinns
from tinns import Box, Check, Counts, Problem, Recipe, Solution, Stop, dirichlet, initial
from tinns.cli import main
from tinns.nn import Formula
from tinns.paper.untuned_problems import Brusselator, CoolingPlate, GrayScott, Heat
from tinns.problems import Wave
from tinns.solution.judgement import judged
from tinns.solvers import History, StopReason

pytestmark = [pytest.mark.checked, pytest.mark.usefixtures("quick_compilation")]

QUICK = Check(points=Counts(500, 100, 100), network_seconds=1.0)
COUNTS = Counts(300, 60, 60)
SMALL = Recipe(
    tinns.TimeInduced(tinns.MLP((8, 8))),
    points=COUNTS,
    validation=COUNTS,
    stop=Stop(iterations=30),
)


def exactly(problem, factor=1.0, result=None, shift=0.0):
    """The exact solution times a factor, as if it had been trained."""
    formula = problem.reference().formula
    field = Formula(lambda **at: factor * formula(**at) + shift)
    psi = {"field": (), "coefficients": {}}
    found = {"relative_l2": None, "loss": 1e-12} | (result or {})
    domain, unknowns = problem.domain, problem.unknowns
    return Solution(domain, unknowns, field, psi, "float64", problem, History(), found)


@pytest.mark.parametrize(
    ("factor", "status"), [(1 + 1e-6, "trusted"), (1.03, "doubtful"), (1.5, "failed")]
)
def test_a_solution_is_judged_by_its_error(factor, status):
    solution = exactly(Heat(), factor).checked(QUICK)
    assert solution.verdict.status == status
    assert solution.error_estimate().relative_l2 == pytest.approx(factor - 1, rel=0.05)
    assert solution.result["estimate"]["by"] == "classical"
    assert json.dumps(solution.result, allow_nan=False)
    assert status in repr(solution)
    assert (solution.shortfall(1e-2) is None) == (status == "trusted")


class SmallBesideLarge(Brusselator):
    """u = 1 and v = 100."""

    def reference(self):
        return tinns.exact(lambda x, t: jnp.stack([1 + 0 * x, 100 + 0 * x]))


def test_errors_of_unknowns_are_relative_to_their_own_size():
    """The error over all hides that of u."""
    problem = SmallBesideLarge()
    field = Formula(lambda x, t: jnp.stack([1.5 + 0 * x, 100 + 0 * x]))
    psi = {"field": (), "coefficients": {}}
    given = problem.domain, problem.unknowns, field, psi, "float64", problem
    solution = Solution(*given, History(), {})
    assert solution.relative_l2() == pytest.approx(0.005, rel=1e-3)
    assert solution.relative_l2_per_unknown() == pytest.approx({"u": 0.5, "v": 0.0})


def test_a_new_estimate_is_made_on_request():
    solution = exactly(Heat(), 1.001)
    assert solution.verdict is None
    found = solution.error_estimate()
    assert found.relative_l2 == pytest.approx(1e-3, rel=0.05)
    stored = solution.checked(QUICK)
    assert stored.error_estimate(seconds=3.0).relative_l2 == pytest.approx(1e-3, rel=0.05)


def test_a_solution_without_its_problem_cannot_be_checked():
    bare = replace(exactly(Heat()), problem=None)
    for ask in (bare.checked, bare.error_estimate):
        with pytest.raises(tinns.UserError, match="without its problem"):
            ask()


def test_what_the_run_says_is_part_of_the_verdict():
    def verdict_with(**result):
        found = exactly(Heat(), 1 + 1e-6, result).checked(QUICK)
        return found.verdict

    assert verdict_with(stop_reason=StopReason.ITERATIONS.value).is_trusted
    interrupted = verdict_with(solved_until=0.5)
    assert interrupted.status == "doubtful"
    assert "until t = 0.5" in interrupted.reasons[0]
    torn = verdict_with(windows=[{"jump": 0.0}, {"jump": 0.2}])
    assert "jumps by 2.0e-01" in torn.reasons[0]
    missed = verdict_with(tolerance={"asked": 1e-9, "met": False})
    assert "tolerance 1e-09 is not met" in missed.reasons[0]
    never = verdict_with(stop_reason=StopReason.NO_STEP.value)
    assert never.status == "failed"


def test_a_reference_of_another_problem_is_noticed():
    solution = exactly(Heat(), 1 + 1e-6, {"relative_l2": 0.4}).checked(QUICK)
    assert solution.verdict.status == "doubtful"
    assert "the reference differs" in solution.verdict.reasons[0]
    assert any("check the reference and the equation" in s for s in solution.verdict.suggestions)


def test_suggestions_come_where_trust_is_missing():
    limited = {"stop_reason": StopReason.SECONDS.value, "seconds": 10.0}
    assert not exactly(Heat(), 1.0, limited).checked(QUICK).verdict.suggestions
    advice = exactly(Heat(), 1.03, limited).checked(QUICK).verdict.suggestions
    assert any("seconds=40" in each for each in advice)
    assert any("tolerance=" in each for each in advice)


def test_ctrl_c_ends_the_checks_alone(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tinns.solution.judgement.verify", interrupted)
    verdict = exactly(Heat()).checked(QUICK).verdict
    assert verdict.status == "doubtful"
    assert "Ctrl-C ended the checks" in verdict.reasons


def test_a_check_that_fails_costs_no_result(monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("no such luck")

    monkeypatch.setattr("tinns.verification.verification.inspect_residuals", broken)
    verdict = exactly(Heat()).checked(QUICK).verdict
    assert verdict.status == "doubtful"
    assert "not checked (RuntimeError: no such luck)" in verdict.reasons[0]


@pytest.mark.long
def test_every_solve_ends_with_a_verdict():
    solution = tinns.solve(Heat(), SMALL, progress=False)
    assert solution.verdict.is_trusted
    error = solution.relative_l2()
    assert error / 2 < solution.result["estimate"]["relative_l2"] < 2 * error
    assert solution.result["checks"]["residuals"]["rows"]
    unchecked = tinns.solve(Heat(), SMALL, progress=False, check=False)
    assert unchecked.verdict.status == "doubtful"
    assert unchecked.verdict.reasons == ("the error was not estimated",)


@pytest.mark.long
def test_two_dimensions_are_estimated_from_the_network_and_classically_on_request():
    solution = exactly(CoolingPlate(), 1 + 1e-4)
    from_network = solution.checked(QUICK)
    assert from_network.result["estimate"]["by"] == "network"
    assert "two space dimensions" in from_network.result["estimate"]["how"]
    made_before = from_network.error_estimate()  # as in a search to a tolerance
    thorough = judged(solution, Check.thorough(), estimate=made_before)
    assert thorough.result["estimate"]["by"] == "classical"
    assert thorough.error_estimate().relative_l2 == pytest.approx(1e-4, rel=0.05)
    assert judged(solution, QUICK, estimate=made_before).result["estimate"]["by"] == "network"


class BlowUp(Problem):
    """u_t = u_xx + u³, insulated and constant at first: infinite at t = 1/8."""

    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - u.xx - u**3

    def conditions(self):
        return [initial(2.0), tinns.neumann(0.0)]


class Contradictory(Heat):
    """It begins at 1 where it is held at 0."""

    def conditions(self):
        return [initial(lambda x: jnp.cos(pi * x)), dirichlet(0.0)]

    def reference(self):
        return None


class OneForTwo(Problem):
    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, v, x, t):
        return u.t - v.xx

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0)]


@pytest.mark.long
@pytest.mark.parametrize(
    ("problem", "status", "words"),
    [
        (BlowUp(), "failed", "becomes infinite near t = 0.125"),
        (Heat(k=-0.1), "failed", "ill-posed"),
        (Contradictory(), "doubtful or failed", "contradict each other at x = 0, t = 0"),
        (OneForTwo(), "failed", "u and v are not determined: there is one equation"),
    ],
    ids=["blow-up", "ill-posed", "contradictory", "undetermined"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_problems_without_a_solution_are_named(problem, status, words):
    problem = problem if problem.name != "heat" else problem.without_truth()
    solution = tinns.solve(problem, SMALL, progress=False)
    assert solution.verdict.status in status
    assert any(words in reason for reason in solution.verdict.reasons), solution.verdict.reasons


@pytest.mark.long
@pytest.mark.parametrize("problem", [GrayScott(), Brusselator()], ids=lambda p: p.name)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_wrong_answer_does_not_look_like_a_right_one(problem):
    """Solved below 1e-2, or declared failed; shorter than a user would wait, with the default."""
    solution = tinns.solve(problem.without_truth(), seconds=12, progress=False)
    errors = replace(solution, problem=problem).relative_l2_per_unknown()
    worst = max(errors.values())
    assert worst < 1e-2 or solution.verdict.status == "failed", (errors, solution.verdict)


@pytest.fixture
def small_wave(monkeypatch):
    """A run of the real recipe would take minutes."""
    few = Counts(60, 20, 20)
    recipe = Recipe(tinns.TimeInduced(tinns.MLP((5,))), points=few, validation=few)
    monkeypatch.setattr(Wave, "recipes", {"fast": recipe, "paper": recipe})
    return ["--iterations", "2", "--quiet"]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_command_line_states_the_verdict_and_exits_by_it(small_wave, tmp_path, capsys):
    out = tmp_path / "wave"
    code = main(["solve", "wave", *small_wave, "--out", str(out)])
    said = capsys.readouterr()
    result = json.loads((out / "result.json").read_text())
    assert result["verdict"]["status"] == "failed"
    assert code == 1
    assert "failed" in said.out
    assert result["verdict"]["reasons"][0] in said.err
    assert result["estimate"]["relative_l2"] == pytest.approx(result["relative_l2"], rel=0.5)
    # a saved solution is checked again
    file = out / "solution.safetensors"
    right = exactly(Heat(), 1 + 1e-5)
    assert main(["check", str(out), "--require", "1e-3"]) == 1
    said = capsys.readouterr()
    assert "failed" in said.out
    checked = json.loads((out / "result.json").read_text())
    assert checked["checks"]["seconds"] != result["checks"]["seconds"]
    assert tinns.load(file).verdict.status == "failed"
    assert right.shortfall(1e-3) == "no error was estimated, 0.001 is required"


@pytest.mark.parametrize("value", ["0", "-1e-3", "1", "nan", "abc"])
def test_what_is_required_must_be_a_relative_error(value, capsys, tmp_path):
    assert main(["solve", "wave", "--require", value, "--out", str(tmp_path / "x")]) == 2
    said = capsys.readouterr().err
    assert "require" in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_float64_is_used_whatever_the_user_has():
    with jax.enable_x64(False):
        found = exactly(Heat(), 1 + 1e-9).checked(QUICK).error_estimate()
    assert found.relative_l2 == pytest.approx(1e-9, rel=0.1)
