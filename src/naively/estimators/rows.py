"""The border: rows as users of arrays and matrices hand them over, checked once and made ready for counting."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.columns import Categories
from naively.errors import InputError
from naively.estimators.matrix import as_matrix, check_names, check_width
from naively.names import Index
from naively.read.detect import is_a, missing_entries
from naively.read.label_codes import encode, sorted_index
from naively.read.matrix import NATIVE, Rows, is_sparse_matrix, native
from naively.read.shapes import in_memory, with_masks


def check_rows(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Shape and column names as scikit-learn checks them; values are left for the counting to check."""
    if not reset and _plain(estimator, X):
        return X
    X = as_array(X)
    check_names(estimator, X, reset=reset)
    rows = as_matrix(X, type(estimator).__name__)
    check_width(estimator, rows, reset=reset)
    return rows


def as_array(X: Any) -> Any:
    """Return arrays of other libraries as NumPy's, and masked entries as NaN (of text: None)."""
    X = with_masks(in_memory(X))
    if not is_a(X, "numpy.ma.MaskedArray"):
        return X
    holes, values = np.ma.getmaskarray(X), np.ma.getdata(X)
    if values.dtype.kind in "OUST":
        values = values.astype(object)
        values[holes] = None
        return values
    if values.dtype.kind in "biu" and holes.any():
        _check_exact(values, holes)
        return np.where(holes, np.nan, values.astype(np.float64))
    if values.dtype.kind not in "fcmM":
        return values
    return np.where(holes, np.array("NaT" if values.dtype.kind in "mM" else np.nan, values.dtype), values)


def _check_exact(values: Array, holes: Array) -> None:
    """Raise where a whole number would change as a float64, which is what NaN needs."""
    wide = ~holes & ((values > 1 << 53) | (values < -(1 << 53)))
    if wide.any():
        where = tuple(np.argwhere(wide)[0].tolist())
        raise InputError(
            f"row {where[0]}, column {where[-1]}: {values[where]} is beyond 2^53, and masked entries need floats, "
            "which would change it; convert the array to float64, or leave the rows with masked entries out"
        )


def _plain(estimator: Any, X: Any) -> bool:
    """Whether nothing needs to be looked at but the shape, which is as it should be."""
    readable = X.format == "csr" if is_sparse_matrix(X) else type(X) is np.ndarray and X.ndim == 2
    return (
        readable
        and X.dtype in NATIVE
        and X.shape[0] > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
    )


def numbers(X: Any, features: Index, *, once: bool = False) -> Rows:
    """Rows of numbers; None, NaN and pandas.NA become NaN."""
    if is_sparse_matrix(X):
        return native(X, once=once)
    if X.dtype.kind in "mM":
        raise InputError(f"expected numbers, got dates ({X.dtype}); take their parts (year, month, weekday) as columns")
    if X.dtype.kind in "OUS":
        X = _as_floats(X, features)
    return native(X)


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


def category_codes(X: Any, known: Categories, *, grow: bool, named: bool) -> tuple[Rows, Categories]:
    """Rows of category codes, and the categories with those that came new where they may `grow`.

    A column of numbers holds its codes, unless they are `named`; a column of names gets a code for each. An unknown
    one is then coded as one more than there are.
    """
    text = [j for j, column in enumerate(known.values) if column.names is not None and column.names.dtype.kind != "f"]
    if is_sparse_matrix(X) and text:
        raise _changed(known.columns.name(text[0]), "text", "numbers")
    if not named and (is_sparse_matrix(X) or (X.dtype.kind not in "OUSmM" and not text)):
        return native(X), known
    X = X.toarray() if is_sparse_matrix(X) else X
    X = X if X.dtype.kind in "OUS" else X.astype(object)
    codes = np.empty(X.shape, dtype=np.float64)
    values = list(known.values)
    for j in range(X.shape[1]):
        codes[:, j], values[j] = _column_codes(X[:, j], values[j], known.columns.name(j), grow, named)
    same = all(a is b for a, b in zip(values, known.values, strict=True))
    return codes, known if same else Categories(known.columns, tuple(values))


def _changed(name: Any, before: str, now: str) -> InputError:
    return InputError(f"column {name!r}: its categories were {before}, now {now}; convert them to {before}")


def _column_codes(column: Array, known: Index, name: Any, grow: bool, named: bool) -> tuple[Array, Index]:
    holes = missing_entries(column) if column.dtype == object else np.zeros(len(column), bool)
    result = np.full(len(column), np.nan)
    present = column[~holes]
    if not len(present):
        return result, known
    if _is_text(column, holes, name):
        if known.size and (known.names is None or known.names.dtype.kind == "f"):
            raise _changed(name, "numbers", "text")
    else:
        if known.names is not None and known.names.dtype.kind != "f":
            raise _changed(name, "text", "numbers")
        present = present.astype(np.float64)
        if not named:
            result[~holes] = present
            return result, known
        _check_names(column, holes, present, name)
    result[~holes], index = _name_codes(present, known, grow)
    return result, index


def _is_text(column: Array, holes: Array, name: Any) -> bool:
    """Whether the values that are there are text; they must be all text or all numbers."""
    if column.dtype != object:
        return True
    texts = np.array([isinstance(v, str) for v in column[~holes]])
    if texts.all():
        return True
    odd = [i for i, v in enumerate(column) if not holes[i] and not isinstance(v, (str, *_NUMBERS))]
    if odd:
        raise TypeError(
            f"row {odd[0]}, column {name!r}: argument must be a string or a number, got {type(column[odd[0]]).__name__}"
        )
    if texts.any():
        row = int(np.flatnonzero(~holes)[np.argmin(texts)])
        raise InputError(
            f"row {row}, column {name!r}: text and numbers are mixed, got {column[row]!r}; convert one kind"
        )
    return False


_NUMBERS = (int, float, bool, np.number, np.bool_)
_EXACT = float(1 << 53)


def _check_names(column: Array, holes: Array, present: Array, name: Any) -> None:
    """Numbers that are names must be told apart."""
    bad = ~(np.abs(present) < _EXACT)
    if bad.any():
        row = int(np.flatnonzero(~holes)[np.argmax(bad)])
        raise InputError(
            f"row {row}, column {name!r}: a number that names a category must be finite and within 2^53, "
            f"got {column[row]!r}; convert the column to text"
        )


def _name_codes(present: Array, known: Index, grow: bool) -> tuple[Array, Index]:
    codes, distinct = encode(present + 0.0 if present.dtype.kind == "f" else present)
    index = known
    if grow:
        index = sorted_index(distinct) if known.names is None else known.extended(distinct.tolist())
    places = index.locate(distinct)
    return np.where(places >= 0, places, index.size)[codes], index
