"""Held-out rows: scores of rows by the counts without them.

A row, a group of rows or a fold is left out by subtraction, so that a model without it costs no second count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.count.counts import Counts
from naively.count.ledger import Ledger, PartLedger
from naively.count.tally import Tally
from naively.errors import InputError
from naively.families.blocks.blocks import MISSING_VALUES, Blocks
from naively.families.blocks.text import TextsBlock
from naively.families.counts_left_out import unsorted
from naively.names import Index
from naively.read.frame import Frame
from naively.score.calibration import cross_fitted, enough_rows
from naively.score.priors import Prior, Smoothed
from naively.score.scores import Scores
from naively.threads import on_threads

_FEW_GROUPS = 64
"""Up to this number of groups, the other groups are added up; subtracting one would lose digits."""
_FALLBACK = Smoothed(1.0)
"""The prior for a row that is the only one of its class."""


@dataclass(frozen=True, eq=False)
class HeldOut(Value):
    """Scores of rows by models that had not seen them, and the labels of the rows.

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
        """The number of the label that each row is predicted to have."""
        return self.scores._most("posterior")

    @property
    def labels(self) -> Array:
        """The predicted labels of the rows."""
        return self.scores.classes[self.predicted]

    @property
    def accuracy(self) -> float:
        """The share of rows whose predicted label is right."""
        return _share(self._each[self.predicted == self.truth].sum(), self._each.sum())

    @property
    def losses(self) -> Array:
        """-log p(label | row) for each row; at most 708, where the label is impossible."""
        own = self.scores.log_proba()[np.arange(len(self.truth)), self.truth]
        return -np.maximum(own, np.log(np.finfo(np.float64).tiny))

    @property
    def log_loss(self) -> float:
        """Mean of `losses`, by weight."""
        return _share(float(self._each @ self.losses), self._each.sum())

    @property
    def confusion(self) -> Array:
        """Number of rows of each class (down) with each predicted label (across)."""
        classes = len(self.scores.classes)
        sums = np.bincount(self.truth * classes + self.predicted, weights=self._each, minlength=classes * classes)
        return sums.reshape(classes, classes)

    @property
    def odds(self) -> Array:
        """Log-odds of each row: its label against the best other label."""
        below = self.scores.below
        rows = np.arange(len(self.truth))
        others = below.copy()
        others[rows, self.truth] = -np.inf
        best = others.max(axis=1, initial=-np.inf)
        with np.errstate(invalid="ignore"):
            return np.where(np.isneginf(best), np.inf, below[rows, self.truth] - best)

    def as_used(self, method: str | None) -> HeldOut:
        """Return the same rows with probabilities calibrated by this method, each row by other rows than itself."""
        if method is None:
            return self
        calibration = cross_fitted(method, self.scores.below, self.truth, self._each)
        return replace(self, scores=self.scores.at(calibration))

    def take(self, rows: Array) -> HeldOut:
        """Return some of the rows."""
        return HeldOut(self.scores.take(rows), self.truth[rows], None if self.weight is None else self.weight[rows])

    def joined(self, *others: HeldOut) -> HeldOut:
        """Return the rows of several results over the same classes."""
        found = (self, *others)
        weight = np.concatenate([each._each for each in found])
        return HeldOut(Scores.joined([each.scores for each in found]), np.concatenate([f.truth for f in found]), weight)

    def enough_rows(self, method: str) -> Array:
        """Return the numbers of the rows that a calibration is fitted on."""
        return enough_rows(method, self.scores.below, self.truth, self._each)

    def __repr__(self) -> str:
        return f"HeldOut({len(self.truth):_} rows, accuracy {self.accuracy:.4f}, log-loss {self.log_loss:.4f})"


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else 0.0


def leave_one_out(
    blocks: Blocks, ledger: Ledger, rules: Sequence[Any], prior: Prior, X: Frame, codes: Array, weight: Array | None
) -> list[HeldOut]:
    """Leave-one-out scores for each rule: each row is scored by the counts without it."""
    classes = ledger.classes
    each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
    logs = _row_priors(prior, classes, ledger.rows, codes, each)
    if blocks.ignores_prior and classes.size > 1:
        logs = np.zeros_like(logs)
    left = blocks.left_out(ledger, rules, X, codes, weight)
    return [held_out(classes, finite, logs, impossible, codes, weight) for finite, impossible in left]


