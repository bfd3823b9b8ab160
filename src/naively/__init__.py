"""naively: Naive Bayes is counting. Count once; decide everything else afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "AbsoluteDiscount": "smooth.backgrounds",
    "Additive": "smooth.rules",
    "Bernoulli": "families.columns.declared",
    "BernoulliNB": "estimators.counts",
    "Best": "families.words.selection",
    "Beta": "families.densities",
    "BiasVariance": "judge.bias_variance",
    "Categorical": "families.columns.declared",
    "CategoricalNB": "estimators.categorical",
    "Circular": "families.densities",
    "ColumnCounts": "count.column_counts",
    "ExactPairs": "count.exact_pairs",
    "Comparison": "judge.comparison",
    "Complement": "families.columns.declared",
    "ComplementNB": "estimators.counts",
    "Counts": "count.counts",
    "CountVectorizer": "estimators.vectorizers",
    "DataWarning": "errors",
    "Dates": "families.columns.declared",
    "Dirichlet": "smooth.backgrounds",
    "Empirical": "score.priors",
    "Epsilon": "smooth.rules",
    "Evaluation": "judge.evaluation",
    "Evidence": "smooth.rules",
    "ExactSums": "count.exact_sums",
    "Explanation": "score.explanation",
    "Exponential": "families.densities",
    "FileError": "errors",
    "Gamma": "families.densities",
    "Gaussian": "families.densities",
    "GaussianClassifier": "estimators.gaussian",
    "GaussianNB": "estimators.gaussian",
    "Geometric": "families.densities",
    "Given": "score.priors",
    "HashingVectorizer": "estimators.vectorizers",
    "HeldOut": "learn.held_out",
    "Histogram": "families.columns.declared",
    "InputError": "errors",
    "JelinekMercer": "smooth.backgrounds",
    "Kernel": "families.columns.declared",
    "LearningCurve": "judge.learning_curve",
    "LogNormal": "families.densities",
    "Multinomial": "families.columns.declared",
    "MultinomialNB": "estimators.counts",
    "NaiveBayes": "estimators.table",
    "NaivelyError": "errors",
    "NegativeBinomial": "families.densities",
    "NegativeCount": "errors",
    "NoCounts": "errors",
    "Number": "families.columns.declared",
    "NumberFamily": "families.densities.base",
    "CountedPart": "learn.parts",
    "Poisson": "families.columns.declared",
    "PoissonNB": "estimators.counts",
    "Prequential": "judge.prequential",
    "Scores": "score.scores",
    "Smoothed": "score.priors",
    "Suspects": "judge.suspects",
    "Tally": "count.tally",
    "Text": "families.columns.declared",
    "TextClassifier": "estimators.text",
    "TfidfTransformer": "estimators.tfidf",
    "TfidfVectorizer": "estimators.tfidf",
    "Tuned": "judge.tuning",
    "Uniform": "score.priors",
    "Unsmoothed": "smooth.rules",
    "WittenBell": "smooth.backgrounds",
    "bias_variance": "judge.bias_variance",
    "compare": "judge.comparison",
    "cross_validate": "judge.cross_validation",
    "evaluate": "judge.evaluation",
    "film_reviews": "data",
    "from_bytes": "estimators.load",
    "learning_curve": "judge.learning_curve",
    "leave_one_out": "judge.cross_validation",
    "load": "estimators.load",
    "merge": "learn.merge",
    "prequential": "judge.prequential",
    "suspects": "judge.suspects",
    "tune": "judge.tuning",
}

_RENAMED = {
    "BlockTally": "naively.Tally",
    "Moments": "naively.ExactSums",
    "NeverCounted": "naively.NegativeCount",
    "Numbers": "naively.ColumnCounts",
    "judging": "naively.judge",
    "learning": "naively.learn",
}

__all__ = sorted([*_HOMES, "__version__"])  # noqa: PLE0605

if TYPE_CHECKING:
    from naively.count.column_counts import ColumnCounts as ColumnCounts
    from naively.count.counts import Counts as Counts
    from naively.count.exact_pairs import ExactPairs as ExactPairs
    from naively.count.exact_sums import ExactSums as ExactSums
    from naively.count.tally import Tally as Tally
    from naively.data import film_reviews as film_reviews
    from naively.errors import DataWarning as DataWarning
    from naively.errors import FileError as FileError
    from naively.errors import InputError as InputError
    from naively.errors import NaivelyError as NaivelyError
    from naively.errors import NegativeCount as NegativeCount
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
    from naively.estimators import TfidfTransformer as TfidfTransformer
    from naively.estimators import TfidfVectorizer as TfidfVectorizer
    from naively.families.columns.declared import Bernoulli as Bernoulli
    from naively.families.columns.declared import Categorical as Categorical
    from naively.families.columns.declared import Complement as Complement
    from naively.families.columns.declared import Dates as Dates
    from naively.families.columns.declared import Histogram as Histogram
    from naively.families.columns.declared import Kernel as Kernel
    from naively.families.columns.declared import Multinomial as Multinomial
    from naively.families.columns.declared import Number as Number
    from naively.families.columns.declared import Poisson as Poisson
    from naively.families.columns.declared import Text as Text
    from naively.families.densities import Beta as Beta
    from naively.families.densities import Circular as Circular
    from naively.families.densities import Exponential as Exponential
    from naively.families.densities import Gamma as Gamma
    from naively.families.densities import Gaussian as Gaussian
    from naively.families.densities import Geometric as Geometric
    from naively.families.densities import LogNormal as LogNormal
    from naively.families.densities import NegativeBinomial as NegativeBinomial
    from naively.families.densities.base import NumberFamily as NumberFamily
    from naively.families.words.selection import Best as Best
    from naively.judge.bias_variance import BiasVariance as BiasVariance
    from naively.judge.bias_variance import bias_variance as bias_variance
    from naively.judge.comparison import Comparison as Comparison
    from naively.judge.comparison import compare as compare
    from naively.judge.cross_validation import cross_validate as cross_validate
    from naively.judge.cross_validation import leave_one_out as leave_one_out
    from naively.judge.evaluation import Evaluation as Evaluation
    from naively.judge.evaluation import evaluate as evaluate
    from naively.judge.learning_curve import LearningCurve as LearningCurve
    from naively.judge.learning_curve import learning_curve as learning_curve
    from naively.judge.prequential import Prequential as Prequential
    from naively.judge.prequential import prequential as prequential
    from naively.judge.suspects import Suspects as Suspects
    from naively.judge.suspects import suspects as suspects
    from naively.judge.tuning import Tuned as Tuned
    from naively.judge.tuning import tune as tune
    from naively.learn.held_out import HeldOut as HeldOut
    from naively.learn.merge import merge as merge
    from naively.learn.parts import CountedPart as CountedPart
    from naively.score.explanation import Explanation as Explanation
    from naively.score.priors import Empirical as Empirical
    from naively.score.priors import Given as Given
    from naively.score.priors import Smoothed as Smoothed
    from naively.score.priors import Uniform as Uniform
    from naively.score.scores import Scores as Scores
    from naively.smooth.backgrounds import AbsoluteDiscount as AbsoluteDiscount
    from naively.smooth.backgrounds import Dirichlet as Dirichlet
    from naively.smooth.backgrounds import JelinekMercer as JelinekMercer
    from naively.smooth.backgrounds import WittenBell as WittenBell
    from naively.smooth.rules import Additive as Additive
    from naively.smooth.rules import Epsilon as Epsilon
    from naively.smooth.rules import Evidence as Evidence
    from naively.smooth.rules import Unsmoothed as Unsmoothed


def __getattr__(name: str) -> Any:
    """Public names are loaded when first used (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        advice = f"; it is now {_RENAMED[name]}" if name in _RENAMED else ""
        raise AttributeError(f"module 'naively' has no attribute {name!r}{advice}")
    from importlib import import_module

    value = getattr(import_module(f"naively.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
