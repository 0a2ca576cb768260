"""The training loop and what belongs to it: stopping, history, progress."""

from tinns.training.history import History
from tinns.training.loop import Trained, train

__all__ = ["History", "Trained", "train"]
