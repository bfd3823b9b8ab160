"""The compiled core equals its plain-Python reference, and never reads out of bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import reference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, special

from naively import _core

ANY = (-1e300, 1e300)
TYPES = [np.float64, np.float32, np.int64, np.int32, np.uint8]
small = settings(max_examples=40)
every_type = pytest.mark.parametrize("dtype", TYPES)


@st.composite
def labelled(draw: st.DrawFn, dtype: Any, low: int = 0) -> tuple[Any, Any, int, Any]:
    """Rows of a type (with NaN where it has one), labels, how many classes, and weights or None."""
    rows, columns, classes = draw(st.integers(1, 30)), draw(st.integers(1, 20)), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(low, 5, (rows, columns)).astype(dtype)
    if np.dtype(dtype).kind == "f" and draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    few = rng.integers(0, 4, rows).astype(float)
    weight = draw(
        st.sampled_from([None, few, rng.random(rows), few * 10.0 ** rng.integers(-25, 8, rows), few * 2.0**30])
    )
    return X, rng.integers(0, classes, rows).astype(np.int32), classes, weight


def lists(X: Any, weight: Any) -> tuple[Any, Any]:
    return X.tolist(), [1.0] * len(X) if weight is None else weight.tolist()


def sums_of(cells: Any) -> dict[tuple[int, int], Any]:
    """Cells as exact sums by feature and class."""
    feature, klass, values = cells
    return dict(zip(zip(feature.tolist(), klass.tolist(), strict=True), reference.as_fractions(values), strict=True))


def nonzero_of(sums: Any) -> dict[tuple[int, int], Any]:
    """The same of an array, classes by columns, without zeros."""
    if sums is None:
        return {}
    places = [(j, c) for c, j in np.ndindex(sums.shape[:2])]
    return {place: n for place, n in zip(places, reference.as_fractions(sums), strict=True) if n}


@every_type
@pytest.mark.parametrize("threshold", [None, 0.0, 1.5])
@small
@given(st.data())
def test_counting_equals_the_reference_dense_and_sparse(dtype: Any, threshold: float | None, draw: Any) -> None:
    X, y, classes, weight = draw.draw(labelled(dtype))
    if np.dtype(dtype).kind == "f":
        X *= draw.draw(st.sampled_from([1.0, 1.0, 0.3, 1e-20, 1e6]))
    sums, holes = reference.count(*lists(X, weight)[:1], y.tolist(), lists(X, weight)[1], threshold)
    found, lost, fault = _core.count_dense(X, y, classes, weight, *ANY, threshold, 2)
    assert fault is None
    assert nonzero_of(found) == sums
    assert nonzero_of(lost) == holes
    for width in (X.shape[1], 4 * X.size + 4):  # few and many columns for the entries: both ways of counting
        S = sparse.csr_matrix(X)
        cells, gaps, fault = _core.count_sparse(
            S.data, S.indices, S.indptr, width, y, classes, weight, 0.0, 1e300, threshold, 2
        )
        assert fault is None
        assert sums_of(cells) == sums
        assert ({} if gaps is None else {place: n for place, n in sums_of(gaps).items() if n}) == holes
        keys = list(zip(cells[0].tolist(), cells[1].tolist(), strict=True))
        assert keys == sorted(set(keys))


@every_type
@small
@given(st.data())
def test_counting_codes_equals_the_reference(dtype: Any, draw: Any) -> None:
    X, y, classes, weight = draw.draw(labelled(dtype))
    sizes, sums, lost, fault = _core.count_codes(X, y, classes, weight, 100, 2)
    assert fault is None
    sums, lost = (None if n is None else np.array(reference.as_fractions(n)).reshape(n.shape[:2]) for n in (sums, lost))
    rows, weights = lists(X, weight)
    weights = [Fraction(reference.in_units(w), 2**64) for w in weights]
    start = 0
    for j, size in enumerate(sizes.tolist()):
        known = [r[j] for r in rows if not reference.missing(r[j])]
        assert size == max(known, default=-1) + 1
        for code in range(size):
            for c in range(classes):
                seen = sum(w for r, k, w in zip(rows, y, weights, strict=True) if r[j] == code and k == c)
                assert sums[start + code, c] == seen
        start += size
        for c in range(classes):
            gone = sum(w for r, k, w in zip(rows, y, weights, strict=True) if reference.missing(r[j]) and k == c)
            assert (0 if lost is None else lost[j, c]) == gone


@every_type
@pytest.mark.parametrize("classes", [1, 3, 4, 5, 8, 11, 20, 23])
@pytest.mark.parametrize("threshold", [None, 1.0])
def test_scoring_equals_the_reference_dense_sparse_and_by_cells(
    dtype: Any, classes: int, threshold: float | None
) -> None:
    rng = np.random.default_rng(classes)
    X = rng.integers(0, 4, (13, 9)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        X[2, 3] = X[12, 0] = np.nan
    feature, klass, base = rng.normal(size=9), rng.normal(size=classes), rng.normal(size=classes)
    seen = rng.random((9, classes)) < 0.5
    delta = np.where(seen, rng.normal(size=(9, classes)), 0.0)
    weights = feature[:, None] + klass + delta
    stride = -(-classes // 4) * 4
    wide = np.pad(weights, [(0, 0), (0, stride - classes)])
    ends = np.pad(base, (0, stride - classes))
    S = sparse.csr_matrix(X)
    starts = np.concatenate([[0], np.cumsum(seen.sum(axis=1))]).astype(np.int64)
    at, of = np.nonzero(seen)
    results = [
        _core.score_dense(X, wide, ends, classes, *ANY, threshold, 2),
        _core.score_sparse(S.data, S.indices, S.indptr, wide, ends, classes, *ANY, threshold, 2),
        _core.score_cells(
            S.data,
            S.indices,
            S.indptr,
            starts,
            of.astype(np.int32),
            delta[at, of],
            feature,
            klass,
            base,
            *ANY,
            threshold,
            2,
        ),
    ]
    want = [reference.linear(row, weights.tolist(), base.tolist(), threshold) for row in X.tolist()]
    for scores, holes, fault in results:
        assert fault is None
        assert holes == (np.dtype(dtype).kind == "f")
        np.testing.assert_allclose(scores, want, rtol=1e-12, atol=1e-12)


@every_type
@pytest.mark.parametrize("classes", [1, 4, 6, 9])
def test_scoring_codes_equals_looking_them_up(dtype: Any, classes: int) -> None:
    rng = np.random.default_rng(0)
    sizes = np.array([2, 0, 5, 3])
    offsets = np.cumsum(sizes) - sizes
    stride = -(-classes // 4) * 4
    weights, unseen = rng.normal(size=(10, stride)), rng.normal(size=(4, stride))
    X = rng.integers(0, 6, (17, 4)).astype(dtype)
    want = np.zeros((17, classes))
    for i, j in np.ndindex(17, 4):
        code = int(X[i, j])
        want[i] += (weights[offsets[j] + code] if code < sizes[j] else unseen[j])[:classes]
    scores, _, fault = _core.score_codes(X, weights, unseen, np.zeros(stride), offsets, sizes, classes, 2)
    assert fault is None
    np.testing.assert_allclose(scores, want, rtol=1e-12, atol=1e-12)


@every_type
@small
@given(st.data())
def test_normal_scores_equal_the_reference(dtype: Any, draw: Any) -> None:
    X, _, classes, _ = draw.draw(labelled(dtype))
    rng = np.random.default_rng(1)
    shape = classes, X.shape[1]
    mean, variance, base = rng.normal(size=shape), rng.random(shape) + 0.1, rng.normal(size=classes)
    scores, _, fault = _core.score_normal(X, mean, 0.5 / variance, -0.5 * np.log(2 * np.pi * variance), base, 2)
    assert fault is None
    want = [reference.normal(row, mean.tolist(), variance.tolist(), base.tolist()) for row in X.tolist()]
    np.testing.assert_allclose(scores, want, rtol=1e-10, atol=1e-10)


@small
@given(st.data())
def test_summing_cells_equals_summing_dictionaries(draw: Any) -> None:
    pairs = st.dictionaries(st.tuples(st.integers(0, 6), st.integers(0, 3)), st.integers(1, 5), max_size=12)
    a, b = draw.draw(pairs), draw.draw(pairs)

    def arrays(cells: dict[tuple[int, int], int]) -> tuple[Any, Any, Any]:
        keys = sorted(cells)
        feature, klass = np.array([k[0] for k in keys], np.int64), np.array([k[1] for k in keys], np.int32)
        return feature, klass, np.array([[cells[k] for k in keys]], np.int64).reshape(1, len(keys))

    both = {k: a.get(k, 0) + b.get(k, 0) for k in {*a, *b}}
    feature, klass, values = _core.sum_cells(*arrays(a), *arrays(b), False)
    assert dict(zip(zip(feature.tolist(), klass.tolist(), strict=True), values[0].tolist(), strict=True)) == both
    feature, klass, values = _core.sum_cells(*arrays(both), *arrays(b), True)
    assert dict(zip(zip(feature.tolist(), klass.tolist(), strict=True), values[0].tolist(), strict=True)) == a
    if any(b.get(k, 0) > a.get(k, 0) for k in b):
        assert len(_core.sum_cells(*arrays(a), *arrays(b), True)) == 2
    wanted = np.array(sorted({k[0] for k in b}), np.int64)
    place, klass, values = _core.gather([arrays(a), arrays(b)], wanted, True)
    found = zip(zip(wanted[place].tolist(), klass.tolist(), strict=True), values[0].tolist(), strict=True)
    assert dict(found) == {k: v for k, v in both.items() if k[0] in wanted}
    pairs_of_both = arrays(both)
    np.testing.assert_array_equal(_core.look_up(*arrays(a), *pairs_of_both[:2])[0], [a.get(k, 0) for k in sorted(both)])


def test_changed_kinds_tell_what_comes_to_be_and_what_ceases() -> None:
    before, added = np.array([[0, 1, 1, 2], [0, 0, 0, 1]]), np.array([[1, 1, 0, 0], [0, 0, 1, -1]])
    kind, klass, many = _core.histogram_change(before, added, np.array([0, 0, 1, 1], np.int32))
    found = list(
        zip((kind >> 31).tolist(), (kind & (2**31 - 1)).tolist(), klass.tolist(), many[0].tolist(), strict=True)
    )
    assert found == [(1, 0, 1, -1), (1, 1, 1, 1), (2, 0, 0, 1), (2, 0, 1, 1), (2, 1, 1, -1)]
    with pytest.raises((ValueError, OverflowError)):
        _core.histogram_change(before, -added, np.array([0, 0, 1, 1], np.int32))


def test_a_sum_that_does_not_fit_is_told_not_wrapped() -> None:
    one = np.zeros(1, np.int64), np.zeros(1, np.int32), np.array([[2**63 - 1]])
    assert _core.sum_cells(*one, *one, False) == (1, 0)
    pairs = *one[:2], np.array([[[0, 2**63 - 1]]], np.uint64)
    assert _core.sum_cells(*pairs, *pairs, False) == (1, 0)


@small
@given(st.lists(st.text(max_size=5), min_size=1, max_size=40))
def test_equal_records_get_equal_numbers_in_order_of_appearance(words: list[str]) -> None:
    array = np.array(words)
    records = (
        array.view(np.uint8).reshape(len(words), array.dtype.itemsize)
        if array.dtype.itemsize
        else np.zeros((len(words), 0), np.uint8)
    )
    codes, firsts = _core.encode(records)
    distinct = list(dict.fromkeys(array.tolist()))
    assert codes.tolist() == [distinct.index(w) for w in array.tolist()]
    assert array[firsts].tolist() == distinct


def test_many_distinct_records_are_told_apart() -> None:
    numbers = np.random.default_rng(0).permutation(100_000)
    codes, firsts = _core.encode(numbers.view(np.uint8).reshape(-1, 8))
    assert codes.tolist() == list(range(100_000))
    assert firsts.tolist() == list(range(100_000))


def test_the_first_of_the_highest_scores_decides() -> None:
    scores = np.array([[1.0, 2.0, 2.0], [5.0, 5.0, 5.0], [-np.inf, -np.inf, 0.0]])
    assert _core.decide(scores, np.zeros(3)).tolist() == [1, 0, 2]


CODES = np.ones((1, 1)), np.ones((1, 4)), np.ones((1, 4)), np.zeros(4)
CELLS = np.ones(2), np.ones(2), np.ones(1), np.ones(1)
NONE = np.zeros(1, np.int32)
GOOD = {"data": np.ones(3), "indices": np.array([0, 1, 0], np.int32), "indptr": np.array([0, 2, 3], np.int32)}
ROWS = tuple(GOOD.values())


@pytest.mark.parametrize(
    "damage",
    [
        {"indices": np.array([0, 7, 0], np.int32)},
        {"indices": np.array([0, -1, 0], np.int32)},
        {"indptr": np.array([0, 2, 9], np.int32)},
        {"indptr": np.array([0, 3, 2], np.int32)},
        {"indptr": np.array([-5, 2, 3], np.int32)},
        {"indptr": np.array([2**31 - 1, 2**31 - 1, 3], np.int32)},
    ],
)
def test_damaged_sparse_rows_are_told_and_never_followed(damage: dict[str, Any]) -> None:
    rows = {**GOOD, **damage}.values()
    y = np.zeros(2, np.int32)
    for low in (0.0, -1.0):  # both ways of counting
        assert _core.count_sparse(*rows, 2, y, 1, None, low, 1e300, None, 1)[2][0] == 5
    assert _core.score_sparse(*rows, np.ones((2, 4)), np.zeros(4), 1, *ANY, None, 1)[2][0] == 5
    cells = np.array([0, 0, 0]), np.zeros(0, np.int32), np.zeros(0), np.zeros(2), np.zeros(1), np.zeros(1)
    assert _core.score_cells(*rows, *cells, *ANY, None, 1)[2][0] == 5


@pytest.mark.parametrize(
    "call",
    [
        lambda: _core.count_dense(np.ones((2, 2)), np.array([0, 5], np.int32), 2, None, *ANY, None, 1),
        lambda: _core.count_dense(np.ones((2, 2)), np.array([0], np.int32), 2, None, *ANY, None, 1),
        lambda: _core.count_dense(np.ones((2, 2)), np.zeros(2, np.int32), 1, np.ones(1), *ANY, None, 1),
        lambda: _core.count_exactly(np.ones((2, 2)), np.array([-1, 0], np.int32), 2, None, 1),
        lambda: _core.count_codes(np.ones((2, 2)), np.array([0, 2], np.int32), 2, None, 9, 1),
        lambda: _core.score_dense(np.ones((2, 3)), np.ones((2, 4)), np.zeros(4), 1, *ANY, None, 1),
        lambda: _core.score_dense(np.ones((2, 2)), np.ones((2, 3)), np.zeros(3), 1, *ANY, None, 1),
        lambda: _core.score_codes(*CODES, np.array([0]), np.array([5]), 1, 1),
        lambda: _core.score_codes(*CODES, np.array([-1]), np.array([1]), 1, 1),
        lambda: _core.score_normal(np.ones((1, 2)), np.ones((1, 2)), np.ones((1, 1)), np.ones((1, 2)), np.ones(1), 1),
        lambda: _core.score_cells(*ROWS, np.array([0, 1, 2]), np.array([0, 9], np.int32), *CELLS, *ANY, None, 1),
        lambda: _core.score_cells(*ROWS, np.array([0, 5, 2]), np.array([0, 0], np.int32), *CELLS, *ANY, None, 1),
        lambda: _core.count_sparse(np.ones(2), NONE[:0], np.array([0, 3], np.int32), 2, NONE, 1, None, *ANY, None, 1),
        lambda: _core.count_sparse(np.ones(2), np.zeros(2, np.int32), NONE[:0], 2, NONE[:0], 1, None, *ANY, None, 1),
        lambda: _core.decide(np.ones((2, 3)), np.ones(2)),
        lambda: _core.decide(np.ones((2, 0)), np.ones(0)),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused(call: Any) -> None:
    with pytest.raises(ValueError, match=r"\w+"):
        call()


def test_types_that_the_core_does_not_read_are_refused() -> None:
    with pytest.raises(TypeError):
        _core.count_dense(np.ones((2, 2), np.int16), np.zeros(2, np.int32), 1, None, *ANY, None, 1)


def test_empty_rows_are_counted_as_nothing() -> None:
    none = np.zeros(0, np.int32)
    assert _core.count_dense(np.ones((0, 3)), none, 2, None, *ANY, None, 2)[0].tolist() == [[0, 0, 0]] * 2
    assert _core.count_codes(np.ones((0, 3)), none, 2, None, 9, 2)[0].tolist() == [0, 0, 0]
    assert _core.score_normal(np.ones((0, 1)), *[np.ones((2, 1))] * 3, np.ones(2), 2)[0].shape == (0, 2)


@given(st.lists(st.integers(0, 3), max_size=12), st.integers(0, 99), st.sampled_from([1, 10**9]), st.booleans())
def test_cells_with_other_numbers_are_in_order_again(sizes: list[int], seed: int, apart: int, fractions: bool) -> None:
    rng = np.random.default_rng(seed)
    number = rng.permutation(len(sizes)) * apart
    feature = np.repeat(number, sizes).astype(np.int64)
    klass = np.concatenate([np.arange(size) for size in sizes] or [[]]).astype(np.int32)
    values = rng.integers(1, 9, (2, len(feature), 2)[: 3 if fractions and sum(sizes) else 2])
    values = values.astype(np.uint64 if values.ndim == 3 else np.int64)
    order = np.argsort(feature, kind="stable")
    found = _core.regrouped(feature, klass, values)
    for mine, want in zip(found, (feature[order], klass[order], values[:, order]), strict=True):
        np.testing.assert_array_equal(mine, want)
        assert mine.dtype == want.dtype


def test_digamma_is_scipys() -> None:
    x = np.concatenate([np.logspace(-8, 9, 400), [0.5, 1.0, 9.999999, 10.0, 1.4616321449683623]])
    np.testing.assert_allclose(_core.digamma(x), special.psi(x), rtol=1e-13, atol=1e-14)
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="above zero"):
            _core.digamma(np.array([1.0, bad]))
