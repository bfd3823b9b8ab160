"""What once went wrong with tables, or was found by trying to break them."""

from __future__ import annotations

import datetime
import threading
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from families import plain_table

import naively
from naively import (
    Bernoulli,
    Categorical,
    DataWarning,
    Gaussian,
    Histogram,
    InputError,
    Multinomial,
    NegativeCount,
    Text,
)
from naively.families.columns.counted import CountedColumn

XZ = {"x": [1.5, 2.5, 3.5, 4.5] * 5, "z": list("abcd") * 5}
Y = [0, 0, 1, 1] * 5


def test_rows_without_names_are_matched_by_place_wherever_they_go() -> None:
    rows = np.array([[1.5, "a"], [9.0, "b"]], object)
    named = plain_table().fit(XZ, Y).partial_fit({"x": [1.5, 9.0], "z": ["a", "b"]}, [0, 1])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model = plain_table().fit(XZ, Y).partial_fit(rows, [0, 1])
    assert model.tally_ == named.tally_
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert model.forget(rows, [0, 1]).tally_ == plain_table().fit(XZ, Y).tally_


def test_columns_named_by_numbers_are_matched_by_these() -> None:
    model = plain_table(columns={5: Gaussian()}).fit(pd.DataFrame({5: [1.0, 2, 3], 7: [3.0, 2, 1]}), [0, 1, 1])
    straight, turned = pd.DataFrame({5: [1.0], 7: [3.0]}), pd.DataFrame({7: [3.0], 5: [1.0]})
    np.testing.assert_array_equal(model.predict_proba(straight), model.predict_proba(turned))
    with pytest.raises(InputError, match="column 1 is there twice"):
        plain_table().fit(pd.DataFrame([[1, 2], [3, 4]], columns=[1, 1]), [0, 1])
    with pytest.raises(InputError, match="column names must be text"):
        plain_table().fit(pd.DataFrame([[1, 2], [3, 4]], columns=[True, False]), [0, 1])


def test_groups_whose_names_read_alike_are_kept_apart() -> None:
    table = {"a": [1, 5] * 10, "b": [5, 1] * 10, "c": [2, 3] * 10, "b, c": [9, 1] * 10, "a, b": [1, 9] * 10}
    rules = {("a", "b, c"): Multinomial(), ("a, b", "c"): Multinomial(), "b": None}
    assert len(plain_table(columns=rules).fit(table, [0, 1] * 10).tally_.parts) == 2
    with pytest.raises(InputError, match="a group without columns"):
        plain_table(columns={(): Multinomial()}).fit(table, [0, 1] * 10)


def test_masks_hide_values() -> None:
    hidden = np.ma.masked_array([1.5, 2, 900.0, 4, 5, 6.5], mask=[0, 0, 1, 0, 0, 0])
    assert plain_table().fit({"c": hidden}, [0, 0, 0, 1, 1, 1]).schema_["c"].missing == 1
    assert plain_table().fit(hidden[:, None], [0, 0, 0, 1, 1, 1]).schema_["0"].missing == 1
    with pytest.warns(DataWarning, match="1 of 6 rows have no label"):
        model = plain_table().fit({"c": hidden.data}, np.ma.masked_array([0, 0, 7, 1, 1, 1], mask=[0, 0, 1, 0, 0, 0]))
    assert model.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("pair", [(b"\xff", b"\xfe"), ("\ud800", "\ud801"), ("a\0", "a")])
def test_categories_that_differ_stay_apart(pair: tuple[Any, Any]) -> None:
    model = plain_table().fit({"c": list(pair) * 10}, [0, 1] * 10)
    assert model.predict({"c": list(pair)}).tolist() == [0, 1]


