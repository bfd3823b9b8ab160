"""Learning: counting rows, on top of others or anew, and taking them out again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger
from naively.errors import InputError
from naively.learn.model import Model
from naively.learn.predicting import Predictor
from naively.names import Index, same_names
from naively.read.label_codes import check_labels, encode, known_classes, sorted_index
from naively.read.shapes import label_array


class Learner(Predictor):
    """A classifier that counts.

    A subclass takes over the state that follows when rows are counted (`_learn`), counts them by themselves
    (`_count`), and reads rows that were counted before (`_labelled`).
    """

    _classes_come_first = False

    def _identity(self) -> tuple[Any, ...]:
        """What an estimator counts, smooths and expects by: what models must share to be merged."""
        return self._family(), self._rule(), self._prior_rule()

    def _counted(self) -> Any:
        """The parameter that counting depends on, by name and value; it cannot be changed afterwards."""
        return None

    def _check_counted(self, model: Model) -> None:
        if model.counted != self._counted():
            name, value = model.counted or (self._counted()[0], "the default")
            raise InputError(f"counted with {name}={value!r}, now it is {self._value(name)!r}; fit again")

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
            self._copy_parameters()
            self._learn(X, y, None, None, sample_weight)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Count these rows on top of those from before; costs what the rows hold.

        Several threads may call this on one model; they wait for each other, while others predict.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels; one that was never seen becomes a new class.
        classes : array-like of shape (n_classes,), default=None
            Labels known in advance.
        sample_weight : array-like of shape (n_samples,), default=None
            What each row counts for; a row of weight 0 adds nothing, not even its label.

        Returns
        -------
        self : object
        """
        with self._all_or_nothing():
            model = self.__dict__.get("_model")
            if model is None:
                self._validate_params()
                self._copy_parameters()
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
        X, y = (list(given) if isinstance(given, Iterator) else given for given in (X, y))  # which are read twice
        with self._all_or_nothing():
            self._check_fitted()
            ledger = self._model.ledger
            self._check_counted(self._model)
            tally = self._count(X, y, ledger.classes, ledger.features, sample_weight, reset=False)
            known_classes(tally.classes, ledger.classes)
            left = self._tidied(ledger.subtract(tally), tally)
            self._commit(self._after_forgetting(self._model.after(left).tidied(), X, y, sample_weight))
        return self

    def _after_forgetting(self, model: Any, X: Any, y: Any, sample_weight: Any) -> Any:
        """The model once these rows were forgotten, with whatever else depends on them."""
        return model

    def _tidied(self, ledger: Ledger, gone: Any) -> Ledger:
        """Without what only the rows just forgotten had brought along."""
        return ledger

    def _learn(self, X: Any, y: Any, model: Any, classes: Index | None, sample_weight: Any) -> None:
        """Take over the state that follows the model (None: a new one) when these rows are counted."""
        raise NotImplementedError

    def _count(self, X: Any, y: Any, classes: Index | None, features: Any, sample_weight: Any, *, reset: bool) -> Any:
        """The tally of these rows alone."""
        raise NotImplementedError

    def _commit(self, model: Model) -> None:
        """Take over a new state, once the rules can work with it."""
        if "_copies" not in vars(self):
            self._copy_parameters()
        self._rule()
        self._prior_rule().check(model.ledger.classes)
        with self._lock:  # after whatever another thread is learning on top of the state before
            self._model = model

    def _check_classes(self, classes: Any, model: Model | None) -> Index | None:
        known = None if model is None else model.ledger.classes
        if classes is None:
            if model is None and self._classes_come_first:
                raise InputError("classes must be passed on the first call to partial_fit.")
            return known
        try:
            listed = label_array(classes)
            if listed.ndim != 1:
                raise InputError(f"must be a list of labels, got {classes!r}")
            given = np.sort(encode(check_labels(listed, len(listed)))[1])
        except (InputError, TypeError) as error:
            raise InputError(f"classes: {error}") from None
        if known is None:
            return sorted_index(given)
        if len(given) < len(listed) or not same_names(given, self.classes_):
            raise InputError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {self.classes_!r}; "
                "leave it out: a label that comes new becomes a new class"
            )
        return known

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Keep other threads from learning meanwhile; if anything goes wrong, leave the estimator as it was before.

        Threads that predict do not wait: they read `_model`, which is replaced as a whole.
        """
        with self._lock:
            before = self.__dict__.copy()
            try:
                yield
            except BaseException:
                for name in self.__dict__.keys() - before.keys():
                    del self.__dict__[name]
                self.__dict__.update(before)
                raise

    @property
    def _lock(self) -> Any:
        """The lock that a thread holds while this estimator learns; made when first needed, and never copied."""
        return self.__dict__.get("_lock_of_learning") or self.__dict__.setdefault("_lock_of_learning", RLock())

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock_of_learning"}

    def _labelled(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        """Rows that the model has counted, the numbers of their classes, and their weights."""
        raise NotImplementedError

    def _fit_and_read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        """Fits, and gives what `_labelled` gives of the same rows."""
        self.fit(X, y, sample_weight)
        return self._labelled(self._model, X, y, sample_weight)

    def _rows_with_label(self, X: Any, y: Any) -> tuple[Array | None, int]:
        """The numbers of the rows that have a label (None: all have), and how many rows there are."""
        return None, 0

    # --- files

    def save(self, path: Any, *, frozen: bool = False) -> None:
        """Write the model to a file, whole or not at all; `naively.load` reads it.

        The file holds what was counted and the table made of it, and no code: see docs/format.md.

        Parameters
        ----------
        path : str or path-like
            The file; one that is there is replaced once the new one is on disk.
        frozen : bool, default=False
            Whether the table alone is written: enough to predict, smaller, and nothing can be learnt on top of it.
        """
        from naively.learn.files import save

        save(self, path, frozen=frozen)
