"""Learning from tables whose columns are of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Uncounted
from naively.errors import InputError, NaivelyError
from naively.families.blocks import BlockLedger, CategoryBlock
from naively.families.blocks.block_sum import BlockSum
from naively.families.columns.declared import Text
from naively.families.words.block import Words
from naively.learn.block_model import BlockModel
from naively.learn.calibrate import CalibratingLearner
from naively.learn.factors import row_factors
from naively.learn.model import NO_CLASSES, Model
from naively.learn.schema import Schema
from naively.learn.schema_report import SchemaTable
from naively.learn.words import words_family, words_rule
from naively.names import Index
from naively.read.frame import Frame
from naively.read.label_codes import counted_codes, known_classes
from naively.read.labelled_table import batch_of, frame_of, label_mask, labelled, weighed
from naively.read.matrix import RowError
from naively.read.row_keys import table_keys
from naively.score.calibration import AUTO, Isotonic, PerClass
from naively.score.explanation import Explanation, explain_row
from naively.score.priors import Empirical, Prior, prior_of
from naively.score.scores import Scores
from naively.smooth.backgrounds import rule_of


class TableLearner(CalibratingLearner):
    """Learns from the columns of a table, as `NaiveBayes` does, whose parameters it has.

    >>> from naively.learn.tables import TableLearner
    >>> learner = TableLearner().fit({"city": ["Rome", "Oslo"]}, ["south", "north"])
    >>> learner.predict({"city": ["Oslo"]}).tolist()
    ['north']
    """

    reads_text = False

    _model: BlockModel
    _judges_later = True  # which takes tables, and these are made when they are first needed
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

    @property
    def _who(self) -> str:
        return "NaiveBayes" if type(self) is TableLearner else super()._who

    # --- rules

    def _family(self) -> Any:
        return self._family_of(self._model)

    def _family_of(self, model: Any) -> Any:
        return model.schema.mixed(informative=self.missing == "informative")

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
        with self._all_or_nothing():
            self._copy_parameters()
            if not isinstance(X, Iterator):
                self._commit(self._learnt(None, X, y, None, sample_weight))
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
            self._commit(model)
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
        self._commit(self._learnt(model, X, y, classes, sample_weight))

    def _learnt(
        self, model: BlockModel | None, X: Any, y: Any, classes: Index | None, sample_weight: Any
    ) -> BlockModel:
        """The state that follows when these rows are counted; nothing is changed yet."""
        frame, codes, index, weight, kept = weighed(X, y, classes, sample_weight, self._who, self.unlabelled)
        try:
            if model is None:
                schema = Schema.settle(frame, self._value("columns"), self._who, self._words)
                family = schema.mixed(informative=False)
                ledger = BlockLedger.of(family.count(frame, codes, index, family.no_features(), weight))
                learnt = BlockModel(ledger, _dtype(frame), classes or NO_CLASSES, self._counted(), schema=schema)
            else:
                self._settle_judgement(model)  # by the counts of its own rows
                frame = model.schema.matched(frame)
                model.schema.warn_of_new(frame)
                tally = self._family_of(model).count(frame, codes, index, model.ledger.features, weight)
                learnt = model.after(model.ledger.add(tally))
        except RowError as error:
            raise error.among(kept) from None
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
        with self._all_or_nothing():
            self._check_fitted()
            model = self._model
            self._check_counted(model)
            self._settle_judgement(model)  # as long as its rows are there
            self._commit(self._without(model, X, y, sample_weight))
        return self

    def _without(self, model: BlockModel, X: Any, y: Any, sample_weight: Any) -> Model:
        """The state that follows when these rows are taken out; nothing is changed yet."""
        ledger: BlockLedger = model.ledger
        frame, codes, index, weight, kept = weighed(X, y, ledger.classes, sample_weight, self._who, self.unlabelled)
        known_classes(index, ledger.classes)
        family = self._family_of(model)
        try:
            gone = family.count(model.schema.matched(frame), codes, index, ledger.features, weight)
        except RowError as error:
            raise error.among(kept) from None
        left = ledger.subtract(gone)
        parts = {b.name: b.tidied(left.parts[b.name], gone.parts[b.name]) for b in family.blocks}
        tidied = model.after(BlockLedger(left.classes, left.rows, parts)).tidied()
        return self._calibrated_without(tidied, model.schema.matched(frame), codes, index, weight)

    def _keys(self, model: Any, rows: Any, codes: Array, classes: Index) -> Array:
        columns = [column.name for column in model.schema.columns if column.rule is not None]
        return table_keys(rows, columns, codes, classes)

    def _log_prior_to_decide(self, model: Any) -> Array:
        """The log-prior under which the highest score is the most probable class, constants of classes included."""
        prior, calibration = self._log_prior(model), self._calibration_to_decide(model)
        if not isinstance(calibration, PerClass):
            return prior
        order = model.ledger.classes.order
        moved = calibration.temperature * calibration.offsets
        return prior + (moved if order is None else moved[np.argsort(order)])

    def _reorders(self, model: Any) -> bool:
        return isinstance(self._calibration_to_decide(model), Isotonic)

    def _labelled(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
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
        """Raises where a parameter of `Text` is nothing that it may be; here whoever sets them is trusted."""

    # --- scoring

    def _ready(self, X: Any) -> tuple[Frame, Any]:
        self._check_fitted()
        model = self._model
        self._check_counted(model)
        frame = frame_of(X)
        if not len(frame) and not frame.named:
            raise InputError("Found array with 0 sample(s) while a minimum of 1 is required: the table has no rows")
        return model.schema.matched(frame), _dtype(frame)

    def _scores(self, rows: Frame) -> Scores:
        model = self._model  # read once: another thread may be learning
        rules = self._family_of(model), self._rule(), self._log_prior(model)
        return self._finished(Scores.joined(model.in_parts(*rules, rows, BlockSum.scores)), model)

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
        values = {name: factor.value for name, factor in row_factors(table, model.ledger, frame).items()}
        return explain_row(table, frame, lambda scores: self._finished(scores, model), values)

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
            raise AttributeError(f"{self._who!r} was fitted on columns without names")
        return np.array([column.name for column in schema.columns], dtype=object)

    @property
    def schema_(self) -> SchemaTable:
        """What each column is taken for, why, and how many values were missing."""
        self._check_fitted()
        model = self._model
        tables = self.table_.tables if isinstance(model.ledger, Uncounted) else None
        return SchemaTable.of(model.schema, self._family_of(model), model.ledger, self._rule(), tables)


def _listed(values: Any) -> list[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else list(values)


def _dtype(frame: Frame) -> Any:
    narrow = frame.columns and all(getattr(v, "dtype", None) == np.float32 for v in frame.columns.values())
    return np.float32 if narrow and not frame.named else np.float64
