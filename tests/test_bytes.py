"""Models as bytes: those of the file, checked like a file; and compressed ones."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from families import CASES, Case

import naively
from naively.errors import FileError
from naively.store.packed import packed

FRAME = b"\x28\xb5\x2f\xfd"
SAVED = [case for case in CASES if not case.name.startswith("pipeline")]


def film_model(**options: Any) -> Any:
    texts, labels = naively.film_reviews()
    return naively.TextClassifier(**{"alpha": 1.0, "family": "multinomial", **options}).fit(texts, labels)


@pytest.mark.parametrize("case", SAVED, ids=repr)
def test_a_model_goes_to_bytes_and_back(case: Case, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (60, 3)), rng.choice(["a", "b"], 60)
    model = case.make().fit(case.rows(X), y)
    data = model.to_bytes()
    model.save(tmp_path / "model.nb")
    assert data == (tmp_path / "model.nb").read_bytes()
    for again in (naively.from_bytes(data), type(model).from_bytes(packed(data)), naively.from_bytes(bytearray(data))):
        assert again.tally_ == model.tally_
        np.testing.assert_array_equal(again.predict_proba(case.rows(X)), model.predict_proba(case.rows(X)))
        assert again.to_bytes() == data


def test_bytes_of_a_frozen_model_are_those_of_a_frozen_file(tmp_path: Path) -> None:
    model = film_model()
    model.save(tmp_path / "model.nb", frozen=True)
    frozen = model.to_bytes(frozen=True)
    assert frozen == (tmp_path / "model.nb").read_bytes()
    assert len(frozen) < len(model.to_bytes())
    np.testing.assert_array_equal(naively.from_bytes(frozen).predict(["dull", "fine"]), model.predict(["dull", "fine"]))


def test_parts_are_sent_as_bytes_and_merged() -> None:
    texts, labels = naively.film_reviews()
    parts = [
        naively.TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 2), alpha=1.0, calibrate=False)
        .fit(texts[i::4], labels[i::4])
        .to_bytes()
        for i in range(4)
    ]
    whole = film_model(weighting="counts", ngrams=(1, 2), calibrate=False)
    assert naively.merge(map(naively.from_bytes, parts)).tally_ == whole.tally_


def test_bytes_of_another_class_are_refused() -> None:
    data = film_model().to_bytes()
    with pytest.raises(FileError, match="'TextClassifier', not a NaiveBayes"):
        naively.NaiveBayes.from_bytes(data)


@pytest.mark.parametrize("compressed", [False, True])
def test_damaged_bytes_are_refused(compressed: bool) -> None:
    plain = film_model().to_bytes()
    rng = np.random.default_rng(0)
    for at in [*rng.integers(0, len(plain), 30), 0, 7, 8, len(plain) - 1]:
        forged = bytearray(plain)
        forged[at] ^= 0x55
        with pytest.raises(FileError):
            naively.from_bytes(packed(bytes(forged)) if compressed else bytes(forged))
    for cut in [0, 1, 7, 8, 100, len(plain) // 2, len(plain) - 1]:
        with pytest.raises(FileError):
            naively.from_bytes(packed(plain[:cut]) if compressed else plain[:cut])


def test_a_frame_that_is_cut_off_or_damaged_is_refused() -> None:
    data = packed(film_model().to_bytes())
    assert data.startswith(FRAME)
    for cut in [4, 5, 20, len(data) // 2, len(data) - 1]:
        with pytest.raises(FileError, match="bytes of a model"):
            naively.from_bytes(data[:cut])
    for odd in (FRAME, FRAME + b"nothing", b"", b"PK\x03\x04", pickle.dumps({"a": 1})):
        with pytest.raises(FileError):
            naively.from_bytes(odd)


def test_few_bytes_do_not_fill_the_memory() -> None:
    bomb = pa.compress(bytes(64 << 20), codec="zstd", asbytes=True)
    with pytest.raises(FileError, match="unpack to more than 1000 times as many"):
        naively.from_bytes(bomb)
    zeros = bytes(64 << 20)
    assert packed(zeros) is zeros  # what could not be read again is not packed


def test_what_is_no_bytes_is_refused() -> None:
    for odd in ("text", 3, None, [1, 2]):
        with pytest.raises(TypeError, match="bytes"):
            naively.from_bytes(odd)