def held_out(
    classes: Index, likelihood: Array, prior: Array, impossible: Array | None, codes: Array, weight: Array | None
) -> HeldOut:
    """Return scores and labels with the classes in sorted order."""
    names = classes.names if classes.names is not None else np.arange(classes.size)
    if classes.order is None:
        return HeldOut(Scores(names, likelihood, prior, impossible), codes.astype(np.int64), weight)
    order = classes.order
    impossible = None if impossible is None else impossible[:, order]
    scores = Scores(names[order], np.ascontiguousarray(likelihood[:, order]), prior[:, order], impossible)
    return HeldOut(scores, sorted_places(classes, codes), weight)


def sorted_places(classes: Index, codes: Array) -> Array:
    """Return the places of class numbers in the sorted order of the classes' names."""
    return codes.astype(np.int64) if classes.order is None else np.argsort(classes.order)[codes]


def _row_priors(prior: Prior, classes: Index, rows: Array, codes: Array, weight: Array) -> Array:
    """Return the log-prior of each row from the other rows."""
    result = np.empty((len(codes), classes.size))
    order = np.lexsort((weight, codes))
    ends = np.flatnonzero((np.diff(codes[order]) != 0) | (np.diff(weight[order]) != 0)) + 1
    for alike in np.split(order, ends) if len(order) else []:
        klass, own_weight = int(codes[alike[0]]), float(weight[alike[0]])
        left = rows.astype(np.float64)
        left[klass] = max(left[klass] - own_weight, 0.0)
        result[alike] = without_class(prior, classes, left, np.array([klass]))
    return result


def without_class(prior: Prior, classes: Index, rows: Array, wanted: Array) -> Array:
    """Return the log-prior for these rows per class; a smoothed one if it gives a wanted class no probability."""
    logs = prior.log(classes, rows)
    return _FALLBACK.log(classes, rows) if np.isneginf(logs[wanted]).any() else logs


def leave_groups_out(
    blocks: Blocks, ledger: Ledger, rules: Sequence[Any], prior: Prior, X: Frame, codes: Array, weight: Array | None,
    groups: Array,
) -> list[HeldOut]:  # fmt: skip
    """Score the rows of each group (numbers from 0) by the counts of all other groups, for each rule."""
    classes = ledger.classes
    rows_of = _rows_of(groups)
    blocks, ledger = _without_weights(blocks, ledger)
    others = _Others(blocks, ledger, X, codes, weight)
    likelihood = [np.zeros((len(codes), classes.size)) for _ in rules]
    impossible: list[Array | None] = [None for _ in rules]
    logs = np.zeros((len(codes), classes.size))

    def score(task: tuple[Array, Callable[[Frame], Ledger]]) -> tuple[Array, list[Scores], Array]:
        rows, without = task
        part, of_group = X.take(rows), codes[rows]
        rest = without(part)
        log_prior = without_class(prior, classes, rest.rows, np.unique(of_group))
        if blocks.ignores_prior and classes.size > 1:
            log_prior = np.zeros_like(log_prior)
        return rows, [_scored(blocks, rest, rule, part) for rule in rules], log_prior

    for tasks in _batches(zip(rows_of, others.without(rows_of), strict=True), 8):
        for rows, scores, log_prior in on_threads(score, tasks, max(X.entries, 1 << 20)):
            logs[rows] = log_prior
            for k, found in enumerate(scores):
                likelihood[k][rows], zeros = unsorted(found, classes)
                if zeros is not None:
                    of_rule = impossible[k]
                    impossible[k] = of_rule = np.zeros_like(likelihood[k]) if of_rule is None else of_rule
                    of_rule[rows] = zeros
    return [held_out(classes, likelihood[k], logs, impossible[k], codes, weight) for k in range(len(rules))]


