"""The registry of classes whose values a file may hold; each class adds itself when its module is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from naively.errors import InputError
from naively.names import Index

T = TypeVar("T", bound=type)
Check = Callable[[Any], None]


@dataclass(frozen=True)
class Form:
    """Functions that store the values of a class and make them again, for JSON with the key `mark`."""

    mark: str
    kind: type
    put: Callable[[Any, Any, str], Any]
    get: Callable[[Any, Any], Any]


CLASSES: dict[str, type] = {}
NAMES: dict[type, str] = {}
DERIVED: dict[str, tuple[str, ...]] = {}
"""Attributes that are computed from a value's fields, but stored too, since computing them reads all of the fields."""
CHECKS: dict[str, Check] = {}
FORMS: dict[str, Form] = {}


def stored(name: str = "", derived: tuple[str, ...] = ()) -> Callable[[T], T]:
    """Register a dataclass: its values are stored field by field, under this name (default: that of the class)."""

    def register(kind: T) -> T:
        known = name or kind.__name__
        if known in CLASSES and _home(CLASSES[known]) != _home(kind):  # a class may be defined again, as in a notebook
            raise InputError(f"files name {_home(CLASSES[known])} {known!r}; give {_home(kind)} another: stored('...')")
        CLASSES[known], NAMES[kind] = kind, known
        if derived:
            DERIVED[known] = derived
        return kind

    return register


def _home(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def checks(*names: str) -> Callable[[Check], Check]:
    """Register a function that raises FileError if a value of these classes, read from a file, is impossible."""

    def register(check: Check) -> Check:
        CHECKS.update(dict.fromkeys(names, check))
        return check

    return register


def form(mark: str, kind: type, put: Callable[[Any, Any, str], Any], get: Callable[[Any, Any], Any]) -> None:
    """Register a class that is stored by functions of its own."""
    FORMS[mark] = Form(mark, kind, put, get)


stored()(Index)
