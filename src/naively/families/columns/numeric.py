"""Columns of numbers of any distribution: counted value by value, taken for what their counts suggest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.ledger import PartLedger
from naively.count.moments import Moments
from naively.count.number_counts import NumberCounts, middles
from naively.families.base import rows_per_class
from naively.families.codes import CodeCounts, LeftOutCodes
from naively.families.columns.counted import CountedColumn
from naively.families.columns.decide import decide, density_alpha
from naively.families.columns.declared import Bernoulli, Categorical, Kernel, Refitted, Rule
from naively.families.columns.kernel import USUAL_BINS, curve_between
from naively.families.columns.loss import column_parameters, statistic_moments
from naively.families.columns.number_table import Column, NumberColumns, NumberTable
from naively.families.counts_left_out import Left, concat_rules
from naively.families.densities.base import NumberFamily
from naively.families.densities.gaussian import Gaussian
from naively.names import Index
from naively.read.matrix import error_for
from naively.score.density import log_densities
from naively.smooth.evidence import Known
from naively.smooth.logs import Logs
from naively.smooth.logs import added as added_logs
from naively.smooth.rules import Additive, Smoothing
from naively.store.registry import stored

_AT_ONCE = 1 << 19
"""Number of densities and codes (rows by columns by classes) of rows left out at a time."""


@stored()
@dataclass(frozen=True)
class DecidedColumns:
    """Counts the values of columns of numbers, and decides the family of each column from these counts."""

    who: str
    columns: tuple[tuple[str, Rule], ...]

    needs_count_histogram: ClassVar[bool] = False
    ignores_prior: ClassVar[bool] = False

    @cached_property
    def features(self) -> Index:
        return Index.of([name for name, _ in self.columns])

    def empty(self, classes: Index, features: Index) -> NumberCounts:
        return NumberCounts.empty(classes.size, features)

    def count(
        self, X: NumberColumns, codes: Array, classes: Index, features: Index, weight: Array | None
    ) -> NumberCounts:
        rows = rows_per_class(codes, weight, classes.size)
        counts, fault = NumberCounts.counted(list(X.arrays), codes, rows, self.features, weight)
        if fault is not None:
            kind, row, j = fault
            raise error_for((kind, row, 0), X.arrays[j][:, None], Index.of([X.names[j]]), self.who, "finite numbers")
        return counts

    def features_in(self, X: Any, rule: Any, ledger: PartLedger) -> Array | None:
        return None

    def restrict(self, X: Any, features: Array) -> Any:
        return X

    # --- weighing

    def decided(self, ledger: PartLedger, rule: Smoothing) -> tuple[Column, ...]:
        """Return the family of each column, decided from its counts."""
        kept: dict[Any, tuple[Column, ...]] = ledger.__dict__.setdefault("_decided", {})  # made once for a ledger
        if (self, rule) not in kept:
            used = [(name, declared) for name, declared in self.columns if declared not in _LEFT_OUT]
            kept[self, rule] = tuple(self._decided(ledger, name, declared, rule) for name, declared in used)
        return kept[self, rule]

    def _decided(self, ledger: PartLedger, name: str, declared: Rule, rule: Smoothing) -> Column:
        """Return what a column is taken for; sums run over classes by name, so that their order does not matter."""
        moments = _exact_sums(ledger).moments.at((slice(None), ledger.total.features.lookup[name]))
        counted, order = self._counted(ledger, name), ledger.classes.order
        if order is None:
            return decide(name, declared, counted, moments, rule)
        found = decide(name, declared, replace(counted, counts=counted.counts[:, order]), moments.at(order), rule)
        return found.reordered(np.argsort(order))

    def _counted(self, ledger: PartLedger, name: str) -> CountedColumn:
        return CountedColumn.of(ledger.total, ledger.total.features.lookup[name], ledger.classes.size)

    def table(self, ledger: PartLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> NumberTable:
        return NumberTable.of(self.who, ledger.classes, self.decided(ledger, rule), prior)

    def left_out(
        self, ledger: PartLedger, rules: Sequence[Smoothing], X: NumberColumns, codes: Array, weight: Array | None
    ) -> Left:
        """Leave each row out; families of columns, bins and bandwidths stay as they are with all rows."""
        each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
        tables = [self.table(ledger, rule, np.zeros(ledger.classes.size)) for rule in rules]

        def left_out(rows: slice) -> Left:
            part = X.part(rows)
            return [
                self._left_out(ledger, table, rule, part, codes[rows], each[rows])
                for table, rule in zip(tables, rules, strict=True)
            ]

        step = max(1, _AT_ONCE // max(len(X.arrays) * ledger.classes.size, 1))
        parts = [left_out(slice(i, min(i + step, X.rows))) for i in range(0, X.rows, step)]
        return concat_rules(parts, len(rules), ledger.classes.size)

    def _left_out(
        self, ledger: PartLedger, table: NumberTable, rule: Smoothing, X: NumberColumns, codes: Array, weight: Array
    ) -> Logs:
        parts: list[Logs] = [(np.zeros((X.rows, ledger.classes.size)), None)]
        for density in table.densities:
            x = table.matrix(X, density)
            family, alpha, names = table.family_of(density), density_alpha(rule), density.features.listed
            scores = self._normal_left_out if isinstance(family, Gaussian) else self._density_left_out
            parts.append((scores(ledger, family, names, alpha, x, codes, weight), None))
        if table.codes is not None:
            parts.append(_codes_left_out(table, rule, X, codes, weight))
        return added_logs(parts)

    def _normal_left_out(
        self,
        ledger: PartLedger,
        family: NumberFamily,
        names: list[Any],
        alpha: float,
        x: Array,
        codes: Array,
        weight: Array,
    ) -> Array:
        """Return the sum of the log-densities of each row by the exact sums without it."""
        sums, at = _exact_sums(ledger), [ledger.total.features.lookup[name] for name in names]
        values = np.full((len(x), sums.features.size), np.nan)
        values[:, at] = x
        every = sums.together.without(values, np.zeros_like(codes), weight).at((slice(None), None, at, None))
        mine = sums.without(values, codes, weight).at((slice(None), None, at, None))
        own = sums.moments.at((None, slice(None), at, None))
        return _scores(family, x, own, mine, every, alpha, codes)

    def _density_left_out(
        self,
        ledger: PartLedger,
        family: NumberFamily,
        names: list[Any],
        alpha: float,
        x: Array,
        codes: Array,
        weight: Array,
    ) -> Array:
        """Return the same by the moments of the statistics of each column."""
        result = np.zeros((len(x), ledger.classes.size))
        for values, name in zip(x.T, names, strict=True):
            own = statistic_moments(family, self._counted(ledger, name))
            inside = np.where(family.support.holds(values), values, np.nan)
            statistics = np.stack(family.statistics(inside), axis=1)
            mine = own.at(codes).without(statistics, weight).at((slice(None), None, None))
            every = own.pooled().at(None).without(statistics, weight).at((slice(None), None, None))
            result += _scores(family, values[:, None], own.at((None, slice(None), None)), mine, every, alpha, codes)
        return result

    # --- the model

    def n_parameters(self, ledger: PartLedger) -> int:
        """One less than there are codes, or the parameters of a density, for each class and column."""
        columns = self.decided(ledger, _LAPLACE)
        return ledger.classes.size * sum(
            len(column.parameters) if column.parameters is not None else _n_codes(column) - 1 for column in columns
        )

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """Codes in every combination, and for each of these a mean and a covariance of the other columns."""
        columns = self.decided(ledger, _LAPLACE)
        codes = 1
        for column in columns:
            codes *= _n_codes(column) if column.density is None else 1
        d = sum(column.density is not None for column in columns)
        return ledger.classes.size * (codes - 1 + codes * (d + d * (d + 1) // 2))

    def sample(
        self, ledger: PartLedger, rule: Smoothing, klass: int, size: int, rng: np.random.Generator
    ) -> dict[str, Array]:
        """A column of numbers for each: of its density, a category, or within a bin of the class that is drawn."""
        table, drawn = self.table(ledger, rule, np.zeros(ledger.classes.size)), {}
        for column in table.columns:
            family = column.density
            if family is not None:
                assert column.parameters is not None
                parameters = tuple(values[klass] for values in column.parameters)
                known = np.isfinite(parameters[-1])
                drawn[column.name] = family.draw(rng, parameters, (size,)) if known else np.full(size, np.nan)
            elif isinstance(column.family, (Categorical, Bernoulli)):
                drawn[column.name] = _drawn_codes(column, klass, size, rng)
            elif isinstance(column.family, Kernel):
                drawn[column.name] = _drawn_bins(column, klass, size, rng)
            else:
                drawn[column.name] = _drawn_values(self._counted(ledger, column.name), klass, size, rng)
        return drawn


_LEFT_OUT = Refitted(None), Refitted(None, boolean=True)
_LAPLACE = Additive(1.0)
"""The alternative to bins where no rule is at hand."""


def _exact_sums(ledger: PartLedger) -> Any:
    """The exact sums of all columns and classes; made once for a ledger."""
    kept = ledger.__dict__
    if "_exact_sums" not in kept:
        kept["_exact_sums"] = ledger.total.exact_sums().full()
    return kept["_exact_sums"]


def _n_codes(column: Column) -> int:
    return 1 if column.counts is None else max(len(column.counts), 1)


def _scores(
    family: NumberFamily, x: Array, own: Moments, mine: Moments, every: Moments, alpha: float, codes: Array
) -> Array:
    """Return log-densities, rows by classes, where only the row's own class has other moments (`mine`).

    Axes of moments are rows, classes, columns and statistics.
    """
    scores, of_own = (
        log_densities(family, x[:, None], column_parameters(family, m, every, alpha)).sum(axis=2) for m in (own, mine)
    )
    scores[np.arange(len(x)), codes] = of_own[:, 0]
    return scores


def _codes_left_out(table: NumberTable, rule: Smoothing, X: NumberColumns, codes: Array, weight: Array) -> Logs:
    assert table.codes is not None
    columns = table.coded_columns
    counts = [column.counts for column in columns if column.counts is not None]
    usual = np.array([USUAL_BINS if c.width is not None else len(n) for n, c in zip(counts, columns, strict=True)])
    found = table.code_rows(X).codes
    part = np.ones(found.shape)
    for j, column in enumerate(columns):
        if column.width is not None:
            part[:, j] = own_part(X.by_name[column.name], found[:, j], column, codes)
    own = LeftOutCodes.of(CodeCounts.of(counts, usual), found, codes, weight, part)
    settled = rule.settle(lambda: Known(tuple(column.alpha for column in columns)))
    categories = np.array([column.values is not None for column in columns])
    return own.left_out(table.codes, settled, found, ignore=categories)


def own_part(x: Array, code: Array, column: Column, codes: Array) -> Array:
    """How much of the curve about each number lies in the number's own bin."""
    assert column.edges is not None
    assert column.width is not None
    known = ~np.isnan(x)
    ends = np.concatenate([[-np.inf], column.edges, [np.inf]])
    at = np.where(known, code, 0)
    centre = middles(np.where(known, x, 0.0), column.level)
    return np.where(known, curve_between(centre, column.width[codes], ends[at], ends[at + 1]), 0.0)


