"""Bias and variance: how much of the error is always made, and how much depends on the rows that were trained on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.judge.cross_validation import Counted, path_of
from naively.judge.training import (
    counted_anew,
    judged_by,
    left_by,
    rows_of_share,
    shuffled,
    tally_of,
    whole_number,
)
from naively.learn import held_out
from naively.report import Report, Sheet, axes_of, frame_of, number, tracked


@dataclass(frozen=True)
class BiasVarianceRow:
    """The error at one α, taken apart in two ways; each is an average over rows.

    Kohavi and Wolpert: error = `bias2` + `variance`. Domingos: error = `bias` + `net_variance`, the latter being
    `unbiased_variance` (where the label that is decided most often is right) less `biased_variance` (where it is
    wrong, and another that is decided now and then is right).
    """

    alpha: Any
    error: float
    bias2: float
    variance: float
    bias: float
    net_variance: float
    unbiased_variance: float
    biased_variance: float

    @classmethod
    def of(cls, alpha: Any, decided: Array, truth: Array) -> BiasVarianceRow:
        """From the decisions of each model (down) for each row (across), and the labels of the rows.

        >>> BiasVarianceRow.of(1.0, np.array([[0, 1], [0, 0], [1, 0]]), np.array([0, 1])).bias
        0.5
        """
        right = (decided == truth).mean(axis=0)
        alike = np.array([(decided == one).mean(axis=0) for one in decided])  # how many decide as each does
        main = _main(decided, alike)
        biased = main != truth
        apart = (decided != main).mean(axis=0)
        squares = alike.mean(axis=0)  # Σ p² over the labels that are decided
        unbiased = float(np.where(biased, 0.0, apart).mean())
        gain = float(np.where(biased, right, 0.0).mean())
        return cls(
            alpha,
            error=float(1.0 - right.mean()),
            bias2=float(0.5 * (squares - 2.0 * right + 1.0).mean()),
            variance=float(0.5 * (1.0 - squares).mean()),
            bias=float(biased.mean()),
            net_variance=unbiased - gain,
            unbiased_variance=unbiased,
            biased_variance=gain,
        )


def _main(decided: Array, alike: Array) -> Array:
    """The label that is decided most often for each row; of equals, the first."""
    most = np.round(alike * len(decided)) == np.round(alike.max(axis=0) * len(decided))
    return np.where(most, decided, decided.max(initial=0) + 1).min(axis=0)


COLUMNS = tuple(f.name for f in fields(BiasVarianceRow))


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance(Report, Value):
    """The error of a model, taken apart, with a row for each α.

    `tested` is how many rows were judged, each by `repeats` models that were trained on `trained` rows (at least).
    """

    rows: tuple[BiasVarianceRow, ...]
    tested: int
    trained: int
    repeats: int

    @property
    def best(self) -> BiasVarianceRow:
        """The row with the least error."""
        return min(self.rows, key=lambda row: row.error)

    def __iter__(self) -> Iterator[BiasVarianceRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_frame(self) -> Any:
        """As a frame of pandas."""
        return frame_of({name: [getattr(row, name) for row in self.rows] for name in COLUMNS})

    def plot(self, ax: Any = None) -> Any:
        """Error, bias and variance (Kohavi and Wolpert) along α, drawn by matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Where to draw; None: on new ones.

        Returns
        -------
        ax : matplotlib axes
        """
        ax = axes_of(ax)
        alphas = [row.alpha for row in self.rows]
        numbers = all(isinstance(a, (int, float)) for a in alphas)
        for name, shown in (("error", "error"), ("bias2", "bias²"), ("variance", "variance")):
            at = alphas if numbers else list(map(_told, alphas))
            ax.plot(at, [getattr(row, name) for row in self.rows], marker="o", label=shown)
        if numbers:
            above = [a for a in alphas if a > 0]
            ax.set_xscale("symlog", linthresh=min(above, default=1.0))
        ax.set_xlabel("α")
        ax.set_ylabel("share of rows")
        ax.legend()
        return ax

    def __repr__(self) -> str:
        best = self.best
        figures = f"error {best.error:.4f}, bias² {best.bias2:.4f}, variance {best.variance:.4f}"
        at = f" at alpha={_told(best.alpha)}" if len(self) > 1 else ""
        return f"BiasVariance({self.tested:_} rows, {self.repeats} repeats, {figures}{at})"

    def _sheets(self) -> Sequence[Sheet]:
        title = f"{self.tested:,} rows, each judged by {self.repeats} models of {self.trained:,} others"
        cells = tuple(
            (_told(row.alpha), *(number(getattr(row, name)) for name in COLUMNS if name != "alpha"))
            for row in self.rows
        )
        best = frozenset(i for i, row in enumerate(self.rows) if row.error == self.best.error)
        return (Sheet(COLUMNS, cells, title, best=best if len(self) > 1 else frozenset()),)


def _told(alpha: Any) -> str:
    return f"{alpha:g}" if isinstance(alpha, (int, float)) else "" if alpha is None else str(alpha)


def bias_variance(
    model: Any, X: Any, y: Any, *, alpha: Any = None, repeats: int = 10, folds: int = 3, share: float | None = None,
    random_state: int = 0, progress: bool = True,
) -> BiasVariance:  # fmt: skip
    """How much of the error is bias, and how much variance, by sub-sampled cross-validation (Webb 2000).

    >>> from naively import TextClassifier, bias_variance, film_reviews
    >>> texts, labels = film_reviews()
    >>> model = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1), alpha=1.0)
    >>> found = bias_variance(model, texts, labels, alpha=[0.01, 1.0, 100.0])
    >>> found
    BiasVariance(480 rows, 10 repeats, error 0.2..., bias² 0.1..., variance 0.0... at alpha=1)
    >>> [round(row.bias2 + row.variance - row.error, 12) for row in found]
    [0.0, 0.0, 0.0]

    Rows are cut into folds again and again, and each row is judged by models that were trained without its fold. Rows
    are counted once; folds are subtracted. With p the shares of the decisions for a row, Kohavi and Wolpert (1996)
    have bias² = ½ Σ ([label] - p)² and variance = ½ (1 - Σ p²) over classes, Domingos (2000) has the bias of the
    decision that is made most often (of equals, the first class). Labels are taken to be without noise.

    Parameters
    ----------
    model : estimator
        One of naively's; it is fitted anew.
    X, y : rows and their labels
        As for `fit`.
    alpha : float or sequence of float, default=None
        Smoothings to compare; None: the model's own.
    repeats : int, default=10
        How often rows are cut into folds, and so by how many models each row is judged.
    folds : int, default=3
        How many folds; as many as there are rows at most.
    share : float, default=None
        What part of the rows outside a fold is trained on, at random, each class with its share; None: all.
    random_state : int, default=0
        Where chance comes from.
    progress : bool, default=True
        Whether a terminal shows how far it has come.

    Returns
    -------
    bias_variance : BiasVariance
    """
    repeats, many = whole_number(repeats, "repeats", 1), whole_number(folds, "folds", 2)
    seed, path = whole_number(random_state, "random_state", 0), path_of(alpha)
    if share is not None:
        rows_of_share(share, 1, "share")
    counted = counted_anew(model, X, y)
    rules = counted.rules(path)
    decided = np.empty((len(rules), repeats, len(counted)), np.int32)
    for repeat in tracked(range(repeats), "bias and variance", repeats, progress):
        fold = held_out.folds(len(counted), many, seed + repeat, counted.codes)
        decided[:, repeat], truth = _decided(counted, rules, fold, share, seed + repeat)
    shown = [getattr(counted.model, "alpha", None)] if path is None else path
    rows = tuple(BiasVarianceRow.of(a, found, truth) for a, found in zip(shown, decided, strict=True))
    trained = left_by(fold) if share is None else rows_of_share(share, left_by(fold), "share")
    return BiasVariance(rows, len(counted), trained, repeats)


def _decided(counted: Counted, rules: list[Any], fold: Array, share: float | None, seed: int) -> tuple[Array, Array]:
    """What is decided for each row by each rule, from rows outside its fold; and the labels."""
    if share is None:
        found = counted.by_groups(rules, fold)
        return np.array([held.predicted for held in found]), found[0].truth
    decided, truth = np.empty((len(rules), len(fold)), np.int32), np.empty(len(fold), np.int32)
    many = rows_of_share(share, left_by(fold), "share")
    for number_of_fold in range(fold.max() + 1):
        rng = np.random.default_rng([seed, number_of_fold])
        rows = np.flatnonzero(fold == number_of_fold)
        chosen = shuffled(np.flatnonzero(fold != number_of_fold), counted.codes, rng)[:many]
        judged = judged_by(counted, tally_of(counted, chosen), rules, rows)
        decided[:, rows], truth[rows] = [held.predicted for held in judged], judged[0].truth
    return decided, truth
