"""Vocabularies as they lie in a file: the same as the ordinary ones, and harmless whatever the arrays hold."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naively import _core
from naively.count.stored_vocabulary import Stored, StoredArrays, in_order
from naively.count.vocabulary import Vocabulary

Array = np.ndarray[Any, Any]
Arrays = tuple[Array, Array, Array, Array, Array]

some = settings(max_examples=60)

SEQUENCE = 0xFFFFFFFF
EMPTY = 2**64 - 1
KINDS = range(4)
WORDS = ["a", "b", "c", "não", "w" * 15, "w" * 16, "w" * 17, "incomprehensibilities" * 4, "ab", "abc", "不错", "x1"]

words = st.one_of(st.sampled_from(WORDS), st.text("abcdé不\x00\ud800_-. ", min_size=1, max_size=5))
names = st.lists(st.lists(words, min_size=1, max_size=4).map(" ".join), max_size=30)
texts = st.lists(st.lists(words, max_size=12).map(" ".join), max_size=8)


@st.composite
def rules(draw: st.DrawFn) -> Any:
    low = draw(st.integers(1, 3))
    high = draw(st.integers(low, 4))
    kind, stop = draw(st.sampled_from(KINDS)), draw(st.one_of(st.none(), st.lists(st.sampled_from(WORDS), max_size=2)))
    return _core.TokenRules.of(kind, draw(st.booleans()), draw(st.booleans()), low, high, stop)


PLAIN = _core.TokenRules.of(0, True, False, 1, 3, None)


def stored(vocabulary: Vocabulary, size: int | None = None) -> Arrays:
    return vocabulary.table.stored(np.arange(vocabulary.size if size is None else size))


def all_names(vocabulary: Vocabulary) -> list[str]:
    return vocabulary.names_of(np.arange(vocabulary.size))


def assert_same_rows(found: Any, expected: Any) -> None:
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


# --- the same as the ordinary vocabulary


@some
@given(names, texts, rules(), st.booleans(), st.sampled_from([1, 2, 5]), st.data())
def test_texts_are_read_as_by_the_ordinary_vocabulary(
    listed: list[str], documents: list[str], rule: Any, split: bool, threads: int, more: Any
) -> None:
    vocabulary = Vocabulary.of(listed, split=split)
    core = _core.StoredVocabulary.of(*stored(vocabulary))
    read = _core.Texts.of_list(documents + listed)
    size = more.draw(st.integers(0, vocabulary.size))
    place = more.draw(st.one_of(st.none(), st.lists(st.integers(-2, 50), min_size=size, max_size=size + 3)))
    placed = None if place is None else np.array(place, np.int32)
    assert_same_rows(
        core.read(read, rule, threads, placed, size),
        _core.read_fixed(read, rule, threads, vocabulary.table, placed, size),
    )


@some
@given(names, st.booleans(), st.data())
def test_names_are_those_of_the_ordinary_vocabulary(listed: list[str], split: bool, more: Any) -> None:
    vocabulary = Vocabulary.of(listed, split=split)
    core = _core.StoredVocabulary.of(*stored(vocabulary))
    if not vocabulary.size:
        assert core.names(np.zeros(0, np.int64))[0] == b""
        return
    numbers = np.array(more.draw(st.lists(st.integers(0, vocabulary.size - 1), max_size=20)), np.int64)
    data, ends = core.names(numbers)
    expected, expected_ends = vocabulary.table.names(numbers)
    assert data == expected
    np.testing.assert_array_equal(ends, expected_ends)


@some
@given(names, st.data())
def test_the_first_things_alone_can_be_stored(listed: list[str], more: Any) -> None:
    vocabulary = Vocabulary.of(listed)
    size = more.draw(st.integers(0, vocabulary.size))
    part = Vocabulary(vocabulary.table, size)
    read = _core.Texts.of_list(listed)
    assert_same_rows(
        _core.StoredVocabulary.of(*stored(part)).read(read, PLAIN, 1, None, size), part.read(read, PLAIN, 1)
    )


@some
@given(names, names, st.booleans())
def test_a_stored_vocabulary_does_what_the_ordinary_one_does(listed: list[str], others: list[str], split: bool) -> None:
    plain = Vocabulary.of(listed, split=split)
    kept = Stored(StoredArrays.of(plain))
    assert len(kept) == len(plain)
    assert all_names(kept) == all_names(plain)
    assert StoredArrays.of(kept) is kept.arrays
    asked = [*listed, *others]
    np.testing.assert_array_equal(kept.locate(asked, split=split), plain.locate(asked, split=split))
    np.testing.assert_array_equal(kept.order_of(np.arange(kept.size)), plain.order_of(np.arange(plain.size)))
    for mine, theirs in zip(kept.to_arrays(), plain.to_arrays(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    again = pickle.loads(pickle.dumps(kept))
    assert all_names(again) == all_names(plain)
    more = Vocabulary.of(others, split=split)
    grown, moved = kept.grown(more)
    expected, expected_moved = plain.grown(more)
    assert all_names(grown) == all_names(expected)
    np.testing.assert_array_equal(moved, expected_moved)
    assert all_names(kept) == all_names(plain)[: kept.size]


@some
@given(names, texts)
def test_reading_few_texts_and_many_is_the_same(listed: list[str], documents: list[str]) -> None:
    plain = Vocabulary.of(listed)
    few, lots = Stored(StoredArrays.of(plain)), Stored(StoredArrays.of(plain))
    _ = lots.table
    read = _core.Texts.of_list(documents)
    assert_same_rows(few.read(read, PLAIN, 1), lots.read(read, PLAIN, 1))


@some
@given(names, st.data())
def test_an_order_that_depends_on_the_names_alone(listed: list[str], more: Any) -> None:
    one = Vocabulary.of(listed)
    other = Vocabulary.of(more.draw(st.permutations(listed)))
    (ordered, moved), (ordered_too, moved_too) = in_order(one), in_order(other)
    for mine, theirs in zip(stored(ordered), stored(ordered_too), strict=True):
        assert mine.tobytes() == theirs.tobytes()
    for before, numbers in ((one, moved), (other, moved_too)):
        assert sorted(numbers.tolist()) == list(range(before.size))
        assert ordered.names_of(numbers) == all_names(before)
    again, kept = in_order(ordered)
    assert again is ordered
    np.testing.assert_array_equal(kept, np.arange(ordered.size))


@some
@given(st.lists(words, unique=True, max_size=30), st.data())
def test_an_order_of_names_that_are_not_split(listed: list[str], more: Any) -> None:
    one, other = Vocabulary.of(listed, split=False), Vocabulary.of(more.draw(st.permutations(listed)), split=False)
    for mine, theirs in zip(stored(in_order(one)[0]), stored(in_order(other)[0]), strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert all_names(in_order(one)[0]) == sorted(listed, key=lambda name: name.encode("utf-8", "surrogatepass"))


def test_the_longest_sequence_has_a_name() -> None:
    long = " ".join(["a"] * 255)
    vocabulary = Vocabulary.of([long])
    kept = Stored(StoredArrays.of(vocabulary))
    assert kept.name(vocabulary.size - 1) == long
    assert in_order(vocabulary)[0].name(vocabulary.size - 1) == long


def test_what_is_stored_does_not_depend_on_the_key_of_the_hash() -> None:
    listed = [f"word{i}" for i in range(1000)] + [f"word{i} word{i + 1}" for i in range(999)]
    one, other = stored(Vocabulary.of(listed)), stored(Vocabulary.of(listed))
    for mine, theirs in zip(one, other, strict=True):
        assert mine.tobytes() == theirs.tobytes()


def test_arrays_are_held_for_as_long_as_they_are_read() -> None:
    core = _core.StoredVocabulary.of(*(array.copy() for array in stored(Vocabulary.of(["a b", "c"]))))
    gc.collect()
    clutter = [np.full(64, 255, np.uint8) for _ in range(1000)]
    assert core.names(np.arange(4))[0] == b"aba bc"
    assert core.read(_core.Texts.of_list(["a b c"]), PLAIN, 1, None, 4)[1].tolist() == [0, 1, 3, 2]
    assert len(clutter) == 1000


def test_arrays_that_cannot_be_written_will_do() -> None:
    arrays = stored(Vocabulary.of(["a b", "c"]))
    for array in arrays:
        array.setflags(write=False)
    assert _core.StoredVocabulary.of(*arrays).names(np.array([2]))[0] == b"a b"


# --- whatever the arrays hold


def use(arrays: Arrays, documents: list[str], place: bool = False) -> None:
    """Ask everything: there are results, which fit, or a ValueError."""
    try:
        core = _core.StoredVocabulary.of(*arrays)
    except ValueError:
        return
    size = len(arrays[0])
    placed = np.arange(size, dtype=np.int32)[::-1].copy() if place else None
    for rule in (
        PLAIN,
        _core.TokenRules.of(2, True, False, 1, 3, None),
        _core.TokenRules.of(3, False, False, 1, 2, None),
    ):
        starts, column, count = core.read(_core.Texts.of_list(documents), rule, 2, placed, size)
        assert len(starts) == len(documents) + 1
        assert starts[0] == 0
        assert starts[-1] == len(column) == len(count)
        assert (np.diff(starts) >= 0).all()
        assert (count > 0).all()
        assert ((column >= 0) & (column < size)).all()
    for number in range(min(size, 60)):
        try:
            data, ends = core.names(np.array([number]))
        except ValueError:
            continue
        assert ends.tolist() == [len(data)]
        assert len(data) <= 256 * (len(arrays[2]) + 1)
    for odd in (-1, size, 2**31, 2**32 - 1, 2**32, 2**63 - 1, -(2**63)):
        with pytest.raises(ValueError, match="name"):
            core.names(np.array([odd]))
    try:
        whole = Stored(StoredArrays(*arrays))
        _ = whole.table
        assert len(all_names(whole)) == size
    except ValueError:
        return


ODD64 = [0, 1, 2, 3, 7, 2**31, SEQUENCE, 2**32, 2**32 + 1, 2**48, 2**63, EMPTY - 1, EMPTY]
ODD32 = [0, 1, 2, 3, 16, 17, 40, 2**31 - 1, 2**31, SEQUENCE - 1, SEQUENCE]


def odd64(rng: np.random.Generator, many: int) -> Array:
    """Numbers at the edges, two small ones side by side, or anything."""
    ways = [
        rng.choice(np.array(ODD64, np.uint64), many),
        (rng.integers(0, 6, many) << 32 | rng.integers(0, 6, many)).astype(np.uint64),
        rng.integers(0, EMPTY, many, np.uint64, endpoint=True),
    ]
    return np.choose(rng.integers(0, 3, many), ways)


def odd32(rng: np.random.Generator, many: int) -> Array:
    edges, small = rng.choice(np.array(ODD32, np.uint32), many), rng.integers(0, 40, many, np.uint32)
    return np.where(rng.random(many) < 0.5, edges, small)


@pytest.mark.parametrize("seed", range(12))
def test_arrays_of_anything_do_no_harm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        size, slots = int(rng.integers(0, 10)), rng.choice([0, 1, 2, 3, 4, 6, 8, 16], 2)
        data = rng.choice(np.frombuffer(b"aabc \xff\x00", np.uint8), rng.integers(0, 40))
        arrays = odd64(rng, size), odd32(rng, size), data, odd64(rng, slots[0]), odd64(rng, slots[1])
        use(arrays, ["a b c", "", "ab abc a a b"], rng.random() < 0.5)


@pytest.mark.parametrize("seed", range(12))
def test_true_arrays_with_some_forged_numbers_do_no_harm(seed: int) -> None:
    """Hashes stay as they are, so that what is forged is found and looked at."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        listed = [" ".join(rng.choice(WORDS, rng.integers(1, 5))) for _ in range(rng.integers(1, 20))]
        what, length, data, words, sequences = (array.copy() for array in stored(Vocabulary.of(listed)))
        for _ in range(rng.integers(1, 8)):
            at = int(rng.integers(0, len(what)))
            what[at] = odd64(rng, 1)[0] if rng.random() < 0.3 else what[at]
            length[at] = odd32(rng, 1)[0] if rng.random() < 0.3 else length[at]
            for slots in (words, sequences):
                if len(slots):
                    at, number = int(rng.integers(0, len(slots))), rng.choice([*range(40), SEQUENCE - 1, SEQUENCE])
                    slots[at] = (int(slots[at]) >> 32 << 32) | int(number)
        if rng.random() < 0.2:
            data = data[: rng.integers(0, len(data) + 1)].copy()
        use((what, length, data, words, sequences), listed, rng.random() < 0.5)


