"""Weights that follow the losses."""

from dataclasses import replace
from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest

from tinns import UserError
from tinns.geometry import Batch
from tinns.objective import Block, Objective
from tinns.objective.sum_of_squares import reweighted
from tinns.solvers import Balance, Causal, GradientNorms, TangentKernel
from tinns.solvers.least_squares.balancing import gradient_norms, kernel_diagonals

pytestmark = pytest.mark.usefixtures("float64")


def balanced(rule, factors, losses):
    return rule.update(factors, losses, jnp.asarray(0), None, None)


def test_one_step_by_hand():
    factors = balanced(Balance(rate=0.5), jnp.ones(2), jnp.array([1.0, 4.0]))
    raw = np.sqrt(2.5 / np.array([1.0, 4.0]))
    np.testing.assert_allclose(factors, raw / np.sqrt(raw.prod()), rtol=1e-14)


def test_losses_in_proportion_to_their_weights_are_balanced():
    own = jnp.array([1.0, 1e-3, 20.0])  # what each condition's loss is at a weight of one
    factors = jnp.ones(3)
    for _ in range(300):
        factors = balanced(Balance(), factors, factors**2 * own)
    losses = factors**2 * own
    np.testing.assert_allclose(losses, np.full(3, losses.mean()), rtol=1e-3)
    assert jnp.prod(factors) == pytest.approx(1.0)


def test_weights_stay_within_their_limit_whatever_the_losses():
    for split in ([0.0, 1.0], [1e-30, 1e30], [0.0, 0.0]):
        factors = jnp.ones(2)
        for _ in range(500):
            factors = balanced(Balance(limit=10.0), factors, jnp.array(split))
        assert np.isfinite(factors).all()
        assert 0.1 <= factors.min() <= factors.max() <= 10.0


def test_each_kind_of_row_gets_its_own_factor():
    blocks = [
        Block("a", ("one", "two"), lambda psi, d: jnp.array([1.0, 1.0]) * psi),
        Block("b", ("three",), lambda psi, d: jnp.array([1.0]) * psi),
    ]
    first, second = reweighted(blocks, jnp.array([2.0, 3.0, 5.0]))
    assert first.rows(7.0, None).tolist() == [14.0, 21.0]
    assert second.rows(7.0, None).tolist() == [35.0]
    assert first.row_names == ("one", "two")


@pytest.mark.parametrize("settings", [{"rate": 0.0}, {"rate": 1.0}, {"limit": 0.5}])
def test_impossible_settings_are_refused(settings):
    with pytest.raises(UserError, match=next(iter(settings))):
        Balance(**settings)


@pytest.fixture
def two_kinds():
    """Rows a·x and b·x, then b - 1: gradients that can be written down."""
    blocks = (
        Block(
            "interior",
            ("first", "second"),
            lambda psi, d: jnp.stack([psi["a"] * d["x"], psi["b"] * d["x"]]),
        ),
        Block("initial", ("third",), lambda psi, d: jnp.stack([psi["b"] - 1 + 0 * d["x"]])),
    )
    return Objective(blocks, DATA)


PSI = {"a": 2.0, "b": 4.0}
DATA = (Batch({"x": np.array([1.0, 3.0])}), Batch({"x": np.array([0.0])}))


def test_gradient_norms_by_hand(two_kinds):
    # Mean squares 5a², 5b², (b - 1)² with slopes 10a, 10b, 2(b - 1).
    norms = gradient_norms(two_kinds, PSI)
    np.testing.assert_allclose(norms, [20, 40, 6], rtol=1e-13)


def test_diagonals_of_the_tangent_kernel_by_hand(two_kinds):
    diagonals = kernel_diagonals(two_kinds, PSI)
    np.testing.assert_allclose(diagonals, [5, 5, 1], rtol=1e-13)


def test_weights_move_towards_equal_gradients(two_kinds):
    rule, mean = GradientNorms(momentum=0.9), 22.0
    due = jnp.asarray(0)
    factors = rule.update(jnp.array([1.0, 1.0, 2.0]), None, due, two_kinds, PSI)
    wanted = mean / (np.array([20, 40, 6]) + 1e-5 * mean)
    np.testing.assert_allclose(factors**2, 0.9 * np.array([1, 1, 4]) + 0.1 * wanted, rtol=1e-12)
    kernel = TangentKernel(momentum=0.0).update(jnp.ones(3), None, due, two_kinds, PSI)
    mean = 11 / 3
    np.testing.assert_allclose(kernel**2, mean / (np.array([5, 5, 1]) + 1e-5 * mean), rtol=1e-12)


def test_causal_weights_count_in_the_tangent_kernel():
    block = Block("interior", ("equation",), lambda psi, d: jnp.stack([psi["a"] * d["x"]]))
    data = Batch({"x": jnp.array([1.0, 3.0]), "t": jnp.array([0.0, 1.0])})
    weighted = replace(block, emphasis=partial(Causal(0.5, 2).weights, 0.0))
    (diagonal,) = kernel_diagonals(Objective((weighted,), (data,)), PSI)
    np.testing.assert_allclose(diagonal, (1 + 9 * np.exp(-0.5 * 4)) / 2, rtol=1e-13)


def test_factors_leave_causal_weights_as_they_are():
    block = Block("interior", ("equation",), lambda psi, d: jnp.stack([psi["a"] * d["x"]]))
    data = Batch({"x": jnp.array([1.0, 3.0]), "t": jnp.array([0.0, 1.0])})
    weighted = replace(block, emphasis=partial(Causal(0.5, 2).weights, 0.0))
    objective = Objective((weighted,), (data,))
    (before,) = objective.losses(PSI)
    (after,) = objective.reweighted(jnp.array([3.0])).losses(PSI)
    np.testing.assert_allclose(after, 9 * before, rtol=1e-13)


@pytest.mark.parametrize("settings", [{"every": 0}, {"momentum": 1.0}])
def test_impossible_rules_are_refused(settings):
    for rule in (GradientNorms, TangentKernel):
        with pytest.raises(UserError, match=next(iter(settings))):
            rule(**settings)
