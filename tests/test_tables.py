"""Mixed tables: what columns are taken for, how they come, and what the model makes of them."""

from __future__ import annotations

import datetime
import pickle
import subprocess
import sys
import threading
import warnings
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from families import plain_table, plain_text
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import naively
from naively import (
    Bernoulli,
    Categorical,
    DataWarning,
    Dates,
    Gaussian,
    Histogram,
    InputError,
    Kernel,
    Multinomial,
    Number,
    Poisson,
    Text,
)
from naively.families.columns.counted import CountedColumn
from naively.read.columns import numbers
from naively.read.frame import Frame
from naively.read.lists import MOST_ROWS, arrow_of_list

Array = np.ndarray[Any, Any]


def people(rows: int = 400, seed: int = 0) -> dict[str, list[Any]]:
    """A table with numbers, categories, flags, dates and text, and holes in all of them but the label."""
    rng = np.random.default_rng(seed)
    rich = rng.random(rows) < 0.4
    words = np.array(["garden", "boat", "rent", "bus", "opera", "beer", "tax", "rain"])
    chance = {True: [3, 5, 1, 1, 4, 1, 3, 2], False: [2, 1, 5, 4, 1, 4, 1, 2]}

    def note(r: bool) -> str:
        p = np.array(chance[bool(r)], float)
        return " ".join(rng.choice(words, 6, p=p / p.sum()))

    table: dict[str, list[Any]] = {
        "age": np.round(rng.normal(np.where(rich, 50, 38), 9), 1).tolist(),
        "income": np.exp(rng.normal(np.where(rich, 3, 2), 0.5)).tolist(),
        "job": [rng.choice(["clerk", "doctor", "baker"], p=[0.2, 0.6, 0.2] if r else [0.4, 0.1, 0.5]) for r in rich],
        "children": rng.poisson(np.where(rich, 1, 3)).tolist(),
        "owner": [bool(v) for v in rng.random(rows) < np.where(rich, 0.8, 0.2)],
        "seen": [datetime.datetime(2024, int(m), 3, int(h)) for m, h in rng.integers(1, 13, (rows, 2))],
        "note": [note(r) for r in rich],
    }
    for column in table.values():
        for i in np.flatnonzero(rng.random(rows) < 0.1):
            column[i] = None
    return {**table, "label": np.where(rich, "rich", "poor").tolist()}


def features(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: values for name, values in table.items() if name != "label"}


def part(table: dict[str, list[Any]], rows: slice) -> dict[str, list[Any]]:
    return {name: values[rows] for name, values in table.items()}


def as_pandas(table: dict[str, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(values) for name, values in table.items()})


FORMS = {
    "dict": lambda table: table,
    "pandas": as_pandas,
    "pandas objects": lambda table: pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in table.items()}),
    "pandas arrow": lambda table: pa.table(table).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table: pl.DataFrame(table),
    "arrow": pa.table,
    "arrow chunks": lambda table: pa.concat_tables(
        [pa.table(part(table, slice(i, i + 37))) for i in range(0, 400, 37)]
    ),
    "record batch": lambda table: pa.table(table).to_batches()[0],
    "duckdb": lambda table: _relation(pa.table(table)),
    "arrow stream": lambda table: Stream(pa.table(table)),
}


def _relation(arrow: Any) -> Any:
    return duckdb.from_arrow(arrow)


class Stream:
    """Something that speaks Arrow's interface, and nothing else."""

    def __init__(self, table: Any):
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


# --- how tables come


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_tally(form: str) -> None:
    table = people()
    expected = plain_table().fit(features(table), table["label"])
    got = plain_table().fit(FORMS[form](table), "label")
    assert got.tally_ == expected.tally_
    assert got.schema_["children"].taken_as == expected.schema_["children"].taken_as
    np.testing.assert_array_equal(got.predict(FORMS[form](features(table))), expected.predict(features(table)))


def test_columns_of_a_data_frame_are_the_same_with_and_without_a_series_of_each(monkeypatch: Any) -> None:
    days = pd.date_range("2026-01-30", periods=3)
    columns = {
        "whole": [1, 2, 3], "wide": pd.array([1, None, 3], "Int64"), "real": np.array([0.5, np.nan, 2], np.float32),
        "flag": [True, False, True], "maybe": pd.array([True, None, False], "boolean"), "text": ["a", None, "c"],
        "object": pd.Series(["a", 1, None], dtype=object), "kind": pd.Categorical(["x", "y", "x"]), "day": days,
        "zone": days.tz_localize("Europe/Brussels"), "span": days - days[0], "month": days.to_period("M"),
        "arrow": pd.array([1, None, 3], pd.ArrowDtype(pa.int8())), "odd": pd.arrays.SparseArray([0.0, 1.0, 0.0]),
        "words": pd.array(["a", None, "c"], "string[python]"), "no words": pd.array([pd.NA] * 3, "string[python]"),
    }  # fmt: skip
    table = pd.DataFrame(columns)
    stored = Frame.of(table)
    monkeypatch.delattr(pd.DataFrame, "_get_column_array")
    listed = Frame.of(table)
    assert list(stored.columns) == list(listed.columns) == list(columns)
    for name, one in stored.columns.items():
        other = listed.columns[name]
        assert type(one) is type(other), name
        if isinstance(one, np.ndarray):
            np.testing.assert_array_equal(one, other)
            assert one.dtype == other.dtype
        elif isinstance(one, (pa.Array, pa.ChunkedArray)):
            assert one.equals(other), name
        else:
            assert str(one.error) == str(other.error), name


@pytest.mark.parametrize("kind", ["string[python]", "string[pyarrow]"])
def test_a_text_column_of_pandas_is_one_of_text_even_where_no_text_is_known(kind: str) -> None:
    table = pd.DataFrame({"s": pd.array([pd.NA] * 4, kind), "n": [1.0, 2.0, 3.0, 4.0]})
    model = naively.NaiveBayes().partial_fit(table, list("uvuv"))
    known = pd.DataFrame({"s": pd.array(list("abab"), kind), "n": [1.0] * 4})
    assert model.partial_fit(known, list("uvuv")).predict(known).tolist() == list("uvuv")


