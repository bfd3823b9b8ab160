"""Counting on an engine gives the model of one machine, byte for byte, however the rows are cut into partitions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import SHAPES, WORK, Work, check_same, flowers, uneven
from components import need
from loopback import interfaces

import naively
from naively.errors import InputError

Shape = Callable[[pa.Table, str], list[pa.Table]]


class OnSpark:
    """Each piece is a partition of a DataFrame."""

    def __init__(self, session: Any):
        from naively import spark

        self.session, self.module = session, spark
        spark.GATHERED = 20_000  # so that some are added up by a tree

    def table(self, pieces: list[pa.Table]) -> Any:
        from pyspark.sql import DataFrame
        from pyspark.sql.functions import spark_partition_id

        frames = [self.session.createDataFrame(piece, _schema(pieces[0])).coalesce(1) for piece in pieces]
        whole = reduce(DataFrame.union, frames)
        filled = sum(len(piece) > 0 for piece in pieces)
        assert whole.select(spark_partition_id()).distinct().count() == filled
        return whole

    def read(self, df: Any) -> pa.Table:
        return df.toArrow()


def _schema(table: pa.Table) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(table.schema)


class OnDask:
    """Each piece is a partition of a DataFrame."""

    def __init__(self, client: Any):
        from naively import dask

        self.module = dask

    def table(self, pieces: list[pa.Table]) -> Any:
        import dask.dataframe as dd

        frames = [_pandas(piece) for piece in pieces]
        return dd.from_map(lambda frame: frame, frames, meta=frames[0].iloc[:0])

    def read(self, df: Any) -> pa.Table:
        return pa.Table.from_pandas(df.compute(), preserve_index=False)


def _pandas(table: pa.Table) -> Any:
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


class OnRay:
    """Each piece is a block of a Dataset."""

    def __init__(self, ray: Any):
        from naively import ray as module

        self.ray, self.module = ray, module

    def table(self, pieces: list[pa.Table]) -> Any:
        return self.ray.data.from_arrow([piece.combine_chunks() for piece in pieces])

    def read(self, ds: Any) -> pa.Table:
        return pa.concat_tables(self.ray.get(ds.to_arrow_refs()))


STARTED = {"spark": OnSpark, "dask": OnDask, "ray": OnRay}


@pytest.fixture(scope="module", params=STARTED)
def engine(request: pytest.FixtureRequest) -> Any:
    fixture = {"spark": "spark", "dask": "dask_client", "ray": "ray_cluster"}[request.param]
    return STARTED[request.param](request.getfixturevalue(fixture))


def test_the_only_network_is_loopback(alone: None) -> None:
    assert interfaces() == {"lo"}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("work", WORK, ids=repr)
def test_the_model_is_that_of_one_machine(engine: Any, work: Work, shape: Shape) -> None:
    df = engine.table(shape(work.table(), work.label))
    model = engine.module.fit(df, work.label, model=work.learner(), **work.options)
    check_same(work, model, work.here())


@pytest.mark.parametrize("work", [WORK[0], WORK[4], WORK[6]], ids=repr)
def test_predictions_are_those_of_one_machine(engine: Any, work: Work, tmp_path: Any) -> None:
    here, rows = work.here(), work.rows()
    df = engine.table(uneven(rows.append_column("row", pa.array(range(len(rows)))), "row"))
    text = work.options.get("text")
    here.save(tmp_path / "model.nb", frozen=True)
    expected = here.scores(rows[text] if text else rows)
    for model in (here, tmp_path / "model.nb"):
        found = engine.read(engine.module.predict(model, df, text=text)).sort_by("row")
        assert found["prediction"].to_pylist() == expected.decide().tolist()
        np.testing.assert_allclose(found["probability"].to_numpy(), expected.top(1)[1][:, 0], rtol=1e-12)
        assert found.drop_columns(["prediction", "probability"]).to_pylist() == [
            {**row, "row": number} for number, row in enumerate(rows.to_pylist())
        ]


def test_fit_of_an_estimator_takes_distributed_rows(engine: Any) -> None:
    for work in (WORK[0], WORK[4]):
        model = work.learner().fit(engine.table(uneven(work.table(), "label")), "label")
        check_same(work, model, work.here())


def test_bad_names_are_refused_before_anything_is_counted(engine: Any) -> None:
    df = engine.table([flowers()])
    with pytest.raises(InputError, match="no column 'lable'; did you mean 'label'"):
        engine.module.fit(df, "lable")
    with pytest.raises(InputError, match="which column holds the texts"):
        engine.module.fit(df, "label", model=naively.TextClassifier())
    with pytest.raises(InputError, match="pass its name"):
        naively.NaiveBayes().fit(df, ["a", "b"])
    with pytest.raises(InputError, match="engines count texts"):
        engine.module.fit(df, "label", model=naively.GaussianNB())
    model = naively.NaiveBayes().fit(flowers(), "label")
    with pytest.raises(InputError, match="a column 'label' already"):
        engine.module.predict(model, df, prediction_col="label")


def test_no_labelled_row_is_nothing_to_learn_from(engine: Any) -> None:
    table = pa.table({"text": ["a", "b"], "label": pa.array([None, None], pa.string())})
    with pytest.raises(InputError, match="no row was counted"):
        engine.module.fit(engine.table([table, table]), "label", text="text")


def test_an_engine_that_was_not_imported_is_named() -> None:
    need("dask", "dask")
    code = """
import dask.dataframe as dd, pandas as pd, naively
df = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "label": ["x", "y"]}), npartitions=1)
naively.NaiveBayes().fit(df, "label")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "dask.dataframe.DataFrame is counted by naively.dask: write 'from naively import dask' first" in run.stderr
