"""NegativeBinomial: numbers of events that vary more than Poisson's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from naively.arrays import Array
from naively.families.densities.base import WHOLE, NumberFamily, Support
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class NegativeBinomial(NumberFamily):
    """Numbers of events whose variance is above their mean: variance = mean + dispersion · mean².

    Mean and dispersion follow from mean and variance. With a variance below the mean it is Poisson's (dispersion 0).
    """

    support: ClassVar[Support] = WHOLE
    parameter_names: ClassVar[tuple[str, ...]] = ("mean", "dispersion")

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        centre = np.maximum(mean[0], np.finfo(np.float64).tiny ** 0.5)
        return centre, np.maximum((variance[0] - centre) / centre**2, 0.0)

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        """log Γ(x + r) / (Γ(r) x!) + r log r / (r + m) + x log m / (r + m), r being 1 / dispersion."""
        from scipy.special import betaln, gammaln

        mean, dispersion = parameters
        few = dispersion * (x + mean) < 1e-4
        size = 1.0 / np.where(few, 1.0, dispersion)
        usual = -np.log(x + size) - betaln(x + 1.0, size) - size * np.log1p(mean / size) - x * np.log1p(size / mean)
        # Σ log (1 + i d) over i < x, less (r + x) log (1 + d m), as series in d
        d, m = dispersion, mean
        sums = x * (x - 1.0) / 2, (x - 1.0) * x * (2.0 * x - 1.0) / 6, (x * (x - 1.0) / 2) ** 2
        rising = d * sums[0] - d**2 * sums[1] / 2 + d**3 * sums[2] / 3
        falling = m - d * m**2 / 2 + d**2 * m**3 / 3 - d**3 * m**4 / 4 + x * np.log1p(d * m)
        return np.where(few, x * np.log(m) - gammaln(x + 1.0) + rising - falling, usual)

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        mean, dispersion = parameters
        some = np.where(dispersion > 0, dispersion, 1.0)
        rate = np.where(dispersion > 0, mean * some * rng.gamma(1.0 / some, 1.0, size), mean)
        return rng.poisson(rate, size).astype(np.float64)
