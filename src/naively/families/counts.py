"""Families of counts: an author writes the term of one unit of a feature, the rest follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array, alike, less, rounded, sums_by, sums_of_others
from naively.count.cells import Cells
from naively.count.counts import Counts
from naively.count.ledger import PartLedger, View
from naively.families.base import count_linear, localised_sparse, remainder, sparse_features
from naively.families.counts_left_out import Left, as_entries, leave_out
from naively.names import Index
from naively.read.matrix import Rows, ValueRange
from naively.score.table import Linear, LinearTable, RowConstant, with_infinities
from naively.smooth.backgrounds import seen_of
from naively.smooth.evidence import Draws, Rates, Urns
from naively.smooth.logs import NOTHING, Logs, exp, minus
from naively.smooth.rules import Context, Settled, Smoothing

COUNTS = ValueRange(low=0.0)
_WORTH_IT = 1 << 10
"""Number of cells from which on logarithms are computed once for each distinct count."""


class CountFamily:
    """Scores that are linear in the row: `base` of every known feature, and `unit` as often as a feature is there.

    A subclass is a frozen dataclass that declares what a count is a share of, and says what a unit and a known feature
    add by asking a rule for logarithms of shares. In shares of the class's total, `unit` is a multiple of such a
    logarithm, and there is no `base`.
    """

    who: str

    kind: ClassVar[str] = "counts"  # of its tallies; "presence" and "events" count missing values as well
    share_of: ClassVar[str] = "class"  # a count is a share of the class's total, or of the "rows" that know the feature
    outcomes: ClassVar[int | None] = None  # that share the total: None: all features; 2: there or not; 1: a rate
    against_others: ClassVar[bool] = False  # counts are those of all other classes
    row_constant: ClassVar[RowConstant | None] = None

    @property
    def accepts(self) -> ValueRange:
        return COUNTS

    @property
    def expected(self) -> str:
        return "counts, 0 or more"

    def unit(self, rule: Context, count: Any, total: Any) -> Logs:
        """Return what one unit of a feature adds to the score of a class."""
        return rule.log(count, total)

    @property
    def count_family(self) -> CountFamily:
        """The family of counts: this one. Families of words have one inside."""
        return self

    @property
    def adds_logs(self) -> bool:
        """True if a unit adds the logarithm of a share, unchanged."""
        return type(self).unit is CountFamily.unit

    def base(self, rule: Context, count: Any, total: Any) -> Logs | None:
        """Return the term of each known feature, present or not; None: 0."""
        return None

    def draw(self, rng: np.random.Generator, share: Array, size: int, length: float) -> Array:
        """Return rows drawn by the share of each feature; `length` is the mean number of units in a row."""
        raise NotImplementedError

    # --- counting

    def empty(self, classes: Index, features: Index) -> Counts:
        return Counts.empty(self.kind, classes.size, features)

    def count(self, X: Rows, codes: Array, classes: Index, features: Index, weight: Array | None) -> Counts:
        return count_linear(self.who, self.kind, self.expected, self.accepts, X, codes, classes, features, weight)

    # --- the table

    @property
    def needs_count_histogram(self) -> bool:
        return self.share_of == "rows"

    @property
    def ignores_prior(self) -> bool:
        return self.against_others

    def features_in(self, X: Rows, rule: Smoothing, ledger: PartLedger) -> Array | None:
        apart = rule.local and not (rule.per_feature and self.share_of == "rows")
        return sparse_features(X) if apart else None

    def restrict(self, X: Rows, features: Array) -> Rows:
        return localised_sparse(X, features)

    def table(self, ledger: PartLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> LinearTable:
        view = ledger.view() if features is None else ledger.view_of(features)
        return self.table_of(view, self.settle(rule, view), prior)

    def settle(self, rule: Smoothing, view: View) -> Settled:
        """Return the rule that gives logarithms for these counts."""
        return rule.settle(lambda: self.urns(view))

    def settled_by(self, ledger: PartLedger, rule: Smoothing) -> Settled:
        """Return the rule that gives logarithms for the counts of a ledger."""
        return rule.settle(lambda: self.urns(ledger.view()))

    def totals(self, ledger: PartLedger) -> Array:
        """Return the sum of the counts of each class."""
        return ledger.totals[0]

    def table_of(self, view: View, settled: Settled, prior: Array) -> LinearTable:
        """Return the table of the features in view."""
        rule = self._context(view, settled)
        if self._needs_every_cell(view, rule):
            view = every_cell(view)
        classes = rule.of_classes()
        totals = self._totals(view)
        klass = self.unit(classes, float(self.against_others), totals)
        seen = self._of_cells(self.unit, view, rule)
        base = self.base_sum(view, rule)
        present, impossible = linear_pair(view, base or NOTHING, klass, self._of_features(view, rule), seen)

        def missing_terms() -> tuple[Linear, Linear | None]:
            unseen = self.base(classes, 0, totals) or NOTHING
            return linear_pair(view, NOTHING, unseen, NOTHING, self._of_cells(self.base, view, rule), sign=-1.0)

        if self.ignores_prior and view.classes.size > 1:
            prior = np.zeros_like(prior)
        assert isinstance(view.all_features, Index)
        return LinearTable(
            self.who, self.expected, view.classes, view.all_features, prior, self.accepts, present, impossible,
            None if base is None else missing_terms, self.row_constant, numbers=view.features,
        )  # fmt: skip

    def _context(self, view: View, settled: Settled) -> Context:
        """Return the context of the rule for the features in view."""
        if self.outcomes is not None:
            return Context(settled, self.outcomes, settled.pseudo(view.features))
        size = view.all_features.size
        if not settled.local and not self.against_others:
            return Context(settled, size, seen=seen_of(settled, view.cells, view.totals[0], view.width))
        mass = float(np.sum(settled.pseudo(None))) if settled.per_feature else None
        return Context(settled, size, settled.pseudo(view.features), mass)

    def _needs_every_cell(self, view: View, rule: Context) -> bool:
        """True if the term of an unseen cell is not a sum of one for its class and one for its feature."""
        if self.share_of == "rows":
            return rule.settled.per_feature
        if not self.against_others or rule.settled.one_alpha is not None:
            return False
        none = np.any(rule.added_to(self._totals(view)) <= 0)
        return bool(none and np.any(self._elsewhere(view) + rule.pseudo <= 0))

    def _totals(self, view: View) -> Array:
        """Return the denominators of shares, by class."""
        if self.share_of == "rows":
            return view.rows
        return sums_of_others(view.exact_totals[0]) if self.against_others else view.totals[0]

    def _counts(self, view: View) -> Array:
        """Return the counts of the cells that were seen."""
        cells = view.cells
        if not self.against_others:
            return cells.values[0]
        total, count = alike([cells.of_features(view.width)[cells.feature], cells.exact[0]])
        return remainder(total, count) if count.dtype == np.float64 else rounded(less(total, count))

    def _elsewhere(self, view: View) -> Array:
        """Return the count of each feature in classes that have not seen it: 0; against the others, its total count."""
        if not self.against_others:
            return np.zeros(view.width)
        return rounded(view.cells.of_features(view.width)).astype(np.float64)

    def _of_features(self, view: View, rule: Context) -> Logs:
        """Return the term of each feature in an unseen cell, beside the term of the class."""
        alike = not isinstance(rule.pseudo, np.ndarray) and rule.seen is None and not self.against_others
        if alike or self.share_of == "rows":
            return NOTHING
        features = rule.of_features()
        usual = self.unit(features.of_classes(), float(self.against_others), 1.0)
        return minus(self.unit(features, self._elsewhere(view), 1.0), usual)

    def _of_cells(self, weigh: Any, view: View, rule: Context) -> Logs:
        """Return `unit` or `base` of each cell; made once for each different count in a class, where these are few."""
        cells, count, totals = view.cells, self._counts(view), self._totals(view)
        missing = cells.values[1] if len(cells.values) > 1 else None
        if (
            rule.settled.one_alpha is not None
            and _few_distinct(count, len(totals))
            and (missing is None or not missing.any())
        ):
            return _by_count(weigh, rule, count, cells.klass, totals)
        total = totals[cells.klass]
        known = total if missing is None else remainder(total, missing)
        return weigh(rule.of_cells(cells.feature, cells.klass), count, known)

    def base_sum(self, view: View, rule: Context) -> Logs | None:
        """Return the log-score of an all-zero row in each class: the sum over all features."""
        unseen = self.base(rule.of_classes(), 0, view.rows)
        if unseen is None:
            return None
        if view.entries is None:
            klass, n_features = view.cells.klass, np.ones(len(view.cells))
            seen = self._of_cells(self.base, view, rule)
        else:
            klass, count, missing, n_features = view.entries
            seen = self.base(rule, count, remainder(view.rows[klass], missing)) or NOTHING
        finite = _summed(view, klass, n_features, unseen[0], seen[0])
        possible = unseen[1] is None and seen[1] is None
        return finite, None if possible else _summed(view, klass, n_features, unseen[1], seen[1])

    # --- rows left out, evidence, sampling

    def left_out(
        self, ledger: PartLedger, rules: Sequence[Smoothing], X: Rows, codes: Array, weight: Array | None
    ) -> Left:
        view = ledger.view()
        entries = as_entries(view, X, codes, weight, self.accepts.threshold)
        left = leave_out(self, entries, view, [self.settle(rule, view) for rule in rules])
        if self.row_constant is None:
            return left
        constant = self.row_constant.of_rows(X)[:, None]
        return [(finite + constant, impossible) for finite, impossible in left]

    def context_of_rows(self, settled: Settled, outcomes: Any, pseudo: Any) -> Context:
        """Return the context of the rule for features with these pseudo-counts; `outcomes` is their number."""
        if self.outcomes is not None:
            return Context(settled, self.outcomes, pseudo)
        mass = float(np.sum(settled.pseudo(None))) if settled.per_feature else None
        return Context(settled, outcomes, pseudo, mass)

    def base_without(self, view: View, settled: Settled, less: float) -> Logs | None:
        """Return the log-score of an all-zero row in each class, with `less` rows fewer in every class."""
        view = (every_cell(view) if settled.per_feature else view).with_fewer_rows(less)
        return self.base_sum(view, self._context(view, settled))

    def urns(self, view: View) -> Urns:
        """Return what the counts were drawn from, for α by evidence.

        Each class is an urn of all features (against the others: all other classes), or each feature of a class one of
        few outcomes.
        """
        cells, count, totals = view.cells, self._counts(view), self._totals(view)
        if self.against_others:
            unseen = view.classes.size - np.bincount(cells.feature, minlength=view.width)
            counts = np.concatenate([count, self._elsewhere(view)])
            return Draws.of(counts, totals, view.all_features.size, np.concatenate([np.ones(len(count)), unseen]))
        if self.share_of == "class":
            return Draws.of(count, totals, view.all_features.size)
        rows, one = totals.astype(np.float64), np.ones(len(count))
        known = remainder(rows[cells.klass], cells.values[1])
        unseen = view.all_features.size - np.bincount(cells.klass, minlength=len(rows))
        urns, of_urn = np.concatenate([one, unseen]), np.concatenate([known, rows])
        if self.outcomes == 1:
            return Rates(np.concatenate([count, np.zeros(len(rows))]), of_urn, urns)
        counts = np.concatenate([count, remainder(known, count), rows])
        return Draws.of(counts, of_urn, float(self.outcomes or 2), np.concatenate([one, one, unseen]), urns)

    def sample(self, ledger: PartLedger, rule: Smoothing, klass: int, size: int, rng: np.random.Generator) -> Rows:
        """Return rows drawn from one class."""
        view = ledger.view()
        length = float(ledger.totals[0][klass]) / max(float(ledger.rows[klass]), 1.0)
        return self.draw(rng, exp(self.log_shares(view, self.settle(rule, view), klass)), size, length)

    def log_shares(self, view: View, settled: Settled, klass: int) -> Logs:
        """Return the logarithm of each feature's share in a class: of a probability, or a rate."""
        cells = view.cells
        mine = cells.klass == klass
        count, missing = np.zeros((2, view.width))
        count[cells.feature[mine]] = cells.values[0][mine]
        rule = self._context(view, settled).of_cells(np.arange(view.width), np.full(view.width, klass))
        if self.share_of == "class":
            return rule.log(count, view.totals[0][klass])
        missing[cells.feature[mine]] = cells.values[1][mine]
        return rule.log(count, remainder(view.rows[klass], missing))

    # --- the model

    def n_parameters(self, ledger: PartLedger) -> int:
        return ledger.classes.size * (ledger.features.size - (self.share_of == "class"))

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """Return 2^V - 1 for each class, one for each set of features in a row; infinity for numbers of events."""
        return math.inf if self.outcomes == 1 else ledger.classes.size * (2**ledger.features.size - 1)


