"""Problems as users would write them, without recipes: a test of the default settings.

Each has an exact or a classical solution, so that errors can be computed.
"""

from tinns.paper.untuned_problems.advection_diffusion import AdvectionDiffusion
from tinns.paper.untuned_problems.beam import Beam
from tinns.paper.untuned_problems.black_scholes import BlackScholes
from tinns.paper.untuned_problems.brusselator import Brusselator
from tinns.paper.untuned_problems.burgers_2d import Burgers2D
from tinns.paper.untuned_problems.convection import Convection
from tinns.paper.untuned_problems.cooling_plate import CoolingPlate
from tinns.paper.untuned_problems.fisher_kpp import FisherKPP
from tinns.paper.untuned_problems.gray_scott import GrayScott
from tinns.paper.untuned_problems.harmonic_oscillator import HarmonicOscillator
from tinns.paper.untuned_problems.heat import Heat
from tinns.paper.untuned_problems.nonlinear_schroedinger import NonlinearSchroedinger
from tinns.paper.untuned_problems.reaction import Reaction
from tinns.paper.untuned_problems.sine_gordon import SineGordon
from tinns.paper.untuned_problems.taylor_green import TaylorGreen
from tinns.paper.untuned_problems.telegraph import Telegraph
from tinns.paper.untuned_problems.two_solitons import TwoSolitons
from tinns.problem import Problem

UNTUNED: dict[str, type[Problem]] = {
    problem.name: problem
    for problem in (
        Heat,
        FisherKPP,
        SineGordon,
        Convection,
        NonlinearSchroedinger,
        TwoSolitons,
        Beam,
        AdvectionDiffusion,
        Telegraph,
        BlackScholes,
        HarmonicOscillator,
        Burgers2D,
        CoolingPlate,
        TaylorGreen,
        Reaction,
        Brusselator,
        GrayScott,
    )
}

__all__ = [
    "UNTUNED",
    "AdvectionDiffusion",
    "Beam",
    "BlackScholes",
    "Brusselator",
    "Burgers2D",
    "Convection",
    "CoolingPlate",
    "FisherKPP",
    "GrayScott",
    "HarmonicOscillator",
    "Heat",
    "NonlinearSchroedinger",
    "Reaction",
    "SineGordon",
    "TaylorGreen",
    "Telegraph",
    "TwoSolitons",
]
