"""The code and the commands in the README and the documentation run."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tinns
from tinns.cli.commands import app

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    *(
        f"docs/{n}.md"
        for n in ("index", "problems", "accuracy", "inverse", "methods", "separation")
    ),
]
SLOW = {"README.md", "docs/accuracy.md", "docs/index.md", "docs/problems.md"}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)


def commands(page: str) -> list[str]:
    lines = [line for block in blocks(page, "") for line in block.splitlines()]
    inline = re.findall(r"`(tinns [a-z][^`]*)`", (ROOT / page).read_text())
    return [line for line in [*lines, *inline] if line.startswith("tinns ")]


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=pytest.mark.long) if p in SLOW else p for p in PAGES],
)
def test_the_python_blocks_of_a_page_run(page, tmp_path, monkeypatch, quick_compilation):
    """In one namespace, with two iterations per solve and time window, on few points.

    A search to a tolerance has next to no time.
    """
    solve, least_squares = tinns.solve, tinns.Recipe.least_squares
    few = tinns.Counts(200, 40, 20)

    def briefly(*arguments, **settings):
        if "tolerance" in settings:
            return solve(*arguments, **settings | {"seconds": 0.05, "progress": False})
        windows = settings.get("windows") or 1
        if isinstance(windows, int):
            windows = settings["windows"] = min(windows, 2)
        count = windows if isinstance(windows, int) else len(windows) - 1
        return solve(
            *arguments, **settings | {"iterations": 2 * count, "seconds": None, "progress": False}
        )

    def on_few_points(recipe):
        return replace(least_squares(recipe), points=few, validation=few)

    monkeypatch.setattr(tinns, "solve", briefly)
    monkeypatch.setattr(tinns.Recipe, "least_squares", on_few_points)
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    namespace = {"__name__": "page"}
    for block in blocks(page, "python"):
        line = text[: text.index(block)].count("\n")
        exec(compile("\n" * line + block, page, "exec"), namespace)


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_exist(page):
    for line in commands(page):
        command = line.split()[1]
        shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"})
        assert shown.exit_code == 0, line
        for option in re.findall(r"--[a-z-]+", line):
            assert option in shown.output, line


def test_a_problem_takes_at_most_fifteen_lines():
    (code,) = [block for block in blocks("README.md", "python") if "class Heat" in block]
    body = code[code.index("class Heat") : code.index("print(")]
    assert len([line for line in body.splitlines() if line.strip()]) <= 15
