"""Bernoulli: a feature is there or not, and its absence counts too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.counts import Counts
from naively.count.ledger import PartLedger, View
from naively.families.base import (
    NOTHING,
    absent_entries,
    count_linear,
    every_cell,
    largest,
    linear_pair,
    localised_sparse,
    minus,
    remainder,
    sparse_features,
)
from naively.families.counts_left_out import Entries, Left, as_entries, mixture, presences_left_out
from naively.names import Index
from naively.read.matrix import Rows, ValueRange
from naively.score.table import Linear, LinearTable
from naively.smooth.evidence import Draws
from naively.smooth.rules import Evidence, Logs, Smoothing, settled
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Bernoulli:
    """p(w | c) = (N_cw + α) / (n_cw + 2α), n_cw being the rows of the class in which w is known.

    The sum over all absent features is made once for a table; a row then adds only what it holds:
    score = sum over all w of log(1 - p) + sum over the row's w of log p - log(1 - p).
    """

    who: str = "BernoulliNB"
    threshold: float | None = 0.0

    @property
    def accepts(self) -> ValueRange:
        return ValueRange(threshold=self.threshold) if self.threshold is not None else ValueRange(low=0.0, high=1.0)

    @property
    def expected(self) -> str:
        return "a number" if self.threshold is not None else "0 to 1 with binarize=None; pass binarize=0.0 for counts"

    needs_count_histogram: ClassVar[bool] = True
    ignores_prior: ClassVar[bool] = False

    def empty(self, classes: Index, features: Index) -> Counts:
        return Counts.empty("presence", classes.size, features)

    def count(self, X: Rows, codes: Array, classes: Index, features: Index, weight: Array | None) -> Counts:
        return count_linear(self.who, "presence", self.expected, self.accepts, X, codes, classes, features, weight)

    def features_in(self, X: Rows, rule: Smoothing, ledger: PartLedger) -> Array | None:
        return None if rule.per_feature or isinstance(rule, Evidence) else sparse_features(X)

    def restrict(self, X: Rows, features: Array) -> Rows:
        return localised_sparse(X, features)

    def table(self, ledger: PartLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> LinearTable:
        view: View = ledger.view() if features is None else ledger.view_of(features)
        rule = self.table_rule(view, rule)
        pseudo = rule.pseudo(view.features)
        if isinstance(pseudo, np.ndarray):
            view = every_cell(view)
        usual = largest(pseudo)

        def there(count: Any, total: Any, extra: Any) -> Logs:
            return rule.log(count, total, extra, 2 * extra, 2.0)

        def absent(count: Any, total: Any, extra: Any) -> Logs:
            return rule.log(remainder(total, count), total, extra, 2 * extra, 2.0)

        cells, rows = view.cells, view.rows
        each = pseudo[cells.feature] if isinstance(pseudo, np.ndarray) else pseudo
        known = remainder(rows[cells.klass], cells.values[1])
        unseen_absent, seen_absent = absent(0, rows, usual), absent(cells.values[0], known, each)
        unseen, seen = there(0, rows, usual), there(cells.values[0], known, each)
        base = absent_sum(view, absent, unseen_absent, pseudo)
        present, impossible = linear_pair(view, base, minus(unseen, unseen_absent), NOTHING, minus(seen, seen_absent))

        def holes() -> tuple[Linear, Linear | None]:
            return linear_pair(view, NOTHING, unseen_absent, NOTHING, seen_absent, sign=-1.0)

        assert isinstance(view.every, Index)
        return LinearTable(
            self.who,
            self.expected,
            view.classes,
            view.every,
            prior,
            self.accepts,
            present,
            impossible,
            holes,
            numbers=view.features,
        )

    def left_out(
        self, ledger: PartLedger, rules: Sequence[Smoothing], X: Rows, codes: Array, weight: Array | None
    ) -> Left:
        view = ledger.view()
        rules = [self.table_rule(view, rule) for rule in rules]
        return bernoulli_left_out(as_entries(view, X, codes, weight, self.threshold), view, rules)

    def table_rule(self, view: View, rule: Smoothing) -> Smoothing:
        """The rule, or where the counts are to decide, what they decide."""
        return settled(rule, lambda: self.draws(view))

    def draws(self, view: View) -> Draws:
        """Each feature in each class is an urn of two outcomes, from which its rows were drawn."""
        cells, rows = view.cells, view.rows.astype(np.float64)
        known = remainder(rows[cells.klass], cells.values[1])
        away = remainder(known, cells.values[0])
        unseen = view.every.size - np.bincount(cells.klass, minlength=len(rows))
        counts = np.concatenate([cells.values[0], away, rows])
        many = np.concatenate([np.ones(2 * len(away)), unseen])
        urns = np.concatenate([np.ones(len(known)), unseen])
        return Draws.of(counts, np.concatenate([known, rows]), 2.0, many, urns)

    def n_parameters(self, ledger: PartLedger) -> int:
        return ledger.classes.size * ledger.features.size

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """One for each combination of features, but one: 2^D - 1 for each class."""
        return ledger.classes.size * (2**ledger.features.size - 1)

    def sample(self, ledger: PartLedger, rule: Smoothing, klass: int, size: int, rng: np.random.Generator) -> Rows:
        rule = self.table_rule(ledger.view(), rule)
        known = remainder(ledger.rows[klass], ledger.total.dense(1)[klass])
        finite, impossible = rule.log(ledger.total.dense()[klass], known, rule.pseudo(None), 2 * rule.pseudo(None), 2.0)
        chance = np.exp(finite) if impossible is None else np.where(impossible > 0, 0.0, np.exp(finite))
        return (rng.random((size, len(chance))) < chance).astype(np.int64)


def bernoulli_left_out(entries: Entries, view: Any, rules: Sequence[Smoothing]) -> Left:
    """Each row by what is left without it."""

    def there(rule: Smoothing, count: Any, known: Any, each: Any) -> Logs:
        return rule.log(count, known, each, 2 * each, 2.0)

    def away(rule: Smoothing, count: Any, known: Any, each: Any) -> Logs:
        return there(rule, np.maximum(known - count, 0.0), known, each)

    def present(block: Entries, rule: Smoothing, left: Array, known: Array) -> Logs:
        x, each = block.rows.data[:, None], block.each(rule.pseudo(None))
        return mixture(there(rule, left, known, each), x, away(rule, left, known, each), 1.0 - x)

    def absent(block: Entries, rule: Smoothing, count: Array, known: Array) -> Logs:
        return away(rule, count, known, block.each(rule.pseudo(None)))

    def base(rule: Smoothing, less: float) -> Logs:
        pseudo = rule.pseudo(None)
        shown = (every_cell(view) if isinstance(pseudo, np.ndarray) else view).with_fewer_rows(less)
        unseen = away(rule, 0, shown.rows, largest(pseudo))
        return absent_sum(shown, lambda count, known, each: away(rule, count, known, each), unseen, pseudo)

    return presences_left_out(entries, rules, present, absent, base)


def absent_sum(view: View, absent: Any, unseen: Logs, pseudo: Any) -> Logs:
    """What a row that holds nothing comes to in each class: the sum over all features."""
    klass, count, missing, many, each = absent_entries(view, pseudo)
    seen = absent(count, remainder(view.rows[klass], missing), each)
    sums: list[Array | None] = []
    for none, some in zip(unseen, seen, strict=True):
        if none is None and some is None:
            sums.append(None)
            continue
        of_none = np.zeros(view.classes.size) + (0.0 if none is None else none)
        more = ((0.0 if some is None else some) - of_none[klass]) * many
        sums.append(view.every.size * of_none + np.bincount(klass, more, view.classes.size))
    assert sums[0] is not None
    return sums[0], sums[1]
