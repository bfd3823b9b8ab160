"""Samples of counted rows: recipe and calibration are the same for any order, batches, partition and threads."""

from __future__ import annotations

import csv
import io
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively import Categorical, DataWarning, Gaussian, NaiveBayes, TextClassifier, film_reviews
from naively.cli import main
from naively.learn.checkpoints import load_checkpoint, save_checkpoint
from naively.learn.sample import Limits, Sample
from naively.names import Index
from naively.read.frame import Frame
from naively.read.row_keys import row_keys
from naively.read.texts import Texts

TEXTS, LABELS = np.array(film_reviews()[0], object), np.array(film_reviews()[1])
RECIPE = ("family", "weighting", "ngrams", "min_df", "alpha", "accuracy", "margin", "texts")
WHOLE = TextClassifier().fit(TEXTS, LABELS)


def same(found: Any, expected: Any, rows: Any) -> None:
    """Two models decided the same from the same counts."""
    if hasattr(found, "chosen_"):
        assert {name: found.chosen_[name] for name in RECIPE} == {name: expected.chosen_[name] for name in RECIPE}
    assert found.tally_ == expected.tally_
    assert found.temperature_ == expected.temperature_
    np.testing.assert_allclose(found.predict_proba(rows), expected.predict_proba(rows), rtol=1e-11)


def learnt(model: Any, rows: Any, labels: Any, cuts: list[int]) -> Any:
    """Learn rows in batches that end at these places."""
    for begin, end in zip([0, *cuts], [*cuts, len(labels)], strict=True):
        if begin < end:
            model.partial_fit(rows[begin:end], labels[begin:end])
    return model


# --- texts


@settings(max_examples=12)
@given(st.integers(0, 1 << 32), st.lists(st.integers(1, 479), max_size=5, unique=True), st.sampled_from([None, 1, 3]))
def test_any_order_batches_and_threads_decide_the_same(seed: int, cuts: list[int], threads: Any) -> None:
    order = np.random.default_rng(seed).permutation(len(TEXTS))
    model = TextClassifier(threads=threads)
    found = learnt(model, TEXTS[order], LABELS[order], sorted(cuts)) if cuts else model.fit(TEXTS[order], LABELS[order])
    same(found, WHOLE, TEXTS[:40])


@settings(max_examples=6)
@given(st.integers(0, 1 << 32), st.integers(2, 5))
def test_any_partition_merges_to_one_recipe_and_temperature(seed: int, n_parts: int) -> None:
    part = np.random.default_rng(seed).integers(n_parts, size=len(TEXTS))
    parts = [TextClassifier().fit(TEXTS[part == p], LABELS[part == p]) for p in range(n_parts)]
    same(naively.merge(*pickle.loads(pickle.dumps(parts))), WHOLE, TEXTS[:40])


@pytest.mark.parametrize("order", [np.argsort(LABELS, kind="stable"), np.arange(480)[::-1]])
def test_row_by_row_is_all_at_once(order: Any) -> None:
    same(learnt(TextClassifier(), TEXTS[order], LABELS[order], list(range(1, 480))), WHOLE, TEXTS[:40])


def test_a_stream_sorted_by_label_is_chosen_for_as_well_as_a_shuffled_one() -> None:
    order = np.argsort(LABELS, kind="stable")
    batches = iter([(TEXTS[rows], LABELS[rows]) for rows in np.array_split(order, 6)])
    same(TextClassifier().fit(batches), WHOLE, TEXTS[:40])


def test_predicting_in_between_changes_nothing() -> None:
    model = TextClassifier()
    for begin in range(0, 480, 60):
        model.partial_fit(TEXTS[begin : begin + 60], LABELS[begin : begin + 60]).predict_proba(TEXTS[:3])
    same(model, WHOLE, TEXTS[:40])


def test_a_row_of_weight_two_is_two_rows() -> None:
    twice = TextClassifier().fit([*TEXTS, *TEXTS[:100]], [*LABELS, *LABELS[:100]])
    weighed = TextClassifier().fit(TEXTS, LABELS, np.where(np.arange(480) < 100, 2.0, 1.0))
    same(weighed, twice, TEXTS[:40])


