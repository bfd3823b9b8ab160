"""The border of tables: rows, labels and weights as users hand them over, checked once and made ready for counting."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from naively.cells import Array
from naively.errors import DataWarning, InputError
from naively.frame import Frame, unmasked
from naively.learning.labels import encoded_labels, refuse_target
from naively.learning.rows import check_weights, number_codes
from naively.learning.shapes import two_dimensional, with_masks
from naively.names import Index
from naively.rows import is_sparse_matrix


def labelled(
    X: Any, y: Any, classes: Index | None, sample_weight: Any, who: str, unlabelled: str
) -> tuple[Frame, Array, Index, Array | None]:
    """The rows that have a label, the number of its class for each, the classes and the weights."""
    frame = frame_of(X)
    if not frame.columns:
        raise InputError(f"0 feature(s) (shape={frame.shape}) while a minimum of 1 is required: pass some columns")
    if y is None:
        raise InputError(
            f"{who} requires y to be passed, but the target y is None: pass labels, or the name of "
            "the column that holds them"
        )
    if isinstance(y, str):
        if y not in frame.columns:
            raise InputError(f"y={y!r} names no column; the table has {list(frame.columns)}")
        y, frame = frame.columns[y], frame.without(y)
    else:
        refuse_target(y, frame)
    codes, distinct = encoded_labels(y, len(frame))
    if not len(frame):
        raise InputError("Found array with 0 sample(s) while a minimum of 1 is required: the table has no rows")
    weight = check_weights(sample_weight, len(frame))
    known = codes >= 0
    if not known.all():
        without = int((~known).sum())
        if unlabelled == "refuse":
            raise InputError(
                f"Input y contains NaN: {without} of {len(frame)} rows have no label, the first is row "
                f"{int(np.argmin(known))}; label them, leave them out, or pass unlabelled='skip'"
            )
        if without == len(frame):
            raise InputError("Input y contains NaN only: no row has a label, so there is nothing to count")
        warnings.warn(f"{without} of {len(frame)} rows have no label and are left out", DataWarning, stacklevel=5)
        frame, codes = frame.only(known), codes[known]
        weight = None if weight is None else weight[known]
    numbered, index = number_codes(codes, distinct, classes)
    return frame, numbered, index, weight


def label_mask(X: Any, y: Any) -> Array:
    """Which rows have a label."""
    frame = frame_of(X)
    return encoded_labels(frame.columns[y] if isinstance(y, str) else y, len(frame))[0] >= 0


def frame_of(X: Any) -> Frame:
    """A table of whatever library, or an array."""
    if is_sparse_matrix(X):
        raise InputError(
            "Sparse data was passed, but dense data is required: pass X.toarray(), or use MultinomialNB, "
            "BernoulliNB or ComplementNB, which read sparse rows"
        )
    frame = Frame.of(X)
    if frame is not None:
        return frame
    if isinstance(X, (str, bytes)) or (isinstance(X, Iterator) and not hasattr(X, "__array__")):
        raise InputError(f"expected a table, got {type(X).__name__}; pass columns, or to fit an iterator of tables")
    X = with_masks(X)
    if isinstance(X, (list, tuple)):
        X = _objects(X)
    elif isinstance(X, np.ma.MaskedArray):
        X = unmasked(X)
    return Frame.of_array(two_dimensional(X))


def _objects(rows: Any) -> Any:
    """Rows of values of different types, each as it is."""
    try:
        return np.array(rows, dtype=object)
    except ValueError:
        raise InputError("rows differ in length: expected as many values in each") from None


def batch_of(batch: Any, y: Any) -> tuple[Any, Any, Any]:
    if isinstance(batch, tuple):
        if len(batch) not in (2, 3):
            raise InputError(f"expected (table, labels), got a tuple of {len(batch)}")
        return batch[0], batch[1], batch[2] if len(batch) == 3 else None
    if not isinstance(y, str):
        raise InputError("labels are needed: pass y='name of their column', or batches of (table, labels)")
    return batch, y, None
