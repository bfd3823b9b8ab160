"""Texts: convert columns of text of any library to bytes that the compiled core reads without copying."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array
from naively.errors import InputError
from naively.read.detect import is_a, is_missing

_BYTES_PER_WORD = 6


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of texts for the compiled core. A missing text (None, NaN, NA) is no information."""

    core: Any

    @classmethod
    def of(cls, X: Any) -> Texts:
        """Convert a list, an array, or a column of pandas, polars or Arrow."""
        return cls(_core_texts(X))

    @classmethod
    def of_tokens(cls, tokens: list[Any]) -> Texts:
        """Convert lists of tokens; None is a missing text."""
        core = _core.Texts.of_tokens(tokens)
        if core.odd >= 0:
            raise InputError(f"row {core.odd}: tokens must be text, got {_bad_token(tokens[core.odd])}")
        return cls(core)

    @property
    def shape(self) -> tuple[int]:
        return (len(self.core),)

    @property
    def nnz(self) -> int:
        """Approximate number of words."""
        return self.core.bytes // _BYTES_PER_WORD

    @property
    def missing(self) -> Array:
        """Mask of missing texts; of length 0 if none is missing."""
        return self.core.missing.view(bool)

    def __getitem__(self, rows: slice) -> Texts:
        return Texts(self.core.part(rows.start, rows.stop))

    def take(self, rows: Array) -> Texts:
        """Return the texts with these row numbers, in that order."""
        return Texts(self.core.take(np.ascontiguousarray(rows, dtype=np.int64)))

    @classmethod
    def joined(cls, parts: list[Texts]) -> Texts:
        """Return the texts of several columns, one after another."""
        if not parts[0].core.given:
            return cls(_core.Texts.joined([part.core for part in parts]))
        return cls.of_tokens([tokens for part in parts for tokens in part.core.tokens()])

    @classmethod
    def of_arrays(cls, starts: Array, data: Array, missing: Array) -> Texts:
        """Read texts that lie in arrays: where each begins and ends, the bytes, and marks of missing ones, if any."""
        return cls(_core.Texts.of_buffers(starts, data, missing if len(missing) else None))

    def copied(self) -> Texts:
        """Return the same texts in memory of their own, so that they do not depend on the owner of the original."""
        return Texts.of_tokens(self.core.tokens()) if self.core.given else Texts.of_arrays(*self.core.buffers())

    def __getstate__(self) -> dict[str, Any]:
        return {"tokens": self.core.tokens()} if self.core.given else {"arrays": list(self.core.buffers())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        same = Texts.of_tokens(state["tokens"]) if "tokens" in state else Texts.of_arrays(*state["arrays"])
        self.__dict__["core"] = same.core

    def blocks(self, size: int) -> Iterator[slice]:
        """Yield slices of at most `size` rows."""
        rows = len(self.core)
        for start in range(0, rows, size):
            yield slice(start, min(start + size, rows))

    def __len__(self) -> int:
        return len(self.core)


def _bad_token(tokens: Any) -> str:
    token = next(token for token in tokens if not isinstance(token, (str, bytes)))
    return f"{token!r} ({type(token).__name__})"


def _core_texts(X: Any) -> Any:
    if isinstance(X, (str, bytes, bytearray)):
        raise InputError(f"expected many texts, got a single one ({excerpt(X)}); pass a list: [text]")
    column = _arrow_column(X)
    if column is not None:
        return _of_arrow(column)
    return _of_list(_listed(X))


def _listed(X: Any) -> list[Any]:
    if isinstance(X, list):
        return X
    if isinstance(X, (dict, set, frozenset)):
        raise InputError(f"expected a list or column of texts, got a {type(X).__name__}; it has no order")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        if X.ndim != 1:
            raise InputError(f"expected one column of texts, got an array of shape {X.shape}; pick a column")
        return X.tolist()
    if not hasattr(X, "__iter__"):
        raise InputError(f"expected texts, got {excerpt(X)} ({type(X).__name__}); pass a list of them")
    return list(X)


def _of_list(listed: list[Any]) -> Any:
    core = _core.Texts.of_list(listed)
    if core.odd < 0:
        return core
    return _core.Texts.of_list([_cleaned(value, row) for row, value in enumerate(listed)])


def _cleaned(value: Any, row: int) -> Any:
    if value is None or isinstance(value, (str, bytes)):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if is_missing(value):
        return None
    raise InputError(f"row {row}: expected text, got {excerpt(value)} ({type(value).__name__}); convert it to text")


def excerpt(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _arrow_column(X: Any) -> Any:
    """Return X as an Arrow array if its library stores it as one; otherwise None."""
    if isinstance(X, (list, tuple, np.ndarray)):
        return None
    if is_a(X, "pyarrow.Array", "pyarrow.ChunkedArray"):
        return X
    if is_a(X, "polars.Series"):
        return X.to_arrow()
    if is_a(X, "polars.DataFrame"):
        return _only_column(X.to_arrow())
    if is_a(X, "pandas.DataFrame"):
        if X.shape[1] != 1:
            raise InputError(f"expected one column of texts, got {X.shape[1]}: {excerpt(list(X.columns))}; pick one")
        X = X.iloc[:, 0]
    if is_a(X, "pandas.Series"):
        import pyarrow as pa

        return pa.array(X, from_pandas=True) if is_a(X.dtype, "pandas.StringDtype") else None
    if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
        import pyarrow as pa

        return _only_column(pa.table(X)) if hasattr(X, "__arrow_c_stream__") else pa.array(X)
    return None


def _only_column(table: Any) -> Any:
    if table.num_columns != 1:
        raise InputError(f"expected one column of texts, got {table.num_columns}: {table.column_names}; pick one")
    return table.column(0)


def plain_text(column: Any) -> Any:
    """Convert an Arrow column of text to a type with contiguous bytes."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    elif pa.types.is_null(kind):
        column = pa.nulls(len(column), pa.string())
    elif kind in (pa.string_view(), pa.binary_view()) if hasattr(pa, "string_view") else False:
        column = column.cast(pa.large_string() if kind == pa.string_view() else pa.large_binary())
    kind = column.type
    if kind not in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary()):
        raise InputError(f"expected a column of text, got one of {kind}; cast it, or pick another")
    return column


def _of_arrow(column: Any) -> Any:
    import pyarrow as pa

    column = plain_text(column)
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    parts = [_core.Texts.of_buffers(*buffers(chunk, pa)) for chunk in chunks]
    return parts[0] if len(parts) == 1 else _core.Texts.joined(parts)


def buffers(chunk: Any, pa: Any) -> tuple[Array, Array, Array | None]:
    """Return the offsets and bytes of an Arrow array of text, and a mask of missing texts (None if there are none)."""
    missing = (~flags_in(chunk, 0)).view(np.uint8) if chunk.null_count else None
    return *bytes_of(chunk, pa), missing


def flags_in(chunk: Any, buffer: int) -> Array:
    """Return a buffer of bits of an Arrow array, one flag for each row; the first buffer says which rows are known.

    pyarrow's own conversion would import pandas.
    """
    if not len(chunk):
        return np.zeros(0, bool)
    first, skipped = divmod(chunk.offset, 8)
    bits = np.frombuffer(chunk.buffers()[buffer], np.uint8)[first:]
    return np.unpackbits(bits, count=skipped + len(chunk), bitorder="little")[skipped:].view(bool)


def bytes_of(chunk: Any, pa: Any) -> tuple[Array, Array]:
    """Return the offsets and bytes of an Arrow array of text, without copying."""
    _, offsets, data = chunk.buffers()
    wide = np.int64 if chunk.type in (pa.large_string(), pa.large_binary()) else np.int32
    starts: Any = np.frombuffer(offsets, wide) if offsets is not None and offsets.size else np.zeros(1, wide)
    starts = starts[chunk.offset : chunk.offset + len(chunk) + 1]
    if not len(starts):
        starts = np.zeros(1, wide)
    filled = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(0, np.uint8)
    return starts, filled


def as_strings(X: Any, prepare: Callable[[str], Any]) -> list[Any]:
    """Apply a function to each text; a missing text stays None. Bytes that are not UTF-8 are replaced."""
    column = _arrow_column(X)
    listed = _listed(X) if column is None else column.to_pylist()
    result: list[Any] = []
    for row, value in enumerate(listed):
        text = _cleaned(value, row)
        if isinstance(text, bytes):
            text = text.decode("utf-8", "replace")
        result.append(None if text is None else prepare(text))
    return result
