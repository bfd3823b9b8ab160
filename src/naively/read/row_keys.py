"""Row keys: a number for each row that depends only on its content and its label, in every process."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array
from naively.names import Index
from naively.read.columns import CATEGORY, NOTHING, TEXT, TIME, coded, kind_of, numbers
from naively.read.frame import Frame
from naively.read.texts import Texts

_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)


def row_keys(frame: Frame, codes: Array, classes: Index) -> Array:
    """Return a key for each row; labels are class numbers. A column that is absent or missing changes no key.

    >>> keys = row_keys(Frame.of_rows(Texts.of(["a", "b", "a", "a"])), np.array([0, 0, 0, 1]), Index.of(["x", "y"]))
    >>> bool(keys[0] == keys[2]), len(set(keys.tolist()))
    (True, 3)
    """
    texts = frame.whole
    hashes = texts.core.hashes() if isinstance(texts, Texts) else _table_hashes(frame.columns, len(frame))
    return _mixed(_label_hashes(codes, classes), hashes)


def _label_hashes(codes: Array, classes: Index) -> Array:
    hashes = np.zeros(int(codes.max(initial=-1)) + 1, np.uint64)
    for code in np.flatnonzero(np.bincount(codes)).tolist():
        label = classes.name(code)
        same = float(label) if isinstance(label, (int, float)) else label  # 1 and 1.0 have the same key
        hashes[code] = zlib.crc32(repr(same).encode())
    return hashes[codes]


def _table_hashes(columns: Mapping[str, Any], n_rows: int) -> Array:
    """Return the sum of the hashes of the values of each row, so that the order of columns does not matter."""
    sums = np.zeros(n_rows, np.uint64)
    for name, values in columns.items():
        sums += _column_hashes(name, values)
    return sums


def _column_hashes(name: str, values: Any) -> Array:
    """Return a hash for each value: 0 if it is missing, equal for equal numbers whatever their types."""
    kind, seed = kind_of(name, values), zlib.crc32(name.encode("utf-8", "surrogatepass"))
    if kind == NOTHING:
        return np.zeros(len(values), np.uint64)
    if kind not in (TEXT, CATEGORY, TIME):
        return _core.hash_numbers(numbers(values), seed)
    if kind == CATEGORY:
        number, names = coded(values)
        return np.append(_text_hashes(list(map(str, names)), seed), np.uint64(0))[number]
    if kind == TIME:
        import pyarrow as pa

        values = values.cast(pa.large_string())
    return _text_hashes(values, seed)


def _text_hashes(values: Any, seed: int) -> Array:
    hashes = Texts.of(values).core.hashes()
    return np.where(hashes == 0, hashes, _mixed(np.full(1, seed, np.uint64), hashes))


def _mixed(keys: Array, more: Array) -> Array:
    """Mix one more hash into keys (the finisher of SplitMix64)."""
    x = keys * _MULTIPLIERS[0] + more
    x = (x ^ (x >> np.uint64(30))) * _MULTIPLIERS[1]
    x = (x ^ (x >> np.uint64(27))) * _MULTIPLIERS[2]
    return x ^ (x >> np.uint64(31))
