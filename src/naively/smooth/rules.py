"""Smoothing rules: how counts become log-probabilities.

A rule is asked for a factor's log-probability by its count, the total that it is a part of, what a rule may add to
the count (`pseudo`) and to the total (`mass`), and how many outcomes share the total. The answer is a pair: the
finite part, and how many times impossible it is (None: never). Multiplying impossible factors adds these up, which
is the limit of adding ever less: the class with fewer impossible factors wins, then the finite part decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, Protocol

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.smooth.evidence import Draws, best_alpha
from naively.store.registry import stored

Logs = tuple[Array, Array | None]


class Smoothing(Protocol):
    """A rule from counts to log-probabilities."""

    @property
    def per_feature(self) -> bool:
        """Whether features differ in what is added to their counts."""

    def pseudo(self, features: Array | None) -> Any:
        """What is added to the count of each of these features (None: all); one number where it is the same."""

    def log(self, count: Any, total: Any, pseudo: Any, mass: Any, outcomes: Any) -> Logs:
        """Finite part of the log-probability, and how often impossible."""


@stored()
@dataclass(frozen=True)
class Additive:
    """Adds α to every count: (N + α) / (T + αK), K being the number of outcomes.

    α = 1 is Laplace's rule, ½ Jeffreys', any other Lidstone's; 0 is the limit of ever smaller α.

    >>> log, impossible = Additive(1.0).log(np.array([0, 3]), 3, 1.0, 2.0, 2)
    >>> np.exp(log).tolist()
    [0.2, 0.8]
    """

    alpha: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        if type(self.alpha) is float and 0 <= self.alpha < np.inf:
            return
        try:
            alpha = np.asarray(self.alpha, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"alpha must be a number, or one for each feature, got {self.alpha!r}") from None
        if alpha.ndim > 1 or not np.isfinite(alpha).all() or (alpha < 0).any():
            raise InputError(f"alpha must be 0 or more, one number or one for each feature, got {self.alpha!r}")
        object.__setattr__(self, "alpha", float(alpha) if alpha.ndim == 0 else tuple(alpha.tolist()))

    @property
    def per_feature(self) -> bool:
        return isinstance(self.alpha, tuple)

    def pseudo(self, features: Array | None) -> Any:
        if not isinstance(self.alpha, tuple):
            return self.alpha
        alpha = np.array(self.alpha)
        return alpha if features is None else alpha[features]

    def log(self, count: Any, total: Any, pseudo: Any, mass: Any, outcomes: Any) -> Logs:
        top, bottom = np.asarray(count + pseudo, dtype=np.float64), np.asarray(total + mass, dtype=np.float64)
        if (min(self.alpha) if isinstance(self.alpha, tuple) else self.alpha) > 0:
            return np.log(top) - np.log(bottom), None
        top, bottom, outcomes = np.broadcast_arrays(top, bottom, np.asarray(outcomes, dtype=np.float64))
        empty = bottom <= 0
        finite = np.log(np.where(top > 0, top, 1.0)) - np.log(np.where(empty, outcomes, bottom))
        return finite, ((top <= 0) & ~empty).astype(np.float64)


def cell_logs(rule: Any, counts: Array, totals: Array, klass: Array, pseudo: Any, mass: Any, outcomes: Any) -> Logs:
    """The logarithms of cells: with one α, of each different count and of each class's total once."""
    plain = isinstance(rule, Additive) and not isinstance(rule.alpha, tuple) and rule.alpha > 0
    if not plain or counts.dtype != np.int64 or counts.max(initial=0) >= len(counts) or counts.min(initial=0) < 0:
        return rule.log(counts, totals[klass], pseudo, mass, outcomes)
    return np.log(np.arange(counts.max() + 1) + pseudo)[counts] - np.log(totals + mass)[klass], None


def Unsmoothed() -> Additive:
    """Maximum likelihood: N / T, as the limit of adding ever less.

    >>> Unsmoothed()
    Additive(alpha=0.0)
    """
    return Additive(0.0)


@stored()
@dataclass(frozen=True)
class Evidence:
    """Adds the α under which the counts are most probable: as draws from a Dirichlet, all weights of which are α.

    Which α that is depends on the counts alone, so it is settled when a table is made of them (`alpha="auto"`).
    """

    @property
    def per_feature(self) -> bool:
        return False

    def pseudo(self, features: Array | None) -> Any:
        raise NotImplementedError("settled by the counts first")

    def log(self, count: Any, total: Any, pseudo: Any, mass: Any, outcomes: Any) -> Logs:
        raise NotImplementedError("settled by the counts first")


def settled(rule: Smoothing, draws: Callable[[], Draws]) -> Smoothing:
    """The rule, or where the counts are to decide, what they decide."""
    return Additive(best_alpha(draws())) if isinstance(rule, Evidence) else rule


@stored()
@dataclass(frozen=True)
class Epsilon:
    """Maximum likelihood, but what would have probability 0 gets ε instead.

    >>> log, _ = Epsilon(1e-6).log(np.array([0, 3]), 3, 0.0, 0.0, 2)
    >>> np.exp(log).round(9).tolist()
    [1e-06, 1.0]
    """

    eps: float = 1e-9

    def __post_init__(self) -> None:
        if not isinstance(self.eps, Real) or not 0 < self.eps <= 1:
            raise InputError(f"eps must be above 0 and at most 1, got {self.eps!r}")

    @property
    def per_feature(self) -> bool:
        return False

    def pseudo(self, features: Array | None) -> Any:
        return 0.0

    def log(self, count: Any, total: Any, pseudo: Any, mass: Any, outcomes: Any) -> Logs:
        count, total = np.broadcast_arrays(np.asarray(count, np.float64), np.asarray(total, np.float64))
        seen = (count > 0) & (total > 0)
        return np.where(
            seen, np.log(np.where(seen, count, 1.0)) - np.log(np.where(seen, total, 1.0)), np.log(self.eps)
        ), None
