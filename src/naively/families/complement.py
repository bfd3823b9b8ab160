"""Complement: a feature weighs more the more rarely other classes have it (Rennie et al. 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.ledger import PartLedger, View
from naively.families.counts_left_out import Left, one_by_one
from naively.families.multinomial import Multinomial
from naively.read.matrix import Rows
from naively.score.table import Linear, LinearTable
from naively.smooth.logs import Logs, negative
from naively.smooth.rules import Context, Settled, Smoothing
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Complement(Multinomial):
    """w(w, c) = -log((N_w - N_cw + α) / (N - N_c + αV)), divided by their sum over w where `norm` is set.

    It counts and draws rows as the multinomial does, so one tally serves both.
    """

    who: str = "ComplementNB"
    norm: bool = False

    against_others: ClassVar[bool] = True

    def unit(self, rule: Context, count: Any, total: Any) -> Logs:
        return negative(rule.log(count, total))

    def features_in(self, X: Rows, rule: Smoothing, ledger: PartLedger) -> Array | None:
        return None if self.norm else super().features_in(X, rule, ledger)

    def table_of(self, view: View, settled: Settled, prior: Array) -> LinearTable:
        table = super().table_of(view, settled, prior)
        return replace(table, present=normed(table.present, table.impossible), impossible=None) if self.norm else table

    def left_out(
        self, ledger: PartLedger, rules: Sequence[Smoothing], X: Rows, codes: Array, weight: Array | None
    ) -> Left:
        if self.norm:
            return one_by_one(self, ledger, rules, X, codes, weight)
        return super().left_out(ledger, rules, X, codes, weight)


def normed(present: Linear, impossible: Linear | None) -> Linear:
    """Divide weights by their sum for each class; infinite weights share the sum, and the others become 0."""
    classes, width = len(present.klass), len(present.feature)
    weights = present.weights[:, :classes]
    if impossible is not None:
        infinite = -impossible.weights[:, :classes]
        weights = np.where(infinite.any(axis=0), infinite, weights)
    sums = weights.sum(axis=0)
    weights = weights / np.where(sums > 0, sums, 1.0)  # a single feature weighs nothing
    feature = np.repeat(np.arange(width), classes)
    klass = np.tile(np.arange(classes), width).astype(np.int32)
    return Linear(present.base, np.zeros(classes), np.zeros(width), feature, klass, weights.ravel())
