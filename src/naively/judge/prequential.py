"""Prequential evaluation: each batch of a stream is first predicted, then learnt."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from naively.arrays import Array, Value
from naively.errors import InputError, NaivelyError
from naively.judge.cross_validation import check_model
from naively.judge.evaluation import predictions
from naively.judge.forgetting import forgetting
from naively.read.labelled_table import batch_of
from naively.report import Report, Sheet, axes_of, frame_of, number, tracked

_SHOWN = 10
_FIRST_ROWS = 30


@dataclass(frozen=True, eq=False, repr=False)
class Prequential(Report, Value):
    """How well the batches of a stream were predicted by a model of those before.

    `seen` is the number of rows that were predicted up to the end of each batch, `batch_accuracy` and `batch_log_loss`
    are the figures of the batch alone, `alarms` the numbers of rows after which errors had become more frequent, and
    `model` is the model at the end.
    """

    seen: Array
    batch_accuracy: Array
    batch_log_loss: Array
    weight: Array
    alarms: tuple[int, ...]
    model: Any

    @property
    def accuracy(self) -> float:
        """Share of all rows whose label was predicted."""
        return float(np.average(self.batch_accuracy, weights=self.weight))

    @property
    def log_loss(self) -> float:
        """Mean log-loss of all rows."""
        return float(np.average(self.batch_log_loss, weights=self.weight))

    def to_frame(self) -> Any:
        """Return the figures of each batch as a pandas DataFrame."""
        alarm = np.isin(self.seen, self.alarms)
        columns = {"seen": self.seen, "accuracy": self.batch_accuracy, "log_loss": self.batch_log_loss, "alarm": alarm}
        return frame_of(columns)

    def plot(self, ax: Any = None) -> Any:
        """Draw the accuracy of the batches, with a line at each alarm, and return the axes."""
        ax = axes_of(ax)
        ax.plot(self.seen, self.batch_accuracy)
        for rows in self.alarms:
            ax.axvline(rows, linestyle=":", color="gray")
        ax.set(xlabel="rows", ylabel="accuracy")
        return ax

    def __repr__(self) -> str:
        figures = f"accuracy {self.accuracy:.4f}, log-loss {self.log_loss:.4f}, {len(self.alarms)} alarms"
        return f"Prequential({int(self.seen[-1]):_} rows, {len(self.seen):_} batches, {figures})"

    def _sheets(self) -> Sequence[Sheet]:
        rows = []
        for part in np.array_split(np.arange(len(self.seen)), min(_SHOWN, len(self.seen))):
            before = 0 if part[0] == 0 else self.seen[part[0] - 1]
            upto = int(self.seen[part[-1]])
            means = [float(np.average(v[part], weights=self.weight[part])) for v in self._figures]
            alarms = sum(before < alarm <= upto for alarm in self.alarms)
            rows.append((f"{upto:,}", *map(number, means), str(alarms or "")))
        return (Sheet(("rows", "accuracy", "log_loss", "alarms"), tuple(rows), repr(self), "r"),)

    @property
    def _figures(self) -> tuple[Array, Array]:
        return self.batch_accuracy, self.batch_log_loss


def prequential(
    model: Any,
    stream: Iterable[Any],
    y: str | None = None,
    *,
    classes: Any = None,
    window: int | None = None,
    decay: float | None = None,
    time: str | int | None = None,
    alarm: float = 3.0,
    progress: bool = True,
) -> Prequential:
    """Predict each batch of a stream by a model of the batches before it, then learn the batch.

    >>> import numpy as np
    >>> from naively import GaussianNB, prequential
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> X = rng.normal(np.where(np.arange(2000) < 1000, y, 1 - y))[:, None]  # the classes change places
    >>> batches = [(X[i : i + 100], y[i : i + 100]) for i in range(0, 2000, 100)]
    >>> prequential(GaussianNB(), batches, classes=[0, 1])
    Prequential(1_900 rows, 19 batches, accuracy 0.5..., log-loss 0.8..., 1 alarms)
    >>> prequential(GaussianNB(), batches, classes=[0, 1], window=300).accuracy > 0.6
    True

    An alarm is given where the error rate since the last one is `alarm` standard deviations above its lowest (Gama et
    al., Learning with drift detection, 2004); nothing else happens.

    Parameters
    ----------
    model : estimator
        A model of naively. It is copied, not changed. If it is not fitted, the first batch is learnt only.
    stream : iterable of (X, y) or (X, y, sample_weight), or of tables with their labels
        Batches.
    y : str, default=None
        The name of the column of labels, where batches are tables.
    classes : array-like of shape (n_classes,), default=None
        Labels known in advance, which estimators with scikit-learn's names need.
    window : int, default=None
        Learn from the last rows alone: older batches are forgotten, exactly, as long as this many rows remain.
    decay : float, default=None
        Let a row count so many times as much, above 0 and up to 1, for every row that comes after it.
    time : str or int, default=None
        A column of the rows with numbers or dates, in ascending order: rows decay by every unit of it, or day, in place
        of every row.
    alarm : float, default=3.0
        Standard deviations that the error rate has to rise by.
    progress : bool, default=True
        Show a progress bar on terminals.

    Returns
    -------
    prequential : Prequential
    """
    check_model(model)
    if not alarm > 0:
        raise InputError(f"alarm must be a number of standard deviations above 0, got {alarm!r}")
    memory = forgetting(window, decay, time)
    model, drift, found, seen = copy.copy(model), Drift(alarm), [], 0
    for place, batch in enumerate(tracked(stream, "learning the stream", show=progress)):
        try:
            X, labels, weight = batch_of(batch, y)
            if "_state" in vars(model):
                judged = predictions(model, X, labels, weight)
                each = np.ones(len(judged.truth)) if judged.weight is None else judged.weight
                right = judged.decided == judged.truth
                seen += len(right)
                drift.add(right, seen)
                found.append((seen, *_figures(judged, right, each), each.sum()))
            memory.learn(model, X, labels, weight, None if "_state" in vars(model) else classes)
        except NaivelyError as error:
            raise InputError(f"batch {place}: {error}") from None
    if not found:
        raise InputError("the stream has no batch to predict: two are needed, or a fitted model and one")
    memory.check()
    rows, accuracy, loss, weights = (np.array(column) for column in zip(*found, strict=True))
    return Prequential(rows, accuracy, loss, weights, tuple(drift.alarms), model)


def _figures(judged: Any, right: Array, weight: Array) -> tuple[float, float]:
    """Return the accuracy and the log-loss of a batch."""
    own = judged.proba[np.arange(len(right)), judged.truth].astype(np.float64)
    loss = -np.log(np.maximum(own, judged.smallest))
    return float(np.average(right, weights=weight)), float(np.average(loss, weights=weight))


@dataclass
class Drift:
    """Notices when errors become more frequent.

    >>> drift = Drift(3.0)
    >>> for batch in range(20):
    ...     drift.add(np.arange(50) % 10 < (9 if batch < 10 else 5), 50 * (batch + 1))
    >>> drift.alarms
    [550]
    """

    deviations: float
    alarms: list[int] = field(default_factory=list)
    _rows: int = 0
    _errors: int = 0
    _least: tuple[float, float] = (1.0, 1.0)

    def add(self, right: Array, seen: int) -> None:
        """Take note of which rows of a batch were right; `seen` is the number of rows up to its end."""
        self._rows += len(right)
        self._errors += int((~right).sum())
        if self._rows < _FIRST_ROWS:
            return
        rate = (self._errors + 1.0) / (self._rows + 2.0)
        spread = (rate * (1.0 - rate) / self._rows) ** 0.5
        if rate + spread < sum(self._least):
            self._least = rate, spread
        if rate + spread > self._least[0] + self.deviations * self._least[1]:
            self.alarms.append(seen)
            self._rows, self._errors, self._least = 0, 0, (1.0, 1.0)
