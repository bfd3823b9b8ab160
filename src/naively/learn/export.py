"""Exporting: the tables of a fitted model as terms, which exporters write as SQL or ONNX."""

from __future__ import annotations

from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.count.vocabulary import Buckets
from naively.errors import InputError
from naively.families.blocks.base import Block
from naively.families.blocks.categories import CategoryBlock, CategoryColumn
from naively.families.blocks.matrix import ArrayBlock
from naively.families.blocks.text import TextBlock
from naively.families.columns.declared import Bernoulli
from naively.families.columns.missingness import Missingness
from naively.families.columns.number_table import Column, NumberTable
from naively.families.words.table import TextTable
from naively.names import Index
from naively.score.calibration import Isotonic, PerClass, Temperature
from naively.score.density import Density
from naively.score.export.terms import (
    BOOLEAN,
    NUMBER,
    TEXT,
    Above,
    Bins,
    Codes,
    Coding,
    DatePart,
    Densities,
    IsMissing,
    Names,
    Sums,
    Term,
    Terms,
    Weights,
    Whole,
    Words,
    column_kinds,
)
from naively.score.table import CodeTable, Linear, LinearTable

TEXT_COLUMN = "text"
"""The column of a model of texts alone."""


def terms_of(predictor: Any) -> Terms:
    """Return what a fitted model adds up for a row."""
    model, weighing = predictor._weighed_by()
    table, classes = predictor.table_, model.ledger.classes
    terms: list[Term] = []
    for block in weighing.blocks.blocks:
        terms += block_terms(table.blocks[block.name], block)
    if table.missingness is not None:
        terms += _missing_terms(table.missingness, terms)
    order = classes.order if classes.order is not None else np.arange(classes.size)
    labels = tuple(np.asarray(classes.names)[order].tolist())
    found = tuple(_sorted(term, order) for term in terms if not _is_nothing(term))
    return Terms(predictor._who, labels, table.prior[order], found, _calibration(predictor, model))


def array_columns(predictor: Any) -> list[str] | None:
    """Return the columns of a model of arrays; None for models of tables and texts."""
    blocks = predictor._weighed_by()[1].blocks.blocks
    if not isinstance(blocks[0], ArrayBlock):
        return None
    columns = blocks[0].columns
    return [f"x{j}" for j in range(columns)] if isinstance(columns, int) else list(map(str, columns))


def _is_nothing(term: Term) -> bool:
    """True if the term of a column adds nothing, whatever its value."""
    if isinstance(term, Densities):
        return not np.isfinite(term.parameters[-1]).any()
    return isinstance(term, Codes) and len(term.weights.finite) == 1 and not term.weights.finite.any()


def _calibration(predictor: Any, model: Any) -> Temperature | PerClass:
    found = predictor._calibration_now(model) if hasattr(predictor, "_calibration_now") else None
    if isinstance(found, Isotonic):
        raise InputError(
            "a calibration by isotonic functions is not exported: set calibrate='per class' or 'temperature', and "
            "recalibrate"
        )
    return Temperature() if found is None else found


def _sorted(term: Term, order: Array) -> Term:
    """Return a term with its classes in this order."""

    def moved(weights: Weights | None) -> Any:
        if weights is None:
            return None
        never = weights.impossible
        return Weights(weights.finite[..., order], None if never is None else never[..., order])

    if isinstance(term, Densities):
        return replace(term, parameters=tuple(values[order] for values in term.parameters))
    if isinstance(term, Codes):
        return replace(term, weights=moved(term.weights))
    if isinstance(term, Sums):
        return replace(term, weights=moved(term.weights), base=moved(term.base), missing=moved(term.missing))
    return replace(term, weights=moved(term.weights), base=moved(term.base))


@singledispatch
def block_terms(table: Any, block: Block) -> list[Term]:
    """Return the terms of the table of a block."""
    raise InputError(
        f"{type(table).__name__}: covariances of several columns are not exported; score such a model in Python"
    )


# --- numbers that are multiplied by weights


@block_terms.register
def _(table: LinearTable, block: Block) -> list[Term]:
    terms = table.terms_of_missing if table.missing_terms is not None else None
    missing = None if terms is None else Weights(_weights(terms[0]), None if terms[1] is None else _weights(terms[1]))
    return [
        Sums(
            tuple(_column_names(block, table.features)), _linear(table), _base(table), missing, table.accepts.threshold
        )
    ]


def _weights(linear: Linear) -> Array:
    return linear.weights[:, : len(linear.klass)]


def _linear(table: LinearTable) -> Weights:
    return Weights(_weights(table.present), None if table.impossible is None else _weights(table.impossible))


