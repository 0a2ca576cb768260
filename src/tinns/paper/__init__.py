"""Reproduction of the paper: its tables, its figures, its diagnostics and the recorded runs."""

from tinns.paper.cells import Cell
from tinns.paper.grouping import Group
from tinns.paper.profiles import Profile, profile_named
from tinns.paper.records import Record
from tinns.paper.store import Store
from tinns.paper.tables import TABLES, Row, Table, table_named

__all__ = [
    "TABLES",
    "Cell",
    "Group",
    "Profile",
    "Record",
    "Row",
    "Store",
    "Table",
    "profile_named",
    "table_named",
]
