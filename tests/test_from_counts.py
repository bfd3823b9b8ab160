"""Models from counts that somebody else made, as a database does: equal to those that have seen the rows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively.errors import InputError

few = settings(max_examples=30, deadline=None)
WORDS = ["a", "b", "ab", "não", "w" * 17, "x1"]
documents = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=12)


def classifier(**options: Any) -> Any:
    usual = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 2), "alpha": 1.0, "calibrate": False}
    return naively.TextClassifier(**{**usual, **options})


def counted_in_sql(texts: list[str], labels: list[str], pairs: bool) -> pa.Table:
    """What GROUP BY gives of a table of tokens, by DuckDB."""
    import duckdb

    rows: list[tuple[int, str, str]] = []
    for i, (text, label) in enumerate(zip(texts, labels, strict=True)):
        tokens = text.split()
        rows += [(i, label, word) for word in tokens]
        if pairs:
            rows += [(i, label, " ".join(pair)) for pair in pairwise(tokens)]
    tokens_table = pa.table(
        {
            "row": pa.array([r[0] for r in rows], pa.int64()),
            "class": pa.array([r[1] for r in rows], pa.string()),
            "word": pa.array([r[2] for r in rows], pa.string()),
        }
    )
    connection = duckdb.connect()
    connection.register("tokens", tokens_table)
    connection.register("labels", pa.table({"class": labels}))
    return connection.sql(
        """SELECT class, 'text' AS "column", word AS value, count(*) AS count, count(DISTINCT row) AS documents
           FROM tokens GROUP BY class, word
           UNION ALL SELECT class, NULL, NULL, count(*), NULL FROM labels GROUP BY class"""
    ).to_arrow_table()


@pytest.mark.filterwarnings("ignore::naively.errors.DataWarning")
@few
@given(documents, st.booleans(), st.data())
def test_counts_of_a_database_give_the_model_of_the_texts(texts: list[str], pairs: bool, more: Any) -> None:
    labels = more.draw(st.lists(st.sampled_from("xyz"), min_size=len(texts), max_size=len(texts)))
    options = {"ngrams": (1, 2) if pairs else (1, 1), "weights": False}
    local = classifier(**options).fit(texts, labels)
    found = naively.TextClassifier.from_counts(
        counted_in_sql(texts, labels, pairs), family="multinomial", weighting="counts", alpha=1.0, calibrate=False,
        **options,
    )  # fmt: skip
    assert found.tally_ == local.tally_
    assert found.classes_.tolist() == local.classes_.tolist()
    np.testing.assert_array_equal(found.predict_proba(texts), local.predict_proba(texts))
    found.partial_fit(texts, labels).forget(texts, labels)
    assert found.tally_ == local.tally_


@pytest.mark.parametrize(
    "options",
    [{}, {"weights": False}, {"vocabulary": ["a", "ab", "never seen"], "ngrams": (1, 1)}, {"tokens": "chars"}],
    ids=str,
)
def test_counts_of_a_model_make_it_again(options: dict[str, Any], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    texts: list[Any] = [" ".join(rng.choice(WORDS, rng.integers(1, 9))) for _ in range(50)] + [None, None]
    labels = rng.choice([1, 2, 3], len(texts))
    model = classifier(**options).fit(texts, labels)
    table = model.to_counts()
    again = naively.TextClassifier.from_counts(table, **model.get_params())
    assert again.tally_ == model.tally_
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    pq.write_table(table, tmp_path / "counts.parquet")
    shuffled = pq.read_table(tmp_path / "counts.parquet").take(pa.array(rng.permutation(len(table))))
    assert naively.TextClassifier.from_counts(shuffled, **model.get_params()).tally_ == model.tally_
    model.save(tmp_path / "one.nb")
    again.save(tmp_path / "other.nb")
    assert (tmp_path / "one.nb").read_bytes() == (tmp_path / "other.nb").read_bytes()


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "PoissonNB"])
@pytest.mark.parametrize("named", [False, True])
@few
@given(st.integers(0, 2**32 - 1))
def test_counts_of_features_make_the_model_of_the_rows(name: str, named: bool, seed: int) -> None:
    import pandas as pd

    rng = np.random.default_rng(seed)
    columns = ["n", "a", "k", "b"]
    X, y = rng.poisson(0.6, (30, 4)).astype(float), rng.choice(["p", "q"], 30)
    if name in ("BernoulliNB", "PoissonNB"):
        X[rng.random(X.shape) < 0.1] = np.nan
    rows: Any = pd.DataFrame(X, columns=columns) if named else X
    kind = getattr(naively, name)
    local = kind().fit(rows, y)
    listed = columns if named else range(4)
    table: dict[str, list[Any]] = {"class": [], "column": [], "count": [], "missing": []}
    for label in np.unique(y):
        for j, column in enumerate(listed):
            values = X[y == label, j]
            known = values[~np.isnan(values)]
            table["class"].append(label)
            table["column"].append(column)
            table["count"].append(int((known > 0).sum() if name == "BernoulliNB" else known.sum()))
            table["missing"].append(int(np.isnan(values).sum()))
    sizes = dict(Counter(y.tolist()))
    found = kind.from_counts(table, sizes, columns=columns if named else None)
    assert found.tally_ == local.tally_
    assert found.n_features_in_ == 4
    np.testing.assert_array_equal(found.predict_proba(rows), local.predict_proba(rows))
    again = kind.from_counts(local.to_counts(), columns=columns if named else None)
    assert again.tally_ == local.tally_


def test_rows_of_the_same_word_are_added_up_whatever_their_order() -> None:
    parts = {"class": ["x", "y", "x"], "value": ["a", "a", "a"], "count": [3, 1, 4], "documents": [2, 1, 1]}
    one = naively.TextClassifier.from_counts(parts, {"x": 5, "y": 1})
    whole = {"class": ["y", "x"], "value": ["a", "a"], "count": [1.0, 7.0], "documents": [1, 3]}
    assert one.tally_ == naively.TextClassifier.from_counts(pa.table(whole), {"y": 1, "x": 5}).tally_


GOOD = {"class": ["x", "y"], "value": ["a", "b"], "count": [3, 2], "documents": [2, 1]}
SIZES = {"x": 3, "y": 2}


@pytest.mark.parametrize(
    ("change", "sizes", "problem"),
    [
        ({"class": None}, SIZES, "needs a column 'class'"),
        ({"count": None}, SIZES, "needs a column 'count'"),
        ({"value": None}, SIZES, "needs a column 'value'"),
        ({"documents": None}, SIZES, "COUNT\\(DISTINCT row\\)"),
        ({"class": ["x", None]}, SIZES, "row 1: the class is missing"),
        ({"count": [3, -2]}, SIZES, "row 1: 'count' is -2"),
        ({"count": [3, 2.5]}, SIZES, "whole numbers"),
        ({"count": [3, float("nan")]}, SIZES, "whole numbers"),
        ({"count": ["many", "few"]}, SIZES, "whole numbers"),
        ({"count": [3, None]}, SIZES, "row 1: 'count' is missing"),
        ({"documents": [2, None]}, SIZES, "row 1: 'documents' is missing"),
        ({"documents": [4, 1]}, SIZES, "'a' in class 'x': more rows"),
        ({"documents": [0, 1]}, SIZES, "'a' in class 'x': more rows with it than occurrences, or none"),
        ({"count": [9, 2], "documents": [4, 1]}, SIZES, "'a' in class 'x': more rows with it than there are"),
        ({"value": ["a", ""]}, SIZES, "row 1: '' is no word"),
        ({"value": ["a", "b  c"]}, SIZES, "one blank"),
        ({"value": ["a", "b c"]}, SIZES, "'b c' is not 1 to 1 words"),
        ({"value": [1, 2]}, SIZES, "expected a word, got 1"),
        ({}, {"x": 3}, "row 1: class 'y' has counts, but no rows"),
        ({}, {}, "no class has any rows"),
        ({}, None, "number of rows of each class is not known"),
        ({}, {"x": 3, "y": 2.5}, "expected a whole number"),
        ({}, {"x": 3, "y": -1}, "expected a whole number"),
        ({}, {"x": 3, 4: 1}, "all text or all numbers"),
        ({"column": ["text", None]}, SIZES, "row 1: the column is missing, but rows_per_class"),
        ({"column": ["one", "two"]}, SIZES, "texts are one column, got counts of 2"),
        ({"value": ["a", None], "count": [3, 9]}, SIZES, "has 2 rows and 9 rows without a text"),
    ],
)
def test_tables_that_make_no_sense_are_refused(change: dict[str, Any], sizes: Any, problem: str) -> None:
    table = {name: column for name, column in {**GOOD, **change}.items() if column is not None}
    with pytest.raises(InputError, match=problem):
        naively.TextClassifier.from_counts(table, sizes)


def test_what_counts_cannot_give_is_refused() -> None:
    with pytest.raises(InputError, match="expected a table of counts, got int"):
        naively.TextClassifier.from_counts(3, SIZES)
    with pytest.raises(InputError, match="hashing"):
        naively.TextClassifier.from_counts(GOOD, SIZES, hashing=5)
    with pytest.raises(InputError, match="weights=False"):
        naively.TextClassifier.from_counts(GOOD, SIZES, weights=True)
    with pytest.raises(InputError, match="more rows with it than there are"):
        naively.BernoulliNB.from_counts({"class": ["x"], "column": ["a"], "count": [4]}, {"x": 3})
    with pytest.raises(InputError, match="none of the given columns"):
        naively.MultinomialNB.from_counts({"class": ["x"], "column": ["a"], "count": [4]}, {"x": 3}, columns=["b"])
    weighted = classifier().fit(["a", "b"], ["x", "y"], [0.5, 1.5])
    with pytest.raises(InputError, match="fractional weights"):
        weighted.to_counts()
    hashed = classifier(hashing=5).fit(["a", "b"], ["x", "y"])
    with pytest.raises(InputError, match="hashed"):
        hashed.to_counts()


def test_a_class_without_any_word_is_known() -> None:
    model = naively.TextClassifier.from_counts(GOOD, {**SIZES, "z": 7})
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert model.predict([""]).tolist() == ["z"]


# --- the command line


def ran(capsys: pytest.CaptureFixture[str], *argv: object) -> tuple[int, str, str]:
    from naively.cli import main

    code = main([str(word) for word in argv])
    return code, *capsys.readouterr()


def test_a_command_makes_a_model_of_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts, labels = naively.film_reviews()
    local = classifier(weights=False, ngrams=(1, 1)).fit(texts, labels)
    table = local.to_counts()
    half = len(table) // 2
    pq.write_table(table.slice(0, half), tmp_path / "1.parquet")
    pq.write_table(table.slice(half), tmp_path / "2.parquet")
    pa.csv.write_csv(
        pa.table({name: pa.array(table[name].to_pylist()) for name in table.column_names}), tmp_path / "c.csv"
    )
    for number, data in enumerate(([tmp_path / "1.parquet", tmp_path / "2.parquet"], [tmp_path / "c.csv"])):
        output = tmp_path / f"{number}.nb"
        code, out, err = ran(capsys, "train", "--from-counts", *data, "-o", output, "--alpha", 1)
        assert (code, err) == (0, "")
        assert f"{len(texts)}" in out
        assert naively.load(output).tally_ == local.tally_
    pq.write_table(pa.table({"text": texts[:5]}), tmp_path / "new.parquet")
    code, out, _ = ran(capsys, "predict", output, tmp_path / "new.parquet")
    assert code == 0
    assert [line.split("\t")[0] for line in out.splitlines()][-5:] == local.predict(texts[:5]).tolist()


@pytest.mark.parametrize(
    "option", [["--checkpoint"], ["--hashing", 9], ["--text", "text"], ["--columns", "a"]], ids=str
)
def test_options_that_need_rows_are_refused(
    option: list[Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(classifier().fit(["a"], ["x"]).to_counts(), tmp_path / "c.parquet")
    code, _, err = ran(capsys, "train", "--from-counts", tmp_path / "c.parquet", "-o", tmp_path / "m.nb", *option)
    assert code == 2
    assert f"{option[0]} needs rows" in err
    assert not (tmp_path / "m.nb").exists()


def test_rows_in_place_of_counts_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pq.write_table(pa.table({"text": ["a"], "label": ["x"]}), tmp_path / "rows.parquet")
    code, _, err = ran(capsys, "train", "--from-counts", tmp_path / "rows.parquet", "-o", tmp_path / "m.nb")
    assert code != 0
    assert "a table of counts needs a column 'class'" in err
    assert not (tmp_path / "m.nb").exists()


# --- numbers


@few
@given(st.integers(0, 2**32 - 1))
def test_values_and_their_counts_give_the_model_of_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (40, 3)) * 0.1 + 1e8
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.choice(["p", "q"], 40)
    rows = [(y[i], j, None if np.isnan(X[i, j]) else X[i, j]) for i in range(40) for j in range(3)]
    grouped = Counter(rows)
    table = pa.table(
        {
            "class": [key[0] for key in grouped],
            "column": [key[1] for key in grouped],
            "value": pa.array([key[2] for key in grouped], pa.float64()),
            "count": list(grouped.values()),
        }
    )
    local, sizes = naively.GaussianNB().fit(X, y), Counter(y.tolist())
    found = naively.GaussianNB.from_counts(table.take(pa.array(rng.permutation(len(table)))), sizes)
    assert found.tally_ == local.tally_
    np.testing.assert_array_equal(found.predict_proba(X), local.predict_proba(X))
    assert found.forget(X[:5], y[:5]).tally_ == local.forget(X[:5], y[:5]).tally_


def test_sums_and_squares_give_means_and_variances() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    table: dict[str, list[Any]] = {name: [] for name in ("class", "column", "count", "sum", "squares")}
    for label in (0, 1):
        for j in (0, 1):
            x = X[y == label, j]
            for name, value in zip(table, (label, j, len(x), x.sum(), (x * x).sum()), strict=True):
                table[name].append(value)
    found, local = naively.GaussianNB.from_counts(table, {0: 30, 1: 30}), naively.GaussianNB().fit(X, y)
    np.testing.assert_allclose(found.theta_, local.theta_, rtol=1e-12)
    np.testing.assert_allclose(found.var_, local.var_, rtol=1e-12)


NUMBERS = {"class": ["x"], "column": ["a"], "count": [2], "sum": [3.0], "squares": [5.0]}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"squares": [4.0]}, "column 'a' of class 'x': no values have such sums"),
        ({"count": [0]}, "column 'a' of class 'x': no values have such sums"),
        ({"count": [9]}, "9 values in 3 rows"),
        ({"sum": [None]}, "row 0: the sum of numbers, or of their squares, is missing"),
        ({"squares": [float("inf")]}, "infinite"),
        ({"sum": ["b"]}, "column 'sum': expected numbers"),
        ({"squares": None}, "'sum' and 'squares'"),
        ({"value": [float("inf")]}, "row 0: inf cannot be counted"),
        ({"value": [1.0], "count": [9]}, "9 values in 3 rows"),
        ({name: column * 2 for name, column in NUMBERS.items()}, "twice"),
    ],
)
def test_sums_of_no_values_are_refused(change: dict[str, Any], problem: str) -> None:
    table = {name: column for name, column in {**NUMBERS, **change}.items() if column is not None}
    with pytest.raises(InputError, match=problem):
        naively.GaussianNB.from_counts(table, {"x": 3})


def test_sums_are_not_given_as_rounded_numbers() -> None:
    with pytest.raises(InputError, match="to_arrow"):
        naively.GaussianNB().fit([[1.0], [2.0]], [0, 1]).to_counts()
