"""Ray: each block of a Ray Dataset is counted by a task whose output is the part; a tree of tasks adds them up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import ray

from naively.engines.base import FAN_IN, SAMPLED, Work, add, finish, learner_for, planned, prediction
from naively.read.detect import register_engine


def fit(
    ds: Any,
    label: str,
    *,
    text: str | None = None,
    columns: Iterable[str] | None = None,
    weight: str | None = None,
    model: Any = None,
) -> Any:
    """Count a Ray Dataset where it lies, and return the estimator that counting all rows at once would give.

    Parameters
    ----------
    ds : ray.data.Dataset
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
        return ds.select_columns(names).take_batch(SAMPLED, batch_format="pyarrow")

    work = planned(learner_for(model, text), ds.columns() or [], sample, label, text, columns, weight)
    counted = ds.select_columns(list(work.columns)).map_batches(
        _count, batch_size=None, batch_format="pyarrow", fn_args=(work,)
    )
    parts = counted.to_arrow_refs()
    while len(parts) > 1:
        parts = [_added.remote(*parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    found = [data for table in ray.get(parts) for data in _parts(table)]
    return finish(add(found) if found else work.plan)


def predict(
    model: Any,
    ds: Any,
    *,
    text: str | None = None,
    prediction_col: str = "prediction",
    probability_col: str = "probability",
) -> Any:
    """Return a Ray Dataset with the most probable label of each row, and its probability, as two more columns.

    Parameters
    ----------
    model : TextClassifier, NaiveBayes, str or path-like
        A fitted model; or, where it has more than 64 MB, the path of its file, which all workers must be able to read.
    ds : ray.data.Dataset
        Rows.
    text : str, default=None
        The column that holds the texts, for a `TextClassifier`.
    prediction_col, probability_col : str
        The names of the new columns.

    Returns
    -------
    ds : ray.data.Dataset
    """
    work, _ = prediction(model, ds.columns() or [], text, prediction_col, probability_col)
    return ds.map_batches(work.added_to, batch_format="pyarrow")


def _count(table: Any, work: Work) -> Any:
    return _table([work.count([table])])


def _table(parts: list[bytes]) -> Any:
    return pa.table({"data": pa.array(parts, pa.large_binary())})


def _parts(table: Any) -> list[bytes]:
    return [data.as_py() for data in table.column("data")]


@ray.remote
def _added(*tables: Any) -> Any:
    return _table([add(data for table in tables for data in _parts(table))])


def _fit(learner: Any, ds: Any, label: Any, weight: Any) -> Any:
    return fit(ds, label, weight=weight, model=learner)


register_engine("ray", _fit)
