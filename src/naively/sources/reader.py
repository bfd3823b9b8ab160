"""Reader: what the reader of each format can do, and how it tells of its progress."""

from __future__ import annotations

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
    """One file, and what is in it; `stored` is a copy that is read in its place."""

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


@dataclass
class Progress:
    """How far one reading has come, and what it has left out."""

    size: int | None
    skips: bool
    read: int = 0
    share: float = 0.0
    bad_rows: int = 0
    bad: list[BadRow] = field(default_factory=list)

    def reached(self, read: int) -> None:
        """So many bytes have been read."""
        self.read = read
        if self.size:
            self.share = min(1.0, read / self.size)

    def leave_out(self, row: BadRow, advice: str = SKIP) -> None:
        """Count a bad row, or stop at it."""
        if not self.skips:
            raise row.error(advice)
        self.bad_rows += 1
        if len(self.bad) < KEPT:
            self.bad.append(row)


@runtime_checkable
class Untyped(Protocol):
    """A reader of files whose columns are of the type that they look like."""

    def as_text(self, names: Iterable[str]) -> Any:
        """The same with these columns as they are written."""


@runtime_checkable
class Peekable(Protocol):
    """A reader that can show its first line before it is read."""

    @property
    def first_line(self) -> str: ...


class Reader(Protocol):
    """The columns of some files, with their types as DuckDB shows them, and their rows in a fixed order."""

    @property
    def columns(self) -> Mapping[str, str]: ...

    @property
    def rows(self) -> int | None:
        """How many there are, where that is known."""

    @property
    def live(self) -> bool:
        """Whether rows are to be handed on as soon as they come, because someone may be typing them."""

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """All rows, in Arrow batches of any size."""


_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
_LARGE = ("UBIGINT", "HUGEINT")
_NUMBERS = (*_WHOLE, *_LARGE, "FLOAT", "DOUBLE")
_NOTHING = ("NULL", '"NULL"')


def wider(one: str, other: str) -> str:
    """The type that holds the values of both.

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
    """The columns of the first file, with types that hold those of all; one that a later file lacks is an error."""
    first, columns = seen[0][0], dict(seen[0][1])
    for path, types in seen[1:]:
        check_names(columns, types, path, first)
        columns = {name: wider(kind, types[name]) for name, kind in columns.items()}
    return columns


def check_names(columns: Mapping[str, str], there: Mapping[str, str], path: str, first: str) -> None:
    """Refuse a file that lacks a column of the first."""
    absent = [name for name in columns if name not in there]
    if absent:
        names = ", ".join(map(repr, absent[:5]))
        has = ", ".join(map(repr, list(there)[:10]))
        raise SourceError(f"has no column {names}, which {first} has; it has {has}", file=path)


def check_unique(names: Sequence[str], file: str | None, advice: str) -> None:
    """Refuse columns of the same name, which could not be told apart."""
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise SourceError(f"more than one column is named {', '.join(map(repr, twice))}; {advice}", file=file)


def is_number(kind: str) -> bool:
    """True for DuckDB's types of numbers."""
    return kind in _NUMBERS or kind.startswith("DECIMAL")
