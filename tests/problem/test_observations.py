"""Observations: files come back number by number, mistakes are named, noise has its size."""

import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns import Box, Problem, Trainable, UserError, initial, observed
from tinns.geometry import Observations
from tinns.problems import InverseBurgers, Wave


class Decay(Problem):
    """u_t = -k u with u = exp(-k t) (1 + x)."""

    k: float | Trainable = 2.0
    domain = Box(x=(0, 1), t=(0, 1))
    truth = {"k": 2.0}

    def equation(self, u, x, t):
        return u.t + self.k * u

    def reference(self):
        return tinns.exact(lambda x, t: jnp.exp(-self.k * t) * (1 + x))


@pytest.fixture
def file(tmp_path):
    def written(text):
        path = tmp_path / "obs.csv"
        path.write_text(text)
        return path

    return written


def test_what_is_written_comes_back_number_by_number(tmp_path):
    random = np.random.default_rng(0)
    columns = {name: random.normal(size=20) * 10.0 ** random.integers(-9, 9) for name in "xtu"}
    again = tinns.read_observations(tinns.write_observations(tmp_path / "obs.csv", columns))
    assert list(again) == list(columns)
    for name, column in columns.items():
        np.testing.assert_array_equal(again[name], column)


@pytest.mark.parametrize(
    "text",
    [
        "x,t,u\n0.5,0,1\n1,0.25,-2e-3\n",
        "x;t;u\n0.5;0;1\n1;0.25;-2e-3",
        "x\tt\tu\n0.5\t0\t1\n1\t0.25\t-2e-3\n\n",
        "\ufeff# measured\n x , t , u\r\n 0.5, 0, 1\r\n\r\n# a pause\n1, 0.25, -2e-3\n",
        '"x","t","u"\n"0.5","0","1"\n1,0.25,-2e-3\n',
    ],
    ids=["comma", "semicolon", "tab", "blanks and comments", "quoted"],
)
def test_delimiters_comments_and_blanks(file, text):
    columns = tinns.read_observations(file(text))
    assert {n: c.tolist() for n, c in columns.items()} == {
        "x": [0.5, 1.0],
        "t": [0.0, 0.25],
        "u": [1.0, -0.002],
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n# nothing\n", "is empty"),
        ("x,t,u\n", "no observations"),
        ("0.5,0,1\n", "no header"),
        ("x,,u\n0,0,0\n", "empty name"),
        ("x,x,u\n0,0,0\n", "stands twice"),
        ("x,t,u\n0,0,1\n0,zero,1\n", "line 3, column t: 'zero' is not a number"),
        ("x,t,u\n0,0,\n", "line 2, column u: '' is not a number"),
        ("x,t,u\n\n0,0,nan\n", "line 3, column u: nan is not finite"),
        ("x,t,u\n0,0,inf\n", "column u: inf is not finite"),
        ("x,t,u\n0,0\n", "line 2: 2 entries; expected 3"),
    ],
)
def test_a_fault_in_a_file_is_named_with_its_place(file, text, said):
    with pytest.raises(UserError, match=said):
        tinns.read_observations(file(text))


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    with pytest.raises(UserError, match=r"no observations at .*nowhere\.csv"):
        tinns.read_observations(tmp_path / "nowhere.csv")
    with pytest.raises(UserError, match="cannot read observations"):
        tinns.read_observations(tmp_path)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x9f")
    with pytest.raises(UserError, match="no text"):
        tinns.read_observations(tmp_path / "binary.csv")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"x": [0.5], "u": [1.0]}, "expected x, t and one or more of u"),
        ({"x": [0.5], "t": [0.5]}, "expected x, t and one or more of u"),
        ({"x": [0.5], "t": [0.5], "u": [1.0], "weight": [1.0]}, "got columns x, t, u, weight"),
        ({"x": [0.5, 7], "t": [0.5, 0], "u": [1, 1]}, r"x = 7 is outside the domain.*row 1"),
        ({"x": [0.5], "t": [np.nan], "u": [1.0]}, "column t holds nan"),
        ({"x": [], "t": [], "u": []}, "empty"),
    ],
)
def test_data_that_do_not_suit_the_problem_are_refused_at_once(columns, said):
    with pytest.raises(UserError, match=said):
        Decay().observing(columns)


def observed_columns(problem):
    regions = [c.region for c in problem.conditions() if isinstance(c.region, Observations)]
    return [region.columns for region in regions]


def test_observing_takes_the_place_of_earlier_data_and_keeps_the_rest():
    data = {"x": [0.1, 0.2], "t": [0.3, 0.4], "u": [5.0, 6.0]}
    (columns,) = observed_columns(InverseBurgers().observing(data))
    np.testing.assert_array_equal(columns["u"], data["u"])
    added = Wave().observing(data)
    assert [c.name for c in added.conditions()] == [
        *(c.name for c in Wave().conditions()),
        "observed",
    ]
    assert (added.name, added.speed) == ("wave", Wave().speed)
    twice = added.observing(data | {"u": [0.0, 0.0]}, weight=3.0)
    assert [c.weight for c in twice.conditions() if c.name == "observed"] == [3.0]
    assert len(observed_columns(Decay().observing(data))) == 1  # which has no other condition


def test_the_truth_is_kept_only_of_simulated_data():
    problem = InverseBurgers()
    data = tinns.simulate_observations(problem, 5)
    measured, simulated = problem.observing(data), problem.observing(data, simulated=True)
    assert measured.truth == {}
    assert measured.known_solution() is None
    assert simulated.truth == problem.truth
    assert simulated.known_solution() is not None
    assert Wave().observing({"x": [0.5], "t": [0.5], "u": [0.0]}).known_solution() is not None


@pytest.mark.parametrize("k", [3.0, Trainable(0.5)], ids=["known", "sought"])
def test_simulated_values_are_those_of_the_true_solution(k):
    data = tinns.simulate_observations(Decay(k=k), 50, seed=1)
    rate = 3.0 if k == 3.0 else 2.0
    np.testing.assert_allclose(data["u"], np.exp(-rate * data["t"]) * (1 + data["x"]), rtol=1e-13)
    assert 0 <= data["x"].min() < 0.2 < 0.8 < data["x"].max() <= 1


def test_noise_has_the_size_asked_for_and_leaves_the_points_alone():
    clean, noisy, other = (
        tinns.simulate_observations(Decay(), 4000, noise=noise, seed=seed)
        for noise, seed in ((0.0, 3), (0.05, 3), (0.05, 4))
    )
    np.testing.assert_array_equal(clean["x"], noisy["x"])
    difference = noisy["u"] - clean["u"]
    assert np.std(difference) == pytest.approx(0.05 * np.std(clean["u"]), rel=0.05)
    assert abs(np.mean(difference)) < 4 * np.std(difference) / np.sqrt(4000)
    assert abs(np.corrcoef(difference, clean["u"])[0, 1]) < 0.07
    assert np.abs(other["u"] - noisy["u"]).max() > 0.1


@pytest.mark.parametrize(("count", "noise"), [(0, 0.0), (2.5, 0.0), (5, -0.1), (5, np.nan)])
def test_impossible_counts_and_noises_are_refused(count, noise):
    with pytest.raises(UserError, match=r"count|noise"):
        tinns.simulate_observations(Decay(), count, noise)


def test_without_a_reference_nothing_can_be_simulated():
    class Silent(Decay):
        def reference(self):
            return None

        def conditions(self):
            return [initial(0.0), observed(x=[0.5], t=[0.5], u=[1.0])]

    with pytest.raises(UserError, match=r"silent.*reference"):
        tinns.simulate_observations(Silent(), 5)
