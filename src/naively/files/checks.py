"""Checks: what must hold inside a value that comes from a file, whoever wrote it.

`CHECKS` compare shapes and types alone, which costs nothing however large the arrays are. `check_words`,
`check_numbers` and `check_table` look at every number: of a small file when it is opened, of a large one when it is
verified or first learnt on. The compiled core looks wherever it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from naively.calibration import TEMPERATURES
from naively.errors import FileError
from naively.names import CODE_BITS, MISSING
from naively.tally import PLANES

_MOST_NAMES = 1 << 40
_MOST_ROWS = 1 << 62
_LARGEST = 1e300
"""Numbers beyond this would not be finite any more once some of them are added up."""
_SEQUENCE = 0xFFFFFFFF
_ROWS_COUNTED = {
    "presence": ("count", "missing"), "events": ("missing",), "categories": ("count",), "grid": ("count",),
    "words": ("documents",), "unweighted words": ("documents",),
}  # fmt: skip
"""The numbers that no class can have more of than rows, by the kind of tally."""
_ENDLESS = {"variance": np.inf, "prior": -np.inf}
"""Fields of tables in which this stands for something: a feature never seen, a class that cannot be."""


def _need(holds: bool, what: str) -> None:
    if not holds:
        raise FileError(f"the file is damaged ({what})")


def _are(values: Any, kinds: str, *shape: int | None) -> bool:
    """Whether this is an array of one of these types ("f8 i8"), and of this shape (None: any length)."""
    return (
        isinstance(values, np.ndarray)
        and values.dtype.str[1:] in kinds.split()
        and values.ndim == len(shape)
        and all(n is None or n == m for n, m in zip(shape, values.shape, strict=True))
    )


def _index(index: Any) -> None:
    _need(0 <= index.size < _MOST_NAMES, "a number of names")
    if index.names is not None:
        names = index.names.tolist()
        _need(index.names.ndim == 1 and len(names) == index.size, "names are missing")
        _need(len(set(names)) == len(names), "a name is there twice")
        _need(None not in names and len({isinstance(name, str) for name in names}) < 2, "names of several kinds")


def _kept(kept: Any) -> None:
    _need(_are(kept.numbers, "i8", kept.size) and kept.words is not None, "the numbers of words")


def _categories(categories: Any) -> None:
    _need(categories.columns.size == len(categories.values), "one list of categories is needed for each column")


def _stored(arrays: Any) -> None:
    things = arrays.what.shape[0] if arrays.what.ndim == 1 else None
    _need(_are(arrays.what, "u8", None) and _are(arrays.length, "u4", things), "the list of words")
    _need(_are(arrays.bytes, "u1", None), "the bytes of words")
    _need(_are(arrays.words, "u8", None) and _are(arrays.sequences, "u8", None), "the slots of words")


def check_words(arrays: Any) -> None:
    """Look at every word: where it lies, how long it is, that it is text, and that sequences name words before them."""
    what, length, data = arrays.what, arrays.length, arrays.bytes
    several = length == _SEQUENCE
    begin, long = what[~several], length[~several].astype(np.uint64)
    _need(bool((long > 0).all()), "a word without letters")
    _need(bool((begin <= len(data)).all()) and bool((begin + long <= len(data)).all()), "a word that lies nowhere")
    data.tobytes().decode("utf-8", "surrogatepass")
    edges = np.concatenate([begin, begin + long]).astype(np.int64)
    _need(bool((data[edges[edges < len(data)]] & 0xC0 != 0x80).all()), "a word that begins within a letter")
    own, parts = np.flatnonzero(several), what[several]
    before, last = (parts >> np.uint64(32)).astype(np.int64), (parts & np.uint64(_SEQUENCE)).astype(np.int64)
    _need(bool((before < own).all()) and bool((last < own).all()), "a sequence of words to come")
    _need(not several[last].any(), "a sequence that ends in a sequence")


def _cells(cells: Any) -> None:
    many = len(cells.feature)
    _need(_are(cells.feature, "i8", None) and _are(cells.klass, "i4", many), "the cells of a tally")
    _need(_are(cells.values, "i8 f8", None, many), "the numbers of a tally")


def _tally(tally: Any) -> None:
    _need(tally.classes.names is not None, "classes without names")
    _need(tally.kind in PLANES, "the kind of a tally")
    _need(_are(tally.rows, "i8 f8", tally.classes.size), "the rows of a tally")
    _need(len(tally.cells.values) == len(PLANES[tally.kind]), "the numbers of a tally")
    _need(tally.missing is None or _are(tally.missing, "i8 f8", tally.classes.size), "the missing rows of a tally")


def _moments(moments: Any) -> None:
    features = moments.features.size
    _need(_are(moments.rows, "i8 f8", moments.classes.size), "the rows of moments")
    _need(_are(moments.present, "i8", None), "the classes of moments")
    shape = len(moments.present), *[features] * moments.axes
    for values in (moments.n, moments.mean, moments.m2):
        _need(_are(values, "f8", *shape), "the numbers of moments")


def _linear(linear: Any) -> None:
    classes, cells = len(linear.klass), len(linear.delta)
    _need(_are(linear.klass, "f8", None) and _are(linear.base, "f8", classes), "the weights of classes")
    _need(_are(linear.feature, "f8", None), "the weights of features")
    _need(_are(linear.cell_feature, "i8", cells) and _are(linear.cell_klass, "i4", cells), "the cells of a table")
    _need(_are(linear.delta, "f8", None), "the cells of a table")
    _need(_are(linear.starts, "i8", len(linear.feature) + 1), "the cells of a table")


def check_votes(size: int, bucket: Any, lead: Any, length: Any, data: Any) -> None:
    """Names of buckets."""
    many = len(bucket)
    _need(_are(bucket, "i8", None) and _are(lead, "i8", many) and _are(length, "i8", many), "the names of buckets")
    _need(_are(data, "u1", None) and bool((length >= 0).all()) and int(length.sum()) == len(data), "names of buckets")
    _need(not many or (bucket.min() >= 0 and bucket.max() < size and lead.min() >= 0), "the names of buckets")


def _linear_table(table: Any) -> None:
    classes = table.classes.size
    _need(table.numbers is None and table.features.size == len(table.present.feature), "the features of a table")
    constant = type(table.row_constant).__name__
    _need(table.row_constant is None or constant == "LogFactorials", "a table with code in it")
    _need(_are(table.prior, "f8", classes) and len(table.present.klass) == classes, "the classes of a table")
    for linear in (table.impossible, *(table.holes if table.make_holes is not None else ())):
        _need(
            linear is None
            or (len(linear.klass) == classes and len(linear.feature) == len(table.present.feature)),
            "the parts of a table",
        )  # fmt: skip


def _text_table(table: Any) -> None:
    size, every = table.features.size, table.features.words
    _need(len(table.linear.present.feature) == size, "the words of a table")
    _need(table.few is None, "a table of some words only")
    threads = table.words.threads
    _need(threads is None or (type(threads) is int and 1 <= threads <= 1024), "a number of threads")
    _need(table.idf is None or _are(table.idf, "f8", size), "the weights of words")
    _need(table.holes is None or _are(table.holes, "b1", size), "the words of a table")
    _need(table.place is None or _are(table.place, "i4", every.size), "the places of words")


def _code_table(table: Any) -> None:
    classes, columns = table.classes.size, table.categories.columns.size
    stride = table.weights.shape[1] if table.weights.ndim == 2 else -1
    _need(classes <= stride < classes + 4 and _are(table.weights, "f8", None, stride), "the weights of categories")
    _need(_are(table.unseen, "f8", columns, stride) and _are(table.prior, "f8", classes), "the weights of categories")
    _need(_are(table.offsets, "i8", columns) and _are(table.sizes, "i8", columns), "the places of categories")
    rows = len(table.weights)
    for values in (table.offsets, table.sizes):
        _need(bool((values >= 0).all()) and bool((values <= rows).all()), "the places of categories")
    _need(bool((table.offsets + table.sizes <= rows).all()), "the places of categories")
    if table.impossible is not None:
        zeros, unseen = table.impossible
        _need(_are(zeros, "f8", *table.weights.shape) and _are(unseen, "f8", columns, stride), "impossible categories")


def _normal_table(table: Any) -> None:
    shape = table.classes.size, table.features.size
    _need(_are(table.mean, "f8", *shape) and _are(table.variance, "f8", *shape), "means and variances")
    _need(_are(table.prior, "f8", shape[0]), "the prior")


def _covariance_table(table: Any) -> None:
    classes, features = table.classes.size, table.features.size
    _need(_are(table.mean, "f8", classes, features) and _are(table.prior, "f8", classes), "means and prior")
    _need(_are(table.covariance, "f8", None, features, features), "covariances")
    _need(len(table.covariance) in (1, classes), "covariances")


def _uncounted(left: Any) -> None:
    _need(left.classes.names is not None, "classes without names")
    _need(_are(left.rows, "i8 f8", left.classes.size), "the rows of classes")
    features = getattr(left, "features", None)
    each = features.values() if isinstance(features, dict) else [features]
    _need(all(type(known).__name__ in _FEATURES for known in each), "the features of a model")


_FEATURES = ("Index", "Categories", "Grid", "Vocabulary", "Stored", "Buckets", "NoneType")


def _block_tally(tally: Any) -> None:
    _uncounted(tally)
    classes = tally.classes.names.tolist()
    for part in tally.parts.values():
        for counted in (part.moments, part.grid) if hasattr(part, "grid") else (part,):
            _need(counted.classes.names.tolist() == classes, "the classes of a block")


def _mixed_table(table: Any) -> None:
    names = {block.name for block in table.family.blocks}
    _need(_are(table.prior, "f8", table.ledger.classes.size), "the prior of a table")
    _need(set(table.tables) == names and set(table.ledger.features) == names, "the blocks of a table")
    _need(all(hasattr(type(part), "score") for part in table.tables.values()), "the tables of blocks")
    told = {block.name: type(block).__name__ for block in table.family.blocks}
    kinds = {"CategoryBlock": ("Categories",), "TextBlock": ("Vocabulary", "Stored", "Buckets")}
    for name, known in table.ledger.features.items():
        _need(told[name] not in kinds or type(known).__name__ in kinds[told[name]], "the features of a block")


def _number_table(table: Any) -> None:
    _need(_are(table.prior, "f8", table.classes.size), "the prior of numbers")
    plain = [column.name for column in table.columns if column.edges is None]
    binned = [column for column in table.columns if column.edges is not None]
    _need(all(_are(column.edges, "i8", None) for column in binned), "the bins of numbers")
    _need((table.normal is not None) >= bool(plain) and (table.bins is not None) >= bool(binned), "columns of numbers")
    _need(table.normal is None or table.normal.features.size == len(plain), "columns of numbers")
    _need(table.bins is None or table.bins.categories.columns.size == len(binned), "bins of numbers")


def _presence(presence: Any) -> None:
    _need(len(presence.names) == presence.table.categories.columns.size, "columns that may be missing")


def _positive(value: Any) -> bool:
    return bool(0.0 < value <= _LARGEST)


def _temperature(calibration: Any) -> None:
    _need(_positive(calibration.value), "a temperature")


def _per_class(calibration: Any) -> None:
    _need(_positive(calibration.temperature), "a temperature")
    _need(_are(calibration.offsets, "f8", None) and _finite(calibration.offsets), "the constants of a calibration")


def _isotonic(calibration: Any) -> None:
    _need(_positive(calibration.temperature), "a temperature")
    for x, y in calibration.steps:
        _need(_are(x, "f8", None) and _are(y, "f8", *x.shape) and len(x) > 0, "the steps of a calibration")
        rising = bool((np.diff(x) > 0).all()) and bool((np.diff(y) >= 0).all())
        within = all(values[0] >= 0.0 and values[-1] <= 1.0 for values in (x, y))
        _need(rising and within, "steps of a calibration that do not rise")


def _losses(losses: Any) -> None:
    _need(_are(losses.sums, "f8", len(TEMPERATURES)) and _finite(losses.sums), "the losses of a calibration")
    _need(0.0 <= losses.rows <= _LARGEST, "the rows of a calibration")
    _need(abs(losses.log_margins) <= _LARGEST, "the margins of a calibration")


def _judged(judged: Any) -> None:
    _need(0.0 <= judged.counted <= _LARGEST, "the rows of a calibration")
    _need(judged.sample is None and isinstance(judged.classes, tuple), "the rows of a calibration")


def _choice(choice: Any) -> None:
    _need(len(choice.tried) > 0, "the recipes that were tried")
    _need(0.0 <= choice.accuracy <= 1.0 and 0.0 < choice.margin <= _LARGEST, "the accuracy of a choice")
    _need(min(choice.texts, choice.seen) >= 0, "the texts of a choice")


def _tried(tried: Any) -> None:
    _need(0.0 <= tried.right <= tried.rows <= _LARGEST, "the texts that were judged")


def _recipe(recipe: Any) -> None:
    _need(isinstance(recipe.min_df, (int, float)) and 0.0 <= recipe.min_df <= _LARGEST, "the min_df of a recipe")
    _need(0.0 <= recipe.alpha <= _LARGEST, "the alpha of a recipe")


CHECKS: dict[str, Callable[[Any], None]] = {
    "Index": _index,
    "Kept": _kept,
    "Categories": _categories,
    "StoredArrays": _stored,
    "Cells": _cells,
    "Tally": _tally,
    "Moments": _moments,
    "Comoments": _moments,
    "Linear": _linear,
    "LinearTable": _linear_table,
    "TextTable": _text_table,
    "CodeTable": _code_table,
    "NormalTable": _normal_table,
    "CovarianceTable": _covariance_table,
    "Uncounted": _uncounted,
    "MixedTable": _mixed_table,
    "NumberTable": _number_table,
    "Presence": _presence,
    "BlockTally": _block_tally,
    "BlockLedger": _uncounted,
    "Temperature": _temperature,
    "PerClass": _per_class,
    "Isotonic": _isotonic,
    "Losses": _losses,
    "Judged": _judged,
    "Choice": _choice,
    "Tried": _tried,
    "Recipe": _recipe,
}


def check_numbers(tally: Any) -> None:
    """Look at every number of what was counted."""
    if hasattr(tally, "parts"):
        for part in tally.parts.values():
            check_numbers(part)
    elif hasattr(tally, "grid"):
        _check_moments(tally.moments)
        _check_cells(tally.grid)
    elif hasattr(tally, "m2"):
        _check_moments(tally)
    else:
        _check_cells(tally)
    _need(bool((tally.rows >= 0).all()) and bool(np.isfinite(tally.rows).all()), "rows below zero")
    _need(tally.rows.sum(dtype=np.float64) < _MOST_ROWS, "more rows than there can be")


def _check_moments(moments: Any) -> None:
    present, own = moments.present, moments.m2 if moments.axes == 1 else np.einsum("cii->ci", moments.m2)
    _need(bool((np.diff(present) > 0).all()), "classes out of order")
    _need(not len(present) or (present[0] >= 0 and present[-1] < moments.classes.size), "moments of no class")
    finite = all(_finite(values) for values in (moments.n, moments.mean, moments.m2))
    _need(finite and bool((moments.n >= 0).all()) and bool((own >= 0).all()), "squares below zero")


def _check_cells(tally: Any) -> None:
    """Whether the cells of a tally are those of its classes and features, in order, and hold what can be counted."""
    cells, classes, features = tally.cells, tally.classes, tally.features
    if tally.missing is not None:
        _need(bool(((tally.missing >= 0) & (tally.missing <= tally.rows)).all()), "more rows missing than there are")
    if not len(cells):
        return
    _need(cells.klass.min() >= 0 and cells.klass.max() < classes.size, "a cell of no class")
    low, high = int(cells.feature.min()), int(cells.feature.max())
    if hasattr(features, "columns"):
        column, code = cells.feature >> CODE_BITS, cells.feature & MISSING
        _need(low >= 0 and int(column.max()) < features.columns.size, "a cell of no column")
        if hasattr(features, "sizes"):
            _need(bool(((code == MISSING) | (code < features.sizes[column])).all()), "a cell of no category")
    else:
        _need(low >= 0 and high < features.size, "a cell of no feature")
    before, after = cells.feature[:-1], cells.feature[1:]
    sorted_ = (before < after) | ((before == after) & (cells.klass[:-1] < cells.klass[1:]))
    _need(bool(sorted_.all()), "cells out of order")
    _need(bool((cells.values >= 0).all()) and bool(np.isfinite(cells.values).all()), "counts below zero")
    _need(cells.values.sum(dtype=np.float64) < _LARGEST, "more counts than there can be")
    most = tally.rows[cells.klass] * (1 + 1e-9)
    for plane in _ROWS_COUNTED.get(tally.kind, ()):
        _need(bool((cells.values[PLANES[tally.kind].index(plane)] <= most).all()), "more counts than rows")


def check_table(table: Any, thorough: bool = True) -> None:
    """Look at the classes and features that a table names; with `thorough`, at every number of it."""
    if thorough:
        _check_finite(table)
    _check_places(table, thorough)


def _check_finite(value: Any, endless: float = 0.0) -> None:
    """Look at all numbers inside a value; `endless` is the one that need not be finite."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        known = value[value != endless] if endless else value
        _need(_finite(known) and (len(known) > 0 or value.size == 0 or endless > 0), "a number that is none")
    elif isinstance(value, float):
        _need(value == value, "a number that is none")
    elif isinstance(value, (tuple, list)):
        for item in value:
            _check_finite(item)
    elif isinstance(value, dict):
        _check_finite(tuple(value.values()))
    elif is_dataclass(value):
        for field in fields(value):
            _check_finite(getattr(value, field.name), _ENDLESS.get(field.name, 0.0))


