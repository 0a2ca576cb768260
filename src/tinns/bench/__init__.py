"""The tables of the paper, each one command: our numbers beside its own."""

from tinns.bench.cells import Cell, Profile, profile_named
from tinns.bench.store import Store
from tinns.bench.tables import TABLES, Row, Table, table_named

__all__ = ["TABLES", "Cell", "Profile", "Row", "Store", "Table", "profile_named", "table_named"]
