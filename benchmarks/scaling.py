"""How one accelerated iteration grows with rows and with parameters; what a million rows need.

    python benchmarks/scaling.py                 time against rows and against parameters
    python benchmarks/scaling.py --memory        JᵀJ of a million rows, with the peak of memory

Burgers with the points of recipe `paper`. The peak is that of a process of its own, interpreter and
compiler included; it is the system's memory, so --memory is for a CPU.
"""

import argparse
import json
import math
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax

from measuring import circumstances, posed, quickest, repeated, show, write
from tinns._runtime.host_blas import single_threaded_blas
from tinns.nn import MLP, TimeInduced
from tinns.objective.layout import Layout
from tinns.objective.linearised import Linearised
from tinns.optim.lm import AcceleratedLM
from tinns.solvers.least_squares.memory import fitting_layout, free_bytes

CEILING_GB = 3.0  # for a million rows
CHILD = "--child"


def main() -> None:
    arguments = _arguments()
    with jax.enable_x64(True):
        if arguments.child:
            print(json.dumps(million(arguments.memory_rows, arguments.width, arguments.chunk)))
        elif arguments.memory:
            _remember(arguments)
        else:
            _scale(arguments)


def _scale(arguments: argparse.Namespace) -> None:
    rows, widths = arguments.rows, arguments.widths
    sizes = [(count, arguments.width) for count in rows]
    sizes += [(arguments.fixed_rows, width) for width in widths]
    points = iterations(sizes, arguments.repeat)
    measured = circumstances() | {"repeat": arguments.repeat}
    measured["rows"] = with_exponents(points[: len(rows)], "rows")
    measured["widths"] = with_exponents(points[len(rows) :], "parameters")
    path = write(measured, "scaling", arguments.out)
    header = ["hidden width", "parameters", "rows", "ms", "exponent"]
    for kind, by in (("rows", "rows"), ("widths", "parameters")):
        lines = [
            [
                *(str(point[name]) for name in ("width", "parameters", "rows")),
                f"{point['ms']:.1f}",
                f"{point['exponent']:.2f}" if "exponent" in point else "",
            ]
            for point in measured[kind]
        ]
        show(f"{measured['device']}: one accelerated iteration against {by}", header, lines)
    print(path)


def iterations(sizes: list[tuple[int, int]], repeat: int) -> list[dict[str, float]]:
    """The times of one accelerated step by Cholesky, laid out as training would."""
    calls, points = {}, []
    for number, (rows, width) in enumerate(sizes):
        system, psi, data = posed(rows, _field(width))
        size = sum(leaf.size for leaf in jax.tree.leaves(psi))
        layout, _ = fitting_layout(rows, size, 8, 1, free_bytes(jax.devices()))
        optimizer = AcceleratedLM(tries=1)

        def step(x: Any, data: Any, optimizer=optimizer, system=system, layout=layout) -> Any:
            return optimizer.step(system.blocks, x[0], data, x[1], layout)

        calls[str(number)] = repeated(step, repeat, (psi, optimizer.init(psi)), data)
        points.append({"rows": rows, "width": width, "parameters": size})
    times = quickest(calls, single_threaded_blas).values()
    return [point | {"ms": ms / repeat} for point, ms in zip(points, times, strict=True)]


def with_exponents(points: list[dict[str, float]], by: str) -> list[dict[str, float]]:
    """Every point but the first with the p of time ~ size^p since the one before."""
    return points[:1] + [
        b | {"exponent": math.log(b["ms"] / a["ms"]) / math.log(b[by] / a[by])}
        for a, b in pairwise(points)
    ]


def _remember(arguments: argparse.Namespace) -> None:
    if jax.default_backend() != "cpu":
        sys.exit("--memory measures the system's memory: set JAX_PLATFORMS=cpu")
    rows, width = arguments.memory_rows, arguments.width
    size = sum(leaf.size for leaf in jax.tree.leaves(posed(2, _field(width))[1]))
    layout, _ = fitting_layout(rows, size, 8, 1, arguments.free_gb * 1e9)
    chunk = arguments.chunk or layout.chunk
    # A process inherits the peak of the one that started it, so this one must have done little.
    command = [sys.executable, __file__, CHILD, "--chunk", str(chunk), "--width", str(width)]
    command += ["--memory-rows", str(rows)]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    measured = circumstances() | json.loads(told.splitlines()[-1])
    measured |= {"parameters": size, "ceiling_gb": CEILING_GB, "free_gb": arguments.free_gb}
    measured["whole_jacobian_gb"] = 8e-9 * rows * size
    path = write(measured, "memory", arguments.out)
    names = {
        "rows": f"{rows}",
        "parameters": f"{size}",
        "rows in a chunk": f"{chunk}",
        "the whole Jacobian would be, GB": f"{measured['whole_jacobian_gb']:.2f}",
        "peak of the process, GB": f"{measured['peak_gb']:.2f}",
        f"peak / {CEILING_GB:g} GB": f"{measured['peak_gb'] / CEILING_GB:.2f}",
        "seconds": f"{measured['seconds']:.1f}",
    }
    show(f"{measured['device']}: JᵀJ and Jᵀr in chunks", ["", ""], names.items())
    print(path)


def million(rows: int, width: int, chunk: int) -> dict[str, float]:
    """JᵀJ and Jᵀr of many rows in chunks: seconds, and the peak memory of this process."""
    import resource  # not on every system

    system, psi, points = posed(rows, _field(width))

    def normal_equations(psi: Any, points: Any) -> Any:
        return Linearised(system.blocks, psi, points, Layout(chunk)).normal_equations()

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
    parser.add_argument("--width", type=int, default=20, help="hidden width while rows grow")
    parser.add_argument("--widths", type=int, nargs="+", default=[10, 15, 20, 25, 30, 35, 40])
    parser.add_argument("--fixed-rows", type=int, default=10_900, help="rows while widths grow")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help="measure memory instead")
    parser.add_argument("--memory-rows", type=int, default=1_000_000)
    parser.add_argument("--free-gb", type=float, default=3.0, help="free, as the layout is told")
    parser.add_argument("--chunk", type=int, help="rows in a chunk, in place of the fitting layout")
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks"))
    parser.add_argument(CHILD, action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
