"""Reads rows that come one by one: a dict for each, with a value for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from naively.errors import InputError


def is_row(X: Mapping[Any, Any]) -> bool:
    """True if a dict is one row: a single value for each column, and not a list of values.

    >>> is_row({"age": 31, "city": None}), is_row({"age": [31, 32]}), is_row({})
    (True, False, False)
    """
    return bool(X) and all(isinstance(v, (str, bytes)) or not hasattr(v, "__len__") for v in X.values())


def columns_of_rows(rows: Sequence[Any]) -> dict[Any, list[Any]]:
    """Return the columns of a list of dicts; a column that a row does not have is missing there.

    >>> columns_of_rows([{"age": 31}, {"city": "Rome", "age": 8}])
    {'age': [31, 8], 'city': [None, 'Rome']}
    """
    columns: dict[Any, list[Any]] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"row {number}: expected a dict as in the rows before, got {type(row).__name__}")
        for name, value in row.items():
            if not isinstance(value, (str, bytes)) and hasattr(value, "__len__"):
                kind = type(value).__name__
                raise InputError(f"row {number}, column {name!r}: expected a single value, got {kind}")
            if name not in columns:
                columns[name] = [None] * len(rows)
            columns[name][number] = value
    return columns
