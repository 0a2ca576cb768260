"""Benchmarks measure what they say, documents repeat what was recorded; times are not tested."""

import importlib.util
import json
import math
import subprocess
import sys
import tarfile
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest

import measuring
import optimizers
import parts
import record
import records
import scaling
import tinns

ROOT = Path(__file__).parent.parent
TINY = tinns.TimeInduced(tinns.MLP((4,)), tinns.Layerwise(tinns.MLP((3,))))


def made_up(seed=0, seconds=10.0, error=1e-3, **changes):
    """A record whose error falls like 1/seconds down to `error`."""
    times = np.geomspace(0.1, seconds, 5)
    return {
        "problem": "burgers",
        "method": "tinn",
        "recipe": "fast",
        "device": "GPU",
        "seed": seed,
        "seconds": seconds,
        "iterations": int(100 * seconds),
        "relative_l2": error,
        "stop_reason": "time is up",
        "settings": {"chunk": None, "stop": {"seconds": seconds}},
        "finished": "2026-01-01T00:00:00Z",
        "curve": [{"seconds": t, "relative_l2": error * seconds / t} for t in times],
    } | changes


def test_of_several_records_of_a_seed_the_longest_counts():
    (group,) = records.groups([made_up(seconds=10, error=3.0), made_up(seconds=8, error=1.0)])
    assert [run["relative_l2"] for run in group.runs] == [3.0]


def test_means_are_over_seeds_of_comparable_length():
    runs = [made_up(0, 10, 1.0), made_up(1, 6, 3.0), made_up(2, 1, 100.0)]
    (group,) = records.groups(runs)
    assert group.seeds == 2
    assert group.mean("relative_l2") == 2.0
    assert group.pace == pytest.approx(10.0)


def test_a_short_run_that_ended_by_itself_counts():
    (group,) = records.groups([made_up(0, 10), made_up(1, 1, stop_reason="stagnated")])
    assert group.seeds == 2


def test_runs_with_older_settings_are_left_out():
    old = made_up(1, 20, settings={"chunk": 7}, finished="2025-01-01T00:00:00Z")
    (group,) = records.groups([made_up(0), old])
    assert [run["seed"] for run in group.runs] == [0]


def test_methods_recipes_and_devices_are_apart():
    runs = [made_up(), made_up(method="tinn-adam"), made_up(recipe="paper"), made_up(device="CPU")]
    assert len(records.groups(runs)) == 4


def test_the_mean_curve_passes_an_error_where_it_should():
    (group,) = records.groups([made_up(0, 10, 1e-3), made_up(1, 10, 3e-3)])
    assert group.seconds_to(1e-2) == pytest.approx(2.0)  # the mean is 2e-2 / seconds
    assert group.seconds_to(1e-9) is None


def test_the_best_recipe_has_the_lowest_mean():
    runs = [made_up(recipe="fast", error=1e-3), made_up(recipe="accurate", error=1e-5)]
    best = records.find(records.groups(runs), "burgers", ["fast", "accurate"])
    assert best is not None
    assert best.recipe == "accurate"
    assert records.find(records.groups(runs), "wave", ["fast"]) is None


def test_files_of_different_runs_have_different_names():
    assert record.file_name("kdv", "fast", "tinn", "8s", 1) == "kdv-fast-8s-seed1.json"
    other = record.file_name("kdv", "fast", "tinn-adam", "8s", 1)
    assert other == "kdv-fast-tinn-adam-8s-seed1.json"
    on_cpu = record.file_name("kdv", "fast", "tinn", "8s", 1, on_cpu=True)
    assert on_cpu == "kdv-fast-8s-cpu-seed1.json"
    assert record.extent(Namespace(iterations=None, seconds=2.5)) == "2.5s"
    assert record.extent(Namespace(iterations=30, seconds=None)) == "30its"


