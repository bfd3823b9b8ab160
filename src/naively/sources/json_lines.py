"""Records: JSON and JSON Lines.

DuckDB reads them. It cannot skip bad lines of JSON Lines and say which they were, so with on_error='skip' the lines are
read here, and DuckDB checks for each line that it is an object and that its values fit their columns.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from naively.sources.batches import plain_columns
from naively.sources.duck import Engine, exactly, failures, identifier, identifiers, literal, structure
from naively.sources.errors import BadRow, SourceError, bad_json_record, rounding, shortened
from naively.sources.exact import exact_types, nearest_double, no_double_holds, no_double_is
from naively.sources.formats import damaged
from naively.sources.lines import Block, part_blocks
from naively.sources.reader import SKIP, Part, Progress, is_number, wider
from naively.sources.sniff import Sample
from naively.sources.unpack import check, chunks, unpacking

_SNIFFED_FILES = 10
_SAMPLE_LINES = 20_480
_NO_OBJECT = "expected records"
_NUMBERED = re.compile(r"(.+)_\d+")
_BOOLEAN = re.compile(rb"true|false")
_LONG_NUMBER = re.compile(rb"[0-9](?<![0-9.][0-9])[0-9]{15}")
_OVERLAP = 20


@dataclass(frozen=True)
class Records:
    """Reader of the objects of JSON files; an absent key is a missing value."""

    engine: Engine
    parts: tuple[Part, ...]
    skips: bool
    exact: dict[str, str] = field(default_factory=dict)

    rows = None
    live = False

    @property
    def columns(self) -> Mapping[str, str]:
        return {**self._first_types, **self.exact}

    @cached_property
    def _first_types(self) -> Mapping[str, str]:
        columns: dict[str, str] = {}
        for part in self.parts[:_SNIFFED_FILES]:
            for name, kind in self._described(part).items():
                columns[name] = wider(columns[name], kind) if name in columns else kind
        return columns

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all rows."""
        self._confirm_types(columns)
        before = 0
        for part in self.parts:
            try:
                yield from self._rows(part, columns, progress, before)
            except failures() as error:
                raise self._explained(error, part) from None
            before += part.file.size
            progress.reached(before)

    def _confirm_types(self, columns: Sequence[str]) -> None:
        """Find the exact types of columns that look like numbers, dates or booleans."""
        types = {name: self.columns[name] for name in columns if name not in self.exact}
        if "DOUBLE" in types.values() and not self._has_long_numbers:
            types = {name: kind for name, kind in types.items() if kind != "DOUBLE"}
        self.exact.update(exact_types(types, self._seen_whole, self._aggregated))
        if not self._checks_lines(self.parts[0]):
            self._refuse_misfits([name for name in columns if is_number(self.columns[name])])

    def _refuse_misfits(self, columns: Sequence[str]) -> None:
        """Refuse what DuckDB would change: true and false among numbers, and whole numbers that no double holds."""
        doubles = [name for name in columns if self.columns[name] == "DOUBLE"]
        if columns and not self._seen_whole() and any(_contains(part, _BOOLEAN) for part in self.parts):
            self._refuse(columns, _has_booleans)
        if doubles and self._has_long_numbers:
            self._refuse(doubles, no_double_holds)

    @cached_property
    def _has_long_numbers(self) -> bool:
        return any(_contains(part, _LONG_NUMBER) for part in self.parts)

    def _refuse(self, columns: Sequence[str], misfits: Callable[[str], str]) -> None:
        """Raise for the first column of which an aggregate over its texts is true."""
        found = self._aggregated(dict.fromkeys(columns, "VARCHAR"), [misfits(name) for name in columns])
        for part, seen in zip(self.parts, found, strict=True):
            for name in (name for name, has_misfits in zip(columns, seen, strict=True) if has_misfits):
                if part.content.format == "jsonl":
                    bad = (line for block in part_blocks(part) for line in self._sorted(block, [name])[1])
                    raise self._misfit(part, *next(bad))
                if misfits is no_double_holds:
                    raise rounding(part.path, name)
                raise SourceError("has true or false among its numbers", file=part.path, column=name)

    def _misfit(self, part: Part, line: int, column: str, text: str) -> SourceError:
        value = str(_loaded(text).get(column))
        double = nearest_double(value)
        if double is None:
            return self._bad(part, line, column, text).error(SKIP)
        return rounding(part.path, column, line, value, double)

    def _seen_whole(self) -> bool:
        return len(self.parts) <= _SNIFFED_FILES and all(map(_seen_whole, self.parts))

    def _aggregated(self, types: Mapping[str, str], aggregates: Sequence[str]) -> list[Sequence[float]]:
        """Compute aggregates for each file, over the records whose values have these types."""
        found: list[Sequence[float]] = []
        for part in self.parts:
            try:
                with unpacking(part) as stream:
                    table = _table(part, structure(types), stream.compression, part.content.format == "jsonl")
                    query = f"select {', '.join(aggregates)} from {table}"
                    found += self.engine.rows(query, [exactly(stream.path)])
            except failures() as error:
                raise self._explained(error, part) from None
        return found

    def _checks_lines(self, part: Part) -> bool:
        """True if each line is checked, so that bad lines can be left out."""
        return self.skips and part.content.format == "jsonl"

    def _rows(self, part: Part, columns: Sequence[str], progress: Progress, before: int) -> Iterator[Any]:
        read = self._checked if self._checks_lines(part) else self._read
        return read(part, columns, progress, before)

    def _read(self, part: Part, columns: Sequence[str], progress: Progress, before: int) -> Iterator[Any]:
        rows, line_size = 0, Sample.of(part).line_size
        with unpacking(part) as stream:
            table = _table(part, structure(self.columns), stream.compression)
            for piece in self.engine.stream(f"select {identifiers(columns)} from {table}", [exactly(stream.path)]):
                rows += len(piece)
                progress.reached(before + min(part.file.size, int(rows * line_size)))
                yield plain_columns(piece)
            stream.confirm()

    def _checked(self, part: Part, columns: Sequence[str], progress: Progress, before: int) -> Iterator[Any]:
        for block in part_blocks(part):
            progress.reached(before + block.read)
            good, bad = self._sorted(block, columns)
            for line, column, text in bad:
                progress.leave_out(self._bad(part, line, column, text))
            yield from map(plain_columns, good.to_batches())

    def _sorted(self, block: Block, columns: Sequence[str]) -> tuple[Any, list[tuple[int, str, str]]]:
        """Split lines into rows and bad lines: number, the column that is wrong ("" for the whole line), and text."""
        import pyarrow as pa

        texts = block.array()
        numbers = pa.array(range(block.line, block.line + len(texts)), pa.int64())
        with self.engine.cursor() as cursor:
            cursor.register("lines", pa.table({"line": numbers, "text": texts}))
            found = cursor.sql(_sorting({name: self.columns[name] for name in columns})).to_arrow_table()
        line, text, wrong = found.columns[:3]
        bad = wrong.is_valid()
        places = zip(*(column.filter(bad).to_pylist() for column in (line, wrong, text)), strict=True)
        return found.filter(wrong.is_null()).select(range(3, found.num_columns)), list(places)

    def _bad(self, part: Part, line: int, column: str, text: str) -> BadRow:
        problem = f"its value is no {self.columns[column]}" if column else "is not a JSON object"
        return BadRow(part.path, line, column or None, problem, shortened(text))

    def _described(self, part: Part) -> dict[str, str]:
        try:
            if not self._checks_lines(part):
                types = self.engine.described(f"select * from {_table(part)}", [exactly(part.place)])
            else:
                types = self._described_without_bad_lines(part)
        except failures() as error:
            raise self._explained(error, part) from None
        _check_keys(types, part)
        return types

    def _described_without_bad_lines(self, part: Part) -> dict[str, str]:
        """Detect the columns in the first lines, leaving out those that are no objects."""
        path = os.path.join(self.engine.folder, "sample.jsonl")
        with open(path, "w", encoding="utf-8") as sample:
            for block in part_blocks(part):
                sample.writelines(
                    line + "\n" for line in block.text.split("\n") if line and isinstance(_loaded(line), dict)
                )
                if block.line > _SAMPLE_LINES:
                    break
        if os.path.getsize(path) == 0:
            raise SourceError("has no line that is a JSON object", file=part.path)
        return self.engine.described(f"select * from {_table(part, compression='none')}", [exactly(path)])

    def _explained(self, error: Exception, part: Part) -> SourceError:
        check(part)
        found = bad_json_record(str(error))
        if found is None and _NO_OBJECT in str(error) and part.content.format == "jsonl":
            return self._bad(part, *_first_without_object(part)).error(SKIP)
        if found is None:
            return damaged(part.path, error)
        counted, number, problem = found
        if part.content.format != "jsonl":
            return SourceError(f"{counted.partition('/')[0]} {number}: {problem}", file=part.path)
        line, text = _bad_line(part, number)
        column = None
        if isinstance(_loaded(text), dict) and "_first_types" in self.__dict__:
            bad = self._sorted(Block(text.encode() + b"\n", line, 0), list(self.columns))[1]
            column = bad[0][1] if bad else None
        return BadRow(part.path, line, column, problem, shortened(text)).error(SKIP)


