"""Problems whose conditions do not determine the solution, or contradict each other."""

from math import pi

import jax.numpy as jnp

from tinns import (
    Box,
    Problem,
    Trainable,
    at_start,
    dirichlet,
    initial,
    initial_velocity,
    neumann,
    observed,
)
from tinns.paper.untuned_problems import TaylorGreen, TwoSolitons

BOX = Box(x=(0, 1), t=(0, 1))


class OneEquationForTwo(Problem):
    """u_t = v_xx: one equation for u and v."""

    domain = BOX

    def equation(self, u, v, x, t):
        return u.t - v.xx

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0)]


class HeatWithoutBoundary(Problem):
    """The heat equation with an initial value alone."""

    domain = BOX

    def equation(self, u, x, t):
        return u.t - 0.1 * u.xx

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x))]


class HeatWithoutOneEnd(HeatWithoutBoundary):
    """The heat equation with nothing prescribed at x+."""

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0, on="x-")]


class HeatWithoutStart(HeatWithoutBoundary):
    """The heat equation without an initial value."""

    def conditions(self):
        return [dirichlet(0.0)]


class PressureUpToTime(TaylorGreen):
    """Taylor-Green vortices without a condition for the pressure: p + c(t) is a solution too."""

    name = "pressure-up-to-time"

    def conditions(self):
        velocity = [(n, lambda x, y, t, k=k: self.flow(x, y, t)[k]) for k, n in enumerate("uv")]
        start = [initial(lambda x, y, f=f: f(x, y, 0.0), of=n) for n, f in velocity]
        return [*start, *(dirichlet(f, of=n) for n, f in velocity)]


class NeumannPotential(Problem):
    """v_xx = u_t - f with v_x given at both ends: v + c(t) is a solution too."""

    domain = BOX

    def equation(self, u, v, x, t):
        return u.t - u.xx, v.xx - u.t - pi**2 * jnp.exp(-(pi**2) * t) * jnp.cos(pi * x)

    def conditions(self):
        return [initial(lambda x: jnp.cos(pi * x), of="u"), neumann(0.0)]


class ConstantOnly(Problem):
    """u is given by its derivatives alone: u + c is a solution too."""

    domain = Box(x=(0, 1), y=(0, 1), t=(0, 1))

    def equation(self, u, x, y, t):
        return u.t - 0.2 * (u.xx + u.yy)

    def conditions(self):
        slope = at_start(
            lambda u, x, y, t: (
                u.x + pi * jnp.sin(pi * x) * jnp.cos(pi * y),
                u.y + pi * jnp.cos(pi * x) * jnp.sin(pi * y),
            )
        )
        return [slope, neumann(0.0)]


class WaveWithoutVelocity(Problem):
    """The wave equation without an initial velocity."""

    domain = BOX

    def equation(self, u, x, t):
        return u.tt - u.xx

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0)]


class FunctionOfPlaceOnly(Problem):
    """u_t = 0 without an initial value."""

    domain = BOX

    def equation(self, u, x, t):
        return u.t

    def conditions(self):
        return [dirichlet(0.0)]


class AdvectionWithoutInflow(Problem):
    """u_t + u_x = 0 on an interval, with nothing prescribed where it flows in."""

    domain = BOX

    def equation(self, u, x, t):
        return u.t + u.x

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x))]


class SolitonsWithoutSlope(TwoSolitons):
    """Korteweg-de Vries with two conditions at the boundary, where it needs three."""

    name = "solitons-without-slope"

    def conditions(self):
        return [initial(lambda x: self.solitons(x, 0.0)), dirichlet(self.solitons)]


class SchroedingerHalf(Problem):
    """i h_t + h_xx / 2 = 0 with h = u + iv, and conditions for u alone."""

    domain = Box(x=(-1, 1), t=(0, 1))

    def equation(self, u, v, x, t):
        return u.t + v.xx / 2, v.t - u.xx / 2

    def conditions(self):
        return [initial(lambda x: jnp.cos(pi * x / 2), of="u"), dirichlet(0.0, of="u")]


class ProductOfCoefficients(Problem):
    """u_t = a b u_xx with a and b both to be estimated."""

    a: float | Trainable = Trainable(0.5)
    b: float | Trainable = Trainable(0.3)
    domain = BOX

    def equation(self, u, x, t):
        return u.t - self.a * (self.b * u.xx)

    def conditions(self):
        t = jnp.linspace(0.05, 1, 20)
        data = observed(x=0 * t + 0.5, t=t, u=jnp.exp(-0.1 * pi**2 * t))
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0), data]


class BeamWithoutMoment(Problem):
    """u_tt + u_xxxx = 0 with the deflection given at both ends, and nothing else there."""

    domain = Box(x=(0, 1), t=(0, 0.1))

    def equation(self, u, x, t):
        return u.tt + u.xxxx

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), initial_velocity(0.0), dirichlet(0.0)]


UNDETERMINED: dict[str, type[Problem]] = {
    problem.name: problem
    for problem in (
        OneEquationForTwo,
        HeatWithoutBoundary,
        HeatWithoutOneEnd,
        HeatWithoutStart,
        PressureUpToTime,
        NeumannPotential,
        ConstantOnly,
        WaveWithoutVelocity,
        FunctionOfPlaceOnly,
        AdvectionWithoutInflow,
        SolitonsWithoutSlope,
        SchroedingerHalf,
        ProductOfCoefficients,
        BeamWithoutMoment,
    )
}
