"""Space-time separation against exact solutions."""

import numpy as np
import pytest

import tinns
from tinns import FrozenFeatures, RandomFeatures, Recipe, UserError
from tinns.problems import Burgers

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.fixture(scope="module")
def sung(solve, string):
    return solve(string)


def test_the_heat_equation_is_met_by_an_implicit_solver(solve, heat):
    solution = solve(heat)
    assert solution.relative_l2() < 1e-8
    assert solution.result["stop_reason"] == "reached the end"
    assert solution.result["loss"] < 1e-12
    x = np.linspace(0, 1, 9)
    np.testing.assert_allclose(solution(x=x, t=0.0), np.sin(np.pi * x), atol=1e-8)


def test_second_order_in_time_with_values_and_fluxes_that_move(sung):
    assert sung.relative_l2() < 1e-8
    x, t = np.linspace(0.1, 0.9, 5), 0.6
    np.testing.assert_allclose(sung.derivative("u_x", x=x, t=t), np.cos(x + t) + 1, atol=1e-6)
    np.testing.assert_allclose(sung.derivative("u_tt", x=x, t=t), -np.sin(x + t), atol=1e-4)


def test_history_ends_at_the_end(sung):
    history = sung.history
    assert history["time"][-1] == 1.0
    np.testing.assert_allclose(np.cumsum(history["step_size"]), history["time"], rtol=1e-12)
    assert history["loss"][-1] == sung.result["loss"]
    assert len(history) == sung.result["iterations"]


def test_saved_loaded_and_drawn(sung, tmp_path):
    again = tinns.load(sung.save(tmp_path / "string.safetensors"), sung.problem)
    x, t = np.linspace(0, 1, 7)[:, None], np.linspace(0, 1, 5)
    np.testing.assert_array_equal(again(x=x, t=t), sung(x=x, t=t))
    np.testing.assert_array_equal(
        again.derivative("u_xt", x=x, t=t), sung.derivative("u_xt", x=x, t=t)
    )
    from tinns.solution.plots import plot_training

    assert plot_training(again, tmp_path / "training.png").stat().st_size > 0
    assert again.plot(tmp_path / "solution.png").stat().st_size > 0


def test_several_unknowns(solve, acoustics):
    assert solve(acoustics).relative_l2() < 5e-6


def test_errors_fall_with_the_width(solve, advection):
    errors = [solve(advection, width).relative_l2() for width in (12, 64)]
    assert errors[0] > 1e3 * errors[1]
    assert errors[1] < 1e-7


def test_errors_fall_with_the_tolerance(solve, advection):
    loose = solve(advection, 64, rtol=1e-5, atol=1e-5, solver="Dopri5").relative_l2()
    assert 1e-8 < loose < 1e-3
    assert loose > 1e2 * solve(advection, 64).relative_l2()


def test_gaussian_weights_serve_as_well(solve, advection):
    assert solve(advection, 64, kind="elm", scale=2.0).relative_l2() < 1e-6


def test_a_nonlinear_equation(solve):
    solution = solve(Burgers(viscosity=0.1), 60)
    assert solution.relative_l2(x=65, t=11) < 1e-6


def test_the_singular_corner_of_transport(solve, transport):
    solution = solve(transport, 200)
    assert solution.relative_l2() < 3e-7


def test_same_seed_same_numbers(solve, advection):
    x, t = np.linspace(0, 1, 7)[:, None], np.linspace(0, 1, 5)
    one = solve(advection, 12)
    np.testing.assert_array_equal(solve.__wrapped__(advection, 12)(x=x, t=t), one(x=x, t=t))
    assert np.abs(solve(advection, 12, seed=1)(x=x, t=t) - one(x=x, t=t)).max() > 0


def test_a_march_cut_short_rests_where_it_came_to(solve, advection):
    solution = solve(advection, 12, stop=tinns.Stop(iterations=30))
    assert solution.result["stop_reason"] == "iterations done"
    assert solution.result["iterations"] == 30
    reached = solution.history["time"][-1]
    assert 0 < reached < 1
    x = np.linspace(0, 1, 5)
    np.testing.assert_allclose(solution(x=x, t=1.0), solution(x=x, t=reached), atol=1e-8)
    np.testing.assert_allclose(solution.derivative("u_t", x=x, t=1.0), 0.0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"field": RandomFeatures()}, "used together"),
        ({"solver": FrozenFeatures()}, "used together"),
    ],
)
def test_features_and_separation_go_together(changes, told):
    with pytest.raises(UserError, match=told):
        Recipe(**changes)


@pytest.mark.parametrize(
    ("changes", "told"), [({"hard": ("initial",)}, "hard"), ({"precision": "float32"}, "float64")]
)
def test_settings_that_training_has_alone_are_refused(heat, changes, told):
    recipe = Recipe(field=RandomFeatures(8), solver=FrozenFeatures(), **changes)
    with pytest.raises(UserError, match=told):
        tinns.solve(heat, recipe, progress=False)


def test_windows_draw_new_features_from_the_state_that_was_reached(advection, string, tmp_path):
    """Each window starts from the end of the one before, in value and in velocity."""
    for problem, bound in ((advection, 1e-5), (string, 1e-6)):
        recipe = Recipe(field=RandomFeatures(60), solver=FrozenFeatures())
        solution = tinns.solve(problem, recipe, windows=(0.0, 0.3, 1.0), progress=False)
        assert solution.relative_l2() < bound
        assert solution.jumps().shape == (1,)
        assert solution.jumps()[0] < bound
        assert solution.result["stop_reason"] == "reached the end"
        again = tinns.load(solution.save(tmp_path / "u.safetensors"), problem=problem)
        assert again(x=0.3, t=0.9) == solution(x=0.3, t=0.9)
