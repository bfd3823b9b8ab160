"""Dialects: the SQL that DuckDB, SQLite, PostgreSQL and Spark write differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from naively.errors import InputError, nearest
from naively.score.export.characters import Characters

Lower = Sequence[tuple[str, str]]
"""Characters and what they are replaced by."""

LARGEST = "1.7976931348623157e308"


@dataclass(frozen=True)
class Dialect:
    """A dialect of SQL; methods that a subclass overrides are those that dialects write differently."""

    name: ClassVar[str]
    mark: ClassVar[str] = '"'
    double: ClassVar[str] = "DOUBLE"
    text: ClassVar[str] = "VARCHAR"
    stored: ClassVar[str] = "MATERIALIZED "
    needs_key: ClassVar[bool] = False  # to tell the rows of a table apart
    row_number: ClassVar[str] = "ROW_NUMBER() OVER ()"

    # --- values

    def quoted(self, name: str) -> str:
        """Return the name of a column or table."""
        return self.mark + name.replace(self.mark, 2 * self.mark) + self.mark

    def literal(self, value: Any) -> str:
        """Return a label or a category."""
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, int):
            return str(value)
        return self.number(value) if isinstance(value, float) else self.string(str(value))

    def string(self, value: str) -> str:
        return "'" + value.replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """Return a number that is a double without a cast."""
        digits = repr(float(value)).removesuffix(".0")
        digits = digits if "e" in digits else f"{digits}e0"
        return f"({digits})" if digits.startswith("-") else digits

    def to_text(self, value: str) -> str:
        return f"CAST({value} AS {self.text})"

    def to_double(self, value: str) -> str:
        """Return a number; NULL for what is not finite."""
        cast = f"CAST({value} AS {self.double})"
        return f"CASE WHEN {cast} BETWEEN -{LARGEST} AND {LARGEST} THEN {cast} END"

    def flag_to_double(self, value: str) -> str:
        """Return a number, or 0 and 1 for false and true; NULL for what is not finite."""
        return self.to_double(value)

    def greatest(self, values: Sequence[str]) -> str:
        return f"GREATEST({', '.join(values)})" if len(values) > 1 else values[0]

    def least(self, values: Sequence[str]) -> str:
        return f"LEAST({', '.join(values)})" if len(values) > 1 else values[0]

    def date_part(self, value: str, part: str) -> str:
        """Return the month, the weekday (from Monday) or the hour, from 0 on."""
        return {
            "month": f"EXTRACT(MONTH FROM {value}) - 1",
            "weekday": f"EXTRACT(ISODOW FROM {value}) - 1",
            "hour": f"EXTRACT(HOUR FROM {value})",
        }[part]

    # --- texts

    def lowered(self, value: str, lower: Lower) -> str:
        """Return a text in lower case, as far as these characters go."""
        single = [pair for pair in lower if len(pair[1]) == 1]
        if single:
            upper, to = (self.string("".join(pair[side] for pair in single)) for side in (0, 1))
            value = f"TRANSLATE({value}, {upper}, {to})"
        return self.replaced(value, [pair for pair in lower if len(pair[1]) > 1])

    def replaced(self, value: str, pairs: Lower) -> str:
        """Return a text with characters replaced."""
        for old, new in pairs:
            value = f"REPLACE({value}, {self.string(old)}, {self.string(new)})"
        return value

    def character_class(self, ranges: Sequence[tuple[int, int]]) -> str:
        """Return the class of characters of a regular expression."""
        return "[" + "".join(self.point(a) if a == b else f"{self.point(a)}-{self.point(b)}" for a, b in ranges) + "]"

    def point(self, point: int) -> str:
        return chr(point) if point < 128 else f"\\x{{{point:x}}}"

    def pattern(self, characters: Characters) -> str:
        """Return the regular expression of words."""
        ranges = (characters.word, characters.spaceless)
        parts = [f"{self.character_class(each)}+" for each in ranges if each]
        return self.string("|".join(parts))

    def tokens(self, text: str, source: str, characters: Characters, lower: Lower) -> str:
        """Return the query of the words of a column of texts in lower case: naively_row, place, word."""
        raise NotImplementedError

    # --- the table of weights

    def weights_table(self, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[str]) -> list[str]:
        """Return the statements that make the table; `rows` are values in parentheses."""
        types = {"int": "INTEGER", "double": self.double, "text": self.text}
        listed = ", ".join(f"{column} {types[kind]}" for column, kind in columns)
        inserts = [
            f"INSERT INTO {name} VALUES\n" + ",\n".join(rows[i : i + _AT_ONCE]) for i in range(0, len(rows), _AT_ONCE)
        ]
        return [f"CREATE TABLE {name} ({listed})", *inserts]


_AT_ONCE = 400
"""Rows of weights of one statement."""
_NESTED = 20
"""Calls inside one another; SQLite's parser takes no more than about 90."""


