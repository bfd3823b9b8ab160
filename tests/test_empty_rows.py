"""A row with a label is a row, also where its text is empty or missing, or where nothing stands in its table."""

from __future__ import annotations

import json
import pickle
import shlex
import warnings
from collections import Counter
from fractions import Fraction
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from families import as_csr, with_holes
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively import (
    DataWarning,
    FileError,
    NaiveBayes,
    NegativeCount,
    TextClassifier,
    cross_validate,
    evaluate,
    leave_one_out,
    suspects,
)
from naively.cli import main
from naively.count.tally import Tally
from naively.learn import held_out

some = settings(max_examples=8)
FAMILIES = ("multinomial", "complement", "bernoulli")
WAYS = [
    {"family": "multinomial", "weighting": "counts"},
    {"family": "multinomial", "weighting": "tfidf"},
    {"family": "multinomial", "weighting": "binary", "hashing": 4},
    {"family": "multinomial", "weighting": "counts", "vocabulary": ["fine", "film"]},
    {"family": "complement", "weighting": "counts"},
    {"family": "complement", "weighting": "tfidf", "norm": True},
    {"family": "bernoulli", "weighting": "counts"},
    {"family": "bernoulli", "weighting": "counts", "max_df": 0.9},
]
WHOLE = [way for way in WAYS if "max_df" not in way]  # a share that leaves no word is refused
EMPTY = (None, "", "  ", "?!")
TEXTS = [None, "x", "x", "x", "y", "y", "y"]
LABELS = list("abbbccc")


def text(**options: Any) -> TextClassifier:
    """A text classifier that chooses nothing."""
    usual = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 0.5, "calibrate": False}
    return TextClassifier(**{**usual, **options})


# --- the command line


def write(kind: str, rows: list[tuple[str | None, str | None]]) -> str:
    """Labels and texts as a file or folder; its name."""
    columns = {"label": [label for label, _ in rows], "text": [text for _, text in rows]}
    name = f"data.{kind}"
    if kind == "csv":
        lines = ["label,text", *(f"{label or ''},{text or ''}" for label, text in rows)]
        Path(name).write_text("".join(line + "\n" for line in lines))
    elif kind == "jsonl":
        listed = [{"label": label, "text": text} for label, text in rows]
        Path(name).write_text("".join(json.dumps(row) + "\n" for row in listed))
    elif kind == "parquet":
        pa.parquet.write_table(pa.table({k: pa.array(v, pa.string()) for k, v in columns.items()}), name)
    else:
        for i, (label, text) in enumerate(rows):
            folder = Path(name) / str(label)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i}.txt").write_text(text or "")
    return name


@pytest.fixture
def run(tmp_path: Path, monkeypatch: Any, capsys: Any) -> Any:
    monkeypatch.chdir(tmp_path)

    def call(argv: str) -> tuple[Any, str]:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            assert main(shlex.split(argv)) == 0, capsys.readouterr()
        out, err = capsys.readouterr()
        return (json.loads(out) if "--json" in argv else out), err

    return call


ROWS = list(zip(LABELS, TEXTS, strict=True))
ROLES = {"folder": ""} | dict.fromkeys(["csv", "jsonl", "parquet"], "--target label --text text")


@pytest.mark.parametrize("how", ["--loo", "--cv 3"])
@pytest.mark.parametrize("kind", ROLES)
def test_a_class_of_empty_texts_is_evaluated_and_counted_wrong(run: Any, kind: str, how: str) -> None:
    told, _ = run(f"evaluate {how} {write(kind, ROWS)} {ROLES[kind]} --json")
    assert told["rows"] == 7
    assert {row["class"]: row["rows"] for row in told["classes"]} == {"a": 1, "b": 3, "c": 3}
    assert told["confusion"][0][0] == 0
    assert told["accuracy"] == pytest.approx(6 / 7)


