"""What the families of counts have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from naively import _core
from naively.arrays import Array, whole
from naively.count.cells import Cells
from naively.count.counts import Counts
from naively.count.ledger import PartLedger, View
from naively.errors import InputError
from naively.families.counts_left_out import Left
from naively.names import Index
from naively.read.matrix import Rows, SparseRows, ValueRange, check_columns, error_for, in_blocks, is_sparse
from naively.score.table import BlockTable, Linear
from naively.smooth.rules import Logs, Smoothing
from naively.threads import threads


class Family(Protocol):
    """One way of counting and weighing."""

    @property
    def who(self) -> str:
        """What to call it in a message."""

    def empty(self, classes: Index, features: Any) -> Any:
        """A tally of nothing."""

    def count(self, X: Rows, codes: Array, classes: Index, features: Any, weight: Array | None) -> Any:
        """The tally of these rows; `codes` are the numbers of their classes."""

    def features_in(self, X: Rows, rule: Any, ledger: PartLedger) -> Array | None:
        """The features that scoring these rows needs, sorted; None: all."""

    def table(self, ledger: PartLedger, rule: Any, prior: Array, features: Array | None = None) -> BlockTable:
        """The table for some features, numbered in that order, or for all."""

    def restrict(self, X: Rows, features: Array) -> Rows:
        """The same rows, over the features of such a table."""

    def left_out(self, ledger: Any, rules: Sequence[Any], X: Rows, codes: Array, weight: Array | None) -> Left:
        """For each rule, what these rows come to in each class, each by the sum without itself."""

    @property
    def ignores_prior(self) -> bool:
        """Whether scores are told without the prior, where there are several classes."""

    @property
    def needs_count_histogram(self) -> bool:
        """Whether a table of some features needs to know how often each count occurs among all."""

    def n_parameters(self, ledger: PartLedger) -> int:
        """How many numbers the model estimates."""

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """How many it would have to without the naive assumption."""

    def sample(self, ledger: PartLedger, rule: Any, klass: int, size: int, rng: np.random.Generator) -> Rows:
        """Rows drawn from one class."""


NOTHING: Logs = (np.float64(0.0), None)  # type: ignore[assignment]
"""No part at all: adds nothing, and nothing impossible."""


def rows_per_class(codes: Array, weight: Array | None, classes: int) -> Array:
    return whole(np.bincount(codes, weights=weight, minlength=classes))


def count_linear(
    who: str, kind: str, expected: str, accepts: ValueRange, X: Rows, codes: Array, classes: Index, features: Index,
    weight: Array | None,
) -> Counts:  # fmt: skip
    """The tally of rows whose values are added up: counts, presences, events."""
    planes = 1 if kind == "counts" else 2
    if is_sparse(X):
        counted, missing, fault = _core.count_sparse(
            X.data,
            X.indices,
            X.indptr,
            X.shape[1],
            codes,
            classes.size,
            weight,
            *accepts.arguments,
            threads(len(X.data)),
        )
        cells = Cells(counted[0], counted[1], counted[2][None])
        holes = Cells.empty() if missing is None else Cells(missing[0], missing[1], missing[2][None])
    else:
        sums, lost, fault = _core.count_dense(X, codes, classes.size, weight, *accepts.arguments, threads(X.size))
        cells = _cells_of(sums)
        holes = _cells_of(lost) if lost is not None else Cells.empty()
    if fault is not None:
        raise error_for(fault, X, features, who, expected)
    if cells.values.dtype != np.int64 and not np.isfinite(cells.values).all():
        column = features.name(int(cells.feature[~np.isfinite(cells.values[0])][0]))
        raise InputError(f"{who}: column {column!r} adds up to more than float64 holds; rescale it")
    if planes == 2:
        cells = _plane(cells, 0) + _plane(holes, 1) if len(holes) else _plane(cells, 0)
    return Counts(kind, rows_per_class(codes, weight, classes.size), features, cells)


def _cells_of(sums: Array) -> Cells:
    feature, klass = np.nonzero(sums.T)
    return Cells(feature.astype(np.int64), klass.astype(np.int32), whole(sums[klass, feature])[None])


def _plane(cells: Cells, plane: int) -> Cells:
    values = np.zeros((2, len(cells)), cells.values.dtype)
    values[plane] = cells.values[0]
    return Cells(cells.feature, cells.klass, values)


def count_in_blocks(family: Family, X: Rows, codes: Array, classes: Index, features: Any, weight: Array | None) -> Any:
    """The tally of sparse rows, made dense a block at a time."""
    check_columns(X)

    def count(part: Rows, where: slice) -> Any:
        of_part = None if weight is None else weight[where]
        return family.count(np.ascontiguousarray(part.toarray()), codes[where], classes, features, of_part)

    return sum(in_blocks(X, X.shape[1], count), start=family.empty(classes, features))


def sparse_features(X: Rows) -> Array | None:
    """The features that sparse rows hold."""
    if not is_sparse(X):
        return None
    one_row = X.shape[0] == 1 and X.has_canonical_format  # each once and in order already
    features = (X.indices if one_row else np.unique(X.indices)).astype(np.int64)
    if len(features) and (features[0] < 0 or features[-1] >= X.shape[1]):
        return None  # damaged; the whole table will say so
    return features


def localised_sparse(X: Rows, features: Array) -> Rows:
    indices = np.searchsorted(features, X.indices).astype(X.indices.dtype)
    return SparseRows(X.data, indices, X.indptr, (X.shape[0], len(features)))


def every_cell(view: View) -> View:
    """The same view with a cell for every pair of feature and class, seen or not."""
    classes = view.classes.size
    feature = np.repeat(np.arange(view.width), classes)
    klass = np.tile(np.arange(classes), view.width).astype(np.int32)
    values = np.zeros((len(view.cells.values), view.width * classes), view.cells.values.dtype)
    values[:, view.cells.feature * classes + view.cells.klass] = view.cells.values
    return replace(view, cells=Cells(feature, klass, values))


def linear_pair(
    view: View, base: Logs, klass: Logs, feature: Logs, seen: Logs, sign: float = 1.0
) -> tuple[Linear, Linear | None]:
    """The table of finite parts and that of impossible factors, from (finite, impossible) pairs.

    `klass` and `feature` make up an unseen cell; `seen` is what the cells of the view are instead.
    """
    cells = view.cells
    tables: list[Linear | None] = []
    for part in (0, 1):
        values = [pair[part] for pair in (base, klass, feature, seen)]
        if part == 1 and all(v is None for v in values):
            tables.append(None)
            continue
        b, k, f, s = (0.0 if v is None else v for v in values)
        base_part = np.zeros(view.classes.size) + b
        klass_part, feature_part = np.zeros(view.classes.size) + sign * k, np.zeros(view.width) + sign * f
        delta = sign * s - (klass_part[cells.klass] + feature_part[cells.feature])
        tables.append(Linear(base_part, klass_part, feature_part, cells.feature, cells.klass, delta))
    return tables[0], tables[1]  # type: ignore[return-value]


def minus(a: Logs, b: Logs) -> Logs:
    """The difference of two pairs of finite part and impossible factors."""
    if a[1] is None and b[1] is None:
        return a[0] - b[0], None
    return a[0] - b[0], np.asarray(0.0 if a[1] is None else a[1]) - np.asarray(0.0 if b[1] is None else b[1])


def absent_entries(view: View, pseudo: Any) -> tuple[Array, Array, Array, Array, Any]:
    """Class, count, missing, how many features and their pseudo-count, for every feature that was seen."""
    if view.entries is not None:
        return (*view.entries, pseudo)
    cells = view.cells
    each = pseudo[cells.feature] if isinstance(pseudo, np.ndarray) else pseudo
    return cells.klass, cells.values[0], cells.values[1], np.ones(len(cells)), each


def remainder(total: Any, part: Any) -> Array:
    """What is left of a total; a difference that only rounding made is none."""
    left = np.asarray(total - part)
    if left.dtype == np.int64:
        return left
    return np.where(left <= 1e-12 * np.abs(total), 0.0, left)


def largest(pseudo: Any) -> float:
    """The pseudo-count that stands for all: the largest."""
    return float(np.max(pseudo, initial=0.0)) if isinstance(pseudo, np.ndarray) else pseudo


def rule_mass(rule: Smoothing, features: int) -> float:
    """What a rule adds to the total over all features."""
    pseudo = rule.pseudo(None)
    return float(np.sum(pseudo)) if isinstance(pseudo, np.ndarray) else pseudo * features
