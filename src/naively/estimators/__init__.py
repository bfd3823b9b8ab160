"""Estimators: learners with scikit-learn's protocol, which is imported only when its own objects are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from naively.estimators.load import from_bytes, load

if TYPE_CHECKING:
    from naively.estimators.categorical import CategoricalNB
    from naively.estimators.counts import BernoulliNB, ComplementNB, MultinomialNB, PoissonNB
    from naively.estimators.gaussian import GaussianClassifier, GaussianNB
    from naively.estimators.table import NaiveBayes
    from naively.estimators.text import TextClassifier
    from naively.estimators.tfidf import TfidfTransformer, TfidfVectorizer
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
    "TfidfTransformer",
    "TfidfVectorizer",
    "from_bytes",
    "load",
    "merge",
]


def __getattr__(name: str) -> Any:
    """Classes are loaded when first used, each from the module that `naively` names."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import naively

    return getattr(naively, name)
