"""The border: rows, labels and weights as users hand them over, checked once and made ready for counting."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d, validate_data

from naively import _core
from naively.cells import Array
from naively.errors import InputError, NeverCounted
from naively.names import Categories, Index
from naively.natives import NATIVE
from naively.rows import Rows, native


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Shape and column names as scikit-learn checks them; values are left for the counting to check."""
    if not reset and _plain(estimator, X):
        return X
    return validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False, skip_check_array=False
    )


def _plain(estimator: Any, X: Any) -> bool:
    """Whether nothing needs to be looked at but the shape, which is as it should be."""
    readable = X.format == "csr" if sparse.issparse(X) else type(X) is np.ndarray and X.ndim == 2
    return (
        readable
        and X.dtype in NATIVE
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    )


def numbers(X: Any, features: Index, *, once: bool = False) -> Rows:
    """Rows of numbers; None, NaN and pandas.NA become NaN."""
    if sparse.issparse(X):
        return native(X, once=once)
    if X.dtype.kind in "mM":
        raise InputError(f"expected numbers, got dates ({X.dtype}); take their parts (year, month, weekday) as columns")
    if X.dtype.kind in "OUS":
        X = _as_floats(X, features)
    return native(X)


def missing_entries(values: Array) -> Array:
    """Which entries of an object array are None, NaN or pandas.NA."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        return np.asarray(pandas.isna(values))
    return np.array([v is None or v != v for v in values.ravel()], dtype=bool).reshape(values.shape)


def _as_floats(X: Array, features: Index) -> Array:
    result = np.full(X.shape, np.nan)
    known = ~missing_entries(X) if X.dtype == object else np.ones(X.shape, bool)
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


def check_labels(y: Any, rows: int) -> Array:
    """Labels as one array, none missing."""
    if not (type(y) is np.ndarray and y.ndim == 1):
        y = column_or_1d(y, warn=True)
    if y.dtype.kind == "T":  # NumPy's variable-width strings
        y = y.astype(object)
    if len(y) != rows:
        raise InputError(f"Found input variables with inconsistent numbers of samples: X has {rows} rows, y {len(y)}")
    if y.dtype.kind == "f":
        y = y.astype(np.float64, copy=False)
        bad = ~np.isfinite(y)
        if bad.any():
            row = int(np.argmax(bad))
            what = "NaN" if np.isnan(y[row]) else "infinity"
            raise InputError(f"Input y contains {what}: label of row {row} is {y[row]}; leave such rows out")
        y = y + 0.0
        if (y != np.floor(y)).any():
            raise InputError(
                f"Unknown label type: continuous. Labels are classes, got numbers like {y[y != np.floor(y)][0]}; "
                "bin them, or use a regressor"
            )
    elif y.dtype == object:
        holes = missing_entries(y)
        if holes.any():
            row = int(np.argmax(holes))
            raise InputError(f"Input y contains NaN: label of row {row} is {y[row]!r}; leave such rows out")
    elif y.dtype.kind in "cmM":
        raise InputError(f"labels must be text or whole numbers, got {y.dtype}; convert them to text")
    return y


def encode(values: Array) -> tuple[Array, Array]:
    """The number of each value, and the distinct values in the order in which they appear."""
    if values.dtype == object:
        try:
            numbers: dict[Any, int] = {}
            codes = np.fromiter((numbers.setdefault(v, len(numbers)) for v in values), np.int32, len(values))
        except TypeError as error:
            raise TypeError(f"labels must be strings or numbers: {error}") from None
        distinct = np.empty(len(numbers), dtype=object)
        distinct[:] = list(numbers)
        return codes, distinct
    values = np.ascontiguousarray(values)
    width = values.dtype.itemsize
    codes, firsts = _core.encode(
        values.view(np.uint8).reshape(len(values), width) if width else np.zeros((len(values), 0), np.uint8)
    )
    return codes, values[firsts]


def number_labels(y: Array, known: Index | None) -> tuple[Array, Index]:
    """The class number of each label. New labels come behind the known ones; without any, they are sorted."""
    return number_codes(*encode(y), known)


def number_codes(codes: Array, distinct: Array, known: Index | None) -> tuple[Array, Index]:
    """The same for labels that have numbers among the distinct ones already."""
    index = sorted_index(distinct) if known is None else known
    places = index.locate(distinct)
    if places.min(initial=0) < 0:
        index = index.extended(distinct.tolist())
        places = index.locate(distinct)
    return places.astype(np.int32)[codes], index


def sorted_index(labels: Any) -> Index:
    """Labels in sorted order."""
    array = Index.of(labels if isinstance(labels, np.ndarray) else np.asarray(labels)).names
    assert array is not None
    return Index.of(np.sort(array))


def known_classes(classes: Index, known: Index) -> None:
    """Raises where there are classes that were never counted."""
    if classes.size > known.size:
        label = classes.name(known.size)
        raise NeverCounted(
            f"cannot forget or leave out rows of class {label!r}, which was never counted; nothing was changed"
        )


def check_weights(weight: Any, rows: int) -> Array | None:
    """Weights as float64, none below zero, missing or infinite."""
    if weight is None:
        return None
    try:
        weight = np.asarray(weight)
        if weight.dtype.kind == "c":
            raise TypeError
        weight = weight.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("sample_weight must be numbers, one for each row") from None
    if weight.ndim == 0:
        weight = np.full(rows, float(weight))
    if weight.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D")
    if weight.shape != (rows,):
        raise InputError(f"sample_weight.shape == {weight.shape}, expected {(rows,)}: one weight for each row")
    bad = ~(weight >= 0) | ~np.isfinite(weight)
    if bad.any():
        row = int(np.argmax(bad))
        problem = (
            "Negative values in data passed to `sample_weight`"
            if weight[row] < 0
            else "sample_weight contains NaN or infinity"
        )
        raise InputError(f"{problem}: row {row} is {weight[row]}; weights must be finite and 0 or more")
    if float(weight.max(initial=0.0)) * max(rows, 1) == np.inf:
        raise InputError("sample_weight adds up to more than float64 holds; divide the weights by a common factor")
    if rows and not weight.any():
        raise InputError("sample_weight: every weight is zero, so there is nothing to count; leave some above zero")
    return np.ascontiguousarray(weight)


def category_codes(X: Any, known: Categories, *, grow: bool) -> tuple[Rows, Categories]:
    """Rows of category codes, and the categories with those that came new where they may `grow`.

    A column of numbers holds its codes; a column of text gets a code for each word. An unknown one is then coded as
    one more than there are.
    """
    text = [j for j, column in enumerate(known.values) if column.names is not None]
    if sparse.issparse(X) and text:
        raise _changed(known.columns.name(text[0]), "text", "numbers")
    if sparse.issparse(X) or (X.dtype.kind not in "OUSmM" and not text):
        return native(X), known
    X = X if X.dtype.kind in "OUS" else X.astype(object)
    codes = np.empty(X.shape, dtype=np.float64)
    values = list(known.values)
    for j in range(X.shape[1]):
        codes[:, j], values[j] = _column_codes(X[:, j], values[j], known.columns.name(j), grow)
    same = all(a is b for a, b in zip(values, known.values, strict=True))
    return codes, known if same else Categories(known.columns, tuple(values))


def _changed(name: Any, before: str, now: str) -> InputError:
    return InputError(f"column {name!r}: its categories were {before}, now {now}; convert them to {before}")


def _column_codes(column: Array, known: Index, name: Any, grow: bool) -> tuple[Array, Index]:
    holes = missing_entries(column) if column.dtype == object else np.zeros(len(column), bool)
    result = np.full(len(column), np.nan)
    present = column[~holes]
    if not len(present):
        return result, known
    texts = [isinstance(v, str) for v in present] if column.dtype == object else [True]
    if not any(texts) and column.dtype == object:
        odd = next(
            (i for i, v in enumerate(present) if not isinstance(v, (int, float, bool, np.number, np.bool_))), None
        )
        if odd is not None:
            row = int(np.flatnonzero(~holes)[odd])
            raise TypeError(
                f"row {row}, column {name!r}: argument must be a string or a number, got {type(present[odd]).__name__}"
            )
        if known.names is not None:
            raise _changed(name, "text", "numbers")
        result[~holes] = present.astype(np.float64)
        return result, known
    if not all(texts):
        row = int(np.flatnonzero(~holes)[texts.index(False)])
        value = column[row]
        if not isinstance(value, (int, float, bool, np.number, np.bool_)):
            raise TypeError(
                f"row {row}, column {name!r}: argument must be a string or a number, got {type(value).__name__}"
            )
        raise InputError(f"row {row}, column {name!r}: text and numbers are mixed, got {value!r}; convert one kind")
    if known.names is None and known.size:
        raise _changed(name, "numbers", "text")
    codes, distinct = encode(present)
    index = known
    if grow:
        index = known.extended(distinct.tolist()) if known.size else sorted_index(distinct)
    places = index.locate(distinct)
    result[~holes] = np.where(places >= 0, places, index.size)[codes]
    return result, index
