"""Counting: the query that counts a table, as `from_counts` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from naively.errors import InputError
from naively.score.export.characters import characters_of, check_exportable
from naively.score.export.sql.dialects import Dialect
from naively.score.export.sql.parts import limited, sequences
from naively.score.export.terms import FLAG, NUMBER, TEXT, TIME


@dataclass(frozen=True)
class Counted:
    """A column to count: the kind of its values, or the tokens of its texts."""

    name: str
    kind: str
    tokens: Any = None


def count_query(dialect: Dialect, table: str, label: str, columns: Sequence[Counted], key: str | None) -> str:
    """Return the query; its columns are class, column, value, number, count and documents."""
    texts = [column for column in columns if column.tokens is not None]
    values = [(f"x{j}", column) for j, column in enumerate(columns) if column.tokens is None]
    if texts and dialect.name == "sqlite":
        raise InputError("words are not counted by SQLite: naively reads its files itself, as fast and exactly")
    if texts and dialect.needs_key and key is None:
        raise InputError(f"dialect {dialect.name!r}: rows of texts need a column that tells them apart: key='id'")
    queries = [("naively_input", _input(dialect, table, label, values, texts, key))]
    counts = [_values(dialect, values)]
    for number, column in enumerate(texts):
        queries += _words(dialect, number, column)
        counts += _counts_of_words(dialect, number, column)
    listed = ",\n".join(f"{name} AS {dialect.stored}({query})" for name, query in queries)
    return f"WITH {listed}\n" + "\nUNION ALL\n".join(counts)


def _input(
    dialect: Dialect, table: str, label: str, values: list[tuple[str, Counted]], texts: list[Counted], key: str | None
) -> str:
    """Return the query of the label and the values of each row that has a label."""
    named = f"t.{dialect.quoted(label)}"
    read = {NUMBER: dialect.to_double, FLAG: dialect.flag_to_double, TEXT: dialect.to_text, TIME: dialect.to_text}
    columns = [f"{named} AS class"]
    columns += [f"{read[column.kind](f't.{dialect.quoted(column.name)}')} AS {name}" for name, column in values]
    columns += [f"{dialect.to_text(f't.{dialect.quoted(c.name)}')} AS text{n}" for n, c in enumerate(texts)]
    if texts:
        columns.append(f"{dialect.row_number if key is None else f't.{dialect.quoted(key)}'} AS naively_row")
    return f"SELECT {', '.join(columns)} FROM {table} AS t WHERE {named} IS NOT NULL"


def _values(dialect: Dialect, values: list[tuple[str, Counted]]) -> str:
    """Return the query that counts each value of each column, and the rows of each class."""
    none = {kind: f"CAST(NULL AS {kind})" for kind in (dialect.text, dialect.double)}
    if not dialect.grouping_sets:
        rows = [("NULL", none[dialect.text], none[dialect.double], "class")]
        for name, column in values:
            numeric = column.kind in (NUMBER, FLAG)
            value, number = (none[dialect.text], name) if numeric else (name, none[dialect.double])
            rows.append((dialect.string(column.name), value, number, f"class, {name}"))
        return "\nUNION ALL\n".join(
            f'SELECT class, {column} AS "column", {value} AS value, {number} AS number, COUNT(*) AS count, '
            f"NULL AS documents FROM naively_input GROUP BY {groups}"
            for column, value, number, groups in rows
        )

    def chosen(pairs: list[tuple[str, str]], otherwise: str) -> str:
        whens = " ".join(f"WHEN GROUPING({name}) = 0 THEN {value}" for name, value in pairs)
        return f"CASE {whens} END" if pairs else otherwise

    names = chosen([(name, dialect.string(column.name)) for name, column in values], none[dialect.text])
    texts = chosen([(n, n) for n, column in values if column.kind in (TEXT, TIME)], none[dialect.text])
    numbers = chosen([(n, n) for n, column in values if column.kind in (NUMBER, FLAG)], none[dialect.double])
    sets = ", ".join(["(class)", *(f"(class, {name})" for name, _ in values)])
    return (
        f"SELECT class, {names} AS {dialect.quoted('column')}, {texts} AS value, {numbers} AS number, "
        f"COUNT(*) AS count, CAST(NULL AS BIGINT) AS documents\nFROM naively_input GROUP BY GROUPING SETS ({sets})"
    )


def _words(dialect: Dialect, number: int, column: Counted) -> list[tuple[str, str]]:
    """Return the queries of the words and sequences of words of a column of texts."""
    tokens = column.tokens
    check_exportable(f"column {column.name!r}", tokens, ())
    characters = characters_of(tokens.kind)
    lower = characters.lower if tokens.lowercase else ()
    words = limited(dialect, tokens, dialect.tokens(f"text{number}", "naively_input", characters, lower))
    name = f"naively_words{number}"
    return [(name, words), (f"naively_text{number}", sequences(name, tokens.ngrams))]


def _counts_of_words(dialect: Dialect, number: int, column: Counted) -> list[str]:
    """Return the queries that count words, and texts that are missing."""
    name, nothing = dialect.string(column.name), f"CAST(NULL AS {dialect.double})"
    start = f"SELECT i.class, {name}"
    return [
        f"{start}, g.word, {nothing}, COUNT(*), COUNT(DISTINCT g.naively_row)\nFROM naively_text{number} AS g "
        "JOIN naively_input AS i ON i.naively_row = g.naively_row GROUP BY i.class, g.word",
        f"{start}, CAST(NULL AS {dialect.text}), {nothing}, COUNT(*), CAST(NULL AS BIGINT)\n"
        f"FROM naively_input AS i WHERE i.text{number} IS NULL GROUP BY i.class",
    ]
