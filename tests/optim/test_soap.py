"""SOAP against its formulas in NumPy, and on a problem that needs its rotation."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from tinns import SOAP, Adam, UserError
from tinns.geometry import Batch
from tinns.objective import Block, Objective
from tinns.optim import scale_by_soap

pytestmark = pytest.mark.usefixtures("float64")


class PlainSoap:
    """One leaf after the other, formula by formula: a matrix, a vector as a column, or a scalar."""

    def __init__(self, b1, b2, eps, refresh):
        self.b1, self.b2, self.eps, self.refresh = b1, b2, eps, refresh
        self.count, self.leaves = 0, {}

    def __call__(self, gradients):
        self.count += 1
        return {name: self._leaf(name, g) for name, g in gradients.items()}

    def _leaf(self, name, gradient):
        b1, b2, k = self.b1, self.b2, self.count
        g = np.atleast_2d(gradient).T if gradient.ndim < 2 else gradient
        if k == 1:
            left, right = (1 - b2) * g @ g.T, (1 - b2) * g.T @ g
            bases = [np.linalg.eigh(f + 1e-30 * np.eye(len(f)))[1][:, ::-1] for f in (left, right)]
            self.leaves[name] = [0 * g, 0 * g, left, right, *bases]
            return np.zeros_like(gradient)
        m, v, left, right, ql, qr = self.leaves[name]
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * (ql.T @ g @ qr) ** 2
        n = ql @ (ql.T @ m @ qr / (np.sqrt(v) + self.eps)) @ qr.T
        n *= np.sqrt(1 - b2**k) / (1 - b1**k)
        left, right = b2 * left + (1 - b2) * g @ g.T, b2 * right + (1 - b2) * g.T @ g
        if k % self.refresh == 0:
            rows = np.argsort(-np.diag(ql.T @ left @ ql))
            columns = np.argsort(-np.diag(qr.T @ right @ qr))
            v = v[rows][:, columns]
            ql = np.linalg.qr(left @ ql[:, rows])[0]
            qr = np.linalg.qr(right @ qr[:, columns])[0]
        self.leaves[name] = [m, v, left, right, ql, qr]
        return n.reshape(gradient.shape)


def start():
    """Shapes whose first factors lack at most one rank: their eigenvectors are no choice."""
    rng = np.random.default_rng(0)
    shapes = {"a": (3, 3), "b": (4, 3), "c": (3, 3), "d": (2,), "e": (), "f": (3, 4), "g": (2,)}
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


def slope(params, k):
    """The gradient of a sum of squares that couples the leaves, with other data at each step."""
    rng = np.random.default_rng(k)
    left, right, wide = (np.linalg.qr(rng.standard_normal((3, n)))[0] for n in (3, 3, 2))
    targets = [np.linalg.qr(rng.standard_normal((3, 3)))[0] * (1, 2, 3) for _ in range(2)]
    p = params
    r = left @ (p["a"] + p["e"] * p["c"]) @ right - targets[0]
    r += np.outer(wide @ p["d"], wide @ p["g"])
    w = left @ p["f"] @ p["b"] @ right - targets[1]
    z = p["b"] + p["f"].T - rng.standard_normal((4, 3))  # keeps no direction without a gradient
    return {
        "a": left.T @ r @ right.T,
        "b": (left @ p["f"]).T @ w @ right.T + z,
        "c": p["e"] * left.T @ r @ right.T,
        "d": wide.T @ r @ wide @ p["g"],
        "e": np.sum(r * (left @ p["c"] @ right)),
        "f": left.T @ w @ (p["b"] @ right).T + z.T,
        "g": wide.T @ r.T @ wide @ p["d"],
    }


@pytest.mark.parametrize("refresh", [1, 2, 3])
@pytest.mark.parametrize("orthonormalisation", ["qr", "cholesky"])
def test_it_is_the_formulas(refresh, orthonormalisation):
    plain = PlainSoap(0.9, 0.95, 1e-8, refresh)
    ours = scale_by_soap(0.9, 0.95, 1e-8, refresh, orthonormalisation=orthonormalisation)
    params = start()
    update = jax.jit(ours.update)
    state = ours.init(jax.tree.map(jnp.asarray, params))
    for k in range(13):
        gradient = slope(params, k)
        expected = plain(gradient)
        updates, state = update(jax.tree.map(jnp.asarray, gradient), state)
        for name in params:
            assert updates[name].shape == params[name].shape
            np.testing.assert_allclose(updates[name], expected[name], rtol=1e-10, atol=1e-10)
        params = {name: p - 0.05 * expected[name] for name, p in params.items()}
    assert max(np.abs(u).max() for u in expected.values()) > 0.1


def test_the_first_call_only_looks():
    ours = scale_by_soap()
    params = jax.tree.map(jnp.asarray, start())
    updates, state = ours.update(params, ours.init(params))
    assert all(np.all(np.asarray(u) == 0) for u in jax.tree.leaves(updates))
    for basis, factor in zip(state.bases, state.factors, strict=True):
        along = np.swapaxes(basis, 1, 2) @ factor @ basis
        values = np.diagonal(along, axis1=1, axis2=2)
        np.testing.assert_allclose(along, values[:, None, :] * np.eye(along.shape[-1]), atol=1e-12)
        assert np.all(np.diff(values, axis=1) <= 1e-12)


def test_a_side_above_the_limit_is_adam_and_a_leaf_of_three_axes_a_matrix():
    rng = np.random.default_rng(4)
    leaves = rng.standard_normal((6, 2, 2, 3))
    whole, flat = scale_by_soap(), scale_by_soap()
    # ε stands before the correction here and behind it there: too small to matter.
    unrotated, adam = scale_by_soap(eps=1e-30, max_size=2), optax.scale_by_adam(eps=1e-30)
    states = [whole.init(jnp.asarray(leaves[0])), flat.init(jnp.asarray(leaves[0].reshape(4, 3)))]
    bare, theirs = unrotated.init(states[1].mean[0][0]), adam.init(jnp.zeros((4, 3)))
    _, theirs = adam.update(jnp.zeros((4, 3)), theirs)  # the call that only looks
    for k, leaf in enumerate(jnp.asarray(leaves)):
        one, states[0] = whole.update(leaf, states[0])
        other, states[1] = flat.update(leaf.reshape(4, 3), states[1])
        np.testing.assert_array_equal(one.reshape(4, 3), other)
        plain, bare = unrotated.update(leaf.reshape(4, 3), bare)
        if k:
            expected, theirs = adam.update(leaf.reshape(4, 3), theirs)
            np.testing.assert_allclose(plain, expected, rtol=1e-12)
            assert not np.allclose(plain, other, rtol=1e-2)


@pytest.mark.parametrize("orthonormalisation", ["qr", "cholesky"])
def test_leaves_without_any_gradient_stay_where_they_are(orthonormalisation):
    ours = scale_by_soap(refresh=1, orthonormalisation=orthonormalisation)
    update = jax.jit(ours.update)
    gradient = {"a": jnp.zeros((4, 3)), "b": jnp.ones((4, 3))}
    state = ours.init(gradient)
    for _ in range(4):
        updates, state = update(gradient, state)
        np.testing.assert_array_equal(updates["a"], 0)
    assert np.all(updates["b"] > 1e-3)


def bowl(dtype=float):
    """‖D_L U (X - X*) V D_R‖² with D from 1 to 0.03: narrow, and askew to the axes."""
    rng = np.random.default_rng(5)
    scales = np.geomspace(1, 0.03, 6)
    left, right = (scales[:, None] * np.linalg.qr(rng.standard_normal((6, 6)))[0] for _ in "lr")
    target = rng.standard_normal((6, 6))
    left, right, target = (jnp.asarray(x, dtype) for x in (left, right, target))
    names = tuple(f"r{i}" for i in range(36))
    return Block("bowl", names, lambda psi, _: jnp.ravel(left @ (psi - target) @ right.T))


def last_loss(optimizer, steps, dtype=float):
    block, data = bowl(dtype), Batch({"s": jnp.zeros(1, dtype)})
    objective = Objective((block,), (data,))
    step = jax.jit(lambda p, s: optimizer.step(objective, p, s))
    psi = jnp.zeros((6, 6), dtype)
    state = optimizer.init(psi)
    for _ in range(steps):
        psi, state, report = step(psi, state)
    assert psi.dtype == dtype
    assert set(report.as_columns()) == {"loss", "learning_rate", "step_norm"}
    return float(report.loss)


SETTINGS = {"learning_rate": 0.03, "warmup": 10, "decay_rate": 0.9, "decay_steps": 40}


def test_a_narrow_skewed_bowl_is_easier_than_for_adam():
    soap, adam = (last_loss(kind(**SETTINGS), 400) for kind in (SOAP, Adam))
    assert soap < 0.02 * adam


@pytest.mark.parametrize("orthonormalisation", ["qr", "cholesky"])
def test_single_precision_stays_single_and_goes_as_far(orthonormalisation):
    soap = SOAP(**SETTINGS, orthonormalisation=orthonormalisation)
    single, double = last_loss(soap, 100, jnp.float32), last_loss(soap, 100)
    assert single == pytest.approx(double, rel=0.05)


@pytest.mark.parametrize(
    "settings",
    [
        {"refresh": 0},
        {"b1": 1.0},
        {"b2": 2.0},
        {"epsilon": -1.0},
        {"orthonormalisation": "svd"},
        {"learning_rate": 0.0},
        {"over": 0},
    ],
    ids=repr,
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(UserError, match=f"{next(iter(settings))}=.*expected"):
        SOAP(**settings)
