"""A geometry of one's own: a disk, written here alone, on which a heat equation is solved."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import j0, jn_zeros

import tinns
from tinns import Counts, Recipe, Stop, UserError, dirichlet, initial
from tinns.geometry import TIME, Domain

pytestmark = pytest.mark.usefixtures("float64")

ZERO = float(jn_zeros(0, 1)[0])


@dataclass(frozen=True)
class Disk:
    """x² + y² <= radius², over [start, end]."""

    radius: float = 1.0
    start: float = 0.0
    end: float = 1.0
    axes = ("x", "y", TIME)
    space = ("x", "y")
    periodic = ()

    def interval(self, axis):
        return (self.start, self.end) if axis == TIME else (-self.radius, self.radius)

    def over(self, start, end):
        return Disk(self.radius, start, end)

    def _place(self, share, turn):
        angle = 2 * jnp.pi * turn
        distance = self.radius * jnp.sqrt(share)
        return {"x": distance * jnp.cos(angle), "y": distance * jnp.sin(angle)}

    def _time(self, share):
        return self.start + (self.end - self.start) * share

    def draw_interior(self, key, count, sampler):
        unit = sampler(key, count, 3)
        return self._place(unit[:, 0], unit[:, 1]) | {TIME: self._time(unit[:, 2])}

    def draw_initial(self, key, count, sampler, within):
        unit = sampler(key, count, 2)
        return self._place(unit[:, 0], unit[:, 1]) | {TIME: jnp.full(count, self.start)}

    def draw_boundary(self, key, count, sampler, parts):
        unit = sampler(key, count, 2)
        points = self._place(jnp.ones(count), unit[:, 0])
        normals = {axis: points[axis] / self.radius for axis in self.space}
        return points | {TIME: self._time(unit[:, 1])}, normals

    def contains(self, points):
        inside = points["x"] ** 2 + points["y"] ** 2 <= self.radius**2 * (1 + 1e-12)
        return inside & (points[TIME] >= self.start) & (points[TIME] <= self.end)


class HeatOnDisk(tinns.Problem):
    """u_t = k Δu, u = 0 on the circle, from the first Bessel mode."""

    k: float = 0.1
    domain = Disk()

    def equation(self, u, x, y, t):
        return u.t - self.k * (u.xx + u.yy)

    def conditions(self):
        return [initial(self.mode), dirichlet(0.0)]

    def mode(self, x, y):
        """J0(ZERO r), by its series."""
        square = (ZERO / 2) ** 2 * (x**2 + y**2)
        term = total = jnp.ones_like(square)
        for n in range(1, 16):
            term = -term * square / n**2
            total = total + term
        return total

    def reference(self):
        return tinns.exact(lambda x, y, t: self.mode(x, y) * jnp.exp(-self.k * ZERO**2 * t))

    def test_grid(self):
        side = np.linspace(-1, 1, 21)
        return {"x": side, "y": side, "t": np.linspace(0, 1, 11)}


@pytest.fixture(scope="module")
def solution(float64):
    counts = Counts(400, 120, 100)
    recipe = Recipe(
        tinns.TimeInduced(tinns.MLP((10,)), scaled=True),
        points=counts,
        validation=counts,
        redraw=None,
        stop=Stop(iterations=60),
    )
    return tinns.solve(HeatOnDisk(), recipe, progress=False)


def test_a_disk_is_a_domain_and_its_mode_vanishes_on_the_circle():
    assert isinstance(Disk(), Domain)
    np.testing.assert_allclose(HeatOnDisk().mode(0.6, 0.8), 0, atol=1e-14)
    np.testing.assert_allclose(HeatOnDisk().mode(0.3, 0.4), j0(ZERO * 0.5), rtol=1e-14)


def test_the_heat_equation_is_solved_on_a_disk(solution):
    assert solution.relative_l2() < 1e-3
    angle = np.linspace(0, 6, 7)
    np.testing.assert_allclose(solution(x=np.cos(angle), y=np.sin(angle), t=0.5), 0, atol=3e-3)


def test_points_of_a_grid_outside_of_the_disk_have_no_value(solution):
    values = solution.grid(x=5, y=5, t=2)["u"].values
    assert np.isnan(values[0, 0]).all()
    assert np.isfinite(values[2, 2]).all()


def test_a_file_names_the_geometry_that_it_needs(solution, tmp_path):
    path = solution.save(tmp_path / "u.safetensors")
    with pytest.raises(UserError, match=r"lives on a Disk.*problem=..."):
        tinns.load(path)
    again = tinns.load(path, problem=HeatOnDisk())
    assert again(x=0.1, y=0.2, t=0.3) == solution(x=0.1, y=0.2, t=0.3)


def test_what_needs_faces_is_refused_on_a_disk():
    with pytest.raises(UserError, match=r"Box.*Disk"):
        tinns.solve(HeatOnDisk(), hard=("boundary",), iterations=1, progress=False)
