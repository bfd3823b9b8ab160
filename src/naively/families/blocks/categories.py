"""Columns of categories: text, whole numbers, flags, and parts of dates."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array, alike, from_core, nonzero
from naively.count.cells import Cells
from naively.count.columns import CODE_BITS, MISSING, Categories
from naively.count.counts import Counts
from naively.count.ledger import PartLedger
from naively.errors import InputError, warn_caller
from naively.families.base import rows_per_class
from naively.families.blocks.base import TableBlock, changed, checked, nothing
from naively.families.categorical import LARGEST_TABLE, Categorical, trimmed
from naively.names import Index
from naively.read.codes import CodeRows
from naively.read.columns import (
    BOOLEAN,
    CATEGORY,
    NOTHING,
    NUMBER,
    TEXT,
    TIME,
    chunks,
    coded,
    is_plain_text,
    joined_buffers,
    missing,
    numbers,
)
from naively.read.frame import Frame
from naively.read.matrix import ROW, Fault, RowError, error_for
from naively.read.texts import flags_in
from naively.score.table import CodeTable
from naively.smooth.rules import Smoothing
from naively.store.registry import stored
from naively.threads import threads

HOLE = np.iinfo(np.int32).min
_PART_VALUES = {"month": range(1, 13), "weekday": range(1, 8), "hour": range(24)}
_IDENTIFIER_SIZE = 10_000
"""A column with more categories than this, most of them seen once, is an identifier."""


Counted = tuple[Array, Array, Array]


@stored()
@dataclass(frozen=True)
class CategoryColumn:
    """One column as categories; `part` is that of a date, `threshold` that of a flag."""

    source: str
    part: str | None = None
    threshold: float | None = None
    boolean: bool = False

    @property
    def name(self) -> str:
        return self.source if self.part is None else f"{self.source}.{self.part}"

    def known(self) -> Index:
        """The categories that exist before any row is seen."""
        if self.part is not None:
            return Index.of(np.array(_PART_VALUES[self.part]))
        return Index.of(np.array([False, True])) if self.boolean or self.threshold is not None else Index(0)

    def coded(self, values: Any, known: Index, who: str) -> _core.Column:
        """Return the code of each row; an unknown category gets one more than the last code."""
        if self.part is not None or self.threshold is not None:
            return _core.Column.of_codes(self._fixed_codes(values, who))
        kind = _kind_of_names(known)
        if kind != TEXT or not is_plain_text(values):
            values, kind = self._plain(values, known)
        if kind == NOTHING:
            return _core.Column.of_codes(np.full(len(values), HOLE, np.int32))
        if is_plain_text(values):
            return _core.Column.of_texts(*joined_buffers(values), known.texts)
        if kind == NUMBER:
            return _core.Column.of_numbers(numbers(values), known.whole)
        codes, distinct = _coded(values, kind)
        places = known.locate(distinct)
        return _core.Column.of_codes(_moved(codes, np.where(places < 0, known.size, places)))

    def count(
        self, values: Any, known: Index, codes: Array, classes: int, weight: Array | None, who: str
    ) -> tuple[Counted, Index]:
        """Count each category in each class (a missing value is the category MISSING); return the categories too."""
        if self.part is not None or self.threshold is not None:
            return counted(self._fixed_codes(values, who), known.size, codes, classes, weight), known
        values, kind = self._plain(values, known)
        if kind == NOTHING:
            return counted(np.full(len(values), HOLE, np.int32), known.size, codes, classes, weight), known
        own, distinct = _whole_codes(numbers(values), self.source, who) if kind == NUMBER else _coded(values, kind)
        known = extended(known, distinct)
        return counted(_moved(own, known.locate(distinct)), known.size, codes, classes, weight), known

    def whole_numbers(self, values: Any, known: Index) -> Array | None:
        """Return the column as numbers, if its categories are numbers."""
        if self.part is not None or self.threshold is not None:
            return None
        values, kind = self._plain(values, known)
        return numbers(values) if kind == NUMBER else None

    def _plain(self, values: Any, known: Index) -> tuple[Any, str]:
        """Return the column and the kind of its categories; raise if known categories are of another kind."""
        values, kind = checked(self.source, values, (TEXT, CATEGORY, NUMBER, BOOLEAN), "categories")
        if kind == CATEGORY and _whole_dictionary(values):
            values, kind = values.cast(values.type.value_type), NUMBER
        before = _kind_of_names(known)
        if kind == NOTHING or before in (NOTHING, TEXT if kind == CATEGORY else kind):
            return values, kind
        if missing(values).all():
            return nothing(len(values)), NOTHING
        raise changed(self.source, f"categories that are {_KINDS[before]}", kind)

    def _fixed_codes(self, values: Any, who: str) -> Array:
        """Return the codes of parts of dates or of flags, whose categories are fixed."""
        return self._date_codes(values) if self.part is not None else self._flag_codes(values, who)

    def _date_codes(self, values: Any) -> Array:
        values, kind = checked(self.source, values, (TIME,), "points in time")
        if kind == NOTHING:
            return np.full(len(values), HOLE, np.int32)
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = values.type
        if (pa.types.is_date(kind) and self.part == "hour") or (pa.types.is_time(kind) and self.part != "hour"):
            return np.full(len(values), HOLE, np.int32)  # a date has no hour, an hour no month
        try:
            if self.part == "hour":
                found = pc.hour(values)
            elif self.part == "month":
                found = pc.subtract(pc.month(values), 1)
            else:
                found = pc.day_of_week(values)
        except pa.ArrowInvalid as error:  # an unknown time zone
            raise InputError(f"column {self.source!r}: {kind} cannot be read ({error}); convert it") from None
        return found.fill_null(HOLE).to_numpy(zero_copy_only=False).astype(np.int32)

    def _flag_codes(self, values: Any, who: str) -> Array:
        values, kind = checked(self.source, values, (NUMBER, BOOLEAN), "a flag")
        if kind == NOTHING:
            return np.full(len(values), HOLE, np.int32)
        if kind == BOOLEAN:
            return _boolean_codes(values)
        x = numbers(values)
        if np.isinf(x).any():
            row = int(np.argmax(np.isinf(x)))
            raise error_for((Fault.INFINITE, row, 0), x[:, None], Index.of([self.source]), who, "numbers")
        return np.where(np.isnan(x), HOLE, x > self.threshold).astype(np.int32)


_KINDS = {BOOLEAN: "true and false", TEXT: "text", NUMBER: "numbers"}


def _kind_of_names(known: Index) -> str:
    if known.names is None or not known.size:
        return NOTHING
    return {"b": BOOLEAN, "O": TEXT, "U": TEXT}.get(known.names.dtype.kind, NUMBER)


def _whole_dictionary(values: Any) -> bool:
    import pyarrow as pa

    return pa.types.is_integer(values.type.value_type)


def _boolean_codes(values: Any) -> Array:
    parts = [np.zeros(0, np.int32)]
    for chunk in chunks(values):
        codes = flags_in(chunk, 1).astype(np.int32)
        if chunk.null_count:
            codes[~flags_in(chunk, 0)] = HOLE
        parts.append(codes)
    return np.concatenate(parts)


def _coded(values: Any, kind: str) -> tuple[Array, Array]:
    """Return the place of each value among the distinct ones (below 0: missing), and the distinct values."""
    if kind == BOOLEAN:
        return _boolean_codes(values), np.array([False, True])
    codes, listed = coded(values)
    distinct = np.empty(len(listed), object)
    distinct[:] = listed
    return codes, distinct


def extended(known: Index, distinct: Array) -> Index:
    if not len(distinct):
        return known
    return known.extended(distinct.tolist()) if known.size else Index.of(np.sort(distinct))


def with_missing(code: Array, klass: Array, value: Array, missing_sums: Array) -> Counted:
    """Append the counts of missing values to the counts of codes."""
    classes = np.flatnonzero(nonzero(missing_sums))
    return (
        np.concatenate([code, np.full(len(classes), MISSING)]),
        np.concatenate([klass, classes]),
        np.concatenate(alike([value, missing_sums[classes]])),
    )


def counted(column: Array, size: int, codes: Array, classes: int, weight: Array | None) -> Counted:
    """Count each code of a column in each class."""
    if (size + 1) * classes > LARGEST_TABLE:  # pairs that are there, not all that could be
        code = np.where(column == HOLE, MISSING, column.astype(np.int64))
        pairs, at = np.unique(code * classes + codes, return_inverse=True)
        return pairs // classes, pairs % classes, rows_per_class(at.astype(np.int32), weight, len(pairs))
    sums = from_core(_core.count_column(column, codes, classes, weight, size))
    code, klass = np.nonzero(nonzero(sums[:-1]))
    return with_missing(code, klass, sums[code, klass], sums[-1])


def _day_with(month: int | None, weekday: int | None, hour: int | None) -> datetime | None:
    """Return a point in time with these parts; None if there are none."""
    if month is None and weekday is None and hour is None:
        return None
    first = datetime(2024, month or 1, 1, hour or 0)
    return first + timedelta(days=0 if weekday is None else (weekday - first.isoweekday()) % 7)


def _whole_codes(x: Array, name: str, who: str) -> tuple[Array, Array]:
    """Return the place of each whole number among the distinct ones (-1: missing), and the distinct ones, sorted."""
    codes, distinct, impossible, narrow = _core.whole_codes(x)
    if impossible >= 0:
        raise _not_whole(x, impossible, name, who)
    if narrow:
        return codes, distinct
    known = ~np.isnan(x)
    found, places = np.unique(x[known].astype(np.int64), return_inverse=True)
    codes = np.full(len(x), -1, np.int32)
    codes[known] = places
    return codes, found


def _not_whole(x: Array, row: int, name: str, who: str) -> RowError:
    if np.isinf(x[row]):
        return error_for((Fault.INFINITE, row, 0), x[:, None], Index.of([name]), who, "whole numbers")
    return RowError(
        f"{who}: row {ROW}, column {name!r} is {x[row]}: categories are text or whole numbers; "
        f"take the column for numbers instead (Python: columns={{{name!r}: Number()}}), leave it out (command line: "
        f"--drop {name}), or convert it to text",
        row,
    )


def _moved(codes: Array, places: Array) -> Array:
    """Renumber codes; those below 0 are missing."""
    if (places == np.arange(len(places))).all():
        return np.where(codes < 0, HOLE, codes) if codes.min(initial=0) < 0 else codes
    return np.append(places, HOLE).astype(np.int32)[np.maximum(codes, -1)]


@stored()
@dataclass(frozen=True)
class CategoryBlock(TableBlock):
    """The columns of categories of a table."""

    who: str
    columns: tuple[CategoryColumn, ...]

    name = "categories"
    tables = (CodeTable,)

    @cached_property
    def family(self) -> Categorical:
        return Categorical(self.who, unseen="ignore")

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column.source for column in self.columns))

    def no_features(self) -> Categories:
        names = [column.name for column in self.columns]
        return Categories(Index.of(names), tuple(column.known() for column in self.columns))

    def count(self, frame: Frame, codes: Array, classes: Index, features: Categories, weight: Array | None) -> Counts:
        features = self._widened(features)
        found = self._count_numbers(frame, codes, classes.size, features, weight)
        for j, column in enumerate(self.columns):
            if j not in found:
                values = frame.get(column.source)
                found[j] = column.count(values, features.values[j], codes, classes.size, weight, self.who)
        parts = [found[j] for j in range(len(self.columns))]
        feature = np.concatenate([part[0] | (j << CODE_BITS) for j, (part, _) in enumerate(parts)])
        klass = np.concatenate([part[1] for part, _ in parts])
        values = np.concatenate(alike([part[2] for part, _ in parts]))
        known = tuple(index for _, index in parts)
        if any(a is not b for a, b in zip(known, features.values, strict=True)):
            features = Categories(features.columns, known)
        rows = rows_per_class(codes, weight, classes.size)
        return Counts("categories", rows, features, Cells.sorted(feature, klass, values[None]))

    def _widened(self, features: Categories) -> Categories:
        """Return the features with the columns of the block that came later than those, which are the first ones."""
        late = self.columns[len(features.values) :]
        if not late:
            return features
        columns = Index.of([column.name for column in self.columns])
        return Categories(columns, (*features.values, *(column.known() for column in late)))

    def _count_numbers(
        self, frame: Frame, codes: Array, classes: int, features: Categories, weight: Array | None
    ) -> dict[int, tuple[Counted, Index]]:
        """Count the columns whose categories are whole numbers that lie close together."""
        columns = {
            j: x
            for j, column in enumerate(self.columns)
            if (x := column.whole_numbers(frame.get(column.source), features.values[j])) is not None
        }
        n_threads = threads(len(frame) * len(columns))
        found: dict[int, tuple[Counted, Index]] = {}
        for j, part in zip(
            columns, _core.count_whole(list(columns.values()), codes, classes, weight, n_threads), strict=True
        ):
            (number, klass, value), missing_sums, impossible, narrow = part
            if impossible < 0 and narrow:
                known = extended(features.values[j], np.unique(number))
                counts = from_core(value), from_core(missing_sums)
                found[j] = with_missing(known.locate(number), klass, *counts), known
        return found

    def read(self, frame: Frame, features: Categories) -> CodeRows:
        values = [frame.get(column.source) for column in self.columns]

        def refuse(fault: tuple[int, int, int]) -> Exception:
            _, row, j = fault
            return _not_whole(numbers(values[j]), row, self.columns[j].source, self.who)

        coded_columns = zip(self.columns, values, features.values, strict=True)
        return CodeRows([column.coded(v, known, self.who) for column, v, known in coded_columns], len(frame), refuse)

    def rule(self, smoothing: Smoothing) -> Smoothing:
        return smoothing

    def missing_counts(self, ledger: PartLedger, rows: Array) -> Array:
        first = [next(j for j, c in enumerate(self.columns) if c.source == source) for source in self.sources]
        wanted = (np.array(first, np.int64) << CODE_BITS) | MISSING
        cells = ledger.take(wanted)
        result = np.zeros((len(wanted), len(rows)))
        result[cells.feature, cells.klass] = cells.values[0]
        return result

    def features_of(self, table: Any) -> Categories:
        return table.categories

    def ignored(self, table: Any) -> set[str]:
        return {table.categories.columns.name(j) for j in np.flatnonzero(table.sizes <= 1).tolist()}

    def columns_of(self, drawn: Array, features: Categories) -> dict[str, Any]:
        """Replace codes by categories, and parts of a date by a day that has them."""
        result: dict[str, Any] = {}
        dates: dict[str, dict[str, list[Any]]] = {}
        for j, (column, known) in enumerate(zip(self.columns, features.values, strict=True)):
            names = [] if known.names is None else known.names.tolist()
            values = [None if code < 0 else names[code] for code in drawn[:, j].tolist()]
            result[column.source] = values
            if column.part is not None:
                dates.setdefault(column.source, {})[column.part] = values
        for source, parts in dates.items():
            day_parts = [parts.get(part, [None] * len(drawn)) for part in ("month", "weekday", "hour")]
            result[source] = [_day_with(*day) for day in zip(*day_parts, strict=True)]
        return result

    def tidied(self, ledger: PartLedger, forgotten: Any) -> PartLedger:
        features_in = forgotten.cells.features()
        if len(ledger.take(features_in).features()) == len(features_in):
            return ledger
        return PartLedger(
            ledger.classes, (trimmed(ledger.total, np.array([column.known().size for column in self.columns])),)
        )

    def warn(self, features: Categories, rows: float) -> None:
        """Warn of a column whose values are nearly all different: an identifier of rows does not predict classes."""
        for column, known in zip(self.columns, features.values, strict=True):
            if known.size > _IDENTIFIER_SIZE and known.size > rows / 2:
                warn_caller(
                    f"column {column.name!r} has {known.size:_} categories in {rows:_.0f} rows: this is an identifier, "
                    "which tells nothing of new rows and takes much room; leave it out: "
                    f"columns={{{column.name!r}: None}}",
                )
