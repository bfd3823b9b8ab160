"""Data and models are read where they lie: in S3 (moto's server) and on a web server, both on loopback."""

from __future__ import annotations

import gzip
import http.server
import json
import logging
import os
import re
import tempfile
import threading

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import naively
from naively import FileError
from naively.cli import main
from naively.sources.open import open_source
from naively.sources.request import Request
from naively.store.remote import find, is_remote, matching, read

boto3 = pytest.importorskip("boto3", reason="install moto[server]")
ROWS = 3_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One table in every format."""
    place = tmp_path_factory.mktemp("remote")
    size = [(i * 37) % 101 / 7 for i in range(ROWS)]
    table = pa.table(
        {"size": size, "note": [f"row {i}, « {i % 7} »" for i in range(ROWS)], "label": ["a", "b"] * (ROWS // 2)}
    )
    pa.parquet.write_table(table, place / "rows.parquet", row_group_size=500)
    pa.feather.write_feather(table, place / "rows.arrow")
    pa.csv.write_csv(table, place / "rows.csv")
    (place / "rows.csv.gz").write_bytes(gzip.compress((place / "rows.csv").read_bytes()))
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    (place / "rows.txt").write_text("\n".join(table["note"].to_pylist()))
    naively.NaiveBayes(columns={"note": None}).fit(table.drop_columns(["label"]), table["label"]).save(
        place / "rows.nb"
    )
    return place


@pytest.fixture(scope="module")
def bucket(folder):
    """The address of a bucket with these files in a folder."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    own = {
        "AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    client = boto3.client("s3")
    client.create_bucket(Bucket="naively-rows")
    for path in folder.iterdir():
        client.upload_file(str(path), "naively-rows", f"data/{path.name}")
    yield "s3://naively-rows/data"
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})
    server.stop()


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and parts of files where the folder is not called `whole`."""

    def log_message(self, *values):
        pass

    def do_GET(self):
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        path = self.translate_path(self.path.removeprefix("/whole"))
        if not os.path.isfile(path):
            self.send_error(404)
            return
        with open(path, "rb") as file:
            data = file.read()
        whole = wanted is None or self.path.startswith("/whole")
        first, last = (0, len(data) - 1) if whole else (int(wanted[1]), int(wanted[2] or len(data) - 1))
        part = data[first : last + 1]
        self.send_response(200 if whole else 206)
        if not whole:
            self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(data)}")
        if not self.path.startswith("/whole"):
            self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        self.wfile.write(part)

    def do_HEAD(self):
        path = self.translate_path(self.path.removeprefix("/whole"))
        if not os.path.isfile(path):
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(os.path.getsize(path)))
        if not self.path.startswith("/whole"):
            self.send_header("Accept-Ranges", "bytes")
        self.end_headers()


@pytest.fixture(scope="module")
def web(folder):
    """The address of a web server with these files."""

    def handler(*values):
        return Handler(*values, directory=str(folder))

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture(params=["bucket", "web", "web without parts of files"])
def place(request):
    if request.param == "bucket":
        return request.getfixturevalue("bucket")
    return request.getfixturevalue("web") + ("/whole" if "without" in request.param else "")


def rows_of(*paths, **options):
    with open_source(Request(paths=paths), **options) as source:
        return pa.concat_tables(source.batches())


NAMES = ["rows.parquet", "rows.arrow", "rows.csv", "rows.csv.gz", "rows.jsonl", "rows.txt"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_those_of_the_file_here(name, place, folder):
    assert rows_of(f"{place}/{name}").equals(rows_of(str(folder / name)))


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv", "rows.csv.gz", "rows.jsonl", "rows.txt"])
def test_reading_is_streamed(name, bucket, tmp_path, monkeypatch):
    """Nothing is copied to the folder of temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with open_source(Request(paths=(f"{bucket}/{name}",)), batch_rows=100) as source:
        batches = source.batches()
        assert next(batches).num_rows == 100
        copied = [os.path.getsize(os.path.join(at, n)) for at, _, names in os.walk(tmp_path) for n in names]
        assert sum(copied) == 0
        assert sum(batch.num_rows for batch in batches) == ROWS - 100


def test_a_folder_and_a_pattern_of_a_bucket_stand_for_their_files(bucket, folder):
    assert matching(f"{bucket}/*.csv") == [f"{bucket}/rows.csv"]
    assert f"{bucket}/rows.parquet" in matching(f"{bucket}/")
    assert rows_of(f"{bucket}/*.parquet").equals(rows_of(str(folder / "rows.parquet")))


def test_a_model_is_loaded_from_there(place, folder):
    here, there = naively.load(folder / "rows.nb"), naively.load(f"{place}/rows.nb")
    assert there.tally_ == here.tally_
    assert there.predict({"size": [1.0, 12.0]}).tolist() == here.predict({"size": [1.0, 12.0]}).tolist()


def test_fit_takes_an_address(web, folder):
    options = {"columns": {"note": None}, "calibrate": False}
    there = naively.NaiveBayes(**options).fit(f"{web}/rows.csv", "label")
    assert there.tally_ == naively.NaiveBayes(**options).fit(str(folder / "rows.csv"), "label").tally_


def test_commands_take_addresses(bucket, web, folder, tmp_path, capsys):
    made, here = str(tmp_path / "there.nb"), str(tmp_path / "here.nb")
    options = ["--target", "label", "--drop", "note", "--loo", "0", "-q"]
    assert main(["train", f"{bucket}/rows.parquet", *options, "-o", made]) == 0
    assert main(["train", str(folder / "rows.parquet"), *options, "-o", here]) == 0
    assert naively.load(made).tally_ == naively.load(here).tally_
    capsys.readouterr()
    assert main(["predict", f"{bucket}/rows.nb", f"{web}/rows.csv"]) == 0
    answers = capsys.readouterr().out
    assert main(["predict", str(folder / "rows.nb"), str(folder / "rows.csv")]) == 0
    assert answers == capsys.readouterr().out


@pytest.mark.parametrize("name", ["nothing.csv", "nothing.nb"])
def test_what_is_not_there_is_named(name, place, capsys):
    address = f"{place}/{name}"
    with pytest.raises(FileError, match=re.escape(address)):
        find(address)
    with pytest.raises(FileError, match="no such file"):
        read(address)
    assert main(["show", address]) == 1
    assert address in capsys.readouterr().err


def test_a_server_that_is_not_there_is_one_clear_error(capsys):
    assert main(["train", "http://127.0.0.1:9/rows.csv", "--target", "label"]) == 1
    message = capsys.readouterr().err
    assert "http://127.0.0.1:9/rows.csv: cannot be read" in message
    assert "Traceback" not in message


def test_other_addresses_are_refused_and_say_which_are_read(capsys):
    assert not is_remote("ftp://host/rows.csv")
    assert main(["train", "ftp://host/rows.csv", "--target", "label"]) == 1
    assert "s3://" in capsys.readouterr().err
