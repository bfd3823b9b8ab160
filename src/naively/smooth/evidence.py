"""Evidence: the α under which the counts are most probable, as draws from a Dirichlet-multinomial (Minka 2000).

The prior expectation of α is about 1: its logarithm is standard normal. A handful of counts moves α little from there;
for thousands of counts the prior makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from naively._core import digamma
from naively.arrays import Array

LOWEST, HIGHEST = 1e-4, 1e4
"""Bounds of the α that evidence chooses; beyond them a change makes no difference."""
_BITS = 12
_CLOSE, _LEVEL = 1e-9, 1e-12
"""Tolerances of a root: of its place, and of the function's value there."""


class Urns:
    """The counts that a rule may use to find its parameter."""

    def seen(self) -> Array:
        """Return the counts above 0, in any order."""
        return np.zeros(0)

    def best(self) -> float | tuple[float, ...]:
        """Return the α under which the counts are most probable, or one for each column."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Draws(Urns):
    """Draws from urns. For outcomes: counts above 0, and the number of outcomes with each; for urns: the total, the
    number of outcomes and the number of such urns. Counts and totals times `scale` are numbers of draws.
    """

    counts: Array
    multiplicity: Array | None  # None: one of each
    totals: Array
    outcomes: Array
    urns: Array
    scale: float = 1.0

    @classmethod
    def of(
        cls, counts: Array, totals: Array, outcomes: Array | float, multiplicity: Array | None = None,
        urns: Array | None = None,
    ) -> Draws:  # fmt: skip
        totals = np.asarray(totals, dtype=np.float64).ravel()
        each = np.broadcast_to(np.asarray(outcomes, dtype=np.float64), totals.shape)
        urns = np.ones(len(totals)) if urns is None else urns
        drawn = (totals > 0) & (each > 1) & (urns > 0)  # an urn with one outcome says nothing about α
        counts = np.asarray(counts).ravel()
        there = counts > 0 if multiplicity is None else (counts > 0) & (multiplicity > 0)
        if not there.all():
            counts, multiplicity = counts[there], None if multiplicity is None else multiplicity[there]
        return cls(counts, multiplicity, totals[drawn], each[drawn], urns[drawn])

    def seen(self) -> Array:
        return self.counts

    def best(self) -> float:
        if self.scale == 1.0:
            return best_alpha(self)
        drawn = replace(self, counts=self.counts * self.scale, totals=self.totals * self.scale)
        return max(best_alpha(drawn) / self.scale, LOWEST)


@dataclass(frozen=True, eq=False)
class Rates(Urns):
    """Pairs of a number of events and a number of rows, and the number of features with each pair."""

    counts: Array
    rows: Array
    multiplicity: Array

    def best(self) -> float:
        return best_shape(self.counts, self.rows, self.multiplicity)


@dataclass(frozen=True, eq=False)
class Columns(Urns):
    """The urns of columns that each have their own α."""

    urns: Sequence[Draws]

    def best(self) -> tuple[float, ...]:
        return tuple(draws.best() for draws in self.urns)


@dataclass(frozen=True, eq=False)
class Known(Urns):
    """Urns whose best α is known; without one it is 1, as if nothing had been counted."""

    alpha: float | tuple[float, ...] = 1.0

    def best(self) -> float | tuple[float, ...]:
        return self.alpha


def best_alpha(draws: Draws) -> float:
    """Solve α ← α Σ[ψ(N + α) − ψ(α)] / Σ K[ψ(T + Kα) − ψ(Kα)] for α, with the prior's term added.

    >>> round(best_alpha(Draws.of(np.array([8.0, 2.0, 1.0, 9.0]), np.array([10.0, 10.0]), 2)), 3)
    0.983
    """
    if not len(draws.counts) or not len(draws.totals):
        return 1.0
    counts, multiplicity = _distinct(draws.counts, draws.multiplicity)
    total, size, urns = draws.totals, draws.outcomes, draws.urns
    if len(total) > 1 << 10:
        pairs, at = np.unique(np.stack([_rounded(total), size]), axis=1, return_inverse=True)
        (total, size), urns = pairs, np.bincount(at.ravel(), weights=urns)

    def slope(log_alpha: float) -> float:
        alpha = np.exp(log_alpha)
        above = multiplicity @ (digamma(counts + alpha) - digamma(np.array([alpha])))
        below = urns @ (size * (digamma(total + size * alpha) - digamma(size * alpha)))
        return float(alpha * (above - below))

    return _highest(slope)


def best_shape(events: Array, rows: Array, multiplicity: Array) -> float:
    """Return the best α for numbers of events in rows, whose rates are drawn from a gamma of mean 1 and shape α."""
    drawn = (rows > 0) & (multiplicity > 0)
    events, rows, multiplicity = (np.asarray(v, dtype=np.float64)[drawn] for v in (events, rows, multiplicity))
    if not events.any():
        return 1.0

    def slope(log_alpha: float) -> float:
        alpha = np.exp(log_alpha)
        each = digamma(events + alpha) - digamma(np.array([alpha])) + log_alpha + 1 - np.log(rows + alpha)
        return float(alpha * (multiplicity @ (each - (events + alpha) / (rows + alpha))))

    return _highest(slope)


def _highest(slope: Callable[[float], float]) -> float:
    """Return the α within the bounds at which evidence times prior is highest; `slope` is its derivative by log α."""

    def more(log_alpha: float) -> float:
        return slope(log_alpha) - log_alpha

    low, high = float(np.log(LOWEST)), float(np.log(HIGHEST))
    above, below = more(low), more(high)
    if above <= 0:
        return LOWEST
    if below >= 0:
        return HIGHEST
    return float(np.exp(_crossing(more, low, high, above, below)))


def _crossing(f: Callable[[float], float], low: float, high: float, above: float, below: float) -> float:
    """Find the root of a function that is above zero at `low` and below it at `high`.

    The method is false position, in which the value of an end that stays is halved each time (the Illinois rule), with
    a bisection at every fourth step.
    """
    last = 0
    for step in range(200):
        if high - low <= _CLOSE:
            break
        at = (low * below - high * above) / (below - above) if step % 4 != 3 else 0.5 * (low + high)
        value = f(at)
        if value > 0:
            low, above = at, value
            below = below * 0.5 if last > 0 else below
            last = 1
        elif value < 0:
            high, below = at, value
            above = above * 0.5 if last < 0 else above
            last = -1
        else:
            return at
        if abs(value) <= _LEVEL:
            return at
    return 0.5 * (low + high)


def _distinct(counts: Array, multiplicity: Array | None) -> tuple[Array, Array]:
    """Return the distinct counts and the number of times each occurs; fractions are rounded to twelve bits."""
    if counts.max() >= 1 << 20 or (counts.dtype != np.int64 and not (counts == np.floor(counts)).all()):
        counts = _rounded(counts)
    elif counts.max() <= 4 * len(counts):
        often = np.bincount(counts.astype(np.int64), weights=multiplicity)
        seen = np.flatnonzero(often)
        return seen.astype(np.float64), often[seen].astype(np.float64)
    distinct, at = np.unique(counts, return_inverse=True)
    return distinct.astype(np.float64), np.bincount(at.ravel(), weights=multiplicity).astype(np.float64)


def _rounded(values: Array) -> Array:
    part, power = np.frexp(values)
    return np.ldexp(np.round(part * (1 << _BITS)), power - _BITS)
