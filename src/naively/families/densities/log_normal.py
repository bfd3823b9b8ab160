"""LogNormal: positive numbers whose logarithms are normally distributed."""

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
class LogNormal(NumberFamily):
    """Numbers above 0 whose logarithms are normally distributed in each class: incomes, sizes, durations."""

    support: ClassVar[Support] = POSITIVE
    names: ClassVar[tuple[str, ...]] = ("log x",)
    parameter_names: ClassVar[tuple[str, ...]] = ("mean of log", "variance of log")

    def statistics(self, x: Array) -> tuple[Array, ...]:
        return (np.log(x),)

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        return mean[0], np.maximum(variance[0], np.finfo(np.float64).tiny)

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        mean, variance = parameters
        log = np.log(x)
        return -log - 0.5 * (np.log(2 * np.pi * variance) + (log - mean) ** 2 / variance)

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        return rng.lognormal(parameters[0], np.sqrt(parameters[1]), size)

    def described(self, parameters: Sequence[float]) -> str:
        return f"median {np.exp(parameters[0]):.4g}, sd of log {np.sqrt(parameters[1]):.4g}"
