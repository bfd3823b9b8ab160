"""Spark alone: Pipelines of Spark ML, workers of another version, large models, and what is left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cases import WORK, check_same, films, flowers

import naively
from naively import TextClassifier
from naively.errors import InputError


@pytest.fixture(scope="module")
def module(spark: Any) -> Any:
    from naively import spark as module

    return module


def test_a_pipeline_fits_transforms_and_is_saved(spark: Any, module: Any, tmp_path: Path) -> None:
    from pyspark.ml import Pipeline, PipelineModel

    df = spark.createDataFrame(films()).repartition(3)
    estimator = module.NaiveBayesEstimator(TextClassifier(ngrams=(1, 2), choose=False), textCol="text")
    pipeline = Pipeline(stages=[estimator])
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    fitted = Pipeline.load(str(tmp_path / "pipeline")).fit(df)
    fitted.write().overwrite().save(str(tmp_path / "fitted"))
    here = TextClassifier(ngrams=(1, 2), choose=False).fit(films()["text"], films()["label"])
    for each in (fitted, PipelineModel.load(str(tmp_path / "fitted"))):
        assert each.stages[0].model.to_bytes() == here.to_bytes()
        found = each.transform(df).toArrow()
        assert found["prediction"].to_pylist() == here.predict(found["text"]).tolist()


def test_a_table_and_its_columns_are_named_as_spark_names_them(spark: Any, module: Any) -> None:
    work = WORK[4]
    df = spark.createDataFrame(flowers().rename_columns(["a", "b", "c", "d", "e", "kind"]))
    columns = {"labelCol": "kind", "predictionCol": "guess", "probabilityCol": "sure"}
    model = module.NaiveBayesEstimator(**columns).fit(df)
    here = work.learner().fit(flowers().rename_columns(["a", "b", "c", "d", "e", "kind"]), "kind")
    found = model.transform(df.drop("kind")).toArrow()
    assert found["guess"].to_pylist() == here.predict(found).tolist()
    np.testing.assert_allclose(found["sure"].to_numpy(), here.predict_proba(found).max(axis=1), rtol=1e-12)


def test_a_worker_of_another_version_is_refused(spark: Any, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("naively.learn.parts.__version__", "0.0.9")
    with pytest.raises(Exception, match=r"the part is of naively 0\.0\.9, here is .*one version on all machines"):
        module.fit(spark.createDataFrame(films()), "label", text="text")


def test_a_large_model_is_predicted_by_its_path(
    spark: Any, module: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("naively.engines.base.LARGEST_SENT", 1000)
    model, df = WORK[1].here(), spark.createDataFrame(films())
    with pytest.raises(InputError, match=r"too many to be sent with each task .* pass the path"):
        module.predict(model, df, text="text")
    model.save(tmp_path / "model.nb")
    found = module.predict(str(tmp_path / "model.nb"), df, text="text").toArrow()
    assert found["prediction"].to_pylist() == model.predict(films()["text"]).tolist()


def test_parts_of_many_pieces_are_put_together(spark: Any, module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    work = WORK[1]
    df = spark.createDataFrame(work.table()).repartition(3)
    part = b"".join(module.pieces(b"0123456789" * 1000))
    monkeypatch.setattr("naively.engines.spark._PIECE", 7)
    assert part == b"".join(module.pieces(b"0123456789" * 1000))
    table = pa.Table.from_batches([*module._pieces(9, part), *module._pieces(2, b"other")])
    assert list(module._parts(table)) == [b"other", part]
    check_same(work, module.fit(df, "label", model=work.learner(), text="text"), work.here())


def test_nothing_is_left_behind(spark: Any, module: Any) -> None:
    module.fit(spark.createDataFrame(flowers()), "label")
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_a_worker_loads_no_library_that_it_does_not_need(spark: Any, module: Any) -> None:
    """Spark's worker itself loads pandas, where it is installed."""
    work = naively.engines.base.planned(
        TextClassifier(), ["text", "label"], lambda names: None, "label", None, None, None
    )

    def loaded(batches: Any) -> Any:
        import sys

        before = set(sys.modules)
        part = work.count(batches)
        new = {name.partition(".")[0] for name in set(sys.modules) - before}
        yield pa.RecordBatch.from_pydict({"size": [len(part)], "new": [" ".join(new)]})

    [row] = spark.createDataFrame(films()).coalesce(1).mapInArrow(loaded, "size long, new string").collect()
    assert row.size > 1000
    assert not {"sklearn", "pandas", "duckdb", "rich"} & set(row.new.split())
