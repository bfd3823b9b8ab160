"""Batches: regroup rows that arrive in pieces of any size into batches of a fixed size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

_BYTES_PER_ITEM = 8


def cut(pieces: Iterable[pa.RecordBatch], rows: int, size: int) -> Iterator[pa.Table]:
    """Regroup pieces into batches of `rows` rows, or of fewer rows if their texts would take more than `size` bytes.

    Each batch is a table of slices, which are not copied into one array: fresh memory costs more than reading into it.

    Where a batch ends depends on the rows alone. A row that is larger than `size` is a batch of its own.
    """
    import numpy as np

    held: list[Any] = []
    held_rows = held_size = 0
    for piece in pieces:
        ends = _ends(piece)
        start = 0
        while start < len(piece):
            room = size - held_size + ends[start]
            fitting = int(np.searchsorted(ends, room, side="right")) - 1
            least = start if held else start + 1
            stop = min(len(piece), start + rows - held_rows, max(fitting, least))
            if stop > start:
                held.append(piece.slice(start, stop - start))
                held_rows += stop - start
                held_size += int(ends[stop] - ends[start])
            if stop < len(piece) or held_rows == rows:
                yield _joined(held)
                held, held_rows, held_size = [], 0, 0
            start = stop
    if held:
        yield _joined(held)


def plain_columns(piece: pa.RecordBatch) -> pa.RecordBatch:
    """Convert all columns to plain values: no dictionaries, no views, no extension types."""
    import pyarrow as pa

    columns = [plain_column(column) for column in piece.columns]
    return pa.RecordBatch.from_arrays(columns, names=piece.schema.names)


def plain_column(column: pa.Array) -> pa.Array:
    """Convert a column to plain values: no dictionary, no view, no extension type."""
    import pyarrow as pa

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return plain_column(column.storage)
    if pa.types.is_dictionary(kind):
        return plain_column(column.dictionary_decode())
    if str(kind) == "string_view":
        return column.cast(pa.large_string())
    if str(kind) == "binary_view":
        return column.cast(pa.large_binary())
    return column


def _joined(slices: list[Any]) -> pa.Table:
    import pyarrow as pa

    return pa.Table.from_batches(slices)


def _ends(piece: pa.RecordBatch) -> npt.NDArray[np.int64]:
    """Return the number of bytes of text before each row, and in all rows."""
    import numpy as np

    total = np.zeros(len(piece) + 1, dtype=np.int64)
    for column in piece.columns:
        offsets = _offsets(column)
        if offsets is not None:
            total += offsets - offsets[0]
    return total


def _offsets(column: pa.Array) -> npt.NDArray[np.int64] | None:
    import numpy as np
    import pyarrow.types as types

    kind = column.type
    short = types.is_string(kind) or types.is_binary(kind)
    large = types.is_large_string(kind) or types.is_large_binary(kind)
    items = types.is_list(kind) or types.is_map(kind)
    if not (short or large or items) or len(column) == 0:
        return None
    stored = np.frombuffer(column.buffers()[1], dtype=np.int64 if large else np.int32)
    offsets = stored[column.offset : column.offset + len(column) + 1].astype(np.int64)
    return offsets * _BYTES_PER_ITEM if items else offsets
