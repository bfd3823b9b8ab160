"""Multinomial: every occurrence of a feature is one draw from its class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from naively.cells import Array
from naively.families.base import (
    NOTHING,
    count_linear,
    largest,
    linear_pair,
    localised_sparse,
    minus,
    rule_mass,
    sparse_features,
)
from naively.ledger import Ledger
from naively.names import Index
from naively.rows import Accepts, Rows
from naively.smoothing import Smoothing
from naively.table import LinearTable
from naively.tally import Tally

COUNTS = Accepts(low=0.0)
EXPECTED = "counts, 0 or more"


@dataclass(frozen=True)
class Multinomial:
    """p(w | c) = (N_cw + α) / (N_c + αV)."""

    who: str = "MultinomialNB"

    spectral: ClassVar[bool] = False

    def empty(self, classes: Index, features: Index) -> Tally:
        return Tally.empty("counts", classes, features)

    def count(self, X: Rows, codes: Array, classes: Index, features: Index, weight: Array | None) -> Tally:
        return count_linear(self.who, "counts", EXPECTED, COUNTS, X, codes, classes, features, weight)

    def touched(self, X: Rows, rule: Smoothing, ledger: Ledger) -> Array | None:
        return sparse_features(X)

    def localised(self, X: Rows, features: Array) -> Rows:
        return localised_sparse(X, features)

    def table(self, ledger: Ledger, rule: Smoothing, prior: Array, features: Array | None = None) -> LinearTable:
        view = ledger.view() if features is None else ledger.view_of(features)
        outcomes, mass = view.every.size, rule_mass(rule, view.every.size)
        pseudo, usual = rule.pseudo(view.features), largest(rule.pseudo(None))
        totals = view.totals[0]
        unseen = rule.log(0.0, totals, usual, mass, outcomes)
        apart = minus(rule.log(0.0, 1.0, pseudo, mass, outcomes), rule.log(0.0, 1.0, usual, mass, outcomes))
        cells = view.cells
        each = pseudo[cells.feature] if isinstance(pseudo, np.ndarray) else pseudo
        seen = rule.log(cells.values[0], totals[cells.klass], each, mass, outcomes)
        present, impossible = linear_pair(view, NOTHING, unseen, apart, seen)
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

    def n_parameters(self, tally: Tally) -> int:
        return tally.classes.size * (tally.features.size - 1)

    def n_parameters_joint(self, tally: Tally) -> int | float:
        """Of which features a row holds, in every combination: 2^V - 1 for each class."""
        return tally.classes.size * (2**tally.features.size - 1)

    def sample(self, tally: Tally, rule: Smoothing, klass: int, size: int, rng: np.random.Generator) -> Rows:
        """Rows as long as the class's are on average, in a Poisson manner."""
        assert isinstance(tally.features, Index)
        counts = tally.dense()[klass].astype(np.float64)
        total, rows = counts.sum(), max(float(tally.rows[klass]), 1.0)
        mass = rule_mass(rule, tally.features.size)
        finite, odd = rule.log(counts, total, rule.pseudo(None), mass, tally.features.size)
        chance = np.exp(finite) if odd is None else np.where(odd > 0, 0.0, np.exp(finite))
        return rng.multinomial(rng.poisson(total / rows, size), chance / chance.sum())
