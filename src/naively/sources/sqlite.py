"""SQLite: the rows of a table or view of a database file, read by the sqlite3 of the standard library.

SQLite lets any column hold values of any type, whatever was declared. So a table is scanned once for the types that its
values have: a column that holds texts and numbers is read as text, one with whole numbers and decimals as doubles.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from naively.sources.database import DatabaseReader, Table
from naively.sources.duck import identifier
from naively.sources.errors import SourceError, rounding
from naively.sources.formats import damaged
from naively.sources.reader import Part, check_unique
from naively.sources.tables import chosen

_PIECE_ROWS = 4096
_STEPS_PER_CHECK = 1_000_000
"""Steps of SQLite after which Python may handle an interrupt."""
_DAY, _LONGEST_MOMENT = len("2020-01-31"), len("2020-01-31 10:00:00.000000")


@dataclass(frozen=True)
class Sqlite(DatabaseReader):
    """Reader of a table of SQLite files, in the order in which the table is stored."""

    parts: tuple[Part, ...]
    table: str | None
    declared: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # types of columns, by file

    @cached_property
    def tables(self) -> list[Table]:
        return [_scanned(part, self.table, self.declared.get(part.path, {})) for part in self.parts]

    def batches(self, table: Table, columns: Sequence[str]) -> Iterator[Any]:
        before = 0
        for rows in _rows(table, columns):
            yield self._batch(table, columns, rows, before)
            before += len(rows)

    def _batch(self, table: Table, columns: Sequence[str], rows: Sequence[Sequence[Any]], before: int) -> Any:
        import pyarrow as pa

        arrays = []
        for name, values in zip(columns, zip(*rows, strict=True), strict=True):
            try:
                arrays.append(_column(values, self.columns[name]))
            except (pa.ArrowException, ValueError, TypeError):
                raise _unfit(table.part.path, name, values, before) from None
        return pa.RecordBatch.from_arrays(arrays, names=list(columns))


@contextmanager
def _connected(part: Part) -> Iterator[sqlite3.Connection]:
    """Open a database to read it; errors of SQLite are raised with the name of the file."""
    if not os.path.exists(part.openable):
        raise damaged(part.path, FileNotFoundError("it is gone"))
    try:
        uri = Path(os.path.abspath(part.openable)).as_uri() + "?mode=ro"
        with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
            connection.set_progress_handler(lambda: 0, _STEPS_PER_CHECK)
            yield connection
    except sqlite3.Error as error:
        raise _explained(error, part.path) from None


def _scanned(part: Part, wanted: str | None, known: Mapping[str, str]) -> Table:
    """Find the table, and the types of the values in each of its columns."""
    with _connected(part) as connection:
        listed = "select name, type from sqlite_master where type in ('table', 'view') and name not like 'sqlite\\_%' "
        kinds = dict(connection.execute(listed + "escape '\\' order by rowid").fetchall())
        name = chosen(wanted, list(kinds), "table", part.path)
        # An index that holds all columns would otherwise be read instead, in its own order.
        sql = identifier(name) + (" not indexed" if kinds[name] == "table" else "")
        names = [column[0] for column in connection.execute(f"select * from {sql} limit 0").description]
        check_unique(names, part.path, f"give them names of their own in the view {name!r}")
        declared = {row[1]: row[2].upper() for row in connection.execute(f"pragma table_xinfo({identifier(name)})")}
        columns = [(one, known.get(one, declared.get(one, ""))) for one in names]
        aggregates = ", ".join(_aggregates(*column) for column in columns)
        rows, *found = connection.execute(f"select count(*), {aggregates} from {sql}").fetchone()
        types = {}
        for (column, kind), least, greatest, detail in zip(columns, found[::3], found[1::3], found[2::3], strict=True):
            if least == "blob" and greatest != "blob":
                raise SourceError(
                    "has bytes (BLOB) among other values; read a view without them", file=part.path, column=column
                )
            types[column] = _type(kind, least, greatest, detail)
        return Table(part, sql, rows, types)


def _aggregates(name: str, declared: str) -> str:
    """Return the SQL of the least and the greatest type of a column's values, and of what else its type depends on."""
    column = identifier(name)
    kind = f"nullif(typeof({column}), 'null')"
    detail = "null"
    if declared.startswith("BOOL"):
        detail = f"sum({column} not in (0, 1))"
    elif _is_temporal(declared):
        is_day = (
            f"{column} glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' and length({column}) <= {_LONGEST_MOMENT}"
        )
        is_moment = f"{is_day} and datetime({column}) is not null and substr({column}, 11) not glob '*[-+Zz]*'"
        detail = f"case when sum({column} is not null and not ({is_moment})) then null else max(length({column})) end"
    return f"min({kind}), max({kind}), {detail}"


