"""Gamma: positive numbers with a long tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from naively.arrays import Array
from naively.families.densities.base import POSITIVE, NumberFamily, Support
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Gamma(NumberFamily):
    """Numbers above 0 with a long tail: amounts, durations. Parameters are those of maximum likelihood."""

    support: ClassVar[Support] = POSITIVE
    names: ClassVar[tuple[str, ...]] = ("x", "log x")
    parameter_names: ClassVar[tuple[str, ...]] = ("mean", "shape")

    def statistics(self, x: Array) -> tuple[Array, ...]:
        return x, np.log(x)

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        """Solve log k - ψ(k) = log mean(x) - mean(log x) for the shape k (Minka 2002)."""
        from scipy.special import digamma, polygamma

        gap = np.maximum(np.log(mean[0]) - mean[1], 1e-15)
        shape = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
        for _ in range(5):
            slope = shape**2 * (1.0 / shape - polygamma(1, shape))
            better = 1.0 / (1.0 / shape + (np.log(shape) - digamma(shape) - gap) / slope)
            shape = np.where(shape < 1e6, better, shape)  # beyond, the first guess is exact to the last digits
        return mean[0], shape

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        """-log x - k (r - 1 - log r) + k log k - k - log Γ(k) for r = x / mean, so that large shapes lose no digits."""
        from scipy.special import gammaln

        mean, shape = parameters
        ratio, off = x / mean, (x - mean) / mean
        distance = np.where(np.abs(off) < 0.5, off - np.log1p(off), ratio - 1.0 - np.log(ratio))
        series = 0.5 * np.log(shape / (2 * np.pi)) - 1.0 / (12.0 * shape) + 1.0 / (360.0 * shape**3)
        constant = np.where(shape > 200.0, series, shape * np.log(shape) - shape - gammaln(shape))
        return constant - np.log(x) - shape * distance

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        return rng.gamma(parameters[1], parameters[0] / parameters[1], size)
