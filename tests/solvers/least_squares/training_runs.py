"""Training as these tests call it: a system and a recipe."""

from tinns.solvers import solve_task


def train(system, recipe, seed=0, measure=None, reporter=None):
    """The outcome of training the problem of a system by a recipe, in one window."""
    task = recipe.task(system.problem, seed, measure, reporter)
    return solve_task(recipe.least_squares(), task)
