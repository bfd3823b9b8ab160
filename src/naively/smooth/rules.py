"""Smoothing rules: how counts become log-probabilities.

A rule is settled first: it may find its parameter from all counts. The settled rule gives logarithms of shares by a
count, its total and a context. The answer is a pair: the finite part, and the number of impossible factors
(None: 0). Multiplying adds up these numbers, the limit of an ever smaller α: the class with fewer impossible factors
wins, then the finite part decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar

import numpy as np

from naively.arrays import Array, Numeric
from naively.errors import InputError
from naively.smooth.evidence import Urns
from naively.smooth.logs import Logs
from naively.store.registry import stored


class Smoothing:
    """A rule from counts to log-probabilities.

    `local`: a count and its total are enough, whatever else was counted. `per_feature`: features differ in what is
    added to their counts. `adds`: it is an α that is added to every count.
    """

    local: ClassVar[bool] = True
    adds: ClassVar[bool] = False

    @property
    def per_feature(self) -> bool:
        return False

    def settle(self, urns: Callable[[], Urns]) -> Settled:
        """Return the settled rule, after all is counted; call `urns` only if counts are needed."""
        raise NotImplementedError


class Settled(Smoothing):
    """A rule that gives logarithms."""

    @property
    def one_alpha(self) -> float | None:
        """The one α above 0 that is added to every count; None if there is no such α."""
        return None

    def settle(self, urns: Callable[[], Urns]) -> Settled:
        return self

    def pseudo(self, features: Array | None) -> Numeric:
        """Return the pseudo-count of each of these features (None: all); one number if they are the same."""
        return 0.0

    def log(self, count: Numeric, total: Numeric, context: Context) -> Logs:
        """Return the log of a count's share in a total: the finite part, and the number of impossible factors."""
        raise NotImplementedError

    def discounted(self, count: Numeric) -> Array:
        """Return the discount of a count."""
        return np.zeros_like(np.asarray(count, dtype=np.float64))


@dataclass(frozen=True, eq=False)
class Seen:
    """Shares of features in all classes together; and by class, different features seen, and the sum of discounts."""

    share: Numeric
    types: Numeric
    cut: Numeric

    def of_cells(self, feature: Array, klass: Array) -> Seen:
        """The same for pairs of feature and class."""
        return Seen(_at(self.share, feature), _at(self.types, klass), _at(self.cut, klass))


def _at(values: Numeric, places: Array) -> Numeric:
    return values[places] if isinstance(values, np.ndarray) else values


@dataclass(frozen=True, eq=False)
class Context:
    """A settled rule with all that it needs besides counts and totals; families call it for logarithms.

    `outcomes` share a total; `pseudo` is added to each of their counts, and `mass` to the total (None: what all of
    them get).

    >>> log, impossible = Context(Additive(1.0), 2, pseudo=1.0).log(np.array([0, 3]), 3)
    >>> np.exp(log).tolist()
    [0.2, 0.8]
    """

    settled: Settled
    outcomes: Numeric
    pseudo: Numeric = 0.0
    mass: Numeric | None = None
    seen: Seen | None = None

    def log(self, count: Numeric, total: Numeric) -> Logs:
        """Return the log of a count's share in a total: the finite part, and the number of impossible factors."""
        return self.settled.log(count, total, self)

    def added_to(self, total: Numeric) -> Numeric:
        """Return a total including what is added to all of its counts."""
        return total + (self.pseudo * self.outcomes if self.mass is None else self.mass)

    def of_cells(self, feature: Array, klass: Array) -> Context:
        """Return the context of pairs of feature and class, from the context of all features and classes."""
        context = replace(self, pseudo=self.pseudo[feature]) if isinstance(self.pseudo, np.ndarray) else self
        if self.seen is None:
            return context
        return replace(context, seen=self.seen.of_cells(feature, klass))

    def of_classes(self) -> Context:
        """Return a context of the classes, with one feature for all: that of the largest pseudo-count or share."""
        if isinstance(self.pseudo, np.ndarray):
            return replace(self, pseudo=float(np.max(self.pseudo)) if len(self.pseudo) else 1.0)
        return self if self.seen is None else replace(self, seen=replace(self.seen, share=1.0))

    def of_features(self) -> Context:
        """Return a context of the features, with one class for all."""
        return self if self.seen is None else replace(self, seen=replace(self.seen, types=1.0, cut=0.0))


