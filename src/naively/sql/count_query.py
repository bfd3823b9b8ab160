"""The query that counts a table.

>>> from naively import Categorical, Number
>>> from naively.sql import count_query
>>> query = count_query({"city": Categorical(), "rent": Number()}, "homes", "duckdb", label="tenant")
>>> "GROUPING SETS ((class), (class, x0), (class, x1))" in query
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from naively.errors import InputError
from naively.families.columns.declared import Bernoulli, Categorical, Complement, Dates, Multinomial, Rule, Text
from naively.families.densities.gaussian import Gaussian
from naively.learn.words import words_family
from naively.score.export.sql.counting import Counted
from naively.score.export.sql.counting import count_query as written
from naively.score.export.sql.dialects import dialect_of
from naively.score.export.terms import FLAG, NUMBER, TEXT, TIME


def count_query(
    schema: Mapping[Any, Rule | None], table: str, dialect: str, *, label: str, key: str | None = None
) -> str:
    """Return a query that counts a table, so that `from_counts` makes the model of its rows.

    Its columns are class, column, value (texts), number, count and documents.

    Parameters
    ----------
    schema : dict
        Families of columns by name, as `NaiveBayes(columns=)` takes them; None leaves a column out. `Categorical()`
        counts values as texts; a column of whole numbers is `Number()` or `Histogram()`.
    table : str
        Name of the table.
    dialect : {"duckdb", "sqlite", "postgresql", "spark"}
        The database; SQLite counts no words.
    label : str
        The column of labels; rows without one are left out.
    key : str, default=None
        A column that tells rows apart, which Spark needs to count words.

    Returns
    -------
    query : str
    """
    if not isinstance(schema, Mapping):
        raise InputError(f"schema must be a dict from column names to families, got {type(schema).__name__}")
    kind = dialect_of(dialect)
    columns = [_counted(name, rule) for name, rule in schema.items() if rule is not None]
    if not columns:
        raise InputError("schema names no column to count")
    return written(kind, kind.quoted(table), label, columns, key)


def _counted(name: Any, rule: Any) -> Counted:
    if not isinstance(rule, Rule):
        raise InputError(f"schema[{name!r}]: expected a family such as Number(), got {rule!r}")
    together = isinstance(rule, (Multinomial, Complement)) or (
        isinstance(rule, Gaussian) and rule.covariance != "diagonal"
    )
    if isinstance(name, tuple) or together:
        raise InputError(f"schema[{name!r}]: columns are counted one by one, which is not enough for {rule.label}")
    if isinstance(rule, Text):
        parameters = {field.name: getattr(rule, field.name) for field in fields(rule)}
        return Counted(name, TEXT, words_family("count_query", parameters).tokens)
    kinds = {Categorical: TEXT, Dates: TIME, Bernoulli: FLAG}
    return Counted(name, kinds.get(type(rule), NUMBER))
