"""A solution as a function: values, derivatives, grids, errors."""

import jax
import numpy as np
import pytest
import xarray

from tinns import MLP, Box, Layerwise, Linear, SeparableField, SpaceTime, TimeInduced, UserError
from tinns.nn import Formula
from tinns.solution.core import Solution

pytestmark = pytest.mark.usefixtures("quick_compilation")


def untrained(field, domain, unknowns=("u",), precision="float64", problem=None):
    with jax.enable_x64(precision == "float64"):
        psi = field.init(jax.random.key(0), domain, len(unknowns))
    psi = {"field": jax.tree.map(np.asarray, psi), "coefficients": {}}
    return Solution(domain, unknowns, field, psi, precision, problem)


@pytest.fixture(scope="module")
def solution():
    return untrained(TimeInduced(MLP((6,)), Layerwise(MLP((3,)))), Box(x=(-1, 1), t=(0, 1)))


@pytest.fixture(scope="module")
def pair():
    domain = Box(x=(-1, 1), y=(0, 1), t=(0, 1), periodic="x")
    return untrained(SpaceTime(MLP((5,))), domain, ("p", "q"))


@pytest.fixture(scope="module")
def exact(heat):
    """The exact solution of the heat equation, as a solution."""
    return untrained(Formula(heat.reference().formula), heat.domain, problem=heat)


@pytest.fixture(scope="module")
def doubled(heat):
    """Twice the exact solution: its relative error is 1."""
    twice = Formula(lambda x, t: 2 * heat.reference().formula(x, t))
    return untrained(twice, heat.domain, problem=heat)


def test_coordinates_broadcast(solution):
    x, t = np.linspace(-1, 1, 5), np.linspace(0, 1, 3)
    assert np.shape(solution(x=0.3, t=0.5)) == ()
    assert solution(x=x, t=0.5).shape == (5,)
    grid = solution(x=x[:, None], t=t)
    assert grid.shape == (5, 3)
    assert grid[4, 1] == pytest.approx(float(solution(x=x[4], t=t[1])), rel=1e-14)
    assert solution(x=[], t=0.5).shape == (0,)


def test_values_are_double_precision_without_switching_it_on(solution):
    assert solution(x=0.3, t=0.5).dtype == np.float64
    step = solution(x=0.3 + 1e-12, t=0.5) - solution(x=0.3, t=0.5)
    assert step / 1e-12 == pytest.approx(float(solution.derivative("u_x", x=0.3, t=0.5)), rel=1e-2)
    assert not jax.config.jax_enable_x64


def test_derivatives_agree_with_finite_differences(solution):
    x, t, h = np.linspace(-0.9, 0.9, 7), 0.4, 1e-4
    plus, here, minus = (solution(x=x + s, t=t) for s in (h, 0, -h))
    np.testing.assert_allclose(
        solution.derivative("u_x", x=x, t=t), (plus - minus) / (2 * h), atol=1e-7
    )
    np.testing.assert_allclose(
        solution.derivative("u_xx", x=x, t=t), (plus - 2 * here + minus) / h**2, atol=1e-6
    )
    np.testing.assert_allclose(
        solution.derivative("u_xt", x=x, t=t), solution.derivative("u_tx", x=x, t=t)
    )
    np.testing.assert_array_equal(solution.derivative("u", x=x, t=t), here)


def test_several_unknowns_come_by_name(pair):
    values = pair(x=np.zeros(4), y=0.5, t=0.5)
    assert set(values) == {"p", "q"}
    assert values["p"].shape == (4,)
    slope = pair.derivative("q_y", x=0.0, y=0.5, t=0.5)
    above, below = (pair(x=0.0, y=y, t=0.5)["q"] for y in (0.5 + 1e-5, 0.5 - 1e-5))
    assert slope == pytest.approx((above - below) / 2e-5, rel=1e-6)


def test_a_grid_is_a_dataset_with_named_coordinates(pair):
    grid = pair.grid(x=4, y=[0.25, 0.75], t=3)
    assert isinstance(grid, xarray.Dataset)
    assert grid["p"].dims == ("x", "y", "t")
    assert dict(grid.sizes) == {"x": 4, "y": 2, "t": 3}
    np.testing.assert_allclose(grid["x"], np.linspace(-1, 1, 4))
    point = grid["q"].sel(y=0.75).isel(x=1, t=2)
    assert float(point) == pytest.approx(float(pair(x=-1 / 3, y=0.75, t=1.0)["q"]), rel=1e-13)


