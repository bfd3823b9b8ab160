"""Explanation: the share of each feature in the score of each class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.layout import table_lines
from naively.score.calibration import PerClass, Temperature
from naively.score.scores import Scores
from naively.score.table import Shares, Table, with_infinities


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The score of one row as a sum: prior + shares of the row's features + the share of all absent features.

    >>> from naively import MultinomialNB
    >>> clf = MultinomialNB().fit([[3, 0], [0, 2]], ["a", "b"])
    >>> print(clf.explain([[1, 0]]))
                       a        b
    prior        -0.6931  -0.6931
    feature 0    -0.2231  -1.3863
    score        -0.9163  -2.0794
    probability   0.7619   0.2381

    `shares` has a row for each of `features`; prior, shares and `rest` ("all else": what the other features say by
    their absence) add up to `score`. An impossible factor shows as -inf. `values` has the values of the row, with
    their bins, where columns have names. `ignored` columns add the same to every class, so they have no share.
    """

    classes: Array
    features: list[Any]
    prior: Array
    shares: Array
    rest: Array
    score: Array
    probability: Array
    temperature: float = 1.0  # what the score was divided by to make the probability
    constants: Array | None = None  # what is added to each class after that, where calibration says so
    calibrated: Array | None = None  # log-probabilities, not normalised, where calibration does more than both
    values: Mapping[Any, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    def top(self, n: int = 10) -> list[tuple[Any, float]]:
        """The features that weigh most between the winner and the runner-up, with their log-odds.

        The largest first; positive ones speak for the winner, negative ones against it. The prior is not among them.
        """
        if len(self.classes) < 2:
            return []
        second, first = np.lexsort((self.score, self.probability))[-2:]
        with np.errstate(invalid="ignore"):
            odds = np.nan_to_num(self.shares[:, first] - self.shares[:, second], nan=0.0, posinf=np.inf, neginf=-np.inf)
        order = np.argsort(-np.abs(odds), kind="stable")[:n]
        return [(self.features[i], float(odds[i])) for i in order]

    def __str__(self) -> str:
        lines = [("prior", self.prior)]
        lines += [(self._label(f), share) for f, share in zip(self.features, self.shares, strict=True)]
        if np.abs(self.rest).max(initial=0.0) > 1e-9 * (1.0 + np.abs(self.shares).max(initial=0.0)):
            lines.append(("all else", self.rest))
        lines.append(("score", self.score))
        lines += self.after("score")
        lines.append(("probability", self.probability))
        head = ["", *map(str, self.classes.tolist())]
        cells = [[name, *(f"{value:.4f}" for value in values.tolist())] for name, values in lines]
        ignored = [f"ignored: {', '.join(map(str, self.ignored))}"] if self.ignored else []
        return "\n".join([*table_lines([head, *cells], "lr"), *ignored])

    __repr__ = __str__

    def after(self, sum_name: str) -> list[tuple[str, Array]]:
        """The lines between the sum and the probability, by name: how the sum is calibrated."""
        if self.calibrated is not None:
            return [("calibrated", self.calibrated)]
        lines = []
        if self.temperature != 1.0:
            lines.append((f"{sum_name} / {self.temperature:.4g}", self.score / self.temperature))
        if self.constants is not None:
            lines.append(("constant", self.constants))
        return lines

    def _label(self, feature: Any) -> str:
        if feature in self.values:
            return f"{feature} = {self.values[feature]}"
        return f"feature {feature}" if isinstance(feature, int) else str(feature)


def explain_row(
    table: Table, scores: Scores, found: Shares, values: Mapping[Any, str], ignored: Sequence[str]
) -> Explanation:
    """Return the arithmetic of the scores of one row; `ignored` columns add the same to every class."""
    names, shares, impossible = found
    order = slice(None) if table.classes.order is None else table.classes.order
    shares, likelihood = shares[:, order], scores.likelihood[0]
    rest = likelihood - shares.sum(axis=0)
    if impossible is not None and scores.impossible is not None:
        impossible = impossible[:, order]
        rest = with_infinities(rest, scores.impossible[0] - impossible.sum(axis=0))
        shares = with_infinities(shares, impossible)
    calibration = scores.calibration
    temperature, constants, calibrated = 1.0, None, None
    if isinstance(calibration, Temperature):
        temperature = calibration.value
    elif isinstance(calibration, PerClass):
        temperature, constants = calibration.temperature, calibration.offsets
    elif calibration is not None:
        calibrated = calibration.logs(scores.below)[0]
    return Explanation(
        scores.classes, names, table.prior[order], shares, rest, scores.joint[0],
        scores.proba()[0],
        temperature, constants, calibrated, values, tuple(ignored),
    )  # fmt: skip
