"""The command that records runs: file names, missing runs, and what is written."""

import dataclasses
import json
import tarfile

import jax
import numpy as np
import pytest
from bench_records import cell, made_up
from PIL import Image

import tinns
from tinns.paper import record as module
from tinns.paper.record import Run, bundle, main, record_all, record_run, run_line
from tinns.paper.records import read_folder
from tinns.solvers import StopReason


def run(**changes):
    """A run of 10 s that was ended by its time limit."""
    stopped = {"stop_reason": StopReason.SECONDS.value}
    return made_up(cell(recipe="fast"), **(stopped | changes))


def test_files_of_different_runs_have_different_names():
    assert Run("kdv", "fast", seed=1, seconds=8).file_name("kdv", "fast", False) == (
        "kdv-fast-8s-seed1.json"
    )
    adam = Run("kdv", "fast", "tinn-adam", seed=1, seconds=2.5)
    assert adam.file_name("kdv", "fast", False) == "kdv-fast-tinn-adam-2.5s-seed1.json"
    assert adam.file_name("kdv", "fast", True) == "kdv-fast-tinn-adam-2.5s-cpu-seed1.json"
    own = Run("kdv", None, "pinn", iterations=30)
    assert own.file_name("kdv", "pinn", False) == "kdv-pinn-30its-seed0.json"
    assert Run("kdv").file_name("kdv", "fast", False) == "kdv-fast-full-seed0.json"


def test_a_run_is_recorded_if_one_of_its_length_is():
    wanted = Run("burgers", "fast", seconds=10.0)
    assert wanted.is_recorded([run()], "GPU")
    assert not wanted.is_recorded([run(seconds=5.0)], "GPU")
    assert wanted.is_recorded([run(seconds=5.0, stop_reason=StopReason.CONVERGED.value)], "GPU")
    assert not wanted.is_recorded([run(seed=1)], "GPU")
    assert not wanted.is_recorded([run()], "CPU")
    assert not wanted.is_recorded([run(recipe="paper")], "GPU")
    steps = Run("burgers", "fast", iterations=1000)
    assert steps.is_recorded([run()], "GPU")
    assert not steps.is_recorded([run(iterations=999)], "GPU")


def test_missing_runs_need_a_length(tmp_path, capsys):
    assert main(["burgers", "--missing", "--out", str(tmp_path)]) == 2
    assert "give --seconds or --iterations" in capsys.readouterr().err


def test_recorded_runs_are_skipped(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "record_all", lambda runs, *_: asked.extend(runs))
    monkeypatch.setattr(module, "device_name", lambda: "GPU")
    module.write_record(tmp_path / "a.json", run())
    options = ["--recipe", "fast", "--seconds", "10", "--missing", "--out", str(tmp_path)]
    assert main(["burgers", *options, "--seeds", "0", "1", "--method", "tinn", "pinn"]) == 0
    assert asked == [
        Run("burgers", "fast", "tinn", 1, seconds=10.0),
        Run("burgers", None, "pinn", 0, seconds=10.0),  # a baseline has its own settings
        Run("burgers", None, "pinn", 1, seconds=10.0),
    ]


@pytest.fixture
def solved(heat, monkeypatch):
    """A solution that was not trained, in place of every run."""
    field = tinns.TimeInduced(tinns.MLP((3,)), tinns.Linear())
    with jax.enable_x64(True):
        psi = field.init(jax.random.key(0), heat.domain, 1)
    psi = {"field": jax.tree.map(np.asarray, psi), "coefficients": {}}
    solution = tinns.Solution(heat.domain, ("u",), field, psi, problem=heat)
    facts = {"problem": "heat", "method": "tinn", "recipe": "default", "seed": 0}
    numbers = {"iterations": 20, "seconds": 0.5, "relative_l2": 0.25, "failures": 3}
    solution = dataclasses.replace(solution, result=facts | numbers)
    monkeypatch.setattr(Run, "solve", lambda self: solution)
    return solution


@pytest.mark.usefixtures("quick_compilation", "solved")
def test_a_run_is_recorded_with_its_picture(heat, tmp_path, capsys):
    out = tmp_path / "new"
    written, picture = record_run(Run(heat, iterations=20), out, picture=True)
    assert written.name == "heat-default-20its-cpu-seed0.json"
    assert picture.stem == written.stem
    data = json.loads(written.read_text())
    assert (data["relative_l2"], data["extra"]["failures"]) == (0.25, 3)
    assert data["curve"] == []  # there is no history, so nothing was measured
    with Image.open(picture) as image:
        assert image.width in module.PICTURE_WIDTHS
    assert picture.stat().st_size <= module.PICTURE_BYTES
    line = capsys.readouterr().out
    assert "error 2.50e-01" in line
    assert "25.00 ms/it" in line


@pytest.mark.usefixtures("solved")
def test_no_run_starts_after_the_limit(heat, tmp_path, capsys):
    runs = [Run(heat, seed=seed) for seed in (0, 1)]
    assert record_all(runs, tmp_path, limit=-1.0) == []
    assert "heat seed 1: left out" in capsys.readouterr().out
    written = record_all(runs[:1], tmp_path, tmp_path / "all.tgz")
    assert [record.name for record in read_folder(tmp_path)] == [path.stem for path in written]
    with tarfile.open(tmp_path / "all.tgz") as tar:
        assert tar.getnames() == [path.name for path in written]


def test_an_archive_holds_files_without_their_folders(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    bundle(tmp_path / "all.tgz", [tmp_path / "a.json"])
    with tarfile.open(tmp_path / "all.tgz") as tar:
        assert tar.getnames() == ["a.json"]


def test_an_unknown_error_is_stated():
    assert "error unknown" in run_line(run(relative_l2=None))
