"""Multinomial: every occurrence of a feature is one draw from its class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.counts import Counts
from naively.count.ledger import PartLedger, View
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
from naively.families.counts_left_out import Left, as_entries, draws_left_out
from naively.names import Index
from naively.read.matrix import Rows, ValueRange
from naively.score.table import Linear, LinearTable
from naively.smooth.backgrounds import Background, Seen, background_of, mixed_logs, shares
from naively.smooth.evidence import Draws
from naively.smooth.rules import Evidence, Smoothing, cell_logs, settled
from naively.store.registry import stored

COUNTS = ValueRange(low=0.0)
EXPECTED = "counts, 0 or more"


@stored()
@dataclass(frozen=True)
class Multinomial:
    """p(w | c) = (N_cw + α) / (N_c + αV)."""

    who: str = "MultinomialNB"

    needs_count_histogram: ClassVar[bool] = False

    @property
    def ignores_prior(self) -> bool:
        return False

    def empty(self, classes: Index, features: Index) -> Counts:
        return Counts.empty("counts", classes.size, features)

    def count(self, X: Rows, codes: Array, classes: Index, features: Index, weight: Array | None) -> Counts:
        return count_linear(self.who, "counts", EXPECTED, COUNTS, X, codes, classes, features, weight)

    def features_in(self, X: Rows, rule: Smoothing, ledger: PartLedger) -> Array | None:
        return None if isinstance(rule, (Evidence, Background)) else sparse_features(X)

    def restrict(self, X: Rows, features: Array) -> Rows:
        return localised_sparse(X, features)

    def table(self, ledger: PartLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> LinearTable:
        view = ledger.view() if features is None else ledger.view_of(features)
        if isinstance(rule, Background):
            present, impossible = background_pair(view, rule)
            return self._table(view, prior, present, impossible)
        rule = self.table_rule(view, rule)
        outcomes, mass = view.every.size, rule_mass(rule, view.every.size)
        pseudo, usual = rule.pseudo(view.features), largest(rule.pseudo(None))
        totals = view.totals[0]
        unseen = rule.log(0.0, totals, usual, mass, outcomes)
        apart = minus(rule.log(0.0, 1.0, pseudo, mass, outcomes), rule.log(0.0, 1.0, usual, mass, outcomes))
        cells = view.cells
        each = pseudo[cells.feature] if isinstance(pseudo, np.ndarray) else pseudo
        seen = cell_logs(rule, cells.values[0], totals, cells.klass, each, mass, outcomes)
        present, impossible = linear_pair(view, NOTHING, unseen, apart, seen)
        return self._table(view, prior, present, impossible)

    def _table(self, view: View, prior: Array, present: Linear, impossible: Linear | None) -> LinearTable:
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
        view = ledger.view()
        rules = [self.table_rule(view, rule) for rule in rules]
        return draws_left_out(as_entries(view, X, codes, weight), rules)

    def table_rule(self, view: View, rule: Smoothing) -> Smoothing:
        """The rule, or where the counts are to decide, what they decide."""
        return settled(rule, lambda: self.draws(view))

    def draws(self, view: View) -> Draws:
        """Each class is an urn, from which its occurrences were drawn."""
        return Draws.of(view.cells.values[0], view.totals[0], view.every.size)

    def n_parameters(self, ledger: PartLedger) -> int:
        return ledger.classes.size * (ledger.features.size - 1)

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """Of which features a row holds, in every combination: 2^V - 1 for each class."""
        return ledger.classes.size * (2**ledger.features.size - 1)

    def sample(self, ledger: PartLedger, rule: Smoothing, klass: int, size: int, rng: np.random.Generator) -> Rows:
        """Rows as long as the class's are on average, in a Poisson manner."""
        total, rows = float(ledger.totals[0][klass]), max(float(ledger.rows[klass]), 1.0)
        table = Multinomial.table(self, ledger, rule, np.zeros(ledger.classes.size))
        chance = chances(table, klass)
        return rng.multinomial(rng.poisson(total / rows, size), chance / chance.sum())


def chances(table: LinearTable, klass: int) -> Array:
    """The probability of each feature in a class."""
    chance = np.exp(table.present.weights[:, klass])
    return chance if table.impossible is None else np.where(table.impossible.weights[:, klass] > 0, 0.0, chance)


def background_pair(view: View, rule: Background) -> tuple[Linear, Linear | None]:
    """The table of finite parts and that of impossible factors, where the unseen is as in all classes together."""
    cells, classes, totals = view.cells, view.classes.size, view.totals[0].astype(np.float64)
    count = cells.values[0].astype(np.float64)
    rule = rule.told(count)
    seen = Seen(
        totals,
        np.bincount(cells.klass, minlength=classes).astype(np.float64),
        np.bincount(cells.klass, weights=rule.discounted(count), minlength=classes),
    )
    everywhere = np.bincount(cells.feature, weights=count, minlength=view.width)
    background = background_of(everywhere, totals.sum() + np.count_nonzero(everywhere <= 0))
    share = shares(rule, seen)
    none = share <= 0
    klass = np.log(np.where(none, 1.0, share)), none.astype(np.float64) if none.any() else None
    of_cell = Seen(*(part[cells.klass] for part in (seen.total, seen.types, seen.cut)))
    logs = mixed_logs(rule, count, of_cell, background[cells.feature])
    return linear_pair(view, NOTHING, klass, (np.log(background), None), logs)
