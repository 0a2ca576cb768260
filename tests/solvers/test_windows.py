"""Time windows: each begins with the state the last one ends with; one program serves them all."""

import os
import signal
import sys
from contextlib import nullcontext
from dataclasses import replace
from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import Box, Counts, Recipe, Stop, Uniform, UserError, initial, initial_velocity
from tinns.objective import Window, assemble
from tinns.solvers import Redraw, Windows, solve_task, window_edges
from tinns.solvers.progress import Silent

pytestmark = pytest.mark.usefixtures("float64")

COUNTS = Counts(120, 30, 20)


class Swing(tinns.Problem):
    """u_tt = u_xx, a standing wave with a velocity at the start."""

    domain = Box(x=(0, 1), t=(0, 2), periodic="x")

    def equation(self, u, x, t):
        return u.tt - u.xx

    def conditions(self):
        return [
            initial(lambda x: jnp.sin(2 * pi * x)),
            initial_velocity(lambda x: jnp.cos(2 * pi * x), weight=0.5),
        ]

    def reference(self):
        return tinns.exact(
            lambda x, t: (
                jnp.sin(2 * pi * x) * jnp.cos(2 * pi * t)
                + jnp.cos(2 * pi * x) * jnp.sin(2 * pi * t) / (2 * pi)
            )
        )


@pytest.fixture(scope="module")
def recipe():
    return Recipe(
        tinns.TimeInduced(tinns.MLP((8,)), scaled=True),
        points=COUNTS,
        validation=COUNTS,
        redraw=Redraw(2.0, candidates=2),
        weights={"equation": 0.05},
        stop=Stop(iterations=150),
    )


def second_window(system, before):
    """The window [0.5, 0.75] after [0, 0.5]."""
    numbers = [jnp.asarray(value) for value in (0.5, 0.25, False)]
    none = (None,) * len(system.blocks)
    return Window(*numbers, before, jnp.asarray(0.0), jnp.asarray(0.5), none)


def test_the_initial_rows_of_a_window_vanish_for_the_state_the_last_one_left():
    swing, field = Swing(), tinns.TimeInduced(tinns.MLP((5,)), scaled=True)
    system = assemble(swing, field, in_windows=True)
    before = system.init(jax.random.key(1))
    window = second_window(system, before)
    points = system.draw(jax.random.key(2), COUNTS, Uniform(), window)
    number = [region.name for region in system.regions].index("initial")
    own = points[number]
    assert set(own["t"].tolist()) == {0.5}
    rows = jax.vmap(system.blocks[number].rows, in_axes=(None, 0))
    # ψ' of a window as long as the last one, advanced by it: its value goes on without a jump, and
    # its rate, per unit of its own time, is that of a path that goes on alike.
    advanced = before | {"field": field.advanced(before["field"], system.domain)}
    assert np.abs(rows(advanced, own)[:, 0]).max() < 1e-14
    perturbed = jax.tree.map(lambda leaf: leaf + 0.1, before)
    assert np.abs(rows(perturbed, own)).max() > 1e-3
    first = replace(window, is_first=jnp.asarray(True))
    plain = system.draw(jax.random.key(2), COUNTS, Uniform(), first)[number]
    value = rows(before, plain)[:, 0]  # u(x, 0) - sin 2πx, nothing carried over
    u = [
        field.derivatives(
            before["field"],
            system.domain,
            1,
            {"x": jnp.asarray(x), "t": jnp.asarray(0.0)},
            [(0, 0)],
        )[(0, 0)][0]
        for x in plain["x"]
    ]
    np.testing.assert_allclose(value, np.array(u) - np.sin(2 * pi * plain["x"]), atol=1e-14)


def test_interior_points_of_a_window_hold_true_times():
    swing = Swing()
    system = assemble(swing, tinns.TimeInduced(tinns.MLP((3,))), in_windows=True)
    window = second_window(system, system.init(jax.random.key(1)))
    times = system.draw(jax.random.key(2), COUNTS, Uniform(), window)[0]["t"]
    assert 0.5 <= times.min() < 0.52
    assert 0.73 < times.max() <= 0.75


@pytest.fixture(scope="module")
def solved(float64, recipe):
    return tinns.solve(Swing(), recipe, windows=3, progress=False)


def test_a_wave_is_solved_in_windows(solved):
    assert solved.relative_l2() < 2e-2
    assert solved.jumps().shape == (2,)
    assert solved.jumps().max() < 1e-2
    assert [w["from"] for w in solved.result["windows"]] == pytest.approx([0, 2 / 3, 4 / 3])
    assert solved.result["windows"][1]["jump"] == solved.jumps()[0]
    assert all(0 < w["relative_l2"] < 5e-2 for w in solved.result["windows"])
    assert solved.result["iterations"] == 150
    assert set(solved.history["window"]) == {1.0, 2.0, 3.0}
    assert solved.result["accepted"] + solved.result["rejected"] >= 150  # of all windows
    assert (np.diff(solved.history["seconds"]) >= 0).all()


def test_derivatives_across_windows_fulfil_the_equation(solved):
    times = np.array([0.3, 1.0, 1.9])
    gap = solved.derivative("u_tt", x=0.3, t=times) - solved.derivative("u_xx", x=0.3, t=times)
    assert np.abs(gap).max() < 2.0  # u_xx itself reaches 40


