"""Learners: counting, predicting and explaining, with none of scikit-learn, which they never load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {"Learner": "base", "TableLearner": "tables", "TextLearner": "text", "merge": "merging"}

__all__ = ["Learner", "TableLearner", "TextLearner", "merge"]

if TYPE_CHECKING:
    from naively.learning.base import Learner as Learner
    from naively.learning.merging import merge as merge
    from naively.learning.tables import TableLearner as TableLearner
    from naively.learning.text import TextLearner as TextLearner


def __getattr__(name: str) -> Any:
    """Loaded when first used, so that a model of texts does not wait for that of tables."""
    if name not in _HOMES:
        raise AttributeError(f"module 'naively.learning' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"naively.learning.{_HOMES[name]}"), name)
