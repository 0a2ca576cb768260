"""The command line: what it writes and prints; every mistake is one line and exit code 2."""

import dataclasses
import json

import jax.numpy as jnp
import numpy as np
import pytest

import tinns
from tinns.cli import main
from tinns.problems import PROBLEMS, InverseBurgers, NavierStokes3D, Wave
from tinns.solvers import History


@pytest.fixture(scope="module")
def run(tmp_path_factory, quick_compilation):
    """The folder of a short run of the wave equation, and what it printed."""
    folder = tmp_path_factory.mktemp("cli") / "runs" / "wave"
    with pytest.MonkeyPatch.context() as patch:
        # A run of the real recipe would take minutes.
        small = tinns.Recipe(
            tinns.TimeInduced(tinns.MLP((5,)), tinns.Layerwise(tinns.MLP((3,)))),
            tinns.PaperLM(),
            points=tinns.Counts(40, 10, 10),
            validation=tinns.Counts(20, 5, 4),
        )
        patch.setattr(Wave, "recipes", {"fast": small, "paper": small})
        hard = ["--hard", "initial", "--hard", "boundary"]
        options = ["--iterations", "2", "--seed", "3", "--out", str(folder), "--quiet"]
        code = main(["solve", "wave", *options, *hard])
    assert code == 0
    return folder


def test_list_shows_problems_recipes_and_methods(capsys):
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    for name in (*PROBLEMS, "paper", "tinn-adam", "hypernetwork"):
        assert name in shown


def test_solve_writes_its_files_and_nothing_else(run):
    names = {path.name for path in run.iterdir()}
    expected = {"result.json", "solution.safetensors", "history.csv", "solution.png"}
    assert names == expected | {"training.png", "trajectory.png"}
    for picture in run.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_solve_records_its_result(run):
    result = json.loads((run / "result.json").read_text())
    assert {
        "problem",
        "method",
        "seed",
        "parameters",
        "iterations",
        "seconds",
        "compile_seconds",
        "relative_l2",
        "loss",
        "validation_loss",
        "stop_reason",
        "precision",
        "device",
        "versions",
    } <= set(result)
    assert result["problem"] == "wave"
    assert result["method"] == "tinn"
    assert result["seed"] == 3
    assert result["iterations"] == 2
    assert result["stop_reason"] == "iterations done"
    assert result["settings"]["hard"] == ["initial", "boundary"]
    solution = tinns.load(run / "solution.safetensors")
    assert result["relative_l2"] == pytest.approx(solution.relative_l2())
    assert result["parameters"] == solution.parameters
    assert abs(solution(x=[0.0, 1.0], t=0.7)).max() < 1e-14
    history = History.from_csv((run / "history.csv").read_text())
    np.testing.assert_array_equal(history["iteration"], [1, 2])


def test_plot_draws_the_pictures_again(run, tmp_path, capsys):
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "solution.safetensors").write_bytes((run / "solution.safetensors").read_bytes())
    assert main(["plot", str(copy)]) == 0
    drawn = {"solution.png", "training.png", "trajectory.png"}
    assert {path.name for path in copy.iterdir()} == drawn | {"solution.safetensors"}
    said = capsys.readouterr().out
    assert all(name in said for name in drawn)


def test_the_last_line_states_the_error_and_the_seconds(run, tmp_path, capsys, monkeypatch):
    solution = tinns.load(run / "solution.safetensors")
    monkeypatch.setattr("tinns.cli.commands.solve_posed", lambda *_, **__: solution)
    assert main(["solve", "wave", "--out", str(tmp_path), "--quiet"]) == 0
    last = capsys.readouterr().out.strip().splitlines()[-1]
    result = solution.result
    assert f"relative L2 error {result['relative_l2']:.2e}" in last
    assert f"{result['seconds']:.1f} s" in last


