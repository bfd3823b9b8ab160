"""What a column is taken for follows from the counts alone: no order, batch, partition or thread matters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naively
from naively import NaiveBayes, Tally, merge
from naively.errors import InputError

seeds = st.integers(0, 2**32 - 1)


def columns_of(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    """Columns of numbers and flags of every kind, some with missing values."""
    skewed = rng.lognormal(0.0, 2.0, rows)
    return {
        "few": rng.integers(0, 3, rows),
        "codes": np.where(rng.random(rows) < 0.2, np.nan, rng.integers(0, 2, rows) * 7.0),
        "bell": rng.normal(size=rows),
        "steps": np.where(rng.random(rows) < 0.5, 0.0, skewed),
        "skewed": skewed,
        "whole": rng.integers(-(10**6), 10**6, rows),
        "flag": rng.random(rows) < 0.3,
        "one": np.full(rows, 4.0),
        "none": np.full(rows, np.nan),
    }


def rows_of(table: dict[str, Any], at: Any) -> dict[str, Any]:
    return {name: values[at] for name, values in table.items()}


def parts_of(rng: np.random.Generator, rows: int, n_parts: int) -> list[Any]:
    """The numbers of some rows in any order, in parts of any size."""
    ends = np.sort(rng.integers(0, rows + 1, n_parts - 1))
    return [part for part in np.split(rng.permutation(rows), ends) if len(part)]


def same(one: NaiveBayes, other: NaiveBayes, table: dict[str, Any]) -> None:
    assert one.tally_ == other.tally_
    assert str(one.schema_) == str(other.schema_)
    assert np.array_equal(one.predict_proba(table), other.predict_proba(table))


@settings(max_examples=25)
@given(seeds, st.integers(2, 120), st.integers(1, 6))
def test_no_order_batch_or_partition_matters(seed: int, rows: int, n_parts: int) -> None:
    rng = np.random.default_rng(seed)
    table, y = columns_of(rng, rows), rng.choice(["u", "v", "w"], rows)
    whole = NaiveBayes().fit(table, y)
    parts = parts_of(rng, rows, n_parts)
    stream = NaiveBayes()
    for part in parts:
        stream.partial_fit(rows_of(table, part), y[part])
    same(whole, stream, table)
    same(whole, merge(NaiveBayes().fit(rows_of(table, part), y[part]) for part in parts), table)


def test_row_by_row_is_as_all_at_once() -> None:
    rng = np.random.default_rng(1)
    table, y = columns_of(rng, 300), rng.choice(["u", "v"], 300)
    stream = NaiveBayes()
    for i in range(300):
        stream.partial_fit(rows_of(table, [i]), y[[i]])
    same(NaiveBayes().fit(table, y), stream, table)


def test_threads_do_not_matter(monkeypatch: Any) -> None:
    rng = np.random.default_rng(2)
    table, y = columns_of(rng, 20_000), rng.choice(["u", "v"], 20_000)
    models = []
    for n_threads in ("1", "3"):
        monkeypatch.setenv("NAIVELY_THREADS", n_threads)
        models.append(NaiveBayes().fit(table, y))
    same(models[0], models[1], table)


def connections(rows: int) -> tuple[dict[str, Any], Any]:
    """A table like logs of connections: constant columns, counters, shares, sizes over many orders; sorted by label."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.choice(["back", "normal", "smurf"], rows, p=[0.05, 0.25, 0.7]))
    attack = y == "smurf"
    table = {
        "duration": np.where(attack, 0, rng.integers(0, 3, rows) * rng.integers(0, 40_000, rows)),
        "bytes": np.where(attack, 1032, (rng.lognormal(6, 3, rows)).astype(np.int64)),
        "count": np.where(attack, rng.integers(480, 512, rows), rng.integers(1, 60, rows)),
        "rate": np.round(rng.random(rows), 2),
        "outbound": np.zeros(rows, np.int64),
        "logged_in": np.where(attack, 0, rng.integers(0, 2, rows)),
    }
    return table, y


