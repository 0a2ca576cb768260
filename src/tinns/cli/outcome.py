"""What the command line prints after a solve."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tinns.solution.uncertainty import EstimateData
from tinns.verification import Verdict

COLOURS = {"trusted": "green", "doubtful": "yellow", "failed": "red"}  # of a verdict


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
    print_verdict(console, result)
    error = result["relative_l2"]
    estimate = result.get("estimate")
    stated = "no reference known, no error estimated,"
    if error is not None:
        stated = f"relative L2 error {error:.2e} in"
    elif estimate and estimate["relative_l2"] is not None:
        stated = f"estimated relative L2 error {estimate['relative_l2']:.1e} in"
    console.print(
        f"{stated} {result['seconds']:.1f} s of training "
        f"(+ {result['compile_seconds']:.1f} s compilation)",
        soft_wrap=True,
    )


def print_verdict(console: Console, result: Mapping[str, Any]) -> None:
    """Whether to trust the solution, one line for each reason and for what would help."""
    verdict = Verdict.from_data(result["verdict"])
    console.print(f"[bold {COLOURS[verdict.status]}]{verdict.status}[/]", highlight=False)
    for reason in verdict.reasons:
        console.print(f"  - {escape(reason)}", highlight=False, soft_wrap=True)
    for number, advice in enumerate(verdict.suggestions):
        start = "  what would help: " if number == 0 else "  or "
        console.print(f"{start}{escape(advice)}", highlight=False, soft_wrap=True)


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
