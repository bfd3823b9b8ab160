"""Formulas of densities as SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from naively.score.export.sql.dialects import Dialect
from naively.score.export.symbols import Call, Symbol, Unwritable

_BETWEEN = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/",
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=",
}  # fmt: skip
_BEFORE = {"absolute": "ABS", "cos": "COS", "exp": "EXP", "log": "LN", "sin": "SIN", "sqrt": "SQRT"}


def written(node: Any, x: str, klass: int, dialect: Dialect) -> str:
    """Return a formula of the column `x` for one class."""
    if isinstance(node, Call):
        return _call(node, lambda part: written(part, x, klass, dialect))
    if isinstance(node, Symbol):
        return x
    values = np.ravel(node)
    return dialect.number(float(values[klass] if len(values) > 1 else values[0]))


def _call(call: Call, write: Callable[[Any], str]) -> str:
    name, operands = call.function, call.operands
    if name == "power":
        if not (np.ndim(operands[1]) == 0 and operands[1] == 2):
            raise Unwritable(f"power of {operands[1]!r}")
        name, operands = "square", operands[:1]
    each = [write(part) for part in operands]
    if name in _BETWEEN:
        return f"({each[0]} {_BETWEEN[name]} {each[1]})"
    if name in _BEFORE:
        return f"{_BEFORE[name]}({each[0]})"
    if name == "negative":
        return f"(-{each[0]})"
    if name == "square":
        return f"({each[0]} * {each[0]})"
    if name == "where":
        return f"(CASE WHEN {each[0]} THEN {each[1]} ELSE {each[2]} END)"
    one = f"(1 + {each[0]})"  # log1p, without losing digits of small numbers
    return f"(CASE WHEN {one} = 1 THEN {each[0]} ELSE LN{one} * {each[0]} / ({one} - 1) END)"
