"""Which recipes a problem has, by name."""

from collections.abc import Mapping

from tinns._runtime.errors import UserError, unknown_name
from tinns.problem import Problem
from tinns.problems import PROBLEMS
from tinns.recipes import (
    allen_cahn_recipes,
    burgers_recipes,
    flow_mixing_recipes,
    inverse_burgers_recipes,
    klein_gordon_3d_recipes,
    klein_gordon_recipes,
    korteweg_de_vries_recipes,
    kuramoto_sivashinsky_recipes,
    navier_stokes_3d_recipes,
    transport_recipes,
    wave_recipes,
)
from tinns.recipes.recipe import Recipe

RECIPES: dict[str, Mapping[str, Recipe]] = {
    "burgers": burgers_recipes.RECIPES,
    "allen-cahn": allen_cahn_recipes.RECIPES,
    "klein-gordon": klein_gordon_recipes.RECIPES,
    "kdv": korteweg_de_vries_recipes.RECIPES,
    "wave": wave_recipes.RECIPES,
    "kuramoto-sivashinsky": kuramoto_sivashinsky_recipes.RECIPES,
    "flow-mixing": flow_mixing_recipes.RECIPES,
    "klein-gordon-3d": klein_gordon_3d_recipes.RECIPES,
    "navier-stokes-3d": navier_stokes_3d_recipes.RECIPES,
    "transport": transport_recipes.RECIPES,
    "inverse-burgers": inverse_burgers_recipes.RECIPES,
}


def recipes_for(problem: Problem) -> Mapping[str, Recipe]:
    """The recipes of a problem: those that its class declares, or those of the package.

    A class of your own that shares only the name of a problem of the package has none of these.
    """
    if problem.recipes:
        return problem.recipes
    names = {kind: name for name, kind in PROBLEMS.items()}
    known = (names[kind] for kind in type(problem).__mro__ if kind in names)
    return RECIPES.get(next(known, ""), {})


def recipe_for(problem: Problem, name: str) -> Recipe:
    """The recipe of a problem called `name`."""
    recipes = recipes_for(problem)
    if not recipes:
        raise UserError(
            f"{problem.name} has no recipe called '{name}': it has no named recipes; leave "
            "`recipe` out for the default one, or give a tinns.Recipe(...)"
        )
    if name not in recipes:
        raise unknown_name(f"recipe for {problem.name}", name, recipes)
    return recipes[name]