@pytest.mark.parametrize(
    "y", [list, np.array, pd.Series, pl.Series, pa.array, pd.Categorical, lambda v: pa.chunked_array([v])]
)
def test_labels_come_in_every_form(y: Any) -> None:
    table = people(60)
    model = plain_table().fit(features(table), y(table["label"]))
    assert model.tally_ == plain_table().fit(table, "label").tally_
    assert model.classes_.tolist() == ["poor", "rich"]


@pytest.mark.parametrize("labels", [[3, 1, 3, 1], [True, False, True, False], [1.0, 2.0, 1.0, 2.0]])
def test_labels_may_be_numbers(labels: list[Any]) -> None:
    X = {"x": [1.0, 5.5, 1.2, 5.1]}
    for form in (list, np.array, pd.Series, pl.Series, pa.array):
        model = plain_table().fit(X, form(labels))
        assert model.classes_.tolist() == sorted(set(labels))
        assert model.predict(X).tolist() == labels


def test_an_array_has_columns_by_number() -> None:
    X = np.array([[1.0, 0.5], [1.1, np.nan], [9.0, 3.25], [8.5, 2.5]])
    model = plain_table().fit(X, ["a", "a", "b", "b"])
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    assert model.predict(X).tolist() == ["a", "a", "b", "b"]
    with pytest.raises(InputError, match="X has 3 features, but NaiveBayes is expecting 2"):
        model.predict(np.zeros((1, 3)))


def test_table_libraries_are_not_imported_to_look_whether_they_are_there() -> None:
    """But for pandas, which pyarrow loads wherever it is installed; that naively does not is checked by `make lint`."""
    code = (
        "import sys, naively\n"
        "m = naively.NaiveBayes().fit({'x': [1.5, 2.5, 8.5], 's': ['a', None, 'b']}, ['u', 'u', 'v']);"
        "m.predict({'x': [1.0]}); print([n for n in ('polars', 'duckdb') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- what columns are taken for


def test_columns_are_taken_for_what_they_are() -> None:
    rng = np.random.default_rng(1)
    n = 300
    table = {
        "float": rng.normal(size=n),
        "many": rng.integers(0, 200, n),
        "few": rng.integers(0, 5, n),
        "few with holes": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 5, n)),
        "far apart": rng.choice([0, 10**12], n),
        "short": rng.choice(["a b", "c"], n),
        "long": [f"row {i} tells of number {i * 7}" for i in range(n)],
        "characters": ["".join(chr(0x4E00 + c) for c in rng.integers(0, 900, 40)) for _ in range(n)],
        "flag": rng.random(n) < 0.5,
        "category": pd.Categorical(rng.choice(["x", "y"], n)),
        "when": pd.date_range("2024-01-01", periods=n, freq="7h"),
        "day": pa.array([datetime.date(2024, 1, 1 + i % 28) for i in range(n)]),
        "o'clock": pa.array([datetime.time(i % 24) for i in range(n)]),
        "price": pa.array([Decimal(i * 37) / 16 for i in range(n)], pa.decimal128(12, 4)),
        "took": pd.to_timedelta(rng.random(n), unit="h"),
        "nothing": pa.nulls(n),
    }
    taken = {
        row.column: row.taken_as.split(",")[0] for row in plain_table().fit(table, rng.choice(["a", "b"], n)).schema_
    }
    numbers = {"gaussian", "histogram", "ignored"}
    assert {taken[name] for name in ("float", "many", "price", "took")} <= numbers
    for name in ("few", "few with holes", "far apart", "short", "category"):
        assert taken[name] == "categorical", name
    assert (taken["long"], taken["characters"]) == ("text", "text")
    assert (taken["flag"], taken["nothing"]) == ("bernoulli", "left out")
    assert (taken["when"], taken["day"], taken["o'clock"]) == ("categorical: month",) * 2 + ("categorical: hour",)


def test_dates_are_counted_by_month_weekday_and_hour() -> None:
    when = pd.to_datetime(["2024-01-01 08:30", "2024-02-06 23:00", None])  # a Monday, a Tuesday
    model = plain_table().fit({"when": when}, ["a", "b", "a"])
    categories = model.tally_.parts["categories"]
    seen = {
        (categories.features.name(f), int(k))
        for f, k in zip(categories.cells.feature, categories.cells.klass, strict=True)
    }
    names = ("when.month", "when.weekday", "when.hour")
    assert seen == {
        *zip(zip(names, (1, 1, 8), strict=True), (0,) * 3, strict=True),
        *zip(zip(names, (2, 2, 23), strict=True), (1,) * 3, strict=True),
        *((((name, None), 0)) for name in names),
    }


def test_any_column_can_be_set_dropped_or_grouped() -> None:
    table = people()
    rules = {
        "age": Gaussian(), "income": Kernel(), "job": None, "children": Poisson(), "owner": Categorical(),
        "seen": Dates(parts=("hour",)), "note": Text(ngrams=(1, 2), family="complement", alpha=0.1),
    }  # fmt: skip
    model = plain_table(columns=rules).fit(table, "label")
    shown = {row.column: row.taken_as for row in model.schema_}
    assert shown["age"] == "gaussian"
    assert shown["income"] == "kernel"
    assert shown["job"] == "left out"
    assert shown["children"] == "poisson"
    assert shown["seen"] == "categorical: hour"
    assert (model.predict(table) == np.array(table["label"])).mean() > 0.9
    grouped = {("age", "income"): Gaussian(covariance="full"), ("children",): Multinomial(), "note": None}
    model = plain_table(columns=grouped).fit(table, "label")
    assert [type(part).__name__ for part in model.tally_.parts.values()] == [
        "Counts", "NumberCounts", "ExactPairs", "Counts",
    ]  # fmt: skip
    assert (model.predict(table) == np.array(table["label"])).mean() > 0.8


