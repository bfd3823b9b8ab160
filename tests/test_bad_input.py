"""Bad input gets one clear error and leaves the model as it was."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import naively

GOOD = np.array([[0, 2, 1], [3, 0, 1], [1, 1, 0], [0, 0, 2]])
LABELS = np.array(["a", "b", "a", "b"])
ALL = [
    naively.BernoulliNB(),
    naively.CategoricalNB(),
    naively.ComplementNB(),
    naively.GaussianClassifier(covariance="full"),
    naively.GaussianClassifier(covariance="diagonal"),
    naively.GaussianNB(),
    naively.MultinomialNB(),
    naively.PoissonNB(),
]
COUNTS = [e for e in ALL if isinstance(e, (naively.ComplementNB, naively.MultinomialNB, naively.PoissonNB))]

every_estimator = pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)


def fitted(make: Any, **options: Any) -> Any:
    return make(**options).fit(GOOD, LABELS)


def spoilt(row: int, column: int, value: Any) -> Any:
    X = GOOD.astype(object) if not isinstance(value, (int, float)) else GOOD.astype(float)
    X[row, column] = value
    return X


BAD: list[tuple[str, Any, Any, Any, str]] = [
    ("an infinity", spoilt(2, 1, np.inf), LABELS, None, r"row 2, column 1"),
    ("too few columns", GOOD[:, :2], LABELS, None, r"2 features.*3 features"),
    ("too many labels", GOOD, [*LABELS, "a"], None, r"inconsistent numbers of samples.*4.*5"),
    ("no rows", GOOD[:0], [], None, r"0 sample"),
    ("one-dimensional rows", GOOD[0], LABELS[:1], None, r"2D array"),
    ("no label", GOOD, np.array([None] * 4, dtype=object), None, r"no row has a label"),
    ("an infinite label beside a NaN", GOOD, [0, np.inf, np.nan, 1], None, r"label of row 1 is inf"),
    ("fractional labels", GOOD, [0.5, 1, 1, 0], None, r"continuous.*0.5"),
    ("no labels", GOOD, None, None, r"y to be passed"),
    ("labels of two kinds", GOOD, np.array(["a", 1, "a", 1], dtype=object), None, r"all text or all numbers"),
    ("a negative weight", GOOD, LABELS, [1, 1, -1, 1], r"row 2 is -1"),
    ("a NaN weight", GOOD, LABELS, [1, np.nan, 1, 1], r"row 1 is nan"),
    ("an infinite weight", GOOD, LABELS, [1, 1, 1, np.inf], r"row 3 is inf"),
    ("too few weights", GOOD, LABELS, [1, 1], r"one weight for each row"),
    ("weights that are no numbers", GOOD, LABELS, ["a", "b", "c", "d"], r"sample_weight must be numbers"),
    ("nothing but zero weights", GOOD, LABELS, [0, 0, 0, 0], r"every weight is zero"),
    ("a list where a number belongs", spoilt(1, 0, [1]), LABELS, None, r"string or a number, got list"),
]


@pytest.mark.parametrize("way", ["partial_fit", "fit", "forget"])
@pytest.mark.parametrize(("X", "y", "weight", "message"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
@every_estimator
def test_bad_input_is_named_and_changes_nothing(
    estimator: Any, X: Any, y: Any, weight: Any, message: str, way: str
) -> None:
    if way == "fit" and message.startswith("2 features"):
        return  # fitting anew takes any number of columns
    clf = type(estimator)(**estimator.get_params()).fit(GOOD, LABELS)
    before, probabilities = pickle.dumps(clf), clf.predict_proba(GOOD)
    with pytest.raises((ValueError, TypeError), match=message):
        getattr(clf, way)(X, y, sample_weight=weight)
    assert pickle.dumps(clf) == before
    np.testing.assert_array_equal(clf.predict_proba(GOOD), probabilities)


@pytest.mark.parametrize("estimator", COUNTS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_negative_counts_are_named(estimator: Any, kind: Any) -> None:
    with pytest.raises(naively.InputError, match=r"Negative values.*row 1, column 2 is -3"):
        estimator.fit(kind(spoilt(1, 2, -3)), LABELS)
    estimator.fit(GOOD, LABELS)
    with pytest.raises(naively.InputError, match=r"Negative values.*row 1, column 2 is -3"):
        estimator.predict(kind(spoilt(1, 2, -3)))


@every_estimator
def test_text_where_numbers_belong_is_named(estimator: Any) -> None:
    if isinstance(estimator, naively.CategoricalNB):
        with pytest.raises(naively.InputError, match=r"row 0, column 1: text and numbers are mixed, got 2"):
            estimator.fit(spoilt(3, 1, "abc"), LABELS)
    else:
        with pytest.raises(naively.InputError, match=r"row 3, column 1: expected a number, got 'abc'"):
            estimator.fit(spoilt(3, 1, "abc"), LABELS)


def test_a_column_is_called_by_its_name() -> None:
    frame = pd.DataFrame(spoilt(2, 1, np.inf), columns=["age", "income", "size"])
    with pytest.raises(naively.InputError, match="row 2, column 'income' is inf"):
        naively.GaussianNB().fit(frame, LABELS)


@every_estimator
def test_one_class_is_allowed_and_predicted(estimator: Any) -> None:
    clf = type(estimator)(**estimator.get_params()).fit(GOOD, ["only"] * 4)
    assert clf.predict(GOOD).tolist() == ["only"] * 4
    np.testing.assert_allclose(clf.predict_proba(GOOD), 1.0)


@every_estimator
def test_forgetting_what_was_never_counted_is_refused(estimator: Any) -> None:
    clf = type(estimator)(**estimator.get_params()).fit(GOOD, LABELS)
    before = pickle.dumps(clf)
    for X, y in ((GOOD, ["c"] * 4), (np.vstack([GOOD, GOOD]), [*LABELS, *LABELS]), (GOOD * 7 + 30, LABELS)):
        if isinstance(clf, naively.BernoulliNB) and X.max() > 30:
            continue  # to Bernoulli, 30 is as much a presence as 1
        with pytest.raises(naively.NaivelyError, match=r"forget|known"):
            clf.forget(X, y)
        assert pickle.dumps(clf) == before


@every_estimator
def test_an_interruption_leaves_the_tally_as_it_was(estimator: Any, monkeypatch: Any) -> None:
    clf = type(estimator)(**estimator.get_params()).fit(GOOD, LABELS)
    tally, columns = clf.tally_, clf.n_features_in_

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(clf), "_commit", stop)
    for way in (clf.fit, clf.partial_fit, clf.forget):
        with pytest.raises(KeyboardInterrupt):
            way(GOOD[:2], LABELS[:2])
    assert clf.tally_ is tally
    assert clf.n_features_in_ == columns


def test_a_damaged_sparse_matrix_is_refused_not_read() -> None:
    X = sparse.csr_matrix(GOOD)
    X.indices[1] = 99
    for name in ("MultinomialNB", "PoissonNB"):
        with pytest.raises((naively.InputError, ValueError), match=r"damaged|index|indices"):
            getattr(naively, name)().fit(X, LABELS)


def test_a_code_that_would_need_a_huge_table_is_refused() -> None:
    with pytest.raises(naively.InputError, match=r"row 1, column 0 is code 1000000000.*OrdinalEncoder"):
        naively.CategoricalNB().fit([[0], [10**9]], ["a", "b"])


def test_a_column_cannot_change_from_text_to_numbers() -> None:
    clf = naively.CategoricalNB().fit([["x"], ["y"]], ["a", "b"])
    with pytest.raises(naively.InputError, match="were text, now numbers"):
        clf.predict(np.array([[1]], dtype=object))
    with pytest.raises(naively.InputError, match="were text, now numbers"):
        clf.predict([[1]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: naively.Additive(-1.0), "alpha must be 0 or more"),
        (lambda: naively.Additive(float("nan")), "alpha must be 0 or more"),
        (lambda: naively.Epsilon(0.0), "eps must be above 0"),
        (lambda: naively.Smoothed(-1.0), "beta must be 0 or more"),
        (lambda: naively.Given([0.5, 0.6]), "sum of the priors should be 1"),
        (lambda: naively.merge(), "at least one"),
        (lambda: naively.merge(fitted(naively.MultinomialNB), fitted(naively.PoissonNB)), "one kind"),
        (lambda: fitted(naively.MultinomialNB).tally_ + fitted(naively.PoissonNB).tally_, "put together"),
        (lambda: fitted(naively.MultinomialNB, class_prior=naively.Given({"a": 0.5, "bb": 0.5})), "did you mean 'b'"),
        (lambda: fitted(naively.MultinomialNB).explain(GOOD), "one row"),
        (lambda: fitted(naively.MultinomialNB).sample(-1), "0 or more"),
        (lambda: fitted(naively.MultinomialNB).scores(GOOD).decide(by="luck"), "posterior"),
        (lambda: fitted(naively.ComplementNB, alpha=naively.Epsilon()).predict(GOOD), "Additive"),
    ],
)  # fmt: skip
def test_bad_rules_and_calls_say_what_to_do(make: Any, message: str) -> None:
    with pytest.raises(naively.NaivelyError, match=message):
        make()


def test_a_bad_number_of_threads_is_named(monkeypatch: Any) -> None:
    monkeypatch.setenv("NAIVELY_THREADS", "many")
    with pytest.raises(naively.InputError, match="NAIVELY_THREADS must be a whole number above 0, got 'many'"):
        naively.GaussianNB().fit(np.zeros((1 << 16, 1)), np.zeros(1 << 16, int))
