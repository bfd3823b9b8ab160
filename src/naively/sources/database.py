"""Database files: the rows of one table of each, whatever the engine that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naively.sources.reader import Part, Progress, widest


@dataclass(frozen=True)
class Table:
    """A table of a database file: its name in SQL, its rows, and the type of each column."""

    part: Part
    sql: str
    rows: int
    types: Mapping[str, str]


class DatabaseReader:
    """Reader of a table of some database files; a subclass opens the tables (`tables`) and reads them (`batches`)."""

    live = False

    @cached_property
    def tables(self) -> list[Table]:
        """The table of each file."""
        raise NotImplementedError

    def batches(self, table: Table, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of a table as batches of Arrow."""
        raise NotImplementedError

    @cached_property
    def columns(self) -> Mapping[str, str]:
        return widest([(table.part.path, table.types) for table in self.tables])

    @cached_property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all rows."""
        before = 0
        for table in self.tables:
            rows, size = 0, table.part.file.size
            for batch in self.batches(table, columns):
                rows += len(batch)
                progress.reached(before + size * rows // max(1, table.rows))
                yield batch
            before += size
            progress.reached(before)
