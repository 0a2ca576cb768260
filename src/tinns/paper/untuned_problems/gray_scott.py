"""u_t = D_u u_xx - u v² + F (1 - u), v_t = D_v v_xx + u v² - (F + k) v: pulses that split."""

import jax.numpy as jnp

from tinns.geometry import Box
from tinns.paper.reaction_diffusion_reference import gray_scott
from tinns.problem import Problem, initial, neumann


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
