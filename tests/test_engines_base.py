"""What engines share, in one process: any partitions, batches and order of adding give the model of all rows."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively.engines.base import Prediction, add, finish, planned, prediction
from naively.errors import InputError
from naively.threads import one_thread, threads

sys.path.append(str(Path(__file__).parent / "engines"))
from cases import WORK, Work, check_same, films, flowers


def work_of(work: Work, table: pa.Table) -> Any:
    options = {"text": None, "weight": None} | work.options
    return planned(work.learner(), table.column_names, table.select, work.label, columns=None, **options)


@settings(max_examples=8)
@pytest.mark.parametrize("work", WORK, ids=repr)
@given(data=st.data())
def test_any_partitions_give_the_model_of_all_rows(work: Work, data: st.DataObject) -> None:
    table = work.table()
    table = table.take(np.random.default_rng(data.draw(st.integers(0, 99))).permutation(len(table)))
    cuts = data.draw(st.lists(st.integers(0, len(table)), max_size=6))
    cuts = sorted([0, *cuts, len(table)])
    pieces = [table.slice(begin, end - begin) for begin, end in pairwise(cuts)]
    size = data.draw(st.sampled_from([50, 100_000]))
    counting = work_of(work, work.table())
    parts = data.draw(st.permutations([counting.count(piece.to_batches(size)) for piece in pieces]))
    while len(parts) > 1:
        at = data.draw(st.integers(2, len(parts)))
        parts = [add(parts[:at]), *parts[at:]]
    check_same(work, finish(parts[0]), work.here())


def test_a_partition_without_rows_or_labels_is_the_plan() -> None:
    work = work_of(WORK[0], films())
    none = pa.table({"text": ["a", None], "label": pa.array([None, None], pa.string())})
    assert work.count([]) == work.count([none]) == work.count(films().slice(0, 0).to_batches()) == work.plan
    assert len(work.plan) < 4096


def test_a_partition_without_the_labels_is_refused() -> None:
    work = work_of(WORK[0], films())
    with pytest.raises(InputError, match="no column 'label', which holds the labels"):
        work.count([films().select(["text"])])


def test_one_part_is_not_unpacked_to_be_added() -> None:
    assert add([b"whatever it is"]) == b"whatever it is"


def test_columns_that_are_named_are_used_alone() -> None:
    table = flowers()
    names = ["length", "colour"]
    work = planned(naively.NaiveBayes(), table.column_names, table.select, "label", None, names, None)
    here = naively.NaiveBayes().fit(table.select([*names, "label"]), "label")
    assert finish(work.count(table.to_batches())).tally_ == here.tally_


def test_a_batch_gets_label_and_probability() -> None:
    model, table = WORK[4].here(), flowers().drop_columns(["label"])
    work, fitted = prediction(model, table.column_names, None, "guess", "sure")
    assert fitted is model
    for batch in (table, table.to_batches()[0]):
        found = work.added_to(batch)
        assert found.column_names == [*table.column_names, "guess", "sure"]
        assert found.column("guess").to_pylist() == model.predict(table).tolist()


def test_a_model_is_read_again_when_its_file_has_changed(tmp_path: Path) -> None:
    path, table = tmp_path / "model.nb", films()
    found = []
    for labels in (table["label"].to_pylist(), ["same"] * len(table)):
        naively.TextClassifier(choose=False).fit(table["text"], labels).save(path)
        found.append(Prediction(str(path), ("text",), "text").of(table)[0].unique().to_pylist())
    assert [len(labels) for labels in found] == [2, 1]


def test_a_worker_uses_one_thread_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NAIVELY_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    with one_thread():
        assert threads() == 1
    assert threads() == 3
    monkeypatch.setenv("NAIVELY_THREADS", "2")
    with one_thread():
        assert threads() == 2


@pytest.mark.parametrize("name", ["spark", "dask", "ray"])
def test_an_engine_that_is_not_installed_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    library = {"spark": "pyspark"}.get(name, name)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"naively.engines.{name}", raising=False)
    with pytest.raises(ImportError, match=rf"naively\.{name} needs {library}.*: pip install 'naively\[{name}\]'"):
        getattr(naively, name)
