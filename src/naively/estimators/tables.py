"""Naive Bayes on tables whose columns are of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions, validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from naively.backgrounds import ADDED, rule_of
from naively.blocks import BlockLedger, CategoryBlock
from naively.cells import Array
from naively.columns import Text
from naively.errors import InputError, NaivelyError
from naively.estimators.block_model import BlockModel
from naively.estimators.calibrating import Calibrating
from naively.estimators.model import Model
from naively.estimators.rows import known_classes
from naively.estimators.schema import Schema
from naively.estimators.schema_table import SchemaTable
from naively.estimators.table_rows import batch_of, frame_of, label_mask, labelled
from naively.estimators.text import TextClassifier
from naively.estimators.words import words_family, words_rule
from naively.explain import Explanation, explain_row
from naively.families.words import FAMILIES, WEIGHTINGS, Words
from naively.frame import Frame
from naively.names import Index
from naively.priors import PRIORS, Empirical, Prior, prior_of
from naively.scores import Scores


class NaiveBayes(Calibrating):
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
        Whether probabilities are brought to what they are worth on rows that are left out: by one number that scores
        are divided by (True), one more for each class, or a rising function for each class.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "columns": [dict, None],
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"}), *ADDED],
        "prior": ["array-like", None, *PRIORS],
        "missing": [StrOptions({"ignored", "informative"})],
        "unlabelled": [StrOptions({"skip", "refuse"})],
        "calibrate": Calibrating.calibrate_constraint,
    }
    _model: BlockModel
    _judges_later = True  # which takes tables, and these are made when they are first needed

    def __init__(
        self,
        *,
        columns: Any = None,
        alpha: Any = "auto",
        prior: Any = None,
        missing: Any = "ignored",
        unlabelled: Any = "skip",
        calibrate: Any = True,
    ):
        self.columns = columns
        self.alpha = alpha
        self.prior = prior
        self.missing = missing
        self.unlabelled = unlabelled
        self.calibrate = calibrate

    # --- rules

    def _family(self) -> Any:
        return self._family_of(self._model)

    def _family_of(self, model: Any) -> Any:
        return model.schema.mixed(informative=self.missing == "informative")

    def _rule(self) -> Any:
        rule = rule_of(self.alpha)
        if rule.per_feature:
            raise InputError("alpha must be one number for all columns")
        return rule

    def _prior_rule(self) -> Prior:
        return prior_of(self.prior, Empirical())

    def _counted(self) -> Any:
        return "columns", None if self.columns is None else tuple(self.columns.items())

    def _check_counted(self, model: Model) -> None:
        self._validate_params()
        if model.counted != self._counted():
            raise InputError("columns= was changed after counting, and says what is counted; fit again")

    # --- learning

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Count these rows, and nothing from before.

        Parameters
        ----------
        X : table, or iterator of tables or of (table, labels) or (table, labels, weights)
            Rows.
        y : array-like of shape (n_samples,), or str, default=None
            Labels, or the name of the column that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        self : object
        """
        self._validate_params()
        if not isinstance(X, Iterator):
            self._settle(self._learnt(None, X, y, None, sample_weight))
            return self
        if sample_weight is not None:
            raise InputError("sample_weight: batches bring their own, as (table, labels, weights)")
        model: BlockModel | None = None
        for number, batch in enumerate(X):
            try:
                table, labels, weight = batch_of(batch, y)
                model = self._learnt(model, table, labels, None if model is None else model.ledger.classes, weight)
            except NaivelyError as error:
                raise InputError(f"batch {number}: {error}") from None
        if model is None:
            raise InputError("no batch came, so there is nothing to count")
        self._settle(model)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Count these rows on top of those from before.

        The first call settles what columns are taken for. Columns that come new later are left out.

        Parameters
        ----------
        X : table
            Rows.
        y : array-like of shape (n_samples,), or str
            Labels, or the name of the column that holds them; one that was never seen becomes a new class.
        classes : array-like of shape (n_classes,), default=None
            Labels known in advance.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        self : object
        """
        return super().partial_fit(X, y, classes, sample_weight)

    def _learn(self, X: Any, y: Any, model: Any, classes: Index | None, sample_weight: Any) -> None:
        self._settle(self._learnt(model, X, y, classes, sample_weight))

    def _learnt(
        self, model: BlockModel | None, X: Any, y: Any, classes: Index | None, sample_weight: Any
    ) -> BlockModel:
        """The state that follows when these rows are counted; nothing is changed yet."""
        frame, codes, index, weight = labelled(X, y, classes, sample_weight, type(self).__name__, self.unlabelled)
        if model is None:
            schema = Schema.settle(frame, self.columns, type(self).__name__, self._words)
            family = schema.mixed(informative=False)
            declared = frozenset() if classes is None or classes.names is None else frozenset(classes.names.tolist())
            ledger = BlockLedger.of(family.count(frame, codes, index, family.no_features(), weight))
            learnt = BlockModel(ledger, _dtype(frame), declared, self._counted(), schema=schema)
        else:
            frame = model.schema.matched(frame)
            model.schema.warn_of_new(frame)
            tally = self._family_of(model).count(frame, codes, index, model.ledger.features, weight)
            learnt = model.after(model.ledger.add(tally))
        for block in learnt.schema.blocks:
            if isinstance(block, CategoryBlock):
                block.warn(learnt.ledger.features[block.name], float(learnt.ledger.rows.sum()))
        return self._calibrated(learnt, frame, codes, weight)

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Take these rows out again, as if they had never been counted.

        Classes, categories and words that only they had go with them. Forgetting more than was counted raises and
        changes nothing. Forget only rows that were counted, and each once.

        Parameters
        ----------
        X : table
            Rows that were counted before.
        y : array-like of shape (n_samples,), or str
            Their labels, or the name of the column that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counted for.

        Returns
        -------
        self : object
        """
        check_is_fitted(self)
        model = self._model
        self._check_counted(model)
        self._settle_judgement(model)  # as long as its rows are there
        ledger: BlockLedger = model.ledger
        frame, codes, index, weight = labelled(
            X, y, ledger.classes, sample_weight, type(self).__name__, self.unlabelled
        )
        known_classes(index, ledger.classes)
        family = self._family_of(model)
        gone = family.count(model.schema.matched(frame), codes, index, ledger.features, weight)
        left = ledger.subtract(gone)
        parts = {b.name: b.tidied(left.parts[b.name], gone.parts[b.name]) for b in family.blocks}
        self._settle(model.after(BlockLedger(left.classes, left.rows, parts)).tidied())
        return self

    def _labelled(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        known = model.ledger.classes
        frame, codes, index, weight = labelled(X, y, known, sample_weight, type(self).__name__, self.unlabelled)
        known_classes(index, known)
        return model.schema.matched(frame), codes, weight

    def _rows_with_label(self, X: Any, y: Any) -> tuple[Array | None, int]:
        known = label_mask(X, y)
        return (None, 0) if known.all() else (np.flatnonzero(known), len(known))

    def _words(self, rule: Text) -> Words:
        parameters = {f.name: getattr(rule, f.name) for f in fields(rule)}
        told = TextClassifier._parameter_constraints
        limits = {
            **told,
            "family": [StrOptions(set(FAMILIES))],
            "weighting": [StrOptions(set(WEIGHTINGS))],
            "ngrams": [tuple, list],
            "alpha": [*told["alpha"], None],
        }
        validate_parameter_constraints(limits, parameters, caller_name="Text")
        if rule.alpha is not None:
            words_rule(rule.alpha, rule.family)
        return words_family(type(self).__name__, parameters)

    # --- scoring

    def _ready(self, X: Any) -> tuple[Frame, Any]:
        check_is_fitted(self)
        model = self._model
        self._check_counted(model)
        frame = frame_of(X)
        if not len(frame) and not frame.named:
            raise InputError("Found array with 0 sample(s) while a minimum of 1 is required: the table has no rows")
        return model.schema.matched(frame), _dtype(frame)

    def _scores(self, rows: Frame) -> Scores:
        model = self._model  # read once: another thread may be learning
        rules = self._family_of(model), self._rule(), self._log_prior(model)
        return self._finished(Scores.joined(model.in_parts(*rules, rows, lambda scores: scores)), model)

    def explain(self, X: Any) -> Explanation:
        """What the prior and each column of one row (of a text: each word) add to the score of each class.

        Parameters
        ----------
        X : table of one row
            The row.

        Returns
        -------
        explanation : Explanation
        """
        frame, _ = self._ready(X)
        if len(frame) != 1:
            raise InputError(f"explain takes one row, got {len(frame)}; pass a table of one")
        model = self._model
        table = model.table(self._family_of(model), self._rule(), self._log_prior(model))
        return explain_row(table, frame, lambda scores: self._finished(scores, model))

    def _drawn_rows(self, drawn: dict[int, Any], klass: Array) -> Any:
        import pyarrow as pa

        if not drawn:
            drawn = {0: self._family().sample(self.tally_, self._rule(), 0, 0, np.random.default_rng(0))}
        names = list(next(iter(drawn.values())))
        columns: dict[str, Any] = {}
        for name in names:
            each = {k: iter(_listed(columns_of[name])) for k, columns_of in drawn.items()}
            columns[name] = pa.array([next(each[k]) for k in klass.tolist()], from_pandas=True)
        return pa.table(columns)

    # --- what was learnt

    @property
    def n_features_in_(self) -> int:
        """How many columns there were."""
        model: Any = self._fitted("n_features_in_")
        return len(model.schema.columns)

    @property
    def feature_names_in_(self) -> Array:
        """Their names, where they had any."""
        model: Any = self._fitted("feature_names_in_")
        schema = model.schema
        if not schema.named:
            raise AttributeError(f"{type(self).__name__!r} was fitted on columns without names")
        return np.array([column.name for column in schema.columns], dtype=object)

    @property
    def schema_(self) -> SchemaTable:
        """What each column is taken for, why, and how many values were missing."""
        check_is_fitted(self)
        model = self._model
        return SchemaTable.of(model.schema, self._family_of(model), model.ledger, self._rule())

    def _repr_html_(self) -> str:
        shown = super()._repr_html_()
        return shown + self.schema_._repr_html_() if "_model" in self.__dict__ else shown

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _dtype(frame: Frame) -> Any:
    narrow = frame.columns and all(getattr(v, "dtype", None) == np.float32 for v in frame.columns.values())
    return np.float32 if narrow and not frame.named else np.float64