@stored()
@dataclass(frozen=True)
class Additive(Settled):
    """Add α to every count: (N + α) / (T + αK), where K is the number of outcomes.

    α = 1 is Laplace's rule, ½ Jeffreys', any other Lidstone's; 0 is the limit of ever smaller α.

    >>> log, impossible = Context(Additive(0.0), 2).log(np.array([0, 3]), 3)
    >>> log.tolist(), impossible.tolist()
    ([-1.0986122886681098, 0.0], [1.0, 0.0])
    """

    alpha: float | tuple[float, ...] = 1.0

    adds: ClassVar[bool] = True

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

    @property
    def one_alpha(self) -> float | None:
        return self.alpha if not isinstance(self.alpha, tuple) and self.alpha > 0 else None

    def pseudo(self, features: Array | None) -> Numeric:
        if not isinstance(self.alpha, tuple):
            return self.alpha
        alpha = np.array(self.alpha)
        return alpha if features is None else alpha[features]

    def log(self, count: Numeric, total: Numeric, context: Context) -> Logs:
        top = np.asarray(count + context.pseudo, dtype=np.float64)
        bottom = np.asarray(context.added_to(total), dtype=np.float64)
        if (min(self.alpha) if isinstance(self.alpha, tuple) else self.alpha) > 0:
            return np.log(top) - np.log(bottom), None
        top, bottom, outcomes = np.broadcast_arrays(top, bottom, np.asarray(context.outcomes, dtype=np.float64))
        empty = bottom <= 0
        finite = np.log(np.where(top > 0, top, 1.0)) - np.log(np.where(empty, outcomes, bottom))
        return finite, ((top <= 0) & ~empty).astype(np.float64)


def Unsmoothed() -> Additive:
    """Return maximum likelihood: N / T, as the limit of adding ever smaller numbers.

    >>> Unsmoothed()
    Additive(alpha=0.0)
    """
    return Additive(0.0)


@stored()
@dataclass(frozen=True)
class Evidence(Smoothing):
    """Add the α under which the counts are most probable, as draws from a symmetric Dirichlet-multinomial.

    This α depends on the counts alone, so it is found when a table is made of them (`alpha="auto"`).

    Which α that is depends on the counts alone, so it is settled when a table is made of them (`alpha="auto"`).
    """

    local: ClassVar[bool] = False
    adds: ClassVar[bool] = True

    def settle(self, urns: Callable[[], Urns]) -> Additive:
        return Additive(urns().best())


@stored()
@dataclass(frozen=True)
class Epsilon(Settled):
    """Maximum likelihood, except that a probability of 0 becomes ε.

    >>> log, _ = Context(Epsilon(1e-6), 2).log(np.array([0, 3]), 3)
    >>> np.exp(log).round(9).tolist()
    [1e-06, 1.0]
    """

    eps: float = 1e-9

    def __post_init__(self) -> None:
        if not isinstance(self.eps, Real) or not 0 < self.eps <= 1:
            raise InputError(f"eps must be above 0 and at most 1, got {self.eps!r}")

    def log(self, count: Numeric, total: Numeric, context: Context) -> Logs:
        count, total = np.broadcast_arrays(np.asarray(count, np.float64), np.asarray(total, np.float64))
        seen = (count > 0) & (total > 0)
        return np.where(
            seen, np.log(np.where(seen, count, 1.0)) - np.log(np.where(seen, total, 1.0)), np.log(self.eps)
        ), None
