"""NumberFamily: the base of families of numbers, whose densities follow from averages of functions of a number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.moments import Moments
from naively.families.columns.declared import Rule

LEAST_ALPHA = 1e-9
"""At least this many rows of all classes are added to each class, so that no density is infinitely narrow."""


@dataclass(frozen=True)
class Support:
    """The numbers that have a density: those above `low` (or equal, if `closed`) and below `high`, `whole` or not."""

    title: str
    low: float = -np.inf
    high: float = np.inf
    closed: bool = False
    whole: bool = False

    def holds(self, x: Array) -> Array:
        """Return a mask of the numbers that have a density."""
        inside = (x >= self.low if self.closed else x > self.low) & (x < self.high)
        return inside & (x == np.floor(x)) if self.whole else inside


REAL = Support("finite numbers")
POSITIVE = Support("numbers above 0", 0.0)
NOT_NEGATIVE = Support("numbers, 0 or more", 0.0, closed=True)
BETWEEN = Support("numbers between 0 and 1, without both", 0.0, 1.0)
WHOLE = Support("whole numbers, 0 or more", 0.0, closed=True, whole=True)


@dataclass(frozen=True)
class NumberFamily(Rule):
    """A density for each class, from means and variances of a few functions of the number.

    A subclass is a frozen dataclass, registered by `stored()`. It says what is averaged (`names`, `statistics`), how
    parameters follow (`parameters`) and what the density is (`log_density`), all for arrays of any shape. Counting,
    smoothing, missing values, weights, forgetting, leaving rows out, sampling and storage follow.
    """

    support: ClassVar[Support] = REAL
    names: ClassVar[tuple[str, ...]] = ("x",)  # of the statistics, without ": "
    parameter_names: ClassVar[tuple[str, ...]] = ()  # names of the parameters
    rising: ClassVar[bool] = True  # whether the first statistic rises with the number

    def statistics(self, x: Array) -> tuple[Array, ...]:
        """Return what is averaged of numbers in the support, or NaN."""
        return (x,)

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        """Return the parameters from mean and variance of each statistic."""
        raise NotImplementedError

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        """Return the logarithm of the density, or of the probability of a whole number."""
        raise NotImplementedError

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        """Return numbers drawn at random; `parameters` are broadcast to `size`."""
        raise NotImplementedError

    def smoothed(self, own: Moments, every: Moments, alpha: float) -> Moments:
        """Return the moments of each class with `alpha` rows that are distributed as those of all classes together.

        The last axis runs over columns, the one before over statistics.
        """
        n = own.n + alpha
        share = np.divide(alpha, n, out=np.ones_like(n), where=n > 0)
        step = every.mean - own.mean
        variance = (1.0 - share) * (own.variance + share * step * step) + share * every.variance
        return Moments(n, own.mean + share * step, variance)

    def as_normal(self, parameters: tuple[Array, ...]) -> tuple[Array, Array] | None:
        """Return mean and variance if the density is the normal one, which the compiled core scores."""
        return None

    def described(self, parameters: Sequence[float]) -> str:
        """Return the parameters of one class as text."""
        return ", ".join(f"{name} {value:.4g}" for name, value in zip(self.parameter_names, parameters, strict=True))

    @property
    def label(self) -> str:
        """The name of the family in reports: "log normal" for LogNormal."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).lower()

    @property
    def title(self) -> str:
        """The label with the parameters that were given: "circular (period=24)"."""
        given = [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{self.label} ({', '.join(given)})" if given else self.label


def fitted(
    family: NumberFamily, own: Moments, every: Moments, alpha: float, *, constant: bool = False
) -> tuple[Array, ...]:
    """Return the parameters of each class and column; `every` are the moments of all classes together.

    The last parameter is infinite where no class has a value, or (without `constant`) all have the same: nothing can
    be said then. The last axis of the moments runs over columns, the one before over statistics.
    """
    said = every.n > 0 if constant else every.variance > 0
    with np.errstate(all="ignore"):
        moments = family.smoothed(own, every, alpha)
        each = range(len(family.names))
        parameters = family.parameters(
            [moments.mean[..., s, :] for s in each], [moments.variance[..., s, :] for s in each]
        )
    if said.all():
        return parameters
    said = np.logical_or.reduce(said, axis=-2)
    ends = [0.0] * (len(parameters) - 1) + [np.inf]
    return tuple(np.where(said, values, end) for values, end in zip(parameters, ends, strict=True))
