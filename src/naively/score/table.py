"""Tables: the log-probabilities that are needed to score rows."""

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
from naively.store.damage import LARGEST, are, finite, need
from naively.store.registry import stored
from naively.threads import threads

_LANES = 4
_WIDE_CLASSES = 64
_FEW_ROWS = 4
NO_CLASS = {"prior": -np.inf}
"""The log-probability of a class that cannot be."""


Shares = tuple[list[Any], Array, Array | None]


class BlockTable(Protocol):
    """The table of one block: scores its rows. It depends on counts and rules alone."""

    @property
    def prior(self) -> Array:
        """Log-probability of each class before any feature is known."""

    def score(self, X: Rows) -> Scores:
        """Return the scores of each row for each class."""

    def shares(self, row: Rows) -> Shares:
        """Return for one row the names of its features, their shares by class, and impossible factors."""


def padded(weights: Array) -> Array:
    """Append columns of zeros up to a multiple of four."""
    width = weights.shape[-1]
    if width % _LANES == 0:
        return weights
    result = np.zeros((*weights.shape[:-1], width + -width % _LANES))
    result[..., :width] = weights
    return result


def _check_linear(linear: Linear) -> None:
    classes, cells, starts = len(linear.klass), len(linear.delta), linear.starts
    need(are(linear.klass, "f8", None) and are(linear.base, "f8", classes), "the weights of classes")
    need(are(linear.feature, "f8", None), "the weights of features")
    need(are(linear.cell_feature, "i8", cells) and are(linear.cell_klass, "i4", cells), "the cells of a table")
    need(are(linear.delta, "f8", None) and are(starts, "i8", len(linear.feature) + 1), "the cells of a table")
    need(starts[0] == 0 and starts[-1] == cells and (np.diff(starts) >= 0).all(), "the cells of a table")
    klass = linear.cell_klass
    need(not len(klass) or (klass.min() >= 0 and klass.max() < classes), "a cell of no class")


def _verify_linear(linear: Linear) -> None:
    features = np.repeat(np.arange(len(linear.feature)), np.diff(linear.starts))
    need(np.array_equal(linear.cell_feature, features), "the cells of a table")


@stored(check=_check_linear, verify=_verify_linear, derived=("starts",))
@dataclass(frozen=True, eq=False)
class Linear(Value):
    """base[c] + sum over features of x times (feature[f] + klass[c] + delta[f, c]), with deltas of seen cells only."""

    base: Array
    klass: Array
    feature: Array
    cell_feature: Array
    cell_klass: Array
    delta: Array
    once: bool = False  # True if the table is used once, so that one array of all weights would not pay

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
        except IndexError as error:  # the numbers of a large file are not all checked when it is opened
            raise FileError(f"the file of the model is damaged ({error})") from None
        return result

    def _compact(self, rows: int) -> bool:
        """True if one array of all weights would not pay: few cells were seen, or few rows are scored."""
        classes = len(self.klass)
        sparse_enough = len(self.feature) * classes > 16 * len(self.delta) + (1 << 16)
        return self.once or rows < _FEW_ROWS or classes > _WIDE_CLASSES or sparse_enough

    def apply(self, X: Rows, accepts: ValueRange) -> tuple[Array, bool, Any]:
        """Return the scores, whether something is missing, and the first entry that cannot be used."""
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
        """Return the weights of some features, features by classes."""
        result = self.feature[features][:, None] + self.klass
        for i, f in enumerate(features.tolist()):
            cells = slice(self.starts[f], self.starts[f + 1])
            result[i, self.cell_klass[cells]] += self.delta[cells]
        return result


@stored()
@dataclass(frozen=True, eq=False)
class MissingTerms(Value):
    """Terms for missing entries that were computed before."""

    present: Linear
    impossible: Linear | None

    def __call__(self) -> tuple[Linear, Linear | None]:
        return self.present, self.impossible


def _check_linear_table(table: LinearTable) -> None:
    classes, features = table.classes.size, len(table.present.feature)
    need(table.numbers is None and table.features.size == features, "the features of a table")
    need(table.missing_terms is None or isinstance(table.missing_terms, MissingTerms), "the terms of missing values")
    need(are(table.prior, "f8", classes) and len(table.present.klass) == classes, "the classes of a table")
    for linear in (table.impossible, *(table.terms_of_missing if table.missing_terms is not None else ())):
        alike = linear is None or (len(linear.klass) == classes and len(linear.feature) == features)
        need(alike, "the parts of a table")