class DuckDB(Dialect):
    name = "duckdb"

    def tokens(self, text: str, source: str, characters: Characters, lower: Lower) -> str:
        words = f"regexp_extract_all({self.lowered(text, lower)}, {self.pattern(characters)})"
        return (
            "SELECT naively_row, UNNEST(words) AS word, GENERATE_SUBSCRIPTS(words, 1) AS place\n"
            f"FROM (SELECT naively_row, {words} AS words FROM {source}) AS split"
        )


class SQLite(Dialect):
    name = "sqlite"
    double = "REAL"
    text = "TEXT"

    def greatest(self, values: Sequence[str]) -> str:
        return f"MAX({', '.join(values)})" if len(values) > 1 else values[0]

    def least(self, values: Sequence[str]) -> str:
        return f"MIN({', '.join(values)})" if len(values) > 1 else values[0]

    def date_part(self, value: str, part: str) -> str:
        return {
            "month": f"CAST(STRFTIME('%m', {value}) AS INTEGER) - 1",
            "weekday": f"(CAST(STRFTIME('%w', {value}) AS INTEGER) + 6) % 7",
            "hour": f"CAST(STRFTIME('%H', {value}) AS INTEGER)",
        }[part]

    def point(self, point: int) -> str:
        return chr(point)

    def tokens(self, text: str, source: str, characters: Characters, lower: Lower) -> str:
        """Split at plain characters by JSON, and what is left with others one character after another."""
        word = self.character_class([(a, b) for a, b in characters.word if b < 128])
        plain = set(range(1, 128)) - {point for a, b in characters.word for point in range(a, min(b, 127) + 1)}
        apart = [(chr(point), " ") for point in sorted(plain)]
        prepared = self._prepared(text, source, [*lower, *apart])
        only_plain = f"piece NOT GLOB {self.string(f'*[^{word[1:-1]}]*')}"
        return (
            f"WITH RECURSIVE {prepared},\n"
            "  pieces AS MATERIALIZED (SELECT naively_row, j.key AS at, j.value AS piece FROM prepared\n"
            "    CROSS JOIN JSON_EACH('[\"' || REPLACE(t, ' ', '\",\"') || '\"]') AS j WHERE j.value <> ''),\n"
            "  letters(naively_row, at, place, rest, c, kind, before, word, finished) AS (\n"
            f"    SELECT naively_row, at, 0, piece || '  ', '', 0, 0, '', NULL FROM pieces WHERE NOT {only_plain}\n"
            "    UNION ALL\n"
            "    SELECT naively_row, at, place + 1, SUBSTR(rest, 2), SUBSTR(rest, 1, 1),\n"
            f"      {self._kind(characters)}, kind,\n"
            "      CASE WHEN kind = 0 THEN '' WHEN kind = before THEN word || c ELSE c END,\n"
            "      CASE WHEN before > 0 AND kind <> before THEN word END\n"
            "    FROM letters WHERE rest <> '')\n"
            f"SELECT naively_row, at * 1000000000 AS place, piece AS word FROM pieces WHERE {only_plain}\n"
            "UNION ALL SELECT naively_row, at * 1000000000 + place, finished FROM letters WHERE finished IS NOT NULL"
        )

    def _prepared(self, text: str, source: str, pairs: list[tuple[str, str]]) -> str:
        """Return queries, the last of them `prepared`, that replace characters; few at a time, as parsers allow."""
        plain = [f"SELECT naively_row, {text} AS t FROM {source} WHERE {text} IS NOT NULL"]
        plain += [
            f"SELECT naively_row, {self.replaced('t', pairs[i : i + _NESTED])} AS t FROM prepared{i // _NESTED}"
            for i in range(0, len(pairs), _NESTED)
        ]
        names = [*(f"prepared{number}" for number in range(len(plain) - 1)), "prepared"]
        return ", ".join(f"{name} AS MATERIALIZED ({query})" for name, query in zip(names, plain, strict=True))

    def replaced(self, value: str, pairs: Lower) -> str:
        for old, new in pairs:
            written = self.string(old) if old > "\x1f" else f"CHAR({ord(old)})"
            value = f"REPLACE({value}, {written}, {self.string(new)})"
        return value

    def _kind(self, characters: Characters) -> str:
        """Return whether the next character belongs to words (1), is one of its own (2) or neither (0)."""
        first, both = "SUBSTR(rest, 1, 1)", (characters.word, characters.spaceless)
        inside, apart = (f"{first} GLOB {self.string(self.character_class(ranges))}" for ranges in both)
        return f"CASE WHEN {inside} THEN 1 WHEN {apart} THEN 2 ELSE 0 END" if characters.spaceless else inside

    def weights_table(self, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[str]) -> list[str]:
        keys = [f"CREATE INDEX {name}_by_{key} ON {name} (term, {key})" for key in ("value", "number")]
        return [*super().weights_table(name, columns, rows), *keys]


