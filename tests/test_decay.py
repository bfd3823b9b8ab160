"""Decay: rows that count less with every row that comes later, and what stays exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from families import CASES, PAIRS, Case
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import GaussianNB, InputError, MultinomialNB, NaiveBayes, NaivelyError, TextClassifier, prequential
from naively.arrays import FIXED, Array, rounded, scaled, widened
from naively.count.exact_numbers import ExactNumbers

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 120)
X = RNG.poisson(2.0, (120, 4)) + 2 * np.eye(4, dtype=int)[Y]
V = np.minimum(RNG.integers(-1, 4, (120, 4)) + np.eye(4, dtype=int)[Y], 4)  # as families.py makes rows of
cases = pytest.mark.parametrize("case", CASES, ids=repr)


def units(counts: Array) -> list[int]:
    """Counts as whole numbers of units of 2^-64."""
    exact = widened(counts)
    pairs = zip(exact["whole"].tolist(), exact["fraction"].tolist(), strict=True)
    return [(whole << 64) + part for whole, part in pairs]


def numbers(values: ExactNumbers) -> list[Fraction]:
    result, begin = [], 0
    for place, length in zip(values.place.tolist(), values.length.tolist(), strict=True):
        digits = values.digits[begin : begin + length].tobytes()
        result.append(Fraction(int.from_bytes(digits, "little", signed=True)) * Fraction(2) ** (64 * place))
        begin += length
    return result


factors = st.one_of(st.sampled_from([0.0, 0.5, 1.0, 3.0, 2.0**-64, 2.0**-70]), st.floats(0, 1), st.floats(1e-30, 100))


@given(
    st.lists(st.tuples(st.integers(0, 2**50), st.integers(0, 2**64 - 1), factors), min_size=1, max_size=4),
    st.booleans(),
)
def test_counts_times_a_factor_are_rounded_down_to_their_unit(rows: list[tuple[int, int, float]], whole: bool) -> None:
    counts = np.array([(0 if whole else part, count) for count, part, _ in rows], FIXED)
    factor = np.array([factor for *_, factor in rows])
    given_counts = counts["whole"].copy() if whole else counts
    expected = [int(Fraction(unit) * Fraction(f) // 1) for unit, f in zip(units(counts), factor.tolist(), strict=True)]
    assert units(scaled(given_counts, factor)) == expected


def test_counts_that_become_too_large_are_refused() -> None:
    for factor in (4.0, 2.0**63, 1e300):
        with pytest.raises(NaivelyError, match="more than"):
            scaled(np.array([1 << 61]), np.array([factor]))


doubles = st.floats(-1e200, 1e200)


@given(st.lists(st.tuples(doubles, doubles, factors, st.booleans()), min_size=1, max_size=4))
def test_exact_numbers_times_a_factor_are_exact_up_to_512_bits(rows: list[tuple[float, float, float, bool]]) -> None:
    a, b, factor, away = (np.array(column) for column in zip(*rows, strict=True))
    before = ExactNumbers.of(a) + ExactNumbers.of(b)
    after = before.scaled(factor, away)
    assert after.well_formed()
    for old, new, f, up in zip(numbers(before), numbers(after), factor.tolist(), away.tolist(), strict=True):
        product = old * Fraction(f)
        if new != product:
            assert abs(new - product) <= max(abs(product) / 2**440, Fraction(2) ** (-36 * 64))
            assert (abs(new) > abs(product)) == up


@cases
def test_rows_that_decayed_count_as_rows_of_that_weight(case: Case) -> None:
    weight = np.where(np.arange(120) < 80, 0.25, 1.0)
    model = case.make().fit(case.rows(V[:80]), Y[:80]).decay(0.25).partial_fit(case.rows(V[80:]), Y[80:])
    expected = case.make().fit(case.rows(V), Y, sample_weight=weight)
    assert model.tally_ == expected.tally_
    np.testing.assert_allclose(
        model.predict_joint_log_proba(case.rows(V)), expected.predict_joint_log_proba(case.rows(V))
    )


@cases
def test_tallies_times_a_number_add_up(case: Case) -> None:
    a, b = (case.make().fit(case.rows(V[part]), Y[part]).tally_ for part in (slice(80), slice(80, None)))
    assert (a + b) * 0.5 == 0.5 * a + b * 0.5
    assert a * 2 == a + a
    assert a * 1.0 == a
    for wrong in (-1.0, np.nan, np.inf, "2"):
        with pytest.raises(TypeError):
            _ = a * wrong


@pytest.mark.parametrize("case", [case for case in CASES if case.name not in PAIRS], ids=repr)
def test_a_row_that_was_halved_is_forgotten_with_half_its_weight(case: Case) -> None:
    model = case.make().fit(case.rows(V[:60]), Y[:60]).decay(0.5).partial_fit(case.rows(V[60:]), Y[60:])
    model.forget(case.rows(V[:30]), Y[:30], sample_weight=np.full(30, 0.5))
    expected = case.make().fit(case.rows(V[30:60]), Y[30:60]).decay(0.5).partial_fit(case.rows(V[60:]), Y[60:])
    assert model.tally_ == expected.tally_


@cases
def test_a_long_decay_leaves_sound_models(case: Case) -> None:
    model = case.make().fit(case.rows(V), Y)
    for _ in range(300):
        model.decay(0.9)
    left = model.tally_.rows
    np.testing.assert_allclose(left, np.bincount(Y) * 0.9**300, rtol=1e-3)
    model.partial_fit(case.rows(V), Y)
    proba = model.predict_proba(case.rows(V))
    assert np.isfinite(proba).all()
    assert len(model.explain(case.rows(V[:1])).classes) == 2


def test_a_constant_column_keeps_its_mean_and_no_variance_below_zero() -> None:
    model = GaussianNB(var_smoothing=0.0).fit([[1e8 + 0.1, 1.0], [1e8 + 0.1, 2.0]] * 2, [0, 0, 1, 1])
    for _ in range(200):
        model.decay(0.999)
    np.testing.assert_array_equal(model.theta_[:, 0], 1e8 + 0.1)
    assert (model.var_[:, 0] < 1e-100).all()
    np.testing.assert_allclose(model.theta_[:, 1], 1.5, rtol=1e-15)
    np.testing.assert_allclose(model.var_[:, 1], 0.25, rtol=1e-15)


def test_what_has_decayed_to_nothing_is_gone() -> None:
    model = MultinomialNB().fit([[1, 0], [0, 1]], ["old", "new"])
    model.decay(2.0**-40).partial_fit([[0, 3]], ["new"]).decay(2.0**-40)
    assert model.classes_.tolist() == ["new"]


def test_a_calibrating_model_decays_with_its_sample() -> None:
    texts = [f"w{i % 7} w{i % 3} {'good' if label else 'bad'}" for i, label in enumerate(Y)]
    model = TextClassifier().fit(texts[:60], Y[:60]).decay(0.5).partial_fit(texts[60:], Y[60:])
    weight = np.where(np.arange(120) < 60, 0.5, 1.0)
    expected = TextClassifier().fit(texts, Y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(texts), expected.predict_proba(texts))


@pytest.mark.parametrize("factor", [0, -0.5, 1.5, np.nan, "0.5", True, None])
def test_factors_outside_0_to_1_are_refused_and_nothing_changes(factor: Any) -> None:
    model = MultinomialNB().fit(X, Y)
    before = model.tally_
    with pytest.raises(InputError, match="factor must be a number above 0 and up to 1"):
        model.decay(factor)
    assert model.tally_ == before
    if factor is not None:
        with pytest.raises(InputError, match="decay must be a number above 0 and up to 1"):
            prequential(model, [(X, Y)], decay=factor)


# --- in streams


@given(st.integers(1, 60))
def test_batches_decay_row_by_row(size: int) -> None:
    batches = [(X[i : i + size], Y[i : i + size]) for i in range(0, 120, size)]
    found = prequential(GaussianNB(), [*batches, (X[:1], Y[:1])], classes=[0, 1], decay=0.97)
    rows, labels = np.concatenate([X, X[:1]]), np.concatenate([Y, Y[:1]])
    expected = GaussianNB().fit(rows, labels, sample_weight=0.97 ** np.arange(120, -1, -1))
    np.testing.assert_allclose(found.model.class_count_, expected.class_count_, rtol=1e-12)
    np.testing.assert_allclose(found.model.theta_, expected.theta_, rtol=1e-12)
    np.testing.assert_allclose(found.model.var_, expected.var_, rtol=1e-9)


def test_rows_decay_by_a_column_of_dates_or_numbers() -> None:
    days = np.cumsum(RNG.integers(0, 3, 120))
    dates = pd.Timestamp("2024-03-01") + pd.to_timedelta(days, unit="D")
    expected = NaiveBayes().fit({"x": X[:, 0].astype(float)}, Y, sample_weight=0.9 ** (days[-1] - days))
    for when in (dates, days, days.astype(float), dates.date):
        table = pd.DataFrame({"x": X[:, 0].astype(float), "when": when, "y": Y})
        batches = [table[i : i + 30] for i in range(0, 120, 30)]
        model = NaiveBayes(columns={"when": None})
        found = prequential(model, batches, "y", decay=0.9, time="when")
        np.testing.assert_allclose(found.model.class_count_, expected.class_count_)
    rows = np.column_stack([X, days])
    found = prequential(GaussianNB(), [(rows[i : i + 30], Y[i : i + 30]) for i in range(0, 120, 30)], classes=[0, 1],
                        decay=0.9, time=4)  # fmt: skip
    np.testing.assert_allclose(found.model.class_count_, expected.class_count_)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"decay": 0.9, "window": 5}, "give one of them"),
        ({"time": "t"}, "give decay as well"),
        ({"decay": 0.9, "time": "when"}, "names no column; the rows have"),
        (
            {"decay": 0.9, "time": "back"},
            "row 1: the time in column 'back' is before that of the row before it",
        ),
        ({"decay": 0.9, "time": "hole"}, "batch 0: row 2: the time in column 'hole' is missing"),
        ({"decay": 0.9, "time": "text"}, "expected numbers or dates, got string"),
    ],
)
def test_what_cannot_decay_is_refused(arguments: dict[str, Any], message: str) -> None:
    table = {"x": [1.0, 2.0, 3.0], "back": [2, 1, 3], "hole": [1.0, 2.0, None], "text": ["a", "b", "c"], "y": [0, 1, 0]}
    with pytest.raises(InputError, match=message):
        prequential(NaiveBayes(), [table, table], "y", **arguments)


def test_batches_may_be_dicts_of_columns() -> None:
    table = {"x": [1.0, 2.0, 3.0], "y": [0, 1, 0]}
    found = prequential(NaiveBayes(), [table] * 4, "y", window=6)
    assert found.model.class_count_.sum() == 6
    assert prequential(NaiveBayes(), [table] * 4, "y", decay=0.5).model.class_count_.sum() == pytest.approx(2, abs=1e-3)


def test_a_frozen_model_does_not_decay(tmp_path: Any) -> None:
    MultinomialNB().fit(X, Y).save(tmp_path / "model", frozen=True)
    with pytest.raises(naively.NoCounts):
        naively.load(tmp_path / "model").decay(0.5)
    assert rounded(np.array([1])) == 1
