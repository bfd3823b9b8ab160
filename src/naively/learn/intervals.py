"""Intervals: the uncertainty of a probability, because the counts behind it are few.

Counts with α added are the parameters of a Dirichlet distribution over the probabilities of a class. Their logarithms
have variances and covariances in closed form: cov(log θ_v, log θ_w) = ψ₁(N_v + α) [v = w] − ψ₁(T + αK). So the
variance of a score is a sum over the features of the row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger, PartLedger
from naively.errors import InputError
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.density_columns import DensityBlock
from naively.families.categorical import Categorical
from naively.families.codes import CodeCounts
from naively.families.columns.kernel import USUAL_BINS
from naively.families.columns.missingness import Missingness
from naively.families.columns.number_table import NumberTable
from naively.families.columns.numeric import DecidedColumns
from naively.families.counts import COUNTS
from naively.families.counts_left_out import unsorted
from naively.read.frame import Frame
from naively.read.matrix import SparseRows, is_sparse
from naively.score.table import Linear, LinearTable
from naively.smooth.evidence import Known
from naively.smooth.logs import Logs
from naively.smooth.rules import Context, Settled


@dataclass(frozen=True)
class Variance(Settled):
    """A rule that returns the variance of a log-probability in place of the log-probability.

    `alone`: leave out the variance of the total.
    """

    added: Settled
    alone: bool = False

    @property
    def per_feature(self) -> bool:
        return self.added.per_feature

    def pseudo(self, features: Array | None) -> Any:
        return self.added.pseudo(features)

    def log(self, count: Any, total: Any, context: Context) -> Logs:
        top, bottom = np.asarray(count + context.pseudo, np.float64), np.asarray(context.added_to(total), np.float64)
        of_total = 0.0 if self.alone else _psi1(bottom)
        return _psi1(top) - of_total + np.zeros(np.broadcast_shapes(top.shape, bottom.shape)), None


def _psi1(x: Any) -> Array:
    from scipy.special import polygamma

    return polygamma(1, np.maximum(x, np.finfo(np.float64).tiny ** 0.25))


def variances(blocks: Blocks, ledger: Ledger, rule: Any, X: Frame) -> Array:
    """Return the variance of the score of each row in each class, in the order of the ledger's classes.

    It is the sum over the blocks; the densities of numeric columns count as known exactly.
    """
    total = np.zeros((len(X), ledger.classes.size))
    for block in blocks.blocks:
        if isinstance(block, DensityBlock):
            continue
        part, smoothing = ledger.counted[block.name], block.rule(rule)
        rows = block.read(X, part.features_or_none)
        variance: Any = _numbers if isinstance(block.family, DecidedColumns) else _variances
        total += variance(block.family, part, smoothing, rows)
    missing = blocks.missingness(ledger, rule)
    if missing is not None:
        spread: Any = Variance(_added(missing.rule))
        table = Missingness.of(blocks.who, ledger.classes, ledger.rows, *missing.missing_counts, spread)
        total += _of_table(table.table, table.codes(X))
    return total


def _variances(family: Any, ledger: PartLedger, rule: Any, X: Any) -> Array:
    nothing = np.zeros(ledger.classes.size)
    if family.ignores_prior:
        raise InputError("the complement's scores are no log-probabilities, so they have no interval")
    counts = getattr(family, "count_family", None)
    if not isinstance(family, Categorical) and (counts is None or counts.outcomes == 1):  # rates are not probabilities
        raise InputError(f"{family.who} has no interval: it is known for counts and categories that α is added to")
    settled = _added(family.settled_by(ledger, rule))
    if counts is None or counts.share_of == "rows":
        return _of_table(family.table(ledger, Variance(settled), nothing), X)
    table = family.table(ledger, Variance(settled, alone=True), nothing)
    linear, rows = (table, X) if isinstance(table, LinearTable) else (table.linear, table.rows(X))
    return _draws(linear.present, rows, family.totals(ledger), len(table.features), settled)


def _added(settled: Settled) -> Settled:
    if not settled.adds or np.min(settled.pseudo(None), initial=1.0) <= 0:
        raise InputError(f"an interval needs an α above 0 that is added to the counts, got {settled!r}")
    return settled


def _of_table(table: Any, X: Any) -> Array:
    return np.maximum(unsorted(table.score(X), table.classes)[0], 0.0)


def _draws(squares: Linear, X: Any, totals: Array, features: int, rule: Settled) -> Array:
    """Return Σ x² ψ₁(N + α) − L² ψ₁(T + αV): the draws of one row share the total."""
    if is_sparse(X):
        data = X.data.astype(np.float64)
        length = np.asarray(SparseRows(data, X.indices, X.indptr, X.shape).matrix().sum(axis=1)).ravel()
        rows: Any = SparseRows(data**2, X.indices, X.indptr, X.shape)
    else:
        data = np.nan_to_num(np.asarray(X, np.float64))
        length, rows = data.sum(axis=1), data**2
    own = squares.apply(rows, COUNTS)[0]
    pseudo = rule.pseudo(None)
    mass = float(np.sum(pseudo)) if isinstance(pseudo, np.ndarray) else pseudo * features
    return np.maximum(own - length[:, None] ** 2 * _psi1(totals + mass), 0.0)


def _numbers(family: DecidedColumns, ledger: PartLedger, rule: Any, X: Any) -> Array:
    table = family.table(ledger, rule, np.zeros(ledger.classes.size))
    coded = table.coded_columns
    if not coded:
        return np.zeros((X.rows, ledger.classes.size))
    columns = []
    for column in coded:
        assert column.counts is not None
        settled = _added(rule.settle(lambda: Known(column.alpha)))  # noqa: B023
        usual = None if column.width is None else USUAL_BINS
        logs = CodeCounts.of([column.counts], usual).logs(Variance(settled))
        columns.append(replace(column, logs=logs))
    return _of_table(NumberTable.of(family.who, ledger.classes, tuple(columns), table.prior), X)


def interval(proba: Array, variance: Array, temperature: float, level: float) -> tuple[Array, Array]:
    """Return the bounds of each probability at a confidence level, by the delta method on its log-odds.

    >>> low, high = interval(np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]]), 1.0, 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([[0.559, 0.015]], [[0.985, 0.441]])
    """
    from scipy.special import expit, ndtri

    if not isinstance(level, Real) or not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level!r}")
    tiny = 1e-150  # so small, and its square is still above zero
    others = np.maximum(1.0 - proba, tiny)
    shared = (proba**2 * variance).sum(axis=1, keepdims=True) - proba**2 * variance
    spread = np.sqrt(variance + np.maximum(shared, 0.0) / others**2) / temperature
    odds = np.log(np.maximum(proba, tiny)) - np.log(others)
    reach = float(ndtri(0.5 + level / 2)) * spread
    return expit(odds - reach), expit(odds + reach)
