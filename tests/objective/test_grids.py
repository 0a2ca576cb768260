"""Rows on tensor grids are the rows at the grid's points, had at once."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import MLP, Adam, Counts, Recipe, Redraw, SeparableField, Stop, TensorGrid, UserError
from tinns.geometry import Batch
from tinns.objective import Objective, assemble
from tinns.problems import AllenCahn, KleinGordon, Wave

pytestmark = pytest.mark.usefixtures("float64")

FIELD = SeparableField(MLP((6, 6), output_bias=True), rank=3)
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
        columns, normals = block.points(own), None
        if region.name.startswith("boundary"):
            normals = {}
            for axis in problem.domain.space:
                lower, upper = problem.domain.interval(axis)
                normals[axis] = (columns[axis] == upper) * 1.0 - (columns[axis] == lower) * 1.0
        points.append(Batch(columns, normals))
    np.testing.assert_allclose(
        Objective.of(system.blocks, axes).losses(psi),
        Objective.of(pointwise.blocks, points).losses(psi),
        rtol=1e-12,
    )
    on_grid = Objective.of(system.blocks, axes).loss_and_gradient(psi)[1]
    at_points = Objective.of(pointwise.blocks, points).loss_and_gradient(psi)[1]
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
    with pytest.raises(UserError, match=r"TensorGrid.*SeparableField.*TimeInduced"):
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
