"""Outputs: write tables of results as lines on standard output, or as files of the usual formats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from naively.cli.console import Console, json_text
from naively.store.atomic import replacing


class Output(Protocol):
    """Writes results, some rows at a time."""

    def write(self, columns: dict[str, Any], kinds: dict[str, type], batch: Any) -> None:
        """Write new columns (lists) with their types, and the rows of the data that they belong to."""


@contextmanager
def open_output(path: str | None, console: Console) -> Iterator[Output]:
    """Open an output for results; a file appears when all is written."""
    if path is None:
        yield _StandardOutput(console)
        return
    kind = path.rpartition(".")[2].lower()
    with replacing(path) as file:
        output = _WRITERS[kind](file)
        try:
            yield output
        except BaseException:
            with suppress(Exception):  # close the writer before its file
                output.close()
            raise
        output.close()


class _StandardOutput:
    """Writes lines to standard output: values separated by tabs, or JSON Lines with --json."""

    def __init__(self, console: Console):
        self._console = console

    def write(self, columns: dict[str, Any], kinds: dict[str, type], batch: Any) -> None:
        names = list(columns)
        rows = zip(*columns.values(), strict=True)
        if self._console.json:
            self._console.documents(dict(zip(names, row, strict=True)) for row in rows)
        else:
            self._console.lines(["\t".join(map(_cell, row)) for row in rows])
        self._console.flush()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4f}" if isinstance(value, float) else str(value).replace("\t", "\\t")


def _array(values: Any, kind: type) -> Any:
    import pyarrow as pa

    known = {float: pa.float64(), bool: pa.bool_(), int: pa.int64(), str: pa.large_string()}
    if kind in known:
        return pa.array(values, known[kind], from_pandas=False)
    return pa.array([None if value is None else str(value) for value in values], pa.large_string())


class _FileOutput:
    """Writes the rows of the data with the new columns after their own."""

    def __init__(self, file: Any):
        self._file = file
        self._writer: Any = None

    def write(self, columns: dict[str, Any], kinds: dict[str, type], batch: Any) -> None:
        import pyarrow as pa

        table = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        for name, values in columns.items():
            table = table.append_column(name, _array(values, kinds[name]))
        if self._writer is None:
            self._schema = table.schema
            self._writer = self._open(table.schema)
        self._put(table.cast(self._schema))

    def _open(self, schema: Any) -> Any:
        raise NotImplementedError

    def _put(self, table: Any) -> None:
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


class _Parquet(_FileOutput):
    def _open(self, schema: Any) -> Any:
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(self._file, schema, compression="zstd")


class _Arrow(_FileOutput):
    def _open(self, schema: Any) -> Any:
        import pyarrow as pa

        return pa.ipc.new_file(self._file, schema)


class _Separated(_FileOutput):
    separator = ","

    def _open(self, schema: Any) -> Any:
        import pyarrow as pa
        from pyarrow.csv import CSVWriter, WriteOptions

        flat = pa.schema([_flat(field) for field in schema])
        return CSVWriter(self._file, flat, write_options=WriteOptions(delimiter=self.separator))

    def _put(self, table: Any) -> None:
        import pyarrow as pa

        for place, field in enumerate(table.schema):
            if pa.types.is_nested(field.type):
                texts = [None if value is None else json_text(value) for value in table.column(place).to_pylist()]
                table = table.set_column(place, _flat(field), pa.array(texts, pa.large_string()))
        self._writer.write_table(table)


def _flat(field: Any) -> Any:
    """Return a field of a CSV file: nested values are written as JSON text."""
    import pyarrow as pa

    return pa.field(field.name, pa.large_string()) if pa.types.is_nested(field.type) else field


class _Tabbed(_Separated):
    separator = "\t"


class _Lines(_FileOutput):
    def _open(self, schema: Any) -> Any:
        return self._file

    def _put(self, table: Any) -> None:
        for row in table.to_pylist():
            self._file.write(json_text(row).encode() + b"\n")

    def close(self) -> None:
        """Leave the file open: the caller closes it."""


_WRITERS: dict[str, Any] = {
    "parquet": _Parquet,
    "arrow": _Arrow,
    "csv": _Separated,
    "tsv": _Tabbed,
    "jsonl": _Lines,
}
