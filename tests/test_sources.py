"""Data from anywhere on disk: every format, in the same order and batches, and errors that say where."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
import subprocess
import sys
import tempfile
import zipfile
from functools import reduce
from itertools import pairwise
from operator import or_
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naively import _core
from naively.sources import delimited as delimited_files
from naively.sources import unpack
from naively.sources.batches import cut
from naively.sources.duck import Engine
from naively.sources.errors import SourceError
from naively.sources.open import open_source
from naively.sources.request import Request

ROWS = [
    {"label": "spam", "text": 'win "a" prize, now', "n": 1},
    {"label": "ham", "text": "see you at café", "n": 2},
    {"label": "ham", "text": "two\nlines", "n": None},
    {"label": "spam", "text": "日本語; and | tabs", "n": 4},
]


def quoted(value):
    return "" if value is None else '"' + str(value).replace('"', '""') + '"'


def delimited(delimiter, rows=ROWS):
    lines = [delimiter.join(rows[0])] + [delimiter.join(map(quoted, row.values())) for row in rows]
    return "".join(line + "\n" for line in lines).encode()


def json_lines(rows=ROWS):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def arrow_bytes(table, new, size=3):
    sink = pa.BufferOutputStream()
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=size)
    return sink.getvalue().to_pybytes()


def parquet_bytes(table, **options):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **options)
    return sink.getvalue().to_pybytes()


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


TABLE = pa.Table.from_pylist(ROWS)
FILES = {
    "a.csv": delimited(","),
    "semicolons.csv": delimited(";"),
    "a.tsv": delimited("\t"),
    "a.jsonl": json_lines(),
    "a.ndjson": json_lines(),
    "lines.json": json_lines(),
    "a.json": json.dumps(ROWS, indent=1).encode(),
    "a.parquet": parquet_bytes(TABLE, row_group_size=2),
    "a.arrow": arrow_bytes(TABLE, pa.ipc.new_file),
    "a.feather": arrow_bytes(TABLE, pa.ipc.new_file),
    "a.arrows": arrow_bytes(TABLE, pa.ipc.new_stream),
}
PACK = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zip": lambda data: zipped({"rows": data}),
}
PACKED = [ending for ending in PACK if ending]
TEXTUAL = [name for name in FILES if name.rpartition(".")[2] in ("csv", "tsv", "jsonl", "ndjson", "json")]


@pytest.fixture
def write(tmp_path):
    """Writes a file, and gives its path."""

    def written(name, data):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return str(path)

    return written


def source(*paths, threads=None, batch_rows=16384, batch_bytes=16 << 20, **asked):
    return open_source(Request(paths=paths, **asked), threads=threads, batch_rows=batch_rows, batch_bytes=batch_bytes)


def rows(*paths, columns=None, **asked):
    with source(*paths, **asked) as opened:
        return [row for batch in opened.batches(columns) for row in batch.to_pylist()]


def sizes(opened, **how):
    return [batch.num_rows for batch in opened.batches(**how)]


# Formats


@pytest.mark.parametrize("name", [*FILES, *(name + ending for name in FILES for ending in PACKED)])
def test_every_format_gives_the_same_rows(write, name):
    ending = next((ending for ending in PACKED if name.endswith(ending)), "")
    path = write(name, PACK[ending](FILES[name.removesuffix(ending)]))
    with source(path) as opened:
        assert list(opened.columns) == ["label", "text", "n"]
        assert opened.columns["text"] == "VARCHAR"
        assert opened.columns["n"] == "BIGINT"
        assert opened.files == (path,)
        assert opened.size == os.path.getsize(path)
        assert (opened.label, opened.text) == (None, None)
        assert [row for batch in opened.batches() for row in batch.to_pylist()] == ROWS
        assert opened.done == 1
        assert opened.read_bytes == opened.size


@pytest.mark.parametrize("name", [name + ending for name in TEXTUAL for ending in (".gz", ".zst")])
def test_compressed_files_are_read_where_pipes_have_no_paths_too(write, monkeypatch, name):
    monkeypatch.setattr(unpack, "_path", lambda end: "/nowhere")
    bare, dot, ending = name.rpartition(".")
    packed = PACK[dot + ending](FILES[bare])
    assert rows(write(name, packed)) == ROWS
    with pytest.raises(SourceError, match="it may be damaged or cut short"):
        rows(write(name, packed[:-3]))


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_quotes_mean_the_same_wherever_a_file_is_cut_into_buffers(write, monkeypatch, ending):
    ends = [" and\nleft", "", ""]
    texts = [f'he said, "well{"l" * (n % 7)}, so, "{ends[n % 3]}' for n in range(300)]
    path = write(f"a.csv{ending}", PACK[ending](delimited(",", [{"text": text, "label": "x"} for text in texts])))
    monkeypatch.setattr(delimited_files, "_LONGEST_LINE", 1000)
    for size in range(2000, 2050):
        monkeypatch.setattr(delimited_files, "_BUFFER", size)
        assert [row["text"] for row in rows(path)] == texts


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("many", [3_000, 5_000, 9_000, 17_000])
@pytest.mark.parametrize("end", ['",x\n', ""])
def test_a_quote_that_stays_open_for_too_long_is_told_and_never_ends_a_file_early(
    write, monkeypatch, ending, many, end
):
    monkeypatch.setattr(delimited_files, "_LONGEST_LINE", 2_000)
    monkeypatch.setattr(delimited_files, "_BUFFER", 4_000)
    before = "text,label\n" + "short,x\n" * 300
    path = write(
        f"a.csv{ending}", PACK[ending]((before + '"' + "word\n" * (many // 5) + end + "late,y\n" * 3_000).encode())
    )
    with pytest.raises(
        SourceError, match=r"line 30\d: .*(unterminated quote|maximum line size|the row is longer|expected fields)"
    ):
        rows(path)


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("many", [1_000, 3_000])
def test_a_quote_that_is_never_closed_is_one_bad_row_to_the_end_of_the_file(write, ending, many):
    text = "text,label\n" + "short,x\n" * 300 + '"stray,x\n' + "late,y\n" * many
    with source(write(f"a.csv{ending}", PACK[ending](text.encode())), on_error="skip") as opened:
        assert sum(sizes(opened)) == 300
        assert opened.bad_rows == 1
        assert (opened.bad[0].line, opened.bad[0].problem) == (302, "value with unterminated quote found")


def first_long_record(text: bytes, longest: int, unclosed: bool) -> int:
    """What the compiled watch must find, byte by byte."""
    start, inside, found, i = 0, False, [], 0
    while i < len(text):
        byte = text[i : i + 1]
        if inside and byte == b'"' and text[i + 1 : i + 2] == b'"':
            i += 1
        elif inside:
            inside = byte != b'"'
        elif byte == b'"':
            inside = i == 0 or text[i - 1 : i] in (b",", b"\n")
        elif byte == b"\n":
            found += [start] if i + 1 - start > longest else []
            start = i + 1
        i += 1
    found += [start] if len(text) - start > longest or (unclosed and inside) else []
    return found[0] if found else -1


@given(
    st.lists(st.sampled_from([b'"', b'""', b",", b"\n", b"a", b"word"]), max_size=60).map(b"".join),
    st.integers(1, 20),
    st.integers(1, 7),
    st.booleans(),
)
def test_records_that_are_too_long_are_found_whatever_the_pieces(text, longest, size, unclosed):
    watch = _core.RecordWatch.of(",", '"', longest, [], False)
    for begin in range(0, len(text), size):
        watch.feed(text[begin : begin + size])
    assert watch.finish(unclosed) == first_long_record(text, longest, unclosed)


SHAPES = [
    ("", 0),
    ("7", 1),
    ("-12", 1),
    ("+" + "9" * 14, 1),
    ("9" * 16, 8 | 16),
    ("-" + "9" * 15, 8 | 16),
    ("9" * 14 + ".5", 8),
    ("0." + "9" * 16, 8),
    ("-", 8),
    ("0.4", 2),
    ("2020-01-31", 2),
    ("2020-01-31 10:00", 8),
    ("true", 4),
    ("FALSE", 4),
    ("yes", 8),
    ('"7"', 8 | 16),
    ('"a,b"', 8 | 16),
    ('1"2', 8 | 16),
    (" 7", 8),
]


@given(
    st.lists(st.lists(st.sampled_from(SHAPES), min_size=2, max_size=3), min_size=1, max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.integers(1, 7),
    st.booleans(),
)
def test_the_shapes_of_values_are_found_whatever_the_pieces(table, line_end, size, header):
    lines = [",".join(text for text, _ in row) for row in table]
    text = line_end.join((["name,other"] if header else []) + lines).encode()
    watch = _core.RecordWatch.of(",", '"', 1000, [True, False, True], header)
    for begin in range(0, len(text), size):
        watch.feed(text[begin : begin + size])
    shapes = [row[0][1] for row in table], [row[2][1] for row in table if len(row) > 2]
    assert watch.shapes() == [reduce(or_, shapes[0], 0), 0, reduce(or_, shapes[1], 0)]


def test_columns_that_fit_their_types_are_read_once(write, monkeypatch):
    rows = "".join(f"{n},2020-01-31,true,{n}.5\n" for n in range(30_000))
    passes, aggregated = [], delimited_files.Delimited._aggregated

    def recorded(self, types, aggregates):
        passes.append(set(types))
        return aggregated(self, types, aggregates)

    monkeypatch.setattr(delimited_files.Delimited, "_aggregated", recorded)
    long = f"1,2020-01-31,true,{2**60}\n"
    for last, wanted in [("", []), ("0.5,2020-01-31,true,1\n", [{"whole"}]), (long, [{"decimal"}, {"decimal"}])]:
        with source(write("a.csv", f"whole,day,flag,decimal\n{rows}{last}".encode())) as opened:
            list(opened.batches())
        assert passes == wanted
        passes.clear()


@pytest.mark.parametrize("name", FILES)
def test_columns_can_be_chosen_and_come_in_the_order_asked_for(write, name):
    path = write(name, FILES[name])
    assert rows(path, columns=["n", "label"]) == [{"n": row["n"], "label": row["label"]} for row in ROWS]


@pytest.mark.parametrize("name", FILES)
def test_a_source_can_be_read_again(write, name):
    with source(write(name, FILES[name])) as opened:
        assert sizes(opened) == sizes(opened) == [4]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.feather"])
def test_the_number_of_rows_is_known_where_the_file_tells_it(write, name):
    with source(write(name, FILES[name])) as opened:
        assert opened.rows == len(ROWS)
        assert "4 rows" in repr(opened)


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.parquet", "parquet"), ("a.arrow", "arrow"), ("a.arrows", "arrow"), ("a.jsonl", "jsonl"), ("a.json", "json")],
)
def test_the_first_bytes_tell_the_format_where_the_name_does_not(write, name, format):
    for ending in PACK if name in TEXTUAL else [""]:
        with source(write("data" + ending, PACK[ending](FILES[name]))) as opened:
            assert opened.format == format
            assert [row for batch in opened.batches() for row in batch.to_pylist()] == ROWS


@pytest.mark.parametrize("ending", PACK)
def test_plain_text_is_one_text_a_line(write, ending):
    path = write("a.txt" + ending, PACK[ending]("\ufefffirst\r\n\nthird, café\nlast".encode()))
    with source(path) as opened:
        assert (opened.format, opened.text, opened.label) == ("lines", "text", None)
        assert [row["text"] for batch in opened.batches() for row in batch.to_pylist()] == [
            "first",
            "",
            "third, café",
            "last",
        ]


def test_a_text_may_begin_like_something_else(write):
    for line in ('{"a": 1}', "[1]", "[{", '"quoted"', "a,b"):
        assert rows(write("a.txt", line + "\nmore\n")) == [{"text": line}, {"text": "more"}]


def test_bytes_that_are_not_utf_8_are_taken_for_latin_1_line_by_line(write):
    assert rows(write("a.txt", "日本\n".encode() + b"caf\xe9\r\x85x\n")) == [{"text": "日本"}, {"text": "café\r\x85x"}]


@pytest.mark.parametrize("ending", PACK)
def test_fasttext_has_a_label_and_a_text_a_line(write, ending):
    data = b"__label__good what a film\n\nfine at the end __label__good\n__label__bad\tno, never\n"
    path = write("a.txt" + ending, PACK[ending](data))
    with source(path) as opened:
        assert (opened.format, opened.text, opened.label) == ("fasttext", "text", "label")
    assert rows(path) == [
        {"text": "what a film", "label": "good"},
        {"text": "fine at the end", "label": "good"},
        {"text": "no, never", "label": "bad"},
    ]


def test_a_folder_has_a_text_per_file_and_a_label_per_sub_folder(write, tmp_path):
    write("news/space/10", "to the moon")
    write("news/space/2", "")
    write("news/art/1.txt", "caf\xe9".encode("latin-1"))
    write("news/art/deeper/7", "naïve")
    write("news/.hidden/7", "no")
    folder = str(tmp_path / "news")
    with source(folder) as opened:
        assert (opened.format, opened.text, opened.label, opened.rows) == ("folder", "text", "label", 4)
        assert len(opened.files) == 4
        assert opened.done == 0
        found = [(row["label"], row["text"]) for batch in opened.batches() for row in batch.to_pylist()]
        assert opened.done == 1
    assert found == [("art", "café"), ("art", "naïve"), ("space", "to the moon"), ("space", "")]
    assert rows(folder, columns=["label"])[3:] == [{"label": "space"}]


def test_a_folder_of_data_files_is_those_files(write, tmp_path):
    write("data/b/2.csv", "a\n3\n")
    write("data/1.csv", "a\n1\n2\n")
    write("data/_SUCCESS", "")
    with source(str(tmp_path / "data")) as opened:
        assert [os.path.basename(path) for path in opened.files] == ["1.csv", "2.csv"]
    assert rows(str(tmp_path / "data")) == [{"a": 1}, {"a": 2}, {"a": 3}]


def test_folders_that_hold_columns_in_their_names_are_left_to_a_query(write, tmp_path):
    write("data/label=x/1.parquet", FILES["a.parquet"])
    with pytest.raises(SourceError, match="hive_partitioning"):
        source(str(tmp_path / "data"))


# Several files


def test_globs_are_sorted_and_go_into_folders(write, tmp_path):
    for name in ("c.csv", "a.csv", "b/d.csv", "b/e/f.csv"):
        write(name, f"name\n{name}\n")
    assert [row["name"] for row in rows(str(tmp_path / "*.csv"))] == ["a.csv", "c.csv"]
    everything = [row["name"] for row in rows(str(tmp_path / "**" / "*.csv"))]
    assert everything == ["a.csv", "b/d.csv", "b/e/f.csv", "c.csv"]
    assert rows(str(tmp_path / "c.csv"), str(tmp_path / "*.csv")) == [{"name": "c.csv"}, {"name": "a.csv"}]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_columns_of_several_files_have_types_that_hold_all_of_them(write, ending):
    tables = [pa.table({"a": [1, 2], "b": ["x", "y"]}), pa.table({"b": ["z"], "a": [2.5]})]
    paths = []
    for number, table in enumerate(tables):
        data = {
            "csv": lambda table: delimited(",", table.to_pylist()),
            "jsonl": lambda table: json_lines(table.to_pylist()),
            "parquet": parquet_bytes,
            "arrow": lambda table: arrow_bytes(table, pa.ipc.new_file),
        }[ending](table)
        paths.append(write(f"{number}.{ending}", data))
    with source(*paths) as opened:
        assert opened.columns == {"a": "DOUBLE", "b": "VARCHAR"}
        assert sizes(opened) == [3]
    assert rows(*paths) == [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}, {"a": 2.5, "b": "z"}]


@pytest.mark.parametrize(("ending", "data"), [("csv", b"a\n1\n"), ("parquet", parquet_bytes(pa.table({"a": [1]})))])
def test_a_file_that_lacks_a_column_of_the_first_is_refused(write, ending, data):
    first = write("1." + ending, FILES["a." + ending])
    with pytest.raises(SourceError, match=r"2\..* has no column 'label', 'text', 'n', which .*1\..* has; it has 'a'"):
        rows(first, write("2." + ending, data))


def test_later_csv_files_may_lie_beyond_those_that_are_looked_at_first(write):
    paths = [write(f"{number:02}.csv", f"n\n{number}\n") for number in range(14)]
    assert [row["n"] for row in rows(*paths)] == list(range(14))
    bad = write("99.csv", "n\nx\n")
    with pytest.raises(SourceError, match=r"99\.csv, line 2, column 'n'"):
        rows(*paths, bad)


def test_files_of_different_formats_are_refused(write):
    with pytest.raises(SourceError, match=r"is csv, but .* is parquet; read files of one format at a time"):
        source(write("a.csv", FILES["a.csv"]), write("a.parquet", FILES["a.parquet"]))


# Order, batches and where they end


def numbered(count, seed=0):
    words = random.Random(seed)
    return [{"n": n, "text": f"{n} " + "word " * words.randrange(100)} for n in range(count)]


BIG = numbered(40_000)
BIG_TABLE = pa.Table.from_pylist(BIG)


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """The same rows in every format, of more than one buffer each."""
    folder = tmp_path_factory.mktemp("big")
    data = {
        "big.csv": delimited(",", BIG),
        "big.jsonl": json_lines(BIG),
        "big.json": json.dumps(BIG).encode(),
        "big.parquet": parquet_bytes(BIG_TABLE, row_group_size=7000),
        "big.arrow": arrow_bytes(BIG_TABLE, pa.ipc.new_file, 7000),
        "big.csv.gz": gzip.compress(delimited(",", BIG[:20_000]), 1),
        "big.txt": "".join(row["text"] + "\n" for row in BIG).encode(),
        "big.ft": "".join(f"__label__{row['n'] % 3} {row['text']}\n" for row in BIG[:9000]).encode(),
    }
    for name, content in data.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("name", ["big.csv", "big.jsonl", "big.json", "big.parquet", "big.csv.gz", "big.arrow"])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_order_and_batches_do_not_depend_on_threads(big, name, threads):
    with source(str(big / name), threads=threads, batch_bytes=1 << 20) as opened:
        batches = list(opened.batches())
    numbers = [n for batch in batches for n in batch.column("n").to_pylist()]
    assert numbers == list(range(len(numbers)))
    assert [batch.num_rows for batch in batches] == expected_sizes(BIG[: len(numbers)], 16384, 1 << 20)


def expected_sizes(rows, most_rows, most_bytes):
    found, held, size = [], 0, 0
    for row in rows:
        length = len(row["text"].encode())
        if held == most_rows or (held and size + length > most_bytes):
            found.append(held)
            held = size = 0
        held, size = held + 1, size + length
    return [*found, held]


@pytest.mark.parametrize("name", ["big.csv", "big.jsonl", "big.parquet", "big.arrow", "big.txt", "big.ft"])
def test_a_second_run_meets_the_same_batches(big, name):
    with source(str(big / name), batch_rows=5000, batch_bytes=900_000) as opened:
        whole = list(opened.batches())
        assert len(whole) > 2
        assert list(opened.batches()) == whole


@given(
    lengths=st.lists(st.integers(0, 30), max_size=60),
    breaks=st.lists(st.integers(0, 60), max_size=8),
    most_rows=st.integers(1, 20),
    most_bytes=st.integers(1, 80),
)
@settings(max_examples=100)
def test_where_a_batch_ends_depends_on_the_rows_alone(lengths, breaks, most_rows, most_bytes):
    rows = [{"text": "x" * length} for length in lengths]
    texts = pa.array([row["text"] for row in rows], pa.string())
    edges = sorted({0, len(rows), *(edge for edge in breaks if edge < len(rows))})
    pieces = [pa.RecordBatch.from_arrays([texts[start:stop]], names=["text"]) for start, stop in pairwise(edges)]
    batches = list(cut(pieces, most_rows, most_bytes))
    assert [batch.num_rows for batch in batches] == (expected_sizes(rows, most_rows, most_bytes) if rows else [])
    assert [row for batch in batches for row in batch.to_pylist()] == rows


@pytest.mark.parametrize("name", ["big.csv", "big.jsonl", "big.parquet", "big.arrow", "big.txt"])
def test_progress_goes_from_nothing_to_all(big, name):
    with source(str(big / name), batch_rows=2000) as opened:
        assert opened.done == 0
        seen = [opened.done for _ in opened.batches()]
        assert seen == sorted(seen)
        assert 0 < seen[0] < 0.6
        assert opened.done == 1
        assert opened.read_bytes == opened.size


# Types and names


def test_texts_come_written_out(write):
    table = pa.table(
        {
            "dictionary": pa.array(["x", "y", "x"]).dictionary_encode(),
            "view": pa.array(["a", None, "a longer text than fits"], pa.string_view()),
            "large": pa.array(["a", "b", "c"], pa.large_string()),
        }
    )
    for name, data in (("a.arrow", arrow_bytes(table, pa.ipc.new_file)), ("a.parquet", parquet_bytes(table))):
        with source(write(name, data)) as opened:
            (batch,) = opened.batches()
            assert set(opened.columns.values()) == {"VARCHAR"}
        assert {str(field.type) for field in batch.schema} <= {"string", "large_string"}
        assert batch.to_pylist() == table.to_pylist()


def test_a_column_of_an_enum_comes_as_text():
    with open_source(Request(sql="select 'x'::enum('x', 'y') as e, '{}'::json as j, uuid() as u")) as opened:
        (batch,) = opened.batches()
    assert [str(field.type) for field in batch.schema] == ["string"] * 3


def test_empty_fields_of_a_csv_file_are_missing(write):
    assert rows(write("a.csv", 'a,b,c\n,x,\n2,,""\n')) == [
        {"a": None, "b": "x", "c": None},
        {"a": 2, "b": None, "c": None},
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_may_end_as_they_like(write, newline):
    path = write("a.csv", newline.join(["a,b", "1,x", "2,y", ""]))
    assert rows(path) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_dates_and_flags_of_a_csv_file_are_recognised(write):
    path = write("a.csv", "day,flag,x\n31/12/2020,true,1.5\n01/02/2021,false,2\n")
    with source(path) as opened:
        assert opened.columns == {"day": "DATE", "flag": "BOOLEAN", "x": "DOUBLE"}
        assert [str(row["day"]) for batch in opened.batches() for row in batch.to_pylist()] == [
            "2020-12-31",
            "2021-02-01",
        ]


def test_lines_that_begin_like_comments_are_rows(write):
    path = write("a.csv", "text,label\n#hello world,x\n#again,y\n")
    assert [row["text"] for row in rows(path)] == ["#hello world", "#again"]


def test_quotes_without_meaning_in_a_tsv_file_are_text(write):
    path = write("a.tsv", 'label\ttext\nx\t"Hello" he said\ny\t5" nails\nx\t"open\ny\tz\n')
    assert [row["text"] for row in rows(path)] == ['"Hello" he said', '5" nails', '"open', "z"]


ODD_NAMES = ["it's", 'say "hi"', "a b", "sélect", "a;b", "x/y~z", "select", "{curly}", "日本"]


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_columns_may_have_odd_names(write, name, on_error):
    table = pa.table({odd: [f"{number}", f"{number} too"] for number, odd in enumerate(ODD_NAMES)})
    header = ",".join(map(quoted, ODD_NAMES))
    data = {
        "csv": "\n".join([header, *(",".join(row.values()) for row in table.to_pylist())]),
        "jsonl": json_lines(table.to_pylist()),
        "parquet": parquet_bytes(table),
        "arrow": arrow_bytes(table, pa.ipc.new_file),
    }[name]
    path = write("a." + name, data)
    with source(path, on_error=on_error) as opened:
        assert list(opened.columns) == ODD_NAMES
        assert opened.column('say "hi"') == 'say "hi"'
    found = [[str(value) for value in row.values()] for row in rows(path, on_error=on_error, columns=ODD_NAMES[::-1])]
    assert found == [[str(value) for value in reversed(row.values())] for row in table.to_pylist()]


@pytest.mark.parametrize(
    "name",
    ["it's.csv", "a b.csv", "[x]*?.csv", "a'); drop table x; --.csv", 'q"q.csv', "{a,b}.csv", "日本.csv", "$1.csv"],
)
def test_files_may_have_odd_names(write, name):
    assert rows(write("folder [1]/" + name, "a,b\n1,x\n")) == [{"a": 1, "b": "x"}]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_literal_name_with_glob_characters_is_that_file_alone(write, name):
    write("[a]/b" + name, FILES[name])
    assert rows(write("[a]/*" + name, FILES[name])) == ROWS


def test_columns_of_the_same_name_are_numbered_or_refused(write):
    with source(write("a.csv", "a,a,b\n1,2,3\n")) as opened:
        assert list(opened.columns) == ["a", "a_1", "b"]
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with source(write("a.parquet", parquet_bytes(twice))) as opened:
        assert list(opened.columns) == ["a", "a_1"]
        assert [batch.to_pylist() for batch in opened.batches()] == [[{"a": 1, "a_1": 2}]]
    with pytest.raises(SourceError, match="more than one column is named 'a'"):
        source(write("a.arrow", arrow_bytes(twice, pa.ipc.new_file)))
    with pytest.raises(SourceError, match="more than one column is named 'a'; give each a name"):
        open_source(Request(sql="select 1 as a, 2 as a"))
    with pytest.raises(SourceError, match="keys that differ from 'A' only in case"):
        source(write("a.jsonl", '{"a": 1, "A": 2}\n'))
    with source(write("b.jsonl", '{"a": 1, "a_1": 2}\n')) as opened:
        assert list(opened.columns) == ["a", "a_1"]


def test_an_unknown_column_is_told_the_nearest(write):
    path = write("x.csv", FILES["a.csv"])
    with source(path) as opened:
        assert opened.column("label") == "label"
        with pytest.raises(
            SourceError, match=r"no column 'lable' in .*x\.csv; did you mean 'label'\? It has: 'label', "
        ):
            opened.column("lable")
        with pytest.raises(SourceError, match=r"no column 'TEXT' in .*x\.csv; did you mean 'text'\?"):
            opened.batches(["TEXT"])
        with pytest.raises(SourceError, match=r"no column 'zzz' in .*x\.csv\. It has: 'label', 'text', 'n'"):
            opened.batches(["zzz"])
        with pytest.raises(SourceError, match="at least one column"):
            opened.batches([])


# Bad rows


BAD = {
    "few.csv": ("a,b,c\n1,2,3\n4,5\n6,7,8\n", 3, "c", "expected fields: 3 found: 2"),
    "many.csv": ("a,b,c\n1,2,3\n6,7,8\n9,10,11,12\n", 4, None, "expected fields: 3 found: 4"),
    "late.csv": ("a,b\n" + "1,x\n" * 21_000 + "oops,y\n", 21_002, "a", "could not convert string \"oops\" to 'BIGINT'"),
    "quote.csv": ('a,b\n1,"x"\n2,"y" z\n3,"w"\n', 3, "b", "quote"),
    "latin.csv": (b"a,b\n1,x\n2,caf\xe9\n", 3, "b", "not utf-8"),
    "few.tsv": ("a\tb\n1\tx\n2\n", 3, "b", "expected fields: 2 found: 1"),
    "cut.jsonl": ('{"a": 1}\n{"a":\n{"a": 3}\n', 2, None, "JSON"),
    "list.jsonl": ('{"a": 1}\n{"a": 2}\n[3]\n', 3, None, "JSON"),
    "late.jsonl": ('{"a": 1}\n' * 21_000 + '{"a": "oops"}\n', 21_001, "a", "oops|BIGINT"),
    "none.ft": ("__label__x one\ntwo\n__label__y three\n", 2, "label", "has no label"),
    "two.ft": ("__label__x one\n__label__x __label__y two\n", 2, "label", "has 2 labels"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("ending", PACK)
def test_a_bad_row_stops_with_its_file_line_and_column(write, name, ending):
    data, line, column, _ = BAD[name]
    path = write(name + ending, PACK[ending](data.encode() if isinstance(data, str) else data))
    with pytest.raises(SourceError, match="on_error='skip' leaves such rows out") as caught:
        rows(path)
    assert (caught.value.file, caught.value.line) == (path, line)
    assert str(caught.value).startswith(f"{path}, line {line}")
    assert caught.value.column in (column, None)
    assert caught.value.column == column or name.startswith(("few", "quote", "latin"))


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("ending", PACK)
def test_bad_rows_can_be_left_out_and_are_kept_for_showing(write, name, ending):
    data, line, column, problem = BAD[name]
    path = write(name + ending, PACK[ending](data.encode() if isinstance(data, str) else data))
    with source(path, on_error="skip") as opened:
        count = sum(sizes(opened))
        (bad,) = opened.bad
        assert opened.bad_rows == 1
    lines = data.count(b"\n" if isinstance(data, bytes) else "\n")
    assert count == lines - (1 if "sv" in name else 0) - 1
    assert (bad.file, bad.line, bad.column) == (path, line, column)
    assert any(part.lower() in bad.problem.lower() for part in problem.split("|"))
    assert bad.text
    assert str(bad).startswith(f"{path}, line {line}")


def test_a_quote_that_never_ends_is_found_where_it_begins(write):
    path = write("a.csv", 'a,b\n1,"x"\n2,"y\n3,"w"\n')
    with pytest.raises(SourceError, match=r"a\.csv, line 3: value with unterminated quote found; on_error"):
        rows(path)
    assert rows(path, on_error="skip", columns=["b"]) == [{"b": "x"}]


def test_all_bad_rows_are_counted_and_the_first_are_kept(write):
    lines = "".join(f"{n}\n" if n % 2 else f"{n},x\n" for n in range(1000))
    path = write("a.csv", "a,b\n" + lines)
    with source(path, write("b.csv", "a,b\n1,x\n2\n"), on_error="skip") as opened:
        assert sizes(opened) == [501]
        assert opened.bad_rows == 501
        assert [bad.line for bad in opened.bad] == list(range(3, 43, 2))
        assert sizes(opened) == [501]
        assert opened.bad_rows == 501


def test_an_empty_file_among_others_is_left_out_like_a_bad_row(write):
    paths = [write("a.csv", "a\n1\n"), write("b.csv", "")]
    with pytest.raises(SourceError, match=r"b\.csv: is empty"):
        source(*paths)
    with source(*paths, on_error="skip") as opened:
        assert sizes(opened) == [1]
        assert [(bad.file, bad.problem) for bad in opened.bad] == [(paths[1], "is empty")]


def test_labels_are_needed_only_where_they_are_read(write):
    path = write("a.ft", "__label__x one\ntwo\n__label__x __label__y three\n")
    assert [row["text"] for row in rows(path, columns=["text"])] == ["one", "two", "three"]


def test_nested_values_and_absent_keys_survive_leaving_out(write):
    data = '{"a": {"x": [1, 2]}, "b": "2020-01-01"}\n\nnonsense\n{"b": null}\n{"a": {"x": []}, "c": 1.5}\n'
    path = write("a.jsonl", data)
    good = write("b.jsonl", data.replace("nonsense\n", ""))
    assert rows(path, on_error="skip") == rows(good) == rows(good, on_error="skip")


def test_a_file_of_nothing_but_bad_lines_is_refused(write):
    with pytest.raises(SourceError, match="no line that is a JSON object"):
        source(write("a.jsonl", "{oops\n{again\n"), on_error="skip")


# Damaged, missing and contradictory files


@pytest.mark.parametrize(
    "name",
    [*(f"big.{format}{ending}" for format in ("csv", "txt") for ending in PACKED), "big.jsonl.zst", "big.ft.gz"],
)
def test_a_compressed_file_that_was_cut_short_is_refused(big, write, name):
    bare, _, ending = name.rpartition(".")
    packed = PACK["." + ending]((big / bare).read_bytes())
    with pytest.raises(SourceError, match="it may be damaged or cut short") as caught:
        rows(write(name, packed[: len(packed) * 2 // 3]))
    assert name in str(caught.value)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_a_packed_file_with_any_byte_changed_is_refused_or_reads_as_before(write, ending):
    packed = PACK[ending](FILES["a.csv"])
    before, refused = rows(write(f"a.csv{ending}", packed)), 0
    for at in range(10, len(packed)):  # behind the header, in which nothing is told of what is packed
        damaged = packed[:at] + bytes([packed[at] ^ 0xFF]) + packed[at + 1 :]
        try:
            assert rows(write(f"a.csv{ending}", damaged)) == before
        except SourceError:
            refused += 1
    assert refused > (len(packed) - 10) * 0.9


def test_a_packed_file_followed_by_a_header_without_end_is_refused(write):
    endless = b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * 700_000  # a name that is never closed
    with pytest.raises(SourceError, match="it may be damaged or cut short"):
        rows(write("a.csv.gz", gzip.compress(FILES["a.csv"]) + endless))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_packed_files_that_follow_each_other_in_one_file_are_read_to_the_last(write, ending):
    pack, halves = PACK[ending], FILES["a.csv"].splitlines(keepends=True)
    path = write(f"a.csv{ending}", pack(b"".join(halves[:2])) + bytes(8) + pack(b"".join(halves[2:])))
    assert rows(path) == rows(write("a.csv", FILES["a.csv"]))
    with pytest.raises(SourceError, match="it may be damaged or cut short"):
        rows(write(f"b.csv{ending}", pack(FILES["a.csv"]) + b"no stream of its kind"))


@pytest.mark.parametrize("name", ["big.parquet", "big.arrow", "a.arrows"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
def test_a_binary_file_that_was_cut_short_is_refused(big, write, name, share):
    data = FILES[name] if name in FILES else (big / name).read_bytes()
    with pytest.raises(SourceError, match=r"it may be damaged or cut short|does not begin like it") as caught:
        rows(write(name, data[: max(8, int(len(data) * share))]))
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["big.parquet", "big.arrow", "big.csv.gz"])
def test_damage_in_the_middle_of_a_file_is_noticed_where_it_can_be(big, write, name):
    data = (big / name).read_bytes()
    noise = random.Random(1)
    for attempt in range(4):
        start = noise.randrange(100, len(data) - 100)
        path = write(f"{attempt}-{name}", data[:start] + noise.randbytes(64) + data[start + 64 :])
        try:
            with source(path) as opened:
                sizes(opened)
        except SourceError as error:
            refused = str(error)
        else:
            refused = None if name == "big.arrow" else "never noticed"
        assert refused is None or path in refused


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet", "a.arrow", "a.txt", "a.csv.gz", "nothing"])
def test_an_empty_file_is_refused(write, name):
    with pytest.raises(SourceError, match=r"is empty; there is nothing to read"):
        source(write(name, b""))


def test_a_byte_order_mark_alone_is_a_source_without_rows(write):
    with source(write("a.csv", b"\xef\xbb\xbf")) as opened:
        assert sizes(opened) == []


def test_a_header_alone_is_a_source_without_rows(write):
    with source(write("a.csv", "a,b\n")) as opened:
        assert list(opened.columns) == ["a", "b"]
        assert sizes(opened) == []


@pytest.mark.parametrize(
    ("name", "data", "problem"),
    [
        ("a.csv", FILES["a.parquet"], "is named as CSV, but holds Parquet"),
        ("a.parquet", FILES["a.csv"], "is named as Parquet, but does not begin like it"),
        ("a.parquet", FILES["a.arrow"], "is named as Parquet, but holds Arrow"),
        ("a.arrow", FILES["a.jsonl"], "is named as Arrow, but holds JSON Lines"),
        ("a.jsonl", FILES["a.csv"], "is named as JSON Lines, but does not begin like it"),
        ("a.csv.gz", FILES["a.csv"], "is named as compressed by gzip, but is not"),
        ("a.csv", gzip.compress(FILES["a.csv"]), "is compressed by gzip; give it a name that ends in .gz"),
        ("a.csv", b"PK\x03\x04rest", "it may be damaged or cut short"),
        ("a.csv", bz2.compress(FILES["a.csv"]), "is compressed by bzip2; give it a name that ends in .bz2"),
        ("a.csv.xz", lzma.compress(gzip.compress(FILES["a.csv"])), "is compressed twice, by xz after gzip"),
        ("a.xls", b"\xd0\xcf\x11\xe0" + bytes(600), "an old Excel workbook (.xls) or one with a password"),
        ("a.csv", "a,b\n1,2\n".encode("utf-16"), "is UTF-16; pass --encoding utf-16"),
        ("data.dat", b"1 2 3\n", "does not say what it holds; pass format"),
    ],
)
def test_a_name_that_contradicts_the_content_is_refused(write, name, data, problem):
    path = write(name, data)
    with pytest.raises(SourceError) as caught:
        source(path)
    assert path in str(caught.value)
    assert problem in str(caught.value)


def test_the_format_that_is_asked_for_counts_more_than_the_name(write):
    path = write("data.dat", FILES["a.csv"])
    assert rows(path, format="csv") == ROWS
    assert len(rows(path, format="lines")) == 6
    assert rows(write("a.csv", FILES["a.jsonl"]), format="jsonl") == ROWS
    with pytest.raises(SourceError, match="was to be read as Parquet, but does not begin like it"):
        source(path, format="parquet")


def test_a_missing_file_is_told_the_nearest_names(write, tmp_path):
    write("reviews.csv", FILES["a.csv"])
    with pytest.raises(SourceError, match=r"there is no file .*reveiws\.csv'; did you mean 'reviews\.csv'\?"):
        source(str(tmp_path / "reveiws.csv"))
    with pytest.raises(SourceError, match=r"there is no folder .*nowhere"):
        source(str(tmp_path / "nowhere" / "a.csv"))
    with pytest.raises(SourceError, match="no file matches"):
        source(str(tmp_path / "*.parquet"))
    with pytest.raises(SourceError, match="only files on disk"):
        source("https://example.org/a.csv")


def test_a_file_that_may_not_be_read_is_refused(write, monkeypatch):
    path = write("a.csv", FILES["a.csv"])

    def refuse(*args, **options):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(SourceError, match=r"a\.csv: cannot be read: Permission denied"):
        source(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_taken_for_a_file(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(SourceError, match=r"a\.csv: is not a file that can be read twice; pipe it in"):
        source(str(tmp_path / "a.csv"))


def test_a_file_that_goes_while_it_is_open_is_refused(write):
    for name in ("a.csv", "a.jsonl", "a.parquet", "a.txt"):
        path = write(name, FILES.get(name, b"one\n"))
        with source(path) as opened:
            os.remove(path)
            with pytest.raises(SourceError, match=f"{name}: cannot be read to its end"):
                list(opened.batches())


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({}, "either paths or an SQL query"),
        ({"paths": ("a",), "sql": "select 1"}, "either paths or an SQL query"),
        ({"paths": ("a",), "format": "cvs"}, "did you mean 'csv'"),
        ({"paths": ("a",), "on_error": "skp"}, "did you mean 'skip'"),
        ({"paths": ("-", "a")}, "cannot be read together"),
        ({"sql": "select 1", "format": "csv"}, "needs no format"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(asked, problem):
    with pytest.raises(SourceError, match=problem):
        Request(**asked)


# Queries


def test_a_query_can_join_files(write):
    one = write("it's a.csv", "id,text\n1,x\n2,y\n").replace("'", "''")
    other = write("b.parquet", parquet_bytes(pa.table({"id": [1, 2], "label": ["p", "q"]})))
    sql = f"select text, label from '{one}' join '{other}' using (id) order by id; -- done"
    with open_source(Request(sql=sql)) as opened:
        assert (opened.format, opened.files, opened.size, opened.rows) == ("sql", (), None, None)
        assert opened.columns == {"text": "VARCHAR", "label": "VARCHAR"}
        for _ in range(2):
            (batch,) = opened.batches(["label", "text"])
            assert batch.to_pylist() == [{"label": "p", "text": "x"}, {"label": "q", "text": "y"}]
        assert opened.done == 1


@pytest.mark.parametrize("threads", [1, 4])
def test_a_query_that_groups_comes_in_one_order_whatever_the_threads(big, threads):
    path = str(big / "big.parquet")
    sql = f"select n % 5000 as k, count(*) as c from '{path}' group by k"
    with open_source(Request(sql=sql), threads=threads) as opened:
        found = [row["k"] for batch in opened.batches() for row in batch.to_pylist()]
    with open_source(Request(sql=sql), threads=2) as opened:
        assert [row["k"] for batch in opened.batches() for row in batch.to_pylist()] == found


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("selec 1", "syntax error"),
        ("select * from nothere", "nothere does not exist"),
        ("select x from (select 1 as y)", '"x" not found'),
        ("create table t (a int)", "one query that returns rows"),
        ("copy (select 1) to 'x.csv'", "one query that returns rows"),
        ("select 1; select 2", "one query that returns rows"),
        ("", "one query that returns rows"),
        ("select * from asked", "asked does not exist"),
        ("select * from 'missing.parquet'", "missing.parquet"),
        ("select cast(i as utinyint) as i from range(1000) t(i)", "out of range"),
    ],
)
def test_a_query_that_fails_says_what_duckdb_says(sql, problem):
    with pytest.raises(SourceError) as caught, open_source(Request(sql=sql)) as opened:
        list(opened.batches())
    assert problem.lower() in str(caught.value).lower()


# Standard input


READ = """
import sys
from naively.sources.open import open_source
from naively.sources.request import Request
with open_source(Request(paths=("-",), format={format!r}, on_error={on_error!r})) as source:
    for batch in source.batches():
        for row in batch.to_pylist():
            print(ascii(row), flush=True)
    print(source.bad_rows, source.files, source.format, file=sys.stderr)