@pytest.mark.parametrize("kind", ROLES)
def test_a_class_of_empty_texts_stops_no_command_and_is_in_every_number_of_rows(run: Any, kind: str) -> None:
    data, roles = write(kind, [*ROWS, ("b", "")]), ROLES[kind]
    told, err = run(f"train {data} {roles} -o m.nb --json")
    assert (told["rows"], told["classes"], told["unlabelled"]) == (8, ["a", "b", "c"], 0)
    assert "left out" not in err
    model = naively.load("m.nb")
    assert model.class_count_.tolist() == [1, 4, 3]
    commands = ("compare", "suspects", "evaluate m.nb", "predict -o answer.csv m.nb")
    for command in commands if kind == "csv" else commands[2:]:
        told, _ = run(f"{command} {data} {roles if 'predict' not in command else ''} --json")
        assert told["rows"] == 8
    told, _ = run(f"learn m.nb {data} {roles} --json")
    assert (told["rows"], told["changed"]) == (16, 8)
    told, _ = run(f"forget m.nb {data} {roles} --json")
    assert (told["rows"], told["changed"]) == (8, 8)
    assert naively.load("m.nb").tally_ == model.tally_
    run("merge m.nb m.nb -o twice.nb")
    assert naively.load("twice.nb").class_count_.tolist() == [2, 8, 6]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_rows_without_a_label_are_left_out_and_that_is_said(run: Any, kind: str) -> None:
    data, roles = write(kind, [*ROWS, (None, "x"), (None, None)]), ROLES[kind]
    told, err = run(f"train {data} {roles} -o m.nb --json")
    assert (told["rows"], told["unlabelled"]) == (7, 2)
    assert "2 of 9 rows have no label: left out" in err
    for command in ("evaluate m.nb", "evaluate --loo"):
        told, err = run(f"{command} {data} {roles} --json")
        assert told["rows"] == 7
        assert "2 of 9 rows have no label: left out" in err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_row_of_a_table_with_nothing_in_it_is_a_row(run: Any, kind: str) -> None:
    rows = [("a", None, None), *[("b", 1.5, "red"), ("c", 7.5, "blue")] * 3]
    table = pa.table(dict(zip(("label", "size", "colour"), map(list, zip(*rows, strict=True)), strict=True)))
    if kind == "parquet":
        pa.parquet.write_table(table, "data.parquet")
    else:
        Path("data.csv").write_text(
            "label,size,colour\n" + "".join(",".join("" if v is None else str(v) for v in row) + "\n" for row in rows)
        )
    assert run(f"train data.{kind} --target label -o m.nb --json")[0]["rows"] == 7
    assert naively.load("m.nb").class_count_.tolist() == [1, 3, 3]
    told, _ = run(f"evaluate --loo data.{kind} --target label --json")
    assert {row["class"]: row["rows"] for row in told["classes"]} == {"a": 1, "b": 3, "c": 3}
    assert told["confusion"][0][0] == 0


def test_texts_that_are_all_empty_make_a_model_of_the_classes_alone_with_a_warning(run: Any) -> None:
    data = write("csv", [("a", None), ("b", None), ("b", None)])
    told, err = run(f"train {data} --target label --text text -o m.nb --json")
    assert told["rows"] == 3
    assert "no text has a word" in err
    assert naively.load("m.nb").predict_proba(["x"])[0].tolist() == pytest.approx([1 / 3, 2 / 3])


# --- one rule for every empty text


@pytest.mark.parametrize("empty", EMPTY)
@pytest.mark.parametrize("way", WAYS, ids=str)
def test_a_class_of_empty_texts_is_a_class(way: dict[str, Any], empty: str | None) -> None:
    texts = [empty, "fine film", "fine", "film", "dull", "dull film", "dull"]
    model = text(**way).fit(texts, LABELS)
    assert model.class_count_.tolist() == [1, 3, 3]
    assert repr(model.tally_).startswith("Tally(7 rows, 3 classes")
    assert not np.isnan(model.predict_proba([*texts, "never seen"])).any()
    for found in (leave_one_out(text(**way), texts, LABELS), cross_validate(text(**way), texts, LABELS, folds=3)):
        assert found.truth.tolist() == [0, 1, 1, 1, 2, 2, 2]
        assert np.isfinite(found.log_loss)
        assert found.predicted[0] != 0 or way["family"] == "complement"  # to which all classes are alike here
        assert evaluate(found).support.tolist() == [1, 3, 3]
    assert len(suspects(text(**way), texts, LABELS)) == 7
    assert evaluate(model, texts, LABELS).rows == 7


def test_models_are_compared_where_a_class_has_nothing_but_empty_texts() -> None:
    found = naively.compare({"mine": text(), "other": text(family="bernoulli")}, TEXTS, LABELS, folds=3)
    assert {told.rows for told in found.evaluations.values()} == {7}


