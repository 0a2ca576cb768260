"""`tinns bench`: what it runs, writes and prints; every mistake is one line and exit code 2."""

import csv
import json
import os

import pytest
from bench_records import cell, made_up

import tinns
from tinns.cli import main
from tinns.paper import command
from tinns.paper.cells import profile_named
from tinns.paper.command import parse_request
from tinns.paper.tables import TABLES, Row, Table
from tinns.problems import Burgers
from tinns.solvers.stopping import Interruption

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture
def two_rows(monkeypatch):
    """A table of two small methods and one that does not exist, on one problem."""
    recipe = tinns.Recipe(tinns.TimeInduced(tinns.MLP((4,)), tinns.Linear()), tinns.PaperLM())
    monkeypatch.setattr(Burgers, "recipes", {"fast": recipe, "paper": recipe})
    rows = (
        Row("small TINN", "tinn", "fast", printed="TINN"),
        Row("nothing", "no-such-method", printed=None),
        Row("with one neuron", "tinn-one-neuron", "fast"),
    )
    monkeypatch.setitem(TABLES, "main", Table("main", "A small table", ("burgers",), rows))


def test_a_table_is_run_written_and_resumed(two_rows, tmp_path, capsys):
    options = ["bench", "main", "--profile", "smoke", "--out", str(tmp_path), "--jobs", "1"]
    assert main([*options, "--seeds", "0,1"]) == 0
    printed = capsys.readouterr().out
    assert "6/6" in printed
    assert "failed: there is no method called no-such-method" in printed
    assert {p.name for p in tmp_path.iterdir()} == {
        "cells",
        *(f"main-smoke.{end}" for end in ("md", "csv", "tex", "png")),
    }
    errors = [
        json.loads(path.read_text())["result"]["relative_l2"]
        for path in sorted((tmp_path / "cells").glob("burgers_tinn_fast*.json"))
    ]
    assert len(errors) == 2
    (first, *_) = csv.DictReader((tmp_path / "main-smoke.csv").open())
    assert float(first["error"]) == pytest.approx(sum(errors) / 2, rel=1e-14)
    assert float(first["error: deviation"]) == pytest.approx(abs(errors[0] - errors[1]) / 2**0.5)
    assert first["seeds"] == "2"
    before = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "cells").iterdir()}
    assert main([*options, "--seeds", "0,1"]) == 0
    assert "cells run: 0, found: 6, failed: 2" in capsys.readouterr().out
    assert before == {p.name: p.stat().st_mtime_ns for p in (tmp_path / "cells").iterdir()}


def test_ctrl_c_keeps_what_ended(two_rows, tmp_path, capsys, monkeypatch):
    """The first Ctrl-C stops the second cell's training; the first cell stays."""
    begun = []

    class Pressed(Interruption):
        def __enter__(self):
            begun.append(self)
            self.asked = len(begun) == 2
            return super().__enter__()

    monkeypatch.setattr("tinns.solvers.least_squares.loop.Interruption", Pressed)
    options = ["bench", "main", "--methods", "tinn,tinn-one-neuron", "--jobs", "1"]
    assert main([*options, "--out", str(tmp_path)]) == 130
    captured = capsys.readouterr()
    assert captured.err.startswith("tinns: interrupted: cells that ended are kept in")
    assert captured.err.count("\n") == 1
    assert "A small table" in captured.out
    assert [p.name for p in (tmp_path / "cells").iterdir()] == [
        "burgers_tinn_fast_smoke_seed0.json"
    ]
    assert (tmp_path / "main-smoke.md").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
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
        (["main", "--jobs", "2", "--time-limit", "9"], "cells are run one by one"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(arguments, told, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["bench", *arguments, "--out", str(out)]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not out.exists()


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_run(tmp_path, capsys):
    file = tmp_path / "file"
    file.write_text("")
    assert main(["bench", "main", "--out", str(file)]) == 2
    assert "it is a file; give a folder" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_told(tmp_path, capsys):
    tmp_path.chmod(0o500)
    assert main(["bench", "main", "--out", str(tmp_path)]) == 2
    assert "cannot write into" in capsys.readouterr().err
    tmp_path.chmod(0o700)


def test_a_folder_on_a_read_only_system_is_told(capsys):
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


def test_cells_can_be_restricted():
    asked = parse_request(
        "main", "paper", seeds="0", problems="wave,kdv", methods="pinn,tinn:paper"
    )
    found = {(c.problem, c.method, c.recipe) for c in asked.cells()}
    assert found == {(p, *m) for p in ("kdv", "wave") for m in (("pinn", None), ("tinn", "paper"))}


def test_smoke_runs_every_row_once_and_every_harder_problem_once():
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


def test_a_dry_run_says_what_would_be_run_and_writes_nothing(tmp_path, capsys):
    out = tmp_path / "out"
    options = ["bench", "trajectory-forms", "--seconds", "30", "--seeds", "0,1", "--dry-run"]
    assert main([*options, "--problems", "burgers", "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "burgers_tinn-linear_paper_equal-time-30s_seed1: missing" in told
    assert "cells to run: 6 (0:03:00 of training, and compilation besides), found: 0" in told
    assert not out.exists()


def test_a_restricted_run_writes_the_whole_table_and_shows_what_was_asked_for(tmp_path):
    """What was run before, or on another runner, stands in the files too."""
    asked = parse_request("trajectory-forms", "paper", seeds="0", problems="burgers", out=tmp_path)
    console = command.Console(file=(tmp_path / "log").open("w"))
    other = cell("tinn-linear", "paper", problem="allen-cahn")
    (tmp_path / "cells").mkdir()
    command.Store(tmp_path / "cells").write(other, made_up(other, 7e-7))
    tally = command.bench(asked, console, run_cell=lambda c, p: made_up(c, 2e-7))
    assert tally.ran == 3
    text = (tmp_path / "trajectory-forms-paper.md").read_text()
    assert "| allen-cahn | linear | 7.00e-07 |" in text
    assert "2.00e-07" in text
    console.file.flush()
    shown = (tmp_path / "log").read_text()
    assert "2.00e-07" in shown
    assert "allen-cahn" not in shown


@pytest.mark.parametrize("text", ["{", "{}"])
def test_a_damaged_cell_of_the_table_is_told_before_anything_is_run(tmp_path, text):
    asked = parse_request("trajectory-forms", "paper", seeds="0", problems="burgers", out=tmp_path)
    damaged = tmp_path / "cells" / "allen-cahn_tinn-linear_paper_paper_seed0.json"
    damaged.parent.mkdir()
    damaged.write_text(text)
    with pytest.raises(tinns.UserError, match=rf"{damaged.name}.*delete it, and it is run again"):
        command.bench(asked, command.Console(), run_cell=lambda c, p: pytest.fail("it was run"))


def test_the_list_names_the_tables(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in TABLES)
