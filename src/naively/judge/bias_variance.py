"""Bias and variance: split the error into a constant part, and a part that depends on the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.judge.cross_validation import Counted, path_of, whole_number
from naively.judge.training import (
    count_rows,
    n_training_rows,
    predict_by_tally,
    rows_of_share,
    shuffled,
    tally_of,
)
from naively.learn import held_out
from naively.report import RowReport, Sheet, axes_of, number, tracked


@dataclass(frozen=True)
class BiasVarianceRow:
    """The error at one α, decomposed in two ways; each figure is an average over rows.

    Kohavi and Wolpert: error = `bias2` + `variance`. Domingos: error = `bias` + `net_variance`, the latter being
    `unbiased_variance` (over rows whose most frequent prediction is right) less `biased_variance` (over the other rows:
    the share of predictions that are right).
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
    def of(cls, alpha: Any, predicted: Array, truth: Array) -> BiasVarianceRow:
        """Compute the figures from the predictions of each model (down) for each row (across), and the true labels.

        >>> BiasVarianceRow.of(1.0, np.array([[0, 1], [0, 0], [1, 0]]), np.array([0, 1])).bias
        0.5
        """
        right = (predicted == truth).mean(axis=0)
        agreement = np.array([(predicted == labels).mean(axis=0) for labels in predicted])  # share of models that agree
        main = _main(predicted, agreement)
        biased = main != truth
        deviation = (predicted != main).mean(axis=0)
        squares = agreement.mean(axis=0)  # Σ p² over the predicted labels
        unbiased = float(np.where(biased, 0.0, deviation).mean())
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


def _main(predicted: Array, agreement: Array) -> Array:
    """Return the label that is predicted most often for each row; of equals, the first."""
    most = np.round(agreement * len(predicted)) == np.round(agreement.max(axis=0) * len(predicted))
    return np.where(most, predicted, predicted.max(initial=0) + 1).min(axis=0)


COLUMNS = tuple(f.name for f in fields(BiasVarianceRow))


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance(RowReport, Value):
    """The decomposed error of a model, with a row for each α.

    `tested` rows were predicted, each by `repeats` models that were trained on (at least) `trained` rows.
    """

    rows: tuple[BiasVarianceRow, ...]
    tested: int
    trained: int
    repeats: int

    @property
    def best(self) -> BiasVarianceRow:
        """The row with the least error."""
        return min(self.rows, key=lambda row: row.error)

    def plot(self, ax: Any = None) -> Any:
        """Plot error, bias and variance (Kohavi and Wolpert) against α with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, default=None
            Axes to draw on; None: new ones.

        Returns
        -------
        ax : matplotlib axes
        """
        ax = axes_of(ax)
        alphas = [row.alpha for row in self.rows]
        numbers = all(isinstance(a, (int, float)) for a in alphas)
        for name, title in (("error", "error"), ("bias2", "bias²"), ("variance", "variance")):
            at = alphas if numbers else list(map(_alpha_text, alphas))
            ax.plot(at, [getattr(row, name) for row in self.rows], marker="o", label=title)
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
        at = f" at alpha={_alpha_text(best.alpha)}" if len(self) > 1 else ""
        return f"BiasVariance({self.tested:_} rows, {self.repeats} repeats, {figures}{at})"

    def _sheets(self) -> Sequence[Sheet]:
        title = f"{self.tested:,} rows, each judged by {self.repeats} models of {self.trained:,} others"
        cells = tuple(
            (_alpha_text(row.alpha), *(number(getattr(row, name)) for name in COLUMNS if name != "alpha"))
            for row in self.rows
        )
        best = frozenset(i for i, row in enumerate(self.rows) if row.error == self.best.error)
        return (Sheet(COLUMNS, cells, title, best=best if len(self) > 1 else frozenset()),)


def _alpha_text(alpha: Any) -> str:
    return f"{alpha:g}" if isinstance(alpha, (int, float)) else "" if alpha is None else str(alpha)


