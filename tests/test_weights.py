"""Rows with weights come and go without a trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from families import CASES, Array, Case, learn

import naively
from naively import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    InputError,
    MultinomialNB,
    NegativeCount,
    PoissonNB,
    TextClassifier,
)

every_family = pytest.mark.parametrize("case", CASES, ids=repr)


def forget(model: Any, case: Case, rows: slice, X: Array, y: Array, weight: Array) -> Any:
    return model.forget(case.rows(X[rows]), y[rows], sample_weight=weight[rows])


def test_a_class_whose_rows_are_forgotten_leaves_no_ghost() -> None:
    X, y, weight = [[1], [1], [0], [1]], ["d", "d", "a", "b"], [0.7, 0.1, 0.3, 0.2]
    model = BernoulliNB().fit(X, y, sample_weight=weight)
    for row in (0, 1):
        model.forget(X[row : row + 1], y[row : row + 1], sample_weight=weight[row : row + 1])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.tally_ == BernoulliNB().fit(X[2:], y[2:], sample_weight=weight[2:]).tally_
    model.forget(X[2:3], ["a"], sample_weight=[0.3])
    assert model.classes_.tolist() == ["b"]


@pytest.mark.parametrize("make", [BernoulliNB, MultinomialNB, GaussianNB])
def test_light_rows_stay_beside_a_heavy_one_that_is_forgotten(make: Any) -> None:
    X, y, weight = [[1.0], [2.0], [3.0], [1.0]], ["a", "a", "a", "b"], [0.5, 0.5, 3e8, 1.0]
    model = make().fit(X, y, sample_weight=weight)
    model.forget([[3.0]], ["a"], sample_weight=[3e8])
    kept = make().fit(X[:2] + X[3:], ["a", "a", "b"], sample_weight=[0.5, 0.5, 1.0])
    assert model.tally_ == kept.tally_
    assert model.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.predict_joint_log_proba(X), kept.predict_joint_log_proba(X))


@every_family
@pytest.mark.parametrize("weights", [[3.0, 2.0**53], [2.0**53, 3.0], [1e-6, 1e6], [2.0**-70, 1.0]])
def test_weights_of_all_sizes_are_forgotten_exactly(case: Case, weights: list[float]) -> None:
    X, y, weight = np.array([[2, 1], [3, 0], [1, 4]]), np.array(["a", "a", "b"]), np.array([1.0, *weights])
    for gone in (1, 2):
        rows = np.arange(3) != gone
        model = case.make().fit(case.rows(X), y, sample_weight=weight)
        if weight[gone] >= 2.0**-64:
            forget(model, case, slice(gone, gone + 1), X, y, weight)
            kept = case.make().fit(case.rows(X[rows]), y[rows], sample_weight=weight[rows])
            assert model.tally_ == kept.tally_
            np.testing.assert_array_equal(
                model.predict_joint_log_proba(case.rows(X)), kept.predict_joint_log_proba(case.rows(X))
            )


@every_family
def test_ten_thousand_weighted_rows_pass_through_a_window(case: Case) -> None:
    rng = np.random.default_rng(0)
    rows, width, step = 10_000, 1_000, 500
    X, y = rng.integers(-1, 5, (rows, 3)), rng.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1])
    weight = 10.0 ** rng.uniform(-6, 6, rows)
    model = case.make()
    for begin in range(0, rows, step):
        part = slice(begin, begin + step)
        learn(model, case.rows(X[part]), y[part], sample_weight=weight[part])
        if begin >= width:
            forget(model, case, slice(begin - width, begin - width + step), X, y, weight)
    left = slice(rows - width, rows)
    kept = case.make().fit(case.rows(X[left]), y[left], sample_weight=weight[left])
    assert model.tally_ == kept.tally_
    assert model.classes_.tolist() == kept.classes_.tolist()
    np.testing.assert_array_equal(
        model.predict_joint_log_proba(case.rows(X[left])), kept.predict_joint_log_proba(case.rows(X[left]))
    )


@pytest.mark.parametrize("make", [BernoulliNB, PoissonNB, CategoricalNB, GaussianNB])
def test_weighted_rows_pass_through_a_window_one_by_one(make: Any) -> None:
    rng = np.random.default_rng(1)
    rows, width = 2_000, 50
    X, y, weight = rng.integers(0, 5, (rows, 3)), rng.choice(["a", "b", "c"], rows), rng.random(rows)
    model = make().fit(X[:width], y[:width], sample_weight=weight[:width])
    for i in range(width, rows):
        model.partial_fit(X[i : i + 1], y[i : i + 1], sample_weight=weight[i : i + 1])
        gone = slice(i - width, i - width + 1)
        model.forget(X[gone], y[gone], sample_weight=weight[gone])
    kept = make().fit(X[-width:], y[-width:], sample_weight=weight[-width:])
    assert model.tally_ == kept.tally_
    np.testing.assert_array_equal(model.predict_joint_log_proba(X[:9]), kept.predict_joint_log_proba(X[:9]))


def test_more_than_was_counted_is_refused_to_the_last_unit() -> None:
    model = MultinomialNB().fit([[1.0], [2.0]], ["a", "b"], sample_weight=[0.1, 0.2])
    before = model.tally_
    with pytest.raises(NegativeCount, match="cannot forget more than was counted"):
        model.forget([[1.0]], ["a"], sample_weight=[0.1 + 2.0**-55])
    assert model.tally_ == before


def test_values_that_are_fractions_are_forgotten_exactly() -> None:
    X = np.random.default_rng(0).random((50, 4))
    y = ["a", "b"] * 25
    for weight in (None, np.random.default_rng(1).random(50)):
        part = [None if weight is None else weight[rows] for rows in (slice(None), slice(30), slice(30, None))]
        model = MultinomialNB().fit(X, y, sample_weight=part[0]).forget(X[30:], y[30:], sample_weight=part[2])
        kept = MultinomialNB().fit(X[:30], y[:30], sample_weight=part[1])
        assert model.tally_ == kept.tally_
        np.testing.assert_array_equal(model.feature_log_prob_, kept.feature_log_prob_)


@pytest.mark.parametrize("weight", [2.0**63, 1e300])
def test_a_weight_that_is_too_large_is_refused(weight: float) -> None:
    for make, X in ((MultinomialNB, [[1.0], [2.0]]), (GaussianNB, [[1.0], [2.0]]), (TextClassifier, ["x", "y"])):
        with pytest.raises(InputError, match=r"2\^62.*row 1 alone is.*common factor"):
            make().fit(X, ["a", "b"], sample_weight=[1.0, weight])


def test_values_that_are_too_large_are_refused_with_the_column() -> None:
    with pytest.raises(InputError, match=r"MultinomialNB: column 1 adds up to more than 2\^62"):
        MultinomialNB().fit([[1.0, 1e30], [2.0, 0.0]], ["a", "b"])


def test_counts_that_grow_too_large_in_a_model_are_refused_and_nothing_changes() -> None:
    model = MultinomialNB().fit([[1.0], [1.0]], ["a", "b"], sample_weight=[2.0**61, 1.5])
    for _ in range(2):
        model.partial_fit([[1.0]], ["a"], sample_weight=[2.0**61])
    before = model.tally_
    with pytest.raises(naively.NaivelyError, match="common factor"):
        model.partial_fit([[1.0]], ["a"], sample_weight=[2.0**61])
    assert model.tally_ == before


def test_a_weight_below_half_a_unit_adds_nothing() -> None:
    model = MultinomialNB().fit([[1.0], [1.0], [5.0]], ["a", "b", "c"], sample_weight=[1.0, 1.0, 2.0**-66])
    assert model.classes_.tolist() == ["a", "b"]
