"""The rank-one diagnostic: shares of the leading singular value, and the fits they come from."""

import jax
import numpy as np
import pytest

from tinns import MLP, Stop
from tinns.paper.diagnostics import Request
from tinns.paper.diagnostics.rank_one import (
    BATCH,
    TARGET,
    fit_times,
    leading_share,
    rank_one_shares,
)
from tinns.paper.published import published
from tinns.problems import KortewegDeVries

pytestmark = pytest.mark.usefixtures("quick_compilation")


def test_one_direction_explains_a_path_along_a_line():
    path = np.outer(np.sin(np.linspace(0, 3, 20)), np.arange(1.0, 8))
    assert leading_share(path) == pytest.approx(1, abs=1e-14)
    moved = path + np.linspace(-1, 2, 7)  # a line that misses the origin
    assert leading_share(moved) < 0.999
    assert leading_share(moved - moved.mean(axis=0)) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("size", [2, 5])
def test_orthogonal_directions_have_equal_shares(size):
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(size, size)))
    assert leading_share(3 * rotation) == pytest.approx(1 / size)


def test_a_constant_path_has_a_share_of_one():
    assert leading_share(np.zeros((4, 3))) == 1


@pytest.fixture(scope="module")
def fits():
    return fit_times(MLP((6,)), 3, 40, Stop(iterations=60), seed=0, progress=False)


def test_groups_are_the_parameters_of_the_network(fits):
    shapes = {name: path.shape for name, path in fits.groups.items()}
    assert shapes == {"W1": (3, 12), "b1": (3, 6), "W2": (3, 6)}


def test_the_recorded_error_is_that_of_the_parameters(fits):
    x = np.linspace(-1, 1, 40, endpoint=False)
    known = KortewegDeVries().reference().on_grid(x=x, t=fits.times)
    for number, error in enumerate(fits.errors):
        w1, b1, w2 = (fits.groups[name][number] for name in ("W1", "b1", "W2"))
        circle = np.stack([np.cos(np.pi * x), np.sin(np.pi * x)])
        u = w2 @ np.tanh(w1.reshape(6, 2) @ circle + b1[:, None])
        wrong = np.linalg.norm(u - known[:, number]) / np.linalg.norm(known[:, number])
        assert error == pytest.approx(wrong, rel=1e-9)


def test_a_fit_ends_at_its_target_or_its_limit(fits):
    assert fits.errors[0] <= TARGET  # u*(x, 0) = cos(πx), one of the inputs
    assert np.all((fits.errors <= TARGET) | (fits.iterations == 60))


def test_the_time_limit_is_for_all_fits_together():
    fits = fit_times(MLP((2,)), 3, 40, Stop(seconds=1e-3), seed=0, progress=False)
    assert np.all(fits.iterations[1:] == BATCH)  # u* is out of reach: each ends after one batch


def test_a_fit_starts_from_the_previous_one():
    one, two = (
        fit_times(MLP((6,)), times, 40, Stop(iterations=2), seed=0, progress=False)
        for times in (2, 3)
    )
    np.testing.assert_array_equal(one.groups["W1"][0], two.groups["W1"][0])
    with jax.enable_x64(True):
        start = np.asarray(MLP((6,)).init(jax.random.key(0), 2, 1)[0][0]).ravel()
    steps = np.linalg.norm(np.diff(np.vstack([start, two.groups["W1"]]), axis=0), axis=1)
    assert np.all(steps > 0)
    assert np.linalg.norm(two.groups["W1"][2] - start) < steps.sum()


def test_findings_have_the_papers_shares():
    findings = rank_one_shares(Request(iterations=2, progress=False), times=3, points=64)
    assert [row[0] for row in findings.rows] == [f"{g}(t)" for g in ("W1", "b1", "W2", "b2", "W3")]
    assert [row[-1] for row in findings.rows] == ["95 %", "87 %", "93 %", "89 %", "99 %"]
    shares = findings.data["shares"]
    assert set(shares) == set(published()["singular-values"].problems["kdv"])
    for share in shares.values():
        assert 0 < share["centred"] <= 1
        assert 0 < share["whole"] <= 1
    assert len(findings.data["fit_errors"]) == 3
