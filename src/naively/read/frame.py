"""Frame: a table of any library, as columns that can be counted.

A column is an Arrow array, or a NumPy array of numbers. Table libraries are recognised, never imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.errors import InputError
from naively.read.columns import Unreadable, is_text
from naively.read.detect import is_a
from naively.read.lists import arrow_of_list
from naively.read.rows import is_row
from naively.read.texts import Texts, excerpt

_SCORES, _SCORED_ROWS, _SCORED_TEXTS = 1 << 19, 1 << 18, 1 << 12
"""Largest number of scores, of rows and of texts that are scored at a time."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Columns of one length by name. `named` is False if the names are only the numbers of the columns.

    `whole` are rows that one block takes as they are, in place of columns: an array, a sparse matrix, or texts.
    """

    columns: dict[str, Any]
    rows: int
    named: bool = True
    whole: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, len(self.columns)

    @classmethod
    def of(cls, X: Any) -> Frame | None:
        """Read a table of pandas, polars, pyarrow or DuckDB, or a dict of columns or of one row; else return None."""
        if isinstance(X, Frame):
            return X
        if isinstance(X, Mapping):
            if is_row(X):
                X = {name: [value] for name, value in X.items()}
            return cls._of_pairs([(name, _readable(name, values, _of_any)) for name, values in X.items()], None)
        if is_a(X, "pandas.DataFrame"):
            return cls._of_pairs([(name, _readable(name, v, _of_pandas)) for name, v in _pandas_columns(X)], len(X))
        if is_a(X, "polars.LazyFrame"):
            raise InputError("a LazyFrame holds no rows yet: pass X.collect(), or its batches one by one")
        if is_a(X, "polars.DataFrame"):
            columns = ((series.name, series) for series in X.iter_columns())
            return cls._of_pairs([(name, _readable(name, values, _of_polars)) for name, values in columns], len(X))
        if _is_column(X):
            raise InputError(
                f"expected a table, got a single column ({type(X).__name__}); pass {{'name': column}}, or a frame"
            )
        if hasattr(X, "__arrow_c_stream__") or hasattr(X, "__arrow_c_array__"):
            return cls._of_arrow(X)
        return None

    @classmethod
    def of_rows(cls, rows: Any) -> Frame:
        """Wrap rows that one block takes as they are."""
        return cls({}, rows.shape[0], False, rows)

    @classmethod
    def of_array(cls, X: Array) -> Frame:
        """Read an array of two dimensions; columns are named by their numbers."""
        columns = {str(j): _readable(str(j), X[:, j], _of_numpy) for j in range(X.shape[1])}
        return cls(columns, len(X), named=False)

    @classmethod
    def _of_arrow(cls, X: Any) -> Frame:
        import pyarrow as pa

        if isinstance(X, pa.RecordBatch):
            X = pa.Table.from_batches([X])
        try:
            table = X if isinstance(X, pa.Table) else pa.table(X)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, TypeError) as error:
            raise InputError(f"expected a table, got {type(X).__name__}, which Arrow cannot read: {error}") from None
        columns = zip(table.column_names, table.columns, strict=True)
        return cls._of_pairs(
            [(name, _readable(name, values, arrow_column)) for name, values in columns], table.num_rows
        )

    @classmethod
    def _of_pairs(cls, pairs: list[tuple[Any, Any]], rows: int | None) -> Frame:
        whole = [isinstance(name, (int, np.integer)) and not isinstance(name, bool) for name, _ in pairs]
        numbered = bool(pairs) and all(whole) and [int(name) for name, _ in pairs] == list(range(len(pairs)))
        columns: dict[str, Any] = {}
        for (given, values), is_number in zip(pairs, whole, strict=True):
            name = str(given) if is_number else given
            if not isinstance(name, str) or (is_number and not all(whole)):
                kind = f"{given!r} ({type(given).__name__})"
                raise InputError(
                    f"column names must be text, or all of them whole numbers, got {kind}; rename the columns"
                )
            if name in columns:
                raise InputError(f"column {given!r} is there twice; rename or drop one of them")
            if rows is not None and len(values) != rows:
                raise InputError(f"column {name!r} has {len(values)} rows, those before it {rows}")
            rows = len(values)
            columns[name] = values
        return cls(columns, rows or 0, named=not numbered)

    def __len__(self) -> int:
        return self.rows

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, with columns of Arrow as the bytes of a stream, which every library can save."""
        return {**self.__dict__, "columns": {name: _as_bytes(values) for name, values in self.columns.items()}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        columns = {name: _from_bytes(values) for name, values in state["columns"].items()}
        self.__dict__.update({**state, "columns": columns})

    def part(self, begin: int, end: int) -> Frame:
        """Return the rows from `begin` to `end`."""
        if begin == 0 and end >= self.rows:
            return self
        if self.whole is not None:
            return Frame.of_rows(self.whole[begin:end])
        cut = {name: values[begin:end] for name, values in self.columns.items()}
        return Frame(cut, max(min(end, self.rows) - begin, 0), self.named)

    def parts(self, size: int) -> Iterator[tuple[int, Frame]]:
        """Yield batches of at most `size` rows, each with the number of its first row; long chunks of Arrow end one."""
        ends = self._piece_ends()
        if len(ends) * size > 16 * self.rows:
            ends = []
        begin = 0
        for end in [*ends, self.rows]:
            while begin < end:
                stop = min(begin + size, end)
                yield begin, self.part(begin, stop)
                begin = stop

    def _piece_ends(self) -> list[int]:
        for values in self.columns.values():
            if hasattr(values, "num_chunks") and values.num_chunks > 1:
                return np.cumsum([len(piece) for piece in values.chunks]).tolist()
        return []

    def only(self, mask: Array) -> Frame:
        """Return the rows for which the mask is True."""
        if self.whole is not None:
            return self.take(np.flatnonzero(mask))
        import pyarrow as pa

        def chosen(values: Any) -> Any:
            return values[mask] if isinstance(values, (np.ndarray, Unreadable)) else values.filter(pa.array(mask))

        return Frame({name: chosen(v) for name, v in self.columns.items()}, int(mask.sum()), self.named)

    def take(self, rows: Array) -> Frame:
        """Return the rows with these numbers, in that order."""
        if self.whole is not None:
            plain = isinstance(self.whole, np.ndarray) or not hasattr(self.whole, "take")
            return Frame.of_rows(self.whole[rows] if plain else self.whole.take(rows))
        import pyarrow as pa

        def taken_rows(values: Any) -> Any:
            return values[rows] if isinstance(values, (np.ndarray, Unreadable)) else values.take(pa.array(rows))

        return Frame({name: taken_rows(v) for name, v in self.columns.items()}, len(rows), self.named)

    def batch_size(self, n_classes: int) -> int:
        """Return the number of rows that are scored at a time."""
        size = max(1, min(_SCORED_ROWS, _SCORES // max(n_classes, 1)))
        return min(size, _SCORED_TEXTS) if isinstance(self.whole, Texts) else size

    @property
    def entries(self) -> int:
        """Approximate number of values in the rows."""
        if self.whole is None:
            return self.rows * len(self.columns)
        return self.whole.nnz if hasattr(self.whole, "nnz") else self.whole.size

    def without(self, name: str) -> Frame:
        """Return the frame without one column."""
        return Frame({n: v for n, v in self.columns.items() if n != name}, self.rows, self.named)

    def get(self, name: str) -> Any:
        """Return a column; an absent one is missing in every row."""
        found = self.columns.get(name)
        if found is not None:
            return found
        import pyarrow as pa

        return pa.nulls(self.rows)


def _as_bytes(values: Any) -> Any:
    """Return a column of Arrow as the bytes of a stream, any other as it is."""
    if isinstance(values, (np.ndarray, Unreadable)):
        return values
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    table = pa.table({"": values})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def _from_bytes(values: Any) -> Any:
    """Return the column that `_as_bytes` took."""
    if not isinstance(values, bytes):
        return values
    import pyarrow as pa

    column = pa.ipc.open_stream(values).read_all().column(0)
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


# --- converting columns


def _readable(name: Any, values: Any, read: Callable[[Any, Any], Any]) -> Any:
    """Return the converted column, or an `Unreadable` with the error."""
    try:
        return read(name, values)
    except (InputError, TypeError) as error:
        if not hasattr(values, "__len__") or isinstance(values, (str, bytes)):
            raise
        return Unreadable(error, len(values))


def _is_column(X: Any) -> bool:
    """True if it is one column of some library, not a table."""
    in_arrow = is_a(X, "pyarrow.Array", "pyarrow.ChunkedArray") and not hasattr(X, "columns")
    return in_arrow or is_a(X, "pandas.Series", "polars.Series")


def _of_polars(name: Any, series: Any) -> Any:
    import pyarrow as pa

    refused = sys.modules["polars"].exceptions.PolarsError
    try:
        return arrow_column(name, series.to_arrow())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, refused) as error:
        raise InputError(f"column {name!r}: {series.dtype} cannot be read ({error}); cast it") from None


def arrow_column(name: Any, values: Any) -> Any:
    """Decode views of text, and dictionaries of values other than text or whole numbers."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_dictionary(kind) and not is_text(kind.value_type) and not pa.types.is_integer(kind.value_type):
        return values.cast(kind.value_type)
    if hasattr(pa, "string_view") and kind in (pa.string_view(), pa.binary_view()):
        return values.cast(pa.large_string() if kind == pa.string_view() else pa.large_binary())
    return values


def _of_any(name: Any, values: Any) -> Any:
    """Convert a value of a dict to a column."""
    if is_a(values, "pandas.Series", "pandas.Index", "pandas.api.extensions.ExtensionArray"):
        return _of_pandas(name, _stored(sys.modules["pandas"].Series(values)))
    if is_a(values, "polars.Series"):
        return _of_polars(name, values)
    if is_a(values, "pyarrow.Array", "pyarrow.ChunkedArray"):
        return arrow_column(name, values)
    if isinstance(values, np.ndarray):
        return _of_numpy(name, values)
    if isinstance(values, (str, bytes, set, frozenset, Mapping)) or not hasattr(values, "__len__"):
        advice = "; a dict of one row has a single value for each column" if not hasattr(values, "__len__") else ""
        raise InputError(f"column {name!r}: expected a list of values, got {type(values).__name__}{advice}")
    return _of_objects(name, list(values))


def _pandas_columns(X: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the columns of a DataFrame as arrays, if pandas allows it without making a Series of each."""
    stored = getattr(X, "_get_column_array", None)
    if stored is None:
        return ((name, _stored(series)) for name, series in X.items())
    return ((name, stored(j)) for j, name in enumerate(X.columns.tolist()))


def _stored(series: Any) -> Any:
    return series.to_numpy() if isinstance(series.dtype, np.dtype) else series.array


def _of_pandas(name: Any, values: Any) -> Any:
    """Return the array behind a pandas column: NumPy's, or an extension array."""
    if isinstance(values.dtype, np.dtype):
        return _of_numpy(name, np.asarray(values))
    import pyarrow as pa

    try:
        return arrow_column(name, pa.array(values, from_pandas=True))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InputError(f"column {name!r}: {values.dtype} cannot be read ({error}); convert it") from None


def _of_numpy(name: Any, values: Array) -> Any:
    if values.ndim != 1:
        raise InputError(f"column {name!r}: expected one value in each row, got an array of shape {values.shape}")
    values = unmasked(values)
    if values.dtype.kind in "fiu" and values.dtype.isnative:
        return np.ascontiguousarray(values)
    if values.dtype.kind == "c":
        raise InputError(f"column {name!r}: Complex data not supported; take its real and imaginary parts")
    if values.dtype.kind in "OSU":
        return _of_objects(name, values.tolist())
    import pyarrow as pa

    try:
        return pa.array(values.astype(values.dtype.newbyteorder("=")))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InputError(f"column {name!r}: {values.dtype} cannot be read ({error}); convert it") from None


def unmasked(values: Array) -> Array:
    """Replace masked entries by None."""
    if not is_a(values, "numpy.ma.MaskedArray"):
        return values
    mask, plain = np.ma.getmaskarray(values), np.ma.getdata(values)
    if mask.any():
        plain = plain.astype(object)
        plain[mask] = None
    return plain


def _of_objects(name: Any, values: list[Any]) -> Any:
    import pyarrow as pa

    # Only pandas has missing values of its own, and pyarrow would load it to look for them.
    try:
        if "pandas" in sys.modules:
            return pa.array(values, from_pandas=True)
        column = arrow_of_list(values)
        return pa.array(values) if column is None else column
    except UnicodeEncodeError:  # a lone surrogate, which becomes its number
        return _of_objects(
            name, [v.encode("utf-8", "backslashreplace").decode() if isinstance(v, str) else v for v in values]
        )
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        known = [None if isinstance(v, float) and v != v else v for v in values]
        if any(a is not b for a, b in zip(known, values, strict=True)):
            return _of_objects(name, known)
        raise _mixed_column_error(name, values) from None


def _mixed_column_error(name: Any, values: list[Any]) -> Exception:
    """Return the error for a column of mixed types; it names the first value that differs from those before."""
    kinds: dict[str, tuple[int, Any]] = {}
    for row, value in enumerate(values):
        if value is None or value != value:
            continue
        kind = "number" if isinstance(value, (int, float, np.number)) else type(value).__name__
        kinds.setdefault("bool" if isinstance(value, (bool, np.bool_)) else kind, (row, value))
    if len(kinds) > 1:
        (first, (_, one)), (second, (row, two)) = list(kinds.items())[:2]
        return InputError(
            f"column {name!r}: types are mixed: {first} ({excerpt(one)}) and, in row {row}, {second} "
            f"({excerpt(two)}); convert the column to one type"
        )
    wide = next(((i, v) for i, v in enumerate(values) if isinstance(v, int) and abs(v) >= 1 << 63), None)
    if wide is not None:
        return InputError(
            f"column {name!r}, row {wide[0]}: {wide[1]} is beyond what 64 bits hold; pass it as float or text"
        )
    kind, (row, value) = next(iter(kinds.items()), ("value", (0, None)))
    return TypeError(
        f"column {name!r}, row {row}: argument must be a string or a number, got {excerpt(value)} ({kind}); "
        "convert the column"
    )
