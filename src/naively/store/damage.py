"""Damage: conditions that a value read from a file or a table must meet, whoever wrote it."""

from __future__ import annotations

from typing import SupportsIndex, TypeGuard

import numpy as np

from naively.arrays import Array
from naively.errors import FileError

COUNTS = "i8 V16"
"""The types of exact counts: int64, or FIXED where weights have fractions."""
LARGEST = 1e300
"""Numbers beyond this would not be finite any more once some of them are added up."""


class Damage(FileError):
    """Raised where a stored value makes no sense; `what` names the part of it."""

    def __init__(self, what: str):
        super().__init__(f"the file is damaged ({what})")
        self.what = what


def need(holds: object, what: str) -> None:
    """Raise Damage if a condition does not hold."""
    if not holds:
        raise Damage(what)


def are(values: object, kinds: str, *shape: SupportsIndex | None) -> TypeGuard[Array]:
    """Return True for an array of one of these types ("f8 i8"), and of this shape (None: any length)."""
    return (
        isinstance(values, np.ndarray)
        and values.dtype.str[1:] in kinds.split()
        and values.ndim == len(shape)
        and all(n is None or n == m for n, m in zip(shape, values.shape, strict=True))
    )


def finite(values: Array) -> bool:
    """Return True if all numbers are finite and their sums will be."""
    return bool((np.abs(values) <= LARGEST).all())