def _chances(column: Column, klass: int) -> Array:
    """The probability of each code in a class."""
    assert column.logs is not None
    finite, impossible = column.logs
    chance = np.exp(finite[:, klass]) * (1.0 if impossible is None else impossible[:, klass] <= 0)
    return chance / chance.sum()


def _drawn_codes(column: Column, klass: int, size: int, rng: np.random.Generator) -> Array:
    assert column.counts is not None
    if not column.counts.any():
        return np.full(size, np.nan)
    codes = rng.choice(len(column.counts), size, p=_chances(column, klass))
    return codes if column.values is None or column.values.names is None else column.values.names[codes]


def _drawn_values(column: CountedColumn, klass: int, size: int, rng: np.random.Generator) -> Array:
    weight = column.counts[:, klass] if column.counts[:, klass].any() else column.counts.sum(axis=1)
    if not weight.any():
        return np.full(size, np.nan)
    at = rng.choice(len(weight), size, p=weight / weight.sum())
    share = rng.random(size)
    return column.least[at] * (1.0 - share) + column.greatest[at] * share if not column.exact else column.least[at]


def _drawn_bins(column: Column, klass: int, size: int, rng: np.random.Generator) -> Array:
    assert column.edges is not None
    if not len(column.edges):
        return np.full(size, np.nan)
    ends = np.concatenate(
        [column.edges[:1], column.edges, column.edges[-1:]]
    )  # the outermost bins stand for their edge
    chance = _chances(column, klass)
    at = rng.choice(len(chance), size, p=chance)
    return ends[at] + rng.random(size) * (ends[at + 1] - ends[at])
