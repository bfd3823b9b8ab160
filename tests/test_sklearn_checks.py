"""scikit-learn's own checks of what an estimator must do, for every estimator."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

import naively

ESTIMATORS = [
    naively.BernoulliNB(),
    naively.CategoricalNB(),
    naively.ComplementNB(),
    naively.GaussianClassifier(covariance="diagonal"),
    naively.GaussianClassifier(covariance="full", shrinkage="auto"),
    naively.GaussianClassifier(covariance="spherical"),
    naively.GaussianClassifier(covariance="tied"),
    naively.GaussianNB(),
    naively.MultinomialNB(),
    naively.PoissonNB(),
]

FRACTIONS = "feeds random fractions as categories, which are refused here and cut down to 0 by scikit-learn"


def refused(estimator: Any) -> dict[str, str]:
    """Checks that cannot hold, each with its reason."""
    if isinstance(estimator, naively.CategoricalNB):
        return {f"check_sample_weight_equivalence_on_{kind}_data": FRACTIONS for kind in ("dense", "sparse")}
    return {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=refused)
def test_estimators_keep_scikit_learns_promises(estimator: Any, check: Any) -> None:
    check(estimator)
