"""Checks and numbers labels and weights that users pass."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import LARGEST_WEIGHT, Array, counted_weights
from naively.errors import InputError, NegativeCount
from naively.names import Index, kind_of, safe_key
from naively.read.detect import missing_entries
from naively.read.matrix import ROW, RowError
from naively.read.shapes import in_memory, one_dimensional, refuse_masked


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """Encoded labels: for each row the number of its label among the distinct ones."""

    codes: Array
    distinct: Array

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Array) -> CodedLabels:
        """Return the labels of some rows, given as a mask or by number."""
        codes = self.codes[rows]
        seen = np.bincount(codes, minlength=len(self.distinct)) > 0
        return CodedLabels((np.cumsum(seen) - 1).astype(np.int32)[codes], self.distinct[seen])


class MissingLabel(InputError):
    """Raised where a row has no label."""


def check_labels(y: Any, rows: int) -> Any:
    """Return labels as one array without missing ones; encoded labels stay as they are."""
    if isinstance(y, CodedLabels):
        _check_length(len(y), rows)
        return y
    if not (type(y) is np.ndarray and y.ndim == 1):
        y = one_dimensional(y)
    if y.dtype.kind == "T":  # NumPy's variable-width strings
        y = y.astype(object)
    _check_length(len(y), rows)
    if y.dtype.kind == "f":
        y = y.astype(np.float64, copy=False)
        bad = ~np.isfinite(y)
        if bad.any():
            row = int(np.argmax(bad))
            if np.isinf(y).any():
                row = int(np.argmax(np.isinf(y)))
                raise RowError(f"Input y contains infinity: label of row {ROW} is {y[row]}; leave such rows out", row)
            raise MissingLabel(f"Input y contains NaN: label of row {row} is {y[row]}; leave such rows out")
        y = y + 0.0
        if (y != np.floor(y)).any():
            raise InputError(
                f"Unknown label type: continuous. Labels are classes, got numbers like {y[y != np.floor(y)][0]}; "
                "bin them, or use a regressor"
            )
    elif y.dtype == object:
        mask = missing_entries(y)
        if mask.any():
            row = int(np.argmax(mask))
            raise MissingLabel(f"Input y contains NaN: label of row {row} is {y[row]!r}; leave such rows out")
    elif y.dtype.kind in "cmM":
        raise InputError(f"labels must be text or whole numbers, got {y.dtype}; convert them to text")
    return y


def _check_length(labels: int, rows: int) -> None:
    if labels != rows:
        raise InputError(f"Found input variables with inconsistent numbers of samples: X has {rows} rows, y {labels}")


def encode(values: Array) -> tuple[Array, Array]:
    """Return the number of each value, and the distinct values in the order in which they appear."""
    if values.dtype == object:
        return _encode_objects(values)
    values = np.ascontiguousarray(values)
    width = values.dtype.itemsize
    codes, firsts = _core.encode(
        values.view(np.uint8).reshape(len(values), width) if width else np.zeros((len(values), 0), np.uint8)
    )
    return codes, values[firsts]


def _encode_objects(values: Array) -> tuple[Array, Array]:
    """Encode values of any type, all text or all numbers; raise for other types, or for both."""
    types = set(map(type, values))
    if types == {int}:
        try:
            codes, firsts = encode(values.astype(np.int64))
            return codes, firsts.astype(object)
        except OverflowError:  # NaN-safe keys handle these
            pass
    keys: Any = values if types <= {str} else list(map(safe_key, values))
    numbers: dict[Any, int] = {}
    try:
        codes = np.fromiter((numbers.setdefault(key, len(numbers)) for key in keys), np.int32, len(values))
    except TypeError:
        not_labels = (
            i for i, value in enumerate(values) if isinstance(value, tuple) or not isinstance(value, Hashable)
        )
        row = next(not_labels, 0)
        raise _no_label(values[row], row) from None
    distinct = np.empty(len(numbers), dtype=object)
    if keys is values:
        distinct[:] = list(numbers)
        return codes, distinct
    firsts = np.empty(len(numbers), np.int64)
    firsts[codes[::-1]] = np.arange(len(values))[::-1]
    for k, row in enumerate(firsts.tolist()):
        value = values[row]
        kind = kind_of(value)
        if isinstance(value, (tuple, complex)) or (isinstance(value, Enum) and kind not in ("text", "number")):
            raise _no_label(value, row)
        if kind != kind_of(values[firsts[0]]):
            raise _mixed(value, row, values[firsts[0]])
        distinct[k] = _plain(value)
    return codes, distinct


def _plain(value: Any) -> Any:
    """Return a member of an Enum of texts or numbers as a plain text or number; anything else as it is."""
    if isinstance(value, str):
        return str.__str__(value)
    return value.value if isinstance(value, Enum) else value


def _no_label(value: Any, row: int) -> RowError:
    what = f"label of row {ROW} is {value!r} ({type(value).__name__}), but a label is one text or number"
    if isinstance(value, Enum):
        return RowError(f"{what}; pass its name or value: [label.name for label in y]", row)
    return RowError(f"{what}; convert it to text", row)


def _mixed(value: Any, row: int, other: Any) -> RowError:
    return RowError(
        f"label of row {ROW} is {value!r} ({type(value).__name__}), while others are {type(other).__name__}, such as "
        f"{other!r}: labels must be all text or all numbers; convert one kind",
        row,
    )


def number_labels(y: Array | CodedLabels, known: Index | None) -> tuple[Array, Index]:
    """Return the class number of each label. New labels come after the known ones; if none are known, in order."""
    codes, distinct = (y.codes, y.distinct) if isinstance(y, CodedLabels) else encode(y)
    return number_codes(codes, distinct, known)


def number_codes(codes: Array, distinct: Array, known: Index | None) -> tuple[Array, Index]:
    """Return the class numbers of labels that are encoded already."""
    index = sorted_index(distinct) if known is None else known
    places = index.locate(distinct)
    if -1 in places.tolist():
        if index.size and len(distinct) and kind_of(index.name(0)) != kind_of(distinct[0]):
            raise _mixed(distinct[:1].tolist()[0], int(np.argmax(codes == 0)), index.name(0))
        index = index.extended(distinct.tolist())
        places = index.locate(distinct)
    return places.astype(np.int32).take(codes), index


def sorted_index(labels: Any) -> Index:
    """Return an index of the labels in sorted order."""
    array = Index.of(labels if isinstance(labels, np.ndarray) else np.asarray(labels)).names
    assert array is not None
    return Index.of(np.sort(array))


def known_classes(classes: Index, known: Index) -> None:
    """Raise InputError if there are classes that were never counted."""
    if classes.size > known.size:
        label = classes.name(known.size)
        raise NegativeCount(
            f"cannot forget or leave out rows of class {label!r}, which was never counted; nothing was changed"
        )


def counted_codes(codes: Array, classes: Index, known: Index, weight: Array | None) -> Array:
    """Return the class numbers of rows that were counted; raise InputError if one of the classes was not.

    A row of weight 0 was not counted either: where nothing else is of its class, it gets the number 0.
    """
    if weight is not None and classes.size > known.size:
        codes = np.where((codes >= known.size) & (weight == 0), 0, codes).astype(np.int32)
        if codes.max(initial=0) < known.size:
            return codes
    known_classes(classes, known)
    return codes


def rows_that_count(weight: Array | None) -> Array | None:
    """Return a mask of the rows whose weight is above 0; None if that is all of them."""
    return None if weight is None or weight.all() else weight > 0


def check_weights(weight: Any, rows: int) -> Array | None:
    """Return weights as float64; raise InputError if one is below zero, missing or infinite."""
    if weight is None:
        return None
    refuse_masked(weight, "sample_weight")
    try:
        weight = np.asarray(in_memory(weight))
        if weight.dtype.kind == "c":
            raise TypeError
        weight = weight.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("sample_weight must be numbers, one for each row") from None
    if weight.ndim == 0:
        weight = np.full(rows, float(weight))
    if weight.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D")
    if weight.shape != (rows,):
        raise InputError(f"sample_weight.shape == {weight.shape}, expected {(rows,)}: one weight for each row")
    bad = ~(weight >= 0) | ~np.isfinite(weight)
    if bad.any():
        row = int(np.argmax(bad))
        problem = (
            "Negative values in data passed to `sample_weight`"
            if weight[row] < 0
            else "sample_weight contains NaN or infinity"
        )
        raise InputError(f"{problem}: row {row} is {weight[row]}; weights must be finite and 0 or more")
    if float(weight.sum()) > LARGEST_WEIGHT:
        row = int(np.argmax(weight))
        raise InputError(
            f"sample_weight adds up to more than 2^62 (row {row} alone is {weight[row]}); "
            "divide the weights by a common factor"
        )
    weight = counted_weights(weight)
    if rows and not weight.any():
        raise InputError(
            "sample_weight: every weight is zero or rounded to zero (below 2^-65), so there is nothing to count; "
            "leave some above zero"
        )
    return np.ascontiguousarray(weight)
