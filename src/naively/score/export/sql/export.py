"""The export of a model as SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from naively.errors import InputError
from naively.score.export.sql.dialects import dialect_of
from naively.score.export.sql.parts import parts_of, weights_table
from naively.score.export.sql.query import select
from naively.score.export.terms import Codes, Terms, Words

if TYPE_CHECKING:
    import pyarrow as pa

FORMS = ("auto", "join", "case")
SMALL = 200
"""A model with no more weights than this is written as CASE expressions, without a table of weights."""


@dataclass(frozen=True, eq=False)
class SqlExport:
    """A query that scores a table, and the table of weights that it joins (None: the query holds all weights).

    `str()` of it is a script: the statements that make the table of weights, then the query.
    """

    dialect: str
    query: str
    weights: pa.Table | None
    weights_name: str

    @property
    def setup(self) -> list[str]:
        """The statements that make the table of weights."""
        if self.weights is None:
            return []
        dialect = dialect_of(self.dialect)
        kinds = {"int32": "int", "string": "text", "double": "double"}
        columns = [(field.name, kinds[str(field.type)]) for field in self.weights.schema]
        written = [[_written(dialect, value) for value in column.to_pylist()] for column in self.weights.itercolumns()]
        rows = [f"({', '.join(row)})" for row in zip(*written, strict=True)]
        return dialect.weights_table(self.weights_name, columns, rows)

    def __str__(self) -> str:
        return "".join(f"{statement};\n" for statement in [*self.setup, self.query])

    def __repr__(self) -> str:
        n_weights = 0 if self.weights is None else self.weights.num_rows
        return f"SqlExport({self.dialect}, {len(self.query):_} characters, {n_weights:_} rows of weights)"


def _written(dialect: Any, value: Any) -> str:
    return "NULL" if value is None else dialect.literal(value)


def to_sql(terms: Terms, dialect: str, *, table: str, keep: str | Sequence[str], form: str, weights: str) -> SqlExport:
    """Return the query of a model; see `Predictor.to_sql`."""
    if form not in FORMS:
        raise InputError(f"form must be one of {', '.join(FORMS)}, got {form!r}")
    kind = dialect_of(dialect)
    joined = form == "join" or (form == "auto" and _size(terms) > SMALL)
    name = kind.quoted(weights)
    parts = parts_of(terms, kind, name, joined=joined)
    query = select(terms, parts, kind.quoted(table), [keep] if isinstance(keep, str) else list(keep))
    return SqlExport(dialect, query, weights_table(parts), weights)


def _size(terms: Terms) -> int:
    """Return the number of weights that a join would look up."""
    return sum(term.weights.finite.size for term in terms.terms if isinstance(term, (Codes, Words)))
