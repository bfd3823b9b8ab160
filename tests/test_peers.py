"""What other libraries get wrong, right here."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from families import learn
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

import naively


@pytest.mark.parametrize("name", ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"])
def test_a_label_that_classes_did_not_name_becomes_a_new_class(name: str) -> None:
    X, y = np.array([[0, 2], [2, 0], [1, 1]]), ["a", "b", "new"]
    clf = getattr(naively, name)().partial_fit(X, y, classes=["a", "b"])
    assert clf.classes_.tolist() == ["a", "b", "new"]
    assert clf.class_count_.tolist() == [1, 1, 1]
    clf.partial_fit(X[:1], ["aardvark"])
    assert clf.classes_.tolist() == ["a", "aardvark", "b", "new"]
    assert clf.predict_proba(X).shape == (3, 4)
    assert clf.tally_ == getattr(naively, name)().fit(X[[0, 1, 2, 0]], [*y, "aardvark"]).tally_


def test_gaussian_batches_equal_fitting_at_once_epsilon_included() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[np.argsort(X[:, 3])]  # batches that differ as much as they can
    at_once = naively.GaussianNB(var_smoothing=1e-2).fit(X, y)
    stream = naively.GaussianNB(var_smoothing=1e-2)
    for part in np.array_split(np.arange(len(y)), 13):
        learn(stream, X[part], y[part]) if hasattr(stream, "classes_") else stream.partial_fit(X[part], y[part], [0, 1])
    assert stream.epsilon_ == pytest.approx(at_once.epsilon_, rel=1e-12)
    np.testing.assert_allclose(stream.theta_, at_once.theta_, rtol=1e-12)
    np.testing.assert_allclose(stream.var_, at_once.var_, rtol=1e-9)
    np.testing.assert_array_equal(stream.predict(X), at_once.predict(X))


def test_gaussian_variance_is_right_far_from_zero() -> None:
    x = 1e8 + np.random.default_rng(0).normal(size=(10_000, 1))
    for clf in (
        naively.GaussianNB(var_smoothing=0.0),
        naively.GaussianClassifier(covariance="full", var_smoothing=0.0),
    ):
        for part in np.array_split(x, 7):
            learn(clf, part, np.zeros(len(part), int))
        spread = clf.var_[0, 0] if hasattr(clf, "var_") else clf.covariance_[0, 0, 0]
        assert spread == pytest.approx(np.var(x), rel=1e-6)


def test_categories_take_text_missing_values_and_what_was_never_seen() -> None:
    X = np.array([["red", "round"], ["red", None], ["green", "long"], ["green", np.nan]], dtype=object)
    clf = naively.CategoricalNB().fit(X, ["apple", "apple", "cucumber", "cucumber"])
    assert clf.predict([["blue", "round"]]).tolist() == ["apple"]
    # red 2 of 2 with one of two categories added: 3/4 against 1/4; a missing shape says nothing.
    np.testing.assert_allclose(clf.predict_proba([["red", None]]), [[0.75, 0.25]])
    # never seen: 1/4 in either class, as a colour with a count of 0 would have.
    np.testing.assert_allclose(clf.predict_proba([["blue", None]]), [[0.5, 0.5]])
    assert clf.n_categories_.tolist() == [2, 2]


def test_an_unseen_category_is_smoothed_or_left_out() -> None:
    X, y = [[0], [0], [0], [1]], ["a", "a", "a", "b"]
    smooth = naively.CategoricalNB(fit_prior=False).fit(X, y)
    ignore = naively.CategoricalNB(fit_prior=False, unseen="ignore").fit(X, y)
    np.testing.assert_allclose(smooth.predict_proba([[7]]), [[(1 / 5) / (1 / 5 + 1 / 3), (1 / 3) / (1 / 5 + 1 / 3)]])
    np.testing.assert_allclose(ignore.predict_proba([[7]]), [[0.5, 0.5]])


def test_fractions_are_refused_as_categories_not_cut_down() -> None:
    with pytest.raises(naively.InputError, match=r"row 1, column 0 is 1\.5"):
        naively.CategoricalNB().fit([[1.0], [1.5]], [0, 1])


@pytest.mark.parametrize("prior", [[5, -1], [0.5, 0.6], [0.2, 0.2], [float("nan"), 1.0]])
def test_class_priors_must_be_probabilities(prior: list[float]) -> None:
    with pytest.raises(naively.InputError, match=r"[Pp]rior"):
        naively.MultinomialNB(class_prior=prior).fit([[1], [2]], ["a", "b"])


def test_two_thousand_classes_make_no_dense_array() -> None:
    rng = np.random.default_rng(0)
    rows, features, classes = 20_000, 20_000, 2_000
    X = sparse.csr_matrix(
        (np.ones(rows * 5), rng.integers(0, features, rows * 5), np.arange(0, rows * 5 + 1, 5)), (rows, features)
    )
    y = rng.integers(0, classes, rows)
    tracemalloc.start()
    try:
        clf = naively.MultinomialNB().fit(X, y)
        labels = clf.predict(X[:1_000])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (labels == y[:1_000]).mean() > 0.9
    assert peak < 60e6  # classes by features alone would be 320 MB, rows by classes as well


def cells_moved(ledger: Any) -> int:
    return sum(len(level.cells) for level in ledger.levels[1:])


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_a_row_costs_what_it_holds_not_what_the_model_holds(name: str) -> None:
    rng = np.random.default_rng(0)
    features = 1 << 18
    X = sparse.csr_matrix(
        (np.ones(200_000), rng.integers(0, features, 200_000), np.arange(0, 200_001, 50)), (4_000, features)
    )
    X.sum_duplicates()
    X.data[:] = 1.0
    y = rng.integers(0, 20, 4_000)
    clf = getattr(naively, name)().fit(X, y)
    big = clf._model.ledger.levels[0]
    for i in range(5):
        clf.partial_fit(X[i], y[i : i + 1])
        clf.predict(X[i])
        assert clf._model.ledger.levels[0].cells.feature is big.cells.feature or (i == 0 and name == "BernoulliNB")
        assert cells_moved(clf._model.ledger) <= 50 * (i + 1)
        assert not clf._model._tables, "a table of all features was made for one row"
        big = clf._model.ledger.levels[0]
    again = getattr(naively, name)().fit(sparse.vstack([X, X[:5]]), np.concatenate([y, y[:5]]))
    np.testing.assert_allclose(clf.predict_joint_log_proba(X[:3]), again.predict_joint_log_proba(X[:3]), rtol=1e-12)


def test_pandas_missing_values_count_for_nothing_in_every_family() -> None:
    frame = pd.DataFrame({"n": pd.array([1, 2, None, 4], dtype="Int64"), "m": [0, 1, 1, pd.NA]}, dtype=object)
    y = ["a", "a", "b", "b"]
    for name in ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB", "PoissonNB", "CategoricalNB"):
        clf = getattr(naively, name)().fit(frame, y)
        plain = getattr(naively, name)().fit(np.array([[1, 0], [2, 1], [np.nan, 1], [4, np.nan]]), y)
        np.testing.assert_allclose(
            clf.predict_proba(frame), plain.predict_proba([[1, 0], [2, 1], [np.nan, 1], [4, np.nan]])
        )
        assert clf.feature_names_in_.tolist() == ["n", "m"]


def test_alpha_zero_is_the_limit_of_ever_smaller_alpha() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (12, 5)), rng.choice(["a", "b", "c"], 12)
    for name in ("MultinomialNB", "BernoulliNB", "CategoricalNB", "ComplementNB", "PoissonNB"):
        limit = getattr(naively, name)(alpha=0.0).fit(X, y).predict_proba(X)
        near = getattr(naively, name)(alpha=1e-200).fit(X, y).predict_proba(X)
        assert not np.isnan(limit).any()
        np.testing.assert_allclose(limit, near, atol=1e-9)


def test_full_tied_diagonal_and_spherical_gaussians_agree_with_their_definitions() -> None:
    X, y = load_iris(return_X_y=True)
    for covariance in ("spherical", "diagonal", "tied", "full"):
        clf = naively.GaussianClassifier(covariance=covariance, var_smoothing=0.0).fit(X, y)
        own = np.array([np.cov(X[y == k].T, bias=True) for k in range(3)])
        if covariance == "full":
            np.testing.assert_allclose(clf.covariance_, own, rtol=1e-9, atol=1e-12)
        if covariance == "tied":
            np.testing.assert_allclose(clf.covariance_, own.mean(axis=0), rtol=1e-9, atol=1e-12)
        if covariance == "diagonal":
            np.testing.assert_allclose(clf.covariance_, own * np.eye(4), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(
                clf.predict_joint_log_proba(X),
                naively.GaussianNB(var_smoothing=0.0).fit(X, y).predict_joint_log_proba(X),
            )
        if covariance == "spherical":
            np.testing.assert_allclose(clf.covariance_[1], np.eye(4) * np.trace(own[1]) / 4, rtol=1e-9, atol=1e-12)


def test_a_full_gaussian_scores_as_the_density_says_missing_values_left_out() -> None:
    from scipy.stats import multivariate_normal

    X, y = load_iris(return_X_y=True)
    clf = naively.GaussianClassifier(priors=naively.Uniform(), shrinkage=0.2).fit(X, y)
    row = np.array([[5.0, np.nan, 4.0, 1.0]])
    known = [0, 2, 3]
    expected = [
        multivariate_normal(m[known], c[np.ix_(known, known)]).logpdf(row[0, known]) - np.log(3)
        for m, c in zip(clf.theta_, clf.covariance_, strict=True)
    ]
    np.testing.assert_allclose(clf.predict_joint_log_proba(row)[0], expected, rtol=1e-9)
