"""Networks of space whose parameters move in time, and the derivatives of what they represent."""

from tinns.fields.backbones import MLP, Backbone
from tinns.fields.constrained import Constrained
from tinns.fields.embeddings import FourierFeatures
from tinns.fields.field import (
    Advancing,
    Field,
    LinearOutput,
    OnGrids,
    SpaceTime,
    TimeInduced,
    sine_induced,
)
from tinns.fields.formula import Formula
from tinns.fields.gated import ModifiedMLP
from tinns.fields.piratenet import PirateNet
from tinns.fields.random_features import RandomFeatures
from tinns.fields.residual import ResNet
from tinns.fields.separable import Separable
from tinns.fields.separable_space import SeparableSpace
from tinns.fields.trajectory import Hypernetwork, Layerwise, Linear, OneNeuron, Trajectory
from tinns.fields.windowed import Windowed

__all__ = [
    "MLP",
    "Advancing",
    "Backbone",
    "Constrained",
    "Field",
    "Formula",
    "FourierFeatures",
    "Hypernetwork",
    "Layerwise",
    "Linear",
    "LinearOutput",
    "ModifiedMLP",
    "OnGrids",
    "OneNeuron",
    "PirateNet",
    "RandomFeatures",
    "ResNet",
    "Separable",
    "SeparableSpace",
    "SpaceTime",
    "TimeInduced",
    "Trajectory",
    "Windowed",
    "sine_induced",
]
