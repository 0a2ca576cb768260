"""The time of one accelerated iteration against its size, and the memory that a million rows need.

    python benchmarks/scaling.py           time against rows and against parameters
    python benchmarks/scaling.py --memory  JᵀJ of a million rows, with the peak memory

Burgers with the points of recipe `paper`. The peak is that of a separate process, including the
interpreter and the compiler. It is the system's memory, so --memory is for CPUs.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import jax

from measuring import circumstances, posed, quickest, repeated, show, write
from tinns._runtime.host_blas import single_threaded_blas
from tinns.nn import MLP, TimeInduced
from tinns.objective import Layout, Objective
from tinns.optim.lm import AcceleratedLM
from tinns.paper.pages.timings import Growth, GrowthPoint, Memory, growth_sheets, memory_sheet
from tinns.solvers.least_squares.memory import fitting_layout, free_bytes

CEILING_GB = 3.0  # for a million rows
CHILD = "--child"


def main() -> None:
    arguments = _arguments()
    with jax.enable_x64(True):
        if arguments.child:
            print(json.dumps(million(arguments.memory_rows, arguments.width, arguments.chunk)))
        elif arguments.memory:
            _measure_memory(arguments)
        else:
            _scale(arguments)


def _scale(arguments: argparse.Namespace) -> None:
    rows, widths = arguments.rows, arguments.widths
    sizes = [(count, arguments.width) for count in rows]
    sizes += [(arguments.fixed_rows, width) for width in widths]
    points = iterations(sizes, arguments.repeat)
    measured: Growth = {
        **circumstances(),
        "repeat": arguments.repeat,
        "rows": with_exponents(points[: len(rows)], "rows"),
        "widths": with_exponents(points[len(rows) :], "parameters"),
    }
    path = write(measured, "scaling", arguments.out)
    for sheet in growth_sheets(measured):
        show(sheet)
    print(f"wrote {path}")


def iterations(sizes: list[tuple[int, int]], repeat: int) -> list[GrowthPoint]:
    """The times of one accelerated step by Cholesky, in chunks as in training."""
    calls, points = {}, []
    for number, (rows, width) in enumerate(sizes):
        system, psi, data = posed(rows, _field(width))
        size = sum(leaf.size for leaf in jax.tree.leaves(psi))
        layout, _ = fitting_layout(rows, size, 8, 1, free_bytes(jax.devices()))
        optimizer = AcceleratedLM(tries=1)

        def step(x: Any, data: Any, optimizer=optimizer, system=system, layout=layout) -> Any:
            return optimizer.step(Objective.of(system.blocks, data, layout), *x)

        calls[str(number)] = repeated(step, repeat, (psi, optimizer.init(psi)), data)
        points.append({"rows": rows, "width": width, "parameters": size})
    times = quickest(calls, single_threaded_blas).values()
    return [point | {"ms": ms / repeat} for point, ms in zip(points, times, strict=True)]


def with_exponents(
    points: list[GrowthPoint], by: Literal["rows", "parameters"]
) -> list[GrowthPoint]:
    """All points, with the p of time ~ size^p between a point and the one before it."""
    found = points[:1]
    for a, b in pairwise(points):
        exponent = math.log(b["ms"] / a["ms"]) / math.log(b[by] / a[by])
        found.append({**b, "exponent": exponent})
    return found


def _measure_memory(arguments: argparse.Namespace) -> None:
    if jax.default_backend() != "cpu":
        sys.exit("--memory measures the system's memory: set JAX_PLATFORMS=cpu")
    rows, width = arguments.memory_rows, arguments.width
    size = sum(leaf.size for leaf in jax.tree.leaves(posed(2, _field(width))[1]))
    layout, _ = fitting_layout(rows, size, 8, 1, arguments.free_gb * 1e9)
    chunk = arguments.chunk or layout.chunk
    # A process inherits the peak of its parent, so this one must have done little.
    command = [sys.executable, __file__, CHILD, "--chunk", str(chunk), "--width", str(width)]
    command += ["--memory-rows", str(rows)]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found = json.loads(printed.splitlines()[-1])
    measured: Memory = {
        **circumstances(),
        "rows": rows,
        "parameters": size,
        "chunk": chunk,
        "seconds": found["seconds"],
        "peak_gb": found["peak_gb"],
        "ceiling_gb": CEILING_GB,
        "free_gb": arguments.free_gb,
        "whole_jacobian_gb": 8e-9 * rows * size,
    }
    path = write(measured, "memory", arguments.out)
    show(memory_sheet(measured))
    print(f"wrote {path}")


def million(rows: int, width: int, chunk: int) -> dict[str, float]:
    """JᵀJ and Jᵀr of many rows in chunks: seconds, and the peak memory of this process."""
    import resource  # not on every system

    system, psi, points = posed(rows, _field(width))

    def normal_equations(psi: Any, points: Any) -> Any:
        objective = Objective.of(system.blocks, points, Layout(chunk))
        return objective.linearise(psi).normal_equations()

    program = jax.jit(normal_equations).lower(psi, points).compile()
    with single_threaded_blas():
        before = time.perf_counter()
        gram, _ = jax.block_until_ready(program(psi, points))
        seconds = time.perf_counter() - before
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes here
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {
        "rows": rows,
        "chunk": chunk,
        "seconds": seconds,
        "peak_gb": peak / 1e9,
        "trace": float(gram.trace()),
    }


def _field(width: int) -> TimeInduced:
    return TimeInduced(MLP((width, width)))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    numbers = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000]
    parser.add_argument("--rows", type=int, nargs="+", default=numbers)
    parser.add_argument("--width", type=int, default=20, help="hidden width when rows vary")
    parser.add_argument("--widths", type=int, nargs="+", default=[10, 15, 20, 25, 30, 35, 40])
    parser.add_argument("--fixed-rows", type=int, default=10_900, help="rows when widths vary")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help="measure memory instead")
    parser.add_argument("--memory-rows", type=int, default=1_000_000)
    parser.add_argument("--free-gb", type=float, default=3.0, help="memory to choose chunks for")
    parser.add_argument("--chunk", type=int, help="rows in a chunk, instead of a choice")
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks"))
    parser.add_argument(CHILD, action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
