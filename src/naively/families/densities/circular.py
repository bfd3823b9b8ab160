"""Circular: angles, times of day and what else begins anew after a period."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.families.densities.base import NumberFamily
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Circular(NumberFamily):
    """Numbers on a circle, after von Mises: hours of a day (`period=24`), angles (`period=360`), days of a week.

    x and x + period are the same. Parameters are those of maximum likelihood.
    """

    period: float

    names: ClassVar[tuple[str, ...]] = ("cos", "sin")
    parameter_names: ClassVar[tuple[str, ...]] = ("centre", "concentration")
    rising: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not (isinstance(self.period, Real) and np.isfinite(self.period) and self.period > 0):
            raise InputError(f"period must be above 0, got {self.period!r}")

    def statistics(self, x: Array) -> tuple[Array, ...]:
        angle = x * (2 * np.pi / self.period)
        return np.cos(angle), np.sin(angle)

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        """Solve A(κ) = I₁(κ) / I₀(κ) = R for the concentration κ by Newton's method, R being the length of the mean."""
        from scipy.special import i0e, i1e

        length = np.hypot(*mean)
        rest = np.maximum(variance[0] + variance[1], 1e-15)  # 1 - R², with all its digits
        kappa = length * (1.0 + rest) / rest  # after Banerjee et al. (2005)
        for _ in range(8):
            ratio = i1e(kappa) / i0e(kappa)
            by_kappa = np.where(kappa > 1e-8, ratio / np.maximum(kappa, 1e-8), 0.5)
            usual = np.maximum(kappa - (ratio - length) / (1.0 - ratio**2 - by_kappa), kappa / 4.0)
            series = (0.5 + 0.125 / kappa + 0.125 / kappa**2) * (1.0 + length) / rest  # for 1 - A(κ)
            kappa = np.where(kappa < 1e4, usual, series)
        return np.arctan2(mean[1], mean[0]) * (self.period / (2 * np.pi)) % self.period, kappa

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        from scipy.special import i0e

        centre, kappa = parameters
        half = np.sin((x - centre) * (np.pi / self.period))
        return -2.0 * kappa * half**2 - np.log(i0e(kappa)) - np.log(self.period)

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        turn = self.period / (2 * np.pi)
        return rng.vonmises(parameters[0] / turn, parameters[1], size) * turn % self.period
