"""Checks rows of arrays and matrices, once, and returns them ready to count."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.estimators.matrix import as_matrix, check_names, check_width
from naively.names import Index
from naively.read.detect import is_a, missing_entries
from naively.read.matrix import NATIVE, Rows, is_sparse_matrix, native
from naively.read.shapes import in_memory, with_masks


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Shape and column names as scikit-learn checks them; values are left for the counting to check."""
    check_names(estimator, X, reset=reset)
    rows = as_matrix(X, type(estimator).__name__)
    check_width(estimator, rows, reset=reset)
    return rows


def as_array(X: Any) -> Any:
    """Return arrays of other libraries as NumPy's, and masked entries as NaN (of text: None)."""
    X = with_masks(in_memory(X))
    if not is_a(X, "numpy.ma.MaskedArray"):
        return X
    mask, values = np.ma.getmaskarray(X), np.ma.getdata(X)
    if values.dtype.kind in "OUST":
        values = values.astype(object)
        values[mask] = None
        return values
    if values.dtype.kind in "biu" and mask.any():
        _check_exact(values, mask)
        return np.where(mask, np.nan, values.astype(np.float64))
    if values.dtype.kind not in "fcmM":
        return values
    return np.where(mask, np.array("NaT" if values.dtype.kind in "mM" else np.nan, values.dtype), values)


def _check_exact(values: Array, mask: Array) -> None:
    """Raise InputError if a whole number would change as a float64, the type that NaN needs."""
    wide = ~mask & ((values > 1 << 53) | (values < -(1 << 53)))
    if wide.any():
        where = tuple(np.argwhere(wide)[0].tolist())
        raise InputError(
            f"row {where[0]}, column {where[-1]}: {values[where]} is beyond 2^53, and masked entries need floats, "
            "which would change it; convert the array to float64, or leave the rows with masked entries out"
        )


def is_plain(estimator: Any, X: Any) -> bool:
    """True for a plain array or CSR matrix of the expected shape, which needs no further checks."""
    readable = X.format == "csr" if is_sparse_matrix(X) else type(X) is np.ndarray and X.ndim == 2
    return (
        readable
        and X.dtype in NATIVE
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    )


def numbers(X: Any, names: Array | None, *, once: bool = False) -> Rows:
    """Return rows of numbers; None, NaN and pandas.NA become NaN."""
    if is_sparse_matrix(X):
        return native(X, once=once)
    if X.dtype.kind in "mM":
        raise InputError(f"expected numbers, got dates ({X.dtype}); take their parts (year, month, weekday) as columns")
    if X.dtype.kind in "OUS":
        X = _as_floats(X, Index(X.shape[1]) if names is None else Index.of(names))
    return native(X)


def _as_floats(X: Array, features: Index) -> Array:
    result = np.full(X.shape, np.nan)
    known = ~missing_entries(X)
    try:
        result[known] = X[known].astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        for row, column in np.argwhere(known).tolist():
            value = X[row, column]
            where = f"row {row}, column {features.name(column)!r}"
            try:
                float(value)
            except OverflowError:
                raise InputError(f"{where}: the number is beyond what float64 holds; rescale the column") from None
            except ValueError:
                raise InputError(
                    f"{where}: expected a number, got {str(value)!r}; drop or encode the column, "
                    "or use CategoricalNB for text"
                ) from None
            except TypeError:
                raise TypeError(f"{where}: argument must be a string or a number, got {type(value).__name__}") from None
        raise
    return result
