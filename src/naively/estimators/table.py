"""The estimator of tables whose columns are of every kind."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

from naively.estimators.sklearn_protocol import CALIBRATE, SklearnProtocol, validated
from naively.estimators.validation import Between, OneOf, check
from naively.families.words.block import FAMILIES, WEIGHTINGS
from naively.learn.tables import TableLearner
from naively.score.priors import PRIORS
from naively.smooth.backgrounds import ADDED


class NaiveBayes(SklearnProtocol, TableLearner):
    """Naive Bayes over the columns of a table: numbers, categories, flags, dates and text, with holes in them.

    >>> from naively import NaiveBayes
    >>> table = {
    ...     "price": [7.5, 8.0, None, 30.0, 28.5, 31.0],
    ...     "city": ["Rome", "Oslo", "Rome", None, "Oslo", "Oslo"],
    ...     "open": [True, True, False, None, True, False],
    ... }
    >>> model = NaiveBayes().fit(table, ["again", "again", "again", "never", "never", "never"])
    >>> model.predict({"city": ["Rome", "Paris"], "price": [9.0, 33.0]}).tolist()
    ['again', 'never']
    >>> print(model.schema_)
    column  type    taken as                   missing  why
    price   double  histogram, 2 bins                1  numbers: 0.315 leaving one out, 12.000 by gaussian
    city    string  categorical, 2 categories        1  short texts
    open    bool    bernoulli                        1  true or false

    Tables may come from pandas, polars, pyarrow, DuckDB, as a dict of columns, as anything with
    `__arrow_c_stream__`, or as an array; larger than memory, as an iterator of batches. Columns are matched by name:
    one that is not there is missing in every row, one that was not there before is left out.

    Parameters
    ----------
    columns : dict, default=None
        What columns are taken for, by name: `Number()`, `Gaussian()`, `Histogram()`, `Kernel()`, `Categorical()`,
        `Bernoulli()`, `Poisson()`, `Dates()`, `Text()`, or None to leave one out. A tuple of names makes a group:
        `Multinomial()`, `Complement()`, `Gaussian(covariance="full")`. What is not named is read as it looks.
    alpha : float, rule (`Additive`, `Epsilon`, `Unsmoothed`) or "auto", default="auto"
        What is added to every count; "auto": for each column, the α that makes its counts most probable.
    prior : rule (`Empirical`, `Smoothed`, `Uniform`, `Given`) or array-like, default=None
        What is expected of the classes beforehand; None: their shares of the rows.
    missing : {"ignored", "informative"}, default="ignored"
        Whether a missing value says nothing, or that it is missing.
    unlabelled : {"skip", "refuse"}, default="skip"
        What becomes of rows without a label: they are left out with a warning, or refused.
    calibrate : bool, "temperature", "per class" or "isotonic", default=True
        How probabilities are brought to what they are worth on held-out rows: by one number that scores are divided by
        ("temperature"), a constant for each class as well ("per class"), or a rising function for each class
        ("isotonic"). True: a temperature, or per class where held-out rows are better for it.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "columns": [dict, None],
        "alpha": [Between(Real, 0), OneOf("auto"), *ADDED],
        "prior": ["array-like", None, *PRIORS],
        "missing": [OneOf("ignored", "informative")],
        "unlabelled": [OneOf("skip", "refuse")],
        "calibrate": CALIBRATE,
    }

    fit = validated(TableLearner.fit)

    def _validate_text(self, parameters: dict[str, Any]) -> None:
        from naively.estimators.text import TextClassifier

        of_texts = TextClassifier._parameter_constraints
        limits = {
            **of_texts,
            "family": [OneOf(*FAMILIES)],
            "weighting": [OneOf(*WEIGHTINGS)],
            "ngrams": [tuple, list],
            "alpha": [*of_texts["alpha"], None],
        }
        check(limits, parameters, "Text")

    def _repr_html_(self) -> str:
        summary = super()._repr_html_()
        return summary + self.schema_._repr_html_() if "_model" in vars(self) else summary

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
