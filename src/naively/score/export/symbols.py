"""Symbols: densities as formulas, by calling `log_density` with a symbol in place of numbers.

So a family needs no formula in another language: what NumPy does to the symbol is written down.

>>> formula(lambda x, p: p[0] * np.log(x), (np.array([2.0, 3.0]),))
Call(function='multiply', operands=(array([2., 3.]), Call(function='log', operands=(X,))))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from naively.arrays import Array

FUNCTIONS = frozenset({
    "absolute", "add", "cos", "divide", "exp", "greater", "greater_equal", "less", "less_equal", "log", "log1p",
    "multiply", "negative", "power", "sin", "sqrt", "square", "subtract", "where",
})  # fmt: skip
"""Functions that a formula may use; exporters write all of them."""


class Unwritable(Exception):
    """A formula uses a function that has no name in another language."""


class Symbol(NDArrayOperatorsMixin):
    """The number that a density is taken of."""

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **named: Any) -> Call:
        if method != "__call__" or named:
            raise Unwritable(f"{ufunc.__name__}.{method}")
        return Call.of(ufunc.__name__, operands)

    def __array_function__(self, function: Any, kinds: Any, operands: Any, named: Any) -> Call:
        if named:
            raise Unwritable(function.__name__)
        return Call.of(function.__name__, operands)

    def __repr__(self) -> str:
        return "X"


class Call(Symbol):
    """A function of symbols and constants; a constant is a number, or has a value for each class."""

    def __init__(self, function: str, operands: tuple[Any, ...]) -> None:
        self.function, self.operands = function, operands

    @classmethod
    def of(cls, function: str, operands: tuple[Any, ...]) -> Call:
        if function not in FUNCTIONS:
            raise Unwritable(function)
        return cls(function, operands)

    def __repr__(self) -> str:
        return f"Call(function={self.function!r}, operands={self.operands!r})"


X = Symbol()


def formula(log_density: Callable[[Any, Any], Any], parameters: tuple[Array, ...]) -> Any:
    """Return what is computed of X; raise Unwritable if another language has no such function."""
    try:
        with np.errstate(all="ignore"):
            return log_density(X, parameters)
    except (TypeError, ValueError) as error:  # it looks at the numbers
        raise Unwritable(str(error)) from None
