"""An ONNX model gives what the model gives, run by onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pyarrow as pa
import pytest
from exported import ARRAYS, TABLES, TEXTS, OfItsOwn, film_reviews, fitted_array, mixed_table, new_rows
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline

from naively import (
    BernoulliNB,
    Categorical,
    CategoricalNB,
    GaussianNB,
    InputError,
    MultinomialNB,
    NaiveBayes,
    NegativeBinomial,
    TextClassifier,
)
from naively.read.texts import Texts


def run(made, inputs):
    """Labels and probabilities by onnxruntime."""
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    names = {value.name for value in session.get_inputs()}
    return session.run(["label", "probabilities"], {name: values for name, values in inputs.items() if name in names})


def inputs_of(table):
    """Columns as ONNX takes them: missing numbers are NaN, missing texts are empty."""
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_temporal(column.type):
            continue
        values = column.to_pylist()
        if pa.types.is_string(column.type):
            columns[name] = np.array([[value or ""] for value in values], object)
        else:
            columns[name] = np.array([[np.nan if value is None else float(value)] for value in values])
    return columns


def assert_equal_to(model, X, inputs, **options):
    labels, chances = run(model.to_onnx(**options), inputs)
    np.testing.assert_allclose(chances, model.predict_proba(X), rtol=0, atol=1e-12)
    assert chances.dtype == np.float64
    assert [str(label) for label in labels.tolist()] == [str(label) for label in model.predict(X).tolist()]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [name for name in TABLES if name != "declared"])
def test_a_table_is_scored_as_by_the_model(name):
    table, y = mixed_table()
    parameters = {**TABLES[name], "columns": {**TABLES[name].get("columns", {}), "seen": None}}
    model = NaiveBayes(**parameters).fit(without_empty(table), y)
    table = without_empty(pa.concat_tables([table, new_rows()]))
    assert_equal_to(model, table, inputs_of(table))


def without_empty(table):
    """The table with another name for the empty category."""
    cities = [city if city != "" else "none" for city in table['a "city"'].to_pylist()]
    return table.set_column(table.column_names.index('a "city"'), 'a "city"', pa.array(cities))


def test_whole_numbers_may_be_categories():
    table = pa.table({"zip": [9000, 8000, 9000, 2000, 2000, None], "n": [1.5, 2.0, 1.0, 8.0, 9.0, 7.5]})
    model = NaiveBayes(columns={"zip": Categorical()}).fit(table, list("aaabbb"))
    table = pa.concat_tables([table, pa.table({"zip": pa.array([1, None]), "n": pa.array([None, None], pa.float64())})])
    assert_equal_to(model, table, inputs_of(table))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [name for name in TEXTS if name != "scikit-learn's"])
def test_texts_are_split_and_scored_as_by_the_model(name):
    texts, labels, new = film_reviews()
    model = TextClassifier(choose=False, **TEXTS[name]).fit(texts, labels)
    assert_equal_to(model, new, {"text": np.array(new, object)[:, None]})


POINTS = [p for p in range(1, 0x110000) if not 0xD800 <= p < 0xE000 and chr(p) not in "İΣ"]
"""All characters but the capital I with a dot and the Greek sigma, whose lower case is another one here."""


@pytest.mark.parametrize("kind", ["words", "sklearn"])
def test_every_character_parts_words_as_in_the_model(kind):
    texts = [f"good{chr(point)}bad {chr(point)}É" for point in POINTS]
    model = TextClassifier(choose=False, tokens=kind, ngrams=(1, 2), calibrate=False)
    model.fit(["good fine good é", "bad éa xé badé badly", "fine bad"], ["a", "b", "b"])
    for begin in range(0, len(texts), 100_000):
        part = texts[begin : begin + 100_000]
        assert_equal_to(model, part, {"text": np.array(part, object)[:, None]})


@pytest.mark.parametrize("kind", ["words", "sklearn"])
def test_every_character_has_the_lower_case_of_the_model(kind):
    cased = [chr(point) for point in POINTS if chr(point).lower() != chr(point) and chr(point).lower() not in "σς"]
    texts = [f"q{character}q" for character in cased]
    model = TextClassifier(choose=False, tokens=kind, calibrate=False).fit([" ".join(texts[::2]), "q"], ["a", "b"])
    assert_equal_to(model, texts, {"text": np.array(texts, object)[:, None]})


NOT_SPLIT = [{"tokens": "chars", "ngrams": (2, 3)}, {"negation": True, "weighting": "tfidf"}]


@pytest.mark.parametrize("parameters", NOT_SPLIT)
def test_counts_of_words_may_be_the_input(parameters):
    texts, labels, new = film_reviews()
    model = TextClassifier(choose=False, **parameters).fit(texts, labels)
    with pytest.raises(InputError, match="not exported"):
        model.to_onnx()
    counts, names = counts_of_words(model, new)
    order = np.argsort(np.array(names, object))
    assert_equal_to(model, new, {"text": counts[:, order]}, texts="counts")


def counts_of_words(model, texts):
    """Counts of the words of each text, by the model's own vocabulary, and these words."""
    from naively.families.words.rows import read_words

    table = model.table_.block
    rows = read_words(table.words.tokens.core, table.features.words, Texts.of(texts), 1, None, split=True)
    counts = np.zeros((len(texts), table.features.words.size))
    counts[rows.row, rows.number] = rows.count
    numbers = table.features.numbers
    return counts[:, numbers], table.features.words.names_of(numbers)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", ARRAYS.values(), ids=ARRAYS)
