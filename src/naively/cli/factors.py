"""Factors: what the parts of an explanation were counted from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.ledger import Uncounted
from naively.names import CODE_BITS, MISSING


@dataclass(frozen=True)
class Counts:
    """For each class, the rows that it has, and for each factor what it was counted from, as people read them."""

    prior: dict[Any, str]
    factors: dict[Any, dict[Any, str]]


def counts_of(learner: Any, row: Any, factors: list[Any]) -> Counts:
    """What an explanation comes from; nothing of a frozen model."""
    model = learner._model
    if isinstance(model.ledger, Uncounted):
        return Counts({}, {})
    classes = model.ledger.classes.names.tolist()
    found = _of_words(learner, factors) if learner.reads_text else _of_columns(model.ledger.total, row)
    rows = model.ledger.rows
    every = float(rows.sum())
    prior = {name: f"{_number(count)} of {_number(every)}" for name, count in zip(classes, rows.tolist(), strict=True)}
    each = {name: {factor: shown[k] for factor, shown in found.items()} for k, name in enumerate(classes)}
    return Counts(prior, each)


def _of_words(learner: Any, words: list[str]) -> dict[Any, list[str]]:
    """How often each word is in each class, of all words there; or in how many texts, of all texts."""
    model = learner._model
    family, tally = learner._family_of(model), model.ledger.total
    if not hasattr(tally.features, "locate"):
        return {}
    numbers = tally.features.locate(words, split=family.split)
    by_texts = family.family == "bernoulli"
    plane = 1 if by_texts or family.weighting == "binary" else 0
    totals = tally.rows if by_texts else family.totals(model.ledger)
    if family.weighting == "tfidf" and not by_texts:
        totals = tally.totals[0]
    many = tally.classes.size
    order = np.argsort(numbers, kind="stable")
    feature, klass = np.repeat(numbers[order], many), np.tile(np.arange(many, dtype=np.int32), len(words))
    counts = tally.cells.look_up(feature, klass)[plane].reshape(len(words), many)
    shown: dict[Any, list[str]] = {}
    for at, place in enumerate(order.tolist()):
        shown[words[place]] = [f"{_number(counts[at, k])} of {_number(totals[k])}" for k in range(many)]
    return shown


def _of_columns(tally: Any, row: Any) -> dict[Any, list[str]]:
    shown: dict[Any, list[str]] = {}
    for name, values in row.items():
        value = values[0]
        if value is None:
            continue
        for part in tally.parts.values():
            told = _of_category(part, name, value) if hasattr(part, "cells") else _of_number(part, name)
            if told is not None:
                shown[name] = told
    return shown


def _of_category(tally: Any, name: str, value: Any) -> list[str] | None:
    if tally.kind != "categories" or name not in tally.features.columns.lookup:
        return None
    column = tally.features.columns.lookup[name]
    known = tally.features.values[column]
    code = known.lookup.get(value) if known.names is not None else _code(value, known.size)
    if code is None:
        return ["never seen"] * tally.classes.size
    mine = tally.cells.feature >> CODE_BITS == column
    codes, klass, counts = (
        part[mine] for part in (tally.cells.feature & MISSING, tally.cells.klass, tally.cells.values[0])
    )
    there = codes != MISSING
    totals = np.bincount(klass[there], counts[there], tally.classes.size)
    hits = np.bincount(klass[codes == code], counts[codes == code], tally.classes.size)
    return [f"{_number(hit)} of {_number(total)}" for hit, total in zip(hits.tolist(), totals.tolist(), strict=True)]


def _code(value: Any, size: int) -> int | None:
    return int(value) if isinstance(value, (bool, int)) and 0 <= int(value) < size else None


def _of_number(numbers: Any, name: str) -> list[str] | None:
    """Mean and standard deviation in each class."""
    moments = getattr(numbers, "moments", numbers)
    if moments.features.names is None or name not in moments.features.lookup:
        return None
    column = moments.features.lookup[name]
    shown = ["no rows"] * moments.classes.size
    for place, k in enumerate(moments.present.tolist()):
        n, mean, m2 = (values[place, column] for values in (moments.n, moments.mean, moments.m2))
        if n > 0:
            shown[k] = f"mean {mean:.4g}, sd {np.sqrt(m2 / n):.4g}"
    return shown


def _number(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
