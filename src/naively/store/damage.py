"""Damaged files: conditions that a value read from a file must meet, whoever wrote it."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.errors import FileError


def need(holds: bool, what: str) -> None:
    if not holds:
        raise FileError(f"the file is damaged ({what})")


def are(values: Any, kinds: str, *shape: int | None) -> bool:
    """True if this is an array of one of these types ("f8 i8"), and of this shape (None: any length)."""
    return (
        isinstance(values, np.ndarray)
        and values.dtype.str[1:] in kinds.split()
        and values.ndim == len(shape)
        and all(n is None or n == m for n, m in zip(shape, values.shape, strict=True))
    )
