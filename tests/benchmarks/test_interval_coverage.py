"""Intervals that contain the true value are counted."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "benchmarks/coverage.py"


@pytest.fixture(scope="module")
def coverage():
    """The benchmark, loaded by its path: a package of the same name may be installed."""
    spec = importlib.util.spec_from_file_location("interval_coverage", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_intervals_that_contain_the_true_value_are_counted(coverage):
    random = np.random.default_rng(0)

    def fitted(noise):
        error = noise * random.standard_normal()
        stated = {"value": 1 + error, "true": 1.0, "standard_error": noise}
        return stated | {"interval": [1 + error - 1.96 * noise, 1 + error + 1.96 * noise]}

    runs = [{"noise": s, "estimates": {"k": fitted(s)}} for s in (0.01, 0.05) for _ in range(400)]
    small, large = coverage.table(runs)
    for row, noise in ((small, 0.01), (large, 0.05)):
        assert row["noise"] == noise
        assert row["least_likely"] <= row["covered"] <= 0.98 * row["repetitions"]
        assert row["root_mean_square_error"] == pytest.approx(noise, rel=0.1)
        assert row["ratio"] == pytest.approx(1, rel=0.1)
    covered = small["covered"]
    runs[0]["estimates"]["k"] |= {"interval": None, "standard_error": None}
    changed = coverage.table(runs)[0]
    assert changed["repetitions"] == 400  # an unknown interval does not cover
    assert changed["covered"] <= covered


@pytest.mark.long
@pytest.mark.usefixtures("quick_compilation")
def test_a_repetition_is_solved_and_written(coverage, tmp_path, monkeypatch, capsys):
    options = ["--repetitions", "1", "--noise", "0.01", "--observations", "20", "--iterations", "2"]
    monkeypatch.setattr(sys, "argv", ["coverage.py", *options, "--out", str(tmp_path)])
    coverage.main()
    data = json.loads((tmp_path / "coverage-cpu.json").read_text())
    assert [run["iterations"] for run in data["runs"]] == [2]
    assert {row["coefficient"] for row in data["coverage"]} == set(data["runs"][0]["estimates"])
    assert "| coefficient | noise | covered |" in capsys.readouterr().out
