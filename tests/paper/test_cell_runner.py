"""One cell: what is recorded of a run, and that an error makes a failed record."""

import json

import pytest
from bench_records import SMOKE, cell

import tinns
from tinns import UserError
from tinns.paper import cell_runner, cells
from tinns.paper.cell_runner import run_cell
from tinns.paper.cells import current_settings
from tinns.paper.records import Status, plain, write_record
from tinns.problems import Burgers
from tinns.solvers import StopReason


@pytest.fixture(autouse=True)
def tiny(monkeypatch, coarse_grids):
    """A recipe that is solved in a second."""
    recipe = tinns.Recipe(tinns.TimeInduced(tinns.MLP((4,)), tinns.Linear()), tinns.PaperLM())
    monkeypatch.setattr(Burgers, "recipes", {"fast": recipe, "paper": recipe})
    monkeypatch.setattr(cells, "SMOKE_POINTS", tinns.Counts(20, 5, 4))


@pytest.fixture
def with_outcome(monkeypatch):
    """Replace training by a given solution or exception."""

    def replace(outcome):
        def solve(*arguments, **named):
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        monkeypatch.setattr(cell_runner, "solve", solve)

    return replace


def solution(**changes):
    result = {
        "problem": "burgers",
        "seed": 0,
        "relative_l2": 0.1,
        "stop_reason": "iterations done",
        "seconds": 1.0,
    }
    return tinns.Solution(
        Burgers().domain, ("u",), tinns.TimeInduced(), {}, result=result | changes
    )


@pytest.mark.usefixtures("quick_compilation")
def test_a_record_has_the_names_settings_and_errors_of_its_cell():
    ran = cell("mlp", "fast", seed=3, budget="smoke")
    record = run_cell(ran, SMOKE)
    assert record.status == Status.DONE
    assert (record.problem, record.method, record.recipe, record.seed) == (
        "burgers",
        "mlp",
        "fast",
        3,
    )
    assert record.profile == SMOKE
    assert record.iterations == 2
    assert record.stop_reason == StopReason.ITERATIONS
    assert record.parameters == 1160
    assert record.settings["points"]["interior"] == 20
    assert record.settings["stop"]["iterations"] == 2
    assert record.comparable_settings == current_settings(ran, SMOKE)
    assert record.curve[-1]["iteration"] == 2
    assert record.curve[-1]["relative_l2"] == pytest.approx(record.relative_l2, rel=0.5)


def test_an_unknown_method_makes_a_failed_record_without_settings():
    record = run_cell(cell("no-such-method"), SMOKE)
    assert record.status == Status.FAILED
    assert record.reason.startswith("there is no method called no-such-method")
    assert record.settings is None
    assert (record.method, record.recipe, record.profile) == ("no-such-method", "paper", SMOKE)
    assert record.device
    assert record.finished


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (UserError("this recipe needs an axis"), "this recipe needs an axis"),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory\nmore"), "RuntimeError: RESOURCE"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_an_exception_becomes_the_reason_of_a_failure(with_outcome, outcome, reason):
    with_outcome(outcome)
    record = run_cell(cell(), SMOKE)
    assert record.status == Status.FAILED
    assert record.reason.startswith(reason)
    assert "\n" not in record.reason
    assert record.comparable_settings == current_settings(cell(), SMOKE)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"stop_reason": StopReason.DIVERGED.value}, "diverged"),
        ({"relative_l2": float("nan")}, "diverged"),
        ({"stop_reason": StopReason.NO_STEP.value}, "no step was accepted"),
        ({"stop_reason": StopReason.FACTORISATION.value}, "every factorisation failed"),
    ],
)
def test_a_run_without_a_usable_result_has_failed(with_outcome, tmp_path, changes, reason):
    with_outcome(solution(**changes))
    record = run_cell(cell(), SMOKE)
    assert (record.status, record.reason) == (Status.FAILED, reason)
    written = json.loads(write_record(tmp_path / "a.json", record).read_text())
    assert written["relative_l2"] in (None, 0.1)  # JSON has no NaN


def test_an_interrupted_cell_has_no_record(with_outcome):
    with_outcome(solution(stop_reason=StopReason.INTERRUPTED.value))
    assert run_cell(cell(), SMOKE) is None
    with_outcome(KeyboardInterrupt())
    assert run_cell(cell(), SMOKE) is None


def test_a_run_that_reached_its_limit_is_done(with_outcome):
    with_outcome(solution())
    record = run_cell(cell(), SMOKE)
    assert (record.status, record.reason, record.relative_l2) == (Status.DONE, None, 0.1)
    assert plain(record.curve) == []
