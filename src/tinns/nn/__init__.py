"""Networks of space whose parameters move in time, and the derivatives of what they represent."""

from tinns.nn.backbones import MLP, Backbone
from tinns.nn.constrained import Constrained
from tinns.nn.embeddings import FourierFeatures
from tinns.nn.fields import (
    Advancing,
    Field,
    LinearOutput,
    OnGrids,
    Sizable,
    SpaceTime,
    TimeInduced,
    sine_induced,
)
from tinns.nn.formula import Formula
from tinns.nn.growth import Added, Growth, Wider
from tinns.nn.modified_mlp import ModifiedMLP
from tinns.nn.piratenet import PirateNet
from tinns.nn.random_features import RandomFeatures
from tinns.nn.registry import register
from tinns.nn.resnet import ResNet
from tinns.nn.separable_field import SeparableField
from tinns.nn.separable_mlp import SeparableMLP
from tinns.nn.sum import Sum
from tinns.nn.trajectories import (
    Affine,
    HasTemporalCode,
    Hypernetwork,
    Layerwise,
    Linear,
    OneNeuron,
    Trajectory,
)
from tinns.nn.windowed import Windowed

__all__ = [
    "MLP",
    "Added",
    "Advancing",
    "Affine",
    "Backbone",
    "Constrained",
    "Field",
    "Formula",
    "FourierFeatures",
    "Growth",
    "HasTemporalCode",
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
    "SeparableField",
    "SeparableMLP",
    "Sizable",
    "SpaceTime",
    "Sum",
    "TimeInduced",
    "Trajectory",
    "Wider",
    "Windowed",
    "register",
    "sine_induced",
]