def dense_weights(table: LinearTable) -> Array:
    """Return what a unit of each feature adds to each class, classes by features; infinite where that is impossible."""
    weights, n_classes = table.present.weights, table.classes.size
    impossible = None if table.impossible is None else table.impossible.weights[:, :n_classes]
    return np.ascontiguousarray(with_infinities(weights[:, :n_classes], impossible).T)


def every_cell(view: View) -> View:
    """Return the view with a cell for every pair of feature and class, seen or not."""
    classes = view.classes.size
    feature = np.repeat(np.arange(view.width), classes)
    klass = np.tile(np.arange(classes), view.width).astype(np.int32)
    values = np.zeros((len(view.cells.values), view.width * classes), view.cells.values.dtype)
    values[:, view.cells.feature * classes + view.cells.klass] = view.cells.values
    return replace(view, cells=Cells(feature, klass, values))


def linear_pair(
    view: View, base: Logs, klass: Logs, feature: Logs, seen: Logs, sign: float = 1.0
) -> tuple[Linear, Linear | None]:
    """Return the table of finite parts and that of impossible factors, from (finite, impossible) pairs.

    An unseen cell is the sum of `klass` and `feature`; cells of the view are `seen` instead.
    """
    cells = view.cells
    tables: list[Linear | None] = []
    for part in (0, 1):
        values = [pair[part] for pair in (base, klass, feature, seen)]
        if part == 1 and all(v is None for v in values):
            tables.append(None)
            continue
        b, k, f, s = (0.0 if v is None else v for v in values)
        base_part = np.zeros(view.classes.size) + b
        klass_part, feature_part = np.zeros(view.classes.size) + sign * k, np.zeros(view.width) + sign * f
        delta = sign * s - (klass_part[cells.klass] + feature_part[cells.feature])
        tables.append(Linear(base_part, klass_part, feature_part, cells.feature, cells.klass, delta))
    return tables[0], tables[1]  # type: ignore[return-value]