class PostgreSQL(Dialect):
    name = "postgresql"
    double = "DOUBLE PRECISION"
    text = "TEXT"

    def number(self, value: float) -> str:
        return f"{super().number(value)}::float8"

    def string(self, value: str) -> str:
        plain = super().string(value)
        return plain if "\\" not in value else "E" + plain.replace("\\", "\\\\")

    def flag_to_double(self, value: str) -> str:
        spelt = f"CAST({value} AS TEXT)"  # since truth is no number here
        return f"CASE {spelt} WHEN 'true' THEN 1e0 WHEN 'false' THEN 0e0 ELSE {self.to_double(spelt)} END"

    def date_part(self, value: str, part: str) -> str:
        return f"CAST({super().date_part(value, part)} AS {self.double})"

    def point(self, point: int) -> str:
        return chr(point) if point < 128 else f"\\U{point:08x}"

    def tokens(self, text: str, source: str, characters: Characters, lower: Lower) -> str:
        words = f"REGEXP_MATCHES({self.lowered(f'i.{text}', lower)}, {self.pattern(characters)}, 'g')"
        return (
            f"SELECT i.naively_row, m.word[1] AS word, m.place FROM {source} AS i\n"
            f"CROSS JOIN LATERAL {words} WITH ORDINALITY AS m(word, place)"
        )


class Spark(Dialect):
    name = "spark"
    mark = "`"
    text = "STRING"
    stored = ""
    needs_key = True

    def string(self, value: str) -> str:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def number(self, value: float) -> str:
        digits = f"{float(value)!r}D"
        return f"({digits})" if digits.startswith("-") else digits

    def date_part(self, value: str, part: str) -> str:
        return {"month": f"MONTH({value}) - 1", "weekday": f"WEEKDAY({value})", "hour": f"HOUR({value})"}[part]

    def tokens(self, text: str, source: str, characters: Characters, lower: Lower) -> str:
        words = f"REGEXP_EXTRACT_ALL({self.lowered(f'i.{text}', lower)}, {self.pattern(characters)}, 0)"
        return (
            f"SELECT i.naively_row, p.place, p.word FROM {source} AS i\n"
            f"LATERAL VIEW POSEXPLODE({words}) p AS place, word"
        )

    def weights_table(self, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[str]) -> list[str]:
        types = {"int": "INT", "double": self.double, "text": self.text}
        cast = ", ".join(f"CAST({column} AS {types[kind]}) AS {column}" for column, kind in columns)
        names = ", ".join(column for column, _ in columns)
        values = ",\n".join(rows)
        return [f"CREATE OR REPLACE TEMPORARY VIEW {name} AS SELECT {cast} FROM VALUES\n{values} AS listed({names})"]


DIALECTS: dict[str, Dialect] = {kind.name: kind() for kind in (DuckDB, SQLite, PostgreSQL, Spark)}


def dialect_of(name: str) -> Dialect:
    """Return a dialect by its name."""
    if name not in DIALECTS:
        raise InputError(f"dialect must be one of {', '.join(DIALECTS)}, got {name!r}{nearest(name, list(DIALECTS))}")
    return DIALECTS[name]