def test_the_errors_of_derived_quantities_are_printed(run, tmp_path, capsys, monkeypatch):
    solution = tinns.load(run / "solution.safetensors")
    told = dict(solution.result) | {"errors": {"velocity": 0.0123, "vorticity": 0.456}}
    solution = dataclasses.replace(solution, result=told)
    monkeypatch.setattr("tinns.cli.commands.solve_posed", lambda *_, **__: solution)
    assert main(["solve", "wave", "--out", str(tmp_path), "--quiet"]) == 0
    assert "velocity 1.23e-02, vorticity 4.56e-01" in capsys.readouterr().out


def test_reference_at_a_point(capsys):
    assert main(["reference", "wave", "--at", "x=0.3,t=0.5"]) == 0
    value = float(capsys.readouterr().out.split("=")[-1])
    u = np.sin(0.3 * np.pi) * np.cos(np.pi) + np.sin(1.2 * np.pi) * np.cos(4 * np.pi) / 2
    assert value == pytest.approx(u, rel=1e-13)


def test_reference_written_to_a_file(tmp_path, capsys):
    assert main(["reference", "wave", "--out", str(tmp_path / "wave.npz")]) == 0
    stored = np.load(tmp_path / "wave.npz")
    np.testing.assert_allclose(
        stored["u"], Wave().reference().on_grid(x=stored["x"], t=stored["t"]), atol=1e-14
    )
    assert "wrote" in capsys.readouterr().out


def test_reference_of_a_system_written_to_a_file(tmp_path, monkeypatch):
    sides = {axis: np.linspace(0, 3, 4) for axis in "xyzt"}
    monkeypatch.setattr(NavierStokes3D, "test_grid", lambda self: sides)
    assert main(["reference", "navier-stokes-3d", "--out", str(tmp_path / "flow.npz")]) == 0
    stored = np.load(tmp_path / "flow.npz")
    point = NavierStokes3D().reference()(x=1.0, y=2.0, z=3.0, t=1.0)
    np.testing.assert_allclose([stored[name][1, 2, 3, 1] for name in "uvw"], point, rtol=1e-14)


@pytest.fixture
def small_inverse(monkeypatch):
    field = tinns.TimeInduced(tinns.MLP((4,)), tinns.Linear())
    counts = tinns.Counts(30)
    small = tinns.Recipe(field, tinns.PaperLM(), counts, counts)
    monkeypatch.setattr(InverseBurgers, "recipes", {"fast": small})


@pytest.mark.usefixtures("quick_compilation", "small_inverse")
def test_coefficients_are_found_from_a_file(tmp_path, capsys):
    data = tinns.simulate_observations(InverseBurgers(), 40, noise=0.01)
    file, out = tinns.write_observations(tmp_path / "obs.csv", data), tmp_path / "run"
    options = ["--data", str(file), "--iterations", "3", "--out", str(out), "--quiet"]
    assert main(["solve", "inverse-burgers", *options]) == 0
    result = json.loads((out / "result.json").read_text())
    assert result["relative_l2"] is None  # of measured data the truth is not known
    assert result["coefficient_errors"] is None
    solution = tinns.load(out / "solution.safetensors")
    assert solution.problem.known_solution() is None
    shown = capsys.readouterr().out
    assert "95 % interval (local, linear)" in shown
    assert set(solution.estimates) == {"convection", "viscosity"}
    for name, estimate in solution.estimates.items():
        assert estimate.value == solution.coefficients[name] == result["estimates"][name]["value"]
        assert f"{estimate.value:.10g}" in shown
        assert f"{estimate.standard_error:.2e}" in shown


