"""Factors: the counts behind each line of an explanation, as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from naively.learn.factors import amount, row_factors, words_counted
from naively.score.priors import Empirical, Smoothed

Counts = Callable[[Any, int], str]
"""Maps the name of a factor (None: the prior) and the code of a class to the counts behind it."""


def counts_of(learner: Any, row: Any) -> Counts:
    """Return the counts behind the explanation of a text or a row; a frozen model has only those in its table."""
    model = learner._model
    rows, blocks = model.ledger.rows, learner._blocks_of(model)
    # The prior comes from counts only if the family uses a prior and the rule computes it from counts.
    by_rows = isinstance(learner._prior_rule(), (Empirical, Smoothed)) and not blocks.ignores_prior
    factors: dict[Any, Any] = {}
    if not learner.reads_text:
        factors = row_factors(blocks, learner.table_, model.ledger, learner._frame(row)[0])
    words = words_counted(blocks, model.ledger) if model.ledger.parts is not None else None

    def counts(name: Any, klass: int) -> str:
        if name is None:
            return f"{amount(rows[klass])} of {amount(rows.sum())}" if by_rows else ""
        if name in factors:
            return str(factors[name].counted(klass))
        return "" if words is None else str(words(name)(klass))

    return counts
