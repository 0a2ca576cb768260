"""The command line: list, solve, check, plot, reference, diagnose, bench.

User errors print one line and exit with status 2, failed results with status 1.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from typer.models import OptionInfo

from tinns._runtime.errors import UserError
from tinns._runtime.files import prepared_folder, write_arrays
from tinns._runtime.interruption import Interruption
from tinns._runtime.version import __version__
from tinns._solve import (
    failure_of,
    pose,
    refuse_beside_tolerance,
    resolve_recipe,
    solve_posed,
    solve_to_tolerance,
)
from tinns.cli.outcome import print_outcome, print_verdict
from tinns.cli.run_folder import (
    SOLUTION,
    draw,
    folder_for_results,
    keep_run,
    saved_run,
    write_result,
)
from tinns.paper import TABLES
from tinns.paper import command as bench_command
from tinns.paper.diagnostics import DIAGNOSTICS, Findings, Request, diagnostic_named
from tinns.problem.observations import read_observations
from tinns.problem.reference import Reference
from tinns.problems import PROBLEMS, problem_named
from tinns.recipes.methods import METHODS
from tinns.recipes.named import recipes_for
from tinns.recipes.recipe import check_seed
from tinns.solution.core import Solution
from tinns.verification import Check

app = typer.Typer(add_completion=False)
console = Console()

FAILED = 1  # the exit status of a run whose result is not worth using
INTERRUPTED = 130  # the shell's code for a command ended by Ctrl-C


class Interrupted(Exception):
    """Ended by Ctrl-C; the message says what was kept."""


# Typer carries a copy of click or uses the installed one; its errors are found through its own.
CommandLineError: Any = typer.BadParameter.__mro__[2]


def _number(kind: type[int] | type[float], help: str) -> OptionInfo:
    """An option that takes a number; its error names the value that is not one."""

    def parse(text: str | float) -> float:
        try:
            return kind(text)
        except ValueError:
            name = "a whole number" if kind is int else "a number"
            raise typer.BadParameter(f"'{text}' is not {name}") from None

    return typer.Option(parser=parse, metavar="NUMBER", help=help)


@app.callback(invoke_without_command=True)
def about(
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """Solve time-dependent PDEs with time-induced neural networks."""
    if version:
        console.print(f"tinns {__version__}", highlight=False)


@app.command("list")
def list_names() -> None:
    """Show the problems, their recipes, the methods, the diagnostics and the tables."""
    problems = Table("problem", "equation", "recipes", title="Problems", title_justify="left")
    for name, cls in PROBLEMS.items():
        module = sys.modules[cls.__module__].__doc__ or ""
        problems.add_row(name, module.strip().splitlines()[0], ", ".join(recipes_for(cls())))
    methods = Table("method", "what it is", title="Methods", title_justify="left")
    for name, (description, _) in METHODS.items():
        methods.add_row(name, description)
    diagnostics = Table("diagnostic", "what it shows", title="Diagnostics", title_justify="left")
    for name, (description, _) in DIAGNOSTICS.items():
        diagnostics.add_row(name, description)
    tables = Table("table", "what it compares", title="Tables", title_justify="left")
    for name, table in TABLES.items():
        tables.add_row(name, table.title)
    for table in (problems, methods, diagnostics, tables):
        console.print(table)


@app.command()
def solve(
    problem: Annotated[str, typer.Argument(help="A problem's name; `tinns list` shows them.")],
    recipe: Annotated[
        str | None, typer.Option(help="fast (the default), paper or accurate.")
    ] = None,
    method: Annotated[str, typer.Option(help="tinn, tinn-adam, mlp, ...")] = "tinn",
    seed: Annotated[int, _number(int, "Same seed, same numbers.")] = 0,
    iterations: Annotated[int | None, _number(int, "Stop after this many iterations.")] = None,
    seconds: Annotated[
        float | None, _number(float, "Stop after this many seconds of training.")
    ] = None,
    target_loss: Annotated[float | None, _number(float, "Stop at this loss.")] = None,
    hard: Annotated[
        list[str] | None,
        typer.Option(metavar="CONDITION", help="Build in a condition: initial, boundary, ..."),
    ] = None,
    windows: Annotated[
        str | None,
        typer.Option(metavar="NUMBER|EDGES", help="Time windows: 10, or edges such as 0,0.2,1."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Observations: a header such as x,t,u, then numbers."),
    ] = None,
    precision: Annotated[
        Any, typer.Option(parser=str, metavar="NAME", help="float64 or float32.")
    ] = None,
    tolerance: Annotated[
        float | None,
        _number(float, "Choose all settings until the estimated error is at most this."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Check at finer points and, in two dimensions, by a classical solution."
        ),
    ] = False,
    require: Annotated[
        float | None,
        _number(float, "Exit with status 1 unless the estimated error is at most this."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for results and pictures; else runs/PROBLEM.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress line.")] = False,
) -> None:
    """Solve a problem and write its result, pictures and history into a folder.

    The last lines say whether to trust the result. A failed one makes the exit status 1.
    """
    _check_required(require)
    posed = pose(problem)
    check_seed(seed)
    if data is not None:
        posed = posed.observing(read_observations(data))
    chosen = {
        "recipe": recipe,
        "method": None if method == "tinn" else method,
        "iterations": iterations,
        "target-loss": target_loss,
        "hard": tuple(hard) if hard else None,
        "windows": _windows(windows),
        "precision": precision,
    }
    thoroughness = Check.thorough() if check else True
    folder = out or Path("runs") / posed.name
    if tolerance is not None:
        refuse_beside_tolerance(chosen, "--")
        with folder_for_results(folder):
            solution = solve_to_tolerance(posed, tolerance, seconds, seed, not quiet, thoroughness)
    else:
        limits = (iterations, seconds, target_loss)
        changes = (chosen["hard"], chosen["windows"], precision)
        name, settings = resolve_recipe(posed, recipe, method, *limits, *changes)
        with folder_for_results(folder):
            solution = solve_posed(posed, name, settings, method, seed, not quiet, thoroughness)
    with console.status("drawing"):
        kept = keep_run(solution, folder)
    print_outcome(console, solution.result, kept.folder)
    if kept.lack:
        typer.echo(f"tinns: {kept.lack}; the run is kept in {kept.folder}", err=True)
        raise typer.Exit(FAILED)
    _exit_by(solution, require)


@app.command("check")
def check_run(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run, or a solution file.")],
    require: Annotated[
        float | None,
        _number(float, "Exit with status 1 unless the estimated error is at most this."),
    ] = None,
) -> None:
    """Check a saved solution again, at finer points and by classical solutions in two dimensions.

    The new estimate and verdict go into its files.
    """
    _check_required(require)
    file, solution = saved_run(run)
    with console.status("checking"):
        solution = solution.checked()
    solution.save(file)
    if file.name == SOLUTION:
        write_result(solution, file.parent)
    console.print(f"{solution.result['problem']}: {file}", soft_wrap=True)
    print_verdict(console, solution.result)
    _exit_by(solution, require)


def _check_required(require: float | None) -> None:
    if require is not None and not 0 < require < 1:
        raise UserError(f"--require {require:g}: expected a relative error between 0 and 1")


def _exit_by(solution: Solution, require: float | None) -> None:
    """Status 1 if the result failed or its estimated error is larger than required."""
    failure = failure_of(solution)
    asked = solution.result.get("tolerance")
    if failure is None and asked and not asked["met"]:
        failure = f"the tolerance {asked['asked']:g} is not met"
    if failure is None and require is not None:
        failure = solution.shortfall(require)
    if failure:
        typer.echo(f"tinns: {failure}", err=True)
        raise typer.Exit(FAILED)


@app.command()
def plot(
    run: Annotated[Path, typer.Argument(help="The folder of a finished run, or a solution file.")],
) -> None:
    """Plot a finished run again."""
    file, solution = saved_run(run)
    prefix = "" if file.name == SOLUTION else f"{file.stem}-"
    with console.status("drawing"):
        drawn = draw(solution, prepared_folder(file.parent), prefix)
    for path in drawn:
        console.print(f"wrote {path}", soft_wrap=True)


@app.command()
def reference(
    problem: Annotated[str, typer.Argument(help="A problem's name.")],
    out: Annotated[Path | None, typer.Option(help="Write the values to this .npz file.")] = None,
    at: Annotated[
        str | None, typer.Option(help="Print u* at one point, as in 'x=0.3,t=0.5'.")
    ] = None,
) -> None:
    """Show the exact or classical solution of a problem, and how accurate it is."""
    posed = problem_named(problem)
    known = posed.reference()
    if known is None:
        raise UserError(f"no reference is known for {posed.name}")
    if out is not None and out.suffix != ".npz":
        raise UserError(f"--out {out}: expected a name that ends in .npz")
    point = _point(at, posed.domain.axes, posed.domain.interval) if at is not None else None
    console.print(f"{posed.name}: {known.source}; relative accuracy {known.accuracy:.0e}")
    if point is not None:
        value = np.ravel(known(**point))
        console.print(f"u*({at}) = {', '.join(f'{v:.15g}' for v in value)}")
    if out is not None:
        _write_reference(known, posed.unknowns, posed.test_grid(), out)


@app.command()
def diagnose(
    name: Annotated[str, typer.Argument(help="A diagnostic's name; `tinns list` shows them.")],
    seconds: Annotated[
        float | None, _number(float, "For each network; for rank-one, for all fits together.")
    ] = None,
    iterations: Annotated[int | None, _number(int, "For each network, or each fit.")] = None,
    seed: Annotated[int, _number(int, "Same seed, same numbers.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for pictures, tables and numbers.")] = Path(
        "runs/diagnose"
    ),
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress line.")] = False,
) -> None:
    """Make one of the paper's diagnostic pictures and tables."""
    function = diagnostic_named(name)
    request = Request(seconds, iterations, seed, progress=not quiet)
    with folder_for_results(out):
        findings = function(request)
    _print_findings(findings)
    for path in findings.write(out, name):
        console.print(f"wrote {path}", soft_wrap=True)