@pytest.mark.parametrize("n_slices", [4, 64])
@pytest.mark.parametrize("shuffled", [False, True])
def test_slices_of_a_sorted_table_make_one_model(n_slices: int, shuffled: bool) -> None:
    table, y = connections(40_000)
    whole = NaiveBayes().fit(table, y)
    order = np.random.default_rng(1).permutation(len(y)) if shuffled else np.arange(len(y))
    slices = np.array_split(order, n_slices)
    same(whole, merge(NaiveBayes().fit(rows_of(table, part), y[part]) for part in slices), table)


def test_types_do_not_come_from_the_first_value() -> None:
    model = NaiveBayes().partial_fit({"a": [0.0]}, ["u"]).partial_fit({"a": [0.5]}, ["v"])
    same(model, NaiveBayes().fit({"a": [0.0, 0.5]}, ["u", "v"]), {"a": [0.0, 0.5]})


def test_whole_numbers_of_which_half_are_zero_are_no_categories() -> None:
    x = np.r_[np.zeros(150_000, np.int64), np.random.default_rng(0).integers(0, 5_000, 150_000)]
    schema = NaiveBayes(calibrate=False).fit({"x": x}, np.arange(300_000) % 2).schema_
    assert schema["x"].why.startswith("numbers")


def test_a_column_of_numbers_that_comes_later_was_missing_before() -> None:
    first, then = {"a": [1.5, 2.5]}, {"a": [3.5, 4.5], "late": [1.25, 2.5], "flag": [True, False]}
    holes = {"a": [1.5, 2.5, 3.5, 4.5], "late": [None, None, 1.25, 2.5], "flag": [None, None, True, False]}
    y = ["u", "v", "u", "v"]
    whole = NaiveBayes().fit(holes, y)
    parts = [NaiveBayes().fit(first, y[:2]), NaiveBayes().fit(then, y[2:])]
    for model in (NaiveBayes().partial_fit(first, y[:2]).partial_fit(then, y[2:]), merge(parts), merge(parts[::-1])):
        assert model.tally_ == whole.tally_
        assert model.schema_["late"].missing == 2
        np.testing.assert_allclose(model.predict_proba(holes), whole.predict_proba(holes), rtol=1e-12)


def test_numbers_that_come_after_texts_were_missing_before() -> None:
    model = NaiveBayes().partial_fit({"s": ["a", "b"]}, ["u", "v"]).partial_fit({"s": ["a"], "x": [1.5]}, ["u"])
    assert model.schema_["x"].missing == 2
    assert model.tally_ == NaiveBayes().fit({"s": ["a", "b", "a"], "x": [None, None, 1.5]}, ["u", "v", "u"]).tally_


def test_a_column_without_values_at_first_is_counted_when_it_has_some() -> None:
    model = NaiveBayes().partial_fit({"a": [1.5], "x": [None]}, ["u"]).partial_fit({"a": [2.5], "x": [3.5]}, ["v"])
    assert model.tally_ == NaiveBayes().fit({"a": [1.5, 2.5], "x": [None, 3.5]}, ["u", "v"]).tally_
    assert model.schema_["x"].missing == 1


def test_numbers_may_follow_after_flags() -> None:
    flags, numbers, y = {"a": [True, False]}, {"a": [0.5, 1.0]}, ["u", "v"]
    one = NaiveBayes().partial_fit(flags, y).partial_fit(numbers, y)
    other = NaiveBayes().partial_fit(numbers, y).partial_fit(flags, y)
    assert one.tally_ == other.tally_ == NaiveBayes().fit({"a": [1.0, 0.0, 0.5, 1.0]}, y * 2).tally_
    assert one.schema_["a"].taken_as == other.schema_["a"].taken_as != "bernoulli"
    assert NaiveBayes().fit(flags, y).schema_["a"].taken_as == "bernoulli"
    assert one.forget(numbers, y).predict(flags).tolist() == NaiveBayes().fit(flags, y).predict(flags).tolist()


