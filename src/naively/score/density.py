"""Density tables: the scores of numeric columns whose densities belong to one family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.names import Index
from naively.read.matrix import Fault, Rows, error_for, in_blocks, is_sparse_matrix
from naively.score.scores import Scores
from naively.score.table import NO_CLASS, Shares, by_block, sorted_scores
from naively.store.damage import are, finite, need
from naively.store.registry import stored
from naively.threads import threads

_LOWEST = -1e290
"""Stands for a log-density below what float64 holds."""


class DensityFamily(Protocol):
    """A family of densities, as far as its table needs it."""

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters."""

    @property
    def support(self) -> Support:
        """The numbers that have a density."""

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        """Return the logarithm of the density."""

    def as_normal(self, parameters: tuple[Array, ...]) -> tuple[Array, Array] | None:
        """Return mean and variance of normal densities; None for other densities."""

    def described(self, parameters: Sequence[float]) -> str:
        """Return the parameters of one class as text."""


class Support(Protocol):
    """Some of the numbers."""

    def holds(self, x: Array) -> Array:
        """Return a mask of the numbers that have a density."""


def _check_density(table: Density) -> None:
    shape = table.classes.size, table.features.size
    need(len(table.parameters) == len(table.family.parameter_names) > 0, "the parameters of densities")
    need(all(are(values, "f8", *shape) for values in table.parameters), "the parameters of densities")
    need(are(table.prior, "f8", shape[0]), "the prior")
    need(all(map(finite, table.parameters[:-1])), "the parameters of densities")
    normal = table.family.as_normal(table.parameters)
    need(normal is None or (normal[1] > 0).all(), "a variance that is not above zero")


@stored(check=_check_density, endless={**NO_CLASS, "parameters": np.inf})
@dataclass(frozen=True, eq=False)
class Density(Value):
    """A table of independent densities of one family: parameters by class and column.

    The last parameter is infinite where nothing is known of a column, which then adds nothing, as do missing values and
    those outside of the support of the family.
    """

    who: str
    classes: Index
    features: Index
    prior: Array
    family: DensityFamily
    parameters: tuple[Array, ...]

    @cached_property
    def known(self) -> Array:
        """A mask of the classes and columns whose density is known."""
        return np.isfinite(self.parameters[-1])

    def score(self, X: Rows) -> Scores:
        normal = self._normal
        sums = self._sums if normal is None else lambda part: self._normal_sums(part, *normal)
        return sorted_scores(self.classes, by_block(X, sums), self.prior)

    @cached_property
    def _normal(self) -> tuple[Array, Array, Array] | None:
        """Mean, half of the precision and the constant of normal densities; None for other densities."""
        found = self.family.as_normal(self.parameters)
        if found is None:
            return None
        if self.known.all():
            return found[0], 0.5 / found[1], -0.5 * np.log(2 * np.pi * found[1])
        variance = np.where(self.known, found[1], 1.0)
        constant = np.where(self.known, -0.5 * np.log(2 * np.pi * variance), 0.0)
        return found[0], np.where(self.known, 0.5 / variance, 0.0), constant

    def _normal_sums(self, X: Array, mean: Array, half_precision: Array, constant: Array) -> Array:
        base = np.zeros(self.classes.size)
        likelihood, _, fault = _core.score_normal(X, mean, half_precision, constant, base, threads(X.size))
        if fault is not None:
            raise error_for(fault, X, self.features, self.who, "finite numbers")
        return likelihood

    def _sums(self, X: Array) -> Array:
        def densities(part: Array, rows: slice) -> Array:
            infinite = np.argwhere(np.isinf(part))
            if len(infinite):
                row, column = infinite[0].tolist()
                raise error_for((Fault.INFINITE, row, column), part, self.features, self.who, "finite numbers")
            return log_densities(self.family, part[:, None].astype(np.float64), self.parameters).sum(axis=2)

        parts = in_blocks(X, max(X.shape[1], 1) * self.classes.size, densities, 1 << 18)
        return np.concatenate(parts) if parts else np.zeros((0, self.classes.size))

    def shares(self, row: Rows) -> Shares:
        x = np.asarray(row.toarray() if is_sparse_matrix(row) else row, dtype=np.float64)
        features = np.flatnonzero(~np.isnan(x[0]))
        values = log_densities(self.family, x, self.parameters)
        return [self.features.name(j) for j in features.tolist()], values[:, features].T, None

    def described(self, klass: int, column: int) -> str:
        """Return the parameters of one class and column as text."""
        if not self.known[klass, column]:
            return "nothing known"
        return self.family.described([float(values[klass, column]) for values in self.parameters])


def log_densities(family: DensityFamily, x: Array, parameters: tuple[Array, ...]) -> Array:
    """Return log-densities; 0 for missing values, for those outside of the support and where nothing is known."""
    known = np.isfinite(parameters[-1]) & family.support.holds(x)
    with np.errstate(all="ignore"):
        values = family.log_density(x, parameters)
    return np.where(known, np.fmax(values, _LOWEST), 0.0)
