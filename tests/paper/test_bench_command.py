"""`tinns bench`: what it runs, writes and prints; every mistake is one line and exit code 2."""

import csv
import os

import pytest
from bench_records import cell, made_up, put
from rich.console import Console

import tinns
from tinns._runtime.describe import settings_of
from tinns._runtime.interruption import Interruption
from tinns.cli import main
from tinns.paper import cell_runner
from tinns.paper.command import bench, parse_request
from tinns.paper.profiles import profile_named
from tinns.paper.tables import TABLES, Row, Table
from tinns.problems import Burgers

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture
def two_rows(monkeypatch, coarse_grids):
    """A table of two small methods and one that does not exist, on one problem."""
    recipe = tinns.Recipe(tinns.TimeInduced(tinns.MLP((4,)), tinns.Linear()), tinns.PaperLM())
    monkeypatch.setattr(Burgers, "recipes", {"fast": recipe, "paper": recipe})
    rows = (
        Row("small TINN", "tinn", "fast", printed="TINN"),
        Row("nothing", "no-such-method", printed=None),
        Row("with one neuron", "tinn-one-neuron", "fast"),
    )
    monkeypatch.setitem(TABLES, "main", Table("main", "A small table", ("burgers",), rows))


@pytest.fixture
def untrained(monkeypatch):
    """Replace training by results with a relative error of 1, 3, 5, ... % for seeds 0, 1, 2, ..."""

    def solve(problem, recipe, seed, progress):
        facts = {"problem": problem, "seed": seed, "seconds": 2.0, "iterations": 2, "device": "CPU"}
        outcome = {"relative_l2": 0.01 * (1 + 2 * seed), "stop_reason": "iterations done"}
        result = {**facts, **outcome, "settings": settings_of(recipe)}
        return tinns.Solution(Burgers().domain, ("u",), recipe.field, {}, result=result)

    monkeypatch.setattr(cell_runner, "solve", solve)


@pytest.mark.usefixtures("two_rows", "untrained")
def test_a_table_is_run_written_and_resumed(tmp_path, capsys):
    options = ["bench", "main", "--profile", "smoke", "--out", str(tmp_path), "--jobs", "1"]
    options += ["--seeds", "0,1"]
    assert main(options) == 0
    shown = capsys.readouterr().out
    assert "6/6" in shown
    assert "failed: there is no method called no-such-method" in shown
    assert {p.name for p in tmp_path.iterdir()} == {
        "cells",
        *(f"main-smoke.{end}" for end in ("md", "csv", "tex", "png")),
    }
    (first, *_) = csv.DictReader((tmp_path / "main-smoke.csv").open())
    assert float(first["error"]) == pytest.approx(0.02, rel=1e-14)
    assert float(first["error: deviation"]) == pytest.approx(0.02 / 2**0.5, rel=1e-14)
    assert first["seeds"] == "2"
    assert "| 2.00e-02 ± 1.41e-02 |" in (tmp_path / "main-smoke.md").read_text()
    assert r"$2.00\times10^{-2}$" in (tmp_path / "main-smoke.tex").read_text()
    assert (tmp_path / "main-smoke.png").read_bytes().startswith(b"\x89PNG")
    before = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "cells").iterdir()}
    assert main(options) == 0
    assert "cells run: 0, already recorded: 6, failed: 2" in capsys.readouterr().out
    assert before == {p.name: p.stat().st_mtime_ns for p in (tmp_path / "cells").iterdir()}