# --- what the model is


def by_hand(values: list[Any], labels: list[Any], alpha: float) -> dict[tuple[Any, str], float]:
    """log p(value | class) of a column of categories, from the formula alone."""
    known = [(v, c) for v, c in zip(values, labels, strict=True) if v is not None]
    kinds = {v for v, _ in known}
    return {
        (v, c): float(
            np.log(
                (sum(1 for pair in known if pair == (v, c)) + alpha)
                / (sum(1 for _, k in known if k == c) + alpha * len(kinds))
            )
        )
        for v in kinds
        for c in set(labels)
    }


def test_the_score_is_the_prior_and_one_factor_for_each_column() -> None:
    table = people(200)
    labels = table["label"]
    model = plain_table(
        columns={
            "age": Gaussian(var_smoothing=0.0),
            "income": None,
            "children": Categorical(),
            "seen": None,
            "note": None,
        },
        alpha=0.5,
    ).fit(table, "label")
    job, children, owner = (by_hand(table[name], labels, 0.5) for name in ("job", "children", "owner"))
    expected = np.zeros((200, 2))
    for k, c in enumerate(["poor", "rich"]):
        ages = np.array([a for a, y in zip(table["age"], labels, strict=True) if y == c and a is not None])
        for i in range(200):
            expected[i, k] = np.log(labels.count(c) / 200)
            for name, column in (("job", job), ("children", children), ("owner", owner)):
                value = table[name][i]
                expected[i, k] += 0.0 if value is None else column[value, c]
            if table["age"][i] is not None:
                expected[i, k] += -0.5 * (
                    np.log(2 * np.pi * ages.var()) + (table["age"][i] - ages.mean()) ** 2 / ages.var()
                )
    np.testing.assert_allclose(model.predict_joint_log_proba(table), expected, rtol=1e-10)


def test_a_text_column_is_weighed_as_a_text_classifier_would() -> None:
    table = people(150)
    table["note"] = [note or "rain" for note in table["note"]]
    options = {"family": "complement", "weighting": "tfidf", "ngrams": (1, 2), "min_df": 2, "stop_words": "english"}
    alone = plain_text(alpha=0.3, prior=naively.Uniform(), **options).fit(table["note"], table["label"])
    model = plain_table(columns={"note": Text(alpha=0.3, **options)}, prior=naively.Uniform()).fit(
        {"note": table["note"]}, table["label"]
    )
    np.testing.assert_allclose(model.predict_proba(table), alone.predict_proba(table["note"]), rtol=1e-12)


def test_a_group_is_weighed_as_its_own_estimator_would() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 9, (80, 3)), rng.choice(["a", "b"], 80)
    table = {name: X[:, j] for j, name in enumerate("uvw")}
    for rule, alone in (
        (Multinomial(), naively.MultinomialNB()),
        (naively.Complement(), naively.ComplementNB()),
        (Gaussian(covariance="full"), naively.GaussianClassifier(covariance="full")),
        (Gaussian(covariance="tied"), naively.GaussianClassifier(covariance="tied")),
    ):
        model = plain_table(columns={("u", "v", "w"): rule}).fit(table, y)
        np.testing.assert_allclose(model.predict_proba(table), alone.fit(X, y).predict_proba(X), rtol=1e-9)
    poisson = plain_table(columns=dict.fromkeys("uvw", Poisson())).fit(table, y)
    np.testing.assert_allclose(poisson.predict_proba(table), naively.PoissonNB().fit(X, y).predict_proba(X), rtol=1e-9)


RULED = {
    "age": Gaussian(), "income": Histogram("frequency", 5), "job": Categorical(), "children": Poisson(),
    "owner": Bernoulli(), "seen": Dates(), "note": Text(),
}  # fmt: skip


@pytest.mark.parametrize("gone", sorted(RULED))
def test_missing_is_no_information_as_if_the_column_were_not_there(gone: str) -> None:
    table = people()
    model = plain_table(columns=RULED).fit(table, "label")
    without = plain_table(columns={**RULED, gone: None}).fit(table, "label").predict_joint_log_proba(table)
    blank = {**table, gone: [None] * 400}
    absent = {name: values for name, values in table.items() if name != gone}
    np.testing.assert_allclose(model.predict_joint_log_proba(blank), without, rtol=1e-12)
    np.testing.assert_allclose(model.predict_joint_log_proba(absent), without, rtol=1e-12)


@pytest.mark.parametrize(
    "values", [[None] * 6, [float("nan")] * 6, pa.nulls(6), pa.nulls(6, pa.string()), pd.array([pd.NA] * 6, "Int64")]
)
def test_a_column_that_is_missing_in_every_row_is_fine(values: Any) -> None:
    table = {"x": [1.0, 1.5, 2.25, 7.5, 8.0, 9.125], "empty": values}
    y = ["a", "a", "a", "b", "b", "b"]
    model = plain_table().fit(table, y)
    only = plain_table().fit({"x": table["x"]}, y)
    np.testing.assert_array_equal(model.predict_proba(table), only.predict_proba(table))
    model.predict({"x": [1.0], "empty": [None]})


def test_an_unseen_category_is_no_information() -> None:
    table = people()
    model = plain_table(columns=RULED).fit(table, "label")
    stranger, blank = {**table, "job": ["astronaut"] * 400}, {**table, "job": [None] * 400}
    np.testing.assert_array_equal(model.predict_joint_log_proba(stranger), model.predict_joint_log_proba(blank))


