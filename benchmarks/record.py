"""Run recipes and record each run as JSON: the records that documents and tables quote.

    python benchmarks/record.py burgers --recipe paper --seeds 0 1 2 3 4 --iterations 3000

Each run is written to OUT/PROBLEM-RECIPE[-METHOD]-EXTENT[-cpu]-SEED.json as soon as it ends, with
its error against training seconds, and with --pictures its solution to a .png of the same name;
--archive bundles what was written.
"""

import argparse
import json
import tarfile
import time
from pathlib import Path
from typing import Any

import jax
from PIL import Image

import tinns
from tinns._runtime.files import write_whole
from tinns.paper.curves import thinned_curve

PICTURE_WIDTHS = (1300, 1000, 800, 600)  # pixels, the first that makes a file small enough
PICTURE_BYTES = 150_000


def main() -> None:
    arguments = _arguments()
    written, started = [], time.perf_counter()
    for name in arguments.problems:
        for seed in arguments.seeds:
            spent = time.perf_counter() - started
            if arguments.limit and spent > arguments.limit:
                print(f"{name} seed {seed}: left out, {spent:.0f} s spent", flush=True)
                continue
            named = (name, arguments.recipe, arguments.method, seed)
            written += record(
                *named, arguments, arguments.out, arguments.pictures and seed == arguments.seeds[0]
            )
            if arguments.archive:
                bundle(arguments.archive, written)


def record(
    problem: str | tinns.Problem,
    recipe: str | None,
    method: str,
    seed: int,
    limits: Any,
    out: Path,
    pictures: bool = False,
) -> list[Path]:
    """One solve, written to `out` and told in a line; without a recipe, by the default one."""
    solution = run(problem, recipe, method, seed, limits)
    result = {**solution.result, "curve": thinned_curve(solution.history)}
    name, recipe = result["problem"], result["recipe"]
    out.mkdir(parents=True, exist_ok=True)
    on_cpu = jax.default_backend() == "cpu"
    path = out / file_name(name, recipe, method, extent(limits), seed, on_cpu)
    text = json.dumps(result, indent=1, default=float) + "\n"
    write_whole(path, lambda temporary: temporary.write_text(text))
    print(
        f"{name:14s} {method:12s} seed {seed}  {result['iterations']:6d} its  "
        f"error {_stated(result['relative_l2'])}  {result['seconds']:7.1f} s  "
        f"{1e3 * result['seconds'] / result['iterations']:.2f} ms/it  "
        f"compile {result['compile_seconds']:.1f} s  {result['stop_reason']}  "
        f"failures {result.get('failures')}  redraws {result.get('redraws')}",
        flush=True,
    )
    return [path, draw(solution, path.with_suffix(".png"))] if pictures else [path]


def run(
    problem: str | tinns.Problem, recipe: str | None, method: str, seed: int, limits: Any
) -> tinns.Solution:
    """One solve without a word."""
    return tinns.solve(
        problem,
        recipe=recipe,
        method=method,
        seed=seed,
        iterations=limits.iterations,
        seconds=limits.seconds,
        progress=False,
    )


def draw(solution: tinns.Solution, path: Path) -> Path:
    """The picture of a solution, made smaller until it is fit for a page."""
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


def _stated(error: float | None) -> str:
    return "unknown " if error is None else f"{error:.2e}"


def file_name(
    problem: str, recipe: str, method: str, extent: str, seed: int, on_cpu: bool = False
) -> str:
    """A record's file; the method is left out where it is `tinn`, the device where it is a GPU."""
    parts = [problem, recipe, *([] if method == "tinn" else [method]), extent]
    return "-".join([*parts, *(["cpu"] if on_cpu else []), f"seed{seed}.json"])


def extent(limits: Any) -> str:
    """How long a run was allowed to be, for its file's name."""
    if limits.iterations:
        return f"{limits.iterations}its"
    return f"{limits.seconds:g}s" if limits.seconds else "full"


def bundle(archive: Path, paths: list[Path]) -> None:
    """These files, without their folders, as one .tgz."""

    def write(temporary: Path) -> None:
        with tarfile.open(temporary, "w:gz") as tar:
            for path in paths:
                tar.add(path, arcname=path.name)

    write_whole(archive, write)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("problems", nargs="+")
    parser.add_argument("--recipe", default="paper")
    parser.add_argument("--method", default="tinn")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--limit", type=float, help="start no run after so many seconds")
    parser.add_argument("--out", type=Path, default=Path("results/runs"))
    parser.add_argument(
        "--pictures", action="store_true", help="draw the first solution of each problem as well"
    )
    parser.add_argument("--archive", type=Path, help="also bundle what was written as .tgz")
    return parser.parse_args()


if __name__ == "__main__":
    main()
