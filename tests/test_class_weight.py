"""Class weights: rows of a class that count more in tables, and not in the tally."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively
from naively import InputError, NaiveBayes, TextClassifier, merge

RNG = np.random.default_rng(2)
N = 150
Y = np.where(RNG.random(N) < 0.2, "rare", "usual")
TEXTS = [" ".join(RNG.choice(["sun", "rain", "fog", "ice" if label == "rare" else "heat"], 5)) for label in Y]
TABLE = {
    "x": RNG.normal((Y == "rare") * 1.5),
    "c": RNG.choice(["u", "v", "w"], N),
    "n": RNG.poisson(2 + (Y == "rare")),
    "t": TEXTS,
}
WEIGHTS = {"rare": 4.0}
EACH = np.where(Y == "rare", 4.0, 1.0)
OPTIONS: list[tuple[Any, Any]] = [
    (lambda **p: TextClassifier(choose=False, calibrate=False, **p), TEXTS),
    (lambda **p: TextClassifier(family="bernoulli", ngrams=(1, 2), weighting="binary", calibrate=False, **p), TEXTS),
    (lambda **p: TextClassifier(family="complement", weighting="tfidf", ngrams=(1, 1), calibrate=False, **p), TEXTS),
    (lambda **p: NaiveBayes(columns={"x": naively.Number(), "n": naively.Number()}, calibrate=False, **p), TABLE),
    (lambda **p: NaiveBayes(columns={"x": naively.Gaussian(), "n": naively.Poisson()}, calibrate=False, **p), TABLE),
]
models = pytest.mark.parametrize(("make", "rows"), OPTIONS, ids=range(len(OPTIONS)))


def some(rows: Any, part: slice) -> Any:
    return {name: values[part] for name, values in rows.items()} if isinstance(rows, dict) else rows[part]


@models
def test_tables_are_those_of_sample_weights_and_the_tally_is_not(make: Any, rows: Any) -> None:
    model = make(class_weight=WEIGHTS).fit(rows, Y)
    weighted = make().fit(rows, Y, sample_weight=EACH)
    np.testing.assert_allclose(model.predict_joint_log_proba(rows), weighted.predict_joint_log_proba(rows))
    np.testing.assert_allclose(model.class_prior_, weighted.class_prior_)
    plain = make().fit(rows, Y)
    assert model.tally_ == plain.tally_ != weighted.tally_
    np.testing.assert_array_equal(model.class_count_, plain.class_count_)
    assert not np.allclose(model.predict_proba(rows), plain.predict_proba(rows))


@models
def test_weights_may_change_after_fitting_and_rows_are_forgotten_as_without_them(make: Any, rows: Any) -> None:
    model = make(class_weight={"rare": 0.3}).fit(rows, Y)
    model.set_params(class_weight=WEIGHTS).forget(some(rows, slice(30)), Y[:30])
    expected = make(class_weight=WEIGHTS).fit(some(rows, slice(30, None)), Y[30:])
    assert model.tally_ == expected.tally_
    np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(rows))
    parts = [make(class_weight=WEIGHTS).fit(some(rows, part), Y[part]) for part in (slice(70), slice(70, None))]
    whole = make(class_weight=WEIGHTS).fit(rows, Y)
    assert merge(*parts).tally_ == whole.tally_
    np.testing.assert_allclose(merge(*parts).predict_proba(rows), whole.predict_proba(rows))
    model.set_params(class_weight=None)
    np.testing.assert_allclose(
        model.predict_proba(rows), make().fit(some(rows, slice(30, None)), Y[30:]).predict_proba(rows)
    )


@models
def test_held_out_rows_are_judged_with_the_weights_of_their_classes(make: Any, rows: Any) -> None:
    found = naively.leave_one_out(make(class_weight=WEIGHTS, alpha=1.0), rows, Y)
    for i in (0, 7, 80) if isinstance(rows, list) else ():  # bins of columns are held fixed
        others = np.arange(N) != i
        model = make(class_weight=WEIGHTS, alpha=1.0).fit(np.array(rows)[others], Y[others])
        np.testing.assert_allclose(found.scores.joint[i], model.predict_joint_log_proba(rows[i : i + 1])[0])
    folds = naively.cross_validate(make(class_weight=WEIGHTS), rows, Y, folds=5)
    assert 0.5 < folds.accuracy <= 1.0


def test_balanced_classes_weigh_alike_whatever_comes() -> None:
    model = TextClassifier(class_weight="balanced", choose=False).fit(TEXTS, Y)
    np.testing.assert_allclose(model.class_prior_, 0.5)
    model.partial_fit(TEXTS, ["usual"] * N)
    np.testing.assert_allclose(model.class_prior_, 0.5)
    assert np.isfinite(model.predict_proba(TEXTS)).all()


@pytest.mark.parametrize("frozen", [False, True])
@models
def test_files_keep_the_weights_and_the_counts_without_them(make: Any, rows: Any, frozen: bool, tmp_path: Path) -> None:
    model = make(class_weight=WEIGHTS).fit(rows, Y)
    model.save(tmp_path / "model", frozen=frozen)
    again = naively.load(tmp_path / "model")
    np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows), rtol=1e-9)
    if not frozen:
        assert again.tally_ == model.tally_
        again.partial_fit(some(rows, slice(9)), Y[:9])
        model.partial_fit(some(rows, slice(9)), Y[:9])
        np.testing.assert_allclose(again.predict_proba(rows), model.predict_proba(rows))


def test_a_calibrated_model_calibrates_for_its_weights() -> None:
    model = NaiveBayes(class_weight=WEIGHTS).fit(TABLE, Y)
    before = model.predict_proba(TABLE)
    model.set_params(class_weight={"rare": 40.0})
    assert not np.allclose(model.predict_proba(TABLE), before)
    np.testing.assert_allclose(
        model.predict_proba(TABLE), NaiveBayes(class_weight={"rare": 40.0}).fit(TABLE, Y).predict_proba(TABLE)
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ({"raer": 2.0}, "class_weight names 'raer', which is no class; classes are 'rare', 'usual'"),
        ({"rare": -1.0}, "the weight of 'rare' must be a number above 0, got -1.0"),
        ({"rare": 0}, "must be a number above 0"),
        ({"rare": "2"}, "must be a number above 0, got '2'"),
        ({"rare": np.nan}, "must be a number above 0"),
        ("equal", "'class_weight' parameter of .* must be"),
        ([1.0, 2.0], "'class_weight' parameter of .* must be"),
    ],
)
def test_weights_that_are_none_are_refused_and_nothing_changes(weights: Any, message: str) -> None:
    for make, rows in (OPTIONS[0], OPTIONS[3]):
        with pytest.raises(ValueError, match=message):
            make(class_weight=weights).fit(rows, Y)
        model = make().fit(rows, Y)
        before = model.tally_
        model.set_params(class_weight=weights)
        with pytest.raises(ValueError, match=message):
            model.partial_fit(rows, Y)
        model.set_params(class_weight=None)
        assert model.tally_ == before
    assert InputError
