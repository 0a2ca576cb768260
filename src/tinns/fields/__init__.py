"""Networks of space whose parameters move in time, and the derivatives of what they represent."""

from tinns.fields.backbones import MLP, Backbone
from tinns.fields.constrained import Constrained
from tinns.fields.field import Field, Formula, SpaceTime, TimeInduced, sine_induced
from tinns.fields.random_features import RandomFeatures
from tinns.fields.trajectory import Hypernetwork, Layerwise, Linear, OneNeuron, Trajectory
from tinns.fields.windowed import Windowed

__all__ = [
    "MLP",
    "Backbone",
    "Constrained",
    "Field",
    "Formula",
    "Hypernetwork",
    "Layerwise",
    "Linear",
    "OneNeuron",
    "RandomFeatures",
    "SpaceTime",
    "TimeInduced",
    "Trajectory",
    "Windowed",
    "sine_induced",
]
