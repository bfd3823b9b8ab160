"""naively: Naive Bayes is counting. Count once; decide everything else afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Additive": "smoothing",
    "BernoulliNB": "estimators",
    "Best": "select",
    "CategoricalNB": "estimators",
    "ComplementNB": "estimators",
    "Comoments": "moments",
    "CountVectorizer": "estimators",
    "Empirical": "priors",
    "Epsilon": "smoothing",
    "Explanation": "explain",
    "GaussianClassifier": "estimators",
    "GaussianNB": "estimators",
    "Given": "priors",
    "HashingVectorizer": "estimators",
    "Inexact": "errors",
    "InputError": "errors",
    "Moments": "moments",
    "MultinomialNB": "estimators",
    "NaivelyError": "errors",
    "NeverCounted": "errors",
    "PoissonNB": "estimators",
    "Scores": "scores",
    "Smoothed": "priors",
    "Tally": "tally",
    "TextClassifier": "estimators",
    "Uniform": "priors",
    "Unsmoothed": "smoothing",
    "film_reviews": "data",
    "merge": "estimators",
}

__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605

if TYPE_CHECKING:
    from naively.data import film_reviews as film_reviews
    from naively.errors import Inexact as Inexact
    from naively.errors import InputError as InputError
    from naively.errors import NaivelyError as NaivelyError
    from naively.errors import NeverCounted as NeverCounted
    from naively.estimators import BernoulliNB as BernoulliNB
    from naively.estimators import CategoricalNB as CategoricalNB
    from naively.estimators import ComplementNB as ComplementNB
    from naively.estimators import CountVectorizer as CountVectorizer
    from naively.estimators import GaussianClassifier as GaussianClassifier
    from naively.estimators import GaussianNB as GaussianNB
    from naively.estimators import HashingVectorizer as HashingVectorizer
    from naively.estimators import MultinomialNB as MultinomialNB
    from naively.estimators import PoissonNB as PoissonNB
    from naively.estimators import TextClassifier as TextClassifier
    from naively.estimators import merge as merge
    from naively.explain import Explanation as Explanation
    from naively.moments import Comoments as Comoments
    from naively.moments import Moments as Moments
    from naively.priors import Empirical as Empirical
    from naively.priors import Given as Given
    from naively.priors import Smoothed as Smoothed
    from naively.priors import Uniform as Uniform
    from naively.scores import Scores as Scores
    from naively.select import Best as Best
    from naively.smoothing import Additive as Additive
    from naively.smoothing import Epsilon as Epsilon
    from naively.smoothing import Unsmoothed as Unsmoothed
    from naively.tally import Tally as Tally


def __getattr__(name: str) -> Any:
    """Public names are loaded when first used (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'naively' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"naively.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
