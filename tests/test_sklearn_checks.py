"""scikit-learn's own checks of what an estimator must do, for every estimator."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import naively

ESTIMATORS = [
    naively.BernoulliNB(),
    naively.CategoricalNB(),
    naively.CategoricalNB(numbers="names"),
    naively.ComplementNB(),
    naively.GaussianClassifier(covariance="diagonal"),
    naively.GaussianClassifier(covariance="full", shrinkage="auto"),
    naively.GaussianClassifier(covariance="spherical"),
    naively.GaussianClassifier(covariance="tied"),
    naively.GaussianNB(),
    naively.MultinomialNB(),
    naively.PoissonNB(),
]

FED_FRACTIONS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
"""Checks that hand over random fractions, whatever an estimator is for."""


def as_checked(estimator: Any, check: Any) -> Any:
    """The estimator with the parameters it is checked with; scikit-learn keeps such a list for its own."""
    if isinstance(estimator, naively.CategoricalNB) and check.func.__name__ in FED_FRACTIONS:
        return clone(estimator).set_params(numbers="names")
    return estimator


@parametrize_with_checks(ESTIMATORS)
def test_estimators_keep_scikit_learns_promises(estimator: Any, check: Any) -> None:
    check(as_checked(estimator, check))
