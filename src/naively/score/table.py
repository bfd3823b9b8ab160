"""Tables: log-probabilities, all that is needed to score a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Protocol

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.count.columns import Categories
from naively.errors import FileError, InputError
from naively.names import Index
from naively.read.codes import CodeRows, CodeTerm, codes_of, highest, sums
from naively.read.matrix import (
    Fault,
    Rows,
    ValueRange,
    check_columns,
    entries,
    error_for,
    in_blocks,
    is_sparse,
    is_sparse_matrix,
    missing_mask,
)
from naively.score.scores import Scores
from naively.store.registry import stored
from naively.threads import threads

_LANES = 4
_WIDE_CLASSES = 64
_FEW_ROWS = 4


Shares = tuple[list[Any], Array, Array | None]


class BlockTable(Protocol):
    """Scores the rows of one block. Depends on counts and rules alone."""

    @property
    def prior(self) -> Array:
        """Log-probability of each class beforehand."""

    def score(self, X: Rows) -> Scores:
        """The scores of each row, for each class."""

    def shares(self, row: Rows) -> Shares:
        """Return for one row the names of its features, their shares by class, and impossible factors."""


def padded(weights: Array) -> Array:
    """Pad with columns of zeros up to a multiple of four."""
    width = weights.shape[-1]
    if width % _LANES == 0:
        return weights
    result = np.zeros((*weights.shape[:-1], width + -width % _LANES))
    result[..., :width] = weights
    return result


@stored(derived=("starts",))
@dataclass(frozen=True, eq=False)
class Linear(Value):
    """base[c] + sum over features of x times (feature[f] + klass[c] + delta[f, c]), deltas kept only where seen."""

    base: Array
    klass: Array
    feature: Array
    cell_feature: Array
    cell_klass: Array
    delta: Array
    once: bool = False  # whether it is used once, so that one array of all weights would not pay

    @cached_property
    def starts(self) -> Array:
        n_cells = np.bincount(self.cell_feature, minlength=len(self.feature))
        return np.concatenate([[0], np.cumsum(n_cells)]).astype(np.int64)

    @cached_property
    def weights(self) -> Array:
        """All weights as one array, features by classes (padded)."""
        classes = len(self.klass)
        result = np.zeros((len(self.feature), classes + -classes % _LANES))
        np.add(self.feature[:, None], self.klass, out=result[:, :classes])
        try:
            result[self.cell_feature, self.cell_klass] += self.delta
        except IndexError as error:  # not every number of a large file is checked when it is opened
            raise FileError(f"the file of the model is damaged ({error})") from None
        return result

    def _compact(self, rows: int) -> bool:
        """True if one array of all weights would not pay: few cells were seen, or few rows are scored."""
        classes = len(self.klass)
        sparse_enough = len(self.feature) * classes > 16 * len(self.delta) + (1 << 16)
        return self.once or rows < _FEW_ROWS or classes > _WIDE_CLASSES or sparse_enough

    def apply(self, X: Rows, accepts: ValueRange) -> tuple[Array, bool, Any]:
        """Scores, whether something is missing, and the first entry that cannot be used."""
        if not is_sparse(X):
            n_threads = threads(X.size)
            return _core.score_dense(X, self.weights, padded(self.base), len(self.klass), *accepts.arguments, n_threads)
        n_threads = threads(len(X.data))
        if self._compact(X.shape[0]):
            return _core.score_cells(
                X.data, X.indices, X.indptr, self.starts, self.cell_klass, self.delta, self.feature, self.klass,
                self.base, *accepts.arguments, n_threads,
            )  # fmt: skip
        return _core.score_sparse(
            X.data, X.indices, X.indptr, self.weights, padded(self.base), len(self.klass), *accepts.arguments, n_threads
        )

    def of_row(self, features: Array) -> Array:
        """The weights of some features, features by classes."""
        result = self.feature[features][:, None] + self.klass
        for i, f in enumerate(features.tolist()):
            cells = slice(self.starts[f], self.starts[f + 1])
            result[i, self.cell_klass[cells]] += self.delta[cells]
        return result


@stored()
@dataclass(frozen=True, eq=False)
class Holes(Value):
    """Terms for missing entries that were computed before."""

    present: Linear
    impossible: Linear | None

    def __call__(self) -> tuple[Linear, Linear | None]:
        return self.present, self.impossible


@stored()
@dataclass(frozen=True, eq=False)
class LinearTable(Value):
    """A table whose scores are sums of weights: multinomial, complement, Bernoulli, Poisson.

    `present` weighs what a row holds, and `impossible` counts impossible factors in the same way (None: there are
    none). `missing_terms` gives both for missing entries: the part of the sum over absent features to subtract.
    """

    who: str
    expected: str
    classes: Index
    features: Index
    prior: Array
    accepts: ValueRange
    present: Linear
    impossible: Linear | None = None
    missing_terms: Callable[[], tuple[Linear, Linear | None]] | None = None
    row_constant: Any = None
    numbers: Array | None = None  # of the features, where not all are in the table

    def for_once(self) -> LinearTable:
        """The same, for rows that are scored once."""
        impossible = None if self.impossible is None else replace(self.impossible, once=True)
        return replace(self, present=replace(self.present, once=True), impossible=impossible)

    def to_save(self) -> LinearTable:
        """Compute the terms for missing entries now, since a function cannot be stored."""
        return self if self.missing_terms is None else replace(self, missing_terms=Holes(*self.holes))

    @cached_property
    def holes(self) -> tuple[Linear, Linear | None]:
        """The terms for missing entries, computed at the first one."""
        assert self.missing_terms is not None
        return self.missing_terms()

    def score(self, X: Rows) -> Scores:
        likelihood, missing, fault = self.present.apply(X, self.accepts)
        if fault is not None:
            raise error_for(fault, X, self.features, self.who, self.expected, self.numbers)
        mask = missing_mask(X) if missing and self.missing_terms is not None else None
        if mask is not None:
            likelihood += self.holes[0].apply(mask, ValueRange())[0]
        if self.row_constant is not None:
            likelihood += self.row_constant(X)[:, None]
        impossible = None
        if self.impossible is not None:
            impossible = self.impossible.apply(X, self.accepts)[0]
            if mask is not None and self.holes[1] is not None:
                impossible += self.holes[1].apply(mask, ValueRange())[0]
        return sorted_scores(self.classes, likelihood, self.prior, impossible)

    def shares(self, row: Rows, *, zeros: bool = False) -> Shares:
        """`zeros`: list the features of a dense row whose value is 0 too, where that has a weight."""
        zeros = zeros and self.missing_terms is not None
        values, features = (row[0], np.arange(row.shape[1])) if zeros else entries(row)
        held = ~np.isnan(values.astype(np.float64))
        values = values[held].astype(np.float64)
        if self.accepts.threshold is not None:
            values = (values > self.accepts.threshold).astype(np.float64)
        features = features[held].astype(np.int64)
        listed = (values != 0) | zeros
        features, values = features[listed], values[listed, None]
        shares = self.present.of_row(features) * values
        impossible = None if self.impossible is None else self.impossible.of_row(features) * values
        if self.missing_terms is not None:  # a present feature is no longer one of the absent
            holes, impossible_holes = self.holes
            shares = shares - holes.of_row(features)
            if impossible is not None and impossible_holes is not None:
                impossible = impossible - impossible_holes.of_row(features)
        if self.row_constant is not None:
            shares = shares + self.row_constant(values)[:, None]
        return [self.features.name(f) for f in features.tolist()], shares, impossible


def by_block(X: Rows, sums: Any) -> Array:
    """The sums of dense rows; sparse ones are made dense a block at a time, since here zeros count as well."""
    if not is_sparse(X):
        return sums(X)
    check_columns(X)
    parts = in_blocks(X, X.shape[1], lambda part, _: sums(np.ascontiguousarray(part.toarray())))
    return np.concatenate(parts) if parts else sums(np.zeros(X.shape))


def sorted_scores(classes: Index, likelihood: Array, prior: Array, impossible: Array | None = None) -> Scores:
    """Scores with the classes in sorted order."""
    labels = classes.names if classes.names is not None else np.arange(classes.size)
    if classes.order is None:
        return Scores(labels, likelihood, prior, impossible)
    order = classes.order
    impossible = None if impossible is None else np.ascontiguousarray(impossible[:, order])
    return Scores(labels[order], np.ascontiguousarray(likelihood[:, order]), prior[order], impossible)


@stored()
@dataclass(frozen=True, eq=False)
class CodeTable(Value):
    """A table of categories: a row of weights for each category of each column, one after another."""

    who: str
    classes: Index
    categories: Categories
    prior: Array
    weights: Array
    unseen: Array
    impossible: tuple[Array, Array] | None
    offsets: Array
    sizes: Array

    def score(self, X: Rows | CodeRows) -> Scores:
        if isinstance(X, CodeRows):
            return code_scores([(self, X)])
        likelihood = by_block(X, lambda part: self._sums(part, self.weights, self.unseen))
        impossible = None
        if self.impossible is not None:
            zeros, unseen_zeros = self.impossible
            impossible = by_block(X, lambda part: self._sums(part, zeros, unseen_zeros))
        return sorted_scores(self.classes, likelihood, self.prior, impossible)

    def coded(self, X: Rows | CodeRows) -> tuple[CodeTable, CodeRows] | None:
        """Return the table and the rows if the rows are coded columns; otherwise None."""
        return (self, X) if isinstance(X, CodeRows) else None

    def weighed(self, columns: CodeRows) -> CodeTerm:
        """Columns with the log-probabilities of their codes."""
        return CodeTerm(columns, self.weights, self.unseen, self.offsets, self.sizes)

    def zeros(self, columns: CodeRows) -> list[CodeTerm]:
        """Return the terms that count impossible factors; empty if no code is impossible."""
        return [] if self.impossible is None else [CodeTerm(columns, *self.impossible, self.offsets, self.sizes)]

    def _sums(self, X: Rows, weights: Array, unseen: Array) -> Array:
        classes = self.classes.size
        base = np.zeros(weights.shape[1])
        scores, _, fault = _core.score_codes(
            X, weights, unseen, base, self.offsets, self.sizes, classes, threads(X.size)
        )
        if fault is not None:
            raise error_for(fault, X, self.categories.columns, self.who, "codes from 0 on")
        return scores

    def shares(self, row: Rows | CodeRows) -> Shares:
        row = codes_of(row)
        row = row.toarray() if is_sparse_matrix(row) else row
        columns = np.flatnonzero(~missing_codes(row[0]))
        codes = row[0, columns].astype(np.int64)
        impossible = None if self.impossible is None else self._of(columns, codes, *self.impossible)
        names = [self.categories.columns.name(j) for j in columns.tolist()]
        return names, self._of(columns, codes, self.weights, self.unseen), impossible

    def _of(self, columns: Array, codes: Array, weights: Array, unseen: Array) -> Array:
        """The weights of some codes."""
        known = codes < self.sizes[columns]
        at = np.where(known, self.offsets[columns] + codes, 0)
        found = weights[at] if len(weights) else np.zeros((len(at), weights.shape[1]))
        return np.where(known[:, None], found, unseen[columns])[:, : self.classes.size]


Coded = list[tuple[CodeTable, CodeRows]]


def code_scores(coded: Coded) -> Scores:
    """The scores of columns by their tables, in one go over the rows."""
    table, size = coded[0][0], coded[0][0].classes.size
    zeros = [term for t, columns in coded for term in t.zeros(columns)]
    likelihood = sums([t.weighed(columns) for t, columns in coded], size)
    return sorted_scores(table.classes, likelihood, table.prior, sums(zeros, size) if zeros else None)


def missing_codes(codes: Array) -> Array:
    """Return a mask of missing categories: NaN, or the lowest number of a signed type."""
    if codes.dtype.kind == "f":
        return np.isnan(codes)
    return codes == np.iinfo(codes.dtype).min if codes.dtype.kind == "i" else np.zeros(codes.shape, bool)


@stored()
@dataclass(frozen=True, eq=False)
class CovarianceTable(Value):
    """A table of normal densities with covariances; a row with missing values is scored by the others."""

    who: str
    classes: Index
    features: Index
    prior: Array
    mean: Array
    covariance: Array  # one matrix, or one for each class

    @cached_property
    def _whole(self) -> list[tuple[Array, float]]:
        return [_whitening(c) for c in self.covariance]

    def score(self, X: Rows) -> Scores:
        return sorted_scores(self.classes, by_block(X, self._sums), self.prior)

    def _sums(self, X: Array) -> Array:
        X = X.astype(np.float64, copy=False)
        infinite = np.argwhere(np.isinf(X))
        if len(infinite):
            raise error_for((Fault.INFINITE, *infinite[0].tolist()), X, self.features, self.who, "finite numbers")
        likelihood = np.empty((len(X), self.classes.size))
        patterns, group = np.unique(np.isnan(X), axis=0, return_inverse=True)
        for g, pattern in enumerate(patterns):
            rows = np.flatnonzero(group.ravel() == g)
            likelihood[rows] = self._densities(X[rows][:, ~pattern], ~pattern)
        return likelihood

    def _densities(self, X: Array, known: Array) -> Array:
        """Log-densities of the features that are known, for each class."""
        result = np.zeros((len(X), self.classes.size))
        if not known.any():
            return result
        parts = self._whole if known.all() else [_whitening(c[np.ix_(known, known)]) for c in self.covariance]
        for k in range(self.classes.size):
            whitening, log_determinant = parts[k if len(parts) > 1 else 0]
            z = (X - self.mean[k, known]) @ whitening
            result[:, k] = -0.5 * (np.einsum("ij,ij->i", z, z) + log_determinant + known.sum() * np.log(2 * np.pi))
        return result

    def shares(self, row: Rows) -> Shares:
        """Return the share of each feature given the features before it."""
        x = np.asarray(row.toarray() if is_sparse_matrix(row) else row, dtype=np.float64)
        known = np.flatnonzero(~np.isnan(x[0]))
        sums = [np.zeros(self.classes.size)]
        for upto in range(1, len(known) + 1):
            mask = np.zeros(x.shape[1], bool)
            mask[known[:upto]] = True
            sums.append(self._densities(x[:, mask], mask)[0])
        names = [self.features.name(j) for j in known.tolist()]
        return names, np.diff(np.array(sums), axis=0).reshape(len(known), self.classes.size), None


def _whitening(covariance: Array) -> tuple[Array, float]:
    """A matrix W with W W' = inverse of the covariance, and the log of its determinant."""
    spread = np.sqrt(np.diagonal(covariance))  # scaled to correlations, so that no unit of a feature loses digits
    values, vectors = np.linalg.eigh(covariance / spread[:, None] / spread)
    values = np.maximum(values, values[-1] * np.finfo(np.float64).eps * len(values))
    return vectors / np.sqrt(values) / spread[:, None], float(np.log(values).sum() + 2.0 * np.log(spread).sum())


