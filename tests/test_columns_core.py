"""The compiled core, column by column, equals plain-Python references, and never reads out of bounds."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reference import as_fractions, in_units

from naively import _core

TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8]
LOWEST = -(2**31)
small = settings(max_examples=40)
many_times = settings(max_examples=100)
every_type = pytest.mark.parametrize("dtype", TYPES)
seeds = st.integers(0, 2**32 - 1)
finite = st.floats(allow_nan=False, allow_infinity=False)


Sums = dict[tuple[Any, int], Fraction]


def sums(names: list[Any], klass: Any, weight: Any) -> Sums:
    """The weight of each name and class, where there is any."""
    found: Sums = defaultdict(Fraction)
    for name, c, w in zip(names, klass.tolist(), weight, strict=True):
        found[name, c] += Fraction(in_units(w), 2**64)
    return {k: v for k, v in sorted(found.items()) if v}


def split(names: list[Any], klass: Any, classes: int, weight: Any) -> tuple[Sums, list[Fraction]]:
    """The same of what is there; and what is missing (None), class by class."""
    there = np.array([name is not None for name in names], bool)
    gone = sums([None] * int((~there).sum()), klass[~there], weight[~there])
    return sums([n for n in names if n is not None], klass[there], weight[there]), [
        gone.get((None, c), Fraction(0)) for c in range(classes)
    ]


def same_cells(name: Any, klass: Any, value: Any, want: Sums) -> None:
    assert list(zip(name.tolist(), klass.tolist(), strict=True)) == list(want)
    assert as_fractions(value) == list(want.values())


def column(rng: Any, dtype: Any, rows: int) -> Any:
    """Numbers of all sizes, many of them equal, and some missing where the type can say so."""
    if np.dtype(dtype).kind == "f":
        x = rng.normal(rng.choice([0, 5, 1000]), 1, rows) * 10.0 ** rng.integers(-4, 5, rows)
        x = np.where(rng.random(rows) < 0.4, rng.integers(-5, 6, rows), x)
        return np.where(rng.random(rows) < rng.choice([0, 0.1, 0.9]), np.nan, x).astype(dtype)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    ends = [0, 256] if dtype == np.uint8 else [-3, 4]
    wide = rng.integers(low, high, rows, dtype, endpoint=True)
    return np.where(rng.random(rows) < rng.choice([0, 0.1]), wide, rng.integers(*ends, rows).astype(dtype))


@st.composite
def labels(draw: st.DrawFn, least: int = 0) -> tuple[Any, Any, int, Any, Any]:
    """A generator, labels, how many classes (above 64 there is another path), weights or None, and these as numbers."""
    rng = np.random.default_rng(draw(seeds))
    rows, classes = draw(st.integers(least, 30) | st.just(1100)), draw(st.sampled_from([1, 3, 9, 64, 65, 200]))
    kind = draw(st.sampled_from(["none", "whole", "fractions"]))
    weight = rng.integers(0, 4, rows) * (1.0 if kind == "whole" else 0.1 + rng.random(rows))
    klass = rng.integers(0, classes, rows).astype(np.int32)
    return rng, klass, classes, None if kind == "none" else weight, np.ones(rows) if kind == "none" else weight


def equal(a: Any, b: Any) -> bool:
    """Whether two results are the same, bit for bit."""
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(equal, a, b))
    return np.array_equal(a, b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)


@small
@given(labels(), st.lists(st.sampled_from(TYPES), max_size=9), st.sampled_from([1, 50]), st.integers(1, 3))
def test_sums_of_columns_are_those_of_a_matrix(drawn: Any, types: Any, copies: int, threads: int) -> None:
    rng, klass, classes, weight, _ = drawn
    columns = [column(rng, dtype, len(klass)) for dtype in types] * copies
    matrix = np.array(columns, np.float64).reshape(len(columns), len(klass)).T.copy()
    if len(columns) and len(klass) and rng.random() < 0.2:
        j = int(rng.integers(len(columns)))
        columns[j] = columns[j].astype(np.float64)
        columns[j][-1] = matrix[-1, j] = np.inf
    found = _core.count_columns_exactly(columns, klass, classes, weight, threads)
    assert equal(found, _core.count_exactly(matrix, klass, classes, weight, 1))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@small
@given(st.data())
def test_the_first_infinity_of_a_column_is_told(dtype: Any, draw: Any) -> None:
    rng, klass, *_ = draw.draw(labels(1))
    good, bad = column(rng, np.int32, len(klass)), column(rng, dtype, len(klass))
    rows = draw.draw(st.sets(st.integers(0, len(klass) - 1), min_size=1, max_size=3))
    bad[list(rows)] = draw.draw(st.sampled_from([np.inf, -np.inf]))
    columns = [_core.Column.of_bins(x, np.zeros(0)) for x in (good, bad)]
    assert _core.read_codes(columns, len(bad), 2)[1] == (1, min(rows), 1)


@every_type
@small
@given(seeds, st.integers(0, 150), st.integers(0, 80))
def test_a_code_is_the_number_of_bins_that_begin_up_to_the_number(dtype: Any, seed: int, rows: int, many: int) -> None:
    rng = np.random.default_rng(seed)
    x = column(rng, dtype, rows)
    known = [v for v in x.astype(np.float64).tolist() if not math.isnan(v)] or [0.0]
    edges = np.unique(rng.choice(known, many) + rng.choice([0.0, 0.0, 0.5, -1e-9], many))
    columns = [_core.Column.of_bins(x, at) for at in (edges, edges[:0])]
    codes, fault = _core.read_codes(columns, len(x), 1 + seed % 2)
    assert fault is None
    assert codes.dtype == np.int32
    values = x.astype(np.float64).tolist()
    assert codes[:, 1].tolist() == [LOWEST if math.isnan(v) else 0 for v in values]
    assert codes[:, 0].tolist() == [LOWEST if math.isnan(v) else int((edges <= v).sum()) for v in values]


@many_times
@given(finite, finite)
def test_bins_begin_in_the_order_of_the_numbers(x: float, y: float) -> None:
    codes, _ = _core.read_codes([_core.Column.of_bins(np.array([x, y]), np.sort([x, y]))], 2, 1)
    assert codes[:, 0].tolist() == [1 + (x >= y), 1 + (y >= x)]


@st.composite
def whole(draw: st.DrawFn, dtype: Any, rows: int) -> Any:
    """Whole numbers that lie close together (the lowest and highest of the type among them) or far apart."""
    kind = np.dtype(dtype).kind
    low, high = (-(2**53) + 1, 2**53 - 1) if kind == "f" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    low, high = (-(2**24), 2**24) if dtype == np.float32 else (low, high)
    middle = draw(st.sampled_from([low, high, 0]) | st.integers(low, high))
    width = draw(st.sampled_from([0, 5, 1000, 10**6, 2**20 - 1, 2**20, 2**64]))
    near = st.integers(max(low, middle - width // 2), min(high, middle + width // 2))
    holes = st.just(np.nan) if kind == "f" else st.nothing()
    pool = draw(st.lists(near | holes, min_size=1, max_size=8))
    return np.array(draw(st.lists(st.sampled_from(pool), min_size=rows, max_size=rows)), dtype)


def places(x: Any) -> list[int | None]:
    return [None if v != v else int(v) for v in x.tolist()]


def spread(numbers: list[int | None]) -> int:
    known = [n for n in numbers if n is not None]
    return max(known) - min(known) if known else 0


@every_type
@small
@given(st.data())
def test_whole_numbers_are_coded_by_their_place(dtype: Any, draw: Any) -> None:
    x = draw.draw(whole(dtype, draw.draw(st.integers(0, 20))))
    codes, distinct, odd, narrow = _core.whole_codes(x)
    numbers = places(x)
    assert odd == -1
    assert narrow or spread(numbers) > 10**6
    assert not narrow or spread(numbers) < 2**22
    if narrow:
        want = sorted({n for n in numbers if n is not None})
        assert distinct.tolist() == want
        assert codes.tolist() == [-1 if n is None else want.index(n) for n in numbers]


@small
@given(st.data())
def test_whole_numbers_are_counted_as_the_reference_does(draw: Any) -> None:
    _, klass, classes, weight, weights = draw.draw(labels())
    klass, weights = klass[:20], weights[:20]
    weight = None if weight is None else weights
    types = draw.draw(st.lists(st.sampled_from(TYPES), max_size=4))
    columns = [draw.draw(whole(dtype, len(klass))) for dtype in types]
    found = _core.count_whole(columns, klass, classes, weight, 1)
    assert equal(found, _core.count_whole(columns, klass, classes, weight, 2))
    assert len(found) == len(types)
    for x, (cells, lost, odd, narrow) in zip(columns, found, strict=True):
        numbers = places(x)
        assert odd == -1
        assert narrow or spread(numbers) >= 1000
        assert not narrow or spread(numbers) < 2**22
        if narrow:
            want, gone = split(numbers, klass, classes, weights)
            same_cells(*cells, want)
            assert as_fractions(lost) == gone


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@small
@given(st.data())
def test_the_first_row_that_is_not_whole_is_told(dtype: Any, draw: Any) -> None:
    x = draw.draw(whole(dtype, draw.draw(st.integers(1, 20))))
    rows = draw.draw(st.sets(st.integers(0, len(x) - 1), min_size=1))
    x[list(rows)] = draw.draw(st.sampled_from([0.5, -0.25, 1e-30, np.inf, -np.inf, 2.0**53, -1e30]))
    assert _core.whole_codes(x)[2] == min(rows)
    klass = np.zeros(len(x), np.int32)
    assert [part[2] for part in _core.count_whole([x, 0 * klass], klass, 1, None, 2)] == [min(rows), -1]


@pytest.mark.parametrize(
    ("values", "distinct"),
    [
        ([-0.0, 0.0], [0]),
        ([np.nan, np.nan], []),
        (np.array([2**63 - 1, 2**63 - 3]), [2**63 - 3, 2**63 - 1]),
        (np.array([-(2**63), 1 - 2**63]), [-(2**63), 1 - 2**63]),
        (np.array([-(2**63), 2**63 - 1]), None),
        ([1 - 2.0**53, 2.0**53 - 1], None),
        (np.array([-1, 0], np.int32), [-1, 0]),
        *[(np.zeros(0, dtype), []) for dtype in TYPES],
    ],
)
def test_whole_numbers_at_the_ends(values: Any, distinct: list[int] | None) -> None:
    x = np.asarray(values)
    codes, found, odd, narrow = _core.whole_codes(x)
    klass = np.zeros(len(x), np.int32)
    (((number, _, value), lost, odd_too, narrow_too),) = _core.count_whole([x], klass, 1, None, 1)
    assert odd == odd_too == -1
    assert narrow == narrow_too == (distinct is not None)
    if distinct is not None:
        assert found.tolist() == number.tolist() == distinct
        assert value.sum() + lost.sum() == len(x) == len(codes)


@small
@given(labels(), st.integers(1, 12))
def test_a_column_of_codes_is_counted_as_the_reference_does(drawn: Any, size: int) -> None:
    rng, klass, classes, weight, weights = drawn
    codes = rng.integers(0, size, len(klass)).astype(np.int32)
    codes[rng.random(len(codes)) < 0.2] = LOWEST
    want = sums(np.where(codes == LOWEST, size, codes).tolist(), klass, weights)
    found = as_fractions(_core.count_column(codes, klass, classes, weight, size))
    assert {place: n for place, n in zip(np.ndindex(size + 1, classes), found, strict=True) if n} == want


@small
@given(labels(1), st.integers(0, 12), st.data())
def test_codes_out_of_range_are_refused(drawn: Any, size: int, draw: Any) -> None:
    rng, klass, classes, weight, _ = drawn
    codes = rng.integers(0, size, len(klass)).astype(np.int32) if size else np.full(len(klass), LOWEST, np.int32)
    assert _core.count_column(codes, klass, classes, weight, size).shape[:2] == (size + 1, classes)
    codes[draw.draw(st.integers(0, len(codes) - 1))] = draw.draw(st.sampled_from([-1, size, 2**31 - 1, LOWEST + 1]))
    with pytest.raises(ValueError, match="out of range"):
        _core.count_column(codes, klass, classes, weight, size)


offset_types = pytest.mark.parametrize("offset", [np.int32, np.int64])
stems = st.sampled_from([b"", b"a", b"\0", b"\0a", *(b"x" * n for n in (14, 15, 16, 17, 31, 32, 33))])
texts = st.builds(bytes.__add__, stems, st.sampled_from([b"", b"\0", b"\0\0", b"a", b"b", "é".encode()]))


def buffers(words: list[bytes | None], offset: Any, front: bytes, behind: bytes) -> tuple[Any, Any, Any]:
    """Offsets, bytes and marks of missing texts, as those of part of a longer column."""
    parts = [b"junk" if word is None else word for word in words]
    offsets = np.cumsum([len(front), *map(len, parts)]).astype(offset)
    data = np.frombuffer(front + b"".join(parts) + behind, np.uint8)
    return offsets, data, np.array([word is None for word in words], np.uint8)


@offset_types
@many_times
@given(
    st.lists(texts | st.none(), max_size=40),
    st.sampled_from([b"", b"a", b"x" * 20]),
    st.sampled_from([b"", b"x" * 9, b"x" * 40]),
    st.integers(0, 2**64 - 1),
)
def test_equal_texts_get_equal_numbers(
    offset: Any, words: list[bytes | None], front: bytes, behind: bytes, seed: int
) -> None:
    offsets, data, missing = buffers(words, offset, front, behind)
    distinct = list(dict.fromkeys(word for word in words if word is not None))
    codes, firsts = _core.encode_strings(offsets, data, missing, seed)
    assert codes.tolist() == [-1 if word is None else distinct.index(word) for word in words]
    assert firsts.tolist() == [words.index(word) for word in distinct]
    plain = [b"junk" if word is None else word for word in words]
    codes, firsts = _core.encode_strings(offsets, data, None, seed)
    assert [plain[i] for i in firsts] == list(dict.fromkeys(plain))
    assert [plain[firsts[code]] for code in codes] == plain


@offset_types
@pytest.mark.parametrize("length", [4, 15, 16, 17, 33])
def test_many_texts_that_differ_only_at_the_end_are_told_apart(offset: Any, length: int) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.permutation(np.repeat(np.arange(5000), 2)).tolist()
    words: list[bytes | None] = [b"%0*d" % (length, number) for number in numbers]
    codes, firsts = _core.encode_strings(*buffers(words, offset, b"", b""), 7)
    distinct = {number: place for place, number in enumerate(dict.fromkeys(numbers))}
    assert codes.tolist() == [distinct[number] for number in numbers]
    assert [numbers[i] for i in firsts] == list(distinct)


@offset_types
@small
@given(st.lists(texts, min_size=1, max_size=10), st.data())
def test_damaged_offsets_are_refused(offset: Any, words: list[bytes | None], draw: Any) -> None:
    offsets, data, missing = buffers(words, offset, b"12345", b"")
    at = draw.draw(st.integers(0, len(words)))
    ends = [-1, np.iinfo(offset).min, np.iinfo(offset).max, len(data) + 1]
    offsets[at] = draw.draw(st.sampled_from(ends + ([int(offsets[at - 1]) - 1] if at else [])))
    for marks in (None, missing, 1 - missing):
        with pytest.raises(ValueError, match=r"\w+"):
            _core.encode_strings(offsets, data, marks, 0)


@offset_types
def test_buffers_that_do_not_fit_are_refused(offset: Any) -> None:
    offsets, data, missing = buffers([b"a", b"b"], offset, b"", b"")
    for wrong in ((offsets[:0], data, None), (offsets, data, missing[:1]), (offsets, data[:1], None)):
        with pytest.raises(ValueError, match=r"\w+"):
            _core.encode_strings(*wrong, 0)
    assert [part.tolist() for part in _core.encode_strings(offsets[:1], data[:0], None, 0)] == [[], []]


def entropy(counts: list[float]) -> float:
    total = math.fsum(counts)
    return -math.fsum(n / total * math.log2(n / total) for n in counts if n > 0) if total > 0 else 0.0


def gain_and_price(whole: Any, left: Any, right: Any) -> tuple[float, float]:
    """What a cut saves for each row, and what it must save, after Fayyad and Irani (1993)."""
    (n, a, b), (k, k1, k2) = zip(*((math.fsum(p), sum(x > 0 for x in p)) for p in (whole, left, right)), strict=True)
    all_bits, one, two = map(entropy, (whole, left, right))
    change = math.log2(3**k - 2) - (k * all_bits - k1 * one - k2 * two)
    return all_bits - a / n * one - b / n * two, (math.log2(n - 1) + change) / n


def cuts_of(counts: Any, begin: int, end: int) -> list[int] | None:
    """Where to cut; None where rounding decides."""
    parts = [(i, [counts[a:b].sum(axis=0).tolist() for a, b in ((begin, i), (i, end))]) for i in range(begin + 1, end)]
    whole = counts[begin:end].sum(axis=0).tolist()
    parts = [(i, sides) for i, sides in parts if all(map(any, sides))]
    if not parts or math.fsum(whole) <= 1 or sum(n > 0 for n in whole) < 2:
        return []
    (gain, price, cut), *others = sorted(((*gain_and_price(whole, *sides), i) for i, sides in parts), reverse=True)
    if abs(gain - price) < 1e-9:
        return None
    if gain < price:
        return [] if all(other[0] < gain - 1e-9 or other[0] < other[1] - 1e-9 for other in others) else None
    if others and others[0][0] > gain - 1e-9:
        return None
    left, right = cuts_of(counts, begin, cut), cuts_of(counts, cut, end)
    return None if left is None or right is None else [*left, cut, *right]


@settings(max_examples=150)
@given(seeds, st.integers(1, 6), st.integers(1, 5), st.integers(0, 9), st.booleans())
def test_cuts_are_those_of_the_shortest_description(
    seed: int, classes: int, parts: int, cells: int, fractions: bool
) -> None:
    rng = np.random.default_rng(seed)
    shares = np.repeat(rng.dirichlet(np.full(classes, 0.4), parts), cells, axis=0)
    counts = rng.poisson(shares * rng.choice([3, 20, 200])) * (0.5 + rng.random(shares.shape) if fractions else 1.0)
    want = cuts_of(counts, 0, len(counts))
    assume(want is not None)
    assert _core.description_length_cuts(counts).tolist() == want


@pytest.mark.parametrize(
    ("counts", "cuts"),
    [
        ([[1, 0], [0, 1]], [1]),
        ([[2, 1], [1, 2]], []),
        ([[50, 0], [50, 0], [0, 50]], [2]),
        ([[30, 0, 0], [0, 30, 0], [0, 0, 31]], [1, 2]),
        ([[50, 0], [0, 50], [50, 0]], [1, 2]),
        ([[5, 5]] * 9, []),
        ([[9], [9]], []),
        ([[0.0, 0.0]] * 3, []),
        (np.zeros((0, 2)), []),
        (np.zeros((2, 0)), []),
    ],
)
def test_cuts_of_plain_counts(counts: Any, cuts: list[int]) -> None:
    assert _core.description_length_cuts(np.array(counts, np.float64)).tolist() == cuts


ONE, LABEL = np.ones(1), np.zeros(1, np.int32)
WEIGHTS = np.zeros((1, 4)), np.zeros((1, 4)), np.array([0]), np.array([1])
NOTHING = np.zeros((0, 4)), np.zeros((0, 4)), np.zeros(0, np.int64), np.zeros(0, np.int64)


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.count_columns_exactly([ONE, np.ones(2)], LABEL, 1, None, 1),
        lambda: _core.count_columns_exactly([ONE], LABEL + 1, 1, None, 1),
        lambda: _core.count_columns_exactly([ONE], LABEL, 1, np.ones(2), 1),
        lambda: _core.read_codes([_core.Column.of_codes(LABEL)], 2, 1),
        lambda: _core.score_columns([([_core.Column.of_codes(LABEL)], *WEIGHTS)], 2, 1, 1),
        lambda: _core.score_columns([([], *WEIGHTS)], 1, 1, 1),
        lambda: _core.score_columns([], 1, 1, 1),
        lambda: _core.score_columns([([], *NOTHING)], 1, 0, 1),
        lambda: _core.score_columns([([_core.Column.of_codes(LABEL)], *WEIGHTS)], 1, 5, 1),
        lambda: _core.score_columns([([_core.Column.of_codes(LABEL)], *WEIGHTS[:3], np.array([2]))], 1, 1, 1),
        lambda: _core.score_columns([([_core.Column.of_codes(LABEL)], *WEIGHTS[:3])], 1, 1, 1),
        lambda: _core.score_columns([([], *NOTHING), ([], *(np.zeros((0, 8)),) * 2, *NOTHING[2:])], 1, 1, 1),
        lambda: _core.decide_columns([([_core.Column.of_codes(LABEL)], *WEIGHTS)], 1, np.zeros(0), 1),
        lambda: _core.decide_columns([([_core.Column.of_codes(LABEL)], *WEIGHTS)], 1, np.zeros(5), 1),
        lambda: _core.count_whole([np.ones(2)], LABEL, 1, None, 1),
        lambda: _core.count_whole([ONE], LABEL - 1, 1, None, 1),
        lambda: _core.count_column(LABEL, np.zeros(2, np.int32), 1, None, 1),
        lambda: _core.count_column(LABEL, LABEL + 1, 1, None, 1),
        lambda: _core.count_column(LABEL, LABEL, 1, None, 2**32),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"\w+"):
        call()


@pytest.mark.parametrize("threads", [1, 2])
def test_types_that_the_core_does_not_read_are_refused(threads: int) -> None:
    odd = np.ones(1, np.int16)
    for call in (
        lambda: _core.count_columns_exactly([odd, odd], LABEL, 1, None, threads),
        lambda: _core.count_whole([odd, odd], LABEL, 1, None, threads),
        lambda: _core.whole_codes(odd),
        lambda: _core.Column.of_bins(odd, np.zeros(0)),
        lambda: _core.Column.of_numbers(odd, _core.KnownNumbers.of(np.zeros(0, np.int64))),
    ):
        with pytest.raises(TypeError):
            call()


def packed(words: list[bytes]) -> tuple[Any, Any]:
    offsets, data, _ = buffers(words, np.int64, b"", b"")
    return offsets, data


def bits(marks: Any, first: int) -> Any:
    """A bit for each text that is there, behind some others."""
    return np.packbits(np.concatenate([np.ones(first, np.uint8), 1 - marks]), bitorder="little")


def text_column(words: list[bytes | None], known: Any, offset: Any, behind: bytes, first: int) -> _core.Column:
    offsets, data, missing = buffers(words, offset, b"xy", behind)
    return _core.Column.of_texts(offsets, data, bits(missing, first) if missing.any() else None, first, known)


@offset_types
@many_times
@given(
    st.lists(st.lists(texts | st.none(), min_size=5, max_size=5), min_size=1, max_size=4),
    st.lists(texts, unique=True, max_size=20),
    st.binary(max_size=40),
    st.integers(0, 9),
    seeds,
    st.sampled_from([1, 2]),
)
def test_texts_are_looked_up_among_those_known(
    offset: Any,
    columns: list[list[bytes | None]],
    known: list[bytes],
    behind: bytes,
    first: int,
    seed: int,
    threads: int,
) -> None:
    core = _core.KnownTexts.of(*packed(known), seed)
    found, fault = _core.read_codes([text_column(c, core, offset, behind, first) for c in columns], 5, threads)
    want = [
        [LOWEST if word is None else known.index(word) if word in known else len(known) for word in words]
        for words in columns
    ]
    assert fault is None
    assert found.T.tolist() == want


@pytest.mark.parametrize(
    "known",
    [
        [b"2024-01-%02d" % day for day in range(1, 32)],
        [b"%s-the-same-middle-%s" % (a, b) for a in (b"left", b"west") for b in (b"east", b"up")],
        [b"the same sixteen" * 2, b"the same sixteen", b"the same sixteem"],
        [b"%032d" % number for number in range(100)],
        [b"a", b"a\0", b"a\0\0", b"", b"\0"],
        [b"long-" * 9 + b"a", b"long-" * 9 + b"b"],
        [b"%d" % number for number in range(3000)],
    ],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_texts_that_are_much_alike_are_told_apart(known: list[bytes], threads: int) -> None:
    rng = np.random.default_rng(len(known))
    strangers = [known[0] + b"!", known[0][:-1], known[-1] + b"\0", known[-1].replace(b"a", b"b") + b"c", b"x" * 99]
    words: list[bytes | None] = [*known, *strangers, None] * (1 + 5000 // len(known))
    rng.shuffle(words)
    column = text_column(words, _core.KnownTexts.of(*packed(known), 5), np.int64, b"", 3)
    codes, _ = _core.read_codes([column], len(words), threads)
    numbers = {word: number for number, word in enumerate(known)}
    assert codes[:, 0].tolist() == [LOWEST if w is None else numbers.get(w, len(known)) for w in words]


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
@pytest.mark.parametrize("farthest", [1, 90, 60_000, 70_000, 2**40])
def test_bins_of_whole_numbers_near_and_far(dtype: Any, farthest: int) -> None:
    rng = np.random.default_rng(farthest)
    ends = np.iinfo(dtype)
    x = rng.integers(max(ends.min, -farthest), min(ends.max, 2 * farthest), 70_000, dtype=dtype, endpoint=True)
    x[:4] = [ends.min, ends.max, 0, min(farthest, ends.max)]
    for least in (0.0, -3.5, 0.25):
        edges = np.unique([least, least + farthest / 2, float(farthest)])
        codes, fault = _core.read_codes([_core.Column.of_bins(x, edges)], len(x), 2)
        assert fault is None
        assert np.array_equal(codes[:, 0], np.searchsorted(edges, x.astype(np.float64), side="right"))


def test_damaged_texts_are_not_looked_up() -> None:
    offsets, data = packed([b"abc", b"d"])
    known = _core.KnownTexts.of(*packed([b"d"]), 0)
    assert _core.read_codes([_core.Column.of_texts(offsets, data, None, 0, known)], 2, 1)[0].tolist() == [[1], [0]]
    none = np.zeros(0, np.int64)
    far = 2**62
    for at in (offsets + 9, offsets[::-1].copy(), offsets - 1, np.array([0, far, -far]), np.array([0, -far, 4])):
        damaged = _core.Column.of_texts(at, data, None, 0, known)
        with pytest.raises(ValueError, match="outside the data"):
            _core.read_codes([damaged], 2, 1)
        with pytest.raises(ValueError, match="outside the data"):
            _core.score_columns([([damaged], *WEIGHTS)], 2, 1, 1)
    for call in (
        lambda: _core.Column.of_texts(none, data, None, 0, known),
        lambda: _core.Column.of_texts(offsets, data, np.zeros(0, np.uint8), 0, known),
        lambda: _core.Column.of_texts(offsets, data, np.zeros(1, np.uint8), 7, known),
        lambda: _core.Column.of_texts(offsets, data, np.zeros(1, np.uint8), 2**63, known),
        lambda: _core.KnownTexts.of(np.array([0, 5]), data, 0),
        lambda: _core.KnownTexts.of(none, data, 0),
    ):
        with pytest.raises(ValueError, match=r"\w+"):
            call()


@every_type
@small
@given(st.data())
def test_whole_numbers_are_looked_up_among_those_known(dtype: Any, data: st.DataObject) -> None:
    limits = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
    low, high = (-(2**24), 2**24) if limits is None else (int(limits.min), int(limits.max))
    whole = st.integers(low, high) | st.integers(max(low, -9), min(high, 9))
    known = data.draw(st.lists(whole, unique=True, max_size=20))
    listed: list[Any] = data.draw(st.lists(st.sampled_from(known) | whole if known else whole, max_size=30))
    if limits is None:
        listed = [x + data.draw(st.sampled_from([0.0, 0.0, 0.5, math.nan])) if abs(x) < 2**20 else x for x in listed]
    core = _core.KnownNumbers.of(np.array(known, np.int64))
    found, fault = _core.read_codes([_core.Column.of_numbers(np.array(listed, dtype), core)], len(listed), 1)
    places = {x: i for i, x in enumerate(known)}
    assert fault is None
    assert found[:, 0].tolist() == [LOWEST if x != x else places.get(x, len(known)) for x in listed]


@pytest.mark.parametrize(("odd", "kind"), [(math.inf, 1), (-math.inf, 1), (2.0**53, 3)])
def test_what_is_no_whole_number_is_told_of(odd: float, kind: int) -> None:
    columns = [
        _core.Column.of_codes(np.zeros(3, np.int32)),
        _core.Column.of_numbers(np.array([1.0, odd, odd]), _core.KnownNumbers.of(np.array([1]))),
    ]
    assert _core.read_codes(columns, 3, 1)[1] == (kind, 1, 1)
    terms = [([column], *WEIGHTS) for column in columns]
    assert _core.score_columns(terms, 3, 1, 1)[2] == (kind, 1, 1)
    assert _core.decide_columns(terms, 3, np.zeros(1), 1)[1] == (kind, 1, 1)


@many_times
@given(seeds, st.integers(0, 700), st.sampled_from([1, 2, 4, 5, 9, 30]), st.integers(1, 3), st.sampled_from([1, 2]))
def test_columns_score_as_their_codes_do(seed: int, rows: int, classes: int, many: int, threads: int) -> None:
    rng = np.random.default_rng(seed)
    stride = classes + -classes % 4
    terms, total = [], np.zeros((rows, classes))
    for _ in range(many):
        columns = rng.integers(0, 4)
        sizes = rng.integers(0, 5, columns)
        offsets = np.cumsum(sizes) - sizes
        weight, unseen = rng.normal(size=(int(sizes.sum()), stride)), rng.normal(size=(columns, stride))
        codes = rng.integers(0, 6, (rows, columns)).astype(np.int32)
        codes[rng.random(codes.shape) < 0.1] = LOWEST
        held = [_core.Column.of_codes(np.ascontiguousarray(codes[:, j])) for j in range(columns)]
        terms.append((held, weight, unseen, offsets, sizes))
        total += _core.score_codes(codes, weight, unseen, np.zeros(stride), offsets, sizes, classes, 1)[0]
    found, _, fault = _core.score_columns(terms, rows, classes, threads)
    assert fault is None
    assert found.tolist() == total.tolist()
    prior = rng.integers(0, 2, classes).astype(np.float64)
    places, fault = _core.decide_columns(terms, rows, prior, threads)
    assert fault is None
    assert places.tolist() == np.argmax(total + prior, axis=1).tolist()


def test_codes_below_zero_are_told_of() -> None:
    odd = _core.Column.of_codes(np.array([0, -1], np.int32))
    assert _core.read_codes([odd], 2, 1)[1] == (2, 1, 0)


# --- what once went wrong


def test_count_column_refuses_more_classes_than_memory_could_hold() -> None:
    zero = np.zeros(1, np.int32)
    for classes in (2**40, 2**62, 2**63):
        with pytest.raises(ValueError, match="too many codes"):
            _core.count_column(zero, zero, classes, None, 1)


def test_hundreds_of_classes_can_be_cut_apart() -> None:
    counts = np.zeros((2, 700))
    counts[0, :350] = counts[1, 350:] = 1e5
    assert _core.description_length_cuts(counts).tolist() == [1]


@pytest.mark.parametrize("many", [0, 1, 41, 256, 257, 3000])
@pytest.mark.parametrize("long", [False, True])
def test_texts_are_looked_up_among_few_and_many(many: int, long: bool) -> None:
    known = [b"%d" % i + (b"-" * (i % 40) if long else b"") for i in range(many)]
    words = [*known, b"", b"unknown", b"0\0", b"-" * 50]
    column = text_column(words, _core.KnownTexts.of(*packed(known), 7), np.int64, b"", 0)
    assert _core.read_codes([column], len(words), 1)[0][:, 0].tolist() == [*range(many), *[many] * 4]