def test_a_solution_in_windows_is_saved_and_loaded(solved, tmp_path):
    again = tinns.load(solved.save(tmp_path / "u.safetensors"), problem=Swing())
    points = {"x": 0.2, "t": np.linspace(0, 2, 7)}
    np.testing.assert_array_equal(again(**points), solved(**points))
    np.testing.assert_array_equal(again.jumps(), solved.jumps())


def test_programs_are_compiled_once_for_all_windows(recipe):
    edges = (0.0, 0.5, 1.5, 2.0)  # also where windows differ in length
    short = recipe.replace(stop=Stop(iterations=9), redraw=None)
    trained = solve_task(Windows(short.least_squares(), edges), short.task(Swing()))
    assert [part.iterations for part in trained.windows] == [3, 3, 3]
    spent = [part.compile_seconds for part in trained.windows]  # of all windows so far
    assert spent[0] > 0
    assert spent == [spent[0]] * 3


def test_an_interrupted_run_keeps_the_windows_it_began(recipe, tmp_path, monkeypatch):
    class CtrlC(Silent):
        def update(self, snapshot):
            if snapshot.label == "window 2 of 4":
                os.kill(os.getpid(), signal.SIGINT)

    module = sys.modules["tinns._solve"]
    monkeypatch.setattr(module, "reporting", lambda *_: nullcontext(CtrlC()))
    solution = tinns.solve(Swing(), recipe.replace(stop=Stop(iterations=40)), windows=4)
    assert solution.result["stop_reason"] == "interrupted"
    assert solution.domain == Box(x=(0, 1), t=(0, 1), periodic="x")
    assert np.isfinite(solution.relative_l2())
    with pytest.raises(UserError, match=r"outside the domain \[0, 1\]"):
        solution(x=0.1, t=1.5)
    again = tinns.load(solution.save(tmp_path / "u.safetensors"), problem=Swing())
    assert again.domain == solution.domain
    assert again.relative_l2() == solution.relative_l2()


def test_edges_are_as_many_as_asked_or_as_given():
    box = Box(x=(0, 1), t=(0, 2))
    assert window_edges(4, box) == (0.0, 0.5, 1.0, 1.5, 2.0)
    assert window_edges([0, 0.1, 2], box) == (0.0, 0.1, 2.0)
    assert window_edges(1, box) == (0.0, 2.0)


@pytest.mark.parametrize(
    "windows", [0, -2, 2.5, "3", True, (0.0,), (0.0, 1.0), (0.5, 2.0), (0.0, 1.0, 1.0, 2.0), None]
)
def test_impossible_windows_are_named(windows):
    with pytest.raises(UserError, match=r"windows=.*rising times from 0 to 2"):
        window_edges(windows, Box(x=(0, 1), t=(0, 2)))


def test_what_windows_in_turn_cannot_give_is_refused_for_a_reason(heat, recipe):
    observing = heat.with_conditions([tinns.observed(x=[0.5], t=[0.5], u=[0.1])])
    estimated = observing.with_coefficients({"D": tinns.Trainable(0.1)})
    with pytest.raises(UserError, match=r"D belongs to all of time.*their own data"):
        tinns.solve(estimated, recipe, windows=2, progress=False)
    with pytest.raises(UserError, match=r"contain all earlier ones.*boundary values can stay"):
        tinns.solve(heat, recipe, windows=2, hard=("initial",), progress=False)


class Warming(tinns.Problem):
    """u_t = u_xx with u = exp(-t) sin x + t x: values at the faces that move in time."""

    domain = Box(x=(0, pi), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - u.xx - x

    def conditions(self):
        return [initial(jnp.sin), tinns.dirichlet(lambda x, t: t * x)]

    def reference(self):
        return tinns.exact(lambda x, t: jnp.exp(-t) * jnp.sin(x) + t * x)


def test_values_at_faces_are_built_in_across_windows(recipe, tmp_path):
    solution = tinns.solve(
        Warming(), recipe.replace(weights={}), windows=2, hard=("boundary",), progress=False
    )
    assert solution.relative_l2() < 1e-4
    times = np.linspace(0, 1, 9)
    np.testing.assert_allclose(solution(x=0.0, t=times), 0, atol=1e-14)
    np.testing.assert_allclose(solution(x=pi, t=times), pi * times, atol=1e-13)
    assert 0 < solution.jumps()[0] < 1e-3
    again = tinns.load(solution.save(tmp_path / "u.safetensors"), problem=Warming())
    np.testing.assert_array_equal(again(x=1.0, t=times), solution(x=1.0, t=times))
    np.testing.assert_array_equal(again.jumps(), solution.jumps())


def test_observations_count_in_the_window_in_which_they_lie(recipe):
    exact = Warming().known_solution()
    random = np.random.default_rng(0)
    x, t = random.uniform(0, pi, 60), random.uniform(0, 0.6, 60)
    data = tinns.observed(x=x, t=t, u=exact(x=x, t=t))
    problem = Warming().with_conditions([data, *Warming().conditions()])
    windows = (0.0, 0.35, 0.7, 1.0)  # the last one has no data
    solution = tinns.solve(problem, recipe.replace(weights={}), windows=windows, progress=False)
    assert solution.relative_l2() < 1e-3
    observed = solution.history["loss_observed"]
    assert (observed[solution.history["window"] == 3] == 0).all()
    assert (observed[solution.history["window"] < 3] > 0).all()
