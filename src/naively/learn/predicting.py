"""Predicting: labels, probabilities, explanations and samples of a fitted model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from numbers import Integral
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.families.blocks.blocks import Blocks
from naively.learn.model import Model, Weighing
from naively.learn.parameters import Parameters, inherited_names
from naively.read.frame import Frame
from naively.score.explanation import Explanation, explain_row
from naively.score.priors import Empirical, Prior, Smoothed
from naively.score.scores import Scores
from naively.score.table import Table

if TYPE_CHECKING:
    from naively.learn.explain_rows import Explanations
    from naively.learn.factors import Factor, RowCounts
    from naively.score.export.sql.export import SqlExport


class Predictor(Parameters):
    """A classifier whose whole state is a tally.

    A subclass chooses the blocks that are counted (`_blocks_of`), the smoothing (`_rule`) and the prior
    (`_prior_rule`).
    The latter two may be changed after fitting: the counts stay. It converts the rows of users (`_frame`), and columns
    of
    drawn values to rows as users have them (`_drawn_rows`).
    """

    _state: Model

    @property
    def _model(self) -> Model:
        """The state in which everything is decided that learning leaves open."""
        return self._decided(self._state)

    def _decided(self, state: Model) -> Model:
        return state

    @property
    def _who(self) -> str:
        """The name of the class in messages and in files."""
        return type(self).__name__

    def _blocks_of(self, model: Any) -> Blocks:
        """Return the blocks of a model by the present parameters (None: before any row was counted)."""
        raise NotImplementedError

    def _rule(self) -> Any:
        raise NotImplementedError

    def _rule_for(self, model: Any) -> Any:
        """Return the smoothing for one state."""
        return self._rule()

    def _prior_rule(self) -> Prior:
        raise NotImplementedError

    def _check_fitted(self) -> None:
        """Raise an error if nothing has been learnt."""
        if "_state" not in vars(self):
            raise InputError(f"this {type(self).__name__} is not fitted yet: call fit first")

    # --- scoring

    def _log_prior(self, model: Model) -> Array:
        return self._prior_rule().log(model.ledger.classes, model.ledger.rows)

    def _score_prior(self, model: Model, blocks: Blocks) -> Array:
        """Return the log-prior that scores begin with."""
        prior = self._log_prior(model)
        return np.zeros_like(prior) if blocks.ignores_prior and model.ledger.classes.size > 1 else prior

    def _frame(self, X: Any) -> tuple[Frame, Any]:
        """Return rows as the blocks read them, and the type of their probabilities."""
        raise NotImplementedError

    def _weighed_by(self) -> tuple[Model, Weighing]:
        """Return the model and its weighing, which is made anew only when a parameter changes."""
        if "_state" not in self.__dict__:
            self._check_fitted()
        model = self._model  # read once: another thread may be learning
        values = {**self.__dict__, **self._copies}
        kind: Any = type(self)
        parameters = [values[name] if name in values else getattr(self, name) for name in inherited_names(kind)]
        weighing = model.weighing
        if weighing is None or not all(map(is_, weighing.parameters, parameters)):
            self._check_counted(model)
            blocks, rule = self._blocks_of(model), self._rule_for(model)
            model.weighing = weighing = Weighing(parameters, blocks, rule, self._score_prior(model, blocks))
        return model, weighing

    def _check_counted(self, model: Model) -> None:
        """Raise where a parameter that counting depends on has changed since."""

    def scores(self, X: Any) -> Scores:
        """Joint log-likelihoods as a value that can decide by posterior or by likelihood alone.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        scores : Scores
        """
        return self._scores(self._frame(X)[0])

    def _scores(self, frame: Frame) -> Scores:
        model, weighing = self._weighed_by()
        return self._finished(model.scores(weighing, frame), model)

    def intervals(self, X: Any, level: float = 0.95) -> tuple[Array, Array]:
        """Bounds of the probability of each class, from the uncertainty of the counts.

        By the Dirichlet distribution that counts with α added make of the probabilities of features; for counts,
        presences and categories. Columns of numbers that are taken for normal are taken for known.

        Parameters
        ----------
        X : rows
            As for `predict`.
        level : float, default=0.95
            How probable it is that a probability lies between its bounds.

        Returns
        -------
        low, high : ndarrays of shape (n_samples, n_classes)
        """
        from naively.learn.intervals import interval, variances

        frame, _ = self._frame(X)
        model, weighing = self._weighed_by()
        found = variances(weighing.blocks, model.ledger, weighing.rule, frame)
        order = model.ledger.classes.order
        scores = self._finished(model.scores(weighing, frame), model)
        temperature = getattr(scores.calibration, "value", getattr(scores.calibration, "temperature", 1.0))
        return interval(scores.proba(), found if order is None else found[:, order], temperature, level)

    def _reorders(self, model: Model) -> bool:
        """True if the most probable class may not be the one that scores highest."""
        return False

    def _finished(self, scores: Scores, model: Model) -> Scores:
        """Return scores ready to become probabilities: here, with the prior that they stand for."""
        prior, order = self._log_prior(model), model.ledger.classes.order
        return replace(scores, shares=prior if order is None else prior[order])

    def decide(
        self, X: Any, *, by: str = "posterior", costs: Any = None, thresholds: Any = None, abstain_below: Any = None
    ) -> Array:
        """Return the label of each row by costs, thresholds or abstention.

        Parameters
        ----------
        X : rows
            As for `predict`.
        by : {"posterior", "likelihood"}, default="posterior"
            Whether the classes' frequencies count (MAP) or not (MLE).
        costs : array-like of shape (n_classes, n_classes) or dict, default=None
            What it costs to decide the one (second) where the other (first) is true; by label: {true: {decided: cost}}.
            The label whose cost is least to be expected is decided.
        thresholds : dict, default=None
            {label: probability}: such a label is decided wherever its probability reaches this, and nowhere else.
        abstain_below : float, default=None
            No label (None) where the probability of the one decided is lower.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        return self.scores(X).decide(by, costs=costs, thresholds=thresholds, abstain_below=abstain_below)

    def top(self, X: Any, k: int = 3) -> tuple[Array, Array]:
        """The k most probable labels of each row, and their probabilities, the highest first.

        Parameters
        ----------
        X : rows
            As for `predict`.
        k : int, default=3
            Number of labels; all classes if there are fewer.

        Returns
        -------
        labels, probabilities : ndarrays of shape (n_samples, k)
        """
        return self.scores(X).top(k)

    def predict(self, X: Any) -> Array:
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        frame, _ = self._frame(X)
        model, weighing = self._weighed_by()
        if self._reorders(model):
            return self._scores(frame).decide()
        return model.decide(weighing, frame, self._prior_to_decide(model, weighing))

    def _prior_to_decide(self, model: Model, weighing: Weighing) -> Array:
        """Return the log-prior under which the highest score is the most probable class."""
        return weighing.prior

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of `classes_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        frame, dtype = self._frame(X)
        return self._scores(frame).proba().astype(dtype, copy=False)

    def predict_log_proba(self, X: Any) -> Array:
        """The log-probability of each class, in the order of `classes_`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
        """
        frame, dtype = self._frame(X)
        logs = self._scores(frame).log_proba()
        if dtype == np.float64:
            return logs
        one = np.exp(logs).astype(dtype) == 1.0  # scikit-learn checks that the log of a probability of 1 is 0
        return np.where(one, 0.0, logs).astype(dtype)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log p(x, c) for each class, not normalised.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        joint : ndarray of shape (n_samples, n_classes)
        """
        frame, dtype = self._frame(X)
        return self._scores(frame).joint.astype(dtype, copy=False)

    def explain(self, X: Any) -> Explanation:
        """Return the share of the prior and of each feature in the score of each class, for one row.

        Parameters
        ----------
        X : rows
            One row, as for `predict`.

        Returns
        -------
        explanation : Explanation
        """
        frame, _ = self._frame(X)
        if len(frame) != 1:
            raise InputError(f"explain takes one row, got {len(frame)}; pass X[i:i+1]")
        model, weighing = self._weighed_by()
        blocks = weighing.blocks
        table = model.table(blocks, weighing.rule, weighing.prior)
        scores = self._finished(table.score(blocks.rows_for(table, frame), 1), model)
        factors = self._factors_of_row(model, blocks, table, frame)
        by_rows = isinstance(self._prior_rule(), (Empirical, Smoothed)) and not blocks.ignores_prior

        @cache
        def counts() -> RowCounts:  # whose module is imported when counts are wanted
            from naively.learn.factors import RowCounts

            return RowCounts(blocks, table, model.ledger, frame, factors, by_rows)

        values = {name: factor.value for name, factor in factors.items()}
        shares, ignored = blocks.shares(table, frame), blocks.ignored(table)
        return explain_row(table, scores, shares, values, ignored, lambda name: counts()(name))

    def explain_rows(self, X: Any, label: Any = None) -> Explanations:
        """Return the share of each feature of many rows in the log-odds of a label against the next one.

        >>> from naively import MultinomialNB
        >>> model = MultinomialNB().fit([[3, 0], [0, 2]], ["a", "b"])
        >>> found = model.explain_rows([[1, 0], [2, 1]])
        >>> found.labels.tolist(), found.shares.round(3).tolist()
        (['a', 'a'], [[1.163, 0.0], [2.326, -1.322]])

        Parameters
        ----------
        X : rows
            As for `predict`.
        label : label, default=None
            Explain how much speaks for this label; None: for the one that is decided, row by row.

        Returns
        -------
        explanations : Explanations
            `to_frame()` makes a DataFrame, rows by features, with shares and values.
        """
        from naively.learn.explain_rows import explain_rows

        return explain_rows(self, X, label)

    def _factors_of_row(self, model: Model, blocks: Blocks, table: Table, frame: Frame) -> Mapping[str, Factor]:
        """Return the values of the columns of one row, and the counts behind them."""
        return {}

    def to_sql(
        self, dialect: str, *, table: str = "rows", keep: Any = (), form: str = "auto", weights: str = "naively_weights"
    ) -> SqlExport:
        """Return a query that scores a table where it lies, and the table of weights that it joins.

        Its columns are those to `keep`, `label`, `probability`, and `p_` with each label. See docs/export.md.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite", "postgresql", "spark"}
            The database.
        table : str, default="rows"
            Name of the table to score.
        keep : str or list of str, default=()
            Columns of the table that the result has too. In Spark, the first must tell rows of texts apart.
        form : {"auto", "join", "case"}, default="auto"
            Whether categories and bins are looked up in the table of weights or in the query itself; "auto": in the
            query if the weights are few.
        weights : str, default="naively_weights"
            Name of the table of weights.

        Returns
        -------
        export : SqlExport
        """
        from naively.learn.export import terms_of
        from naively.score.export.sql.export import to_sql

        return to_sql(terms_of(self), dialect, table=table, keep=keep, form=form, weights=weights)

    def to_onnx(self, *, texts: str = "words") -> Any:
        """Return the model as ONNX, which gives labels and float64 probabilities; needs the extra `onnx`.

        Inputs are columns, each of shape (rows, 1), of strings or float64; of an array, one input `X`. Missing values
        are NaN, and in a table the empty text. See docs/export.md.

        Parameters
        ----------
        texts : {"words", "counts"}, default="words"
            Whether texts are split by operators of onnxruntime, or their counts are the input: one column for each
            word of the model, sorted.

        Returns
        -------
        model : onnx.ModelProto
        """
        from naively.learn.export import array_columns, terms_of
        from naively.score.export.onnx.export import to_onnx

        return to_onnx(terms_of(self), array=array_columns(self), texts=texts)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Rows drawn from the model: a class by its prior, then a row from that class.

        Parameters
        ----------
        n : int, default=1
            Number of rows.
        random_state : int, RandomState instance or None, default=None
            Source of random numbers.

        Returns
        -------
        X, y : rows and their labels
        """
        self._check_fitted()
        if not (isinstance(n, (int, np.integer)) and n >= 0):
            raise InputError(f"n must be a whole number, 0 or more, got {n!r}")
        rng = _generator(random_state)
        model, weighing = self._weighed_by()
        ledger = model.ledger
        chance = np.exp(self._log_prior(model))
        klass = np.sort(rng.choice(ledger.classes.size, n, p=chance / chance.sum()))
        rng.shuffle(klass)
        drawn = {
            k: weighing.blocks.sample(ledger, weighing.rule, k, int((klass == k).sum()), rng)
            for k in np.unique(klass).tolist() or [0]
        }
        names = ledger.classes.names
        assert names is not None
        return self._drawn_rows(drawn, klass), names[klass]

    def _drawn_rows(self, drawn: dict[int, dict[str, Any]], klass: Array) -> Any:
        """Return rows in the order of the labels, from the columns drawn for each class."""
        raise NotImplementedError

    # --- fitted attributes

    @property
    def tally_(self) -> Any:
        """The counts of the model, a value that can be added, subtracted and compared."""
        self._check_fitted()
        return self._model.ledger.total

    @property
    def table_(self) -> Any:
        """The log-probabilities, made at first use."""
        model, weighing = self._weighed_by()
        return model.table(weighing.blocks, weighing.rule, weighing.prior)

    @property
    def classes_(self) -> Array:
        """Labels in sorted order."""
        names = self._fitted("classes_").ledger.classes.names
        assert names is not None
        return self._by_class(names).copy()

    @property
    def class_count_(self) -> Array:
        """Number of rows in each class, by weight."""
        model = self._fitted("class_count_")
        return self._by_class(model.ledger.rows).astype(np.float64)

    @property
    def n_parameters_(self) -> int:
        """Number of parameters that the model estimates: the priors and those of the family."""
        self._fitted("n_parameters_")
        model = self._model
        return model.ledger.classes.size - 1 + self._blocks_of(model).n_parameters(model.ledger)

    @property
    def n_parameters_joint_(self) -> int | float:
        """Number of parameters without the naive assumption; for counts, of which features a row holds at all.

        `math.inf` where there are numbers of events (Poisson), whose combinations have no end. More than 10^300 is
        printed by its magnitude ("about 10^6021"); `int(...)` has all digits. `json.dumps` refuses a whole number of
        more than 4,300 digits, as it does any: pass `str(model.n_parameters_joint_)`.
        """
        self._fitted("n_parameters_joint_")
        model = self._model
        joint = model.ledger.classes.size - 1 + self._blocks_of(model).n_parameters_joint(model.ledger)
        return HugeInt(joint) if isinstance(joint, int) and joint > _HUGE else joint

    def _by_class(self, values: Array) -> Array:
        """Return the rows of an array in the order of `classes_`."""
        order = self._state.ledger.classes.order
        return values if order is None else values[order]

    def _fitted(self, name: str) -> Model:
        """Return the state, with nothing decided that is open; raise an error if nothing has been learnt."""
        if "_state" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r} before it is fitted")
        return self._state


class HugeInt(int):
    """A whole number of hundreds of digits, printed by its magnitude: Python refuses to print more than 4,300 digits.

    >>> HugeInt(2**20_000)
    about 10^6021
    >>> f"{HugeInt(2**20_000):,} and {HugeInt(2**20_000):>14}"
    'about 10^6021 and about 10^6021'
    """

    def __repr__(self) -> str:
        return f"about 10^{math.log10(self):.0f}"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        """Format by the magnitude, whatever the format: it has no digits to group or round."""
        return repr(self)


_HUGE = 10**300
"""Larger numbers are printed by their magnitude."""


def _generator(random_state: Any) -> np.random.Generator:
    """Return a generator of random numbers from a `random_state` as in scikit-learn."""
    chance: Any
    if random_state is None or random_state is np.random:
        chance = np.random
    elif isinstance(random_state, np.random.RandomState):
        chance = random_state
    elif isinstance(random_state, Integral):
        chance = np.random.RandomState(int(random_state))
    else:
        raise InputError(f"{random_state!r} cannot be used to seed a numpy.random.RandomState instance")
    return np.random.default_rng(chance.randint(np.iinfo(np.int32).max))
