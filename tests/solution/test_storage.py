"""Solutions on disk: bit for bit the same, or an error that says why not."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from safetensors.numpy import save_file

import tinns
from tinns import (
    MLP,
    Box,
    Hypernetwork,
    Layerwise,
    Linear,
    OneNeuron,
    Problem,
    SpaceTime,
    TimeInduced,
    Trainable,
    UserError,
)
from tinns.nn import Formula
from tinns.nn.trajectories import Formed
from tinns.objective.constraints import constrained
from tinns.problems import Burgers
from tinns.solution.core import Solution
from tinns.solvers import History

pytestmark = pytest.mark.usefixtures("quick_compilation")

FIELDS = {
    "layerwise": TimeInduced(MLP((4, 3), "sin"), Layerwise(MLP((3,))), scaled=True),
    "linear": TimeInduced(MLP((4,)), Linear()),
    "one neuron": TimeInduced(MLP((4,), output_bias=True), OneNeuron("sin")),
    "hypernetwork": TimeInduced(MLP((3,)), Hypernetwork(MLP((3, 2)))),
    "space-time": SpaceTime(MLP((5, 4))),
}


def solved(field, problem, precision="float64", coefficients=None):
    outputs = len(problem.unknowns)
    with jax.enable_x64(precision == "float64"):
        psi = field.init(jax.random.key(7), problem.domain, outputs)
    psi = {"field": jax.tree.map(np.asarray, psi), "coefficients": coefficients or {}}
    history = History({"iteration": np.arange(3.0), "loss": np.array([1.0, np.nan, 1e-9])})
    result = {"relative_l2": 0.125, "stop_reason": "iterations done"}
    return Solution(
        problem.domain, problem.unknowns, field, psi, precision, problem, history, result
    )


class Transport(Problem):
    """A problem of the user's own, with two unknowns and a periodic axis."""

    speed: float = 1.0
    domain = Box(x=(-1, 1), t=(0, 1), periodic="x")

    def equation(self, u, v, x, t):
        return u.t - self.speed * u.x, v.t + v.x

    def conditions(self):
        return []

    def reference(self):
        return tinns.exact(lambda x, t: jnp.stack([jnp.sin(x + t), jnp.sin(x - t)]))


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("kind", FIELDS)
def test_a_loaded_solution_is_bitwise_the_same(tmp_path, kind, precision):
    solution = solved(FIELDS[kind], Burgers(), precision)
    path = solution.save(tmp_path / "u.safetensors")
    again = tinns.load(path)
    x = np.linspace(-1, 1, 50)
    np.testing.assert_array_equal(again(x=x, t=0.3), solution(x=x, t=0.3))
    assert again.field == solution.field
    assert again.domain == solution.domain
    assert again.precision == precision
    for old, new in zip(jax.tree.leaves(solution.psi), jax.tree.leaves(again.psi), strict=True):
        assert old.dtype == new.dtype
        np.testing.assert_array_equal(old, new)


def test_what_is_known_of_the_run_comes_back(tmp_path):
    solution = solved(FIELDS["linear"], Burgers(viscosity=0.05))
    again = tinns.load(solution.save(tmp_path / "u.safetensors"))
    assert again.result == solution.result
    np.testing.assert_array_equal(again.history["loss"], solution.history["loss"])
    assert again.problem.viscosity == 0.05
    assert again.relative_l2(x=9, t=5) == solution.relative_l2(x=9, t=5)


def test_a_problem_of_ones_own(tmp_path):
    solution = solved(FIELDS["linear"], Transport(speed=2.0))
    path = solution.save(tmp_path / "u.safetensors")
    alone = tinns.load(path)
    values, expected = alone(x=0.2, t=0.3), solution(x=0.2, t=0.3)
    assert values["v"] == expected["v"]
    with pytest.raises(UserError, match=r"problem="):
        alone.relative_l2()
    told = tinns.load(path, problem=Transport(speed=2.0))
    assert told.relative_l2(x=9, t=5) == solution.relative_l2(x=9, t=5)


def test_coefficients_that_were_found_come_back(tmp_path):
    problem = Burgers(viscosity=Trainable(0.1))
    solution = solved(FIELDS["linear"], problem, coefficients={"viscosity": np.array(0.0625)})
    again = tinns.load(solution.save(tmp_path / "u.safetensors"))
    assert again.coefficients == {"viscosity": 0.0625}


def built_in(problem, hard):
    with jax.enable_x64(True):
        return constrained(problem, FIELDS["linear"], hard)


def test_conditions_built_in_come_back(tmp_path):
    hard = ("initial", "boundary")
    solution = solved(built_in(Burgers(), hard), Burgers())
    again = tinns.load(solution.save(tmp_path / "u.safetensors"))
    assert again.field.inner == FIELDS["linear"]
    assert again.field.names == hard
    x = np.linspace(-1, 1, 50)
    np.testing.assert_array_equal(again(x=x, t=0.3), solution(x=x, t=0.3))
    np.testing.assert_allclose(again(x=x, t=0.0), -np.sin(np.pi * x), atol=1e-14)


def test_conditions_of_ones_own_problem_need_the_problem(tmp_path, heat):
    class Warmer(type(heat)):
        def conditions(self):
            return [tinns.initial(lambda x: 2 * jnp.sin(jnp.pi * x))]

    solution = solved(built_in(heat, ("initial",)), heat)
    path = solution.save(tmp_path / "u.safetensors")
    with pytest.raises(UserError, match=r"initial of heat.*problem="):
        tinns.load(path)
    with pytest.raises(UserError, match=r"warmer prescribes other values"):
        tinns.load(path, problem=Warmer())
    again = tinns.load(path, problem=heat)
    assert again(x=0.2, t=0.3) == solution(x=0.2, t=0.3)