def test_copies_with_fractions_for_weights_are_counted_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([np.arange(480), rng.integers(480, size=300)])
    weight = rng.choice([0.1, 0.3, 0.7], len(rows))
    model = TextClassifier().fit(TEXTS[rows], LABELS[rows], weight)
    words = {name: model.chosen_[name] for name in ("family", "weighting", "ngrams", "alpha")}
    assert model.tally_ == TextClassifier(**words).fit(TEXTS[rows], LABELS[rows], weight).tally_
    order = rng.permutation(len(rows))
    assert (
        TextClassifier().fit(TEXTS[rows][order], LABELS[rows][order], weight[order]).temperature_ == model.temperature_
    )
    one = model._state.sample
    other = one.without(Frame.of_rows(Texts.of(TEXTS[rows[:200]])), *coded(LABELS[rows[:200]]), weight[:200])
    again = other.with_rows(Frame.of_rows(Texts.of(TEXTS[rows[:200]])), *coded(LABELS[rows[:200]]), weight[:200])
    [before], [after] = one.groups, again.groups
    assert np.array_equal(before.keys, after.keys)
    assert np.array_equal(before.exact, after.exact)


def coded(labels: Any) -> tuple[Any, Index]:
    classes = Index.of(["negative", "positive"])
    return classes.locate(labels), classes


def test_forgetting_takes_rows_out_of_the_sample() -> None:
    most = TextClassifier().fit(TEXTS[:400], LABELS[:400])
    same(TextClassifier().fit(TEXTS, LABELS).forget(TEXTS[400:], LABELS[400:]), most, TEXTS[:40])


def test_equal_texts_never_stand_on_both_sides() -> None:
    """Texts of noise are known again by their copies alone."""
    rng = np.random.default_rng(0)
    noise = [" ".join(f"w{n}" for n in rng.integers(0, 400, 8)) for _ in range(300)]
    labels = rng.choice(["a", "b"], 300).tolist()
    copies = [*noise, *(text.upper() + "!" for text in noise), *noise]
    chosen = TextClassifier(calibrate=False).fit(copies, labels * 3).chosen_
    assert chosen.texts <= 300
    assert abs(chosen.accuracy - 0.5) < 0.12


@pytest.mark.parametrize("size", [128, 1000])
def test_models_of_more_texts_than_a_sample_holds_depend_on_no_order(monkeypatch: Any, size: int) -> None:
    limits = Limits(rows=150, size=size << 6, of_class=20)
    monkeypatch.setattr("naively.learn.text_learner.SAMPLED", limits)
    whole = TextClassifier().fit(TEXTS, LABELS)
    assert 100 <= whole._state.sample.n_rows < 300
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(480)
        same(learnt(TextClassifier(), TEXTS[order], LABELS[order], [50, 300, 301]), whole, TEXTS[:40])
        parts = [TextClassifier().fit(TEXTS[rows], LABELS[rows]) for rows in np.array_split(order, 3)]
        same(naively.merge(*parts), whole, TEXTS[:40])


def test_where_nothing_can_be_chosen_that_is_said() -> None:
    with pytest.warns(DataWarning, match="all texts are of one class"):
        one = TextClassifier().fit(TEXTS, ["x"] * 480)
    assert one.chosen_.why == "all texts are of one class"
    few = TextClassifier().fit(TEXTS[:50], LABELS[:50])
    assert "fewer than 100 different texts" in str(few.chosen_)
    assert TextClassifier(choose=False).fit(TEXTS, LABELS).chosen_.why is None


def test_without_choosing_texts_are_counted_by_single_words() -> None:
    plain = TextClassifier(choose=False).fit(TEXTS, LABELS)
    given = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1)).fit(TEXTS, LABELS)
    same(plain, given, TEXTS[:40])
    assert plain.chosen_.tried == ()


def test_choosing_says_how_far_it_is() -> None:
    shares: list[float] = []
    model = learnt(TextClassifier(), TEXTS, LABELS, [200]).settle(shares.append)
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] < shares[-1] == 1.0
    same(model, WHOLE, TEXTS[:40])


# --- tables

COLUMNS = {"x": Gaussian(), "c": Categorical(), "d": Categorical()}


def table(n: int = 900) -> tuple[Any, Any]:
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    copy = np.where(rng.random(n) < 0.8, y, "a")
    x = np.where(rng.random(n) < 0.05, np.nan, rng.normal(size=n) + (y == "b"))
    return pd.DataFrame({"x": x, "c": copy, "d": copy}), y