def bias_variance(
    model: Any, X: Any, y: Any, *, alpha: Any = None, repeats: int = 10, folds: int = 3, share: float | None = None,
    random_state: int = 0, progress: bool = True,
) -> BiasVariance:  # fmt: skip
    """Decompose the error of a model into bias and variance, by sub-sampled cross-validation (Webb 2000).

    >>> from naively import TextClassifier, bias_variance, film_reviews
    >>> texts, labels = film_reviews()
    >>> model = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1), alpha=1.0)
    >>> found = bias_variance(model, texts, labels, alpha=[0.01, 1.0, 100.0])
    >>> found
    BiasVariance(480 rows, 10 repeats, error 0.2..., bias² 0.1..., variance 0.0... at alpha=1)
    >>> [round(row.bias2 + row.variance - row.error, 12) for row in found]
    [0.0, 0.0, 0.0]

    Rows are split into folds repeatedly, and each row is predicted by models that were trained without its fold. Rows
    are counted once; folds are subtracted. With p the shares of the predictions for a row, Kohavi and Wolpert (1996)
    define bias² = ½ Σ ([label] - p)² and variance = ½ (1 - Σ p²) over classes; Domingos (2000) defines bias as the
    error of the most frequent prediction (of equals, the first class). Labels are assumed to be without noise.

    Parameters
    ----------
    model : estimator
        A model of naively; a new copy of it is fitted.
    X, y : rows and their labels
        As for `fit`.
    alpha : float or sequence of float, default=None
        Smoothings to compare; None: the model's own.
    repeats : int, default=10
        Number of times that rows are split into folds: the number of models that predict each row.
    folds : int, default=3
        Number of folds; at most the number of rows.
    share : float, default=None
        Share of the rows outside a fold to train on, drawn at random within each class; None: all.
    random_state : int, default=0
        Seed of the random numbers.
    progress : bool, default=True
        Show a progress bar on terminals.

    Returns
    -------
    bias_variance : BiasVariance
    """
    repeats, n_folds = whole_number(repeats, "repeats", 1), whole_number(folds, "folds", 2)
    seed, path = whole_number(random_state, "random_state", 0), path_of(alpha)
    if share is not None:
        rows_of_share(share, 1, "share")
    counted = count_rows(model, X, y)
    rules = counted.rules(path)
    predicted = np.empty((len(rules), repeats, len(counted)), np.int32)
    for repeat in tracked(range(repeats), "bias and variance", repeats, progress):
        fold = held_out.folds(len(counted), n_folds, seed + repeat, counted.codes)
        predicted[:, repeat], truth = _predict(counted, rules, fold, share, seed + repeat)
    alphas = [getattr(counted.model, "alpha", None)] if path is None else path
    rows = tuple(BiasVarianceRow.of(a, found, truth) for a, found in zip(alphas, predicted, strict=True))
    trained = n_training_rows(fold) if share is None else rows_of_share(share, n_training_rows(fold), "share")
    return BiasVariance(rows, len(counted), trained, repeats)


def _predict(counted: Counted, rules: list[Any], fold: Array, share: float | None, seed: int) -> tuple[Array, Array]:
    """Return the predictions of each rule for each row, from rows outside its fold; and the labels."""
    if share is None:
        found = counted.by_groups(rules, fold)
        return np.array([held.predicted for held in found]), found[0].truth
    predicted, truth = np.empty((len(rules), len(fold)), np.int32), np.empty(len(fold), np.int32)
    n_rows = rows_of_share(share, n_training_rows(fold), "share")
    for number_of_fold in range(fold.max() + 1):
        rng = np.random.default_rng([seed, number_of_fold])
        rows = np.flatnonzero(fold == number_of_fold)
        chosen = shuffled(np.flatnonzero(fold != number_of_fold), counted.codes, rng)[:n_rows]
        held = predict_by_tally(counted, tally_of(counted, chosen), rules, rows)
        predicted[:, rows], truth[rows] = [found.predicted for found in held], held[0].truth
    return predicted, truth
