"""Observations of a solution: read from a file, written to one, or simulated with noise."""

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from tinns._runtime.errors import UserError
from tinns._runtime.files import write_whole
from tinns.problem.base import Problem
from tinns.problem.reference import Reference

Columns = dict[str, np.ndarray]

DELIMITERS = ",;\t"


def read_observations(path: str | Path) -> Columns:
    """The columns of a text file, by the names in its first line: x,t,u and then numbers.

    The delimiter is a comma, a semicolon or a tab. Empty lines and lines that begin with # are
    passed over.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UserError(f"no observations at {path}: give a file such as obs.csv") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text in UTF-8"
        raise UserError(f"cannot read observations from {path}: {reason}") from None
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise UserError(f"{path} is empty: expected a header such as x,t,u and rows of numbers")
    delimiter = max(DELIMITERS, key=lines[0][1].count)
    names, *rows = _cells([line for _, line in lines], delimiter)
    _check_header(path, names)
    if not rows:
        raise UserError(f"{path} has a header but no observations: add rows of numbers below it")
    table = [_values(path, n, names, row) for (n, _), row in zip(lines[1:], rows, strict=True)]
    return dict(zip(names, np.array(table).T, strict=True))


def write_observations(path: str | Path, columns: Mapping[str, np.ndarray]) -> Path:
    """Columns as a file that `read_observations` gives back, number by number."""
    lines = [",".join(columns)]
    rows = zip(*columns.values(), strict=True)
    lines += [",".join(repr(float(value)) for value in row) for row in rows]
    return write_whole(path, lambda temporary: temporary.write_text("\n".join(lines) + "\n"))


def simulate_observations(
    problem: Problem, count: int, noise: float = 0.0, seed: int = 0
) -> Columns:
    """Values of the problem's reference at `count` random points of its domain, with noise.

    The noise is normal; `noise` is its standard deviation relative to that of each unknown's
    values. The points depend on the seed alone, so that they are the same for every noise.
    """
    if not isinstance(problem, Problem):
        raise UserError(
            f"simulate_observations: {problem!r} is not a problem; give an object, such as "
            "tinns.problems.InverseBurgers()"
        )
    if not (isinstance(count, int) and count >= 1):
        raise UserError(f"count: expected a whole number >= 1 of observations, got {count!r}")
    if not 0 <= noise < np.inf:
        raise UserError(f"noise: expected a number >= 0, such as 0.01 for 1 %, got {noise!r}")
    domain, unknowns = problem.domain, problem.unknowns
    places, errors = (np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2))
    points = {axis: places.uniform(*domain.interval(axis), count) for axis in domain.axes}
    values = _true_solution(problem)(**points).reshape(count, -1)
    values = values + noise * values.std(axis=0) * errors.standard_normal(values.shape)
    return points | dict(zip(unknowns, values.T, strict=False))


def _true_solution(problem: Problem) -> Reference:
    """The reference, with the true values of trainable coefficients."""
    known = problem.known_solution()
    if known is None and set(problem.trainable) <= set(problem.truth):
        known = problem.with_coefficients(
            {n: problem.truth[n] for n in problem.trainable}
        ).reference()
    if known is None:
        raise UserError(
            f"no observations of {problem.name} can be simulated: it needs a reference(self) and, "
            "where that depends on trainable coefficients, their `truth`"
        )
    return known


def _cells(lines: list[str], delimiter: str) -> list[list[str]]:
    # One line at a time: a stray quotation mark must not swallow the lines after it.
    rows = [next(csv.reader([line], delimiter=delimiter)) for line in lines]
    return [[cell.strip() for cell in row] for row in rows]


def _check_header(path: Path, names: list[str]) -> None:
    if any(_is_number(name) for name in names):
        raise UserError(
            f"{path} has no header: its first line is {', '.join(names)}; expected names such as "
            "x,t,u above the numbers"
        )
    if "" in names or len(set(names)) < len(names):
        raise UserError(
            f"{path}: the header {', '.join(names)} has an empty name or one that stands twice; "
            "expected each axis and unknown once, such as x,t,u"
        )


def _values(path: Path, number: int, names: list[str], row: list[str]) -> list[float]:
    if len(row) != len(names):
        raise UserError(
            f"{path}, line {number}: {len(row)} entries; expected {len(names)}, one for each of "
            f"{', '.join(names)}"
        )
    for name, cell in zip(names, row, strict=True):
        if not _is_number(cell):
            raise UserError(f"{path}, line {number}, column {name}: '{cell}' is not a number")
        if not np.isfinite(float(cell)):
            raise UserError(
                f"{path}, line {number}, column {name}: {cell} is not finite; remove the line"
            )
    return [float(cell) for cell in row]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
