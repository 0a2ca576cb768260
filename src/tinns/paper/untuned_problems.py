"""Problems as users would write them, without recipes: a test of the default settings.

Each has an exact or a classical solution, so that errors can be computed.
"""

from math import pi, sqrt, tan

import jax
import jax.numpy as jnp
from jax.scipy.stats import norm

from tinns.geometry import Box
from tinns.paper.reaction_diffusion_reference import brusselator, gray_scott
from tinns.problem import (
    Problem,
    dirichlet,
    exact,
    initial,
    initial_velocity,
    neumann,
    on_boundary,
)


class Heat(Problem):
    """u_t = k u_xx."""

    k: float = 0.1
    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.t - self.k * u.xx

    def conditions(self):
        return [initial(lambda x: jnp.sin(pi * x)), dirichlet(0.0)]

    def reference(self):
        return exact(lambda x, t: jnp.exp(-self.k * pi**2 * t) * jnp.sin(pi * x))


class FisherKPP(Problem):
    """u_t = D u_xx + r u (1 - u), a travelling front (M. Ablowitz and A. Zeppetella, 1979)."""

    D: float = 0.01
    r: float = 5.0
    domain = Box(x=(0, 1), t=(0, 1))

    def front(self, x, t):
        return (1 + jnp.exp(sqrt(self.r / (6 * self.D)) * x - 5 * self.r * t / 6)) ** -2

    def equation(self, u, x, t):
        return u.t - self.D * u.xx - self.r * u * (1 - u)

    def conditions(self):
        return [initial(lambda x: self.front(x, 0.0)), dirichlet(self.front)]

    def reference(self):
        return exact(self.front)


class SineGordon(Problem):
    """u_tt - u_xx + sin u = 0, a breather."""

    omega: float = 0.6
    domain = Box(x=(-6, 6), t=(0, 8))

    def breather(self, x, t):
        decay = sqrt(1 - self.omega**2)
        return 4 * jnp.arctan(decay / self.omega * jnp.cos(self.omega * t) / jnp.cosh(decay * x))

    def equation(self, u, x, t):
        return u.tt - u.xx + jnp.sin(u)

    def conditions(self):
        start = initial(lambda x: self.breather(x, 0.0))
        return [start, initial_velocity(0.0), dirichlet(self.breather)]

    def reference(self):
        return exact(self.breather)


class Convection(Problem):
    """u_t + c u_x = 0, a wave that crosses a periodic interval almost five times."""

    c: float = 30.0
    domain = Box(x=(0, 2 * pi), t=(0, 1), periodic="x")

    def equation(self, u, x, t):
        return u.t + self.c * u.x

    def conditions(self):
        return [initial(jnp.sin)]

    def reference(self):
        return exact(lambda x, t: jnp.sin(x - self.c * t))


class NonlinearSchroedinger(Problem):
    """i h_t + h_xx / 2 + |h|² h = 0 with h = u + iv, a moving bright soliton."""

    amplitude: float = 1.5
    speed: float = 1.0
    domain = Box(x=(-5, 5), t=(0, 2))

    def soliton(self, x, t):
        a, c = self.amplitude, self.speed
        phase = c * x + (a**2 - c**2) * t / 2
        return a / jnp.cosh(a * (x + 1 - c * t)) * jnp.stack([jnp.cos(phase), jnp.sin(phase)])

    def equation(self, u, v, x, t):
        square = u**2 + v**2
        return u.t + v.xx / 2 + square * v, v.t - u.xx / 2 - square * u

    def conditions(self):
        start = initial(lambda x: list(self.soliton(x, 0.0)))
        return [start, dirichlet(lambda x, t: list(self.soliton(x, t)))]

    def reference(self):
        return exact(self.soliton)


class TwoSolitons(Problem):
    """u_t + 6 u u_x + u_xxx = 0, where a fast soliton overtakes a slow one (R. Hirota, 1971)."""

    slow: float = 1.0
    fast: float = 1.5
    domain = Box(x=(-10, 15), t=(0, 6))

    def solitons(self, x, t):
        """u = 2 (ln F)_xx, where F is a sum of four exponentials of x: twice a variance."""
        a, b = self.slow, self.fast
        first, second = a * x - a**3 * t, b * (x + 4) - b**3 * t
        both = first + second + 2 * jnp.log(jnp.abs((a - b) / (a + b)))
        weights = jax.nn.softmax(jnp.stack([jnp.zeros_like(first), first, second, both]))
        slopes = jnp.asarray([0.0, a, b, a + b])
        return 2 * weights @ (slopes - weights @ slopes) ** 2

    def slope(self, x, t):
        return jax.grad(self.solitons)(x, t)

    def equation(self, u, x, t):
        return u.t + 6 * u * u.x + u.xxx

    def conditions(self):
        start = initial(lambda x: self.solitons(x, 0.0))
        return [start, dirichlet(self.solitons), neumann(self.slope, on="x+")]

    def reference(self):
        return exact(self.solitons)