def test_loading_the_wrong_problem_is_an_error(tmp_path):
    path = solved(FIELDS["linear"], Burgers()).save(tmp_path / "u.safetensors")
    with pytest.raises(UserError, match="problem"):
        tinns.load(path, problem=Transport())


def test_saving_replaces_the_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "u.safetensors"
    path.write_bytes(b"old")
    solved(FIELDS["linear"], Burgers()).save(path)
    assert tinns.load(path).parameters == 24
    assert list(tmp_path.iterdir()) == [path]


def whole_file(tmp_path):
    return solved(FIELDS["linear"], Burgers()).save(tmp_path / "whole.safetensors").read_bytes()


def test_a_truncated_file_is_an_error(tmp_path):
    data = whole_file(tmp_path)
    for kept in (0, 4, 100, len(data) // 2, len(data) - 1):
        path = tmp_path / f"{kept}.safetensors"
        path.write_bytes(data[:kept])
        with pytest.raises(UserError, match=f"{kept}.safetensors"):
            tinns.load(path)


def test_random_bytes_are_an_error(tmp_path):
    path = tmp_path / "noise.safetensors"
    path.write_bytes(np.random.default_rng(0).bytes(4096))
    with pytest.raises(UserError, match="noise"):
        tinns.load(path)


def test_a_foreign_file_is_an_error(tmp_path):
    path = tmp_path / "foreign.safetensors"
    save_file({"weight": np.zeros(3)}, path)
    with pytest.raises(UserError, match="not a solution"):
        tinns.load(path)


@pytest.mark.parametrize(
    "header", ["{}", "not json", "[]", '{"domain": 3}', '{"field": {"class": "Popen"}}']
)
def test_a_file_with_a_strange_header_is_an_error(tmp_path, header):
    path = tmp_path / "strange.safetensors"
    metadata = {"format": "tinns-solution-1", "tinns": header}
    save_file({"psi.0": np.zeros(3)}, path, metadata=metadata)
    with pytest.raises(UserError, match="strange"):
        tinns.load(path)


def test_a_missing_file_or_a_folder_is_an_error(tmp_path):
    with pytest.raises(UserError, match=r"no solution file at .*nothing"):
        tinns.load(tmp_path / "nothing.safetensors")
    with pytest.raises(UserError, match="no solution file"):
        tinns.load(tmp_path)


def test_a_field_that_cannot_be_described_is_refused_and_leaves_nothing(tmp_path):
    solution = solved(Formula(lambda x, t: x), Burgers())
    with pytest.raises(UserError, match="Formula"):
        solution.save(tmp_path / "u.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(UserError, match="cannot write"):
        solved(FIELDS["linear"], Burgers()).save(tmp_path / "nowhere" / "u.safetensors")
    assert list(tmp_path.iterdir()) == []


def test_a_problem_with_other_coefficients_is_refused(tmp_path, heat, small_field, few_points):
    recipe = tinns.Recipe(small_field, points=few_points, validation=few_points)
    solution = tinns.solve(heat, recipe, iterations=1, progress=False)
    path = solution.save(tmp_path / "heat.safetensors")
    assert tinns.load(path, problem=heat).problem is heat
    with pytest.raises(
        tinns.UserError, match=r"D = 0\.5, but the one that was solved had D = 0\.1"
    ):
        tinns.load(path, problem=type(heat)(D=0.5))
    with pytest.raises(tinns.UserError, match="unknown problem"):
        tinns.load(path, problem="burger")


def test_a_trajectory_of_the_users_own_is_solved_saved_and_loaded(tmp_path):
    @tinns.nn.register
    @dataclass(frozen=True)
    class Frozen:
        """θ(t) = ψ: weights that do not move, written without touching the package."""

        scale: float = 1.0

        def init(self, key, backbone, inputs, outputs):
            return backbone.init(key, inputs, outputs)

        def __call__(self, psi, t, template):
            return jax.tree.map(lambda leaf: Formed(self.scale * leaf), psi)

        def advanced(self, psi, start, end):
            return psi

    problem = Burgers(viscosity=0.1)
    few = tinns.Counts(40, 10, 10)
    recipe = tinns.Recipe(TimeInduced(MLP((4,)), Frozen(0.5)), points=few, validation=few)
    solution = tinns.solve(problem, recipe, iterations=2, progress=False)
    assert solution(x=0.3, t=0.1) == solution(x=0.3, t=0.9)
    again = tinns.load(solution.save(tmp_path / "u.safetensors"))
    assert again.field == solution.field
    assert again(x=0.3, t=0.1) == solution(x=0.3, t=0.1)


def test_only_dataclasses_are_registered():
    with pytest.raises(UserError, match="not a dataclass"):
        tinns.nn.register(object)


def test_a_sampler_that_is_a_function_is_recorded_by_name(tmp_path):
    def uniform_points(key, count, dimension):
        return jax.random.uniform(key, (count, dimension))

    few = tinns.Counts(40, 10, 10)
    recipe = tinns.Recipe(
        TimeInduced(MLP((4,)), Linear()), points=few, validation=few, sampler=uniform_points
    )
    solution = tinns.solve(Burgers(viscosity=0.1), recipe, iterations=2, progress=False)
    again = tinns.load(solution.save(tmp_path / "u.safetensors"))
    assert again.result["settings"]["sampler"].endswith("uniform_points")