def _few_distinct(counts: Array, classes: int) -> bool:
    """True if counts are whole and have few distinct values, beside their number."""
    if counts.dtype != np.int64 or len(counts) < _WORTH_IT:
        return False
    return bool(counts.min() >= 0 and (int(counts.max()) + 1) * classes <= 4 * len(counts))


def _by_count(weigh: Any, rule: Context, count: Array, klass: Array, totals: Array) -> Logs:
    """Return `weigh` of all cells, computed once for each distinct count of a class."""
    pair = count * len(totals) + klass
    seen = np.zeros((int(count.max()) + 1) * len(totals), bool)
    seen[pair] = True
    different = np.flatnonzero(seen)
    finite, impossible = weigh(rule, different // len(totals), totals[different % len(totals)])
    assert impossible is None  # which holds if an α above 0 is added
    values = np.empty(len(seen))
    values[different] = finite
    return values[pair], None


def _summed(view: View, klass: Array, n_features: Array, unseen: Array | None, seen: Array | None) -> Array:
    """Return the sum of a term over all features: `unseen` for all, with corrections for those that were seen."""
    nothing = np.zeros(view.classes.size) + (0.0 if unseen is None else unseen)
    more = ((0.0 if seen is None else seen) - nothing[klass]) * n_features
    whole = view.cells.exact.dtype == np.int64  # then the order of features does not depend on the order of rows
    sums = np.bincount(klass, more, view.classes.size) if whole else sums_by(klass, more, view.classes.size)
    return view.all_features.size * nothing + sums
