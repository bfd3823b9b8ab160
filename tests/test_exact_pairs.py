"""Exact sums of pairs of columns equal fractions, and covariances are their nearest doubles."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import reference
from exact_cases import KINDS, both_registers, fractions, nearest, numbers, registers, weights
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively.count.exact_numbers import ExactNumbers
from naively.count.exact_pairs import ExactPairs
from naively.count.exact_sums import ExactSums
from naively.errors import InputError, NegativeCount
from naively.families.base import rows_per_class
from naively.names import Index

some = settings(max_examples=60)
NAMES = Index.of(["a", "b", "c", "d"])


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    """Rows of some kind, perhaps with NaN, labels of three classes, and weights or None."""
    rows, columns = draw(st.sampled_from([1, 9, 60, 200])), draw(st.integers(1, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=columns, max_size=columns))
    X = np.concatenate([numbers(rng, kind, (rows, 1)) for kind in kinds], axis=1).astype(np.float64)
    if draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    klass = rng.integers(0, 3, rows).astype(np.int32)
    return X, klass, draw(st.sampled_from([None, weights(rng, rows) / 256]))


def part(X: Any, klass: Any, weight: Any = None, names: Any = None) -> ExactPairs:
    features = Index(X.shape[1]) if names is None else Index.of(names)
    rows = rows_per_class(klass, weight, 3)
    sums, fault = ExactPairs.counted(np.ascontiguousarray(X), klass, rows, features, weight)
    assert fault is None
    assert sums.sums.well_formed()
    assert sums.possible
    return sums


@both_registers
@some
@given(case=labelled())
def test_sums_of_pairs_equal_fractions(narrow: bool, case: Any) -> None:
    X, klass, weight = case
    with registers(narrow):
        found = part(X, klass, weight).full()
    assert fractions(found.sums.flat) == reference.exact_pairs(X, klass, 3, weight).ravel().tolist()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_covariances_are_the_nearest_doubles(kind: str, weighted: bool) -> None:
    rng = np.random.default_rng(len(kind) + weighted)
    X = numbers(rng, kind, (12, 30))
    if kind == "far":
        X[1:] = np.nextafter(X[0], rng.choice([-np.inf, np.inf], X[1:].shape))
    X[rng.random(X.shape) < 0.1] = np.nan
    weight, klass = weights(rng, len(X)) if weighted else None, rng.integers(0, 3, len(X)).astype(np.int32)
    found = part(X, klass, weight).full()
    alone, x, products = reference.exact_pairs(X, klass, 3, weight)
    for c, i, j in np.ndindex(found.n.shape):
        own = int(i == j)
        n = alone[c, i, i] - alone[c, i, j] * (1 - own)
        of_i, of_j = x[c, i, i] - x[c, i, j] * (1 - own), x[c, j, j] - x[c, j, i] * (1 - own)
        product = products[c, min(i, j), max(i, j)]
        assert found.n[c, i, j] == nearest(n)
        assert found.covariance[c, i, j] == (nearest((n * product - of_i * of_j) / (n * n)) if n else 0.0)
    np.testing.assert_array_equal(np.einsum("cii->ci", found.covariance), found.single().variance)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("columns", [2, 9, 40])
def test_order_threads_registers_and_parts_do_not_matter(columns: int, kind: str, weighted: bool) -> None:
    rng = np.random.default_rng(columns)
    rows = 60_000 // columns
    X, klass = numbers(rng, kind, (rows, columns)), rng.integers(0, 3, rows).astype(np.int32)
    X[rng.random(rows) < 0.001, 1] = np.nan
    weight = rng.random(rows) if weighted else None
    found, order = part(X, klass, weight), rng.permutation(rows)
    assert part(X[order], klass[order], None if weight is None else weight[order]).same(found)
    with registers(narrow=True), pytest.MonkeyPatch.context() as patch:
        patch.setenv("NAIVELY_THREADS", "1")
        assert part(X, klass, weight).same(found)
    at = rows // 3
    first, rest = ((X[s], klass[s], None if weight is None else weight[s]) for s in (slice(at), slice(at, None)))
    assert (part(*first) + part(*rest)).same(found)
    assert found.minus(part(*rest), NAMES).same(part(*first))


def test_thousands_of_equal_values_fill_slices_to_the_brim() -> None:
    for value in (2.0**10, 1023.9999999999999, -(2.0**10)):
        for weight in (None, np.full(9_000, 0.9999999999999999)):
            X = np.full((9_000, 3), value)
            w = 1 if weight is None else Fraction(float(weight[0]))
            found = part(X, np.zeros(len(X), np.int32), weight)
            assert fractions(found.sums[2].flat)[1] == 9_000 * w * Fraction(value) ** 2


@some
@given(case=labelled(), other=labelled())
def test_what_is_added_can_be_taken_out_without_a_trace(case: Any, other: Any) -> None:
    X, klass, weight = case
    Y, others, weight_of_others = other
    columns = min(X.shape[1], Y.shape[1])
    a, b = part(X[:, :columns], klass, weight), part(Y[:, :columns], others, weight_of_others)
    assert (a + b).same(b + a)
    assert (a + b).minus(b, NAMES).same(a)


def test_columns_that_join_later_were_missing_before() -> None:
    rng = np.random.default_rng(0)
    X, klass = rng.normal(size=(40, 3)), rng.integers(0, 3, 40).astype(np.int32)
    nothing = np.full((40, 1), np.nan)
    a, b = part(X[:, :2], klass, names=["x", "y"]), part(X, klass, names=["z", "y", "x"])
    expected = part(np.concatenate([X[:, :2], nothing], axis=1), klass, names=["x", "y", "z"])
    expected += part(X[:, ::-1], klass, names=["x", "y", "z"])
    assert (a + b).same(expected)
    assert (b + a).same(expected)
    assert (a + b).sums == expected.sums
    np.testing.assert_array_equal((b + a).covariance, expected.covariance[:, ::-1, ::-1])


def test_classes_are_renumbered_and_dropped() -> None:
    a = part(np.array([[1.0, 2.0], [4.0, 1.0]]), np.array([1, 1], np.int32))
    b = part(np.array([[3.0, np.nan]]), np.array([2], np.int32))
    both = a + b
    assert both.full().covariance[:, 0, 1].tolist() == [0, -0.75, 0]
    assert both.full().n[2].tolist() == [[1, 0], [0, 0]]
    assert both.renumbered(4, np.array([2, 3, 0])).full().covariance[:, 0, 1].tolist() == [0, 0, 0, -0.75]
    assert both.without_classes(np.array([True, True, False])).full().n[:, 0, 0].tolist() == [1]
    assert (ExactPairs.empty(3, Index(2)) + both).same(both)
    assert not both.same(both.single())
    with pytest.raises(InputError, match="ExactPairs and ExactSums cannot be put together"):
        both + both.single()


def test_taking_out_what_was_never_counted_is_refused() -> None:
    klass = np.zeros(2, np.int32)
    a = part(np.array([[1.0, 2.0], [3.0, np.nan]]), klass)
    for stranger, message in (
        ([[1.0, 2.0], [1.0, 2.0]], "feature"),
        ([[2.0, 2.0]], "feature 1|features 0 and 1"),
        ([[1.0, np.nan], [3.0, 2.0]], "features 0 and 1"),
    ):
        with pytest.raises(NegativeCount, match=message):
            a.minus(part(np.array(stranger), klass[: len(stranger)]), NAMES)
    left = a.minus(part(np.array([[1.0, 2.0]]), klass[:1]), NAMES)
    assert left.minus(part(np.array([[3.0, np.nan]]), klass[:1]), NAMES).sums == ExactNumbers.zeros((3, 1, 2, 2))


def test_forged_sums_of_pairs_are_impossible() -> None:
    good = part(np.array([[1.0, 2.0], [3.0, np.nan]]), np.zeros(2, np.int32))
    for at, number in (((0, 0, 0, 1), -1.0), ((0, 0, 1, 0), 3.0), ((1, 0, 1, 0), 1.0), ((2, 0, 1, 0), 1.0)):
        values = good.sums.rounded()
        values[at] = number
        assert not replace(good, sums=ExactNumbers.of(values)).possible


def test_a_pair_takes_little_room() -> None:
    X = np.random.default_rng(0).normal(20, 5, (20_000, 30))
    assert part(X, np.zeros(len(X), np.int32)).sums.nbytes <= 24 * 30 * 30


@pytest.mark.parametrize("covariance", ["tied", "full"])
def test_rows_go_in_and_out_of_a_window(covariance: str) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([numbers(rng, "apart", (1_100, 1)), np.full(1_100, 0.1), rng.random(1_100)])
    y, weight = rng.integers(0, 2, len(X)), rng.random(len(X)) + 0.1
    model = naively.GaussianClassifier(covariance=covariance)
    for i in range(len(X)):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1], sample_weight=weight[i : i + 1])
        if i >= 100:
            model.forget(X[i - 100 : i - 99], y[i - 100 : i - 99], sample_weight=weight[i - 100 : i - 99])
    last = naively.GaussianClassifier(covariance=covariance).fit(X[-100:], y[-100:], sample_weight=weight[-100:])
    assert model.tally_ == last.tally_
    np.testing.assert_array_equal(model.predict_joint_log_proba(X), last.predict_joint_log_proba(X))


def test_offsets_cost_nothing() -> None:
    rng = np.random.default_rng(0)
    whole = rng.integers(-1000, 1000, (500, 3)).astype(float)
    klass = np.zeros(len(whole), np.int32)
    np.testing.assert_array_equal(part(whole + 2.0**50, klass).covariance, part(whole, klass).covariance)
    assert isinstance(part(whole, klass).together, ExactSums)
