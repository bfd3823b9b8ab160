"""Densities: columns of numbers that have densities of one family, each column by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.exact_sums import ExactSums
from naively.count.ledger import PartLedger
from naively.count.moments import Moments
from naively.families.base import rows_per_class
from naively.families.counts_left_out import Left, concat_rules
from naively.families.densities.base import LEAST_ALPHA, REAL, NumberFamily, fitted
from naively.names import Index
from naively.read.matrix import Fault, RowError, Rows, error_for, in_blocks, is_sparse_matrix
from naively.score.density import Density, log_densities
from naively.score.table import BlockTable
from naively.smooth.evidence import Known
from naively.store.registry import stored

_CELLS = 1 << 16
"""Number of densities that are computed at a time."""


@stored()
@dataclass(frozen=True)
class Densities:
    """Counts exact sums of the statistics of a family of numbers, and makes densities of them.

    The features of its part are the statistics: the first one of all columns, then the next one of all columns.
    """

    who: str
    density: NumberFamily

    needs_count_histogram: ClassVar[bool] = False
    ignores_prior: ClassVar[bool] = False
    constant: ClassVar[bool] = False  # whether a column of one value in all rows is weighed

    def feature_index(self, columns: Iterable[str]) -> Index:
        """Return the features of these columns: "age: x", "age: log x" for a family of two statistics."""
        return Index.of([f"{column}: {name}" for name in self.density.names for column in columns])

    def columns(self, features: Index) -> Index:
        """Return the columns that such features belong to."""
        first = (
            features.names[: features.size // len(self.density.names)].tolist() if features.names is not None else []
        )
        return Index.of([name.removesuffix(f": {self.density.names[0]}") for name in first])

    # --- counting

    def empty(self, classes: Index, features: Index) -> Any:
        return ExactSums.empty(classes.size, features)

    def count(self, X: Any, codes: Array, classes: Index, features: Index, weight: Array | None) -> Any:
        """The tally of columns, each an array of numbers (NaN: missing)."""
        names = self.columns(features)
        self._refuse_outside(X, names)
        plain = type(self.density).statistics is NumberFamily.statistics  # numbers of all types are counted as they are
        statistics = [self.density.statistics(x if plain else x.astype(np.float64, copy=False)) for x in X]
        listed = [of_column[s] for s in range(len(self.density.names)) for of_column in statistics]
        sums, fault = ExactSums.counted(listed, codes, rows_per_class(codes, weight, classes.size), features, weight)
        if fault is not None:
            kind, row, column = fault
            raise self._error((kind, row, column % names.size), X, names)
        return sums

    def _refuse_outside(self, columns: list[Array], names: Index) -> None:
        """Raise for the first value that has no density; counting itself finds infinities among its numbers."""
        support, found = self.density.support, []
        if support == REAL and len(self.density.names) == 1:
            return
        for j, x in enumerate(columns):
            outside = ~(support.holds(x) | np.isnan(x))
            if outside.any():
                row = int(np.argmax(outside))
                found.append((row, j, Fault.INFINITE if np.isinf(x[row]) else Fault.OUT_OF_RANGE))
        if found:
            row, j, kind = min(found)
            raise self._error((kind, row, j), columns, names)

    def _error(self, fault: tuple[int, int, int], columns: list[Array], names: Index) -> RowError:
        kind, row, j = fault
        expected = f"{self.density.support.title} ({type(self.density).__name__})"
        return error_for((kind, row, 0), columns[j][:, None], Index.of([names.name(j)]), self.who, expected)

    def _statistics(self, X: Array) -> Array:
        """Return the statistics of rows: the first one of all columns, then the next one of all columns."""
        statistics = self.density.statistics(np.where(self.density.support.holds(X), X, np.nan))
        return statistics[0] if len(statistics) == 1 else np.concatenate(statistics, axis=1)

    # --- the table

    def features_in(self, X: Rows, rule: Any, ledger: PartLedger) -> Array | None:
        return None

    def restrict(self, X: Rows, features: Array) -> Rows:
        return X

    def settled(self, rule: Any) -> tuple[NumberFamily, float]:
        """Return the family, and the number of rows of all classes that are added to each class."""
        alpha = float(np.max(rule.settle(Known).pseudo(None)))
        return self.density, max(alpha, LEAST_ALPHA)

    def table(self, ledger: PartLedger, rule: Any, prior: Array, features: Array | None = None) -> BlockTable:
        total = ledger.total
        if isinstance(total, ExactSums):
            total.refuse_too_wide(ledger.classes)
        total = total.single().full()
        settled = self.settled(rule)
        parameters = self._fitted(total.moments, total.together.moments, *settled)
        return Density(self.who, ledger.classes, self.columns(ledger.features), prior, settled[0], parameters)

    def _fitted(self, own: Moments, every: Moments, family: NumberFamily, alpha: float) -> tuple[Array, ...]:
        """Return the parameters from the moments of classes and of all together, by feature in the last axis."""
        own, every = (m.reshaped(*m.n.shape[:-1], len(family.names), -1) for m in (own, every))
        return fitted(family, own, every, alpha, constant=self.constant)

    def left_out(self, ledger: PartLedger, rules: Sequence[Any], X: Rows, codes: Array, weight: Array | None) -> Left:
        total = ledger.total.single().full()
        n_classes, width = ledger.classes.size, max(total.features.size, 1)
        classes = total.moments.reshaped(1, n_classes, -1)
        each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
        x = np.asarray(X.toarray() if is_sparse_matrix(X) else X, dtype=np.float64)

        def left_out(part: Array, rows: slice) -> Left:
            values, own = self._statistics(part), codes[rows]
            every = total.together.without(values, np.zeros_like(own), each[rows]).reshaped(len(part), 1, -1)
            mine = total.without(values, own, each[rows]).reshaped(len(part), 1, -1)

            def scores(x: Array, at: slice) -> Left:
                found: Left = []
                for rule in rules:
                    settled = self.settled(rule)
                    others, of_own = (
                        self._scores(x, self._fitted(moments, every.at(at), *settled), rule)
                        for moments in (classes, mine.at(at))
                    )
                    others[np.arange(len(x)), own[at]] = of_own[:, 0]
                    found.append((others, None))
                return found

            return concat_rules(in_blocks(part, width * n_classes, scores, _CELLS), len(rules), n_classes)

        return concat_rules(in_blocks(x, width, left_out, _CELLS), len(rules), n_classes)

    def _scores(self, x: Array, parameters: tuple[Array, ...], rule: Any) -> Array:
        """Return the sum of the log-densities of each row, by class."""
        return log_densities(self.settled(rule)[0], x[:, None], parameters).sum(axis=2)

    # --- the model

    def n_parameters(self, ledger: PartLedger) -> int:
        columns = ledger.features.size // len(self.density.names)
        return ledger.classes.size * columns * len(self.density.parameter_names)

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """Return as many as a mean and a full covariance for each class have."""
        d = ledger.features.size // len(self.density.names)
        return ledger.classes.size * (d + d * (d + 1) // 2)

    def sample(self, ledger: PartLedger, rule: Any, klass: int, size: int, rng: np.random.Generator) -> Rows:
        table: Any = self.table(ledger, rule, np.zeros(ledger.classes.size))
        known = table.known[klass]
        parameters = tuple(np.where(known, values[klass], 1.0) for values in table.parameters)
        return np.where(known, table.family.draw(rng, parameters, (size, len(known))), np.nan)
