"""Delimited: CSV and TSV.

The delimiter is detected in the first line, and the types of the columns in the first rows (at most 20,480 of them, or
4 MB) of the first files. Then each file is scanned to its end, and columns whose later values do not look like their
type are read to the end (`exact`). A text that turns up later in a column of numbers is a bad value with a line number.

DuckDB may not guess delimiters, quotes and comments: if a row is bad, it guesses a file of one column. It may not read
a file in parallel either: it then guesses at the start of each buffer whether that lies within quotes, and may be
wrong. Reading from front to back, it takes a value longer than two buffers for the end of the file, and refuses mixed
line ends; so each file is scanned here first, and copied with line feeds if its line ends are mixed.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice, product, zip_longest
from typing import Any

from naively import _core
from naively.sources.batches import plain_columns
from naively.sources.duck import Engine, exactly, failures, identifiers, ignore, literal, structure
from naively.sources.errors import BadRow, SourceError, bad_csv_row, csv_problem, rounding, shortened
from naively.sources.exact import WHOLE, exact_types, nearest_double, no_double_holds
from naively.sources.formats import damaged
from naively.sources.reader import KEPT, SKIP, Part, Progress, check_names, widest
from naively.sources.sniff import Sample
from naively.sources.spool import LineEnds, with_empty_lines, with_line_feeds
from naively.sources.unpack import check, chunks, unpacking

_DELIMITERS = (",", "\t", ";", "|")
_LONGEST_LINE = 4_000_000
_BUFFER = 8_000_000
_BEGINNING = 1_000
_SAMPLE_ROWS = 20_480
_SAMPLE_BYTES = 4_000_000
_SNIFFED_FILES = 10
_CHECKED_ROWS = 200
_UNNAMED = "Unnamed: 0"
_DECIMAL_COMMA = re.compile(r"\s*[+-]?[0-9]+,[0-9]+\s*")
_LONG_NUMBER = 16
_SHAPES = {**dict.fromkeys(WHOLE, 1), "DATE": 1 | 2, "BOOLEAN": 4, "DOUBLE": 1 | 2 | 4 | 8}
"""Shapes (`_core.RecordWatch`) that show without further reading that a value fits its column's type."""

_SNIFF = """
select HasHeader, Columns, DateFormat, TimestampFormat
from sniff_csv(?, delim = ?, quote = ?, escape = ?, skip = 0, comment = '', compression = ?, ignore_errors = ?,
               sample_size = ?, max_line_size = ?, buffer_size = ?, decimal_separator = ?{})
"""
_REJECTED = """
select line, min_by(column_name, byte_position), min_by(error_message, byte_position), any_value(csv_line)
from reject_errors group by line order by line limit ?
"""


@dataclass(frozen=True)
class Dialect:
    """Delimiter, quotes, header and number formats of one file, and the types of its columns."""

    delimiter: str
    quote: str
    header: bool
    types: Mapping[str, str]
    decimal: str
    date: str | None = None
    time: str | None = None
    commas: frozenset[str] = frozenset()  # columns of numbers with decimal commas, read as text


@dataclass(frozen=True)
class Checked:
    """A file that was scanned to its end.

    `part` is the place to read it; `unclosed` the offset of a quote that is never closed, or -1; `fitting` the columns
    all of whose values look like the column's type; `long_numbers` those with numbers that a double may not hold.
    """

    part: Part
    dialect: Dialect
    unclosed: int
    fitting: frozenset[str]
    long_numbers: frozenset[str]
    repeated_names: tuple[BadRow, ...] = ()


@dataclass(frozen=True)
class Cleaned:
    """A file, or a copy of it in which lines that repeat the names of the columns are empty, with these lines."""

    part: Part
    repeated_names: tuple[BadRow, ...] = ()


class RepeatedNames(SourceError):
    """A row repeats the names of the columns, as where files were put together."""


