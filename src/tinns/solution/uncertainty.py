"""Standard errors and intervals of estimated coefficients, from JᵀJ at the solution.

They are local and linear: the fit is replaced by its linear model at ψ. Observed rows carry
independent noise of one variance for each column; all other rows (equation, initial, ...) are
penalties without noise. With all weighted rows J δ + r, the estimates answer to noise e of the
observed rows by

    δ = -(JᵀJ + D)⁻¹ J_oᵀ e,    Cov δ = Σ_k σ_k² A J_kᵀJ_k A,    A = (JᵀJ + D)⁻¹,

the sandwich of a penalised fit. H = J_o A J_oᵀ is the observed part of the hat matrix, and σ² comes
from the observed residuals with tr (I - H)² degrees of freedom, n - tr H for a projection.
The small D, on the network's parameters alone, keeps directions that no row determines finite.

Only triangular factors are held: rows come in chunks, and each chunk is folded into a factor.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NotRequired, TypedDict

import jax
import numpy as np
from jax import Array
from scipy.linalg import solve_triangular
from scipy.optimize import nnls
from scipy.stats import t as student

from tinns._runtime.compilation import jitted
from tinns.geometry import Batch, Observations
from tinns.objective import Block, Psi, System
from tinns.objective.blocks import linearise

LEVEL = 0.95
CHUNK_ROWS = 4096  # whose Jacobian is held at once
DAMPING = 1e-12  # √D relative to the largest column of J: well above round-off
LARGEST = 8000  # parameters: factors of more take minutes and gigabytes
IDENTIFIED = 1e-9  # least part of a coefficient's column that no network parameter imitates


class EstimateData(TypedDict):
    """An `Estimate` as plain data."""

    value: float
    standard_error: float | None
    interval: list[float] | None
    remaining_step: float | None
    true: NotRequired[float]
    error: NotRequired[float | None]


@dataclass(frozen=True)
class Estimate:
    """An estimated coefficient, with its local, linear uncertainty.

    Standard error, 95 % interval and remaining step are None where the data do not determine them.
    The remaining step is how far the linear model would still move the value: in a converged fit it
    is small compared with the standard error. `true` is the problem's true value, if known.
    """

    value: float
    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    remaining_step: float | None = None
    true: float | None = None

    @property
    def error(self) -> float | None:
        """|value - true|, where the truth is known."""
        return None if self.true is None else abs(self.value - self.true)

    def as_data(self) -> EstimateData:
        """Plain data for a record; `from_data` gives the estimate back."""
        data: EstimateData = {
            "value": self.value,
            "standard_error": self.standard_error,
            "interval": None if self.interval is None else list(self.interval),
            "remaining_step": self.remaining_step,
        }
        return data if self.true is None else {**data, "true": self.true, "error": self.error}

    @classmethod
    def from_data(cls, data: EstimateData) -> "Estimate":
        lower_upper = data["interval"]
        interval = None if lower_upper is None else (lower_upper[0], lower_upper[1])
        uncertainty = (data["standard_error"], interval, data["remaining_step"])
        return cls(data["value"], *uncertainty, true=data.get("true"))


def estimates(
    system: System, psi: Psi, blocks: Sequence[Block], points: Sequence[Batch]
) -> dict[str, Estimate]:
    """The estimate of every trainable coefficient, from the rows that were minimised.

    `blocks` are those of the system, perhaps with other weights, and `points` their data. Networks
    of more than LARGEST parameters get values without standard errors.
    """
    problem, size = system.problem, sum(np.size(leaf) for leaf in jax.tree.leaves(psi))
    if size > LARGEST:
        found = {name: float(psi["coefficients"][name]) for name in problem.trainable}
        return {n: Estimate(value, true=problem.truth.get(n)) for n, value in found.items()}
    with jax.enable_x64(True):
        psi = jax.tree.map(lambda leaf: np.asarray(leaf, float), psi)
        data = [jax.tree.map(lambda c: np.asarray(c, dtype=float), batch) for batch in points]
        values = {name: float(psi["coefficients"][name]) for name in problem.trainable}
        is_data = [isinstance(region, Observations) for region in system.regions]
        factors = [_factors(block, psi, d) for block, d in zip(blocks, data, strict=True)]
    observed = [f for kinds, o in zip(factors, is_data, strict=True) if o for f in kinds]
    penalties = [f for kinds, o in zip(factors, is_data, strict=True) if not o for f in kinds]
    order = sorted(values)  # as in a tree of parameters
    errors, freedom, steps = linear_answer(penalties, observed, len(order))
    reach = float(student.ppf((1 + LEVEL) / 2, freedom)) if freedom > 0 else np.nan
    found = {}
    for name, value in values.items():
        error, step = (float(a[order.index(name)]) for a in (errors, steps))
        interval = (value - reach * error, value + reach * error)
        is_determined = bool(np.isfinite([*interval, step]).all())
        uncertainty = (error, interval, step) if is_determined else (None, None, None)
        found[name] = Estimate(value, *uncertainty, true=problem.truth.get(name))
    return found


@dataclass(frozen=True)
class RowFactor:
    """R with RᵀR = [J r]ᵀ[J r] for one kind of row, and how many rows they were.

    The columns of J are those of the network, then those of the coefficients.
    """

    matrix: np.ndarray
    count: int

    @property
    def jacobian(self) -> np.ndarray:
        return self.matrix[:, :-1]

    @property
    def square(self) -> float:
        """‖r‖²."""
        return float(np.sum(self.matrix[:, -1] ** 2))


def linear_answer(
    penalties: Sequence[RowFactor], observed: Sequence[RowFactor], coefficients: int
) -> tuple[np.ndarray, float, np.ndarray]:
    """Standard errors, degrees of freedom of the noise, next steps; of the last parameters.

    There are `coefficients` of these. A next step is that of Gauss and Newton. The results are not
    finite if the rows do not determine a coefficient, or leave no residual to estimate the noise.
    """
    everything = np.concatenate([f.matrix for f in (*penalties, *observed)])
    size = everything.shape[1] - 1
    network = size - coefficients
    columns = np.linalg.norm(everything[:, :-1], axis=0)
    damping = DAMPING * columns.max() * np.eye(network, size + 1)
    factor = _triangle(np.concatenate([everything, damping]))
    triangle, projected = factor[:size, :size], factor[:size, size]
    nothing = np.full(coefficients, np.inf)
    own = np.abs(np.diagonal(triangle)[network:])  # what is left of a coefficient's column
    if not (own > IDENTIFIED * columns[network:]).all():
        return nothing, 0.0, nothing
    whitened = [solve_triangular(triangle, f.jacobian.T, trans=1).T for f in observed]
    grams = [w.T @ w for w in whitened]  # H = (J R⁻¹)(J R⁻¹)ᵀ, block by block
    answer = np.array([[np.sum(a * b) for b in grams] for a in grams])  # E‖r_k‖² = Σ answer σ²
    answer += np.diag([f.count - 2 * np.trace(g) for f, g in zip(observed, grams, strict=True)])
    freedom = float(answer.sum())
    if not freedom > 0:
        return nothing, 0.0, nothing
    variances, _ = nnls(answer, np.array([f.square for f in observed]))
    covariance = sum(v * g for v, g in zip(variances, grams, strict=True))
    towards = solve_triangular(triangle, np.eye(size)[:, network:], trans=1)  # R⁻ᵀ e
    errors = np.sqrt(np.einsum("pc,pq,qc->c", towards, covariance, towards))
    return errors, freedom, -solve_triangular(triangle, projected)[network:]


def _factors(block: Block, psi: Psi, data: Batch) -> list[RowFactor]:
    """One factor for each kind of row of a block, scaled by 1/sqrt(count) like the loss."""
    count, kinds = data.count, len(block.row_names)
    width = sum(np.size(leaf) for leaf in jax.tree.leaves(psi)) + 1
    folded = [np.zeros((0, width))] * kinds
    for piece, length in _pieces(data, max(1, CHUNK_ROWS // kinds)):
        rows, jacobian = (np.asarray(a)[:length] for a in _linearised(block, psi, piece))
        for kind in range(kinds):
            part = np.column_stack([jacobian[:, kind], rows[:, kind]]) / np.sqrt(count)
            folded[kind] = _triangle(np.concatenate([folded[kind], part]))
    true_rows = count if data.weight is None else int(np.count_nonzero(data.weight))
    return [RowFactor(matrix, true_rows) for matrix in folded]


def _triangle(matrix: np.ndarray) -> np.ndarray:
    """R of QR."""
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def _pieces(data: Batch, most: int) -> Iterator[tuple[Batch, int]]:
    """Pieces of one size, for one compiled program, and how many of their data are new."""
    count = data.count
    size = -(-count // -(-count // most))
    for first in range(0, count, size):
        order = np.arange(first, first + size) % count
        yield jax.tree.map(lambda c, o=order: c[o], data), min(size, count - first)


@partial(jitted, static_argnums=0)
def _linearised(block: Block, psi: Psi, piece: Batch) -> tuple[Array, Array]:
    """Rows (data, kinds) and their Jacobian (data, kinds, parameters), coefficients last."""
    first = len(psi["coefficients"])  # of a tree's columns they come first
    rows, jacobian = jax.vmap(lambda datum: linearise(block.rows, psi, datum))(piece)
    return rows, jax.numpy.roll(jacobian, -first, axis=-1)