def _sorting(types: Mapping[str, str]) -> str:
    """Return the SQL that reads lines as rows with these columns, and says in which column a line is wrong."""
    wrong = "".join(
        f" when row.{identifier(name)} is null and try(json_type(text, {literal(_pointer(name))})) <> 'NULL'"
        + (f" or try(json_type(text, {literal(_pointer(name))})) = 'BOOLEAN'" if is_number(kind) else "")
        + (
            f" or coalesce({no_double_is(f'json_extract_string(text, {literal(_pointer(name))})')}, false)"
            if kind == "DOUBLE"
            else ""
        )
        + f" then {literal(name)}"
        for name, kind in types.items()
    )
    columns = ", ".join(f"row.{identifier(name)} as {identifier(name)}" for name in types)
    return f"""
        select line, text, case when row is null then ''{wrong} end, {columns}
        from (select line, text, case when try(json_type(text)) = 'OBJECT'
                                      then try(from_json(text, {literal(json.dumps(types))})) end as row
              from lines where trim(text) <> '')
        order by line"""


def _table(part: Part, columns: str | None = None, compression: str | None = None, lenient: bool = False) -> str:
    """Return the SQL of DuckDB's reader; it detects the columns that are not given, and skips bad lines if lenient."""
    form = "newline_delimited" if part.content.format == "jsonl" else "auto"
    known = f", columns = {columns}" if columns else ""
    packed = literal((compression or part.content.compression).replace("none", "uncompressed"))
    lenient_lines = ", ignore_errors = true" if lenient else ""
    return f"read_json(?, format = '{form}', records = true, compression = {packed}{known}{lenient_lines})"


