"""Spark: DataFrames alone, so that a session of Spark Connect works as a classic one does.

Each partition is counted by one task, whose output is the part; parts are added up by a tree of groups. Nothing is
written, accumulated or kept on workers, so a task that fails, is lost or runs twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel, TaskContext
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from naively.engines.base import (
    FAN_IN,
    SAMPLED,
    Prediction,
    Work,
    add,
    finish,
    label_type,
    learner_for,
    planned,
    prediction,
)
from naively.read.detect import register_engine

_PARTS = "number long, piece int, data binary"
_PIECE = 4 << 20
"""Parts are sent in pieces of so many bytes: a message of Spark Connect has at most 128 MB."""


def fit(
    df: Any,
    label: str,
    *,
    text: str | None = None,
    columns: Iterable[str] | None = None,
    weight: str | None = None,
    model: Any = None,
) -> Any:
    """Count a DataFrame where it lies, and return the estimator that counting all rows on one machine would give.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        Rows, each counted once. They are read twice if they are a table: the first ones for the schema.
    label : str
        The column that holds the labels; rows without one are left out.
    text : str, default=None
        The column to classify, if it is texts.
    columns : list of str, default=None
        The columns of a table to use; None: all.
    weight : str, default=None
        The column that holds what each row counts for.
    model : TextClassifier or NaiveBayes, default=None
        The estimator whose parameters to use; it is not changed. None: `TextClassifier()` with `text`, else
        `NaiveBayes()`.

    Returns
    -------
    estimator : TextClassifier or NaiveBayes
    """

    def sample(names: list[str]) -> Any:
        return df.select(*map(_quoted, names)).limit(SAMPLED).toArrow()

    work = planned(learner_for(model, text), df.columns, sample, label, text, columns, weight)
    counted = df.select(*map(_quoted, work.columns)).mapInArrow(partial(_count, work), _PARTS)
    counted = counted.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        return finish(_collected(counted) or work.plan)
    finally:
        counted.unpersist()


def predict(
    model: Any,
    df: Any,
    *,
    text: str | None = None,
    prediction_col: str = "prediction",
    probability_col: str = "probability",
) -> Any:
    """Return a DataFrame with the most probable label of each row, and its probability, as two more columns.

    Parameters
    ----------
    model : TextClassifier, NaiveBayes, str or path-like
        A fitted model; or, where it has more than 64 MB, the path of its file, which all workers must be able to read.
    df : pyspark.sql.DataFrame
        Rows.
    text : str, default=None
        The column that holds the texts, for a `TextClassifier`.
    prediction_col, probability_col : str
        The names of the new columns.

    Returns
    -------
    df : pyspark.sql.DataFrame
    """
    work, fitted = prediction(model, df.columns, text, prediction_col, probability_col)
    added = pa.schema([(prediction_col, label_type(fitted)), (probability_col, pa.float64())])
    schema = StructType([*df.schema.fields, *from_arrow_schema(added).fields])
    return df.mapInArrow(partial(_predict, work), schema)


def _quoted(name: str) -> Any:
    """Return a column by its whole name, dots included."""
    return F.col("`" + name.replace("`", "``") + "`")


def _count(work: Work, batches: Iterator[Any]) -> Iterator[Any]:
    data = work.count(batches)
    if data is not work.plan:
        yield from _pieces(_partition(), data)


def _partition() -> int:
    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


def _pieces(number: int, data: bytes) -> Iterator[Any]:
    """Yield a part as batches of one row, each with one piece of it."""
    for piece, content in enumerate(pieces(data)):
        yield pa.RecordBatch.from_pylist([{"number": number, "piece": piece, "data": content}], _ARROW)


def pieces(data: bytes) -> Iterator[bytes]:
    """Yield the data in pieces that no message is too small for."""
    return (data[begin : begin + _PIECE] for begin in range(0, len(data), _PIECE))


_ARROW = pa.schema([("number", pa.int64()), ("piece", pa.int32()), ("data", pa.binary())])


def _parts(table: Any) -> Iterator[bytes]:
    """Yield parts in the order of their numbers."""
    table = table.sort_by([("number", "ascending"), ("piece", "ascending")])
    part: list[bytes] = []
    numbers, data = table.column("number"), table.column("data")
    for row in range(table.num_rows):
        if part and numbers[row] != numbers[row - 1]:
            yield b"".join(part)
            part = []
        part.append(data[row].as_py())
    if part:
        yield b"".join(part)


def _add_group(key: Any, table: Any) -> Any:
    return pa.Table.from_batches(_pieces(key[0].as_py(), add(_parts(table))), _ARROW)


def _collected(parts: Any) -> bytes:
    """Return the sum of all parts; b"" if there is none. A tree adds them up, so that no task holds many of them."""
    highest = max(parts.select("number").toArrow().column("number").to_pylist(), default=-1)
    while highest > 0:
        groups = parts.groupBy(F.floor(F.col("number") / FAN_IN).alias("group"))
        parts = groups.applyInArrow(_add_group, _PARTS)
        highest //= FAN_IN
    return next(_parts(parts.toArrow()), b"")


def _predict(work: Prediction, batches: Iterator[Any]) -> Iterator[Any]:
    for batch in batches:
        yield work.added_to(batch)


def _fit(learner: Any, df: Any, label: Any, weight: Any) -> Any:
    return fit(df, label, weight=weight, model=learner)


register_engine("spark", _fit)


def __getattr__(name: str) -> Any:
    """`NaiveBayesEstimator` and `NaiveBayesModel` are loaded when first used, with Spark ML."""
    if name in ("NaiveBayesEstimator", "NaiveBayesModel"):
        from naively.engines import spark_ml

        return getattr(spark_ml, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
