"""Suspects: rows whose label the rest of the data contradicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.judge.cross_validation import Counted
from naively.report import Report, Sheet, frame_of
from naively.score.calibration import Losses


@dataclass(frozen=True)
class Suspect:
    """A row, its label, the label that the other rows suggest, and how strongly they contradict its own."""

    row: int
    label: Any
    suggested: Any
    log_odds: float
    probability: float


@dataclass(frozen=True, eq=False)
class Suspects(Report):
    """Rows ranked by how suspect their labels are.

    `rows` are their numbers, the most suspect first; `log_odds` the log-odds of the best other label against the row's
    own (above 0: the other rows suggest another label); `probability` the calibrated probability of its own label.
    """

    rows: Array
    labels: Array
    suggested: Array
    log_odds: Array
    probability: Array

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: Any) -> Any:
        """Return one suspect, or a list of them for a slice."""
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        label, suggested = (getattr(v[i], "item", lambda v=v: v[i])() for v in (self.labels, self.suggested))
        return Suspect(int(self.rows[i]), label, suggested, float(self.log_odds[i]), float(self.probability[i]))

    def __iter__(self) -> Iterator[Suspect]:
        return (self[i] for i in range(len(self)))

    @property
    def contradicted(self) -> int:
        """Number of rows for which the others suggest another label."""
        return int((self.log_odds > 0).sum())

    def _sheets(self) -> tuple[Sheet, ...]:
        cells = tuple(
            (str(s.row), str(s.label), str(s.suggested), f"{s.log_odds:.2f}", f"{s.probability:.4f}")
            for s in (self[i] for i in range(min(len(self), 20)))
        )
        head = ("row", "label", "suggested", "log-odds", "probability")
        return (Sheet(head, cells, f"{self.contradicted} of {len(self)} labels are contradicted", "lllr"),)

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame, the most suspect first."""
        names = ("rows", "labels", "suggested", "log_odds", "probability")
        return frame_of({name.removesuffix("s") if name != "log_odds" else name: getattr(self, name) for name in names})

    def __repr__(self) -> str:
        return f"Suspects({len(self):_} rows, {self.contradicted:_} contradicted)"


def suspects(model: Any, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Suspects:
    """Rank rows by how strongly the rest of the data contradicts their label, the most suspect first.

    >>> from naively import TextClassifier, film_reviews, suspects
    >>> texts, labels = film_reviews()
    >>> labels[7] = "negative" if labels[7] == "positive" else "positive"  # a mistake
    >>> found = suspects(TextClassifier(), texts, labels)
    >>> 7 in found.rows[:40]
    True

    Each row is scored by the counts without it, so that a wrong label cannot support itself.

    Parameters
    ----------
    model : estimator
        A model of naively. If it is fitted, it must have been fitted on (at least) these rows.
    X, y : rows and their labels
        As for `fit`.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are left out together, so that copies do not support each other.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    suspects : Suspects
    """
    counted = Counted.of(model, X, y, sample_weight, as_it_is=True)
    rules = counted.rules(None)
    [found] = counted.leave_one_out(rules) if groups is None else counted.by_groups(rules, counted.groups(groups))
    below, rows = found.scores.below, np.arange(len(found.truth))
    others = below.copy()
    others[rows, found.truth] = -np.inf
    logs = Losses.of(below, found.truth, found.weight).temperature.logs(below)
    own = logs[rows, found.truth] - np.log(np.exp(logs).sum(axis=1))
    odds = -found.odds
    order = np.argsort(-odds, kind="stable")
    classes = found.scores.classes
    best = np.argmax(others, axis=1) if len(classes) > 1 else found.truth
    numbers = order if counted.known is None else counted.known[order]
    return Suspects(numbers, classes[found.truth][order], classes[best][order], odds[order], np.exp(own)[order])
