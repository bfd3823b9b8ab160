"""DuckDB files: the rows of a table or view of a database file, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from naively.sources.batches import plain_columns
from naively.sources.database import DatabaseReader, Table
from naively.sources.duck import Engine, failures, identifier, literal
from naively.sources.errors import SourceError, plain
from naively.sources.formats import damaged
from naively.sources.reader import Part
from naively.sources.tables import chosen

_TABLES = """
select schema_name, table_name from duckdb_tables() where database_name = ? and not internal union all
select schema_name, view_name from duckdb_views() where database_name = ? and not internal order by all
"""


@dataclass(frozen=True)
class DuckFile(DatabaseReader):
    """Reader of a table of DuckDB files."""

    engine: Engine
    parts: tuple[Part, ...]
    table: str | None

    @cached_property
    def tables(self) -> list[Table]:
        return [self._opened(part, f"file{number}") for number, part in enumerate(self.parts)]

    def batches(self, table: Table, columns: Sequence[str]) -> Iterator[Any]:
        listed = ", ".join(self._cast(name, table.types[name]) for name in columns)
        try:
            yield from map(plain_columns, self.engine.stream(f"select {listed} from {table.sql}"))
        except failures() as error:
            raise _explained(error, table.part.path) from None

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