"""


def piped(data, format=None, on_error="stop"):
    code = READ.format(format=format, on_error=on_error)
    run = subprocess.run([sys.executable, "-c", code], input=data, capture_output=True)
    return run.stdout.decode().splitlines(), run.stderr.decode()


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.arrows"])
def test_standard_input_may_have_any_format(name):
    form = {"arrows": "arrow"}.get(name.partition(".")[2], name.partition(".")[2])
    out, err = piped(FILES[name], form)
    assert out == [ascii(row) for row in ROWS], err
    assert err.strip() == f"0 () {form}"


def test_standard_input_is_read_as_lines_or_as_fasttext():
    lines = [f"text {number}" for number in range(5_000)]
    out, err = piped("\n".join(lines).encode())
    assert out == [ascii({"text": line}) for line in lines], err
    out, err = piped(b"__label__x one\ntwo\n", "fasttext", "skip")
    assert out == [ascii({"text": "one", "label": "x"})]
    assert err.strip() == "1 () fasttext"
    out, err = piped(b"__label__x one\ntwo\n", "fasttext")
    assert "SourceError: line 2, column 'label': has no label" in err


def test_lines_of_standard_input_are_handed_on_as_they_come():
    code = READ.format(format=None, on_error="stop")
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        for line in ("first", "second"):
            child.stdin.write(line.encode() + b"\n")
            child.stdin.flush()
            assert child.stdout.readline().decode().strip() == ascii({"text": line})
        child.stdin.close()
        assert child.wait() == 0


def test_lines_of_standard_input_can_be_read_once_only(monkeypatch):
    with source("-") as opened:
        assert opened.size is None
        monkeypatch.setattr(sys, "stdin", open(os.devnull))  # noqa: SIM115
        assert list(opened.batches()) == []
        with pytest.raises(SourceError, match="once only"):
            opened.batches()


# Fingerprints, and what is left behind


def test_a_fingerprint_changes_with_what_is_asked_and_with_the_files(write):
    path = write("a.csv", FILES["a.csv"])

    def fingerprint(**how):
        with source(path, **how) as opened:
            return json.loads(json.dumps(opened.fingerprint))

    first = fingerprint()
    with source(path) as opened:
        assert opened.fingerprint == first
    assert first["files"][0][0] == path
    assert fingerprint(on_error="skip") != first
    assert fingerprint(batch_rows=7) != first
    status = os.stat(path)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))
    assert fingerprint() != first
    write("a.csv", FILES["a.csv"] + b"x,y,3\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert fingerprint() != first


def test_a_fingerprint_of_many_files_is_short(write, tmp_path):
    for number in range(1100):
        write(f"news/{number % 3}/{number}", "x")
    with source(str(tmp_path / "news")) as opened:
        first = opened.fingerprint
    assert len(json.dumps(first)) < 1000
    write("news/0/0", "xy")
    with source(str(tmp_path / "news")) as opened:
        assert opened.fingerprint != first


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """An empty folder for temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("name", ["big.csv", "big.jsonl", "big.parquet", "big.arrow"])
def test_nothing_is_left_behind(big, scratch, name):
    path = str(big / name)
    opened = source(path, batch_rows=100, on_error="skip")
    abandoned = opened.batches()
    next(abandoned)
    opened.close()
    opened.close()
    with pytest.raises(SourceError, match="was closed; open it again"):
        next(abandoned)
    with pytest.raises(SourceError, match="was closed; open it again"):
        opened.batches()
    forgotten = source(path, batch_rows=100)
    iterator = forgotten.batches()
    next(iterator)
    del iterator, forgotten
    assert list(Path(scratch).iterdir()) == []
    assert [link for link in open_files() if link == path] == []