@dataclass(frozen=True)
class Delimited:
    """The rows of CSV or TSV files."""

    engine: Engine
    parts: tuple[Part, ...]
    sep: str | None = None
    no_header: bool = False
    decimal: str | None = None
    skips: bool = False
    texts: frozenset[str] = frozenset()
    exact: dict[str, str] = field(default_factory=dict)
    checked: dict[int, Checked] = field(default_factory=dict)
    cleaned: dict[str, Cleaned] = field(default_factory=dict)

    rows = None
    live = False

    @property
    def columns(self) -> Mapping[str, str]:
        found = {**self._first_types, **self.exact}
        return {name: "VARCHAR" if name in self.texts else kind for name, kind in found.items()}

    @cached_property
    def _first_types(self) -> dict[str, str]:
        first = zip(self.parts, self._first_dialects, strict=False)
        return widest([(part.path, dialect.types) for part, dialect in first])

    def as_text(self, names: Iterable[str]) -> Delimited:
        """Return this reader with these columns read as text, whatever they look like."""
        other = replace(self, texts=self.texts | set(names))
        other.__dict__["_first_dialects"] = self._first_dialects
        other.__dict__["_first_types"] = self._first_types
        return other

    @cached_property
    def _first_dialects(self) -> list[Dialect]:
        return [self._sniffed(part) for part in self.parts[:_SNIFFED_FILES]]

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all rows."""
        self._refuse_decimal_commas(columns)
        self._confirm_types(columns)
        before = 0
        for number, part in enumerate(self.parts):
            try:
                yield from self._rows(self._checked(number), columns, progress, before)
            except failures() as error:
                raise _explained(error, part) from None
            before += part.file.size
            progress.reached(before)

    def _sniffed(self, part: Part) -> Dialect:
        options = self.sep, self.no_header, self.decimal
        try:
            return sniffed(self.engine, part, *options)
        except RepeatedNames:
            if not self.skips:
                raise
            cleaned = _without_repeated_names(part, self.engine)
            dialect = sniffed(self.engine, cleaned.part, *options)
            if set(dialect.types.values()) == {"VARCHAR"}:
                raise  # the first line may be a row like any other
        self.cleaned[part.path] = cleaned
        return dialect

    def _checked(self, number: int) -> Checked:
        """Scan a file before DuckDB reads it: a record that is too long would take gigabytes there."""
        if number not in self.checked:
            part, known = self.parts[number], number < len(self._first_dialects)
            dialect = self._first_dialects[number] if known else self._sniffed(part)
            check_names(self.columns, dialect.types, part.path, self.parts[0].path)
            cleaned = self.cleaned.get(part.path, Cleaned(part))
            self.checked[number] = _scanned(cleaned, dialect, self.columns, self.engine)
        return self.checked[number]

    def _refuse_decimal_commas(self, columns: Sequence[str]) -> None:
        for part, dialect in zip(self.parts, self._first_dialects, strict=False):
            for name in columns:
                if name in dialect.commas:
                    advice = "pass --decimal , (Python: decimal=','), or --decimal . if they are texts"
                    raise SourceError(f"its numbers have decimal commas; {advice}", file=part.path, column=name)

    def _confirm_types(self, columns: Sequence[str]) -> None:
        """Find the exact types of columns that look like numbers, dates or booleans."""
        types = {name: self.columns[name] for name in columns if name not in self.exact}
        names = list(types)
        fitting = [self._checked(number).fitting for number in range(len(self.parts))]
        for name in frozenset(types).intersection(*fitting):
            kind = types.pop(name)
            self.exact[name] = WHOLE[0] if kind in WHOLE else kind
        self.exact.update(exact_types(types, self._seen_whole, self._aggregated))
        self._refuse_rounding([name for name in names if self.columns[name] == "DOUBLE"])

    def _refuse_rounding(self, columns: Sequence[str]) -> None:
        """Raise if a whole number stands among decimals and no double holds it."""
        long_numbers = frozenset[str]().union(
            *(self._checked(number).long_numbers for number in range(len(self.parts)))
        )
        unsure = [name for name in columns if name in long_numbers]
        if not unsure:
            return
        found = self._aggregated(dict.fromkeys(unsure, "VARCHAR"), [no_double_holds(name) for name in unsure])
        for number, rounded in enumerate(found):
            for name in (name for name, is_rounded in zip(unsure, rounded, strict=True) if is_rounded):
                raise _first_rounded(self._checked(number), name)

    def _seen_whole(self) -> bool:
        return len(self.parts) <= _SNIFFED_FILES and all(map(_seen_whole, self.parts))

    def _aggregated(self, types: Mapping[str, str], aggregates: Sequence[str]) -> list[Sequence[float]]:
        """Compute aggregates for each file, over the rows whose values have these types."""
        found: list[Sequence[float]] = []
        for number, part in enumerate(self.parts):
            checked = self._checked(number)
            read_as = {**dict.fromkeys(checked.dialect.types, "VARCHAR"), **types}
            try:
                with unpacking(checked.part) as stream:
                    table = _table(stream.compression, checked.dialect, read_as)
                    query = f"select {', '.join(aggregates)} from {table}"
                    found += self.engine.rows(query, [exactly(stream.path)])
            except failures() as error:
                raise _explained(error, part) from None
        return found

    def _rows(self, checked: Checked, columns: Sequence[str], progress: Progress, before: int) -> Iterator[Any]:
        part = checked.part
        rows, line_size = 0, Sample.of(part).line_size
        for row in checked.repeated_names:
            progress.leave_out(row)
        on_end = partial(_leave_out_rejected, part.path, progress) if progress.skips else ignore
        with unpacking(part) as stream:
            query = self._query(stream.compression, checked.dialect, columns, progress.skips)
            for piece in self.engine.stream(query, [exactly(stream.path)], on_end=on_end):
                rows += len(piece)
                progress.reached(before + min(part.file.size, int(rows * line_size)))
                yield plain_columns(piece)
            stream.confirm()
        if checked.unclosed >= 0:
            row = _beginning(part, checked.unclosed, "value with unterminated quote found")
            if not progress.skips:
                raise row.error(SKIP)
            progress.leave_out(row)

    def _query(self, compression: str, dialect: Dialect, columns: Sequence[str], skips: bool) -> str:
        types = {name: self.columns.get(name, "VARCHAR") for name in dialect.types}
        rejects = {"store_rejects": "true", "rejects_limit": "0"} if skips else {"ignore_errors": "false"}
        return f"select {identifiers(columns)} from {_table(compression, dialect, types, rejects)}"


_LEFT_OUT = {"ignore_errors": "true"}


def _table(
    compression: str, dialect: Dialect, types: Mapping[str, str], bad_rows: Mapping[str, str] = _LEFT_OUT
) -> str:
    """Return the SQL of DuckDB's reader for a file with columns of these types."""
    options = {
        "auto_detect": "false",
        "delim": literal(dialect.delimiter),
        "decimal_separator": literal(dialect.decimal),
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
        **bad_rows,
    }
    if dialect.date:
        options["dateformat"] = literal(dialect.date)
    if dialect.time:
        options["timestampformat"] = literal(dialect.time)
    listed = ", ".join(f"{name} = {value}" for name, value in options.items())
    return f"read_csv(?, {listed})"


