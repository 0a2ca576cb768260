"""The command line."""

from tinns.cli.commands import main

__all__ = ["main"]
