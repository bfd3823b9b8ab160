"""The estimator of tables whose columns are of every kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger
from naively.errors import InputError, NaivelyError
from naively.estimators.sklearn_protocol import CALIBRATE, SklearnProtocol, validated
from naively.estimators.validation import Between, OneOf, check
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.categories import CategoryBlock
from naively.families.columns.declared import Text
from naively.families.words.block import FAMILIES, WEIGHTINGS, Words
from naively.learn.calibrate import CalibratingLearner
from naively.learn.factors import Factor, row_factors
from naively.learn.learner import Batch
from naively.learn.model import Model
from naively.learn.schema import Schema
from naively.learn.schema_report import SchemaTable
from naively.learn.top_values import top_values
from naively.learn.words import words_family, words_rule
from naively.names import Index
from naively.read.detect import engine_for
from naively.read.frame import Frame
from naively.read.label_codes import counted_codes
from naively.read.labelled_table import batch_of, frame_of, label_mask, labelled, weighed
from naively.score.calibration import AUTO
from naively.score.priors import PRIORS, Empirical, Prior, prior_of
from naively.score.table import Table
from naively.smooth.backgrounds import ADDED, rule_of


class NaiveBayes(SklearnProtocol, CalibratingLearner):
    """Naive Bayes over the columns of a table: numbers, categories, flags, dates and text; values may be missing.

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
    price   double  log normal                       1  numbers: 0.097 leaving one out, 0.104 by gamma
    city    string  categorical, 2 categories        1  short texts
    open    bool    bernoulli                        1  true or false

    Tables may come from pandas, polars, pyarrow, DuckDB, as a dict of columns, as anything with
    `__arrow_c_stream__`, or as an array; as rows, a dict each, or one; as the path of a file (`fit("rows.csv",
    "label")`), which is read into memory; larger than memory, as an iterator of batches. Columns are matched by name:
    a column that is absent counts as missing in every row, a column that is new is left out.

    Parameters
    ----------
    columns : dict, default=None
        Families of columns, by name: `Number()`, `Gaussian()`, `Histogram()`, `Kernel()`, `Categorical()`,
        `Bernoulli()`, `Poisson()`, `Dates()`, `Text()`, a density such as `Gamma()` (docs/densities.md), or None to
        leave one out. A tuple of names makes a group: `Multinomial()`, `Complement()`, `Gaussian(covariance="full")`.
        What is not named is read as it looks.
    alpha : float, rule (`Additive`, `Epsilon`, `Unsmoothed`) or "auto", default="auto"
        What is added to every count; "auto": for each column, the α that makes its counts most probable.
    prior : rule (`Empirical`, `Smoothed`, `Uniform`, `Given`) or array-like, default=None
        Prior of the classes; None: their shares of the rows.
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

    reads_text = False

    _usual_method = AUTO

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

    def _blocks_of(self, model: Any) -> Blocks:
        return model.schema.blocks_of(informative=self.missing == "informative")

    def _rule(self) -> Any:
        rule = rule_of(self._value("alpha"))
        if rule.per_feature:
            raise InputError("alpha must be one number for all columns")
        return rule

    def _prior_rule(self) -> Prior:
        return prior_of(self._value("prior"), Empirical())

    def _counted(self) -> Any:
        columns = self._value("columns")
        return "columns", None if columns is None else tuple(columns.items())

    def _check_counted(self, model: Model) -> None:
        self._validate_params()
        if model.counted != self._counted():
            raise InputError("columns= was changed after counting; decide anew by refit(columns=...), or fit again")

    # --- learning

    @validated
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
        engine = engine_for(X)
        if engine is not None:
            return self._fit_distributed(engine, X, y, sample_weight)
        with self._all_or_nothing():
            self._copy_parameters()
            if not isinstance(X, Iterator):
                self._commit(self._learnt(None, X, y, None, sample_weight))
                return self
            if sample_weight is not None:
                raise InputError("sample_weight: batches bring their own, as (table, labels, weights)")
            model: Model | None = None
            for number, batch in enumerate(X):
                try:
                    table, labels, weight = batch_of(batch, y)
                    model = self._learnt(model, table, labels, None if model is None else model.ledger.classes, weight)
                except NaivelyError as error:
                    raise InputError(f"batch {number}: {error}") from None
            if model is None:
                raise InputError("no batch came, so there is nothing to count")
            self._commit(model)
        return self

    def refit(self, **parameters: Any) -> Any:
        """Decide anew what columns are taken for, and how they are smoothed; no row is read again.

        >>> from naively import Histogram, NaiveBayes
        >>> model = NaiveBayes().fit({"age": [31.5, 40.0, 22.5], "zip": [8000, 9000, 8000]}, ["a", "a", "b"])
        >>> model.refit(columns={"age": Histogram("width", 3), "zip": "categorical"}).schema_["age"].taken_as
        'histogram, 3 bins'

        Parameters
        ----------
        **parameters
            Any of `columns`, `alpha`, `prior`, `missing`, `calibrate`. `columns` are all declarations, as for a new
            model. Columns of numbers and flags that were not declared when they were counted may become any family of
            numbers, `Categorical()`, `Bernoulli()`, or None: from their values, or from ranges where these are more
            than 16,384. What other columns are was decided by counting.

        Returns
        -------
        self : object
        """
        self._check_fitted()
        with self._all_or_nothing():
            self.set_params(**parameters)
            self._validate_params()
            state = self._state
            if state.counted != self._counted():
                state = replace(state, schema=state.schema.redeclared(self._value("columns")), counted=self._counted())
            self._commit(state)
            _ = self.table_
        return self

    def _batch(
        self, model: Model | None, blocks: Blocks | None, X: Any, y: Any, classes: Index | None, sample_weight: Any
    ) -> Batch:
        found = weighed(X, y, classes, sample_weight, self._who, self.unlabelled)
        frame, codes, index, weight, counted_rows = found
        if model is not None:
            frame = model.schema.matched(frame)
        return Batch(frame, codes, index, weight, counted_rows)

    def _planned(self, X: Any, y: Any) -> Model:
        frame = frame_of(X)
        frame = frame.without(y) if isinstance(y, str) else frame
        schema = Schema.of(frame, self._value("columns"), self._who, self._words)
        return self._uncounted(schema.blocks_of(informative=False), _dtype(frame), schema)

    def _begun(self, batch: Batch, declared: Index) -> Model:
        schema = Schema.of(batch.frame, self._value("columns"), self._who, self._words)
        blocks = schema.blocks_of(informative=False)
        tally = blocks.count(batch.frame, batch.codes, batch.classes, blocks.no_features(), batch.weight)
        dtype = _dtype(batch.frame)
        return Model(Ledger.of(tally), dtype, declared, self._counted(), schema=schema)

    def _widened(self, model: Model, blocks: Blocks, batch: Batch) -> tuple[Model, Blocks]:
        schema = model.schema.extended(batch.frame)
        if schema is model.schema:
            return model, blocks
        wider = replace(model, schema=schema)
        return wider, self._counting_blocks(wider)

    def _after_learning(self, model: Model, batch: Batch) -> None:
        model.schema.warn_of_new(batch.frame)
        for block in model.schema.blocks:
            if isinstance(block, CategoryBlock):
                block.warn(model.features[block.name], float(model.ledger.rows.sum()))

    def _sampled_rows(self, model: Model, frame: Frame) -> Frame:
        used = {column.name for column in model.schema.columns if column.rule is not None}
        return Frame({name: v for name, v in frame.columns.items() if name in used}, frame.rows, frame.named)

    def _labelled(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Frame, Array, Array | None]:
        known = model.ledger.classes
        frame, codes, index, weight = labelled(X, y, known, sample_weight, self._who, self.unlabelled)
        return model.schema.matched(frame), counted_codes(codes, index, known, weight), weight

    def _rows_with_label(self, X: Any, y: Any) -> tuple[Array | None, int]:
        known = label_mask(X, y)
        return (None, 0) if known.all() else (np.flatnonzero(known), len(known))

    def _words(self, rule: Text) -> Words:
        parameters = {f.name: getattr(rule, f.name) for f in fields(rule)}
        self._validate_text(parameters)
        if rule.alpha is not None:
            words_rule(rule.alpha, rule.family)
        return words_family(self._who, parameters)

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

    # --- scoring

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy: the share of rows whose label is predicted.

        Parameters
        ----------
        X : table
            Rows.
        y : array-like of shape (n_samples,), or str
            Their labels, or the name of the column that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        accuracy : float
        """
        if not isinstance(y, str):
            return super().score(X, y, sample_weight)
        self._check_fitted()
        frame, codes, index, weight = labelled(X, y, None, sample_weight, self._who, self.unlabelled)
        assert index.names is not None
        return float(np.average(self.predict(frame) == index.names[codes], weights=weight))

    def _frame(self, X: Any) -> tuple[Frame, Any]:
        self._check_fitted()
        model = self._model
        self._check_counted(model)
        frame = frame_of(X)
        if not len(frame) and not frame.named:
            raise InputError("Found array with 0 sample(s) while a minimum of 1 is required: the table has no rows")
        return model.schema.matched(frame), _dtype(frame)

    def _factors_of_row(self, model: Model, blocks: Blocks, table: Table, frame: Frame) -> Mapping[str, Factor]:
        return row_factors(blocks, table, model.ledger, frame)

    def _drawn_rows(self, drawn: dict[int, dict[str, Any]], klass: Array) -> Any:
        import pyarrow as pa

        names = list(next(iter(drawn.values())))
        columns: dict[str, Any] = {}
        for name in names:
            each = {k: iter(_listed(columns_of[name])) for k, columns_of in drawn.items()}
            columns[name] = pa.array([next(each[k]) for k in klass.tolist()], from_pandas=True)
        return pa.table(columns)

    # --- what was learnt

    @property
    def n_features_in_(self) -> int:  # type: ignore[override]
        """Number of columns in `fit`."""
        model: Any = self._fitted("n_features_in_")
        return len(model.schema.columns)

    @property
    def feature_names_in_(self) -> Array:
        """Names of the columns in `fit`, if they had names."""
        model: Any = self._fitted("feature_names_in_")
        schema = model.schema
        if not schema.named:
            raise AttributeError(f"{self._who!r} was fitted on columns without names")
        return np.array([column.name for column in schema.columns], dtype=object)

    @property
    def column_types_(self) -> dict[str, str]:
        """Type of the values of each column in `fit`, by name."""
        model: Any = self._fitted("column_types_")
        return {column.name: column.type for column in model.schema.columns}

    @property
    def schema_(self) -> SchemaTable:
        """The family of each column, the reason for it, and the number of missing values."""
        model, weighing = self._weighed_by()
        table = self.table_ if model.ledger.parts is None else None
        return SchemaTable.of(model.schema, weighing.blocks, model.ledger, weighing.rule, table)

    def top_values(self, n: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """The values that speak most for each class, with how sure that is, in standard deviations.

        Categories, bins, words and missing values are ranked by log-odds against all other classes; numbers taken for
        normal and numbers of events by the distance of their means. Columns that the model ignores are left out.

        >>> from naively import NaiveBayes
        >>> model = NaiveBayes().fit({"city": ["Rome", "Rome", "Oslo", "Oslo"]}, ["warm", "warm", "cold", "cold"])
        >>> [value for value, _ in model.top_values()["cold"]]
        ['city = Oslo (2 of 2)']

        Parameters
        ----------
        n : int, default=10
            Number of values for each class.

        Returns
        -------
        values : dict of lists of (value, z-score)
        """
        self._check_fitted()
        if not (isinstance(n, Integral) and n >= 0):
            raise InputError(f"n must be a whole number, 0 or more, got {n!r}")
        model, weighing = self._weighed_by()
        return top_values(weighing.blocks, model.ledger, weighing.rule, int(n))

    def _repr_html_(self) -> str:
        summary = super()._repr_html_()
        return summary + self.schema_._repr_html_() if "_state" in vars(self) else summary

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _dtype(frame: Frame) -> Any:
    narrow = frame.columns and all(getattr(v, "dtype", None) == np.float32 for v in frame.columns.values())
    return np.float32 if narrow and not frame.named else np.float64