@pytest.mark.parametrize("empty", EMPTY)
def test_the_default_classifier_takes_empty_texts_as_rows(empty: str | None) -> None:
    texts = [empty, *["fine film", "dull plot", empty] * 40]
    labels = ["a", *["b", "c", "c"] * 40]
    model = TextClassifier().fit(texts, labels)
    assert model.class_count_.tolist() == [1, 40, 80]
    assert leave_one_out(TextClassifier(), texts, labels).confusion.sum(axis=1).tolist() == [1, 40, 80]


def definition(texts: list[str | None], labels: list[str], way: str, words: list[str], alpha: Fraction) -> Any:
    """Log-prior and log-likelihood by their definitions: classes by (prior, score of a text with these words)."""
    found = {}
    known = [t for t in texts if t is not None]
    holding = {w: sum(w in t.split() for t in known) for t in known for w in t.split()}

    def idf(word: str) -> float:
        return log((1 + len(known)) / (1 + holding[word])) + 1

    for label in sorted(set(labels)):
        own = [t.split() for t, k in zip(texts, labels, strict=True) if k == label and t is not None]
        score = 0.0
        if way == "bernoulli":
            for word in holding:
                share = (sum(word in t for t in own) + alpha) / (len(own) + 2 * alpha)
                score += log(share if word in words else 1 - share)
        else:
            sums: Counter[str] = Counter()
            for t in own:
                length = sqrt(sum((1 + log(n)) ** 2 for n in Counter(t).values()))
                for word, n in Counter(t).items():
                    sums[word] += (1 + log(n)) / length if way == "tfidf" else n
            weights = {word: idf(word) if way == "tfidf" else 1.0 for word in words}
            length = sqrt(sum(w * w for w in weights.values())) if way == "tfidf" else 1.0
            for word, weight in weights.items():
                share = (sums[word] + float(alpha)) / (sum(sums.values()) + float(alpha) * len(holding))
                score += weight / length * log(share)
        found[label] = log(labels.count(label) / len(labels)), score
    return found


@pytest.mark.parametrize("way", ["counts", "tfidf", "bernoulli"])
@pytest.mark.parametrize("missing", [[None], [""], [None, "", None]], ids=str)
def test_an_empty_text_lacks_every_word_and_of_a_missing_one_none_is_known(way: str, missing: list[Any]) -> None:
    texts = ["fine film", "fine fine plot", "dull film", "dull", *missing]
    labels = ["good", "good", "bad", "bad", *["bad", "good", "none"][: len(missing)]]
    options: dict[str, Any] = {"family": "bernoulli"} if way == "bernoulli" else {"weighting": way}
    scores = text(**options).fit(texts, labels).scores(["film fine", None])
    expected = definition(texts, labels, way, ["film", "fine"], Fraction(1, 2))
    np.testing.assert_allclose(scores.prior, [prior for prior, _ in expected.values()], rtol=1e-12)
    np.testing.assert_allclose(scores.likelihood[0], [score for _, score in expected.values()], rtol=1e-9)
    np.testing.assert_array_equal(scores.likelihood[1], 0.0)


def test_a_share_of_the_texts_is_one_of_those_that_are_known() -> None:
    texts, labels = ["a b", "a", "b", None, None, None], list("xyxyxy")
    assert text(min_df=0.6).fit(texts, labels).get_feature_names_out().tolist() == ["a", "b"]
    assert text(max_df=0.5).fit([*texts, ""], [*labels, "x"]).get_feature_names_out().tolist() == ["a", "b"]


def test_a_missing_text_of_a_table_is_a_row_of_it_and_no_text_of_its_column() -> None:
    rows = {"t": ["fine film", None, "", "dull film"], "c": ["r", None, "g", None]}
    rule = naively.Text(family="bernoulli", ngrams=(1, 1), alpha=0.5)
    model = NaiveBayes(columns={"t": rule, "c": naively.Categorical()}, calibrate=False).fit(rows, list("aabb"))
    assert model.class_count_.tolist() == [2, 2]
    assert model.tally_.parts["text t"].rows.tolist() == [1, 2]
    assert {row.column: row.missing for row in model.schema_} == {"t": 1, "c": 2}
    found = model.scores({"t": ["film fine", None], "c": [None, None]})
    expected = definition(
        ["fine film", None, "", "dull film"], list("aabb"), "bernoulli", ["film", "fine"], Fraction(1, 2)
    )
    np.testing.assert_allclose(found.likelihood[0], [score for _, score in expected.values()], rtol=1e-9)
    np.testing.assert_array_equal(found.likelihood[1], 0.0)


# --- learning, forgetting, merging and keeping

