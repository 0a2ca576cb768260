"""The time of each part of an iteration, compared with a lower bound.

    python benchmarks/parts.py --rows 10900 --repeat 10

Burgers with the field and the points of recipe `paper`. Each part is timed inside one compiled
program that repeats it. On a CPU the floors are the symmetric product and the factorisation by
OpenBLAS on all its threads; on a GPU they are operations over peak rate and bytes over bandwidth.
"""

import argparse
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg

from measuring import Call, circumstances, posed, quickest, repeated, show, write
from tinns._runtime.host_blas import single_threaded_blas
from tinns.nn import Field
from tinns.objective import Layout, Objective
from tinns.objective.linearised import gram_of
from tinns.optim.lm import AcceleratedLM, PaperLM
from tinns.paper.pages.checkout import plural
from tinns.paper.pages.timings import ALL_FLOORS, Parts, parts_sheet, steps_sheet

ACCELERATED = "step, accelerated, Cholesky"
STEPS = {
    "step, Algorithm 1": PaperLM(),
    ACCELERATED: AcceleratedLM(tries=1),
    "step, accelerated, CholeskyQR2": AcceleratedLM(tries=1, stable=True),
}
TARGET = 2.5  # an accelerated step by Cholesky over symmetric product and factorisation


def main() -> None:
    arguments = _arguments()
    with jax.enable_x64(True):
        measured = measure(
            arguments.rows, arguments.repeat, arguments.peak_tflops, arguments.bandwidth_tbs
        )
    path = write(measured, "parts", arguments.out)
    show(parts_sheet(measured))
    print(f"floors: {measured['floors_are']}")
    show(steps_sheet(measured))
    print(f"wrote {path}")


def measure(
    rows: int,
    repeat: int,
    peak_tflops: float = 67.0,
    bandwidth_tbs: float = 4.8,
    field: Field | None = None,
) -> Parts:
    """Parts and floors in milliseconds, and their ratios."""
    system, psi, points = posed(rows, field)
    layout = Layout(rows)
    size = sum(leaf.size for leaf in jax.tree.leaves(psi))

    def objective(points: Any) -> Objective:
        return Objective.of(system.blocks, points, layout)

    def jacobian(psi: Any, points: Any) -> Any:
        return objective(points).linearise(psi).held

    def curvature(psi: Any, direction: Any, points: Any) -> Any:
        return objective(points).linearise(psi).curvature(direction)

    held = jax.jit(jacobian)(psi, points)
    gram = jax.jit(gram_of)(held) + jnp.eye(held.shape[1])
    lower, vector = jnp.linalg.cholesky(gram), gram[0]
    calls = {
        "residuals": repeated(lambda p, d: objective(d).losses(p), repeat, psi, points),
        "Jacobian": repeated(jacobian, repeat, psi, points),
        "JᵀJ": repeated(gram_of, repeat, held),
        "Cholesky": repeated(jnp.linalg.cholesky, repeat, gram),
        "solve with the factor": repeated(
            lambda v, f: jax.scipy.linalg.cho_solve((f, True), v), repeat, vector, lower
        ),
        "curvature": repeated(curvature, repeat, psi, psi, points),
    }
    for name, optimizer in STEPS.items():

        def step(x: Any, points: Any, optimizer: Any = optimizer) -> Any:
            return optimizer.step(objective(points), *x)

        calls[name] = repeated(step, repeat, (psi, optimizer.init(psi)), points)
    on_cpu = jax.default_backend() == "cpu"
    blas = _blas(np.asarray(held)[:, :size]) if on_cpu else {}
    early = quickest(blas)  # before and after the parts: other programs may use the cores
    times = quickest(calls, single_threaded_blas)
    parts = {name: time / repeat for name, time in times.items()}
    if on_cpu:
        floors = {name: min(early[name], time) for name, time in quickest(blas).items()}
    else:
        floors = _roofline(rows, size, peak_tflops, bandwidth_tbs)
    return {
        **circumstances(),
        "rows": rows,
        "parameters": size,
        "repeat": repeat,
        "parts": parts,
        "floors": floors,
        "floors_are": _meaning(on_cpu, peak_tflops, bandwidth_tbs),
        "ratios": {name: parts[name] / floor for name, floor in floors.items()}
        | {f"{name}{ALL_FLOORS}": parts[name] / sum(floors.values()) for name in STEPS},
        "target": {f"{ACCELERATED}{ALL_FLOORS}": TARGET} if on_cpu else {},
    }


def _meaning(on_cpu: bool, peak_tflops: float, bandwidth_tbs: float) -> str:
    if not on_cpu:
        return (
            f"N·P² operations at {peak_tflops:g} TFLOP/s for JᵀJ, "
            f"writing J at {bandwidth_tbs:g} TB/s for the Jacobian"
        )
    from threadpoolctl import threadpool_info  # not needed on a GPU

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    threads = max(pool["num_threads"] for pool in pools)
    return f"SciPy's dsyrk and Cholesky by OpenBLAS on {plural(threads, 'thread')}"


def _blas(jacobian: np.ndarray) -> dict[str, Call]:
    """The symmetric product and the factorisation by SciPy's OpenBLAS, on all its threads."""
    turned = np.ascontiguousarray(jacobian).T  # column-major, as BLAS expects: no copy
    (dsyrk,) = scipy.linalg.get_blas_funcs(["syrk"], [turned])
    gram = turned @ turned.T + np.eye(len(turned))
    return {
        "JᵀJ": lambda: dsyrk(1.0, turned, lower=1),
        "Cholesky": lambda: scipy.linalg.cholesky(gram, lower=True, check_finite=False),
    }


def _roofline(rows: int, size: int, peak_tflops: float, bandwidth_tbs: float) -> dict[str, float]:
    """Operations of the symmetric product over peak; bytes of J over bandwidth."""
    return {
        "JᵀJ": 1e3 * rows * size**2 / (peak_tflops * 1e12),
        "Jacobian": 1e3 * rows * size * 8 / (bandwidth_tbs * 1e12),
    }


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_900)
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--peak-tflops", type=float, default=67.0, help="float64, on a GPU")
    parser.add_argument("--bandwidth-tbs", type=float, default=4.8, help="TB/s, on a GPU")
    parser.add_argument("--out", type=Path, default=Path("results/benchmarks"))
    return parser.parse_args()


if __name__ == "__main__":
    main()
