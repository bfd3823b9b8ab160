"""Converts lists to Arrow arrays without pyarrow's own conversion, which imports pandas if that is installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.arrays import Array

_FILLED: dict[type, Any] = {bool: False, int: 0, float: 0.0, str: ""}
"""The types of values that are read here, and the value that stands in place of None."""
MOST_ROWS = 1 << 10
"""Longer lists are left to pyarrow: it reads them several times faster, which then repays the import."""


def arrow_of_list(values: list[Any]) -> Any:
    """Return an Arrow array of values of one type (flags, whole numbers, floats or texts) and None.

    Return None if the list is long or holds anything else.

    Returns None where the list is long or holds anything else.

    >>> arrow_of_list(["a", None]).to_pylist()
    ['a', None]
    """
    if len(values) > MOST_ROWS:
        return None
    import pyarrow as pa

    kinds = set(map(type, values))
    has_missing = type(None) in kinds
    kinds.discard(type(None))
    if not kinds:
        return pa.nulls(len(values))
    kind = kinds.pop()
    if kinds or kind not in _FILLED:
        return None
    validity = None
    if has_missing:
        validity = _packed(np.array([value is not None for value in values]))
        values = [_FILLED[kind] if value is None else value for value in values]
    if kind is str:
        texts = [value.encode() for value in values]
        offsets = np.cumsum([0, *map(len, texts)])
        if offsets[-1] >= 1 << 31:
            return None
        buffers = [pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(b"".join(texts))]
        return pa.Array.from_buffers(pa.string(), len(values), [validity, *buffers])
    if kind is bool:
        return pa.Array.from_buffers(pa.bool_(), len(values), [validity, _packed(np.array(values))])
    try:
        numbers = np.array(values, np.int64 if kind is int else np.float64)
    except OverflowError:
        return None
    arrow_type = pa.int64() if kind is int else pa.float64()
    return pa.Array.from_buffers(arrow_type, len(values), [validity, pa.py_buffer(numbers)])


def _packed(flags: Array) -> Any:
    """Return flags as an Arrow buffer with one bit for each."""
    import pyarrow as pa

    return pa.py_buffer(np.packbits(flags, bitorder="little"))
