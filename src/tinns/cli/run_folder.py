"""The folder of a run: its solution, result, history and pictures."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tinns._runtime.errors import UserError
from tinns._runtime.files import prepared_folder, write_whole
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


def write_run(solution: Solution, folder: Path) -> None:
    """Write everything that a run leaves."""
    solution.save(folder / SOLUTION)
    write_whole(folder / "history.csv", lambda path: path.write_text(solution.history.to_csv()))
    write_result(solution, folder)
    draw(solution, folder)


def write_result(solution: Solution, folder: Path) -> None:
    text = json.dumps(solution.result, indent=2, allow_nan=False, default=float)
    write_whole(folder / "result.json", lambda path: path.write_text(text + "\n"))


def draw(solution: Solution, folder: Path, prefix: str = "") -> list[Path]:
    """Draw the pictures of a solution: the files written."""
    drawn = [
        plots.plot_solution(solution, folder / f"{prefix}solution.png"),
        plots.plot_training(solution, folder / f"{prefix}training.png"),
    ]
    if plots.has_trajectory(solution):
        drawn.append(plots.plot_trajectory(solution, folder / f"{prefix}trajectory.png"))
    return drawn