def _type(declared: str, least: str | None, greatest: str | None, detail: int | None) -> str:
    """Return DuckDB's name for the type of a column whose values have types between these two, by the alphabet.

    >>> _type("INTEGER", "integer", "real", None), _type("DATE", "text", "text", 10), _type("", "integer", "text", None)
    ('DOUBLE', 'DATE', 'VARCHAR')
    """
    if least is None:
        return "BIGINT" if "INT" in declared else "VARCHAR"
    if _is_temporal(declared) and least == "text" and detail is not None:
        return "DATE" if detail == _DAY else "TIMESTAMP"
    if declared.startswith("BOOL") and greatest == "integer" and not detail:
        return "BOOLEAN"
    return {"blob": "BLOB", "integer": "BIGINT", "real": "DOUBLE"}.get(str(greatest), "VARCHAR")


def _is_temporal(declared: str) -> bool:
    return declared.startswith(("DATE", "TIMESTAMP"))


def _rows(table: Table, columns: Sequence[str]) -> Iterator[list[Any]]:
    listed = ", ".join(map(identifier, columns))
    with _connected(table.part) as connection:
        cursor = connection.execute(f"select {listed} from {table.sql}")
        while rows := cursor.fetchmany(_PIECE_ROWS):
            yield rows


def _column(values: Sequence[Any], kind: str) -> Any:
    """Return values as a column of Arrow.

    >>> _column([1, "one", None], "VARCHAR").to_pylist()
    ['1', 'one', None]
    """
    import pyarrow as pa

    if kind == "VARCHAR":
        texts = [value if value is None or isinstance(value, str) else str(value) for value in values]
        return pa.array(texts, pa.large_string())
    if kind in ("DATE", "TIMESTAMP"):
        return pa.array(values, pa.string()).cast(pa.date32() if kind == "DATE" else pa.timestamp("us"))
    if kind == "BOOLEAN":
        return pa.array([None if value is None else bool(value) for value in values], pa.bool_())
    types = {"BIGINT": pa.int64(), "DOUBLE": pa.float64(), "BLOB": pa.large_binary()}
    return pa.array(values, types[kind])


def _unfit(path: str, name: str, values: Sequence[Any], before: int) -> SourceError:
    """Return the error for a column with a value that its type cannot hold."""
    for row, value in enumerate(values, before + 1):
        if isinstance(value, int) and int(float(value)) != value:
            return rounding(path, name, row, str(value), float(value))
    return SourceError("has values of other types than when it was opened; open it again", file=path, column=name)


def _explained(error: sqlite3.Error, path: str) -> BaseException:
    message = str(error)
    if message == "interrupted":
        return KeyboardInterrupt()
    if "locked" in message or "busy" in message:
        return SourceError(
            f"cannot be read now ({message}); wait until the program that writes to it is done", file=path
        )
    if "not a database" in message:
        return SourceError("is not an SQLite database, or it is encrypted; decrypt it first", file=path)
    if "Could not decode" in message:
        return SourceError(f"has text that is not UTF-8: {message}", file=path)
    return damaged(path, error)
