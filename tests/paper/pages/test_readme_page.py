"""The README's table: the recipe of lowest error beside the paper's figures."""

from bench_records import cell, made_up

from tinns.paper.pages.checkout import COMMAND, Checkout
from tinns.paper.pages.readme_page import readme_page, results
from tinns.paper.published import main_figures
from tinns.paper.records import write_record

START, END = f"<!-- results: {COMMAND} -->", "<!-- /results -->"


def row(text, problem):
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {problem} |")]
    return [part.strip() for part in line.strip("|").split("|")]


def test_each_problem_of_the_main_table_has_a_row():
    runs = [
        made_up(cell(seed=0), 2e-6),
        made_up(cell(seed=1), 4e-6),
        made_up(cell(recipe="fast"), 1e-8),
        made_up(cell(recipe="accurate"), 1e-9, parameters=2225),
        made_up(cell(recipe="accurate"), 1e-12, device="CPU"),  # fewer runs than on the GPU
    ]
    text = results(runs)
    assert row(text, "burgers") == [
        "burgers",
        "6.89e-07",
        "0.75",
        "3.00e-06",
        "10, 2",
        "**1.00e-09**",
        "10, 1",
        "`accurate`",
        "1145, 2225",
    ]
    assert row(text, "wave")[3:] == ["–"] * 5 + [""]
    assert all(row(text, problem) for problem in main_figures())
    assert "one GPU" in text


def test_the_caption_states_short_runs_and_the_demo():
    runs = [
        made_up(cell(seed=seed), error, iterations=3000, seconds=6.0)
        for seed, error in enumerate((1e-6, 2e-6, 9e-6))
    ]
    demo = made_up(cell(recipe="fast"), 3e-6, device="CPU (x86_64)", seconds=60.0)
    text = results([*runs, demo])
    assert "the median error is 2.0e-06 over 3 seeds, at 2.00 ms per iteration" in text
    assert "on two CPU cores reached 3.0e-06 in 60 s" in text
    assert "median" not in results([demo])


def test_only_the_block_between_its_marks_changes(tmp_path):
    (tmp_path / "results/runs").mkdir(parents=True)
    before = f"above\n\n{START}\nolder\n{END}\nbelow\n"
    (tmp_path / "README.md").write_text(before)
    write_record(tmp_path / "results/runs/run.json", made_up(cell(), 5e-6))
    text = readme_page(Checkout(tmp_path))
    assert text.startswith(f"above\n\n{START}\n| problem |")
    assert text.endswith(f"\n{END}\nbelow\n")
    assert "5.00e-06" in text
