"""The page of the paper's tables is generated from the recorded cells."""

from pathlib import Path

import pytest
from bench_records import SMOKE, cell, put

from tinns.paper.pages.checkout import Checkout
from tinns.paper.pages.results_page import draw_tables, results_of
from tinns.paper.profiles import profile_named
from tinns.paper.tables import TABLES

CHECKOUT = Checkout(Path(__file__).parents[3])
MOST = (("tinn", "paper", 5e-7), ("tinn", "fast", 2e-9), ("pinn", None, 3e-2))


def section(page, name):
    return page.split(f"\n## {name}\n")[1].split("\n## ")[0]


def test_without_cells_every_table_says_so(store):
    page = results_of(store)
    for name, table in TABLES.items():
        assert "No runs are recorded yet" in section(page, name)
        assert all(note in section(page, name) for note in table.notes)


def test_cells_are_in_their_tables_with_hardware_and_versions(store):
    minute = profile_named("equal-time", 60.0)
    for method, recipe, error in MOST:
        put(store, cell(method, recipe), error)
        put(store, cell(method, recipe, budget=minute.budget), error, profile=minute)
    put(store, cell("mlp", budget="smoke"), 0.5, profile=SMOKE)
    page = results_of(store)
    main = section(page, "main")
    assert "**Profile paper.**" in main
    assert "**Profile equal-time-60s.**" in main
    assert main.index("Profile paper") < main.index("Profile equal-time-60s")
    assert "5.00e-07" in main
    assert "on GPU" in main
    assert "Versions: jax 0.10, tinns 0.1." in main
    assert "smoke" not in main
    assert "No runs are recorded yet" in section(page, "transport")


def test_a_few_rows_of_another_table_do_not_make_a_table(store):
    put(store, cell(), 5e-7)
    assert "No runs are recorded yet" in section(results_of(store), "trajectory-forms")
    put(store, cell("tinn-linear"), 5e-7)
    assert "5.00e-07" in section(results_of(store), "trajectory-forms")


def test_pictures_of_the_page_are_drawn(store, tmp_path):
    for problem, error in (("burgers", 5e-7), ("wave", 1e-5)):
        for method, recipe, _ in MOST:
            put(store, cell(method, recipe, problem=problem), error)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "old.png").write_text("")
    drawn = draw_tables(store, pictures)
    linked = {name.split(".png")[0] for name in results_of(store).split("images/results/")[1:]}
    assert {path.stem for path in pictures.iterdir()} == linked
    assert {path.stem for path in drawn} == linked
    assert "main-paper" in linked


def test_cells_with_earlier_settings_stay_on_the_page(store):
    for method, recipe in (("tinn", "fast"), ("pinn", None)):
        put(store, cell(method, recipe), 2e-4)
    put(store, cell(), 5e-7, settings={"older": True})
    assert "5.00e-07" in section(results_of(store), "main")


def test_remarks_next_to_the_cells_are_on_the_page(store):
    store.folder.with_name("remarks.md").write_text("One fact.\n")
    assert "\n\nOne fact.\n\n## main" in results_of(store)


def test_errors_of_this_repository_are_those_of_the_cells():
    """Every mean in the main table agrees with the files of its cells."""
    labels = {row.label: row for row in TABLES["main"].rows}
    main = section((CHECKOUT.root / "docs/results.md").read_text(), "main")
    compared = 0
    for line in main.splitlines():
        problem, label, error, *_ = [part.strip(" *") for part in f"{line}||||"[1:].split("|")]
        if label not in labels or error == "–":
            continue
        row = labels[label]
        records = CHECKOUT.store.seeds(
            cell(row.method, row.recipe, problem=problem, budget="equal-time-60s")
        )
        errors = [record.relative_l2 for record in records if record.is_done]
        mean = float(error.split(" ± ")[0])
        assert mean == pytest.approx(sum(errors) / len(errors), rel=5e-3)
        compared += 1
    assert compared == 20
