"""The base of all estimators of arrays and sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.errors import InputError
from naively.estimators.onnx_protocol import OnnxProtocol
from naively.estimators.rows import as_array, check_rows, is_plain, numbers
from naively.estimators.sklearn_protocol import SklearnProtocol, validated
from naively.families.base import Family
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.matrix import ArrayBlock
from naively.learn.learner import Batch, Learner
from naively.learn.merge import name_features
from naively.learn.model import Model
from naively.names import Index
from naively.read.frame import Frame
from naively.read.label_codes import check_weights, counted_codes, number_labels
from naively.read.labels import labels_of, rows_to_count
from naively.read.matrix import RowError


class CountingClassifier(SklearnProtocol, OnnxProtocol, Learner):
    """An estimator on the rows of an array or a matrix."""

    _entries_once = False  # whether an entry given in several parts differs from their sum

    fit = validated(Learner.fit)

    def _family(self) -> Family:
        """Return the smoothing of the present parameters."""
        raise NotImplementedError

    @classmethod
    def from_tally(cls, tally: Tally, **parameters: Any) -> Any:
        """Return a fitted estimator with these parameters and the counts of a tally.

        >>> from naively import MultinomialNB
        >>> parts = [MultinomialNB().fit(X, y).tally_ for X, y in [([[2, 0]], ["x"]), ([[0, 1]], ["y"])]]
        >>> MultinomialNB.from_tally(sum(parts), alpha=0.5).predict([[1, 0]]).tolist()
        ['x']

        Parameters
        ----------
        tally : Tally
            The `tally_` of an estimator that counts alike, a sum of such, or `Tally.from_arrow` of one.
        **parameters
            Parameters of the estimator.

        Returns
        -------
        estimator : object
        """
        estimator: Any = cls(**parameters)
        estimator._validate_params()
        if not isinstance(tally, Tally):
            raise InputError(f"{cls.__name__}.from_tally takes a Tally, got {type(tally).__name__}; pass model.tally_")
        features = tally.features.get(ArrayBlock.name)
        if features is None or len(tally.parts) > 1:
            parts = ", ".join(tally.parts)
            raise InputError(f"{cls.__name__}.from_tally takes the tally of an estimator of arrays, got one of {parts}")
        name_features(estimator, tally)
        [block] = estimator._blocks_of(None).blocks
        expected, found = block.family.empty(tally.classes, block.no_features()), tally.parts[ArrayBlock.name]
        if _kind_of(found) != _kind_of(expected):
            raise InputError(f"{cls.__name__} takes a tally of {_kind_of(expected)}, got one of {_kind_of(found)}")
        estimator._commit(Model(Ledger.of(tally), counted=estimator._counted()))
        return estimator

    def _planned(self, X: Any, y: Any) -> Model:
        if X is None:
            raise InputError(f"{self._who}.plan needs some rows, to know their columns")
        frame = self._frame_of(self._rows(X, reset=True))
        return self._uncounted(self._blocks_of(None), self._dtype_of(frame))

    def _blocks_of(self, model: Any) -> Blocks:
        names = vars(self).get("feature_names_in_")
        columns = self.n_features_in_ if names is None else tuple(names.tolist())
        return Blocks(type(self).__name__, (ArrayBlock(self._family(), columns),))

    def _identity(self) -> tuple[Any, ...]:
        """Return blocks, smoothing and prior; models must share these to be merged."""
        return self._family(), self._rule(), self._prior_rule()

    def _batch(
        self, model: Model | None, blocks: Blocks | None, X: Any, y: Any, classes: Index | None, sample_weight: Any
    ) -> Batch:
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        X = self._rows(X, reset=model is None)
        frame = self._frame_of(X)
        y, known = labels_of(y, X.shape[0])
        weight = check_weights(sample_weight, X.shape[0])
        counted_rows = rows_to_count(known, weight)
        if counted_rows is not None:  # rows of weight 0 add nothing, not even a name
            frame, y = self._frame_of(X[counted_rows]), y[counted_rows]
            weight = None if weight is None else weight[counted_rows]
        try:
            codes, classes = number_labels(y, classes)
        except RowError as error:
            raise error.among(counted_rows) from None
        return Batch(frame, codes, classes, weight, counted_rows)

    def _labelled(self, model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Frame, Array, Array | None]:
        X = self._rows(X, reset=False)
        y, known = labels_of(y, X.shape[0])
        weight = check_weights(sample_weight, X.shape[0])
        if known is not None:
            X, y, weight = X[known], y[known], None if weight is None else weight[known]
        codes, classes = number_labels(y, model.ledger.classes)
        return self._frame_of(X), counted_codes(codes, classes, model.ledger.classes, weight), weight

    # --- rows

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """Rows as an array or a matrix whose shape and column names were checked."""
        if not reset and is_plain(self, X):
            return X
        return check_rows(self, self._as_given(as_array(X)), reset=reset)

    @staticmethod
    def _as_given(X: Any) -> Any:
        """Rows before NumPy has turned them into one type."""
        return X

    def _frame_of(self, X: Any) -> Frame:
        """Checked rows as the block takes them."""
        return Frame.of_rows(numbers(X, getattr(self, "feature_names_in_", None), once=self._entries_once))

    def _dtype_of(self, frame: Frame) -> Any:
        return _dtype_of(frame.whole)

    def _frame(self, X: Any) -> tuple[Frame, Any]:
        self._check_fitted()
        X = self._rows(X, reset=False)
        return self._frame_of(X), _dtype_of(X)

    def _drawn_rows(self, drawn: dict[int, dict[str, Any]], klass: Array) -> Any:
        """The rows drawn for each class, in the order of the labels."""
        each = {k: next(iter(columns.values())) for k, columns in drawn.items()}
        dtype = np.result_type(*(rows.dtype for rows in each.values()))
        result = np.empty((len(klass), self.n_features_in_), dtype)
        for k, rows in each.items():
            result[klass == k] = rows
        return result

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _kind_of(part: Any) -> str:
    return str(getattr(part, "kind", type(part).__name__))


def _dtype_of(X: Any) -> Any:
    """The type of the probabilities of rows."""
    return np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