def test_an_archive_holds_what_was_written(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    record.bundle(tmp_path / "all.tgz", [tmp_path / "a.json"])
    with tarfile.open(tmp_path / "all.tgz") as tar:
        assert tar.getnames() == ["a.json"]


def test_a_run_is_missing_unless_one_of_its_length_is_there():
    wanted = ("burgers", "tinn", "fast", "GPU", 0)
    assert optimizers.is_known([made_up(seconds=10)], wanted, 10)
    assert not optimizers.is_known([made_up(seconds=5)], wanted, 10)
    assert optimizers.is_known([made_up(seconds=5, stop_reason="converged")], wanted, 10)
    assert not optimizers.is_known([made_up(seed=1)], wanted, 10)


def test_the_picture_is_drawn_from_the_records(tmp_path):
    assert optimizers.draw(tmp_path / "picture.png").stat().st_size > 10_000


def test_the_page_on_performance_is_made_from_the_records():
    command = [sys.executable, str(ROOT / "benchmarks" / "performance.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.parametrize("rows", [20, 1000, 10_900, 64_001])
def test_points_make_the_rows_asked_for(rows):
    counts = measuring.counts_of(rows, tinns.Counts(10_000, 500, 400))
    assert counts.interior + counts.initial + counts.boundary == rows


@pytest.mark.usefixtures("float64")
def test_a_repetition_calls_the_function_so_many_times():
    outcome = measuring.repeated(lambda x: x + 1, 3, np.zeros(4))()
    np.testing.assert_array_equal(outcome, np.ones(4))  # nudged by nothing that shows


@pytest.mark.usefixtures("float64")
def test_parts_are_measured_and_ratios_are_ratios(monkeypatch):
    monkeypatch.setattr(parts, "STEPS", {parts.ACCELERATED: parts.STEPS[parts.ACCELERATED]})
    measured = parts.measure(40, 1, field=TINY)
    json.dumps(measured)
    assert len(measured["parts"]) == 7
    assert all(math.isfinite(time) and time > 0 for time in measured["parts"].values())
    for name, floor in measured["floors"].items():
        assert measured["ratios"][name] == measured["parts"][name] / floor


@pytest.mark.usefixtures("float64")
def test_normal_equations_in_chunks_are_those_of_all_rows():
    whole, chunked = (scaling.million(300, 4, chunk) for chunk in (300, 70))
    assert chunked["trace"] == pytest.approx(whole["trace"], rel=1e-12)


def test_exponents_are_those_of_powers():
    points = [{"rows": n, "ms": 3.0 * n**2} for n in (10, 20, 50)]
    exponents = [p["exponent"] for p in scaling.with_exponents(points, "rows")[1:]]
    assert exponents == pytest.approx([2, 2])


def test_coverage_counts_the_intervals_that_hold_the_truth():
    # Loaded by its path: a package of the same name may be installed.
    spec = importlib.util.spec_from_file_location("coverings", ROOT / "benchmarks" / "coverage.py")
    assert spec is not None
    assert spec.loader is not None
    coverings = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(coverings)
    random = np.random.default_rng(0)

    def fitted(noise):
        error = noise * random.standard_normal()
        stated = {"value": 1 + error, "true": 1.0, "standard_error": noise}
        return stated | {"interval": [1 + error - 1.96 * noise, 1 + error + 1.96 * noise]}

    runs = [{"noise": s, "estimates": {"k": fitted(s)}} for s in (0.01, 0.05) for _ in range(400)]
    small, large = coverings.table(runs)
    for row, noise in ((small, 0.01), (large, 0.05)):
        assert row["noise"] == noise
        assert row["least_likely"] <= row["covered"] <= 0.98 * row["repetitions"]
        assert row["root_mean_square_error"] == pytest.approx(noise, rel=0.1)
        assert row["ratio"] == pytest.approx(1, rel=0.1)
    runs[0]["estimates"]["k"] |= {"interval": None, "standard_error": None}
    assert coverings.table(runs)[0]["repetitions"] == 400  # what is not told does not cover
