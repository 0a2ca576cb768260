"""The folder of a run: its solution, result, history and pictures."""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tinns._runtime.errors import UserError
from tinns._runtime.files import cache_folder, prepared_folder, write_whole
from tinns.solution import plots
from tinns.solution.core import Solution
from tinns.solution.storage import load

SOLUTION = "solution.safetensors"


def saved_run(run: Path) -> tuple[Path, Solution]:
    """The solution file of a run, and what it holds."""
    file = run / SOLUTION if run.is_dir() else run
    if not run.exists():
        raise UserError(f"no run at {run}: give the --out folder of `tinns solve`")
    return file, load(file)


@contextmanager
def folder_for_results(folder: Path) -> Iterator[None]:
    """The folder is there before work is spent; a new one goes again where the work fails."""
    is_new = not folder.exists()
    prepared_folder(folder)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()  # nothing was written yet
        raise


@dataclass(frozen=True)
class Kept:
    """Where the files of a run are, and why they are not where they should be, if so."""

    folder: Path
    lack: str = ""


def keep_run(solution: Solution, folder: Path) -> Kept:
    """Write everything that a run leaves, at another place if the folder cannot take it.

    A disk that is full or a folder that has gone does not cost the training: the user's cache
    folder and the temporary folder are tried too.
    """
    lacks: list[str] = []
    for place in _places(folder):
        try:
            write_run(solution, prepared_folder(place))
        except UserError as error:
            lacks.append(str(error))
        except OSError as error:
            lacks.append(f"cannot write into {place}: {error.strerror or error}")
        else:
            return Kept(place, lacks[0] if lacks else "")
    raise UserError(f"the trained solution could not be written anywhere: {'; '.join(lacks)}")


def write_run(solution: Solution, folder: Path) -> None:
    """Write everything that a run leaves, the solution first."""
    solution.save(folder / SOLUTION)
    write_whole(folder / "history.csv", lambda path: path.write_text(solution.history.to_csv()))
    write_result(solution, folder)
    draw(solution, folder)


def write_result(solution: Solution, folder: Path) -> None:
    plain = json.loads(json.dumps(solution.result, default=float), parse_constant=lambda _: None)
    text = json.dumps(plain, indent=2, allow_nan=False)
    write_whole(folder / "result.json", lambda path: path.write_text(text + "\n"))


def _places(folder: Path) -> Iterator[Path]:
    """The folder, then others that may take its files, with names that are new."""
    yield folder
    name = f"{folder.resolve().name}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    yield cache_folder() / "kept" / name
    yield Path(tempfile.gettempdir()) / "tinns" / name


def draw(solution: Solution, folder: Path, prefix: str = "") -> list[Path]:
    """Draw the pictures of a solution: the files written."""
    drawn = [
        plots.plot_solution(solution, folder / f"{prefix}solution.png"),
        plots.plot_training(solution, folder / f"{prefix}training.png"),
    ]
    if plots.has_trajectory(solution):
        drawn.append(plots.plot_trajectory(solution, folder / f"{prefix}trajectory.png"))
    return drawn
