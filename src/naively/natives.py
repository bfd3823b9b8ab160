"""Natives: the types of numbers that the compiled core reads."""

from __future__ import annotations

import numpy as np

from naively.cells import Array

NATIVE = {np.dtype(t) for t in (np.float64, np.float32, np.int64, np.int32, np.uint8)}


def native_values(values: Array) -> Array:
    """The same numbers in such a type; nothing is copied where they are in one already."""
    if values.dtype in NATIVE:
        return values
    if values.dtype == np.bool_:
        return values.view(np.uint8)
    if values.dtype.kind in "iu":
        return values.astype(
            np.int32 if values.dtype.itemsize < 4 else np.int64 if values.dtype != np.uint64 else np.float64
        )
    return values.astype(np.float32 if values.dtype == np.float16 else np.float64)