def test_labels_are_text_or_numbers_not_both_and_not_bytes() -> None:
    for y in (["a", 1, "b", 2, "a", 1], ["a", 1, None, 2, "a", 1], pd.Series([1, "a"] * 3, dtype="category")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            with pytest.raises(InputError):
                plain_table().fit({"x": [1.5] * 6}, y)
    with pytest.raises(InputError, match="labels are bytes"):
        plain_table().fit({"x": [1.5] * 2}, pa.array([b"a", b"b"]))


def test_rows_of_different_types_are_read_each_as_it_is() -> None:
    schema = plain_table().fit([[1.5, "a"], [2.25, "b"], [3.125, "a"]], [0, 1, 1]).schema_
    assert (schema["0"].type, schema["1"].type) == ("double", "string")
    with pytest.raises(ValueError, match="Expected 2D array"):
        plain_table().fit([[1.5], [2.25, 1]], [0, 1])


def test_what_is_drawn_can_be_predicted() -> None:
    table = {"d": [datetime.date(2020, 1, 1), datetime.date(2020, 7, 3)] * 20}
    model = plain_table(alpha=0.01).fit(table, [0, 1] * 20)
    drawn, labels = model.sample(50, random_state=0)
    assert (model.predict(drawn) == labels).mean() > 0.8
    assert model.sample(0)[0].column_names == ["d"]
    numbers = plain_table().fit(np.random.default_rng(0).random((30, 2)), [0, 1] * 15)
    assert numbers.predict(numbers.sample(5)[0]).shape == (5,)
    with pytest.raises(InputError, match=r"'d\.month' has the name of a part of 'd'"):
        plain_table().fit({**table, "d.month": ["x", "y"] * 20}, [0, 1] * 20)


@pytest.mark.parametrize("changed", [{"missing": "foo"}, {"unlabelled": "foo"}, {"columns": [1]}, {"alpha": -1}])
def test_parameters_set_after_fitting_are_checked(changed: dict[str, Any]) -> None:
    model = plain_table().fit(XZ, Y).set_params(**changed)
    with pytest.raises(ValueError, match="parameter of NaiveBayes must be"):
        model.predict(XZ)
    with pytest.raises(ValueError, match="parameter of NaiveBayes must be"):
        model.partial_fit(XZ, Y)


@pytest.mark.parametrize("column", [{1, 2, 3}, {1: 2, 2: 3, 3: 4}, "abc", 5])
def test_what_has_no_order_or_is_single_is_no_column(column: Any) -> None:
    with pytest.raises(InputError, match="column 'c': expected a list of values"):
        plain_table().fit({"x": [1.5, 2.5, 3.5], "c": column}, [0, 1, 1])


def test_infinity_is_refused_by_flags_as_well() -> None:
    with pytest.raises(InputError, match="row 1, column 'c' is inf"):
        plain_table(columns={"c": Bernoulli()}).fit({"c": [1.0, np.inf, 0.0]}, [0, 1, 1])


@pytest.mark.parametrize("rule", [Histogram(), Histogram("sqrt"), naively.Kernel(), naively.Number(), Gaussian()])
def test_parameters_of_every_rule_are_counted(rule: Any) -> None:
    model = plain_table(columns={"x": rule}).fit({"x": XZ["x"]}, Y)
    assert model.n_parameters_ >= 1
    assert model.n_parameters_joint_ >= model.n_parameters_


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="this pyarrow has no views")
def test_views_of_text_are_text() -> None:
    for kind in (pa.string_view(), pa.binary_view()):
        values = pa.array(["a", "b", None] if kind == pa.string_view() else [b"a", b"b", None], kind)
        with pytest.warns(DataWarning, match="1 of 3 rows"):
            model = plain_table().fit({"c": values, "d": values}, [0, 1, None])
        assert model.schema_["c"].taken_as == "categorical, 2 categories"


@pytest.mark.parametrize("column", [pd.Series([1, 2]), pl.Series([1, 2]), pa.array([1, 2]), pa.chunked_array([[1, 2]])])
def test_a_single_column_is_no_table(column: Any) -> None:
    with pytest.raises(InputError, match="expected a table, got a single column"):
        plain_table().fit(column, [0, 1])


