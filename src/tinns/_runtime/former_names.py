"""Names of earlier versions and their successors, for scripts, solution files and records."""

from typing import Any

FORMER_NAMES = {
    "Algorithm1": "PaperDamping",
    "LevenbergMarquardt": "PaperLM",
    "Separable": "SeparableField",
    "SeparableSpace": "SeparableMLP",
    "Separation": "FrozenFeatures",
    "Unknown": "Trainable",
}


def present_name(name: str) -> str:
    """The name that a class has now."""
    return FORMER_NAMES.get(name, name)


def with_present_names(data: Any) -> Any:
    """Plain data that describes objects, as `settings_of` gives it, with the present names."""
    if isinstance(data, list):
        return [with_present_names(part) for part in data]
    if not isinstance(data, dict):
        return data
    renamed = {key: with_present_names(part) for key, part in data.items()}
    return renamed | {"class": present_name(data["class"])} if "class" in data else renamed
