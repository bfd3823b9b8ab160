"""Family: the protocol of families, and functions that families of counts share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from naively import _core
from naively.arrays import TOO_LARGE, Array, from_core, nonzero
from naively.count.cells import Cells
from naively.count.counts import Counts
from naively.count.ledger import PartLedger
from naively.errors import InputError
from naively.families.counts_left_out import Left
from naively.names import Index
from naively.read.matrix import Rows, SparseRows, ValueRange, check_columns, error_for, in_blocks, is_sparse
from naively.score.table import BlockTable
from naively.threads import threads


class Family(Protocol):
    """One way of counting and weighing."""

    @property
    def who(self) -> str:
        """The name of the estimator in error messages."""

    def empty(self, classes: Index, features: Any) -> Any:
        """Return a tally without rows."""

    def count(self, X: Rows, codes: Array, classes: Index, features: Any, weight: Array | None) -> Any:
        """Return the tally of these rows; `codes` are the numbers of their classes."""

    def features_in(self, X: Rows, rule: Any, ledger: PartLedger) -> Array | None:
        """Return the features that scoring these rows needs, sorted; None: all."""

    def table(self, ledger: PartLedger, rule: Any, prior: Array, features: Array | None = None) -> BlockTable:
        """Return the table for some features, numbered in that order, or for all."""

    def restrict(self, X: Rows, features: Array) -> Rows:
        """Return the rows over the features of such a table."""

    def left_out(self, ledger: Any, rules: Sequence[Any], X: Rows, codes: Array, weight: Array | None) -> Left:
        """Return for each rule the log-likelihoods of these rows, each by the counts without it."""

    @property
    def ignores_prior(self) -> bool:
        """True if scores leave out the class prior."""

    @property
    def needs_count_histogram(self) -> bool:
        """True if a table of some features needs the histogram of all counts."""

    def n_parameters(self, ledger: PartLedger) -> int:
        """Return the number of parameters."""

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """Return the number of parameters without the naive assumption."""

    def sample(self, ledger: PartLedger, rule: Any, klass: int, size: int, rng: np.random.Generator) -> Rows:
        """Return rows drawn from one class."""


def rows_per_class(codes: Array, weight: Array | None, classes: int) -> Array:
    """Return the rows of each class by weight, int64 or FIXED."""
    if weight is None:
        return np.bincount(codes, minlength=classes)
    try:
        return from_core(_core.rows_per_class(codes, classes, weight))
    except OverflowError:
        raise InputError(f"sample_weight: {TOO_LARGE}") from None


def count_linear(
    who: str, kind: str, expected: str, accepts: ValueRange, X: Rows, codes: Array, classes: Index, features: Index,
    weight: Array | None,
) -> Counts:  # fmt: skip
    """Return the tally of rows whose values are added up: counts, presences, events."""
    try:
        if is_sparse(X):
            counted, missing, fault = _core.count_sparse(
                X.data, X.indices, X.indptr, X.shape[1], codes, classes.size, weight, *accepts.arguments,
                threads(len(X.data)),
            )  # fmt: skip
            cells = Cells.counted(counted)
            missing_cells = Cells.empty() if missing is None else Cells.counted(missing)
        else:
            sums, missing_sums, fault = _core.count_dense(
                X, codes, classes.size, weight, *accepts.arguments, threads(X.size)
            )
            cells = _cells_of(from_core(sums))
            missing_cells = Cells.empty() if missing_sums is None else _cells_of(from_core(missing_sums))
    except OverflowError:
        raise InputError(f"{who}: column {_heaviest(X, features)!r} adds up to more than 2^62; rescale it") from None
    if fault is not None:
        raise error_for(fault, X, features, who, expected)
    if kind != "counts":
        cells = _plane(cells, 0) + _plane(missing_cells, 1) if len(missing_cells) else _plane(cells, 0)
    return Counts(kind, rows_per_class(codes, weight, classes.size), features, cells)


def _heaviest(X: Rows, features: Index) -> Any:
    """Return the name of the column with the largest value."""
    at = np.nanargmax(X.data if is_sparse(X) else X)
    return features.name(int(X.indices[at] if is_sparse(X) else at % X.shape[1]))


def _cells_of(sums: Array) -> Cells:
    feature, klass = nonzero(sums).T.nonzero()
    return Cells(feature.astype(np.int64, copy=False), klass.astype(np.int32), sums[klass, feature][None])


def _plane(cells: Cells, plane: int) -> Cells:
    exact = np.zeros((2, len(cells)), cells.exact.dtype)
    exact[plane] = cells.exact[0]
    return Cells(cells.feature, cells.klass, exact)


def count_in_blocks(family: Family, X: Rows, codes: Array, classes: Index, features: Any, weight: Array | None) -> Any:
    """Return the tally of sparse rows, made dense a block at a time."""
    check_columns(X)

    def count(part: Rows, where: slice) -> Any:
        of_part = None if weight is None else weight[where]
        return family.count(np.ascontiguousarray(part.toarray()), codes[where], classes, features, of_part)

    return sum(in_blocks(X, X.shape[1], count), start=family.empty(classes, features))


def sparse_features(X: Rows) -> Array | None:
    """Return the features that sparse rows hold."""
    if not is_sparse(X):
        return None
    one_row = X.shape[0] == 1 and X.has_canonical_format  # each once and in order already
    features = (X.indices if one_row else np.unique(X.indices)).astype(np.int64)
    if len(features) and (features[0] < 0 or features[-1] >= X.shape[1]):
        return None  # the matrix is damaged; scoring by the whole table raises the error
    return features


def localised_sparse(X: Rows, features: Array) -> Rows:
    indices = np.searchsorted(features, X.indices).astype(X.indices.dtype)
    return SparseRows(X.data, indices, X.indptr, (X.shape[0], len(features)))


def remainder(total: Any, part: Any) -> Array:
    """Return total - part; a rest that comes from rounding becomes 0."""
    left = np.asarray(total - part)
    if left.dtype == np.int64:
        return left
    return np.where(left <= 1e-12 * np.abs(total), 0.0, left)