def _seen_whole(part: Part) -> bool:
    """True if the types of a file were detected from all of its rows."""
    sample = Sample.of(part)
    return sample.is_whole and sample.start.count(b"\n") + sample.start.count(b"\r") < _SAMPLE_ROWS


def sniffed(
    engine: Engine, part: Part, sep: str | None = None, no_header: bool = False, decimal: str | None = None
) -> Dialect:
    """Detect the dialect of a file.

    Quotes are double quotes; a TSV file in which they make no sense is read without quotes. Bad rows among the first
    rows are skipped here, and reported when the file is read.
    """
    import duckdb

    sample = Sample.of(part)
    delimiter = sep or ("\t" if part.content.format == "tsv" else _delimiter(sample.first_line, decimal))
    attempts = [('"', False), ("", False), ('"', True)] if delimiter == "\t" else [('"', True)]
    header = "false" if no_header else None
    for (quote, lenient), first_rows in product(attempts, (False, True)):
        try:
            place = _place(part, sample, delimiter, quote, engine, first_rows)
            dialect = _sniffed(engine, place, sample, delimiter, quote, lenient, header, decimal or ".")
        except duckdb.Error:
            continue
        return _named_as_pandas_does(_with_decimal_commas(dialect, part, sample, no_header, decimal), sample)
    names = next(csv.reader([sample.first_line], delimiter=delimiter), [])
    if no_header:
        names = [f"column{number}" for number in range(len(names))]
    if len(set(names)) < len(names) or not names:
        raise SourceError("its first line is not a header, and its rows cannot be read", file=part.path, line=1)
    return Dialect(delimiter, '"', not no_header, dict.fromkeys(names, "VARCHAR"), decimal or ".")


