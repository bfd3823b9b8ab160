"""Engine: a DuckDB in memory that reads files and hands on Arrow batches, one after the other."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from naively.sources.errors import SourceError

# Rows in order whatever the threads, and memory that is flat however large the file: no row group is fetched whole.
_SETTINGS: dict[str, Any] = {
    "preserve_insertion_order": True,
    "python_enable_replacements": False,
    "autoinstall_known_extensions": False,
    "enable_external_file_cache": False,
    "memory_limit": "1GB",
}
_READING = {"disable_parquet_prefetching": "true", "read_ahead_depth": "0", "TimeZone": "'UTC'"}
_WATCHED = "set enable_progress_bar_print = false; set enable_progress_bar = true"
_PIECE_ROWS = 2048
_MOST_THREADS = 4
_REMEMBERED = 8


def nothing(cursor: Any) -> None:
    """What is done with a cursor that nobody wants to see."""


@dataclass
class Engine:
    """Connects at first use, and leaves nothing behind when closed."""

    threads: int | None = None
    _closing: ExitStack = field(default_factory=ExitStack)
    _connection: Any = None
    _folder: str | None = None
    _cursors: list[Any] = field(default_factory=list)
    _closed: bool = False

    @property
    def folder(self) -> str:
        """A folder for temporary files, of which others see nothing, and which goes when the engine is closed."""
        os.makedirs(self._place, mode=0o700, exist_ok=True)
        return self._place

    @property
    def _place(self) -> str:
        """Where that folder is, or will be once DuckDB needs it: so a process that is killed mostly leaves nothing."""
        if self._folder is None:
            self._folder = os.path.join(tempfile.gettempdir(), f"naively-{secrets.token_hex(8)}")
            self._closing.callback(shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def cursor(self) -> Any:
        """A connection of its own to the one database, so that several results can be read at a time."""
        if self._closed:
            raise SourceError("the source was closed; open it again")
        if self._connection is None:
            import duckdb

            threads = self.threads or min(os.cpu_count() or 1, _MOST_THREADS)
            config = {**_SETTINGS, "threads": threads, "temp_directory": self._place}
            self._connection = duckdb.connect(":memory:", config=config)
            self._closing.callback(_disconnect, self._connection)
            _read_no_more_than_needed(self._connection)
        cursor = self._connection.cursor()
        self._cursors[:] = [*self._cursors[-_REMEMBERED:], cursor]
        return cursor

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a small result."""
        with self.cursor() as cursor, _interruptible():
            return list(cursor.execute(query, list(values)).fetchall())

    def described(self, query: str, values: Sequence[Any] = ()) -> dict[str, str]:
        """The columns of a query and their types, without running it."""
        return {row[0]: row[1] for row in self.rows(f"describe {query}", values)}

    def stream(
        self,
        query: str,
        values: Sequence[Any] = (),
        *,
        each: Callable[[Any], None] = nothing,
        last: Callable[[Any], None] = nothing,
    ) -> Iterator[Any]:
        """The rows of a query in Arrow batches, with its cursor shown before each batch and after the last."""
        with self.cursor() as cursor:
            if each is not nothing:
                cursor.execute(_WATCHED)
            reader = _arrow_reader(cursor, query, list(values))
            try:
                for piece in reader:
                    each(cursor)
                    yield piece
            finally:
                reader.close()
            last(cursor)

    def close(self) -> None:
        """Disconnect and remove the temporary files; a second time does nothing. What is under way is stopped."""
        self._closed = True
        for cursor in self._cursors:
            with suppress(Exception):  # one that is closed already
                cursor.interrupt()
        self._cursors.clear()
        self._closing.close()
        self._connection = self._folder = None


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ctrl-C as Python tells of it, of which DuckDB makes an error."""
    try:
        yield
    except RuntimeError as error:
        raise KeyboardInterrupt if "interrupted" in str(error) else error from None


def _disconnect(connection: Any) -> None:
    """Close a connection, once whoever reads from it in another thread has noticed that it was interrupted."""
    import duckdb

    for _ in range(100):
        try:
            connection.close()
            return
        except duckdb.Error:
            time.sleep(0.02)


def _read_no_more_than_needed(connection: Any) -> None:
    """Set what this version of DuckDB knows of."""
    import duckdb

    for name, value in _READING.items():
        with suppress(duckdb.Error):
            connection.execute(f"set global {name} = {value}")


def _arrow_reader(cursor: Any, query: str, values: list[Any]) -> Any:
    """The result as it comes. DuckDB 1 gathers all rows of a relation first, DuckDB 2 those of a statement."""
    import duckdb

    first = duckdb.__version__.startswith("1.")
    running = cursor.execute(query, values) if first else cursor.sql(query, params=values)
    return running.to_arrow_reader(_PIECE_ROWS)


def failures() -> tuple[type[Exception], ...]:
    """What DuckDB and Arrow raise when a file or a query is at fault."""
    import duckdb
    import pyarrow as pa

    return (duckdb.Error, pa.ArrowException, OSError)


def literal(text: str) -> str:
    """A text as SQL.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def exactly(path: str) -> str:
    """A path as DuckDB takes it: it would look for files that match, so what means something in a glob is bracketed.

    >>> exactly("a/[1]*.csv")
    'a/[[]1][*].csv'
    """
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def identifier(name: str) -> str:
    """The name of a column as SQL.

    >>> identifier("a b")
    '"a b"'
    """
    return '"' + name.replace('"', '""') + '"'


def identifiers(names: Sequence[str]) -> str:
    """Names of columns as SQL, in order."""
    return ", ".join(map(identifier, names))


def structure(types: Mapping[str, str]) -> str:
    """Names and types as the struct that DuckDB's readers take."""
    return "{" + ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items()) + "}"
