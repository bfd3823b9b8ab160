"""Held out: how rows score by what was counted without them.

A row, a group of rows or a fold is left out by subtraction, so that a model without it costs no second count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.errors import Inexact, InputError
from naively.families.counts_left_out import recounted
from naively.families.words.block import Words
from naively.names import Index
from naively.score.calibration import cross_fitted, enough_rows
from naively.score.priors import Prior, Smoothed
from naively.score.scores import Scores
from naively.threads import on_threads

_FEW = 64
"""So many groups are added up without each other, where subtracting would lose digits."""
_FALLBACK = Smoothed(1.0)
"""The prior of a row whose class has no other."""


@dataclass(frozen=True, eq=False)
class HeldOut(Value):
    """Scores of rows by models that had not seen them, and their labels.

    `truth` is the place of each row's label among the classes of the scores; `weight` what the row counts for.
    """

    scores: Scores
    truth: Array
    weight: Array | None = None

    @cached_property
    def _each(self) -> Array:
        return np.ones(len(self.truth)) if self.weight is None else self.weight

    @cached_property
    def predicted(self) -> Array:
        """The place of the label that each row is given."""
        return self.scores._most("posterior")

    @property
    def labels(self) -> Array:
        """The labels that the rows are given."""
        return self.scores.classes[self.predicted]

    @property
    def accuracy(self) -> float:
        """The share of rows whose label is right."""
        return _share(self._each[self.predicted == self.truth].sum(), self._each.sum())

    @property
    def losses(self) -> Array:
        """-log p(label | row) for each row; at most 708, where the label is impossible."""
        own = self.scores.log_proba()[np.arange(len(self.truth)), self.truth]
        return -np.maximum(own, np.log(np.finfo(np.float64).tiny))

    @property
    def log_loss(self) -> float:
        """Their mean."""
        return _share(float(self._each @ self.losses), self._each.sum())

    @property
    def confusion(self) -> Array:
        """How many rows of each class (down) are given the label of each (across)."""
        classes = len(self.scores.classes)
        sums = np.bincount(self.truth * classes + self.predicted, weights=self._each, minlength=classes * classes)
        return sums.reshape(classes, classes)

    @property
    def odds(self) -> Array:
        """How much more probable the label of each row is than the best other, by the log of the ratio."""
        below = self.scores.below
        rows = np.arange(len(self.truth))
        others = below.copy()
        others[rows, self.truth] = -np.inf
        best = others.max(axis=1, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(best), np.inf, below[rows, self.truth] - best)

    def as_used(self, method: str | None) -> HeldOut:
        """With probabilities calibrated as a model's are by this method, each row's by other rows than itself."""
        if method is None:
            return self
        calibration = cross_fitted(method, self.scores.below, self.truth, self._each)
        return replace(self, scores=self.scores.at(calibration))

    def enough_rows(self, method: str) -> Array:
        """The numbers of the rows that a calibration is fitted on."""
        return enough_rows(method, self.scores.below, self.truth, self._each)

    def __repr__(self) -> str:
        return f"HeldOut({len(self.truth):_} rows, accuracy {self.accuracy:.4f}, log-loss {self.log_loss:.4f})"


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else 0.0


def leave_one_out(
    family: Any, ledger: Any, rules: Sequence[Any], prior: Prior, X: Any, codes: Array, weight: Array | None
) -> list[HeldOut]:
    """Each row by the counts without it, for each rule."""
    classes = ledger.classes
    each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
    logs = _row_priors(prior, classes, ledger.rows, codes, each)
    if family.ignores_prior and classes.size > 1:
        logs = np.zeros_like(logs)
    left = family.left_out(ledger, rules, X, codes, weight)
    return [held_out(classes, finite, logs, impossible, codes, weight) for finite, impossible in left]


def held_out(
    classes: Index, likelihood: Array, prior: Array, impossible: Array | None, codes: Array, weight: Array | None
) -> HeldOut:
    """Scores and labels with the classes in sorted order."""
    names = classes.names if classes.names is not None else np.arange(classes.size)
    if classes.order is None:
        return HeldOut(Scores(names, likelihood, prior, impossible), codes.astype(np.int64), weight)
    order = classes.order
    impossible = None if impossible is None else impossible[:, order]
    scores = Scores(names[order], np.ascontiguousarray(likelihood[:, order]), prior[:, order], impossible)
    return HeldOut(scores, sorted_places(classes, codes), weight)


def sorted_places(classes: Index, codes: Array) -> Array:
    """The places of classes, by number, in the sorted order of their names."""
    return codes.astype(np.int64) if classes.order is None else np.argsort(classes.order)[codes]


def _row_priors(prior: Prior, classes: Index, rows: Array, codes: Array, weight: Array) -> Array:
    """The log-prior for each row by the rows without it."""
    result = np.empty((len(codes), classes.size))
    order = np.lexsort((weight, codes))
    ends = np.flatnonzero((np.diff(codes[order]) != 0) | (np.diff(weight[order]) != 0)) + 1
    for alike in np.split(order, ends) if len(order) else []:
        klass, gone = int(codes[alike[0]]), float(weight[alike[0]])
        left = rows.astype(np.float64)
        left[klass] = max(left[klass] - gone, 0.0)
        result[alike] = without_class(prior, classes, left, np.array([klass]))
    return result


def without_class(prior: Prior, classes: Index, rows: Array, wanted: Array) -> Array:
    """The log-prior of these rows per class; a smoothed one where it has no place for a class that is asked for."""
    logs = prior.log(classes, rows)
    return _FALLBACK.log(classes, rows) if np.isneginf(logs[wanted]).any() else logs


def leave_groups_out(
    family: Any, ledger: Any, rules: Sequence[Any], prior: Prior, X: Any, codes: Array, weight: Array | None,
    groups: Array,
) -> list[HeldOut]:  # fmt: skip
    """The rows of each group (numbers from 0) by the counts of all other groups, for each rule."""
    classes = ledger.classes
    rows_of = _rows_of(groups)
    family, ledger = _without_weights(family, ledger)
    parts = _Parts(family, ledger, X, codes, weight)
    likelihood = [np.zeros((len(codes), classes.size)) for _ in rules]
    impossible: list[Array | None] = [None for _ in rules]
    logs = np.zeros((len(codes), classes.size))

    def score(task: tuple[Array, Callable[[Any], Any]]) -> tuple[Array, list[Scores], Array]:
        rows, without = task
        part, of_group = taken(X, rows), codes[rows]
        rest = without(part)
        log_prior = without_class(prior, classes, rest.rows, np.unique(of_group))
        if family.ignores_prior and classes.size > 1:
            log_prior = np.zeros_like(log_prior)
        return rows, [_scored(family, rest, rule, part) for rule in rules], log_prior

    for tasks in _batches(zip(rows_of, parts.without(rows_of), strict=True), 8):
        for rows, scores, log_prior in on_threads(score, tasks, getattr(X, "nnz", 1 << 20)):
            logs[rows] = log_prior
            for k, found in enumerate(scores):
                places = slice(None) if classes.order is None else np.argsort(classes.order)
                likelihood[k][rows] = found.likelihood[:, places]
                if found.impossible is not None:
                    kept = impossible[k] if impossible[k] is not None else np.zeros_like(likelihood[k])
                    assert kept is not None
                    kept[rows] = found.impossible[:, places]
                    impossible[k] = kept
    return [held_out(classes, likelihood[k], logs, impossible[k], codes, weight) for k in range(len(rules))]


def _rows_of(groups: Array) -> list[Array]:
    """The rows of each group."""
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(groups[order])) + 1)


def _batches(tasks: Iterator[Any], size: int) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for task in tasks:
        batch.append(task)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


@dataclass(frozen=True, eq=False)
class _Parts:
    """Rows that were counted, of which some are to be left out."""

    family: Any
    ledger: Any
    X: Any
    codes: Array
    weight: Array | None

    def count(self, rows: Array, part: Any) -> Any:
        weight = None if self.weight is None else self.weight[rows]
        return self.family.count(part, self.codes[rows], self.ledger.classes, self.ledger.features, weight)

    def without(self, groups: list[Array]) -> Iterator[Callable[[Any], Any]]:
        """What gives the sum without each group in turn, once it is told the rows of the group."""
        each = float(len(self.codes)) if self.weight is None else float(self.weight.sum())
        others = abs(each - float(self.ledger.rows.sum())) > 1e-9 * each  # were counted, and are not here
        if isinstance(self.ledger.total, Tally) or len(groups) > _FEW or others:
            for rows in groups:
                yield partial(self._left, rows)
            return
        tallies = [self.count(rows, taken(self.X, rows)) for rows in groups]
        nothing = self.family.empty(self.ledger.classes, self.ledger.features)
        behind = [nothing]
        for tally in reversed(tallies[1:]):
            behind.append(tally + behind[-1])
        before = nothing
        for tally, after in zip(tallies, reversed(behind), strict=True):
            yield partial(_known_already, ledger_of(before + after))
            before = before + tally

    def _left(self, rows: Array, part: Any) -> Any:
        tally = self.count(rows, part)
        if isinstance(tally, Tally) and tally.size * 64 > self.ledger.size:
            return Ledger((self.ledger.total - tally,))
        try:
            return self.ledger.subtract(tally)
        except Inexact:  # too many digits would be lost
            return self._others(rows)

    def _others(self, rows: Array) -> Any:
        kept = np.ones(len(self.codes), bool)
        kept[rows] = False
        found = recounted(self.family, self.ledger, self.X, self.codes, self.weight, kept)
        return ledger_of(found.total)


def _known_already(ledger: Any, part: Any) -> Any:
    return ledger


def _without_weights(family: Any, ledger: Any) -> tuple[Any, Any]:
    """Words without the sums that only tf-idf needs, where it is not wanted."""
    if not isinstance(family, Words) or not family.weights or family.weighting == "tfidf":
        return family, ledger
    family, total = replace(family, weights=False), ledger.total
    cells = replace(total.cells, values=total.cells.values[:2])
    return family, Ledger((replace(total, kind=family.kind, cells=cells),))


def ledger_of(tally: Any) -> Any:
    """A sum of one."""
    if isinstance(tally, Tally):
        return Ledger((tally,))
    from naively.families.blocks import BlockLedger, BlockTally

    return BlockLedger.of(tally) if isinstance(tally, BlockTally) else Ledger((tally,))


def _scored(family: Any, ledger: Any, rule: Any, X: Any) -> Scores:
    """Scores by a table of all features, or of those that few rows touch."""
    nothing = np.zeros(ledger.classes.size)
    features = None
    entries = X.nnz if hasattr(X, "nnz") else getattr(X, "size", 0)
    if isinstance(ledger, Ledger) and isinstance(ledger.levels[0], Tally) and not family.needs_count_histogram:
        features = family.features_in(X, rule, ledger) if entries * 8 < ledger.size else None
    if features is None:
        table = family.table(ledger, rule, nothing)
        return (table.for_once() if hasattr(table, "for_once") else table).score(X)
    return family.table(ledger, rule, nothing, features).score(family.restrict(X, features))


def taken(X: Any, rows: Array) -> Any:
    """Some rows of whatever a family counts."""
    return X.take(rows) if hasattr(X, "take") and not isinstance(X, np.ndarray) else X[rows]


def folds(rows: int, many: int, seed: int, codes: Array | None = None) -> Array:
    """The number of the fold of each row, at random; with `codes`, each class spread evenly over the folds."""
    if not isinstance(many, (int, np.integer)) or many < 2:
        raise InputError(f"folds must be a whole number, 2 or more, got {many!r}")
    if rows < 2:
        raise InputError(f"cross-validation needs 2 rows or more, got {rows}")
    many = min(many, rows)
    rng = np.random.default_rng(seed)
    order = rng.permutation(rows)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    result = np.empty(rows, np.int64)
    result[order] = np.arange(rows) % many
    return result