def _sniffed(
    engine: Engine,
    place: tuple[str, str],
    sample: Sample,
    delimiter: str,
    quote: str,
    lenient: bool,
    header: str | None,
    decimal: str,
) -> Dialect:
    rows = int(min(_SAMPLE_ROWS, max(1000, _SAMPLE_BYTES / sample.unpacked_line)))
    known = f", header = {header}" if header else ""
    path, packed = place
    values = [exactly(path), delimiter, quote, quote, packed, lenient, rows, _LONGEST_LINE, _BUFFER, decimal]
    ((has_header, columns, date, time),) = engine.rows(_SNIFF.format(known), values)
    return Dialect(delimiter, quote, has_header, {one["name"]: one["type"] for one in columns}, decimal, date, time)


def _with_decimal_commas(dialect: Dialect, part: Part, sample: Sample, no_header: bool, decimal: str | None) -> Dialect:
    """Add the columns of decimal commas to a dialect; raise if the header looks like a row."""
    rows = _first_rows(sample, dialect)
    names = [] if no_header or not dialect.header or not rows else rows.pop(0)
    columns = list(zip_longest(*(row for row in rows if row != names), fillvalue=""))
    if set(dialect.types.values()) == {"VARCHAR"} and rows:
        for name, values in zip(names, columns, strict=False):
            if name and 20 * values.count(name) > len(values):
                problem = f"{name!r} is a value of its column too, so this looks like a row and not like names"
                advice = "pass --no-header (Python: no_header=True), or give each column a name of its own"
                raise SourceError(f"{problem}; {advice}", file=part.path, line=1)
    if names and names in rows:
        problem = f"row {rows.index(names) + 1} repeats the names of the columns; take it out of the file"
        advice = "or pass --no-header (Python: no_header=True) if the first line is a row as well"
        raise RepeatedNames(f"{problem}, {advice}", file=part.path)
    if decimal is not None:
        return dialect
    texts = zip(dialect.types.items(), columns, strict=False)
    commas = {name for (name, kind), values in texts if kind == "VARCHAR" and _have_decimal_commas(values)}
    return replace(dialect, commas=frozenset(commas))


def _have_decimal_commas(values: Sequence[str]) -> bool:
    """True if most values are numbers with a decimal comma.

    >>> _have_decimal_commas(("1,5", "2", "-0,25", "")), _have_decimal_commas(("yes, 1", "1,5"))
    (True, False)
    """
    known = [value for value in values if value.strip()]
    return 2 * sum(_DECIMAL_COMMA.fullmatch(value) is not None for value in known) > len(known)


def _first_rows(sample: Sample, dialect: Dialect) -> list[list[str]]:
    """Return the first rows as text, including the header."""
    text = io.StringIO(sample.start.decode("utf-8", "replace"), newline="")
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a value that is too long for Python's reader
        rows.extend(
            islice(
                csv.reader(
                    text, delimiter=dialect.delimiter, quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
                ),
                _CHECKED_ROWS,
            )
        )
    return [row for row in rows if row]


def _named_as_pandas_does(dialect: Dialect, sample: Sample) -> Dialect:
    """Name a first column without a name "Unnamed: 0", as pandas does: it is an index that pandas has written."""
    first = next(csv.reader([sample.first_line], delimiter=dialect.delimiter), [])
    if not dialect.header or first[:1] != [""] or _UNNAMED in dialect.types or len(first) < 2:
        return dialect
    (_, kind), *others = dialect.types.items()
    return replace(dialect, types={_UNNAMED: kind, **dict(others)})


def _place(part: Part, sample: Sample, delimiter: str, quote: str, engine: Engine, first_rows: bool) -> tuple[str, str]:
    """Return the path and compression to sniff: the file, or a copy of its first rows if its line ends are mixed."""
    watch = _core.RecordWatch.of(delimiter, quote, _BUFFER, [], True)
    watch.feed(sample.start)
    if watch.kinds_of_line_ends() < 2 and not first_rows:
        return part.place, part.content.compression
    ends = LineEnds(quote)
    plain = ends.see(sample.start) + ends.finish()
    path = os.path.join(engine.folder, "first rows")
    with open(path, "wb") as first:
        first.write(plain if sample.is_whole else plain[: plain.rfind(b"\n") + 1])
    return path, "none"


def _without_repeated_names(part: Part, engine: Engine) -> Cleaned:
    names = Sample.of(part).first_line
    copy, lines = with_empty_lines(part, names.encode(), engine)
    problem = "repeats the names of the columns"
    return Cleaned(copy, tuple(BadRow(part.path, line, None, problem, shortened(names)) for line in lines))