@stored()
@dataclass(frozen=True, eq=False)
class Table(Value):
    """The table of a model: log-probabilities of classes, and the table of each block, whose scores add up.

    `missingness` is the table of missing values, if these are informative.
    """

    classes: Index
    prior: Array
    blocks: dict[str, BlockTable]
    missingness: Any = None

    @property
    def block(self) -> Any:
        """The table of the only block."""
        if len(self.blocks) != 1:
            raise InputError(f"the table has {len(self.blocks)} blocks, not one; name one: table.blocks[name]")
        return next(iter(self.blocks.values()))

    def score(self, rows: Mapping[str, Any], n_rows: int) -> Scores:
        """The prior and the sum of all blocks; `rows` are those of each block. Coded columns are scored together."""
        return self._score(*self.split(rows), n_rows)

    def _score(self, coded: Coded, others: list[tuple[Any, Any]], n_rows: int) -> Scores:
        parts = [code_scores(coded)] if coded else []
        parts += [table.score(own) for table, own in others]
        prior = self.prior if self.classes.order is None else self.prior[self.classes.order]
        if not parts:
            return sorted_scores(self.classes, np.zeros((n_rows, self.classes.size)), self.prior)
        total = reduce(Scores.plus, parts)
        return Scores(total.classes, total.likelihood, prior, total.impossible)

    def decide(self, rows: Mapping[str, Any], n_rows: int) -> Array:
        """The label of each row; scores are not kept if all columns are coded."""
        coded, others = self.split(rows)
        labels = self.classes.names if self.classes.order is None else None
        if others or not coded or labels is None or any(table.impossible is not None for table, _ in coded):
            return self._score(coded, others, n_rows).decide()
        return labels[highest([table.weighed(columns) for table, columns in coded], self.prior)]

    def split(self, rows: Mapping[str, Any]) -> tuple[Coded, list[tuple[Any, Any]]]:
        """Return the tables of codes with their columns, and the others with their rows."""
        coded: Coded = []
        others: list[tuple[Any, Any]] = []
        for name, table in self.blocks.items():
            own = rows[name]
            found = table.coded(own) if hasattr(table, "coded") else None
            if found is None:
                others.append((table, own))
            else:
                coded.append(found)
        if self.missingness is not None:
            others.append((self.missingness.table, rows["missing values"]))
        return coded, others


def joined_shares(parts: list[Shares], classes: int) -> Shares:
    """The shares of several tables as those of one."""
    if len(parts) == 1:
        return parts[0]
    names = [name for part in parts for name in part[0]]
    shares = np.concatenate([part[1] for part in parts]) if parts else np.zeros((0, classes))
    if all(part[2] is None for part in parts):
        return names, shares, None
    impossible = [np.zeros_like(part[1]) if part[2] is None else part[2] for part in parts]
    return names, shares, np.concatenate(impossible)


def with_infinities(finite: Array, impossible: Array | None) -> Array:
    """Return logarithms as single numbers: infinite where it is impossible, or, for complements, the weight endless."""
    if impossible is None:
        return finite
    return np.where(impossible > 1e-9, -np.inf, np.where(impossible < -1e-9, np.inf, finite))
