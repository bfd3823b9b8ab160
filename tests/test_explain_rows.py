"""Explanations of many rows: the same sums as one row has, as arrays and as a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from families import CASES, Case

import naively
from naively import GaussianClassifier, InputError, MultinomialNB, NaiveBayes, TextClassifier

RNG = np.random.default_rng(3)
V = RNG.integers(-1, 5, (60, 4))
Y = np.array(["b", "a", "c"])[RNG.integers(0, 3, 60)]
PAIRS = ("full", "tied")


def fitted(case: Case) -> Any:
    return case.make().fit(case.rows(V[:30]), Y[:30]).partial_fit(case.rows(V[30:]), Y[30:])


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in PAIRS], ids=repr)
def test_shares_of_many_rows_are_those_of_each_row_alone(case: Case) -> None:
    model = fitted(case)
    rows = case.rows(V[:12])
    found = model.explain_rows(rows)
    np.testing.assert_array_equal(found.labels, model.predict(rows))
    np.testing.assert_allclose(found.probability, model.predict_proba(rows).max(axis=1))
    joint = model.scores(rows).joint
    order = {label: k for k, label in enumerate(model.classes_.tolist())}
    for i in range(12):
        first, second = order[found.labels[i]], order[found.against[i]]
        assert first != second
        total = found.prior[i] + found.shares[i].sum() + found.rest[i]
        if np.isfinite(found.log_odds[i]):
            np.testing.assert_allclose(found.log_odds[i], joint[i, first] - joint[i, second], atol=1e-9)
            np.testing.assert_allclose(total, found.log_odds[i], atol=1e-9)
        one = model.explain(case.rows(V[i : i + 1]))
        with np.errstate(invalid="ignore"):
            single = np.nan_to_num(one.shares[:, first] - one.shares[:, second], nan=0.0, posinf=np.inf, neginf=-np.inf)
        expected = dict(zip(one.features, single.tolist(), strict=True))
        mine = {n: s for n, s in zip(found.features, found.shares[i].tolist(), strict=True) if n in expected}
        beyond_missing = getattr(model, "missing", None) == "informative"  # single shares are not
        if not beyond_missing and not any(
            isinstance(name, tuple) or ":" in str(name) for name in [*expected, *found.features]
        ):
            for name, share in mine.items():
                np.testing.assert_allclose(share, expected[name], atol=1e-9)


def test_a_frame_has_shares_and_values_by_column() -> None:
    table = pd.DataFrame({"x": [1.0, 2.0, None, 9.0, 8.0, 7.5] * 5, "c": ["u", "u", "v", "v", "w", None] * 5})
    labels = ["a", "a", "a", "b", "b", "b"] * 5
    model = NaiveBayes().fit(table, labels)
    frame = model.explain_rows(table[:6]).to_frame()
    assert frame["share"].columns.tolist() == frame["value"].columns.tolist() == ["x", "c"]
    pd.testing.assert_series_equal(frame["value"]["x"], table["x"][:6])
    assert frame["value"]["c"].tolist()[:5] == ["u", "u", "v", "v", "w"]
    assert frame["row"]["label"].tolist() == model.predict(table[:6]).tolist()
    assert frame["share"]["x"][2] == frame["share"]["c"][5] == 0.0
    total = frame["row"]["prior"] + frame["share"].sum(axis=1) + frame["row"]["rest"]
    np.testing.assert_allclose(total, frame["row"]["log_odds"], atol=1e-9)


def test_one_label_is_explained_against_the_best_other_one() -> None:
    model = TextClassifier(choose=False, ngrams=(1, 1)).fit(["red sun", "blue sea", "green sea"], ["r", "b", "g"])
    found = model.explain_rows(["red sea", "sea sea", ""], label="g")
    assert found.labels.tolist() == ["g", "g", "g"]
    assert "g" not in found.against.tolist()
    assert set(found.features) == {"red", "sea"}
    counts = dict(zip(found.features, np.array(found.values), strict=True))
    assert counts["sea"].tolist() == [1, 2, 0]
    assert found.shares[2].tolist() == [0.0, 0.0]
    with pytest.raises(InputError, match="label='gg' is no class"):
        model.explain_rows(["sea"], label="gg")


def test_texts_in_a_table_have_one_share_for_each_column() -> None:
    table = {"t": ["good film", "bad film", "good", "bad"] * 10, "x": [1.0, 2.0, 1.5, 2.5] * 10}
    model = NaiveBayes(columns={"t": naively.Text()}).fit(table, [1, 0, 1, 0] * 10)
    found = model.explain_rows(table)
    assert found.features == ("t", "x")
    assert found.shares.shape == (40, 2)
    np.testing.assert_allclose(found.prior + found.shares.sum(axis=1) + found.rest, found.log_odds)


def test_a_group_of_a_full_covariance_has_one_share() -> None:
    table = {"a": RNG.normal(size=40), "b": RNG.normal(size=40), "c": RNG.normal(size=40)}
    labels = (table["a"] + table["c"] > 0).astype(int)
    model = NaiveBayes(columns={("a", "b"): naively.Gaussian(covariance="full")}).fit(table, labels)
    found = model.explain_rows(table)
    assert sorted(map(str, found.features)) == ["('a', 'b')", "c"]
    np.testing.assert_allclose(found.prior + found.shares.sum(axis=1), found.log_odds)


def test_what_cannot_be_explained_is_refused() -> None:
    model = GaussianClassifier(covariance="full").fit(V, Y)
    with pytest.raises(InputError, match="call explain for one row"):
        model.explain_rows(V)
    with pytest.raises(InputError, match="one class alone"):
        MultinomialNB().fit([[1, 2]], ["a"]).explain_rows([[1, 2]])
    wide = MultinomialNB().fit(np.ones((2, 9000)), [0, 1])
    with pytest.raises(InputError, match="too many for a frame; pass fewer rows"):
        wide.explain_rows(np.ones((8000, 9000), np.uint8))