@pytest.mark.parametrize("rules", [RULED, {**RULED, "age": Number(), "income": Kernel()}])
def test_informative_missing_equals_a_flag_for_each_column_made_by_hand(rules: dict[str, Any]) -> None:
    table = people()
    rng = np.random.default_rng(5)
    rich = np.array(table["label"]) == "rich"
    table["age"] = [None if r and rng.random() < 0.7 else age for age, r in zip(table["age"], rich, strict=True)]
    flags = {f"{name} missing": [v is None for v in values] for name, values in features(table).items()}
    informed = plain_table(columns=rules, missing="informative").fit(table, "label")
    by_flags = plain_table(columns=rules).fit({**table, **flags}, "label")
    np.testing.assert_allclose(
        informed.predict_joint_log_proba(table), by_flags.predict_joint_log_proba({**table, **flags}), rtol=1e-10
    )
    plain = plain_table(columns=rules).fit(table, "label")
    mine = np.arange(400), rich.astype(int)
    assert informed.predict_log_proba(table)[mine].mean() > plain.predict_log_proba(table)[mine].mean()
    assert informed.tally_ == plain.tally_  # decided afterwards
    np.testing.assert_array_equal(
        plain.set_params(missing="informative").predict_proba(table), informed.predict_proba(table)
    )


def test_columns_are_matched_by_name() -> None:
    table = people()
    model = plain_table().fit(table, "label")
    expected = model.predict_proba(features(table))
    turned = dict(reversed(features(table).items()))
    np.testing.assert_array_equal(model.predict_proba({"stranger": list(range(400)), **turned}), expected)
    np.testing.assert_array_equal(model.predict_proba(pl.DataFrame(turned)), expected)


# --- numbers


def brute_force_losses(x: Array, y: Array, bins: Array) -> tuple[float, float]:
    """Log-loss of each row's label by the other rows alone: normal densities, and bins with Laplace's rule."""
    losses = np.zeros((len(x), 2))
    kinds = np.unique(y)
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        scores = np.zeros((2, len(kinds)))
        for k, kind in enumerate(kinds):
            mine = x[others & (y == kind)]
            variance = mine.var() + 1e-9 * x.var()
            scores[0, k] = np.log(len(mine)) - 0.5 * (
                np.log(2 * np.pi * variance) + (x[i] - mine.mean()) ** 2 / variance
            )
            same = (bins[others & (y == kind)] == bins[i]).sum()
            scores[1, k] = np.log(len(mine)) + np.log((same + 1) / (len(mine) + bins.max() + 1))
        logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
        losses[i] = -logs[:, np.flatnonzero(kinds == y[i])[0]]
    return tuple(losses.mean(axis=0))


@settings(max_examples=20)
@given(st.integers(0, 10_000), st.integers(2, 3))
def test_the_losses_by_which_a_column_is_weighed_are_those_of_leaving_rows_out(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.array(["a", "b", "c"])[:classes], 25)
    x = np.round(rng.normal(np.repeat(rng.normal(0, 2, classes), 25), 1.0) * 16) / 16  # on the grid, so exact
    column = plain_table(columns={"x": Number()}).fit({"x": x}, y)._model.schema.blocks[0].family
    ledger = plain_table(columns={"x": Number()}).fit({"x": x}, y)._model.ledger.counted["numbers"]
    decided = column.decided(ledger, naively.Additive(1.0))[0]
    counted = CountedColumn.of(ledger.total, 0, classes)
    bins = np.searchsorted(naively.families.columns.bins.edges("mdl", None, counted), x, side="right")
    losses = [decided.losses[name] for name in ("gaussian", "histogram")]
    assert losses == pytest.approx(brute_force_losses(x, y, bins), rel=1e-9)


def test_the_better_of_gaussian_and_histogram_is_taken() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 500)
    normal = rng.normal(np.where(y == "a", 0.0, 1.5), 1.0)
    ring = np.where(y == "a", rng.normal(0, 0.3, 1000), rng.choice([-2.0, 2.0], 1000) + rng.normal(0, 0.3, 1000))
    steps = np.where(rng.random(1000) < 0.5, 0.0, rng.exponential(np.where(y == "a", 1.0, 30.0)))
    noise = rng.random(1000)
    schema = plain_table().fit({"normal": normal, "steps": steps, "ring": ring, "noise": noise}, y).schema_
    assert schema["normal"].taken_as == "gaussian"
    assert schema["steps"].taken_as.startswith("histogram")
    assert "leaving one out" in schema["steps"].why
    assert schema["ring"].taken_as.startswith("histogram")
    assert schema["noise"].taken_as == "ignored"


@pytest.mark.parametrize(
    "rule", [Histogram(), Histogram("width", 7), Histogram("frequency", 7), Histogram("sqrt"), Kernel(), Kernel(0.3)]
)
def test_histograms_and_kernels_follow_what_is_not_normal(rule: Any) -> None:
    rng = np.random.default_rng(2)
    y = np.repeat(["in", "out"], 600)
    x = np.where(y == "in", rng.normal(0, 0.5, 1200), rng.choice([-2.0, 2.0], 1200) + rng.normal(0, 0.5, 1200))
    model = plain_table(columns={"x": rule}).fit({"x": x}, y)
    assert (model.predict({"x": x}) == y).mean() > 0.9
    assert model.predict({"x": [-2.0, 0.0, 2.0]}).tolist() == ["out", "in", "out"]
    assert model.predict({"x": [-1e9, 1e300]}).tolist() == ["out", "out"]


def test_bins_of_equal_width_and_frequency_are_what_they_say() -> None:
    x = np.concatenate([np.arange(100.0), [1000.0]])
    y = np.repeat(["a", "b"], [50, 51])
    block = plain_table(columns={"x": Histogram("frequency", 4)}).fit({"x": x}, y)
    edges = block.table_.blocks["numbers"].columns[0].edges
    parts = np.bincount(np.searchsorted(edges, x, side="right"))
    assert parts.max() - parts.min() <= 1
    block = plain_table(columns={"x": Histogram("width", 4)}).fit({"x": x}, y)
    edges = block.table_.blocks["numbers"].columns[0].edges
    assert edges.tolist() == [250, 500, 750]


