"""Grouped counts: a table with one row for each class, column and value, as a database makes them with GROUP BY.

Rows without a column hold the number of rows of each class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from naively import _core
from naively.arrays import Array, IntArray
from naively.count.cells import Cells
from naively.count.counts import PLANES, WORDS, Counts
from naively.count.exact_numbers import ExactNumbers
from naively.count.exact_sums import ExactSums
from naively.count.tally import Tally
from naively.count.vocabulary import Buckets, Vocabulary
from naively.errors import InputError, NegativeCount
from naively.names import Index, names_array

_NAMES = {"occurrences": "count"}
"""Names of columns that differ from those of planes."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """The rows of such a table that have a column: where they stand, the numbers of their classes, and all columns."""

    classes: Index
    rows: IntArray
    klass: Array
    at: IntArray
    table: pa.Table

    @classmethod
    def of(cls, table: Any, rows_per_class: Mapping[Any, int] | None) -> Grouped:
        table = _arrow_table(table)
        codes, found = _encoded(table, "class")
        labels = found.to_pylist()
        if len(codes) and codes.min() < 0:
            raise InputError(f"row {int(np.argmin(codes))}: the class is missing")
        apart = _nulls(table["column"]) if "column" in table.column_names else np.zeros(len(table), bool)
        if rows_per_class is None:
            if not apart.any():
                raise InputError(
                    "the number of rows of each class is not known: pass rows_per_class={label: rows}, or give a row "
                    "for each class whose column is null (as GROUPING SETS does)"
                )
            listed = np.flatnonzero(apart)
            rows = np.zeros(len(labels), np.int64)
            np.add.at(rows, codes[listed], _whole(table, "count", listed))
            known = {label: n for label, n in zip(labels, rows.tolist(), strict=True) if n}
        else:
            if apart.any():
                raise InputError(f"row {int(np.argmax(apart))}: the column is missing, but rows_per_class is given too")
            known = {label: n for label, rows in rows_per_class.items() if (n := _rows_of(label, rows))}
        return cls._over(known, labels, codes, np.flatnonzero(~apart), table)

    @classmethod
    def _over(cls, known: dict[Any, int], labels: list[Any], codes: Array, at: IntArray, table: pa.Table) -> Grouped:
        if not known:
            raise InputError("no class has any rows, so there is nothing to learn from")
        classes = Index.of(np.sort(names_array(list(known))))
        place = classes.locate(labels) if labels else np.zeros(0, np.int64)
        klass = place[codes[at]] if len(at) else np.zeros(0, np.int64)
        if len(klass) and klass.min() < 0:
            row = int(at[np.argmin(klass)])
            raise InputError(f"row {row}: class {labels[codes[row]]!r} has counts, but no rows")
        assert classes.names is not None
        rows = np.array([known[name] for name in classes.names.tolist()], np.int64)
        return cls(classes, rows, klass.astype(np.int32), at, table)

    def words(self, kind: str, given: Vocabulary | None, ngrams: tuple[int, int] | None) -> Counts:
        """Return counts of the words in the column `value`; those that are not in a `given` vocabulary are left out.

        `ngrams` are the numbers of words that a value may have (None: a value is one name, blanks and all).
        """
        if "column" in self.table.column_names:
            columns = pc.drop_null(pc.unique(self.table["column"])).to_pylist()
            if len(columns) > 1:
                raise InputError(f"texts are one column, got counts of {len(columns)}: {columns[:5]}; choose one")
        codes, names = _encoded(self.table, "value")
        codes = codes[self.at]
        _check_words(names, codes, self.at, ngrams)
        without = codes < 0
        missing = np.zeros(self.classes.size, np.int64)
        np.add.at(missing, self.klass[without], _whole(self.table, "count", self.at[without]))
        if (missing > self.rows).any():
            self._refuse("rows without a text", missing)
        vocabulary = given
        if vocabulary is None:
            table = Vocabulary().table
            number = table.add(names.to_pylist(), ngrams is not None)
            vocabulary = Vocabulary.all_of(table)
        else:
            number = vocabulary.locate(names.to_pylist(), split=ngrams is not None)
        feature = number[codes] if len(names) else np.zeros(len(codes), np.int64)
        known = ~without & (feature >= 0)
        cells = self._cells(kind, feature[known], known)
        rows = self.rows - missing
        count, documents = cells.values[0], cells.values[1]
        self._check(
            cells, vocabulary, (documents < 1) | (documents > count), "more rows with it than occurrences, or none"
        )
        self._check(cells, vocabulary, documents > rows[cells.klass], "more rows with it than there are")
        return Counts(kind, rows, vocabulary, cells)

    def features(self, kind: str, columns: Any) -> Counts:
        """Return counts of the features named in `column`; `columns` are all, in order (None: those there)."""
        index, feature = self._numbered(columns)
        cells = self._cells(kind, feature, np.ones(len(feature), bool))
        if kind == "presence":
            self._check(
                cells, index, cells.values.sum(axis=0) > self.rows[cells.klass], "more rows with it than there are"
            )
        return Counts(kind, self.rows, index, cells)

    def numbers(self, columns: Any) -> ExactSums:
        """Return sums of numbers: of each `value`, `count` times; or `sum` and `squares`, in doubles, of `count`."""
        index, feature = self._numbered(columns)
        count = _whole(self.table, "count", self.at)
        group = self.klass * np.int64(index.size) + feature
        n_groups = self.classes.size * index.size
        if n_groups >= 1 << 31:
            raise InputError(f"{self.classes.size:,} classes times {index.size:,} columns are too many")
        listed = [name for name in ("number", "value") if name in self.table.column_names]
        if listed:
            values = _doubles(self.table, listed[0], self.at)
            known = np.flatnonzero(~np.isnan(values) & (count > 0))
            weight = count[known].astype(np.float64)
            rows = np.zeros(n_groups, np.int64)
            found, fault = ExactSums.counted(values[known, None], group[known].astype(np.int32), rows, Index(1), weight)
            if fault is not None:
                raise InputError(f"row {int(self.at[known[fault[1]]])}: {values[known[fault[1]]]} cannot be counted")
            taken, sums = found.present, ExactNumbers._from(found.sums.flat, (3, len(found.present)))
        else:
            taken, first = np.unique(group, return_index=True)
            if len(taken) < len(group):
                raise InputError("the sums of a class and column are there twice; add them up in the query")
            given = np.array([count, *(_doubles(self.table, name, self.at) for name in ("sum", "squares"))])
            if not np.isfinite(given).all():
                row = int(self.at[int(np.argmin(np.isfinite(given).all(axis=0)))])
                raise InputError(f"row {row}: the sum of numbers, or of their squares, is missing or infinite")
            sums = ExactNumbers.of(given[:, first])
        whole = sums.spread((3, n_groups), (slice(None), taken))
        shape = 3, self.classes.size, index.size
        result = ExactSums(self.rows, index, np.arange(self.classes.size), ExactNumbers._from(whole.flat, shape))
        if (result.n > self.rows[:, None]).any():
            k, j = np.argwhere(result.n > self.rows[:, None])[0].tolist()
            where = f"column {index.name(j)!r} in class {self.classes.name(k)!r}"
            raise InputError(f"{where}: {result.n[k, j]:g} values in {self.rows[k]} rows")
        try:
            result.refuse_impossible(self.classes)
        except NegativeCount as error:
            where = str(error).split("feature ")[-1].partition(";")[0]
            raise InputError(
                f"column {where}: no values have such sums; give value and count if digits are lost"
            ) from None
        return result

    def _numbered(self, columns: Any) -> tuple[Index, IntArray]:
        """Return all features, and the number of the one that each row is about."""
        codes, names = _encoded(self.table, "column")
        if columns is None:
            index, number = _features(names)
        else:
            index = Index.of(list(columns))
            number = index.locate(names.to_pylist())
        if len(number) and number.min() < 0:
            name = names[int(np.argmin(number))].as_py()
            raise InputError(f"column {name!r} has counts, but is none of the given columns")
        return index, number[codes[self.at]] if len(names) else np.zeros(len(self.at), np.int64)

    def _cells(self, kind: str, feature: Array, chosen: Array) -> Cells:
        """Return the sum of these rows (a mask), of which the features are given."""
        at = self.at[chosen]
        planes = [_NAMES.get(plane, plane) for plane in PLANES[kind]]
        values = [
            np.zeros(len(at), np.int64)
            if name == "missing" and name not in self.table.column_names
            else _whole(self.table, name, at)
            for name in planes
        ]
        cells = _core.CellSum(len(planes))
        cells.add(
            feature.astype(np.int64), self.klass[chosen], np.ascontiguousarray(values).reshape(len(planes), len(at))
        )
        return Cells(*cells.take())

    def _check(self, cells: Cells, features: Any, wrong: Array, problem: str) -> None:
        if wrong.any():
            at = int(np.argmax(wrong))
            name, label = features.name(int(cells.feature[at])), self.classes.name(int(cells.klass[at]))
            raise InputError(f"{name!r} in class {label!r}: {problem} ({cells.values[:, at].tolist()})")

    def _refuse(self, what: str, found: Array) -> None:
        at = int(np.argmax(found > self.rows))
        raise InputError(f"class {self.classes.name(at)!r} has {self.rows[at]} rows and {found[at]} {what}")


def grouped_table(tally: Tally) -> pa.Table:
    """Return the counts of a tally of words or of features as such a table."""
    part = tally.part
    if not isinstance(part, Counts):
        raise InputError("sums of numbers would lose digits in such a table; tally_.to_arrow() gives them")
    if part.cells.values.dtype != np.int64 or tally.rows.dtype != np.int64:
        raise InputError("counts of fractional weights have no such table; tally_.to_arrow() gives them")
    cells, n_classes = part.cells, tally.classes.size
    features: Any = part.features
    if isinstance(features, Buckets):
        raise InputError("words that were hashed have no names to list; tally_.to_arrow() gives their counts")
    seen = cells.features()
    names = (
        _text(features.names_of(seen)) if part.kind in WORDS else pa.array([features.name(f) for f in seen.tolist()])
    )
    name = pa.DictionaryArray.from_arrays(pa.array(np.searchsorted(seen, cells.feature).astype(np.int32)), names)
    words = part.kind in WORDS
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(cells), np.int32)), ["text"]) if words else name
    klass = [cells.klass, np.arange(n_classes)]
    count = [cells.values[0], tally.rows]
    nulls = [pa.nulls(n_classes, column.type)]
    if words:
        without = tally.rows - part.rows
        rows = np.flatnonzero(without)
        klass.append(rows)
        count.append(without[rows])
        nulls.append(pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(rows), np.int32)), ["text"]))
    n_other = sum(map(len, klass)) - len(cells)
    columns = {
        "class": pa.array(tally.classes.names).take(pa.array(np.concatenate(klass))),
        "column": pa.chunked_array([column, *nulls]).unify_dictionaries().combine_chunks(),
        "value": pa.chunked_array([name, pa.nulls(n_other, name.type)]) if words else pa.nulls(len(cells) + n_other),
        "count": np.concatenate(count),
    }
    for plane, values in list(zip(part.planes, cells.values, strict=True))[1:]:
        columns[plane] = pa.chunked_array([pa.array(values), pa.nulls(n_other, pa.int64())])
    return pa.table(columns)


def _text(names: list[str]) -> pa.Array:
    try:
        return pa.array(names, pa.string())
    except UnicodeEncodeError:
        raise InputError(
            "a word holds half of a character, which no table of text can; use tally_.to_arrow()"
        ) from None


def _arrow_table(table: Any) -> pa.Table:
    try:
        table = pa.table(table)
    except (TypeError, ValueError) as error:
        raise InputError(f"expected a table of counts, got {type(table).__name__} ({error})") from None
    for name in ("class", "count"):
        if name not in table.column_names:
            raise InputError(f"a table of counts needs a column {name!r}, got {table.column_names}")
    return table


def _nulls(column: Any) -> Array:
    return np.asarray(pc.is_null(column))


def _encoded(table: pa.Table, name: str) -> tuple[Array, pa.Array]:
    """Return the number of each row's name (-1: none), and the names, each once."""
    if name not in table.column_names:
        raise InputError(f"a table of counts needs a column {name!r} here, got {table.column_names}")
    column = table[name]
    if pa.types.is_dictionary(column.type):  # which may hold a name twice
        column = column.cast(column.type.value_type)
    column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    encoded = column.dictionary_encode()
    return encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary


