"""Every example runs as a reader would copy it, with fewer iterations."""

import ast
import importlib.util
from pathlib import Path

import numpy as np
import pytest

import tinns

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))

pytestmark = pytest.mark.usefixtures("quick_compilation")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_prints_what_it_found(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    solution = module.main(iterations=2)
    assert isinstance(solution, tinns.Solution)
    assert len(solution.history) == 2
    middle = {axis: np.mean(solution.domain.interval(axis)) for axis in solution.domain.axes}
    values = solution(**middle)
    values = values.values() if isinstance(values, dict) else [values]
    assert all(np.isfinite(value) for value in values)
    assert "error" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_fits_on_one_screen_and_says_what_it_shows(path):
    text = path.read_text()
    assert len(text.splitlines()) <= 50
    assert ast.get_docstring(ast.parse(text)).splitlines()[0].endswith(".")
