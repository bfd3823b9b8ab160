"""Smoothing by a background: in a class, an unseen feature is as frequent as in all classes together.

A rule keeps part of what a class has seen and gives the rest to the background p(w), the share of a feature in all
classes: p(w | c) = kept + share · p(w). So a table holds one number for each class, one for each feature, and one for
each cell that was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar

import numpy as np

from naively.arrays import Array, Numeric
from naively.count.cells import Cells
from naively.errors import InputError
from naively.smooth.evidence import Urns
from naively.smooth.logs import Logs
from naively.smooth.rules import Additive, Context, Epsilon, Evidence, Seen, Settled, Smoothing
from naively.store.registry import stored


class Background(Settled):
    """Base of the rules with a background."""

    local: ClassVar[bool] = False

    def pseudo(self, features: Array | None) -> Numeric:
        raise InputError(f"{self!r} is for counts of words and the like (multinomial): give a number to add instead")

    def log(self, count: Numeric, total: Numeric, context: Context) -> Logs:
        seen = context.seen
        assert seen is not None
        share = np.where(np.asarray(total) > 0, self.share(total, seen), 1.0)  # 1 if a class has seen nothing
        chance = self.kept(count, total, seen) + share * seen.share
        there = chance > 0
        return np.log(np.where(there, chance, seen.share)), None if np.all(there) else (~there).astype(np.float64)

    def kept(self, count: Numeric, total: Numeric, seen: Seen) -> Numeric:
        """Return the part of the probability that a class's own count makes."""
        raise NotImplementedError

    def share(self, total: Numeric, seen: Seen) -> Numeric:
        """Return the part that is left to the background."""
        raise NotImplementedError


def background_of(everywhere: Array, total: Numeric) -> Array:
    """Return p(w), the share of each feature in all classes together; a feature that no class has seen counts as seen
    once.

    `total` is the sum over all features, including these.
    """
    total = np.asarray(total, dtype=np.float64)
    return np.where(everywhere > 0, everywhere, 1.0) / np.where(total > 0, total, 1.0)


def seen_of(rule: Settled, cells: Cells, totals: Array, width: int) -> Seen:
    """Return the background of features, and the number of features and the discounts of each class."""
    count, classes = cells.values[0].astype(np.float64), len(totals)
    everywhere = np.bincount(cells.feature, weights=count, minlength=width)
    return Seen(
        background_of(everywhere, totals.sum() + np.count_nonzero(everywhere <= 0)),
        np.bincount(cells.klass, minlength=classes).astype(np.float64),
        np.bincount(cells.klass, weights=rule.discounted(count), minlength=classes),
    )


@stored()
@dataclass(frozen=True)
class JelinekMercer(Background):
    """Jelinek-Mercer smoothing: (1 - λ) N / T + λ p(w).

    >>> JelinekMercer(0.5)
    JelinekMercer(lam=0.5)
    """

    lam: float = 0.5

    def __post_init__(self) -> None:
        if not isinstance(self.lam, Real) or not 0 <= self.lam <= 1:
            raise InputError(f"JelinekMercer: lam must be 0 to 1, got {self.lam!r}")

    def kept(self, count: Numeric, total: Numeric, seen: Seen) -> Numeric:
        return (1.0 - self.lam) * _over(count, total)

    def share(self, total: Numeric, seen: Seen) -> Numeric:
        return np.full(np.shape(total), float(self.lam))


@stored()
@dataclass(frozen=True)
class Dirichlet(Background):
    """Dirichlet smoothing: (N + μ p(w)) / (T + μ).

    >>> Dirichlet(1000)
    Dirichlet(mu=1000)
    """

    mu: float = 2000.0

    def __post_init__(self) -> None:
        if not isinstance(self.mu, Real) or not 0 <= self.mu < np.inf:
            raise InputError(f"Dirichlet: mu must be 0 or more, got {self.mu!r}")

    def kept(self, count: Numeric, total: Numeric, seen: Seen) -> Numeric:
        return _over(count, total + self.mu)

    def share(self, total: Numeric, seen: Seen) -> Numeric:
        return _over(self.mu, total + self.mu)


@stored()
@dataclass(frozen=True)
class AbsoluteDiscount(Background):
    """Absolute discounting: (max(N - d, 0) + (sum of what was subtracted) p(w)) / T; d is subtracted from every count.

    Without a d it is n₁ / (n₁ + 2 n₂), after Ney, Essen and Kneser: n₁ counts are 1, n₂ are 2.

    Without a d it is n₁ / (n₁ + 2 n₂), after Ney, Essen and Kneser: n₁ counts are 1, n₂ are 2.

    >>> from naively.smooth.evidence import Draws
    >>> AbsoluteDiscount().settle(lambda: Draws.of(np.array([1, 1, 1, 2, 5]), np.array([10]), 5))
    AbsoluteDiscount(d=0.6)
    """

    d: float | None = None

    def __post_init__(self) -> None:
        if self.d is not None and (not isinstance(self.d, Real) or not 0 <= self.d <= 1):
            raise InputError(f"AbsoluteDiscount: d must be None, or 0 to 1, got {self.d!r}")

    def settle(self, urns: Callable[[], Urns]) -> AbsoluteDiscount:
        if self.d is not None:
            return self
        counts = urns().seen()
        once, twice = (float(np.count_nonzero(np.abs(counts - n) < 0.5)) for n in (1, 2))
        return replace(self, d=once / (once + 2 * twice) if once else 0.5)

    def discounted(self, count: Numeric) -> Array:
        assert self.d is not None
        return np.minimum(count, self.d)

    def kept(self, count: Numeric, total: Numeric, seen: Seen) -> Numeric:
        return _over(count - self.discounted(count), total)

    def share(self, total: Numeric, seen: Seen) -> Numeric:
        return _over(seen.cut, total)


@stored()
@dataclass(frozen=True)
class WittenBell(Background):
    """Witten-Bell smoothing: (N + U p(w)) / (T + U), where U is the number of different features that the class has
    seen.

    >>> WittenBell()
    WittenBell()
    """

    def kept(self, count: Numeric, total: Numeric, seen: Seen) -> Numeric:
        return _over(count, total + seen.types)

    def share(self, total: Numeric, seen: Seen) -> Numeric:
        return _over(seen.types, total + seen.types)


def _over(top: Numeric, bottom: Numeric) -> Numeric:
    """Divide; the quotient is 0 where the divisor is."""
    bottom = np.asarray(bottom, dtype=np.float64)
    return np.where(bottom > 0, top, 0.0) / np.where(bottom > 0, bottom, 1.0)


BACKGROUNDS = (JelinekMercer, Dirichlet, AbsoluteDiscount, WittenBell)
ADDED = (Additive, Epsilon, Evidence)
SMOOTHINGS = (*ADDED, *BACKGROUNDS)
"""All rules; the first few work with every family."""


def rule_of(alpha: object) -> Smoothing:
    """Return the rule that a user gave: one already, a number to add, or "auto"."""
    if isinstance(alpha, Smoothing):
        return alpha
    if isinstance(alpha, str) and alpha == "auto":
        return Evidence()
    return Additive(alpha)  # type: ignore[arg-type]  # which refuses what is no number