def _whole(table: pa.Table, name: str, at: Array) -> IntArray:
    """Return the numbers of these rows of a column; they must be whole, 0 or more, and there."""
    if name not in table.column_names:
        raise InputError(_NEEDED.get(name, f"a table of counts needs a column {name!r} here, got {table.column_names}"))
    column = table[name]
    if not len(at):
        return np.zeros(0, np.int64)
    if column.null_count and (nulls := _nulls(column)[at]).any():
        raise InputError(f"row {int(at[int(np.argmax(nulls))])}: {name!r} is missing")
    try:
        numbers: IntArray = column.cast(pa.int64()).fill_null(0).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"column {name!r}: counts must be whole numbers ({error})") from None
    if len(at) < len(numbers):
        numbers = numbers[at]
    if numbers.min() < 0:
        row = int(np.argmin(numbers))
        raise InputError(f"row {int(at[row])}: {name!r} is {numbers[row]}, counts are 0 or more")
    return numbers


def _doubles(table: pa.Table, name: str, at: Array) -> Array:
    """Return the numbers of these rows of a column as float64; NaN where there is none."""
    if name not in table.column_names:
        raise InputError(f"numbers need a column 'value', or 'sum' and 'squares'; got {table.column_names}")
    try:
        return table[name].cast(pa.float64()).fill_null(np.nan).to_numpy()[at]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InputError(f"column {name!r}: expected numbers ({error})") from None


