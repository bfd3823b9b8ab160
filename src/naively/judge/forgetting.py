"""Forgetting in streams: a window forgets rows at once, a decay lets them count ever less."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.judge.cross_validation import whole_number
from naively.read.columns import NUMBER, TIME, kind_of, numbers, type_of
from naively.read.label_codes import check_weights
from naively.read.labelled_table import frame_of


def forgetting(window: Any, decay: Any, time: Any) -> Memory:
    """Return how a stream is learnt by these parameters of `prequential`."""
    if window is not None and decay is not None:
        raise InputError("window forgets old rows at once, decay little by little: give one of them")
    if time is not None and decay is None:
        raise InputError("time says how fast rows decay: give decay as well")
    if decay is not None:
        return Decay(check_decay(decay), time)
    return Memory() if window is None else Window(whole_number(window, "window", 1))


def check_decay(decay: Any) -> float:
    """Return a factor above 0 and up to 1."""
    value = float(decay) if isinstance(decay, Real) and not isinstance(decay, bool) else 0.0
    if not 0 < value <= 1:
        raise InputError(f"decay must be a number above 0 and up to 1, got {decay!r}")
    return value


class Memory:
    """Learns every batch, and forgets nothing."""

    def learn(self, model: Any, X: Any, y: Any, weight: Any, classes: Any) -> None:
        """Let the model learn a batch."""
        model.partial_fit(X, y, classes, weight)

    def check(self) -> None:
        """Raise if the stream was too short."""


@dataclass
class Window(Memory):
    """Holds the last batches of a stream as long as they are needed to forget them later."""

    rows: int
    _held: deque[tuple[int, tuple[Any, ...]]] = field(default_factory=deque)
    _total: int = 0

    def learn(self, model: Any, X: Any, y: Any, weight: Any, classes: Any) -> None:
        """Let the model learn a batch, and forget those that the window does not reach any more."""
        super().learn(model, X, y, weight, classes)
        self._held.append((_rows_of(X), (X, y, weight)))
        self._total += self._held[-1][0]
        while self._total - self._held[0][0] >= self.rows:
            n_rows, batch = self._held.popleft()
            self._total -= n_rows
            model.forget(*batch)

    def check(self) -> None:
        """Raise if the stream was shorter than the window."""
        if self._total < self.rows:
            raise InputError(f"window={self.rows} is longer than the stream, which has {self._total} rows")


@dataclass
class Decay(Memory):
    """Lets each row count `factor` times as much with every row that comes later, or every unit of time."""

    factor: float
    time: str | int | None = None
    _latest: float | None = None

    def learn(self, model: Any, X: Any, y: Any, weight: Any, classes: Any) -> None:
        """Let what was learnt decay until the end of a batch, and the model learn the batch."""
        n_rows = _rows_of(X)
        if not n_rows:
            return super().learn(model, X, y, weight, classes)  # which says what is wrong with it
        age, passed = self._ages(X, n_rows)
        own = check_weights(weight, n_rows)
        weights = self.factor**age if own is None else own * self.factor**age
        before = "_state" in vars(model)
        if before and passed:
            model.decay(self.factor**passed or np.finfo(float).tiny)
        super().learn(model, X, y, None if weight is None and not age.any() else weights, classes)
        return None

    def _ages(self, X: Any, n_rows: int) -> tuple[Array, float]:
        """Return how long before the end of the batch each row was, and how long the batch before was."""
        if self.time is None:
            return np.arange(n_rows)[::-1].astype(np.float64), float(n_rows)
        times = _times(X, self.time)
        steps = np.diff(times, prepend=times[0] if self._latest is None else self._latest)
        if not np.isfinite(times).all() or (steps < 0).any():
            row = int(np.argmax(~np.isfinite(times) | (steps < 0)))
            what = "is missing" if not np.isfinite(times[row]) else "is before that of the row before it"
            raise InputError(f"row {row}: the time in column {self.time!r} {what}; sort the stream by time")
        passed = 0.0 if self._latest is None else float(times[-1] - self._latest)
        self._latest = float(times[-1])
        return times[-1] - times, passed


def _rows_of(X: Any) -> int:
    """The number of rows of a batch."""
    if isinstance(X, Mapping) or not (hasattr(X, "shape") or hasattr(X, "__len__")):
        return len(frame_of(X))
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _times(X: Any, column: str | int) -> Array:
    """Return a column of numbers, or of dates in days."""
    frame = frame_of(X)
    if str(column) not in frame.columns:
        raise InputError(f"time={column!r} names no column; the rows have {list(frame.columns)}")
    values = frame.columns[str(column)]
    kind = kind_of(str(column), values)
    if kind == NUMBER:
        return numbers(values).astype(np.float64)
    import pyarrow as pa

    if kind != TIME or pa.types.is_time(values.type):
        raise InputError(f"time={column!r}: expected numbers or dates, got {type_of(values)}")
    moments = values.cast(pa.timestamp("us", getattr(values.type, "tz", None))).cast(pa.int64())
    return numbers(moments).astype(np.float64) / _MICROSECONDS_OF_A_DAY


_MICROSECONDS_OF_A_DAY = 86_400_000_000
