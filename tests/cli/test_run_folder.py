"""What a run leaves, also where its folder cannot take it."""

import errno
import json
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import pytest

import tinns
from tinns._runtime.files import write_whole
from tinns.cli import commands, main, run_folder
from tinns.cli.run_folder import SOLUTION, keep_run, write_result
from tinns.paper.untuned_problems import Heat

FILES = {SOLUTION, "history.csv", "result.json", "picture.png"}


@pytest.fixture(scope="module")
def solution(quick_compilation):
    counts = tinns.Counts(40, 10, 10)
    recipe = tinns.Recipe(
        tinns.TimeInduced(tinns.MLP((5,))),
        points=counts,
        validation=counts,
        stop=tinns.Stop(iterations=2),
    )
    return tinns.solve(Heat(), recipe, progress=False, check=False)


@pytest.fixture
def places(tmp_path, monkeypatch):
    """The folder of a run; the cache and the temporary folder are beside it."""
    monkeypatch.setenv("TINNS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()

    def picture(solution, folder):
        return [write_whole(folder / "picture.png", lambda path: path.write_bytes(b"a picture"))]

    monkeypatch.setattr(run_folder, "draw", picture)
    return tmp_path


def full_from(monkeypatch, folders: list[Path], number: int) -> None:
    """From the write with that number on, nothing more can be written below these folders."""
    rename, done = Path.replace, []

    def renamed(self: Path, target: Path) -> Path:
        done.append(target)
        if len(done) > number and any(folder in Path(target).parents for folder in folders):
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", renamed)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("number", range(len(FILES)))
def test_a_disk_that_is_full_at_any_write_does_not_cost_the_training(
    number, solution, places, monkeypatch
):
    asked = places / "runs"
    full_from(monkeypatch, [asked], number)
    kept = keep_run(solution, asked)
    assert kept.folder.is_relative_to(places / "cache")
    assert "No space left on device" in kept.lack
    assert names_in(kept.folder) == FILES
    loaded = tinns.load(kept.folder / SOLUTION)
    assert loaded(x=0.3, t=0.7) == pytest.approx(solution(x=0.3, t=0.7), rel=1e-12)


def test_the_temporary_folder_is_the_last_resort(solution, places, monkeypatch):
    full_from(monkeypatch, [places / "runs", places / "cache"], 0)
    kept = keep_run(solution, places / "runs")
    assert kept.folder.is_relative_to(places / "temporary")
    assert names_in(kept.folder) == FILES


def test_a_run_that_can_be_written_nowhere_says_why(solution, places, monkeypatch):
    full_from(monkeypatch, [places], 0)
    with pytest.raises(tinns.UserError, match=r"anywhere: .*runs.*cache.*temporary"):
        keep_run(solution, places / "runs")


def test_a_folder_that_has_gone_is_made_again(solution, places):
    kept = keep_run(solution, places / "gone" / "runs")
    assert kept.folder == places / "gone" / "runs"
    assert not kept.lack


def test_the_command_says_where_the_run_is(solution, places, monkeypatch, capsys):
    monkeypatch.setattr(commands, "solve_posed", lambda *_, **__: solution.checked())
    full_from(monkeypatch, [places / "runs"], 0)
    assert main(["solve", "burgers", "--out", str(places / "runs")]) == 1
    said = capsys.readouterr().err
    (kept,) = (places / "cache" / "kept").iterdir()
    assert "No space left on device" in said
    assert str(kept) in said.replace("\n", "")


def test_numbers_that_are_not_finite_become_null(solution, tmp_path):
    result = dict(solution.result) | {"loss": nan, "validation_loss": inf}
    write_result(replace(solution, result=result), tmp_path)
    stored = json.loads((tmp_path / "result.json").read_text())
    assert stored["loss"] is None
    assert stored["validation_loss"] is None
    assert stored["seconds"] == solution.result["seconds"]
