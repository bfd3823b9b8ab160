"""Rows in the shapes that users have: dicts, lists of dicts, paths of files, a table with its labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naively import DataWarning, InputError, NaiveBayes, evaluate
from naively.read.labelled_table import frame_of
from naively.sources.request import Request

TABLE: dict[str, list[Any]] = {
    "size": [1.5, 2.0, None, 8.0, 9.5, 8.5, 1.0, 9.0],
    "city": ["Rome", "Oslo", "Rome", None, "Oslo", "Oslo", "Rome", "Oslo"],
    "note": ["a small one", "so small", None, "large and wide", "a large one", "wide", "small one", "so large"],
    "open": [True, False, True, False, None, True, True, False],
}
KINDS = ["s", "s", "s", "l", "l", "l", "s", "l"]
ROWS = [dict(zip(TABLE, values, strict=True)) for values in zip(*TABLE.values(), strict=True)]
MODEL = NaiveBayes().fit(TABLE, KINDS)


def test_a_list_of_dicts_is_the_table_of_its_rows() -> None:
    assert NaiveBayes().fit(ROWS, KINDS).tally_ == MODEL.tally_
    np.testing.assert_array_equal(MODEL.predict_proba(ROWS), MODEL.predict_proba(TABLE))
    labelled = [{**row, "kind": kind} for row, kind in zip(ROWS, KINDS, strict=True)]
    assert NaiveBayes().fit(labelled, "kind").tally_ == MODEL.tally_
    without_none = [{name: value for name, value in row.items() if value is not None} for row in ROWS]
    assert NaiveBayes().fit(without_none, KINDS).tally_ == MODEL.tally_


@pytest.mark.parametrize("number", range(len(ROWS)))
def test_a_dict_of_single_values_is_one_row(number: int) -> None:
    row = ROWS[number]
    proba = MODEL.predict_proba(row)
    assert proba.shape == (1, 2)
    np.testing.assert_array_equal(proba, MODEL.predict_proba([row]))
    np.testing.assert_allclose(proba[0], MODEL.predict_proba(TABLE)[number])
    known = {name: value for name, value in row.items() if value is not None}
    np.testing.assert_array_equal(MODEL.predict_proba(known), proba)
    assert MODEL.explain(row).features


def test_rows_are_learnt_and_forgotten_one_by_one() -> None:
    model = NaiveBayes().fit(TABLE, KINDS)
    model.partial_fit(ROWS[0], ["m"])
    assert model.classes_.tolist() == ["l", "m", "s"]
    assert model.forget(ROWS[0], ["m"]).tally_ == MODEL.tally_


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abc"), st.one_of(st.none(), st.integers(-5, 5)), min_size=1),
        min_size=1,
        max_size=6,
    )
)
def test_columns_that_a_row_lacks_are_missing_there(rows: list[dict[str, Any]]) -> None:
    frame = frame_of(rows)
    assert frame.rows == len(rows)
    assert set(frame.columns) == set().union(*rows)
    for name, values in frame.columns.items():
        found = values.to_pylist() if hasattr(values, "to_pylist") else values.tolist()
        known = [None if value is None or value != value else value for value in found]
        assert known == [row.get(name) for row in rows]


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.jsonl"])
@pytest.mark.parametrize("kind", [str, Path])
def test_a_path_is_the_table_in_the_file(tmp_path: Path, name: str, kind: Any) -> None:
    path = kind(tmp_path / name)
    frame = pd.DataFrame({**TABLE, "kind": KINDS})
    if name.endswith("csv"):
        frame.to_csv(path, index=False)
    elif name.endswith("parquet"):
        frame.to_parquet(path)
    else:
        Path(path).write_text(
            "".join(json.dumps({**row, "kind": k}) + "\n" for row, k in zip(ROWS, KINDS, strict=True))
        )
    model = NaiveBayes().fit(path, "kind")
    assert model.tally_ == MODEL.tally_
    assert model.score(path, "kind") == model.score(frame, "kind") == model.score(TABLE, KINDS)
    assert evaluate(model, path, "kind").accuracy == model.score(TABLE, KINDS)
    assert model.predict(path).tolist() == MODEL.predict(TABLE).tolist()


def test_files_with_options_are_named_by_a_request(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    pd.DataFrame({**TABLE, "kind": KINDS}).to_csv(path, index=False, sep=";", decimal=",")
    request = Request(paths=(str(path),), format="csv", decimal=",")
    assert NaiveBayes().fit(request, "kind").tally_ == MODEL.tally_
    bad = tmp_path / "bad.csv"
    bad.write_text("size,kind\n1,s\n2,s,3\n9,l\n8,l\n")
    with pytest.warns(DataWarning, match=r"1 rows of .*bad\.csv cannot be read and are left out"):
        assert NaiveBayes().fit(Request(paths=(str(bad),), on_error="skip"), "kind").tally_.rows.sum() == 3


def test_score_takes_weights_and_leaves_out_rows_without_a_label() -> None:
    frame = pd.DataFrame({**TABLE, "kind": [None, *KINDS[1:]]})
    weight = np.arange(8) + 1.0
    right = MODEL.predict(TABLE) == np.array(KINDS)
    with pytest.warns(DataWarning, match="1 of 8 rows have no label"):
        found = MODEL.score(frame, "kind", sample_weight=weight)
    assert found == pytest.approx(np.average(right[1:], weights=weight[1:]))


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda: MODEL.predict({"size": 1.0, "city": ["Rome", "Oslo"]}),
            "'size': expected a list of values, got float",
        ),
        (
            lambda: MODEL.predict([{"size": 1.0}, {"size": [1.0]}]),
            r"row 1, column 'size': expected a single value, got list",
        ),
        (lambda: MODEL.predict([{"size": {"cm": 3}}]), r"row 0, column 'size': expected a single value, got dict"),
        (lambda: MODEL.predict([{"size": 1.0}, [1.0]]), "row 1: expected a dict as in the rows before, got list"),
        (lambda: MODEL.predict("nowhere.csv"), r"there is no file 'nowhere\.csv'"),
        (lambda: NaiveBayes().fit("nowhere/rows.csv", "kind"), "there is no folder 'nowhere'"),
        (lambda: MODEL.predict(b"rows.csv"), "expected a table, got bytes"),
        (lambda: MODEL.score(TABLE, "kind"), "y='kind' names no column"),
    ],
)
def test_shapes_that_mean_nothing_are_refused(use: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        use()


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("size,kind\n")
    with pytest.raises(InputError, match=r"rows\.csv has no rows"):
        NaiveBayes().fit(tmp_path / "rows.csv", "kind")
