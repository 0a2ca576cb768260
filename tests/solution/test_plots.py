"""Figures show the numbers of the solution, the reference and the history."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from matplotlib.image import imread

from tinns import MLP, Box, Layerwise, Problem, SpaceTime, TimeInduced, UserError, exact
from tinns.nn import Formula
from tinns.problems import KleinGordon, NavierStokes3D, Transport
from tinns.solution import plots
from tinns.solution.core import Solution
from tinns.solvers import History

pytestmark = pytest.mark.usefixtures("quick_compilation")

LAYERWISE = TimeInduced(MLP((4,)), Layerwise(MLP((3,))))


def solved(field, domain, problem=None, history=None):
    with jax.enable_x64(True):
        outputs = len(problem.unknowns) if problem is not None else 1
        psi = field.init(jax.random.key(0), domain, outputs)
    psi = {"field": jax.tree.map(np.asarray, psi), "coefficients": {}}
    unknowns = problem.unknowns if problem is not None else ("u",)
    return Solution(domain, unknowns, field, psi, problem=problem, history=history or History())


def images(figure, label):
    """The values of all images whose title starts with a label."""
    panels = [axes for axes in figure.axes if axes.get_title().startswith(label)]
    return [axes.collections[0].get_array() for axes in panels if axes.collections]


def lines(axes):
    return {line.get_label(): line.get_xydata().T for line in axes.get_lines()}


def test_a_solution_on_a_line_is_drawn_with_its_reference_and_its_error(heat):
    solution = solved(LAYERWISE, heat.domain, heat)
    figure = plots.solution_figure(solution)
    grid = solution.grid(x=301, t=202)
    known = heat.reference().on_grid(x=grid["x"].values, t=grid["t"].values)
    (reference,), (prediction,), (error,) = (
        images(figure, label) for label in ("reference", "prediction", "|error|")
    )
    np.testing.assert_allclose(reference, known)
    np.testing.assert_allclose(prediction, grid["u"])
    difference = np.abs(grid["u"].values - known)
    np.testing.assert_allclose(error, np.maximum(difference, np.asarray(error).min()))
    last = lines(next(axes for axes in figure.axes if axes.get_title() == "t = 1"))
    np.testing.assert_allclose(last["prediction"], [grid["x"], grid["u"].values[:, -1]])
    np.testing.assert_allclose(last["reference"][1], known[:, -1])


def test_without_a_reference_the_prediction_is_drawn_alone(heat):
    figure = plots.solution_figure(solved(LAYERWISE, heat.domain))
    assert len(images(figure, "prediction")) == 1
    assert not images(figure, "reference")
    assert not images(figure, "|error|")


def test_an_exact_solution_has_errors_within_one_decade_of_round_off(heat):
    figure = plots.solution_figure(solved(Formula(heat.reference().formula), heat.domain, heat))
    (panel,) = (axes for axes in figure.axes if axes.get_title().startswith("|error|"))
    lowest, highest = panel.collections[0].get_clim()
    assert 10 * lowest <= highest < 1e-14


def test_a_solution_in_the_plane_is_drawn_at_four_times():
    figure = plots.solution_figure(
        solved(Formula(KleinGordon().reference().formula), KleinGordon.domain, KleinGordon())
    )
    references, predictions = images(figure, "reference"), images(figure, "prediction")
    assert len(references) == len(predictions) == len(images(figure, "|error|")) == 4
    for reference, prediction in zip(references, predictions, strict=True):
        np.testing.assert_allclose(prediction, reference, atol=1e-12)
    assert np.ptp(references[1] - references[0]) > 0.1


def test_a_solution_in_space_is_cut_off_the_middle():
    cube = Box(x=(0, 1), y=(0, 1), z=(0, 1), t=(0, 1))
    solution = solved(SpaceTime(MLP((4,))), cube)
    figure = plots.solution_figure(solution)
    assert figure.get_suptitle().endswith("at z = 0.375")
    side = np.linspace(0, 1, 101)
    expected = solution(x=side[None, :], y=side[:, None], z=0.375, t=1.0)
    np.testing.assert_allclose(images(figure, "prediction")[-1].reshape(101, 101), expected)


class Turning(Problem):
    """u_t = -v, v_t = u."""

    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, v, x, t):
        return u.t + v, v.t - u

    def reference(self):
        return exact(lambda x, t: x * jnp.stack([jnp.cos(t), jnp.sin(t)]))


@pytest.mark.parametrize("problem", [Turning(), NavierStokes3D()], ids=lambda p: p.name)
def test_every_unknown_of_a_system_is_drawn_against_its_own_reference(problem):
    exact_solution = solved(Formula(problem.reference().formula), problem.domain, problem)
    parts = plots.solution_figure(exact_solution).subfigs
    assert [part.get_suptitle() for part in parts] == list(problem.unknowns)
    assert len({len(part.axes) for part in parts}) == 1
    for part in parts:
        reference, prediction = (images(part, label)[0] for label in ("reference", "prediction"))
        np.testing.assert_allclose(prediction, reference, atol=1e-12)
        assert np.ptp(reference) > 0.5


def test_a_singular_point_of_the_reference_is_left_out():
    shifted = Formula(lambda x, t: jnp.log(x + t + 0.01))
    figure = plots.solution_figure(solved(shifted, Transport.domain, Transport()))
    ((reference,), (error,)) = (images(figure, label) for label in ("reference", "|error|"))
    for image in (reference, error):
        assert np.ma.count_masked(np.ma.masked_invalid(image)) == 1


@pytest.mark.parametrize(("column", "shown"), [("damping", "damping μ"), ("rate", "‖step‖")])
def test_a_training_history_is_drawn_as_it_was_measured(heat, column, shown):
    losses = np.geomspace(1, 1e-5, 5)
    history = History({"iteration": np.arange(1.0, 6), "loss": losses, "step_norm": 2 * losses})
    history.columns["validation_loss"] = np.where(losses < 0.5, 3 * losses, np.nan)
    history.columns[column] = 4 * losses
    figure = plots.training_figure(solved(LAYERWISE, heat.domain, heat, history))
    left, right = (lines(axes) for axes in figure.axes)
    np.testing.assert_array_equal(left["training loss"], [np.arange(1.0, 6), losses])
    np.testing.assert_array_equal(left["validation loss"], [np.arange(2.0, 6), 3 * losses[1:]])
    drawn = 4 * losses if column == "damping" else 2 * losses
    np.testing.assert_array_equal(right[shown][1], drawn)


def test_steps_in_time_are_drawn_against_the_time_reached(heat):
    columns = {"iteration": np.arange(1.0, 4), "time": np.array([0.1, 0.4, 1.0])}
    columns |= {"step_size": np.array([0.1, 0.3, 0.6]), "loss": np.full(3, np.nan)}
    figure = plots.training_figure(solved(LAYERWISE, heat.domain, heat, History(columns)))
    np.testing.assert_array_equal(
        lines(figure.axes[1])["step"], [columns["time"], columns["step_size"]]
    )


def test_a_trajectory_is_the_temporal_code_of_every_group(heat):
    solution = solved(LAYERWISE, heat.domain)
    left, _ = plots.trajectory_figure(solution).axes
    curves = list(lines(left).values())
    names = list(lines(left))
    assert names == ["$W_{1}$", "$b_{1}$", "$W_{2}$"]
    with jax.enable_x64(True):
        phi = LAYERWISE.temporal_code(solution.psi["field"], heat.domain, jnp.asarray(1.0))
    np.testing.assert_allclose([curve[1, -1] for curve in curves], phi, rtol=1e-12)


def test_a_figure_is_written_in_the_format_of_its_name(tmp_path, heat):
    solution = solved(LAYERWISE, heat.domain)
    starts = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    for ending, start in starts.items():
        assert solution.plot(tmp_path / f"u.{ending}").read_bytes().startswith(start)
    assert imread(tmp_path / "u.png").shape[:2] == (1050, 1350)  # 9 x 7 inches at 150 dpi


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
