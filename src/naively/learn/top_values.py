"""Top values: the values of a table's columns that speak most for each class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.columns import CODE_BITS, MISSING
from naively.count.ledger import Ledger
from naively.families.blocks.blocks import Blocks
from naively.families.blocks.categories import CategoryBlock
from naively.families.blocks.density_columns import DensityBlock
from naively.families.blocks.matrix import MatrixBlock
from naively.families.blocks.number_columns import NumberBlock
from naively.families.blocks.text import TextBlock
from naively.families.columns.bins import bin_range
from naively.families.columns.declared import Bernoulli, Categorical, Kernel
from naively.families.columns.number_table import Column
from naively.families.poisson import Poisson
from naively.families.words.log_odds import top_words
from naively.learn.factors import amount, word_counts
from naively.smooth.rules import Smoothing

Found = list[list[tuple[str, float]]]
"""For each class, by code: descriptions of values, and how typical they are, in standard deviations."""
_STRENGTH = 1000.0  # as in `top_words` of a model of texts


def top_values(blocks: Blocks, ledger: Ledger, rule: Smoothing, top: int) -> dict[Any, list[tuple[str, float]]]:
    """Return, for each class, the values that are more frequent in it, and the columns whose means differ most."""
    assert ledger.classes.names is not None
    names = ledger.classes.names.tolist()
    found: Found = [[] for _ in names]
    for block in blocks.blocks:
        part = ledger.counted[block.name]
        if isinstance(block, CategoryBlock):
            _categories(part.total, found)
        elif isinstance(block, NumberBlock):
            table = block.family.table(part, rule, np.zeros(len(names)))
            moments = part.total.exact_sums().full()
            for column in table.columns:
                if column.density is not None and not column.ignored:
                    _means(moments, moments.features.lookup[column.name], column.name, found)
                elif not column.ignored:
                    _codes(column, found)
        elif isinstance(block, DensityBlock):
            _densities(block, block.family.table(part, rule, np.zeros(len(names))), part.total.full(), found)
        elif isinstance(block, TextBlock):
            _words(block, part, top, found)
        elif isinstance(block, MatrixBlock):
            _group(block, part.total, found)
    missing = blocks.missingness(ledger, rule)
    if missing is not None:
        for j, name in enumerate(missing.names):
            counts = missing.counts[[2 * j + 1, 2 * j]]
            _frequent(counts, ledger.rows, [f"{name} missing", f"{name} not missing"].__getitem__, found)
    order = range(len(names)) if ledger.classes.order is None else ledger.classes.order.tolist()
    return {names[k]: sorted(found[k], key=lambda pair: -pair[1])[:top] for k in order}


def _log_odds(counts: Array, totals: Array) -> Array:
    """Return the log-odds of each count in each class against all others, in standard deviations; values by classes."""
    inside, total_inside = counts + 0.5, totals + 1.0
    outside = counts.sum(axis=1, keepdims=True) - counts + 0.5
    total_outside = totals.sum(axis=-1, keepdims=True) - totals + 1.0
    odds = np.log(inside / total_inside) - np.log(outside / total_outside)
    return odds / np.sqrt(1.0 / inside + 1.0 / outside)


def _frequent(counts: Array, totals: Array, title: Callable[[int], str], found: Found) -> None:
    """Add values that are more frequent in a class than elsewhere, with their counts."""
    log_odds = _log_odds(counts, totals)
    totals = np.broadcast_to(totals, counts.shape)
    for k, pairs in enumerate(found):
        for at in np.argsort(-log_odds[:, k], kind="stable")[:50].tolist():
            if log_odds[at, k] > 0 and counts[at, k] > 0:
                text = f"{title(at)} ({amount(counts[at, k])} of {amount(totals[at, k])})"
                pairs.append((text, float(log_odds[at, k])))


def _categories(tally: Any, found: Found) -> None:
    columns = tally.cells.feature >> CODE_BITS
    used = ((tally.cells.feature & MISSING) != MISSING) & (tally.features.sizes > 1)[columns]
    feature, klass, counts = tally.cells.feature[used], tally.cells.klass[used], tally.cells.values[0][used]
    values, place = np.unique(feature, return_inverse=True)
    table = np.zeros((len(values), len(found)))
    np.add.at(table, (place, klass), counts)
    sums = np.zeros((tally.features.columns.size, len(found)))
    np.add.at(sums, values >> CODE_BITS, table)

    def title(at: int) -> str:
        column, value = tally.features.name(int(values[at]))
        return f"{column} = {value}"

    _frequent(table, sums[values >> CODE_BITS], title, found)


def _codes(column: Column, found: Found) -> None:
    """Add categories or bins; for a kernel, neighbouring bins that are all typical or untypical are joined."""
    assert column.counts is not None
    counts, totals = column.counts, column.counts.sum(axis=0)
    if not isinstance(column.family, Kernel):
        sign = " = " if isinstance(column.family, (Bernoulli, Categorical)) else " "
        _frequent(counts, totals, lambda at: f"{column.name}{sign}{column.code_name(at)}", found)
        return
    edges = column.edges
    assert edges is not None
    log_odds = _log_odds(counts, totals)
    for k, pairs in enumerate(found):
        first = np.concatenate([[0], np.flatnonzero(np.diff(log_odds[:, k] > 0)) + 1])
        last = np.append(first[1:], len(counts)) - 1
        own: Found = [[] for _ in found]
        ranges = [f"{column.name} {bin_range(edges, a, b)}" for a, b in zip(first.tolist(), last.tolist(), strict=True)]
        _frequent(np.add.reduceat(counts, first, axis=0), totals, ranges.__getitem__, own)
        pairs += own[k]


def _means(moments: Any, j: int, name: str, found: Found) -> None:
    """Add a column of numbers to the classes in which its mean differs from that of the others."""
    mean, variance = moments.mean[:, j], moments.variance[:, j]
    for k, gap in _gaps(moments, j).items():
        figures = f"mean {mean[k]:.4g}, sd {np.sqrt(variance[k]):.4g}"
        found[k].append((f"{name} {'high' if gap > 0 else 'low'} ({figures})", abs(gap)))


def _densities(block: DensityBlock, table: Any, moments: Any, found: Found) -> None:
    """Add columns to the classes in which the mean of a statistic differs from that of the others."""
    ignored, family = block.ignored(table), block.family.density
    for j, name in enumerate(block.sources):
        if name in ignored:
            continue
        gaps = [_gaps(moments, s * len(block.sources) + j) for s in range(len(family.names))]
        for k, gap in gaps[0].items():
            place = (" high" if gap > 0 else " low") if family.rising else ""
            text = f"{name}{place} ({table.described(k, j)})"
            found[k].append((text, max(abs(of_statistic[k]) for of_statistic in gaps)))


def _gaps(moments: Any, j: int) -> dict[int, float]:
    """Return how far the mean of each class is from that of the others, in standard deviations, by class."""
    n, mean, variance = (values[:, j] for values in (moments.n, moments.mean, moments.variance))
    spread = float(np.sqrt(n @ variance / max(n.sum(), 1.0)))
    gaps: dict[int, float] = {}
    for k in range(len(n)):
        rest = n.sum() - n[k]
        if n[k] >= 2 and rest >= 2 and spread > 0:
            other = ((n * mean).sum() - n[k] * mean[k]) / rest
            gaps[k] = float((mean[k] - other) / (spread * np.sqrt(1.0 / n[k] + 1.0 / rest)))
    return gaps


def _words(block: TextBlock, ledger: Any, top: int, found: Found) -> None:
    counted = word_counts(block.family, ledger)
    telling = top_words(ledger, block.family.kept(ledger.total), top, _STRENGTH)
    for k, pairs in enumerate(found):
        for word, log_odds in telling[ledger.classes.name(k)]:
            if log_odds > 0:
                counts = counted(word)(k)
                pairs.append((block.factor(word) + (f" ({counts})" if counts else ""), log_odds))


def _group(block: MatrixBlock, tally: Any, found: Found) -> None:
    if hasattr(tally, "single"):
        moments = tally.single().full()
        for j, name in enumerate(block.sources):
            _means(moments, j, name, found)
    elif isinstance(block.family, Poisson):
        rows = tally.rows[:, None] - tally.dense(1)
        for j, name in enumerate(block.sources):
            _rates(tally.dense()[:, j].astype(np.float64), rows[:, j].astype(np.float64), name, found)
    else:
        totals = tally.totals[0].astype(np.float64)
        _frequent(tally.dense().T.astype(np.float64), totals, block.sources.__getitem__, found)


def _rates(events: Array, rows: Array, name: str, found: Found) -> None:
    """Add a column of event counts to the classes in which its rate differs from that of the others."""
    mean_rate = float(events.sum() / max(rows.sum(), 1.0))
    for k, pairs in enumerate(found):
        rest = rows.sum() - rows[k]
        if rows[k] <= 0 or rest <= 0 or mean_rate <= 0:
            continue
        rate, other = events[k] / rows[k], (events.sum() - events[k]) / rest
        gap = float((rate - other) / np.sqrt(mean_rate * (1.0 / rows[k] + 1.0 / rest)))
        figures = f"{amount(events[k])} in {amount(rows[k])} rows"
        pairs.append((f"{name} {'high' if gap > 0 else 'low'} ({figures})", abs(gap)))
