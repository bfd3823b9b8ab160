"""Complement: weighs a feature by how rarely the other classes use it (Rennie et al. 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from naively.arrays import Array
from naively.count.ledger import PartLedger, View
from naively.families.base import NOTHING, every_cell, linear_pair, remainder, rule_mass
from naively.families.counts_left_out import Left, as_entries, draws_left_out, one_by_one
from naively.families.multinomial import COUNTS, EXPECTED, Multinomial
from naively.names import Index
from naively.read.matrix import Rows
from naively.score.table import Linear, LinearTable
from naively.smooth.evidence import Draws
from naively.smooth.rules import Smoothing
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Complement(Multinomial):
    """w(w, c) = -log((N_w - N_cw + α) / (N - N_c + αV)), divided by their sum over w where `norm` is set.

    Counts as the multinomial does, so one tally serves both.
    """

    who: str = "ComplementNB"
    norm: bool = False

    @property
    def ignores_prior(self) -> bool:
        return True

    def features_in(self, X: Rows, rule: Smoothing, ledger: PartLedger) -> Array | None:
        return None if self.norm else super().features_in(X, rule, ledger)

    def table(self, ledger: PartLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> LinearTable:
        view: View = ledger.view() if features is None else ledger.view_of(features)
        rule = self.table_rule(view, rule)
        outcomes = view.every.size
        mass, pseudo = rule_mass(rule, outcomes), rule.pseudo(view.features)
        of_others = view.totals[0].sum() - view.totals[0]
        everywhere = np.bincount(view.cells.feature, weights=view.cells.values[0], minlength=view.width)
        # An unseen cell is what the feature comes to everywhere over what the other classes come to.
        top, bottom = everywhere + pseudo, of_others + mass
        if (top <= 0).any() and ((bottom <= 0).any() or self.norm):
            view = every_cell(view)  # the two do not come apart
        feature = np.log(np.where(top > 0, top, 1.0)), (top <= 0).astype(np.float64) if (top <= 0).any() else None
        klass = -np.log(np.where(bottom > 0, bottom, outcomes)), None
        cells = view.cells
        each = pseudo[cells.feature] if isinstance(pseudo, np.ndarray) else pseudo
        elsewhere = remainder(everywhere[cells.feature], cells.values[0])
        seen = rule.log(elsewhere, of_others[cells.klass], each, mass, outcomes)
        present, impossible = linear_pair(view, NOTHING, klass, feature, seen, sign=-1.0)
        if self.norm:
            present, impossible = normed(present, impossible), None
        if view.classes.size > 1:  # the prior has no say in the complement's weights
            prior = np.zeros_like(prior)
        assert isinstance(view.every, Index)
        return LinearTable(
            self.who,
            EXPECTED,
            view.classes,
            view.every,
            prior,
            COUNTS,
            present,
            impossible=impossible,
            numbers=view.features,
        )

    def left_out(
        self, ledger: PartLedger, rules: Sequence[Smoothing], X: Rows, codes: Array, weight: Array | None
    ) -> Left:
        if self.norm:
            return one_by_one(self, ledger, rules, X, codes, weight)
        view = ledger.view()
        rules = [self.table_rule(view, rule) for rule in rules]
        return draws_left_out(as_entries(view, X, codes, weight), rules, complement=True)

    def draws(self, view: View) -> Draws:
        """All other classes of a class are an urn."""
        cells, totals = view.cells, view.totals[0]
        everywhere = np.bincount(cells.feature, weights=cells.values[0], minlength=view.width)
        unseen = view.classes.size - np.bincount(cells.feature, minlength=view.width)
        elsewhere = remainder(everywhere[cells.feature], cells.values[0])
        many = np.concatenate([np.ones(len(elsewhere)), unseen])
        return Draws.of(np.concatenate([elsewhere, everywhere]), totals.sum() - totals, view.every.size, many)


def normed(present: Linear, impossible: Linear | None) -> Linear:
    """Weights divided by their sum for each class; where some are infinite, those share it and the others vanish."""
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
