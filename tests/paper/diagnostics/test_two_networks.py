"""MLP against TINN on Burgers: exact slopes, measures of unsteadiness, files and commands."""

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


def test_the_exact_slope_is_that_of_differences():
    times = np.array([0.0, 5e-4, 0.2, 0.51, 1.0])
    u, h = Burgers().reference(), 1e-4
    ahead = [u(x=n * h, t=times) for n in (-2, -1, 1, 2)]
    slope = (ahead[0] - 8 * ahead[1] + 8 * ahead[2] - ahead[3]) / (12 * h)
    np.testing.assert_allclose(exact_slope(times), slope, rtol=1e-6)
    assert exact_slope(times)[0] == pytest.approx(-np.pi)


def test_the_slope_is_steepest_where_it_is_known_to_be():
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


def test_rises_are_counted_but_for_new_points():
    assert unsteadiness(history([4, 3, 2, 1]), 4)["rises"] == 0
    assert unsteadiness(history([4, 3, 5, 2, 1]), 5)["rises"] == pytest.approx(1 / 4)
    redrawn = history([4, 3, 5, 2, 1], redraws=[0, 0, 1, 1, 1])
    assert unsteadiness(redrawn, 5)["rises"] == 0
    assert unsteadiness(redrawn, 5)["redraws"] == 1
    assert unsteadiness(history([4, 3, 5]), 2)["rises"] == 0  # what comes later does not count


def test_the_spread_is_about_the_trend():
    loss = np.ones(2000)
    trend = np.linspace(0, -6, 2000)
    noise = 0.2 * (-1.0) ** np.arange(2000)
    steady = unsteadiness(history(loss, 10**trend), 2000)
    noisy = unsteadiness(history(loss, 10 ** (trend + noise)), 2000)
    assert steady["spread_of_updates"] < 0.01
    assert noisy["spread_of_updates"] > 0.15
    assert noisy["median_gap"] == pytest.approx(2)


@pytest.fixture
def tiny(monkeypatch):
    """Burgers with few points and steps that compile soon; the networks are those compared."""
    few = tinns.Counts(30, 10, 10)
    quick = {"points": few, "validation": few, "optimizer": tinns.Adam(), "redraw": None}
    small = {name: recipe.replace(**quick) for name, recipe in RECIPES["burgers"].items()}
    monkeypatch.setattr(Burgers, "recipes", small)


CURVES = {
    "spatial-derivative": {"errors"},
    "training-stability": {"loss", "validation_loss", "step_norm"},
}


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("name", list(CURVES))
def test_one_command_makes_picture_table_and_numbers(name, tmp_path, capsys):
    options = ["--iterations", "3", "--seed", "1", "--out", str(tmp_path / "new"), "--quiet"]
    assert main(["diagnose", name, *options]) == 0
    shown = capsys.readouterr().out
    assert "MLP" in shown
    assert "TINN" in shown
    written = {path.name for path in (tmp_path / "new").iterdir()}
    assert written == {f"{name}.{end}" for end in ("png", "md", "json")}
    found = json.loads((tmp_path / "new" / f"{name}.json").read_text())
    assert (found["diagnostic"], found["seed"]) == (name, 1)
    for method, network in found["networks"].items():
        assert network["iterations"] == 3
        assert (
            network["parameters"] == printed("spatial-derivative", "burgers", method)["parameters"]
        )
        for curve in CURVES[name]:
            length = len(found["times"]) if curve == "errors" else 3
            assert len(network[curve]) == length
            assert np.isfinite(np.array(network[curve], float)).all()
    if name == "spatial-derivative":
        network = found["networks"]["mlp"]
        assert network["largest_error"] == max(network["errors"])


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
    ("arguments", "said"),
    [
        (["rank-on"], "did you mean 'rank-one'"),
        (["rank-one", "--iterations", "0"], "iterations"),
        (["rank-one", "--seconds", "-3"], "seconds"),
        (["rank-one", "--seed", "-1"], "seed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_writes_nothing(arguments, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["diagnose", *arguments]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert said in line
    assert list(tmp_path.iterdir()) == []


def test_list_shows_the_diagnostics(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in DIAGNOSTICS)
