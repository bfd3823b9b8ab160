"""Poisson: a feature is a number of events, with a rate for each class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.counts import Counts
from naively.count.ledger import PartLedger, View
from naively.families.base import (
    NOTHING,
    count_linear,
    every_cell,
    largest,
    linear_pair,
    localised_sparse,
    remainder,
    sparse_features,
)
from naively.families.bernoulli import absent_sum
from naively.families.counts_left_out import Entries, Left, as_entries, mixture, presences_left_out
from naively.families.multinomial import COUNTS, EXPECTED
from naively.names import Index
from naively.read.matrix import Rows, SparseRows, is_sparse
from naively.score.table import Linear, LinearTable
from naively.smooth.evidence import best_shape
from naively.smooth.rules import Additive, Evidence, Logs, Smoothing
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Poisson:
    """λ_cw = (S_cw + α) / (n_cw + α): the events over the rows in which they are known.

    score = sum over w of x log λ - λ - log x!.
    """

    who: str = "PoissonNB"

    needs_count_histogram: ClassVar[bool] = True
    ignores_prior: ClassVar[bool] = False

    def empty(self, classes: Index, features: Index) -> Counts:
        return Counts.empty("events", classes.size, features)

    def count(self, X: Rows, codes: Array, classes: Index, features: Index, weight: Array | None) -> Counts:
        return count_linear(self.who, "events", EXPECTED, COUNTS, X, codes, classes, features, weight)

    def features_in(self, X: Rows, rule: Smoothing, ledger: PartLedger) -> Array | None:
        return None if rule.per_feature or isinstance(rule, Evidence) else sparse_features(X)

    def restrict(self, X: Rows, features: Array) -> Rows:
        return localised_sparse(X, features)

    def table(self, ledger: PartLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> LinearTable:
        view: View = ledger.view() if features is None else ledger.view_of(features)
        rule = self.settled(rule, view)
        pseudo = rule.pseudo(view.features)
        if isinstance(pseudo, np.ndarray):
            view = every_cell(view)
        usual = largest(pseudo)

        def rate(count: Any, total: Any, extra: Any) -> Logs:
            return rule.log(count, total, extra, extra, 1.0)

        def expected(count: Any, total: Any, extra: Any) -> Logs:
            return -_rates(rate(count, total, extra)), None

        cells, rows = view.cells, view.rows
        each = pseudo[cells.feature] if isinstance(pseudo, np.ndarray) else pseudo
        known = remainder(rows[cells.klass], cells.values[1])
        base = absent_sum(view, expected, expected(0, rows, usual), pseudo)
        present, impossible = linear_pair(view, base, rate(0, rows, usual), NOTHING, rate(cells.values[0], known, each))

        def holes() -> tuple[Linear, Linear | None]:
            unseen, seen = expected(0, rows, usual), expected(cells.values[0], known, each)
            return linear_pair(view, NOTHING, unseen, NOTHING, seen, sign=-1.0)

        assert isinstance(view.every, Index)
        return LinearTable(
            self.who,
            EXPECTED,
            view.classes,
            view.every,
            prior,
            COUNTS,
            present,
            impossible,
            holes,
            LogFactorials(),
            numbers=view.features,
        )

    def left_out(
        self, ledger: PartLedger, rules: Sequence[Smoothing], X: Rows, codes: Array, weight: Array | None
    ) -> Left:
        view = ledger.view()
        rules = [self.settled(rule, view) for rule in rules]
        left = poisson_left_out(as_entries(view, X, codes, weight), view, rules)
        return [(finite + LogFactorials()(X)[:, None], impossible) for finite, impossible in left]

    def settled(self, rule: Smoothing, view: View) -> Smoothing:
        """The rule, or where the counts are to decide: rates as drawn from a gamma with mean 1 and shape α."""
        if not isinstance(rule, Evidence):
            return rule
        cells, rows = view.cells, view.rows.astype(np.float64)
        unseen = view.every.size - np.bincount(cells.klass, minlength=len(rows))
        events = np.concatenate([cells.values[0], np.zeros(len(rows))])
        known = np.concatenate([remainder(rows[cells.klass], cells.values[1]), rows])
        return Additive(best_shape(events, known, np.concatenate([np.ones(len(cells)), unseen])))

    def n_parameters(self, ledger: PartLedger) -> int:
        return ledger.classes.size * ledger.features.size

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """Infinite: numbers of events have no upper end, so their combinations cannot be counted."""
        return math.inf

    def sample(self, ledger: PartLedger, rule: Smoothing, klass: int, size: int, rng: np.random.Generator) -> Rows:
        rule = self.settled(rule, ledger.view())
        known = remainder(ledger.rows[klass], ledger.total.dense(1)[klass])
        pseudo = rule.pseudo(None)
        rates = _rates(rule.log(ledger.total.dense()[klass], known, pseudo, pseudo, 1.0))
        return rng.poisson(rates, (size, len(rates)))


def poisson_left_out(entries: Entries, view: View, rules: Sequence[Smoothing]) -> Left:
    """Each row by what is left without it, but for the factorials."""

    def rate(rule: Smoothing, count: Any, known: Any, each: Any) -> Logs:
        return rule.log(count, known, each, each, 1.0)

    def present(block: Entries, rule: Smoothing, left: Array, known: Array) -> Logs:
        logs = rate(rule, left, known, block.each(rule.pseudo(None)))
        return mixture(logs, block.rows.data[:, None], (_rates(logs), None), -1.0)

    def absent(block: Entries, rule: Smoothing, count: Array, known: Array) -> Logs:
        return -_rates(rate(rule, count, known, block.each(rule.pseudo(None)))), None

    def base(rule: Smoothing, less: float) -> Logs:
        pseudo = rule.pseudo(None)
        shown = (every_cell(view) if isinstance(pseudo, np.ndarray) else view).with_fewer_rows(less)

        def expected(count: Any, known: Any, each: Any) -> Logs:
            return -_rates(rate(rule, count, known, each)), None

        return absent_sum(shown, expected, expected(0, shown.rows, largest(pseudo)), pseudo)

    return presences_left_out(entries, rules, present, absent, base)


def _rates(logs: Logs) -> Array:
    finite, impossible = logs
    return np.exp(finite) if impossible is None else np.where(impossible > 0, 0.0, np.exp(finite))


@stored()
@dataclass(frozen=True)
class LogFactorials:
    """-log x! over each row; the same for every class."""

    def __call__(self, X: Rows) -> Array:
        from scipy.special import gammaln

        if is_sparse(X):
            values = np.nan_to_num(gammaln(X.data.astype(np.float64) + 1.0))
            return -np.asarray(SparseRows(values, X.indices, X.indptr, X.shape).matrix().sum(axis=1)).ravel()
        return -np.nansum(gammaln(X.astype(np.float64) + 1.0), axis=1)
