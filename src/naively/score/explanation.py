"""Explanation: the share of each feature in the score of each class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.report import Report, Sheet
from naively.score.calibration import PerClass, Temperature
from naively.score.scores import Scores
from naively.score.table import Shares, Table, with_infinities


def _no_counts(factor: Any) -> Sequence[str]:
    return ()


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Report):
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
    constants: Array | None = None  # added to the score of each class after the division
    calibrated: Array | None = None  # log-probabilities, not normalised, if the calibration is more than that
    values: Mapping[Any, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    counted: Callable[[Any], Sequence[str]] = _no_counts  # the counts behind a factor, in the order of the classes

    @property
    def places(self) -> list[int]:
        """The places of all classes, the most probable first."""
        return np.lexsort((self.score, self.probability))[::-1].tolist()

    def counts(self, factor: Any = None) -> dict[Any, str]:
        """Return the counts behind a factor (None: behind the prior) in each class, as text.

        >>> from naively import MultinomialNB
        >>> clf = MultinomialNB().fit([[3, 0], [0, 2]], ["a", "b"])
        >>> clf.explain([[1, 0]]).counts(0)
        {'a': '3 of 3', 'b': '0 of 2'}

        Columns of numbers have means and deviations instead. A text is empty where nothing was counted.
        """
        return dict(zip(self.classes.tolist(), self.counted(factor), strict=False))

    def top(self, n: int = 10) -> list[tuple[Any, float]]:
        """Return the features that differ most between the most probable class and the second, with their log-odds.

        The largest come first; positive ones speak for the most probable class, negative ones against it. The prior is
        not
        among them.

        The largest first; positive ones speak for the winner, negative ones against it. The prior is not among them.
        """
        if len(self.classes) < 2:
            return []
        odds = self._odds(self.shares)
        order = np.argsort(-np.abs(odds), kind="stable")[:n]
        return [(self.features[i], float(odds[i])) for i in order]

    def _odds(self, shares: Array) -> Array:
        """Return what shares (classes last) add to the log-odds of the winner over the runner-up."""
        first, second = self.places[:2]
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(shares[..., first] - shares[..., second], nan=0.0, posinf=np.inf, neginf=-np.inf)

    def _lines(self) -> list[tuple[str, Array]]:
        """Return the lines of the sum, by name: prior, features and what is added to them."""
        lines = [("prior", self.prior)]
        lines += [(self._label(f), share) for f, share in zip(self.features, self.shares, strict=True)]
        if self.has_rest:
            lines.append(("all else", self.rest))
        return lines

    @property
    def has_rest(self) -> bool:
        """True if features that the row does not hold add to the score."""
        return bool(np.abs(self.rest).max(initial=0.0) > 1e-9 * (1.0 + np.abs(self.shares).max(initial=0.0)))

    def _sheets(self) -> tuple[Sheet, ...]:
        added = self._lines()
        lines = [*added, ("score", self.score), *self.after("score"), ("probability", self.probability)]
        cells = [(name, *(f"{value:.4f}" for value in values.tolist())) for name, values in lines]
        shades = self._shades(np.array([values for _, values in added]))
        return (Sheet(("", *map(str, self.classes.tolist())), tuple(cells), shades=shades),)

    def _shades(self, shares: Array) -> tuple[float, ...]:
        """Return how much each share speaks for the winner, from -1 to 1."""
        if len(self.classes) < 2:
            return ()
        odds = self._odds(shares)
        most = np.abs(odds[np.isfinite(odds)]).max(initial=0.0) or 1.0
        return tuple(np.clip(odds / most, -1.0, 1.0).tolist())

    def __str__(self) -> str:
        ignored = f"\nignored: {', '.join(map(str, self.ignored))}" if self.ignored else ""
        return super().__str__() + ignored

    __repr__ = __str__

    def _repr_html_(self) -> str:
        ignored = f"<p>ignored: {escape(', '.join(map(str, self.ignored)))}</p>" if self.ignored else ""
        return super()._repr_html_() + ignored

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields; counts are kept as texts, not as the model that they come from."""
        texts = {factor: self.counted(factor) for factor in (None, *self.features)}
        return {**self.__dict__, "counted": texts.__getitem__}

    def after(self, sum_name: str) -> list[tuple[str, Array]]:
        """Return the lines between the sum and the probability, by name: how the sum is calibrated."""
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
    table: Table,
    scores: Scores,
    found: Shares,
    values: Mapping[Any, str],
    ignored: Sequence[str],
    counted: Callable[[Any], Sequence[str]],
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
        temperature, constants, calibrated, values, tuple(ignored), counted,
    )  # fmt: skip