def test_a_file_that_does_not_suit_the_problem_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "obs.csv").write_text("x,t,u\n0,0,1\n0,zero,1\n")
    assert "line 3, column t" in fails(capsys, "solve", "burgers", "--data", "obs.csv")
    (tmp_path / "obs.csv").write_text("x,t,u\n7,0,1\n")
    assert "x = 7 is outside" in fails(capsys, "solve", "burgers", "--data", "obs.csv")
    assert "nowhere.csv" in fails(capsys, "solve", "burgers", "--data", "nowhere.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["obs.csv"]


def fails(capsys, *arguments):
    """The single line on stderr of a command that must fail."""
    assert main([str(a) for a in arguments]) == 2
    printed = capsys.readouterr()
    lines = printed.err.strip().splitlines()
    assert len(lines) == 1, printed.err
    assert lines[0].startswith("tinns: ")
    assert "Traceback" not in printed.out + printed.err
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["solve", "burgrs"], "did you mean 'burgers'"),
        (["solve", "wave", "--method", "tin"], "did you mean 'tinn'"),
        (["solve", "wave", "--recipe", "papper"], "did you mean 'paper'"),
        (["solve", "wave", "--seed", "abc"], "abc"),
        (["solve", "wave", "--seconds", "-1"], "-1"),
        (["solve", "wave", "--seconds", "nan"], "nan"),
        (["solve", "wave", "--iterations", "0"], "0"),
        (["solve", "wave", "--iterations", "2.5"], "2.5"),
        (["solve", "wave", "--target-loss", "-1"], "-1"),
        (["solve", "wave", "--sed", "1"], "--sed"),
        (["solve", "wave", "--hard", "bondary"], "did you mean 'boundary'"),
        (["solve", "wave", "--hard", "equation"], "'equation' cannot be built in"),
        (["solve"], "argument"),
        (["slove", "wave"], "slove"),
        (["reference", "wav"], "did you mean 'wave'"),
        (["reference", "wave", "--at", "x=0.3"], "x, t"),
        (["reference", "wave", "--at", "0.3,0.5"], "x=0.3,t=0.5"),
        (["reference", "wave", "--at", "x=7,t=0.5"], "x = 7"),
        (["plot", "nowhere"], "nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line_and_writes_nothing(capsys, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    assert said in fails(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_below_a_file_is_refused_before_any_work(capsys, tmp_path):
    (tmp_path / "file").write_text("in the way")
    said = fails(capsys, "solve", "wave", "--out", tmp_path / "file" / "run")
    assert "cannot write" in said
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_plot_of_an_empty_folder_or_a_corrupt_file(capsys, tmp_path):
    assert "solution.safetensors" in fails(capsys, "plot", tmp_path)
    (tmp_path / "solution.safetensors").write_bytes(b"\x00" * 100)
    assert "not a valid solution file" in fails(capsys, "plot", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["solution.safetensors"]


def test_without_arguments_the_help_is_shown(capsys):
    assert main([]) == 2
    printed = capsys.readouterr()
    assert "solve" in printed.out + printed.err


def test_help_is_no_mistake(capsys):
    assert main(["--help"]) == 0
    assert "reference" in capsys.readouterr().out


def test_an_interruption_before_a_result_is_one_line(capsys, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("tinns.cli.commands.solve_posed", interrupted)
    assert main(["solve", "wave", "--out", str(tmp_path)]) == 130
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "wave", "--seconds", "inf"],
        ["solve", "wave", "--seed", "99999999999999999999999", "--iterations", "1"],
        ["solve", "wave", "--seed", "-1", "--iterations", "1"],
        ["reference", "wave", "--out", "wave.txt"],
        ["reference", "wave", "--at", "x=0.3,x=0.4,t=0.5"],
        ["reference", "wave", "--at", "x=0.3,t=-1"],
    ],
    ids=" ".join,
)
def test_numbers_out_of_range_write_nothing(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fails(capsys, *arguments)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"tinns {tinns.__version__}"


def test_a_failed_run_writes_its_result_and_exits_with_1(tmp_path, monkeypatch, capsys):
    class Root(tinns.Problem):
        """Its gradient is infinite."""

        domain = tinns.Box(x=(0, 1), t=(0, 1))

        def equation(self, u, x, t):
            return u.t + jnp.sqrt(0.0 * u.value)

        def conditions(self):
            return [tinns.initial(0.0)]

    monkeypatch.setitem(PROBLEMS, "root", Root)
    out = tmp_path / "root"
    assert main(["solve", "root", "--iterations", "9", "--out", str(out), "--quiet"]) == 1
    assert "gradient of 'equation' is not finite" in capsys.readouterr().err
    assert json.loads((out / "result.json").read_text())["stop_detail"]
