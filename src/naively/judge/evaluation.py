"""Evaluation: how well a model predicts the labels of rows that it was not trained on."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics
from sklearn.utils.validation import check_is_fitted

from naively.arrays import Array, Value
from naively.errors import DataWarning, InputError
from naively.estimators import NaiveBayes
from naively.judge.ranking import Coverage, class_ranking, mean_of_known
from naively.learn.held_out import HeldOut
from naively.learn.learner import Learner
from naively.names import Index
from naively.read.label_codes import check_weights, number_codes
from naively.read.labelled_table import labelled
from naively.read.labels import encoded_labels
from naively.report import Report, Sheet, frame_of, number

BINS = 15
FIGURES = (
    *("accuracy", "f1_micro", "f1_macro", "f1_weighted", "log_loss", "brier", "calibration_error"),
    *("roc_auc_macro", "average_precision_macro"),
)
"""The figures over all rows."""
PER_CLASS = ("precision", "recall", "f1", "support", "roc_auc", "average_precision")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Report, Value):
    """Figures of how well labels were predicted, over all rows and for each class.

    `precision`, `recall`, `f1`, `support` (sum of weights), `roc_auc` and `average_precision` are in the order of
    `classes`; `confusion` has a row for each true class and a column for each predicted class. `coverage` is the curve
    of precision against coverage: what is right if unsure rows are left undecided. `unknown` is the number of rows with
    a label that the model never saw, `clipped` the number of rows whose label has a probability so small that
    `log_loss` raised it.
    """

    rows: int
    classes: Array
    accuracy: float
    f1_micro: float
    f1_macro: float
    f1_weighted: float
    log_loss: float
    brier: float
    calibration_error: float
    precision: Array
    recall: Array
    f1: Array
    support: Array
    confusion: Array
    roc_auc_macro: float
    average_precision_macro: float
    roc_auc: Array
    average_precision: Array
    coverage: Coverage
    unknown: int = 0
    clipped: int = 0

    def to_dict(self) -> dict[str, float]:
        """Return the figures over all rows, by name."""
        return {"rows": self.rows, **{name: getattr(self, name) for name in FIGURES}}

    def to_frame(self) -> Any:
        """Return the figures of each class as a pandas DataFrame."""
        return frame_of({name: getattr(self, name) for name in PER_CLASS}, self.classes, "class")

    def confusion_frame(self) -> Any:
        """Return the confusion matrix as a pandas DataFrame: true classes down, predicted classes across."""
        frame = frame_of(dict(enumerate(self.confusion.T)), self.classes, "class")  # type: ignore[arg-type]
        frame.columns = frame.index.rename("decided")
        return frame

    def __repr__(self) -> str:
        figures = f"accuracy {self.accuracy:.4f}, f1_macro {self.f1_macro:.4f}, log-loss {self.log_loss:.4f}"
        return f"Evaluation({self.rows:_} rows, {len(self.classes):_} classes, {figures})"

    def _sheets(self) -> Sequence[Sheet]:
        overall = Sheet(("rows", *FIGURES), ((f"{self.rows:,}", *(number(getattr(self, name)) for name in FIGURES)),))
        columns = zip(self.classes.tolist(), *(getattr(self, name).tolist() for name in PER_CLASS), strict=True)
        cells = tuple(
            (str(label), *map(number, figures[:3]), f"{figures[3]:,.10g}", *map(number, figures[4:]))
            for label, *figures in columns
        )
        return overall, Sheet(("class", *PER_CLASS), cells)


def evaluate(model: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None) -> Evaluation:
    """Measure how well a fitted model predicts the labels of these rows; or how well held-out rows were predicted.

    >>> from naively import MultinomialNB, evaluate, leave_one_out
    >>> X, y = [[2, 1, 0], [1, 2, 0], [0, 1, 3], [0, 2, 2]], ["sport", "sport", "politics", "politics"]
    >>> print(evaluate(MultinomialNB().fit(X, y), [[3, 0, 0], [0, 0, 2], [1, 0, 1]], ["sport", "politics", "politics"]))
    rows  accuracy  f1_micro  f1_macro  f1_weighted  log_loss   brier  calibration_error  roc_auc_macro  ...
    3       1.0000    1.0000    1.0000       1.0000    0.2468  0.1671             0.1824         1.0000  ...
    <BLANKLINE>
    class     precision  recall      f1  support  roc_auc  average_precision
    politics     1.0000  1.0000  1.0000        2   1.0000             1.0000
    sport        1.0000  1.0000  1.0000        1   1.0000             1.0000
    >>> evaluate(leave_one_out(MultinomialNB(), X, y))
    Evaluation(4 rows, 2 classes, accuracy 1.0000, f1_macro 1.0000, log-loss 0.1665)

    Accuracy, precision, recall, F1 and log-loss are scikit-learn's; F1 is averaged over the classes that occur among
    the labels or the predictions, and is 0 for a class that is never predicted. `log_loss` raises probabilities to at
    least the machine epsilon of their type (2e-16 for float64); `clipped` counts such rows. `brier` is the mean over
    rows of Σ (p - [label])² over classes, from 0 to 2. `calibration_error` is the mean difference, over 15 bins of
    equal width, between the probability of the most probable label and the share of rows for which it is right.

    ROC AUC and average precision of a class rank its rows against all others by the probability of the class; both are
    scikit-learn's, and their means are over the classes that have them (a class without rows has none).

    A label that the model never saw becomes a class that is never predicted and has probability 0.

    Parameters
    ----------
    model : fitted classifier, or HeldOut
        A model of naively, or any with `classes_` and `predict_proba`; or a result of `leave_one_out` or
        `cross_validate`, which brings its own labels and weights.
    X : rows, default=None
        As for `predict`.
    y : array-like of shape (n_samples,), default=None
        Labels; for `NaiveBayes` also the name of the column that holds them. Rows without a label are left out.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row.

    Returns
    -------
    evaluation : Evaluation
    """
    if isinstance(model, HeldOut):
        if X is not None or y is not None or sample_weight is not None:
            raise InputError("held-out rows bring their own labels and weights: evaluate(held_out) is all it takes")
        scores = model.scores
        return Predictions(scores.classes, scores.proba(), model.predicted, model.truth, model.weight).evaluation()
    if y is None:
        raise InputError("evaluate requires y to be passed, but the target y is None: pass the labels of the rows")
    found = predictions(model, X, y, sample_weight)
    if found.unknown:
        labels = ", ".join(map(repr, found.unknown_labels))
        warnings.warn(
            f"{found.unknown} of {len(found.truth)} rows have a label that the model never saw ({labels}): they count "
            f"as wrong, and in log_loss with a probability of {found.smallest:.1g}",
            DataWarning,
            stacklevel=2,
        )
    return found.evaluation()


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions for some rows; `classes` are all classes, `unknown_labels` those that the model never saw."""

    classes: Array
    proba: Array
    decided: Array
    truth: Array
    weight: Array | None = None
    unknown: int = 0
    unknown_labels: tuple[Any, ...] = ()

    @property
    def smallest(self) -> float:
        """The smallest probability in the log-loss."""
        return float(np.finfo(self.proba.dtype).eps)

    def evaluation(self) -> Evaluation:
        weight = np.ones(len(self.truth)) if self.weight is None else self.weight
        if not len(weight):
            raise InputError("there is no row to judge")
        if not weight.sum() > 0:
            raise InputError("sample_weight: all rows have weight 0; give some of them a weight above 0")
        pair: dict[str, Any] = {"y_true": self.truth, "y_pred": self.decided, "sample_weight": self.weight}
        places = np.arange(len(self.classes))
        own = self.proba[np.arange(len(self.truth)), self.truth]
        precision, recall, f1, support = metrics.precision_recall_fscore_support(
            **pair, labels=places, zero_division=0.0
        )
        micro, macro, weighted = (
            float(metrics.f1_score(**pair, average=average, zero_division=0.0))
            for average in ("micro", "macro", "weighted")
        )
        auc, average_precision = class_ranking(self.proba, self.truth, weight)
        sureness = self.proba[np.arange(len(self.truth)), self.decided]
        return Evaluation(
            rows=len(self.truth),
            classes=self.classes,
            accuracy=float(metrics.accuracy_score(**pair)),
            f1_micro=micro,
            f1_macro=macro,
            f1_weighted=weighted,
            log_loss=self._log_loss(places),
            brier=_brier(self.proba, self.truth, weight),
            calibration_error=calibration_error(self.proba, self.truth, weight),
            precision=precision,
            recall=recall,
            f1=f1,
            support=support,
            confusion=metrics.confusion_matrix(**pair, labels=places) if len(places) > 1 else support[None],
            roc_auc_macro=mean_of_known(auc),
            average_precision_macro=mean_of_known(average_precision),
            roc_auc=auc,
            average_precision=average_precision,
            coverage=Coverage.of(sureness, self.decided == self.truth, weight),
            unknown=self.unknown,
            clipped=int((own < self.smallest).sum()),
        )

    def _log_loss(self, places: Array) -> float:
        if len(places) < 2:
            return 0.0  # a single class has probability 1
        return float(metrics.log_loss(self.truth, self.proba, labels=places, sample_weight=self.weight))


