"""What a method is: a description, and a change of the recipe a problem would have."""

from collections.abc import Callable
from typing import NamedTuple

from tinns.problem.base import Problem
from tinns.recipes.recipe import Recipe

Change = Callable[[Problem, Recipe], Recipe]


class Method(NamedTuple):
    """A named way to solve problems."""

    description: str
    change: Change