words = st.lists(st.sampled_from(["fine", "film", "dull"]), max_size=4).map(" ".join)
cells = st.none() | words


@st.composite
def reviews(draw: st.DrawFn) -> tuple[list[str | None], np.ndarray[Any, Any]]:
    """Texts, many of them empty or missing, and labels; always some words."""
    texts = draw(st.lists(cells, min_size=1, max_size=8))
    labels = draw(st.lists(st.sampled_from("abc"), min_size=len(texts), max_size=len(texts)))
    return ["fine film", "dull film", None, "fine film", *texts], np.array(["a", "b", "b", "a", *labels])


def taken(X: Any, rows: Any) -> Any:
    if isinstance(X, dict):
        return {name: taken(column, rows) for name, column in X.items()}
    return [X[i] for i in np.flatnonzero(rows)] if isinstance(X, list) else X[rows]


def weights(draw: Any, rows: int) -> Any:
    drawn = draw.draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 3.0]), min_size=rows, max_size=rows))
    return None if drawn is None else np.array(drawn)


def held_out_as_by_refitting(make: Any, X: Any, y: Any, weight: Any, groups: Any, found: Any) -> None:
    """Compare with models fitted without each group; where a class goes with it, with those of the other classes."""
    assert found.scores.classes[found.truth].tolist() == y.tolist()
    for group in np.unique(groups):
        out = groups == group
        if not (~out).any():
            continue
        rest = make().fit(taken(X, ~out), y[~out], sample_weight=None if weight is None else weight[~out])
        want = rest.scores(taken(X, out))
        same = np.isin(found.scores.classes, want.classes)
        if len(want.classes) > 1 or same.all():  # of one class alone, the complement scores otherwise
            np.testing.assert_allclose(found.scores.likelihood[out][:, same], want.likelihood, rtol=1e-9, atol=1e-9)
        if same.all():
            np.testing.assert_allclose(found.scores.joint[out], want.joint, rtol=1e-9, atol=1e-9)


def held_out_both_ways(make: Any, X: Any, y: Any, weight: Any) -> None:
    found = leave_one_out(make(), X, y, sample_weight=weight)
    held_out_as_by_refitting(make, X, y, weight, np.arange(len(y)), found)
    model = make().fit(X, y, sample_weight=weight)
    codes = model._model.ledger.classes.locate(y)
    folds = held_out.folds(len(y), 3, 0, codes)
    found = cross_validate(make(), X, y, folds=3, sample_weight=weight)
    held_out_as_by_refitting(make, X, y, weight, folds, found)


@pytest.mark.parametrize("way", [way for way in WHOLE if "vocabulary" not in way], ids=str)
@some
@given(reviews(), st.data())
def test_empty_texts_are_left_out_as_by_models_without_them(way: dict[str, Any], rows: Any, draw: Any) -> None:
    held_out_both_ways(lambda: text(**way), *rows, weights(draw, len(rows[1])))


DROP_INS: dict[str, tuple[Any, Any]] = {
    "multinomial": (naively.MultinomialNB, with_holes),
    "multinomial csr": (naively.MultinomialNB, as_csr),
    "complement": (naively.ComplementNB, with_holes),
    "bernoulli": (naively.BernoulliNB, with_holes),
    "bernoulli csr": (naively.BernoulliNB, as_csr),
    "poisson": (naively.PoissonNB, with_holes),
    "categorical": (lambda: naively.CategoricalNB(min_categories=5), with_holes),
    "gaussian": (lambda: naively.GaussianNB(var_smoothing=0.5), with_holes),
    "table": (
        lambda: NaiveBayes(columns={"x": naively.Gaussian(0.5), "t": naively.Text(alpha=0.5)}, calibrate=False),
        lambda values: {
            "x": [None if v < 0 else float(v) for v in values[:, 0]],
            "t": [None if v < 0 else ["", "fine", "fine film", "dull", "dull film"][v] for v in values[:, 1]],
        },
    ),
}


@st.composite
def holed(draw: st.DrawFn) -> Any:
    """Rows of two small numbers (-1: missing), some with nothing in them, and labels."""
    row = st.just((-1, -1)) | st.tuples(st.integers(-1, 4), st.integers(-1, 4))
    rows = draw(st.lists(row, min_size=2, max_size=7))
    labels = draw(st.lists(st.sampled_from("abc"), min_size=len(rows), max_size=len(rows)))
    known = [(1, 2), (3, 1), (0, 4), (2, 2), (-1, -1), (4, 0)]
    return np.array([*known, *rows]), np.array([*"ababba", *labels])


