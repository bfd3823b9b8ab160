"""Gaussian: numbers, normally distributed in each class; Naive Bayes is the case of a diagonal covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.comoments import Comoments
from naively.count.exact_sums import ExactSums
from naively.count.ledger import PartLedger
from naively.errors import InputError
from naively.families.base import count_in_blocks, rows_per_class
from naively.families.counts_left_out import Left, concat_rules, one_by_one
from naively.families.densities.normal import VANISHING, AllRows, Normals
from naively.names import Index
from naively.read.matrix import Fault, Rows, error_for, in_blocks, is_sparse_matrix
from naively.score.table import BlockTable, CovarianceTable, NormalTable
from naively.store.registry import stored

COVARIANCES = ("spherical", "diagonal", "tied", "full")
_FAR = 1e140
"""The largest distance, in standard deviations, that can be squared, summed over features and divided by rounding."""


@stored()
@dataclass(frozen=True)
class Gaussian:
    """Normal densities. `rule` is (var_smoothing, shrinkage) here.

    Σ + εI with ε = var_smoothing times the largest variance of any feature, then (1 - s) Σ + s (tr Σ / D) I.
    """

    who: str = "GaussianNB"
    covariance: str = "diagonal"

    @property
    def pairs(self) -> bool:
        return self.covariance in ("tied", "full")

    needs_count_histogram: ClassVar[bool] = False
    ignores_prior: ClassVar[bool] = False

    def empty(self, classes: Index, features: Index) -> Any:
        return (Comoments if self.pairs else ExactSums).empty(classes.size, features)

    def count(self, X: Rows, codes: Array, classes: Index, features: Index, weight: Array | None) -> Any:
        if is_sparse_matrix(X):
            return count_in_blocks(self, X, codes, classes, features, weight)
        rows = rows_per_class(codes, weight, classes.size)
        if self.pairs:
            return count_comoments(X, codes, rows, features, weight, self.who)
        sums, fault = ExactSums.counted(X, codes, rows, features, weight)
        if fault is not None:
            raise error_for(fault, X, features, self.who, "finite numbers")
        return sums

    def features_in(self, X: Rows, rule: Any, ledger: PartLedger) -> Array | None:
        return None

    def restrict(self, X: Rows, features: Array) -> Rows:
        return X

    def table(self, ledger: PartLedger, rule: Any, prior: Array, features: Array | None = None) -> BlockTable:
        var_smoothing, shrinkage = rule
        if self.pairs and isinstance(ledger.total, ExactSums):
            raise InputError(
                f"{self.who}: counted without pairs of features; covariance={self.covariance!r} needs a new fit"
            )
        if self.pairs:
            mean, covariance = self._covariances(ledger.total, var_smoothing, shrinkage)
            self._check_range(mean, covariance, ledger.features)
            return CovarianceTable(self.who, ledger.classes, ledger.features, prior, mean, covariance)
        if isinstance(ledger.total, ExactSums):
            ledger.total.refuse_too_wide(ledger.classes)
        mean, variance = self._variances(ledger.total.single(), var_smoothing, shrinkage)
        return NormalTable(self.who, ledger.classes, ledger.features, prior, mean, variance)

    def check(self, ledger: PartLedger, rule: Any) -> None:
        """Raise where a table of these counts would hold densities beyond float64."""
        if not self.pairs:
            return
        means = [np.einsum("cii->ci", level.mean) for level in ledger.levels if isinstance(level, Comoments)]
        if any(np.abs(mean).max(initial=0.0) > _FAR * VANISHING**0.5 for mean in means):  # otherwise it cannot be
            self.table(ledger, rule, np.zeros(ledger.classes.size))
        if not any((np.abs(mean) < 1e-80).all(axis=0).any() for mean in means[:1]):  # larger means have larger steps
            return
        n, _, m2 = ledger.total.pooled
        variance = np.divide(m2, n, out=np.zeros_like(m2), where=n > 0)
        tiny = (variance > 0) & (variance + epsilon(ledger.total, rule[0]) < VANISHING)
        if tiny.any():
            j = int(np.argmax(tiny))
            raise InputError(
                f"{self.who}: column {ledger.features.name(j)!r} has a variance of {variance[j]:.3g}, and below "
                f"{VANISHING:g} it cannot be distinguished from zero; rescale the column, or set var_smoothing above 0"
            )

    def _check_range(self, mean: Array, covariance: Array, features: Index) -> None:
        """Raise where the mean of one class lies so far from another's that its squared distance overflows."""
        apart = mean.max(axis=0, initial=-np.inf) - mean.min(axis=0, initial=np.inf)
        spread = np.sqrt(np.einsum("cii->ci", covariance).min(axis=0))
        far = apart > _FAR * spread
        if far.any():
            j = int(np.argmax(far))
            raise InputError(
                f"{self.who}: column {features.name(j)!r} has means that lie {apart[j]:.3g} apart, but a standard "
                f"deviation of {spread[j]:.3g} within classes: float64 cannot hold the density of one class at the "
                "mean of another; rescale the column, or set var_smoothing above 0"
            )

    def _variances(self, moments: Any, var_smoothing: float, shrinkage: Any) -> tuple[Array, Array]:
        moments = moments.full()
        variance = moments.variance + epsilon(moments, var_smoothing)
        if self.covariance == "spherical":
            variance = np.broadcast_to(variance.mean(axis=1, keepdims=True), variance.shape)
        elif shrinkage != 0.0:
            average = variance.mean(axis=1, keepdims=True)
            weight = _weights(shrinkage, [np.diag(v) for v in variance], moments.rows)[:, None]
            variance = (1 - weight) * variance + weight * average
        # What a class never saw of a feature is as in all classes together; what none saw says nothing.
        n, mean, m2 = moments.pooled
        known = moments.n > 0
        usual = np.where(n > 0, m2 / np.where(n > 0, n, 1.0) + epsilon(moments, var_smoothing), np.inf)
        variance = np.where(known, variance, usual)
        return np.where(known, moments.mean, mean), np.maximum(variance, VANISHING)

    def _covariances(self, moments: Comoments, var_smoothing: float, shrinkage: Any) -> tuple[Array, Array]:
        moments = moments.full()
        extra = epsilon(moments, var_smoothing)
        mean = np.einsum("cii->ci", moments.mean).copy()
        scatter, n = moments.m2, moments.n
        if self.covariance == "tied":
            scatter, n = scatter.sum(axis=0, keepdims=True), n.sum(axis=0, keepdims=True)
        covariance = np.divide(scatter, n, out=np.zeros_like(scatter), where=n > 0)
        pooled_n, pooled_mean, pooled_m2 = moments.pooled
        for k in range(len(moments.rows)):
            never = np.einsum("ii->i", moments.n[k]) <= 0
            mean[k, never] = pooled_mean[never]
            if self.covariance == "full":
                usual = np.divide(pooled_m2, pooled_n, out=np.zeros_like(pooled_m2), where=pooled_n > 0)
                covariance[k][np.diag_indices(len(never))] += np.where(never, usual, 0.0)
        diagonal = np.arange(moments.features.size)
        covariance[:, diagonal, diagonal] += max(extra, VANISHING)
        if shrinkage != 0.0:
            rows = moments.rows.sum(keepdims=True) if self.covariance == "tied" else moments.rows
            weight = _weights(shrinkage, list(covariance), rows)[:, None, None]
            average = np.einsum("cii->c", covariance)[:, None, None] / max(len(diagonal), 1)
            covariance = (1 - weight) * covariance + weight * average * np.eye(len(diagonal))
        return mean, covariance

    def left_out(self, ledger: PartLedger, rules: Sequence[Any], X: Rows, codes: Array, weight: Array | None) -> Left:
        if self.covariance != "diagonal" or any(shrinkage != 0.0 for _, shrinkage in rules):
            return one_by_one(self, ledger, rules, X, codes, weight)
        moments = ledger.total.single().full()
        each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)

        x = np.asarray(X.toarray() if is_sparse_matrix(X) else X, dtype=np.float64)
        every = AllRows(x, codes, each)

        def left_out(part: Rows, rows: slice) -> Left:
            normal = Normals(moments.n, moments.mean, moments.m2, moments.pooled, every, rows)
            variance = normal.pooled_variance.max(axis=1, initial=0.0)[:, None]
            return [(normal.likelihood(var_smoothing * variance), None) for var_smoothing, _ in rules]

        parts = in_blocks(x, max(x.shape[1], 1) * ledger.classes.size, left_out, 1 << 19)
        return concat_rules(parts, len(rules), ledger.classes.size)

    def n_parameters(self, ledger: PartLedger) -> int:
        k, d = ledger.classes.size, ledger.features.size
        spread = {"spherical": k, "diagonal": k * d, "tied": d * (d + 1) // 2, "full": k * d * (d + 1) // 2}
        return k * d + spread[self.covariance]

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """A mean and a full covariance for each class."""
        k, d = ledger.classes.size, ledger.features.size
        return k * d + k * d * (d + 1) // 2

    def sample(self, ledger: PartLedger, rule: Any, klass: int, size: int, rng: np.random.Generator) -> Rows:
        table = self.table(ledger, rule, np.zeros(ledger.classes.size))
        if isinstance(table, CovarianceTable):
            covariance = table.covariance[klass if len(table.covariance) > 1 else 0]
            return rng.multivariate_normal(table.mean[klass], covariance, size, method="eigh")
        assert isinstance(table, NormalTable)
        spread = np.sqrt(np.where(np.isfinite(table.variance[klass]), table.variance[klass], np.nan))
        return table.mean[klass] + spread * rng.standard_normal((size, ledger.features.size))


def epsilon(moments: Any, var_smoothing: float) -> float:
    """What is added to every variance: a share of the largest one over all rows, whatever batches they came in."""
    n, _, m2 = moments.pooled
    variance = np.divide(m2, n, out=np.zeros_like(m2), where=n > 0)
    return float(var_smoothing * variance.max(initial=0.0))


def _weights(shrinkage: Any, covariances: list[Array], rows: Array) -> Array:
    """How far to shrink each covariance; "auto" is the oracle approximation of Chen et al. (2010)."""
    if shrinkage != "auto":
        return np.full(len(covariances), float(shrinkage))
    result = []
    for covariance, n in zip(covariances, rows.tolist(), strict=True):
        d = len(covariance)
        mu, alpha = np.trace(covariance) / max(d, 1), float(np.mean(covariance**2)) if d else 0.0
        top, bottom = alpha + mu**2, (n + 1.0) * (alpha - mu**2 / max(d, 1))
        result.append(1.0 if bottom <= 0 else min(top / bottom, 1.0))
    return np.array(result)


def count_comoments(X: Rows, codes: Array, rows: Array, features: Index, weight: Array | None, who: str) -> Comoments:
    """Moments of every pair of features over the rows that have both, about each class's own means."""
    X = X.astype(np.float64)
    infinite = np.argwhere(np.isinf(X))
    if len(infinite):
        raise error_for((Fault.INFINITE, *infinite[0].tolist()), X, features, who, "finite numbers")
    present = np.unique(codes).astype(np.int64)
    n, mean, m2 = np.zeros((3, len(present), features.size, features.size))
    for k, klass in enumerate(present.tolist()):
        mine = X[codes == klass]
        w = np.ones(len(mine)) if weight is None else weight[codes == klass]
        known = ~np.isnan(mine)
        many = np.maximum((w[:, None] * known).sum(axis=0), np.finfo(np.float64).tiny)
        centre = (w[:, None] * np.where(known, mine, 0.0) / many).sum(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            apart = np.where(known, mine - centre, 0.0)
            weighted = w[:, None] * apart
            scatter = weighted.T @ apart
        if not np.isfinite(scatter).all():
            row, column = (int(v) for v in np.unravel_index(np.nanargmax(np.abs(X)), X.shape))
            raise error_for((Fault.TOO_WIDE, row, column), X, features, who, "numbers")
        n[k] = (w[:, None] * known).T @ known.astype(np.float64)
        shift = np.divide(weighted.T @ known, n[k], out=np.zeros_like(n[k]), where=n[k] > 0)
        mean[k] = np.where(n[k] > 0, centre[:, None] + shift, 0.0)
        m2[k] = np.where(n[k] > 0, scatter - n[k] * shift * shift.T, 0.0)
    return Comoments(rows, features, present, n, mean, m2)
