"""Converts the input of users to arrays of one and two dimensions; errors use the words of scikit-learn."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.read.detect import is_a
from naively.read.matrix import is_sparse_matrix


def in_memory(values: Any) -> Any:
    """Return an array of another library as a NumPy array, sharing memory if possible; anything else as it is."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack__"):
        return values
    try:
        return np.from_dlpack(values)
    except (BufferError, TypeError, ValueError, RuntimeError):
        pass  # DLPack cannot carry this type or device to NumPy
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"NumPy cannot read this array of type {type(values).__name__}: {error}; move it to main memory first"
        ) from None


def with_masks(X: Any) -> Any:
    """Return a list of masked rows as one masked array; anything else as it is."""
    listed = isinstance(X, (list, tuple)) and any(is_a(row, "numpy.ma.MaskedArray") for row in X)
    return np.ma.stack(X) if listed else X


def refuse_masked(values: Any, what: str) -> None:
    """Raise where an entry of a masked array is masked."""
    if is_a(values, "numpy.ma.MaskedArray") and np.ma.getmaskarray(values).any():
        row = int(np.argwhere(np.ma.getmaskarray(values))[0, 0])
        raise InputError(f"{what} of row {row} is masked; leave such rows out")


def one_dimensional(y: Any) -> Array:
    """Return labels as an array of one dimension; a single column of two dimensions is accepted, with a warning."""
    _refuse_matrices(y)
    refuse_masked(y, "Input y contains NaN: the label")
    array = label_array(in_memory(y))
    if array.ndim == 2 and array.shape[1] == 1:
        message = (
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples, ), for example using ravel()."
        )
        warnings.warn(message, _conversion_warning(), stacklevel=2)
    elif array.ndim != 1:
        raise InputError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
    return np.ascontiguousarray(array.reshape(-1))


def label_array(y: Any) -> Array:
    """Return labels as an array in which different labels stay different.

    >>> label_array([1, "1"]).tolist(), label_array([1, 2]).dtype
    ([1, '1'], dtype('int64'))
    """
    if is_a(y, "polars.Series") and y.dtype == sys.modules["polars"].String:
        y = y.to_list()
    if not isinstance(y, Sequence) or isinstance(y, (str, bytes)):
        return np.asarray(_plain_numbers(y))
    listed = y if isinstance(y, list) else list(y)
    if listed and isinstance(listed[0], str) and set(map(type, listed)) == {str}:
        if "\0" in "".join(listed):  # NumPy would drop it from the end of a text
            return _objects(listed)
        return np.fromiter(listed, f"U{max(map(len, listed)) or 1}", len(listed))
    try:
        array = np.asarray(listed)
    except ValueError:  # lists of different lengths
        row = next(i for i, label in enumerate(listed) if isinstance(label, Sequence) and not isinstance(label, str))
        raise InputError(
            f"label of row {row} is a {type(listed[row]).__name__}, {listed[row]!r}; a label is one text or number"
        ) from None
    return array if array.ndim != 1 or _is_faithful(array, listed) else _objects(listed)


def _is_faithful(array: Array, listed: list[Any]) -> bool:
    """True if no label was changed when NumPy converted all labels to one type."""
    if array.dtype.kind == "f" and np.abs(array).max(initial=0.0) < _EXACT:
        return True
    return array.dtype.kind not in "fSU" or array.tolist() == listed


_EXACT = 2.0**53
"""Whole numbers below this are exact as floats."""


def _objects(listed: list[Any]) -> Array:
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def two_dimensional(X: Any) -> Array:
    """Return rows as an array of two dimensions."""
    _refuse_matrices(X)
    array = np.asarray(in_memory(X))
    if array.dtype.kind == "c":
        raise InputError(f"Complex data not supported\n{array}\n")
    if array.ndim < 2:
        got = "scalar" if array.ndim == 0 else "1D"
        raise InputError(
            f"Expected 2D array, got {got} array instead:\narray={array}.\nReshape your data either using "
            "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single "
            "sample."
        )
    if array.ndim > 2:
        raise InputError(f"Found array with dim {array.ndim}, while dim <= 2 is required.")
    return array


def _refuse_matrices(values: Any) -> None:
    if isinstance(values, np.matrix):
        raise TypeError("np.matrix is not supported. Please convert to a numpy array with np.asarray.")
    if is_sparse_matrix(values):
        raise TypeError("Sparse data was passed, but dense data is required. Use '.toarray()' to convert it.")


def _plain_numbers(y: Any) -> Any:
    """Convert pandas' own numbers and flags to float64, where missing is NaN; whole numbers beyond 2^53 stay as they
    are.
    """
    one_column = is_a(y, "pandas.DataFrame") and y.shape[1] == 1
    dtype = y.dtypes.iloc[0] if one_column else getattr(y, "dtype", None)
    if not is_a(dtype, "pandas.api.extensions.ExtensionDtype") or is_a(dtype, "pandas.SparseDtype"):
        return y
    of = sys.modules["pandas.api.types"]
    numbers = of.is_bool_dtype(dtype) or of.is_integer_dtype(dtype) or of.is_float_dtype(dtype)
    if not numbers:
        return y
    floats = y.astype(np.float64)
    wide = of.is_integer_dtype(dtype) and (np.abs(np.asarray(floats)) >= _EXACT).any()
    return y.astype(object) if wide else floats


def _conversion_warning() -> type[Warning]:
    """Return scikit-learn's category of warning if it is loaded."""
    return getattr(sys.modules.get("sklearn.exceptions"), "DataConversionWarning", UserWarning)
