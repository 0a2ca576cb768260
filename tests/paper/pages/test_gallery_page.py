"""The gallery: every problem, what its records state, and its picture."""

from pathlib import Path

import numpy as np
import pytest
from bench_records import cell, made_up
from PIL import Image

import tinns
from tinns.paper.pages import gallery_page as module
from tinns.paper.pages.checkout import Checkout
from tinns.paper.pages.gallery_page import (
    domain_text,
    gallery,
    pictures_folder,
    read_shown,
    take_pictures,
)
from tinns.paper.record import PICTURE_BYTES, PICTURE_WIDTHS
from tinns.paper.records import read_record, write_record
from tinns.problems import PROBLEMS

CHECKOUT = Checkout(Path(__file__).parents[3])
PICTURES = pictures_folder(CHECKOUT)


def run(error=1e-3, method="tinn", **changes):
    return made_up(cell(method, "fast", problem="burgers"), error, **changes)


def section(page, name):
    """The part of the page about one problem."""
    return page.split(f"\n## {name}\n")[1].split("\n## ")[0]


def test_every_problem_is_shown_also_without_a_run():
    page = gallery([run(2e-5, parameters=77)], {})
    assert all(f"\n## {name}\n" in page for name in PROBLEMS)
    burgers, wave = section(page, "burgers"), section(page, "wave")
    assert "2.00e-05" in burgers
    assert "| parameters | 77 |" in burgers
    assert "6.89e-07" in burgers
    assert "No run is recorded yet" not in burgers
    assert "No run is recorded yet" in wave
    assert "x ∈ [0, 1], t ∈ [0, 1]" in wave


def test_quantities_coefficients_and_windows_are_shown():
    estimate = {"value": 1.5, "standard_error": 0.1, "interval": [1.3, 1.7], "true": 1.0}
    runs = [
        run(
            seed=seed,
            errors={"velocity": (1 + seed) * 1e-3},
            estimates={"viscosity": {**estimate, "error": (1 + seed) * 0.25}},
            windows=(
                {"from": 0.0, "to": 0.4, "relative_l2": 1e-4, "jump": 0.0},
                {"from": 0.4, "to": 0.8, "relative_l2": 3e-4, "jump": 2e-5},
            ),
        )
        for seed in (0, 1)
    ]
    text = section(gallery(runs, {}), "burgers")
    assert "| velocity | 1.50e-03 |" in text
    assert "| viscosity | 1 | 1.5 | 1.0e-01 | [1.3, 1.7] | 3.75e-01 |" in text
    assert "2 time windows (seed 0)" in text
    assert "| 0.4 to 0.8 | 3.00e-04 | 2.0e-05 |" in text


def test_other_methods_of_records_and_of_the_paper_are_listed(monkeypatch):
    monkeypatch.setattr(module, "separation_errors", lambda name: {"separation": 3.04e-8})
    text = section(gallery([run(), run(0.5, "mlp")], {}), "burgers")
    assert "| `separation` | not recorded yet | – | – | 3.04e-08 |" in text
    assert "| `mlp` | 5.00e-01 | 10 | `fast`, GPU | – |" in text


def test_the_picture_of_lowest_error_is_taken_and_its_run_is_named(tmp_path):
    folder, pictures = tmp_path / "runs", tmp_path / "pictures"
    folder.mkdir()
    for seed, error in enumerate((3e-3, 1e-3, 1e-9)):
        write_record(folder / f"run{seed}.json", run(error, seed=seed))
        if seed < 2:  # the last has no picture
            (folder / f"run{seed}.png").write_text(f"picture {seed}")
    shown = take_pictures(folder, pictures)
    assert (pictures / "burgers.png").read_text() == "picture 1"
    assert shown == read_shown(pictures)
    page = gallery([], shown)
    assert "![burgers](images/gallery/burgers.png)" in page
    assert "`run1`: recipe `fast`, error 1.00e-03" in page


def test_a_folder_without_pictures_is_an_error(tmp_path):
    write_record(tmp_path / "run.json", run())
    with pytest.raises(tinns.UserError, match="no pictures of recorded runs"):
        take_pictures(tmp_path, tmp_path / "pictures")
    assert not (tmp_path / "pictures").exists()


def test_pictures_of_this_repository_are_small_and_name_their_runs():
    shown = read_shown(PICTURES)
    assert {path.stem for path in PICTURES.glob("*.png")} == set(shown)
    for path in PICTURES.glob("*.png"):
        with Image.open(path) as picture:  # tall ones are no narrower than the smallest width
            assert path.stat().st_size <= PICTURE_BYTES or picture.width == PICTURE_WIDTHS[-1]
            assert path.stat().st_size <= 2 * PICTURE_BYTES


def test_facts_under_a_picture_are_those_of_the_recorded_run():
    for name, facts in read_shown(PICTURES).items():
        record = read_record(CHECKOUT.root / f"results/runs/{facts['record']}.json")
        assert record.problem == name
        assert {fact: getattr(record, fact) for fact in facts if fact != "record"} == {
            fact: value for fact, value in facts.items() if fact != "record"
        }


def test_domains_are_written_as_in_mathematics():
    box = tinns.Box(x=(0, 2 * np.pi), y=(-np.pi, np.pi), t=(0, 0.8), periodic="x")
    assert domain_text(box) == "x ∈ [0, 2π] (periodic), y ∈ [-π, π], t ∈ [0, 0.8]"
