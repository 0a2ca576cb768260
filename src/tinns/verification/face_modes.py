"""How many conditions an equation in one space dimension needs at each face, and how many it has.

With coefficients frozen at a point near the face, a mode exp(λt + rξ) with a large λ decays away
from it if Re r < 0. The number of such r is that of the conditions needed there (H.-O. Kreiss).
"""

import numpy as np

from tinns.geometry import TIME, Boundary, Box, Face, LowerFace, Observations
from tinns.verification.changes import Changes
from tinns.verification.symbols import count_decaying

RATE = 1e5  # λ times the time span
SAMPLES = 9  # points near a face


def faces_without_conditions(changes: Changes) -> list[tuple[str, int, int]]:
    """Faces that lack conditions: their names, how many they need and how many they have.

    None for problems with observations, with conditions that compare different points, or with
    several space dimensions, where modes along the face matter too.
    """
    domain, regions = changes.domain, [r.condition.region for r in changes.rows]
    if len(domain.space) > 1 or not isinstance(domain, Box) or changes.problem.trainable:
        return []
    if any(isinstance(region, Observations | LowerFace) for region in regions):
        return []
    if changes.equations != len(changes.unknowns):
        return []
    found = []
    for face in domain.faces:
        needed, given = _needed(changes, face), _given(changes, face)
        if given < needed:
            found.append((face.name, needed, given))
    return found


def _needed(changes: Changes, face: Face) -> int:
    """The least number of decaying modes at some points near a face."""
    rate = RATE / changes.lengths[TIME]
    degree = max(changes.order(n, face.axis) for n in range(len(changes.unknowns)))
    nearest = np.argsort(np.abs(changes.interior[0].places[0][face.axis] - face.value))[:SAMPLES]
    counts = []
    for point in nearest:
        matrices = np.zeros((degree + 1, len(changes.unknowns), len(changes.unknowns)))
        for n, (along, order) in enumerate(changes.interior[0].indices):
            factor = (-face.outward) ** along * rate**order
            matrices[along] += factor * changes.interior[0].slopes[0][point, :, n]
        counts.append(count_decaying(matrices * changes.sizes) if degree else 0)
    return min(counts)


def _given(changes: Changes, face: Face) -> int:
    """The number of independent rows at a face."""
    indices = sorted({k for rows in changes.rows for k in rows.indices})
    found = [np.zeros((0, len(indices), len(changes.unknowns)))]
    for rows in changes.rows:
        here = np.flatnonzero(rows.places[0][face.axis] == face.value)
        if isinstance(rows.condition.region, Boundary) and here.size:
            own = np.zeros((rows.residual.shape[1], len(indices), len(changes.unknowns)))
            own[:, [indices.index(k) for k in rows.indices]] = rows.slopes[0][here[0]]
            found.append(own)
    together = np.concatenate(found).reshape(-1, len(indices) * len(changes.unknowns))
    sizes = np.linalg.norm(together, axis=1, keepdims=True)
    return int(np.linalg.matrix_rank(together / np.where(sizes > 0, sizes, 1.0)))