def test_an_array_is_scored_as_by_the_drop_in(model):
    model, X = fitted_array(model)
    assert_equal_to(model, X, {"X": X})


def test_an_array_of_texts_is_one_input():
    X = np.array([["a", "x"], ["b", "x"], ["a", "y"], ["b", "z"]], object)
    assert_equal_to(CategoricalNB().fit(X, [0, 1, 0, 1]), X, {"X": X})


def test_columns_that_say_nothing_are_part_of_the_array():
    X = np.array([[1.0, 5.0, 3.0], [2.0, 5.0, 4.0], [1.5, 5.0, 9.0], [9.0, 5.0, 8.0]])
    assert_equal_to(GaussianNB().fit(X, [4, 4, -7, -7]), X, {"X": X})


def test_a_family_of_a_user_is_exported_by_its_own_formula():
    table, y = mixed_table()
    table = table.select(["price", "the size"])
    assert_equal_to(NaiveBayes(columns={"price": OfItsOwn()}).fit(table, y), table, inputs_of(table))


def test_what_cannot_be_exported_is_refused_by_name():
    table, y = mixed_table()
    with pytest.raises(InputError, match="points in time"):
        NaiveBayes().fit(table.select(["seen"]), y).to_onnx()
    with pytest.raises(InputError, match="empty text is a category"):
        NaiveBayes().fit(table.select(['a "city"']), y).to_onnx()
    with pytest.raises(InputError, match="NegativeBinomial"):
        NaiveBayes(columns={"rooms": NegativeBinomial()}).fit(table.select(["rooms"]), y).to_onnx()
    texts, labels, _ = film_reviews()
    with pytest.raises(InputError, match="stop words"):
        TextClassifier(choose=False, stop_words="english", ngrams=(1, 2)).fit(texts, labels).to_onnx()
    with pytest.raises(InputError, match="hashed words"):
        TextClassifier(choose=False, hashing=12).fit(texts, labels).to_onnx(texts="counts")
    with pytest.raises(InputError, match="texts must be one of"):
        GaussianNB().fit([[1.0], [2.0]], [0, 1]).to_onnx(texts="count")


def test_the_model_is_checked_and_says_its_inputs():
    table, y = mixed_table()
    made = NaiveBayes(columns={"seen": None, "advert": None}).fit(without_empty(table), y).to_onnx()
    onnx.checker.check_model(made, full_check=True)
    columns = {"the size", "rooms", 'a "city"', "garden", "price", "share"}
    assert {value.name for value in made.graph.input} == columns


@pytest.mark.parametrize("kind", [GaussianNB, MultinomialNB, BernoulliNB, CategoricalNB])
@pytest.mark.parametrize("labels", [["a", "b"], [3, -1]])
def test_drop_ins_are_converted_by_skl2onnx_in_a_pipeline(kind, labels):
    skl2onnx = pytest.importorskip("skl2onnx", reason="install skl2onnx to convert pipelines")
    rng = np.random.default_rng(3)
    X = rng.integers(0, 5, (60, 4)).astype(float)
    y = np.array(labels)[(X[:, 0] + rng.random(60) > 2.5).astype(int)]
    pipeline = make_pipeline(VarianceThreshold(), kind()).fit(X, y)
    session = onnxruntime.InferenceSession(skl2onnx.to_onnx(pipeline, X[:1]).SerializeToString())
    found, chances = session.run(None, {"X": X})
    assert found.tolist() == pipeline.predict(X).tolist()
    np.testing.assert_allclose(chances, pipeline.predict_proba(X), rtol=0, atol=1e-12)
