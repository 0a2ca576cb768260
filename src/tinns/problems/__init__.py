"""The problems that come with the package, by name."""

from tinns.errors import unknown_name
from tinns.problem import Problem
from tinns.problems.allen_cahn import AllenCahn
from tinns.problems.burgers import Burgers
from tinns.problems.inverse_burgers import InverseBurgers
from tinns.problems.klein_gordon import KleinGordon
from tinns.problems.korteweg_de_vries import KortewegDeVries
from tinns.problems.wave import Wave

PROBLEMS: dict[str, type[Problem]] = {
    "burgers": Burgers,
    "allen-cahn": AllenCahn,
    "klein-gordon": KleinGordon,
    "kdv": KortewegDeVries,
    "wave": Wave,
    "inverse-burgers": InverseBurgers,
}


def problem_named(name: str) -> Problem:
    """The problem called `name`, with its standard coefficients."""
    if name not in PROBLEMS:
        raise unknown_name("problem", name, PROBLEMS)
    return PROBLEMS[name]()


__all__ = [
    "PROBLEMS",
    "AllenCahn",
    "Burgers",
    "InverseBurgers",
    "KleinGordon",
    "KortewegDeVries",
    "Wave",
    "problem_named",
]
