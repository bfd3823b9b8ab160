"""Delimited: CSV and TSV.

The delimiter is told from the first line, and the types of the columns from the first rows (at most 20,480 of them, or
4 MB) of the first files. A text that turns up later in a column of numbers is a bad value with a line number. DuckDB
is not left to guess delimiters, quotes and comments: where a row is bad, it guesses a file of one column. Nor does it
read a file in parallel: it then guesses at the start of each buffer whether that lies within quotes, and may be wrong.
From front to back, it takes a value longer than two buffers for the file's end; so records are watched here.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

from naively import _core
from naively.sources.batches import plain_columns
from naively.sources.engine import Engine, exactly, failures, identifiers, literal, nothing, structure
from naively.sources.formats import damaged
from naively.sources.reader import KEPT, SKIP, Part, Progress, check_names, widest
from naively.sources.sample import Sample
from naively.sources.trouble import BadRow, SourceError, bad_csv_row, csv_problem, shown
from naively.sources.unpacking import check, chunks, unpacking

_DELIMITERS = (",", "\t", ";", "|")
_LONGEST_LINE = 4_000_000
_BUFFER = 8_000_000
_BEGINNING = 1_000
_SAMPLE_ROWS = 20_480
_SAMPLE_BYTES = 4_000_000
_SNIFFED_FILES = 10

_SNIFF = """
select HasHeader, Columns, DateFormat, TimestampFormat
from sniff_csv(?, delim = ?, quote = ?, escape = ?, skip = 0, comment = '', compression = ?, ignore_errors = ?,
               sample_size = ?, max_line_size = ?, buffer_size = ?)
