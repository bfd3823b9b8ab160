"""The laws of the design, over all families."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from families import CASES, Array, Case, data, fitted, learn, of_rows, weighted_data
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively import testing

every_family = pytest.mark.parametrize("case", CASES, ids=repr)
few = settings(max_examples=25)


def counter(case: Case) -> Any:
    def count(rows: Array, y: Array) -> Any:
        return fitted(case, rows, y).tally_

    return count


def scores(estimator: Any, case: Case, rows: Array) -> Array:
    return estimator.predict_joint_log_proba(of_rows(case, rows))


@every_family
@few
@given(st.data())
def test_counting_is_additive(case: Case, draw: Any) -> None:
    rows, y = draw.draw(weighted_data(case))
    testing.counting_is_additive(counter(case), rows, y, at=draw.draw(st.integers(1, len(y) - 1)))


@every_family
@few
@given(st.data())
def test_adding_tallies_is_commutative_and_associative_and_nothing_is_neutral(case: Case, draw: Any) -> None:
    rows, y = draw.draw(weighted_data(case, least=3))
    i, j = sorted(draw.draw(st.lists(st.integers(1, len(y) - 1), min_size=2, max_size=2, unique=True)))
    count = counter(case)
    a, b, c = count(rows[:i], y[:i]), count(rows[i:j], y[i:j]), count(rows[j:], y[j:])
    testing.adding_is_commutative(a, b)
    testing.adding_is_associative(a, b, c)
    estimator = fitted(case, rows, y)
    testing.nothing_is_neutral(a, estimator._blocks_of(estimator._model).empty(a.classes, a.features))


@every_family
@few
@given(st.data())
def test_forgetting_undoes_counting_exactly(case: Case, draw: Any) -> None:
    rows, y = draw.draw(weighted_data(case))
    testing.forgetting_undoes_counting(counter(case), rows, y, at=draw.draw(st.integers(1, len(y) - 1)))


@every_family
@few
@given(st.data())
def test_forgetting_rows_equals_never_having_seen_them(case: Case, draw: Any) -> None:
    rows, y = draw.draw(weighted_data(case))
    at = draw.draw(st.integers(1, len(y) - 1))
    kept, both = fitted(case, rows[:at], y[:at]), fitted(case, rows, y)
    both.forget(of_rows(case, rows[at:]), y[at:], sample_weight=rows[at:, -1])
    assert both.tally_ == kept.tally_
    assert both.classes_.tolist() == kept.classes_.tolist()
    np.testing.assert_array_equal(scores(both, case, rows), scores(kept, case, rows))


@every_family
@few
@given(st.data())
def test_batches_rows_and_order_do_not_matter(case: Case, draw: Any) -> None:
    rows, y = draw.draw(weighted_data(case, least=4))
    cuts = draw.draw(st.lists(st.integers(1, len(y) - 1), max_size=3))
    testing.batches_do_not_matter(counter(case), rows, y, cuts)
    testing.batches_do_not_matter(counter(case), rows, y, range(1, len(y)))
    testing.order_does_not_matter(counter(case), rows, y, draw.draw(st.permutations(range(len(y)))))


@every_family
@few
@given(st.data())
def test_rows_in_any_order_batches_and_parts_give_the_same_bits(case: Case, draw: Any) -> None:
    rows, y = draw.draw(weighted_data(case, least=3))
    expected = scores(fitted(case, rows, y), case, rows)
    order = draw.draw(st.permutations(range(len(y))))
    np.testing.assert_array_equal(scores(fitted(case, rows[order], y[order]), case, rows), expected)
    at = draw.draw(st.integers(1, len(y) - 1))
    parts = [fitted(case, rows[:at], y[:at]), fitted(case, rows[at:], y[at:])]
    # Words get other numbers where models are merged or learn row by row, and scores of rows are added up by number.
    numbered = case.name.startswith("text")
    same = partial(np.testing.assert_allclose, rtol=1e-7, atol=1e-9) if numbered else np.testing.assert_array_equal
    same(scores(naively.merge(*parts), case, rows), expected)
    stream = case.make()
    for i in range(len(y)):
        learn(stream, of_rows(case, rows[i : i + 1]), y[i : i + 1], sample_weight=rows[i : i + 1, -1])
    same(scores(stream, case, rows), expected)


@every_family
@few
@given(data())
def test_partial_fit_row_by_row_predicts_as_fit_at_once(case: Case, rows: tuple[Array, Array]) -> None:
    X, y = rows
    at_once = case.make().fit(case.rows(X), y)
    stream = case.make()
    for i in range(len(y)):
        learn(stream, case.rows(X[i : i + 1]), y[i : i + 1])
        stream.predict(case.rows(X[:1]))
    assert stream.tally_ == at_once.tally_
    assert stream.classes_.tolist() == at_once.classes_.tolist()
    np.testing.assert_allclose(
        stream.predict_proba(case.rows(X)), at_once.predict_proba(case.rows(X)), rtol=1e-6, atol=1e-8
    )


@every_family
@few
@given(st.data())
def test_probabilities_sum_to_one_and_shares_to_the_score(case: Case, draw: Any) -> None:
    rows, y = draw.draw(weighted_data(case))
    estimator = fitted(case, rows, y)
    testing.probabilities_sum_to_one(estimator, of_rows(case, rows))
    testing.shares_sum_to_the_score(estimator, of_rows(case, rows[:1]))


@every_family
@few
@given(st.data())
def test_a_tally_goes_to_arrow_and_back(case: Case, draw: Any) -> None:
    rows, y = draw.draw(weighted_data(case))
    testing.arrow_round_trip_is_the_identity(counter(case)(rows, y))


@every_family
@few
@given(st.data())
def test_merging_estimators_equals_counting_together(case: Case, draw: Any) -> None:
    rows, y = draw.draw(weighted_data(case))
    at = draw.draw(st.integers(1, len(y) - 1))
    merged = naively.merge(fitted(case, rows[:at], y[:at]), fitted(case, rows[at:], y[at:]))
    assert merged.tally_ == fitted(case, rows, y).tally_


# Elsewhere, leaving a column out changes the total that the others share, a covariance, or what the others are.
COLUMN_BY_COLUMN = [c for c in CASES if c.name.startswith(("bernoulli", "categorical", "poisson", "gaussian"))]


@pytest.mark.parametrize("case", COLUMN_BY_COLUMN, ids=repr)
@few
@given(data(columns_at_least=2), st.data())
def test_a_missing_value_is_as_if_its_column_were_not_there(case: Case, rows: tuple[Array, Array], more: Any) -> None:
    X, y = rows
    gone = more.draw(st.integers(0, X.shape[1] - 1))
    others = np.delete(X, gone, axis=1)
    options = {"var_smoothing": 0.0} if "var_smoothing" in case.make().get_params() else {}
    without = case.make().set_params(**options).fit(case.rows(others), y).predict_joint_log_proba(case.rows(others))
    blank = X.copy()
    blank[:, gone] = -1
    with_it = case.make().set_params(**options).fit(case.rows(X), y)
    np.testing.assert_allclose(with_it.predict_joint_log_proba(case.rows(blank)), without, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("threads", ["2", "5"])
@pytest.mark.parametrize("weighted", [False, True], ids=["whole", "fractions"])
@every_family
def test_the_number_of_threads_does_not_change_a_bit(
    case: Case, weighted: bool, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(-1, 5, (40_000, 4)), rng.choice(["a", "b", "c"], 40_000)
    weight = rng.random(40_000) if weighted else None
    results, tallies = [], []
    for count in ("1", threads):
        monkeypatch.setenv("NAIVELY_THREADS", count)
        assert naively.threads.threads(X.size) == int(count)  # there is enough to do for all of them
        estimator = case.make().fit(case.rows(X), y, sample_weight=weight)
        results.append(estimator.predict_joint_log_proba(case.rows(X[:20_000])))
        tallies.append(estimator.tally_)
    np.testing.assert_array_equal(*results)
    assert tallies[0] == tallies[1]
