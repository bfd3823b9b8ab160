"""Geometric: numbers of failures before the first success."""

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
class Geometric(NumberFamily):
    """Whole numbers from 0 on, each rarer than the one before by the same factor: p(x) = p (1 - p)^x."""

    support: ClassVar[Support] = WHOLE
    parameter_names: ClassVar[tuple[str, ...]] = ("mean",)

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        return (np.maximum(mean[0], np.finfo(np.float64).tiny),)

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        return -np.log1p(parameters[0]) - x * np.log1p(1.0 / parameters[0])

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        return rng.geometric(1.0 / (1.0 + parameters[0]), size) - 1.0
