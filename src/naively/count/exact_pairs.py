"""Exact sums of pairs of numbers, from which covariances are computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from naively import _core
from naively.arrays import Array
from naively.count.exact_numbers import ExactNumbers
from naively.count.exact_sums import ExactSums, verify_sums
from naively.errors import NegativeCount
from naively.names import Index
from naively.store.damage import COUNTS, are, need
from naively.store.registry import stored
from naively.threads import threads

if TYPE_CHECKING:
    from typing_extensions import Self


def _check_pairs(sums: ExactPairs) -> None:
    need(are(sums.exact_rows, COUNTS, None) and are(sums.present, "i8", None), "the rows of sums")
    need(sums.sums.shape == (3, len(sums.present), sums.features.size, sums.features.size), "the sums of classes")


def _verify_pairs(sums: ExactPairs) -> None:
    verify_sums(sums)
    need(sums.possible, "sums of pairs that cannot be")


@stored(check=_check_pairs, verify=_verify_pairs)
@dataclass(frozen=True, eq=False, repr=False)
class ExactPairs(ExactSums):
    """Exact sums by class and pair of features, over the rows (by weight) of a class.

    `sums` holds three arrays, classes by features i by features j: n, x and products. At i = j they are n, Σx and Σx²
    of feature i. Elsewhere n and x are those of the rows that have i and miss j: zero where nothing is missing.
    Products are Σ xᵢxⱼ over the rows that have both, where i < j, and zero where i > j.

    >>> X, codes = np.array([[1e17, 3.0], [1.0, 0.5], [-1e17, 4.0]]), np.zeros(3, np.int32)
    >>> pairs, _ = ExactPairs.counted(X, codes, np.array([3]), Index(2))
    >>> float(pairs.covariance[0, 0, 1])
    -3.3333333333333336e+16
    """

    @classmethod
    def counted(
        cls, X: Array | list[Array], codes: Array, rows: Array, features: Index, weight: Array | None = None
    ) -> tuple[Self, Any]:
        """Count a matrix of float64; return also the first value or weight that cannot be counted (then without any
        sums).
        """
        assert not isinstance(X, list)
        own, fault = ExactSums.counted(X, codes, rows, features, weight)
        if fault is not None:
            return cls.empty(len(rows), features), fault
        present, width = own.present, features.size
        local = np.searchsorted(present, codes).astype(np.int32)
        pairs = _core.count_products_exactly(X, local, len(present), weight, threads(X.size * width))
        shape = 3, len(present), width, width
        diagonal = own.sums.spread(shape, (slice(None), slice(None), np.arange(width), np.arange(width)))
        return cls(rows, features, present, ExactNumbers._from(pairs, shape) + diagonal), None

    def single(self) -> ExactSums:
        """The sums of each feature by itself."""
        return ExactSums(self.exact_rows, self.features, self.present, self.sums.take(self._own))

    @cached_property
    def together(self) -> ExactSums:
        """The sums of each feature by itself, of all classes as those of one."""
        return self.single().together

    @cached_property
    def n(self) -> Array:
        """Return the number of rows (Σw) that have both features of each pair, as float64: classes by features by
        features.
        """
        return self._both(0).rounded()

    @cached_property
    def covariance(self) -> Array:
        """The covariance of each pair over the rows that have both, correctly rounded; 0 where there are none."""
        x, n, products = self._both(1), self._both(0), self.sums.take(self._ordered + self._step * 2)
        y = x.take(np.arange(self._step).reshape(x.shape).transpose(0, 2, 1))
        stacked = ExactNumbers.stacked([n, x, y, products])
        return _core.exact_covariances(stacked.flat, threads(stacked.digits.size)).reshape(n.shape)

    def refuse_impossible(self, classes: Index) -> None:
        """Raise NegativeCount if no rows can have these sums, since other rows were subtracted than had been added."""
        self.single().refuse_impossible(classes)
        if not self.possible:
            k, i, j = np.argwhere(self._impossible)[0].tolist()
            raise NegativeCount(
                f"cannot forget other values than were counted: features {self.features.name(i)!r} and "
                f"{self.features.name(j)!r} of class {classes.name(int(self.present[k]))!r}; nothing was changed"
            )

    def refuse_too_wide(self, classes: Index) -> None:
        self.single().refuse_too_wide(classes)

    @property
    def possible(self) -> bool:
        """True if rows may have such sums of pairs."""
        return not self._impossible.any()

    @cached_property
    def _impossible(self) -> Array:
        alone, x, products = self.sums.signs()
        both, apart = self._both(0).signs(), ~np.eye(self.features.size, dtype=bool)
        lower = np.tri(self.features.size, k=-1, dtype=bool) & (products != 0)
        return (alone < 0) | (both < 0) | (apart & (alone == 0) & (x != 0)) | ((both == 0) & (products != 0)) | lower

    @classmethod
    def _shape(cls, present: int, features: Index) -> tuple[int, ...]:
        return 3, present, features.size, features.size

    def _places(self, columns: Array) -> Array:
        i, j, width = columns[:, None], columns, self.features.size
        first, second = np.minimum(i, j), np.maximum(i, j)
        products = np.where((first < 0) | np.tri(len(columns), k=-1, dtype=bool), -1, first * width + second)
        alone = np.where(i < 0, -1, i * width + np.where(j < 0, i, j))  # all rows miss a feature that joins later
        return np.stack([alone, alone, products]).reshape(3, -1)

    @property
    def _step(self) -> int:
        """Number of sums of each of the three kinds."""
        return len(self.present) * self.features.size**2

    @property
    def _grid(self) -> tuple[Array, Array, Array]:
        k, i, j = np.indices(self.sums.shape[1:], sparse=True)
        return k * self.features.size**2, i, j

    @property
    def _own(self) -> Array:
        """The places of the sums of each feature by itself."""
        width = self.features.size
        own = np.arange(len(self.present))[:, None] * width**2 + np.arange(width) * (width + 1)
        return own + np.arange(3)[:, None, None] * self._step

    @property
    def _ordered(self) -> Array:
        """The place of each pair with the smaller feature first."""
        k, i, j = self._grid
        return k + np.minimum(i, j) * self.features.size + np.maximum(i, j)

    def _both(self, kind: int) -> ExactNumbers:
        """The n or x of feature i over the rows that have j as well."""
        k, i, j = self._grid
        width = self.features.size
        all_rows = self.sums.take(kind * self._step + k + i * (width + 1) + 0 * j)
        missing_j = np.where(i == j, -1, kind * self._step + k + i * width + j)
        return all_rows - self.sums.take(missing_j)