@pytest.mark.parametrize("chunk", [1, 25, 10**6])
def test_a_grid_of_a_separable_field_is_that_of_its_points(monkeypatch, chunk):
    monkeypatch.setattr(
        "tinns.solution.core.GRID_CHUNK", chunk
    )  # slabs of one time, two and all five
    domain = Box(x=(-1, 1), y=(0, 1), t=(0, 1), periodic="x")
    separable = untrained(SeparableField(MLP((5,)), rank=4), domain, ("p", "q"))
    grid = separable.grid(x=4, y=3, t=5)
    mesh = np.meshgrid(*(grid[axis].values for axis in domain.axes), indexing="ij")
    points = separable(**dict(zip(domain.axes, mesh, strict=True)))
    for name in separable.unknowns:
        assert grid[name].shape == (4, 3, 5)
        np.testing.assert_allclose(grid[name], points[name], atol=1e-14)
    with pytest.raises(UserError, match="y = 2 is outside"):
        separable.grid(y=[0.5, 2.0])


def test_large_requests_are_evaluated_in_pieces(solution):
    x = np.linspace(-1, 1, 70_000)
    values = solution(x=x, t=0.5)
    assert values.shape == (70_000,)
    assert values[69_999] == pytest.approx(float(solution(x=1.0, t=0.5)), rel=1e-13)


def test_relative_error(exact, doubled):
    assert exact.relative_l2() < 1e-14
    assert doubled.relative_l2() == pytest.approx(1.0)
    assert doubled.relative_l2(x=11, t=[0.5]) == pytest.approx(1.0)


def test_relative_error_over_time(heat):
    growing = Formula(lambda x, t: (1 + t) * heat.reference().formula(x, t))
    errors = untrained(growing, heat.domain, problem=heat).relative_l2_over_time(x=31, t=5)
    assert errors.dims == ("t",)
    np.testing.assert_allclose(errors, errors["t"], atol=1e-13)


def test_without_a_reference_there_is_no_error(solution):
    with pytest.raises(UserError, match="no reference"):
        solution.relative_l2()


def test_counts_and_coefficients(solution):
    assert solution.parameters == 2 * (6 + 6 + 6) + (3 + 3 + 9) + 3
    assert solution.coefficients == {}


@pytest.mark.parametrize(
    ("coordinates", "named"),
    [
        ({"x": 1.5, "t": 0.5}, r"x = 1.5.*\[-1, 1\].*extrapolate"),
        ({"x": 0.5, "t": [0.5, -0.25]}, r"t = -0.25"),
        ({"x": float("nan"), "t": 0.5}, "x = nan"),
        ({"x": 0.5}, "t is missing"),
        ({"x": 0.5, "t": 0.5, "z": 0.5}, "'z'"),
        ({"x": "left", "t": 0.5}, "x: expected numbers.*left"),
        ({"x": [0.1, 0.2, 0.3], "t": [0.1, 0.2]}, r"x.*\(3,\).*t.*\(2,\)"),
    ],
)
def test_strange_coordinates_are_named(solution, coordinates, named):
    with pytest.raises(UserError, match=named):
        solution(**coordinates)


def test_extrapolation_on_request(solution):
    assert np.isfinite(solution(x=1.5, t=0.5, extrapolate=True))


def test_a_periodic_axis_has_no_outside(pair):
    inside, outside = pair(x=-0.5, y=0.5, t=0.5), pair(x=1.5, y=0.5, t=0.5)
    assert inside["p"] == pytest.approx(float(outside["p"]), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "named"),
    [("v_x", "'v'"), ("u_y", "'y'.*x, t"), ("ux", "'ux'")],
)
def test_strange_derivatives_are_named(solution, name, named):
    with pytest.raises(UserError, match=named):
        solution.derivative(name, x=0.0, t=0.5)


@pytest.mark.parametrize(("axes", "named"), [({"y": 3}, "'y'"), ({"x": 0}, "x.*got 0")])
def test_strange_grids_are_named(solution, axes, named):
    with pytest.raises(UserError, match=named):
        solution.grid(**axes)


def test_single_precision_solutions():
    field = TimeInduced(MLP((4,)), Linear())
    single = untrained(field, Box(x=(-1, 1), t=(0, 1)), precision="float32")
    double = untrained(field, Box(x=(-1, 1), t=(0, 1)))
    assert single.psi["field"]["offset"][0][0].dtype == np.float32
    assert np.isfinite(single(x=0.3, t=0.5))
    assert double.psi["field"]["offset"][0][0].dtype == np.float64


def test_single_precision_is_evaluated_with_all_its_digits():
    """As it was trained: by default a GPU would multiply matrices with fewer."""
    seen = set()

    def product(x, t):
        seen.add((jax.config.jax_default_matmul_precision, str(x.dtype)))
        return x * t

    single = untrained(Formula(product), Box(x=(-1, 1), t=(0, 1)), precision="float32")
    single.grid(x=3, t=2)
    assert seen == {("highest", "float32")}