def predictions(model: Any, X: Any, y: Any, sample_weight: Any) -> Predictions:
    """Predict some rows by a fitted model."""
    if isinstance(model, NaiveBayes):
        check_is_fitted(model)
        classes = Index.of(model.classes_)
        frame, truth, index, weight = labelled(X, y, classes, sample_weight, "evaluate", model.unlabelled)
        return _widen(classes, index, *_proba_and_codes(model, frame, classes), truth, weight)
    if isinstance(y, str):
        raise InputError(f"y={y!r}: only NaiveBayes reads labels from a column of the table; pass the labels")
    if not hasattr(model, "predict_proba"):
        raise InputError(f"expected a classifier with predict_proba, or HeldOut, got {type(model).__name__}")
    if hasattr(model, "fit"):
        check_is_fitted(model)
    classes = Index.of(np.asarray(model.classes_))
    proba, decided = _proba_and_codes(model, X, classes)
    codes, distinct = encoded_labels(y, len(proba))
    weight = check_weights(sample_weight, len(proba))
    labelled_rows = codes >= 0
    if not labelled_rows.all():
        if not labelled_rows.any():
            raise InputError("Input y contains NaN only: no row has a label, so there is nothing to judge")
        without = int((~labelled_rows).sum())
        warnings.warn(f"{without} of {len(codes)} rows have no label and are left out", DataWarning, stacklevel=3)
        proba, decided, codes = proba[labelled_rows], decided[labelled_rows], codes[labelled_rows]
        weight = None if weight is None else weight[labelled_rows]
    truth, index = number_codes(codes, distinct, classes)
    return _widen(classes, index, proba, decided, truth, weight)