def _seen_whole(part: Part) -> bool:
    """True if the types of a file were detected from all of its records."""
    sample = Sample.of(part)
    return sample.is_whole and sample.start.count(b"{") < _SAMPLE_LINES


def _has_booleans(name: str) -> str:
    """Return the SQL of an aggregate over a column of texts: True if any of them is true or false."""
    return f"coalesce(bool_or({identifier(name)} in ('true', 'false')), false)"


def _contains(part: Part, pattern: re.Pattern[bytes]) -> bool:
    """True if a pattern occurs anywhere in a file."""
    before = b""
    for chunk, _ in chunks(part):
        text = before + chunk
        if pattern.search(text):
            return True
        before = text[-_OVERLAP:]
    return False


def _pointer(name: str) -> str:
    """Return the JSON pointer of a key."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _loaded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _bad_line(part: Part, number: int) -> tuple[int, str]:
    """Find the bad line near the one that DuckDB names, whose number may be one or two too high."""
    named_line = (number, "")
    for block in part_blocks(part):
        lines = block.text.split("\n")[:-1]
        for line in range(max(block.line, number - 2), min(block.line + len(lines), number + 1)):
            text = lines[line - block.line]
            if text.strip() and not isinstance(_loaded(text), dict):
                return line, text
            if line == number:
                named_line = (line, text)
        if block.line + len(lines) > number:
            break
    return named_line


def _first_without_object(part: Part) -> tuple[int, str, str]:
    """Find the first line that is not an object, if DuckDB does not say which it is."""
    for block in part_blocks(part):
        for number, text in enumerate(block.text.split("\n")[:-1]):
            if text.strip() and not isinstance(_loaded(text), dict):
                return block.line + number, "", text
    raise SourceError("has lines that are not JSON objects", file=part.path)


def _check_keys(types: Mapping[str, str], part: Part) -> None:
    """Refuse keys that differ only in case: DuckDB numbers the second, and would look for a key with that number."""
    start = None
    for name in types:
        base = _NUMBERED.fullmatch(name)
        if base and base[1].lower() in {other.lower() for other in types}:
            start = start or Sample.of(part).start
            if json.dumps(name).encode() not in start and json.dumps(name, ensure_ascii=False).encode() not in start:
                raise SourceError(f"has keys that differ from {base[1]!r} only in case; rename them", file=part.path)
