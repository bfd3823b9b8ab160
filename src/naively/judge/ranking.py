"""Ranking: how well probabilities put the rows of a class before all others, and sure rows before unsure ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.errors import InputError
from naively.report import Report, Sheet, axes_of, frame_of

_COLUMNS = 64
"""Columns that are copied at a time, so that each lies in one piece."""
_SHOWN = tuple(share / 10 for share in range(1, 11))


def class_ranking(proba: Array, truth: Array, weight: Array) -> tuple[Array, Array]:
    """Return the ROC AUC and the average precision of each class against all others.

    Both are NaN for a class without rows, and the ROC AUC for one without other rows: there is nothing to rank.

    >>> auc, precision = class_ranking(np.array([[0.9, 0.1], [0.6, 0.4], [0.7, 0.3]]), np.array([0, 0, 1]), np.ones(3))
    >>> auc.tolist(), precision.round(4).tolist()
    ([0.5, 0.5], [0.8333, 0.5])
    """
    order = np.argsort(truth, kind="stable")
    ends = np.searchsorted(truth[order], np.arange(proba.shape[1] + 1))
    figures = []
    for start in range(0, proba.shape[1], _COLUMNS):
        for k, score in enumerate(np.ascontiguousarray(proba[:, start : start + _COLUMNS].T), start):
            figures.append(_binary_ranking(score, order[ends[k] : ends[k + 1]], weight))
    auc, precision = np.array(figures).T
    return auc, precision


def _binary_ranking(score: Array, rows: Array, weight: Array) -> tuple[float, float]:
    """Return the ROC AUC and the average precision of some rows against all others, by the score of each row.

    Only the scores of these rows are sorted. The weight of other rows is summed over those at each of these scores, and
    between each two of them.
    """
    values, place = np.unique(score[rows], return_inverse=True)
    own = np.bincount(place, weights=weight[rows], minlength=len(values))
    total = own.sum()
    if not total > 0:
        return np.nan, np.nan
    other_weight = weight.astype(np.float64)
    other_weight[rows] = 0.0
    reached = np.searchsorted(values, score, "right")
    is_tie = (reached > 0) & (values[reached - 1] == score)
    others = np.bincount(2 * reached - is_tie, weights=other_weight, minlength=2 * len(values) + 1)
    between, ties = others[::2], others[1::2]
    true = own[::-1].cumsum()[::-1]
    false = (between[1:] + ties)[::-1].cumsum()[::-1]
    known = own > 0
    precision = float((own[known] / total) @ (true[known] / (true[known] + false[known])))
    rest = others.sum()
    if not rest > 0:
        return np.nan, precision
    above = between[:-1] @ true + ties @ (true - own / 2)
    return float(above / (total * rest)), precision


def mean_of_known(values: Array) -> float:
    """Return the mean of the values that are not NaN; NaN if there is none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")


@dataclass(frozen=True, eq=False, repr=False)
class Coverage(Report, Value):
    """Share of rows decided, and share of these that are right, if rows below a probability are left undecided.

    `threshold` are the probabilities of the decided labels, from the greatest to the least; `coverage` and `precision`
    belong to deciding all rows whose label has at least that probability.

    >>> found = Coverage.of(np.array([0.9, 0.6, 0.8, 0.6]), np.array([1.0, 1.0, 1.0, 0.0]), np.ones(4))
    >>> found.at_precision(0.9)
    (0.8, 0.5, 1.0)
    >>> print(found)
    coverage  precision  probability
      25.0 %     1.0000       0.9000
      50.0 %     1.0000       0.8000
     100.0 %     0.7500       0.6000
    """

    threshold: Array
    coverage: Array
    precision: Array

    @classmethod
    def of(cls, probability: Array, right: Array, weight: Array) -> Coverage:
        """Compute the curve from the probability of each row's label, whether it is right, and the row's weight."""
        values, place = np.unique(-probability.astype(np.float64), return_inverse=True)
        decided = np.cumsum(np.bincount(place, weights=weight, minlength=len(values)))
        correct = np.cumsum(np.bincount(place, weights=weight * right, minlength=len(values)))
        known = decided > 0
        return cls(-values[known], decided[known] / decided[-1], correct[known] / decided[known])

    def at_precision(self, precision: float) -> tuple[float, float, float] | None:
        """Return threshold, coverage and precision where most rows are decided at this precision; None if nowhere."""
        if not 0 <= precision <= 1:
            raise InputError(f"precision must be from 0 to 1, got {precision!r}")
        return self._point(np.flatnonzero(self.precision >= precision)[-1:])

    def at_coverage(self, coverage: float) -> tuple[float, float, float]:
        """Return threshold, coverage and precision where at least this share of the rows is decided."""
        if not 0 <= coverage <= 1:
            raise InputError(f"coverage must be from 0 to 1, got {coverage!r}")
        place = min(int(np.searchsorted(self.coverage, coverage - 1e-12)), len(self.coverage) - 1)
        return float(self.threshold[place]), float(self.coverage[place]), float(self.precision[place])

    def points(self, shares: Sequence[float] = _SHOWN) -> list[tuple[float, float, float]]:
        """Return threshold, coverage and precision at these shares of rows, without repetitions."""
        return list(dict.fromkeys(self.at_coverage(share) for share in shares))

    def to_frame(self) -> Any:
        """Return the curve as a pandas DataFrame."""
        return frame_of({"threshold": self.threshold, "coverage": self.coverage, "precision": self.precision})

    def plot(self, ax: Any = None) -> Any:
        """Draw precision against coverage, and return the axes."""
        ax = axes_of(ax)
        ax.plot(self.coverage, self.precision, drawstyle="steps-post")
        ax.set(xlabel="coverage", ylabel="precision")
        return ax

    def __repr__(self) -> str:
        return f"Coverage({len(self.threshold):_} thresholds, precision {self.precision[-1]:.4f} of all rows)"

    def _sheets(self) -> Sequence[Sheet]:
        cells = tuple((f"{100 * c:.1f} %", f"{p:.4f}", f"{t:.4f}") for t, c, p in self.points())
        return (Sheet(("coverage", "precision", "probability"), cells, align="r"),)

    def _point(self, places: Array) -> tuple[float, float, float] | None:
        for place in places.tolist():
            return float(self.threshold[place]), float(self.coverage[place]), float(self.precision[place])
        return None
