"""Estimators: scikit-learn's manners around the counting core. The only layer that imports scikit-learn."""

from naively.estimators.categorical import CategoricalNB
from naively.estimators.discrete import BernoulliNB, ComplementNB, MultinomialNB, PoissonNB
from naively.estimators.gaussian import GaussianClassifier, GaussianNB
from naively.estimators.merging import merge

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianClassifier",
    "GaussianNB",
    "MultinomialNB",
    "PoissonNB",
    "merge",
]
