"""Arrays of counts, and the base of values that hold them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
WHOLE_LIMIT = 2.0**53


def whole(values: Array) -> Array:
    """As int64 where every value is a whole number that float64 holds exactly, otherwise as float64.

    >>> whole(np.array([1.0, 2.0])).dtype, whole(np.array([0.5, 2.0])).dtype
    (dtype('int64'), dtype('float64'))
    """
    if values.dtype == np.int64:
        return values
    if values.size and not np.abs(values).max() < WHOLE_LIMIT:
        return values.astype(np.float64, copy=False)
    numbers = values.astype(np.int64)
    return numbers if (numbers == values).all() else values.astype(np.float64, copy=False)


def close(a: Array, b: Array) -> bool:
    """Equal; fractions to within rounding."""
    if a.dtype == np.int64 and b.dtype == np.int64:
        return np.array_equal(a, b)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-9, atol=1e-12))


class Value:
    """A frozen dataclass that is pickled by its fields alone, without what was derived from them and kept."""

    def __getstate__(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
