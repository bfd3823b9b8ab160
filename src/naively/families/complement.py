"""Complement: weighs a feature by how rarely the other classes use it (Rennie et al. 2003)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.cells import Array
from naively.errors import InputError
from naively.families.base import linear_pair, rule_mass
from naively.families.multinomial import COUNTS, EXPECTED, Multinomial
from naively.ledger import Ledger
from naively.names import Index
from naively.rows import Rows
from naively.smoothing import Additive, Smoothing
from naively.table import LinearTable

_TINY = 1e-300


@dataclass(frozen=True)
class Complement(Multinomial):
    """w(w, c) = -log((N_w - N_cw + α) / (N - N_c + αV)), divided by their sum over w where `norm` is set.

    Counts as the multinomial does, so one tally serves both.
    """

    who: str = "ComplementNB"
    norm: bool = False

    def touched(self, X: Rows, rule: Smoothing) -> Array | None:
        return None if self.norm else super().touched(X, rule)

    def table(self, ledger: Ledger, rule: Smoothing, prior: Array, features: Array | None = None) -> LinearTable:
        if not isinstance(rule, Additive):
            raise InputError(f"{self.who} is smoothed by Additive(alpha) only, got {rule!r}")
        if self.norm and np.min(rule.alpha) == 0:
            rule = Additive(np.maximum(rule.alpha, _TINY))  # type: ignore[arg-type]
        view = ledger.view() if features is None else ledger.view_of(features)
        cells, outcomes = view.cells, view.every.size
        mass, pseudo = rule_mass(rule, outcomes), rule.pseudo(view.features)
        of_others = view.totals[0].sum() - view.totals[0]
        everywhere = np.bincount(cells.feature, weights=cells.values[0], minlength=view.width)
        # An unseen cell is what the feature comes to everywhere over what the other classes come to.
        top, bottom = everywhere + pseudo, of_others + mass
        feature = np.log(np.where(top > 0, top, 1.0)), (top <= 0).astype(np.float64) if (top <= 0).any() else None
        klass = -np.log(np.where(bottom > 0, bottom, outcomes)), None
        each = pseudo[cells.feature] if isinstance(pseudo, np.ndarray) else pseudo
        seen = rule.log(everywhere[cells.feature] - cells.values[0], of_others[cells.klass], each, mass, outcomes)
        zero = (np.zeros(view.classes.size), None)
        present, impossible = linear_pair(view, zero, klass, feature, seen, sign=-1.0)
        scale = None
        if self.norm:
            seen_sums = np.bincount(cells.klass, weights=present.delta, minlength=view.classes.size)
            sums = view.width * present.klass + present.feature.sum() + seen_sums
            scale = 1.0 / np.where(sums > 0, sums, 1.0)  # a single feature weighs nothing
        if view.classes.size > 1:  # the prior has no say in the complement's weights
            prior = np.zeros_like(prior)
        assert isinstance(view.every, Index)
        return LinearTable(
            self.who, EXPECTED, view.classes, view.every, prior, COUNTS, present, impossible=impossible, scale=scale
        )