_NEEDED = {
    "documents": "counts of words need a column 'documents': the rows with the word, COUNT(DISTINCT row) in SQL",
    "weight": "the table has no column 'weight', which weighting='tfidf' needs: pass weights=False to do without",
}


def _rows_of(label: Any, rows: Any) -> int:
    if isinstance(rows, (bool, np.bool_)) or int(rows) != rows or not 0 <= rows < 1 << 62:
        raise InputError(f"rows_per_class: class {label!r} has {rows!r} rows, expected a whole number")
    return int(rows)


def _check_words(names: pa.Array, codes: Array, at: IntArray, ngrams: tuple[int, int] | None) -> None:
    """Raise InputError for what is no word, or has more or fewer words than are counted."""
    if not (pa.types.is_string(names.type) or pa.types.is_large_string(names.type)):
        if len(names):
            raise InputError(f"row {int(at[0])}: expected a word, got {names[0].as_py()!r}")
        return
    wrong = pc.equal(pc.binary_length(names), 0)
    if ngrams is not None:
        blanks = pc.count_substring(names, " ")
        for odd in (pc.match_substring(names, "  "), pc.starts_with(names, " "), pc.ends_with(names, " ")):
            wrong = pc.or_(wrong, odd)
    _refuse_word(wrong, names, codes, at, "is no word: words are parted by one blank")
    if ngrams is not None:
        other = pc.or_(pc.less(blanks, ngrams[0] - 1), pc.greater(blanks, ngrams[1] - 1))
        _refuse_word(other, names, codes, at, f"is not {ngrams[0]} to {ngrams[1]} words, as the model counts (ngrams=)")


def _refuse_word(wrong: Any, names: pa.Array, codes: Array, at: IntArray, problem: str) -> None:
    if pc.any(wrong).as_py():
        number = int(np.argmax(np.asarray(wrong)))
        raise InputError(f"row {int(at[int(np.argmax(codes == number))])}: {names[number].as_py()!r} {problem}")


def _features(names: pa.Array) -> tuple[Index, IntArray]:
    """Return features by name, sorted, or by number, from 0 to the largest; and the number of each of these names."""
    if pa.types.is_integer(names.type):
        number = names.cast(pa.int64()).to_numpy(zero_copy_only=False)
        if len(number) and not (number.min() >= 0 and number.max() < 1 << 31):
            raise InputError(f"features by number are from 0 to 2**31 - 1, got {number.min()} to {number.max()}")
        return Index(int(number.max(initial=-1)) + 1), number
    if not (pa.types.is_string(names.type) or pa.types.is_large_string(names.type)):
        raise InputError(f"the names of features must be text or whole numbers, got {names.type}")
    order = pc.array_sort_indices(names)
    number = np.empty(len(names), np.int64)
    number[order.to_numpy()] = np.arange(len(names))
    return Index(len(names), np.array(names.take(order).to_pylist(), object)), number
