"""Run one cell and record what came out, whether it succeeded or failed."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace

import jax

from tinns._runtime.errors import UserError
from tinns._solve import circumstances, solve
from tinns.paper.cells import Cell, current_settings, fit_sizes, recipe_of
from tinns.paper.diagnostics import DIAGNOSTICS, Request
from tinns.paper.diagnostics.rank_one import rank_one_shares
from tinns.paper.profiles import Profile
from tinns.paper.records import Record, Status, record_from, record_of
from tinns.recipes.methods import METHODS
from tinns.solvers import StopReason

RunCell = Callable[[Cell, Profile], Record | None]


def run_cell(cell: Cell, profile: Profile) -> Record | None:
    """The record of a cell, done or failed; None if the run was interrupted."""
    try:
        with _quick_compilation(profile.small):
            record = (_diagnose if cell.method in DIAGNOSTICS else _solve)(cell, profile)
    except KeyboardInterrupt:
        return None
    except UserError as error:
        return _failure(cell, profile, str(error))
    except Exception as error:  # one failed cell must not end the others
        first = (str(error).strip().splitlines() or [""])[0]
        return _failure(cell, profile, f"{type(error).__name__}: {first}")
    return None if record.stop_reason == StopReason.INTERRUPTED else record


def _failure(cell: Cell, profile: Profile, reason: str) -> Record:
    """The record of a cell that raised an error."""
    return record_from(
        {
            "problem": cell.problem,
            "method": cell.method,
            "recipe": cell.recipe or cell.method,
            "seed": cell.seed,
            "profile": asdict(profile),
            "status": Status.FAILED,
            "reason": reason,
            "settings": current_settings(cell, profile),
            **circumstances(),
        }
    )


def _solve(cell: Cell, profile: Profile) -> Record:
    """Solve the problem; a result that is not usable makes a failed record."""
    if cell.method not in METHODS:
        raise UserError(f"there is no method called {cell.method}; `tinns list` shows all methods")
    name, recipe = recipe_of(cell, profile)
    solution = solve(cell.problem, recipe, seed=cell.seed, progress=False)
    # The recipe was passed as an object with the method already applied: restore both names.
    record = record_of(solution, method=cell.method, recipe=name, profile=asdict(profile))
    reason = record.stop_reason and StopReason(record.stop_reason)
    error = solution.result["relative_l2"]
    if reason and reason.is_failure:
        return replace(record, status=Status.FAILED, reason=reason.value, curve=())
    if error is not None and not math.isfinite(error):
        return replace(record, status=Status.FAILED, reason=StopReason.DIVERGED.value, curve=())
    return record


def _diagnose(cell: Cell, profile: Profile) -> Record:
    """The rank-one diagnostic, which has a table in the paper."""
    times, points = fit_sizes(profile)
    request = Request(profile.seconds, profile.iterations, cell.seed, progress=False)
    began = time.perf_counter()
    data = rank_one_shares(request, times, points).data
    facts = {
        "problem": cell.problem,
        "method": cell.method,
        "recipe": cell.method,
        "profile": asdict(profile),
        "settings": current_settings(cell, profile),
        "seconds": time.perf_counter() - began,
        **circumstances(),
    }
    return record_from({**data, **facts})


@contextmanager
def _quick_compilation(wanted: bool) -> Iterator[None]:
    """Compile quickly rather than well, for programs that run only twice."""
    name = "jax_disable_most_optimizations"
    before = bool(getattr(jax.config, "values", {}).get(name))
    jax.config.update(name, before or wanted)
    try:
        yield
    finally:
        jax.config.update(name, before)
