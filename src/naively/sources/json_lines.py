"""Records: JSON and JSON Lines.

DuckDB reads them. It cannot leave out bad lines of JSON Lines and say which they were, so where that is asked for, the
lines are read here, and DuckDB says of each whether it is an object and whether its values fit their columns.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from naively.sources.batches import plain_columns
from naively.sources.duck import Engine, exactly, failures, identifier, identifiers, literal, structure
from naively.sources.errors import BadRow, SourceError, bad_json_record, shown
from naively.sources.exact import exact_types
from naively.sources.formats import damaged
from naively.sources.lines import Block, part_blocks
from naively.sources.reader import SKIP, Part, Progress, is_number, wider
from naively.sources.sniff import Sample
from naively.sources.unpack import check, chunks, unpacking

_SNIFFED_FILES = 10
_SAMPLE_LINES = 20_480
_NO_OBJECT = "expected records"
_NUMBERED = re.compile(r"(.+)_\d+")


@dataclass(frozen=True)
class Records:
    """The objects of JSON files; a key that is absent is a missing value."""

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
        """All rows."""
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
        self.exact.update(exact_types(types, self._seen_whole, self._summed_up))
        if not self.skips:
            self._refuse_booleans([name for name in columns if is_number(self.columns[name])])

    def _refuse_booleans(self, columns: Sequence[str]) -> None:
        """Refuse true and false among numbers, which DuckDB would take for 1 and 0."""
        if not columns or self._seen_whole() or not any(map(_has_booleans, self.parts)):
            return
        booleans = [f"coalesce(bool_or({identifier(name)} in ('true', 'false')), false)" for name in columns]
        found = self._summed_up(dict.fromkeys(columns, "VARCHAR"), booleans)
        for part, odd in zip(self.parts, found, strict=True):
            for name in (name for name, is_odd in zip(columns, odd, strict=True) if is_odd):
                if part.content.format == "jsonl":
                    bad = (line for block in part_blocks(part) for line in self._sorted(block, [name])[1])
                    raise self._bad(part, *next(bad)).error(SKIP)
                raise SourceError("has true or false among its numbers", file=part.path, column=name)

    def _seen_whole(self) -> bool:
        return len(self.parts) <= _SNIFFED_FILES and all(map(_seen_whole, self.parts))

    def _summed_up(self, types: Mapping[str, str], aggregates: Sequence[str]) -> list[Sequence[float]]:
        """Aggregates of each file, over the records whose values have these types."""
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

    def _looks(self, part: Part) -> bool:
        """Whether each line is looked at, to leave out those that are bad."""
        return self.skips and part.content.format == "jsonl"

    def _rows(self, part: Part, columns: Sequence[str], progress: Progress, before: int) -> Iterator[Any]:
        read = self._checked if self._looks(part) else self._read
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
        """The rows of some lines; and the lines that are no rows, with the column that is wrong ("" for all of it)."""
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
        return BadRow(part.path, line, column or None, problem, shown(text))

    def _described(self, part: Part) -> dict[str, str]:
        try:
            if not self._looks(part):
                types = self.engine.described(f"select * from {_table(part)}", [exactly(part.place)])
            else:
                types = self._described_without_bad_lines(part)
        except failures() as error:
            raise self._explained(error, part) from None
        _check_keys(types, part)
        return types

    def _described_without_bad_lines(self, part: Part) -> dict[str, str]:
        """The columns of the lines that can be read, among the first."""
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
        return BadRow(part.path, line, column, problem, shown(text)).error(SKIP)


def _sorting(types: Mapping[str, str]) -> str:
    """The query that reads lines as rows with these columns, and says in which column a line is wrong."""
    wrong = "".join(
        f" when row.{identifier(name)} is null and try(json_type(text, {literal(_pointer(name))})) <> 'NULL'"
        + (f" or try(json_type(text, {literal(_pointer(name))})) = 'BOOLEAN'" if is_number(kind) else "")
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
    """DuckDB's reader for a file, with columns that it finds out or is told; bad lines may be left out."""
    form = "newline_delimited" if part.content.format == "jsonl" else "auto"
    known = f", columns = {columns}" if columns else ""
    packed = literal((compression or part.content.compression).replace("none", "uncompressed"))
    lenient_lines = ", ignore_errors = true" if lenient else ""
    return f"read_json(?, format = '{form}', records = true, compression = {packed}{known}{lenient_lines})"


def _seen_whole(part: Part) -> bool:
    """Whether all records of a file were among those that its types were told from."""
    sample = Sample.of(part)
    return sample.is_whole and sample.start.count(b"{") < _SAMPLE_LINES


def _has_booleans(part: Part) -> bool:
    """Whether "true" or "false" stands anywhere in a file."""
    before = b""
    for chunk, _ in chunks(part):
        text = before + chunk
        if b"true" in text or b"false" in text:
            return True
        before = text[-4:]
    return False


def _pointer(name: str) -> str:
    """Where a key is, as a JSON pointer."""
    return "/" + name.replace("~", "~0").replace("/", "~1")


def _loaded(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _bad_line(part: Part, number: int) -> tuple[int, str]:
    """The first line that is not an object, near one that DuckDB names: it may be one or two too far."""
    shown_line = (number, "")
    for block in part_blocks(part):
        lines = block.text.split("\n")[:-1]
        for line in range(max(block.line, number - 2), min(block.line + len(lines), number + 1)):
            text = lines[line - block.line]
            if text.strip() and not isinstance(_loaded(text), dict):
                return line, text
            if line == number:
                shown_line = (line, text)
        if block.line + len(lines) > number:
            break
    return shown_line


def _first_without_object(part: Part) -> tuple[int, str, str]:
    """The first line that is JSON but no object, where DuckDB does not say which."""
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
