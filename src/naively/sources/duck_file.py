"""DuckDB files: the rows of a table or view of a database file, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naively.sources.batches import plain_columns
from naively.sources.duck import Engine, failures, identifier, literal
from naively.sources.errors import SourceError, plain
from naively.sources.formats import damaged
from naively.sources.reader import Part, Progress, widest
from naively.sources.tables import chosen

_TABLES = """
select schema_name, table_name from duckdb_tables() where database_name = ? and not internal union all
select schema_name, view_name from duckdb_views() where database_name = ? and not internal order by all
"""


@dataclass(frozen=True)
class Table:
    """A table of a database file: its name in SQL, its rows, and the type of each column."""

    part: Part
    sql: str
    rows: int
    types: Mapping[str, str]


@dataclass(frozen=True)
class DuckFile:
    """Reader of a table of DuckDB files."""

    engine: Engine
    parts: tuple[Part, ...]
    table: str | None

    live = False

    @cached_property
    def columns(self) -> Mapping[str, str]:
        return widest([(table.part.path, table.types) for table in self._tables])

    @cached_property
    def rows(self) -> int:
        return sum(table.rows for table in self._tables)

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all rows."""
        before = 0
        for table in self._tables:
            rows = 0
            chosen_columns = ", ".join(self._cast(name, table.types[name]) for name in columns)
            try:
                for piece in self.engine.stream(f"select {chosen_columns} from {table.sql}"):
                    rows += len(piece)
                    progress.reached(before + table.part.file.size * rows // max(1, table.rows))
                    yield plain_columns(piece)
            except failures() as error:
                raise _explained(error, table.part.path) from None
            before += table.part.file.size
            progress.reached(before)

    @cached_property
    def _tables(self) -> list[Table]:
        return [self._opened(part, f"file{number}") for number, part in enumerate(self.parts)]

    def _opened(self, part: Part, name: str) -> Table:
        try:
            self.engine.rows(f"attach {literal(part.place)} as {name} (type duckdb, read_only)")
            found = self.engine.rows(_TABLES, [name, name])
            tables = {table if schema == "main" else f"{schema}.{table}": (schema, table) for schema, table in found}
            place = tables[chosen(self.table, list(tables), "table", part.path)]
            sql = ".".join([name, *map(identifier, place)])
            types = self.engine.described(f"select * from {sql}")
            ((rows,),) = self.engine.rows(f"select count(*) from {sql}")
        except failures() as error:
            raise _explained(error, part.path) from None
        return Table(part, sql, rows, types)

    def _cast(self, name: str, kind: str) -> str:
        """Return the SQL that casts a column to its type in the whole source."""
        wanted, column = self.columns[name], identifier(name)
        return column if kind == wanted else f"cast({column} as {wanted}) as {column}"


def _explained(error: Exception, path: str) -> SourceError:
    message = plain(str(error).replace(path, "it"))
    if "Could not set lock" in message or "used by another process" in message:
        return SourceError("is in use by a program that may write to it; close it there first", file=path)
    if "encrypt" in message:
        return SourceError("is encrypted; copy its tables to a database without a key", file=path)
    if "newer" in message or "storage version" in message:
        return SourceError(f"cannot be read by this version of DuckDB ({message})", file=path)
    return damaged(path, error)