class Beam(Problem):
    """u_tt + u_xxxx = 0, an elastic beam that is simply supported at both ends."""

    domain = Box(x=(0, 1), t=(0, 1))

    def equation(self, u, x, t):
        return u.tt + u.xxxx

    def conditions(self):
        return [
            initial(lambda x: jnp.sin(pi * x)),
            initial_velocity(0.0),
            dirichlet(0.0),
            on_boundary(lambda u, x, t: u.xx, name="no_moment"),
        ]

    def reference(self):
        return exact(lambda x, t: jnp.sin(pi * x) * jnp.cos(pi**2 * t))


class AdvectionDiffusion(Problem):
    """u_t + c u_x = D u_xx at a Péclet number of 200: a narrow peak moves and spreads."""

    c: float = 1.0
    D: float = 0.005
    width: float = 0.05
    domain = Box(x=(0, 1), t=(0, 0.5))

    def peak(self, x, t):
        square = self.width**2 + 2 * self.D * t
        distance = x - 0.25 - self.c * t
        return self.width / jnp.sqrt(square) * jnp.exp(-(distance**2) / (2 * square))

    def equation(self, u, x, t):
        return u.t + self.c * u.x - self.D * u.xx

    def conditions(self):
        return [initial(lambda x: self.peak(x, 0.0)), dirichlet(self.peak)]

    def reference(self):
        return exact(self.peak)


class Telegraph(Problem):
    """u_tt + d u_t = c² u_xx, a damped standing wave."""

    c: float = 1.0
    d: float = 2.0
    domain = Box(x=(0, 1), t=(0, 2))

    def wave(self, x, t):
        frequency = sqrt((2 * pi * self.c) ** 2 - self.d**2 / 4)
        return jnp.exp(-self.d * t / 2) * jnp.cos(frequency * t) * jnp.sin(2 * pi * x)

    def equation(self, u, x, t):
        return u.tt + self.d * u.t - self.c**2 * u.xx

    def conditions(self):
        return [
            initial(lambda x: self.wave(x, 0.0)),
            initial_velocity(lambda x: -self.d / 2 * self.wave(x, 0.0)),
            dirichlet(0.0),
        ]

    def reference(self):
        return exact(self.wave)


class BlackScholes(Problem):
    """v_t = σ² s² v_ss / 2 + r s v_s - r v: a European call at the price s, with time t left.

    Time runs from a quarter of a year before expiry, where the payoff has become smooth.
    """

    sigma: float = 0.2
    r: float = 0.05
    strike: float = 100.0
    domain = Box(s=(50, 150), t=(0.25, 1.25))

    def value(self, s, t):
        spread = self.sigma * jnp.sqrt(t)
        upper = (jnp.log(s / self.strike) + (self.r + self.sigma**2 / 2) * t) / spread
        discounted = self.strike * jnp.exp(-self.r * t)
        return s * norm.cdf(upper) - discounted * norm.cdf(upper - spread)

    def equation(self, v, s, t):
        return v.t - self.sigma**2 * s**2 * v.ss / 2 - self.r * s * v.s + self.r * v

    def conditions(self):
        return [initial(lambda s: self.value(s, 0.25)), dirichlet(self.value)]

    def reference(self):
        return exact(self.value)


class HarmonicOscillator(Problem):
    """i h_t = -h_xx / 2 + x² h / 2 with h = u + iv: a coherent state, which swings to and fro."""

    displacement: float = 2.0
    domain = Box(x=(-6, 6), t=(0, pi))

    def state(self, x, t):
        a = self.displacement
        size = pi**-0.25 * jnp.exp(-((x - a * jnp.cos(t)) ** 2) / 2)
        phase = -t / 2 - a * x * jnp.sin(t) + a**2 * jnp.sin(2 * t) / 4
        return size * jnp.stack([jnp.cos(phase), jnp.sin(phase)])

    def equation(self, u, v, x, t):
        return u.t + v.xx / 2 - x**2 * v / 2, v.t - u.xx / 2 + x**2 * u / 2

    def conditions(self):
        start = initial(lambda x: list(self.state(x, 0.0)))
        return [start, dirichlet(lambda x, t: list(self.state(x, t)))]

    def reference(self):
        return exact(self.state)


class Burgers2D(Problem):
    """u_t + u (u_x + u_y) = ν (u_xx + u_yy), a front that moves along the diagonal."""

    viscosity: float = 0.05
    domain = Box(x=(0, 1), y=(0, 1), t=(0, 1))
    name = "burgers-2d"

    def front(self, x, y, t):
        return jax.nn.sigmoid((t - x - y) / (2 * self.viscosity))

    def equation(self, u, x, y, t):
        return u.t + u * (u.x + u.y) - self.viscosity * (u.xx + u.yy)

    def conditions(self):
        return [initial(lambda x, y: self.front(x, y, 0.0)), dirichlet(self.front)]

    def reference(self):
        return exact(self.front)