def test_one_count_serves_every_way_of_binning() -> None:
    table = people()
    kinds = [Histogram(), Histogram("width", 5), Histogram("frequency", 5), Histogram("sqrt"), Kernel()]
    tallies = [
        plain_table(columns={"income": kind}).fit({"income": table["income"]}, table["label"]).tally_ for kind in kinds
    ]
    assert all(tally == tallies[0] for tally in tallies[1:])


# --- learning in parts


def test_a_stream_of_batches_is_counted_as_the_whole() -> None:
    table = people()
    rules = {**RULED, "children": Categorical()}
    whole = plain_table(columns=rules).fit(table, "label")
    arrow = pa.table(table)
    stream = plain_table(columns=rules).fit(iter(arrow.to_batches(max_chunksize=7)), "label")
    pairs = plain_table(columns=rules).fit(
        (features(part(table, slice(i, i + 50))), table["label"][i : i + 50]) for i in range(0, 400, 50)
    )
    reader = plain_table(columns=rules).fit(arrow.to_reader(max_chunksize=64), "label")
    assert stream.tally_ == pairs.tally_ == reader.tally_ == whole.tally_
    np.testing.assert_allclose(stream.predict_proba(table), whole.predict_proba(table), rtol=1e-9)


def test_a_column_of_text_that_comes_later_is_left_out() -> None:
    first = {"x": [1.5, 2.5, 9.25], "s": ["a", "b", "b"]}
    model = plain_table().partial_fit(first, ["u", "u", "v"])
    model.partial_fit({"x": [1, 9], "s": ["a", "new"]}, ["u", "w"])
    assert model.classes_.tolist() == ["u", "v", "w"]
    assert model.schema_["s"].taken_as == "categorical, 3 categories"
    with pytest.warns(DataWarning, match="column 'later' was not there when the schema was settled"):
        model.partial_fit({"x": [1.0], "later": ["c"]}, ["u"])


@pytest.mark.parametrize("threads", ["1", "3"])
def test_parts_and_threads_do_not_matter(threads: str, monkeypatch: Any) -> None:
    table = pa.table(people())
    whole = plain_table(columns=RULED).fit(table, "label")
    monkeypatch.setattr("naively.families.blocks.blocks.COUNTED", 23)
    monkeypatch.setattr("naively.read.frame._SCORED_ROWS", 23)
    monkeypatch.setattr("naively.threads._MUCH", 0)
    monkeypatch.setattr("naively.threads.SMALL", 0)
    monkeypatch.setenv("NAIVELY_THREADS", threads)
    parts = plain_table(columns=RULED).fit(table, "label")
    assert parts.tally_ == whole.tally_
    np.testing.assert_allclose(parts.predict_proba(table), whole.predict_proba(table), rtol=1e-9)
    bad = people()
    bad["age"][250] = float("inf")
    with pytest.raises(InputError, match="row 250, column 'age' is inf"):
        plain_table(columns=RULED).fit(bad, "label")
    with pytest.raises(InputError, match="row 250, column 'age' is inf"):
        parts.predict(bad)


def test_forgetting_drops_classes_categories_and_words_that_are_gone() -> None:
    rules = {"job": Categorical(), "note": Text(), "owner": Bernoulli()}
    a = {"job": ["baker", "clerk"], "note": ["rain and rain", "sun"], "owner": [True, False]}
    b = {"job": ["doctor"], "note": ["opera"], "owner": [True]}
    model = plain_table(columns=rules).fit(a, ["x", "y"]).partial_fit(b, ["z"]).forget(b, ["z"])
    before = plain_table(columns=rules).fit(a, ["x", "y"])
    assert model.tally_ == before.tally_
    assert model.classes_.tolist() == ["x", "y"]
    assert str(model.schema_) == str(before.schema_)
    model.partial_fit({"job": ["baker"], "owner": [False]}, ["x"])


def test_merging_takes_models_whose_columns_are_taken_for_the_same() -> None:
    table = people()
    half = [part(table, slice(0, 200)), part(table, slice(200, 400))]
    merged = naively.merge(*(plain_table(columns=RULED).fit(t, "label") for t in half))
    assert merged.tally_ == plain_table(columns=RULED).fit(table, "label").tally_
    assert merged.feature_names_in_.tolist() == list(features(table))
    other = plain_table().fit({"age": ["old", "young"]}, ["rich", "poor"])
    with pytest.raises(InputError, match="columns"):
        naively.merge(plain_table().fit({"age": [1.5, 2.5]}, ["rich", "poor"]), other)


# --- the ecosystem


