"""Log-odds: the strength of the association of words with labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.counts import Counts
from naively.count.ledger import PartLedger
from naively.families.words.selection import OCCURRENCES, restricted


def log_odds(counted: Counts, numbers: Array, klass: int, strength: float) -> Array:
    """Return the weighted log-odds of each of these words (sorted numbers) for a label, in standard deviations.

    These are the log-odds of a word in the label against all other labels, each smoothed by a Dirichlet prior of
    `strength` words with the frequencies of the whole corpus (Monroe, Colaresi and Quinn 2008). So frequent words do
    not win by their number, nor rare ones by chance.
    """
    cells = restricted(counted.cells, numbers)
    counts = cells.values[OCCURRENCES].astype(np.float64)
    everywhere = np.bincount(cells.feature, weights=counts, minlength=len(numbers))
    own = cells.klass == klass
    here = np.bincount(cells.feature[own], weights=counts[own], minlength=len(numbers))
    elsewhere = everywhere - here
    prior = strength * everywhere / everywhere.sum()

    def odds(count: Array) -> Array:
        rest = count.sum() + strength - count - prior
        return np.log((count + prior) / np.maximum(rest, np.finfo(np.float64).tiny))

    if len(numbers) == 1:  # a single word has no odds against others
        return np.zeros(1)
    spread = 1.0 / (here + prior) + 1.0 / (elsewhere + prior)
    return (odds(here) - odds(elsewhere)) / np.sqrt(spread)


def top_words(ledger: PartLedger, numbers: Array, n: int, strength: float) -> dict[Any, list[tuple[str, float]]]:
    """Return the n words with the highest log-odds for each label, the highest first; of equals, the first by name."""
    counts, classes = ledger.total, ledger.classes
    seen = numbers[np.isin(numbers, counts.cells.feature)]
    features: Any = counts.features
    rank = np.argsort(features.order_of(seen), kind="stable")
    found: dict[Any, list[tuple[str, float]]] = {}
    for klass in range(classes.size) if classes.order is None else classes.order.tolist():
        leaning = log_odds(counts, seen, klass, strength) if len(seen) else np.zeros(0)
        best = np.lexsort((rank, -leaning))[:n]
        found[classes.name(klass)] = list(
            zip(features.names_of(seen[best]), leaning[best].round(4).tolist(), strict=True)
        )
    return found
