"""Whether a problem is well posed, from its equation with coefficients frozen at single points.

With derivatives of the rows in the jets, a wave exp(iκx + λt) gives the growth rates λ(κ), and a
mode exp(rx + λt) the rates r at which it decays away from a face: for large λ their number is the
number of boundary conditions that the face needs (H.-O. Kreiss, 1970).
"""

from typing import cast

import numpy as np
import scipy.linalg

from tinns.verification.posed import Posed
from tinns.verification.refusals import Breakdown, NotApplicable
from tinns.verification.semidiscrete import Semidiscrete

WAVES = ((256, 1024), (1e5, 4e5))  # per length of an axis
ROUND_OFF = 1e-8  # of the real part of a rate, relative to its size
INFINITE = 1e9  # roots beyond this, relative to the others, belong to lower orders


def check_well_posed(system: Semidiscrete) -> None:
    """Breakdown if short waves grow without bound; NotApplicable without boundary conditions."""
    slopes = system.local.equation[0]
    samples = slopes[np.unique(np.linspace(0, len(slopes) - 1, 9).astype(int))]
    box = system.given.box
    for number, axis in enumerate(box.space):
        lower, upper = box.interval(axis)
        wave = 2 * np.pi / (upper - lower)

        def growth(count: float, number: int = number, wave: float = wave) -> float:
            return max(_growth(system.given, sample, number, wave * count) for sample in samples)

        if all(
            growth(fast) > max(1.5 * growth(slow), 30 / (box.end - box.start))
            for slow, fast in WAVES
        ):
            raise Breakdown(
                "ill-posed",
                "the problem is ill-posed: perturbations grow the faster the shorter their "
                "wavelength",
                box.start,
            )
    _check_boundary(system)


def _growth(given: Posed, slopes: np.ndarray, axis: int, wave: float) -> float:
    """The largest Re λ for waves of this wave number along an axis."""
    levels = given.levels
    by_state, by_slope = np.zeros((2, len(levels), len(levels)), complex)
    for number, (unknown, order) in enumerate(levels):
        if order + 1 < given.orders[unknown]:
            by_slope[number, number], by_state[number, number + 1] = 1, -1
            continue
        for n, (other, index) in enumerate(given.names):
            if sum(index[:-1]) == index[axis]:
                value = slopes[unknown, n] * (1j * wave) ** index[axis]
                top = index[-1] == given.orders[other]
                target = by_slope if top else by_state
                target[number, levels.index((other, index[-1] - top))] += value
    rates = np.linalg.eigvals(np.linalg.solve(by_slope, -by_state))
    significant = rates.real > ROUND_OFF * np.abs(rates)
    return float(max(rates.real[significant], default=0.0))


def _check_boundary(system: Semidiscrete) -> None:
    """As many conditions on each face as the equation needs there."""
    given, box = system.given, system.given.box
    present = {face: 0 for face in box.faces}
    for number, (face, _) in enumerate(given.faces):
        present[face] = system.local.faces[number].shape[2] // max(given.orders)
    for face, found in present.items():
        nodes = system.grid.face(face.axis, face.outward > 0)
        sample = system.local.equation[0][nodes[len(nodes) // 2]]
        axis = box.space.index(face.axis)
        needed = _decaying(given, sample, axis, -face.outward)
        if found < needed:
            raise NotApplicable(
                "boundary-missing",
                f"the boundary conditions do not determine the solution: the equation needs "
                f"{needed} at {face.name}, and the problem has {found or 'none'}",
            )
        if found > needed:
            raise NotApplicable(
                "boundary-excess",
                f"there are more boundary conditions than the equation allows: {found} at "
                f"{face.name}, where it needs {needed or 'none'}",
            )


def _decaying(given: Posed, slopes: np.ndarray, axis: int, inward: int) -> int:
    """The number of modes exp(λt + r ξ) with Re r < 0, where ξ is the distance from a face."""
    unknowns, box = len(given.orders), given.box
    rate = 1e5 / (box.end - box.start)
    degree = given.spatial_order(axis=axis)
    if degree == 0:
        return 0
    matrices = np.zeros((degree + 1, unknowns, unknowns))
    for n, (other, index) in enumerate(given.names):
        if sum(index[:-1]) == index[axis]:
            factor = inward ** index[axis] * rate ** index[-1]
            matrices[index[axis], :, other] += slopes[:, n] * factor
    return count_decaying(matrices)


def count_decaying(matrices: np.ndarray) -> int:
    """The number of roots r of det Σ M_s r^s = 0 with Re r < 0, for matrices of shape (s, n, n)."""
    degree, unknowns = len(matrices) - 1, matrices.shape[1]
    size = np.abs(matrices).max(axis=0).max(axis=1)
    matrices = matrices / np.maximum(size, 1e-300)[None, :, None]
    norms = np.abs(matrices).max(axis=(1, 2))
    scales = [(norms[0] / norms[s]) ** (1 / s) for s in range(1, degree + 1) if norms[s] > 0]
    if not scales:
        return 0
    scale = min(scales)
    matrices = matrices * scale ** np.arange(degree + 1)[:, None, None]
    identity = np.eye((degree - 1) * unknowns)
    top = np.zeros((degree * unknowns, degree * unknowns))
    right = np.eye(degree * unknowns)
    top[: (degree - 1) * unknowns, unknowns:] = identity
    top[(degree - 1) * unknowns :] = np.hstack([-m for m in matrices[:-1]])
    right[(degree - 1) * unknowns :, (degree - 1) * unknowns :] = matrices[-1]
    alpha, beta = cast(np.ndarray, scipy.linalg.eigvals(top, right, homogeneous_eigvals=True))
    finite = np.abs(beta) * INFINITE ** (1 / degree) > np.abs(alpha)
    roots = alpha[finite] / beta[finite]
    return int(np.count_nonzero(roots.real < -1e-6 * np.abs(roots)))
