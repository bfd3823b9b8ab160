"""GaussianModel: normal densities of all columns together; Naive Bayes is the case of a diagonal covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.exact_pairs import ExactPairs
from naively.count.exact_sums import ExactSums
from naively.count.ledger import PartLedger
from naively.errors import InputError
from naively.families.base import count_in_blocks, rows_per_class
from naively.families.counts_left_out import Left, one_by_one
from naively.families.densities.base import NumberFamily
from naively.families.densities.columns import Densities
from naively.families.densities.gaussian import VANISHING, Gaussian
from naively.names import Index
from naively.read.matrix import Rows, error_for, is_sparse_matrix
from naively.score.table import BlockTable, CovarianceTable
from naively.store.registry import stored

_FAR = 1e140
"""The largest distance, in standard deviations, that can be squared, summed over features and divided by rounding."""


@stored()
@dataclass(frozen=True)
class GaussianModel(Densities):
    """Normal densities. `rule` is (var_smoothing, shrinkage) here.

    Σ + εI with ε = var_smoothing times the largest variance of any feature, then (1 - s) Σ + s (tr Σ / D) I.
    """

    who: str = "GaussianNB"
    density: NumberFamily = field(default=Gaussian())
    covariance: str = "diagonal"

    constant: ClassVar[bool] = True

    @property
    def pairs(self) -> bool:
        return self.covariance in ("tied", "full")

    @property
    def sums(self) -> type[ExactSums]:
        """The type of its part."""
        return ExactPairs if self.pairs else ExactSums

    def columns(self, features: Index) -> Index:
        return features

    def empty(self, classes: Index, features: Index) -> Any:
        return self.sums.empty(classes.size, features)

    def count(self, X: Rows, codes: Array, classes: Index, features: Index, weight: Array | None) -> Any:
        """The tally of rows of an array or a sparse matrix."""
        if is_sparse_matrix(X):
            return count_in_blocks(self, X, codes, classes, features, weight)
        if self.pairs:
            X = np.ascontiguousarray(X, np.float64)
        sums, fault = self.sums.counted(X, codes, rows_per_class(codes, weight, classes.size), features, weight)
        if fault is not None:
            raise error_for(fault, X, features, self.who, "finite numbers")
        return sums

    def settled(self, rule: Any) -> tuple[NumberFamily, float]:
        return Gaussian(rule[0]), 0.0

    def table(self, ledger: PartLedger, rule: Any, prior: Array, features: Array | None = None) -> BlockTable:
        var_smoothing, shrinkage = rule
        if not self.pairs:
            table: Any = super().table(ledger, rule, prior)
            if self.covariance == "diagonal" and shrinkage == 0.0:
                return table
            variance = self._variances(ledger.total.single().full(), table.parameters[1], var_smoothing, shrinkage)
            return replace(table, parameters=(table.parameters[0], variance))
        if not isinstance(ledger.total, ExactPairs):
            raise InputError(
                f"{self.who}: counted without pairs of features; covariance={self.covariance!r} needs a new fit"
            )
        ledger.total.refuse_too_wide(ledger.classes)
        mean, covariance = self._covariances(ledger.total.full(), var_smoothing, shrinkage)
        self._check_range(mean, covariance, ledger.features)
        return CovarianceTable(self.who, ledger.classes, ledger.features, prior, mean, covariance)

    def check(self, ledger: PartLedger, rule: Any) -> None:
        """Raise where a table of these counts would hold densities beyond float64."""
        if not self.pairs:
            return
        total = reduce(add, (level.single() for level in reversed(ledger.levels)))
        mean = np.abs(total.mean)
        if mean.max(initial=0.0) > _FAR * VANISHING**0.5:  # otherwise it cannot be
            self.table(ledger, rule, np.zeros(ledger.classes.size))
        if not (mean < 1e-80).all(axis=0).any():  # larger means have larger steps
            return
        variance = total.together.variance[0]
        tiny = (variance > 0) & (variance + epsilon(total, rule[0]) < VANISHING)
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

    def _variances(self, moments: Any, usual: Array, var_smoothing: float, shrinkage: Any) -> Array:
        """Return spherical or shrunk variances; `usual` are those of what a class never saw."""
        variance = moments.variance + epsilon(moments, var_smoothing)
        average = variance.mean(axis=1, keepdims=True)
        if self.covariance == "spherical":
            variance = np.broadcast_to(average, variance.shape)
        else:
            weight = _weights(shrinkage, [np.diag(v) for v in variance], moments.rows)[:, None]
            variance = (1 - weight) * variance + weight * average
        return np.where(moments.n > 0, np.maximum(variance, VANISHING), usual)

    def _covariances(self, pairs: ExactPairs, var_smoothing: float, shrinkage: Any) -> tuple[Array, Array]:
        moments, every = pairs.single(), pairs.together
        extra = epsilon(moments, var_smoothing)
        never = moments.n <= 0
        mean, covariance = np.where(never, every.mean, moments.mean), pairs.covariance.copy()
        diagonal = np.arange(moments.features.size)
        if self.covariance == "tied":
            n, scatter = _sum_of_classes(pairs.n), _sum_of_classes(pairs.n * covariance)
            covariance = np.divide(scatter, n, out=np.zeros_like(scatter), where=n > 0)
        else:
            covariance[:, diagonal, diagonal] += np.where(never, every.variance, 0.0)
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
        return super().left_out(ledger, rules, X, codes, weight)

    def n_parameters(self, ledger: PartLedger) -> int:
        k, d = ledger.classes.size, ledger.features.size
        spread = {"spherical": k, "diagonal": k * d, "tied": d * (d + 1) // 2, "full": k * d * (d + 1) // 2}
        return k * d + spread[self.covariance]

    def sample(self, ledger: PartLedger, rule: Any, klass: int, size: int, rng: np.random.Generator) -> Rows:
        if not self.pairs:
            return super().sample(ledger, rule, klass, size, rng)
        table: Any = self.table(ledger, rule, np.zeros(ledger.classes.size))
        covariance = table.covariance[klass if len(table.covariance) > 1 else 0]
        return rng.multivariate_normal(table.mean[klass], covariance, size, method="eigh")


def epsilon(moments: Any, var_smoothing: float) -> float:
    """The number added to every variance: a share of the largest one over all rows, whatever batches they came in."""
    return float(Gaussian(var_smoothing).epsilon(moments.together.moments)[0, 0])


SHRINKAGES = ("auto", "ledoit-wolf")
"""Ways to find the shrinkage from the covariance and the number of rows."""


def _sum_of_classes(values: Array) -> Array:
    """Return the sum over the first axis, of length one; it does not depend on the order of the classes."""
    return np.sort(values, axis=0).sum(axis=0, keepdims=True)


def _weights(shrinkage: Any, covariances: list[Array], rows: Array) -> Array:
    """Return how far to shrink each covariance: a given share, or one of two estimates of Chen et al. (2010).

    "auto" is oracle approximation; "ledoit-wolf" is Ledoit and Wolf's estimate, averaged over all normal samples with
    this covariance. Their formulas are in docs/formulas.md.
    """
    if shrinkage not in SHRINKAGES:
        return np.full(len(covariances), float(shrinkage))
    result = []
    for covariance, n in zip(covariances, rows.tolist(), strict=True):
        d = max(len(covariance), 1)
        mu, u = np.trace(covariance) / d, float(np.mean(covariance**2)) if len(covariance) else 0.0
        share, more = (1.0, 1.0) if shrinkage == "auto" else (max(n - 2.0, 0.0) / max(n, 1.0), 2.0)
        top, bottom = share * u + mu**2, (n + more) * (u - mu**2 / d)
        result.append(1.0 if bottom <= 0 else min(top / bottom, 1.0))
    return np.array(result)