def test_it_works_inside_scikit_learn() -> None:
    table = as_pandas(people())
    X, y = table.drop(columns="label"), table["label"]
    assert cross_val_score(plain_table(), X, y, cv=3).mean() > 0.85
    search = GridSearchCV(plain_table(), {"alpha": [0.1, 1.0], "missing": ["ignored", "informative"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.85
    calibrated = CalibratedClassifierCV(plain_table(), cv=3).fit(X, y)
    assert calibrated.predict_proba(X).shape == (400, 2)
    for output in ("pandas", "polars"):
        scaled = ColumnTransformer(
            [("numbers", StandardScaler(), ["age", "income"])], remainder="passthrough", verbose_feature_names_out=False
        ).set_output(transform=output)
        pipeline = make_pipeline(scaled, plain_table()).fit(X, y)
        assert pipeline.score(X, y) > 0.85
        assert set(pipeline[-1].feature_names_in_) == set(X.columns)


def test_it_is_cloned_and_pickled() -> None:
    table = people()
    model = plain_table(columns=RULED).fit(table, "label")
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    assert again.tally_ == model.tally_
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    again.partial_fit(part(table, slice(0, 3)), "label")


def test_the_schema_shows_in_text_and_in_notebooks() -> None:
    model = plain_table(columns={"age": Gaussian()}).fit(people(), "label")
    assert str(model.schema_).splitlines()[0].split() == ["column", "type", "taken", "as", "missing", "why"]
    assert model.schema_["age"].why == "given"
    assert model.schema_["age"].missing > 0
    page = model._repr_html_()
    assert "<td>note</td>" in page
    odd = plain_table().fit({"<b>": [1.5, 2.5]}, ["x", "y"])
    assert "<td><b></td>" not in odd._repr_html_()
    assert "<th>column</th>" in page
    assert "<th>column</th>" not in plain_table()._repr_html_()


def test_rows_drawn_from_the_model_are_a_table_that_it_takes() -> None:
    table = people()
    model = plain_table(columns=RULED).fit(table, "label")
    X, y = model.sample(500, random_state=0)
    assert X.num_rows == len(y) == 500
    assert (model.predict(X) == y).mean() > 0.85
    assert model.sample(0)[0].num_rows == 0
    numbers = plain_table().fit(np.array([[1.5, 2.0], [8.0, 9.5]]), ["a", "b"])
    assert numbers.sample(3, random_state=1)[0].column_names == ["0", "1"]


def test_an_explanation_names_columns_and_words_and_adds_up() -> None:
    table = people()
    model = plain_table(columns=RULED, missing="informative").fit(table, "label")
    row = part(features(table), slice(3, 4))
    explanation = model.explain(row)
    assert {"age", "job"} <= set(explanation.features)
    assert any(name.startswith("note: ") for name in explanation.features)
    assert "seen.month" in explanation.features
    assert "age missing" in explanation.features
    np.testing.assert_allclose(explanation.prior + explanation.shares.sum(axis=0) + explanation.rest, explanation.score)
    np.testing.assert_allclose(explanation.score, model.predict_joint_log_proba(row)[0])


def test_parameters_are_counted() -> None:
    rules = {"age": Gaussian(), "job": Categorical()}
    model = plain_table(columns=rules).fit({"age": [1.5, 2.5, 3.5], "job": ["a", "b", "c"]}, ["x", "x", "y"])
    assert model.n_parameters_ == 1 + 2 * 2 + 2 * 2
    assert model.n_parameters_joint_ == 1 + 2 * (3 * 3 - 1)


def test_many_threads_predict_at_once() -> None:
    table = pa.table(people())
    model = plain_table().fit(table, "label")
    expected = plain_table().fit(table, "label").predict_proba(table)
    results: list[Any] = [None] * 6

    def work(i: int) -> None:
        results[i] = model.predict_proba(table)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


# --- bad input

GOOD = {"x": [1.5, 2.5, 3.75], "s": ["a", "b", "b"]}
LABELS = ["u", "u", "v"]


@pytest.mark.parametrize(
    ("table", "y", "message"),
    [
        ({**GOOD, "m": ["a", 2, "c"]}, LABELS, "column 'm': types are mixed: str .* row 1, number"),
        ({**GOOD, "m": [1, {"k": 1}, 2]}, LABELS, "column 'm': types are mixed"),
        ({**GOOD, "m": [[1], [2], [3]]}, LABELS, "column 'm' holds nested values"),
        ({**GOOD, "m": pa.array([{"k": 1}] * 3)}, LABELS, "column 'm' holds nested values"),
        ({**GOOD, "m": [1.0, float("inf"), 2.5]}, LABELS, "row 1, column 'm' is inf"),
        ({**GOOD, "m": np.zeros((3, 2))}, LABELS, "column 'm': expected one value in each row"),
        ({**GOOD, "m": "abc"}, LABELS, "column 'm': expected a list of values, got str"),
        ({**GOOD, "m": [1.0]}, LABELS, "column 'm' has 1 rows, those before it 3"),
        ({**GOOD, 7: [1.0, 2.0, 3.5]}, LABELS, "column names must be text, or all of them whole numbers, got 7"),
        (GOOD, ["u", "v"], "inconsistent numbers of samples"),
        (GOOD, None, "y to be passed"),
        (GOOD, "z", "y='z' names no column"),
        (GOOD, [None, None, None], "no row has a label"),
        (GOOD, [0.5, 1.0, 2.0], "Unknown label type"),
        ({}, LABELS, "minimum of 1"),
        ({"x": []}, [], "0 sample"),
        (5, LABELS, "Expected 2D array"),
        ("text", LABELS, "there is no file 'text'"),
    ],
)
def test_bad_tables_get_one_clear_message_and_change_nothing(table: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plain_table().fit(table, y)
    model = plain_table().fit(GOOD, LABELS)
    before, proba = model.tally_, model.predict_proba(GOOD)
    with pytest.raises(ValueError, match=message):
        model.fit(table, y)
    assert model.tally_ == before
    np.testing.assert_array_equal(model.predict_proba(GOOD), proba)


def test_a_column_that_is_there_twice_is_refused() -> None:
    frame = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    for table in (frame, pa.Table.from_arrays([pa.array([1, 2])] * 2, names=["a", "a"])):
        with pytest.raises(InputError, match="column 'a' is there twice"):
            plain_table().fit(table, ["x", "y"])


def test_a_target_inside_the_features_is_refused() -> None:
    frame = as_pandas(people(50))
    for y in (frame["label"], pl.Series("label", frame["label"].tolist())):
        with pytest.raises(InputError, match="the target 'label' is also a column"):
            plain_table().fit(frame, y)


@pytest.mark.parametrize(
    ("later", "message"),
    [
        ({"x": ["one"], "s": ["a"]}, "column 'x': was taken for numbers, now it holds text"),
        ({"x": [1.0], "s": [1]}, "column 's': was taken for categories that are text, now it holds numbers"),
        ({"x": [1.0], "s": [True]}, "column 's': was taken for categories that are text, now it holds true and false"),
        ({"x": [datetime.date(2024, 1, 1)]}, "column 'x': was taken for numbers, now it holds points in time"),
    ],
)
def test_a_changed_type_is_a_clear_error(later: Any, message: str) -> None:
    model = plain_table().fit(GOOD, LABELS)
    before = model.tally_
    for act in (model.predict, lambda t: model.partial_fit(t, ["u"]), lambda t: model.forget(t, ["u"])):
        with pytest.raises(InputError, match=message):
            act(later)
    assert model.tally_ == before


def test_rows_without_a_label_are_left_out_with_a_warning_or_refused() -> None:
    table = people(100)
    labels = [None if i % 10 == 0 else y for i, y in enumerate(table["label"])]
    labelled = [i for i in range(100) if i % 10]
    expected = plain_table(columns=RULED).fit(
        {n: [v[i] for i in labelled] for n, v in features(table).items()}, [table["label"][i] for i in labelled]
    )
    for form in (list, pd.Series, pl.Series, pa.array, lambda v: np.array(v, object)):
        with pytest.warns(DataWarning, match="10 of 100 rows have no label and are left out"):
            model = plain_table(columns=RULED).fit(features(table), form(labels))
        assert model.tally_ == expected.tally_
        with pytest.raises(InputError, match="10 of 100 rows have no label, the first is row 0"):
            plain_table(unlabelled="refuse").fit(features(table), form(labels))


def test_an_identifier_is_warned_of() -> None:
    n = 30_000
    table = {"id": [f"id{i}" for i in range(n)], "x": np.arange(n) % 2}
    with pytest.warns(DataWarning, match="column 'id' has 30_000 categories in 30_000 rows: this is an identifier"):
        model = plain_table().fit(table, table["x"])
    assert (model.predict(table) == table["x"]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain_table(columns={"id": None}).fit(table, table["x"])


def test_constant_columns_say_nothing() -> None:
    table = {"x": [3.25] * 4, "s": ["same"] * 4, "b": [True] * 4, "n": [2] * 4}
    model = plain_table(columns={"x": Gaussian()}).fit(table, ["u", "u", "u", "v"])
    proba = model.predict_proba({**table, "x": [3.25, 0.0, 9.0, 3.25]})
    np.testing.assert_array_equal(proba, proba[:1].repeat(4, axis=0))
    unsmoothed = model.set_params(alpha=0.0).predict_proba(table)
    np.testing.assert_allclose(unsmoothed[:, 0], 0.75, rtol=1e-12)
    only = plain_table(columns={"x": Gaussian()}).fit({"x": table["x"]}, ["u", "u", "u", "v"])
    np.testing.assert_allclose(only.predict_proba({"x": [3.25, 1e9]})[:, 0], 0.75, rtol=1e-12)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"agee": Gaussian()}, "columns= names 'agee', which is not in the table; did you mean 'age'"),
        ({"age": Gaussian}, r"write Gaussian\(\)"),
        ({"age": 1}, r"expected a rule such as Gaussian\(\), or None"),
        ({"job": Gaussian()}, r"column 'job' holds string, which Gaussian\(\) cannot read"),
        ({"age": Categorical()}, "categories are text or whole numbers; take the column for numbers"),
        ({"age": Poisson(), ("age", "income"): Gaussian(covariance="full")}, "names 'age' twice"),
        ({"note": Text(vocabulary=["a"], hashing=4)}, "vocabulary and hashing exclude each other"),
    ],
)
def test_rules_that_do_not_fit_are_refused(columns: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plain_table(columns=columns).fit(people(50), "label")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Histogram("golden"), "bins must be one of"),
        (lambda: Histogram("mdl", 3), "finds the number of bins itself"),
        (lambda: Histogram("width", 0), "n_bins must be a whole number above 0"),
        (lambda: Kernel(-1.0), "bandwidth must be above 0"),
        (lambda: Gaussian(var_smoothing=-1), "var_smoothing must be 0 or more"),
        (lambda: Gaussian(covariance="round"), "covariance must be one of"),
        (lambda: Dates(("year",)), "parts must be some of"),
        (lambda: Bernoulli(float("nan")), "threshold must be a number"),
    ],
)
def test_rules_check_their_numbers(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_columns_cannot_be_changed_after_counting() -> None:
    model = plain_table(columns=RULED).fit(people(), "label")
    with pytest.raises(InputError, match="columns= was changed after counting"):
        model.set_params(columns={**RULED, "age": Histogram()}).predict(people())


def by_name(estimator: Any) -> dict[str, str]:
    reason = "columns are matched by name: another order is read as the same, and an unknown one is left out"
    return {"check_dataframe_column_names_consistency": reason}


@parametrize_with_checks([plain_table()], expected_failed_checks=by_name)
def test_it_keeps_scikit_learns_promises(estimator: Any, check: Any) -> None:
    check(estimator)


def test_a_category_in_a_row_of_weight_zero_is_not_known() -> None:
    table = {"kind": ["x", "y", "z"], "size": [0.5, 1.5, 2.5], "flag": [True, False, True]}
    weighed = plain_table().fit(table, ["p", "q", "q"], sample_weight=[1, 0, 2])
    without = {name: [values[0], values[2], values[2]] for name, values in table.items()}
    plain = plain_table().fit(without, ["p", "q", "q"])
    np.testing.assert_array_equal(weighed.predict_proba(without), plain.predict_proba(without))


# --- columns of codes

WORDS = st.sampled_from(["", "a", "b", "a\0", "Rome", "x" * 16, "x" * 17, "x" * 32, "x" * 33, "x" * 31 + "é", "never"])


def arrow_forms(values: list[Any]) -> list[Any]:
    """The same column in every form that Arrow has for text."""
    narrow, wide = pa.array(values, pa.string()), pa.array(values, pa.large_string())
    padded = pa.array(["before", None, *values, "behind"], pa.large_string())
    cut = len(values) // 2
    return [
        narrow,
        wide,
        padded[2 : 2 + len(values)],
        pa.chunked_array([narrow[:cut], narrow[cut:cut], narrow[cut:]]),
        wide.dictionary_encode(),
    ]


@settings(max_examples=60)
@given(st.data())
def test_labels_are_those_of_the_highest_scores_in_whatever_form_columns_come(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 40))

    def column(values: Any) -> list[Any]:
        return data.draw(st.lists(values, min_size=rows, max_size=rows))

    texts, whole = column(WORDS.filter(lambda w: w != "never") | st.none()), column(st.integers(0, 3) | st.none())
    numbers = column(st.floats(-9, 9) | st.integers(0, 5).map(float) | st.just(float("nan")))
    names = data.draw(st.sampled_from([["a", "b"], [1, 2, 3], [f"class {i}" for i in range(9)]]))
    told = {"t": Categorical(), "w": Categorical(), "x": Histogram(bins="width", n_bins=4)}
    model = plain_table(columns=told, missing=data.draw(st.sampled_from(["ignored", "informative"])))
    model.fit({"t": texts, "w": whole, "x": numbers}, column(st.sampled_from(names)))
    asked = column(WORDS | st.none())
    joint = model.predict_joint_log_proba({"t": asked, "w": whole, "x": numbers})
    for form in arrow_forms(asked):
        table = {"t": form, "w": np.array([np.nan if v is None else v for v in whole]), "x": np.array(numbers)}
        np.testing.assert_array_equal(model.predict_joint_log_proba(table), joint)
        assert model.predict(table).tolist() == model.classes_[np.argmax(joint, axis=1)].tolist()
        assert model.predict(table).tolist() == model.scores(table).decide().tolist()
    alone = [
        model.predict_joint_log_proba({"t": asked[i : i + 1], "w": whole[i : i + 1], "x": numbers[i : i + 1]})
        for i in range(rows)
    ]
    np.testing.assert_allclose(np.concatenate(alone), joint, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint64, np.float32])
