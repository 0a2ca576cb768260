"""The code and the commands in the README and the documentation run."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tinns.cli.commands import app

ROOT = Path(__file__).parents[2]
PAGES = [
    "README.md",
    *(f"docs/{n}.md" for n in ("index", "problems", "inverse", "methods", "separation")),
]
SLOW = {"docs/index.md", "docs/problems.md"}

# Runs the blocks of a page in one namespace, with two iterations per solve and window on few points.
RUN_PAGE = """
import re, sys
from dataclasses import replace
import jax
jax.config.update("jax_disable_most_optimizations", True)
import tinns
solve, least_squares = tinns.solve, tinns.Recipe.least_squares
few = tinns.Counts(200, 40, 20)
tinns.Recipe.least_squares = lambda recipe: replace(least_squares(recipe), points=few, validation=few)
def short(*args, **kwargs):
    windows = kwargs.get("windows") or 1
    kwargs["iterations"] = 2 * (windows if isinstance(windows, int) else len(windows) - 1)
    return solve(*args, **kwargs | {"seconds": None, "progress": False})
tinns.solve = short
text = open(sys.argv[1], encoding="utf-8").read()
namespace = {"__name__": "page"}
for block in re.findall(r"```python\\n(.*?)```", text, re.DOTALL):
    line = text[: text.index(block)].count("\\n")
    exec(compile("\\n" * line + block, sys.argv[1], "exec"), namespace)
"""


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
def test_the_python_blocks_of_a_page_run(page, tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", RUN_PAGE, str(ROOT / page)],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-3000:]


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
