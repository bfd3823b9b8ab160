"""Formulas of densities as nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.score.export.onnx.graph import Graph
from naively.score.export.symbols import Call, Symbol, Unwritable

_DIRECT = {
    "absolute": "Abs", "add": "Add", "cos": "Cos", "divide": "Div", "exp": "Exp", "greater": "Greater",
    "greater_equal": "GreaterOrEqual", "less": "Less", "less_equal": "LessOrEqual", "log": "Log", "multiply": "Mul",
    "negative": "Neg", "sin": "Sin", "sqrt": "Sqrt", "subtract": "Sub", "where": "Where",
}  # fmt: skip


def written(graph: Graph, node: Any, x: str) -> str:
    """Return the name of what a formula comes to; constants are arrays of columns by classes."""
    if not isinstance(node, Call):
        return x if isinstance(node, Symbol) else graph.constant(np.asarray(node, np.float64)[None])
    name, operands = node.function, node.operands
    if name == "power" and np.ndim(operands[1]) == 0 and operands[1] == 2:
        name = "square"
    each = [written(graph, part, x) for part in operands]
    if name in _DIRECT:
        return graph.add(_DIRECT[name], *each)
    if name == "square":
        return graph.add("Mul", each[0], each[0])
    if name == "log1p":
        return _log1p(graph, each[0])
    raise Unwritable(f"power of {operands[1]!r}")


def _log1p(graph: Graph, x: str) -> str:
    """log(1 + x) without losing digits of small numbers: log(u) x / (u - 1) for u = 1 + x."""
    one = graph.constant([1.0])
    more = graph.add("Add", x, one)
    share = graph.add("Div", x, graph.add("Sub", more, one))
    return graph.add("Where", graph.add("Equal", more, one), x, graph.add("Mul", graph.add("Log", more), share))
