"""Estimates: a share of rows with its margin, in no more digits than the margin allows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Estimate:
    """An accuracy on a number of different rows, give or take two standard errors.

    >>> import numpy as np
    >>> print(Estimate.of(np.repeat([1.0, 0.0], [400, 80])))
    0.83 ± 0.04
    """

    accuracy: float
    margin: float
    rows: int

    @classmethod
    def of(cls, right: Any, share: Any = None) -> Estimate:
        """Estimate from 1 for each right row and 0 for the others; the `share`s of the copies of a row add up to 1."""
        share = np.ones(len(right)) if share is None else share
        rows = float(share.sum())
        mean = float(share @ right) / rows
        spread = float(share @ (right - mean) ** 2) / rows
        mean = min(max(mean, 0.0), 1.0)
        return cls(mean, max(2.0 * (spread / rows) ** 0.5, margin_of(mean, rows)), round(rows))

    def __str__(self) -> str:
        return with_margin(self.accuracy, self.margin)


def margin_of(share: float, rows: float) -> float:
    """Return two standard errors of a share; two right and two wrong rows are added (Agresti and Coull): never 0."""
    share = (share * rows + 2.0) / (rows + 4.0)
    return 2.0 * (share * (1.0 - share) / (rows + 4.0)) ** 0.5


def digits_of(margin: float) -> int:
    """Return the number of decimals that a margin, rounded up to one digit, allows."""
    digits = max(-floor(log10(margin)), 0)
    return max(digits - 1, 0) if ceil(margin * 10**digits - 1e-9) == 10 else digits  # 0.096 rounds to 0.1


def with_margin(value: float, margin: float) -> str:
    """Print a value and its margin, which has one digit and is rounded up.

    >>> with_margin(0.83541, 0.03), with_margin(0.9876, 0.0041), with_margin(0.5, 0.096)
    ('0.84 ± 0.03', '0.988 ± 0.005', '0.5 ± 0.1')
    """
    digits = digits_of(margin)
    rounded = ceil(margin * 10**digits - 1e-9) / 10**digits
    return f"{value:.{digits}f} ± {rounded:.{digits}f}"
