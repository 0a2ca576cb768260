"""MLP against TINN on Burgers: exact slopes, measures of stability, files and commands."""

import json

import numpy as np
import pytest

import tinns
from tinns.cli import main
from tinns.paper.diagnostics import DIAGNOSTICS
from tinns.paper.diagnostics.spatial_derivative import exact_slope
from tinns.paper.diagnostics.training_stability import unsteadiness
from tinns.paper.published import printed
from tinns.problems import Burgers
from tinns.recipes import RECIPES
from tinns.solvers import History

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_the_exact_slope_agrees_with_finite_differences():
    times = np.array([0.0, 5e-4, 0.2, 0.51, 1.0])
    u, h = Burgers().reference(), 1e-4
    ahead = [u(x=n * h, t=times) for n in (-2, -1, 1, 2)]
    slope = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h)
    np.testing.assert_allclose(exact_slope(times), slope, rtol=1e-6)
    assert exact_slope(times)[0] == pytest.approx(-np.pi)


def test_the_slope_is_steepest_at_the_published_time():
    """After C. Basdevant et al., "Spectral and finite difference solutions of the Burgers equation"
    (1986): 152.00516 at πt = 1.6037."""
    times = np.linspace(0.45, 0.55, 1001)
    slope = exact_slope(times)
    assert slope.min() == pytest.approx(-152.00516, abs=1e-5)
    assert np.pi * times[np.argmin(slope)] == pytest.approx(1.6037, abs=4e-4)
    assert exact_slope(np.array([0.51]))[0] == pytest.approx(-152.0048, abs=5e-5)


def history(loss, steps=None, redraws=None):
    loss = np.asarray(loss, float)
    return History(
        {
            "loss": loss,
            "validation_loss": 2 * loss,
            "step_norm": np.ones(len(loss)) if steps is None else np.asarray(steps, float),
            "redraws": np.zeros(len(loss)) if redraws is None else np.asarray(redraws, float),
        }
    )


def test_rises_are_counted_except_after_a_redraw():
    assert unsteadiness(history([4, 3, 2, 1]), 4)["rises"] == 0
    assert unsteadiness(history([4, 3, 5, 2, 1]), 5)["rises"] == pytest.approx(1 / 4)
    redrawn = history([4, 3, 5, 2, 1], redraws=[0, 0, 1, 1, 1])
    assert unsteadiness(redrawn, 5)["rises"] == 0
    assert unsteadiness(redrawn, 5)["redraws"] == 1
    assert unsteadiness(history([4, 3, 5]), 2)["rises"] == 0  # later iterations do not count


def test_the_spread_is_about_a_running_median():
    loss = np.ones(2000)
    trend = np.linspace(0, -6, 2000)
    noise = 0.2 * (-1.0) ** np.arange(2000)
    steady = unsteadiness(history(loss, 10**trend), 2000)
    noisy = unsteadiness(history(loss, 10 ** (trend + noise)), 2000)
    assert steady["spread_of_updates"] < 0.01
    assert noisy["spread_of_updates"] > 0.15
    assert noisy["median_gap"] == pytest.approx(2)


@pytest.fixture
def tiny(monkeypatch, coarse_grids):
    """Burgers with few points and an optimiser that compiles quickly; the networks are kept."""
    few = tinns.Counts(30, 10, 10)
    small = RECIPES["burgers"]["fast"].replace(
        points=few, validation=few, optimizer=tinns.Adam(), redraw=None
    )
    monkeypatch.setattr(Burgers, "recipes", {"fast": small, "paper": small})


CURVES = {
    "spatial-derivative": {"errors"},
    "training-stability": {"loss", "validation_loss", "step_norm"},
}


@pytest.fixture
def solved_once(monkeypatch):
    """Runs with the same settings are shared by the diagnostics."""
    solutions = {}

    def solve(problem, recipe, method, seed, progress):
        key = (repr(recipe), method, seed)
        if key not in solutions:
            solutions[key] = tinns.solve(problem, recipe, method, seed, progress=progress)
        return solutions[key]

    monkeypatch.setattr("tinns.paper.diagnostics.two_networks.solve", solve)


@pytest.mark.long
@pytest.mark.usefixtures("tiny", "solved_once")
def test_one_command_writes_picture_table_and_numbers(tmp_path, capsys):
    for name, curves in CURVES.items():
        out = tmp_path / name
        options = ["--iterations", "3", "--seed", "1", "--out", str(out), "--quiet"]
        assert main(["diagnose", name, *options]) == 0
        shown = capsys.readouterr().out
        assert {path.name for path in out.iterdir()} == {
            f"{name}.{end}" for end in ("png", "md", "json")
        }
        table = (out / f"{name}.md").read_text()
        found = json.loads((out / f"{name}.json").read_text())
        assert (found["diagnostic"], found["seed"]) == (name, 1)
        assert list(found["networks"]) == ["mlp", "tinn"]
        for method, network in found["networks"].items():
            assert network["iterations"] == 3
            parameters = printed("spatial-derivative", "burgers", method).parameters
            assert network["parameters"] == parameters
            assert str(parameters) in shown
            assert str(parameters) in table
            assert f"{network['relative_l2']:.2e}" in table
            for curve in curves:
                length = len(found["times"]) if curve == "errors" else 3
                assert len(network[curve]) == length
                assert np.isfinite(np.array(network[curve], float)).all()
    slopes, stability = (json.loads((tmp_path / n / f"{n}.json").read_text()) for n in CURVES)
    for network in slopes["networks"].values():
        assert network["largest_error"] == max(network["errors"])
        assert network["mean_error"] == pytest.approx(np.mean(network["errors"]))
    assert stability["common_iterations"] == 3
    for network in stability["networks"].values():
        assert network["final_loss"] == network["loss"][-1]


@pytest.mark.usefixtures("tiny")
def test_an_interruption_ends_the_whole_comparison(tmp_path, capsys, monkeypatch):
    calls = []

    def interrupted(problem, recipe, method, *_, **__):
        calls.append(method)
        return tinns.Solution(
            problem.domain, ("u",), recipe.field, {}, result={"stop_reason": "interrupted"}
        )

    monkeypatch.setattr("tinns.paper.diagnostics.two_networks.solve", interrupted)
    assert main(["diagnose", "spatial-derivative", "--out", str(tmp_path / "new")]) == 130
    assert calls == ["mlp"]
    assert list(tmp_path.iterdir()) == []
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rank-on"], "did you mean 'rank-one'"),
        (["rank-one", "--iterations", "0"], "iterations"),
        (["rank-one", "--seconds", "-3"], "seconds"),
        (["rank-one", "--seed", "-1"], "seed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_writes_nothing(
    arguments, message, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert main(["diagnose", *arguments]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_list_shows_the_diagnostics(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in DIAGNOSTICS)
