"""The base of all estimators of arrays and sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger
from naively.errors import InputError
from naively.estimators.rows import as_array, check_rows, numbers
from naively.estimators.sklearn_protocol import SklearnProtocol, validated
from naively.learn.learner import Learner
from naively.learn.model import NO_CLASSES, Model
from naively.names import Index
from naively.read.label_codes import check_labels, check_weights, counted_codes, number_labels, rows_that_count
from naively.read.matrix import RowError, Rows


class CountingClassifier(SklearnProtocol, Learner):
    """An estimator on the rows of an array or a matrix."""

    _entries_once = False  # whether an entry given in several parts differs from their sum

    fit = validated(Learner.fit)

    def _learn(self, X: Any, y: Any, model: Model | None, classes: Index | None, sample_weight: Any) -> None:
        X = as_array(X)
        features = None if model is None else model.ledger.features
        tally = self._count(X, y, classes, features, sample_weight, reset=model is None)
        if model is None:
            self._commit(Model(Ledger((tally,)), self._dtype_of(X), classes or NO_CLASSES, self._counted()))
        else:
            self._commit(model.after(model.ledger.add(tally)))

    def _count(self, X: Any, y: Any, classes: Index | None, features: Any, sample_weight: Any, *, reset: bool) -> Any:
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = check_rows(self, self._as_given(X), reset=reset)
        if features is None:
            features = self._new_features(X)
        rows, known = self._rows(X, features, grow=True)
        y = check_labels(y, X.shape[0])
        weight = check_weights(sample_weight, X.shape[0])
        kept = rows_that_count(weight)
        if kept is not None and weight is not None:  # the others add nothing, not even a name
            (rows, known), y, weight = self._rows(X[kept], features, grow=True), y[kept], weight[kept]
        try:
            codes, classes = number_labels(y, classes)
            return self._family().count(rows, codes, classes, known, weight)
        except RowError as error:
            raise error.among(kept) from None

    def _labelled(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Array, Array | None]:
        """Rows that the model has counted, the numbers of their classes, and their weights."""
        X = check_rows(self, self._as_given(X), reset=False)
        rows, _ = self._rows(X, model.ledger.features, grow=False)
        y = check_labels(y, X.shape[0])
        codes, classes = number_labels(y, model.ledger.classes)
        weight = check_weights(sample_weight, X.shape[0])
        return rows, counted_codes(codes, classes, model.ledger.classes, weight), weight

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

    def _ready(self, X: Any) -> tuple[Rows, Any]:
        self._check_fitted()
        self._check_counted(self._model)
        X = check_rows(self, self._as_given(X), reset=False)
        return self._rows(X, self._model.ledger.features, grow=False)[0], self._dtype_of(X)

    def _drawn_rows(self, drawn: dict[int, Any], klass: Array) -> Any:
        """The rows drawn for each class, in the order of the labels."""
        if not drawn:
            return np.empty((0, self.n_features_in_))
        some = next(iter(drawn.values()))
        rows = np.empty((len(klass), some.shape[1]), some.dtype)
        for k, mine in drawn.items():
            rows[klass == k] = mine
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
