"""Adding many tallies up: the same bits as one after another, whatever the parts are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively import _core
from naively.count.adding import add_all
from naively.count.cells import Cells
from naively.count.stored_vocabulary import Stored, StoredArrays
from naively.count.vocabulary import Vocabulary
from naively.errors import InputError, NaivelyError

Array = np.ndarray[Any, Any]
few = settings(max_examples=40, deadline=None)

WORDS = ["a", "b", "ab", "não", "w" * 15, "w" * 16, "w" * 17, "x1", "incomprehensibilities" * 3]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), min_size=1, max_size=6)
pieces = st.lists(texts, min_size=1, max_size=7)


def classifier(**options: Any) -> Any:
    usual = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 2), "alpha": 1.0, "calibrate": False}
    return naively.TextClassifier(**{**usual, **options})


def fitted(texts: list[str], seed: int, weighted: bool = False, **options: Any) -> Any:
    rng = np.random.default_rng(seed)
    labels = rng.choice(["x", "y", "z"], len(texts)).tolist()
    weight = rng.integers(1, 9, len(texts)) / 4 if weighted else None
    return classifier(**options).fit(texts, labels, weight)


def assert_same_bits(found: Any, expected: Any) -> None:
    assert found.classes.names.tolist() == expected.classes.names.tolist()
    np.testing.assert_array_equal(found.rows, expected.rows)
    mine, theirs = found.part, expected.part
    np.testing.assert_array_equal(mine.rows, theirs.rows)
    for name in ("feature", "klass", "values"):
        one, other = getattr(mine.cells, name), getattr(theirs.cells, name)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    names = np.arange(mine.features.size)
    assert mine.features.size == theirs.features.size
    assert mine.features.names_of(names) == theirs.features.names_of(names)


@pytest.mark.parametrize("weighted", [False, True], ids=["whole", "fractions"])
@pytest.mark.parametrize("options", [{}, {"hashing": 5, "ngrams": (1, 1)}, {"vocabulary": ["a", "ab"]}], ids=str)
@pytest.mark.filterwarnings("ignore::naively.errors.DataWarning")
@few
@given(pieces)
def test_adding_all_gives_the_bits_of_adding_one_after_another(
    options: dict[str, Any], weighted: bool, parts: list[list[str]]
) -> None:
    tallies = [fitted(part, i, weighted, **options).tally_ for i, part in enumerate(parts)]
    assert_same_bits(add_all(iter(tallies)), reduce(add, tallies))


@pytest.mark.filterwarnings("ignore::naively.errors.DataWarning")
@few
@given(pieces, st.randoms(use_true_random=False))
def test_the_order_of_parts_gives_equal_tallies_and_equal_files(parts: list[list[str]], random: Any) -> None:
    models = [fitted(part, i) for i, part in enumerate(parts)]
    shuffled = random.sample(models, len(models))
    one, other = naively.merge(models), naively.merge(iter(shuffled))
    assert one.tally_ == other.tally_
    rows = [text for part in parts for text in part]
    np.testing.assert_array_equal(one.predict_proba(rows), other.predict_proba(rows))


def test_the_parts_are_as_they_were() -> None:
    parts = [["a b", "c"], ["d e a"], ["f", "b a"]]
    models = [fitted(part, i) for i, part in enumerate(parts)]
    before = [model.tally_.part.features.names_of(np.arange(model.tally_.part.features.size)) for model in models]
    total = add_all(model.tally_ for model in models)
    for i, (model, names) in enumerate(zip(models, before, strict=True)):
        features = model.tally_.part.features
        assert features.names_of(np.arange(features.size)) == names
        assert len(features.table) == features.size  # no word of another part is kept
        assert model.tally_ == fitted(parts[i], i).tally_
        assert total - model.tally_ == add_all(m.tally_ for m in models if m is not model)


def test_parts_from_files_are_taken_one_at_a_time(tmp_path: Path) -> None:
    models = [fitted([f"word{i} a b", "c d"], i) for i in range(6)]
    for i, model in enumerate(models):
        model.save(tmp_path / f"{i}.nb")
    alive: list[Any] = []

    def loaded() -> Iterator[Any]:
        import weakref

        for i in range(6):
            model = naively.load(tmp_path / f"{i}.nb")
            alive.append(weakref.ref(model))
            assert sum(reference() is not None for reference in alive) <= 3  # the first, the last and this one
            yield model

    merged = naively.merge(loaded())
    assert merged.tally_ == naively.merge(models).tally_
    merged.save(tmp_path / "merged.nb")
    naively.merge(models[::-1]).save(tmp_path / "other.nb")
    assert (tmp_path / "merged.nb").read_bytes() == (tmp_path / "other.nb").read_bytes()


def test_a_table_with_texts_is_added_up_part_by_part() -> None:
    rng = np.random.default_rng(0)

    def model(seed: int) -> Any:
        rows = {
            "n": rng.normal(size=40),
            "kind": rng.choice(["p", "q", f"r{seed}"], 40),
            "text": [" ".join(rng.choice(WORDS, 5)) + f" own{seed}" for _ in range(40)],
        }
        return naively.NaiveBayes(columns={"text": naively.Text()}, calibrate=False).fit(
            rows, rng.choice(["a", "b"], 40)
        )

    models = [model(i) for i in range(5)]
    tallies = [m.tally_ for m in models]
    assert naively.merge(models).tally_ == reduce(add, tallies) == reduce(add, tallies[::-1])


def test_what_was_counted_otherwise_is_refused() -> None:
    words, hashed = fitted(["a"], 0), fitted(["a"], 0, hashing=5, ngrams=(1, 1))
    for one, other in ((words, hashed), (hashed, words)):
        with pytest.raises(InputError, match="count"):
            add_all([one.tally_, other.tally_])
    with pytest.raises(InputError, match="at least one"):
        naively.merge([])
    with pytest.raises(InputError, match=r"of naively, got builtins\.str"):
        naively.merge("ab")


def test_a_count_beyond_64_bits_is_refused() -> None:
    tally = fitted(["a"], 0).tally_
    large = Cells(tally.part.cells.feature, tally.part.cells.klass, tally.part.cells.values * 0 + (1 << 62))

    part = replace(tally.part, cells=large)
    huge = replace(tally, parts=dict.fromkeys(tally.parts, part))
    with pytest.raises(NaivelyError, match="64 bits"):
        add_all([huge, huge, huge])


# --- the core


@few
@given(st.integers(1, 3), st.lists(st.integers(0, 2**32 - 1), max_size=3), st.integers(0, 2**32 - 1))
def test_a_sum_of_cells_equals_adding_them_in_pairs(planes: int, far: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    growing, total = _core.CellSum(planes), Cells.empty(planes)
    for _ in range(rng.integers(0, 5)):
        features = np.unique([*rng.integers(0, 30, rng.integers(0, 20)), *far]).astype(np.int64)
        pairs = [(f, k) for f in features for k in range(4) if rng.random() < 0.5]
        values = rng.integers(-2, 3, (planes, len(pairs)))
        feature = np.array([f for f, _ in pairs], np.int64)
        cells = Cells.sorted(feature, np.array([k for _, k in pairs], np.int32), values)
        total = total + cells
        order = rng.permutation(len(cells))  # in any order
        growing.add(cells.feature[order], cells.klass[order], np.ascontiguousarray(cells.values[:, order]))
    assert Cells(*growing.take()).same(total)
    assert len(growing.take()[0]) == 0


def test_many_cells_are_sorted_in_as_they_come() -> None:
    rng = np.random.default_rng(0)
    growing, dense = _core.CellSum(2), np.zeros((2, 5, 40_000), np.int64)
    for _ in range(40):
        at = np.sort(rng.choice(200_000, 80_000, replace=False))
        feature, klass = np.divmod(at, 5)
        values = rng.integers(-1, 9, (2, len(at)))
        dense[:, klass, feature] += values
        growing.add(feature, klass.astype(np.int32), values)
    feature, klass, values = growing.take()
    np.testing.assert_array_equal(values, dense[:, klass, feature])
    assert len(feature) == dense.any(axis=0).sum()
    assert (np.diff(feature * 5 + klass) > 0).all()


def test_cells_that_do_not_fit_are_refused() -> None:
    one, klass, values = np.array([1]), np.array([0], np.int32), np.array([[1]])
    growing = _core.CellSum(1)
    for feature in (-1, 2**32):
        with pytest.raises(ValueError, match="feature"):
            growing.add(np.array([feature]), klass, values)
    with pytest.raises(ValueError, match="class"):
        growing.add(one, klass - 1, values)
    with pytest.raises(ValueError, match="planes"):
        growing.add(one, klass, np.array([[1], [1]]))
    with pytest.raises(ValueError, match="length"):
        growing.add(one, klass, np.array([[1, 1]]))
    most = np.array([[2**63 - 1]])
    growing.add(one, klass, most)
    growing.add(one, klass, values)
    with pytest.raises(OverflowError, match="64 bits"):
        growing.take()


# --- names of a file


@few
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), max_size=20), texts)
def test_names_of_a_file_are_taken_in_as_those_of_a_table(listed: list[str], more: list[str]) -> None:
    known, others = Vocabulary.of(more), Vocabulary.of(listed)
    stored = Stored(StoredArrays.of(others))
    (one, moved), (other, moved_too) = known.copied().grown(others), known.copied().grown(stored)
    assert one.names_of(np.arange(one.size)) == other.names_of(np.arange(other.size))
    np.testing.assert_array_equal(moved, moved_too)
    assert "table" not in vars(stored)  # which was not built for it


@pytest.mark.parametrize(
    ("what", "length", "problem"),
    [
        ([0, 9], [1, 1], "outside the bytes"),
        ([0, 1], [1, 2], "outside the bytes"),
        ([0, 0], [2, 2], "outside the bytes"),  # more than all bytes together
        ([2**64 - 1, 1], [1, 1], "outside the bytes"),
        ([0, 0 << 32 | 1], [1, 2**32 - 1], "to come"),
        ([0, 9 << 32], [1, 2**32 - 1], "to come"),
        ([0, 0, 0 << 32 | 1], [1, 2**32 - 1, 2**32 - 1], "one word after another"),
        ([0, 0, 0], [1, 2**32 - 1, 2**32 - 1], "twice"),
        ([0, *(i << 32 for i in range(300))], [1, *[2**32 - 1] * 300], "one word after another"),
    ],
)
def test_names_of_a_file_that_make_no_sense_are_refused(what: list[int], length: list[int], problem: str) -> None:
    none = np.zeros(0, np.uint64)
    core = _core.StoredVocabulary.of(
        np.array(what, np.uint64), np.array(length, np.uint32), np.frombuffer(b"ab", np.uint8), none, none
    )
    with pytest.raises(ValueError, match=problem):
        _core.Vocabulary(0).absorb_stored(0, core)


def test_few_names_are_taken_in_without_copying_the_many() -> None:
    many, little = Vocabulary.of(map(str, range(1000))), Vocabulary.of(["new", "5"])
    both, moved = many.union(little, "test")
    assert both.table is many.table
    assert (many.size, both.size) == (1000, 1001)
    assert moved is not None
    assert moved.tolist() == [1000, 5]
    again, _ = many.union(Vocabulary.of(["other"]), "test")  # the table has grown meanwhile
    assert again.table is not many.table
    assert again.name(1000) == "other"
    assert many.locate(["new"]).tolist() == [-1]
