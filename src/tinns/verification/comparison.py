"""An estimate with its factor of trust, from classical solutions that are compared."""

import time
from math import inf

import numpy as np

from tinns.verification.classical_runs import Run, total
from tinns.verification.estimate import ErrorEstimate
from tinns.verification.refusals import NotApplicable

AGREEMENT = 0.2  # of two resolutions, relative to the error: the estimate can be used
LEAST_FACTOR = 1.2
ALONE = 4.0  # the factor of a run that no other one confirms
ROUND_OFF = 1e-12  # relative errors that double precision does not determine well
DIFFERENT = 0.1  # of u*: two solutions that are so far apart are not the same


def stated(
    unknowns: tuple[str, ...],
    runs: list[Run],
    guard: Run | None,
    times: np.ndarray,
    started: float,
) -> ErrorEstimate:
    """The estimate of the finest run, or of its guard where the two are different solutions."""
    best = runs[-1]
    relative = best.relative(best.error)
    spread = best.apart(runs[-2]) / max(relative, 1e-300) if len(runs) > 1 else None
    if relative < ROUND_OFF:
        spread = None
    elif spread is not None and spread > 1:
        raise NotApplicable(
            "resolution",
            f"the error is not resolved: on {_counts(best)} and on {_counts(runs[-2])} points it "
            f"differs by {100 * spread:.0f} %",
        )
    factor = ALONE if spread is None else max(LEAST_FACTOR, (1 + spread) / (1 - min(spread, 0.9)))
    how = (
        f"the problem solved by {_basis(best)} collocation with {_counts(best)} points and Radau "
        f"IIA in time, "
    )
    if relative < ROUND_OFF:
        factor, how = 10.0, how + "to round-off, on which the error depends"
    elif spread is None:
        how += "without a second resolution to compare with"
    else:
        how += f"which agrees with a coarser one to {100 * spread:.0f} %"
    if guard is not None:
        apart = best.apart(guard)
        how += f"; a solution without the network differs by {apart:.0e}"
        if apart > max(DIFFERENT, relative / 2):
            own = guard.relative(guard.error)
            factor = max(factor, 2 * max(own, relative) / max(min(own, relative), 1e-300))
            how += ", so that the network may be close to another solution"
            best = max(best, guard, key=lambda run: run.relative(run.error))
    errors, sizes = best.norms(best.error), best.norms(best.solution)
    per_unknown = {
        name: _ratio(total(errors[:, k : k + 1]), total(sizes[:, k : k + 1]))
        for k, name in enumerate(unknowns)
    }
    return ErrorEstimate(
        relative_l2=max(best.relative(best.error), ROUND_OFF / 10),
        by="classical",
        per_unknown=per_unknown,
        times=times,
        over_time=_ratio_over_time(errors, sizes),
        factor=factor,
        how=how,
        seconds=time.monotonic() - started,
        per_unknown_over_time={
            name: _ratio_over_time(errors[:, k : k + 1], sizes[:, k : k + 1])
            for k, name in enumerate(unknowns)
        },
        sizes=np.sqrt((sizes**2).sum(axis=1)),
    )


def _ratio(error: float, size: float) -> float:
    return error / size if size > 0 else inf


def _ratio_over_time(errors: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Of norms (times, unknowns); infinite where the solution vanishes."""
    above, below = np.sqrt((errors**2).sum(axis=1)), np.sqrt((sizes**2).sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.inf)


def _counts(run: Run) -> str:
    return " x ".join(str(axis.count) for axis in run.grid.axes)


def _basis(run: Run) -> str:
    kinds = {axis.periodic for axis in run.grid.axes}
    return "Fourier" if kinds == {True} else "Chebyshev" if kinds == {False} else "mixed"