@settings(max_examples=8)
@given(st.integers(0, 1 << 32), st.lists(st.integers(1, 899), max_size=4, unique=True))
def test_the_calibration_of_a_table_depends_on_no_order(seed: int, cuts: list[int]) -> None:
    rows, y = table()
    order = np.random.default_rng(seed).permutation(len(y))
    whole = NaiveBayes(columns=COLUMNS).fit(rows, y)
    found = learnt(NaiveBayes(columns=COLUMNS), rows.iloc[order], y[order], sorted(cuts))
    assert found.temperature_ == pytest.approx(whole.temperature_, rel=1e-12)
    np.testing.assert_allclose(found.predict_proba(rows), whole.predict_proba(rows), rtol=1e-9)
    parts = [NaiveBayes(columns=COLUMNS).fit(rows.iloc[part], y[part]) for part in np.array_split(order, 3)]
    assert naively.merge(*parts).temperature_ == pytest.approx(whole.temperature_, rel=1e-12)


def test_a_table_learnt_row_by_row_is_calibrated_as_at_once() -> None:
    rows, y = table(300)
    found = learnt(NaiveBayes(columns=COLUMNS), rows, y, list(range(1, 300)))
    whole = NaiveBayes(columns=COLUMNS).fit(rows, y)
    assert found.temperature_ == pytest.approx(whole.temperature_, rel=1e-12)
    forgotten = found.forget(rows[200:], y[200:])
    assert forgotten.temperature_ == pytest.approx(NaiveBayes(columns=COLUMNS).fit(rows[:200], y[:200]).temperature_)


def test_keys_know_numbers_and_columns_by_value_alone() -> None:
    classes, codes = Index.of(["a", "b"]), np.zeros(3, np.int64)
    key = row_keys(Frame.of({"n": np.array([1, 2, 3]), "t": ["u", "v", None]}), codes, classes)
    others = [
        {"t": ["u", "v", None], "n": np.array([1.0, 2.0, 3.0], np.float32)},
        {"n": np.array([1, 2, 3], np.int8), "t": ["u", "v", None], "later": [None, None, None]},
    ]
    for other in others:
        assert row_keys(Frame.of(other), codes + 1, Index.of(["z", "a"])).tolist() == key.tolist()
    assert len(set(key.tolist())) == 3
    assert not np.isin(row_keys(Frame.of({"n": [1, 2, 3], "t": ["v", "u", None]}), codes, classes)[:2], key).any()


def test_keys_are_the_same_on_every_machine() -> None:
    """Samples that were made anywhere are united by their keys."""
    texts = Frame.of_rows(Texts.of(["", "a", "naïve Bayes counts", None, "x" * 100]))
    keys = row_keys(texts, np.array([0, 1, 0, 1, 0]), Index.of(["ham", "spam"]))
    assert keys.tolist() == KEYS
    mixed = Frame.of({"n": np.array([0.0, -0.0, 1.5, np.nan, 2.0**60]), "t": ["a", "a", None, "", "b"]})
    assert row_keys(mixed, np.array([0, 0, 1, 1, 1]), Index.of([1, 2])).tolist() == TABLE_KEYS


KEYS = [15928632476661441181, 15821701054595953942, 15177153201969231464, 5349366465537082113, 17654678693823690924]
TABLE_KEYS = [
    16471039568711307173,
    16471039568711307173,
    13576690738563120986,
    16435944174519191279,
    5660581691112111190,
]


# --- the sample by itself

Row = tuple[str, int, int]


@given(
    st.lists(st.tuples(st.text("ab", max_size=4), st.integers(0, 2), st.integers(0, 3)), max_size=40),
    st.integers(1, 12), st.integers(1, 40), st.integers(0, 3),
)  # fmt: skip
def test_a_sample_is_a_function_of_the_rows(rows: list[Row], most: int, size: int, of_class: int) -> None:
    limits, names = Limits(most, size, of_class), ["x", "y", "z"]
    expected = by_hand(rows, limits, names)
    whole = sample_of(rows, limits, names)
    parts = [sample_of([row for row in rows if row[2] == part], limits, names[::-1]) for part in range(4)]
    single = Sample(limits)
    for text, label, _ in reversed(rows):
        row = Frame.of_rows(Texts.of([text]))
        single = single.with_rows(row, np.zeros(1, np.int64), Index.of([names[label]]), None)
    for found in (whole, parts[3] + parts[1] + parts[0] + parts[2], single, pickle.loads(pickle.dumps(whole))):
        assert listed(found) == expected


