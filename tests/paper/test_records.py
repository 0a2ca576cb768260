"""Records: they are written and read without loss, also those of earlier versions."""

import json
from pathlib import Path

import numpy as np
import pytest
from bench_records import PAPER, cell, failed, made_up

from tinns import Recipe, UserError
from tinns._runtime.former_names import FORMER_NAMES
from tinns.paper.profiles import Profile
from tinns.paper.records import (
    Status,
    comparable,
    plain,
    read_folder,
    read_record,
    record_from,
    write_record,
)

RESULTS = Path(__file__).resolve().parents[2] / "results"
FOLDERS = {"runs": RESULTS / "runs", "cells": RESULTS / "bench" / "cells"}
NUMBERS = (
    "parameters",
    "iterations",
    "seconds",
    "compile_seconds",
    "loss",
    "validation_loss",
    "relative_l2",
    "stop_reason",
    "device",
    "finished",
    "precision",
    "seed",
    "versions",
)
UNCHANGED = ("points", "validation", "weights", "windows", "hard", "precision", "keep", "stop")
MAPPINGS = ("errors", "coefficient_errors", "estimates", "shares")

# A cell as version 0.1 wrote it.
FORMER = {
    "cell": {
        "problem": "burgers",
        "method": "pinn",
        "recipe": None,
        "precision": None,
        "seed": 2,
        "budget": "equal-time-60s",
    },
    "profile": {"name": "equal-time", "seconds": 60.0, "iterations": None, "small": False},
    "status": "done",
    "reason": None,
    "settings": {"points": 10},
    "result": {
        "problem": "burgers",
        "method": "tinn",
        "recipe": "custom",
        "seed": 2,
        "relative_l2": 1.5e-3,
        "redraws": 4,
        "settings": {"points": 10, "stop": {"seconds": 60.0}},
    },
    "curve": [{"iteration": 1, "seconds": 0.5, "loss": 2.0, "relative_l2": 0.1}],
}


def classes_in(settings):
    """The names of all classes in settings."""
    if isinstance(settings, list):
        return {name for part in settings for name in classes_in(part)}
    if not isinstance(settings, dict):
        return set()
    own = {settings["class"]} if "class" in settings else set()
    return own.union(*(classes_in(part) for part in settings.values()))


@pytest.fixture(scope="module", params=FOLDERS)
def recorded(request):
    """The files of a folder of recorded runs, and what is read from them."""
    folder = FOLDERS[request.param]
    files = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    return files, read_folder(folder)


def test_every_recorded_file_is_read_with_its_numbers(recorded):
    files, records = recorded
    assert [record.name for record in records] == sorted(files)
    assert records
    for record in records:
        data = files[record.name]
        result = data.get("result", data)  # nested in cells of version 0.1
        for name in NUMBERS:
            assert getattr(record, name) == result.get(name), (record.name, name)
        for name in MAPPINGS:
            assert getattr(record, name) == (result.get(name) or {}), (record.name, name)
        assert list(record.curve) == data["curve"]
        assert record.settings is not None
        former = result.get("settings") or data["settings"]
        for name in UNCHANGED:
            assert record.settings.get(name) == former.get(name), (record.name, name)
        assert not classes_in(record.settings) & FORMER_NAMES.keys()
        assert list(record.windows) == result.get("windows", [])
        assert record.status == data.get("status", "done")
        if "cell" in data:
            given = data["cell"]
            assert (record.problem, record.method) == (given["problem"], given["method"])
            assert record.recipe == (given["recipe"] or given["method"])
            assert vars(record.profile) == data["profile"]
            assert record.name.endswith(f"{record.profile.budget}_seed{record.seed}")


def test_every_recorded_file_can_be_written_again(recorded, tmp_path):
    for record in recorded[1]:
        assert read_record(write_record(tmp_path / f"{record.name}.json", record)) == record


def test_a_former_cell_is_read():
    record = record_from(FORMER)
    assert (record.problem, record.method, record.recipe, record.seed) == (
        "burgers",
        "pinn",
        "pinn",
        2,
    )
    assert record.profile == Profile("equal-time", seconds=60.0)
    assert record.settings == {"points": 10, "stop": {"seconds": 60.0}}
    assert record.comparable_settings == {"points": 10}
    assert record.relative_l2 == 1.5e-3
    assert record.curve == tuple(FORMER["curve"])
    assert record.extra == {"redraws": 4}


def test_former_settings_are_compared_with_present_ones():
    former = {
        "class": "Recipe",
        "field": {"class": "Separable", "rank": 3},
        "optimizer": {"class": "LevenbergMarquardt", "damping": {"class": "Algorithm1"}},
        "informed": True,
    }
    record = record_from(FORMER | {"settings": former, "result": {}})
    assert record.settings == {
        "class": "Recipe",
        "field": {"class": "SeparableField", "rank": 3, "sizes": []},
        "optimizer": {"class": "PaperLM", "damping": {"class": "PaperDamping"}},
        "fit_initial_layer": True,
        "solver": None,
        "renewal": None,
        "dimensionless": False,
    }


def test_a_former_optimiser_that_is_a_solver_now_is_one():
    former = {"class": "Recipe", "optimizer": {"class": "Separation", "width": 3}}
    settings = record_from(FORMER | {"settings": former, "result": {}}).settings
    assert settings["solver"] == {"class": "FrozenFeatures", "width": 3}
    assert settings["optimizer"]["class"] == type(Recipe().optimizer).__name__


def test_a_former_cell_that_failed_is_read():
    record = record_from(FORMER | {"status": "failed", "reason": "why", "result": {}, "curve": []})
    assert (record.status, record.reason) == (Status.FAILED, "why")
    assert record.settings == {"points": 10}
    assert record.relative_l2 is None
    assert not record.is_done


@pytest.mark.parametrize("record", [made_up(cell("pinn", None)), failed(cell())])
def test_a_record_is_read_as_it_was_written(record, tmp_path):
    read = read_record(write_record(tmp_path / "name.json", record))
    assert read == record
    assert read.name == "name"
    assert read.profile == PAPER


def test_a_run_that_was_not_made_for_a_table_has_no_profile():
    data = {"problem": "heat", "method": "tinn", "recipe": "default", "seed": 0}
    record = record_from(data | {"accepted": 7, "extra": {"kept": 3}})
    assert record.profile is None
    assert record.is_done
    assert record.comparable_settings is None
    assert record.extra == {"accepted": 7, "kept": 3}


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", r"cannot read .*broken\.json"), ("{}", r"broken\.json is not a record of a run")],
)
def test_a_file_that_cannot_be_read_is_named(text, message, tmp_path):
    (tmp_path / "broken.json").write_text(text)
    with pytest.raises(UserError, match=message):
        read_folder(tmp_path)


def test_settings_are_compared_without_limits():
    assert comparable({"points": 3, "stop": {"seconds": 1.0}}) == {"points": 3}


def test_plain_data_can_be_written():
    value = {"a": (np.float64(1.5), np.inf), "b": np.arange(2), "c": None, 3: np.mean}
    assert plain(value) == {"a": [1.5, None], "b": [0, 1], "c": None, "3": "mean"}
