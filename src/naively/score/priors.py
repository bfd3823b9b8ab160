"""Priors: the probability of each class before any feature of a row is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np

from naively.arrays import Array, total_of
from naively.errors import InputError, nearest
from naively.names import Index
from naively.store.registry import stored


class Prior(Protocol):
    """A rule from the rows of each class to its log-probability."""

    def check(self, classes: Index) -> None:
        """Raise InputError if the rule does not fit these classes."""

    def share(self, classes: Index, rows: Array) -> Array:
        """Return the probability of each class."""

    def log(self, classes: Index, rows: Array) -> Array:
        """Return the log-probability of each class."""


class AnyClasses:
    """Base of rules that fit any classes."""

    def check(self, classes: Index) -> None:
        """Raise InputError if the prior does not fit these classes; this one always does."""


@stored()
@dataclass(frozen=True)
class Empirical(AnyClasses):
    """The share of the rows: N_k / N.

    >>> np.exp(Empirical().log(Index(2), np.array([3, 1]))).tolist()
    [0.75, 0.25]
    """

    def share(self, classes: Index, rows: Array) -> Array:
        return _UNSMOOTHED.share(classes, rows)

    def log(self, classes: Index, rows: Array) -> Array:
        return _UNSMOOTHED.log(classes, rows)


@stored()
@dataclass(frozen=True)
class Smoothed(AnyClasses):
    """The Bayes estimate (N_k + β) / (N + βK).

    >>> np.exp(Smoothed(1.0).log(Index(2), np.array([3, 0]))).round(12).tolist()
    [0.8, 0.2]
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        if not (isinstance(self.beta, Real) and np.isfinite(self.beta) and self.beta >= 0):
            raise InputError(f"beta must be 0 or more, got {self.beta!r}")

    def share(self, classes: Index, rows: Array) -> Array:
        total = total_of(rows) + self.beta * classes.size
        return (rows + self.beta) / total if total > 0 else Uniform().share(classes, rows)

    def log(self, classes: Index, rows: Array) -> Array:
        total = total_of(rows) + self.beta * classes.size
        if total <= 0:
            return Uniform().log(classes, rows)
        top = rows + self.beta
        if top.min() > 0:
            return np.log(top) - np.log(total)
        return np.where(top > 0, np.log(np.where(top > 0, top, 1.0)), -np.inf) - np.log(total)


_UNSMOOTHED = Smoothed(0.0)


@stored()
@dataclass(frozen=True)
class Uniform(AnyClasses):
    """The same probability for every class, so that the likelihood alone decides (maximum likelihood instead of MAP).

    >>> np.exp(Uniform().log(Index(4), np.array([9, 1, 0, 0]))).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    def share(self, classes: Index, rows: Array) -> Array:
        return np.full(classes.size, 1.0 / max(classes.size, 1))

    def log(self, classes: Index, rows: Array) -> Array:
        return np.full(classes.size, -np.log(max(classes.size, 1)))


@stored()
@dataclass(frozen=True)
class Given:
    """Probabilities that the user passed: one for each class in sorted order, or by label.

    >>> np.exp(Given({"spam": 0.25, "ham": 0.75}).log(Index.of(["ham", "spam"]), np.zeros(2))).tolist()
    [0.75, 0.25]
    """

    probabilities: Mapping[Any, float] | Sequence[float]

    def __post_init__(self) -> None:
        given = self.probabilities
        try:
            values = np.asarray(list(given.values()) if isinstance(given, Mapping) else given, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"priors must be a list of numbers, got {given!r}") from None
        if values.ndim != 1 or not np.isfinite(values).all():
            raise InputError(f"priors must be a list of numbers, got {given!r}")
        if (values < 0).any():
            raise InputError(f"Priors must be non-negative, got {values.tolist()}")
        if not abs(float(values.sum()) - 1.0) <= 1e-5:
            raise InputError(f"The sum of the priors should be 1, got {values.sum():g} from {values.tolist()}")
        numbers = values.tolist()  # a copy, which does not change with the caller's list or array
        checked = dict(zip(given, numbers, strict=True)) if isinstance(given, Mapping) else tuple(numbers)
        object.__setattr__(self, "probabilities", checked)

    def check(self, classes: Index) -> None:
        given = self.probabilities
        if isinstance(given, Mapping):
            for label, place in zip(given, classes.locate(given), strict=True):
                if place < 0:
                    raise InputError(f"prior for unknown class {label!r}{nearest(label, _names(classes))}")
        elif len(given) != classes.size:
            raise InputError(
                f"Number of priors must match number of classes, got {len(given)} for {classes.size} classes"
            )

    def share(self, classes: Index, rows: Array) -> Array:
        self.check(classes)
        given = self.probabilities
        if isinstance(given, Mapping):
            values = np.zeros(classes.size)
            values[classes.locate(given)] = list(given.values())
        else:
            values = np.asarray(given, dtype=np.float64)
            if classes.order is not None:
                sorted_values, values = values, np.empty_like(values)
                values[classes.order] = sorted_values
        return values

    def log(self, classes: Index, rows: Array) -> Array:
        values = self.share(classes, rows)
        return np.where(values > 0, np.log(np.where(values > 0, values, 1.0)), -np.inf)


def _names(classes: Index) -> list[Any]:
    return [] if classes.names is None else classes.names.tolist()


PRIORS = (Empirical, Smoothed, Uniform, Given)


def prior_of(given: Any, otherwise: Prior) -> Prior:
    """Return the prior for a user's parameter: a prior, or probabilities; `otherwise` stands for None."""
    if isinstance(given, PRIORS):
        return given
    if hasattr(given, "to_dict"):  # a Series is read by its index
        given = given.to_dict()
    return otherwise if given is None else Given(given.tolist() if isinstance(given, np.ndarray) else given)