def _proba_and_codes(model: Any, X: Any, classes: Index) -> tuple[Array, Array]:
    """Return the probabilities, and the codes of the predicted labels."""
    if isinstance(model, Learner):
        scores = model.scores(X)
        return scores.proba(), classes.locate(scores.decide())
    proba = np.asarray(model.predict_proba(X))
    if proba.ndim != 2 or proba.shape[1] != len(classes) or proba.dtype.kind != "f":
        raise InputError(
            f"predict_proba of {type(model).__name__} must give a probability for each of {len(classes)} classes, "
            f"got {proba.dtype} of shape {proba.shape}"
        )
    decided = classes.locate(np.asarray(model.predict(X))) if hasattr(model, "predict") else proba.argmax(axis=1)
    if decided.min(initial=0) < 0:
        raise InputError(f"{type(model).__name__} decides for labels that are not among its classes_")
    return proba, decided


def _widen(known: Index, union: Index, proba: Array, decided: Array, truth: Array, weight: Array | None) -> Predictions:
    """Extend predictions among the known classes to all classes, sorted; the others have probability 0."""
    assert union.names is not None
    order = np.arange(union.size) if union.order is None else union.order
    place = np.argsort(order)
    wide = np.zeros((len(proba), union.size), proba.dtype)
    wide[:, place[: known.size]] = proba
    unknown = int((truth >= known.size).sum())
    unknown_labels = tuple(union.names[known.size :].tolist())
    return Predictions(union.names[order], wide, place[decided], place[truth], weight, unknown, unknown_labels)


def _brier(proba: Array, truth: Array, weight: Array) -> float:
    errors = proba.astype(np.float64)
    errors[np.arange(len(truth)), truth] -= 1.0
    return float(weight @ (errors**2).sum(axis=1) / weight.sum())


def calibration_error(proba: Array, truth: Array, weight: Array, bins: int = BINS) -> float:
    """Return the expected calibration error: mean distance, over bins, of the top probability from the accuracy.

    >>> calibration_error(np.array([[0.9, 0.1], [0.9, 0.1]]), np.array([0, 1]), np.ones(2))
    0.4
    """
    top = proba.argmax(axis=1)
    confidence = proba[np.arange(len(proba)), top].astype(np.float64)
    place = np.clip(np.ceil(confidence * bins).astype(np.int64) - 1, 0, bins - 1)
    gap = weight * ((top == truth) - confidence)
    return float(np.abs(np.bincount(place, weights=gap, minlength=bins)).sum() / weight.sum())
