"""Exact and classical solutions u* that the networks are scored against."""

from tinns.problem.reference import Reference, exact
from tinns.problems.references.allen_cahn_spectral import allen_cahn
from tinns.problems.references.burgers_exact import burgers
from tinns.problems.references.kdv_spectral import korteweg_de_vries
from tinns.problems.references.kuramoto_sivashinsky_spectral import kuramoto_sivashinsky

__all__ = [
    "Reference",
    "allen_cahn",
    "burgers",
    "exact",
    "korteweg_de_vries",
    "kuramoto_sivashinsky",
]