def _with_missing_terms(table: LinearTable) -> LinearTable:
    """Compute the terms for missing entries now, since a function cannot be stored."""
    return table if table.missing_terms is None else replace(table, missing_terms=MissingTerms(*table.terms_of_missing))


class RowConstant(Protocol):
    """The number that a row adds to every class."""

    def of_rows(self, X: Rows) -> Array:
        """Return one number for each row."""


@stored(check=_check_linear_table, endless=NO_CLASS, prepare=_with_missing_terms)
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
    row_constant: RowConstant | None = None
    numbers: Array | None = None  # numbers of the features, if the table has only some of them

    def for_once(self) -> LinearTable:
        """Return the table for rows that are scored once."""
        impossible = None if self.impossible is None else replace(self.impossible, once=True)
        return replace(self, present=replace(self.present, once=True), impossible=impossible)

    @cached_property
    def terms_of_missing(self) -> tuple[Linear, Linear | None]:
        """The terms for missing entries, computed at the first one."""
        assert self.missing_terms is not None
        return self.missing_terms()

    def score(self, X: Rows) -> Scores:
        likelihood, missing, fault = self.present.apply(X, self.accepts)
        if fault is not None:
            raise error_for(fault, X, self.features, self.who, self.expected, self.numbers)
        mask = missing_mask(X) if missing and self.missing_terms is not None else None
        if mask is not None:
            likelihood += self.terms_of_missing[0].apply(mask, ValueRange())[0]
        if self.row_constant is not None:
            likelihood += self.row_constant.of_rows(X)[:, None]
        impossible = None
        if self.impossible is not None:
            impossible = self.impossible.apply(X, self.accepts)[0]
            if mask is not None and self.terms_of_missing[1] is not None:
                impossible += self.terms_of_missing[1].apply(mask, ValueRange())[0]
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
        if self.missing_terms is not None:  # a present feature no longer counts as absent
            terms, impossible_terms = self.terms_of_missing
            shares = shares - terms.of_row(features)
            if impossible is not None and impossible_terms is not None:
                impossible = impossible - impossible_terms.of_row(features)
        if self.row_constant is not None:
            shares = shares + self.row_constant.of_rows(values)[:, None]
        return [self.features.name(f) for f in features.tolist()], shares, impossible


def by_block(X: Rows, sums: Any) -> Array:
    """Return the sums of dense rows; sparse rows are made dense a block at a time, since zeros count here too."""
    if not is_sparse(X):
        return sums(X)
    check_columns(X)
    parts = in_blocks(X, X.shape[1], lambda part, _: sums(np.ascontiguousarray(part.toarray())))
    return np.concatenate(parts) if parts else sums(np.zeros(X.shape))


def sorted_scores(classes: Index, likelihood: Array, prior: Array, impossible: Array | None = None) -> Scores:
    """Return scores with the classes in sorted order."""
    labels = classes.names if classes.names is not None else np.arange(classes.size)
    if classes.order is None:
        return Scores(labels, likelihood, prior, impossible)
    order = classes.order
    impossible = None if impossible is None else np.ascontiguousarray(impossible[:, order])
    return Scores(labels[order], np.ascontiguousarray(likelihood[:, order]), prior[order], impossible)


def _check_codes(table: CodeTable) -> None:
    classes, columns = table.classes.size, table.categories.columns.size
    stride = table.weights.shape[1] if table.weights.ndim == 2 else -1
    need(classes <= stride < classes + _LANES and are(table.weights, "f8", None, stride), "the weights of categories")
    need(are(table.unseen, "f8", columns, stride) and are(table.prior, "f8", classes), "the weights of categories")
    need(are(table.offsets, "i8", columns) and are(table.sizes, "i8", columns), "the places of categories")
    rows = len(table.weights)
    for values in (table.offsets, table.sizes):
        need((values >= 0).all() and (values <= rows).all(), "the places of categories")
    need((table.offsets + table.sizes <= rows).all(), "the places of categories")
    if table.impossible is not None:
        zeros, unseen = table.impossible
        need(are(zeros, "f8", *table.weights.shape) and are(unseen, "f8", columns, stride), "impossible categories")


def _verify_codes(table: CodeTable) -> None:
    need(table.impossible is None or all((zeros >= 0).all() for zeros in table.impossible), "impossible categories")


@stored(check=_check_codes, verify=_verify_codes, endless=NO_CLASS)
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
        """Return columns with the log-probabilities of their codes."""
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
        """Return the weights of some codes."""
        known = codes < self.sizes[columns]
        at = np.where(known, self.offsets[columns] + codes, 0)
        found = weights[at] if len(weights) else np.zeros((len(at), weights.shape[1]))
        return np.where(known[:, None], found, unseen[columns])[:, : self.classes.size]


