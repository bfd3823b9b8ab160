"""Counts in fixed point: whole numbers of units of 2^-64 in 128 bits, as whole numbers of Python's own."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st

from naively import _core

few = settings(max_examples=200)
units = st.integers(-(2**126), 2**126) | st.integers(-3, 3) | st.integers(-9, 9).map(lambda n: n << 64)
cell_keys = st.tuples(st.integers(0, 5), st.integers(0, 3))
addends = units.filter(lambda n: abs(n) < 2**126)  # whose sums and differences fit
UNIT = 2**64


def pairs(numbers: list[list[int]]) -> Any:
    """Planes of numbers of units, as the core takes them."""
    flat = [[n % UNIT, (n >> 64) % UNIT] for plane in numbers for n in plane]
    return np.array(flat, np.uint64).reshape(len(numbers), len(numbers[0]), 2)


def read(counts: Any, bits: int = 0) -> list[int]:
    """What the core returns, as numbers of units; whole numbers are in units of 2^-bits."""
    numbers = [int(n * UNIT) for n in reference.as_fractions(counts)]
    return [n >> bits for n in numbers] if counts.dtype == np.int64 else numbers


def rounded(number: int) -> float:
    return float(Fraction(number, UNIT))


@few
@given(st.lists(st.tuples(addends, addends), min_size=1, max_size=9))
def test_pairs_are_added_and_taken_away_exactly(numbers: list[tuple[int, int]]) -> None:
    a, b = ([n[i] for n in numbers] for i in (0, 1))
    assert read(_core.fixed_added(pairs([a]), pairs([b]), False)) == [x + y for x, y in numbers]
    assert read(_core.fixed_added(pairs([a]), pairs([b]), True)) == [x - y for x, y in numbers]


@few
@given(st.lists(units, min_size=1, max_size=9))
def test_pairs_are_rounded_to_the_nearest_double(numbers: list[int]) -> None:
    assert _core.fixed_rounded(pairs([numbers]))[0].tolist() == [rounded(n) for n in numbers]


@few
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=9))
def test_whole_counts_are_widened_and_narrowed_again(numbers: list[int]) -> None:
    whole = np.array([numbers] * 3)
    wide = _core.widened(whole)
    planes = [read(plane) for plane in wide]
    assert planes[0] == planes[1] == [n << 64 for n in numbers]
    assert planes[2] == [n << 32 for n in numbers]  # weights of words are in units of 2^-32 while they are whole
    again = _core.narrowed(wide)
    assert again.dtype == np.int64
    np.testing.assert_array_equal(again, whole)


@pytest.mark.parametrize(("number", "planes"), [(1, 1), (1, 3), (2**63 << 64, 3), (2**31 << 64, 3)])
def test_what_is_not_whole_or_too_large_stays_as_it_is(number: int, planes: int) -> None:
    wide = pairs([[0]] * (planes - 1) + [[number % (1 << 127)]])
    assert _core.narrowed(wide).dtype == (np.int64 if number % (1 << 127) == 0 else np.uint64)


@few
@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_totals_are_exact(planes: int, classes: int, draw: Any) -> None:
    many = draw.draw(st.integers(0, 9))
    klass = np.array(draw.draw(st.lists(st.integers(0, classes - 1), min_size=many, max_size=many)), np.int32)
    whole = np.array(draw.draw(st.lists(st.integers(-(2**59), 2**59), min_size=planes * many, max_size=planes * many)))
    whole = whole.astype(np.int64).reshape(planes, many)
    for values in (whole, _core.widened(whole)):
        found = _core.totals(klass, values, classes)
        assert found.dtype == np.int64
        for plane, c in np.ndindex(planes, classes):
            assert int(found[plane, c]) == sum(whole[plane, klass == c].tolist())


@few
@given(
    st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 3)), st.tuples(addends, addends), max_size=9), st.data()
)
def test_cells_of_pairs_are_added_looked_up_and_gathered(cells: dict[Any, tuple[int, int]], draw: Any) -> None:
    keys = sorted(cells)
    mine = {key: cells[key] for key in keys if draw.draw(st.booleans())}
    theirs = {key: cells[key][::-1] for key in keys if draw.draw(st.booleans())}

    def arrays(held: dict[Any, tuple[int, int]]) -> Any:
        values = pairs([[n[p] for n in held.values()] for p in (0, 1)]) if held else np.zeros((2, 0, 2), np.uint64)
        return np.array([k[0] for k in held], np.int64), np.array([k[1] for k in held], np.int32), values

    def as_dict(found: Any) -> dict[Any, tuple[int, ...]]:
        feature, klass, values = found
        planes = [read(plane) for plane in values]
        return dict(zip(zip(feature.tolist(), klass.tolist(), strict=True), zip(*planes, strict=True), strict=True))

    def added(a: dict[Any, Any], b: dict[Any, Any]) -> dict[Any, Any]:
        sums = {key: tuple(x + y for x, y in zip(a.get(key, (0, 0)), b.get(key, (0, 0)), strict=True)) for key in keys}
        return {key: n for key, n in sums.items() if any(n)}

    both = added(mine, theirs)
    assert as_dict(_core.sum_cells(*arrays(mine), *arrays(theirs), False)) == both
    wanted = np.unique(np.array([key[0] for key in keys], np.int64))
    feature, klass, values = _core.gather([arrays(mine), arrays(theirs)], wanted, False)
    assert as_dict((wanted[feature], klass, values)) == both
    less = _core.sum_cells(*arrays(mine), *arrays(theirs), True)
    difference = added(mine, {key: tuple(-n for n in of) for key, of in theirs.items()})
    if any(n < 0 for key in theirs for n in difference.get(key, ())):
        assert less[0] == 2
    else:
        assert as_dict(less) == difference
    if keys:
        feature, klass = arrays(dict.fromkeys(keys, (0, 0)))[:2]
        found = _core.look_up(*arrays(mine), feature, klass)
        assert [read(plane) for plane in found] == [[mine.get(key, (0, 0))[p] for key in keys] for p in (0, 1)]


@few
@given(st.lists(st.floats(0, 2**61) | st.floats(0, 2**-50), min_size=1, max_size=2))
def test_weights_are_rounded_once_to_whole_units(weights: list[float]) -> None:
    rows = _core.rows_per_class(np.zeros(len(weights), np.int32), 1, np.array(weights))
    assert read(rows) == [sum(map(reference.in_units, weights))]


def test_what_does_not_fit_is_refused() -> None:
    largest = np.array([2.0**62, 2.0**62])
    label = np.zeros(2, np.int32)
    sparse = np.ones(2), label, np.array([0, 1, 2], np.int32), 1
    for count in (
        lambda: _core.rows_per_class(label, 1, largest),
        lambda: _core.count_dense(np.ones((2, 1)), label, 1, largest, 0.0, 1e300, None, 1),
        lambda: _core.count_dense(np.full((2, 1), 1e300), label, 1, None, 0.0, 1e300, None, 1),
        lambda: _core.count_sparse(*sparse, label, 1, largest, 0.0, 9.0, None, 1),
        lambda: _core.count_codes(np.ones((2, 1)), label, 1, largest, 9, 1),
        lambda: _core.count_column(label, label, 1, largest, 1),
        lambda: _core.fixed_added(pairs([[2**126]]), pairs([[2**126]]), False),
        lambda: _core.totals(label, np.array([[2**62, 2**62]]), 1),
    ):
        with pytest.raises(OverflowError, match=r"2\^62"):
            count()
    with pytest.raises(ValueError, match="0 or more"):
        _core.rows_per_class(label, 1, np.array([1.0, -1.0]))
    with pytest.raises(ValueError, match="out of range"):
        _core.totals(label + 1, np.ones((1, 2), np.int64), 1)
    with pytest.raises(ValueError, match="pairs"):
        _core.narrowed(np.zeros((1, 1, 3), np.uint64))
