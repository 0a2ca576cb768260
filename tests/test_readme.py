"""What the README says is true: its code runs, its table is what the records give."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_table_is_made_from_the_records():
    command = [sys.executable, str(ROOT / "benchmarks" / "readme_table.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


@pytest.mark.usefixtures("quick_compilation")
def test_the_heat_equation_runs_as_printed(capsys):
    (code,) = [block for block in BLOCKS if "class Heat" in block]
    exec(code.replace("iterations=50", "iterations=2"), {})
    assert 0 < float(capsys.readouterr().out) < 1.5


def test_a_problem_takes_at_most_fifteen_lines():
    (code,) = [block for block in BLOCKS if "class Heat" in block]
    body = code[code.index("class Heat") : code.index("print(")]
    assert len([line for line in body.splitlines() if line.strip()]) <= 15
