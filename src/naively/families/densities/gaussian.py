"""Gaussian: the normal density."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.moments import Moments
from naively.errors import InputError
from naively.families.densities.base import NumberFamily
from naively.store.registry import stored

COVARIANCES = ("diagonal", "spherical", "tied", "full")
VANISHING = 1e-200
"""Stands for a variance of zero, so that a feature that never varies decides before all others, but never as NaN."""


@stored()
@dataclass(frozen=True)
class Gaussian(NumberFamily):
    """Numbers, normally distributed in each class.

    `var_smoothing` times the largest variance of any Gaussian column is added to each class's variances. For several
    columns together, `covariance` may be "tied" or "full".
    """

    var_smoothing: float = 1e-9
    covariance: str = "diagonal"

    parameter_names: ClassVar[tuple[str, ...]] = ("mean", "variance")

    def __post_init__(self) -> None:
        value = self.var_smoothing
        if not (isinstance(value, (int, float, np.number)) and np.isfinite(value) and value >= 0):
            raise InputError(f"var_smoothing must be 0 or more, got {value!r}")
        if self.covariance not in COVARIANCES:
            raise InputError(f"covariance must be one of {COVARIANCES}, got {self.covariance!r}")

    def smoothed(self, own: Moments, every: Moments, alpha: float) -> Moments:
        """Return the moments with ε added to variances; a class without values is as all classes together."""
        mean, variance, known = own.mean, own.variance, own.n > 0
        if not known.all():
            mean, variance = np.where(known, mean, every.mean), np.where(known, variance, every.variance)
        return Moments(own.n, mean, variance + self.epsilon(every))

    def epsilon(self, every: Moments) -> Array:
        """Return what is added to variances: a share of the largest one of any column over all rows."""
        return self.var_smoothing * every.variance.max(axis=-1, keepdims=True, initial=0.0)

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        return mean[0], np.maximum(variance[0], VANISHING)

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        mean, variance = parameters
        return -0.5 * (np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance)

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        return rng.normal(parameters[0], np.sqrt(parameters[1]), size)

    def as_normal(self, parameters: tuple[Array, ...]) -> tuple[Array, Array]:
        return parameters[0], parameters[1]

    def described(self, parameters: Sequence[float]) -> str:
        return f"mean {parameters[0]:.4g}, sd {np.sqrt(parameters[1]):.4g}"
