"""Verifying: a look at every number inside a stored value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import numpy as np

from naively.store.damage import finite, need
from naively.store.registry import stored_class


def verify(value: object) -> None:
    """Raise FileError if a number inside a value is not finite, or makes no sense to the class that holds it."""
    entry = stored_class(type(value))
    if entry is None:
        for item in _items(value):
            verify(item)
        return
    for field in fields(value):  # type: ignore[arg-type]  # all stored classes are dataclasses
        inner = getattr(value, field.name)
        _check_finite(inner, entry.endless.get(field.name))
        verify(inner)
    entry.verify(value)


def _items(value: object) -> Iterator[object]:
    if isinstance(value, (tuple, list)):
        yield from value
    elif isinstance(value, dict):
        yield from value.values()


def _check_finite(value: object, endless: float | None) -> None:
    """Look at a number, an array of numbers or some of them; `endless` is the one that need not be finite."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        known = value if endless is None else value[value != endless]
        some = len(known) > 0 or value.size == 0 or (endless or 0.0) > 0  # classes cannot all be impossible
        need(some and finite(known), "a number that is none")
    elif isinstance(value, float):
        need(value == value, "a number that is none")
    else:
        for item in _items(value):
            _check_finite(item, endless)
