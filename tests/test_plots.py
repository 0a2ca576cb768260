"""Pictures: drawn for every kind of solution, or refused in words."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.image import imread

from tinns import MLP, Box, Layerwise, Problem, SpaceTime, TimeInduced, UserError, exact, plots
from tinns.fields import Formula
from tinns.problems import KleinGordon, NavierStokes3D, Transport
from tinns.solution import Solution
from tinns.training import History

pytestmark = pytest.mark.usefixtures("quick_compilation")

LAYERWISE = TimeInduced(MLP((4,)), Layerwise(MLP((3,))))


def solved(field, domain, problem=None, history=None):
    with jax.enable_x64(True):
        outputs = len(problem.unknowns) if problem is not None else 1
        psi = field.init(jax.random.key(0), domain, outputs)
    psi = {"field": jax.tree.map(np.asarray, psi), "coefficients": {}}
    unknowns = problem.unknowns if problem is not None else ("u",)
    return Solution(domain, unknowns, field, psi, problem=problem, history=history or History())


def is_a_picture(path):
    pixels = imread(path)
    return pixels.shape[0] > 100 and np.ptp(pixels[..., :3]) > 0.5


@pytest.mark.parametrize("known", [True, False])
def test_a_solution_on_a_line(tmp_path, heat, known):
    solution = solved(LAYERWISE, heat.domain, heat if known else None)
    assert is_a_picture(solution.plot(tmp_path / "u.png"))


def test_an_exact_solution_has_no_error_to_scale_by(tmp_path, heat):
    solution = solved(Formula(heat.reference().formula), heat.domain, heat)
    assert is_a_picture(solution.plot(tmp_path / "u.png"))


def test_a_solution_in_the_plane(tmp_path):
    solution = solved(SpaceTime(MLP((4,))), KleinGordon.domain, KleinGordon())
    assert is_a_picture(solution.plot(tmp_path / "u.png"))


def test_a_solution_in_space_without_a_reference(tmp_path):
    cube = Box(x=(0, 1), y=(0, 1), z=(0, 1), t=(0, 1))
    assert is_a_picture(solved(SpaceTime(MLP((4,))), cube).plot(tmp_path / "u.png"))


class Turning(Problem):
    """u_t = -v, v_t = u."""

    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, v, x, t):
        return u.t + v, v.t - u

    def reference(self):
        return exact(lambda x, t: x * jnp.stack([jnp.cos(t), jnp.sin(t)]))


@pytest.mark.parametrize("problem", [Turning(), NavierStokes3D()], ids=lambda p: p.name)
def test_every_unknown_of_a_system_is_drawn_against_its_own_reference(
    tmp_path, problem, monkeypatch
):
    drawn = []
    monkeypatch.setattr(plots, "_save", lambda figure, path: drawn.append(figure))
    solved(Formula(problem.reference().formula), problem.domain, problem).plot(tmp_path / "u.png")
    parts = drawn[0].subfigs
    assert [part.get_suptitle() for part in parts] == list(problem.unknowns)
    assert len({len(part.axes) for part in parts}) == 1
    for part in parts:
        shown = {axes.get_title(): axes for axes in part.axes if axes.collections}
        first, same = (
            next(axes for title, axes in shown.items() if title.startswith(label))
            for label in ("reference", "prediction")
        )
        images = [axes.collections[0].get_array() for axes in (first, same)]
        np.testing.assert_allclose(*images, atol=1e-12)
        assert np.ptp(images[0]) > 0.5


def test_a_singular_point_of_the_reference_is_left_out(tmp_path):
    shifted = Formula(lambda x, t: jnp.log(x + t + 0.01))
    assert is_a_picture(solved(shifted, Transport.domain, Transport()).plot(tmp_path / "u.png"))


@pytest.mark.parametrize("column", ["damping", "learning_rate"])
def test_a_training_history(tmp_path, heat, column):
    history = History({"iteration": np.arange(1.0, 6), "loss": np.geomspace(1, 1e-5, 5)})
    history.columns |= {n: history["loss"] for n in ("validation_loss", "step_norm", column)}
    solution = solved(LAYERWISE, heat.domain, heat, history)
    assert is_a_picture(plots.plot_training(solution, tmp_path / "training.png"))


def test_a_trajectory(tmp_path, heat):
    solution = solved(LAYERWISE, heat.domain)
    assert is_a_picture(plots.plot_trajectory(solution, tmp_path / "trajectory.png"))


def test_what_cannot_be_drawn_is_refused_and_leaves_nothing(tmp_path, heat):
    plain = solved(SpaceTime(MLP((4,))), heat.domain)
    with pytest.raises(UserError, match="history"):
        plots.plot_training(plain, tmp_path / "training.png")
    with pytest.raises(UserError, match="layer-wise"):
        plots.plot_trajectory(plain, tmp_path / "trajectory.png")
    with pytest.raises(UserError, match=r"u.txt.*\.png"):
        plain.plot(tmp_path / "u.txt")
    with pytest.raises(UserError, match="cannot write"):
        plain.plot(tmp_path / "nowhere" / "u.png")
    assert list(tmp_path.iterdir()) == []
