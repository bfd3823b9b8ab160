"""Multinomial: every occurrence of a feature is one draw from its class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from naively.arrays import Array
from naively.families.counts import CountFamily
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Multinomial(CountFamily):
    """p(w | c) = (N_cw + α) / (N_c + αV); a unit of w adds log p(w | c)."""

    who: str = "MultinomialNB"

    def draw(self, rng: np.random.Generator, share: Array, size: int, length: float) -> Array:
        """Return rows whose lengths vary about `length` as a Poisson number does."""
        return rng.multinomial(rng.poisson(length, size), share / share.sum())
