"""Tallies to and from Arrow tables: numbers in columns, names in the schema's metadata."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from naively.arrays import FIXED, Array, less, narrowed, negative
from naively.count.cells import Cells
from naively.count.column_counts import ColumnCounts
from naively.count.columns import CODE_BITS, MISSING, Categories
from naively.count.counts import PLANES, WORDS, Counts, Features, spread
from naively.count.exact_numbers import ExactNumbers
from naively.count.exact_pairs import ExactPairs
from naively.count.exact_sums import ExactSums
from naively.count.grid import CELLS, Grid
from naively.count.tally import Tally
from naively.count.vocabulary import Buckets, Vocabulary
from naively.errors import InputError
from naively.names import Index

VERSION = 3
_KEY = b"naively"
_AXES = ("feature", "with")
_VOCABULARY = (b"naively.words", b"naively.lengths", b"naively.before", b"naively.last")


def tally_to_arrow(tally: Tally) -> Any:
    """One table for the only part, one row for each cell; for several parts, tables by name, and one of rows."""
    if len(tally.parts) == 1 and not isinstance(tally.part, ColumnCounts):
        [name] = tally.parts
        return _part_to_arrow(tally, name, tally.part)
    tables = {"rows": _table({}, tally, "rows", tally.exact_rows, Index(0), "")}
    for name, part in tally.parts.items():
        if isinstance(part, ColumnCounts):
            tables[f"{name}/moments"] = _part_to_arrow(tally, name, part.moments)
            tables[f"{name}/grid"] = _part_to_arrow(tally, name, part.grid)
        else:
            tables[name] = _part_to_arrow(tally, name, part)
    return tables


def tally_from_arrow(tables: Any) -> Tally:
    if not isinstance(tables, dict):
        head, part = _part_from_arrow(tables)
        return Tally(head.classes, head.rows, {head.part: part})
    if "rows" not in tables:
        raise InputError("expected the tables that to_arrow() made, by name")
    rows = _read_head(tables["rows"], ("rows",))
    parts: dict[str, Any] = {}
    halves: dict[str, dict[str, Any]] = {}  # of columns of numbers, whose moments and grid are apart
    for name, table in tables.items():
        if name == "rows":
            continue
        head, part = _part_from_arrow(table)
        if _names(head.classes) != _names(rows.classes) or not np.array_equal(head.rows, rows.rows):
            raise InputError(f"from Arrow: part {name!r} has other classes or rows than the tally")
        if name == head.part:
            parts[name] = part
        else:
            halves.setdefault(head.part, {})[name.removeprefix(f"{head.part}/")] = part
    for name, half in halves.items():
        moments, grid = half.get("moments"), half.get("grid")
        if not isinstance(moments, ExactSums) or not isinstance(grid, Counts) or len(half) > 2:
            raise InputError(f"from Arrow: part {name!r} needs two tables, moments and grid, got {sorted(half)}")
        parts[name] = ColumnCounts(moments, grid)
    return Tally(rows.classes, rows.rows, parts)


def _part_to_arrow(tally: Tally, name: str, part: Any) -> pa.Table:
    if isinstance(part, Counts):
        columns = {"feature": part.cells.feature, "class": part.cells.klass}
        counts = part.cells.exact
        if counts.dtype == FIXED:
            columns |= dict(zip(part.planes, counts["whole"], strict=True))
            columns |= {_fraction(plane): values for plane, values in zip(part.planes, counts["fraction"], strict=True)}
        else:
            columns |= dict(zip(part.planes, counts, strict=True))
        return _table(columns, tally, part.kind, part.exact_rows, part.features, name)
    return _table(_exact_columns(part), tally, type(part).__name__, part.exact_rows, part.features, name)


def _part_from_arrow(table: pa.Table) -> tuple[Head, Any]:
    head = _read_head(table, (*PLANES, *_EXACT))
    return head, _exact_in(table, head) if head.kind in _EXACT else _counts_in(table, head)


def _exact_columns(sums: ExactSums) -> dict[str, Any]:
    """The digits of each sum, from the place of the first one on, a row for each class and feature, or pair of them."""
    klass, *features = (v.ravel() for v in np.indices(sums.sums.shape[1:]))
    columns: dict[str, Any] = {"class": sums.present[klass], **dict(zip(_AXES, features, strict=False))}
    for at, name in enumerate(_SUMS):
        place, length, digits = sums.sums[at].flat
        ends = np.concatenate([[0], np.cumsum(length, dtype=np.int64)]).astype(np.int32)
        columns[f"{name} place"] = place
        columns[f"{name} digits"] = pa.ListArray.from_arrays(pa.array(ends), pa.array(digits))
    return columns


_SUMS = ("weights", "values", "squares")
_EXACT = {"ExactSums": ExactSums, "ExactPairs": ExactPairs}


def _exact_in(table: pa.Table, head: Head) -> ExactSums:
    features = head.features
    assert isinstance(features, Index)
    kind = _EXACT[head.kind]
    axes = _AXES[: 1 + (kind is ExactPairs)]
    columns = _read_columns(table, ("class", *axes, *(f"{name} place" for name in _SUMS)))
    klass, numbers, places = columns[0], columns[1 : 1 + len(axes)], columns[1 + len(axes) :]
    _check_numbers(numbers[0], klass, head.classes, features)
    present = np.unique(klass)
    shape = len(present), *[features.size] * len(axes)
    _check_grid([np.searchsorted(present, klass), *numbers], shape)
    sums = [_exact_numbers(table, name, place, shape) for name, place in zip(_SUMS, places, strict=True)]
    found = kind(head.known, features, present, ExactNumbers.stacked(sums))
    found.refuse_impossible(head.classes)
    return found


def _exact_numbers(table: pa.Table, name: str, place: Array, shape: tuple[int, ...]) -> ExactNumbers:
    lists = table[f"{name} digits"].combine_chunks() if f"{name} digits" in table.column_names else None
    if lists is None or lists.type != pa.list_(pa.uint64()) or lists.null_count or lists.values.null_count:
        raise InputError(f"from Arrow: column '{name} digits' must hold lists of whole numbers without a sign")
    length = np.diff(lists.offsets.to_numpy())
    if (np.abs(place) > 127).any() or (length > 255).any():
        raise InputError(f"from Arrow: column '{name} place' or '{name} digits' is out of range")
    digits = lists.flatten().to_numpy(zero_copy_only=False).astype(np.uint64)
    numbers = ExactNumbers(place.astype(np.int8).reshape(shape), length.astype(np.uint8).reshape(shape), digits)
    if not numbers.well_formed():
        raise InputError(f"from Arrow: column '{name} digits' holds sums that are not written as they should be")
    return numbers


def _counts_in(table: pa.Table, head: Head) -> Counts:
    feature, klass, *planes = _read_columns(table, ("feature", "class", *PLANES[head.kind]))
    _check_numbers(feature, klass, head.classes, head.features)
    values = np.array(planes)
    if values.dtype != np.int64:
        raise InputError("tally from Arrow: counts must be whole numbers; their fractions have columns of their own")
    if _fraction(PLANES[head.kind][0]) in table.column_names:
        fractions = _read_columns(table, tuple(map(_fraction, PLANES[head.kind])), np.uint64)
        fixed = np.empty(values.shape, FIXED)
        fixed["whole"], fixed["fraction"] = values, fractions
        values = narrowed(fixed)
    if not ((np.diff(feature) > 0) | ((np.diff(feature) == 0) & (np.diff(klass) > 0))).all():
        raise InputError("tally from Arrow: cells must be sorted by feature, then class, each once")
    if negative(values).any():
        raise InputError("tally from Arrow: counts must be 0 or more")
    cells = Cells(feature, klass.astype(np.int32), np.ascontiguousarray(values))
    return Counts(head.kind, head.known, head.features, cells)


def _check_grid(places: list[Array], shape: tuple[int, ...]) -> None:
    """Raise where there is not one row for each class and feature, in order."""
    if len(places[0]) != math.prod(shape) or not all(
        np.array_equal(a, b.ravel()) for a, b in zip(places, np.indices(shape), strict=True)
    ):
        raise InputError("moments from Arrow: one row is needed for each class and feature, in order")


def _table(columns: dict[str, Any], tally: Tally, kind: str, known: Array, features: Features, part: str) -> pa.Table:
    """A table of some columns; its head tells the classes and rows of the tally, and the `known` rows of the part."""
    head: dict[str, Any] = {"version": VERSION, "kind": kind, "part": part, "classes": _index_out(tally.classes)}
    head |= {"rows": tally.exact_rows.tolist(), "known": spread(known, tally.classes.size, None).tolist()}
    vocabulary: dict[bytes, bytes] = {}
    if isinstance(features, Vocabulary):
        head["words"] = features.size
        words, *numbers = features.to_arrays()
        vocabulary = dict(zip(_VOCABULARY, [words, *(n.astype("<i8").tobytes() for n in numbers)], strict=True))
    elif isinstance(features, Buckets):
        head["buckets"] = features.size
        head["names"] = {str(bucket): vote for bucket, vote in features.votes.items()}
    elif isinstance(features, Categories):
        head["columns"] = _index_out(features.columns)
        head["categories"] = [_index_out(v) for v in features.values]
    elif isinstance(features, Grid):
        head["grid"] = _index_out(features.columns)
    else:
        head["features"] = _index_out(features)
    table = pa.table({n: v if isinstance(v, pa.Array) else pa.array(v) for n, v in columns.items()})
    return table.replace_schema_metadata({_KEY: json.dumps(head).encode(), **vocabulary})


def _index_out(index: Index) -> dict[str, Any]:
    if index.names is None:
        return {"size": index.size}
    kind = index.names.dtype.kind
    if kind not in "OUbiuf":
        raise InputError(f"names of type {index.names.dtype} cannot be written; use text or numbers")
    return {"names": index.names.tolist(), "type": "O" if kind == "O" else index.names.dtype.str}


def _index_in(entry: dict[str, Any]) -> Index:
    if "size" in entry:
        size = entry["size"]
        if not isinstance(size, int) or not 0 <= size < 1 << 32:
            raise InputError(f"from Arrow: {size!r} is no number of names")
        return Index(size)
    names = entry["names"]
    kind = np.dtype(entry["type"])
    if not isinstance(names, list) or kind.kind not in "OUbiuf" or len(set(names)) != len(names):
        raise InputError("from Arrow: names must be a list without repetition")
    array = np.array(names, dtype=kind)
    if array.tolist() != names or len(set(array.tolist())) != len(names):
        raise InputError(f"from Arrow: names do not fit their type {kind}")
    return Index(len(names), array)


@dataclass(frozen=True, eq=False)
class Head:
    """The metadata of a table."""

    kind: str
    part: str
    classes: Index
    rows: Array
    known: Array
    features: Features


def _read_head(table: pa.Table, kinds: Sequence[str]) -> Head:
    if not isinstance(table, pa.Table) or _KEY not in (table.schema.metadata or {}):
        raise InputError("expected a pyarrow.Table made by to_arrow(), with its metadata")
    try:
        head = json.loads(table.schema.metadata[_KEY])
        version, kind = head["version"], head["kind"]
        if version != VERSION:
            raise InputError(f"from Arrow: version {version!r} is not known here, only {VERSION}; update naively")
        if kind not in kinds:
            raise InputError(f"from Arrow: holds {kind!r}, expected one of {list(kinds)}")
        part, classes = str(head["part"]), _index_in(head["classes"])
        rows, known = (_rows_in(head[name], classes) for name in ("rows", "known"))
        features: Features
        if "words" in head:
            features = _vocabulary_in(table.schema.metadata)
            if features.size != head["words"]:
                raise InputError(f"from Arrow: {head['words']!r} words were promised, {features.size} are there")
        elif "buckets" in head:
            features = _buckets_in(head)
        elif "columns" in head:
            columns = _index_in(head["columns"])
            features = Categories(columns, tuple(_index_in(v) for v in head["categories"]))
            if len(features.values) != columns.size:
                raise InputError("from Arrow: one list of categories is needed for each column")
        elif "grid" in head:
            features = Grid(_index_in(head["grid"]))
        else:
            features = _index_in(head["features"])
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError, SyntaxError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"from Arrow: the metadata is damaged ({error})") from None
    if (kind == "categories") != isinstance(features, Categories):
        raise InputError("from Arrow: categories belong to a tally of categories, and to no other")
    if (kind == "grid") != isinstance(features, Grid):
        raise InputError("from Arrow: a grid belongs to a tally on a grid, and to no other")
    if (kind in WORDS) != isinstance(features, (Vocabulary, Buckets)):
        raise InputError("from Arrow: a vocabulary belongs to a tally of words, and to no other")
    if negative(less(rows, known)).any():
        raise InputError("from Arrow: more rows are known of a class than it has")
    return Head(kind, part, classes, rows, known, features)


def _rows_in(listed: Any, classes: Index) -> Array:
    """Rows of each class: whole numbers, or pairs of a fraction in units of 2^-64 and a whole number."""
    pairs = [row if isinstance(row, list) else [0, row] for row in listed] if isinstance(listed, list) else []
    sound = all(len(pair) == 2 and all(type(n) is int and n >= 0 for n in pair) for pair in pairs)
    if len(pairs) != classes.size or not sound or any(part >> 64 or whole >> 63 for part, whole in pairs):
        raise InputError("from Arrow: one number of rows is needed for each class")
    return narrowed(np.array([tuple(pair) for pair in pairs], FIXED))


def _fraction(plane: str) -> str:
    """The name of the column with the fractions of a plane, in units of 2^-64."""
    return f"{plane} fraction"


def _names(index: Index) -> list[Any]:
    return list(range(index.size)) if index.names is None else index.names.tolist()


def _vocabulary_in(metadata: dict[bytes, bytes]) -> Vocabulary:
    words, *numbers = (metadata[key] for key in _VOCABULARY)
    words.decode("utf-8", "surrogatepass")
    return Vocabulary.from_arrays(words, *(np.frombuffer(n, "<i8").astype(np.int64) for n in numbers))


def _buckets_in(head: dict[str, Any]) -> Buckets:
    size, votes = head["buckets"], {int(bucket): (name, lead) for bucket, (name, lead) in head["names"].items()}
    sound = isinstance(size, int) and 1 <= size < 1 << 31
    if not sound or not all(
        0 <= b < size and isinstance(name, str) and isinstance(lead, int) and lead >= 0
        for b, (name, lead) in votes.items()
    ):
        raise InputError("from Arrow: the buckets are damaged")
    return Buckets(size, (votes,))


def _read_columns(table: pa.Table, names: Sequence[str], whole: type = np.int64) -> list[Array]:
    """Columns of numbers; whole ones as this type."""
    if len(set(table.column_names)) != len(table.column_names):
        raise InputError(f"from Arrow: a column stands there twice; it has {table.column_names}")
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise InputError(f"from Arrow: column {missing[0]!r} is missing; it has {table.column_names}")
    columns = [table[name].combine_chunks() for name in names]
    for name, column in zip(names, columns, strict=True):
        if column.null_count or not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            raise InputError(f"from Arrow: column {name!r} must hold numbers without gaps, got {column.type}")
    arrays = [column.to_numpy(zero_copy_only=False) for column in columns]
    return [a.astype(whole if a.dtype.kind in "iu" else np.float64) for a in arrays]


def _check_numbers(feature: Array, klass: Array, classes: Index, features: Features) -> None:
    if feature.dtype.kind != "i" or klass.dtype.kind != "i":
        raise InputError("from Arrow: features and classes must be whole numbers")
    if len(klass) and (klass.min() < 0 or klass.max() >= classes.size):
        raise InputError("from Arrow: a cell names a class that there is not")
    if isinstance(features, Categories):
        column, code = feature >> CODE_BITS, feature & MISSING
        if len(column) and (column.min() < 0 or column.max() >= features.columns.size):
            raise InputError("from Arrow: a cell names a column that there is not")
        if ((code != MISSING) & (code >= features.sizes[column])).any():
            raise InputError("from Arrow: a cell names a category that there is not")
    elif isinstance(features, Grid):
        column, cell = feature >> CODE_BITS, feature & MISSING
        if len(column) and (column.min() < 0 or column.max() >= features.columns.size):
            raise InputError("from Arrow: a cell names a column that there is not")
        if ((cell != MISSING) & (cell >= CELLS)).any():
            raise InputError("from Arrow: a cell of the grid that there is not")
    elif len(feature) and (feature.min() < 0 or feature.max() >= features.size):
        raise InputError("from Arrow: a cell names a feature that there is not")
