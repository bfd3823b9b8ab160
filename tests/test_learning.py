"""Learners: what estimators do, without scikit-learn; and what they take over from it."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from naively.learn.tables import TableLearner
from naively.learn.text import TextLearner
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
PAIRS = [(TextLearner, TextClassifier, TEXTS), (TableLearner, NaiveBayes, TABLE)]
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


@pytest.mark.parametrize(("learner", "estimator", "rows"), PAIRS)
def test_a_learner_does_what_its_estimator_does(learner: Any, estimator: Any, rows: Any) -> None:
    plain, theirs = learner().fit(rows, LABELS), estimator().fit(rows, LABELS)
    assert np.array_equal(plain.predict_proba(rows), theirs.predict_proba(rows))
    assert plain.predict(rows).tolist() == theirs.predict(rows).tolist()
    both = merge(plain, pickle.loads(pickle.dumps(plain)))
    assert type(both) is learner
    assert both.tally_ == merge(theirs, theirs).tally_
    assert plain.sample(5, 3)[1].tolist() == theirs.sample(5, 3)[1].tolist()


@pytest.mark.parametrize(("learner", "estimator", "rows"), PAIRS)
def test_who_has_learnt_nothing_says_so(learner: Any, estimator: Any, rows: Any) -> None:
    with pytest.raises(InputError, match=f"this {learner.__name__} is not fitted yet: call fit first"):
        learner().predict(rows)
    with pytest.raises(NotFittedError, match=f"This {estimator.__name__} instance is not fitted yet"):
        estimator().predict(rows)


def test_learners_and_estimators_are_not_merged() -> None:
    with pytest.raises(InputError, match=r"of one kind .* got TextLearner\(alpha=2\), TextClassifier\(alpha=2\)"):
        merge(*(kind(alpha=2).fit(TEXTS, LABELS) for kind in (TextLearner, TextClassifier)))


def test_an_unknown_parameter_is_refused_with_the_nearest_name() -> None:
    learner = TextLearner().fit(TEXTS, LABELS)
    with pytest.raises(InputError, match="Invalid parameter 'alhpa' for TextLearner; did you mean 'alpha'"):
        learner.refit(alhpa=1)


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
