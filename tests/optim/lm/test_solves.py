"""Solves against numpy.linalg.lstsq on ill-conditioned problems, J held whole or in chunks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns._runtime.errors import UserError
from tinns.geometry import Batch
from tinns.objective import Block, Layout, Linearised
from tinns.optim.lm.solves import Cholesky, CholeskyQR2, HouseholderQR, solve

pytestmark = pytest.mark.usefixtures("float64")

COUNT, SIZE = 200, 30


def linear_model(condition, chunk):
    """Rows a·p - b with singular values from 1 down to 1/condition; also A and b."""
    generator = np.random.default_rng(1)
    left, _ = np.linalg.qr(generator.standard_normal((COUNT, SIZE)))
    right, _ = np.linalg.qr(generator.standard_normal((SIZE, SIZE)))
    matrix = (left * np.logspace(0, -np.log10(condition), SIZE)) @ right.T
    target = matrix @ generator.standard_normal(SIZE)
    block = Block("linear", ("row",), lambda p, d: (d["a"] @ p - d["b"])[None])
    data = {"a": jnp.asarray(matrix), "b": jnp.asarray(target)}
    scaled = Batch({name: column * np.sqrt(COUNT) for name, column in data.items()})
    return Linearised([block], jnp.zeros(SIZE), [scaled], Layout(chunk)), matrix, target


def step_of(solver, model, mu):
    """The Gauss-Newton step -J⁺r, damped by mu."""
    gram, _ = model.normal_equations()
    factor = solver.factor(model, gram, jnp.full(model.width, mu))
    return -solve(model, factor, model.rows)[: model.size]


def damped_solution(matrix, target, mu):
    stacked = np.vstack([matrix, np.sqrt(mu) * np.eye(SIZE)])
    return np.linalg.lstsq(stacked, np.concatenate([target, np.zeros(SIZE)]), rcond=None)[0]


@pytest.mark.parametrize("chunk", [COUNT, 64])
@pytest.mark.parametrize(
    ("solver", "condition", "tolerance"),
    [
        (Cholesky(), 1e2, 1e-11),
        (CholeskyQR2(), 1e2, 1e-13),
        (CholeskyQR2(), 1e6, 1e-9),
        (CholeskyQR2(), 1e8, 1e-7),
        (CholeskyQR2(passes=3), 1e10, 1e-5),
        (CholeskyQR2(passes=3), 1e12, 1e-3),
    ],
)
def test_solves_agree_with_lstsq(solver, condition, tolerance, chunk):
    model, matrix, target = linear_model(condition, chunk)
    step = jax.jit(lambda: step_of(solver, model, 1e-30))()
    expected = damped_solution(matrix, target, 1e-30)
    assert np.linalg.norm(step - expected) <= tolerance * np.linalg.norm(expected)


@pytest.mark.parametrize("condition", [1e4, 1e8, 1e12])
def test_householder_is_as_good_as_lstsq(condition):
    model, matrix, target = linear_model(condition, COUNT)
    step = step_of(HouseholderQR(), model, 1e-30)
    assert np.linalg.norm(matrix @ step - target) <= 1e-14


@pytest.mark.parametrize("solver", [Cholesky(), CholeskyQR2(), HouseholderQR()])
def test_damping_enters_every_solve(solver):
    model, matrix, target = linear_model(1e3, COUNT)
    step = step_of(solver, model, 0.1)
    expected = damped_solution(matrix, target, 0.1)
    assert np.linalg.norm(step - expected) <= 1e-13


@pytest.mark.parametrize("solver", [Cholesky(), CholeskyQR2(), HouseholderQR()])
def test_every_column_may_have_its_own_damping(solver):
    model, matrix, target = linear_model(1e3, COUNT)
    damping = np.geomspace(1e-4, 1.0, SIZE)
    gram, _ = model.normal_equations()
    padded = jnp.concatenate([jnp.asarray(damping), jnp.ones(model.width - SIZE)])
    step = -solve(model, solver.factor(model, gram, padded), model.rows)[:SIZE]
    expected = np.linalg.solve(matrix.T @ matrix + np.diag(damping), matrix.T @ target)
    np.testing.assert_allclose(step, expected, rtol=1e-9, atol=1e-12)


def test_normal_equations_lose_what_choleskyqr2_keeps():
    model, matrix, target = linear_model(1e7, COUNT)
    expected = damped_solution(matrix, target, 1e-30)
    errors = [
        np.linalg.norm(step_of(s, model, 1e-30) - expected) for s in (Cholesky(), CholeskyQR2())
    ]
    assert errors[1] < 1e-4 * errors[0]


def test_householder_refuses_a_jacobian_in_chunks():
    model, _, _ = linear_model(10.0, 64)
    with pytest.raises(UserError, match="chunk"):
        step_of(HouseholderQR(), model, 1.0)


def test_chunked_model_equals_whole():
    whole, _, _ = linear_model(1e3, COUNT)
    pieces, _, _ = linear_model(1e3, 7)
    for part, all_of_it in zip(pieces.normal_equations(), whole.normal_equations(), strict=True):
        np.testing.assert_allclose(part, all_of_it, rtol=1e-12, atol=1e-15)