Coded = list[tuple[CodeTable, CodeRows]]


def code_scores(coded: Coded) -> Scores:
    """Return the scores of several tables of codes, computed in one pass over the rows."""
    table, size = coded[0][0], coded[0][0].classes.size
    zeros = [term for t, columns in coded for term in t.zeros(columns)]
    likelihood = sums([t.weighed(columns) for t, columns in coded], size)
    return sorted_scores(table.classes, likelihood, table.prior, sums(zeros, size) if zeros else None)


def missing_codes(codes: Array) -> Array:
    """Return a mask of missing categories: NaN, or the lowest number of a signed type."""
    if codes.dtype.kind == "f":
        return np.isnan(codes)
    return codes == np.iinfo(codes.dtype).min if codes.dtype.kind == "i" else np.zeros(codes.shape, bool)


def _check_covariance(table: CovarianceTable) -> None:
    classes, features = table.classes.size, table.features.size
    need(are(table.mean, "f8", classes, features) and are(table.prior, "f8", classes), "means and prior")
    need(are(table.covariance, "f8", None, features, features), "covariances")
    need(len(table.covariance) in (1, classes), "covariances")
    need((np.einsum("cii->ci", table.covariance) > 0).all(), "a variance that is not above zero")


def _verify_covariance(table: CovarianceTable) -> None:
    apart = np.abs(table.covariance - table.covariance.transpose(0, 2, 1))
    scale = np.sqrt(np.einsum("cii->ci", table.covariance))
    need((apart <= 1e-9 * scale[:, :, None] * scale[:, None]).all(), "a covariance")
    need(all(finite(whitening) and abs(log) <= LARGEST for whitening, log in table._whole), "a covariance")


@stored(check=_check_covariance, verify=_verify_covariance, endless=NO_CLASS)
@dataclass(frozen=True, eq=False)
class CovarianceTable(Value):
    """A table of normal densities with covariances; a row with missing values is scored by its known ones."""

    who: str
    classes: Index
    features: Index
    prior: Array
    mean: Array
    covariance: Array  # one matrix for all classes, or one for each

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
        """Return the log-densities of the known features, for each class."""
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
    """Return a matrix W with W W' = inverse of the covariance, and the logarithm of the determinant."""
    spread = np.sqrt(np.diagonal(covariance))  # scaled to correlations, so that no unit of a feature loses digits
    values, vectors = np.linalg.eigh(covariance / spread[:, None] / spread)
    values = np.maximum(values, values[-1] * np.finfo(np.float64).eps * len(values))
    return vectors / np.sqrt(values) / spread[:, None], float(np.log(values).sum() + 2.0 * np.log(spread).sum())


def _check_table(table: Table) -> None:
    need(table.classes.names is not None and are(table.prior, "f8", table.classes.size), "the prior of a table")


@stored(check=_check_table, endless=NO_CLASS)
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
        """Return the prior plus the scores of all blocks; `rows` are those of each block. Coded columns are scored
        together.
        """
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
        """Return the label of each row; scores are not kept if all columns are coded."""
        coded, others = self.split(rows)
        labels = self.classes.names if self.classes.order is None else None
        if others or not coded or labels is None or any(table.impossible is not None for table, _ in coded):
            return self._score(coded, others, n_rows).decide()
        return labels[highest([table.weighed(columns) for table, columns in coded], self.prior)]

    def split(self, rows: Mapping[str, Any]) -> tuple[Coded, list[tuple[Any, Any]]]:
        """Separate tables of codes, with their columns, from the others, with their rows."""
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
    """Join the shares of several tables."""
    if len(parts) == 1:
        return parts[0]
    names = [name for part in parts for name in part[0]]
    shares = np.concatenate([part[1] for part in parts]) if parts else np.zeros((0, classes))
    if all(part[2] is None for part in parts):
        return names, shares, None
    impossible = [np.zeros_like(part[1]) if part[2] is None else part[2] for part in parts]
    return names, shares, np.concatenate(impossible)


def with_infinities(finite: Array, impossible: Array | None) -> Array:
    """Return logarithms as single numbers: infinite where a factor is impossible (or, for complements, a weight
    endless).
    """
    if impossible is None:
        return finite
    return np.where(impossible > 1e-9, -np.inf, np.where(impossible < -1e-9, np.inf, finite))
