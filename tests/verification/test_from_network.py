"""Estimates from the network alone, and the linearised rows and functions that they are made of."""

from math import pi

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import MLP, Box, Counts, Recipe, Stop, TimeInduced, Trainable
from tinns.nn import Formula
from tinns.paper.untuned_problems import Brusselator, CoolingPlate, Heat, Telegraph
from tinns.verification import network_estimate
from tinns.verification.amplification import least_noticed
from tinns.verification.damping import damped_solution
from tinns.verification.features import draw_features
from tinns.verification.linear_model import Linearisation
from tinns.verification.tangents import Tangents

pytestmark = pytest.mark.usefixtures("quick_compilation")

COUNTS = Counts(300, 80, 80)
FIELD = TimeInduced(MLP((8, 8)))
RANGE = (1 / 3, 10)  # of estimates relative to true errors


def briefly_solved(problem, iterations=25, **settings):
    recipe = Recipe(FIELD, points=COUNTS, validation=COUNTS, stop=Stop(iterations=iterations))
    return tinns.solve(problem, recipe.replace(**settings), progress=False)


def estimated(solution, **settings):
    return network_estimate(solution.problem, solution.field, solution.psi, **settings)


class Unstable(Heat):
    """u = exp(-k π² t) sin(πx) once more, from which perturbations grow by e⁸."""

    def equation(self, u, x, t):
        return u.t - self.k * u.xx - 8 * (u - jnp.exp(-self.k * pi**2 * t) * jnp.sin(pi * x))


class Diffusion(Heat):
    """With a diffusivity that is estimated from observations of u."""

    k: float | Trainable = Trainable(0.3)

    def conditions(self):
        x, t = (c.ravel() for c in np.meshgrid(np.linspace(0, 1, 9), np.linspace(0.1, 1, 9)))
        values = np.exp(-0.1 * pi**2 * t) * np.sin(pi * x)
        return [*super().conditions(), tinns.observed(x=x, t=t, u=values)]

    def reference(self):
        return Heat().reference()


@pytest.mark.long
@pytest.mark.parametrize(
    ("problem", "settings"),
    [
        (Heat(), {}),
        (Heat(), {"windows": 2}),
        (Heat(), {"hard": ("initial", "boundary")}),
        (Telegraph(), {}),
        (CoolingPlate(), {}),
        (Diffusion(), {"iterations": 40}),
    ],
    ids=["heat", "windows", "hard conditions", "second order", "two dimensions", "inverse"],
)
def test_the_error_of_a_trained_network(problem, settings):
    solution = briefly_solved(problem, **settings)
    found = estimated(solution)
    assert found.by == "network"
    assert RANGE[0] < found.relative_l2 / solution.relative_l2() < RANGE[1]
    assert found.times[[0, -1]] == pytest.approx([problem.domain.start, problem.domain.end])
    assert np.isfinite(found.over_time).all()


@pytest.mark.long
def test_errors_grow_from_window_to_window():
    """Each window begins with the error of the one before, also where it explains little."""
    solution = briefly_solved(Unstable(), windows=8)
    found = estimated(solution)
    assert RANGE[0] < found.relative_l2 / solution.relative_l2() < RANGE[1]
    assert found.over_time[-1] > 100 * found.over_time[0]


@pytest.mark.long
def test_a_solution_that_rests_on_another_branch():
    """No change of it makes the residual smaller, which is small: that is not a small error."""
    solution = briefly_solved(Brusselator(), iterations=60)
    error, found = solution.relative_l2(), estimated(solution)
    assert error > 0.1
    assert solution.result["loss"] < error / 10
    assert "as far away as the rows can overlook" in found.how
    assert RANGE[0] < found.relative_l2 / error < RANGE[1]
    assert found.factor == 10


def test_the_change_that_is_noticed_least():
    """‖B c‖ with ‖A c‖ = 1 is greatest along the largest singular value of B A⁻¹."""
    random = np.random.default_rng(0)
    noticed, values = random.normal(size=(30, 6)), random.normal(size=(20, 6))
    found = least_noticed(noticed, values)
    assert np.linalg.norm(noticed @ found) == pytest.approx(1)
    largest = np.linalg.svd(values @ np.linalg.pinv(noticed), compute_uv=False)[0]
    assert np.linalg.norm(values @ found) == pytest.approx(largest, rel=1e-6)
    units = np.array([1e-8, 1, 1, 1e3, 1, 1e8])  # of the functions
    rescaled = least_noticed(noticed * units, values * units)
    assert np.linalg.norm(values * units @ rescaled) == pytest.approx(largest, rel=1e-6)


@pytest.mark.long
def test_an_error_that_is_not_small():
    """Newton's method finds solutions that are far away."""
    solution = briefly_solved(Brusselator().with_domain(Box(x=(0, 1), t=(0, 1))), iterations=8)
    error = solution.relative_l2()
    assert error > 0.02
    assert RANGE[0] < estimated(solution).relative_l2 / error < RANGE[1]


