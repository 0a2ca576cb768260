"""What the command line prints after a solve."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tinns.solution.uncertainty import EstimateData


def print_outcome(console: Console, result: Mapping[str, Any], folder: Path) -> None:
    """Why the run ended and how good it is; the last line states the error and the seconds."""
    console.print(
        f"{result['problem']}: {result['stop_reason']}, {result['iterations']} iterations, kept "
        f"iterate {result['kept_iteration']}; loss {result['loss']:.2e}, validation "
        f"{result['validation_loss']:.2e}; results and pictures in {folder}",
        soft_wrap=True,
    )
    if result.get("windows"):
        largest = max(window["jump"] for window in result["windows"])
        console.print(
            f"{len(result['windows'])} time windows; the largest jump between two is "
            f"{largest:.1e} of u",
            soft_wrap=True,
        )
    if result.get("errors"):
        errors = ", ".join(f"{name} {error:.2e}" for name, error in result["errors"].items())
        console.print(f"relative L2 errors: {errors}", soft_wrap=True)
    if result.get("estimates"):
        _print_estimates(console, result["estimates"])
    error = result["relative_l2"]
    stated = "no reference known," if error is None else f"relative L2 error {error:.2e} in"
    console.print(
        f"{stated} {result['seconds']:.1f} s of training "
        f"(+ {result['compile_seconds']:.1f} s compilation)",
        soft_wrap=True,
    )


def _print_estimates(console: Console, stored: Mapping[str, EstimateData]) -> None:
    is_known = any("error" in data for data in stored.values())
    table = Table(box=None, pad_edge=False)
    header = ["coefficient", "estimate", "standard error", "95 % interval (local, linear)"]
    for name in [*header, *(["error"] if is_known else [])]:
        table.add_column(name, justify="left" if name == "coefficient" else "right", no_wrap=True)
    for name, data in stored.items():
        error, interval = data["standard_error"], data["interval"]
        table.add_row(
            name,
            f"{data['value']:.10g}",
            "not determined" if error is None else f"{error:.2e}",
            "" if interval is None else f"{interval[0]:.10g} to {interval[1]:.10g}",
            *([f"{data['error']:.2e}" if "error" in data else ""] if is_known else []),
        )
    console.print(table)
    unfinished = [name for name, data in stored.items() if _is_unfinished(data)]
    if unfinished:
        console.print(
            f"not converged: {', '.join(unfinished)} would still move by more than the standard "
            "error; give more time",
            soft_wrap=True,
        )


def _is_unfinished(data: EstimateData) -> bool:
    error, step = data["standard_error"], data["remaining_step"]
    return error is not None and step is not None and abs(step) > error
