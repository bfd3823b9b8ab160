"""Parameter values: the ones that each parameter accepts, and the error for any other, in scikit-learn's words.

>>> from numbers import Real
>>> check({"alpha": [Between(Real, 0), OneOf("auto")]}, {"alpha": -1}, "MultinomialNB")
Traceback (most recent call last):
sklearn.utils._param_validation.InvalidParameterError: The 'alpha' parameter of MultinomialNB must be a float in the \
range [0.0, inf) or a str among {'auto'}. Got -1 instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from naively.errors import InputError
from naively.read.matrix import is_sparse_matrix


class InvalidParameter(InputError, TypeError):
    """A parameter whose value it does not accept; raised in place of scikit-learn's error where that is missing."""


class OneOf:
    """Accepts some texts."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.texts

    def __str__(self) -> str:
        return f"a str among {{{', '.join(map(repr, self.texts))}}}"


class Between:
    """Accepts numbers of a kind (`Real` or `Integral`) from `low` to `high`, both included; infinity is refused."""

    def __init__(self, kind: Any, low: int, high: int | None = None) -> None:
        self.kind, self.low, self.high = kind, low, high

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, self.kind):
            return False
        return bool(self.low <= value < np.inf if self.high is None else self.low <= value <= self.high)

    def __str__(self) -> str:
        name, number = ("an int", int) if self.kind is Integral else ("a float", float)
        end = "inf)" if self.high is None else f"{number(self.high)}]"
        return f"{name} in the range [{number(self.low)}, {end}"


class _ArrayLike:
    """Accepts lists, arrays, columns of tables and the like, but neither text nor sparse matrices."""

    def __contains__(self, value: Any) -> bool:
        listed = any(hasattr(value, name) for name in ("__len__", "shape", "__array__"))
        return listed and not np.isscalar(value) and not is_sparse_matrix(value)

    def __str__(self) -> str:
        return "an array-like"


class _Callable:
    """Accepts functions and whatever else can be called."""

    def __contains__(self, value: Any) -> bool:
        return callable(value)

    def __str__(self) -> str:
        return "a callable"


class _Instance:
    """Accepts the objects of one class."""

    def __init__(self, kind: type) -> None:
        self.kind = kind

    def __contains__(self, value: Any) -> bool:
        return isinstance(value, self.kind)

    def __str__(self) -> str:
        if self.kind is type(None):
            return "None"
        home = "" if self.kind.__module__ == "builtins" else f"{self.kind.__module__}."
        return f"an instance of '{home}{self.kind.__qualname__}'"


_BOOLEAN = (_Instance(bool), _Instance(np.bool_))


def _accepting(rule: Any) -> tuple[Any, ...]:
    """The objects that a rule of a table stands for: `x in object` says whether x is accepted."""
    if rule is None:
        return (_Instance(type(None)),)
    if isinstance(rule, type):
        return (_Instance(rule),)
    if isinstance(rule, str):
        return _BOOLEAN if rule == "boolean" else (_ArrayLike(),)
    return (_Callable(),) if rule is callable else (rule,)


def check(rules: Mapping[str, Sequence[Any]], values: Mapping[str, Any], who: str) -> None:
    """Raise an error for the first value that none of its parameter's rules accepts.

    A rule is a class, None, `callable`, "boolean", "array-like", `OneOf` or `Between`.
    """
    for name, value in values.items():
        accepting = [one for rule in rules.get(name, ()) for one in _accepting(rule)]
        if accepting and not any(value in one for one in accepting):
            *most, last = map(str, accepting)
            known = f"{', '.join(most)} or {last}" if most else last
            raise _error()(f"The {name!r} parameter of {who} must be {known}. Got {value!r} instead.")


def _error() -> type[Exception]:
    try:
        from sklearn.utils._param_validation import InvalidParameterError
    except ImportError:
        return InvalidParameter
    return InvalidParameterError