@app.command()
def bench(
    name: Annotated[str, typer.Argument(help="A table's name, or all; `tinns list` shows them.")],
    profile: Annotated[
        Any,
        typer.Option(
            parser=str,
            metavar="NAME",
            help="smoke: two iterations (the default); equal-time: --seconds each; paper: in full.",
        ),
    ] = None,
    seconds: Annotated[
        float | None, _number(float, "Training seconds of every cell (profile equal-time).")
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="As in 0,1,2; otherwise the paper's five (smoke: one)."),
    ] = None,
    problems: Annotated[
        str | None, typer.Option(metavar="LIST", help="Run these alone, as in burgers,wave.")
    ] = None,
    methods: Annotated[
        str | None, typer.Option(metavar="LIST", help="Run these alone, as in pinn,tinn:paper.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for cells and tables.")] = bench_command.OUT,
    time_limit: Annotated[
        float | None, _number(float, "Start no cell after this many seconds.")
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed cells again.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Run all cells again.")] = False,
    jobs: Annotated[
        int | None, _number(int, "Cells at once; otherwise one, and in smoke runs one a core.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be run, and run nothing.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Write files, print nothing.")] = False,
) -> None:
    """Reproduce a table of the paper, with the paper's numbers beside ours.

    Recorded cells are not run again.
    """
    asked = bench_command.parse_request(
        name, profile, seconds, seeds, problems, methods, out, time_limit, retry, again, jobs
    )
    if dry_run:
        return bench_command.dry_run(asked, console)
    try:
        with folder_for_results(out):
            interrupted = bench_command.bench(asked, console, quiet).interrupted
    except KeyboardInterrupt:  # while no cell was under way
        interrupted = True
    if interrupted:
        raise Interrupted(bench_command.kept_line(out))