def test_whole_numbers_are_the_same_categories_whatever_their_type(dtype: Any) -> None:
    known = {"w": [1, 2, 3, 1], "x": [1.5, 2.5, 7.0, 9.0]}
    model = plain_table(columns={"w": Categorical(), "x": Histogram()}).fit(known, ["a", "b", "b", "a"])
    asked = [3, 1, 100, 2]
    want = model.predict_proba({"w": asked, "x": [1.0, 7.0, 8.0, 9.0]})
    found = model.predict_proba({"w": np.array(asked, dtype), "x": np.array([1, 7, 8, 9], dtype)})
    np.testing.assert_array_equal(found, want)


def test_a_number_that_cannot_be_a_category_is_told_of_where_it_stands() -> None:
    model = plain_table(columns={"w": Categorical(), "x": Histogram()})
    model.fit({"w": [1, 2, 3, 1], "x": [1.5, 2.5, 7.0, 9.0]}, ["a", "b", "b", "a"])
    for odd, text in ((np.inf, "row 1, column 'w' is inf"), (2.0**60, "row 1, column 'w' is 1.15")):
        with pytest.raises(InputError, match=text):
            model.predict({"w": [1.0, odd], "x": [1.0, 1.0]})
    with pytest.raises(InputError, match="row 1, column 'x' is -inf"):
        model.predict({"w": [1.0, 2.0], "x": [1.0, -np.inf]})