def open_files():
    folder = Path("/proc/self/fd")
    if not folder.exists():
        return []
    return [os.readlink(link) for link in folder.iterdir() if link.is_symlink()]


def test_a_source_that_fails_to_open_leaves_nothing_behind(write, scratch):
    for name, data in (("a.parquet", FILES["a.parquet"][:-9]), ("a.jsonl", b'{"a": 1}\n{\n')):
        with pytest.raises(SourceError):
            rows(write(name, data))
    assert list(Path(scratch).iterdir()) == []


def test_importing_loads_nothing_heavy():
    code = "import sys, naively.sources; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"duckdb", "pyarrow", "numpy"} & set(run.stdout.split())


@pytest.mark.parametrize(("said", "told"), [("Query interrupted", KeyboardInterrupt), ("a fault", RuntimeError)])
def test_ctrl_c_while_columns_are_looked_at_is_an_interrupt_and_no_fault(monkeypatch, write, said, told):
    class Interrupted:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def execute(self, *_):
            raise RuntimeError(said)

    monkeypatch.setattr(Engine, "cursor", lambda _: Interrupted())
    with pytest.raises(told):
        source(write("a.csv", FILES["a.csv"]))


@pytest.mark.parametrize("how", [{"batch_rows": 0}, {"batch_bytes": 0}, {"threads": 0}])
def test_batches_and_threads_must_be_positive(write, how):
    with pytest.raises(SourceError, match=f"{next(iter(how))} must be at least 1, got 0"):
        source(write("a.csv", FILES["a.csv"]), **how)
