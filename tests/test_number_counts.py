"""Counts of the values of columns are a function of the rows, whatever their order, batches and threads."""

from __future__ import annotations

import pickle
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

from naively import _core
from naively.count.cells import Cells
from naively.count.number_counts import NumberCounts
from naively.errors import FileError, InputError, NaivelyError, NegativeCount
from naively.families.base import rows_per_class
from naively.names import Index
from naively.read.matrix import RowError
from naively.store.codec import Reader, Writer

CLASSES = Index.of(["a", "b", "c", "d", "e"])
ODD = [0.0, -0.0, np.nan, 5e-324, -5e-324, 2.2e-308, 1.0, -1.0, 1.7976931348623157e308, -1.7976931348623157e308, 0.1]
TYPES = [np.float64, np.float32, np.int64, np.int32, np.int16, np.uint8, np.uint32, np.bool_]
some = settings(max_examples=30)


def column(rng: np.random.Generator, kind: str, rows: int) -> Any:
    """Values that stay exact, that go to level 18, to level 10, or that are odd, missing or of every size."""
    made = {
        "few": rng.integers(-3, 4, rows) / 2.0,
        "odd": rng.choice(ODD, rows),
        "sizes": np.ldexp(rng.normal(size=rows), rng.integers(-1074, 1021, rows)),
        "near": 1.0 + rng.random(rows) / 100,
        "normal": rng.normal(size=rows),
        "missing": np.full(rows, np.nan),
    }
    return made[kind]


def weights(rng: np.random.Generator, kind: str, rows: int) -> Any:
    made = {
        "none": None,
        "whole": rng.integers(0, 4, rows).astype(float),
        "dyadic": rng.integers(0, 4096, rows) / 1024.0,
    }
    return made[kind]


@st.composite
def data(
    draw: st.DrawFn, rows: Any = (0, 1, 40, 300), kinds: Any = ("few", "odd", "sizes", "normal", "missing")
) -> Any:
    """Columns, labels and weights."""
    size = draw(st.sampled_from(rows))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns = [column(rng, kind, size) for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3))]
    codes = rng.integers(0, draw(st.integers(1, 5)), size).astype(np.int32)
    return columns, codes, weights(rng, draw(st.sampled_from(["none", "whole", "dyadic"])), size)


large = data(rows=(15000, 24000, 40000), kinds=("few", "near", "normal", "sizes"))
"""Enough rows for columns to leave level 52 and level 18."""


def counted(columns: Any, codes: Any, weight: Any = None, names: Any = None, levels: Any = None) -> NumberCounts:
    features = Index(len(columns)) if names is None else Index.of(names)
    rows = rows_per_class(codes, weight, CLASSES.size)
    part, fault = NumberCounts.counted(columns, codes, rows, features, weight, levels)
    assert fault is None
    assert part.well_formed()
    return part


def rows_of(case: Any, at: Any) -> Any:
    columns, codes, weight = case
    return [x[at] for x in columns], codes[at], None if weight is None else weight[at]


def cut(case: Any, seed: int, pieces: int) -> list[NumberCounts]:
    """The rows in another order, counted in pieces."""
    order = np.random.default_rng(seed).permutation(len(case[1]))
    return [counted(*rows_of(case, at)) for at in np.array_split(order, pieces)]


def fractions(numbers: Any) -> list[Fraction]:
    """What exact numbers stand for."""
    values, at = [], 0
    for low, size in zip(numbers.place.ravel().tolist(), numbers.length.ravel().tolist(), strict=True):
        own = b"".join(int(digit).to_bytes(8, "little") for digit in numbers.digits[at : at + size])
        values.append(Fraction(int.from_bytes(own, "little", signed=True)) * Fraction(2) ** (64 * low))
        at += size
    return values


@some
@given(data())
def test_counts_are_those_of_the_reference(case: Any) -> None:
    columns, codes, weight = case
    part = counted(columns, codes, weight)
    missing = part.missing()
    for j, values in enumerate(columns):
        level, cells, lost = reference.number_counts(values, codes, weight)
        least, greatest, middle = part.values(j)
        assert part.level(j) == level
        assert (np.diff(least) > 0).all()
        assert (least <= middle).all()
        assert (middle <= greatest).all()
        ticks = [reference.tick(x, level) for x in middle.tolist()]
        assert ticks == [reference.tick(x, level) for x in least.tolist()]
        assert ticks == [
            reference.tick(x, level) if x or not below else (True, 0)
            for x, (below, _) in zip(greatest.tolist(), ticks, strict=True)
        ]
        counts = part.counts(j)
        found = {
            (t, k): Fraction(counts[k, i]) for i, t in enumerate(ticks) for k in range(CLASSES.size) if counts[k, i]
        }
        assert found == cells
        assert {k: Fraction(n) for k, n in enumerate(missing[j].tolist()) if n} == lost