def test_columns_that_arrow_cannot_hold_are_named() -> None:
    zone = pa.array([0, 1], pa.timestamp("s", "Not/AZone"))
    with pytest.raises(InputError, match="column 'c'"):
        plain_table().fit({"c": zone}, [0, 1])
    with pytest.raises(InputError, match="column 'c'"):
        plain_table().fit(pl.DataFrame({"c": pl.Series([1, 2, 3], dtype=pl.Int128)}), [0, 1, 1])
    with pytest.raises(InputError, match="column 'c', row 0: 9223372036854775808 is beyond what 64 bits hold"):
        plain_table().fit({"c": [2**63, 1, 2]}, [0, 1, 1])
    long = pa.array([1, 2, None, 2**62], pa.duration("ns"))
    assert plain_table().fit({"c": long}, [0, 0, 1, 1]).schema_["c"].missing == 1


@pytest.mark.parametrize(
    "options",
    [
        {"family": "foo"}, {"weighting": "foo"}, {"hashing": 2**20}, {"hashing": 0}, {"negation": "foo"}, {"ngrams": 5},
        {"stop_words": 5}, {"alpha": -1},
    ],
)  # fmt: skip
def test_options_of_text_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"'{next(iter(options))}' parameter of Text must be"):
        plain_table(columns={"s": Text(**options)}).fit({"s": ["a b", "b c"]}, [0, 1])


@pytest.mark.parametrize("bad", [[[1], [2], [3]], ["a", 1, "b"], [{"k": 1}] * 3])
def test_columns_that_are_left_out_may_be_anything(bad: list[Any]) -> None:
    model = plain_table(columns={"bad": None}).fit({"x": [1.5, 2.5, 3.5], "bad": bad}, [0, 1, 1])
    model.predict({"x": [1.5, 2.5, 3.5], "bad": bad, "worse": bad})
    with pytest.raises((InputError, TypeError), match="column 'bad'"):
        plain_table().fit({"x": [1.5, 2.5, 3.5], "bad": bad}, [0, 1, 1])


@pytest.mark.parametrize("values", [[True, False, None], [1.5, 2.5, None], [datetime.date(2024, 1, 1), None, None]])
def test_categoricals_of_any_type_are_what_they_hold(values: list[Any]) -> None:
    frame = pd.DataFrame({"c": pd.Categorical(values)})
    assert plain_table().fit(frame, [0, 1, 1]).tally_ == plain_table().fit({"c": values}, [0, 1, 1]).tally_
    blank = pd.DataFrame({"z": pd.Categorical([None, None])})
    assert plain_table().fit(XZ, Y).predict(blank).shape == (2,)


def test_messages_name_the_batch_and_what_is_the_matter() -> None:
    batches = iter([({"a": [1.5, 2, 3]}, [0, 1, 1]), ({"a": [1.5, 2, np.inf]}, [0, 1, 1])])
    with pytest.raises(InputError, match=r"batch 1: .* row 2, column 'a' is inf"):
        plain_table().fit(batches)
    with pytest.raises(InputError, match=r"column 's' holds string, which Multinomial\(\) cannot read"):
        plain_table(columns={("a", "s"): Multinomial()}).fit({"a": [1, 2], "s": ["x", "y"]}, [0, 1])
    with pytest.raises(InputError, match="column 's': was taken for text, now it holds numbers"):
        plain_table(columns={"s": Text()}).fit({"s": ["a", "b"]}, [0, 1]).predict({"s": pd.Categorical([1, 2])})
    model = plain_table(columns={"x": Histogram(), "z": Categorical()}).fit(XZ, Y)
    with pytest.raises(NegativeCount, match="column 'x', a missing value"):
        model.forget({"z": ["a"]}, [0])


