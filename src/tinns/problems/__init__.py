"""The problems that come with the package, by name."""

from tinns._runtime.errors import unknown_name
from tinns.problem.base import Problem
from tinns.problems.allen_cahn import AllenCahn
from tinns.problems.burgers import Burgers
from tinns.problems.flow_mixing import FlowMixing
from tinns.problems.inverse_burgers import InverseBurgers
from tinns.problems.klein_gordon import KleinGordon
from tinns.problems.klein_gordon_3d import KleinGordon3D
from tinns.problems.korteweg_de_vries import KortewegDeVries
from tinns.problems.kuramoto_sivashinsky import KuramotoSivashinsky
from tinns.problems.navier_stokes_3d import NavierStokes3D
from tinns.problems.transport import Transport
from tinns.problems.wave import Wave

PROBLEMS: dict[str, type[Problem]] = {
    "burgers": Burgers,
    "allen-cahn": AllenCahn,
    "klein-gordon": KleinGordon,
    "kdv": KortewegDeVries,
    "wave": Wave,
    "kuramoto-sivashinsky": KuramotoSivashinsky,
    "flow-mixing": FlowMixing,
    "klein-gordon-3d": KleinGordon3D,
    "navier-stokes-3d": NavierStokes3D,
    "transport": Transport,
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
    "FlowMixing",
    "InverseBurgers",
    "KleinGordon",
    "KleinGordon3D",
    "KortewegDeVries",
    "KuramotoSivashinsky",
    "NavierStokes3D",
    "Transport",
    "Wave",
    "problem_named",
]
