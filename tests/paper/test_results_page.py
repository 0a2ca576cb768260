"""The page of results is made from the cells, and its sentences are true of them."""

import subprocess
import sys
from pathlib import Path

import pytest
from bench_records import PAPER, cell, failed, made_up

import results_page
from tinns.paper.cells import profile_named
from tinns.paper.published import printed, published
from tinns.paper.readings import reading
from tinns.paper.summary import groups_of
from tinns.paper.tables import TABLES

ROOT = Path(__file__).resolve().parents[2]


def section(page, name):
    return page.split(f"\n## {name}\n")[1].split("\n## ")[0]


def put(store, record):
    store.write(cell(**record["cell"]), record)


def read(name, store):
    return reading(TABLES[name], groups_of(TABLES[name], PAPER, store), PAPER)


def test_the_page_is_up_to_date():
    command = [sys.executable, str(ROOT / "benchmarks" / "results_page.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def test_without_cells_every_table_says_so(store):
    page = results_page.page(store.folder)
    for name, table in TABLES.items():
        assert "Nothing is recorded yet" in section(page, name)
        assert all(note in section(page, name) for note in table.notes)


def test_cells_stand_in_their_tables_with_hardware_and_versions(store):
    most = (("tinn", "paper", 5e-7), ("tinn", "fast", 2e-9), ("pinn", None, 3e-2))
    for method, recipe, error in most:
        put(store, made_up(cell(method, recipe), error))
    smoke = profile_named("smoke")
    put(store, made_up(cell("mlp", budget="smoke"), 0.5, smoke))
    minute = profile_named("equal-time", 60.0)
    for method, recipe, error in most:
        put(store, made_up(cell(method, recipe, budget=minute.budget), error, minute))
    page = results_page.page(store.folder)
    main = section(page, "main")
    assert "**Profile paper.**" in main
    assert "**Profile equal-time-60s.**" in main
    assert "5.00e-07" in main
    assert "on GPU" in main
    assert "Made with jax 0.10, tinns 0.1." in main
    assert "smoke" not in main
    assert "Nothing is recorded yet" in section(page, "transport")


def test_few_rows_that_another_table_has_too_make_no_table(store):
    put(store, made_up(cell(), 5e-7))
    assert "Nothing is recorded yet" in section(results_page.page(store.folder), "trajectory-forms")
    put(store, made_up(cell("tinn-linear"), 5e-7))
    assert "5.00e-07" in section(results_page.page(store.folder), "trajectory-forms")


def test_pictures_of_the_page_are_drawn(store, tmp_path):
    for problem, error in (("burgers", 5e-7), ("wave", 1e-5)):
        for method, recipe in (("tinn", "paper"), ("tinn", "fast"), ("pinn", None)):
            put(store, made_up(cell(method, recipe, problem=problem), error))
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "old.png").write_text("")
    results_page.draw(store.folder, pictures)
    page = results_page.page(store.folder)
    linked = {name.split(".png")[0] for name in page.split("images/results/")[1:]}
    assert {path.stem for path in pictures.iterdir()} == linked
    assert "main-paper" in linked


def test_every_linked_picture_is_there():
    page = results_page.PAGE.read_text()
    for name in (part.split(")")[0] for part in page.split("(images/results/")[1:]):
        assert (results_page.PICTURES / name).exists(), name


def test_cells_of_settings_that_have_changed_stay_on_the_page(store):
    for method, recipe in (("tinn", "fast"), ("pinn", None)):
        put(store, made_up(cell(method, recipe), 2e-4))
    put(store, made_up(cell(), 5e-7, settings={"older": True}))
    assert "5.00e-07" in section(results_page.page(store.folder), "main")


def test_the_sentence_names_winners_and_what_is_far_from_the_paper(store):
    tinn, linear = (printed("trajectory-forms", "burgers", r)["error"] for r in ("TINN", "linear"))
    put(store, made_up(cell(), 3 * tinn))
    put(store, made_up(cell("tinn-linear"), linear / 4))
    told = read("trajectory-forms", store)
    winner = "linear" if linear / 4 < 3 * tinn else "layer-wise (TINN)"
    assert f"Lowest error: {winner} (burgers [2 of 3 run])." in told
    assert "In the paper: TINN (burgers)." in told
    assert "At least twice the paper's error: layer-wise (TINN) (burgers ×3)." in told
    assert "At most half of it: linear (burgers ÷4)." in told
    put(store, failed(cell("tinn-one-neuron")))
    assert f"Lowest error: {winner} (burgers)." in read("trajectory-forms", store)


def test_sentences_of_other_tables_count_what_was_reached(store):
    put(store, made_up(cell(), 1e-6))
    put(store, made_up(cell("piratenet", None), 2e-6))
    told = read("convergence", store)
    # The paper's three errors and our PirateNet's are all above 1e-6.
    assert "TINN, Algorithm 1: 4 of 4, the last of them after 6.85 s" in told
    assert "TINN, accelerated: 0 of 4" in told
    speed = read("speed", store)
    assert "TINN, Algorithm 1 on burgers: 2 times" in speed
    assert "10.55 on burgers, 2.3 on allen-cahn" in speed


def test_shares_are_compared_in_percentage_points(store):
    papers = {g: e["share"] for g, e in published()["singular-values"]["kdv"].items()}
    shares = {g: {"whole": s - 0.02, "centred": s + 0.01} for g, s in papers.items()}
    fits = cell("rank-one", None, 0, "kdv")
    put(store, made_up(fits, result={"shares": shares, "relative_l2": None}, curve=[]))
    assert "2.0 percentage points" in read("singular-values", store)
    assert "1.0 about the mean" in read("singular-values", store)


@pytest.mark.parametrize("name", TABLES)
def test_every_sentence_can_be_said_of_nothing_and_of_failures(name, store):
    assert "{" not in read(name, store)
    table = TABLES[name]
    row = table.rows[0]
    put(store, failed(cell(row.method, row.recipe, problem=table.problems[0])))
    assert "{" not in read(name, store)
