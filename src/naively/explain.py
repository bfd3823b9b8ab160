"""Explanation: the share of each feature in the score of each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.cells import Array
from naively.names import Categories
from naively.rows import Rows
from naively.scores import Scores


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The score of one row as a sum: prior + the row's features + what all other features say by their absence.

    >>> from naively import MultinomialNB
    >>> clf = MultinomialNB().fit([[3, 0], [0, 2]], ["a", "b"])
    >>> print(clf.explain([[1, 0]]))
                       a        b
    prior        -0.6931  -0.6931
    feature 0    -0.2231  -1.3863
    score        -0.9163  -2.0794
    probability   0.7619   0.2381

    `shares` has a row for each of `features`; prior, shares and `rest` add up to `score`.
    """

    classes: Array
    features: list[Any]
    prior: Array
    shares: Array
    rest: Array
    score: Array
    probability: Array

    def top(self, n: int = 10) -> list[tuple[Any, float]]:
        """The features that speak most for the winner against the runner-up, with their log-odds."""
        if len(self.classes) < 2:
            return []
        second, first = np.argsort(self.score)[-2:]
        odds = self.shares[:, first] - self.shares[:, second]
        order = np.argsort(-np.abs(odds), kind="stable")[:n]
        return [(self.features[i], float(odds[i])) for i in order]

    def __str__(self) -> str:
        lines = [("prior", self.prior)]
        lines += [(_label(f), share) for f, share in zip(self.features, self.shares, strict=True)]
        if np.abs(self.rest).max(initial=0.0) > 1e-12:
            lines.append(("all else", self.rest))
        lines += [("score", self.score), ("probability", self.probability)]
        wide = max(len(name) for name, _ in lines)
        columns = [max(8, len(str(c))) for c in self.classes.tolist()]
        head = " " * wide + "".join(f" {c!s:>{w}}" for c, w in zip(self.classes.tolist(), columns, strict=True))
        body = [
            f"{name:<{wide}}" + "".join(f" {v:>{w}.4f}" for v, w in zip(values.tolist(), columns, strict=True))
            for name, values in lines
        ]
        return "\n".join([head, *body])

    __repr__ = __str__


def _label(feature: Any) -> str:
    return f"feature {feature}" if isinstance(feature, int) else str(feature)


def explain_row(table: Any, row: Rows) -> Explanation:
    """The arithmetic behind the score of one row."""
    scores: Scores = table.score(row)
    numbers, shares = table.shares(row)
    order = table.classes.order
    prior = table.prior if order is None else table.prior[order]
    shares = shares if order is None else shares[:, order]
    names = table.categories.columns if isinstance(getattr(table, "categories", None), Categories) else table.features
    rest = scores.likelihood[0] - shares.sum(axis=0)
    return Explanation(
        scores.classes, [names.name(j) for j in numbers], prior, shares, rest, scores.likelihood[0] + prior,
        scores.proba()[0],
    )  # fmt: skip