@some
@given(names.filter(len), st.integers(0, 4), st.data())
def test_true_arrays_of_which_one_is_cut_do_no_harm(listed: list[str], which: int, more: Any) -> None:
    arrays = list(stored(Vocabulary.of(listed)))
    arrays[which] = arrays[which][: more.draw(st.integers(0, len(arrays[which])))].copy()
    use(tuple(arrays), listed)


@pytest.mark.parametrize("hash_", [0, 1, 2**32 - 1])
@pytest.mark.parametrize("slots", [1, 2, 1 << 12])
def test_slots_without_an_empty_one_are_searched_once(slots: int, hash_: int) -> None:
    arrays = stored(Vocabulary.of(["a b", "c"]))
    full = np.full(slots, hash_ << 32, np.uint64)
    use((*arrays[:3], full, full), ["a b c d"] * 3)
    core = _core.StoredVocabulary.of(*arrays[:3], full, full)
    assert core.read(_core.Texts.of_list(["x y z"]), PLAIN, 1, None, 4)[1].tolist() == []


def test_true_slots_with_the_empty_ones_filled_still_find_what_is_there() -> None:
    what, length, data, words, sequences = stored(Vocabulary.of(["a b", "c"]))
    words, sequences = (np.where(slots == EMPTY, SEQUENCE - 1, slots).astype(np.uint64) for slots in (words, sequences))
    core = _core.StoredVocabulary.of(what, length, data, words, sequences)
    assert core.read(_core.Texts.of_list(["a b c d"]), PLAIN, 1, None, 4)[1].tolist() == [0, 1, 3, 2]


