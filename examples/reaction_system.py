"""Two unknown functions: a reaction-diffusion system with a travelling wave."""

import jax.numpy as jnp

import tinns

K, OMEGA = 0.5, 2.0  # wave number and frequency; the amplitude is then sqrt(1 - K²)


def travelling_wave(x, t):
    phase, amplitude = K * x + OMEGA * t, jnp.sqrt(1 - K**2)
    return jnp.stack([amplitude * jnp.cos(phase), amplitude * jnp.sin(phase)])


class Oscillators(tinns.Problem):
    """u_t = u_xx + (1 - r²) u - ω v and v_t = v_xx + (1 - r²) v + ω u, with r² = u² + v²."""

    domain = tinns.Box(x=(0, 4 * jnp.pi), t=(0, 2), periodic="x")

    def equation(self, u, v, x, t):
        growth = 1 - u**2 - v**2
        return u.t - u.xx - growth * u + OMEGA * v, v.t - v.xx - growth * v - OMEGA * u

    def conditions(self):
        return [tinns.initial(lambda x: tuple(travelling_wave(x, 0.0)), weight=2.0)]

    def reference(self):
        return tinns.exact(travelling_wave, "travelling wave")


def main(iterations: int = 200) -> tinns.Solution:
    solution = tinns.solve(Oscillators(), iterations=iterations)
    values = solution(x=1.0, t=1.0)
    print(f"u(1, 1) = {values['u']:.6f}, v(1, 1) = {values['v']:.6f}")
    print(f"relative L2 error {solution.relative_l2():.1e}")
    return solution


if __name__ == "__main__":
    main()
