"""New points: denser where the residual is large, more of them where they do not last."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import Counts, Redraw, UserError
from tinns.geometry import Batch
from tinns.objective import Block, Objective, assemble
from tinns.solvers.least_squares.redraw import distribute

pytestmark = pytest.mark.usefixtures("float64")


def test_points_that_do_not_last_are_followed_by_more():
    rule = Redraw(ladder=(1, 4, 16), lasting=50)
    assert rule.next_rung(0, lasted=50) == 0
    assert rule.next_rung(0, lasted=49) == 1
    assert rule.counts(Counts(10, 3, 2), 1) == Counts(40, 12, 8)
    assert rule.next_rung(2, lasted=1) == 2


@pytest.mark.parametrize(
    ("points", "platform", "rung"),
    [(2_500, "cpu", 0), (2_500, "gpu", 2), (20_000, "gpu", 0), (100, "gpu", 2)],
)
def test_a_cpu_starts_with_few_points_and_other_devices_with_enough(points, platform, rung):
    assert Redraw(ladder=(1, 2, 4)).first_rung(Counts(points), platform) == rung


@pytest.mark.parametrize("ladder", [(), (0, 1), (1, 1), (4, 2)])
def test_a_ladder_must_rise(ladder):
    with pytest.raises(UserError, match="ladder"):
        Redraw(ladder=ladder)


@pytest.mark.parametrize("shards", [1, 3, 4, 8])
def test_shares_of_equal_size_leave_the_loss_unchanged(shards):
    def rows(psi, point):
        value = jnp.array([point["x"] ** 2])
        return value if point.weight is None else value * point.weight

    block = Block("b", ("square",), rows)
    points = (Batch({"x": jnp.linspace(1, 2, 13)}),)
    spread = distribute(points, shards)
    assert spread[0].count % shards == 0
    before, after = (Objective((block,), p).losses(()) for p in (points, spread))
    np.testing.assert_allclose(after, before, rtol=1e-14)
    assert (spread[0].weight is not None) == (13 % shards > 0)


def test_rows_of_a_system_are_multiplied_by_their_weight(heat, small_field):
    system = assemble(heat, small_field)
    psi = system.init(jax.random.key(0))
    point = Batch({"x": jnp.asarray(0.3), "t": jnp.asarray(0.2)})
    whole = system.blocks[0].rows(psi, point)
    half = system.blocks[0].rows(psi, replace(point, weight=jnp.asarray(0.5)))
    np.testing.assert_allclose(half, whole / 2, rtol=1e-15)
