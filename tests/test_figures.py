"""Figures that models give of themselves are those of the models that users get: calibrated, on rows not seen."""

from __future__ import annotations

import itertools
import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from families import plain_text
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

import naively
from naively import NaiveBayes, compare, cross_validate, evaluate, film_reviews, leave_one_out
from naively.cli import main
from naively.learn import calibrate as calibrating
from naively.score.calibration import FEWEST, Losses, PerClass, Temperature, enough_rows, fitted

Array = np.ndarray[Any, Any]
Table = dict[str, Array]
TEXTS, LABELS = film_reviews()


def repeated_evidence(rows: int, seed: int = 0, columns: int = 6, right: float = 0.8) -> tuple[Table, Array]:
    """Columns that say the same thing again and again, so that uncalibrated probabilities are far too sure."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    said = np.where(rng.random(rows) < right, y, 1 - y)
    return {f"c{j}": np.where(rng.random(rows) < 0.95, said, 1 - said).astype(str) for j in range(columns)}, y


def biased(rows: int, seed: int = 0) -> tuple[Table, Array]:
    """Columns that repeat themselves for one class alone, so that the other is decided too seldom."""
    rng = np.random.default_rng(seed)
    y = (rng.random(rows) < 0.3).astype(int)
    said = rng.random(rows) < np.where(y == 1, 0.9, 0.35)
    table = {f"same {j}": np.where(said, "yes", "no") for j in range(4)}
    table["number"] = np.where(y == 1, 1.0, 0.0) + rng.normal(size=rows)
    return table, y


def part(table: Table, rows: slice) -> Table:
    return {name: values[rows] for name, values in table.items()}


def log_loss(model: Any, table: Any, y: Array) -> float:
    return evaluate(model, table, y).log_loss


# --- judged as they are used


@pytest.mark.parametrize("calibrate", [True, "temperature", "per class", "isotonic"])
def test_held_out_rows_are_as_sure_as_the_model_that_users_get(calibrate: Any) -> None:
    table, y = repeated_evidence(3000)
    train, rest = slice(1000), slice(1000, None)
    model = NaiveBayes(calibrate=calibrate)
    true = log_loss(model.fit(part(table, train), y[train]), part(table, rest), y[rest])
    raw = log_loss(NaiveBayes(calibrate=False).fit(part(table, train), y[train]), part(table, rest), y[rest])
    assert raw > true + 0.2
    fresh = NaiveBayes(calibrate=calibrate)
    figures = {
        "leave one out": leave_one_out(fresh, part(table, train), y[train]),
        "of a fitted model": leave_one_out(model, part(table, train), y[train]),
        "groups": leave_one_out(fresh, part(table, train), y[train], groups=np.arange(1000) // 4),
        "folds": cross_validate(fresh, part(table, train), y[train]),
        "judge": model.judge(part(table, train), y[train]),
        "compare": compare({"it": fresh}, part(table, train), y[train])["it"],
    }
    for name, found in figures.items():
        assert found.log_loss == pytest.approx(true, abs=0.06), name


@pytest.mark.parametrize("way", ["--loo", "--cv"])
def test_the_command_line_judges_held_out_rows_as_calibrated_as_the_model_is(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, y = repeated_evidence(3000)
    train, rest = slice(1000), slice(1000, None)
    calibrated, raw = (
        log_loss(NaiveBayes(calibrate=calibrate).fit(part(table, train), y[train]), part(table, rest), y[rest])
        for calibrate in (True, False)
    )
    assert raw > calibrated + 0.2
    path = tmp_path / "rows.csv"
    pd.DataFrame({**part(table, train), "label": y[train]}).to_csv(path, index=False)
    options = [way, *(["5"] if way == "--cv" else [])]
    assert main(["evaluate", str(path), "--target", "label", *options, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["log_loss"] == pytest.approx(calibrated, abs=0.06)


def test_a_model_that_does_not_calibrate_is_judged_uncalibrated() -> None:
    for model in (plain_text(), naively.TextClassifier(calibrate=False)):
        found = cross_validate(model, TEXTS, LABELS)
        assert found.scores.calibration is None


def test_held_out_rows_are_calibrated_by_others_than_themselves() -> None:
    rng = np.random.default_rng(0)
    below = np.sort(rng.normal(size=(60, 2)) * 5, axis=1)[:, ::-1]
    below = below - below.max(axis=1, keepdims=True)
    truth = rng.integers(0, 2, 60)  # by chance, so that nothing can be known
    found = naively.score.calibration.cross_fitted("isotonic", below, truth)
    assert found is not None
    chance = naively.score.calibration.normalised(found.logs(below))
    own = -np.log(chance[np.arange(60), truth]).mean()
    seen = naively.score.calibration.normalised(fitted("isotonic", below, truth).logs(below))
    assert -np.log(seen[np.arange(60), truth]).mean() < np.log(2) < own
    assert naively.score.calibration.cross_fitted("temperature", below[: FEWEST - 1], truth[: FEWEST - 1]) is None


# --- how calibrations are fitted


def test_a_sample_without_a_mistake_does_not_make_a_model_surer_than_its_counts() -> None:
    below = np.array([[0.0, -4.0]] * 800)
    assert Losses.of(below, np.zeros(800, int)).temperature.value > 0.5  # 1 wrong in 801, as Laplace would have it
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    wrong = rng.random(20_000) < 0.002
    table = {f"c{j}": np.where(wrong, 1 - y, y).astype(str) for j in range(3)}
    train, rest = slice(6000), slice(6000, None)
    model = NaiveBayes(alpha=1.0).fit(part(table, train), y[train])
    raw = NaiveBayes(alpha=1.0, calibrate=False).fit(part(table, train), y[train])
    assert model.temperature_ > 1.0
    assert log_loss(model, part(table, rest), y[rest]) < log_loss(raw, part(table, rest), y[rest])


def test_more_rows_are_judged_where_few_of_the_first_are_wrong() -> None:
    rng = np.random.default_rng(0)
    truth = np.zeros(5000, int)
    sure = np.tile([0.0, -3.0], (5000, 1))
    assert len(enough_rows("temperature", sure, truth, np.ones(5000))) == 4000
    often = np.where(rng.random((5000, 1)) < 0.1, [[-3.0, 0.0]], sure)
    assert len(enough_rows("temperature", often, truth, np.ones(5000))) == 800
    assert len(enough_rows("per class", often, truth, np.ones(5000))) == 4000


def test_classes_get_constants_of_their_own_where_held_out_rows_are_better_for_it() -> None:
    table, y = biased(6000)
    train, rest = slice(3000), slice(3000, None)
    given = part(table, train), y[train]
    model, one, each = (NaiveBayes(calibrate=c).fit(*given) for c in (True, "temperature", "per class"))
    assert isinstance(model.scores(part(table, rest)).calibration, PerClass)
    figures = [evaluate(m, part(table, rest), y[rest]) for m in (model, one, each)]
    assert figures[0].log_loss == pytest.approx(figures[2].log_loss, abs=0.01)
    assert figures[0].log_loss < figures[1].log_loss - 0.005
    assert figures[0].accuracy >= figures[1].accuracy
    plain, labels = repeated_evidence(1000)
    assert isinstance(NaiveBayes().fit(plain, labels).scores(plain).calibration, Temperature)


def test_labels_are_the_most_probable_ones_whatever_the_calibration() -> None:
    table, y = biased(3000)
    for calibrate in (True, "temperature", "per class", "isotonic", False):
        model = NaiveBayes(calibrate=calibrate).fit(table, np.where(y == 1, "z", "a"))
        model.partial_fit(part(table, slice(50)), ["b"] * 50)  # a class that comes late stands behind the others
        if calibrate in ("per class", "isotonic"):
            model.recalibrate(table, np.where(y == 1, "z", "a"))
        proba = model.predict_proba(table)
        assert (model.predict(table) == model.classes_[proba.argmax(axis=1)]).mean() > 0.999
        assert (model.predict(table) == model.scores(table).decide()).all()


# --- weights are rows


def test_weights_are_rows_to_the_calibration() -> None:
    table, y = repeated_evidence(150)
    table["x"] = np.random.default_rng(1).normal(size=150) + y
    copies = {name: np.repeat(values, 5) for name, values in table.items()}
    for calibrate in (True, "temperature", "per class"):
        weighted = NaiveBayes(calibrate=calibrate).fit(table, y, np.full(150, 5.0))
        repeated = NaiveBayes(calibrate=calibrate).fit(copies, np.repeat(y, 5))
        assert weighted.temperature_ == pytest.approx(repeated.temperature_, rel=1e-4)
        np.testing.assert_allclose(weighted.predict_proba(table), repeated.predict_proba(table), atol=1e-4)
    texts, labels = TEXTS[:120], LABELS[:120]
    weighted = plain_text(calibrate=True).fit(texts, labels, np.full(120, 5.0))
    repeated = plain_text(calibrate=True).fit([t for t in texts for _ in range(5)], np.repeat(labels, 5))
    assert weighted.temperature_ == pytest.approx(repeated.temperature_, rel=1e-6)


def test_scikit_learn_finds_weights_and_copies_equal() -> None:
    check_sample_weight_equivalence_on_dense_data("NaiveBayes", NaiveBayes())


# --- reading changes nothing, and what is forgotten leaves no trace


def learners() -> dict[str, tuple[Any, Any, Array, Any, Array]]:
    table, y = repeated_evidence(1200)
    table["x"] = np.random.default_rng(1).normal(size=1200) + y
    odd = repeated_evidence(1300, 5, right=0.5)[0]
    first, second = slice(500), slice(500, 1200)
    more = part(odd, slice(700)) | {"x": np.zeros(700)}
    texts = np.array(TEXTS, dtype=object)
    return {
        "table": (NaiveBayes(), part(table, first), y[first], more, y[second]),
        "text": (plain_text(calibrate=True), list(texts[:200]), LABELS[:200], list(texts[200:]), LABELS[200:]),
        "tokens": (
            plain_text(calibrate=True, tokens=str.split),
            list(texts[:200]), LABELS[:200], list(texts[200:]), LABELS[200:],
        ),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["table", "text", "tokens"])
def test_the_calibration_after_forgetting_is_that_of_the_rows_that_are_left(name: str) -> None:
    model, X, y, more, labels = learners()[name]
    alone = model.fit(X, y).temperature_
    proba = model.predict_proba(X)
    model.partial_fit(more, labels)
    assert model.temperature_ != pytest.approx(alone, rel=1e-3)
    model.forget(more, labels)
    assert model.temperature_ == alone
    np.testing.assert_allclose(model.predict_proba(X), proba, rtol=1e-9)


def sampled(model: Any) -> tuple[int, float]:
    """Return the number of different rows in the sample of a model, and the weight of all."""
    sample = model._state.sample
    return sample.n_rows, sum(float(group.weight.sum()) for group in sample.groups)


def test_rows_are_forgotten_by_the_calibration_whatever_form_they_come_in() -> None:
    import pandas as pd
    import pyarrow as pa

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    columns: dict[str, Any] = {
        "whole": rng.integers(0, 50, 300) + y,
        "text": rng.choice(["a", "b", None], 300),
        "flag": rng.random(300) < 0.5,
        "day": pd.date_range("2020-01-01", periods=300),
        "gone": np.where(rng.random(300) < 0.2, np.nan, rng.normal(size=300)),
    }
    frame = pd.DataFrame(columns)
    for other in (frame.astype({"whole": float, "text": "category"}), pa.Table.from_pandas(frame)):
        model = NaiveBayes().fit(frame, y)
        assert sampled(model) == (300, 300)
        model.forget(other[:200], y[:200])
        assert sampled(model) == (100, 100)


def test_a_sliding_window_stays_calibrated() -> None:
    batches = [repeated_evidence(600, seed) for seed in range(6)]
    model = NaiveBayes().fit(*batches[0])
    alone = model.temperature_
    for (old, old_y), (new, new_y) in itertools.pairwise(batches):
        model.partial_fit(new, new_y).forget(old, old_y)
        assert model.temperature_ == pytest.approx(alone, rel=0.4)


def test_forgetting_takes_weights_out_of_the_calibration() -> None:
    table, y = repeated_evidence(100)
    five = np.full(100, 5.0)
    model = NaiveBayes().fit(table, y, five)
    assert sampled(model)[1] == 500
    model.forget(part(table, slice(40)), y[:40])  # one of five
    assert sampled(model)[1] == 460
    model.forget(part(table, slice(40)), y[:40], np.full(40, 4.0))
    assert sampled(model)[1] == 300


def test_calibrating_anew_takes_weights_for_rows_too() -> None:
    table, y = repeated_evidence(150)
    model = NaiveBayes().fit(table, y, np.full(150, 5.0))
    before = model.temperature_
    assert model.recalibrate(table, y, np.full(150, 5.0)).temperature_ == pytest.approx(before, rel=1e-9)


def test_iterators_are_forgotten_and_judged_as_lists_are() -> None:
    model = plain_text(calibrate=True).fit(TEXTS, LABELS)
    again = plain_text(calibrate=True).fit(TEXTS, LABELS)
    assert model.judge(iter(TEXTS), LABELS).log_loss == again.judge(list(TEXTS), LABELS).log_loss
    model.forget((text for text in TEXTS[:100]), LABELS[:100])
    assert model.temperature_ == again.forget(list(TEXTS[:100]), LABELS[:100]).temperature_


def test_rules_that_change_before_the_first_reading_change_as_much_as_after_it() -> None:
    table, y = repeated_evidence(300)
    read, unread = NaiveBayes().fit(table, y), NaiveBayes().fit(table, y)
    read.predict_proba(table)
    for model in (read, unread):
        model.set_params(alpha=5.0)
    np.testing.assert_array_equal(read.predict_proba(table), unread.predict_proba(table))


def test_reading_between_two_batches_changes_nothing() -> None:
    model, X, y, more, labels = learners()["table"]
    read = NaiveBayes().fit(X, y)
    read.predict(X), read.predict_proba(X)
    read.partial_fit(more, labels)
    model.fit(X, y).partial_fit(more, labels)
    np.testing.assert_array_equal(read.predict_proba(X), model.predict_proba(X))
    assert read.temperature_ == model.temperature_


def test_a_model_calibrated_by_a_temperature_decides_without_looking_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    table, y = repeated_evidence(300)
    monkeypatch.setattr(calibrating, "leave_one_out", lambda *_: pytest.fail("rows were left out"))
    NaiveBayes(calibrate="temperature").fit(table, y).predict(table)


def test_the_sum_of_two_models_has_the_sum_of_their_counts_and_a_temperature_of_its_own() -> None:
    a, b = (plain_text(calibrate=True).fit(TEXTS[rows], LABELS[rows]) for rows in (slice(0, 480, 2), slice(1, 480, 2)))
    whole, merged = plain_text(calibrate=True).fit(TEXTS, LABELS), naively.merge(a, b)
    assert merged.tally_ == whole.tally_
    assert merged.temperature_ == pytest.approx(whole.temperature_, rel=0.3)


def test_an_explanation_leads_from_the_score_to_the_probability_where_classes_have_constants() -> None:
    table, y = biased(3000)
    model = NaiveBayes().fit(table, y)
    found = model.explain(part(table, slice(1)))
    assert found.constants is not None
    logs = found.score / found.temperature + found.constants
    np.testing.assert_allclose(np.exp(logs - np.logaddexp.reduce(logs)), found.probability)
    assert found.temperature == model.temperature_
    assert "constant" in str(found)


# --- many classes


@pytest.mark.parametrize("classes", [3000, 20_000])
def test_one_row_for_each_of_many_classes_is_left_out_as_it_was_counted(classes: int) -> None:
    rng = np.random.default_rng(0)
    table = {"number": rng.normal(size=classes), "letter": rng.choice(list("abc"), classes)}
    chance = NaiveBayes().fit(table, np.arange(classes)).predict_proba(part(table, slice(3)))
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)


@pytest.mark.parametrize("kind", ["text", "table"])
def test_many_classes_cost_what_was_seen_and_not_rows_times_classes(kind: str) -> None:
    classes = 10_000
    y = np.arange(2 * classes) % classes
    texts = [f"w{label % 1000} v{label % 7} u{row}" for row, label in enumerate(y.tolist())]
    number = np.random.default_rng(0).normal(size=len(y)) + y % 7
    model = plain_text(calibrate=True) if kind == "text" else NaiveBayes()
    X: Any = texts if kind == "text" else {"letter": (y % 9).astype(str), "number": number}
    two = texts[:2] if kind == "text" else part(X, slice(2))
    tracemalloc.start()
    chance = model.fit(X, y).predict_proba(two)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert chance.shape == (2, classes)
    assert peak < 300 << 20  # 800 rows by 10,000 classes, several times over, were 500 MB and more
