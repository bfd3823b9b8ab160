"""Files with several tables: databases, workbooks and zip archives; and what is wrong with them."""

import datetime
import io
import os
import sqlite3
import struct
import zipfile

import duckdb
import openpyxl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from naively.cli import main
from naively.sources import excel
from naively.sources.errors import SourceError
from naively.sources.open import open_source
from naively.sources.request import Request

DAY, MOMENT = datetime.datetime(2020, 1, 31), datetime.datetime(2020, 2, 1, 10, 30, 0, 250_000)
ROWS = [
    {"n": 1, "x": 0.5, "text": "win now", "flag": True, "day": DAY.date(), "moment": MOMENT},
    {"n": 2**53 + 1, "x": 2.0, "text": "café 007", "flag": False, "day": DAY.date(), "moment": DAY},
    {"n": None, "x": None, "text": None, "flag": None, "day": None, "moment": None},
    {"n": 4, "x": 1e300, "text": "日本語", "flag": True, "day": DAY.date(), "moment": MOMENT},
]
KINDS = {
    "n": "BIGINT", "x": "DOUBLE", "text": "VARCHAR", "flag": "BOOLEAN", "day": "DATE", "moment": "TIMESTAMP",
}  # fmt: skip


def write_sqlite(path, tables):
    with sqlite3.connect(path) as database:
        for name, rows in tables.items():
            declared = ", ".join(f'"{column}" {KINDS.get(column, "")}' for column in rows[0])
            database.execute(f'create table "{name}" ({declared})')
            plain = [[str(v) if isinstance(v, datetime.date) else v for v in row.values()] for row in rows]
            database.executemany(f'insert into "{name}" values ({", ".join("?" * len(rows[0]))})', plain)
    database.close()


def write_duckdb(path, tables):
    with duckdb.connect(str(path)) as database:
        for name, rows in tables.items():
            database.register("rows", pa.Table.from_pylist(rows))
            database.execute(f'create table "{name}" as select * from rows')
            database.unregister("rows")


def write_excel(path, tables):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in tables.items():
        sheet = book.create_sheet(name)
        sheet.append(list(rows[0]))
        for number, row in enumerate(rows, 2):
            sheet.append([None] * len(row) if all(v is None for v in row.values()) else list(row.values()))
            assert sheet.max_row <= number
    book.save(path)


WRITERS = {"sqlite": write_sqlite, "duckdb": write_duckdb, "xlsx": write_excel}


def read(path, columns=None, **asked):
    with open_source(Request(paths=(str(path),), **asked)) as opened:
        return [row for batch in opened.batches(columns) for row in batch.to_pylist()]


def columns(path, **asked):
    with open_source(Request(paths=(str(path),), **asked)) as opened:
        return opened.columns


def kept(ending, rows):
    """Rows as this kind of file holds them: Excel keeps no row without values, and numbers as doubles."""
    if ending != "xlsx":
        return rows
    return [row for row in rows if any(value is not None for value in row.values())]


@pytest.mark.parametrize("ending", WRITERS)
def test_values_and_their_types_are_read_as_they_were_written(tmp_path, ending):
    path = tmp_path / f"a.{ending}"
    rows = ROWS if ending != "xlsx" else [{**row, "n": row["n"] and row["n"] % 1000} for row in ROWS]
    WRITERS[ending](path, {"only": rows})
    with open_source(Request(paths=(str(path),))) as opened:
        assert opened.columns == KINDS
        assert opened.rows == len(kept(ending, rows))
        assert opened.size == os.path.getsize(path)
        assert [row for batch in opened.batches() for row in batch.to_pylist()] == kept(ending, rows)
        assert (opened.done, opened.read_bytes) == (1, opened.size)
        assert sum(batch.num_rows for batch in opened.batches(["text", "n"])) == opened.rows
    assert list(read(path, ["x", "n"])[0]) == ["x", "n"]


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("name", ["data.db", "100%#?.db", os.fsdecode(b"caf\xe9")])
def test_a_name_that_says_nothing_is_no_hindrance(tmp_path, ending, name):
    WRITERS[ending](tmp_path / f"a.{ending}", {"only": [{"a": 1}]})
    os.rename(tmp_path / f"a.{ending}", tmp_path / name)
    assert read(tmp_path / name) == [{"a": 1}]


