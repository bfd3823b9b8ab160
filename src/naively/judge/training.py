"""Training: predict rows by a tally of some of the other rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.ledger import Ledger
from naively.count.tally import Tally
from naively.errors import InputError
from naively.judge.cross_validation import Counted, check_model, method_of, uncalibrated
from naively.learn import held_out
from naively.learn.held_out import HeldOut


def count_rows(model: Any, X: Any, y: Any) -> Counted:
    """Fit a new copy of a model on these rows, and return it with them."""
    check_model(model)
    return replace(Counted.of(uncalibrated(model), X, y), method=method_of(model))


def tally_of(counted: Counted, rows: Array) -> Tally:
    """Count some of the rows into a tally."""
    state = counted.model._model
    weight = None if counted.weight is None else counted.weight[rows]
    part, codes, ledger = counted.rows.take(rows), counted.codes[rows], state.ledger
    return counted.model._blocks_of(state).count(part, codes, ledger.classes, ledger.features, weight)


def predict_by_tally(counted: Counted, tally: Tally, rules: list[Any], rows: Array) -> list[HeldOut]:
    """Predict some of the rows by a tally of other rows, for each rule."""
    state, codes = counted.model._model, counted.codes[rows]
    ledger = Ledger.of(state.ledger.as_counted(tally))
    blocks, classes = counted.model._blocks_of(state), state.ledger.classes
    prior = held_out.without_class(counted.model._prior_rule(), classes, ledger.rows, np.unique(codes))
    if blocks.ignores_prior and classes.size > 1:
        prior = np.zeros_like(prior)
    part, truth = counted.rows.take(rows), held_out.sorted_places(classes, codes)
    weight = None if counted.weight is None else counted.weight[rows]
    tables = (blocks.table(ledger, rule, prior) for rule in rules)
    held = (HeldOut(table.score(blocks.rows_for(table, part), len(part)), truth, weight) for table in tables)
    return [found.as_used(counted.method) for found in held]


def shuffled(rows: Array, codes: Array, rng: np.random.Generator) -> Array:
    """Shuffle rows so that every leading part of them has about the same shares of classes as all rows.

    >>> rows = shuffled(np.arange(40), np.arange(40) % 2, np.random.default_rng(0))
    >>> int((rows[:10] % 2).sum()), bool((np.sort(rows) == np.arange(40)).all())
    (5, True)
    """
    rows = rng.permutation(rows)
    order = np.argsort(codes[rows], kind="stable")
    class_sizes = np.bincount(codes[rows])
    rank = np.empty(len(rows))
    rank[order] = np.arange(len(rows)) - np.repeat(np.cumsum(class_sizes) - class_sizes, class_sizes)
    return rows[np.argsort((rank + rng.random(len(rows))) / class_sizes[codes[rows]], kind="stable")]


def n_training_rows(fold: Array) -> int:
    """Return the number of rows outside the largest fold."""
    return int(len(fold) - np.bincount(fold).max())


def rows_of_share(share: Any, rows: int, name: str) -> int:
    """Convert a share of rows to a number of rows, at least 1."""
    if not isinstance(share, (int, float, np.number)) or isinstance(share, bool) or not 0.0 < share <= 1.0:
        raise InputError(f"{name} must be above 0.0 and at most 1.0, got {share!r}")
    return max(1, round(float(share) * rows))