def _rows_of(groups: Array) -> list[Array]:
    """Return the rows of each group."""
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
class _Others:
    """Counted rows, and the sums of all rows but some."""

    blocks: Blocks
    ledger: Ledger
    X: Frame
    codes: Array
    weight: Array | None

    def _count(self, rows: Array, part: Frame) -> Tally:
        weight = None if self.weight is None else self.weight[rows]
        return self.blocks.count(part, self.codes[rows], self.ledger.classes, self.ledger.features, weight)

    def without(self, groups: list[Array]) -> Iterator[Callable[[Frame], Ledger]]:
        """Yield for each group a function from the rows of the group to the ledger of all other rows."""
        each = float(len(self.codes)) if self.weight is None else float(self.weight.sum())
        # rows that were counted, but are not among these
        more = abs(each - float(self.ledger.rows.sum())) > 1e-9 * each
        only_counts = all(isinstance(part.levels[0], Counts) for part in self.ledger.counted.values())
        if (only_counts and len(self.ledger.counted) == 1) or len(groups) > _FEW_GROUPS or more:
            for rows in groups:
                yield partial(self._left, rows)
            return
        tallies = [self._count(rows, self.X.take(rows)) for rows in groups]
        nothing = self.blocks.empty(self.ledger.classes, self.ledger.features)
        behind = [nothing]
        for tally in reversed(tallies[1:]):
            behind.append(tally + behind[-1])
        before = nothing
        for tally, after in zip(tallies, reversed(behind), strict=True):
            yield partial(_known_already, Ledger.of(before + after))
            before = before + tally

    def _left(self, rows: Array, part: Frame) -> Ledger:
        tally = self._count(rows, part)
        if len(self.ledger.counted) == 1 and tally.size * 64 > self.ledger.size:
            return Ledger.of(self.ledger.total - tally)
        return self.ledger.subtract(tally)


def _known_already(ledger: Ledger, part: Frame) -> Ledger:
    return ledger


def _without_weights(blocks: Blocks, ledger: Ledger) -> tuple[Blocks, Ledger]:
    """Drop the weights of words, which only tf-idf needs, if no tf-idf is used."""
    [block, *others] = blocks.blocks or (None,)
    if others or not isinstance(block, TextsBlock):
        return blocks, ledger
    words = block.family
    if not words.weights or words.weighting == "tfidf":
        return blocks, ledger
    words = replace(words, weights=False)
    total = ledger.counted[block.name].total
    counts = replace(total, kind=words.kind, cells=replace(total.cells, exact=total.cells.exact[:2]))
    fewer = Ledger(ledger.classes, ledger.exact_rows, {block.name: PartLedger(ledger.classes, (counts,))})
    return replace(blocks, blocks=(replace(block, family=words),)), fewer


def _scored(blocks: Blocks, ledger: Ledger, rule: Any, X: Frame) -> Scores:
    """Score rows by tables of all features, or of the features of these rows if they hold few."""
    nothing = np.zeros(ledger.classes.size)
    rows = blocks.rows(X, ledger.features)
    tables: dict[str, Any] = {}
    for block in blocks.blocks:
        family, part, own = block.family, ledger.counted[block.name], rows[block.name]
        entries = own.nnz if hasattr(own, "nnz") else own.size
        features = None
        if isinstance(part.levels[0], Counts) and not family.needs_count_histogram and entries * 8 < part.size:
            features = family.features_in(own, block.rule(rule), part)
        made: Any = family.table(part, block.rule(rule), nothing, features)
        if features is not None:
            rows[block.name] = family.restrict(own, features)
        elif hasattr(made, "for_once"):
            made = made.for_once()
        tables[block.name] = made
    table = blocks.with_missingness(tables, ledger, rule, nothing)
    if table.missingness is not None:
        rows[MISSING_VALUES] = table.missingness.codes(X)
    return table.score(rows, len(X))


def folds(rows: int, n_folds: int, seed: int, codes: Array | None = None) -> Array:
    """Return the fold of each row, at random; with `codes`, each class is spread evenly over the folds."""
    if not isinstance(n_folds, (int, np.integer)) or n_folds < 2:
        raise InputError(f"folds must be a whole number, 2 or more, got {n_folds!r}")
    if rows < 2:
        raise InputError(f"cross-validation needs 2 rows or more, got {rows}")
    n_folds = min(n_folds, rows)
    rng = np.random.default_rng(seed)
    order = rng.permutation(rows)
    if codes is not None:
        order = order[np.argsort(codes[order], kind="stable")]
    result = np.empty(rows, np.int64)
    result[order] = np.arange(rows) % n_folds
    return result
