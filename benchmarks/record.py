"""Run recipes and record each run as JSON: the records that documents and tables quote.

    python benchmarks/record.py burgers --recipe paper --seeds 0 1 2 3 4 --iterations 3000

Each run is written to OUT/PROBLEM-RECIPE-EXTENT-SEED.json as soon as it ends, with its error
against training seconds.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import tinns
from tinns.files import write_whole
from tinns.problems import problem_named

CURVE_POINTS = 60


def main() -> None:
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    for name in arguments.problems:
        for seed in arguments.seeds:
            spent = time.perf_counter() - started
            if arguments.limit and spent > arguments.limit:
                print(f"{name} seed {seed}: left out, {spent:.0f} s spent", flush=True)
                continue
            record = run(name, arguments.recipe, arguments.method, seed, arguments)
            file = f"{name}-{arguments.recipe}-{_extent(arguments)}-seed{seed}.json"
            text = json.dumps(record, indent=1, default=float) + "\n"
            write_whole(arguments.out / file, lambda path, text=text: path.write_text(text))
            print(
                f"{name:14s} seed {seed}  {record['iterations']:6d} its  "
                f"error {record['relative_l2']:.2e}  {record['seconds']:7.1f} s  "
                f"{1e3 * record['seconds'] / record['iterations']:.2f} ms/it  "
                f"compile {record['compile_seconds']:.1f} s  {record['stop_reason']}  "
                f"failures {record.get('failures')}  redraws {record.get('redraws')}",
                flush=True,
            )


def run(name: str, recipe: str, method: str, seed: int, limits: Any) -> dict[str, Any]:
    """One solve, as its result with the thinned curve of error against seconds."""
    solution = tinns.solve(
        problem_named(name),
        recipe=recipe,
        method=method,
        seed=seed,
        iterations=limits.iterations,
        seconds=limits.seconds,
        progress=False,
    )
    iterations, errors = solution.history.measured("relative_l2")
    stride = max(1, len(iterations) // CURVE_POINTS)
    curve = [
        {
            "iteration": int(i),
            "seconds": float(solution.history["seconds"][int(i) - 1]),
            "loss": float(solution.history["loss"][int(i) - 1]),
            "relative_l2": float(e),
        }
        for i, e in zip(iterations[::stride], errors[::stride], strict=True)
    ]
    return {**solution.result, "curve": curve}


def _extent(limits: Any) -> str:
    """How long a run was allowed to be, for its file's name."""
    if limits.iterations:
        return f"{limits.iterations}its"
    return f"{limits.seconds:g}s" if limits.seconds else "full"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="+")
    parser.add_argument("--recipe", default="paper")
    parser.add_argument("--method", default="tinn")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--iterations", type=int)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--limit", type=float, help="start no run after so many seconds")
    parser.add_argument("--out", type=Path, default=Path("results/runs"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