@settings(max_examples=8)
@given(large)
def test_crowded_columns_are_counted_in_ticks_as_the_reference_does(case: Any) -> None:
    columns, codes, weight = rows_of(case, slice(0, None))
    part = counted(columns, codes, weight)
    level, cells, _ = reference.number_counts(columns[0], codes, weight)
    assert part.level(0) == level
    ticks = [reference.tick(x, level) for x in part.values(0)[2].tolist()]
    counts = part.counts(0)
    assert {(ticks[i], k): Fraction(counts[k, i]) for k, i in np.argwhere(counts).tolist()} == cells


@pytest.mark.parametrize("cases", [data(), large], ids=["few", "many"])
def test_order_and_batches_do_not_matter(cases: Any) -> None:
    @settings(max_examples=20)
    @given(cases, st.integers(0, 99), st.integers(1, 6))
    def law(case: Any, seed: int, pieces: int) -> None:
        once, parts = counted(*case), cut(case, seed, pieces)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        assert total.well_formed()
        assert total.same(once)
        backwards = parts[-1]
        for part in parts[-2::-1]:
            backwards = part + backwards
        assert backwards.same(once)
        assert np.array_equal(total.cells.exact, once.cells.exact)
        assert total.exact_sums().same(once.exact_sums())

    law()


@settings(max_examples=15)
@given(large, data(), data(rows=(12000, 20000), kinds=("near", "normal")))
def test_adding_is_commutative_and_associative(a: Any, b: Any, c: Any) -> None:
    x, y, z = (counted(*case) for case in (a, b, c))
    assert (x + y).same(y + x)
    assert ((x + y) + z).same(x + (y + z))


@settings(max_examples=20)
@given(st.one_of(large, data()), st.one_of(large, data()))
def test_forgetting_undoes_counting(a: Any, b: Any) -> None:
    x, y = counted(*a), counted(*b)
    left = (x + y).minus(y, CLASSES)
    assert left.well_formed()
    assert left.same_counts(x)
    crossed = (left.levels < x._over(left.features, None).levels).any()
    assert left.same(x) == (not crossed)
    assert left.exact_sums().same(x._over(left.features, None).exact_sums())


def test_a_level_that_was_left_does_not_come_back() -> None:
    rng = np.random.default_rng(0)
    few, many = column(rng, "few", 50), column(rng, "normal", 40000)
    a, b = (counted([x], np.zeros(len(x), np.int32)) for x in (few, many))
    left = (a + b).minus(b, CLASSES)
    assert (a.level(0), (a + b).level(0), left.level(0)) == (52, 10, 10)
    assert left.same_counts(a)
    assert a.same_counts(left)
    assert not left.same(a)
    assert not left.same_counts(b)
    assert (left + b).same(a + b)
    assert left.exact_sums().same(a.exact_sums())


@some
@given(data(), st.integers(0, 39))
def test_forgetting_a_row_is_as_if_it_had_not_been_counted(case: Any, row: int) -> None:
    columns, codes, weight = case
    one = np.arange(len(codes)) == row
    part, gone = counted(columns, codes, weight), counted(*rows_of(case, one))
    assert part.minus(gone, CLASSES).same(counted(*rows_of(case, ~one)))


@some
@given(st.one_of(data(), large))
def test_sums_are_exactly_those_of_fractions(case: Any) -> None:
    columns, codes, weight = rows_of(case, slice(0, 15500 if len(case[0]) == 1 else 900))
    sums = counted(columns, codes, weight).exact_sums().full().sums
    assert fractions(sums) == [v for s in reference.exact_sums(np.transpose(columns), codes, 5, weight) for v in s]


