"""naively: Naive Bayes is counting. Count once; decide everything else afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AbsoluteDiscount": "backgrounds",
    "Additive": "smoothing",
    "Bernoulli": "columns",
    "BernoulliNB": "estimators",
    "Best": "select",
    "BiasVariance": "judging.bias_variance",
    "BlockTally": "blocks",
    "Categorical": "columns",
    "CategoricalNB": "estimators",
    "Comoments": "moments",
    "Comparison": "judging.comparison",
    "Complement": "columns",
    "ComplementNB": "estimators",
    "CountVectorizer": "estimators",
    "DataWarning": "errors",
    "Dates": "columns",
    "Dirichlet": "backgrounds",
    "Empirical": "priors",
    "Epsilon": "smoothing",
    "Evaluation": "judging.evaluation",
    "Evidence": "smoothing",
    "Explanation": "explain",
    "FileError": "errors",
    "Gaussian": "columns",
    "GaussianClassifier": "estimators",
    "GaussianNB": "estimators",
    "Given": "priors",
    "HashingVectorizer": "estimators",
    "HeldOut": "held_out",
    "Histogram": "columns",
    "Inexact": "errors",
    "InputError": "errors",
    "JelinekMercer": "backgrounds",
    "Kernel": "columns",
    "LearningCurve": "judging.learning_curve",
    "Moments": "moments",
    "NoCounts": "errors",
    "Multinomial": "columns",
    "MultinomialNB": "estimators",
    "NaiveBayes": "estimators",
    "NaivelyError": "errors",
    "NeverCounted": "errors",
    "Number": "columns",
    "Numbers": "numbers",
    "Poisson": "columns",
    "PoissonNB": "estimators",
    "Scores": "scores",
    "Smoothed": "priors",
    "Suspects": "judging.suspects",
    "Tally": "tally",
    "Text": "columns",
    "TextClassifier": "estimators",
    "Tuned": "judging.tuning",
    "Uniform": "priors",
    "Unsmoothed": "smoothing",
    "WittenBell": "backgrounds",
    "bias_variance": "judging.bias_variance",
    "compare": "judging.comparison",
    "cross_validate": "judging.cross_validation",
    "evaluate": "judging.evaluation",
    "film_reviews": "data",
    "learning_curve": "judging.learning_curve",
    "leave_one_out": "judging.cross_validation",
    "load": "estimators",
    "merge": "learning",
    "suspects": "judging.suspects",
    "tune": "judging.tuning",
}

__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605

if TYPE_CHECKING:
    from naively.backgrounds import AbsoluteDiscount as AbsoluteDiscount
    from naively.backgrounds import Dirichlet as Dirichlet
    from naively.backgrounds import JelinekMercer as JelinekMercer
    from naively.backgrounds import WittenBell as WittenBell
    from naively.blocks import BlockTally as BlockTally
    from naively.columns import Bernoulli as Bernoulli
    from naively.columns import Categorical as Categorical
    from naively.columns import Complement as Complement
    from naively.columns import Dates as Dates
    from naively.columns import Gaussian as Gaussian
    from naively.columns import Histogram as Histogram
    from naively.columns import Kernel as Kernel
    from naively.columns import Multinomial as Multinomial
    from naively.columns import Number as Number
    from naively.columns import Poisson as Poisson
    from naively.columns import Text as Text
    from naively.data import film_reviews as film_reviews
    from naively.errors import DataWarning as DataWarning
    from naively.errors import FileError as FileError
    from naively.errors import Inexact as Inexact
    from naively.errors import InputError as InputError
    from naively.errors import NaivelyError as NaivelyError
    from naively.errors import NeverCounted as NeverCounted
    from naively.errors import NoCounts as NoCounts
    from naively.estimators import BernoulliNB as BernoulliNB
    from naively.estimators import CategoricalNB as CategoricalNB
    from naively.estimators import ComplementNB as ComplementNB
    from naively.estimators import CountVectorizer as CountVectorizer
    from naively.estimators import GaussianClassifier as GaussianClassifier
    from naively.estimators import GaussianNB as GaussianNB
    from naively.estimators import HashingVectorizer as HashingVectorizer
    from naively.estimators import MultinomialNB as MultinomialNB
    from naively.estimators import NaiveBayes as NaiveBayes
    from naively.estimators import PoissonNB as PoissonNB
    from naively.estimators import TextClassifier as TextClassifier
    from naively.explain import Explanation as Explanation
    from naively.held_out import HeldOut as HeldOut
    from naively.judging.bias_variance import BiasVariance as BiasVariance
    from naively.judging.bias_variance import bias_variance as bias_variance
    from naively.judging.comparison import Comparison as Comparison
    from naively.judging.comparison import compare as compare
    from naively.judging.cross_validation import cross_validate as cross_validate
    from naively.judging.cross_validation import leave_one_out as leave_one_out
    from naively.judging.evaluation import Evaluation as Evaluation
    from naively.judging.evaluation import evaluate as evaluate
    from naively.judging.learning_curve import LearningCurve as LearningCurve
    from naively.judging.learning_curve import learning_curve as learning_curve
    from naively.judging.suspects import Suspects as Suspects
    from naively.judging.suspects import suspects as suspects
    from naively.judging.tuning import Tuned as Tuned
    from naively.judging.tuning import tune as tune
    from naively.learning import merge as merge
    from naively.moments import Comoments as Comoments
    from naively.moments import Moments as Moments
    from naively.numbers import Numbers as Numbers
    from naively.priors import Empirical as Empirical
    from naively.priors import Given as Given
    from naively.priors import Smoothed as Smoothed
    from naively.priors import Uniform as Uniform
    from naively.scores import Scores as Scores
    from naively.select import Best as Best
    from naively.smoothing import Additive as Additive
    from naively.smoothing import Epsilon as Epsilon
    from naively.smoothing import Evidence as Evidence
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
