"""Rows: what the compiled core can read, and what it says of an entry that it cannot use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from naively.cells import Array
from naively.errors import InputError
from naively.names import Index

NATIVE = {np.dtype(t) for t in (np.float64, np.float32, np.int64, np.int32, np.uint8)}
_LARGEST = float(np.finfo(np.float64).max)

Rows = Any  # a C-contiguous array of a native type, or a CSR matrix (or SparseRows) of one


class SparseRows(NamedTuple):
    """Compressed sparse rows without the ceremony of a matrix."""

    data: Array
    indices: Array
    indptr: Array
    shape: tuple[int, int]

    def matrix(self) -> Any:
        """The same as a matrix of SciPy's."""
        return sparse.csr_matrix((self.data, self.indices, self.indptr), shape=self.shape)


def is_sparse(X: Rows) -> bool:
    """Whether only what is not zero is stored."""
    return isinstance(X, SparseRows) or sparse.issparse(X)


@dataclass(frozen=True)
class Accepts:
    """The values a family takes, and the threshold above which they are turned into 1, if they are."""

    low: float = -_LARGEST
    high: float = _LARGEST
    threshold: float | None = None

    @property
    def arguments(self) -> tuple[float, float, float | None]:
        return self.low, self.high, self.threshold


def native(X: Rows, *, once: bool = False) -> Rows:
    """The same rows in a type that the core reads; nothing is copied where they are in one already.

    `once`: an entry that a sparse row holds in several parts is put together.
    """
    if sparse.issparse(X):
        X = X if X.format == "csr" else X.tocsr()
        if once and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        data = _native_values(X.data)
        if data is X.data and X.indices.dtype == X.indptr.dtype and X.data.flags.c_contiguous:
            return X
        wide = X.indices.dtype if X.indices.dtype == X.indptr.dtype else np.int64
        return sparse.csr_matrix((data, X.indices.astype(wide), X.indptr.astype(wide)), shape=X.shape)
    return np.ascontiguousarray(_native_values(X))


def _native_values(values: Array) -> Array:
    if values.dtype in NATIVE:
        return values
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    if values.dtype.kind in "iu":
        return values.astype(
            np.int32 if values.dtype.itemsize < 4 else np.int64 if values.dtype != np.uint64 else np.float64
        )
    return values.astype(np.float32 if values.dtype == np.float16 else np.float64)


def blocks(X: Rows, width: int, cells: int = 1 << 22) -> Any:
    """Slices of rows such that a block of them, `width` numbers each, stays small."""
    step = max(1, cells // max(width, 1))
    for start in range(0, X.shape[0], step):
        yield slice(start, min(start + step, X.shape[0]))


def missing_mask(X: Rows) -> Any:
    """A sparse matrix with a one for every missing entry; None where nothing can be missing."""
    values = X.data if is_sparse(X) else X
    if values.dtype.kind != "f":
        return None
    holes = np.isnan(values)
    if not holes.any():
        return None
    if not is_sparse(X):
        return sparse.csr_matrix(holes.astype(np.float64))
    starts = np.concatenate([[0], np.cumsum(holes)])[X.indptr].astype(X.indptr.dtype)
    return sparse.csr_matrix((np.ones(holes.sum()), X.indices[holes], starts), shape=X.shape)


def complain(fault: tuple[int, int, int], X: Rows, features: Index, who: str, expected: str) -> InputError:
    """What to tell a user of the entry that cannot be used."""
    kind, row, column = fault
    if kind == 5:
        return InputError(f"{who}: the sparse matrix is damaged: row {row} names column {column} of {X.shape[1]}")
    value = (X.matrix() if isinstance(X, SparseRows) else X)[row, column]
    where = f"row {row}, column {features.name(column)!r}"
    if kind == 1:
        return InputError(
            f"Input X contains infinity: {who}, {where} is {value}; replace it, or make it NaN to leave it out"
        )
    if kind == 3 and (X < 0).any():
        row, column = (int(v) for v in np.argwhere(X < 0)[0])
        return complain((2, row, column), X, features, who, expected)
    if kind == 3:
        return InputError(
            f"{who}: {where} is {value}; each class counts categories, which are text or whole numbers, and a "
            "fraction is not cut down to one; bin the column, or use GaussianNB for numbers"
        )
    if kind == 4:
        return InputError(
            f"{who}: {where} is code {value}, which would make a table of that many categories; "
            "pass the column as text, or number its categories from 0 (OrdinalEncoder)"
        )
    if value < 0:
        return InputError(f"Negative values in data passed to {who} (input X): {where} is {value}; expected {expected}")
    return InputError(f"{who}: {where} is {value}; expected {expected}")