@pytest.mark.usefixtures("two_rows")
def test_ctrl_c_keeps_finished_cells(tmp_path, capsys, monkeypatch):
    """The first Ctrl-C stops the training of the second cell; the first cell is kept."""
    entered = []

    class Pressed(Interruption):
        def __enter__(self):
            entered.append(self)
            self.requested = len(entered) == 2
            return super().__enter__()

    monkeypatch.setattr("tinns.solvers.solver.Interruption", Pressed)
    options = ["bench", "main", "--methods", "tinn,tinn-one-neuron", "--jobs", "1"]
    assert main([*options, "--out", str(tmp_path)]) == 130
    captured = capsys.readouterr()
    assert captured.err.startswith("tinns: interrupted: finished cells are kept in")
    assert captured.err.count("\n") == 1
    assert "A small table" in captured.out
    assert [p.name for p in (tmp_path / "cells").iterdir()] == [
        "burgers_tinn_fast_smoke_seed0.json"
    ]
    assert (tmp_path / "main-smoke.md").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mian"], "unknown table 'mian': did you mean 'main'?"),
        (["main", "--profile", "papper"], "profile 'papper': expected paper, equal-time"),
        (["main", "--profile", "equal-time"], "--seconds 60"),
        (["main", "--seconds", "-3"], "--seconds -3: expected a number above 0"),
        (["main", "--profile", "smoke", "--seconds", "3"], "only profile equal-time takes it"),
        (["main", "--seconds", "soon"], "'soon' is not a number"),
        (["main", "--seeds", "a,b"], "--seeds a,b: expected whole numbers such as 0,1,2"),
        (["main", "--seeds", ","], "expected whole numbers such as 0,1,2"),
        (["main", "--seeds", "-1"], "seed: expected a whole number"),
        (["main", "--problems", "burger"], "did you mean 'burgers'?"),
        (["main", "--methods", "pin"], "did you mean 'pinn'?"),
        (["main", "--time-limit", "0"], "--time-limit 0: expected seconds"),
        (["main", "--jobs", "0"], "--jobs 0: expected a whole number"),
        (["main", "--jobs", "2", "--time-limit", "9"], "cells run one by one"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(arguments, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["bench", *arguments, "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_a_file_in_place_of_the_folder_is_refused(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("")
    assert main(["bench", "main", "--out", str(file)]) == 2
    assert "it is a file; give a folder" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_refused(tmp_path, capsys):
    tmp_path.chmod(0o500)
    assert main(["bench", "main", "--out", str(tmp_path)]) == 2
    assert "cannot write into" in capsys.readouterr().err
    tmp_path.chmod(0o700)


def test_a_folder_on_a_read_only_file_system_is_refused(capsys):
    assert main(["bench", "main", "--out", "/proc/bench"]) == 2
    error = capsys.readouterr().err
    assert "cannot write into /proc/bench" in error
    assert error.count("\n") == 1


def test_seconds_alone_mean_equal_time():
    asked = parse_request("main", seconds=30.0)
    assert asked.profile == profile_named("equal-time", 30.0)
    assert asked.seeds == (0, 1, 2, 3, 4)
    assert parse_request("main").profile.name == "smoke"
    assert parse_request("main").seeds == (0,)


def test_cells_run_one_by_one_except_in_smoke_runs():
    assert parse_request("main", seconds=30.0).jobs == 1
    assert parse_request("main").jobs == os.cpu_count()
    assert parse_request("main", time_limit=9.0).jobs == 1
    assert parse_request("main", seconds=30.0, jobs=3).jobs == 3


def test_cells_can_be_restricted():
    asked = parse_request(
        "main", "paper", seeds="0", problems="wave,kdv", methods="pinn,tinn:paper"
    )
    found = {(c.problem, c.method, c.recipe) for c in asked.cells()}
    assert found == {(p, *m) for p in ("kdv", "wave") for m in (("pinn", None), ("tinn", "paper"))}


def test_smoke_runs_have_every_row_and_every_harder_problem_once():
    assert {c.problem for c in parse_request("main").cells()} == {"burgers"}
    assert len(parse_request("main").cells()) == len(TABLES["main"].rows)
    harder = parse_request("extended").cells()
    assert [c.problem for c in harder] == list(TABLES["extended"].problems)
    both = parse_request("extended", problems="flow-mixing").cells()
    assert [c.recipe for c in both] == ["paper", "fast"]
    everything = parse_request("all").cells()
    assert len(everything) == len(set(everything))
    assert {c.method for c in everything} >= {
        row.method for t in TABLES.values() for row in t.rows if row.problems is None
    }


def test_a_dry_run_lists_missing_cells_and_writes_nothing(tmp_path, capsys):
    out = tmp_path / "out"
    options = ["bench", "trajectory-forms", "--seconds", "30", "--seeds", "0,1", "--dry-run"]
    assert main([*options, "--problems", "burgers", "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "burgers_tinn-linear_paper_equal-time-30s_seed1: missing" in shown
    assert "cells to run: 6 (0:03:00 of training, plus compilation), recorded: 0" in shown
    assert not out.exists()


def test_files_have_the_whole_table_and_the_terminal_what_was_requested(store, tmp_path, capsys):
    asked = parse_request("trajectory-forms", "paper", seeds="0", problems="burgers", out=tmp_path)
    put(store, cell("tinn-linear", problem="allen-cahn"), 7e-7)
    tally = bench(asked, Console(), run=lambda c, p: made_up(c, 2e-7))
    assert tally.ran == 3
    text = (tmp_path / "trajectory-forms-paper.md").read_text()
    assert "| allen-cahn | linear | 7.00e-07 |" in text
    assert "2.00e-07" in text
    shown = capsys.readouterr().out
    assert "2.00e-07" in shown
    assert "allen-cahn" not in shown


@pytest.mark.parametrize("text", ["{", "{}"])
def test_a_damaged_cell_is_reported_before_anything_runs(store, tmp_path, text):
    asked = parse_request("trajectory-forms", "paper", seeds="0", problems="burgers", out=tmp_path)
    damaged = store.path(cell("tinn-linear", problem="allen-cahn"))
    damaged.write_text(text)
    with pytest.raises(tinns.UserError, match=rf"{damaged.name}.*delete it to run it again"):
        bench(asked, Console(), run=lambda c, p: pytest.fail("a cell was run"))


def test_the_list_has_all_tables(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in TABLES)