def test_sums_of_a_column_that_left_exact_hold_all_its_rows() -> None:
    rng = np.random.default_rng(1)
    near, codes = column(rng, "near", 30000), rng.integers(0, 5, 30000).astype(np.int32)
    weight = rng.integers(0, 4096, 30000) / 1024.0
    once = counted([near], codes, weight)
    total = counted([near[:9000]], codes[:9000], weight[:9000])
    assert total.level(0) == 52
    for begin in range(9000, 30000, 7000):
        at = slice(begin, begin + 7000)
        total = total + counted([near[at]], codes[at], weight[at])
    assert total.level(0) == 18
    assert fractions(total.sums.full().sums) == reference_sums(near[:, None], codes, weight)
    assert total.same(once)


def reference_sums(X: Any, codes: Any, weight: Any) -> list[Fraction]:
    return [value for sums in reference.exact_sums(X, codes, CLASSES.size, weight) for value in sums]


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_give_the_same_bits(weighted: bool) -> None:
    rng = np.random.default_rng(2)
    rows = 300_000
    columns = [column(rng, kind, rows) for kind in ("normal", "odd")]
    codes, weight = rng.integers(0, 5, rows).astype(np.int32), rng.random(rows) if weighted else None
    first = np.full(2, 52, np.int8)
    one, *others = (_core.count_values(columns, codes, 5, weight, first, n) for n in (1, 2, 3, 8))
    for other in others:
        for mine, theirs in zip(one[0], other[0], strict=True):
            assert np.array_equal(mine, theirs) if mine is not None else theirs is None


