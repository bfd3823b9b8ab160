"""Row keys: a number for each row that depends on its content and its label alone, in every process."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.names import Index
from naively.read.columns import CATEGORY, NOTHING, TEXT, TIME, kind_of, missing, numbers
from naively.read.frame import Frame
from naively.read.texts import Texts

_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)


def text_keys(texts: Texts, codes: Array, classes: Index) -> Array:
    """Keys of texts, whose labels are the numbers of some classes.

    >>> keys = text_keys(Texts.of(["a", "b", "a", "a"]), np.array([0, 0, 0, 1]), Index.of(["x", "y"]))
    >>> bool(keys[0] == keys[2]), len(set(keys.tolist()))
    (True, 3)
    """
    return _mixed(_label_hashes(codes, classes), texts.core.hashes())


def table_keys(frame: Frame, columns: Iterable[str], codes: Array, classes: Index) -> Array:
    """Keys of the rows of a table by some of its columns; an absent column is missing in every row."""
    return content_keys({name: frame.get(name) for name in columns}, _label_hashes(codes, classes))


def content_keys(columns: Mapping[str, Any], keys: Array) -> Array:
    """Keys of rows by the values of some columns, on top of the keys that the rows have already."""
    for name, values in columns.items():
        keys = _mixed(keys, _column_hashes(name, values))
    return keys


def _label_hashes(codes: Array, classes: Index) -> Array:
    distinct, place = np.unique(codes, return_inverse=True)
    return np.array([zlib.crc32(repr(classes.name(int(code))).encode()) for code in distinct], np.uint64)[place]


def _mixed(keys: Array, more: Array) -> Array:
    """Keys with the hashes of one more column (the finisher of SplitMix64)."""
    x = keys * _MULTIPLIERS[0] + more
    x = (x ^ (x >> np.uint64(30))) * _MULTIPLIERS[1]
    x = (x ^ (x >> np.uint64(27))) * _MULTIPLIERS[2]
    return x ^ (x >> np.uint64(31))


def _column_hashes(name: str, values: Any) -> Array:
    """A hash for each value; 0 where it is missing, equal for numbers that are equal, whatever their types."""
    kind = kind_of(name, values)
    if kind == NOTHING:
        return np.zeros(len(values), np.uint64)
    if kind in (TEXT, CATEGORY, TIME):
        import pyarrow as pa

        return Texts.of(values if kind == TEXT else values.cast(pa.large_string())).core.hashes()
    found = numbers(values).astype(np.float64) + 0.0  # so that -0 is 0
    return np.where(missing(values), np.uint64(0), np.ascontiguousarray(found).view(np.uint64))