@pytest.mark.parametrize("ending", WRITERS)
def test_one_of_several_tables_must_be_chosen_by_name(tmp_path, ending):
    path, kind = tmp_path / f"a.{ending}", "sheet" if ending == "xlsx" else "table"
    WRITERS[ending](path, {"orders": [{"a": 1}], "odd 'name": [{"b": "x"}]})
    assert read(path, table="orders") == [{"a": 1}]
    assert read(path, table="odd 'name") == [{"b": "x"}]
    with pytest.raises(SourceError, match=f"has 2 {kind}s: .*'orders'.*; choose one by --table NAME"):
        read(path)
    with pytest.raises(SourceError, match=f"has no {kind} 'order'; did you mean 'orders'"):
        read(path, table="order")


@pytest.mark.parametrize("ending", WRITERS)
def test_files_with_the_same_table_are_read_one_after_the_other(tmp_path, ending):
    for number, value in enumerate((1, 2.5)):
        WRITERS[ending](tmp_path / f"{number}.{ending}", {"t": [{"a": value}]})
    assert read(tmp_path / f"*.{ending}") == [{"a": 1.0}, {"a": 2.5}]


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("share", [0.2, 0.7])
def test_a_file_that_was_cut_short_is_refused(tmp_path, ending, share):
    path = tmp_path / f"a.{ending}"
    WRITERS[ending](path, {"t": [{"a": f"text {n}" * 20, "b": n} for n in range(2000)]})
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(SourceError, match=r"a\.\w+: .*it may be damaged or cut short"):
        read(path)