def field_and_parameters(problem, field=FIELD):
    with jax.enable_x64(True):
        own = field.init(jax.random.key(1), problem.domain, len(problem.unknowns))
    own = jax.tree.map(np.asarray, own)
    return field, {"field": own, "coefficients": dict(problem.trainable)}


@pytest.mark.parametrize("problem", [Heat(), Diffusion(), CoolingPlate()], ids=lambda p: p.name)
def test_rows_change_by_tangent_functions_as_differences_of_parameters_say(problem, float64):
    field, psi = field_and_parameters(problem)
    model = Linearisation(problem, field, Counts(40, 20, 20))
    tangents = Tangents(model, psi, 0, count=10**6)
    rows = model.rows(psi, 0, seed=3)
    flat, unravel = jax.flatten_util.ravel_pytree(psi["field"])
    direction = np.random.default_rng(0).standard_normal(len(flat))
    h = 1e-6
    both = [
        np.concatenate(
            [r.vector for r in model.rows(psi | {"field": unravel(flat + s * h * direction)}, 0, 3)]
        )
        for s in (1, -1)
    ]
    predicted = np.concatenate([tangents.columns(own) for own in rows]) @ direction
    difference = (both[0] - both[1]) / (2 * h)
    np.testing.assert_allclose(predicted, difference, atol=1e-6 * np.abs(difference).max())
    # the functions themselves, evaluated elsewhere
    points = {axis: np.linspace(*problem.domain.interval(axis), 7) for axis in problem.domain.axes}
    found = tangents.derivatives(points, direction)
    values = [
        model.derivatives(psi | {"field": unravel(flat + s * h * direction)}, 0, points)
        for s in (1, -1)
    ]
    change = (values[0] - values[1]) / (2 * h)
    np.testing.assert_allclose(found, change, atol=1e-6 * np.abs(change).max())


def test_squares_of_rows_are_mean_squares_of_residuals(float64):
    """For points that crowd at edges and for points chosen by their residuals alike."""
    problem = Heat()
    field = Formula(lambda x, t: jnp.cos(3 * x) * jnp.exp(-t))  # u_t - k u_xx = (9k - 1) u
    psi = {"field": (), "coefficients": {}}
    model = Linearisation(problem, field, Counts(20000, 10, 10))
    rows = model.rows(psi, 0, seed=0)
    (own,) = [r for r in rows if r.condition.name == "equation"]
    mean = (1 + np.sin(6) / 6) / 2 * (1 - np.exp(-2)) / 2
    expected = (9 * problem.k - 1) ** 2 * mean * model.scales.of(rows.index(own))[0] ** 2
    assert own.vector @ own.vector == pytest.approx(expected, rel=0.01)
    chosen = own.chosen(5000, np.random.default_rng(0))
    assert chosen.vector @ chosen.vector == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("periodic", [(), ("x",)])
def test_features_have_their_derivatives(periodic, float64):
    box = Box(x=(-1, 3), y=(0, 1), t=(0, 2), periodic=periodic)
    features = draw_features(box, 30, seed=0, steepest=5.0, quickest=5.0, span=(0.5, 1.0))
    random = np.random.default_rng(0)
    points = {axis: random.uniform(*box.interval(axis), 20) for axis in box.axes}
    h = 1e-5
    for axis, index in (("x", (1, 0, 0)), ("y", (0, 1, 0)), ("t", (0, 0, 1))):
        higher = tuple(a + b for a, b in zip(index, (1, 1, 0), strict=True))
        moved = [
            features.derivatives(box, points | {axis: points[axis] + s * h}, ((1, 1, 0),))[1, 1, 0]
            for s in (1, -1)
        ]
        found = features.derivatives(box, points, (higher,))[higher]
        difference = (moved[0] - moved[1]) / (2 * h)
        np.testing.assert_allclose(found, difference, atol=1e-6 * np.abs(found).max())
    if periodic:
        ends = [
            features.derivatives(box, points | {"x": 0 * points["x"] + e}, ((0, 0, 0),))
            for e in (-1, 3)
        ]
        np.testing.assert_allclose(*(e[0, 0, 0] for e in ends), atol=1e-12)


def test_damping_is_chosen_on_other_rows():
    """Noise is not fitted: what is found is nearer to the truth than without damping."""
    random = np.random.default_rng(0)
    truth = 1.0 / np.arange(1, 31) ** 2
    mixed = np.linalg.qr(random.standard_normal((30, 30)))[0]
    truth = mixed @ truth
    sizes = 10.0 ** -np.linspace(0, 6, 30)
    own, other = (random.standard_normal((60, 30)) * sizes @ mixed.T for _ in range(2))
    noise = [1e-3 * random.standard_normal(60) for _ in range(2)]
    found, left = damped_solution(own, noise[0] - own @ truth, other, noise[1] - other @ truth)
    plain = np.linalg.lstsq(own, own @ truth - noise[0], rcond=None)[0]
    remaining = [np.linalg.norm(other @ (each - truth)) for each in (found, plain)]
    assert remaining[0] < 0.9 * remaining[1]
    assert left == pytest.approx(
        np.linalg.norm(noise[1] + other @ (found - truth))
        / np.linalg.norm(noise[1] - other @ truth)
    )
