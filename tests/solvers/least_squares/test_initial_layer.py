"""A physics-informed start: the network begins as the initial values, at all times."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import (
    MLP,
    Adam,
    Box,
    FourierFeatures,
    Layerwise,
    PirateNet,
    Problem,
    RandomFeatures,
    Recipe,
    SpaceTime,
    Stop,
    TimeInduced,
    UserError,
    initial,
)
from tinns.objective import assemble
from tinns.problems import AllenCahn, KleinGordon
from tinns.solvers.least_squares.initial_layer import fit_initial_layer

pytestmark = pytest.mark.usefixtures("float64")

PIRATE = SpaceTime(
    PirateNet(6, 2, factorised=True, output_bias=True),
    scaled=False,
    fourier=FourierFeatures(64, 2.0),
)


def error_of_start(problem, field, exact):
    system = assemble(problem, field)
    psi = fit_initial_layer(system, system.init(jax.random.key(0)))
    solution = tinns.Solution(problem.domain, problem.unknowns, field, psi, "float64", problem)
    spaces = np.random.default_rng(0).uniform(-0.9, 0.9, (len(problem.domain.space), 40))
    coordinates = dict(zip(problem.domain.space, spaces, strict=True))
    wanted = exact(**coordinates)
    times = np.linspace(*problem.domain.interval("t"), 40)
    return np.max(np.abs(solution(**coordinates, t=times) - wanted)) / np.max(np.abs(wanted))


def test_a_piratenet_starts_as_the_initial_values():
    error = error_of_start(AllenCahn(), PIRATE, lambda x: x**2 * np.cos(3 * np.pi * x) + x**2)
    assert error < 1e-2


def test_a_time_induced_network_starts_as_the_initial_values():
    field = TimeInduced(MLP((40,)), Layerwise(MLP((5,))), fourier=FourierFeatures(20, 1.0))
    assert error_of_start(KleinGordon(), field, lambda x, y: x + y) < 1e-2


def test_without_it_the_start_is_random():
    problem, system = AllenCahn(), assemble(AllenCahn(), PIRATE)
    solution = tinns.Solution(
        problem.domain, ("u",), PIRATE, system.init(jax.random.key(0)), "float64", problem
    )
    assert solution.relative_l2() > 0.5


def test_it_is_the_shortest_least_squares_fit():
    """Of a network linear in its inputs, to values that are linear: the fit is exact."""

    class Flat(Problem):
        domain = Box(x=(0, 1), t=(0, 1))

        def equation(self, u, x, t):
            return u.t

        def conditions(self):
            return [initial(lambda x: 3 * x)]

    field = SpaceTime(PirateNet(4, 1), scaled=False)  # its gates are zero: u = W (x, t)
    system = assemble(Flat(), field)
    psi = fit_initial_layer(system, system.init(jax.random.key(0)))
    np.testing.assert_allclose(field.output_weights(psi["field"]), [[3.0, 0.0]], atol=1e-12)


def test_what_it_needs_is_told(heat):
    with pytest.raises(UserError, match=r"fit_initial_layer.*RandomFeatures"):
        fit_initial_layer(assemble(heat, RandomFeatures()), {"field": ()})

    class Unsaid(type(heat)):
        def conditions(self):
            return [tinns.dirichlet(0.0)]

    system = assemble(Unsaid(), PIRATE)
    with pytest.raises(UserError, match="has no initial values"):
        fit_initial_layer(system, system.init(jax.random.key(0)))


def test_a_recipe_asks_for_it():
    recipe = Recipe(PIRATE, Adam(), fit_initial_layer=True, stop=Stop(iterations=1))
    first = tinns.solve(AllenCahn(), recipe=recipe, progress=False).history["loss_initial"][0]
    assert first < 1e-4 * float(jnp.mean(jnp.linspace(-1, 1, 99) ** 4))