class CoolingPlate(Problem):
    """u_t = k (u_xx + u_yy) on a square: insulated but for one side, which loses heat (Robin)."""

    k: float = 0.1
    wavenumber: float = 1.0  # along x; the heat loss is chosen to fit
    domain = Box(x=(0, 1), y=(0, 1), t=(0, 1))

    def temperature(self, x, y, t):
        along_x = jnp.exp(-self.k * self.wavenumber**2 * t) * jnp.cos(self.wavenumber * x)
        return along_x * (1 + jnp.exp(-self.k * pi**2 * t) * jnp.cos(pi * y))

    def equation(self, u, x, y, t):
        return u.t - self.k * (u.xx + u.yy)

    def conditions(self):
        loss = self.wavenumber * tan(self.wavenumber)
        return [
            initial(lambda x, y: self.temperature(x, y, 0.0)),
            neumann(0.0, on=("x-", "y-", "y+")),
            on_boundary(lambda u, x, y, t: u.x + loss * u, on="x+", name="heat_loss"),
        ]

    def reference(self):
        return exact(self.temperature)


class TaylorGreen(Problem):
    """The Navier-Stokes equations in velocities and pressure: a decaying array of vortices."""

    viscosity: float = 0.05
    domain = Box(x=(0, 2 * pi), y=(0, 2 * pi), t=(0, 2))

    def flow(self, x, y, t):
        decay = jnp.exp(-2 * self.viscosity * t)
        u, v = jnp.sin(x) * jnp.cos(y) * decay, -jnp.cos(x) * jnp.sin(y) * decay
        return jnp.stack([u, v, (jnp.cos(2 * x) + jnp.cos(2 * y)) * decay**2 / 4])

    def equation(self, u, v, p, x, y, t):
        return (
            u.t + u * u.x + v * u.y + p.x - self.viscosity * (u.xx + u.yy),
            v.t + u * v.x + v * v.y + p.y - self.viscosity * (v.xx + v.yy),
            u.x + v.y,
        )

    def conditions(self):
        start = initial(lambda x, y: list(self.flow(x, y, 0.0)))
        return [start, dirichlet(lambda x, y, t: list(self.flow(x, y, t)))]

    def reference(self):
        return exact(self.flow)


class Reaction(Problem):
    """u_t = r u (1 - u) on a periodic interval: a Gaussian grows until it is a plateau.

    The Gaussian is so narrow that it vanishes at the ends, where a wider one would have a kink.
    """

    r: float = 5.0
    width: float = 0.4
    domain = Box(x=(0, 2 * pi), t=(0, 1), periodic="x")

    def start(self, x):
        return jnp.exp(-((x - pi) ** 2) / (2 * self.width**2))

    def equation(self, u, x, t):
        return u.t - self.r * u * (1 - u)

    def conditions(self):
        return [initial(self.start)]

    def reference(self):
        def grown(x, t):
            start = self.start(x)
            return start / (start + (1 - start) * jnp.exp(-self.r * t))

        return exact(grown)


class Brusselator(Problem):
    """u_t = D u_xx + a + u²v - (b + 1) u, v_t = D v_xx + b u - u²v: a chemical oscillator."""

    D: float = 0.02
    a: float = 1.0
    b: float = 3.0
    domain = Box(x=(0, 1), t=(0, 10))

    def equation(self, u, v, x, t):
        made = u**2 * v
        return (
            u.t - self.D * u.xx - self.a - made + (self.b + 1) * u,
            v.t - self.D * v.xx - self.b * u + made,
        )

    def conditions(self):
        return [
            initial(lambda x: 1 + jnp.cos(pi * x) / 2, of="u"),
            initial(3.0, of="v"),
            neumann(0.0),
        ]

    def reference(self):
        return brusselator(self.D, self.a, self.b).reference()


class GrayScott(Problem):
    """u_t = D_u u_xx - u v² + F (1 - u), v_t = D_v v_xx + u v² - (F + k) v: pulses that split."""

    u_diffusion: float = 2e-4
    v_diffusion: float = 1e-4
    feed: float = 0.04
    kill: float = 0.06
    domain = Box(x=(0, 2), t=(0, 1000))

    def bump(self, x):
        return jnp.exp(-(((x - 1) / 0.15) ** 2))

    def equation(self, u, v, x, t):
        made = u * v**2
        return (
            u.t - self.u_diffusion * u.xx + made - self.feed * (1 - u),
            v.t - self.v_diffusion * v.xx - made + (self.feed + self.kill) * v,
        )

    def conditions(self):
        start = initial(lambda x: [1 - self.bump(x) / 2, self.bump(x) / 4])
        return [start, neumann(0.0)]

    def reference(self):
        return gray_scott(self.u_diffusion, self.v_diffusion, self.feed, self.kill).reference()


UNTUNED: dict[str, type[Problem]] = {
    problem.name: problem
    for problem in (
        Heat,
        FisherKPP,
        SineGordon,
        Convection,
        NonlinearSchroedinger,
        TwoSolitons,
        Beam,
        AdvectionDiffusion,
        Telegraph,
        BlackScholes,
        HarmonicOscillator,
        Burgers2D,
        CoolingPlate,
        TaylorGreen,
        Reaction,
        Brusselator,
        GrayScott,
    )
}
