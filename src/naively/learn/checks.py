"""Checks: conditions that values read from a file must meet, whoever wrote it.

The checks of classes compare only shapes and types, which costs nothing however large the arrays are.
`check_numbers` and `check_table` look at every number: of a small file when it is opened, of a large one when it is
verified or first learnt on. The compiled core checks the numbers that it reads.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from naively.arrays import less, narrowed, negative, rounded
from naively.count import stored_vocabulary  # noqa: F401  registers how vocabularies are stored
from naively.count.columns import CODE_BITS, MISSING, Categories
from naively.count.counts import PLANES, WORDS, padded
from naively.count.grid import Grid
from naively.count.vocabulary import WordFeatures
from naively.names import Index, safe_key
from naively.score.calibration import TEMPERATURES
from naively.store.damage import are, need
from naively.store.registry import checks

_MOST_NAMES = 1 << 40
_MOST_ROWS = 1 << 62
_COUNTS = "i8 V16"  # int64 or FIXED
_LARGEST = 1e300
"""Larger numbers could become infinite when some of them are added."""
_ROWS_COUNTED = {
    "presence": ("count", "missing"), "events": ("missing",), "categories": ("count",), "grid": ("count",),
    "words": ("documents",), "unweighted words": ("documents",),
}  # fmt: skip
"""The numbers that no class can have more of than rows, by the kind of tally."""
_ENDLESS = {"parameters": np.inf, "prior": -np.inf}
"""Fields of tables in which infinity has a meaning: a feature never seen, an impossible class."""


@checks("Index")
def _index(index: Any) -> None:
    need(0 <= index.size < _MOST_NAMES, "a number of names")
    if index.names is not None:
        names = index.names.tolist()
        need(index.names.ndim == 1 and len(names) == index.size, "names are missing")
        need(len(set(map(safe_key, names))) == len(names), "a name is there twice")
        need(None not in names and len({isinstance(name, str) for name in names}) < 2, "names of several kinds")


@checks("WordSubset")
def _kept(kept: Any) -> None:
    need(are(kept.numbers, "i8", kept.size) and kept.words is not None, "the numbers of words")


@checks("Categories")
def _categories(categories: Any) -> None:
    need(categories.columns.size == len(categories.values), "one list of categories is needed for each column")


@checks("Cells")
def _cells(cells: Any) -> None:
    many = len(cells.feature)
    need(are(cells.feature, "i8", None) and are(cells.klass, "i4", many), "the cells of a tally")
    need(are(cells.exact, _COUNTS, None, many), "the numbers of a tally")


@checks("Tally")
def _tally(tally: Any) -> None:
    _classes(tally)
    need(all(type(part).__name__ in _PARTS for part in tally.parts.values()), "the parts of a tally")
    need(all(len(part.exact_rows) == tally.classes.size for part in tally.parts.values()), "the rows of a part")


_PARTS = ("Counts", "ExactSums", "NumberCounts", "ExactPairs", "ColumnCounts")


@checks("Ledger")
def _ledger(ledger: Any) -> None:
    _classes(ledger)
    for part in (ledger.parts or {}).values():
        need(_names(part.classes) == _names(ledger.classes), "the classes of a part")
        need(len(part.levels) > 0 and all(type(p).__name__ in _PARTS for p in part.levels), "the parts of a tally")
        need(all(len(level.exact_rows) <= ledger.classes.size for level in part.levels), "the rows of a part")


def _classes(value: Any) -> None:
    need(value.classes.names is not None, "classes without names")
    need(are(value.exact_rows, _COUNTS, value.classes.size), "the rows of classes")


@checks("Counts")
def _counts(counts: Any) -> None:
    need(counts.kind in PLANES, "the kind of counts")
    fitting = WordFeatures if counts.kind in WORDS else {"categories": Categories, "grid": Grid}.get(counts.kind, Index)
    need(isinstance(counts.features, fitting), "the features of counts")
    need(are(counts.exact_rows, _COUNTS, None), "the rows of counts")
    need(len(counts.cells.exact) == len(PLANES[counts.kind]), "the numbers of a tally")


@checks("ExactNumbers")
def _exact_numbers(numbers: Any) -> None:
    shape = numbers.place.shape
    need(are(numbers.place, "i1", *shape) and are(numbers.length, "u1", *shape), "the places of digits")
    need(are(numbers.digits, "u8", None) and numbers.well_formed(), "the digits of sums")


@checks("ExactSums")
def _exact_sums(sums: Any) -> None:
    need(are(sums.exact_rows, _COUNTS, None) and are(sums.present, "i8", None), "the rows of sums")
    need(sums.sums.shape == (3, len(sums.present), sums.features.size), "the sums of classes")


@checks("NumberCounts")
def _number_counts(part: Any) -> None:
    width = part.features.size
    need(are(part.exact_rows, _COUNTS, None) and are(part.levels, "i1", width), "the levels of columns")
    need(are(part.bounds, "i8", width + 1) and are(part.ticks, "u8", None), "the values of columns")
    need(len(part.cells.values) == 1 and part.well_formed(), "the counts of values")
    need(part.sums.features.size == width and len(part.sums.rows) == len(part.rows), "the sums of columns")


@checks("ExactPairs")
def _exact_pairs(sums: Any) -> None:
    need(are(sums.exact_rows, _COUNTS, None) and are(sums.present, "i8", None), "the rows of sums")
    need(sums.sums.shape == (3, len(sums.present), sums.features.size, sums.features.size), "the sums of classes")


@checks("ColumnCounts")
def _column_counts(part: Any) -> None:
    need(part.grid.kind == "grid", "the counts of columns")
    need(len(part.moments.exact_rows) == len(part.grid.exact_rows), "the rows of columns")


@checks("Linear")
def _linear(linear: Any) -> None:
    classes, cells = len(linear.klass), len(linear.delta)
    need(are(linear.klass, "f8", None) and are(linear.base, "f8", classes), "the weights of classes")
    need(are(linear.feature, "f8", None), "the weights of features")
    need(are(linear.cell_feature, "i8", cells) and are(linear.cell_klass, "i4", cells), "the cells of a table")
    need(are(linear.delta, "f8", None), "the cells of a table")
    need(are(linear.starts, "i8", len(linear.feature) + 1), "the cells of a table")


@checks("LinearTable")
def _linear_table(table: Any) -> None:
    classes = table.classes.size
    need(table.numbers is None and table.features.size == len(table.present.feature), "the features of a table")
    constant = type(table.row_constant).__name__
    need(table.row_constant is None or constant == "LogFactorials", "a table with code in it")
    need(are(table.prior, "f8", classes) and len(table.present.klass) == classes, "the classes of a table")
    for linear in (table.impossible, *(table.terms_of_missing if table.missing_terms is not None else ())):
        need(
            linear is None
            or (len(linear.klass) == classes and len(linear.feature) == len(table.present.feature)),
            "the parts of a table",
        )  # fmt: skip


@checks("TextTable")
def _text_table(table: Any) -> None:
    size, every = table.features.size, table.features.words
    need(len(table.linear.present.feature) == size, "the words of a table")
    need(table.few is None, "a table of some words only")
    threads = table.words.threads
    need(threads is None or (type(threads) is int and 1 <= threads <= 1024), "a number of threads")
    need(table.idf is None or are(table.idf, "f8", size), "the weights of words")
    need(table.unknown is None or are(table.unknown, "b1", size), "the words of a table")
    need(table.place is None or are(table.place, "i4", every.size), "the places of words")


@checks("CodeTable")
def _code_table(table: Any) -> None:
    classes, columns = table.classes.size, table.categories.columns.size
    stride = table.weights.shape[1] if table.weights.ndim == 2 else -1
    need(classes <= stride < classes + 4 and are(table.weights, "f8", None, stride), "the weights of categories")
    need(are(table.unseen, "f8", columns, stride) and are(table.prior, "f8", classes), "the weights of categories")
    need(are(table.offsets, "i8", columns) and are(table.sizes, "i8", columns), "the places of categories")
    rows = len(table.weights)
    for values in (table.offsets, table.sizes):
        need(bool((values >= 0).all()) and bool((values <= rows).all()), "the places of categories")
    need(bool((table.offsets + table.sizes <= rows).all()), "the places of categories")
    if table.impossible is not None:
        zeros, unseen = table.impossible
        need(are(zeros, "f8", *table.weights.shape) and are(unseen, "f8", columns, stride), "impossible categories")


@checks("Density")
def _density(table: Any) -> None:
    shape = table.classes.size, table.features.size
    need(hasattr(type(table.family), "log_density"), "the family of densities")
    need(len(table.parameters) == len(table.family.parameter_names), "the parameters of densities")
    need(all(are(values, "f8", *shape) for values in table.parameters), "the parameters of densities")
    need(are(table.prior, "f8", shape[0]), "the prior")


@checks("CovarianceTable")
def _covariance_table(table: Any) -> None:
    classes, features = table.classes.size, table.features.size
    need(are(table.mean, "f8", classes, features) and are(table.prior, "f8", classes), "means and prior")
    need(are(table.covariance, "f8", None, features, features), "covariances")
    need(len(table.covariance) in (1, classes), "covariances")


@checks("Table")
def _table(table: Any) -> None:
    classes = table.classes.size
    need(table.classes.names is not None and are(table.prior, "f8", classes), "the prior of a table")
    need(all(hasattr(type(part), "score") for part in table.blocks.values()), "the tables of blocks")
    need(table.missingness is None or hasattr(table.missingness, "codes"), "the table of missing values")


def _names(index: Any) -> list[Any]:
    return [] if index.names is None else index.names.tolist()


@checks("NumberTable")
def _number_table(table: Any) -> None:
    need(are(table.prior, "f8", table.classes.size), "the prior of numbers")
    plain = [column.name for column in table.columns if column.edges is None]
    binned = [column for column in table.columns if column.edges is not None]
    need(all(are(column.edges, "i8", None) for column in binned), "the bins of numbers")
    need((table.normal is not None) >= bool(plain) and (table.bins is not None) >= bool(binned), "columns of numbers")
    need(table.normal is None or _names(table.normal.features) == plain, "columns of numbers")
    need(table.bins is None or _names(table.bins.categories.columns) == [c.name for c in binned], "bins of numbers")


@checks("Missingness")
def _missingness(presence: Any) -> None:
    need(len(presence.names) == presence.table.categories.columns.size, "columns that may be missing")


def _positive(value: Any) -> bool:
    return bool(0.0 < value <= _LARGEST)


@checks("Temperature")
def _temperature(calibration: Any) -> None:
    need(_positive(calibration.value), "a temperature")


@checks("PerClass")
def _per_class(calibration: Any) -> None:
    need(_positive(calibration.temperature), "a temperature")
    need(are(calibration.offsets, "f8", None) and _finite(calibration.offsets), "the constants of a calibration")


@checks("Isotonic")
def _isotonic(calibration: Any) -> None:
    need(_positive(calibration.temperature), "a temperature")
    for x, y in calibration.steps:
        need(are(x, "f8", None) and are(y, "f8", *x.shape) and len(x) > 0, "the steps of a calibration")
        rising = bool((np.diff(x) > 0).all()) and bool((np.diff(y) >= 0).all())
        within = all(values[0] >= 0.0 and values[-1] <= 1.0 for values in (x, y))
        need(rising and within, "steps of a calibration that do not rise")


@checks("Losses")
def _losses(losses: Any) -> None:
    need(are(losses.sums, "f8", len(TEMPERATURES)) and _finite(losses.sums), "the losses of a calibration")
    need(0.0 <= losses.rows <= _LARGEST, "the rows of a calibration")
    need(abs(losses.log_margins) <= _LARGEST, "the margins of a calibration")


@checks("Calibrated")
def _judged(judged: Any) -> None:
    need(0.0 <= judged.counted <= _LARGEST, "the rows of a calibration")
    need(isinstance(judged.classes, tuple), "the classes of a calibration")


@checks("Choice")
def _choice(choice: Any) -> None:
    need(len(choice.tried) > 0, "the recipes that were tried")
    need(0.0 <= choice.accuracy <= 1.0 and 0.0 < choice.margin <= _LARGEST, "the accuracy of a choice")
    need(choice.texts >= 0, "the texts of a choice")


@checks("Trial")
def _tried(tried: Any) -> None:
    need(0.0 <= tried.right <= tried.rows <= _LARGEST, "the texts that were judged")


@checks("Recipe")
def _recipe(recipe: Any) -> None:
    need(isinstance(recipe.min_df, (int, float)) and 0.0 <= recipe.min_df <= _LARGEST, "the min_df of a recipe")
    need(0.0 <= recipe.alpha <= _LARGEST, "the alpha of a recipe")


def check_numbers(tally: Any) -> None:
    """Look at every number of a tally."""
    for part in tally.parts.values():
        if hasattr(part, "grid"):
            _check_sums(part.moments)
            _check_cells(part.grid)
        elif hasattr(part, "sums"):
            _check_sums(part)
        else:
            _check_cells(part)
        _check_most(tally.exact_rows[: len(part.exact_rows)], part.exact_rows, "more rows with a text than there are")
    for counted in (tally, *tally.parts.values()):
        _check_counts(counted.exact_rows, _MOST_ROWS, "rows")


def _check_counts(counts: Any, most: float, noun: str) -> None:
    """Raise FileError unless counts have their normal form and are between 0 and `most` in total."""
    need(narrowed(counts).dtype == counts.dtype, f"{noun} of another type")
    need(not negative(counts).any(), f"{noun} below zero")
    need(rounded(counts).sum(dtype=np.float64) < most, f"more {noun} than there can be")


def _check_most(most: Any, counts: Any, what: str) -> None:
    """Raise FileError if a count is above its limit."""
    need(not negative(less(*padded(most, counts))).any(), what)


def _check_present(part: Any) -> None:
    present = part.present
    need(bool((np.diff(present) > 0).all()), "classes out of order")
    need(not len(present) or (present[0] >= 0 and present[-1] < len(part.rows)), "moments of no class")


def _check_sums(part: Any) -> None:
    _check_present(part)
    sums = part.single()
    n, values, squares = sums.sums.signs()
    need(bool((n >= 0).all() and (squares >= 0).all()), "squares below zero")
    need(bool(((n > 0) | ((values == 0) & (squares == 0))).all()), "sums of no values")
    need(bool(np.isfinite(sums.n).all()) and not np.isnan(sums.variance).any(), "sums that cannot be")
    need(sums is part or part.possible, "sums of pairs that cannot be")


def _check_cells(counts: Any) -> None:
    """Raise FileError unless cells belong to the classes and features, are in order, and hold valid counts."""
    cells, features = counts.cells, counts.features
    if not len(cells):
        return
    need(cells.klass.min() >= 0 and cells.klass.max() < len(counts.exact_rows), "a cell of no class")
    low, high = int(cells.feature.min()), int(cells.feature.max())
    if hasattr(features, "columns"):
        column, code = cells.feature >> CODE_BITS, cells.feature & MISSING
        need(low >= 0 and int(column.max()) < features.columns.size, "a cell of no column")
        if hasattr(features, "sizes"):
            need(bool(((code == MISSING) | (code < features.sizes[column])).all()), "a cell of no category")
    else:
        need(low >= 0 and high < features.size, "a cell of no feature")
    before, after = cells.feature[:-1], cells.feature[1:]
    sorted_ = (before < after) | ((before == after) & (cells.klass[:-1] < cells.klass[1:]))
    need(bool(sorted_.all()), "cells out of order")
    _check_counts(cells.exact, _LARGEST, "counts")
    most = counts.exact_rows[cells.klass]
    for plane in _ROWS_COUNTED.get(counts.kind, ()):
        _check_most(most, cells.exact[PLANES[counts.kind].index(plane)], "more counts than rows")


def check_table(table: Any, thorough: bool = True) -> None:
    """Check the classes and features that a table names; with `thorough`, check every number of it."""
    if thorough:
        _check_finite(table)
    _check_places(table, thorough)


def _check_finite(value: Any, endless: float = 0.0) -> None:
    """Check all numbers inside a value; `endless` is the one infinity that is allowed."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        known = value[value != endless] if endless else value
        need(_finite(known) and (len(known) > 0 or value.size == 0 or endless > 0), "a number that is none")
    elif isinstance(value, float):
        need(value == value, "a number that is none")
    elif isinstance(value, (tuple, list)):
        for item in value:
            _check_finite(item, endless)
    elif isinstance(value, dict):
        _check_finite(tuple(value.values()))
    elif is_dataclass(value):
        for field in fields(value):
            _check_finite(getattr(value, field.name), _ENDLESS.get(field.name, 0.0))


