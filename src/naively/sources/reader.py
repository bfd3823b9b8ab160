"""Reader: the interface of the reader of each format, and of its progress."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from naively.sources.errors import BadRow, SourceError
from naively.sources.files import File
from naively.sources.formats import Content

KEPT = 20
SKIP = "on_error='skip' leaves such rows out"


@dataclass(frozen=True)
class Part:
    """One file with its format; `stored` is the path of a copy that is read in its place."""

    file: File
    content: Content
    stored: str | None = None

    @property
    def path(self) -> str:
        """The name of the file, for messages."""
        return self.file.path

    @property
    def place(self) -> str:
        """The path to read its bytes from, in UTF-8."""
        return self.stored or self.file.native

    @property
    def stored_size(self) -> int:
        """Number of bytes of the file that is read: the copy, if there is one."""
        return self.file.size if self.stored is None else os.path.getsize(self.stored)

    @property
    def openable(self) -> str:
        """The same path for Python's own functions, which take names that are not UTF-8."""
        return self.stored or self.file.path


@dataclass
class Progress:
    """The bytes that were read so far, and the rows that were left out."""

    size: int | None
    skips: bool
    read: int = 0
    share: float = 0.0
    bad_rows: int = 0
    bad: list[BadRow] = field(default_factory=list)

    def reached(self, read: int) -> None:
        """Record that this many bytes have been read."""
        self.read = read
        if self.size:
            self.share = min(1.0, read / self.size)

    def leave_out(self, row: BadRow, advice: str = SKIP) -> None:
        """Count a bad row, or raise it as an error."""
        if not self.skips:
            raise row.error(advice)
        self.bad_rows += 1
        if len(self.bad) < KEPT:
            self.bad.append(row)


@runtime_checkable
class Untyped(Protocol):
    """A reader of files without types, which detects the types of columns by their values."""

    def as_text(self, names: Iterable[str]) -> Any:
        """Return this reader with these columns read as text."""


@runtime_checkable
class Peekable(Protocol):
    """A reader that can return its first line before its rows are read."""

    @property
    def first_line(self) -> str: ...


class Reader(Protocol):
    """Reads the columns of some files, with DuckDB's names for their types, and their rows in a fixed order."""

    @property
    def columns(self) -> Mapping[str, str]: ...

    @property
    def rows(self) -> int | None:
        """Number of rows; None if it is not known."""

    @property
    def live(self) -> bool:
        """True if rows must be handed on as soon as they arrive, because someone may be typing them."""

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all rows, in Arrow batches of any size."""


_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_LARGE = ("UBIGINT", "HUGEINT")
_NUMBERS = (*_WHOLE, *_LARGE, "FLOAT", "DOUBLE")
_NOTHING = ("NULL", '"NULL"')


def wider(one: str, other: str) -> str:
    """Return the type that holds the values of both types.

    >>> wider("INTEGER", "DOUBLE"), wider("BIGINT", "UBIGINT"), wider("BIGINT", "VARCHAR"), wider("DATE", "DATE")
    ('DOUBLE', 'HUGEINT', 'VARCHAR', 'DATE')
    """
    if one == other or other in _NOTHING:
        return one
    if one in _NOTHING:
        return other
    if one in _WHOLE and other in _WHOLE:
        return "BIGINT"
    if {one, other} <= {*_WHOLE, *_LARGE}:
        return "HUGEINT"
    if is_number(one) and is_number(other):
        return "DOUBLE"
    if {one, other} == {"DATE", "TIMESTAMP"}:
        return "TIMESTAMP"
    return "VARCHAR"


def widest(seen: Sequence[tuple[str, Mapping[str, str]]]) -> dict[str, str]:
    """Return the columns of the first file, with types wide enough for all files; raise if a later file lacks one."""
    first, columns = seen[0][0], dict(seen[0][1])
    for path, types in seen[1:]:
        check_names(columns, types, path, first)
        columns = {name: wider(kind, types[name]) for name, kind in columns.items()}
    return columns


def check_names(columns: Mapping[str, str], present: Mapping[str, str], path: str, first: str) -> None:
    """Raise if a file lacks a column of the first file."""
    absent = [name for name in columns if name not in present]
    if absent:
        names = ", ".join(map(repr, absent[:5]))
        has = ", ".join(map(repr, list(present)[:10]))
        raise SourceError(f"has no column {names}, which {first} has; it has {has}", file=path)


def check_unique(names: Sequence[str], file: str | None, advice: str) -> None:
    """Raise if two columns have the same name."""
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise SourceError(f"more than one column is named {', '.join(map(repr, twice))}; {advice}", file=file)


def is_number(kind: str) -> bool:
    """True for DuckDB's types of numbers."""
    return kind in _NUMBERS or kind.startswith("DECIMAL")
