"""Solve problems and record each run, for the documents and tables that quote it.

    python -m tinns.paper.record burgers --recipe paper --seeds 0 1 2 3 4 --iterations 3000

Each run is written to OUT/PROBLEM-RECIPE[-METHOD]-EXTENT[-cpu]-SEED.json as soon as it ends, with
its error against training seconds.
"""

import argparse
import sys
import tarfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import jax

from tinns._runtime.errors import UserError
from tinns._runtime.files import prepared_folder, write_whole
from tinns._solve import device_name, pose, solve
from tinns.paper.grouping import was_cut_off
from tinns.paper.records import Record, read_folder, record_of, write_record
from tinns.paper.script import exit_status
from tinns.problem import Problem
from tinns.recipes.methods import BASELINES
from tinns.solution.core import Solution

RUNS = Path("results/runs")
PICTURE_WIDTHS = (1300, 1000, 800, 600)  # pixels; the first that gives a small enough file is used
PICTURE_BYTES = 150_000
LONG_ENOUGH = 0.9  # of the requested seconds


@dataclass(frozen=True)
class Run:
    """A run to record; without limits it is as long as its recipe says."""

    problem: str | Problem
    recipe: str | None = None  # None: the default recipe, or that of the method
    method: str = "tinn"
    seed: int = 0
    iterations: int | None = None
    seconds: float | None = None

    @property
    def extent(self) -> str:
        """The limit in the name of a file."""
        if self.iterations:
            return f"{self.iterations}its"
        return f"{self.seconds:g}s" if self.seconds else "full"

    def solve(self) -> Solution:
        """Solve the problem without progress."""
        return solve(
            self.problem,
            recipe=self.recipe,
            method=self.method,
            seed=self.seed,
            iterations=self.iterations,
            seconds=self.seconds,
            progress=False,
        )

    def file_name(self, problem: str, recipe: str, on_cpu: bool) -> str:
        """The name of the record; method `tinn` and GPUs are left out of it."""
        method = [] if self.method in ("tinn", recipe) else [self.method]
        device = ["cpu"] if on_cpu else []
        parts = [problem, recipe, *method, self.extent, *device, f"seed{self.seed}"]
        return f"{'-'.join(parts)}.json"

    def is_recorded(self, records: Sequence[Record], device: str) -> bool:
        """Whether such a run of about this length is among the records, or one that converged."""
        wanted = (pose(self.problem).name, self.method, device, self.seed)
        return any(
            (r.problem, r.method, r.device, r.seed) == wanted
            and r.recipe == (self.recipe or self.method)
            and (not was_cut_off(r) or self._is_long_enough(r))
            for r in records
        )

    def _is_long_enough(self, record: Record) -> bool:
        if self.iterations:
            return (record.iterations or 0) >= self.iterations
        return (record.seconds or 0.0) >= LONG_ENOUGH * (self.seconds or 0.0)


def record_run(run: Run, out: Path, picture: bool = False) -> list[Path]:
    """Solve, print one line, and write the record and perhaps a picture of the solution."""
    solution = run.solve()
    record = record_of(solution)
    on_cpu = jax.default_backend() == "cpu"
    name = run.file_name(record.problem, record.recipe, on_cpu)
    path = write_record(prepared_folder(out) / name, record)
    print(run_line(record), flush=True)
    return [path, draw(solution, path.with_suffix(".png"))] if picture else [path]


def run_line(record: Record) -> str:
    """The outcome of a run in one line."""
    error = "unknown " if record.relative_l2 is None else f"{record.relative_l2:.2e}"
    seconds, iterations = record.seconds or 0.0, record.iterations or 0
    return (
        f"{record.problem:14s} {record.method:12s} seed {record.seed}  {iterations:6d} its  "
        f"error {error}  {seconds:7.1f} s  {1e3 * seconds / max(iterations, 1):.2f} ms/it  "
        f"compile {record.compile_seconds or 0.0:.1f} s  {record.stop_reason}  "
        f"failures {record.extra.get('failures')}  redraws {record.extra.get('redraws')}"
    )


def draw(solution: Solution, path: Path) -> Path:
    """Plot a solution, small enough for a page."""
    from PIL import Image

    solution.plot(path)
    with Image.open(path) as image:
        pixels = image.convert("RGB")
    for width in PICTURE_WIDTHS:
        height = round(pixels.height * width / pixels.width)
        smaller = pixels.resize((width, height), Image.Resampling.LANCZOS).quantize(256)
        write_whole(path, lambda temporary, s=smaller: s.save(temporary, optimize=True))
        if path.stat().st_size <= PICTURE_BYTES:
            break
    return path


def bundle(archive: Path, paths: Sequence[Path]) -> None:
    """Write these files, without their folders, as one .tgz."""

    def write(temporary: Path) -> None:
        with tarfile.open(temporary, "w:gz") as tar:
            for path in paths:
                tar.add(path, arcname=path.name)

    write_whole(archive, write)


def record_all(
    runs: Sequence[Run],
    out: Path,
    archive: Path | None = None,
    limit: float | None = None,
    pictures: bool = False,
) -> list[Path]:
    """Record runs one after another; with `pictures`, plot the first solution of each problem."""
    written: list[Path] = []
    drawn: set[str] = set()
    began = time.perf_counter()
    for run in runs:
        problem, spent = pose(run.problem).name, time.perf_counter() - began
        if limit is not None and spent > limit:
            print(f"{problem} seed {run.seed}: left out after {spent:.0f} s", flush=True)
            continue
        written += record_run(run, out, pictures and problem not in drawn)
        drawn.add(problem)
        if archive is not None:
            bundle(archive, written)
    return written


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    given = _parser().parse_args(arguments)
    return exit_status(lambda: _record(given))


def _record(given: argparse.Namespace) -> int:
    runs = [
        Run(
            problem,
            None if method in BASELINES else given.recipe,
            method,
            seed,
            given.iterations,
            given.seconds,
        )
        for problem in given.problems
        for method in given.method
        for seed in given.seeds
    ]
    if given.missing:
        if given.iterations is None and given.seconds is None:
            raise UserError(
                "--missing: recorded runs are compared by their length; give --seconds or "
                "--iterations"
            )
        known, device = read_folder(given.out), device_name()
        runs = [run for run in runs if not run.is_recorded(known, device)]
    record_all(runs, given.out, given.archive, given.limit, given.pictures)
    return 0


def _parser() -> argparse.ArgumentParser:
    summary = (__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser("python -m tinns.paper.record", description=summary)
    parser.add_argument("problems", nargs="+")
    parser.add_argument("--recipe", default="paper")
    parser.add_argument("--method", nargs="+", default=["tinn"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--limit", type=float, help="start no run after this many seconds")
    parser.add_argument("--missing", action="store_true", help="skip runs that are recorded")
    parser.add_argument("--out", type=Path, default=RUNS)
    parser.add_argument(
        "--pictures", action="store_true", help="also plot the first solution of each problem"
    )
    parser.add_argument("--archive", type=Path, help="also bundle the files as .tgz")
    return parser


if __name__ == "__main__":
    sys.exit(main())