def test_numbers_and_texts_of_one_name_are_not_merged() -> None:
    models = NaiveBayes().fit({"a": [1.5, 2.5]}, ["u", "v"]), NaiveBayes().fit({"a": ["x", "y"]}, ["u", "v"])
    with pytest.raises(InputError, match="column 'a' was taken for different things, number and categorical"):
        merge(models)


def test_a_fraction_among_whole_categories_is_one_never_seen() -> None:
    model = NaiveBayes(calibrate=False).fit({"a": [0, 1, 2] * 30, "b": [1.5, 2.5, 9.5] * 30}, ["u", "u", "v"] * 30)
    assert model.schema_["a"].taken_as == "categorical, 3 categories"
    other = model.predict_joint_log_proba({"a": [0.5, 77, None], "b": [1.5] * 3})
    assert np.array_equal(other[0], other[2])
    assert np.array_equal(other[1], other[2])


def test_forgetting_gives_back_all_but_the_level() -> None:
    few, many = {"x": np.arange(10) + 0.5}, {"x": np.arange(20_000) + 0.25}
    y, labels = ["u", "v"] * 5, ["u", "v"] * 10_000
    a = NaiveBayes().fit(few, y)
    same(a, NaiveBayes().fit(few, y).partial_fit(few, y).forget(few, y), few)
    back = NaiveBayes().fit(few, y).partial_fit(many, labels).forget(many, labels)
    assert back.tally_ != a.tally_
    assert back.tally_.same_counts(a.tally_)
    assert a.tally_.same_counts(back.tally_)
    assert not back.tally_.same_counts(NaiveBayes().fit({"x": np.arange(10) + 1.5}, y).tally_)


def test_tallies_of_numbers_go_to_arrow_and_back_at_any_level() -> None:
    rng = np.random.default_rng(0)
    table = {"x": rng.normal(size=40_000), "n": np.where(rng.random(40_000) < 0.1, np.nan, 3.0)}
    for weight in (None, rng.random(40_000)):
        tally = NaiveBayes().fit(table, rng.choice(["u", "v"], 40_000), sample_weight=weight).tally_
        assert Tally.from_arrow(tally.to_arrow()) == tally


def test_skewed_columns_get_skewed_densities() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["u", "v"], 500)
    table = {
        "log normal": np.exp(rng.normal(np.where(y == "u", 0.0, 1.5), 1.0)),
        "gamma": rng.gamma(2.0, np.where(y == "u", 1.0, 3.0)),
    }
    model = NaiveBayes(calibrate=False).fit(table, y)
    assert {row.column: row.taken_as for row in model.schema_} == {name: name for name in table}
    declared = NaiveBayes(calibrate=False, columns={"log normal": naively.LogNormal(), "gamma": naively.Gamma()}).fit(
        table, y
    )
    rows = pa.table(table).slice(0, 50)
    np.testing.assert_allclose(model.predict_proba(rows), declared.predict_proba(rows), rtol=1e-9)
    one, other = (naively.leave_one_out(m, rows, y[:50]).scores.joint for m in (model, declared))
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("value", [1e300, -1e308, 5e-324])
def test_numbers_at_the_ends_of_float64_are_taken_for_something(value: float) -> None:
    x = np.r_[np.full(50, value), np.linspace(-1.0, 1.0, 50)]
    model = NaiveBayes().fit({"x": x}, ["u"] * 50 + ["v"] * 50)
    assert model.score({"x": x}, ["u"] * 50 + ["v"] * 50) > 0.9


# --- deciding again


def ages() -> tuple[dict[str, Any], Any]:
    rng = np.random.default_rng(3)
    y = rng.choice(["u", "v"], 300)
    age = np.round(rng.normal(np.where(y == "u", 30.0, 45.0), 6.0), 1)
    table = {"age": age, "zip": rng.integers(1000, 1060, 300), "open": rng.random(300) < 0.4}
    return {**table, "s": rng.choice(["p", "q"], 300)}, y


