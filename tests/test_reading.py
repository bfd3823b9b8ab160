"""Reading never loses or changes a value: exact types, what is refused, and what is typed to read it after all."""

import errno
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from naively import NaiveBayes
from naively.cli import main
from naively.sources.duck import Engine
from naively.sources.errors import SourceError
from naively.sources.open import open_source
from naively.sources.request import Request

PACK = {
    "": lambda data: data,
    ".gz": lambda data: gzip.compress(data, 1),
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


@pytest.fixture
def write(tmp_path):
    """Writes a file and returns its path."""

    def written(name, data):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return str(path)

    return written


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs a command in this process: its exit code, standard output and standard error."""

    def ran(*argv, feed=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(feed)))
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            code = main(list(map(str, argv)))
        out, err = capsys.readouterr()
        return code, out, err

    return ran


def table(*paths, columns=None, **asked):
    with open_source(Request(paths=paths, **asked)) as source:
        return pa.concat_tables(source.batches(columns)).combine_chunks()


def tally(*paths, **asked):
    with open_source(Request(paths=paths, **asked)) as source:
        return NaiveBayes(calibrate=False).fit(source.batches(), "label").tally_


# Whole numbers that become something else


def growing():
    """Whole numbers that become decimals, or grow beyond what a double or 64 bits hold, in the row that is named."""
    rows = 100_002
    places = {"20481": 20_480, "100000": 99_999, "last": rows - 1}
    later = {"decimal": 0.4, "beyond_2_53": 2**53 + 1}
    columns = {"label": ["a", "b"] * (rows // 2)}
    for change, value in later.items():
        for place, row in places.items():
            values = [number * 7919 % 1000 for number in range(rows)]
            values[row] = value
            columns[f"{change}_{place}"] = values
    return pa.table({name: pa.array(_alike(values)) for name, values in columns.items()})


def _alike(values):
    return [float(value) for value in values] if any(isinstance(value, float) for value in values) else values


def written_as(format, columns):
    rows = list(zip(*columns.values(), strict=True))
    if format in ("csv", "tsv"):
        delimiter = "," if format == "csv" else "\t"
        return "".join(delimiter.join(row) + "\n" for row in [tuple(columns), *rows]).encode()
    pattern = "{" + ", ".join(f'"{name}": %s' for name in columns) + "}"
    lines = [pattern % (f'"{label}"', *numbers) for label, *numbers in rows]
    return ("\n".join(lines) if format == "jsonl" else "[" + ",\n".join(lines) + "]").encode()


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """The same rows as Parquet and as the text of each column."""
    rows = growing()
    folder = tmp_path_factory.mktemp("grown")
    pq.write_table(rows, folder / "grown.parquet")
    texts = {
        name: [f"{v:.15g}" if isinstance(v, float) else str(v) for v in rows[name].to_pylist()]
        for name in rows.column_names
    }
    return folder, str(folder / "grown.parquet"), texts


@pytest.mark.parametrize(("format", "ending"), [("csv", ".gz"), ("tsv", ".zst"), ("json", ".zst"), ("jsonl", ".gz")])
def test_a_later_row_that_does_not_fit_widens_its_column_whatever_the_format_and_packing(grown, format, ending):
    folder, parquet, texts = grown
    data = written_as(format, texts)
    plain, packed = folder / f"grown.{format}", folder / f"grown.{format}{ending}"
    plain.write_bytes(data)
    packed.write_bytes(PACK[ending](data))
    assert table(str(plain)).equals(table(parquet))
    assert tally(str(packed)) == tally(parquet)


def test_numbers_from_standard_input_are_exact_too(run, write, tmp_path):
    data = (
        b"n,label\n" + b"".join(b"%d,%s\n" % (i % 1000, b"ab"[i % 2 : i % 2 + 1]) for i in range(21_000)) + b"0.4,a\n"
    )
    code, *_ = run("train", "-", "--format", "csv", "--target", "label", "-o", tmp_path / "piped.nb", feed=data)
    assert code == 0
    code, *_ = run("train", write("a.csv", data), "--target", "label", "-o", tmp_path / "file.nb")
    assert code == 0
    shown = [run("show", tmp_path / name, "--json")[1] for name in ("piped.nb", "file.nb")]
    first, second = (json.loads(text)["classes"] for text in shown)
    assert first == second
    code, *_ = run("predict", tmp_path / "file.nb", write("a.csv", data), "-o", tmp_path / "out.parquet")
    assert code == 0
    assert pq.read_table(tmp_path / "out.parquet")["n"].to_pylist()[-2:] == [999.0, 0.4]


LATER = {
    "0.4": pa.float64(), "nan": pa.float64(), "9007199254740993": pa.int64(), "9223372036854775808": pa.uint64(),
    "-9223372036854775809": pa.decimal128(38, 0), "9007199254740992.5": pa.float64(), "1" + "0" * 40: pa.float64(),
}  # fmt: skip


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("value", LATER)
def test_a_column_has_the_narrowest_type_that_holds_its_later_values(write, value, on_error):
    for name, text in {
        "a.csv": "n\n" + "7\n" * 20_500 + value,
        "a.jsonl": '{"n": 7}\n' * 20_500 + f'{{"n": {value}}}',
    }.items():
        column = table(write(name, text), on_error=on_error)["n"]
        assert column.type == LATER[value]
        assert column[0].as_py() == 7
        assert str(column[-1].as_py()) == str(pa.array([value]).cast(column.type)[0].as_py())


BESIDE_DECIMALS = {
    "9007199254740993": "9007199254740992", "-9007199254740993": "-9007199254740992",
    "12345678901234567890": "12345678901234567168", "1" * 40: "1111111111111111", "9007199254740992": None,
    "1152921504606846976": None, "12345678901234567000": None, "1" + "0" * 23: None, "9007199254740993.5": None,
}  # fmt: skip


@pytest.mark.parametrize("decimals", ["before", "after", "long before"])
@pytest.mark.parametrize("value", BESIDE_DECIMALS)
def test_a_whole_number_beside_decimals_is_exact_or_refused_with_its_line(write, value, decimals):
    """A double that is printed as a whole number, as JavaScript does it, is exact."""
    values = {"before": ["0.5", value], "after": [value, "0.5"], "long before": ["0.5"] * 20_500 + [value]}[decimals]
    line, nearest = values.index(value) + 1, BESIDE_DECIMALS[value]
    for name, text, problem in [
        ("a.csv", "n,t\n" + "".join(f'{v},"a, b"\n' for v in values), f"line {line + 1}, column 'n': {value} would be"),
        ("b.csv", "t,n\r\n" + "".join(f'"a\r\nb","{v}"\r\n' for v in values), f"line {2 * line + 1}, column 'n': "),
        ("a.tsv", "n\tt\n" + "".join(f"{v}\ta\n" for v in values), f"line {line + 1}, column 'n': {value} would be"),
        ("a.jsonl", "".join(f'{{"n": {v}}}\n' for v in values), f"line {line}, column 'n': {value} would be rounded"),
        (
            "a.json",
            "[" + ",".join(f'{{"n": {v}}}' for v in values) + "]",
            "column 'n': a whole number would be rounded",
        ),
    ]:
        path = write(name, text)
        if nearest is None:
            assert table(path)["n"][line - 1].as_py() == float(value)
            continue
        with pytest.raises(SourceError, match=f"{problem}.*{'' if name == 'a.json' else nearest}.*--drop n"):
            table(path)
        if "json" not in name:
            assert table(path, columns=["t"]).num_rows == len(values)  # columns that nobody reads may hold anything
    lines = "".join(f'{{"n": {v}}}\n' for v in values)
    assert table(write("a.jsonl", lines), on_error="skip").num_rows == len(values) - (nearest is not None)


@pytest.mark.parametrize("first", ["-1", "9223372036854775807"])
@pytest.mark.parametrize("value", ["9223372036854775808", "18446744073709551617", "9" * 37])
def test_whole_numbers_alone_are_exact_from_the_first_row(write, first, value):
    for name, text in {"a.csv": f"n\n{first}\n{value}\n", "a.jsonl": f'{{"n": {first}}}\n{{"n": {value}}}\n'}.items():
        assert [str(n) for n in table(write(name, text))["n"].to_pylist()] == [first, value]


def test_a_later_file_may_widen_a_column_too(write, tmp_path):
    for number in range(12):
        write(f"{number:02}.csv", "n\n0.5\n" if number == 11 else "n\n1\n")
        write(f"{number:02}.jsonl", '{"n": 9223372036854775808}\n' if number == 11 else '{"n": 1}\n')
    assert table(str(tmp_path / "*.csv"))["n"].to_pylist() == [1.0] * 11 + [0.5]
    assert table(str(tmp_path / "*.jsonl"))["n"].to_pylist() == [1] * 11 + [2**63]


def test_a_date_that_has_a_time_later_keeps_it(write):
    dates = ["2020-01-01"] * 20_500 + ["2020-01-02 10:30:00"]
    expected = "2020-01-02 10:30:00"
    assert str(table(write("a.csv", "\n".join(["d", *dates])))["d"][-1]) == expected
    assert str(table(write("a.jsonl", "\n".join(f'{{"d": "{date}"}}' for date in dates)))["d"][-1]) == expected


@pytest.mark.parametrize(("first", "later"), [("7", "x"), ("0.5", "x"), ("2020-01-01", "x"), ("true", "x")])
def test_a_column_that_meets_something_else_is_refused_with_its_line(write, first, later):
    path = write("a.csv", "v,w\n" + f"{first},1\n" * 20_500 + f"{later},0.5\n")
    with pytest.raises(SourceError, match="line 20502, column 'v'"):
        table(path)
    assert table(path, on_error="skip").num_rows == 20_500


@pytest.mark.parametrize("rows", [3, 20_500])
@pytest.mark.parametrize(
    ("first", "later", "expected"),
    [
        ("2020-01-01 10:00:00", "2020-01-02 10:30:00.123456789", "2020-01-02 10:30:00.123456789"),
        ("2020-01-01 10:00:00", "2020-01-02 10:30:00+02:00", "2020-01-02 08:30:00+00:00"),
        ("2020-01-01 10:00:00Z", "2020-01-02 10:30:00.123456789Z", "2020-01-02 10:30:00.123456789Z"),
        ("10:00:00", "10:30:00.123456789", "10:30:00.123456789"),
        ("true", "t", "t"),
        ("true", "yes", "yes"),
        ("true", "1", "1"),
        ("no", "false", "false"),
    ],
)
def test_times_and_booleans_are_never_cut(write, first, later, expected, rows):
    read = table(write("a.csv", "v,w\n" + f"{first},1\n" * rows + f"{later},1\n"))["v"]
    assert str(read[-1]) == expected
    assert len(set(read.to_pylist())) == 2
    if rows > 3:
        records = [json.dumps({"v": first == "true" or first})] * rows + [json.dumps({"v": later})]
        assert str(table(write("a.jsonl", "\n".join(records)))["v"][-1]) == expected


def test_times_are_the_same_wherever_the_machine_is(write):
    path = write("a.csv", "v,w\n2020-01-01 10:00:00,1\n2020-01-01 10:00:00+02:00,2\n")
    code = (
        "import sys\nfrom naively.sources.open import open_source\nfrom naively.sources.request import Request\n"
        "with open_source(Request(paths=(sys.argv[1],))) as source:\n"
        "    print(*(value for batch in source.batches() for value in batch['v']), sep=', ')"
    )
    command = [sys.executable, "-c", code, path]
    shown = subprocess.run(command, env={**os.environ, "TZ": "Asia/Tokyo"}, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "2020-01-01 10:00:00+00:00, 2020-01-01 08:00:00+00:00"


@pytest.mark.parametrize("first", ["7", "0.5"])
def test_a_boolean_among_the_numbers_of_json_is_refused_and_no_one_or_zero(write, first):
    records = [f'{{"v": {first}, "w": "true"}}'] * 20_500 + ['{"v": true, "w": "false"}']
    path = write("a.jsonl", "\n".join(records))
    with pytest.raises(SourceError, match="line 20501, column 'v'"):
        table(path)
    assert table(path, on_error="skip").num_rows == 20_500
    for on_error in ("stop", "skip"):  # records of a JSON array have no lines that could be left out
        with pytest.raises(SourceError, match="column 'v': has true or false among its numbers"):
            table(write("a.json", "[" + ",\n".join(records) + "]"), on_error=on_error)


# Line ends, marks, long values

ENDS = ["\n", "\r\n", "\r"]


@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("early", [True, False])
def test_line_ends_may_be_mixed_and_those_in_quotes_stay_as_they_are(write, early, on_error):
    before = 3 if early else 25_000
    for one in ENDS:
        for other in ENDS:
            rows = [("n,text", one), *[("7,x", one)] * before, (f'8,"a{other}b"', other), ("9,y", one), ("10,z", other)]
            path = write("a.csv", "".join(line + end for line, end in rows))
            found = table(path, on_error=on_error)
            assert found["n"].to_pylist() == [7] * before + [8, 9, 10]
            assert found["text"].to_pylist()[-3:] == [f"a{other}b", "y", "z"]


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_json_may_begin_with_a_byte_order_mark(write, on_error, ending):
    lines = ['{"n": 1, "label": "a"}', '{"n": 2, "label": "b"}']
    for name, text in {"a.jsonl": "\n".join(lines), "a.json": "[" + ",".join(lines) + "]"}.items():
        path = write(name + ending, PACK[ending](b"\xef\xbb\xbf" + text.encode()))
        assert table(path, on_error=on_error).to_pylist() == [{"n": 1, "label": "a"}, {"n": 2, "label": "b"}]


@pytest.mark.parametrize("ending", ["", ".gz"])
@pytest.mark.parametrize("on_error", ["stop", "skip"])
def test_a_value_of_many_megabytes_is_refused_with_its_line_before_duckdb_reads_it(
    write, monkeypatch, on_error, ending
):
    long = '"' + "some words of a text\n" * 500_000 + '",a\n'
    data = ("text,label\n" + "short,b\n" * 100 + long + "short,b\n" * 100).encode()
    read = []
    stream = Engine.stream
    monkeypatch.setattr(Engine, "stream", lambda *args, **options: read.append(args) or stream(*args, **options))
    with pytest.raises(SourceError, match="line 102: the row is longer than 8,000,000 bytes; take it out of the file"):
        table(write("a.csv" + ending, PACK[ending](data)), on_error=on_error)
    assert not read


# What was read wrongly without a word

WORDS = [("a", "what a good and warm film"), ("b", "a dull and lazy film"), ("a", "good fun"), ("b", "so dull")] * 5


def csv_of(*header, rows=WORDS, sep=","):
    return "".join(sep.join(row) + "\n" for row in [header, *rows] if row)


def test_a_folder_with_several_splits_is_refused_and_names_one_of_them(run, write, tmp_path):
    for name in (
        "hub/data/train-00000-of-00002.csv",
        "hub/data/train-00001-of-00002.csv",
        "hub/data/test-00000-of-00001.csv",
    ):
        write(name, csv_of("label", "text"))
    write("hub/README.md", "# A data set")
    for label in ("pos", "neg"):
        write(f"films/train/{label}/1.txt", "a film")
        write(f"films/test/{label}/1.txt", "a film")
    model = tmp_path / "model.nb"
    for folder, one, rows in ((tmp_path / "hub", "data/train-*", 40), (tmp_path / "films", "train", 2)):
        code, _, err = run("train", folder, "--target", "label", "-o", model)
        assert code == 1
        assert f"several splits (test, train), which are not read together; name one: '{folder / one}'" in err
        if folder.name == "hub":  # a glob that matches both
            code, _, err = run("train", folder / "data" / "*.csv", "--target", "label", "-o", model)
            assert code == 1
            assert f"name one: '{folder / one}'" in err
        code, out, _ = run("train", folder / one, "--target", "label", "-o", model, "--json")
        assert (code, json.loads(out)["rows"]) == (0, rows)


def test_a_class_may_be_called_test_or_dev(run, write, tmp_path):
    for label in ("test", "dev", "ops"):
        write(f"classes/{label}/1.txt", f"{label} words")
    assert table(str(tmp_path / "classes"))["label"].to_pylist() == ["dev", "ops", "test"]
    for split in ("test", "train"):
        write(f"splits/{split}/1.txt", "words")
    with pytest.raises(SourceError, match="several splits"):
        table(str(tmp_path / "splits"))


def test_a_full_disk_under_standard_input_says_where_and_what_to_do(run, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    code, _, err = run("train", "-", "--format", "csv", "--target", "label", "-o", tmp_path / "m.nb", feed=b"a,label\n")
    assert code != 0
    assert "No space left on device" in err
    assert "TMPDIR" in err
    assert tempfile.gettempdir() in err


@pytest.mark.parametrize("name", ["Unnamed: 0", "", "__index_level_0__"])
def test_an_index_that_pandas_has_written_is_no_feature_unless_it_is_named(run, write, tmp_path, name):
    rows = [(str(n), f"{n % 7}.5", "ab"[n % 2]) for n in range(100)]
    path = write("a.csv", csv_of(name, "x", "label", rows=rows))
    train = ("train", path, "--target", "label", "-o", tmp_path / "model.nb", "--json")
    code, out, err = run(*train)
    called = name or "Unnamed: 0"
    assert (code, list(json.loads(out)["features"])) == (0, ["x"])
    assert f"column '{called}' is the index of a table: left out" in err
    code, out, err = run(*train, "--columns", f"x,{called}")
    assert (code, list(json.loads(out)["features"]), err) == (0, ["x", called], "")


def test_decimal_commas_are_refused_until_the_decimal_point_is_said(run, write, tmp_path):
    rows = [(f"{n % 7},{n % 10}", f"{n}", "ab"[n % 2]) for n in range(100)]
    path = write("a.csv", csv_of("x", "n", "label", rows=rows, sep=";"))
    with pytest.raises(SourceError, match=r"column 'x': its numbers have decimal commas; pass --decimal , \(Python"):
        table(path)
    found = table(path, decimal=",")
    assert found["x"].to_pylist() == [float(x.replace(",", ".")) for x, *_ in rows]
    assert found["n"].type == pa.int64()
    assert table(path, decimal=".")["x"].to_pylist() == [x for x, *_ in rows]
    later = write("b.csv", csv_of("x", rows=[["7"]] * 20_500 + [["0,25"]], sep=";"))
    assert table(later, decimal=",")["x"].to_pylist()[-2:] == [7.0, 0.25]
    assert run("train", path, "--target", "label", "-o", tmp_path / "model.nb")[0] == 1
    code, out, _ = run("train", path, "--target", "label", "-o", tmp_path / "model.nb", "--decimal", ",", "--json")
    assert code == 0
    assert "categorical" not in json.loads(out)["features"]["x"]


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("format", ["csv", "parquet", "jsonl"])
def test_a_continuous_target_is_refused(run, write, tmp_path, format, later):
    values = [1.0, 2.0] * 12_500 + [0.37] if later else [n * 0.37 for n in range(50)]
    rows = pa.table({"x": [float(n % 9) for n in range(len(values))], "y": values})
    if format == "csv":
        path = write(
            "a.csv",
            csv_of("x", "y", rows=[(f"{x:.1f}", f"{y:g}") for x, y in zip(*rows.to_pydict().values(), strict=True)]),
        )
    elif format == "jsonl":
        path = write("a.jsonl", "\n".join(json.dumps(row) for row in rows.to_pylist()))
    else:
        path = str(tmp_path / "a.parquet")
        pq.write_table(rows, path)
    code, _, err = run("train", path, "--target", "y", "-o", tmp_path / "model.nb")
    assert code == 1
    assert "column 'y': is continuous, with values like 0.37; labels are classes: bin them" in err


def test_numbers_that_are_whole_and_dates_are_labels(run, write, tmp_path):
    for labels, classes in ((["1.0", "2.0"], [1.0, 2.0]), (["2020-01-01", "2020-01-02"], ["2020-01-01", "2020-01-02"])):
        rows = pa.table(
            {"x": [0.5, 1.5] * 20, "y": pa.array(labels * 20).cast(pa.float64() if classes[0] == 1.0 else pa.date32())}
        )
        pq.write_table(rows, tmp_path / "a.parquet")
        path = write("a.csv", csv_of("x", "y", rows=[("0.5", labels[0]), ("1.5", labels[1])] * 20))
        for data in (path, tmp_path / "a.parquet"):
            code, out, _ = run("train", data, "--target", "y", "-o", tmp_path / "model.nb", "--json")
            assert (code, json.loads(out)["classes"]) == (0, classes)


@pytest.mark.parametrize("kind", ["list", "struct", "binary"])
def test_labels_that_are_nested_or_bytes_are_refused_with_a_sentence(run, tmp_path, kind):
    label = {"list": ["a"], "struct": {"a": 1}, "binary": b"a"}[kind]
    pq.write_table(pa.table({"x": [1.5] * 20, "y": [label] * 20}), tmp_path / "a.parquet")
    code, _, err = run("train", tmp_path / "a.parquet", "--target", "y", "-o", tmp_path / "model.nb")
    assert code == 1
    assert f"column 'y': holds values of type {kind}" in err
    assert "labels are text, whole numbers or flags" in err


def test_a_row_in_the_place_of_the_header_is_refused_until_it_is_said_to_be_one(run, write, tmp_path):
    path = write("a.csv", csv_of(rows=WORDS))
    code, _, err = run("train", path, "--target", "a", "-o", tmp_path / "model.nb")
    assert code == 1
    assert "line 1: 'a' is a value of its column too, so this looks like a row" in err
    assert "pass --no-header" in err
    train = (
        "train",
        path,
        "--no-header",
        "--target",
        "column0",
        "--text",
        "column1",
        "-o",
        tmp_path / "model.nb",
        "--json",
    )
    code, out, _ = run(*train)
    assert (code, json.loads(out)["rows"]) == (0, len(WORDS))
    texts = write("texts.csv", "a warm film to see again\nso dull that it hurts\n")
    code, _, err = run("predict", tmp_path / "model.nb", texts)
    assert code == 1
    assert "line 1: 'a warm film to see again' looks like a text" in err
    assert "pass --no-header" in err
    code, out, _ = run("predict", tmp_path / "model.nb", texts, "--no-header")
    assert (code, len(out.splitlines())) == (0, 2)
    assert table(write("n.csv", "1,2\n3,4\n"), no_header=True).to_pylist() == [
        {"column0": 1, "column1": 2}, {"column0": 3, "column1": 4},
    ]  # fmt: skip


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("ending", PACK)
def test_rows_that_repeat_the_names_of_the_columns_are_refused_or_left_out(write, ending, line_end):
    lines = ["n,text,label", '1,"two\nlines",a', "n,text,label", "2,x,b", "", "n,text,label", "3,x,b"]
    path = write("a.csv" + ending, PACK[ending](line_end.join([*lines, ""]).encode()))
    with pytest.raises(SourceError, match="repeats the names of the columns; take it out"):
        table(path)
    for columns in (None, ["label", "text", "n"], ["label", "n"]):
        with open_source(Request(paths=(path,), on_error="skip")) as source:
            rows = pa.concat_tables(source.batches(columns)).to_pydict()
            assert (rows["n"], rows["label"]) == ([1, 2, 3], ["a", "b", "b"])
            assert source.columns["n"] == "BIGINT"
            assert [(row.line, row.problem) for row in source.bad] == [
                (line, "repeats the names of the columns") for line in (4, 7)
            ]
            assert source.bad_rows == 2
    texts = write("b.csv", "text,label\nx,a\ntext,label\ny,b\n")  # all rows look alike
    with pytest.raises(SourceError, match="row 2 repeats the names of the columns; take it out"):
        table(texts, on_error="skip")


def test_a_file_whose_names_look_like_a_row_says_so_where_a_name_is_not_found(write):
    with open_source(Request(paths=(write("a.csv", "1,2\n3,4\n"),))) as source, pytest.raises(SourceError) as caught:
        source.column("1")
    assert "Its first line looks like a row, so that its columns have no names" in str(caught.value)


def test_records_that_are_piped_in_are_not_taken_for_lines_of_text(run, write, tmp_path):
    model = tmp_path / "model.nb"
    data = csv_of("label", "review")
    run("train", write("a.csv", data), "--target", "label", "--text", "review", "-o", model)
    code, _, err = run("predict", model, "-", feed=data.encode())
    assert code == 2
    assert "begins like CSV, with the header 'label,review': pass --format csv, or --format lines" in err
    code, _, err = run("predict", model, "-", feed=b'{"review": "so dull"}\n')
    assert code == 2
    assert "begins like JSON Lines: pass --format jsonl" in err
    code, _, err = run("train", "-", "--target", "label", feed=data.encode())
    assert code == 1
    assert "Standard input is read as lines of text, unless --format" in err
    for feed, options, rows in (
        (data, ["--format", "csv"], 20), (data, ["--sep", ","], 20), (data, ["--format", "lines"], 21),
        ("so dull\ngood fun\n", [], 2), ("a review", [], 1), ("", [], 0),
    ):  # fmt: skip
        code, out, _ = run("predict", model, "-", *options, feed=feed.encode())
        assert (code, len(out.splitlines())) == (0, rows)


# Separators and encodings


def test_a_separator_may_be_any_character_and_makes_csv_of_files_that_say_nothing(write):
    rows = [("1", "x, y"), ("2", "z")]
    for sep, given in (("^", "^"), ("|", "|"), ("\t", "tab"), ("\t", "\\t"), (":", ":")):
        for name in ("a.csv", "a.dat", "a.txt"):
            found = table(write(name, csv_of("n", "text", rows=rows, sep=sep)), sep=given)
            assert found.to_pylist() == [{"n": 1, "text": "x, y"}, {"n": 2, "text": "z"}]


TEXT = "label,text\n" + "é,déjà vu\nö,schön\n" * 3


@pytest.mark.parametrize("ending", PACK)
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "utf-8", "utf-8-sig"])
def test_text_files_of_any_encoding_are_read(run, write, encoding, ending):
    expected = table(write("plain.csv", TEXT)).to_pylist()
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in expected)
    for name, text in {"a.csv": TEXT, "a.tsv": TEXT.replace(",", "\t"), "a.jsonl": lines}.items():
        assert (
            table(write(name + ending, PACK[ending](text.encode(encoding))), encoding=encoding).to_pylist() == expected
        )
    fasttext = write("a.ft" + ending, PACK[ending]("__label__é déjà vu\n".encode(encoding)))
    assert table(fasttext, encoding=encoding).to_pylist() == [{"text": "déjà vu", "label": "é"}]


def test_lines_of_standard_input_and_texts_in_folders_have_encodings_too(run, write, tmp_path):
    for label, text in (("é", "déjà vu"), ("ö", "schön und gut")):
        for number in range(3):
            write(f"texts/{label}/{number}.txt", text.encode("utf-16"))
    model = tmp_path / "model.nb"
    assert run("train", tmp_path / "texts", "--encoding", "utf-16", "-o", model)[0] == 0
    code, out, _ = run("predict", model, "-", "--encoding", "cp1252", feed="déjà\nschön\n".encode("cp1252"))
    assert (code, [line.split("\t")[0] for line in out.splitlines()]) == (0, ["é", "ö"])


def test_what_is_not_in_its_encoding_is_refused_with_its_line_and_what_to_type(write):
    latin = write("a.csv", TEXT.encode("latin-1"))
    with pytest.raises(SourceError, match=r"line 2: .*not utf-8 encoded; pass its encoding, such as --encoding cp1252"):
        table(latin)
    with pytest.raises(SourceError, match=r"line 2: is not encoded as shift_jis .*; pass another encoding"):
        table(write("b.csv", b"a,b\nx,\x81\xff\n"), encoding="shift_jis")
    with pytest.raises(SourceError, match="is UTF-16; pass --encoding utf-16"):
        table(write("c.csv", TEXT.encode("utf-16")))


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ({"sep": "::"}, "sep must be one character"),
        ({"sep": '"'}, "sep must be one character"),
        ({"decimal": ";"}, "decimal must be '.' or ',', got ';'"),
        ({"decimal": ",", "sep": ","}, "and not that of sep"),
        ({"encoding": "latn-1"}, "did you mean 'latin-1'?"),
        ({"encoding": "hex"}, "encoding must be one that Python knows"),
        ({"format": "jsonl", "sep": ";"}, "no_header, sep and decimal are for csv and tsv"),
    ],
)
def test_options_of_text_files_that_make_no_sense_are_refused(asked, problem):
    with pytest.raises(SourceError) as caught:
        Request(paths=("a.csv",), **asked)
    assert problem in str(caught.value)


def test_options_of_text_files_are_for_text_files(write, tmp_path):
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    for asked in ({"sep": ";"}, {"no_header": True}, {"encoding": "latin-1"}):
        with pytest.raises(SourceError, match=r"are for csv and tsv|has no encoding of its own"):
            table(str(tmp_path / "a.parquet"), **asked)
        with pytest.raises(SourceError, match="a query reads its files itself"):
            Request(sql="select 1", **asked)


def test_a_quote_inside_a_value_is_no_mixed_line_end(tmp_path):
    rows = 'a,b\r\n5" pipe,x\r\n"two\nlines",y\r\n6" pipe,x\r\n'
    (tmp_path / "q.csv").write_bytes(rows.encode())
    assert table(str(tmp_path / "q.csv")).to_pydict() == {
        "a": ['5" pipe', "two\nlines", '6" pipe'],
        "b": ["x", "y", "x"],
    }


def test_a_value_that_is_the_name_of_its_column_makes_no_row_of_the_header(tmp_path):
    rows = "label,text\n" + "".join(f"{'ham' if i % 2 else 'spam'},words {i}\n" for i in range(40)) + "ham,text\n"
    (tmp_path / "t.csv").write_text(rows)
    assert table(str(tmp_path / "t.csv")).column_names == ["label", "text"]


def test_labels_written_yes_and_no_stay_what_is_written(tmp_path, capsys):
    (tmp_path / "yn.csv").write_text("x,label\n" + "".join(f"{i},{'yes' if i > 9 else 'no'}\n" for i in range(20)))
    assert main(["train", str(tmp_path / "yn.csv"), "--target", "label", "-o", str(tmp_path / "m.nb")]) == 0
    assert "2: no, yes" in capsys.readouterr().out
