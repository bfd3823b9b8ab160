"""Rows that are dicts, for estimators of arrays: one by one, with columns that come later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naively
from naively import BernoulliNB, CategoricalNB, GaussianClassifier, GaussianNB, InputError, MultinomialNB, PoissonNB

RNG = np.random.default_rng(5)
X, Y = RNG.poisson(2.0, (40, 3)).astype(float), np.array(["u", "v"])[RNG.integers(0, 2, 40)]
NAMES = ["a", "b", "c"]
ROWS = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
KINDS = [MultinomialNB, naively.ComplementNB, BernoulliNB, PoissonNB, GaussianNB, GaussianClassifier, CategoricalNB]
kinds = pytest.mark.parametrize("kind", KINDS)
growing = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not CategoricalNB])


@kinds
def test_rows_as_dicts_are_those_of_a_frame(kind: Any) -> None:
    model, expected = kind().fit(ROWS, Y), kind().fit(pd.DataFrame(X, columns=NAMES), Y)
    assert model.tally_ == expected.tally_
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.predict_proba(ROWS), expected.predict_proba(pd.DataFrame(X, columns=NAMES)))
    np.testing.assert_array_equal(model.predict_proba(ROWS[0]), model.predict_proba(ROWS[:1]))
    assert model.forget(ROWS[:5], Y[:5]).tally_ == kind().fit(ROWS[5:], Y[5:]).tally_


@growing
def test_columns_that_come_later_were_missing_before(kind: Any, tmp_path: Path) -> None:
    model = kind()
    for i, (row, label) in enumerate(zip(ROWS, Y.tolist(), strict=True)):
        known = {"b": row["b"]} if i < 10 else {"c": row["c"], "b": row["b"]} if i < 20 else row
        model.partial_fit(known, [label], classes=["u", "v"] if i == 0 else None)
    assert model.feature_names_in_.tolist() == ["b", "c", "a"]
    assert model.n_features_in_ == 3
    table = pd.DataFrame(X, columns=NAMES)[["b", "c", "a"]]
    table.loc[:9, "c"] = np.nan
    table.loc[:19, "a"] = np.nan
    expected = kind().fit(table, Y)
    assert model.tally_ == expected.tally_
    whole = pd.DataFrame(X, columns=NAMES)[["b", "c", "a"]]
    np.testing.assert_allclose(model.predict_joint_log_proba(ROWS), expected.predict_joint_log_proba(whole))
    model.save(tmp_path / "model")
    again = naively.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(ROWS), model.predict_proba(ROWS))
    assert again.partial_fit({"d": 1.0}, ["u"]).n_features_in_ == 4


@given(st.permutations(range(20)), st.integers(1, 7))
def test_the_order_in_which_columns_come_does_not_matter(order: list[int], size: int) -> None:
    rows = [{name: value for name, value in ROWS[i].items() if value} or ROWS[i] for i in order]
    labels = Y[order]
    model = GaussianNB().partial_fit(rows[:size], labels[:size], classes=["u", "v"])
    model.partial_fit(rows[size:], labels[size:])
    whole = GaussianNB().fit(rows, labels)
    places = [model.feature_names_in_.tolist().index(name) for name in whole.feature_names_in_.tolist()]
    np.testing.assert_array_equal(model.theta_[:, places], whole.theta_)


@kinds
def test_columns_that_only_predictions_bring_are_left_out(kind: Any) -> None:
    model = kind().fit(ROWS, Y)
    np.testing.assert_array_equal(model.predict_proba({**ROWS[0], "new": 5}), model.predict_proba(ROWS[0]))
    nothing = model.predict_joint_log_proba({"new": 5.0})
    missing = np.full((1, 3), np.nan)
    np.testing.assert_array_equal(nothing, model.predict_joint_log_proba(pd.DataFrame(missing, columns=NAMES)))


def test_text_is_a_category() -> None:
    rows = [{"sky": "red", "wind": 1}, {"sky": "blue"}, {"wind": 2, "sky": "red"}]
    model = CategoricalNB().fit(rows, [0, 1, 0])
    assert model.predict([{"sky": "red"}, {"sky": "blue", "wind": None}]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"a": [1.0, 2.0]}, "row 0, column 'a': expected a number, got a list; pass a DataFrame"),
        ([{"a": 1.0}, {"a": "x"}], "row 1, column 'a': expected a number, got 'x'"),
        ([{"a": 1.0}, 3], "row 1: expected a dict as in the rows before, got int"),
        ([{"a": 1.0, 7: 2.0}], "named by text, got 7"),
        ([{}], "the rows have no columns"),
        ([{"a": 10**400}], "row 0, column 'a': expected a number"),
    ],
)
def test_what_is_no_row_is_refused_and_nothing_changes(rows: Any, message: str) -> None:
    labels = [0] * (len(rows) if isinstance(rows, list) else 1)
    with pytest.raises(InputError, match=message):
        GaussianNB().fit(rows, labels)
    if rows != [{}]:
        model = GaussianNB().fit(ROWS, Y)
        before = model.tally_
        with pytest.raises(InputError, match=message):
            model.partial_fit(rows, labels)
        assert model.tally_ == before
        assert model.n_features_in_ == 3


def test_dicts_need_columns_with_names_and_new_columns_an_estimator_that_takes_them() -> None:
    model = GaussianNB().fit(X, Y)
    for use in (model.predict, lambda rows: model.partial_fit(rows, Y)):
        with pytest.raises(InputError, match="was fitted on columns without names"):
            use(ROWS)
    with pytest.raises(InputError, match="CategoricalNB takes no new columns, got 'd'"):
        CategoricalNB().fit(ROWS, Y).partial_fit({"d": 1}, ["u"])
    with pytest.raises(naively.NegativeCount):
        GaussianNB().fit(ROWS, Y).forget({"a": 1.0, "b": 1.0, "c": 99.0}, ["u"])
