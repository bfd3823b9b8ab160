"""Rows without a label: left out by every estimator, with one warning, as if they had not been passed."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import naively
from naively import DataWarning, InputError, leave_one_out, suspects

TEXTS = ["good film", "bad film", "so good", "dull plot", "fine cast", "bad bad plot", "good cast", "dull film"] * 3
LABELS = ["pos", "neg", "pos", "neg", "pos", "neg", "pos", "neg"] * 3
X = np.array([[len(text), text.count("o"), text.count("d")] for text in TEXTS])
KINDS: list[tuple[Any, Any]] = [
    (naively.MultinomialNB(), X),
    (naively.ComplementNB(), sparse.csr_array(X)),
    (naively.BernoulliNB(), X),
    (naively.PoissonNB(), X),
    (naively.CategoricalNB(), X),
    (naively.GaussianNB(), X.astype(float)),
    (naively.GaussianClassifier(covariance="tied", shrinkage=0.1), X.astype(float)),
    (naively.TextClassifier(), TEXTS),
    (naively.NaiveBayes(), X),
]
kinds = pytest.mark.parametrize(("model", "rows"), KINDS, ids=lambda value: type(value).__name__)
HOLES = np.arange(len(LABELS)) % 5 == 2


def holed(kind: type) -> Any:
    labels = [None if hole else label for hole, label in zip(HOLES, LABELS, strict=True)]
    return pd.Series(labels, dtype="string") if kind is pd.Series else kind(labels)


def taken(rows: Any, mask: Any) -> Any:
    return [row for row, kept in zip(rows, mask, strict=True) if kept] if isinstance(rows, list) else rows[mask]


def fresh(model: Any) -> Any:
    return type(model)(**model.get_params())


@kinds
@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_rows_without_a_label_are_as_if_they_were_not_there(model: Any, rows: Any, kind: Any) -> None:
    known = ~HOLES
    expected = fresh(model).fit(taken(rows, known), np.array(LABELS)[known])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        found = fresh(model).fit(rows, holed(kind))
    assert [str(w.message) for w in caught if "label" in str(w.message)] == [
        "5 of 24 rows have no label and are left out"
    ]
    assert found.tally_ == expected.tally_
    np.testing.assert_array_equal(found.predict_proba(rows), expected.predict_proba(rows))


@kinds
@pytest.mark.filterwarnings("ignore:.*rows have no label")
def test_weights_batches_and_forgetting_go_with_the_labelled_rows(model: Any, rows: Any) -> None:
    known, weight = ~HOLES, np.arange(len(LABELS)) % 3 + 0.0
    labels = np.array(LABELS)
    expected = fresh(model).fit(taken(rows, known), labels[known], weight[known])
    assert fresh(model).fit(rows, holed(list), weight).tally_ == expected.tally_
    twice = fresh(model).fit(rows, LABELS)
    whole = twice.tally_
    twice.partial_fit(rows, holed(list))
    assert (
        twice.tally_ == whole + fresh(model).fit(taken(rows, known), labels[known]).tally_
        if not hasattr(model, "ngrams")
        else twice.tally_.rows.sum() == 24 + 19
    )
    assert twice.forget(rows, holed(list)).tally_ == whole


@kinds
@pytest.mark.filterwarnings("ignore:.*rows have no label")
def test_judging_leaves_them_out_too(model: Any, rows: Any) -> None:
    known = ~HOLES
    found = leave_one_out(fresh(model), rows, holed(list))
    expected = leave_one_out(fresh(model), taken(rows, known), np.array(LABELS)[known])
    assert (len(found.truth), found.log_loss) == (19, pytest.approx(expected.log_loss))
    numbers = suspects(fresh(model), rows, holed(list)).rows
    assert not set(np.asarray(numbers).tolist()) & set(np.flatnonzero(HOLES).tolist())
    groups = leave_one_out(fresh(model), rows, holed(list), groups=np.arange(24) % 4)
    assert len(groups.truth) == 19


@pytest.mark.filterwarnings("ignore:.*rows have no label")
def test_calibration_leaves_them_out_too() -> None:
    known = ~HOLES
    texts = [text for text, kept in zip(TEXTS, known, strict=True) if kept]
    model = naively.TextClassifier().fit(texts, np.array(LABELS)[known])
    expected = model.recalibrate(texts, np.array(LABELS)[known]).temperature_
    assert model.recalibrate(TEXTS, holed(list)).temperature_ == expected != 1.0


@kinds
def test_where_no_row_has_a_label_nothing_is_counted(model: Any, rows: Any) -> None:
    for labels in ([None] * 24, np.full(24, np.nan)):
        with pytest.raises(InputError, match="no row has a label, so there is nothing to count"):
            fresh(model).fit(rows, labels)
    fitted = fresh(model).fit(rows, LABELS)
    before = fitted.tally_
    with pytest.raises(InputError, match="no row has a label"):
        fitted.partial_fit(rows, [None] * 24)
    assert fitted.tally_ == before


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=1, max_size=12))
@pytest.mark.filterwarnings("ignore:.*rows have no label")
def test_numbers_that_are_missing_are_labels_that_are_missing(labels: list[float]) -> None:
    y, rows = np.array(labels), np.arange(len(labels) * 2).reshape(-1, 2)
    known = ~np.isnan(y)
    if not known.any():
        return
    found = naively.MultinomialNB().fit(rows, y)
    assert found.tally_ == naively.MultinomialNB().fit(rows[known], y[known]).tally_


def test_infinity_is_no_missing_label() -> None:
    with pytest.raises(InputError, match="contains infinity: label of row 1"):
        naively.MultinomialNB().fit([[1], [2], [3]], [np.nan, np.inf, 1.0])


@pytest.mark.filterwarnings("ignore:.*rows have no label")
def test_an_error_names_the_row_among_all_rows() -> None:
    rows = np.array([[1.0], [2.0], [-3.0], [1.0]])
    with pytest.raises(InputError, match="row 2"):
        naively.MultinomialNB().fit(rows, ["a", None, "b", "a"])
