"""Intervals: how far a probability may be off because the counts behind it are few.

Counts with α added make a Dirichlet over the probabilities of a class. The logarithms of these then have variances and
covariances in closed form: cov(log θ_v, log θ_w) = ψ₁(N_v + α) [v = w] − ψ₁(T + αK). So the variance of a score is a
sum over what the row holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger, PartLedger
from naively.errors import InputError
from naively.families.bernoulli import Bernoulli
from naively.families.blocks import Blocks
from naively.families.categorical import Categorical
from naively.families.columns.kernel import USUAL_BINS
from naively.families.columns.missingness import Missingness
from naively.families.columns.numeric import AnyNumbers
from naively.families.complement import Complement
from naively.families.counts_left_out import unsorted
from naively.families.multinomial import COUNTS, Multinomial
from naively.families.words.block import Words
from naively.read.frame import Frame
from naively.read.matrix import SparseRows, is_sparse
from naively.score.table import Linear
from naively.smooth.rules import Additive, Evidence, Logs, Smoothing


@dataclass(frozen=True)
class Variance:
    """A rule that gives, in place of the logarithm of a probability, its variance; `alone`: without the total's."""

    added: Additive
    alone: bool = False

    @property
    def per_feature(self) -> bool:
        return self.added.per_feature

    def pseudo(self, features: Array | None) -> Any:
        return self.added.pseudo(features)

    def log(self, count: Any, total: Any, pseudo: Any, mass: Any, outcomes: Any) -> Logs:
        top, bottom = np.asarray(count + pseudo, np.float64), np.asarray(total + mass, np.float64)
        of_total = 0.0 if self.alone else _psi1(bottom)
        return _psi1(top) - of_total + np.zeros(np.broadcast_shapes(top.shape, bottom.shape)), None


def _psi1(x: Any) -> Array:
    from scipy.special import polygamma

    return polygamma(1, np.maximum(x, np.finfo(np.float64).tiny ** 0.25))


def variances(blocks: Blocks, ledger: Ledger, rule: Any, X: Frame) -> Array:
    """The variance of the score of each row in each class, in the order of the ledger's classes.

    It is the sum of the blocks; columns of numbers that are taken for normal are taken for known.
    """
    total = np.zeros((len(X), ledger.classes.size))
    for block in blocks.blocks:
        part, smoothing = ledger.counted[block.name], block.rule(rule)
        rows = block.read(X, part.features_or_none)
        variance: Any = _numbers if isinstance(block.family, AnyNumbers) else _variances
        total += variance(block.family, part, smoothing, rows)
    missing = blocks.missingness(ledger, rule)
    if missing is not None:
        spread = Variance(_added(missing.rule))
        table = Missingness.of(blocks.who, ledger.classes, ledger.rows, *missing.lost, spread)
        total += _of_table(table.table, table.codes(X))
    return total


def _variances(family: Any, ledger: PartLedger, rule: Any, X: Any) -> Array:
    nothing = np.zeros(ledger.classes.size)
    if isinstance(family, (Complement, Words)) and family.ignores_prior:
        raise InputError("the complement's scores are no log-probabilities, so they have no interval")
    if isinstance(family, Words):
        table = family.table(ledger, rule, nothing)
        smoothing = _added(family.settled_by(ledger, rule))
        if family.family == "bernoulli":
            return _of_table(family.table(ledger, Variance(smoothing), nothing), X)
        alone = family.table(ledger, Variance(smoothing, alone=True), nothing).linear.present
        return _draws(alone, table.rows(X), family.totals(ledger), len(table.features), smoothing)
    if isinstance(family, Multinomial):
        view = ledger.view()
        smoothing = _added(family.table_rule(view, rule))
        alone = family.table(ledger, Variance(smoothing, alone=True), nothing).present
        return _draws(alone, X, view.totals[0], view.every.size, smoothing)
    if isinstance(family, Bernoulli):
        view = ledger.view()
        smoothing = _added(family.table_rule(view, rule))
        return _of_table(family.table(ledger, Variance(smoothing), nothing), X)
    if isinstance(family, Categorical):
        smoothing = _added(family.settled(rule, ledger))
        return _of_table(family.table(ledger, Variance(smoothing), nothing), X)
    raise InputError(f"{family.who} has no interval: it is known for counts and categories that α is added to")


def _added(rule: Smoothing) -> Additive:
    if not isinstance(rule, Additive) or np.min(rule.pseudo(None), initial=1.0) <= 0:
        raise InputError(f"an interval needs an α above 0 that is added to the counts, got {rule!r}")
    return rule


def _of_table(table: Any, X: Any) -> Array:
    return np.maximum(unsorted(table.score(X), table.classes)[0], 0.0)


def _draws(squares: Linear, X: Any, totals: Array, features: int, rule: Additive) -> Array:
    """Σ x² ψ₁(N + α) − L² ψ₁(T + αV): draws of one row share the total."""
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


def _numbers(family: AnyNumbers, ledger: PartLedger, rule: Any, X: Any) -> Array:
    table = family.table(ledger, rule, np.zeros(ledger.classes.size))
    binned = tuple(column for column in table.columns if column.edges is not None)
    if not binned:
        return np.zeros((X.rows, ledger.classes.size))
    columns = []
    for column in binned:
        assert column.counts is not None
        size = len(column.counts)
        alpha = column.alpha if isinstance(rule, Evidence) else float(np.max(_added(rule).pseudo(None)))
        alpha *= 1.0 if column.width is None else USUAL_BINS / size
        spread = Variance(_added(Additive(alpha)))
        logs = spread.log(column.counts, column.counts.sum(axis=0), alpha, alpha * size, size)
        columns.append(replace(column, logs=logs))
    return _of_table(family.table_of(ledger, columns, table.prior), X)


def interval(proba: Array, variance: Array, temperature: float, level: float) -> tuple[Array, Array]:
    """The probabilities between which each lies with that probability, by the delta method on its log-odds.

    >>> low, high = interval(np.array([[0.9, 0.1]]), np.array([[0.5, 0.5]]), 1.0, 0.95)
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([[0.559, 0.015]], [[0.985, 0.441]])
    """
    from scipy.special import expit, ndtri

    if not isinstance(level, Real) or not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level!r}")
    tiny = 1e-150  # its square is still a number
    others = np.maximum(1.0 - proba, tiny)
    shared = (proba**2 * variance).sum(axis=1, keepdims=True) - proba**2 * variance
    spread = np.sqrt(variance + np.maximum(shared, 0.0) / others**2) / temperature
    odds = np.log(np.maximum(proba, tiny)) - np.log(others)
    reach = float(ndtri(0.5 + level / 2)) * spread
    return expit(odds - reach), expit(odds + reach)
