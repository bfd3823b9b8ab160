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
    shown: ClassVar[tuple[str, ...]] = ("a", "b")

    def statistics(self, x: Array) -> tuple[Array, ...]:
        return np.log(x), np.log1p(-x)

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        """Solve ψ(a) - ψ(a + b) = mean(log x) and ψ(b) - ψ(a + b) = mean(log (1 - x)) by Newton's method."""
        from scipy.special import digamma, polygamma

        low, high = np.exp(mean[0]), np.exp(mean[1])
        rest = 2.0 * np.maximum(1.0 - low - high, 1e-12)
        a, b = 0.5 + low / rest, 0.5 + high / rest
        for _ in range(16):
            both, slope = digamma(a + b), polygamma(1, a + b)
            off_a, off_b = digamma(a) - both - mean[0], digamma(b) - both - mean[1]
            slope_a, slope_b = polygamma(1, a), polygamma(1, b)
            bottom = slope_a * slope_b - slope * (slope_a + slope_b)
            step_a = (off_a * (slope_b - slope) + off_b * slope) / bottom
            step_b = (off_b * (slope_a - slope) + off_a * slope) / bottom
            a, b = np.maximum(a - step_a, a / 4.0), np.maximum(b - step_b, b / 4.0)
        return a, b

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        from scipy.special import betaln

        a, b = parameters
        return (a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - betaln(a, b)

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        return rng.beta(parameters[0], parameters[1], size)