def _print_findings(findings: Findings) -> None:
    table = Table(title=findings.title, title_justify="left")
    for number, heading in enumerate(findings.header):
        table.add_column(heading, justify="right" if number else "left")
    for row in findings.rows:
        table.add_row(*row)
    console.print(table)
    for remark in findings.remarks:
        console.print(remark, highlight=False)


def _write_reference(
    known: Reference, unknowns: tuple[str, ...], grid: dict[str, np.ndarray], out: Path
) -> None:
    prepared_folder(out.parent)
    with console.status("evaluating the reference"):
        values = known.on_grid(**grid)
    columns = np.moveaxis(values, -1, 0) if values.ndim > len(grid) else [values]
    named = dict(zip(unknowns, columns, strict=False))
    write_arrays(out, {**named, **grid})
    size = " x ".join(str(points.size) for points in grid.values())
    console.print(f"wrote {out}: {', '.join(named)} on {size} points", soft_wrap=True)


def _windows(text: str | None) -> int | tuple[float, ...] | None:
    """`10` as a number of windows, `0,0.2,1` as their edges."""
    try:
        if text is None:
            return None
        return tuple(float(part) for part in text.split(",")) if "," in text else int(text)
    except ValueError:
        raise UserError(
            f"--windows {text}: expected a whole number, or times such as 0,0.2,1"
        ) from None


def _point(
    text: str, axes: Sequence[str], interval: Callable[[str], tuple[float, float]]
) -> dict[str, float]:
    """`x=0.3,t=0.5` as coordinates inside the domain."""
    try:
        pairs = [part.split("=") for part in text.split(",")]
        point = {name.strip(): float(value) for name, value in pairs}
    except ValueError:
        raise UserError(f"--at '{text}': expected coordinates such as x=0.3,t=0.5") from None
    if sorted(name.strip() for name, _ in pairs) != sorted(axes):
        raise UserError(f"--at '{text}': expected exactly the coordinates {', '.join(axes)}")
    for axis, value in point.items():
        lower, upper = interval(axis)
        if not lower <= value <= upper:
            raise UserError(
                f"--at: {axis} = {value:g} is outside the domain [{lower:g}, {upper:g}]"
            )
    return point


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; never a traceback for a user's mistake."""
    given = sys.argv[1:] if arguments is None else arguments
    command = typer.main.get_command(app)
    kept = "interrupted before there was a result; nothing was written"
    try:
        with Interruption(immediate=True):
            code = command.main(args=given or ["--help"], prog_name="tinns", standalone_mode=False)
    except CommandLineError as error:
        typer.echo(f"tinns: {error.format_message()}", err=True)
        code = 2
    except UserError as error:
        typer.echo(f"tinns: {error}", err=True)
        code = 2
    except Interrupted as interruption:
        code, kept = INTERRUPTED, str(interruption)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        typer.echo(f"tinns: {kept}", err=True)
    if not given:
        code = 2
    code = code if isinstance(code, int) else 0
    if arguments is not None:
        return code
    if code == INTERRUPTED:  # compilers at work in other threads may not survive a usual exit
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)
