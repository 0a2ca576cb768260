"""Recipes: the settings of a run, presets, and the tuned settings of every problem."""

from tinns.recipes.named import RECIPES, recipe_for, recipes_for
from tinns.recipes.presets import ACCURATE, PAPER
from tinns.recipes.recipe import Recipe

__all__ = ["ACCURATE", "PAPER", "RECIPES", "Recipe", "recipe_for", "recipes_for"]
