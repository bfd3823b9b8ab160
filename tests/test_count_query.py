"""The model of counts that a database made is that of the rows."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from databases import in_duckdb, in_postgresql, in_sqlite, postgresql
from exported import film_reviews, mixed_table

from naively import (
    Bernoulli,
    Categorical,
    Gamma,
    Gaussian,
    GaussianNB,
    Histogram,
    InputError,
    Kernel,
    Multinomial,
    NaiveBayes,
    Number,
    Poisson,
    Text,
    TextClassifier,
)
from naively.sql import count_query

DATABASES = ["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.engines)]


class Query:
    """A query as an export without a table of weights."""

    setup = ()

    def __init__(self, query):
        self.query = query


@pytest.fixture(scope="module")
def server():
    with postgresql() as connection:
        yield connection


@pytest.fixture(params=DATABASES)
def database(request):
    if request.param == "postgresql":
        return "postgresql", partial(in_postgresql, request.getfixturevalue("server"), by="class")
    return request.param, partial({"duckdb": in_duckdb, "sqlite": in_sqlite}[request.param], by="class")


VALUES = {
    "the size": Gaussian(),
    "rooms": Poisson(),
    'a "city"': Categorical(),
    "garden": Bernoulli(),
    "price": Gamma(),
    "share": Histogram(),
}


def counted(database, schema, table, **options):
    dialect, run = database
    return run(table, Query(count_query(schema, "the rows", dialect, label="label", **options)))


@pytest.mark.parametrize("schema", [VALUES, {**VALUES, "price": Kernel(), "share": None}, {"share": Number()}])
def test_values_are_counted_as_by_reading_the_rows(schema, database):
    table, y = mixed_table()
    table = table.append_column("label", pa.array([None, *y[1:].tolist()]))
    found = NaiveBayes.from_counts(counted(database, schema, table), columns=schema, calibrate=False)
    rows = table.slice(1).select(list(schema))
    expected = NaiveBayes(columns=schema, calibrate=False).fit(rows, y[1:])
    assert found.tally_ == expected.tally_
    np.testing.assert_array_equal(found.predict_proba(rows), expected.predict_proba(rows))
    assert found.forget(rows.slice(0, 9), y[1:10]).tally_ == expected.forget(rows.slice(0, 9), y[1:10]).tally_


WORDS = {
    "words": {},
    "pairs": {"ngrams": (1, 2)},
    "scikit-learn's": {"tokens": "sklearn", "stop_words": ("the", "a"), "ngrams": (2, 3)},
    "case": {"lowercase": False},
}


@pytest.mark.parametrize("parameters", WORDS.values(), ids=WORDS)
def test_words_are_counted_as_by_reading_the_texts(parameters, database):
    if database[0] == "sqlite":
        with pytest.raises(InputError, match="words are not counted by SQLite"):
            count_query({"text": Text()}, "rows", "sqlite", label="label")
        return
    texts, labels, _ = film_reviews()
    texts = [*texts[:-2], None, "ŽLUŤOUČKÝ ÇA—“İ” \N{COMBINING ACUTE ACCENT}"]
    table = pa.table({"text": texts, "label": labels})
    counts = counted(database, {"text": Text(**parameters)}, table)
    options = {"choose": False, "calibrate": False, **parameters}
    found = TextClassifier.from_counts(counts, weights=False, **options)
    assert found.tally_ == TextClassifier(weights=False, **options).fit(texts, labels).tally_


def test_words_stand_beside_values(database):
    if database[0] == "sqlite":
        pytest.skip("words are not counted by SQLite")
    table, y = mixed_table()
    schema = {'a "city"': Categorical(), "advert": Text(), "price": Number()}
    table = table.select(list(schema)).append_column("label", pa.array(y))
    found = NaiveBayes.from_counts(counted(database, schema, table), columns=schema, calibrate=False)
    expected = NaiveBayes(columns=schema, calibrate=False).fit(table.drop_columns(["label"]), y)
    np.testing.assert_allclose(found.predict_proba(table), expected.predict_proba(table), atol=1e-12)


def test_numbers_alone_are_those_of_the_drop_in(database):
    table, y = mixed_table()
    table = table.select(["the size", "price"]).append_column("label", pa.array(y))
    counts = counted(database, {"the size": Gaussian(), "price": Gaussian()}, table)
    X = np.column_stack([table[name].to_numpy(zero_copy_only=False) for name in ("the size", "price")])
    found = GaussianNB.from_counts(counts, columns=["the size", "price"])
    expected = GaussianNB().fit(X, y)
    np.testing.assert_array_equal(found.theta_, expected.theta_)
    np.testing.assert_array_equal(found.var_, expected.var_)


def test_what_cannot_be_counted_is_refused_by_name():
    with pytest.raises(InputError, match="one by one"):
        count_query({("a", "b"): Multinomial()}, "rows", "duckdb", label="y")
    with pytest.raises(InputError, match="negation"):
        count_query({"a": Text(negation=True)}, "rows", "duckdb", label="y")
    with pytest.raises(InputError, match="key='id'"):
        count_query({"a": Text()}, "rows", "spark", label="y")
    with pytest.raises(InputError, match="no column to count"):
        count_query({"a": None}, "rows", "duckdb", label="y")
    with pytest.raises(InputError, match="expected a family"):
        count_query({"a": "number"}, "rows", "duckdb", label="y")
    counts = {"class": ["x"], "column": ["a"], "number": [1.0], "count": [3]}
    with pytest.raises(InputError, match="3 values in 2 rows"):
        NaiveBayes.from_counts(counts, {"x": 2}, columns={"a": Number()})
    with pytest.raises(InputError, match="no family"):
        NaiveBayes.from_counts(counts, {"x": 3}, columns={"b": Number()})
