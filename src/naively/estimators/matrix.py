"""The shape and the column names of rows, checked as scikit-learn checks them and with its messages."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.read.detect import is_a
from naively.read.matrix import is_sparse_matrix
from naively.read.shapes import two_dimensional

_MOST_NAMES = 5


def as_matrix(X: Any, who: str) -> Any:
    """Rows as an array of two dimensions or as a CSR matrix, with at least one row and one column."""
    rows = _sparse(X) if is_sparse_matrix(X) else _dense(X)
    for axis, what in enumerate(("sample", "feature")):
        if rows.shape[axis] < 1:
            raise InputError(
                f"Found array with 0 {what}(s) (shape={rows.shape}) while a minimum of 1 is required by {who}."
            )
    return rows


def _sparse(X: Any) -> Any:
    if X.dtype.kind == "c":
        raise InputError(f"Complex data not supported\n{X}\n")
    if len(X.shape) != 2:
        raise InputError(f"Expected 2D input, got input with shape {X.shape}.\nReshape your data.")
    return X if X.format == "csr" else X.tocsr()


def _dense(X: Any) -> Any:
    if is_a(X, "pandas.Series"):
        raise InputError(
            f"Expected a 2-dimensional container but got {type(X)} instead. Pass a DataFrame containing a single row "
            "(i.e. single sample) or a single column (i.e. single feature) instead."
        )
    if is_a(X, "pandas.DataFrame"):
        X = _of_pandas(X)
    return X if is_sparse_matrix(X) else two_dimensional(X)


def _of_pandas(X: Any) -> Any:
    """A frame as an array of one type: numbers stay numbers where pandas would make objects of them."""
    dtypes = list(X.dtypes)
    if dtypes and all(is_a(dtype, "pandas.SparseDtype") for dtype in dtypes):
        return X.sparse.to_coo().tocsr()
    types = sys.modules["pandas"].api.types
    numeric = (types.is_bool_dtype, types.is_integer_dtype, types.is_float_dtype)
    if not all(any(is_numeric(dtype) for is_numeric in numeric) for dtype in dtypes):
        return X
    plain = all(isinstance(dtype, np.dtype) for dtype in dtypes)
    return X.astype(np.result_type(*dtypes) if plain and dtypes else np.float64)


def check_names(estimator: Any, X: Any, *, reset: bool) -> None:
    """Keep the column names of these rows as `feature_names_in_`, or compare them with those kept."""
    names = _names(X)
    if reset:
        if names is not None:
            estimator.feature_names_in_ = names
        else:
            vars(estimator).pop("feature_names_in_", None)
        return
    known, who = getattr(estimator, "feature_names_in_", None), type(estimator).__name__
    if names is not None and known is not None:
        if names.tolist() != known.tolist():
            raise InputError(_difference(set(known), set(names)))
    elif names is not None:
        warnings.warn(f"X has feature names, but {who} was fitted without feature names", stacklevel=2)
    elif known is not None:
        message = f"X does not have valid feature names, but {who} was fitted with feature names"
        warnings.warn(message, stacklevel=2)


def _names(X: Any) -> Array | None:
    """The names of the columns of a table, if they are all text; None if they are not, or if it is no table."""
    columns = getattr(X, "column_names", None) if hasattr(X, "column_names") else getattr(X, "columns", None)
    if columns is None or callable(columns) or not len(columns):
        return None
    kinds = sorted({type(name).__qualname__ for name in columns})
    if "str" in kinds and len(kinds) > 1:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Convert them all to text (with pandas, "
            "X.columns = X.columns.astype(str)), or to another type if they are to be ignored."
        )
    return np.array(list(columns), dtype=object) if kinds == ["str"] else None


def _difference(known: set[str], given: set[str]) -> str:
    lines = ["The feature names should match those that were passed during fit."]
    for head, names in (
        ("Feature names unseen at fit time:", given - known),
        ("Feature names seen at fit time, yet now missing:", known - given),
    ):
        if names:
            lines += [head, *(f"- {name}" for name in sorted(names)[:_MOST_NAMES])]
            lines += ["- ..."] * (len(names) > _MOST_NAMES)
    if known == given:
        lines.append("Feature names must be in the same order as they were in fit.")
    return "\n".join([*lines, ""])


def check_width(estimator: Any, rows: Any, *, reset: bool) -> None:
    """Keep the number of columns as `n_features_in_`, or compare it with the one kept."""
    width = rows.shape[1]
    if reset:
        estimator.n_features_in_ = width
    elif width != estimator.n_features_in_:
        raise InputError(
            f"X has {width} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input."
        )
