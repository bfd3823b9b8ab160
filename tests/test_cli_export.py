"""naively export writes scripts and files that run elsewhere."""

from __future__ import annotations

import json
import sqlite3

import duckdb
import numpy as np
import onnxruntime
import pytest

import naively
from naively.cli import main


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts, labels = naively.film_reviews()
    model = naively.TextClassifier(choose=False).fit(texts, labels)
    model.save("reviews.nb")
    return model


def test_a_script_runs_as_printed(model, capsys):
    assert main(["export", "reviews.nb", "--to", "sql", "--dialect", "sqlite", "--table", "films", "--keep", "id"]) == 0
    script = capsys.readouterr().out
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE films (id, text)")
    database.execute("INSERT INTO films VALUES (7, 'a dull and clumsy mess')")
    *setup, query = script.rstrip().rstrip(";").split(";\n")
    for statement in setup:
        database.execute(statement)
    id_, label, *_, positive = database.execute(query).fetchone()
    assert (id_, label) == (7, "negative")
    assert positive == pytest.approx(model.predict_proba(["a dull and clumsy mess"])[0, 1], abs=1e-9)


def test_a_script_goes_to_a_file_or_into_json(model, capsys):
    assert main(["export", "reviews.nb", "--to", "sql", "-o", "score.sql"]) == 0
    assert "saved" in capsys.readouterr().out
    script = str(model.to_sql("duckdb"))
    with open("score.sql", encoding="utf-8") as file:
        assert file.read() == script
    assert main(["export", "reviews.nb", "--to", "sql", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sql"] == script
    duckdb.connect().execute("CREATE TABLE rows AS SELECT 'dull' AS text;" + script)


def test_onnx_goes_to_a_file(model, capsys):
    assert main(["export", "reviews.nb", "--to", "onnx", "-o", "reviews.onnx"]) == 0
    session = onnxruntime.InferenceSession("reviews.onnx")
    [label] = session.run(["label"], {"text": np.array([["a dull and clumsy mess"]], object)})
    assert label.tolist() == ["negative"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--to", "onnx"], "where does the ONNX model go"),
        (["--to", "sql", "--texts", "counts"], "--texts does not go with --to sql"),
        (["--to", "onnx", "-o", "x", "--keep", "id"], "--keep does not go with --to onnx"),
        ([], "--to"),
    ],
)
def test_options_that_do_not_go_together_are_refused(model, capsys, arguments, problem):
    assert main(["export", "reviews.nb", *arguments]) == 2
    assert problem in capsys.readouterr().err


def test_a_model_is_not_replaced_by_its_export(model, capsys):
    assert main(["export", "reviews.nb", "--to", "sql", "-o", "reviews.nb"]) == 1
    assert "is a model" in capsys.readouterr().err
    assert naively.load("reviews.nb").predict(["dull"]).tolist() == ["negative"]