DECLARED: list[dict[str, Any]] = [
    {"age": naively.Histogram(), "zip": naively.Categorical(), "open": None},
    {"age": naively.LogNormal(), "zip": naively.Kernel(), "open": naively.Bernoulli()},
    {"age": naively.Gaussian(), "zip": naively.Histogram("width", 7)},
    {"age": naively.Gamma(), "zip": naively.NegativeBinomial(), "s": naively.Categorical()},
    {"age": naively.Bernoulli(37.5), "open": naively.Categorical()},
]


@pytest.mark.parametrize("columns", DECLARED)
def test_refit_is_as_if_declared_before_counting(columns: dict[str, Any]) -> None:
    table, y = ages()
    model = NaiveBayes(calibrate=False).fit(table, y)
    before = model.predict_proba(table)
    declared = NaiveBayes(calibrate=False, columns=columns).fit(table, y)
    again = model.refit(columns=columns).predict_proba(table)
    np.testing.assert_allclose(again, declared.predict_proba(table), rtol=1e-9)
    assert np.array_equal(NaiveBayes.from_bytes(model.to_bytes()).predict_proba(table), again)
    model.partial_fit(table, y).forget(table, y)
    np.testing.assert_allclose(model.predict_proba(table), again, rtol=1e-9)
    assert np.array_equal(model.refit(columns=None).predict_proba(table), before)


def test_families_have_names() -> None:
    table, y = ages()
    names = {"age": "log normal", "zip": "NegativeBinomial", "open": "bernoulli", "s": "categorical"}
    rules = {"age": naively.LogNormal(), "zip": naively.NegativeBinomial(), "open": naively.Bernoulli()}
    one = NaiveBayes(columns=names).fit(table, y)
    assert one.tally_ == NaiveBayes(columns={**rules, "s": naively.Categorical()}).fit(table, y).tally_
    with pytest.raises(InputError, match=r"columns\['age'\]: no family is called 'gausian'; did you mean 'gaussian'"):
        NaiveBayes(columns={"age": "gausian"}).fit(table, y)


def test_the_schema_says_what_a_family_was_made_of() -> None:
    table, y = ages()
    schema = NaiveBayes().fit(table, y).refit(columns={"age": "gaussian", "zip": "gamma", "open": None}).schema_
    assert [schema[name].why for name in ("age", "zip")] == ["given, from exact sums", "given, from its values"]
    assert schema["open"].taken_as == "left out"
    x = np.random.default_rng(0).lognormal(size=40_000)
    model = NaiveBayes(calibrate=False).fit({"x": x}, np.arange(40_000) % 2)
    assert model.refit(columns={"x": "gamma"}).schema_["x"].why == "given, from ranges of its values"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"age": "categorical"}, "column 'age' holds fractions, which are no categories"),
        (
            {"age": naively.Beta()},
            r"column .age. holds [\d.]+, expected numbers between 0 and 1",
        ),
        ({"zip": "text"}, "column 'zip' was counted as number, so it cannot be taken for text; fit again"),
        ({"s": "text"}, "column 's' was counted as categorical, so it cannot be taken for text; fit again"),
        ({("age", "zip"): naively.Gaussian(covariance="full")}, "a group of columns says what is counted; fit again"),
        ({"agee": None}, "columns= names 'agee', which is not in the table; did you mean 'age'"),
    ],
)
def test_what_was_not_counted_cannot_be_decided_again(columns: dict[Any, Any], message: str) -> None:
    table, y = ages()
    model = NaiveBayes().fit(table, y)
    before = model.predict_proba(table)
    with pytest.raises(InputError, match=message):
        model.refit(columns=columns)
    assert np.array_equal(model.predict_proba(table), before)
    assert model.columns is None


def test_what_was_declared_before_counting_stays() -> None:
    table, y = ages()
    model = NaiveBayes(columns={"age": "gaussian"}).fit(table, y)
    with pytest.raises(InputError, match="column 'age' was counted as gaussian, so it cannot be taken for histogram"):
        model.refit(columns={"age": "histogram"})
    assert model.refit(columns={"age": "gaussian", "zip": "categorical"}).schema_["zip"].taken_as.startswith("categ")
    model.set_params(columns=None)
    with pytest.raises(InputError, match=r"refit\(columns=...\)"):
        model.predict(table)
