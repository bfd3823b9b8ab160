"""Exponential: waiting times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from naively.arrays import Array
from naively.families.densities.base import NOT_NEGATIVE, NumberFamily, Support
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Exponential(NumberFamily):
    """Numbers from 0 on, the larger the rarer: waiting times, distances."""

    support: ClassVar[Support] = NOT_NEGATIVE
    parameter_names: ClassVar[tuple[str, ...]] = ("mean",)

    def parameters(self, mean: Sequence[Array], variance: Sequence[Array]) -> tuple[Array, ...]:
        return (np.maximum(mean[0], np.finfo(np.float64).tiny),)

    def log_density(self, x: Array, parameters: tuple[Array, ...]) -> Array:
        return -np.log(parameters[0]) - x / parameters[0]

    def draw(self, rng: np.random.Generator, parameters: tuple[Array, ...], size: tuple[int, ...]) -> Array:
        return rng.exponential(parameters[0], size)
