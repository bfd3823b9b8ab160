"""What is printed of a model is what the model computes with."""

import datetime
import itertools
import json
import math
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.model_selection import train_test_split

import naively
import naively.demo
from naively import (
    Bernoulli,
    Gaussian,
    Histogram,
    Kernel,
    Multinomial,
    NaiveBayes,
    Poisson,
    Text,
    TextClassifier,
    film_reviews,
)
from naively.cli import main

ROWS = 240
RNG = np.random.default_rng(5)
Y = np.arange(ROWS) % 2
TABLE = pa.table(
    {
        "city": np.where(RNG.random(ROWS) < 0.3 + 0.4 * Y, "Rome", "Oslo"),
        "flag": RNG.random(ROWS) < 0.3 + 0.4 * Y,
        "above": RNG.normal(Y),
        "day": [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=int(h)) for h in RNG.integers(0, 8000, ROWS)],
        "bell": RNG.normal(Y),
        "cut": np.where(RNG.random(ROWS) < 0.1, -1.0, 1.0) * RNG.normal(5 * Y + 2, 1.0),
        "noise": RNG.random(ROWS),
        "same": np.full(ROWS, 3.5),
        "one": ["x"] * ROWS,
        "curve": RNG.normal(Y),
        "events": RNG.poisson(1 + Y),
        "a": RNG.poisson(3 + Y),
        "b": RNG.poisson(3, ROWS),
        "height": RNG.normal(Y),
        "weight": RNG.normal(Y),
        "note": [" ".join(RNG.choice(["red", "blue", "grey"] + ["gold"] * 3 * k, 4)) for k in Y.tolist()],
        "holes": [None if i % 3 == 0 else float(x) for i, x in enumerate(RNG.normal(3 * Y))],
    }
)
RULES = {
    "above": Bernoulli(), "bell": Gaussian(), "cut": Histogram(), "noise": Histogram(), "curve": Kernel(),
    "events": Poisson(), ("a", "b"): Multinomial(), ("height", "weight"): Gaussian(covariance="full"), "note": Text(),
    "holes": Histogram(),
}  # fmt: skip
IGNORED = {"noise", "same", "one"}


@pytest.fixture(scope="module")
def model():
    return NaiveBayes(columns=RULES).fit(TABLE, Y)