"""
_REJECTED = """
select line, min_by(column_name, byte_position), min_by(error_message, byte_position), any_value(csv_line)
from reject_errors group by line order by line limit ?
"""


@dataclass(frozen=True)
class Dialect:
    """How one file is written, and the columns that it has."""

    delimiter: str
    quote: str
    header: bool
    types: Mapping[str, str]
    date: str | None = None
    time: str | None = None


@dataclass(frozen=True)
class Delimited:
    """The rows of CSV or TSV files."""

    engine: Engine
    parts: tuple[Part, ...]
    texts: frozenset[str] = frozenset()

    rows = None
    live = False

    @cached_property
    def columns(self) -> Mapping[str, str]:
        first = zip(self.parts, self._first_dialects, strict=False)
        found = widest([(part.path, dialect.types) for part, dialect in first])
        return {name: "VARCHAR" if name in self.texts else kind for name, kind in found.items()}

    def as_text(self, names: Iterable[str]) -> Delimited:
        """The same with these columns as they are written, whatever they look like."""
        other = replace(self, texts=self.texts | set(names))
        other.__dict__["_first_dialects"] = self._first_dialects
        return other

    @cached_property
    def _first_dialects(self) -> list[Dialect]:
        return [sniffed(self.engine, part) for part in self.parts[:_SNIFFED_FILES]]

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """All rows."""
        before = 0
        for number, part in enumerate(self.parts):
            known = number < len(self._first_dialects)
            dialect = self._first_dialects[number] if known else sniffed(self.engine, part)
            check_names(self.columns, dialect.types, part.path, self.parts[0].path)
            try:
                yield from self._rows(part, dialect, columns, progress, before)
            except failures() as error:
                raise _explained(error, part) from None
            before += part.file.size
            progress.reached(before)

    def _rows(
        self, part: Part, dialect: Dialect, columns: Sequence[str], progress: Progress, before: int
    ) -> Iterator[Any]:
        rows, line_size = 0, Sample.of(part).line_size
        last = partial(_leave_out_rejected, part.path, progress) if progress.skips else nothing
        watch = _core.RecordWatch.of(dialect.delimiter, dialect.quote, _BUFFER)
        with unpacking(part, watch.feed) as stream:
            query = self._query(stream.compression, dialect, columns, progress.skips)
            for piece in self.engine.stream(query, [exactly(stream.path)], last=last):
                rows += len(piece)
                progress.reached(before + min(part.file.size, int(rows * line_size)))
                yield plain_columns(piece)
            stream.confirm()
        if (start := watch.finish(unclosed=False)) >= 0:
            raise _beginning(part, start, f"the row is longer than {_BUFFER:,} bytes").error("take it out of the file")
        if (start := watch.finish(unclosed=True)) >= 0:
            row = _beginning(part, start, "value with unterminated quote found")
            if not progress.skips:
                raise row.error(SKIP)
            progress.leave_out(row)

    def _query(self, compression: str, dialect: Dialect, columns: Sequence[str], skips: bool) -> str:
        types = {name: self.columns.get(name, "VARCHAR") for name in dialect.types}
        options = {
            "auto_detect": "false",
            "delim": literal(dialect.delimiter),
            "quote": literal(dialect.quote),
            "escape": literal(dialect.quote),
            "header": str(dialect.header).lower(),
            "columns": structure(types),
            "skip": "0",
            "comment": "''",
            "parallel": "false",
            "compression": literal(compression),
            "max_line_size": str(_LONGEST_LINE),
            "buffer_size": str(_BUFFER),
        }
        if dialect.date:
            options["dateformat"] = literal(dialect.date)
        if dialect.time:
            options["timestampformat"] = literal(dialect.time)
        if skips:
            options |= {"store_rejects": "true", "rejects_limit": "0"}
        listed = ", ".join(f"{name} = {value}" for name, value in options.items())
        return f"select {identifiers(columns)} from read_csv(?, {listed})"


def sniffed(engine: Engine, part: Part) -> Dialect:
    """How a file is written.

    Quotes are those of the standard; a TSV file in which they make no sense is read without. Bad rows among the first
    are passed over here, and met again when the file is read.
    """
    import duckdb

    sample = Sample.of(part)
    delimiter = "\t" if part.content.format == "tsv" else _delimiter(sample.first_line)
    attempts = [('"', False), ("", False), ('"', True)] if delimiter == "\t" else [('"', True)]
    for quote, lenient in attempts:
        try:
            return _sniffed(engine, part, sample, delimiter, quote, lenient)
        except duckdb.Error:
            continue
    names = next(csv.reader([sample.first_line], delimiter=delimiter), [])
    if len(set(names)) < len(names) or not names:
        raise SourceError("its first line is not a header, and its rows cannot be read", file=part.path, line=1)
    return Dialect(delimiter, '"', True, dict.fromkeys(names, "VARCHAR"))


def _sniffed(engine: Engine, part: Part, sample: Sample, delimiter: str, quote: str, lenient: bool) -> Dialect:
    rows = int(min(_SAMPLE_ROWS, max(1000, _SAMPLE_BYTES / sample.unpacked_line)))
    packed = part.content.compression
    values = [exactly(part.native), delimiter, quote, quote, packed, lenient, rows, _LONGEST_LINE, _BUFFER]
    ((header, columns, date, time),) = engine.rows(_SNIFF, values)
    return Dialect(delimiter, quote, header, {one["name"]: one["type"] for one in columns}, date, time)


def _delimiter(line: str) -> str:
    """The delimiter of which the first line has most, outside quotes.

    >>> _delimiter('id;"last, first, middle";age')
    ';'
    """
    outside = "".join(line.split('"')[::2])
    return max(_DELIMITERS, key=outside.count)


def _leave_out_rejected(path: str, progress: Progress, cursor: Any) -> None:
    ((count,),) = cursor.execute("select count(distinct line) from reject_errors").fetchall()
    for line, column, message, text in cursor.execute(_REJECTED, [KEPT]).fetchall():
        named, problem = csv_problem(message or "")
        progress.leave_out(BadRow(path, line, named or column, problem, shown(text or "")))
    progress.bad_rows += max(0, count - KEPT)


def _beginning(part: Part, start: int, problem: str) -> BadRow:
    """The row that begins behind so many bytes."""
    line, left, text = 1, start, b""
    for chunk, _ in chunks(part):
        line += chunk[: max(left, 0)].count(b"\n")
        text += chunk[max(left, 0) :]
        left -= len(chunk)
        if len(text) > _BEGINNING:
            break
    return BadRow(part.path, line, None, problem, shown(text[:_BEGINNING].decode("utf-8", "replace")))


def _explained(error: Exception, part: Part) -> SourceError:
    check(part)
    row = bad_csv_row(str(error), part.path)
    if row is None:
        return damaged(part.path, error)
    if row.column is None:
        return row.error(SKIP)
    cast = f"select * from read_csv({literal(part.path)}, types = {structure({row.column: 'VARCHAR'})})"
    return row.error(f"the first rows have another type; {SKIP}, or say the type in a query: {cast}")
