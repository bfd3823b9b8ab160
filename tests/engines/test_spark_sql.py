"""The query of a model gives in Spark SQL what the model gives, and a query that counts what the rows give."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from databases import chances
from exported import TABLES, TEXTS, film_reviews, mixed_table, new_rows

from naively import Categorical, Gaussian, NaiveBayes, Text, TextClassifier
from naively.sql import count_query

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore::UserWarning")]


def in_spark(spark, table, export):
    frame = table.to_pandas()
    for field in table.schema:  # a number that is missing is NaN there
        if pa.types.is_boolean(field.type) or pa.types.is_string(field.type) or pa.types.is_temporal(field.type):
            frame[field.name] = frame[field.name].astype(object).where(frame[field.name].notna(), None)
    spark.createDataFrame(frame, schema=spark_schema(table)).createOrReplaceTempView("`the rows`")
    for statement in export.setup:
        spark.sql(statement)
    return pa.table(spark.sql(export.query).toArrow())


def spark_schema(table):
    def kind(given):
        if pa.types.is_boolean(given):
            return "BOOLEAN"
        if pa.types.is_temporal(given):
            return "TIMESTAMP"
        return "BIGINT" if pa.types.is_integer(given) else "DOUBLE" if pa.types.is_floating(given) else "STRING"

    return ", ".join(f"`{field.name}` {kind(field.type)}" for field in table.schema)


def assert_equal_to(model, table, X, spark, form):
    table = table.append_column("id", pa.array(range(len(table))))
    result = in_spark(spark, table, model.to_sql("spark", table="the rows", keep="id", form=form)).sort_by("id")
    np.testing.assert_allclose(chances(result, model.classes_.tolist()), model.predict_proba(X), rtol=0, atol=1e-9)
    assert result["label"].to_pylist() == model.predict(X).tolist()


@pytest.mark.parametrize("name", ["by itself", "informative", "densities", "others", "unsmoothed", "tf-idf"])
@pytest.mark.parametrize("form", ["join", "case"])
def test_a_table_is_scored_as_by_the_model(name, form, spark):
    table, y = mixed_table()
    model = NaiveBayes(**TABLES[name]).fit(table, y)
    table = pa.concat_tables([table, new_rows()])
    assert_equal_to(model, table, table, spark, form)


@pytest.mark.parametrize("name", ["words", "pairs", "tf-idf", "presence", "scikit-learn's"])
def test_texts_are_scored_as_by_the_model(name, spark):
    texts, labels, new = film_reviews()
    model = TextClassifier(choose=False, **TEXTS[name]).fit(texts, labels)
    new = [*new, None]
    assert_equal_to(model, pa.table({"text": pa.array(new)}), new, spark, "auto")


def test_values_and_words_are_counted_as_by_reading_the_rows(spark):
    table, y = mixed_table()
    schema = {"the size": Gaussian(), 'a "city"': Categorical(), "advert": Text(ngrams=(1, 2))}
    rows = table.select(list(schema))
    table = rows.append_column("label", pa.array(y)).append_column("id", pa.array(range(len(y))))

    class Query:
        setup = ()
        query = count_query(schema, "the rows", "spark", label="label", key="id")

    found = NaiveBayes.from_counts(in_spark(spark, table, Query()), columns=schema, calibrate=False)
    expected = NaiveBayes(columns=schema, calibrate=False).fit(rows, y)
    np.testing.assert_allclose(found.predict_proba(rows), expected.predict_proba(rows), atol=1e-12)