def test_a_column_that_had_no_value_at_first_is_spoken_of_when_it_has_one() -> None:
    model = plain_table().fit({"x": [1.5, 2.5], "late": [None, None]}, [0, 1])
    with pytest.warns(DataWarning, match="column 'late' had no value when the schema was settled"):
        model.partial_fit({"x": [1.5], "late": ["here"]}, [0])


def test_fractions_far_down_a_column_are_seen() -> None:
    x = np.r_[np.zeros(66_000), np.full(4_000, 0.5)]
    assert plain_table().fit({"x": x}, np.arange(70_000) % 2).schema_["x"].why.startswith("numbers")


def test_thousands_of_classes_do_not_take_thousands_of_times_as_long() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(8_000) % 2_000
    model = plain_table().fit({"x": rng.normal(size=8_000)}, y)
    assert model.predict_proba({"x": [0.0]}).shape == (1, 2_000)
    column = CountedColumn.of(model.tally_.parts["numbers"], 0, 2_000)
    counts = column.counts
    assert counts.shape == (len(column.least), 2_000)
    assert counts.size <= 2**21
    assert counts.sum() == 8_000


def in_two(shift: float, apart: float = 3.0, spread: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 1000)
    return shift + rng.normal(np.where(y == 0, 0.0, apart), spread), y


@pytest.mark.parametrize("shift", [0.0, 100.0, -100.0])
def test_a_kernel_is_the_density_it_says_wherever_the_numbers_lie(shift: float) -> None:
    x, y = in_two(shift)
    model = plain_table(columns={"x": naively.Kernel(0.7)}, alpha=1e-9).fit({"x": x}, y)
    at = shift + np.array([-1.0, 0.5, 1.4, 3.3])
    density = np.stack([np.exp(-0.5 * ((at[:, None] - x[y == k]) / 0.7) ** 2).sum(axis=1) for k in (0, 1)], axis=1)
    expected = density / density.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba({"x": at}), expected, atol=0.03 if shift == 0 else 0.1)


@pytest.mark.parametrize("shift", [1e4, 1.7e9])
def test_numbers_far_from_zero_and_close_together_are_told_apart(shift: float) -> None:
    x, y = in_two(shift, apart=10.0)
    for rule in (naively.Number(), Histogram(), Histogram("width", 50)):
        assert plain_table(columns={"x": rule}).fit({"x": x}, y).score({"x": x}, y) > 0.99


def test_weights_may_add_up_to_one() -> None:
    x, y = in_two(0.0)
    for rule in (naively.Number(), Histogram(), Histogram("frequency", 5)):
        plain = plain_table(columns={"x": rule}).fit({"x": x}, y)
        shares = plain_table(columns={"x": rule}).fit({"x": x}, y, sample_weight=np.full(2000, 1 / 2000))
        assert abs(shares.score({"x": x}, y) - plain.score({"x": x}, y)) < 0.02
    heavy = plain_table(columns={"x": Histogram("sqrt")}).fit(
        {"x": [1.5, 2.5, 3.5]}, [0, 1, 1], sample_weight=[1e15] * 3
    )
    assert heavy.predict({"x": [1.5, 3.5]}).tolist() == [0, 1]


def test_an_outlier_is_not_flattered_when_it_is_left_out() -> None:
    from naively.families.columns.loss import _mean_loss, loss_by_normal

    assert _mean_loss(np.array([1.0]), np.array([-100.0]), np.array([-50.0])) == 30.0
    a = np.array([-0.875, 0.3125, 15.0])
    b = np.array([62.75, 53.25, 59.375, 60.8125, 60.4375, 59.125, 57.625, 58.875, 59.4375, 59.875])
    x, y = np.r_[a, b], np.repeat([0, 1], [3, 10])
    counts = np.zeros((13, 2))
    counts[np.arange(13), y] = 1
    n, mean = np.array([3.0, 10.0]), np.array([a.mean(), b.mean()])
    variance = np.array([a.var(), b.var()])
    losses = []
    for i in range(13):
        kept = np.arange(13) != i
        scores = np.array(
            [np.log(p.size) - 0.5 * (np.log(2 * np.pi * p.var()) + (x[i] - p.mean()) ** 2 / p.var())
             for p in (x[kept & (y == 0)], x[kept & (y == 1)])]
        )  # fmt: skip
        losses.append(min(np.logaddexp.reduce(scores) - scores[y[i]], 30.0))
    assert loss_by_normal(x, counts, n, mean, variance, 0.0) == pytest.approx(np.mean(losses), rel=1e-9)


