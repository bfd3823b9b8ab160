"""Parts: the terms of a model in a query: values, joins, sums for each class, rows of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.score.export.characters import characters_of, check_exportable
from naively.score.export.sql.dialects import Dialect
from naively.score.export.sql.formulas import written
from naively.score.export.symbols import Unwritable, formula
from naively.score.export.terms import (
    BOOLEAN,
    FLAG,
    NUMBER,
    TEXT,
    Above,
    Bins,
    Codes,
    DatePart,
    Densities,
    IsMissing,
    Names,
    Sums,
    Terms,
    Weights,
    Words,
)

if TYPE_CHECKING:
    import pyarrow as pa

MOST_CLASSES = 400
"""A table has no more columns than about four times as many."""
JOINS_AT_ONCE = 40
"""SQLite joins no more than 64 tables."""


@dataclass
class Parts:
    """The parts of a query, from its terms: readings of columns, joins, sums for each class, and rows of weights."""

    dialect: Dialect
    labels: tuple[Any, ...]
    weights_name: str
    impossible: bool
    joined: bool
    columns: dict[str, str] = field(default_factory=dict)  # values that are read of each row: names by expression
    codes: dict[str, str] = field(default_factory=dict)  # what is made of these values
    queries: list[tuple[str, str]] = field(default_factory=list)  # of texts, by name
    stages: list[Stage] = field(default_factory=list)
    rows: list[WeightRows] = field(default_factory=list)
    reads_texts: bool = False

    def value(self, expression: str) -> str:
        """Return the name of a value of the table `t`, read once for each row."""
        return self.columns.setdefault(expression, f"nb_x{len(self.columns)}")

    def number(self, column: str) -> str:
        """Return the name of a column of numbers; NULL for what is not finite."""
        return self.value(self.dialect.to_double(f"t.{self.dialect.quoted(column)}"))

    def code(self, expression: str) -> str:
        """Return the name of what is computed of values, once for each row."""
        return self.codes.setdefault(expression, f"nb_k{len(self.codes)}")

    def stage(self) -> Stage:
        """Return the part of the query that has room for one more join."""
        if not self.stages or len(self.stages[-1].joins) >= JOINS_AT_ONCE:
            self.stages.append(Stage(self.n_sums))
        return self.stages[-1]

    @property
    def n_sums(self) -> int:
        return len(self.labels) * (2 if self.impossible else 1)

    def planes(self, weights: Weights) -> Array:
        """Return the weights of all sums: finite ones by class, then impossible ones."""
        finite = np.atleast_2d(weights.finite)
        if not self.impossible:
            return finite
        never = np.zeros_like(finite) if weights.impossible is None else np.atleast_2d(weights.impossible)
        return np.concatenate([finite, never], axis=1)

    @property
    def sums(self) -> list[str]:
        """The names of all sums."""
        classes = range(len(self.labels))
        return [f"s{c}" for c in classes] + ([f"z{c}" for c in classes] if self.impossible else [])


@dataclass
class Stage:
    """Some joins, and what they add to each sum."""

    n_sums: int
    joins: list[str] = field(default_factory=list)
    added: list[list[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.added = [[] for _ in range(self.n_sums)]

    def add(self, values: Sequence[str]) -> None:
        for terms, value in zip(self.added, values, strict=True):
            if value:
                terms.append(value)


@dataclass(frozen=True)
class WeightRows:
    """Rows of the table of weights: those of one term."""

    term: int
    value: list[str] | None
    number: list[float] | None
    idf: Array | None
    planes: Array


# --- terms


def add_codes(parts: Parts, number: int, term: Codes) -> None:
    """Add a column of codes: a join with its weights, or a CASE."""
    dialect, names = parts.dialect, _names_of(term)
    read = f"i.{_code(parts, term)}"
    planes = parts.planes(term.weights)
    known, unseen = planes[:-1], planes[-1]
    stage = parts.stage()
    if not parts.joined:
        stage.add([_case(dialect, read, names, known[:, k], float(unseen[k])) for k in range(planes.shape[1])])
        return
    textual = isinstance(term.coding, Names) and term.coding.kind in (TEXT, BOOLEAN)
    key, alias = "value" if textual else "number", f"w{number}"
    stage.joins.append(
        f"LEFT JOIN {parts.weights_name} AS {alias} ON {alias}.term = {number} AND {alias}.{key} = {read}"
    )
    parts.rows.append(
        WeightRows(number, names if textual else None, None if textual else list(map(float, names)), None, known)
    )
    values = []
    for name, value in zip(parts.sums, unseen.tolist(), strict=True):
        found = f"COALESCE({alias}.{name}, {dialect.number(value)})"
        values.append(found if value == 0 else f"CASE WHEN {read} IS NULL THEN 0 ELSE {found} END")
    stage.add(values)


def _names_of(term: Codes) -> list[Any]:
    coding = term.coding
    if isinstance(coding, Names):
        return [str(name).lower() for name in coding.names] if coding.kind == BOOLEAN else list(coding.names)
    return list(range(len(term.weights.finite) - 1))


def _case(dialect: Dialect, read: str, names: list[Any], weights: Array, unseen: float) -> str:
    if not weights.any() and unseen == 0:
        return ""
    whens = " ".join(
        f"WHEN {dialect.literal(name)} THEN {dialect.number(w)}"
        for name, w in zip(names, weights.tolist(), strict=True)
    )
    found = f"CASE {read} {whens} ELSE {dialect.number(unseen)} END"
    return found if unseen == 0 else f"CASE WHEN {read} IS NULL THEN 0 ELSE {found} END"


def _code(parts: Parts, term: Codes) -> str:
    """Return the name of the expression whose value names the code of a column."""
    dialect, coding, column = parts.dialect, term.coding, f"t.{parts.dialect.quoted(term.column)}"
    if isinstance(coding, Names) and coding.kind == TEXT:
        return parts.value(dialect.to_text(column))
    if isinstance(coding, Names) and coding.kind == BOOLEAN:
        return parts.value(f"CASE WHEN {column} THEN 'true' WHEN NOT {column} THEN 'false' END")
    if isinstance(coding, DatePart):
        return parts.value(dialect.date_part(column, coding.part))
    if isinstance(coding, Above):
        return parts.code(_above(dialect, parts.value(dialect.flag_to_double(column)), coding.threshold))
    if isinstance(coding, IsMissing):
        readings = {NUMBER: dialect.to_double, FLAG: dialect.flag_to_double}
        value = parts.value(readings[coding.kind](column)) if coding.kind in readings else None
        absent = "CASE WHEN {} IS NULL THEN 1 ELSE 0 END"
        return parts.value(absent.format(column)) if value is None else parts.code(absent.format(value))
    number = parts.number(term.column)
    if isinstance(coding, Bins):
        return parts.code(f"CASE WHEN {number} IS NOT NULL THEN {_bin(dialect, number, coding.ends, 0)} END")
    return number


def _above(dialect: Dialect, number: str, threshold: float) -> str:
    limit = dialect.number(threshold)
    return f"CASE WHEN {number} > {limit} THEN 1 WHEN {number} <= {limit} THEN 0 END"


def _bin(dialect: Dialect, number: str, ends: Sequence[float], first: int) -> str:
    """Return the number of the bin by halving, so that many bins take few steps."""
    if not ends:
        return str(first)
    half = len(ends) // 2
    below = _bin(dialect, number, ends[:half], first)
    above = _bin(dialect, number, ends[half + 1 :], first + half + 1)
    return f"CASE WHEN {number} < {dialect.number(ends[half])} THEN {below} ELSE {above} END"


def add_sums(parts: Parts, _: int, term: Sums) -> None:
    """Add columns of numbers times weights."""
    dialect, stage = parts.dialect, parts.stage()
    weights, base = parts.planes(term.weights), parts.planes(term.base)[0]
    missing = np.zeros_like(weights) if term.missing is None else parts.planes(term.missing)
    stage.add([dialect.number(value) if value else "" for value in base.tolist()])
    for column, of_column, without in zip(term.columns, weights, missing, strict=True):
        number = parts.number(column)
        read = number if term.threshold is None else parts.code(_above(dialect, number, term.threshold))
        pairs = zip(of_column.tolist(), without.tolist(), strict=True)
        stage.add([_product(dialect, f"i.{read}", weight, of_missing) for weight, of_missing in pairs])


def _product(dialect: Dialect, read: str, weight: float, missing: float) -> str:
    if weight == 0 and missing == 0:
        return ""
    return f"COALESCE({read} * {dialect.number(weight)}, {dialect.number(missing)})"


def add_densities(parts: Parts, _: int, term: Densities) -> None:
    """Add a column of numbers with densities, by arithmetic."""
    dialect, support = parts.dialect, term.family.support
    known = np.isfinite(term.parameters[-1])
    try:
        node = formula(term.family.log_density, tuple(np.where(known, values, 1.0) for values in term.parameters))
        read = f"i.{_supported(parts, parts.number(term.column), support)}"
        values = [written(node, read, k, dialect) for k in range(len(parts.labels))]
    except Unwritable as error:
        raise InputError(
            f"column {term.column!r}: the density of {type(term.family).__name__} needs a function that SQL has not "
            f"({error}); take the column for another family (columns=)"
        ) from None
    found = [f"COALESCE({value}, 0)" if here else "" for value, here in zip(values, known.tolist(), strict=True)]
    parts.stage().add(found + [""] * (parts.n_sums - len(found)))


def _supported(parts: Parts, number: str, support: Any) -> str:
    """Return the name of a number that is NULL outside of the support of a density."""
    limits, dialect = [], parts.dialect
    if np.isfinite(support.low):
        limits.append(f"{number} {'>=' if support.closed else '>'} {dialect.number(support.low)}")
    if np.isfinite(support.high):
        limits.append(f"{number} < {dialect.number(support.high)}")
    if support.whole:
        limits.append(f"{number} = FLOOR({number})")
    return parts.code(f"CASE WHEN {' AND '.join(limits)} THEN {number} END") if limits else number


def add_words(parts: Parts, number: int, term: Words) -> None:
    """Add a column of texts: its words, split and joined with their weights."""
    dialect, tokens, source = parts.dialect, term.tokens, f"naively_text{number}"
    check_exportable(f"column {term.column!r}", tokens, term.words)
    parts.reads_texts = True
    known = characters_of(tokens.kind)
    text = parts.value(dialect.to_text(f"t.{dialect.quoted(term.column)}"))
    lower = known.lower_for(term.words) if tokens.lowercase else []
    query = dialect.tokens(text, "naively_input", known, lower)
    limits = ["LENGTH(word) > 1"] if tokens.kind == "sklearn" else []
    if tokens.stop_words:
        limits.append(f"word NOT IN ({', '.join(map(dialect.string, sorted(tokens.stop_words)))})")
    if limits:
        query = f"SELECT * FROM ({query}) AS words WHERE {' AND '.join(limits)}"
    parts.queries.append((f"{source}_words", query))
    grams = _sequences(f"{source}_words", tokens.ngrams)
    if term.weighting == "binary":
        grams = f"SELECT DISTINCT naively_row, word FROM ({grams}) AS words"
    elif term.weighting == "tfidf":
        grams = f"SELECT naively_row, word, COUNT(*) AS n FROM ({grams}) AS words GROUP BY naively_row, word"
    factor = "(1 + LN(n)) * w.idf" if term.weighting == "tfidf" else ""
    length = f" / SQRT(SUM({factor} * {factor}))" if factor else ""
    listed = ", ".join(f"SUM({factor + ' * ' if factor else ''}w.{name}){length} AS {name}" for name in parts.sums)
    parts.queries.append(
        (source, f"SELECT naively_row, {listed} FROM ({grams}) AS g\n"
         f"JOIN {parts.weights_name} AS w ON w.term = {number} AND w.value = g.word GROUP BY naively_row")
    )  # fmt: skip
    stage, alias = parts.stage(), f"w{number}"
    stage.joins.append(f"LEFT JOIN {source} AS {alias} ON {alias}.naively_row = i.naively_row")
    base = parts.planes(term.base)[0].tolist()
    stage.add(
        [
            f"COALESCE({alias}.{name}, 0)"
            + (f" + CASE WHEN i.{text} IS NULL THEN 0 ELSE {dialect.number(value)} END" if value else "")
            for name, value in zip(parts.sums, base, strict=True)
        ]
    )
    parts.rows.append(WeightRows(number, list(term.words), None, term.idf, parts.planes(term.weights)))


def _sequences(words: str, ngrams: tuple[int, int]) -> str:
    """Return the query of sequences of words."""
    low, high = ngrams
    if high == 1:
        return f"SELECT naively_row, word FROM {words}"
    window = "OVER (PARTITION BY naively_row ORDER BY place)"
    leads = ", ".join(f"LEAD(word, {k}) {window} AS word{k}" for k in range(1, high))
    source = f"(SELECT naively_row, word AS word0, {leads} FROM {words}) AS near"
    each = []
    for n in range(low, high + 1):
        joined = " || ' ' || ".join(f"word{k}" for k in range(n))
        each.append(f"SELECT naively_row, {joined} AS word FROM {source} WHERE word{n - 1} IS NOT NULL")
    return " UNION ALL ".join(each)


# --- all terms


def parts_of(terms: Terms, dialect: Dialect, weights_name: str, *, joined: bool) -> Parts:
    """Return the parts of the query of a model."""
    if len(terms.labels) > MOST_CLASSES:
        raise InputError(
            f"{terms.who}: a table of weights has a column for each class, and {len(terms.labels)} classes are more "
            f"than {MOST_CLASSES}"
        )
    for label in terms.labels:
        if not isinstance(label, (str, bool, int, float)):
            raise InputError(f"{terms.who}: the class {label!r} has no literal in SQL; use labels of text or numbers")
    parts = Parts(dialect, terms.labels, weights_name, terms.has_impossible, joined)
    add: dict[type, Any] = {Codes: add_codes, Sums: add_sums, Densities: add_densities, Words: add_words}
    for number, term in enumerate(terms.terms):
        add[type(term)](parts, number, term)
    return parts


def weights_table(parts: Parts) -> pa.Table | None:
    """Return the table of weights; None where the query holds them all."""
    import pyarrow as pa

    if not parts.rows:
        return None
    tables = []
    for rows in parts.rows:
        size = len(rows.planes)
        columns: dict[str, Any] = {
            "term": pa.array(np.full(size, rows.term), pa.int32()),
            "value": pa.nulls(size, pa.string()) if rows.value is None else pa.array(rows.value, pa.string()),
            "number": pa.nulls(size, pa.float64()) if rows.number is None else pa.array(rows.number, pa.float64()),
            "idf": pa.nulls(size, pa.float64()) if rows.idf is None else pa.array(rows.idf),
        }
        columns |= {name: np.ascontiguousarray(rows.planes[:, j]) for j, name in enumerate(parts.sums)}
        tables.append(pa.table(columns))
    return pa.concat_tables(tables)
