"""The steps that all engines share: count a partition, add parts, finish the model, predict a batch; parts are bytes.

A part is the *output* of a task, so a task that runs twice is counted once, and an engine that lost a part makes it
again from the same rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import naively
from naively.errors import InputError, nearest
from naively.threads import one_thread

SAMPLED = 1 << 16
"""Number of rows that the schema of a table is planned from."""
FAN_IN = 8
"""Number of parts that are added up at a time."""
LARGEST_SENT = 64 << 20
"""Models of up to so many bytes go to workers with the code; larger ones as a path."""


@dataclass(frozen=True)
class Work:
    """All that a worker needs to count: the plan as bytes, and the names of columns. `text`: None for a table."""

    plan: bytes
    label: str
    columns: tuple[str, ...]
    text: str | None = None
    weight: str | None = None

    def count(self, batches: Iterable[Any]) -> bytes:
        """Return the part of these rows, which come as batches or tables of Arrow; of no rows, the plan."""
        with one_thread():
            part = naively.from_bytes(self.plan)
            for batch in batches:
                table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
                part = self._with(part, table)
            data: bytes = part.to_bytes() if part.n_rows else self.plan
        return data

    def _with(self, part: Any, table: Any) -> Any:
        table = table.select([name for name in self.columns if name in table.column_names])
        if self.label not in table.column_names:
            raise InputError(f"a partition has no column {self.label!r}, which holds the labels")
        weight = None if self.weight is None else table.column(self.weight).to_numpy()
        counts = pc.is_valid(table.column(self.label))
        counts = counts if weight is None else pc.and_(counts, pc.not_equal(table.column(self.weight), 0))
        if not pc.any(counts).as_py():
            return part  # no row of this batch is counted
        if self.weight is not None:
            table = table.drop_columns([self.weight])
        if self.text is None:
            return part.count(table, self.label, weight)
        return part.count(table.column(self.text), table.column(self.label), weight)


def planned(
    learner: Any,
    names: Sequence[str],
    sample: Callable[[list[str]], Any],
    label: Any,
    text: str | None,
    columns: Iterable[str] | None,
    weight: Any,
) -> Work:
    """Return what workers need; `sample` returns some rows of the named columns, as a table of Arrow."""
    if not hasattr(learner, "reads_text"):
        raise InputError(
            f"engines count texts (TextClassifier) and tables (NaiveBayes), got {type(learner).__name__}; count the "
            "parts yourself by plan, count and merge"
        )
    if not isinstance(label, str):
        raise InputError(f"the labels of a distributed table are one of its columns: pass its name, got {label!r:.80}")
    if weight is not None and not isinstance(weight, str):
        raise InputError(
            f"the weights of a distributed table are one of its columns: pass its name, got {weight!r:.80}"
        )
    given = list(names if columns is None else columns)
    for name in [label, *([weight] if weight else []), *([text] if text else []), *given]:
        if name not in names:
            raise InputError(f"the table has no column {name!r}{nearest(name, names)}; it has {', '.join(names)}")
    rest = [name for name in given if name not in (label, weight)]
    if learner.reads_text:
        if text is None and len(rest) != 1:
            raise InputError(f"which column holds the texts? pass text=, one of {', '.join(rest)}")
        rest = [rest[0] if text is None else text]
        plan = learner.plan()
    else:
        plan = learner.plan(sample([*rest, label]), label)
    used = (*rest, label, *([weight] if weight else []))
    return Work(plan.to_bytes(), label, used, rest[0] if learner.reads_text else None, weight)


def learner_for(model: Any, text: str | None) -> Any:
    """Return the estimator to fit: the given one, or that of texts or of tables with its defaults."""
    if model is not None:
        return model
    return naively.NaiveBayes() if text is None else naively.TextClassifier()


def add(parts: Iterable[bytes]) -> bytes:
    """Return the sum of parts, of which one at a time is unpacked."""
    given = iter(parts)
    first = next(given)
    second = next(given, None)
    if second is None:
        return first
    with one_thread():
        rest = (naively.from_bytes(data) for each in ([second], given) for data in each)
        data: bytes = naively.from_bytes(first).merge(rest).to_bytes()
    return data


def finish(part: bytes) -> Any:
    """Return the fitted estimator."""
    return naively.from_bytes(part).finish()


# --- predicting


@dataclass(frozen=True)
class Prediction:
    """A model, as bytes or as a path that all workers can read, and the columns that it reads and writes."""

    model: bytes | str
    columns: tuple[str, ...]
    text: str | None
    label: str = "prediction"
    probability: str = "probability"

    def of(self, batch: Any) -> tuple[Any, Any]:
        """Return the most probable label of each row, and its probability, as columns of Arrow."""
        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        with one_thread():
            model = _model_of(self.model, _stamp(self.model))
            known = [name for name in self.columns if name in table.column_names]
            rows = table.select(known) if self.text is None else table.column(self.text)
            labels, probability = model.scores(rows).top(1)
        kind = label_type(model)
        return pa.array(labels[:, 0].tolist(), kind), pa.array(probability[:, 0])

    def added_to(self, batch: Any) -> Any:
        """Return a batch or table with the two columns behind its own."""
        for name, values in zip((self.label, self.probability), self.of(batch), strict=True):
            batch = batch.append_column(name, values)
        return batch


def prediction(
    model: Any, names: Sequence[str], text: str | None, label: str, probability: str
) -> tuple[Prediction, Any]:
    """Return what workers need to predict, and the model; one of more than 64 MB must come as a path."""
    if isinstance(model, (str, os.PathLike)):
        source: bytes | str = os.fspath(model)
        fitted = _model_of(source, _stamp(source))
    else:
        source, fitted = model.to_bytes(frozen=True), model
        if len(source) > LARGEST_SENT:
            raise InputError(
                f"the model has {len(source):,} bytes, too many to be sent with each task (at most {LARGEST_SENT:,}): "
                "save it where all workers can read it, and pass the path"
            )
    for name in (label, probability):
        if name in names:
            raise InputError(f"the table has a column {name!r} already; pass another name for the new one")
    if not getattr(fitted, "reads_text", False):
        return Prediction(source, tuple(names), None, label, probability), fitted
    if text is None and len(names) != 1:
        raise InputError(f"which column holds the texts? pass text=, one of {', '.join(names)}")
    chosen = names[0] if text is None else text
    if chosen not in names:
        raise InputError(f"the table has no column {chosen!r}{nearest(chosen, names)}; it has {', '.join(names)}")
    return Prediction(source, (chosen,), chosen, label, probability), fitted


def label_type(model: Any) -> Any:
    """Return Arrow's type of the labels of a model."""
    return pa.array(model.classes_.tolist()).type


def _stamp(source: bytes | str) -> tuple[int, int] | None:
    """Return the size and the time of change of a file."""
    if isinstance(source, bytes):
        return None
    status = os.stat(source)
    return status.st_size, status.st_mtime_ns


@lru_cache(maxsize=4)
def _model_of(source: bytes | str, stamp: tuple[int, int] | None) -> Any:
    """Return a model; each process reads it once, as long as its file stays as it is."""
    return naively.from_bytes(source) if isinstance(source, bytes) else naively.load(source)