def test_being_missing_is_not_made_of_rounding() -> None:
    rng = np.random.default_rng(0)
    X, y = {"a": rng.normal(size=30), "t": ["a b c"] * 30}, np.arange(30) % 3
    rules = {"a": Gaussian(), "t": Text()}
    for weight in (np.full(30, 0.1), rng.random(30)):
        model = plain_table(missing="informative", alpha=0.0, columns=rules).fit(X, y, sample_weight=weight)
        assert model.schema_["a"].missing == model.schema_["t"].missing == 0
        blank = model.predict_proba({"a": [np.nan], "t": [None]})
        share = 1 / np.bincount(y, weights=weight)  # two factors of α / n_c each, times n_c
        np.testing.assert_allclose(blank, [share / share.sum()], rtol=1e-9)


def test_a_model_can_be_fitted_again_while_others_predict() -> None:
    table, other = {"x": np.arange(50.0) + 0.5, "z": list("ab") * 25}, {"x": list("uv") * 25, "w": np.arange(50.0)}
    model = plain_table(missing="informative").fit(table, [0, 1] * 25)
    failures: list[BaseException] = []
    done = threading.Event()

    def predict() -> None:
        while not done.is_set():
            try:
                model.predict_proba({"z": ["a"]})
                model.explain({"z": ["a"]})
                str(model.schema_)
            except BaseException as error:
                failures.append(error)
                return

    workers = [threading.Thread(target=predict) for _ in range(3)]
    for worker in workers:
        worker.start()
    for i in range(30):
        model.fit(other if i % 2 else table, [0, 1] * 25)
    done.set()
    for worker in workers:
        worker.join()
    assert failures == []


def test_a_covariance_is_heeded_for_a_single_column_too() -> None:
    x, y = in_two(0.0, apart=1.0)
    x[y == 1] *= 5
    tied, group = (
        plain_table(columns={key: Gaussian(covariance="tied")}).fit({"x": x}, y).predict_proba({"x": x[:9]})
        for key in ("x", ("x",))
    )
    np.testing.assert_array_equal(tied, group)
    diagonal = plain_table(columns={"x": Gaussian()}).fit({"x": x}, y).predict_proba({"x": x[:9]})
    assert np.abs(diagonal - tied).max() > 0.1


def test_merging_matches_columns_by_name_and_keeps_declared_classes() -> None:
    a = plain_table().fit({"a": [1.5, 2.5], "b": ["u", "v"], "c": [2.5, 4.5]}, [0, 1])
    b = plain_table().fit({"c": [1.5, 2.25], "b": ["v", "w"], "a": [2.5, 3.5]}, [0, 1])
    both = plain_table().fit(
        {"a": [1.5, 2.5, 2.5, 3.5], "b": ["u", "v", "v", "w"], "c": [2.5, 4.5, 1.5, 2.25]}, [0, 1] * 2
    )
    assert naively.merge(a, b).tally_ == naively.merge(b, a).tally_ == both.tally_
    rows = {"a": [2.0], "b": ["w"], "c": [3.0]}
    np.testing.assert_allclose(naively.merge(b, a).predict_proba(rows), both.predict_proba(rows))
    plain = plain_table().partial_fit({"c": ["p", "q"]}, ["x", "y"])
    named = plain_table().partial_fit({"c": ["p", "q"]}, ["x", "y"], classes=["x", "y", "z"])
    for pair in ((plain, named), (named, plain)):
        merged = naively.merge(*pair).forget({"c": ["p"]}, ["x"])
        assert merged.classes_.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("y", [pl.Series(["x"]), pa.array(["x"]), pa.chunked_array([["x"]]), pd.Series(["x"])])
