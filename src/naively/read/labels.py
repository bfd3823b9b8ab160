"""Labels of tables: columns of any library, in which labels may be missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError, warn_caller
from naively.read.columns import CATEGORY, TEXT, Unreadable, coded, kind_of
from naively.read.detect import is_a, missing_entries
from naively.read.frame import Frame, arrow_column, unmasked
from naively.read.label_codes import CodedLabels, MissingLabel, check_labels, encode, rows_that_count
from naively.read.matrix import RowError
from naively.read.shapes import in_memory, label_array


def refuse_target(y: Any, frame: Frame) -> None:
    name = getattr(y, "name", None)
    if isinstance(name, str) and name in frame.columns and frame.named:
        raise InputError(
            f"the target {name!r} is also a column of the table, which would tell itself; drop it from X, "
            f"or pass y={name!r}"
        )


def encoded_labels(y: Any, rows: int) -> tuple[Array, Array]:
    """Return the number of each label among the distinct ones (-1: missing), and the distinct ones."""
    if isinstance(y, Unreadable):
        raise y.error
    if isinstance(y, CodedLabels):
        check_labels(y, rows)
        return y.codes, y.distinct
    column = _label_column(y)
    if column is not None and len(column) != rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: X has {rows} rows, y {len(column)}"
        )
    if column is not None and not isinstance(column, np.ndarray):
        codes, listed = coded(column)
        distinct = np.empty(len(listed), object)
        distinct[:] = listed
        return codes, distinct
    y = _array(y) if column is None else column
    if y.ndim == 2 and y.shape[1] == 1:
        y = check_labels(y, rows)
    if y.ndim == 1 and len(y) == rows:
        mask = missing_entries(y)
        if mask.any():
            codes = np.full(rows, -1, np.int32)
            there = y[~mask]
            try:
                known = check_labels(label_array(there.tolist()) if y.dtype == object else there, len(there))
                codes[~mask], distinct = encode(known)
            except RowError as error:
                raise error.among(~mask) from None
            return codes, distinct
    return encode(check_labels(y, rows))


def labels_of(y: Any, rows: int) -> tuple[Any, Array | None]:
    """Return the labels of all rows, and a mask of the rows that have one, with a warning if some have none.

    The mask is None if every row has a label. Labels that are missing must not be looked at.
    """
    try:
        return check_labels(y, rows), None
    except MissingLabel:
        codes, distinct = encoded_labels(y, rows)
    known = codes >= 0
    if not known.any():
        raise InputError("Input y contains NaN only: no row has a label, so there is nothing to count")
    warn_caller(f"{rows - int(known.sum())} of {rows} rows have no label and are left out")
    return CodedLabels(codes, distinct), known


def labelled_rows(y: Any) -> tuple[Array | None, int]:
    """Return the numbers of the rows that have a label (None: all have), and the number of all rows."""
    n_rows = y.shape[0] if hasattr(y, "shape") else len(y)
    known = encoded_labels(y, n_rows)[0] >= 0
    return (None, 0) if known.all() else (np.flatnonzero(known), n_rows)


def rows_to_count(known: Array | None, weight: Array | None) -> Array | None:
    """Return a mask of the rows that have a label and a weight above 0; None if that is all of them."""
    counting = rows_that_count(weight)
    if known is None or counting is None:
        return counting if known is None else known
    return known & counting


def _array(y: Any) -> Array:
    """Return labels as an array that keeps different labels different."""
    if is_a(y, "numpy.ma.MaskedArray"):
        return unmasked(y)
    if hasattr(y, "fetch_arrow_table"):
        raise InputError(f"y is a table ({type(y).__name__}): pass the name of its column, or the column itself")
    return label_array(in_memory(y))


def _label_column(y: Any) -> Any:
    """Return labels as an Arrow column, if they are text in one; otherwise None or an array."""
    if is_a(y, "polars.Series"):
        y = y.to_arrow()
    elif is_a(y, "pandas.Series") and not isinstance(y.dtype, np.dtype):
        import pyarrow as pa

        try:
            y = pa.array(y, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise InputError(f"labels of type {y.dtype} cannot be read ({error}); convert them to text") from None
    elif not is_a(y, "pyarrow.Array", "pyarrow.ChunkedArray"):
        return None
    y = arrow_column("y", y)
    if y.type in (_pa().binary(), _pa().large_binary()):
        raise InputError("labels are bytes; decode them to text")
    return y if kind_of("y", y) in (TEXT, CATEGORY) else _as_array(y)


def _pa() -> Any:
    import pyarrow

    return pyarrow


def _as_array(y: Any) -> Array:
    return np.array(y.to_pylist(), dtype=object if y.null_count else None)
