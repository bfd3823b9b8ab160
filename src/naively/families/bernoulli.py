"""Bernoulli: a feature is there or not, and its absence counts too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.cells import Array
from naively.families.base import (
    absent_entries,
    count_linear,
    every_cell,
    largest,
    linear_pair,
    localised_sparse,
    minus,
    remainder,
    sparse_features,
    sum_by_class,
)
from naively.ledger import Ledger, View, entries_of
from naively.names import Index
from naively.rows import Accepts, Rows
from naively.smoothing import Logs, Smoothing
from naively.table import LinearTable
from naively.tally import Tally


@dataclass(frozen=True)
class Bernoulli:
    """p(w | c) = (N_cw + α) / (n_cw + 2α), n_cw being the rows of the class in which w is known.

    The sum over all absent features is made once for a table; a row then adds only what it holds:
    score = sum over all w of log(1 - p) + sum over the row's w of log p - log(1 - p).
    """

    who: str = "BernoulliNB"
    threshold: float | None = 0.0

    @property
    def accepts(self) -> Accepts:
        return Accepts(threshold=self.threshold) if self.threshold is not None else Accepts(low=0.0, high=1.0)

    @property
    def expected(self) -> str:
        return "a number" if self.threshold is not None else "0 to 1 with binarize=None; pass binarize=0.0 for counts"

    def empty(self, classes: Index, features: Index) -> Tally:
        return Tally.empty("presence", classes, features)

    def count(self, X: Rows, codes: Array, classes: Index, features: Index, weight: Array | None) -> Tally:
        return count_linear(self.who, "presence", self.expected, self.accepts, X, codes, classes, features, weight)

    def touched(self, X: Rows, rule: Smoothing) -> Array | None:
        return None if getattr(rule, "per_feature", False) else sparse_features(X)

    def localised(self, X: Rows, features: Array) -> Rows:
        return localised_sparse(X, features)

    def table(self, ledger: Ledger, rule: Smoothing, prior: Array, features: Array | None = None) -> LinearTable:
        view = view_with_entries(ledger, features)
        pseudo = rule.pseudo(view.features)
        if isinstance(pseudo, np.ndarray):
            view = every_cell(view)
        usual = largest(pseudo)

        def there(count: Any, total: Any, extra: Any) -> Logs:
            return rule.log(count, total, extra, 2 * extra, 2.0)

        def absent(count: Any, total: Any, extra: Any) -> Logs:
            return rule.log(remainder(total, count), total, extra, 2 * extra, 2.0)

        cells, rows = view.cells, view.rows.astype(np.float64)
        each = pseudo[cells.feature] if isinstance(pseudo, np.ndarray) else pseudo
        known = remainder(rows[cells.klass], cells.values[1])
        unseen_absent, seen_absent = absent(0.0, rows, usual), absent(cells.values[0], known, each)
        base = absent_sum(view, absent, pseudo, usual)
        present, impossible = linear_pair(
            view, base, minus(there(0.0, rows, usual), unseen_absent), (np.zeros(1), None),
            minus(there(cells.values[0], known, each), seen_absent),
        )  # fmt: skip
        zero = (np.zeros(view.classes.size), None)
        holes, impossible_holes = linear_pair(view, zero, unseen_absent, (np.zeros(1), None), seen_absent, sign=-1.0)
        assert isinstance(view.every, Index)
        return LinearTable(
            self.who, self.expected, view.classes, view.every, prior, self.accepts, present, holes, impossible,
            impossible_holes,
        )  # fmt: skip

    def n_parameters(self, tally: Tally) -> int:
        return tally.classes.size * tally.features.size

    def n_parameters_joint(self, tally: Tally) -> int | float:
        """One for each combination of features, but one: 2^D - 1 for each class."""
        return tally.classes.size * (2**tally.features.size - 1)

    def sample(self, tally: Tally, rule: Smoothing, klass: int, size: int, rng: np.random.Generator) -> Rows:
        known = remainder(tally.rows[klass], tally.dense(1)[klass])
        finite, odd = rule.log(tally.dense()[klass], known, rule.pseudo(None), 2 * rule.pseudo(None), 2.0)
        chance = np.exp(finite) if odd is None else np.where(odd > 0, 0.0, np.exp(finite))
        return (rng.random((size, len(chance))) < chance).astype(np.int64)


def view_with_entries(ledger: Ledger, features: Array | None) -> View:
    """Some features or all; with how often each count occurs where not all are in view."""
    if features is None:
        return ledger.view()
    view = ledger.view_of(features)
    spectrum = ledger.with_spectrum().spectrum
    assert spectrum is not None
    return View(
        view.classes, view.rows, view.totals, view.every, view.features, view.width, view.cells, entries_of(spectrum)
    )


def absent_sum(view: View, absent: Any, pseudo: Any, usual: float) -> Logs:
    """What a row that holds nothing comes to in each class: the sum over all features."""
    rows, classes = view.rows.astype(np.float64), view.classes.size
    klass, count, missing, many, each = absent_entries(view, pseudo)
    unseen, seen = absent(0.0, rows, usual), absent(count, remainder(rows[klass], missing), each)
    unseen_features = view.every.size - np.bincount(klass, weights=many, minlength=classes)
    sums: list[Array | None] = []
    for none, some in zip(unseen, seen, strict=True):
        if none is None and some is None:
            sums.append(None)
            continue
        of_none = np.zeros(1) if none is None else none
        of_some = np.zeros(1) if some is None else some
        sums.append(unseen_features * of_none + sum_by_class(klass, of_some, many, classes))
    assert sums[0] is not None
    return sums[0], sums[1]