def test_labels_of_another_length_are_told_of(y: Any) -> None:
    with pytest.raises(InputError, match="X has 2 rows, y 1"):
        plain_table().fit({"a": [1.5, 2.5]}, y)
    with pytest.raises(InputError, match="column 'who': types are mixed"):
        plain_table().fit({"a": [1.5, 2.5], "who": ["x", 1]}, "who")


def test_a_table_of_no_rows_is_predicted_as_nothing() -> None:
    model = plain_table().fit(XZ, Y)
    for empty in (pa.table({"z": pa.chunked_array([], pa.string())}), pl.DataFrame({"z": []}), {"x": [], "z": []}):
        assert model.predict(empty).shape == (0,)
        assert model.predict_proba(empty).shape == (0, 2)


@pytest.mark.parametrize("rule", [naively.Kernel(), naively.Kernel(1e308), Histogram("width", 4), Histogram()])
def test_the_largest_numbers_can_be_binned(rule: Any) -> None:
    model = plain_table(columns={"x": rule}).fit({"x": [-1.5e308, 0.0, 1.0, 1.5e308]}, [0, 0, 1, 1])
    assert np.isfinite(model.predict_proba({"x": [-1e308, 1e308]})).all()


def test_parameters_are_counted_however_many_there_are() -> None:
    rng = np.random.default_rng(0)
    table = {f"c{j}": rng.integers(0, 100, 300).astype(str) for j in range(200)}
    assert plain_table().fit(table, np.arange(300) % 2).n_parameters_joint_ > 10**300


def test_a_fraction_among_whole_numbers_is_a_category_never_seen() -> None:
    model = plain_table(columns={"c": Categorical()}).fit({"c": [1, 2, 1, 2]}, [0, 1, 0, 1])
    np.testing.assert_allclose(model.predict_proba({"c": [2.5, None]}), 0.5)
    assert model.predict({"c": [1.0, 2.0, 2.5]}).tolist()[:2] == [0, 1]
    with pytest.raises(InputError, match="row 1, column 'c' is inf"):
        model.predict({"c": [1.0, np.inf]})


def test_the_first_bad_row_is_named_in_fitting_as_in_predicting() -> None:
    bad = {"a": [1.5, 2.5, np.inf], "b": [np.inf, 1.5, 2.5]}
    for act in (
        lambda: plain_table().fit(bad, [0, 1, 1]),
        lambda: (
            plain_table(columns={"a": Histogram(), "b": Histogram()})
            .fit({"a": [1.5, 2.5], "b": [2.5, 3.5]}, [0, 1])
            .predict(bad)
        ),
    ):
        with pytest.raises(InputError, match="row 0, column 'b' is inf"):
            act()


def test_numbers_are_drawn_from_within_their_cells() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2
    table = {
        "fine": 1000 + 10 * rng.random(4000),
        "whole": rng.integers(0, 100, 4000),
        "kernel": rng.normal(y * 3.0, 1.0),
    }
    rules = {"fine": Histogram("width", 5), "whole": Histogram(), "kernel": naively.Kernel()}
    drawn, labels = plain_table(columns=rules).fit(table, y).sample(3000, random_state=0)
    fine, whole, kernel = (drawn[name].to_numpy() for name in ("fine", "whole", "kernel"))
    assert len(np.unique(fine)) > 1000
    assert (fine.min(), fine.max()) == pytest.approx((1000, 1010), abs=2)
    assert (whole == np.floor(whole)).all()
    assert kernel[labels == 1].mean() - kernel[labels == 0].mean() == pytest.approx(3.0, abs=0.2)
