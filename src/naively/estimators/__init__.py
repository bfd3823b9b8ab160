"""Estimators: scikit-learn's manners around the learners. The lowest layer that imports scikit-learn."""

from naively.estimators.categorical import CategoricalNB
from naively.estimators.counts import BernoulliNB, ComplementNB, MultinomialNB, PoissonNB
from naively.estimators.gaussian import GaussianClassifier, GaussianNB
from naively.estimators.load import load
from naively.estimators.table import NaiveBayes
from naively.estimators.text import TextClassifier
from naively.estimators.vectorizers import CountVectorizer, HashingVectorizer
from naively.learn.merge import merge

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "CountVectorizer",
    "GaussianClassifier",
    "GaussianNB",
    "HashingVectorizer",
    "MultinomialNB",
    "NaiveBayes",
    "PoissonNB",
    "TextClassifier",
    "load",
    "merge",
]
