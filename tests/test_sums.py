"""Sums: lists of models and of tallies, and estimators that are made from a tally."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import Tally, merge

X = np.array([[2, 1, 0], [0, 1, 3], [1, 0, 1], [0, 2, 2], [3, 0, 1], [1, 1, 0]])
Y = np.array(["a", "b", "a", "c", "a", "b"])
KINDS: list[tuple[Any, dict[str, Any]]] = [
    (naively.MultinomialNB, {"alpha": 0.5}),
    (naively.ComplementNB, {}),
    (naively.BernoulliNB, {"fit_prior": False}),
    (naively.PoissonNB, {}),
    (naively.CategoricalNB, {}),
    (naively.GaussianNB, {"var_smoothing": 1e-3}),
    (naively.GaussianClassifier, {"covariance": "tied", "shrinkage": 0.1}),
    (naively.GaussianClassifier, {"covariance": "full", "shrinkage": "auto", "var_smoothing": 0.1}),
]
kinds = pytest.mark.parametrize(("kind", "parameters"), KINDS)


@kinds
def test_an_estimator_from_a_tally_is_the_one_that_counted_it(kind: Any, parameters: dict[str, Any]) -> None:
    model = kind(**parameters).fit(X, Y)
    made = kind.from_tally(model.tally_, **parameters)
    assert made.get_params() == model.get_params()
    assert (made.n_features_in_, made.classes_.tolist()) == (3, ["a", "b", "c"])
    np.testing.assert_array_equal(made.predict_proba(X), model.predict_proba(X))
    made.partial_fit(X, Y)
    np.testing.assert_array_equal(made.predict_proba(X), model.partial_fit(X, Y).predict_proba(X))
    assert made.forget(X, Y).tally_ == kind(**parameters).fit(X, Y).tally_


@kinds
def test_a_sum_of_tallies_is_the_tally_of_all_rows(kind: Any, parameters: dict[str, Any]) -> None:
    parts = [kind(**parameters).fit(X[i::2], Y[i::2]).tally_ for i in range(2)]
    assert sum(parts) == kind(**parameters).fit(X, Y).tally_
    assert sum(parts[:1]) is parts[0]
    again = Tally.from_arrow(sum(parts).to_arrow())
    found = kind.from_tally(again, **parameters).predict_proba(X)
    np.testing.assert_allclose(found, kind(**parameters).fit(X, Y).predict_proba(X))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.permutations(range(4)))
def test_models_are_merged_as_a_list_or_as_arguments_in_any_order(starts: list[int], order: list[int]) -> None:
    models = [naively.MultinomialNB().fit(X[start:], Y[start:]) for start in starts]
    turned = [models[i] for i in order if i < len(models)]
    assert merge(models).tally_ == merge(*turned).tally_ == sum(model.tally_ for model in models)
    assert merge(tuple(models)).tally_ == merge(*models).tally_


def test_names_of_columns_come_with_the_tally() -> None:
    frame = pd.DataFrame(X, columns=["x", "y", "z"])
    made = naively.MultinomialNB.from_tally(naively.MultinomialNB().fit(frame, Y).tally_)
    assert made.feature_names_in_.tolist() == ["x", "y", "z"]
    assert made.predict(frame).tolist() == naively.MultinomialNB().fit(frame, Y).predict(frame).tolist()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: naively.MultinomialNB.from_tally([1, 2]), "takes a Tally, got list; pass model.tally_"),
        (
            lambda: naively.MultinomialNB.from_tally(naively.TextClassifier().fit(["x y", "z"], ["a", "b"]).tally_),
            "takes the tally of an estimator of arrays, got one of words",
        ),
        (
            lambda: naively.MultinomialNB.from_tally(naively.BernoulliNB().fit(X, Y).tally_),
            "MultinomialNB takes a tally of counts, got one of presence",
        ),
        (
            lambda: naively.GaussianNB.from_tally(naively.MultinomialNB().fit(X, Y).tally_),
            "GaussianNB takes a tally of ExactSums, got one of counts",
        ),
        (
            lambda: naively.MultinomialNB.from_tally(naively.MultinomialNB().fit(X, Y).tally_, alpha=-1),
            "'alpha' parameter",
        ),
        (lambda: merge([]), "at least one estimator"),
        (lambda: merge([naively.MultinomialNB().fit(X, Y).tally_]), r"got naively\..*Tally; add tallies by sum"),
    ],
)
def test_what_cannot_be_a_sum_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_nothing_but_zero_begins_a_sum() -> None:
    tally = naively.MultinomialNB().fit(X, Y).tally_
    for other in (1, "a", None, 0.5):
        with pytest.raises(TypeError):
            other + tally
