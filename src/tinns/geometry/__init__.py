"""Domains, their regions, and how points are drawn there."""

from tinns.geometry.batch import Batch, Span
from tinns.geometry.box import Box, Face
from tinns.geometry.domain import TIME, Coordinates, Domain, MultiIndex, Sampler
from tinns.geometry.grading import Edge, graded
from tinns.geometry.regions import (
    Boundary,
    HasEdges,
    Initial,
    Interior,
    LowerFace,
    Observations,
    Region,
)
from tinns.geometry.samplers import Counts, QuasiRandom, TensorGrid, Uniform, spans_grids

__all__ = [
    "TIME",
    "Batch",
    "Boundary",
    "Box",
    "Coordinates",
    "Counts",
    "Domain",
    "Edge",
    "Face",
    "HasEdges",
    "Initial",
    "Interior",
    "LowerFace",
    "MultiIndex",
    "Observations",
    "QuasiRandom",
    "Region",
    "Sampler",
    "Span",
    "TensorGrid",
    "Uniform",
    "graded",
    "spans_grids",
]
