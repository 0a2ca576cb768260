"""New points: denser where the residual is large, more of them where they do not last."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tinns import Counts, Redraw, UserError
from tinns.least_squares import Layout
from tinns.least_squares.rows import Block, losses
from tinns.residuals import assemble
from tinns.sampling import ROW_SHARE
from tinns.training.redrawing import Ladder, dealt

pytestmark = pytest.mark.usefixtures("float64")


def test_points_that_do_not_last_are_followed_by_more():
    ladder = Ladder(Redraw(ladder=(1, 4, 16), lasting=50))
    lasted = ladder.after_overfitting(100)
    assert (lasted.rung, lasted.since) == (0, 100)
    hurried = lasted.after_overfitting(149)
    assert (hurried.rung, hurried.since) == (1, 149)
    assert hurried.counts(Counts(10, 3, 2)) == Counts(40, 12, 8)
    top = hurried.after_overfitting(150).after_overfitting(151)
    assert top.rung == 2


@pytest.mark.parametrize(
    ("points", "platform", "rung"),
    [(2_500, "cpu", 0), (2_500, "gpu", 2), (20_000, "gpu", 0), (100, "gpu", 2)],
)
def test_a_cpu_starts_with_few_points_and_other_devices_with_enough(points, platform, rung):
    assert Ladder.first(Redraw(ladder=(1, 2, 4)), Counts(points), platform).rung == rung


@pytest.mark.parametrize("ladder", [(), (0, 1), (1, 1), (4, 2)])
def test_a_ladder_must_rise(ladder):
    with pytest.raises(UserError, match="ladder"):
        Redraw(ladder=ladder)


@pytest.mark.parametrize("shards", [1, 3, 4, 8])
def test_shares_of_equal_size_leave_the_loss_as_it_was(shards):
    def rows(psi, datum):
        value = jnp.array([datum["x"] ** 2])
        return value * datum[ROW_SHARE] if ROW_SHARE in datum else value

    block = Block("b", ("square",), rows)
    points = ({"x": jnp.linspace(1, 2, 13)},)
    spread = dealt(points, shards)
    assert len(spread[0]["x"]) % shards == 0
    before, after = (losses([block], (), p, Layout()) for p in (points, spread))
    np.testing.assert_allclose(after, before, rtol=1e-14)
    assert (ROW_SHARE in spread[0]) == (13 % shards > 0)


def test_rows_of_a_system_know_their_share(heat, small_field):
    system = assemble(heat, small_field)
    psi = system.init(jax.random.key(0))
    point = {"x": jnp.asarray(0.3), "t": jnp.asarray(0.2)}
    whole = system.blocks[0].rows(psi, point)
    half = system.blocks[0].rows(psi, point | {ROW_SHARE: jnp.asarray(0.5)})
    np.testing.assert_allclose(half, whole / 2, rtol=1e-15)
