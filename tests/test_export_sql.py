"""The query of a model gives what the model gives, in every database."""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from databases import chances, in_duckdb, in_postgresql, in_sqlite, postgresql
from exported import ARRAYS, TABLES, TEXTS, OfItsOwn, film_reviews, fitted_array, mixed_table, new_rows

import naively
from naively import (
    GaussianClassifier,
    GaussianNB,
    InputError,
    NaiveBayes,
    NegativeBinomial,
    TextClassifier,
)

DATABASES = ["duckdb", "sqlite", pytest.param("postgresql", marks=pytest.mark.engines)]


@pytest.fixture(scope="module")
def server():
    with postgresql() as connection:
        yield connection


@pytest.fixture(params=DATABASES)
def database(request):
    """A dialect, and what runs its queries."""
    if request.param == "postgresql":
        return "postgresql", partial(in_postgresql, request.getfixturevalue("server"))
    return request.param, {"duckdb": in_duckdb, "sqlite": in_sqlite}[request.param]


def numbered(table):
    return table.append_column("id", pa.array(range(len(table))))


def assert_equal_to(model, table, X, database, *, forms=("join", "case")):
    """Labels and probabilities of the database are those of the model."""
    dialect, run = database
    labels, expected = model.predict(X), model.predict_proba(X)
    for form in forms:
        result = run(numbered(table), model.to_sql(dialect, table="the rows", keep="id", form=form))
        assert result["id"].to_pylist() == list(range(len(table)))
        found = chances(result, model.classes_.tolist())
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
        assert result["label"].to_pylist() == labels.tolist()
        np.testing.assert_allclose([float(p) for p in result["probability"].to_pylist()], found.max(axis=1))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("parameters", TABLES.values(), ids=TABLES)
def test_a_table_is_scored_as_by_the_model(parameters, database):
    table, y = mixed_table()
    model = NaiveBayes(**parameters).fit(table, y)
    table = pa.concat_tables([table, new_rows()])
    assert_equal_to(model, table, table, database)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("parameters", TEXTS.values(), ids=TEXTS)
def test_texts_are_scored_as_by_the_model(parameters, database):
    texts, labels, new = film_reviews()
    model = TextClassifier(choose=False, **parameters).fit(texts, labels)
    new = [*new, None, " İstanbul"]
    assert_equal_to(model, pa.table({"text": new}), new, database, forms=("auto",))


@pytest.mark.parametrize("kind", ["words", "sklearn"])
def test_every_character_parts_words_as_in_the_model(kind, database):
    """The word behind a character is known; it is found only where the character is no part of it."""
    points = [p for p in range(1, 0x110000) if not 0xD800 <= p < 0xE000]
    points = points[:0x3100] + points[0x3100::29]
    texts = [f"good{chr(point)}bad {chr(point)}É" for point in points]
    model = TextClassifier(choose=False, tokens=kind, ngrams=(1, 2), calibrate=False).fit(
        ["good fine good é", "bad éa xé badé badly", "fine bad"], ["a", "b", "b"]
    )
    assert_equal_to(model, pa.table({"text": texts}), texts, database, forms=("auto",))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", ARRAYS.values(), ids=ARRAYS)
def test_an_array_is_scored_as_by_the_drop_in(model, database):
    model, X = fitted_array(model)
    table = pa.table({f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(X.shape[1])})
    assert_equal_to(model, table, X, database)


def test_names_of_columns_and_numbers_as_labels_are_kept(database):
    import pandas as pd

    X = pd.DataFrame({"a b": [1.0, 2.0, 8.0, 9.0], "c": [0.0, 1.0, 0.0, 2.0]})
    model = GaussianNB().fit(X, [15, 15, -2, -2])
    assert_equal_to(model, pa.table(dict(X)), X, database)


def test_a_saved_model_without_counts_writes_the_same_query(tmp_path):
    table, y = mixed_table()
    model = NaiveBayes().fit(table, y)
    model.save(tmp_path / "frozen.nb", frozen=True)
    frozen = naively.load(tmp_path / "frozen.nb")
    assert str(frozen.to_sql("duckdb")) == str(model.to_sql("duckdb"))


def test_small_models_are_queries_alone_and_large_ones_join_a_table():
    table, y = mixed_table()
    small = NaiveBayes(columns={"advert": None, "seen": None}).fit(table, y).to_sql("sqlite")
    assert small.weights is None
    assert small.setup == []
    assert "JOIN" not in small.query
    large = NaiveBayes().fit(table, y).to_sql("sqlite")
    assert large.weights.num_rows > 0
    assert "JOIN" in large.query
    assert len(large.query) < 20_000


def test_a_family_of_a_user_is_exported_by_its_own_formula(database):
    table, y = mixed_table()
    model = NaiveBayes(columns={"price": OfItsOwn(), "advert": None}).fit(table, y)
    assert_equal_to(model, table, table, database)


def of_texts(texts=None, labels=("a", "b"), **parameters):
    """A model of texts, by default of film reviews."""
    texts, labels = naively.film_reviews() if texts is None else (texts, labels)
    return TextClassifier(choose=False, **parameters).fit(texts, list(labels))


def of_tied_covariances():
    return GaussianClassifier(covariance="tied").fit(np.arange(12.0).reshape(6, 2) ** 1.5, [0, 1] * 3)


def of_negative_binomials():
    table, y = mixed_table()
    return NaiveBayes(columns={"rooms": NegativeBinomial()}).fit(table.select(["rooms"]), y)


REFUSED = {
    "hashed words": partial(of_texts, hashing=10),
    "negation": partial(of_texts, negation=True),
    "'chars'": partial(of_texts, tokens="chars", ngrams=(3, 3)),
    "accents": partial(of_texts, accents="ascii"),
    "without spaces": partial(of_texts, ["好 电影", "bad"]),
    "Greek": partial(of_texts, ["ΚΑΛΟΣ λόγος", "κακός"]),
    "isotonic": partial(of_texts, calibrate="isotonic"),
    "covariances": of_tied_covariances,
    "NegativeBinomial": of_negative_binomials,
}


@pytest.mark.parametrize(("reason", "fitted"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_exported_is_refused_by_name(reason, fitted):
    with pytest.raises(InputError, match=reason):
        fitted().to_sql("duckdb")


def test_unknown_dialects_and_forms_are_refused():
    model = GaussianNB().fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(InputError, match="postgresql"):
        model.to_sql("postgres")
    with pytest.raises(InputError, match="form must be"):
        model.to_sql("duckdb", form="CASE")
    with pytest.raises(InputError, match="tells them apart"):
        TextClassifier(choose=False).fit(["a", "b"], ["x", "y"]).to_sql("spark")