def _base(table: LinearTable) -> Weights:
    return Weights(table.present.base, None if table.impossible is None else table.impossible.base)


def _column_names(block: Any, features: Index) -> list[str]:
    """Return the columns that a block reads as one array; without names, they are x0, x1, and so on."""
    sources = block.sources
    if sources:
        return list(sources)
    return [f"x{j}" for j in range(features.size)] if features.names is None else list(map(str, features.names))


# --- densities


@block_terms.register
def _(table: Density, block: Block) -> list[Term]:
    return _densities(table, _column_names(block, table.features))


def _densities(table: Density, columns: list[str]) -> list[Term]:
    return [
        Densities(name, table.family, tuple(values[:, j] for values in table.parameters))
        for j, name in enumerate(columns)
    ]


@block_terms.register
def _(table: NumberTable, block: Block) -> list[Term]:
    terms = [term for density in table.densities for term in _densities(density, density.features.listed)]
    for j, column in enumerate(table.coded_columns):
        assert table.codes is not None
        terms.append(Codes(column.name, _number_coding(column), _code_weights(table.codes, j)))
    return terms


def _number_coding(column: Column) -> Coding:
    if column.values is not None:
        return _named(column.values)
    assert column.edges is not None
    if isinstance(column.family, Bernoulli):
        return Above(float(np.nextafter(column.edges[0], -np.inf)))  # which is at or above the edge
    return Bins(tuple(column.edges.tolist()))


# --- codes


@block_terms.register
def _(table: CodeTable, block: Block) -> list[Term]:
    if isinstance(block, CategoryBlock):
        columns = [
            (column.source, _coding(column, table.categories.values[j])) for j, column in enumerate(block.columns)
        ]
    else:
        names = _column_names(block, table.categories.columns)
        columns = [(name, _array_coding(index)) for name, index in zip(names, table.categories.values, strict=True)]
    return [Codes(name, coding, _code_weights(table, j)) for j, (name, coding) in enumerate(columns)]


def _coding(column: CategoryColumn, known: Index) -> Coding:
    if column.part is not None:
        return DatePart(column.part)
    if column.threshold is not None:
        return Above(column.threshold)
    return _named(known)


def _named(known: Index) -> Names:
    values = [] if known.names is None else known.names.tolist()
    kind = "O" if known.names is None else known.names.dtype.kind
    return Names({"b": BOOLEAN, "O": TEXT, "U": TEXT}.get(kind, NUMBER), tuple(values))


def _array_coding(known: Index) -> Coding:
    return Whole(known.size) if known.names is None else _named(known)


def _code_weights(table: CodeTable, column: int) -> Weights:
    """Return the weights of the codes of a column; the last is that of a code that was never seen."""
    size, begin, classes = int(table.sizes[column]), int(table.offsets[column]), table.classes.size

    def part(weights: Array, unseen: Array) -> Array:
        return np.concatenate([weights[begin : begin + size], unseen[column : column + 1]])[:, :classes]

    return Weights(part(table.weights, table.unseen), None if table.impossible is None else part(*table.impossible))


def _missing_terms(missingness: Missingness, terms: list[Term]) -> list[Term]:
    """Return one term for each column: is its value missing?"""
    kinds = {name: kind for term in terms for name, kind in column_kinds(term).items()}
    return [
        Codes(name, IsMissing(kinds[name]), _code_weights(missingness.table, j))
        for j, name in enumerate(missingness.names)
    ]


# --- words


@block_terms.register
def _(table: TextTable, block: Any) -> list[Term]:
    family, words = table.words, table.features.words
    if words is None or isinstance(words, Buckets):
        raise InputError("hashed words have no names, so that no other program can look them up: train without hashing")
    numbers = table.features.numbers
    assert numbers is not None
    kept = np.arange(len(numbers)) if table.unknown is None else np.flatnonzero(~table.unknown)
    names = words.names_of(numbers[kept])
    by_name = sorted(range(len(names)), key=names.__getitem__)  # so that equal models give equal exports
    kept, names, weights = kept[by_name], [names[i] for i in by_name], _linear(table.linear)
    binary = family.family == "bernoulli" or family.weighting == "binary"
    tfidf = table.idf is not None and not binary
    return [
        Words(
            block.source if isinstance(block, TextBlock) else TEXT_COLUMN,
            family.tokens,
            tuple(names),
            Weights(weights.finite[kept], None if weights.impossible is None else weights.impossible[kept]),
            _base(table.linear),
            "binary" if binary else "tfidf" if tfidf else "counts",
            table.idf[kept] if tfidf and table.idf is not None else None,
        )
    ]
