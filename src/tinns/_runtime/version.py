"""The version of the package, read here by the build too."""

__version__ = "0.1.0"
