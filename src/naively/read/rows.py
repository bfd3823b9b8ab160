"""Reads rows that come one by one: a dict for each, with a value for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.read.detect import is_missing


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


def are_rows(X: Any) -> bool:
    """True for one row as a dict, or a list of such."""
    if isinstance(X, list):
        return bool(X) and isinstance(X[0], Mapping)
    return isinstance(X, Mapping) and not hasattr(X, "tocsr")  # a sparse matrix may be a dict of its entries


def numbers_of_rows(rows: Any, names: Sequence[str]) -> Array:
    """Return the numbers of these columns in each row (one dict, or a list); NaN where a row does not have them.

    >>> numbers_of_rows([{"a": 1, "b": None}, {"b": 2.5, "c": 7}], ["a", "b"])
    array([[1. , nan],
           [nan, 2.5]])
    """
    listed, nothing = [rows] if isinstance(rows, Mapping) else rows, float("nan")
    try:
        found = np.array([[row.get(name, nothing) for name in names] for row in listed], np.float64)
    except (TypeError, ValueError, AttributeError, OverflowError):
        found = None
    if found is None or found.ndim != 2:
        found = np.array([[_number(row, i, name) for name in names] for i, row in enumerate(listed)], np.float64)
    return found


def _number(row: Any, number: int, name: str) -> float:
    """Return one value of a row; raise an error that names it if it is no number."""
    if not isinstance(row, Mapping):
        raise InputError(f"row {number}: expected a dict as in the rows before, got {type(row).__name__}")
    value = row.get(name)
    if is_missing(value):
        return float("nan")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        found = repr(value) if isinstance(value, (str, bytes, int)) else f"a {type(value).__name__}"
        advice = (
            "pass a DataFrame for many rows" if hasattr(value, "__len__") else "NaiveBayes takes columns of all kinds"
        )
        raise InputError(f"row {number}, column {name!r}: expected a number, got {found[:60]}; {advice}") from None
