"""ω_t + (u·∇)ω = (ω·∇)u + ν Δω + f, div u = 0 on [0, 2π]³ x [0, 5], where ω = curl u."""

from math import pi

import jax.numpy as jnp
import numpy as np

from tinns.geometry import Box
from tinns.problem.base import Problem
from tinns.problem.conditions import at_start, initial, on_boundary
from tinns.problem.reference import exact


class NavierStokes3D(Problem):
    """Navier-Stokes in vorticity form: forced, decaying vortices [TINN, Appendix B.9].

    The unknowns are the velocities; the vorticity is their curl. On the faces only the vorticity
    is prescribed. Recipe `paper`: points as for Klein-Gordon and the weight of the initial velocity
    by the paper's rule, 1 over the mean of its smallest 60 %; neither is printed.
    """

    viscosity: float = 0.05
    name = "navier-stokes-3d"
    domain = Box(x=(0, 2 * pi), y=(0, 2 * pi), z=(0, 2 * pi), t=(0, 5))

    def equation(self, u, v, w, x, y, z, t):
        vorticity = _curl(u, v, w)
        carried = u * _curl(u, v, w, "x") + v * _curl(u, v, w, "y") + w * _curl(u, v, w, "z")
        stretched = (
            vorticity[0] * jnp.stack([u.x, v.x, w.x])
            + vorticity[1] * jnp.stack([u.y, v.y, w.y])
            + vorticity[2] * jnp.stack([u.z, v.z, w.z])
        )
        spread = _curl(u, v, w, "xx") + _curl(u, v, w, "yy") + _curl(u, v, w, "zz")
        change = _curl(u, v, w, "t")
        momentum = change + carried - stretched - self.viscosity * spread - self.forcing(x, y, z, t)
        return [*momentum, u.x + v.y + w.z]

    def forcing(self, x, y, z, t):
        decay = jnp.exp(-18 * self.viscosity * t)
        return (
            6
            * decay
            * jnp.stack(
                [
                    -jnp.sin(4 * y) * jnp.sin(2 * z),
                    -jnp.sin(4 * x) * jnp.sin(2 * z),
                    jnp.sin(4 * x) * jnp.sin(4 * y),
                ]
            )
        )

    def conditions(self):
        return [
            initial(lambda x, y, z: list(self.velocity(x, y, z, 0.0))),
            at_start(self.vorticity_error, name="initial_vorticity"),
            on_boundary(self.vorticity_error, name="boundary_vorticity"),
        ]

    def vorticity_error(self, u, v, w, x, y, z, t):
        return [*(_curl(u, v, w) - self.vorticity(x, y, z, t))]

    def velocity(self, x, y, z, t):
        """The exact velocity."""
        decay = jnp.exp(-9 * self.viscosity * t)
        return decay * jnp.stack(
            [
                2 * jnp.cos(2 * x) * jnp.sin(2 * y) * jnp.sin(z),
                -jnp.sin(2 * x) * jnp.cos(2 * y) * jnp.sin(z),
                -2 * jnp.sin(2 * x) * jnp.sin(2 * y) * jnp.cos(z),
            ]
        )

    def vorticity(self, x, y, z, t):
        """The exact vorticity."""
        decay = jnp.exp(-9 * self.viscosity * t)
        return decay * jnp.stack(
            [
                -3 * jnp.sin(2 * x) * jnp.cos(2 * y) * jnp.cos(z),
                6 * jnp.cos(2 * x) * jnp.sin(2 * y) * jnp.cos(z),
                -6 * jnp.cos(2 * x) * jnp.cos(2 * y) * jnp.sin(z),
            ]
        )

    def reference(self):
        return exact(self.velocity, "decaying vortices")

    def quantities(self, u, v, w, x, y, z, t):
        return {"velocity": (u, v, w), "vorticity": tuple(_curl(u, v, w))}

    def test_grid(self):
        side = np.linspace(0, 2 * pi, 25)
        return {"x": side, "y": side, "z": side, "t": np.linspace(0, 5, 21)}


def _curl(u, v, w, along=""):
    """curl (u, v, w), differentiated once more along every letter of `along`."""

    def slope(component, axis):
        return getattr(component, axis + along)

    return jnp.stack(
        [
            slope(w, "y") - slope(v, "z"),
            slope(u, "z") - slope(w, "x"),
            slope(v, "x") - slope(u, "y"),
        ]
    )
