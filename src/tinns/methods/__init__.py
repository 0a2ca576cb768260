"""Methods: named ways to solve a problem, as changes of its recipe."""

from tinns.errors import unknown_name
from tinns.methods.baselines import BASELINES
from tinns.methods.registry import Method
from tinns.methods.variants import VARIANTS
from tinns.problem import Problem
from tinns.recipe import Recipe

METHODS: dict[str, Method] = VARIANTS | BASELINES

__all__ = ["METHODS", "Method", "apply_method"]


def apply_method(name: str, problem: Problem, recipe: Recipe) -> Recipe:
    """The recipe for a problem as the method called `name` would have it."""
    if name not in METHODS:
        raise unknown_name("method", name, METHODS)
    return METHODS[name].change(problem, recipe)
