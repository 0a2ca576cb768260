"""Rows on tensor grids are the rows at the grid's points, had at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import MLP, Adam, Counts, Recipe, Redraw, Separable, Stop, TensorGrid, UserError
from tinns.least_squares import Layout
from tinns.least_squares.rows import loss_and_gradient, losses
from tinns.problems import AllenCahn, KleinGordon, Wave
from tinns.residuals import assemble

pytestmark = pytest.mark.usefixtures("float64")

FIELD = Separable(MLP((6, 6), output_bias=True), rank=3)
GRID = TensorGrid(5)


class Insulated(tinns.Problem):
    """u_t = u_xx with slopes prescribed at both ends, which need the outward normal."""

    domain = tinns.Box(x=(0, 2), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - u.xx

    def conditions(self):
        return [tinns.initial(lambda x: x**2), tinns.neumann(lambda x, t: 1 + x * t)]


@pytest.mark.parametrize("problem", [AllenCahn(), Wave(), KleinGordon(), Insulated()])
def test_losses_and_gradients_on_grids_are_those_of_their_points(problem):
    system = assemble(problem, FIELD, sampler=GRID)
    pointwise = assemble(problem, FIELD)
    psi = system.init(jax.random.key(1))
    axes = system.draw(jax.random.key(2), Counts(1, 1, 1), GRID)
    points = []
    for block, own, region in zip(system.blocks, axes, system.regions, strict=True):
        assert block.grid is not None
        columns = block.points(own)
        if region.name.startswith("boundary"):
            domain = problem.domain
            for axis in domain.space:
                lower, upper = domain.interval(axis)
                faced = (columns[axis] == upper) * 1.0 - (columns[axis] == lower) * 1.0
                columns |= {f"normal_{axis}": faced}
        points.append(columns)
    np.testing.assert_allclose(
        losses(system.blocks, psi, axes, Layout()),
        losses(pointwise.blocks, psi, points, Layout()),
        rtol=1e-12,
    )
    on_grid = loss_and_gradient(system.blocks, psi, axes, Layout())[1]
    at_points = loss_and_gradient(pointwise.blocks, psi, points, Layout())[1]
    for a, b in zip(jax.tree.leaves(on_grid), jax.tree.leaves(at_points), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_a_grid_has_all_its_points_and_every_face_its_own():
    system = assemble(KleinGordon(), FIELD, sampler=GRID)
    axes = system.draw(jax.random.key(0), Counts(1, 1, 1), GRID)
    counts = [block.count(own) for block, own in zip(system.blocks, axes, strict=True)]
    assert counts == [5**3, 5**2, 4 * 5**2]
    assert jnp.all(system.blocks[1].points(axes[1])["t"] == 0)


def test_conditions_on_no_grid_keep_their_points():
    class Tied(Insulated):
        def conditions(self):
            return [tinns.initial(lambda x: x * (2 - x)), tinns.periodic("x")]

    system = assemble(Tied(), FIELD, sampler=GRID)
    assert [block.grid is None for block in system.blocks] == [False, False, True]
    points = system.draw(jax.random.key(0), Counts(3, 3, 8), GRID)[2]
    assert points["t"].shape == (4,)


def test_a_separable_network_trains_on_grids():
    recipe = Recipe(
        FIELD,
        Adam(1e-2, 1.0, 0, 1),
        sampler=TensorGrid(12),
        redraw=Redraw(None, every=5),
        stop=Stop(iterations=120),
        validate=10,
    )
    history = tinns.solve(Insulated(), recipe=recipe, progress=False).history
    assert history["validation_loss"][-1] < 0.2 * history["validation_loss"][0]


def test_other_fields_are_refused_on_grids(small_field):
    with pytest.raises(UserError, match=r"TensorGrid.*Separable.*TimeInduced"):
        assemble(Insulated(), small_field, sampler=GRID)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"optimizer": tinns.AcceleratedLM()}, "AcceleratedLM"),
        ({"windows": 3}, "windows"),
        ({"hard": ("initial",)}, "hard"),
    ],
)
def test_what_does_not_go_with_grids_is_refused(settings, told):
    with pytest.raises(UserError, match=told):
        Recipe(**({"field": FIELD, "optimizer": Adam(), "sampler": GRID} | settings))
