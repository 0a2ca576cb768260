"""Pictures: drawn for every kind of solution, or refused in words."""

import jax
import numpy as np
import pytest
from matplotlib.image import imread

from tinns import MLP, Box, Layerwise, SpaceTime, TimeInduced, UserError, plots
from tinns.fields import Formula
from tinns.problems import KleinGordon
from tinns.solution import Solution
from tinns.training import History

pytestmark = pytest.mark.usefixtures("quick_compilation")

LAYERWISE = TimeInduced(MLP((4,)), Layerwise(MLP((3,))))


def solved(field, domain, problem=None, history=None):
    with jax.enable_x64(True):
        psi = field.init(jax.random.key(0), domain, 1)
    psi = {"field": jax.tree.map(np.asarray, psi), "coefficients": {}}
    return Solution(domain, ("u",), field, psi, problem=problem, history=history or History())


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
