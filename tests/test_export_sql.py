"""The query of a model gives what the model gives, in every database."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from databases import chances, in_duckdb, in_postgresql, in_sqlite, postgresql

import naively
from naively import (
    BernoulliNB,
    Beta,
    Categorical,
    CategoricalNB,
    Circular,
    Complement,
    ComplementNB,
    Dates,
    Exponential,
    Gamma,
    Gaussian,
    GaussianClassifier,
    GaussianNB,
    Geometric,
    Given,
    Histogram,
    InputError,
    Kernel,
    LogNormal,
    Multinomial,
    MultinomialNB,
    NaiveBayes,
    NegativeBinomial,
    Poisson,
    PoissonNB,
    Text,
    TextClassifier,
    Uniform,
    Unsmoothed,
)
from naively.families.densities.base import NumberFamily
from naively.store.registry import stored

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


def mixed_table(rows=300, seed=0):
    """A table with columns of every kind, missing values in all of them, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)

    def with_missing(values):
        return pa.array([None if rng.random() < 0.1 else value for value in values.tolist()])

    words = np.array(["small", "sunny", "Été", "naïve", "it's", "house—garden", "QUIET", "x_1", "two\nlines"])
    texts = np.array([" ".join(rng.choice(words[k : k + 6], 4)) for k in y], object)
    start = datetime(2024, 1, 1)
    table = pa.table({
        "the size": with_missing(rng.normal(y, 0.7)),
        "rooms": with_missing((rng.poisson(2 + y)).astype(float)),
        'a "city"': with_missing(np.array(["Gent", "l'Isle", "a\\b", "", "Ωmega"])[(y + rng.integers(0, 3, rows)) % 5]),
        "garden": with_missing(rng.random(rows) < 0.2 + 0.3 * y),
        "seen": with_missing(np.array([start + timedelta(hours=int(h)) for h in rng.integers(0, 300, rows) * (y + 1)])),
        "price": with_missing(rng.gamma(1.0 + y, 2.0, rows)),
        "share": with_missing(rng.beta(1.0 + y, 2.0, rows)),
        "advert": with_missing(texts),
    })  # fmt: skip
    return table, np.array(["it's", "b", "c"])[y]


TABLES = {
    "by itself": {},
    "informative": {"missing": "informative"},
    "per class": {"calibrate": "per class"},
    "raw scores": {"calibrate": False, "prior": Uniform()},
    "unsmoothed": {"alpha": Unsmoothed(), "calibrate": False},
    "a class that never is": {"prior": Given({"it's": 0.5, "b": 0.5, "c": 0.0}), "calibrate": False},
    "bins": {"columns": {"the size": Histogram("frequency", 50), "price": Kernel(), "share": Histogram("width")}},
    "densities": {"columns": {"the size": Gaussian(), "price": Gamma(), "share": Beta(), "rooms": Geometric()}},
    "others": {"columns": {"price": LogNormal(), "the size": Circular(3.0), "share": Exponential()}},
    "groups": {"columns": {("price", "rooms"): Multinomial(), "share": Poisson()}},
    "others' counts": {"columns": {("price", "rooms"): Complement()}},
    "declared": {
        "columns": {"rooms": Categorical(), "seen": Dates(("hour", "weekday")), "advert": Text(ngrams=(1, 2))}
    },
    "tf-idf": {"columns": {"advert": Text(weighting="tfidf", ngrams=(2, 3))}},
    "presence": {"columns": {"advert": Text(family="bernoulli")}},
    "no texts": {"columns": {"advert": None}},
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("parameters", TABLES.values(), ids=TABLES)
def test_a_table_is_scored_as_by_the_model(parameters, database):
    table, y = mixed_table()
    model = NaiveBayes(**parameters).fit(table, y)
    new, _ = mixed_table(80, seed=1)  # with categories, words and numbers that were not seen
    row = {'a "city"': ["Paris"], "the size": [1e6], "advert": [""], "share": [5.0]}
    none = pa.table({name: pa.array(row.get(name, [None]), new[name].type) for name in new.column_names})
    empty = pa.table({name: pa.nulls(1, new[name].type) for name in new.column_names})
    table = pa.concat_tables([new, none, empty])
    assert_equal_to(model, table, table, database)


TEXTS = {
    "words": {},
    "pairs": {"ngrams": (1, 2)},
    "triples": {"ngrams": (2, 3), "family": "complement"},
    "tf-idf": {"weighting": "tfidf", "ngrams": (1, 2)},
    "presence": {"family": "bernoulli"},
    "binary": {"weighting": "binary"},
    "scikit-learn's": {"tokens": "sklearn", "stop_words": "english", "ngrams": (1, 2)},
    "case": {"lowercase": False},
    "unsmoothed": {"alpha": 0.0, "calibrate": False},
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("parameters", TEXTS.values(), ids=TEXTS)
def test_texts_are_scored_as_by_the_model(parameters, database):
    texts, labels = naively.film_reviews()
    texts = [text + end for text, end in zip(texts, ["", " Naïve ÉTÉ", " x—y “z”", " İstanbul"] * 120, strict=True)]
    model = TextClassifier(choose=False, **parameters).fit(texts[:300], labels[:300])
    new = [
        *texts[300:],
        "",
        "   ",
        "ÇA naïVE — “été”",
        "don't\tgood\x01bad",
        None,
        "good 中文 bad",
        '"good" \\ bad',
        "e\u0301t",
    ]
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


ARRAYS = {
    "multinomial": MultinomialNB(),
    "complement": ComplementNB(norm=True),
    "bernoulli": BernoulliNB(),
    "bernoulli, no threshold for zeros": BernoulliNB(binarize=1.0),
    "poisson": PoissonNB(),
    "gaussian": GaussianNB(),
    "unsmoothed": MultinomialNB(alpha=Unsmoothed()),
    "categories": CategoricalNB(),
    "names": CategoricalNB(numbers="names"),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", ARRAYS.values(), ids=ARRAYS)
def test_an_array_is_scored_as_by_the_drop_in(model, database):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (200, 70)).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, 200)
    model = naively.merge(model.fit(X[:100], y[:100]), type(model)(**model.get_params()).fit(X[100:], y[100:]))
    table = pa.table({f"x{j}": pa.array(X[:40, j], from_pandas=True) for j in range(X.shape[1])})
    assert_equal_to(model, table, X[:40], database)


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


@stored("tests.OfItsOwn")
@dataclass(frozen=True)
class OfItsOwn(NumberFamily):
    """A density that nobody has told in SQL."""

    shown = ("mean",)

    def parameters(self, mean, variance):
        return (np.maximum(mean[0], 1e-9),)

    def log_density(self, x, parameters):
        return -np.log(parameters[0]) - np.sqrt(np.abs(x)) / parameters[0] + np.where(x > 2, -x, 0.5)


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
