"""Arrow: a document and its arrays as a table of one row, a column for the document and one for each array."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod
from typing import TYPE_CHECKING

from naively.arrays import Array
from naively.errors import InputError
from naively.store.container import OLDEST, VERSION
from naively.store.damage import need
from naively.store.registry import Json

if TYPE_CHECKING:
    import pyarrow as pa

_DOCUMENT = "naively"
"""The name of the column with the document."""


def to_table(document: Json, arrays: Mapping[str, Array]) -> pa.Table:
    """Return a table of one row that holds a document and its arrays, each as a list."""
    import pyarrow as pa

    shapes = {name: list(array.shape) for name, array in arrays.items() if array.ndim != 1}
    head = json.dumps({"version": VERSION, "shapes": shapes, "document": document}, allow_nan=False)
    columns = {_DOCUMENT: pa.array([head])}
    for name, array in arrays.items():
        values = pa.array(array.reshape(-1))
        columns[name] = pa.LargeListArray.from_arrays(pa.array([0, len(values)], pa.int64()), values)
    return pa.table(columns)


def from_table(table: pa.Table) -> tuple[Json, dict[str, Array]]:
    """Return the document and the arrays of a table that `to_table` made; raise InputError if it is no such table."""
    import pyarrow as pa

    if not isinstance(table, pa.Table) or _DOCUMENT not in table.column_names or table.num_rows != 1:
        raise InputError(f"expected a pyarrow.Table of one row made by to_arrow(), with a column {_DOCUMENT!r}")
    document, shapes = _head(str(table[_DOCUMENT][0]))
    arrays = {name: _array(name, table[name]) for name in table.column_names if name != _DOCUMENT}
    for name, shape in shapes.items():
        known = name in arrays and all(type(n) is int and n >= 0 for n in shape)
        need(known and prod(shape) == len(arrays[name]), f"the shape of array {name!r}")
        arrays[name] = arrays[name].reshape(shape)
    return document, arrays


def _head(text: str) -> tuple[Json, dict[str, list[int]]]:
    """Return the document and the shapes of arrays."""
    try:
        head = json.loads(text)
        version, shapes, document = head["version"], head["shapes"], head["document"]
    except (ValueError, RecursionError, KeyError, TypeError):
        raise InputError(f"column {_DOCUMENT!r} of the table cannot be read; expected what to_arrow() made") from None
    if version not in range(OLDEST, VERSION + 1):
        raise InputError(f"the table is of version {version!r} of the format, here {VERSION} is read; update naively")
    need(isinstance(shapes, dict) and all(isinstance(shape, list) for shape in shapes.values()), "shapes of arrays")
    return document, shapes


def _array(name: str, column: pa.ChunkedArray) -> Array:
    import pyarrow as pa

    chunk = column.combine_chunks()
    listed = pa.types.is_list(chunk.type) or pa.types.is_large_list(chunk.type)
    need(listed and chunk.null_count == 0, f"array {name!r} is no list")
    values = chunk.flatten()
    kind = values.type
    plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    need(plain and values.null_count == 0, f"array {name!r} holds {kind}, with {values.null_count} gaps")
    return values.to_numpy(zero_copy_only=False)
