"""Prequential evaluation: every batch is predicted by a model of the batches before it, and only of those."""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

import naively
from naively import GaussianNB, InputError, MultinomialNB, NaiveBayes, TextClassifier, prequential

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 240)
X = RNG.poisson(1.0 + np.eye(3)[Y] * 2)


def cut(size: int, *columns: Any) -> list[tuple[Any, ...]]:
    return [tuple(column[i : i + size] for column in columns) for i in range(0, len(columns[0]), size)]


@given(st.integers(1, 120), st.booleans())
def test_figures_are_those_of_models_that_had_not_seen_the_rows(size: int, weighted: bool) -> None:
    weight = np.arange(240) % 3 + 1.0
    found = prequential(MultinomialNB(), cut(size, X, Y, weight) if weighted else cut(size, X, Y), classes=[0, 1, 2])
    model, decided, proba = MultinomialNB(), [], []
    for rows, labels, each in cut(size, X, Y, weight):
        if hasattr(model, "classes_"):
            decided.append(model.predict(rows))
            proba.append(model.predict_proba(rows))
        model.partial_fit(rows, labels, [0, 1, 2], each if weighted else None)
    used = weight[size:] if weighted else None
    expected = metrics.accuracy_score(Y[size:], np.concatenate(decided), sample_weight=used)
    assert found.accuracy == pytest.approx(expected)
    loss = metrics.log_loss(Y[size:], np.concatenate(proba), labels=[0, 1, 2], sample_weight=used)
    assert found.log_loss == pytest.approx(loss)
    assert found.seen[-1] == 240 - size
    assert found.model.tally_ == model.tally_


@given(st.integers(1, 60), st.integers(1, 200))
def test_the_model_in_a_window_is_that_of_its_rows_alone(size: int, window: int) -> None:
    found = prequential(MultinomialNB(), cut(size, X, Y), classes=[0, 1, 2], window=window)
    starts = [start for start in range(0, 240, size) if 240 - start >= window]
    expected = MultinomialNB().partial_fit(X[starts[-1] :], Y[starts[-1] :], [0, 1, 2])
    assert found.model.tally_ == expected.tally_
    np.testing.assert_array_equal(found.model.predict(X), expected.predict(X))


def test_a_window_as_long_as_the_stream_forgets_nothing() -> None:
    whole = prequential(MultinomialNB(), cut(40, X, Y), classes=[0, 1, 2])
    assert prequential(MultinomialNB(), cut(40, X, Y), classes=[0, 1, 2], window=240).accuracy == whole.accuracy


def test_a_fitted_model_is_copied_and_judged_from_the_first_batch_on() -> None:
    model = MultinomialNB().fit(X[:40], Y[:40])
    before = model.tally_
    found = prequential(model, cut(40, X[40:], Y[40:]))
    assert model.tally_ == before
    assert found.seen.tolist() == [40, 80, 120, 160, 200]
    assert found.accuracy == prequential(MultinomialNB(), cut(40, X, Y), classes=[0, 1, 2]).accuracy
    assert found.model.tally_ == MultinomialNB().fit(X, Y).tally_


def test_streams_may_be_texts_tables_and_iterators() -> None:
    words = [" ".join(f"w{value}" for value in row) for row in X]
    labels = [f"class {label}" for label in Y]
    found = prequential(TextClassifier(family="multinomial", ngrams=(1, 1)), iter(cut(60, words, labels)))
    assert found.seen.tolist() == [60, 120, 180]
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=labels)
    parts: Iterator[Any] = (frame[i : i + 60] for i in range(0, 240, 60))
    by_name = prequential(NaiveBayes(calibrate=False), parts, "label")
    pairs = [
        (part.drop(columns="label"), part["label"].tolist()) for part in (frame[i : i + 60] for i in range(0, 240, 60))
    ]
    assert by_name.accuracy == prequential(NaiveBayes(calibrate=False), pairs).accuracy


def test_an_alarm_is_given_when_errors_become_more_frequent_and_only_then() -> None:
    y = RNG.integers(0, 2, 6000)
    steady = RNG.normal(3.0 * y)[:, None]
    turned = np.where(np.arange(6000) < 3000, steady[:, 0], 3.0 - steady[:, 0])[:, None]
    assert prequential(GaussianNB(), cut(100, steady, y), classes=[0, 1]).alarms == ()
    [alarm, *_] = prequential(GaussianNB(), cut(100, turned, y), classes=[0, 1]).alarms
    assert 2900 < alarm <= 3200
    assert prequential(GaussianNB(), cut(100, turned, y), classes=[0, 1], alarm=1e9).alarms == ()


def test_it_shows_itself() -> None:
    found = prequential(MultinomialNB(), cut(10, X, Y), classes=[0, 1, 2])
    assert (
        repr(found)
        == f"Prequential(230 rows, 23 batches, accuracy {found.accuracy:.4f}, log-loss {found.log_loss:.4f}, 0 alarms)"
    )
    lines = str(found).splitlines()
    assert lines[1].split() == ["rows", "accuracy", "log_loss", "alarms"]
    assert len(lines) == 12
    assert lines[-1].split()[0] == "230"
    assert found.to_frame().columns.tolist() == ["seen", "accuracy", "log_loss", "alarm"]
    assert found.plot().get_xlabel() == "rows"
    assert pickle.loads(pickle.dumps(found)).accuracy == found.accuracy


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda: prequential(MultinomialNB(), []), "no batch to predict"),
        (
            lambda: prequential(MultinomialNB(), cut(240, X, Y), classes=[0, 1, 2]),
            "no batch to predict: two are needed",
        ),
        (
            lambda: prequential(MultinomialNB(), cut(40, X, Y), classes=[0, 1, 2], window=241),
            "window=241 is longer than the stream, which has 240 rows",
        ),
        (lambda: prequential(MultinomialNB(), cut(40, X, Y), window=0), "window must be a whole number, 1 or more"),
        (lambda: prequential(MultinomialNB(), cut(40, X, Y), alarm=0), "alarm must be a number of standard deviations"),
        (lambda: prequential(MultinomialNB(), cut(40, X, Y)), "batch 0: classes must be passed"),
        (lambda: prequential(MultinomialNB(), [X[:40]], classes=[0, 1, 2]), "batch 0: labels are needed"),
        (
            lambda: prequential(MultinomialNB(), [*cut(120, X, Y), (X[:2, :2], Y[:2])], classes=[0, 1, 2]),
            "batch 2: X has 2 features",
        ),
        (lambda: prequential("a model", cut(40, X, Y)), "expected .*model"),
    ],
)
def test_streams_that_cannot_be_learnt_are_refused(use: Any, message: str) -> None:
    with pytest.raises((InputError, naively.NaivelyError), match=message):
        use()
