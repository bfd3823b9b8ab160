"""Logarithms as pairs: the finite part, and the number of impossible factors (None: none)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from naively.arrays import Array, Numeric

Logs = tuple[Array, Array | None]

NOTHING: Logs = (np.float64(0.0), None)  # type: ignore[assignment]
"""The logarithm of 1."""


def added(parts: Sequence[Logs]) -> Logs:
    """Return the sum of some logarithms."""
    impossible = [part[1] for part in parts if part[1] is not None]
    return sum(part[0] for part in parts), sum(impossible) if impossible else None  # type: ignore[return-value]


def times(logs: Logs, factor: Numeric) -> Logs:
    """Return logarithms multiplied by a factor."""
    return factor * logs[0], None if logs[1] is None else factor * logs[1]


def negative(logs: Logs) -> Logs:
    return times(logs, -1.0)


def minus(a: Logs, b: Logs) -> Logs:
    """Return the difference of two logarithms."""
    if a[1] is None and b[1] is None:
        return a[0] - b[0], None
    return a[0] - b[0], np.asarray(0.0 if a[1] is None else a[1]) - np.asarray(0.0 if b[1] is None else b[1])


def exp(logs: Logs) -> Array:
    """Return the exponentials: 0 where a factor is impossible."""
    finite, impossible = logs
    return np.exp(finite) if impossible is None else np.where(impossible > 0, 0.0, np.exp(finite))
