"""Small promises to users that no other test holds: messages, figures in print, and answers whatever the units."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys
import types

import numpy as np
import pytest

import naively
from naively import FileError, GaussianClassifier, GaussianNB, InputError, TextClassifier, film_reviews
from naively.read.detect import is_a, is_missing, missing_entries

X = np.array([[1, 0], [2, 1], [3, 5], [4, 4], [1, 3], [7, 2.0]])
Y = [0, 0, 1, 1, 0, 1]


def run(*arguments, folder):
    command = [sys.executable, "-m", "naively.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="surrogateescape")


@pytest.mark.parametrize("covariance", ["tied", "full"])
@pytest.mark.parametrize("scale", [1e5, 1e20, 1e-50])
def test_units_of_columns_do_not_change_the_answers(covariance, scale):
    plain = GaussianClassifier(covariance=covariance, var_smoothing=0).fit(X, Y)
    units = np.array([scale, 1 / scale])
    scaled = GaussianClassifier(covariance=covariance, var_smoothing=0).fit(X * units, Y)
    np.testing.assert_allclose(scaled.predict_proba(X * units), plain.predict_proba(X), rtol=1e-6, atol=1e-12)


def test_a_variance_too_small_for_float64_is_refused_with_its_column():
    with pytest.raises(InputError, match=r"column 1 has a variance of .*rescale the column"):
        GaussianClassifier(covariance="tied", var_smoothing=0).fit(X * [1e150, 1e-150], Y)
    GaussianClassifier(covariance="tied", var_smoothing=0).fit(X * [1, 0], Y)  # a column that does not vary is none


def test_an_error_while_counting_names_file_and_row(tmp_path):
    labels = ["p", "q", ""]  # rows without a label are rows of the file, too
    lines = ["x,y", *(f"{'inf' if i == 25_000 else i % 7},{labels[i % 3]}" for i in range(30_000))]
    (tmp_path / "numbers.csv").write_text("\n".join(lines) + "\n")
    done = run("train", "numbers.csv", "--target", "y", "--loo", "0", folder=tmp_path)
    assert done.returncode == 1
    assert "numbers.csv, with rows counted from 0:" in done.stderr
    assert "row 25000, column 'x' is inf; replace it, or make it NaN" in done.stderr


def test_a_missing_file_whose_name_is_no_utf_8_is_named_by_its_bytes(tmp_path):
    done = run("train", os.fsdecode(b"nope\xff.csv"), "--target", "y", folder=tmp_path)
    assert done.returncode == 1
    assert "there is no file 'nope\\xff.csv'" in done.stderr


def test_what_was_chosen_says_how_its_accuracy_was_estimated():
    clf = TextClassifier().fit(*film_reviews())
    head, said, warned, _, first, *_ = str(clf.chosen_).splitlines()
    assert said.startswith(
        f"accuracy {head.split('accuracy=')[1][:-1]} on texts like these ({clf.chosen_.texts} different"
    )
    assert "flatter" in warned
    assert first.split()[-2] == "480"


def forged(model, path, name, change):
    """Save a model with one array changed and all digests right."""
    model.save(path)
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header, body = json.loads(data[8 : 8 + size]), bytearray(data[8 + size :])
    begin, end = header[name]["data_offsets"]
    change(np.frombuffer(body, "<f8", (end - begin) // 8, begin))
    about = json.loads(header["__metadata__"]["model"])
    about["digests"][name] = hashlib.sha256(body[begin:end]).hexdigest()
    header["__metadata__"].update(model=json.dumps(about), digest="0" * 64)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    text = text.replace(b"0" * 64, hashlib.sha256(text).hexdigest().encode(), 1)
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(body))


@pytest.mark.parametrize(
    ("model", "name", "place", "value"),
    [
        (GaussianNB(), "table.blocks.features.parameters.1", 0, 0.0),
        (GaussianClassifier(covariance="full"), "table.blocks.features.covariance", 0, -1.0),
        (GaussianClassifier(covariance="full"), "table.blocks.features.covariance", 1, 0.9),
    ],
)
def test_a_forged_variance_is_refused(tmp_path, model, name, place, value):
    path = tmp_path / "model.nb"
    forged(model.fit(X, Y), path, name, lambda array: None)
    naively.load(path)
    forged(model, path, name, lambda array: array.__setitem__(place, value))
    with pytest.raises(FileError, match="variance"):
        naively.load(path)


def test_a_library_that_another_thread_is_importing_counts_as_not_loaded(monkeypatch):
    for name in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    assert not is_a([1.0], "pandas.DataFrame", "polars.Series", "pyarrow.Table")
    assert not is_missing("a")
    assert is_missing(None)
    assert list(missing_entries(np.array(["a", None], dtype=object))) == [False, True]