@pytest.mark.parametrize("ending", WRITERS)
@given(at=st.floats(0, 1), noise=st.binary(min_size=1, max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_damage_anywhere_is_an_error_with_the_name_of_the_file_or_is_read(tmp_path, ending, at, noise):
    path = tmp_path / f"a.{ending}"
    path.unlink(missing_ok=True)
    WRITERS[ending](path, {"t": [{"a": f"text {n}", "b": n, "c": n / 8} for n in range(50)]})
    data = path.read_bytes()
    start = int(at * (len(data) - len(noise)))
    path.write_bytes(data[:start] + noise + data[start + len(noise) :])
    try:
        read(path)
    except SourceError as error:
        assert str(path) in str(error)  # noqa: PT017 - whether damage is noticed depends on where it is


@pytest.mark.parametrize("ending", [*WRITERS, "db", "zip", "csv.bz2", "csv.xz"])
def test_an_empty_file_is_refused(tmp_path, ending):
    (tmp_path / f"a.{ending}").touch()
    with pytest.raises(SourceError, match="is empty; there is nothing to read"):
        read(tmp_path / f"a.{ending}")


def test_what_has_no_tables_is_refused(tmp_path):
    sqlite3.connect(tmp_path / "a.sqlite").executescript("create table t (a); drop table t").connection.close()
    duckdb.connect(str(tmp_path / "a.duckdb")).close()
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("__MACOSX/._a.csv", "x")
        archive.mkdir("folder") if hasattr(archive, "mkdir") else archive.writestr("folder/", "")
    write_excel(tmp_path / "a.xlsx", {"t": [{None: None}]})
    for name, problem in [
        ("a.sqlite", "has no tables; there is nothing to read"),
        ("a.duckdb", "has no tables; there is nothing to read"),
        ("a.zip", "has no files; there is nothing to read"),
        ("a.xlsx", "the sheet is empty; there is nothing to read"),
    ]:
        with pytest.raises(SourceError, match=problem):
            read(tmp_path / name)


def test_tables_are_for_files_that_have_them(tmp_path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(SourceError, match=r"a\.csv: is csv, which has no tables in it; leave table out"):
        read(tmp_path / "a.csv", table="t")
    with pytest.raises(SourceError, match="a query names its tables itself"):
        Request(sql="select 1", table="t")


# SQLite


@given(
    st.lists(
        st.one_of(st.none(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False), st.text("ab7é", max_size=3)),
        min_size=1,
        max_size=8,
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_column_of_sqlite_has_the_type_that_holds_all_its_values(tmp_path, values):
    path = tmp_path / "a.sqlite"
    path.unlink(missing_ok=True)
    write_sqlite(path, {"t": [{"id": n, "v": value} for n, value in enumerate(values)]})
    known = [value for value in values if value is not None]
    if any(isinstance(value, str) for value in known) or not known:
        expected = "VARCHAR", [value if value is None else str(value) for value in values]
    elif any(isinstance(value, float) for value in known):
        expected = "DOUBLE", values
    else:
        expected = "BIGINT", values
    assert (columns(path)["v"], [row["v"] for row in read(path)]) == expected


def test_dates_of_sqlite_that_are_none_are_text(tmp_path):
    values = ["2020-01-31", "2020-01-31 10:00+02:00"]
    write_sqlite(tmp_path / "a.sqlite", {"t": [{"day": value} for value in values]})
    write_sqlite(tmp_path / "b.sqlite", {"t": [{"day": "2020-02-31x"}]})
    assert [row["day"] for row in read(tmp_path / "a.sqlite")] == values
    assert columns(tmp_path / "b.sqlite") == {"day": "VARCHAR"}


def test_flags_of_sqlite_that_are_other_numbers_are_numbers(tmp_path):
    write_sqlite(tmp_path / "a.sqlite", {"t": [{"flag": 1}, {"flag": 2}]})
    assert columns(tmp_path / "a.sqlite") == {"flag": "BIGINT"}


def test_rows_of_sqlite_come_as_they_are_stored_and_not_by_an_index(tmp_path):
    path = tmp_path / "a.sqlite"
    write_sqlite(path, {"t": [{"a": (n * 7) % 10, "b": n} for n in range(10)]})
    with sqlite3.connect(path) as database:
        database.execute("create index by_a on t (a)")
        database.execute("create view v as select b from t where b > 7")
    database.close()
    assert [row["a"] for row in read(path, ["a"], table="t")] == [(n * 7) % 10 for n in range(10)]
    assert read(path, table="v") == [{"b": 8}, {"b": 9}]


def test_a_whole_number_that_no_double_holds_is_refused_among_decimals(tmp_path):
    write_sqlite(tmp_path / "a.sqlite", {"t": [{"v": 0.5}, {"v": 2**53 + 1}]})
    with pytest.raises(SourceError, match=r"line 2, column 'v': 9007199254740993 would be rounded"):
        read(tmp_path / "a.sqlite")


def test_sqlite_files_that_cannot_be_read_say_why(tmp_path):
    path = tmp_path / "a.sqlite"
    write_sqlite(path, {"t": [{"a": 1}]})
    (tmp_path / "secret.sqlite").write_bytes(os.urandom(4096))
    with pytest.raises(SourceError, match=r"is named as SQLite, but does not begin like it; .*it may be encrypted"):
        read(tmp_path / "secret.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("create table u (b)")
        database.execute("insert into u values (cast(x'ff' as text)), (x'00')")
    with pytest.raises(SourceError, match=r"a.sqlite, column 'b': has bytes \(BLOB\) among other values"):
        read(path, table="u")
    with database:
        database.execute("delete from u where typeof(b) = 'blob'")
    with pytest.raises(SourceError, match="has text that is not UTF-8"):
        read(path, table="u")
    database.isolation_level = None
    database.execute("begin exclusive")
    with pytest.raises(SourceError, match=r"cannot be read now \(database is locked\)"):
        read(path, table="t")
    database.close()


# DuckDB


def test_a_duckdb_file_that_is_encrypted_or_in_use_is_refused(tmp_path):
    locked = tmp_path / "locked.duckdb"
    with duckdb.connect() as database:
        database.execute("set force_mbedtls_unsafe = true")
        database.execute(f"attach '{locked}' as locked (encryption_key 'secret')")
        database.execute("create table locked.t as select 1 as a")
    with pytest.raises(SourceError, match=r"locked\.duckdb: is encrypted"):
        read(locked)


def test_tables_of_other_schemas_are_named_with_them(tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")) as database:
        database.execute(
            "create schema shop; create table shop.orders as select 1 as a; create view v as select 2 as b"
        )
    assert read(tmp_path / "a.duckdb", table="shop.orders") == [{"a": 1}]
    assert read(tmp_path / "a.duckdb", table="v") == [{"b": 2}]


# Excel


def sheet_of(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_rows_and_cells_of_a_sheet_may_be_empty(tmp_path):
    rows = [[], ["a", None, "b"], [1, None, "#N/A"], [], [None, "x", "y"], ["", "", ""], [2.5]]
    found = read(sheet_of(tmp_path / "a.xlsx", rows))
    assert found == [
        {"a": 1.0, "Unnamed: 1": None, "b": None},
        {"a": None, "Unnamed: 1": "x", "b": "y"},
        {"a": 2.5, "Unnamed: 1": None, "b": None},
    ]


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([["a", "A"], [1, 2]], "more than one column is named 'a'; give each a name of its own"),
        ([["a"], [1], [2, 3]], "line 3: has a value in a column without a name"),
        ([[f"c{n}" for n in range(2001)]], "has 2001 columns, more than 2000"),
    ],
)
def test_a_sheet_that_is_no_table_is_refused(tmp_path, rows, problem):
    with pytest.raises(SourceError, match=problem):
        read(sheet_of(tmp_path / "a.xlsx", rows))


def test_values_of_several_types_in_a_column_of_a_sheet_become_texts(tmp_path):
    path = sheet_of(tmp_path / "a.xlsx", [["a"], [1], ["one"], [2.5], [MOMENT], [datetime.time(9, 30)]])
    assert [row["a"] for row in read(path)] == ["1", "one", "2.5", "2020-02-01 10:30:00.250000", "09:30:00"]


def test_hidden_sheets_are_read_by_name_only(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append([1])
    hidden = book.create_sheet("lookup")
    hidden.append(["b"])
    hidden.append([2])
    hidden.sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx") == [{"a": 1}]
    assert read(tmp_path / "a.xlsx", table="lookup") == [{"b": 2}]


def test_more_texts_than_fit_in_memory_are_refused_before_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(excel, "_MOST_TEXTS", 1000)
    path = sheet_of(tmp_path / "a.xlsx", [["a"], [1]])
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/sharedStrings.xml", " " * 1001)
    with pytest.raises(SourceError, match=r"a\.xlsx: holds 0 GB of texts, too many to read; save it as CSV"):
        read(path)


def test_without_openpyxl_the_error_says_what_to_install(tmp_path, monkeypatch):
    path = sheet_of(tmp_path / "a.xlsx", [["a"], [1]])
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(SourceError, match=r"a\.xlsx: needs openpyxl: pip install 'naively\[excel\]'"):
        read(path)


# Zip


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def test_a_file_of_a_zip_archive_is_read_as_its_own_name_says(tmp_path):
    write_sqlite(tmp_path / "a.sqlite", {"t": [{"a": 3}]})
    files = {"x/a.csv": "a\n1\n", "b.jsonl": '{"a": 2}\n', "c.db": (tmp_path / "a.sqlite").read_bytes()}
    path = zipped(tmp_path / "a.zip", files)
    assert [read(path, table=name) for name in files] == [[{"a": 1}], [{"a": 2}], [{"a": 3}]]
    with pytest.raises(SourceError, match=r"has 3 files: 'x/a.csv', 'b.jsonl', 'c.db'; choose one by --table NAME"):
        read(path)


def flagged(data, bits):
    """The archive, with these bits in the flags of its first file."""
    for magic, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.index(magic) + at
        (flags,) = struct.unpack_from("<H", data, place)
        data = data[:place] + struct.pack("<H", flags | bits) + data[place + 2 :]
    return data


def test_zip_archives_that_cannot_be_read_say_why(tmp_path):
    path = zipped(tmp_path / "a.csv.zip", {"a.csv": "a\n" + "1\n" * 100, "empty.csv": ""})
    data = path.read_bytes()
    with pytest.raises(SourceError, match=r"its file 'empty\.csv' is empty"):
        read(path, table="empty.csv")
    path.write_bytes(flagged(data, 1))
    with pytest.raises(SourceError, match=r"a\.csv\.zip: its file 'a\.csv' is encrypted; unpack it with its password"):
        read(path, table="a.csv")
    start = data.index(b"PK\x01\x02") + 10
    path.write_bytes(data[:start] + struct.pack("<H", 9) + data[start + 2 :])
    with pytest.raises(SourceError, match="is packed by 'deflate64', which cannot be read"):
        read(path, table="a.csv")
    checksum = data.index(b"PK\x01\x02") + 16
    path.write_bytes(data[:checksum] + b"\0\0\0\0" + data[checksum + 4 :])
    with pytest.raises(SourceError, match="it may be damaged or cut short"):
        read(path, table="a.csv")


def test_an_archive_that_does_not_fit_on_the_disk_is_refused(tmp_path, monkeypatch):
    path = zipped(tmp_path / "a.csv.zip", {"a.csv": "a\n" + "1\n" * 100})

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    real = open
    monkeypatch.setattr("builtins.open", lambda *args, **how: Full() if args[1:2] == ("wb",) else real(*args, **how))
    with pytest.raises(SourceError, match=r"cannot be written to a temporary file in .* \(No space left on device\)"):
        read(path)


@pytest.mark.parametrize("ending", WRITERS)
def test_commands_read_the_table_that_is_chosen(tmp_path, ending, capsys):
    path, model = tmp_path / f"a.{ending}", str(tmp_path / "m.nb")
    rows = [{"label": "ham", "size": 1}, {"label": "spam", "size": 9}] * 5
    WRITERS[ending](path, {"mails": rows, "notes": [{"a": 1}]})
    assert main(["train", str(path), "--target", "label", "-o", model]) == 1
    assert "'mails', 'notes'; choose one by --table NAME" in capsys.readouterr().err
    assert main(["train", str(path), "--table", "mails", "--target", "label", "-o", model]) == 0
    assert main(["predict", model, str(path), "--table", "mails"]) == 0
