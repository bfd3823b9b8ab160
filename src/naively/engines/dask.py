"""Dask: each partition of a DataFrame is counted by a task whose output is the part; a tree of tasks adds them up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import dask
import pyarrow as pa
from dask.delayed import delayed

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


def fit(
    df: Any,
    label: str,
    *,
    text: str | None = None,
    columns: Iterable[str] | None = None,
    weight: str | None = None,
    model: Any = None,
) -> Any:
    """Count a dask DataFrame where it lies, and return the estimator that counting all rows at once would give.

    Parameters
    ----------
    df : dask.dataframe.DataFrame
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
    work = planned(
        learner_for(model, text), list(df.columns), lambda names: _first(df[names]), label, text, columns, weight
    )
    parts = [delayed(_count)(work, partition) for partition in df[list(work.columns)].to_delayed()]
    while len(parts) > 1:
        parts = [delayed(add)(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    [part] = dask.compute(*parts)
    return finish(part)


def predict(
    model: Any,
    df: Any,
    *,
    text: str | None = None,
    prediction_col: str = "prediction",
    probability_col: str = "probability",
) -> Any:
    """Return a dask DataFrame with the most probable label of each row, and its probability, as two more columns.

    Parameters
    ----------
    model : TextClassifier, NaiveBayes, str or path-like
        A fitted model; or, where it has more than 64 MB, the path of its file, which all workers must be able to read.
    df : dask.dataframe.DataFrame
        Rows.
    text : str, default=None
        The column that holds the texts, for a `TextClassifier`.
    prediction_col, probability_col : str
        The names of the new columns.

    Returns
    -------
    df : dask.dataframe.DataFrame
    """
    work, fitted = prediction(model, list(df.columns), text, prediction_col, probability_col)
    meta = _with_columns(df._meta, work, pa.array([], label_type(fitted)), pa.array([], pa.float64()))
    return df.map_partitions(_predict, work, meta=meta)


def _first(df: Any) -> Any:
    """Return the first rows of a dask DataFrame; no more partitions are read than hold them."""
    tables = []
    for number in range(df.npartitions):
        tables.append(_arrow(df.partitions[number].compute()))
        if sum(map(len, tables)) >= SAMPLED:
            break
    return pa.concat_tables(tables, promote_options="permissive").slice(0, SAMPLED)


def _arrow(frame: Any) -> Any:
    return pa.Table.from_pandas(frame, preserve_index=False)


def _count(work: Work, frame: Any) -> bytes:
    return work.count([_arrow(frame)] if len(frame) else [])


def _predict(frame: Any, work: Prediction) -> Any:
    return _with_columns(frame, work, *work.of(_arrow(frame)))


def _with_columns(frame: Any, work: Prediction, labels: Any, probability: Any) -> Any:
    """Return a frame of pandas with two columns more."""
    new = {work.label: labels, work.probability: probability}
    return frame.assign(**{name: values.to_pandas().set_axis(frame.index) for name, values in new.items()})


def _fit(learner: Any, df: Any, label: Any, weight: Any) -> Any:
    return fit(df, label, weight=weight, model=learner)


register_engine("dask", _fit)
