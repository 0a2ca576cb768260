import pytest

from tinns.paper.store import Store


@pytest.fixture
def store(tmp_path):
    """An empty folder of cells."""
    folder = tmp_path / "cells"
    folder.mkdir()
    return Store(folder)
