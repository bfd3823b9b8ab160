"""The laws hold to the last bit over doubles of every magnitude, weights of every magnitude and missing values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from families import Array, learn, plain_table
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively.errors import InputError

few = settings(max_examples=25)
FINITE = st.floats(-1e150, 1e150)  # beyond, a table has no variance that is a double
SMALL = st.floats(-1e3, 1e3)
NOT_TINY = st.one_of(st.just(0.0), st.floats(1e-40, 1e3), st.floats(-1e3, -1e-40))  # covariances refuse tiny variances
MANY_SIZES = st.one_of(st.floats(1e-60, 1e60), st.floats(-1e60, -1e-60))  # a full covariance refuses much less at once
EVENTS = st.floats(0, 2.0**18)  # times the largest weight, in 9 rows, below 2^62
WHOLE = st.integers(-(2**53), 2**53).map(float)


@dataclass(frozen=True)
class Family:
    """An estimator, the numbers it takes, and how a matrix of them becomes its rows."""

    name: str
    make: Callable[[], Any]
    numbers: Any
    rows: Callable[[Array], Any] = np.asarray

    def __repr__(self) -> str:
        return self.name


NAMES = ("x", "y", "z")


def as_columns(values: Array) -> dict[str, Array]:
    return dict(zip(NAMES, values.T, strict=True))


def gaussian(covariance: str) -> Callable[[], Any]:
    return lambda: naively.GaussianClassifier(covariance=covariance, var_smoothing=1e-3)


FAMILIES = [
    Family("gaussian", naively.GaussianNB, FINITE),
    Family("gaussian of few sizes", naively.GaussianNB, SMALL),
    Family("gaussian of whole numbers", naively.GaussianNB, WHOLE),
    Family("spherical", gaussian("spherical"), FINITE),
    Family("tied", gaussian("tied"), NOT_TINY),
    Family("tied of whole numbers", gaussian("tied"), WHOLE),
    Family("full", gaussian("full"), NOT_TINY),
    Family("full of many sizes", gaussian("full"), MANY_SIZES),
    Family("multinomial", naively.MultinomialNB, EVENTS),
    Family("complement", naively.ComplementNB, EVENTS),
    Family("bernoulli", naively.BernoulliNB, st.floats(0, 1)),
    Family("poisson", naively.PoissonNB, EVENTS),
    Family("categorical", naively.CategoricalNB, st.integers(0, 5).map(float)),
    Family("table", lambda: plain_table(columns=dict.fromkeys(NAMES, naively.Gaussian())), SMALL, as_columns),
]
every_family = pytest.mark.parametrize("family", FAMILIES, ids=repr)
WEIGHTS = [
    st.floats(2.0**-60, 2.0**40),
    st.floats(0.01, 2.0),
    st.sampled_from([0.1, 0.2, 0.7, 1e6]),
    st.integers(1, 2**40).map(float),
]


@st.composite
def weighted_rows(draw: st.DrawFn, family: Family) -> tuple[Array, Array, Array | None]:
    """Rows (NaN: missing), labels, and weights or None."""
    size = draw(st.integers(2, 9))
    value = st.one_of(family.numbers, family.numbers, family.numbers, st.just(np.nan))
    values = draw(st.lists(st.lists(value, min_size=3, max_size=3), min_size=size, max_size=size))
    if draw(st.booleans()):  # a constant column
        values = [[values[0][0], *row[1:]] for row in values]
    labels = draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))
    weights = draw(st.sampled_from([None, *WEIGHTS]))
    weight = None if weights is None else draw(st.lists(weights, min_size=size, max_size=size))
    return np.array(values), np.array(labels), None if weight is None else np.array(weight)


def chosen(family: Family, case: tuple[Array, Array, Array | None], rows: Any) -> tuple[Any, Array, Any]:
    X, y, weight = case
    return family.rows(np.ascontiguousarray(X[rows])), y[rows], None if weight is None else weight[rows]


def fitted(family: Family, case: Any, rows: Any = slice(None)) -> Any:
    X, y, weight = chosen(family, case, rows)
    return family.make().fit(X, y, sample_weight=weight)


def assert_same(model: Any, expected: Any, X: Any) -> None:
    """Equal tallies, and predictions with the same bits; or both refuse a table beyond float64 in the same words."""
    assert model.tally_ == expected.tally_
    answers = []
    for estimator in (model, expected):
        try:
            scores = estimator.predict_joint_log_proba(X)
            answers.append(scores[:, np.argsort(estimator.classes_)].tobytes())
        except InputError as error:
            answers.append(str(error))
    assert answers[0] == answers[1]


@every_family
@few
@given(draw=st.data())
def test_order_batches_and_parts_do_not_matter(family: Family, draw: Any) -> None:
    case = draw.draw(weighted_rows(family))
    size = len(case[1])
    expected, X = fitted(family, case), chosen(family, case, slice(None))[0]
    assert_same(fitted(family, case, draw.draw(st.permutations(range(size)))), expected, X)
    at = draw.draw(st.integers(1, size - 1))
    assert_same(naively.merge(fitted(family, case, slice(at)), fitted(family, case, slice(at, None))), expected, X)
    stream = family.make()
    for i in draw.draw(st.permutations(range(size))):
        row, label, weight = chosen(family, case, slice(i, i + 1))
        learn(stream, row, label, **({} if weight is None else {"sample_weight": weight}))
    assert_same(stream, expected, X)


@every_family
@few
@given(draw=st.data())
def test_what_is_forgotten_leaves_no_trace(family: Family, draw: Any) -> None:
    case = draw.draw(weighted_rows(family))
    size = len(case[1])
    order, at = draw.draw(st.permutations(range(size))), draw.draw(st.integers(1, size - 1))
    model, kept = fitted(family, case), fitted(family, case, order[:at])
    for i in order[at:]:
        row, label, weight = chosen(family, case, slice(i, i + 1))
        model.forget(row, label, sample_weight=weight)
    assert model.classes_.tolist() == kept.classes_.tolist()
    assert_same(model, kept, chosen(family, case, slice(None))[0])


@every_family
@pytest.mark.parametrize("weighted", [False, True])
def test_threads_and_registers_do_not_matter(family: Family, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    X, y = np.abs(rng.normal(size=(30_000, 3))) * 100, rng.integers(0, 3, 30_000)
    if family.name == "categorical":
        X = np.floor(X % 6)
    X[rng.random(X.shape) < 0.01] = np.nan
    case = X, y, rng.random(len(y)) if weighted else None
    monkeypatch.setenv("NAIVELY_THREADS", "3")
    expected = fitted(family, case)
    monkeypatch.setenv("NAIVELY_THREADS", "1")
    monkeypatch.setenv("NAIVELY_NARROW", "1")
    assert_same(fitted(family, case, rng.permutation(len(y))), expected, family.rows(X[:100]))
