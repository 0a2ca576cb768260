"""Cells: what identifies them, what they are run by, and that no failure stops a bench."""

import dataclasses
import json

import numpy as np
import pytest
from bench_records import cell

import tinns
from tinns import UserError
from tinns.paper import cells as module
from tinns.paper.cells import cell_of, cells_of, plain, profile_named, run, settings, shrunk
from tinns.paper.tables import COPINN, OUR_TINN, TABLES, Row, Table
from tinns.problems import Burgers
from tinns.recipes import RECIPES

SMOKE = profile_named("smoke")


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """A recipe that is solved in a second."""
    recipe = tinns.Recipe(tinns.TimeInduced(tinns.MLP((4,)), tinns.Linear()), tinns.PaperLM())
    monkeypatch.setattr(Burgers, "recipes", {"fast": recipe, "paper": recipe})
    monkeypatch.setattr(module, "SMOKE_POINTS", tinns.Counts(20, 5, 4))


def test_profiles_say_what_they_lack():
    assert profile_named("equal-time", 2.5).budget == "equal-time-2.5s"
    for name, seconds, told in (
        ("fast", None, "'fast'.*paper, equal-time"),
        ("equal-time", None, "--seconds 60"),
        ("equal-time", -1.0, "-1"),
        ("equal-time", float("nan"), "nan"),
        ("paper", 5.0, "only profile equal-time"),
    ):
        with pytest.raises(UserError, match=told):
            profile_named(name, seconds)


def test_different_cells_have_different_files():
    names = {
        cell().name,
        cell(seed=1).name,
        cell(recipe=None).name,
        cell(recipe="fast").name,
        cell("mlp").name,
        cell(problem="wave").name,
        cell(precision="float32").name,
        cell(budget="smoke").name,
    }
    assert len(names) == 8
    assert cell(seed=3).group == cell(seed=4).group


def test_tables_share_cells():
    paper = profile_named("paper")
    main = set(cells_of(TABLES["main"], (0,), paper))
    for name in ("convergence", "speed"):
        assert set(cells_of(TABLES[name], (0,), paper)) <= main
    assert set(cells_of(TABLES["lm-ablation"], (0,), paper)) & main


def test_the_precision_that_a_method_has_anyway_is_the_same_cell():
    double, single = (Row("TINN", "tinn", "fast", p) for p in ("float64", "float32"))
    assert cell_of(double, "burgers", 0, SMOKE) == cell_of(OUR_TINN, "burgers", 0, SMOKE)
    assert cell_of(single, "burgers", 0, SMOKE).precision == "float32"
    unknown = dataclasses.replace(COPINN, method="no-such", precision="float32")
    assert cell_of(unknown, "burgers", 0, SMOKE).precision == "float32"


def test_a_row_stands_with_its_problems_alone():
    one = Row("b", "mlp", problems=("wave",))
    table = Table("t", "T", ("burgers", "wave"), (Row("a", "tinn", "fast"), one))
    found = [(c.problem, c.method, c.seed) for c in cells_of(table, (0, 1), SMOKE)]
    assert found == [
        ("burgers", "tinn", 0),
        ("burgers", "tinn", 1),
        ("wave", "tinn", 0),
        ("wave", "tinn", 1),
        ("wave", "mlp", 0),
        ("wave", "mlp", 1),
    ]


@pytest.mark.usefixtures("quick_compilation")
def test_a_cell_is_recorded_whole_and_under_its_own_names():
    ran = cell("mlp", "fast", seed=3, budget="smoke")
    record = run(ran, SMOKE)
    assert record is not None
    assert json.loads(json.dumps(record, allow_nan=False)) == record
    assert record["status"] == "done"
    result = record["result"]
    assert (result["method"], result["recipe"], result["seed"]) == ("mlp", "fast", 3)
    assert result["iterations"] == 2
    assert result["parameters"] == 1160
    assert result["settings"]["points"]["interior"] == 20
    assert record["settings"] == settings(ran, SMOKE)
    assert "stop" not in record["settings"]
    assert record["curve"][-1]["iteration"] == 2


def test_a_method_that_is_not_there_is_a_failed_cell():
    record = run(cell("no-such-method"), SMOKE)
    assert record is not None
    assert record["status"] == "failed"
    assert "no-such-method" in record["reason"]
    assert record["settings"] is None


def _with_outcome(monkeypatch, outcome):
    def solve(*arguments, **named):
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(module, "solve", solve)


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (UserError("this recipe needs an axis"), "this recipe needs an axis"),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory\nmore"), "RuntimeError: RESOURCE"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_whatever_is_raised_becomes_a_reason(monkeypatch, outcome, reason):
    _with_outcome(monkeypatch, outcome)
    record = run(cell(), SMOKE)
    assert record is not None
    assert record["status"] == "failed"
    assert record["reason"].startswith(reason)
    assert "\n" not in record["reason"]


def _solution(**changes):
    result = {"relative_l2": 0.1, "stop_reason": "iterations done", "seconds": 1.0} | changes
    return tinns.Solution(Burgers().domain, ("u",), tinns.TimeInduced(), {}, result=result)


def test_a_run_that_diverged_has_failed(monkeypatch):
    for changes in ({"stop_reason": "diverged"}, {"relative_l2": float("nan")}):
        _with_outcome(monkeypatch, _solution(**changes))
        record = run(cell(), SMOKE)
        assert record is not None
        assert (record["status"], record["reason"]) == ("failed", "diverged")
        json.dumps(record, allow_nan=False)


def test_an_interrupted_cell_leaves_no_record(monkeypatch):
    _with_outcome(monkeypatch, _solution(stop_reason="interrupted"))
    assert run(cell(), SMOKE) is None
    _with_outcome(monkeypatch, KeyboardInterrupt())
    assert run(cell(), SMOKE) is None


def test_smoke_shrinks_points_windows_and_grids():
    recipe = tinns.Recipe(windows=10)
    small = shrunk(recipe)
    assert small.points.interior == small.validation.interior == 20
    assert (small.windows, shrunk(tinns.Recipe()).windows) == (2, 1)
    assert (small.field, small.optimizer, small.sampler) == (
        recipe.field,
        recipe.optimizer,
        recipe.sampler,
    )
    on_grid = tinns.Recipe(tinns.SeparableField(), tinns.Adam(), sampler=tinns.TensorGrid(256))
    assert shrunk(on_grid).sampler == tinns.TensorGrid(module.SMOKE_PER_AXIS)


def test_limits_come_from_the_profile():
    _, limited = module.chosen(cell(), profile_named("equal-time", 7.0))
    assert (limited.stop.seconds, limited.stop.iterations) == (7.0, None)
    assert limited.points == RECIPES["burgers"]["paper"].points
    _, full = module.chosen(cell(), profile_named("paper"))
    assert full == RECIPES["burgers"]["paper"]


def test_plain_data_can_be_written():
    value = {"a": (np.float64(1.5), np.inf), "b": np.arange(2), "c": None, 3: np.mean}
    assert plain(value) == {"a": [1.5, None], "b": [0, 1], "c": None, "3": "mean"}