def _finite(values: Any) -> bool:
    return bool((np.abs(values) <= _LARGEST).all())


def _check_places(table: Any, thorough: bool) -> None:
    if hasattr(table, "tables"):
        for part in table.tables.values():
            _check_places(part, thorough)
        if table.presence is not None:
            _check_places(table.presence.table, thorough)
    elif hasattr(table, "linear"):
        _check_places(table.linear, thorough)
        if not thorough:
            return
        place, size = table.place, table.features.size
        _need(place is None or not len(place) or (place.min() >= -1 and place.max() < size), "the places of words")
        for numbers in (table.features.numbers, table.linear.features.numbers):
            _need(not len(numbers) or (numbers.min() >= 0 and numbers.max() < table.features.words.size), "words")
        _need(table.idf is None or bool((table.idf >= 0).all()), "the weights of words")
    elif hasattr(table, "present"):
        for linear in (table.present, table.impossible, *(table.holes if table.make_holes is not None else ())):
            if linear is not None:
                _check_linear(linear, thorough)
    elif hasattr(table, "columns"):
        for part in (table.normal, table.bins):
            if part is not None:
                _check_places(part, thorough)
        for column in table.columns:
            edges = column.edges
            _need(edges is None or bool((np.diff(edges) > 0).all()), "the bins of numbers")
    elif hasattr(table, "variance"):
        _need(_finite(table.mean) and bool((table.variance >= 0).all()), "a mean, or a variance below zero")
    elif hasattr(table, "covariance"):
        _need(_finite(table.mean), "a mean")
        _need(all(_finite(whitening) and abs(log) <= _LARGEST for whitening, log in table._whole), "a covariance")
    elif table.impossible is not None:
        _need(all(bool((zeros >= 0).all()) for zeros in table.impossible), "impossible categories")


def _check_linear(linear: Any, thorough: bool) -> None:
    starts, klass = linear.starts, linear.cell_klass
    _need(starts[0] == 0 and starts[-1] == len(klass) and bool((np.diff(starts) >= 0).all()), "the cells of a table")
    _need(not len(klass) or (klass.min() >= 0 and klass.max() < len(linear.klass)), "a cell of no class")
    if thorough:
        _need(bool((linear.cell_feature == np.repeat(np.arange(len(starts) - 1), np.diff(starts))).all()), "cells")
