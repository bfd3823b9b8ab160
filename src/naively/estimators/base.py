"""What all estimators share: scikit-learn's manners around one engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from naively.cells import Array
from naively.errors import InputError
from naively.estimators.model import Model
from naively.estimators.rows import (
    check_labels,
    check_rows,
    check_weights,
    known_classes,
    number_labels,
    numbers,
    sorted_index,
)
from naively.explain import Explanation, explain_row
from naively.families.base import Family
from naively.intervals import interval, variances
from naively.ledger import Ledger
from naively.names import Index
from naively.priors import Prior
from naively.rows import Rows
from naively.scores import Scores


class CountingClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose whole state is a tally.

    A subclass says which family it counts with (`_family`), how it smooths (`_rule`) and what it expects of the
    classes beforehand (`_prior_rule`). Both may be changed after fitting: the counts stay.
    """

    _classes_come_first = False
    _entries_once = False  # whether an entry given in several parts differs from their sum
    _model: Model

    def _family(self) -> Family:
        raise NotImplementedError

    def _family_of(self, model: Model) -> Family:
        """The family for one state, which another thread may be about to replace."""
        return self._family()

    def _rule(self) -> Any:
        raise NotImplementedError

    def _prior_rule(self) -> Prior:
        raise NotImplementedError

    def _identity(self) -> tuple[Any, ...]:
        """What an estimator counts, smooths and expects by: what models must share to be merged."""
        return self._family(), self._rule(), self._prior_rule()

    # --- learning

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Count these rows, and nothing from before.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows. Missing values (NaN, None, pandas.NA) add nothing.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        self : object
        """
        with self._all_or_nothing():
            self._learn(X, y, None, None, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Count these rows on top of those from before; costs what the rows hold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels; one that was never seen becomes a new class.
        classes : array-like of shape (n_classes,), default=None
            Labels known in advance.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for.

        Returns
        -------
        self : object
        """
        with self._all_or_nothing():
            model = self.__dict__.get("_model")
            if model is None:
                self._validate_params()
            else:
                self._check_counted(model)
            known = self._check_classes(classes, model)
            self._learn(X, y, model, known, sample_weight)
        return self

    def forget(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Take these rows out again, as if they had never been counted.

        What only they had brought along goes with them: classes (unless named in advance) and categories; when all
        rows are gone, the last classes stay. Forgetting more than was counted (a count below zero, a negative
        variance, an unknown class) raises and changes nothing. A sum does not remember its rows, so forget only rows
        that were counted, and each once.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows that were counted before.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counted for.

        Returns
        -------
        self : object
        """
        check_is_fitted(self)
        ledger = self._model.ledger
        self._check_counted(self._model)
        with self._all_or_nothing():
            tally = self._count(X, y, ledger.classes, ledger.features, sample_weight, reset=False)
            known_classes(tally.classes, ledger.classes)
            left = self._tidied(ledger.subtract(tally), tally)
            self._settle(self._model.after(left).tidied())
        return self

    def _tidied(self, ledger: Ledger, gone: Any) -> Ledger:
        """Without what only the rows just forgotten had brought along."""
        return ledger

    def _learn(self, X: Any, y: Any, model: Model | None, classes: Index | None, sample_weight: Any) -> None:
        features = None if model is None else model.ledger.features
        tally = self._count(X, y, classes, features, sample_weight, reset=model is None)
        if model is None:
            declared = frozenset() if classes is None or classes.names is None else frozenset(classes.names.tolist())
            self._settle(Model(Ledger((tally,)), self._dtype_of(X), declared, self._counted()))
        else:
            self._settle(model.after(model.ledger.add(tally)))

    def _count(self, X: Any, y: Any, classes: Index | None, features: Any, sample_weight: Any, *, reset: bool) -> Any:
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = check_rows(self, self._as_given(X), reset=reset)
        if features is None:
            features = self._new_features(X)
        rows, features = self._rows(X, features, grow=True)
        y = check_labels(y, X.shape[0])
        codes, classes = number_labels(y, classes)
        weight = check_weights(sample_weight, X.shape[0])
        return self._family().count(rows, codes, classes, features, weight)

    def _settle(self, model: Model) -> None:
        """Take over a new state, once the rules can work with it."""
        self._rule()
        self._prior_rule().check(model.ledger.classes)
        self._model = model

    def _check_classes(self, classes: Any, model: Model | None) -> Index | None:
        known = None if model is None else model.ledger.classes
        if classes is None:
            if model is None and self._classes_come_first:
                raise InputError("classes must be passed on the first call to partial_fit.")
            return known
        listed = np.asarray(classes)
        if listed.ndim != 1:
            raise InputError(f"classes must be a list of labels, got {classes!r}")
        try:
            given = np.sort(check_labels(listed, len(listed)))
        except (InputError, TypeError) as error:
            raise InputError(f"classes: {error}") from None
        if known is None:
            return sorted_index(np.unique(given))
        if not np.array_equal(given, self.classes_):
            raise InputError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}; "
                "leave it out: a label that comes new becomes a new class"
            )
        return known

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Whatever goes wrong inside, the estimator is as it was before."""
        before = self.__dict__.copy()
        try:
            yield
        except BaseException:
            for name in self.__dict__.keys() - before.keys():
                del self.__dict__[name]
            self.__dict__.update(before)
            raise

    def _labelled(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        """Rows that the model has counted, the numbers of their classes, and their weights."""
        X = check_rows(self, self._as_given(X), reset=False)
        rows, _ = self._rows(X, model.ledger.features, grow=False)
        y = check_labels(y, X.shape[0])
        codes, classes = number_labels(y, model.ledger.classes)
        known_classes(classes, model.ledger.classes)
        return rows, codes, check_weights(sample_weight, X.shape[0])

    def _fit_and_read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        """Fits, and gives what `_labelled` gives of the same rows."""
        self.fit(X, y, sample_weight)
        return self._labelled(self._model, X, y, sample_weight)

    def _rows_with_label(self, X: Any, y: Any) -> tuple[Array | None, int]:
        """The numbers of the rows that have a label (None: all have), and how many rows there are."""
        return None, 0

    # --- rows

    def _new_features(self, X: Any) -> Any:
        names = getattr(self, "feature_names_in_", None)
        return Index(X.shape[1]) if names is None else Index.of(names)

    @staticmethod
    def _as_given(X: Any) -> Any:
        """Rows before NumPy has turned them into one type."""
        return X

    def _rows(self, X: Any, features: Any, *, grow: bool) -> tuple[Rows, Any]:
        return numbers(X, features, once=self._entries_once), features

    @staticmethod
    def _dtype_of(X: Any) -> Any:
        return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64

    # --- scoring

    def _log_prior(self, model: Model) -> Array:
        return self._prior_rule().log(model.ledger.classes, model.ledger.rows)

    def _ready(self, X: Any) -> tuple[Rows, Any]:
        check_is_fitted(self)
        self._check_counted(self._model)
        X = check_rows(self, self._as_given(X), reset=False)
        return self._rows(X, self._model.ledger.features, grow=False)[0], self._dtype_of(X)

    def _counted(self) -> Any:
        """The parameter that counting depends on, by name and value; it cannot be changed afterwards."""
        return None

    def _check_counted(self, model: Model) -> None:
        if model.counted != self._counted():
            name, value = model.counted
            raise InputError(f"counted with {name}={value!r}, now it is {self._counted()[1]!r}; fit again")

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
        return self._scores(self._ready(X)[0])

    def _scores(self, rows: Rows) -> Scores:
        model = self._model  # read once: another thread may be learning
        return self._finished(model.scores(self._family_of(model), self._rule(), self._log_prior(model), rows), model)

    def intervals(self, X: Any, level: float = 0.95) -> tuple[Array, Array]:
        """Between which bounds the probability of each class lies, as far as the counts tell.

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
        rows, _ = self._ready(X)
        model = self._model  # read once: another thread may be learning
        family, rule = self._family_of(model), self._rule()
        found = variances(family, model.ledger, rule, rows)
        order = model.ledger.classes.order
        scores = self._finished(model.scores(family, rule, self._log_prior(model), rows), model)
        temperature = getattr(scores.calibration, "value", getattr(scores.calibration, "temperature", 1.0))
        return interval(scores.proba(), found if order is None else found[:, order], temperature, level)

    def _reorders(self, model: Model) -> bool:
        """Whether what is most probable may not be what scores highest."""
        return False

    def _finished(self, scores: Scores, model: Model) -> Scores:
        """Scores with what makes probabilities of them: here, the prior that these stand for."""
        prior, order = self._log_prior(model), model.ledger.classes.order
        return replace(scores, shares=prior if order is None else prior[order])

    def decide(
        self, X: Any, *, by: str = "posterior", costs: Any = None, thresholds: Any = None, abstain_below: Any = None
    ) -> Array:
        """The label of each row, where there is more to consider than what is most probable.

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
            How many; all classes where there are fewer.

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
        rows, _ = self._ready(X)
        model = self._model
        if self._reorders(model):
            return self._scores(rows).decide()
        return model.decide(self._family_of(model), self._rule(), self._log_prior(model), rows)

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
        rows, dtype = self._ready(X)
        return self._scores(rows).proba().astype(dtype, copy=False)

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
        rows, dtype = self._ready(X)
        logs = self._scores(rows).log_proba()
        if dtype == np.float64:
            return logs
        narrow = np.exp(logs).astype(dtype)  # near 1, the log of what predict_proba gives
        return np.where(narrow > 0.5, np.log(np.maximum(narrow, 0.5)), logs).astype(dtype)

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
        rows, dtype = self._ready(X)
        return self._scores(rows).joint.astype(dtype, copy=False)

    def explain(self, X: Any) -> Explanation:
        """What the prior and each feature of one row add to the score of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (1, n_features)
            One row.

        Returns
        -------
        explanation : Explanation
        """
        rows, _ = self._ready(X)
        if rows.shape[0] != 1:
            raise InputError(f"explain takes one row, got {rows.shape[0]}; pass X[i:i+1]")
        model = self._model
        table = model.table(self._family_of(model), self._rule(), self._log_prior(model))
        return explain_row(table, rows, lambda scores: self._finished(scores, model))

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[Any, Array]:
        """Rows drawn from the model: a class by its prior, then a row from that class.

        Parameters
        ----------
        n : int, default=1
            How many.
        random_state : int, RandomState instance or None, default=None
            Where chance comes from.

        Returns
        -------
        X, y : rows and their labels
        """
        check_is_fitted(self)
        if not (isinstance(n, (int, np.integer)) and n >= 0):
            raise InputError(f"n must be a whole number, 0 or more, got {n!r}")
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        ledger = self._model.ledger
        chance = np.exp(self._log_prior(self._model))
        klass = np.sort(rng.choice(ledger.classes.size, n, p=chance / chance.sum()))
        rng.shuffle(klass)
        drawn = {
            k: self._family().sample(ledger.total, self._rule(), k, int((klass == k).sum()), rng)
            for k in np.unique(klass).tolist()
        }
        names = ledger.classes.names
        assert names is not None
        return self._drawn_rows(drawn, klass), names[klass]

    def _drawn_rows(self, drawn: dict[int, Any], klass: Array) -> Any:
        """The rows drawn for each class, in the order of the labels."""
        if not drawn:
            return np.empty((0, self.n_features_in_))
        some = next(iter(drawn.values()))
        rows = np.empty((len(klass), some.shape[1]), some.dtype)
        for k, mine in drawn.items():
            rows[klass == k] = mine
        return rows

    # --- what was learnt

    @property
    def tally_(self) -> Any:
        """What was counted."""
        check_is_fitted(self)
        return self._model.ledger.total

    @property
    def table_(self) -> Any:
        """The log-probabilities, made when first asked for."""
        check_is_fitted(self)
        model = self._model
        return model.table(self._family_of(model), self._rule(), self._log_prior(model))

    @property
    def classes_(self) -> Array:
        """Labels in sorted order."""
        names = self._fitted("classes_").ledger.classes.names
        assert names is not None
        return self._by_class(names).copy()

    @property
    def class_count_(self) -> Array:
        """How many rows each class has, by weight."""
        model = self._fitted("class_count_")
        return self._by_class(model.ledger.rows).astype(np.float64)

    @property
    def n_parameters_(self) -> int:
        """How many numbers the model estimates: the priors and those of the family."""
        return self._fitted("n_parameters_").ledger.classes.size - 1 + self._family().n_parameters(self.tally_)

    @property
    def n_parameters_joint_(self) -> int | float:
        """How many it would take without the naive assumption; for counts, of which features a row holds at all."""
        size = self._fitted("n_parameters_joint_").ledger.classes.size
        return size - 1 + self._family().n_parameters_joint(self.tally_)

    def _by_class(self, values: Array) -> Array:
        """Rows of an array in the order of `classes_`."""
        order = self._model.ledger.classes.order
        return values if order is None else values[order]

    def _fitted(self, name: str) -> Model:
        model = vars(self).get("_model")
        if model is None:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r} before it is fitted")
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
