"""Learning curve: how much better a model becomes with more rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.errors import InputError
from naively.judge.cross_validation import Counted, whole_number
from naively.judge.training import (
    count_rows,
    n_training_rows,
    predict_by_tally,
    rows_of_share,
    shuffled,
    tally_of,
)
from naively.learn import held_out
from naively.learn.held_out import HeldOut
from naively.report import RowReport, Sheet, axes_of, number, tracked


@dataclass(frozen=True)
class LearningCurveRow:
    """The figures of models that were trained on `trained` rows: means over all held-out rows, and spreads.

    The spreads are standard deviations over folds and repeats.
    """

    trained: int
    accuracy: float
    log_loss: float
    accuracy_spread: float
    log_loss_spread: float

    @classmethod
    def of(cls, trained: int, parts: Sequence[HeldOut]) -> LearningCurveRow:
        weight = np.array([len(part.truth) for part in parts], dtype=np.float64)
        figures = np.array([[part.accuracy, part.log_loss] for part in parts])
        means, spread = weight @ figures / weight.sum(), figures.std(axis=0)
        return cls(trained, *means.tolist(), *spread.tolist())


COLUMNS = tuple(f.name for f in fields(LearningCurveRow))


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(RowReport, Value):
    """Figures of models that were trained on more and more rows, with a row for each size."""

    rows: tuple[LearningCurveRow, ...]
    tested: int

    def plot(self, ax: Any = None, *, by: str = "accuracy") -> Any:
        """Plot the curve, with its spread over folds, with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to draw on; None: new ones.
        by : {"accuracy", "log_loss"}, default="accuracy"
            The figure to draw.

        Returns
        -------
        ax : matplotlib axes
        """
        if by not in ("accuracy", "log_loss"):
            raise InputError(f"by must be 'accuracy' or 'log_loss', got {by!r}")
        ax = axes_of(ax)
        at = [row.trained for row in self.rows]
        values, spread = (np.array([getattr(row, n) for row in self.rows]) for n in (by, f"{by}_spread"))
        ax.plot(at, values, marker="o")
        ax.fill_between(at, values - spread, values + spread, alpha=0.2)
        ax.set_xlabel("rows trained on")
        ax.set_ylabel(by.replace("_", "-"))
        return ax

    def __repr__(self) -> str:
        last = self.rows[-1]
        sizes = f"{self.rows[0].trained:_} to {last.trained:_}" if len(self) > 1 else f"{last.trained:_}"
        return f"LearningCurve({sizes} rows, accuracy {last.accuracy:.4f}, log-loss {last.log_loss:.4f} by the most)"

    def _sheets(self) -> Sequence[Sheet]:
        cells = tuple((f"{row.trained:,}", *(number(getattr(row, n)) for n in COLUMNS[1:])) for row in self.rows)
        return (Sheet(COLUMNS, cells, f"{self.tested:,} rows, each judged without its fold", "r"),)


def learning_curve(
    model: Any, X: Any, y: Any, *, sizes: Iterable[float] = (0.1, 0.2, 0.5, 1.0), folds: int = 5, repeats: int = 1,
    random_state: int = 0, progress: bool = True,
) -> LearningCurve:  # fmt: skip
    """Measure how well held-out rows are predicted by models that were trained on more and more of the other rows.

    >>> from naively import TextClassifier, film_reviews, learning_curve
    >>> texts, labels = film_reviews()
    >>> model = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1), alpha=1.0)
    >>> curve = learning_curve(model, texts, labels)
    >>> [row.trained for row in curve]
    [38, 77, 192, 384]
    >>> curve.rows[0].accuracy < curve.rows[-1].accuracy
    True

    Each training set extends the one before it; only the added rows are counted, and tallies are added up. Training
    sets are stratified by class as far as possible; a class without any row is scored with the priors smoothed by 1.
    Columns and categories are those of all rows; bins and words are those of the training set.

    Parameters
    ----------
    model : estimator
        A model of naively; a new copy of it is fitted.
    X, y : rows and their labels
        As for `fit`.
    sizes : iterable of float or int, default=(0.1, 0.2, 0.5, 1.0)
        Sizes of training sets: numbers of rows, or (as floats) shares of the rows outside the largest fold. They are
        sorted, and equal sizes are reported once.
    folds : int, default=5
        Number of folds; at most the number of rows.
    repeats : int, default=1
        Number of repetitions, each with other folds.
    random_state : int, default=0
        Seed of the random numbers.
    progress : bool, default=True
        Show a progress bar on terminals.

    Returns
    -------
    learning_curve : LearningCurve
    """
    listed = list(sizes)
    if not listed:
        raise InputError("sizes: there is none; give one or more, such as 0.5 for half of the rows, or 100 for so many")
    repeats, n_folds = whole_number(repeats, "repeats", 1), whole_number(folds, "folds", 2)
    seed = whole_number(random_state, "random_state", 0)
    counted = count_rows(model, X, y)
    splits = [held_out.folds(len(counted), n_folds, seed + repeat, counted.codes) for repeat in range(repeats)]
    ends = sorted({_rows(size, n_training_rows(splits[0])) for size in listed})
    tasks = [(seed + r, fold, k) for r, fold in enumerate(splits) for k in range(fold.max() + 1)]
    parts = [_by_size(counted, *task, ends) for task in tracked(tasks, "learning curve", len(tasks), progress)]
    rows = tuple(LearningCurveRow.of(end, found) for end, found in zip(ends, zip(*parts, strict=True), strict=True))
    return LearningCurve(rows, len(counted))


def _rows(size: Any, most: int) -> int:
    """Convert a size to a number of rows."""
    if not isinstance(size, (int, np.integer)) or isinstance(size, bool):
        return rows_of_share(size, most, "sizes: a share")
    if not 1 <= size <= most:
        raise InputError(f"sizes: a number of rows must be from 1 to {most}, which the largest fold leaves, got {size}")
    return int(size)


def _by_size(counted: Counted, seed: int, fold: Array, k: int, ends: list[int]) -> list[HeldOut]:
    """Predict the rows of a fold by models of more and more of the other rows."""
    rows = np.flatnonzero(fold == k)
    others = shuffled(np.flatnonzero(fold != k), counted.codes, np.random.default_rng([seed, k]))
    rules, tally, found, begin = counted.rules(None), None, [], 0
    for end in ends:
        part = tally_of(counted, others[begin:end])
        tally, begin = part if tally is None else tally + part, end
        found += predict_by_tally(counted, tally, rules, rows)
    return found
