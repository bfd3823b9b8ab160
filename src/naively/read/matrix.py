"""Matrices: the arrays of rows that the compiled core reads, and the errors for entries that it cannot use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.names import Index
from naively.store.registry import stored

NATIVE = {np.dtype(t) for t in (np.float64, np.float32, np.int64, np.int32, np.uint8)}
"""The types of numbers that the compiled core reads."""
_LARGEST = float(np.finfo(np.float64).max)

Rows = Any  # a C-contiguous array of a native type, or a CSR matrix (or SparseRows) of one


class SparseRows(NamedTuple):
    """Compressed sparse rows as plain arrays, cheaper than a matrix of SciPy."""

    data: Array
    indices: Array
    indptr: Array
    shape: tuple[int, int]

    def matrix(self) -> Any:
        """The rows as a matrix of SciPy."""
        from scipy.sparse import csr_matrix

        return csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)


def is_sparse_matrix(X: Any) -> bool:
    """True for a sparse matrix of SciPy; SciPy is not imported for the check."""
    if isinstance(X, np.ndarray):
        return False
    issparse = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return issparse is not None and bool(issparse(X))


def is_sparse(X: Rows) -> bool:
    """True if only values other than zero are stored."""
    return isinstance(X, SparseRows) or is_sparse_matrix(X)


def entries(row: Rows) -> tuple[Array, Array]:
    """Return the values of one row that are not zero, and their columns."""
    if is_sparse(row):
        stored = slice(int(row.indptr[-1]))
        return row.data[stored], row.indices[stored]
    columns = np.flatnonzero(row[0])
    return row[0, columns], columns


@stored()
@dataclass(frozen=True)
class ValueRange:
    """The values that a family accepts, and the threshold above which they become 1 (None: unchanged)."""

    low: float = -_LARGEST
    high: float = _LARGEST
    threshold: float | None = None

    @property
    def arguments(self) -> tuple[float, float, float | None]:
        return self.low, self.high, self.threshold


def native(X: Rows, *, once: bool = False) -> Rows:
    """Return rows in a type that the core reads; nothing is copied if they have one already.

    With `once`, several entries of a sparse row in one column are added up.
    """
    if is_sparse_matrix(X):
        X = X if X.format == "csr" else X.tocsr()
        check_pointers(X)
        if once and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        data = native_values(X.data)
        if data is X.data and X.indices.dtype == X.indptr.dtype and X.indptr.dtype in NATIVE:
            return X
        same = X.indices.dtype == X.indptr.dtype and X.indptr.dtype in (np.dtype(np.int32), np.dtype(np.int64))
        wide = X.indptr.dtype if same else np.int64
        return SparseRows(data, X.indices.astype(wide), X.indptr.astype(wide), X.shape).matrix()
    return np.ascontiguousarray(native_values(X))


def check_pointers(X: Any) -> None:
    """Raise InputError if the rows of a CSR matrix are not within its stored entries."""
    starts, stored = X.indptr, len(X.indices)
    sound = len(starts) == X.shape[0] + 1 and len(X.data) == stored and starts[0] == 0 and starts[-1] <= stored
    if sound and len(starts) > 2:
        sound = bool((starts[1:] >= starts[:-1]).all())
    if not sound or starts[-1] < 0:
        raise InputError("the sparse matrix is damaged: its indptr does not fit its rows; build it anew")


def check_columns(X: Any) -> None:
    """Raise InputError if a CSR matrix names a column that it does not have."""
    if len(X.indices) and (X.indices.min() < 0 or X.indices.max() >= X.shape[1]):
        raise InputError(f"the sparse matrix is damaged: it names columns beyond its {X.shape[1]}; build it anew")


_TILE = 1 << 12


def interleaved(columns: Sequence[Array], rows: int, dtype: Any) -> Array:
    """Return columns as an array of rows, filled a few rows at a time, so that these stay in the cache."""
    result = np.empty((rows, len(columns)), dtype)
    for begin in range(0, rows, _TILE):
        for j, column in enumerate(columns):
            result[begin : begin + _TILE, j] = column[begin : begin + _TILE]
    return result


def blocks(X: Rows, width: int, cells: int = 1 << 22) -> Any:
    """Yield slices of rows such that a block of them, `width` numbers each, stays small."""
    step = max(1, cells // max(width, 1))
    for start in range(0, X.shape[0], step):
        yield slice(start, min(start + step, X.shape[0]))


def missing_mask(X: Rows) -> Any:
    """Return a sparse matrix with a one for every missing entry; None if nothing can be missing."""
    values = X.data if is_sparse(X) else X
    if values.dtype.kind != "f":
        return None
    mask = np.isnan(values)
    if not mask.any():
        return None
    if not is_sparse(X):
        from scipy.sparse import csr_matrix

        return csr_matrix(mask.astype(np.float64))
    starts = np.concatenate([[0], np.cumsum(mask)])[X.indptr].astype(X.indptr.dtype)
    return SparseRows(np.ones(mask.sum()), X.indices[mask], starts, X.shape).matrix()


class Fault(IntEnum):
    """The faults that the compiled core finds in an entry."""

    INFINITE = 1
    OUT_OF_RANGE = 2
    NOT_WHOLE = 3
    TOO_LARGE = 4
    BAD_INDEX = 5
    TOO_WIDE = 6


class RowError(InputError):
    """Raised for an entry that cannot be used. It holds the row, which can be shifted if rows were cut into blocks."""

    def __init__(self, message: str, row: int):
        super().__init__(message.replace(ROW, str(row)))
        self.message, self.row = message, row

    def offset(self, by: int) -> RowError:
        """Return the error for a row that is `by` rows further on."""
        return type(self)(self.message, self.row + by)

    def among(self, rows: Array | None) -> RowError:
        """Return the error with the number of the row in the whole table, of which `rows` (a mask; None: all) were
        used.
        """
        return self if rows is None else type(self)(self.message, int(np.flatnonzero(rows)[self.row]))

    def __reduce__(self) -> Any:
        return type(self), (self.message, self.row)


class RowTypeError(RowError, TypeError):
    """Raised for an entry of a type that cannot be used."""


ROW = "\0row\0"  # stands for the row's number in a message


def in_blocks(X: Rows, width: int, work: Callable[[Rows, slice], Any], cells: int = 1 << 22) -> list[Any]:
    """Return the results of the work on each block of rows; an error names the row by its place among all."""
    results = []
    for part in blocks(X, width, cells):
        try:
            results.append(work(X if part == slice(0, X.shape[0]) else X[part], part))
        except RowError as error:
            raise error.offset(part.start) from None
    return results


def error_for(
    fault: tuple[int, int, int], X: Rows, features: Index, who: str, expected: str, numbers: Array | None = None
) -> RowError:
    """Return the error for an entry that cannot be used; `numbers` are the features that the columns stand for."""
    kind, row, column = fault
    if kind == Fault.BAD_INDEX:
        return RowError(f"{who}: the sparse matrix is damaged: row {ROW} names column {column} of {X.shape[1]}", row)
    value = (X.matrix() if isinstance(X, SparseRows) else X)[row, column]
    where = f"row {ROW}, column {features.name(column if numbers is None else int(numbers[column]))!r}"
    if kind == Fault.INFINITE:
        text = f"Input X contains infinity: {who}, {where} is {value}; replace it, or make it NaN to leave it out"
    elif kind == Fault.NOT_WHOLE and (X < 0).any():
        row, column = (int(v) for v in np.argwhere(X < 0)[0])
        return error_for((Fault.OUT_OF_RANGE, row, column), X, features, who, expected, numbers)
    elif kind == Fault.NOT_WHOLE:
        text = (
            f"{who}: {where} is {value}; each class counts categories, which are text or whole numbers, and a "
            'fraction is not cut down to one; bin the column, take numbers="names" if each is a category, or use '
            "GaussianNB for numbers"
        )
    elif kind == Fault.TOO_LARGE:
        text = (
            f"{who}: {where} is code {value}, which would make a table of that many categories; "
            "pass the column as text, or number its categories from 0 (OrdinalEncoder)"
        )
    elif kind == Fault.TOO_WIDE:
        text = f"{who}: {where} is {value}: its square is beyond what float64 holds; rescale the column"
    elif value < 0:
        text = f"Negative values in data passed to {who} (input X): {where} is {value}; expected {expected}"
    else:
        text = f"{who}: {where} is {value}; expected {expected}"
    return RowError(text, row)


def native_values(values: Array) -> Array:
    """Return numbers in a type of NATIVE; nothing is copied if they have one already."""
    if values.dtype in NATIVE:
        return values
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    if values.dtype.kind in "iu":
        return values.astype(
            np.int32 if values.dtype.itemsize < 4 else np.int64 if values.dtype != np.uint64 else np.float64
        )
    return values.astype(np.float32 if values.dtype == np.float16 else np.float64)
