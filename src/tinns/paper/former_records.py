"""Records of earlier versions in their present form."""

from collections.abc import Mapping
from typing import Any

from tinns._runtime.describe import settings_of
from tinns._runtime.former_names import with_present_names
from tinns.optim import AcceleratedLM

ADDED = {"solver": None, "renewal": None, "dimensionless": False}  # settings of a recipe
SIZABLE = ("TimeInduced", "SpaceTime", "SeparableField")


def in_present_form(data: Mapping[str, Any]) -> dict[str, Any]:
    """The contents of a file of this or an earlier version."""
    record = _from_cell(data) if "cell" in data else dict(data)
    settings = record.get("settings")
    if isinstance(settings, dict) and settings.get("class") == "Recipe":
        record["settings"] = _of_recipe(settings)
    return record


def _from_cell(data: Mapping[str, Any]) -> dict[str, Any]:
    """A cell of a table, whose identity and result were nested."""
    cell, result = data["cell"], data["result"]
    names = {name: cell[name] for name in ("problem", "method", "seed")}
    outer = {name: data[name] for name in ("status", "reason", "profile", "curve")}
    settings = result.get("settings") or data["settings"]
    recipe = cell["recipe"] or cell["method"]
    return {**result, **names, **outer, "recipe": recipe, "settings": settings}


def _of_recipe(former: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a recipe, whose optimiser could be what is a solver now."""
    settings = {**ADDED, **with_present_names(dict(former))}
    if "informed" in settings:
        settings["fit_initial_layer"] = settings.pop("informed")
    if settings["optimizer"]["class"] == "FrozenFeatures":
        settings["solver"] = settings["optimizer"]
        settings["optimizer"] = settings_of(AcceleratedLM())
    if "field" in settings:
        settings["field"] = _with_sizes(settings["field"])
    if settings.get("redraw") is not None:
        settings["redraw"] = {"crowded": False, **settings["redraw"]}
    return settings


def _with_sizes(field: Mapping[str, Any]) -> dict[str, Any]:
    """A field, to which the sizes of its outputs were added."""
    return {"sizes": [], **field} if field["class"] in SIZABLE else dict(field)
