"""Checks rows, labels and weights of tables, and returns them ready to count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError, warn_caller
from naively.names import Index
from naively.read.detect import is_a
from naively.read.files import is_file, read_file
from naively.read.frame import Frame, unmasked
from naively.read.label_codes import CodedLabels, check_weights, number_codes, rows_that_count
from naively.read.labels import encoded_labels, refuse_target
from naively.read.matrix import RowError, is_sparse_matrix
from naively.read.rows import columns_of_rows
from naively.read.shapes import two_dimensional, with_masks


def labelled(
    X: Any, y: Any, classes: Index | None, sample_weight: Any, who: str, unlabelled: str
) -> tuple[Frame, Array, Index, Array | None]:
    """Return the rows that have a label, the numbers of their classes, the classes and the weights."""
    frame, codes, distinct, weight, known = _with_label(X, y, sample_weight, who, unlabelled)
    return frame, *_numbered(codes, distinct, classes, known), weight


def weighed(
    X: Any, y: Any, classes: Index | None, sample_weight: Any, who: str, unlabelled: str
) -> tuple[Frame, Array, Index, Array | None, Array | None]:
    """Do the same for rows with a label and a weight above 0; return also a mask of these rows (None: all)."""
    frame, codes, distinct, weight, known = _with_label(X, y, sample_weight, who, unlabelled)
    mask = rows_that_count(weight)
    if mask is not None and weight is not None:
        frame, weight = frame.only(mask), weight[mask]
        in_use = CodedLabels(codes, distinct)[mask]
        codes, distinct = in_use.codes, in_use.distinct
        known = mask if known is None else _both(known, mask)
    return frame, *_numbered(codes, distinct, classes, known), weight, known


def _numbered(codes: Array, distinct: Array, classes: Index | None, rows: Array | None) -> tuple[Array, Index]:
    """Return the class number of each label, and the classes; an error names the row among all rows."""
    try:
        return number_codes(codes, distinct, classes)
    except RowError as error:
        raise (error if rows is None else error.among(rows)) from None


def _both(first: Array, then: Array) -> Array:
    """Combine two masks, the second over the rows that the first leaves."""
    both = first.copy()
    both[first] = then
    return both


def _with_label(
    X: Any, y: Any, sample_weight: Any, who: str, unlabelled: str
) -> tuple[Frame, Array, Array, Array | None, Array | None]:
    """Return the rows with a label, label codes, distinct labels, weights, and a mask of these rows."""
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
        warn_caller(f"{without} of {len(frame)} rows have no label and are left out")
        weight = None if weight is None else weight[known]
        return frame.only(known), codes[known], distinct, weight, known
    return frame, codes, distinct, weight, None


def label_mask(X: Any, y: Any) -> Array:
    """Return a mask of the rows that have a label."""
    frame = frame_of(X)
    return encoded_labels(frame.columns[y] if isinstance(y, str) else y, len(frame))[0] >= 0


def frame_of(X: Any) -> Frame:
    """Return rows as a frame: a table of any library, a dict of columns, dicts of rows, a file, an array."""
    if is_file(X):
        X = read_file(X)
    if is_sparse_matrix(X):
        raise InputError(
            "Sparse data was passed, but dense data is required: pass X.toarray(), or use MultinomialNB, "
            "BernoulliNB or ComplementNB, which read sparse rows"
        )
    frame = Frame.of(X)
    if frame is not None:
        return frame
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], Mapping):
        return Frame.of(columns_of_rows(X))  # type: ignore[return-value]
    if isinstance(X, bytes) or (isinstance(X, Iterator) and not hasattr(X, "__array__")):
        raise InputError(f"expected a table, got {type(X).__name__}; pass columns, or to fit an iterator of tables")
    X = with_masks(X)
    if isinstance(X, (list, tuple)):
        X = _objects(X)
    elif is_a(X, "numpy.ma.MaskedArray"):
        X = unmasked(X)
    return Frame.of_array(two_dimensional(X))


def _objects(rows: Any) -> Any:
    """Return an array of rows whose values have different types, each as it is."""
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