def sample_of(rows: list[Row], limits: Limits, names: list[str]) -> Sample:
    """The sample of rows that come at once, with classes in this order."""
    codes = np.array([names.index("xyz"[label]) for _, label, _ in rows], np.int64)
    if not rows:
        return Sample(limits)
    present = sorted(set(codes.tolist()))
    texts = Frame.of_rows(Texts.of([text for text, _, _ in rows]))
    index = Index.of([names[code] for code in present])
    return Sample(limits).with_rows(texts, np.searchsorted(present, codes), index, None).settled


def listed(sample: Sample) -> dict[int, tuple[str, float]]:
    return {
        int(key): (sample.settled.classes.name(int(code)), float(weight))
        for group in sample.groups
        for key, code, weight in zip(group.keys, group.codes, group.weight, strict=True)
    }


def by_hand(rows: list[Row], limits: Limits, names: list[str]) -> dict[int, tuple[str, float]]:
    """The sample from its definition, row by row."""
    found: dict[int, list[Any]] = {}
    for text, label, _ in rows:
        [key] = row_keys(Frame.of_rows(Texts.of([text])), np.array([0]), Index.of([names[label]])).tolist()
        found.setdefault(key, [names[label], 0.0, len(text)])[1] += 1.0
    n_classes = len({name for name, _, _ in found.values()})
    kept, bytes_before = set(), 0
    for rank, key in enumerate(sorted(found)):
        if rank < limits.rows and bytes_before < limits.size:
            kept.add(key)
        bytes_before += found[key][2]
    for name in names if limits.of_class else []:
        bytes_before = 0
        for rank, key in enumerate(sorted(k for k in found if found[k][0] == name)):
            most = max(min(limits.of_class, limits.rows // n_classes), 1)
            if rank < most and bytes_before < limits.size // n_classes:
                kept.add(key)
            bytes_before += found[key][2]
    return {key: (found[key][0], found[key][1]) for key in kept}


# --- files


def test_a_saved_model_holds_no_text_and_is_the_same_for_any_order(tmp_path: Path) -> None:
    for name, order in (("a", np.arange(480)), ("b", np.random.default_rng(1).permutation(480))):
        learnt(TextClassifier(), TEXTS[order], LABELS[order], [7, 100]).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert TEXTS[0].encode() not in (tmp_path / "a").read_bytes()
    assert naively.load(tmp_path / "a")._state.sample is None


@pytest.mark.parametrize("kind", ["texts", "table"])
def test_a_checkpoint_goes_on_with_the_sample(tmp_path: Path, kind: str) -> None:
    rows, labels, model = (TEXTS, LABELS, TextClassifier()) if kind == "texts" else (*table(), NaiveBayes())
    whole = learnt(model._fresh(), rows, labels, [200, 300])
    half = learnt(model._fresh(), rows[:300], labels[:300], [200])
    save_checkpoint(half, tmp_path / "checkpoint", {})
    again = model._fresh()
    load_checkpoint(again, tmp_path / "checkpoint")
    again.partial_fit(rows[300:], labels[300:])
    same(again, whole, rows[:40])


# --- the command line


def write(path: str, order: Any) -> None:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "label"), *zip(TEXTS[order], LABELS[order], strict=True)])


def test_the_command_line_and_python_make_the_same_model_of_a_file_in_any_order(
    tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    WHOLE.save("python.nb")
    orders = {
        "plain": np.arange(480),
        "sorted": np.argsort(LABELS, kind="stable"),
        "shuffled": np.random.default_rng(5).permutation(480),
    }
    for name, order in orders.items():
        write(f"{name}.csv", order)
        assert main(["train", f"{name}.csv", "--target", "label", "-o", f"{name}.nb"]) == 0
    capsys.readouterr()
    stdin = io.TextIOWrapper(io.BytesIO(Path("sorted.csv").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["train", "-", "--format", "csv", "--target", "label", "--text", "text", "-o", "stdin.nb"]) == 0
    for name in (*orders, "stdin"):
        naively.load(f"{name}.nb").save("again.nb")  # without the names of the data
        assert Path("again.nb").read_bytes() == Path("python.nb").read_bytes(), name
