"""Cells: what identifies them, and the settings with which they run."""

import dataclasses

from bench_records import PAPER, SMOKE, cell

import tinns
from tinns.paper import cells as module
from tinns.paper.cells import cell_of, cells_of, current_settings, fit_sizes, recipe_of, shrunk
from tinns.paper.profiles import profile_named
from tinns.paper.tables import COPINN, OUR_TINN, TABLES, Row, Table
from tinns.recipes import RECIPES


def test_different_cells_have_different_files():
    names = {
        cell().name,
        cell(seed=1).name,
        cell(recipe=None).name,
        cell(recipe="fast").name,
        cell("mlp").name,
        cell(problem="wave").name,
        cell(precision="float32").name,
        cell(budget="smoke").name,
    }
    assert len(names) == 8
    assert cell(seed=3).group == cell(seed=4).group


def test_tables_share_cells():
    main = set(cells_of(TABLES["main"], (0,), PAPER))
    for name in ("convergence", "speed"):
        assert set(cells_of(TABLES[name], (0,), PAPER)) <= main
    assert set(cells_of(TABLES["lm-ablation"], (0,), PAPER)) & main


def test_the_precision_that_a_method_uses_anyway_gives_the_same_cell():
    double, single = (Row("TINN", "tinn", "fast", p) for p in ("float64", "float32"))
    assert cell_of(double, "burgers", 0, SMOKE) == cell_of(OUR_TINN, "burgers", 0, SMOKE)
    assert cell_of(single, "burgers", 0, SMOKE).precision == "float32"
    unknown = dataclasses.replace(COPINN, method="no-such", precision="float32")
    assert cell_of(unknown, "burgers", 0, SMOKE).precision == "float32"


def test_a_row_can_be_restricted_to_some_problems():
    one = Row("b", "mlp", problems=("wave",))
    table = Table("t", "T", ("burgers", "wave"), (Row("a", "tinn", "fast"), one))
    found = [(c.problem, c.method, c.seed) for c in cells_of(table, (0, 1), SMOKE)]
    assert found == [
        ("burgers", "tinn", 0),
        ("burgers", "tinn", 1),
        ("wave", "tinn", 0),
        ("wave", "tinn", 1),
        ("wave", "mlp", 0),
        ("wave", "mlp", 1),
    ]


def test_settings_of_a_cell_do_not_include_its_limits():
    settings = current_settings(cell(), profile_named("equal-time", 7.0))
    assert settings == current_settings(cell(), PAPER)
    assert "stop" not in settings
    assert settings["points"]["interior"] == RECIPES["burgers"]["paper"].points.interior
    assert settings != current_settings(cell(), SMOKE)
    assert current_settings(cell("no-such-method"), PAPER) is None
    assert current_settings(cell(problem="no-such-problem"), PAPER) is None


def test_the_rank_one_diagnostic_is_a_cell_with_fewer_fits_in_smoke_runs():
    fits = cell("rank-one", None, problem="kdv")
    assert current_settings(fits, PAPER) == {"times": 101, "points": 1024}
    assert fit_sizes(SMOKE) == (3, 64)


def test_smoke_runs_have_few_points_layers_and_windows():
    small = shrunk(tinns.Recipe(windows=10))
    assert small.points == small.validation == module.SMOKE_POINTS
    assert (small.windows, shrunk(tinns.Recipe()).windows) == (2, 1)
    assert (small.optimizer, small.sampler) == (tinns.Recipe().optimizer, tinns.Recipe().sampler)
    assert small.redraw.ladder == (1,)
    assert recipe_of(cell("piratenet", None), SMOKE)[1].field.network.blocks == 1
    deep = tinns.Recipe(tinns.TimeInduced(tinns.MLP((9,) * 5), tinns.Linear()))
    assert shrunk(deep).field == tinns.TimeInduced(tinns.MLP((9, 9)), tinns.Linear())
    on_grid = tinns.Recipe(tinns.SeparableField(), tinns.Adam(), sampler=tinns.TensorGrid(256))
    assert shrunk(on_grid).sampler == tinns.TensorGrid(module.SMOKE_PER_AXIS)


def test_limits_come_from_the_profile():
    name, limited = recipe_of(cell(), profile_named("equal-time", 7.0))
    assert name == "paper"
    assert (limited.stop.seconds, limited.stop.iterations) == (7.0, None)
    assert limited.points == RECIPES["burgers"]["paper"].points
    assert recipe_of(cell(), PAPER) == ("paper", RECIPES["burgers"]["paper"])
    smoke = recipe_of(cell(), SMOKE)[1]
    assert (smoke.stop.seconds, smoke.stop.iterations) == (None, 2)
