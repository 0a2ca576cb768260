"""The problems without recipes are those that they should be, and are recorded."""

import sys

import jax
import jax.numpy as jnp
import pytest

import untuned
from tinns import Counts, Uniform
from tinns.nn import Formula
from tinns.objective import Objective, assemble
from tinns.paper.pages.performance_page import untuned_section
from tinns.paper.records import read_folder


@pytest.mark.usefixtures("float64")
@pytest.mark.parametrize("problem", untuned.PROBLEMS, ids=lambda problem: problem.name)
def test_the_reference_satisfies_the_equation_and_the_conditions(problem):
    system = assemble(problem, Formula(problem.reference().formula))
    points = system.draw(jax.random.key(0), Counts(200, 50, 40), Uniform())
    for rows in Objective.of(system.blocks, points).residuals(system.init(jax.random.key(0))):
        assert float(jnp.max(jnp.abs(rows))) < 1e-10


@pytest.mark.long
@pytest.mark.usefixtures("quick_compilation")
def test_a_run_is_recorded_for_the_page(tmp_path, monkeypatch):
    monkeypatch.setattr(untuned, "PROBLEMS", untuned.PROBLEMS[:1])
    options = ["--iterations", "2", "--seeds", "3", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["untuned.py", *options])
    untuned.main()
    (record,) = read_folder(tmp_path)
    assert (record.problem, record.recipe, record.seed) == ("heat", "default", 3)
    assert record.iterations == 2
    assert "| heat |" in untuned_section([record])
