"""Parts of the rows, counted apart by one plan, merged and finished: the model of all rows at once."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from families import CASES, Case, of_rows, weighted_data
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively import CountedPart, NaiveBayes, TextClassifier
from naively.errors import FileError, InputError
from naively.learn import parts as module
from naively.store.packed import unpacked

SAVED = [case for case in CASES if not case.name.startswith("pipeline")]


def sent(part: CountedPart) -> CountedPart:
    """The part as another process gets it."""
    again = naively.from_bytes(part.to_bytes())
    assert isinstance(again, CountedPart)
    return again


@settings(max_examples=20)
@pytest.mark.parametrize("case", SAVED, ids=repr)
@given(data=st.data())
def test_parts_give_the_model_of_all_rows(case: Case, data: st.DataObject) -> None:
    rows, y = data.draw(weighted_data(case))
    piece = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    plan = sent(case.make().plan(of_rows(case, rows)))
    pieces = [
        plan.count(of_rows(case, rows[own]), y[own], rows[own, -1]) for k in range(4) if (own := piece == k).any()
    ]
    parts = data.draw(st.permutations([plan, *map(sent, pieces)]))
    whole = case.make().fit(of_rows(case, rows), y, sample_weight=rows[:, -1])
    cut = data.draw(st.integers(0, len(parts)))
    found = plan.merge([sent(plan.merge(parts[:cut])), sent(plan.merge(parts[cut:]))]).finish()
    assert found.tally_ == whole.tally_
    X = of_rows(case, rows)
    np.testing.assert_array_equal(found.predict(X), whole.predict(X))
    np.testing.assert_allclose(found.predict_proba(X), whole.predict_proba(X), rtol=1e-12, atol=1e-15)


def films(repeat: int = 1) -> pa.Table:
    texts, labels = naively.film_reviews()
    return pa.table({"text": texts * repeat, "label": labels * repeat})


@pytest.mark.parametrize("options", [{}, {"ngrams": (1, 1), "choose": False}, {"calibrate": "per class"}], ids=str)
@pytest.mark.parametrize("n_parts", [1, 3, 7])
def test_texts_counted_in_parts_are_the_same_file(options: dict[str, Any], n_parts: int) -> None:
    table = films()
    order = np.random.default_rng(n_parts).permutation(len(table))
    plan = sent(TextClassifier(**options).plan())
    parts = []
    for rows in np.array_split(order, n_parts):
        piece = table.take(rows)
        part = plan.count(piece["text"][:5], piece["label"][:5]).count(piece["text"][5:], piece["label"][5:])
        parts.append(sent(part))
    whole = TextClassifier(**options).fit(table["text"], table["label"])
    assert plan.merge(reversed(parts)).finish().to_bytes() == whole.to_bytes()


def test_one_class_in_each_part_is_the_same_file() -> None:
    table = films()
    whole = TextClassifier(prior=[0.3, 0.7]).fit(table["text"], table["label"])
    plan = TextClassifier(prior=[0.3, 0.7]).plan()
    parts = []
    for label in ("positive", "negative"):
        own = table.filter(pc.equal(table["label"], label))
        parts.append(sent(plan.count(own["text"], own["label"])))
    assert plan.merge(parts).finish().to_bytes() == whole.to_bytes()


def flowers(n: int = 400) -> pa.Table:
    rng = np.random.default_rng(0)
    kind = rng.choice(["iris", "rose", "tulip"], n)
    length = rng.normal(np.array([1.0, 3.0, 5.0])[np.unique(kind, return_inverse=True)[1]])
    colour = [None if u < 0.1 else ("blue" if k == "iris" else "red") for k, u in zip(kind, rng.random(n), strict=True)]
    flag = [None if u < 0.3 else bool(u < 0.6) for u in rng.random(n)]
    return pa.table({"length": length, "colour": colour, "flag": flag, "kind": kind})


@pytest.mark.parametrize("options", [{}, {"missing": "informative", "calibrate": "isotonic"}], ids=str)
def test_tables_counted_in_parts_are_the_same_file(options: dict[str, Any]) -> None:
    table = flowers()
    plan = sent(NaiveBayes(**options).plan(table, "kind"))
    parts = [sent(plan.count(table.slice(at, 150), "kind")) for at in range(0, 400, 150)]
    whole = NaiveBayes(**options).fit(table, "kind")
    found = plan.merge(parts).finish()
    assert str(found.schema_) == str(whole.schema_)
    assert found.to_bytes() == whole.to_bytes()


def test_a_column_that_a_part_lacks_is_missing_there() -> None:
    table = flowers()
    without = table.slice(0, 200).drop_columns(["colour"])
    plan = NaiveBayes().plan(table, "kind")
    found = plan.merge([plan.count(without, "kind"), plan.count(table.slice(200), "kind")]).finish()
    column = pa.chunked_array([pa.nulls(200, pa.string()), table["colour"].slice(200).combine_chunks()])
    whole = NaiveBayes().fit(table.set_column(1, "colour", column), "kind")
    assert found.tally_ == whole.tally_


def test_parts_can_be_pickled() -> None:
    table = films()
    plan = pickle.loads(pickle.dumps(TextClassifier().plan()))
    part = pickle.loads(pickle.dumps(plan.count(table["text"], table["label"])))
    assert part.finish().to_bytes() == TextClassifier().fit(table["text"], table["label"]).to_bytes()


def test_counting_leaves_a_part_as_it_was() -> None:
    plan = TextClassifier(choose=False).plan()
    one = plan.count(["a fine film"], ["pos"])
    two = one.count(["dull"], ["neg"])
    assert (plan.n_rows, one.n_rows, two.n_rows) == (0, 1, 2)
    assert one.to_bytes() == plan.count(["a fine film"], ["pos"]).to_bytes()


def test_a_plan_is_small() -> None:
    assert len(TextClassifier().plan().to_bytes()) < 4096
    assert len(NaiveBayes().plan(flowers(), "kind").to_bytes()) < 4096


def test_a_finished_model_goes_on_learning() -> None:
    table = films()
    model = TextClassifier().plan().count(table["text"], table["label"]).finish()
    model.partial_fit(["splendid"], ["positive"])
    assert model.tally_.rows.sum() == len(table) + 1


def test_nothing_counted_is_nothing_to_finish() -> None:
    plan = TextClassifier().plan()
    with pytest.raises(InputError, match="no row was counted"):
        plan.merge([plan, plan]).finish()


def test_parts_of_other_plans_are_refused() -> None:
    one, other = TextClassifier(choose=False).plan(), TextClassifier(choose=False, ngrams=(1, 2)).plan()
    with pytest.raises(InputError, match="same parameters"):
        one.merge([one.count(["a"], ["x"]), other.count(["b"], ["y"])])
    with pytest.raises(InputError, match="got TextClassifier"):
        one.merge([TextClassifier()])  # type: ignore[list-item]


def test_a_part_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "__version__", "0.0.9")
    data = TextClassifier().plan().to_bytes()
    monkeypatch.undo()
    with pytest.raises(FileError, match=r"the part is of naively 0\.0\.9, here is .*one version on all machines"):
        naively.from_bytes(data)


def test_damaged_parts_are_refused() -> None:
    plain = unpacked(TextClassifier(choose=False).plan().count(["a fine film"], ["pos"]).to_bytes())
    for at in [*np.random.default_rng(0).integers(0, len(plain), 30), 0, 7, 8, len(plain) - 1]:
        forged = bytearray(plain)
        forged[at] ^= 0x55
        with pytest.raises(FileError):
            naively.from_bytes(bytes(forged))


def test_a_function_of_your_own_is_sent_by_its_import_path() -> None:
    sent = TextClassifier(tokens=str.split).plan().to_bytes()
    with pytest.raises(FileError, match=r"load with trust='builtins\.str\.split'"):
        naively.from_bytes(sent)
    assert naively.from_bytes(sent, trust="builtins.str.split").learner.tokens is str.split


def test_an_estimator_of_arrays_needs_rows_to_plan() -> None:
    with pytest.raises(InputError, match="needs some rows"):
        naively.MultinomialNB().plan()
