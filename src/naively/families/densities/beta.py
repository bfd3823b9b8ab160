"""Beta: shares between 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from naively.arrays import Array
from naively.families.densities.base import BETWEEN, NumberFamily, Support
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Beta(NumberFamily):
    """Shares, above 0 and below 1. Parameters are those of maximum likelihood."""

    support: ClassVar[Support] = BETWEEN
    names: ClassVar[tuple[str, ...]] = ("log x", "log (1 - x)")
    parameter_names: ClassVar[tuple[str, ...]] = ("a", "b")

    def statistics(self, x: Array) -> tuple[Array, ...]:
        return np.log(x), np.log1p(-x)

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        """Solve ψ(a) - ψ(a + b) = mean(log x) and ψ(b) - ψ(a + b) = mean(log (1 - x)) by Newton's method."""
        low, high = np.exp(mean[0]), np.exp(mean[1])
        rest = 2.0 * np.maximum(1.0 - low - high, 1e-12)
        a, b = (0.5 + low / rest).ravel(), (0.5 + high / rest).ravel()
        logs = mean[0].ravel(), mean[1].ravel()
        left = np.arange(a.size)
        for _ in range(16):
            step_a, step_b = _steps(a[left], b[left], logs[0][left], logs[1][left])
            close = (np.abs(step_a) < 1e-8 * a[left]) & (
                np.abs(step_b) < 1e-8 * b[left]
            )  # the next error is its square
            a[left], b[left] = np.maximum(a[left] - step_a, a[left] / 4.0), np.maximum(b[left] - step_b, b[left] / 4.0)
            left = left[~close]
        return a.reshape(low.shape), b.reshape(low.shape)

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        from scipy.special import betaln

        a, b = parameters
        return (a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - betaln(a, b)

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        return rng.beta(parameters[0], parameters[1], size)


def _steps(a: Array, b: Array, log_low: Array, log_high: Array) -> tuple[Array, Array]:
    """Return the steps of Newton's method."""
    from scipy.special import digamma, polygamma

    both, slope = digamma(a + b), polygamma(1, a + b)
    off_a, off_b = digamma(a) - both - log_low, digamma(b) - both - log_high
    slope_a, slope_b = polygamma(1, a), polygamma(1, b)
    bottom = slope_a * slope_b - slope * (slope_a + slope_b)
    return (off_a * (slope_b - slope) + off_b * slope) / bottom, (off_b * (slope_a - slope) + off_a * slope) / bottom
