"""Exact and classical solutions u* that the networks are scored against."""

from tinns.reference.allen_cahn_spectral import allen_cahn
from tinns.reference.burgers_exact import burgers
from tinns.reference.kdv_spectral import korteweg_de_vries
from tinns.reference.kuramoto_sivashinsky_spectral import kuramoto_sivashinsky
from tinns.reference.reference import Reference, exact

__all__ = [
    "Reference",
    "allen_cahn",
    "burgers",
    "exact",
    "korteweg_de_vries",
    "kuramoto_sivashinsky",
]
