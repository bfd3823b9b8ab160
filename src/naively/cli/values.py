"""Values: which values of a table's columns speak most for a class."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.names import CODE_BITS, MISSING


def telling_values(learner: Any, top: int) -> dict[Any, list[tuple[str, float]]]:
    """For each class, the categories that are more frequent in it than elsewhere, and columns of numbers that differ.

    By log-odds against all other classes with half a row added to each count; of numbers, how many standard deviations
    the mean of the class is from that of the others.
    """
    tally = learner._model.ledger.total
    names = tally.classes.names.tolist()
    found: dict[Any, list[tuple[str, float]]] = {name: [] for name in names}
    for part in tally.parts.values():
        if getattr(part, "kind", None) == "categories":
            _categories(part, names, found)
        elif hasattr(part, "moments"):
            _numbers(part.moments, names, found)
    return {name: sorted(pairs, key=lambda pair: -abs(pair[1]))[:top] for name, pairs in found.items()}


def _categories(tally: Any, names: list[Any], found: dict[Any, list[tuple[str, float]]]) -> None:
    known = (tally.cells.feature & MISSING) != MISSING
    feature, klass, counts = tally.cells.feature[known], tally.cells.klass[known], tally.cells.values[0][known]
    values, place = np.unique(feature, return_inverse=True)
    table = np.zeros((len(values), len(names)))
    np.add.at(table, (place, klass), counts)
    column = values >> CODE_BITS
    sums = np.zeros((tally.features.columns.size, len(names)))
    np.add.at(sums, column, table)
    inside, of_inside = table + 0.5, sums[column] + 1.0
    outside = table.sum(axis=1, keepdims=True) - table + 0.5
    of_outside = sums[column].sum(axis=1, keepdims=True) - sums[column] + 1.0
    odds = np.log(inside / of_inside) - np.log(outside / of_outside)
    sure = np.sqrt(1.0 / inside + 1.0 / outside)
    for k, name in enumerate(names):
        for at in np.argsort(-odds[:, k] / sure[:, k], kind="stable")[:50].tolist():
            if odds[at, k] > 0:
                of, value = tally.features.name(int(values[at]))
                found[name].append((f"{of} = {value}", float(odds[at, k] / sure[at, k])))


def _numbers(moments: Any, names: list[Any], found: dict[Any, list[tuple[str, float]]]) -> None:
    for place, k in enumerate(moments.present.tolist()):
        others = [p for p in range(len(moments.present)) if p != place]
        for column in range(moments.features.size):
            n, mean, m2 = (values[:, column] for values in (moments.n, moments.mean, moments.m2))
            rest = n[others].sum()
            if n[place] < 2 or rest < 2:
                continue
            other = float((n[others] * mean[others]).sum() / rest)
            spread = float(np.sqrt((m2.sum()) / max(n.sum(), 1.0)))
            if spread > 0:
                gap = (mean[place] - other) / (spread * np.sqrt(1.0 / n[place] + 1.0 / rest))
                title = f"{moments.features.name(column)} {'high' if gap > 0 else 'low'} (mean {mean[place]:.4g})"
                found[names[k]].append((title, float(gap)))