def sequences_of(what: list[int]) -> Any:
    """One word, "a", and sequences with these parts behind it."""
    length = np.array([1] + [SEQUENCE] * len(what), np.uint32)
    none = np.zeros(0, np.uint64)
    return _core.StoredVocabulary.of(np.array([0, *what], np.uint64), length, np.frombuffer(b"a", np.uint8), none, none)


@pytest.mark.parametrize(
    ("what", "number"),
    [
        ([1 << 32], 1),  # its own beginning
        ([1], 1),  # its own end
        ([1 << 32 | 1], 1),
        ([2 << 32, 1 << 32], 1),  # each the other's beginning
        ([0 << 32 | 2, 0], 1),  # ends in a sequence
        ([9 << 32], 1),
        ([9], 1),
        ([SEQUENCE << 32 | SEQUENCE], 1),
        ([EMPTY - 1], 1),
        ([i << 32 for i in range(300)], 300),  # longer than any
    ],
)
def test_sequences_that_make_no_sense_have_no_name(what: list[int], number: int) -> None:
    with pytest.raises(ValueError, match="no such name"):
        sequences_of(what).names(np.array([number]))


@pytest.mark.parametrize(
    ("begin", "long"),
    [
        (0, 2),
        (1, 1),
        (2, 0),
        (2**63, 0),
        (EMPTY, 1),
        (EMPTY, 0),
        (0, SEQUENCE - 1),
        (EMPTY - 1, 2),
        (2**32, SEQUENCE - 1),
    ],
)
def test_words_beyond_the_bytes_have_no_name_and_are_not_found(begin: int, long: int) -> None:
    kept = stored(Vocabulary.of(["a"]))
    what, length = np.array([begin], np.uint64), np.array([long], np.uint32)
    core = _core.StoredVocabulary.of(what, length, *kept[2:])
    with pytest.raises(ValueError, match="no such name"):
        core.names(np.array([0]))
    assert core.read(_core.Texts.of_list(["a aa"]), PLAIN, 1, None, 1)[1].tolist() == []
    use((what, length, *kept[2:]), ["a aa", ""])


