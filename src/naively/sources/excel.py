"""Excel: the rows of a sheet of a workbook (.xlsx), read cell by cell by openpyxl.

A sheet says the type of a cell, but not of a column. So its rows are first copied to a temporary SQLite file, one after
the other, and read from there as any table is. The first row that is not empty holds the names of the columns.
"""

from __future__ import annotations

import datetime
import os
import secrets
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

from naively.sources.archives import FAULTS
from naively.sources.duck import Engine, identifier
from naively.sources.errors import SourceError
from naively.sources.formats import damaged
from naively.sources.reader import Part, check_unique
from naively.sources.spool import no_room
from naively.sources.sqlite import Sqlite
from naively.sources.tables import chosen

_ROWS_AT_ONCE = 1000
_MOST_TEXTS = 1 << 30
"""Bytes of the texts of a workbook, which are held in memory."""
_TEXTS = "xl/sharedStrings.xml"
_MISSING = frozenset(["", "#N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#GETTING_DATA"])
"""Cells without a value: empty texts, and formulas that failed."""
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError, SyntaxError, ArithmeticError, RuntimeError)
"""Exceptions that openpyxl raises for a damaged workbook, besides those of its archive."""
_MIDNIGHT = datetime.time()
_MOST_COLUMNS = 2000
"""Columns that a table of SQLite can have."""
_PLAIN = {str, float, bool, type(None)}
_TOO_LARGE = 1 << 63

Rows = Iterator[tuple[int, tuple[Any, ...]]]
"""The rows of a sheet that are not empty, with their numbers."""


def workbook_reader(parts: tuple[Part, ...], sheet: str | None, engine: Engine) -> Sqlite:
    """Return the reader of a sheet of each of these workbooks."""
    copies = [_copied(part, sheet, engine) for part in parts]
    return Sqlite(tuple(part for part, _ in copies), None, {part.path: declared for part, declared in copies})


def _copied(part: Part, sheet: str | None, engine: Engine) -> tuple[Part, dict[str, str]]:
    """Copy a sheet to a database; return the part with that copy, and the types of columns of dates or flags."""
    path = os.path.join(engine.folder, secrets.token_hex(8))
    with _opened(part) as workbook, closing(sqlite3.connect(path)) as database:
        rows = _sheet(workbook, sheet, part.path)
        _, header = next(rows, (0, ()))
        declared = _write(database, _names(header, part.path), rows, part.path)
    return replace(part, stored=path), declared


@contextmanager
def _opened(part: Part) -> Iterator[Any]:
    """Open a workbook; whatever openpyxl raises for one that is damaged becomes one error."""
    try:
        import openpyxl
    except ImportError:
        raise SourceError("needs openpyxl: pip install 'naively[excel]'", file=part.path) from None
    try:
        with zipfile.ZipFile(part.openable) as archive:
            texts = next((one.file_size for one in archive.infolist() if one.filename == _TEXTS), 0)
        if texts > _MOST_TEXTS:
            raise SourceError(f"holds {texts >> 30} GB of texts, too many to read; save it as CSV", file=part.path)
        with (
            open(part.openable, "rb") as file,
            closing(openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)) as workbook,
        ):
            yield workbook
    except SourceError:
        raise
    except sqlite3.Error as error:
        raise no_room(part.path, OSError(0, str(error))) from None
    except (*FAULTS, *_DAMAGED) as error:
        raise damaged(part.path, error) from None


def _sheet(workbook: Any, wanted: str | None, path: str) -> Rows:
    """Yield the rows of the wanted sheet, or of the only one that is not hidden."""
    names = [sheet.title for sheet in workbook.worksheets]
    visible = [sheet.title for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
    name = chosen(wanted, visible if wanted not in names else names, "sheet", path)
    sheet = workbook[name]
    sheet.reset_dimensions()  # which programs may write wrongly
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        if not _MISSING.isdisjoint(row):
            row = tuple(None if value in _MISSING else value for value in row)
        if any(value is not None for value in row):
            yield number, row


def _names(header: Sequence[Any], path: str) -> list[str]:
    """Return the names of the columns; one without a name is called as pandas calls it."""
    width = max((at for at, value in enumerate(header, 1) if value is not None), default=0)
    if not width:
        raise SourceError("the sheet is empty; there is nothing to read", file=path)
    if width > _MOST_COLUMNS:
        raise SourceError(f"has {width} columns, more than {_MOST_COLUMNS}; save it as CSV", file=path)
    names = [f"Unnamed: {at}" if value is None else str(value) for at, value in enumerate(header[:width])]
    check_unique(
        [name.lower() for name in names], path, "give each a name of its own (capitals do not tell them apart)"
    )
    return names


def _write(database: sqlite3.Connection, names: Sequence[str], rows: Rows, path: str) -> dict[str, str]:
    """Write rows to a table of the database; return the types of columns of dates or flags."""
    kinds: list[set[type]] = [set() for _ in names]
    database.execute(f"create table sheet ({', '.join(map(identifier, names))})")
    insert = f"insert into sheet values ({', '.join('?' * len(names))})"
    while several := list(islice(rows, _ROWS_AT_ONCE)):
        stored = []
        for number, row in several:
            if any(value is not None for value in row[len(names) :]):
                raise SourceError(
                    "has a value in a column without a name; name it in the first row", file=path, line=number
                )
            whole = (*row[: len(names)], *[None] * (len(names) - len(row)))
            for kind, value in zip(kinds, whole, strict=True):
                kind.add(type(value))
            stored.append([value if type(value) in _PLAIN else _stored(value) for value in whole])
        database.executemany(insert, stored)
    database.commit()
    found = {name: _declared(kind) for name, kind in zip(names, kinds, strict=True)}
    return {name: declared for name, declared in found.items() if declared is not None}


def _declared(kinds: set[type]) -> str | None:
    kinds = kinds - {type(None)}
    if kinds == {bool}:
        return "BOOLEAN"
    return "TIMESTAMP" if kinds and kinds <= {datetime.datetime, datetime.date} else None


def _stored(value: Any) -> Any:
    """Return a value as SQLite holds it: dates as text, durations as seconds.

    >>> _stored(datetime.datetime(2020, 1, 31)), _stored(datetime.timedelta(minutes=2)), _stored(2**70)
    ('2020-01-31', 120.0, 1.1805916207174113e+21)
    """
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == _MIDNIGHT else value.isoformat(" ")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, int) and not -_TOO_LARGE <= value < _TOO_LARGE:
        return float(value)
    return value if isinstance(value, int) else str(value)
