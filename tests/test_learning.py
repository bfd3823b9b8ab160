"""What estimators share, and how they read what scikit-learn reads."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import column_or_1d

import naively
from naively import InputError, NaiveBayes, TextClassifier, film_reviews, merge
from naively.learn.learner import Learner
from naively.read.matrix import is_sparse_matrix
from naively.read.shapes import one_dimensional, two_dimensional

TEXTS, LABELS = (part[:150] for part in film_reviews())
TABLE = {"text": TEXTS, "long": [len(text) for text in TEXTS], "first": [text[:1] for text in TEXTS]}
ESTIMATORS = [
    kind for name in naively.__all__ if isinstance(kind := getattr(naively, name), type) and issubclass(kind, Learner)
]


def either(first: Any, second: Any, given: Any) -> tuple[Any, Any]:
    """What two functions make of the same: an array, its type and the warnings, or the kind of error."""

    def tried(function: Any) -> Any:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                array = function(given)
            except (ValueError, TypeError) as error:
                return TypeError if isinstance(error, TypeError) else ValueError
        return array.dtype, [str(v) for v in array.ravel().tolist()], array.shape, [w.category for w in caught]

    return tried(first), tried(second)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_parameters_are_those_that_scikit_learn_finds(kind: Any) -> None:
    assert kind().parameters() == kind().get_params(deep=False)


@pytest.mark.parametrize(("kind", "rows"), [(TextClassifier, TEXTS), (NaiveBayes, TABLE)])
def test_a_model_is_merged_with_its_pickled_copy_as_with_itself(kind: Any, rows: Any) -> None:
    model = kind().fit(rows, LABELS)
    both = merge(model, pickle.loads(pickle.dumps(model)))
    assert type(both) is kind
    assert both.tally_ == merge(model, model).tally_


@pytest.mark.parametrize(("kind", "rows"), [(TextClassifier, TEXTS), (NaiveBayes, TABLE)])
def test_who_has_learnt_nothing_says_so(kind: Any, rows: Any) -> None:
    with pytest.raises(NotFittedError, match=f"This {kind.__name__} instance is not fitted yet"):
        kind().predict(rows)


def test_an_unknown_parameter_is_refused_with_the_nearest_name() -> None:
    model = TextClassifier().fit(TEXTS, LABELS)
    with pytest.raises(InputError, match="Invalid parameter 'alhpa' for TextClassifier; did you mean 'alpha'"):
        model.refit(alhpa=1)


def test_a_subclass_may_name_its_own_parameters() -> None:
    class Pairs(TextClassifier):
        def __init__(self, share: Any = 0.5):
            super().__init__(ngrams=(1, 2), max_df=share)
            self.share = share

    clf = clone(Pairs(0.9)).fit(TEXTS, LABELS)
    assert clf.get_params() == {"share": 0.9}
    assert clf.chosen_.ngrams == (1, 2)
    assert (
        clf.predict(TEXTS[:3]).tolist()
        == TextClassifier(ngrams=(1, 2), max_df=0.9).fit(TEXTS, LABELS).predict(TEXTS[:3]).tolist()
    )


def test_a_parameter_that_a_subclass_does_not_name_takes_effect_when_it_is_changed() -> None:
    class Strong(naively.MultinomialNB):
        def __init__(self, strength: Any = 1.0):
            super().__init__(alpha=strength)
            self.strength = strength

    X, y = np.array([[3, 0], [0, 2], [1, 1]]), ["a", "b", "b"]
    model = Strong().fit(X, y)
    before = model.predict_proba(X)
    model.alpha = 50.0
    assert not np.allclose(model.predict_proba(X), before)
    np.testing.assert_array_equal(model.predict_proba(X), naively.MultinomialNB(alpha=50.0).fit(X, y).predict_proba(X))


@pytest.mark.parametrize(
    "y",
    [
        [1, 2, 1],
        ["a", "b"],
        (True, False),
        [[1], [2]],
        np.array([["a"], ["b"]]),
        np.arange(4)[::2],
        np.ones((2, 2)),
        np.ones((2, 1, 1)),
        5,
        "ab",
        [],
        np.matrix([[1], [2]]),
        sparse.csr_matrix([[1], [2]]),
        pd.Series([1, 2, None], dtype="Int64"),
        pd.Series([1, 2], dtype="int64"),
        pd.Series([True, None], dtype="boolean"),
        pd.Series([True, False]),
        pd.Series([1.0, 2.0], dtype="Float64"),
        pd.Series([1, 2], dtype="int64[pyarrow]"),
        pd.Series(["a", "b"], dtype="string"),
        pd.Series(["a", "b"], dtype="category"),
        pd.Series([True, False], dtype="category"),
        pd.Series([1, 2], dtype="category"),
        pd.array([1, 2], dtype="Int64"),
        pd.Index(["a", "b"]),
        pd.DataFrame({"y": ["a", "b"]}),
        pd.DataFrame({"y": pd.array([1, 2], dtype="Int64")}),
        pd.DataFrame({"y": [1], "z": [2]}),
        pl.Series(["a", "b"]),
        pa.chunked_array([["a"], ["b"]]),
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', '')}-{getattr(y, 'shape', '')}",
)
def test_labels_are_made_one_dimensional_as_scikit_learn_does(y: Any) -> None:
    ours, theirs = either(one_dimensional, lambda y: column_or_1d(y, warn=True), y)
    assert ours == theirs


@pytest.mark.parametrize(
    "X",
    [np.ones((2, 3)), np.ones((0, 3)), np.ones(3), 5, None, np.ones((2, 2, 2)), np.ones((2, 2)) * 1j, np.matrix([1])],
)
def test_rows_are_made_two_dimensional_as_scikit_learn_does(X: Any) -> None:
    loose = {"dtype": None, "ensure_all_finite": False, "ensure_min_samples": 0, "ensure_min_features": 0}
    ours, theirs = either(two_dimensional, lambda X: check_array(X, **loose), X)
    assert ours == theirs


def test_only_scipys_matrices_are_sparse() -> None:
    assert is_sparse_matrix(sparse.csr_matrix((1, 1)))
    assert is_sparse_matrix(sparse.coo_array((1, 1)))
    assert not any(map(is_sparse_matrix, (np.ones((1, 1)), [[1]], None, pd.DataFrame({"a": [1]}))))