def test_cells_of_ticks_and_classes_are_few_below_level_10() -> None:
    rng = np.random.default_rng(3)
    rows, classes = 1_200_000, 2000
    x = rng.standard_cauchy(rows)
    codes = rng.integers(0, classes, rows).astype(np.int32)
    fraction, exponent = np.frexp(x)

    def n_cells(level: int) -> int:
        bits = np.trunc(np.ldexp(fraction, level + 1)).astype(np.int64)  # with the sign
        return len(np.unique(((exponent * 4096 + bits) << 20) | codes))

    part, _ = NumberCounts.counted([x], codes, np.bincount(codes), Index(1))
    level = part.level(0)
    assert 0 < level < 10
    assert len(part.cells) == n_cells(level) <= 2**20 < n_cells(level + 1)
    halves = [NumberCounts.counted([x[h]], codes[h], np.bincount(codes[h], minlength=classes), Index(1))[0]
              for h in (slice(0, rows // 2), slice(rows // 2, None))]  # fmt: skip
    assert (halves[0] + halves[1]).same(part)


def test_many_classes_of_few_rows_are_kept_by_the_pair() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 10**6, 5000).astype(np.int32)
    x = rng.integers(0, 100, 5000).astype(float)
    x[::7] = np.nan
    part, _ = NumberCounts.counted([x, x], codes, np.bincount(codes, minlength=10**6), Index(2))
    _, cells, lost = reference.number_counts(x, codes, None)
    assert len(part.cells) == 2 * (len(cells) + len(lost))
    assert part.cells.values.sum() == 10000


@pytest.mark.parametrize("dtype", TYPES)
def test_a_column_of_any_type_is_counted_as_float64(dtype: Any) -> None:
    x = np.random.default_rng(5).integers(0, 100, 60).astype(dtype)
    codes = (np.arange(60) % 5).astype(np.int32)
    assert counted([x, x[::-1]], codes).same(counted([x.astype(float), x[::-1].astype(float)], codes))
    assert counted([x.astype(x.dtype.newbyteorder(">"))], codes).same(counted([x.astype(float)], codes))


def test_whole_numbers_beyond_float64_become_their_nearest() -> None:
    codes = np.zeros(3, np.int32)
    for dtype in (np.int64, np.uint64):
        part = counted([np.array([2**53, 2**53 + 1, 2**60], dtype)], codes)
        assert part.values(0)[0].tolist() == [2.0**53, 2.0**60]
        assert part.counts(0)[0].tolist() == [2, 1]


def test_both_zeros_are_one_value() -> None:
    part = counted([np.array([0.0, -0.0])], np.zeros(2, np.int32))
    assert part.values(0)[0].tolist() == [0.0]
    assert not np.signbit(part.values(0)[0]).any()


def test_an_infinite_value_is_a_fault_with_its_row_and_column() -> None:
    x, y = np.ones(2000), np.ones(2000)
    x[1500], y[700], y[1999] = np.inf, -np.inf, np.inf
    for weight in (None, np.zeros(2000)):
        part, fault = NumberCounts.counted([x, y], np.zeros(2000, np.int32), np.array([2000]), Index(2), weight)
        assert fault == (1, 700, 1)
        assert not len(part.cells)
        assert not part.rows.any()


@pytest.mark.parametrize("bad", [-1.0, np.nan, 2.0**63])
def test_a_weight_that_cannot_be_counted_is_refused_with_its_row(bad: float) -> None:
    weight = np.array([1.0, bad])
    with pytest.raises(RowError, match="sample_weight of row"):
        NumberCounts.counted([np.ones(2)], np.zeros(2, np.int32), np.ones(1), Index(1), weight)


def test_counts_beyond_64_bits_are_refused() -> None:
    part = counted([np.ones(1)], np.zeros(1, np.int32), np.array([2.0**62]))
    with pytest.raises(NaivelyError, match="beyond what 64 bits hold"):
        _ = part + part
    with pytest.raises(InputError, match=r"sample_weight: counts add up to more than 2\^62"):
        counted([np.ones(2)], np.zeros(2, np.int32), np.full(2, 2.0**62))


@some
@given(data(), data())
def test_a_column_that_joins_later_was_missing_before(a: Any, b: Any) -> None:
    (first, *_), codes, weight = a
    (later, *_), more, other = b
    x = counted([first], codes, weight, ["x"])
    y = counted([later, later], more, other, ["y", "x"])
    both = x + y
    names = [str(both.features.name(j)) for j in range(2)]
    assert sorted(names) == ["x", "y"]
    empty = np.full(len(codes), np.nan)
    assert both.same(counted([first, empty], codes, weight, ["x", "y"]) + y)
    assert both.same(y + x)
    assert both.missing()[names.index("y")].sum() == x.rows.sum() + y.missing()[0].sum()
    assert both.minus(x, CLASSES).same(y)
    assert both.minus(y, CLASSES).same(x)


def test_more_than_was_counted_cannot_be_forgotten() -> None:
    codes = np.zeros(3, np.int32)
    part = counted([np.array([1.0, 2.0, np.nan])], codes, None, ["x"])
    for values, what in (([1.0, 1.0, 2.0], "column 'x', number 1.0"), ([1.0, np.nan, np.nan], "column 'x', a missing")):
        with pytest.raises(NegativeCount, match=f"{what}.* in class 'a'"):
            part.minus(counted([np.array(values)], codes, None, ["x"]), CLASSES)
    with pytest.raises(NegativeCount, match="class 'a' has 3 rows, 4 to forget"):
        part.minus(counted([np.ones(4)], np.zeros(4, np.int32), None, ["x"]), CLASSES)


def test_other_values_in_the_same_tick_cannot_be_forgotten() -> None:
    x = np.random.default_rng(6).normal(size=40000)
    codes = np.zeros(40000, np.int32)
    part = counted([x], codes)
    assert part.level(0) == 10
    with pytest.raises(NegativeCount, match="other values than were counted"):
        part.minus(counted([np.nextafter(x, 9.0)], codes), CLASSES)


@some
@given(data())
def test_classes_are_renumbered_and_left_out(case: Any) -> None:
    columns, codes, weight = case
    part = counted(columns, codes, weight)
    places = np.array([3, 0, 4, 1, 2])
    assert part.renumbered(5, places).same(counted(columns, places[codes].astype(np.int32), weight))
    gone = np.array([True, False, False, True, False])
    kept = rows_of(case, ~gone[codes])
    left = part.without_classes(gone)
    assert left.well_formed()
    moved = left.renumbered(5, np.flatnonzero(~gone))
    assert moved.same(counted(*kept))


def test_counting_begins_at_the_levels_that_are_given() -> None:
    rng = np.random.default_rng(7)
    x, codes = rng.normal(size=500), rng.integers(0, 5, 500).astype(np.int32)
    crowded = counted([rng.normal(size=40000)] * 2, np.zeros(40000, np.int32))
    part = counted([x, x], codes, levels=np.array([10, 52], np.int8))
    assert part.levels.tolist() == [10, 52]
    assert part.same_counts(counted([x, x], codes))
    assert (crowded + part).same(crowded + counted([x, x], codes))


def test_nothing_is_counted_of_no_rows_and_no_columns() -> None:
    nothing = counted([], np.zeros(0, np.int32))
    assert (nothing + nothing).same(nothing)
    assert nothing.missing().shape == (0, 5)
    empty = NumberCounts.empty(5, Index(1))
    assert empty.same(counted([np.zeros(0)], np.zeros(0, np.int32)))
    assert empty.exact_sums().n.tolist() == []
    assert empty.values(0)[0].tolist() == []
    part = counted([np.ones(2)], np.zeros(2, np.int32))
    assert (empty + part).same(part)
    assert (part + empty).same(part)
    assert part.minus(part, CLASSES).same(empty)


def test_counts_of_other_kinds_are_never_the_same() -> None:
    part = counted([np.ones(2)], np.zeros(2, np.int32))
    assert not part.same(part.cells)
    assert not part.same_counts(None)
    assert not part.same(counted([np.ones(2)], np.zeros(2, np.int32), None, ["x"]))
    with pytest.raises(InputError, match="count the same way twice"):
        _ = part + part.sums  # type: ignore[operator]


@example(0, 52).via("one tick")
@some
@given(st.integers(0, 8), st.integers(-3, 60))
def test_forged_counts_are_seen_and_never_read_out_of_bounds(what: int, by: int) -> None:
    part = counted([np.array([1.0, 2.0, np.nan]), np.array([1.0, 1.0, 3.0])], np.array([0, 1, 1], np.int32))
    cells = part.cells
    forged = [
        replace(part, levels=part.levels + np.int8(by)),
        replace(part, bounds=part.bounds + by),
        replace(part, bounds=np.array([0, by, 4])),
        replace(part, ticks=part.ticks[::-1].copy()),
        replace(part, ticks=part.ticks | np.uint64(0x7FF << 52)),
        replace(part, cells=Cells(cells.feature + (by << 32), cells.klass, cells.exact)),
        replace(part, cells=Cells(cells.feature + by, cells.klass, cells.exact)),
        replace(part, cells=Cells(cells.feature, cells.klass + np.int32(by), cells.exact)),
        replace(part, cells=Cells(cells.feature, cells.klass, cells.exact - abs(by) - 1)),
    ][what]
    unchanged = (what in (0, 1, 5, 6, 7) and by == 0) or (what, by) == (2, 2) or (what == 7 and 0 < by < 4)
    assert forged.well_formed() == unchanged
    for use in (lambda: forged + part, forged.exact_sums, lambda: forged._at(np.full(2, 10, np.int8))):
        try:
            use()
        except (ValueError, NaivelyError):
            assert not unchanged


@some
@given(data(), st.booleans())
def test_counts_are_stored_and_pickled(case: Any, spoilt: bool) -> None:
    part = counted(*case)
    writer = Writer()
    stored = writer.put(part, "part")
    assert Reader(writer.arrays).get(stored).same(part)
    assert pickle.loads(pickle.dumps(part)).same(part)
    if spoilt and len(part.ticks):
        writer.arrays["part.ticks"] = np.full_like(part.ticks, 2**64 - 1)
        with pytest.raises(FileError, match="damaged"):
            Reader(writer.arrays).get(stored)


def test_the_core_refuses_what_does_not_fit_together() -> None:
    codes, ones, level = np.zeros(1, np.int32), np.ones(1), np.full(1, 52, np.int8)
    part = counted([ones], codes)
    for use in (
        lambda: _core.count_values([ones, np.ones(2)], codes, 1, None, level, 1),
        lambda: _core.count_values([ones], codes + 1, 1, None, level, 1),
        lambda: _core.count_values([ones], codes, 1, np.ones(2), level, 1),
        lambda: _core.count_values([ones], codes, 1, None, level - 1, 1),
        lambda: _core.count_values([ones], codes, 1, None, np.zeros(2, np.int8), 1),
        lambda: _core.added_values(part._flat, NumberCounts.empty(5, Index(2))._flat, False),
        lambda: _core.added_values(part._flat[:6], part._flat, False),
        lambda: _core.coarser_values(part._flat, np.zeros(2, np.int8)),
        lambda: _core.sums_of_values(part._flat, np.ones(2, bool), codes, 1),
        lambda: _core.sums_of_values(part._flat, np.ones(1, bool), codes + 1, 1),
        lambda: _core.sums_of_values(part._flat, np.ones(1, bool), np.zeros(0, np.int32), 1),
    ):
        with pytest.raises(ValueError, match=r"needed|differ|range|seven|one |a level"):
            use()
