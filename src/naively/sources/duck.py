"""Engine: an in-memory DuckDB that reads files and yields Arrow batches."""

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

# Keep rows in order for any number of threads, and memory flat for files of any size: never fetch a whole row group.
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


def ignore(cursor: Any) -> None:
    """Do nothing with a cursor: the default callback of `Engine.stream`."""


@dataclass
class Engine:
    """A DuckDB connection, made at first use; closing it removes its temporary files."""

    threads: int | None = None
    _closing: ExitStack = field(default_factory=ExitStack)
    _connection: Any = None
    _folder: str | None = None
    _cursors: list[Any] = field(default_factory=list)
    _closed: bool = False

    @property
    def folder(self) -> str:
        """A folder for temporary files that other users cannot read; it is removed when the engine is closed."""
        os.makedirs(self._place, mode=0o700, exist_ok=True)
        return self._place

    @property
    def _place(self) -> str:
        """Path of that folder, which is created only when needed: a killed process mostly leaves nothing behind."""
        if self._folder is None:
            self._folder = os.path.join(tempfile.gettempdir(), f"naively-{secrets.token_hex(8)}")
            self._closing.callback(shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def cursor(self) -> Any:
        """Return a new connection to the one database, so that several results can be read at a time."""
        if self._closed:
            raise SourceError("the source was closed; open it again")
        if self._connection is None:
            import duckdb

            threads = self.threads or min(os.cpu_count() or 1, _MOST_THREADS)
            config = {**_SETTINGS, "threads": threads, "temp_directory": self._place}
            self._connection = duckdb.connect(":memory:", config=config)
            self._closing.callback(_disconnect, self._connection)
            _limit_reading(self._connection)
        cursor = self._connection.cursor()
        self._cursors[:] = [*self._cursors[-_REMEMBERED:], cursor]
        return cursor

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a small result."""
        with self.cursor() as cursor, _interruptible():
            return list(cursor.execute(query, list(values)).fetchall())

    def described(self, query: str, values: Sequence[Any] = ()) -> dict[str, str]:
        """Return the columns of a query and their types, without running it."""
        return {row[0]: row[1] for row in self.rows(f"describe {query}", values)}

    def stream(
        self,
        query: str,
        values: Sequence[Any] = (),
        *,
        on_batch: Callable[[Any], None] = ignore,
        on_end: Callable[[Any], None] = ignore,
    ) -> Iterator[Any]:
        """Yield the rows of a query in Arrow batches; call `on_batch` before each batch and `on_end` after the last."""
        with self.cursor() as cursor:
            if on_batch is not ignore:
                cursor.execute(_WATCHED)
            reader = _arrow_reader(cursor, query, list(values))
            try:
                for piece in reader:
                    on_batch(cursor)
                    yield piece
            finally:
                reader.close()
            on_end(cursor)

    def close(self) -> None:
        """Stop running queries, disconnect, and remove temporary files; a second call does nothing."""
        self._closed = True
        for cursor in self._cursors:
            with suppress(Exception):  # one that is closed already
                cursor.interrupt()
        self._cursors.clear()
        self._closing.close()
        self._connection = self._folder = None


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for Ctrl-C, of which DuckDB makes an error."""
    try:
        yield
    except RuntimeError as error:
        raise KeyboardInterrupt if "interrupted" in str(error) else error from None


def _disconnect(connection: Any) -> None:
    """Close a connection, waiting for readers in other threads to notice that they were interrupted."""
    import duckdb

    for _ in range(100):
        try:
            connection.close()
            return
        except duckdb.Error:
            time.sleep(0.02)


def _limit_reading(connection: Any) -> None:
    """Turn off prefetching, with the settings that this version of DuckDB knows."""
    import duckdb

    for name, value in _READING.items():
        with suppress(duckdb.Error):
            connection.execute(f"set global {name} = {value}")


def _arrow_reader(cursor: Any, query: str, values: list[Any]) -> Any:
    """Stream a result. DuckDB 1 would first gather all rows of a relation, DuckDB 2 those of a statement."""
    import duckdb

    first = duckdb.__version__.startswith("1.")
    running = cursor.execute(query, values) if first else cursor.sql(query, params=values)
    return running.to_arrow_reader(_PIECE_ROWS)


def failures() -> tuple[type[Exception], ...]:
    """Return the exceptions of DuckDB and Arrow for a bad file or query."""
    import duckdb
    import pyarrow as pa

    return (duckdb.Error, pa.ArrowException, OSError)


def literal(text: str) -> str:
    """Quote a text as an SQL string.

    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def exactly(path: str) -> str:
    """Escape a path for DuckDB, which takes paths for globs.

    >>> exactly("a/[1]*.csv")
    'a/[[]1][*].csv'
    """
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in path)


def identifier(name: str) -> str:
    """Quote the name of a column for SQL.

    >>> identifier("a b")
    '"a b"'
    """
    return '"' + name.replace('"', '""') + '"'


def identifiers(names: Sequence[str]) -> str:
    """Quote the names of columns for SQL, separated by commas."""
    return ", ".join(map(identifier, names))


def structure(types: Mapping[str, str]) -> str:
    """Format names and types as the struct that DuckDB's readers take."""
    return "{" + ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types.items()) + "}"
