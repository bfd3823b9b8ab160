"""Bernoulli: a feature is there or not, and its absence counts too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.families.base import remainder
from naively.families.counts import CountFamily
from naively.read.matrix import ValueRange
from naively.smooth.logs import Logs, minus
from naively.smooth.rules import Context
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class Bernoulli(CountFamily):
    """p(w | c) = (N_cw + α) / (n_cw + 2α), where n_cw is the number of rows of the class in which w is known.

    The sum over all absent features is computed once for a table; a row then adds only its present features:
    score = sum over all w of log(1 - p) + sum over the row's w of log p - log(1 - p).
    """

    who: str = "BernoulliNB"
    threshold: float | None = 0.0

    kind: ClassVar[str] = "presence"
    share_of: ClassVar[str] = "rows"
    outcomes: ClassVar[int | None] = 2

    @property
    def accepts(self) -> ValueRange:
        return ValueRange(threshold=self.threshold) if self.threshold is not None else ValueRange(low=0.0, high=1.0)

    @property
    def expected(self) -> str:
        return "a number" if self.threshold is not None else "0 to 1 with binarize=None; pass binarize=0.0 for counts"

    def unit(self, rule: Context, count: Any, total: Any) -> Logs:
        return minus(rule.log(count, total), self.base(rule, count, total))

    def base(self, rule: Context, count: Any, total: Any) -> Logs:
        return rule.log(remainder(total, count), total)

    def draw(self, rng: np.random.Generator, share: Array, size: int, length: float) -> Array:
        return (rng.random((size, len(share))) < share).astype(np.int64)
