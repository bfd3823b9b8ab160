"""Exact sums in the core equal fractions, with wide registers and without, on one thread and on several."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import pytest
import reference
from exact_cases import KINDS, both_registers, fractions, nearest, numbers, registers, weights
from hypothesis import example, given, settings
from hypothesis import strategies as st

from naively import _core
from naively.count.exact_numbers import ExactNumbers
from naively.count.exact_sums import ExactSums
from naively.errors import InputError, NegativeCount
from naively.families.base import rows_per_class
from naively.names import Index

TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8]
some = settings(max_examples=60)


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Any, Any, int, Any]:
    """Rows of some type and kind (with NaN where it has one), labels, how many classes, and weights or None."""
    rows, columns, classes = draw(st.sampled_from([1, 9, 150])), draw(st.integers(1, 9)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = numbers(rng, draw(st.sampled_from(KINDS)), (rows, columns))
    dtype = draw(st.sampled_from(TYPES))
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        X = rng.integers(limits.min, limits.max, (rows, columns), dtype, endpoint=True) >> draw(st.integers(0, 7))
    elif draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    X = np.where(np.isinf(X), 0, X).astype(dtype)
    return (
        X,
        rng.integers(0, classes, rows).astype(np.int32),
        classes,
        draw(st.sampled_from([None, weights(rng, rows)])),
    )


def sums_of(X: Any, klass: Any, classes: int, weight: Any = None, threads: int = 1) -> Any:
    sums, fault = _core.count_exactly(X, klass, classes, weight, threads)
    assert fault is None
    assert _core.exact_well_formed(*sums)
    return sums


def expected(X: Any, klass: Any, classes: int, weight: Any) -> list[Fraction]:
    return list(chain(*reference.exact_sums(X, klass, classes, weight)))


def same(left: Any, right: Any) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def part(X: Any, klass: Any, classes: int, weight: Any = None) -> ExactSums:
    sums, fault = ExactSums.counted(X, klass, rows_per_class(klass, weight, classes), Index(X.shape[1]), weight)
    assert fault is None
    return sums


NAMES = Index.of(["a", "b", "c", "d"])


@both_registers
@some
@given(case=labelled())
def test_sums_equal_fractions(narrow: bool, case: Any) -> None:
    X, klass, classes, weight = case
    with registers(narrow):
        sums = sums_of(X, klass, classes, weight)
    assert fractions(sums) == expected(X, klass, classes, weight)
    with registers(narrow):
        apart, fault = _core.count_columns_exactly([np.array(x) for x in X.T], klass, classes, weight, 2)
    assert fault is None
    assert same(apart, sums)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [1, 3, 4, 70])
def test_order_threads_and_registers_do_not_matter(columns: int, kind: str, weighted: bool) -> None:
    rng = np.random.default_rng(columns)
    rows = 300_000 // columns
    X = numbers(rng, kind, (rows, columns))
    X[rng.random(rows) < 0.001] = np.nan
    klass, weight = rng.integers(0, 3, rows).astype(np.int32), rng.random(rows) if weighted else None
    sums = sums_of(X, klass, 3, weight)
    order = rng.permutation(rows)
    shuffled = X[order], klass[order], 3, None if weight is None else weight[order]
    assert same(sums, sums_of(*shuffled, threads=3))
    with registers(narrow=True):
        assert same(sums, sums_of(*shuffled))


def test_thousands_of_equal_values_fill_slices_to_the_brim() -> None:
    for value in (2.0**10, -(2.0**10), 1023.9999999999999, -0.0):
        for dtype in (np.float64, np.float32):
            X = np.full((20_000, 2), value, dtype)
            exact = Fraction(float(dtype(value)))
            sums = fractions(sums_of(X, np.zeros(len(X), np.int32), 1))
            assert sums == [20_000] * 2 + [20_000 * exact] * 2 + [20_000 * exact**2] * 2


@some
@given(case=labelled(), other=labelled())
def test_what_is_added_can_be_taken_out_without_a_trace(case: Any, other: Any) -> None:
    X, klass, classes, weight = case
    Y, others, more, weight_of_others = other
    columns = min(X.shape[1], Y.shape[1])
    a = part(np.ascontiguousarray(X[:, :columns]), klass, classes, weight)
    b = part(np.ascontiguousarray(Y[:, :columns]), others, more, weight_of_others)
    assert (a + b).sums == (b + a).sums
    assert (a + b).minus(b, NAMES).same(a)
    assert (a + b).same(b + a)


def test_rows_go_in_and_out_of_a_window() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([numbers(rng, "apart", (10_100, 1)), np.full(10_100, 0.1), rng.random(10_100)])
    klass, weight = rng.integers(0, 2, len(X)).astype(np.int32), rng.random(len(X))
    rows = [part(X[i : i + 1], klass[i : i + 1], 2, weight[i : i + 1]) for i in range(len(X))]
    window = ExactSums.empty(2, Index(3))
    for i, row in enumerate(rows):
        window += row
        if i >= 100:
            window = window.minus(rows[i - 100], NAMES)
    last = part(X[-100:], klass[-100:], 2, weight[-100:])
    assert window.sums == last.sums
    assert np.array_equal(window.variance, last.variance)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_means_and_variances_are_the_nearest_doubles(kind: str, weighted: bool) -> None:
    """10,000 cases over all kinds: each column is a case."""
    rng = np.random.default_rng(len(kind) + weighted)
    X = numbers(rng, kind, (5, 720))
    if kind == "far":
        X[1:] = np.nextafter(X[0], rng.choice([-np.inf, np.inf], X[1:].shape))
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = weights(rng, len(X)) if weighted else None
    klass = np.zeros(len(X), np.int32)
    sums = part(X, klass, 1, weight)
    for j, (n, x, squares) in enumerate(zip(*reference.exact_sums(X, klass, 1, weight), strict=True)):
        assert sums.n[0, j] == nearest(n)
        assert sums.mean[0, j] == (nearest(x / n) if n else 0.0)
        assert sums.variance[0, j] == (nearest((n * squares - x * x) / (n * n)) if n else 0.0)


@some
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=9), seed=st.integers(0, 99))
@example(values=[5e-324, -5e-324, 1.7976931348623157e308], seed=0)
def test_arrays_of_exact_numbers_add_up(values: list[float], seed: int) -> None:
    a = ExactNumbers.of(np.array(values))
    b = ExactNumbers.of(np.random.default_rng(seed).permutation(values))
    exact = [Fraction(value) for value in values]
    assert fractions(a.flat) == exact
    assert fractions((a + a + b).flat) == [2 * x + y for x, y in zip(exact, fractions(b.flat), strict=True)]
    assert fractions((a - b).flat) == [x - y for x, y in zip(exact, fractions(b.flat), strict=True)]
    assert (a - a) == ExactNumbers.zeros(a.shape)
    assert fractions(a.total(0).flat) == [sum(exact)]
    assert a.rounded().tolist() == values
    assert a.signs().tolist() == np.sign(values).tolist()
    assert fractions(a.take(np.arange(len(values))[::-1]).flat) == exact[::-1]
    assert fractions(a.take(np.full(2, -1)).flat) == [0, 0]


def test_classes_and_columns_are_united_and_dropped() -> None:
    a = part(np.array([[1.0, 2.0]]), np.array([1], np.int32), 2)
    b = part(np.array([[3.0]]), np.array([2], np.int32), 3)
    both = a + b
    assert both.full().mean.tolist() == [[0, 0], [1, 2], [3, 0]]
    assert both.together.mean.tolist() == [[2, 2]]
    assert both.renumbered(4, np.array([2, 3, 0])).full().mean.tolist() == [[3, 0], [0, 0], [0, 0], [1, 2]]
    assert both.without_classes(np.array([True, True, False])).full().mean.tolist() == [[3, 0]]
    assert (ExactSums.empty(3, Index(2)) + both).same(both)


def test_taking_out_what_was_never_counted_is_refused() -> None:
    a, klass = part(np.array([[1.0], [np.nan]]), np.zeros(2, np.int32), 1), np.zeros(1, np.int32)
    with pytest.raises(NegativeCount, match="more values"):
        a.minus(part(np.array([[1.0], [1.0]]), np.zeros(2, np.int32), 1), NAMES)
    for stranger in (2.0, -1.0, 0.5):
        with pytest.raises(NegativeCount, match=r"other values.*feature 0 of class 'a'"):
            a.minus(part(np.array([[stranger]]), klass, 1), NAMES)
    assert a.minus(part(np.array([[1.0]]), klass, 1), NAMES).sums == ExactNumbers.zeros((3, 1, 1))


def test_a_variance_beyond_float64_names_class_and_column() -> None:
    sums = part(np.array([[1.0, 1e200], [1.0, -1e200]]), np.zeros(2, np.int32), 1)
    assert sums.mean.tolist() == [[1, 0]]
    with pytest.raises(InputError, match="column 1 has a variance beyond float64 in class 'a'"):
        sums.refuse_too_wide(NAMES)


@both_registers
@pytest.mark.parametrize("columns", [1, 2, 7, 80])
@pytest.mark.parametrize("rows", [3, 3000])
def test_what_cannot_be_counted_is_named(rows: int, columns: int, narrow: bool) -> None:
    X, klass, weight = np.ones((rows, columns)), np.zeros(rows, np.int32), np.ones(rows)
    X[rows // 2, columns - 1] = np.inf
    with registers(narrow):
        assert _core.count_exactly(X, klass, 1, None, 2)[-1] == (1, rows // 2, columns - 1)
        assert _core.count_exactly(X, klass, 1, weight, 2)[-1] == (1, rows // 2, columns - 1)
    for wrong, kind in ((-1.0, 2), (np.nan, 2), (np.inf, 4), (2.0**63, 4)):
        weight[1] = wrong
        assert _core.count_exactly(X, klass, 1, weight, 2)[-1] == (kind, 1, -1)


def test_a_sum_takes_little_room() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(20, 5, (100_000, 20))
    sums = part(X, rng.integers(0, 4, len(X)).astype(np.int32), 4)
    assert sums.sums.nbytes <= 100 * 4 * 20


def test_numbers_that_are_not_well_formed_are_told() -> None:
    def well_formed(place: list[int], length: list[int], digits: list[int]) -> bool:
        arrays = np.array(place, np.int8), np.array(length, np.uint8), np.array(digits, np.uint64)
        return _core.exact_well_formed(*arrays)

    top = 2**64 - 1
    assert well_formed([0, 0, -1], [1, 0, 2], [5, 7, top - 1])
    assert not well_formed([0], [1], [0])
    assert not well_formed([0], [2], [5, 0])
    assert not well_formed([0], [2], [2**63, top])
    assert well_formed([0], [2], [2**63, 0])
    assert not well_formed([1], [0], [])
    assert not well_formed([0], [1], [5, 5])
    assert not well_formed([0], [2], [5])
    assert not well_formed([100], [1], [5])
    assert not well_formed([-100], [1], [5])


def test_forged_numbers_are_never_read_out_of_bounds() -> None:
    good = _core.exactly(np.array([1.0, 2.0]))
    place, length, digits = good
    for bad in ((place, length, digits[:1]), (place[:1], length, digits), (place + np.int8(100), length, digits)):
        for call in (
            lambda bad=bad: _core.exact_added(good, bad, False),
            lambda bad=bad: _core.exact_added(bad, good, True),
            lambda bad=bad: _core.exact_taken(bad, np.array([0])),
            lambda bad=bad: _core.exact_totals(bad, 1, 2, 1, 1),
            lambda bad=bad: _core.exact_signs(bad),
            lambda bad=bad: _core.exact_rounded(bad),
            lambda bad=bad: _core.exact_moments(bad, 1),
        ):
            with pytest.raises(ValueError, match=r"exact numbers|place and a length|differ in length|three sums"):
                call()
    with pytest.raises(ValueError, match="index is out of range"):
        _core.exact_taken(good, np.array([2]))
    with pytest.raises(ValueError, match="axes do not fit"):
        _core.exact_totals(good, 2, 2, 1, 1)
    with pytest.raises(ValueError, match="must be finite"):
        _core.exactly(np.array([np.inf]))


def test_the_largest_and_smallest_numbers_have_room() -> None:
    extremes = np.array([5e-324, 1.7976931348623157e308])
    for weight in (None, np.array([2.0**-64, 2.0**62])):
        X = np.stack([extremes, -extremes], axis=1)
        sums = sums_of(X, np.zeros(2, np.int32), 1, weight)
        assert fractions(sums) == expected(X, np.zeros(2, np.int32), 1, weight)
    most = np.full(1, 2**63 - 1, np.uint64)  # numbers that use all places there are
    wide = np.array([-36], np.int8), np.array([73], np.uint8), np.concatenate([most] * 73)
    thrice = tuple(np.tile(array, 3) for array in wide)
    n, mean, variance = _core.exact_moments(thrice, 1)
    assert (n.tolist(), mean.tolist(), variance.shape) == ([np.inf], [1.0], (1,))
    with pytest.raises(OverflowError):
        _core.exact_added(wide, wide, False)
