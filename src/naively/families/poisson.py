"""Poisson: a feature is a number of events, with a rate for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.families.counts import CountFamily
from naively.read.matrix import Rows, SparseRows, is_sparse
from naively.smooth.logs import Logs, exp
from naively.smooth.rules import Context
from naively.store.registry import stored


@stored()
@dataclass(frozen=True)
class LogFactorials:
    """-log x! over each row; the same for every class."""

    def of_rows(self, X: Rows) -> Array:
        from scipy.special import gammaln

        if is_sparse(X):
            values = np.nan_to_num(gammaln(X.data.astype(np.float64) + 1.0))
            return -np.asarray(SparseRows(values, X.indices, X.indptr, X.shape).matrix().sum(axis=1)).ravel()
        return -np.nansum(gammaln(X.astype(np.float64) + 1.0), axis=1)


@stored()
@dataclass(frozen=True)
class Poisson(CountFamily):
    """λ_cw = (S_cw + α) / (n_cw + α): the events over the rows in which they are known.

    score = sum over w of x log λ - λ - log x!.
    """

    who: str = "PoissonNB"

    kind: ClassVar[str] = "events"
    share_of: ClassVar[str] = "rows"
    outcomes: ClassVar[int | None] = 1
    row_constant: ClassVar[LogFactorials] = LogFactorials()

    def base(self, rule: Context, count: Any, total: Any) -> Logs:
        return -exp(rule.log(count, total)), None

    def draw(self, rng: np.random.Generator, share: Array, size: int, length: float) -> Array:
        return rng.poisson(share, (size, len(share)))