@pytest.mark.parametrize("slots", [3, 5, 6, 7, 12, 1023])
@pytest.mark.parametrize("which", [3, 4])
def test_a_number_of_slots_that_is_no_power_of_two_is_refused(slots: int, which: int) -> None:
    arrays = list(stored(Vocabulary.of(["a b"])))
    arrays[which] = np.full(slots, EMPTY, np.uint64)
    with pytest.raises(ValueError, match="power of two"):
        _core.StoredVocabulary.of(*arrays)


def test_arrays_that_do_not_fit_are_refused() -> None:
    what, length, *others = stored(Vocabulary.of(["a b"]))
    with pytest.raises(ValueError, match="one length"):
        _core.StoredVocabulary.of(what, length[:-1].copy(), *others)
    for odd in (what.reshape(1, -1), None, "words", [1, 2]):
        with pytest.raises((TypeError, ValueError)):
            _core.StoredVocabulary.of(odd, length, *others)
    core = _core.StoredVocabulary.of(what, length, *others)
    with pytest.raises(ValueError, match="one place"):
        core.read(_core.Texts.of_list(["a"]), PLAIN, 1, np.zeros(2, np.int32), 3)
    with pytest.raises(ValueError, match="no text"):
        core.read(_core.Texts.of_list([3]), PLAIN, 1, None, 3)
    table = Vocabulary.of(["a b"]).table
    for numbers, problem in (
        (np.arange(4), "no such number"),
        (np.array([0, 1, -1]), "no such number"),
        (np.array([0, 0]), "twice"),
        (np.array([2, 0, 1]), "before its parts"),
        (np.array([0, 2]), "before its parts"),
    ):
        with pytest.raises(ValueError, match=problem):
            table.stored(numbers)
    assert len(table.stored(np.array([1, 0, 2]))[0]) == 3


