"""Declared types: whether a value read from a file is of the type that its class declares for a field."""

from __future__ import annotations

import sys
from collections.abc import Callable
from inspect import getmro
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from naively.arrays import FIXED, DType
from naively.store.registry import CLASSES

_NUMBERS = "biuf"


_DECLARED: dict[type[object], dict[str, object]] = {}
_MEMBERS: dict[type[object], frozenset[str]] = {}


def declared(kind: type[object]) -> dict[str, object]:
    """Return the declared types of the fields of a class."""
    if kind not in _DECLARED:
        _DECLARED[kind] = _declared(kind)
    return _DECLARED[kind]


def _declared(kind: type[object]) -> dict[str, object]:
    names: dict[str, object] = {entry.kind.__name__: entry.kind for entry in CLASSES.values()}
    for base in reversed(getmro(kind)):
        names |= vars(sys.modules[base.__module__])
    return get_type_hints(kind, localns=names)


def fits(hint: object, value: object) -> bool:
    """Return True if a value is of a declared type, and so is what it holds.

    >>> fits(dict[str, tuple[int, ...]], {"a": (1, 2)}), fits(dict[str, tuple[int, ...]], {"a": (1, "2")})
    (True, False)
    >>> fits(float | None, None), fits(float, 1), fits(int, True)
    (True, True, False)
    """
    origin, inner = get_origin(hint), get_args(hint)
    if hint in (Any, object):
        return True
    if origin in (Union, UnionType):
        return any(fits(one, value) for one in inner)
    if origin is Literal:
        return any(type(one) is type(value) and one == value for one in inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _fits_array(inner[1], value.dtype)
    if origin is Callable:
        return callable(value)
    if isinstance(origin, type):
        return isinstance(value, origin) and _fits_inside(inner, value)
    return isinstance(hint, type) and _fits_class(hint, value)


def _fits_array(hint: object, dtype: DType) -> bool:
    """Arrays declared without a type hold numbers; those of np.generic hold anything."""
    inner = get_args(hint)
    if not inner:
        return dtype.kind in _NUMBERS or dtype == FIXED
    return isinstance(inner[0], type) and issubclass(dtype.type, inner[0])


def _fits_inside(inner: tuple[object, ...], value: object) -> bool:
    if isinstance(value, tuple) and inner:
        if len(inner) == 2 and inner[1] is ...:
            return all(fits(inner[0], item) for item in value)
        return len(inner) == len(value) and all(map(fits, inner, value))
    if isinstance(value, dict) and len(inner) == 2:
        return all(fits(inner[0], key) and fits(inner[1], item) for key, item in value.items())
    if isinstance(value, (list, frozenset)) and len(inner) == 1:
        return all(fits(inner[0], item) for item in value)
    return True


def _fits_class(kind: type[object], value: object) -> bool:
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if getattr(kind, "_is_protocol", False):
        return all(_has(type(value), name) for name in _members(kind))
    return value is None if kind is NoneType else isinstance(value, kind)


def _has(kind: type[object], name: str) -> bool:
    return hasattr(kind, name) or name in getattr(kind, "__dataclass_fields__", ())


def _members(protocol: type[object]) -> frozenset[str]:
    """Return the names that a class needs for a protocol."""
    if protocol not in _MEMBERS:
        _MEMBERS[protocol] = frozenset(_named(protocol))
    return _MEMBERS[protocol]


def _named(protocol: type[object]) -> set[str]:
    own = {name for base in getmro(protocol) if getattr(base, "_is_protocol", False) for name in _names_of(base)}
    return {name for name in own if not name.startswith("_")}


def _names_of(kind: type[object]) -> set[str]:
    return {*vars(kind), *getattr(kind, "__annotations__", ())}