def _scanned(cleaned: Cleaned, dialect: Dialect, types: Mapping[str, str], engine: Engine) -> Checked:
    """Scan a file for records that are too long, an unclosed quote, mixed line ends, and values that fit their types.

    A file with mixed line ends is copied with line feeds.
    """
    part = cleaned.part
    expected = {name: _SHAPES.get(types[name], 0) for name in dialect.types}
    watched = [shape > 0 for shape in expected.values()]
    watch = _core.RecordWatch.of(dialect.delimiter, dialect.quote, _BUFFER, watched, dialect.header)
    for chunk, _ in chunks(part):
        watch.feed(chunk)
    if (start := watch.finish(unclosed=False)) >= 0:
        advice = "take it out of the file, or close its quote if one was left open"
        raise _beginning(part, start, f"the row is longer than {_BUFFER:,} bytes").error(advice)
    plain = with_line_feeds(part, dialect.quote, engine) if watch.kinds_of_line_ends() > 1 else part
    shapes = zip(expected.items(), watch.shapes(), strict=True)
    fitting = frozenset(name for (name, shape), seen in shapes if shape and not seen & ~shape)
    long_numbers = frozenset(name for name, seen in zip(expected, watch.shapes(), strict=True) if seen & _LONG_NUMBER)
    return Checked(plain, dialect, watch.finish(unclosed=True), fitting, long_numbers, cleaned.repeated_names)


def _first_rounded(checked: Checked, name: str) -> SourceError:
    """Find the first whole number of a column that no double holds, and return the error that names its line."""
    part, dialect = checked.part, checked.dialect
    column = list(dialect.types).index(name)
    longest = csv.field_size_limit(_BUFFER)
    try:
        rows = csv.reader(
            _lines(part), delimiter=dialect.delimiter, quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE
        )
        for row in rows:
            double = nearest_double(row[column]) if column < len(row) else None
            if double is not None:
                return rounding(part.path, name, rows.line_num, row[column].strip(), double)
    except csv.Error:
        pass  # a value that DuckDB reads and Python does not: the line stays unknown
    finally:
        csv.field_size_limit(longest)
    return rounding(part.path, name)


def _lines(part: Part) -> Iterator[str]:
    """Yield the lines of a text file, each with a line feed at its end."""
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder("utf-8")("replace"), translate=True)
    rest = ""
    for chunk, _ in chunks(part):
        *lines, rest = (rest + decoder.decode(chunk)).split("\n")
        yield from (line + "\n" for line in lines)
    yield rest + decoder.decode(b"", final=True)


def _delimiter(line: str, decimal: str | None = None) -> str:
    """Return the most frequent delimiter of the first line, outside quotes; the decimal sign comes last in ties.

    >>> _delimiter('id;"last, first, middle";age')
    ';'
    """
    outside = "".join(line.split('"')[::2])
    return max(sorted(_DELIMITERS, key=decimal.__eq__) if decimal else _DELIMITERS, key=outside.count)


def _leave_out_rejected(path: str, progress: Progress, cursor: Any) -> None:
    ((count,),) = cursor.execute("select count(distinct line) from reject_errors").fetchall()
    for line, column, message, text in cursor.execute(_REJECTED, [KEPT]).fetchall():
        named, problem = csv_problem(message or "")
        progress.leave_out(BadRow(path, line, named or column, problem, shortened(text or "")))
    progress.bad_rows += max(0, count - KEPT)


def _beginning(part: Part, start: int, problem: str) -> BadRow:
    """Return the row that begins at a byte offset, as a bad row."""
    line, left, text = 1, start, b""
    for chunk, _ in chunks(part):
        line += chunk[: max(left, 0)].count(b"\n")
        text += chunk[max(left, 0) :]
        left -= len(chunk)
        if len(text) > _BEGINNING:
            break
    return BadRow(part.path, line, None, problem, shortened(text[:_BEGINNING].decode("utf-8", "replace")))


def _explained(error: Exception, part: Part) -> SourceError:
    check(part)
    row = bad_csv_row(str(error), part.path)
    if row is None:
        return damaged(part.path, error)
    if "unicode" in row.problem:
        return row.error(f"pass its encoding, such as --encoding cp1252 (Python: encoding='cp1252'); {SKIP}")
    if row.column is None:
        return row.error(SKIP)
    cast = f"select * from read_csv({literal(part.path)}, types = {structure({row.column: 'VARCHAR'})})"
    return row.error(f"the first rows have another type; {SKIP}, or say the type in a query: {cast}")