def test_more_names_may_be_asked_for_than_there_are() -> None:
    core = _core.StoredVocabulary.of(*stored(Vocabulary.of(["a b"])))
    assert core.read(_core.Texts.of_list(["a b"]), PLAIN, 1, None, 2**63)[1].tolist() == [0, 1, 2]
    assert core.read(_core.Texts.of_list(["a b"]), PLAIN, 1, None, 0)[1].tolist() == []


def test_numbers_that_lie_askew_are_copied_or_refused() -> None:
    """As in a file whose header ends anywhere."""
    arrays = stored(Vocabulary.of(["a b", "c"]))
    askew = []
    for array in arrays:
        room = np.zeros(array.nbytes + 1, np.uint8)
        room[1:] = array.view(np.uint8)
        askew.append(room[1:].view(array.dtype) if array.itemsize == 1 else np.frombuffer(room.data[1:], array.dtype))
    try:
        core = _core.StoredVocabulary.of(*askew)
    except (TypeError, ValueError):
        return
    assert core.names(np.array([2]))[0] == b"a b"
    assert core.read(_core.Texts.of_list(["a b c"]), PLAIN, 1, None, 4)[1].tolist() == [0, 1, 3, 2]


def test_an_empty_vocabulary_knows_nothing() -> None:
    arrays = stored(Vocabulary.of([]))
    assert [len(array) for array in arrays] == [0] * 5
    core = _core.StoredVocabulary.of(*arrays)
    assert core.read(_core.Texts.of_list(["a", ""]), PLAIN, 1, None, 0)[0].tolist() == [0, 0, 0]
    use(arrays, ["a b"])
    assert in_order(Vocabulary.of([]))[0].size == 0


def test_a_hundred_thousand_words_are_found_one_by_one() -> None:
    listed = [f"w{i}" for i in range(100_000)]
    kept = Stored(StoredArrays.of(Vocabulary.of(listed)))
    starts, column, _ = kept.arrays.core.read(_core.Texts.of_list(listed), PLAIN, 2, None, kept.size)
    np.testing.assert_array_equal(starts, np.arange(100_001))
    np.testing.assert_array_equal(column, np.arange(100_000))
