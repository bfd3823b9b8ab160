"""Factors: the counts behind each line of an explanation, as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from naively.count.ledger import Uncounted
from naively.learn.factors import amount, row_factors, word_counts, words_counted
from naively.score.priors import Empirical, Smoothed

Counts = Callable[[Any, int], str]
"""Maps the name of a factor (None: the prior) and the code of a class to the counts behind it."""


def counts_of(learner: Any, row: Any) -> Counts:
    """Return the counts behind the explanation of a text or a row; a frozen model has only those in its table."""
    model = learner._model
    rows, counted = model.ledger.rows, not isinstance(model.ledger, Uncounted)
    family = learner._family_of(model)
    # The prior comes from counts only if the family uses a prior and the rule computes it from counts.
    by_rows = isinstance(learner._prior_rule(), (Empirical, Smoothed)) and not family.ignores_prior
    factors: dict[Any, Any] = {}
    words: Any = None
    if not learner.reads_text:
        factors = row_factors(learner.table_, model.ledger, learner._ready(row)[0])
    if counted:
        words = (word_counts if learner.reads_text else words_counted)(family, model.ledger)

    def counts(name: Any, klass: int) -> str:
        if name is None:
            return f"{amount(rows[klass])} of {amount(rows.sum())}" if by_rows else ""
        if name in factors:
            return str(factors[name].counted(klass))
        return "" if words is None else str(words(name)(klass))

    return counts