@pytest.mark.parametrize("name", DROP_INS)
@some
@given(holed(), st.data())
def test_rows_with_nothing_in_them_are_left_out_as_by_models_without_them(name: str, rows: Any, draw: Any) -> None:
    make, as_rows = DROP_INS[name]
    values, y = rows
    held_out_both_ways(make, as_rows(values), y, weights(draw, len(y)))


def same_model(mine: Any, other: Any, rows: Any) -> None:
    assert mine.tally_ == other.tally_
    assert mine.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_allclose(mine.predict_proba(rows), other.predict_proba(rows), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("way", WHOLE, ids=str)
@some
@given(reviews(), st.data())
def test_forgetting_empty_texts_is_as_if_they_had_never_been(way: dict[str, Any], rows: Any, draw: Any) -> None:
    texts, y = rows
    weight = weights(draw, len(y))
    out = np.array(draw.draw(st.lists(st.booleans(), min_size=len(y), max_size=len(y))))
    out[:2] = False

    def of(part: Any) -> Any:
        return None if weight is None else weight[part]

    left = text(**way).fit(taken(texts, ~out), y[~out], of(~out))
    if out.any():
        whole = text(**way).fit(texts, y, weight).forget(taken(texts, out), y[out], of(out))
        same_model(whole, left, [*texts, None, ""])
        grown = (
            text(**way)
            .fit(taken(texts, ~out), y[~out], of(~out))
            .partial_fit(taken(texts, out), y[out], sample_weight=of(out))
        )
        same_model(grown, text(**way).fit(texts, y, weight), [*texts, None, ""])
        parts = [text(**way).fit(taken(texts, part), y[part], of(part)) for part in (out, ~out)]
        assert naively.merge(*parts).tally_ == grown.tally_
        one_by_one = text(**way).fit(texts, y, weight)
        for i in np.flatnonzero(out):
            one_by_one.forget([texts[i]], y[i : i + 1], None if weight is None else weight[i : i + 1])
        same_model(one_by_one, left, [*texts, None, ""])


@pytest.mark.parametrize("name", DROP_INS)
@some
@given(holed())
def test_forgetting_rows_with_nothing_in_them_is_as_if_they_had_never_been(name: str, rows: Any) -> None:
    make, as_rows = DROP_INS[name]
    values, y = rows
    X, nothing = as_rows(values), (values < 0).all(axis=1)
    mine = make().fit(X, y).forget(taken(X, nothing), y[nothing])
    same_model(mine, make().fit(taken(X, ~nothing), y[~nothing]), X)


@pytest.mark.parametrize("row", [[1.0, 2.0], [np.nan, np.nan]], ids=str)
def test_rows_are_forgotten_though_a_column_does_not_vary_in_another_class(row: list[float]) -> None:
    X, y = np.array([[4.0, 0.0], [0.0, 4.0], [0.0, 1.0], [0.0, 1.0], row]), np.array(list("aacca"))
    model = naively.GaussianNB().fit(X, y).forget(X[4:], y[4:])
    same_model(model, naively.GaussianNB().fit(X[:4], y[:4]), X)


def test_the_last_row_of_a_class_is_forgotten_with_its_class_though_its_text_is_missing() -> None:
    model = text().fit(TEXTS, LABELS).forget([None], ["a"])
    same_model(model, text().fit(TEXTS[1:], LABELS[1:]), TEXTS)


@pytest.mark.parametrize("family", FAMILIES)
def test_forgetting_a_missing_text_that_was_none_is_refused_and_changes_nothing(family: str) -> None:
    many = ["film"] * 50
    for counted, gone in ((["fine", ""], [None]), ([None, None], [""]), (["fine", None], [None, None])):
        model = text(family=family).fit([*counted, *many], ["a"] * 2 + ["b"] * 50)
        before = model.tally_
        with pytest.raises(NegativeCount, match=r"class 'a' has \d rows with(out)? a text, \d to forget"):
            model.forget(gone, ["a"] * len(gone))
        assert model.tally_ == before
        with pytest.raises(NegativeCount):
            _ = model.tally_ - text(family=family).fit(gone, ["a"] * len(gone)).tally_


def test_models_with_missing_texts_are_kept_as_they_are(tmp_path: Path) -> None:
    texts, labels = [*TEXTS, None, "", "x"], [*LABELS, "b", "c", "d"]
    for model in (text(family="bernoulli").fit(texts, labels), text(weighting="tfidf").fit(texts, labels, [0.5] * 10)):
        model.save(tmp_path / "m.nb")
        same_model(naively.load(tmp_path / "m.nb"), model, texts)
        loaded = naively.load(tmp_path / "m.nb").forget([None, ""], ["b", "c"], [0.5, 0.5])
        assert loaded.tally_ + text().fit([None, ""], ["b", "c"], [0.5, 0.5]).tally_ == model.tally_
        same_model(pickle.loads(pickle.dumps(model)), model, texts)
        again = Tally.from_arrow(model.tally_.to_arrow())
        assert again == model.tally_
        assert again.part.rows.tolist() == model.tally_.part.rows.tolist()
        model.save(tmp_path / "frozen.nb", frozen=True)
        loaded = naively.load(tmp_path / "frozen.nb")
        np.testing.assert_array_equal(loaded.predict_proba(texts), model.predict_proba(texts))
        assert loaded.class_count_.tolist() == model.class_count_.tolist()


def test_equal_counts_make_equal_files_whether_texts_were_missing_on_the_way_or_not(tmp_path: Path) -> None:
    text().fit(TEXTS[1:], LABELS[1:]).save(tmp_path / "never.nb")
    text().fit(TEXTS, LABELS).partial_fit([None], ["c"]).forget([None, None], ["a", "c"]).save(tmp_path / "gone.nb")
    assert (tmp_path / "never.nb").read_bytes() == (tmp_path / "gone.nb").read_bytes()
    text().fit([*TEXTS, None], [*LABELS, "b"]).save(tmp_path / "one.nb")
    text().fit([None, *TEXTS[::-1]], ["b", *LABELS[::-1]]).save(tmp_path / "other.nb")
    assert (tmp_path / "one.nb").read_bytes() == (tmp_path / "other.nb").read_bytes()


def test_a_file_or_table_with_more_missing_rows_than_rows_is_refused(tmp_path: Path) -> None:
    tally = text().fit(TEXTS, LABELS).tally_
    rows = tally.rows.tolist()
    for forged in ([rows[0] + 1, *rows[1:]], [-1, *rows[1:]], rows[:-1]):
        table, name = tally.to_arrow(), "tally.parts.words.exact_rows"
        values = pa.array([forged], table[name].type)
        with pytest.raises(naively.InputError, match="rows"):
            Tally.from_arrow(table.set_column(table.column_names.index(name), name, values))
    model = text().fit(TEXTS, LABELS)
    for forged in (np.array([rows[0] + 1, *rows[1:]]), np.array([-1, *rows[1:]]), np.array(rows[:-1])):
        ledger = model._model.ledger
        object.__setattr__(ledger.counted["words"].levels[0], "exact_rows", forged)
        for cached in (ledger, ledger.counted["words"]):
            cached.__dict__.pop("total", None)
        ledger.counted["words"].__dict__.pop("exact_rows", None)
        model.save(tmp_path / "forged.nb")
        with pytest.raises(FileError, match="rows"):
            naively.load(tmp_path / "forged.nb")


# --- streams


def test_a_stream_may_begin_with_empty_texts() -> None:
    for first in ([None, None], ["", None], [" ", ""]):
        with pytest.warns(DataWarning, match="no text has a word"):
            model = text().partial_fit(first, ["a", "b"])
        assert model.predict_proba(["x"]).tolist() == [[0.5, 0.5]]
        model.partial_fit(TEXTS, LABELS)
        with pytest.warns(DataWarning, match="no text has a word"):
            at_once = text().fit(first, ["a", "b"])
        same_model(model, text().fit([*first, *TEXTS], ["a", "b", *LABELS]), TEXTS)
        assert at_once.classes_.tolist() == ["a", "b"]
    batches = iter([([None], ["a"]), (TEXTS, LABELS)])
    with pytest.warns(DataWarning, match="no text has a word"):
        assert text().fit(batches).class_count_.tolist() == [2, 3, 3]


def test_batches_learnt_side_by_side_count_missing_texts_too() -> None:
    batches = [(TEXTS, LABELS), ([None, ""], ["a", "d"]), (["x", None], ["c", "b"])]
    model = text(threads=2)
    assert list(model.learn_batches(batches)) == [7, 2, 2]
    same_model(model, text().fit([*TEXTS, None, "", "x", None], [*LABELS, *"adcb"]), TEXTS)
