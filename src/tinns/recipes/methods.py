"""Methods: named ways to solve a problem, as changes of its recipe."""

from dataclasses import replace
from typing import Any

from tinns._runtime.errors import unknown_name
from tinns.problem.base import Problem
from tinns.recipes.baselines import BASELINES
from tinns.recipes.method import Method
from tinns.recipes.recipe import Recipe
from tinns.recipes.variants import VARIANTS

METHODS: dict[str, Method] = VARIANTS | BASELINES

__all__ = ["BASELINES", "METHODS", "Method", "apply_method"]


def apply_method(name: str, problem: Problem, recipe: Recipe) -> Recipe:
    """The recipe for a problem as the method called `name` would have it.

    The method's network sees scaled coordinates where the recipe's network does.
    """
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    changed = METHODS[name].change(problem, recipe)
    field: Any = changed.field
    if not hasattr(field, "scaled"):
        return changed
    scaled = bool(getattr(recipe.field, "scaled", False))
    return changed.replace(field=replace(field, scaled=scaled))