@pytest.fixture
def saved(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model.save("model.nb")
    model.save("frozen.nb", frozen=True)


def printed(capsys, *argv):
    assert main(list(argv)) == 0
    return capsys.readouterr().out


def as_argument(row):
    """A row for `--row`; points in time cannot be written in JSON."""
    return json.dumps({name: values[0] for name, values in row.to_pydict().items() if name != "day"})


def lines_of(out):
    return {line.split("  ")[0]: re.split(r"  +", line) for line in out.splitlines() if line}


# columns that are ignored


def test_a_column_that_adds_the_same_to_every_class_is_called_ignored_wherever_columns_are_listed(model, saved, capsys):
    for shown in (model, naively.load("frozen.nb")):
        taken = {row.column: row.taken_as for row in shown.schema_}
        assert {name for name, how in taken.items() if how == "ignored"} == IGNORED
        told = shown.explain(TABLE.slice(0, 1))
        assert set(told.ignored) == IGNORED
        assert not IGNORED & set(told.features)
        assert "noise" not in str(told).splitlines()[-2]
    for name in ("model.nb", "frozen.nb"):
        out = printed(capsys, "show", name, "--top", "1000")
        assert "noise (ignored)" in out
        speaks = out[out.index("speaks most for it") :]
        assert not re.search(r"\b(noise|same|one) ", speaks)


def test_what_is_called_ignored_does_not_change_a_score(model):
    for name, values in (("noise", [0.0, 0.5, 9.9]), ("same", [3.5, 8.0, -1.0]), ("one", ["x", "y", None])):
        odds = np.diff(model.predict_joint_log_proba({"city": ["Rome"] * 3, name: values}))[:, 0]
        np.testing.assert_allclose(odds, odds[0], atol=1e-12)


def test_a_column_that_is_ignored_but_for_being_missing_is_called_so():
    model = NaiveBayes(columns=RULES, missing="informative").fit(TABLE, Y)
    assert model.schema_["noise"].taken_as == "ignored, but for being missing"
    assert "noise missing = no" in str(model.explain(TABLE.slice(0, 1)))


# explain


def bins_of(edges, x):
    return np.searchsorted(edges, np.array(x), side="right")


def expected_factors(model, row):
    """For each column, the value that is printed and the counts of both classes, by counting rows."""
    table = TABLE.to_pydict()
    decided = {c.name: c for c in model.table_.blocks["numbers"].columns}

    def share(name, holds):
        known = [(holds(x), y) for x, y in zip(table[name], Y.tolist(), strict=True) if x is not None]
        return [f"{sum(h for h, y in known if y == k)} of {sum(y == k for _, y in known)}" for k in (0, 1)]

    def means(name):
        each = [np.array(table[name])[k == Y] for k in (0, 1)]
        return [f"mean {x.mean():.4g}, sd {x.std():.4g}" for x in each]

    found = {}
    for name in ("city", "flag"):
        found[name] = str(row[name]), share(name, lambda x, name=name: x == row[name])
    side = "above" if row["above"] > 0 else "not above"
    found["above"] = f"{row['above']:.10g} ({side} 0)", share("above", lambda x: (x > 0) == (row["above"] > 0))
    for name, part in (("month", lambda t: t.month), ("weekday", lambda t: t.isoweekday()), ("hour", lambda t: t.hour)):
        mine = part(row["day"])
        found[f"day.{name}"] = str(mine), share("day", lambda t, part=part, mine=mine: part(t) == mine)
    for name in ("bell", "height", "weight"):
        found[name] = f"{row[name]:.10g}", means(name)
    for name in ("cut", "holes"):
        if row[name] is not None:
            at = decided[name].edges
            mine = int(bins_of(at, row[name]))
            inside = share(name, lambda x, at=at, mine=mine: bins_of(at, x) == mine)
            found[name] = f"{row[name]:.10g} ({naively.families.columns.bins.bin_range(at, mine)})", inside
    events = np.array(table["events"])
    found["events"] = str(row["events"]), [f"{events[k == Y].sum()} in {(k == Y).sum()} rows" for k in (0, 1)]
    both = np.array([table["a"], table["b"]])
    for j, name in enumerate("ab"):
        if row[name]:
            found[name] = str(row[name]), [f"{both[j, k == Y].sum()} of {both[:, k == Y].sum()}" for k in (0, 1)]
    words = [" ".join(np.array(table["note"])[k == Y]).split() for k in (0, 1)]
    for word in set(row["note"].split()):
        found[f"note: {word}"] = "", [f"{each.count(word)} of {len(each)}" for each in words]
    return found


@pytest.mark.parametrize("at", [0, 1, 2, 7])
def test_an_explanation_prints_the_value_its_bin_the_counts_and_the_factor_of_every_kind_of_column(
    model, saved, capsys, at
):
    row = TABLE.slice(at, 1)
    pq.write_table(row, "row.parquet")
    expected = expected_factors(model, row.to_pylist()[0])
    document = json.loads(printed(capsys, "explain", "model.nb", "--data", "row.parquet", "--json"))
    order = document["compared"]["classes"]
    lines = {line["factor"]: line for line in document["compared"]["lines"]}
    told = model.explain(row)
    assert set(lines) == {"prior", "curve", *expected}
    for (name, (value, counts)), k in itertools.product(expected.items(), (0, 1)):
        assert lines[name]["value"] == value
        assert lines[name]["counts"][order.index(k)].replace(",", "") == counts[k].replace(",", ""), name
        assert lines[name]["shares"][order.index(k)] == told.shares[told.features.index(name), k]
        assert not value or f"\n{name} = {value} " in str(told)
    assert set(document["ignored"]) == IGNORED

    for top in ("3", "100"):
        out = printed(capsys, "explain", "model.nb", "--data", "row.parquet", "--top", top)
        cells = lines_of(out)
        ends = list(cells).index("sum")
        parts = list(cells.values())[1:ends]
        for column in (-1, -2):
            values = [float(line[column]) for line in parts]
            assert sum(values) == pytest.approx(float(cells["sum"][column]), abs=1e-4 * len(values))
        assert re.search(rf"^ignored, .*: {', '.join(told.ignored)}$", out, re.MULTILINE)
    for name, (value, counts) in expected.items():
        shown = next(line for line in out.splitlines() if line.startswith(f"{name}  "))
        assert value in shown
        assert all(count in shown.replace(",", "") for count in (c.replace(",", "") for c in counts))


def test_an_explanation_never_prints_a_mean_of_what_is_no_gaussian(model, saved, capsys):
    out = printed(capsys, "explain", "model.nb", "--row", as_argument(TABLE.slice(1, 1)), "--top", "100")
    means = {name for name, line in lines_of(out).items() if "mean" in " ".join(line)}
    assert means == {"bell", "height", "weight"}
    spoken = printed(capsys, "show", "model.nb", "--top", "1000")
    assert set(re.findall(r"(\w+) (?:high|low) \(mean", spoken)) == {"bell", "height", "weight"}


@pytest.mark.parametrize("calibrate", [True, False, "per class", "isotonic"])
def test_an_explanation_is_that_of_the_model_that_predicts(calibrate):
    model = NaiveBayes(columns=RULES, calibrate=calibrate).fit(TABLE, Y)
    for at in range(5):
        row = TABLE.slice(at, 1)
        told = model.explain(row)
        np.testing.assert_allclose(told.probability, model.predict_proba(row)[0])
        np.testing.assert_allclose(told.prior + told.shares.sum(axis=0) + told.rest, told.score)
        np.testing.assert_allclose(told.rest, 0, atol=1e-9)
        lines = dict(told.after("score"))
        constant = lines.pop("constant", 0.0)
        last = next(iter(lines.values()), told.score) + constant
        chance = np.exp(last - last.max())
        np.testing.assert_allclose(chance / chance.sum(), told.probability)


@pytest.mark.parametrize(("family", "weighting"), [("complement", "counts"), ("multinomial", "tfidf")])
def test_counts_of_words_are_those_that_the_family_computes_with(family, weighting, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    texts = ["good good film", "good plot", "bad film", "bad bad plot"]
    clf = TextClassifier(family=family, weighting=weighting, ngrams=(1, 1), alpha=1.0, calibrate=False)
    clf.fit(texts, ["up", "up", "down", "down"]).save("m.nb")
    cells = lines_of(printed(capsys, "explain", "m.nb", "good"))
    if family == "complement":
        assert cells["good"][1:] == ["elsewhere 0 of 5", cells["good"][2], "elsewhere 3 of 5", *cells["good"][4:]]
        assert cells["prior"][1:] == ["0.0000", "0.0000", "0.0000"]  # it has no say, so no counts are told
    else:
        weight, total = (float(part) for part in cells["good"][1].split(" of "))
        odds = math.log((weight + 1) / (total + 4)) - float(cells["good"][2])
        assert odds == pytest.approx(0, abs=0.1)


# show


def test_show_lists_bins_with_their_ranges_and_counts(model, saved, capsys):
    out = printed(capsys, "show", "model.nb", "1", "--top", "1000")
    column = next(c for c in model.table_.blocks["numbers"].columns if c.name == "cut")
    counts = column.counts.astype(int)
    shown = [line for line in out.splitlines() if line.startswith("cut ")]
    assert shown
    titles = {
        f"cut {naively.families.columns.bins.bin_range(column.edges, k)} ({counts[k, 1]} of {counts[:, 1].sum()})"
        for k in range(len(counts))
    }
    assert {re.split(r"  +", line)[0] for line in shown} < titles
    table = TABLE.to_pydict()
    rome = sum(c == "Rome" and y == 1 for c, y in zip(table["city"], Y.tolist(), strict=True))
    assert f"city = Rome ({rome} of {(Y == 1).sum()})" in out
    assert re.search(r"note: gold \(\d+ of \d+\)", out)
    assert re.search(rf"events high \({np.array(table['events'])[Y == 1].sum()} in 120 rows\)", out)
    assert re.search(r"curve \S+ (or more|to \S+) \(", out)


@pytest.mark.parametrize("numbers", [[-5.0, -5.004, -4.999, 0.0, 7.0], [1e-300, -1e300, 2.5, 10.4765, 1e6]])
def test_a_printed_range_holds_the_numbers_of_its_bin(numbers):
    x = np.array(numbers)
    at = np.unique(x)
    bins = np.searchsorted(at, x, side="right")
    for value, code in zip(x, bins.tolist(), strict=True):
        ends = [
            float(end)
            for end in re.findall(r"-?[\d.]+(?:e[+-]\d+)?", naively.families.columns.bins.bin_range(at, code))
        ]
        assert ends[0] <= value + 1e-5 * abs(value)
        assert len(ends) == 1 or value < ends[1] + 1e-5 * abs(ends[1])


# numbers of parameters


@pytest.mark.parametrize("rules", [{"events": Poisson()}, {**RULES, "day": None}])
def test_a_table_with_numbers_of_events_has_endlessly_many_joint_parameters(rules):
    model = NaiveBayes(columns=rules).fit(TABLE, Y)
    assert model.n_parameters_joint_ == math.inf
    assert model.n_parameters_ < 10_000
    assert "n_parameters_joint_" in dir(model)
    assert "NaiveBayes" in model._repr_html_()


@pytest.mark.parametrize("kind", [naively.BernoulliNB, naively.MultinomialNB, naively.ComplementNB, TextClassifier])
def test_a_model_of_many_features_can_be_printed(kind):
    features = 15_000
    if kind is TextClassifier:
        model = kind(ngrams=(1, 1)).fit([" ".join(f"w{i}" for i in range(features)), "other"], ["a", "b"])
    else:
        model = kind().fit(np.eye(2, features, dtype=int), ["a", "b"])
    assert model.n_parameters_joint_ > 2**features
    assert re.fullmatch(r"about 10\^45\d\d", str(model.n_parameters_joint_))
    assert "n_parameters_joint_" in dir(model)
    assert kind.__name__ in model._repr_html_()


# the demo


def test_the_demo_shows_figures_and_explanations_of_the_model_that_is_used_by_default(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    naively.demo.text()
    shown = capsys.readouterr().out
    texts, labels = film_reviews()
    train, test, y_train, y_test = train_test_split(texts, labels, test_size=0.25, random_state=0, stratify=labels)
    clf = TextClassifier().fit(train, y_train)
    right = clf.score(test, y_test)
    rows = [re.split(r"  +", line) for line in shown.splitlines() if line.endswith(" ms")]
    assert rows[-1][:2] == ["left to itself", clf.chosen_.family]
    assert rows[-1][2].startswith(f"{right:.2f} ± ")
    above = [float(row[2].split()[0]) for row in rows[:-1]]
    better = f"against {right:.0%}" in shown
    assert better == (max(above) > float(f"{right:.2f}"))
    told = re.findall(r"'(I am [^']*)' is (\w+) \((\d+%)\):\n +(.*)", shown)
    assert len(told) == 2
    for sentence, label, sure, reasons in told:
        assert label == clf.predict([sentence])[0]
        assert sure == f"{clf.predict_proba([sentence]).max():.0%}"
        assert reasons.strip() == ", ".join(f"{word} {odds:+.2f}" for word, odds in clf.explain(sentence).top(6))
