"""Detection: the library that a value comes from, and objects that stand for a missing value.

Libraries are looked up among those that are loaded, never imported to look. One that another thread is just importing
counts as not loaded: nobody has a value of it yet.
"""

from __future__ import annotations

import sys
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError


def loaded(name: str) -> Any:
    """Return a class, object or function of a library that is loaded, such as "pandas.NA"; None if it is not."""
    library, _, attribute = name.rpartition(".")
    return getattr(sys.modules.get(library), attribute, None)


def is_a(value: Any, *classes: str) -> bool:
    """True if a value is of one of these classes, named with the library that they belong to.

    >>> is_a([1.0], "pandas.Series", "polars.Series")
    False
    """
    for name in classes:
        kind = loaded(name)
        if kind is not None and isinstance(value, kind):
            return True
    return False


DISTRIBUTED = {
    "pyspark.sql.DataFrame": "spark",
    "dask.dataframe.DataFrame": "dask",
    "ray.data.Dataset": "ray",
}
"""The tables whose rows lie on many machines, and the engine that counts them."""
_ENGINES: dict[str, Any] = {}


def register_engine(name: str, fit: Any) -> None:
    """Make `fit(learner, table, label, weight)` the way in which tables of an engine are counted."""
    _ENGINES[name] = fit


def engine_for(X: Any) -> Any:
    """Return the function that fits a learner on a distributed table; None for other values."""
    for kind, name in DISTRIBUTED.items():
        if is_a(X, kind):
            if name not in _ENGINES:
                raise InputError(f"{kind} is counted by naively.{name}: write 'from naively import {name}' first")
            return _ENGINES[name]
    return None


def is_missing(value: Any) -> bool:
    """True if an object stands for a missing value: None, NaN, pandas.NA or pandas.NaT.

    >>> [is_missing(value) for value in (None, float("nan"), 0.0, "")]
    [True, True, False, False]
    """
    if value is None or value is loaded("pandas.NA") or value is loaded("pandas.NaT"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def missing_entries(values: Array) -> Array:
    """True for each entry of an array that stands for a missing value."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype != object:
        return np.zeros(values.shape, bool)
    isna = loaded("pandas.isna")
    try:
        if isna is not None:
            return np.asarray(isna(values))
        found = [value is None or value != value for value in values.ravel()]
    except InvalidOperation:  # Decimal("sNaN") cannot even be compared
        row = next(i for i, value in enumerate(values) if isinstance(value, Decimal) and value.is_snan())
        raise InputError(f"Input y contains NaN: label of row {row} is {values[row]!r}; leave such rows out") from None
    return np.array(found, dtype=bool).reshape(values.shape)
