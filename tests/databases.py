"""Databases that score tables in tests: each runs a query on a table and returns the result, ordered by `id`."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest


def missing(component: str, package: str) -> None:
    """Skip a test whose component is not there; where everything must run, fail."""
    message = f"{component} is not installed: install {package}"
    pytest.fail(message) if os.environ.get("CI") == "true" else pytest.skip(message)


def in_duckdb(table: pa.Table, export: Any) -> pa.Table:
    connection = duckdb.connect()
    connection.register("given", table)
    connection.execute('CREATE TABLE "the rows" AS SELECT * FROM given')
    for statement in export.setup:
        connection.execute(statement)
    return connection.sql(export.query).to_arrow_table().sort_by("id")


def in_sqlite(table: pa.Table, export: Any) -> pa.Table:
    connection = sqlite3.connect(":memory:")
    connection.execute(_create(table, [""] * table.num_columns))
    marks = ", ".join(["?"] * table.num_columns)
    rows = ([value.isoformat(" ") if hasattr(value, "isoformat") else value for value in row] for row in _rows(table))
    connection.executemany(f'INSERT INTO "the rows" VALUES ({marks})', rows)
    for statement in export.setup:
        connection.execute(statement)
    return _result(connection.execute(export.query))


def in_postgresql(connection: Any, table: pa.Table, export: Any) -> pa.Table:
    with connection.cursor() as cursor:
        cursor.execute('DROP TABLE IF EXISTS "the rows", naively_weights')
        cursor.execute(_create(table, [_postgresql_type(field.type) for field in table.schema]))
        with cursor.copy('COPY "the rows" FROM STDIN') as copy:
            for row in _rows(table):
                copy.write_row(row)
        for statement in export.setup:
            cursor.execute(statement)
        cursor.execute(export.query)
        return _result(cursor)


def _postgresql_type(kind: pa.DataType) -> str:
    if pa.types.is_boolean(kind):
        return "BOOLEAN"
    if pa.types.is_integer(kind):
        return "BIGINT"
    if pa.types.is_floating(kind):
        return "DOUBLE PRECISION"
    return "TIMESTAMP" if pa.types.is_temporal(kind) else "TEXT"


def _create(table: pa.Table, types: list[str]) -> str:
    names = [name.replace('"', '""') for name in table.column_names]
    columns = [f'"{name}" {kind}' for name, kind in zip(names, types, strict=True)]
    return f'CREATE TABLE "the rows" ({", ".join(columns)})'


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _result(cursor: Any) -> pa.Table:
    names = [column[0] for column in cursor.description]
    columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    return pa.table({name: list(column) for name, column in zip(names, columns, strict=True)}).sort_by("id")


@contextmanager
def postgresql() -> Iterator[Any]:
    """A server on loopback with a folder of its own; it refuses root, so that it runs as the user that Debian made."""
    try:
        import psycopg
    except ImportError:
        missing("psycopg", "the extra `test`")
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not programs:
        missing("PostgreSQL", "Debian's package postgresql")
    bin_folder = programs[-1].parent
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    folder = Path(tempfile.mkdtemp(prefix="naively-postgresql-"))
    try:
        if user:
            shutil.chown(folder, "postgres", "postgres")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        run = {"check": True, "stdout": subprocess.DEVNULL, "cwd": "/"}
        subprocess.run(
            [
                *user,
                bin_folder / "initdb",
                "-D",
                folder / "data",
                "-U",
                "naively",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
            ],
            **run,
        )
        options = f"-h 127.0.0.1 -p {port} -k {folder} -F"
        control = [*user, bin_folder / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log"]
        subprocess.run([*control, "-o", options, "start"], **run)
        try:
            where = f"host=127.0.0.1 port={port} user=naively dbname=postgres"
            with psycopg.connect(where, autocommit=True) as connection:
                yield connection
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **run)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def chances(result: pa.Table, classes: list[Any]) -> Any:
    """Probabilities, rows by classes."""
    return np.array([[float(value) for value in result[f"p_{label}"].to_pylist()] for label in classes]).T
