"""Sampling: rows drawn at random from a stream, the same for any division into batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

_BYTES = 64 << 20
_FEWEST = 100


class Sample:
    """A random sample of a stream: the rows whose numbers have the smallest hashes.

    >>> import pyarrow as pa
    >>> sample = Sample(2)
    >>> sample.see(pa.table({"x": [0, 1, 2]})); sample.see(pa.table({"x": [3, 4]}))
    >>> sample.rows()["x"].to_pylist(), sample.seen
    ([2, 4], 5)
    """

    def __init__(self, most: int):
        self.seen = 0
        self._most = most
        self._limit = np.uint64(0xFFFFFFFFFFFFFFFF)
        self._kept: list[tuple[Any, Any]] = []

    def see(self, batch: Any) -> None:
        """Take in the next rows of the stream."""
        hashes = _hashed(self.seen, batch.num_rows)
        self.seen += batch.num_rows
        if self._most == 0:
            return
        self._lower_limit(hashes)
        wanted = np.flatnonzero(hashes <= self._limit)
        if not len(wanted):
            return
        whole = len(wanted) == batch.num_rows
        self._kept.append((hashes[wanted], _plain_texts(batch) if whole else copied_rows(batch, wanted)))
        if sum(batch.nbytes for _, batch in self._kept) > 2 * _BYTES and self._most > _FEWEST:
            self._most //= 2  # rows are long: fewer of them will do
        if sum(len(hashes) for hashes, _ in self._kept) > 2 * self._most:
            self._thin_out()

    def _lower_limit(self, *more: Any) -> None:
        """Lower the largest hash that a wanted row may have, so that no other rows are copied."""
        all_hashes = np.concatenate([*(hashes for hashes, _ in self._kept), *more])
        if len(all_hashes) > self._most:
            self._limit = np.partition(all_hashes, self._most - 1)[self._most - 1]

    def _thin_out(self) -> None:
        self._lower_limit()
        fewer = []
        for hashes, batch in self._kept:
            wanted = np.flatnonzero(hashes <= self._limit)
            if len(wanted) == len(hashes):
                fewer.append((hashes, batch))
            elif len(wanted):
                fewer.append((hashes[wanted], copied_rows(batch, wanted)))
        self._kept = fewer

    def rows(self) -> Any:
        """Return the sampled rows, in the order of the stream; None if there are none."""
        import pyarrow as pa

        if self._kept:
            self._thin_out()
        return pa.concat_tables([batch for _, batch in self._kept]) if self._kept else None


def different_rows(table: Any) -> tuple[Any, Any]:
    """Return the number of the first of each group of identical rows, in order, and the sizes of the groups."""
    from naively.read.row_keys import content_keys

    columns = dict(zip(table.column_names, table.columns, strict=True))
    keys = content_keys(columns, np.zeros(table.num_rows, np.uint64))
    _, first, copies = np.unique(keys, return_index=True, return_counts=True)
    order = np.argsort(first)
    return first[order], copies[order]


def copied_rows(batch: Any, rows: Any) -> Any:
    """Return copies of the rows with these numbers."""
    import pyarrow as pa

    if all(pa.types.is_large_string(field.type) or pa.types.is_string(field.type) for field in batch.schema):
        return pa.Table.from_batches(list(_pieces(batch, rows)))
    # The numbers are passed as a buffer: pyarrow would import pandas to convert a NumPy array.
    numbers = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows.astype(np.int64))])
    return _plain_texts(batch.take(numbers))


def _plain_texts(batch: Any) -> Any:
    """Return all rows with every text column as large strings, so that batches have one type."""
    import pyarrow as pa

    wide = [field.with_type(pa.large_string()) if pa.types.is_string(field.type) else field for field in batch.schema]
    return batch if pa.schema(wide).equals(batch.schema) else batch.cast(pa.schema(wide))


def _pieces(batch: Any, rows: Any) -> Iterator[Any]:
    """Yield the wanted rows of each record batch of a table of texts."""
    import pyarrow as pa

    begin = 0
    for piece in batch.to_batches():
        here = rows[(rows >= begin) & (rows < begin + piece.num_rows)] - begin
        texts = [_texts(column, here) for column in piece.columns]
        yield pa.RecordBatch.from_arrays(texts, names=batch.schema.names)
        begin += piece.num_rows


def _texts(column: Any, rows: Any) -> Any:
    """Return some texts of a column; `take` of pyarrow would load pandas for it."""
    import pyarrow as pa

    missing, offsets, data = column.buffers()
    wide = np.int64 if pa.types.is_large_string(column.type) else np.int32
    ends = np.frombuffer(offsets, wide)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    view = memoryview(data) if data is not None else memoryview(b"")
    joined = b"".join([view[a:b] for a, b in zip(ends[rows].tolist(), ends[rows + 1].tolist(), strict=True)])
    starts = np.concatenate([[0], np.cumsum(ends[rows + 1] - ends[rows])])
    known = None
    if missing is not None and column.null_count:
        bits = np.unpackbits(np.frombuffer(missing, np.uint8), bitorder="little")[column.offset :][: len(column)]
        known = pa.py_buffer(np.packbits(bits[rows], bitorder="little"))
    return pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(starts), pa.py_buffer(joined), known)


def _hashed(start: int, n_rows: int) -> Any:
    """Return a pseudo-random number for each row (the finisher of SplitMix64)."""
    x = np.arange(start + 1, start + 1 + n_rows, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
