"""Columns: the kind of their values, and the values as numbers, as codes of texts, or as a mask of missing ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array
from naively.errors import InputError
from naively.names import SEED
from naively.read.detect import missing_entries
from naively.read.matrix import native_values
from naively.read.texts import buffers, bytes_of, flags_in, plain_text

NUMBER, TEXT, BOOLEAN, TIME, CATEGORY, NOTHING = "number", "text", "boolean", "time", "category", "nothing"


class Unreadable:
    """A column that cannot be read; the error is raised when a block reads it."""

    def __init__(self, error: Exception, rows: int):
        self.error, self.rows = error, rows

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, part: Any) -> Unreadable:
        return Unreadable(self.error, len(np.empty(self.rows, bool)[part]))


def kind_of(name: str, values: Any) -> str:
    """Return the kind of values of a column; raise InputError if it cannot be read."""
    if isinstance(values, Unreadable):
        raise values.error
    if isinstance(values, np.ndarray):
        return NUMBER
    import pyarrow as pa

    types, kind = pa.types, values.type
    if types.is_boolean(kind):
        return BOOLEAN
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_duration(kind):
        return NUMBER
    if is_text(kind):
        return TEXT
    if types.is_timestamp(kind) or types.is_date(kind) or types.is_time(kind):
        return TIME
    if types.is_dictionary(kind) and (is_text(kind.value_type) or types.is_integer(kind.value_type)):
        return CATEGORY
    if types.is_null(kind):
        return NOTHING
    if types.is_nested(kind):
        what = f"nested values ({kind})"
        raise InputError(f"column {name!r} holds {what}; take out single values as columns, or drop it")
    raise InputError(f"column {name!r} is of type {kind}, which cannot be read; convert or drop it")


def is_text(kind: Any) -> bool:
    """True for an Arrow type of text or bytes."""
    import pyarrow as pa

    views = [getattr(pa, name)() for name in ("string_view", "binary_view") if hasattr(pa, name)]
    return kind in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), *views)


def is_plain_text(values: Any) -> bool:
    """True for a column of text whose bytes are contiguous."""
    import pyarrow as pa

    return not isinstance(values, (np.ndarray, Unreadable)) and values.type in (pa.string(), pa.large_string())


def joined_buffers(values: Any) -> tuple[Array, Array, Array | None, int]:
    """Return the offsets, bytes and validity bits of a column of text, and the number of the first row."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    there = np.frombuffer(values.buffers()[0], np.uint8) if values.null_count else None
    return *bytes_of(values, pa), there, values.offset


def type_of(values: Any) -> str:
    """Return the name of the type of a column."""
    if isinstance(values, Unreadable):
        return "?"
    return str(values.dtype if isinstance(values, np.ndarray) else values.type)


def chunks(values: Any) -> list[Any]:
    """Return the chunks of an Arrow column."""
    return values.chunks if hasattr(values, "chunks") else [values]


def numbers(values: Any) -> Array:
    """Return a column of numbers in a type that the compiled core reads; NaN stands for a missing value."""
    if isinstance(values, np.ndarray):
        return np.ascontiguousarray(native_values(values))
    import pyarrow as pa

    kind = values.type
    if pa.types.is_null(kind):
        return np.full(len(values), np.nan)
    if pa.types.is_duration(kind):
        import pyarrow.compute as pc

        values = pc.divide(values.cast(pa.int64()).cast(pa.float64(), safe=False), _PER_SECOND[kind.unit])
    elif pa.types.is_decimal(kind):
        values = values.cast(pa.float64(), safe=False)
    parts = [_chunk_numbers(part) for part in chunks(values)]
    joined = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0)
    return np.ascontiguousarray(native_values(joined))


def _chunk_numbers(chunk: Any) -> Array:
    """Return the numbers or flags of an Arrow array; pyarrow's own conversion, of types too, would import pandas."""
    import pyarrow as pa

    dtype = np.dtype(_FLOATS.get(str(chunk.type), str(chunk.type)))
    if pa.types.is_boolean(chunk.type):
        found = flags_in(chunk, 1).view(np.uint8)
    elif not len(chunk):
        found = np.zeros(0, dtype)
    else:
        found = np.frombuffer(chunk.buffers()[1], dtype)[chunk.offset :][: len(chunk)]
    if chunk.null_count:
        found = found.astype(np.float64)
        np.putmask(found, ~flags_in(chunk, 0), np.nan)
    return found


_FLOATS = {"double": "float64", "float": "float32", "halffloat": "float16"}
_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def missing(values: Any) -> Array:
    """Return a mask of the missing values of a column."""
    if isinstance(values, np.ndarray):
        return missing_entries(values)
    import pyarrow as pa
    import pyarrow.compute as pc

    mask = pc.is_null(values, nan_is_null=pa.types.is_floating(values.type))
    return mask.to_numpy(zero_copy_only=False).astype(bool)


def coded(values: Any) -> tuple[Array, list[Any]]:
    """Return for each row of a text or categorical column the number of its value (-1: missing), and the distinct
    values.
    """
    import pyarrow as pa

    numbers_of: dict[Any, int] = {}
    parts = []
    for part in chunks(values):
        codes, own = _dictionary_codes(part) if pa.types.is_dictionary(part.type) else _text_codes(part)
        places = [-1 if v is None else numbers_of.setdefault(v, len(numbers_of)) for v in own]
        plain = places == list(range(len(own)))
        parts.append(codes if plain else np.array([*places, -1], np.int32)[codes])
    codes = parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0, np.int32)
    return codes, list(numbers_of)


def _text_codes(part: Any) -> tuple[Array, list[Any]]:
    import pyarrow as pa

    part = plain_text(part)
    codes, firsts = _core.encode_strings(*buffers(part, pa), SEED)
    return codes, [_text(part[row].as_py()) for row in firsts.tolist()]


def _dictionary_codes(part: Any) -> tuple[Array, list[Any]]:
    import pyarrow as pa

    indices = part.indices.cast(pa.int32())
    codes = (indices.fill_null(-1) if part.null_count else indices).to_numpy()
    own = [_text(v) for v in part.dictionary.to_pylist()]
    seen = np.bincount(codes + 1, minlength=len(own) + 1)[1:] > 0  # a dictionary may list values that no row has
    return codes, [v if here else None for v, here in zip(own, seen.tolist(), strict=True)]


def _text(value: Any) -> Any:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