def _finite(values: Any) -> bool:
    return bool((np.abs(values) <= _LARGEST).all())


def _check_places(table: Any, thorough: bool) -> None:
    if hasattr(table, "blocks"):
        for part in table.blocks.values():
            _check_places(part, thorough)
        if table.missingness is not None:
            _check_places(table.missingness.table, thorough)
    elif hasattr(table, "linear"):
        _check_places(table.linear, thorough)
        if not thorough:
            return
        place, size = table.place, table.features.size
        need(place is None or not len(place) or (place.min() >= -1 and place.max() < size), "the places of words")
        for numbers in (table.features.numbers, table.linear.features.numbers):
            need(not len(numbers) or (numbers.min() >= 0 and numbers.max() < table.features.words.size), "words")
        need(table.idf is None or bool((table.idf >= 0).all()), "the weights of words")
    elif hasattr(table, "present"):
        for linear in (
            table.present,
            table.impossible,
            *(table.terms_of_missing if table.missing_terms is not None else ()),
        ):
            if linear is not None:
                _check_linear(linear, thorough)
    elif hasattr(table, "columns"):
        for part in (table.normal, table.bins):
            if part is not None:
                _check_places(part, thorough)
        for column in table.columns:
            edges = column.edges
            need(edges is None or bool((np.diff(edges) > 0).all()), "the bins of numbers")
    elif hasattr(table, "parameters"):
        need(all(map(_finite, table.parameters[:-1])), "the parameters of densities")
        normal = table.family.as_normal(table.parameters)
        need(normal is None or bool((normal[1] > 0).all()), "a variance that is not above zero")
    elif hasattr(table, "covariance"):
        need(_finite(table.mean), "a mean")
        spread = np.einsum("cii->ci", table.covariance)
        need(bool((spread > 0).all()), "a variance that is not above zero")
        apart, allowed = table.covariance - table.covariance.transpose(0, 2, 1), np.sqrt(spread) * 1e-9
        need(bool((np.abs(apart) <= allowed[:, :, None] * np.sqrt(spread)[:, None]).all()), "a covariance")
        need(all(_finite(whitening) and abs(log) <= _LARGEST for whitening, log in table._whole), "a covariance")
    elif table.impossible is not None:
        need(all(bool((zeros >= 0).all()) for zeros in table.impossible), "impossible categories")


def _check_linear(linear: Any, thorough: bool) -> None:
    starts, klass = linear.starts, linear.cell_klass
    need(starts[0] == 0 and starts[-1] == len(klass) and bool((np.diff(starts) >= 0).all()), "the cells of a table")
    need(not len(klass) or (klass.min() >= 0 and klass.max() < len(linear.klass)), "a cell of no class")
    if thorough:
        need(bool((linear.cell_feature == np.repeat(np.arange(len(starts) - 1), np.diff(starts))).all()), "cells")