LISTS: list[list[Any]] = [
    [1.5, float("nan"), None],
    [1, -2, None],
    [True, None, False] * 5,
    ["a", None, "", "größer"],
    [],
    [None, None],
]


@pytest.mark.parametrize("values", LISTS, ids=str)
def test_a_list_of_one_kind_becomes_the_array_that_pyarrow_makes_of_it(values: list[Any]) -> None:
    found, expected = arrow_of_list(values), pa.array(values)
    assert found.type == expected.type
    assert found.null_count == expected.null_count
    assert list(map(str, found.to_pylist())) == list(map(str, expected.to_pylist()))
    found.validate(full=True)


@pytest.mark.parametrize(
    "values", [[1, 1.5], [1 << 63], [1, "a"], [b"a"], [np.float64(1)], [Decimal(1)], [[1]]], ids=str
)
def test_other_lists_are_left_to_pyarrow(values: list[Any]) -> None:
    assert arrow_of_list(values) is None
    assert arrow_of_list([1] * (MOST_ROWS + 1)) is None


@pytest.mark.parametrize("with_holes", [False, True], ids=["full", "with holes"])
@pytest.mark.parametrize(
    "kind", [pa.bool_(), pa.int8(), pa.uint32(), pa.int64(), pa.float16(), pa.float32(), pa.float64()]
)
def test_columns_of_numbers_are_read_as_pyarrow_reads_them(kind: Any, with_holes: bool) -> None:
    listed = [True, False, False, True, True] * 5 if kind == pa.bool_() else [np.float16(v % 7) for v in range(25)]
    values = [None if with_holes and i % 3 == 1 else v for i, v in enumerate(listed)]
    if pa.types.is_integer(kind):
        values = [None if v is None else int(v) for v in values]
    whole = pa.array(values, kind)
    for column in (whole, whole[3:20], whole[:0], pa.chunked_array([whole[1:9], whole[:0], whole[9:]])):
        expected = np.array([np.nan if v is None else float(v) for v in column.to_pylist()])
        found = numbers(column)
        np.testing.assert_array_equal(found, expected)
        assert (found.dtype.kind == "f") == (column.null_count > 0 or pa.types.is_floating(kind))


def test_a_tally_goes_to_arrow_and_back_whatever_its_columns_are_called() -> None:
    texts = [f"the film was very good indeed my friend number {i}" for i in range(12)]
    rows = {"a/grid": texts, "b/moments": texts, "n": [i * 1.5 for i in range(12)]}
    tally = plain_table(columns={"a/grid": Text(), "b/moments": Text()}).fit(rows, ["p", "q"] * 6).tally_
    assert naively.Tally.from_arrow(tally.to_arrow()) == tally
