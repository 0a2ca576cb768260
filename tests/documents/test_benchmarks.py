"""Benchmarks measure what they say, documents repeat what was recorded; times are not tested."""

import dataclasses
import importlib.util
import json
import math
import subprocess
import sys
import tarfile
from argparse import Namespace
from pathlib import Path

import jax
import numpy as np
import pytest
from PIL import Image

import gallery
import measuring
import optimizers
import parts
import record
import records
import scaling
import tinns
from tinns.problems import PROBLEMS

ROOT = Path(__file__).parents[2]
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


def test_the_gallery_is_made_from_the_records():
    command = [sys.executable, str(ROOT / "benchmarks" / "gallery.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def section(page, name):
    """The part of the gallery about one problem."""
    return page.split(f"\n## {name}\n")[1].split("\n## ")[0]


def test_the_gallery_has_every_problem_also_without_a_record():
    page = gallery.page([made_up(error=2e-5, parameters=77, stem="a")], {})
    assert all(f"\n## {name}\n" in page for name in PROBLEMS)
    burgers, wave = section(page, "burgers"), section(page, "wave")
    assert "2.00e-05" in burgers
    assert "| parameters | 77 |" in burgers
    assert "6.89e-07" in burgers
    assert "No record yet" not in burgers
    assert "No record yet" in wave
    assert "x ∈ [0, 1], t ∈ [0, 1]" in wave


def test_the_gallery_states_what_else_a_record_holds():
    estimate = {"value": 1.5, "standard_error": 0.1, "interval": [1.3, 1.7], "true": 1.0}
    runs = [
        made_up(
            seed,
            parameters=1,
            errors={"velocity": (1 + seed) * 1e-3},
            estimates={"viscosity": estimate | {"error": (1 + seed) * 0.25}},
            windows=[
                {"from": 0.0, "to": 0.4, "relative_l2": 1e-4, "jump": 0.0},
                {"from": 0.4, "to": 0.8, "relative_l2": 3e-4, "jump": 2e-5},
            ],
        )
        for seed in (0, 1)
    ]
    text = section(gallery.page(runs, {}), "burgers")
    assert "| velocity | 1.50e-03 |" in text
    assert "| viscosity | 1 | 1.5 | 1.0e-01 | [1.3, 1.7] | 3.75e-01 |" in text
    assert "2 windows" in text
    assert "| 0.4 to 0.8 | 3.00e-04 | 2.0e-05 |" in text


def test_the_gallery_names_other_methods_of_the_records_and_of_the_paper(monkeypatch):
    figures = {"burgers": {"relative_l2": 1e-6, "methods": {"separation": 3.04e-8}}}
    monkeypatch.setattr(gallery, "paper", lambda: figures)
    runs = [made_up(parameters=1), made_up(parameters=1, method="mlp", error=0.5)]
    text = section(gallery.page(runs, {}), "burgers")
    assert "| `separation` | no record yet | – | – | 3.04e-08 |" in text
    assert "| `mlp` | 5.00e-01 | 10 | `fast`, GPU | – |" in text


def test_the_gallery_takes_the_picture_of_lowest_error_and_says_whose_it_is(tmp_path):
    folder, pictures = tmp_path / "runs", tmp_path / "pictures"
    folder.mkdir()
    for seed, error in enumerate((3e-3, 1e-3, 1e-9)):
        text = json.dumps(made_up(seed, error=error, parameters=5))
        (folder / f"run{seed}.json").write_text(text)
        if seed < 2:  # the last has no picture
            (folder / f"run{seed}.png").write_text(f"picture {seed}")
    shown = gallery.take_pictures(folder, pictures)
    assert (pictures / "burgers.png").read_text() == "picture 1"
    assert shown == gallery.read_shown(pictures)
    page = gallery.page([], shown)
    assert "![burgers](images/gallery/burgers.png)" in page
    assert "`run1`, recipe `fast`, error 1.00e-03" in page


def test_every_picture_of_the_gallery_says_whose_it_is_and_is_small():
    pictures = {path.stem for path in gallery.PICTURES.glob("*.png")}
    assert pictures == set(gallery.read_shown())
    for path in gallery.PICTURES.glob("*.png"):
        with Image.open(path) as picture:  # a system's is tall: none is narrower than it can be
            assert path.stat().st_size <= record.PICTURE_BYTES or picture.width == 600
            assert path.stat().st_size <= 2 * record.PICTURE_BYTES


def test_domains_are_written_as_in_mathematics():
    box = tinns.Box(x=(0, 2 * np.pi), y=(-np.pi, np.pi), t=(0, 0.8), periodic="x")
    assert gallery.domain_text(box) == "x ∈ [0, 2π] (periodic), y ∈ [-π, π], t ∈ [0, 0.8]"


@pytest.mark.usefixtures("quick_compilation")
def test_a_run_is_recorded_with_its_picture(tmp_path, heat, monkeypatch):
    field = tinns.TimeInduced(tinns.MLP((3,)), tinns.Linear())
    solution = tinns.Solution(heat.domain, ("u",), field, _drawn(field, heat), problem=heat)
    result = made_up(compile_seconds=0.0) | {"problem": "heat", "relative_l2": None}
    solution = dataclasses.replace(solution, result=result)
    monkeypatch.setattr(record, "run", lambda *_: solution)
    limits = Namespace(iterations=2, seconds=None)
    written, picture = record.record(heat, None, "tinn", 0, limits, tmp_path, pictures=True)
    assert written.stem == picture.stem
    assert json.loads(written.read_text())["curve"] == []  # no history, so nothing was measured
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size <= record.PICTURE_BYTES
    assert record.record(heat, None, "tinn", 0, limits, tmp_path) == [written]


def _drawn(field, problem):
    with jax.enable_x64(True):
        psi = field.init(jax.random.key(0), problem.domain, 1)
    return {"field": jax.tree.map(np.asarray, psi), "coefficients": {}}


def test_runs_without_a_known_error_are_left_out_of_comparisons():
    (group,) = records.groups([made_up(relative_l2=None, curve=[])])
    assert not group.is_scored
    assert group.seconds_to(1e-3) is None
    assert records.find([group], "burgers", ["fast"]) is None


def test_the_papers_main_table_states_errors_and_hours():
    assert list(records.papers_table()) == ["burgers", "allen-cahn", "klein-gordon", "kdv", "wave"]
    assert records.papers_table().keys() < records.paper().keys()
    for figures in records.paper().values():
        assert "hours" in figures or "source" in figures


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
