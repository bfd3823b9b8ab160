"""Labels, categories and weights: different names stay different, chosen ones cost no more, no row is lost."""

from __future__ import annotations

import copy
import enum
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import naively
from naively import _core
from naively.errors import InputError, NegativeCount
from naively.names import Index

PRIME = 2**61 - 1  # Python's hash of a number is the number modulo this
BEYOND = 2**53


class Fruit(enum.Enum):
    APPLE = 1
    PEAR = 2


class Colour(str, enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


def rows_of(name: str, many: int) -> Any:
    """Rows that an estimator of this name reads, each different from the one before it."""
    if name == "TextClassifier":
        return [f"word{i % 3} and more" for i in range(many)]
    if name == "NaiveBayes":
        return pd.DataFrame({"colour": [f"c{i % 3}" for i in range(many)], "length": np.arange(many) % 7})
    if name == "CategoricalNB":
        return np.array([[f"c{i % 3}", "x"] for i in range(many)], object)
    return np.arange(2 * many).reshape(many, 2) % 5


MODELS: dict[str, Callable[[], Any]] = {
    "MultinomialNB": naively.MultinomialNB,
    "BernoulliNB": naively.BernoulliNB,
    "PoissonNB": naively.PoissonNB,
    "GaussianNB": naively.GaussianNB,
    "GaussianClassifier": lambda: naively.GaussianClassifier(covariance="tied"),
    "CategoricalNB": naively.CategoricalNB,
    "TextClassifier": lambda: naively.TextClassifier(
        family="multinomial", weighting="counts", ngrams=(1, 1), alpha=1.0
    ),
    "NaiveBayes": lambda: naively.NaiveBayes(calibrate=False),
}
every_model = pytest.mark.parametrize("name", MODELS)


def taken(work: Callable[[], Any]) -> float:
    """Seconds of processor time, the least of three."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


# --- labels that differ stay different


@every_model
@pytest.mark.parametrize(
    "labels",
    [
        ["a\0", "a"],
        ("a\0", "a", "a\0\0"),
        [BEYOND, BEYOND + 1],
        [2**63 + 1, 2**63 + 2, -5],
        [2**70, 2**70 + 1],
        pd.Series([BEYOND, BEYOND + 1], dtype="Int64"),
        pd.Series([2**63 + 1, 2**63 + 2], dtype="UInt64"),
        pl.Series(["a\0", "a"]),
        [Colour.RED, Colour.BLUE],
        np.array([Size.SMALL, Size.LARGE], object),
        [b"a\0", b"a"],
    ],
    ids=lambda labels: type(labels).__name__ + repr(list(labels)),
)
def test_different_labels_are_different_classes(name: str, labels: Any, tmp_path: Path) -> None:
    wanted = sorted(labels)
    X, model = rows_of(name, len(labels)), MODELS[name]()
    assert model.fit(X, labels).classes_.tolist() == wanted
    assert model.class_count_.tolist() == [1.0] * len(wanted)
    assert MODELS[name]().partial_fit(X, labels, classes=labels).classes_.tolist() == wanted
    assert naively.evaluate(model, X, labels).support.tolist() == [1.0] * len(wanted)
    if not isinstance(wanted[0], bytes):  # which no file keeps
        model.save(tmp_path / "labels.nb")
        loaded = naively.load(tmp_path / "labels.nb")
        assert loaded.classes_.tolist() == wanted
        assert loaded.partial_fit(X, labels).class_count_.tolist() == [2.0] * len(wanted)
    wanted.remove(labels[0])
    assert model.forget(X[:1], labels[:1]).classes_.tolist() == wanted


@every_model
@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, "1"], r"label of row 1 is '1' \(str\), while others are int, such as 1"),
        (np.array(["1", 1], object), r"label of row 1 is 1 \(int\), while others are str"),
        ([b"a", "a"], r"label of row 1 is 'a' \(str\), while others are bytes"),
        ([Fruit.APPLE, Fruit.PEAR], r"label of row 0 is <Fruit.APPLE: 1> .* pass its name or value"),
        ([[1], [1, 2]], r"label of row 0 is a list"),
        ([{}, {}], r"label of row 0 is \{\} \(dict\)"),
    ],
)
def test_labels_that_cannot_be_classes_are_refused_with_their_row(name: str, labels: Any, message: str) -> None:
    model = MODELS[name]()
    with pytest.raises(InputError, match=message):
        model.fit(rows_of(name, 2), labels)
    with pytest.raises(InputError, match=message):
        MODELS[name]().partial_fit(rows_of(name, 2), [1, 2], classes=labels)


@every_model
def test_numbers_and_text_do_not_become_one_class_later(name: str) -> None:
    X = rows_of(name, 2)
    model, other = MODELS[name]().fit(X, [1, 2]), MODELS[name]().fit(X, ["1", "2"])
    with pytest.raises(InputError, match=r"label of row 0 is '1' \(str\), while others are int"):
        model.partial_fit(X, ["1", "2"])
    with pytest.raises(ValueError, match=r"label of row 0|never counted"):
        model.forget(X, ["1", "2"])
    with pytest.raises(InputError, match="all text or all numbers"):
        naively.merge(model, other)
    exact = MODELS[name]().fit(X, np.array([BEYOND + 1, BEYOND + 3]))
    assert naively.merge(exact, MODELS[name]().fit(X, [float(BEYOND), float(BEYOND + 4)])).classes_.tolist() == [
        BEYOND,
        BEYOND + 1,
        BEYOND + 3,
        BEYOND + 4,
    ]


def test_a_label_that_is_missing_in_a_list_of_text_is_no_class() -> None:
    with pytest.warns(naively.DataWarning, match="1 of 2 rows have no label"):
        model = naively.MultinomialNB().fit([[1], [2]], ["a", float("nan")])
    assert (model.classes_.tolist(), model.tally_.rows.tolist()) == (["a"], [1])


@pytest.mark.parametrize("name", ["MultinomialNB", "NaiveBayes", "TextClassifier"])
@pytest.mark.parametrize("loaded", [True, False])
def test_a_decimal_that_signals_is_no_label(name: str, loaded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pandas is asked what is missing where it is loaded, and raises as Python does."""
    y = np.array([Decimal(1), Decimal("sNaN")], object)
    if not loaded:
        monkeypatch.delitem(sys.modules, "pandas")
    with pytest.raises(InputError, match=r"label of row 1 is Decimal\('sNaN'\)"):
        MODELS[name]().fit([["x"], ["y"]] if name == "NaiveBayes" else rows_of(name, 2), y)


def test_labels_are_refused_with_their_row_among_all() -> None:
    table, text = {"x": [1.0, 2.0, 3.0, 4.0]}, MODELS["TextClassifier"]().fit(["x", "y"], ["a", "b"])
    with pytest.raises(InputError, match="label of row 3 is 1"):
        naively.NaiveBayes().fit(table, [None, "a", None, 1])
    numbers = naively.NaiveBayes().fit(table, [1, 2, 1, 2])
    with pytest.warns(naively.DataWarning, match="no label"), pytest.raises(InputError, match="label of row 3 is 'a'"):
        numbers.partial_fit(table, [None, "a", None, "a"], sample_weight=[1, 0, 1, 1])
    with pytest.raises(InputError, match="label of row 3 is 1"):
        text.partial_fit(["x", None, "y", "z"], np.array(["a", "b", 2, 1], object), sample_weight=[1, 1, 0, 1])


# --- chosen labels and categories cost no more than others


def _unmixed(h: int) -> int:
    """The number whose hash once was this one."""
    inverse = pow(0xD6E8FEB86659FD93, -1, 1 << 64)
    for _ in range(2):
        h = (h ^ h >> 32) * inverse % 2**64
    return h ^ h >> 32


def test_integers_chosen_to_collide_are_encoded_as_fast_as_others() -> None:
    chosen = np.array([_unmixed(k << 40) ^ 8 for k in range(20_000)], np.uint64)
    others = np.random.default_rng(0).integers(0, 2**63, 20_000).astype(np.uint64)

    def encode(values: Any) -> Any:
        return _core.encode(values.view(np.uint8).reshape(len(values), 8))

    codes, firsts = encode(chosen)
    np.testing.assert_array_equal(codes, np.arange(20_000))
    np.testing.assert_array_equal(firsts, codes)
    assert taken(lambda: encode(chosen)) < 100 * taken(lambda: encode(others))  # 1,400 times as long without a key


class Chosen(int):
    """A whole number with the same hash as all others here, which counts how often two of them are compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Chosen.compared += 1
        return int(self) == other

    __hash__ = int.__hash__


@pytest.mark.parametrize("name", ["MultinomialNB", "NaiveBayes", "TextClassifier"])
def test_whole_numbers_of_one_hash_are_hardly_ever_compared(name: str, tmp_path: Path) -> None:
    """Python hashes them all alike, and would compare each with all before it: 500,000 comparisons."""
    chosen = [Chosen(k * PRIME) for k in range(1, 1001)]
    assert len(set(map(hash, chosen))) == 1
    X = rows_of(name, len(chosen))
    prior = naively.Given(dict(zip(chosen, np.full(len(chosen), 1 / len(chosen)), strict=True)))
    Chosen.compared = 0
    learnt = MODELS[name]().fit(X, chosen).partial_fit(X, chosen)
    declared = MODELS[name]().partial_fit(X[:2], chosen[:2], classes=chosen)
    merged = naively.merge(learnt, declared).forget(X, chosen).forget(X, chosen)
    declared.save(tmp_path / "model.nb")
    loaded = naively.load(tmp_path / "model.nb").forget(X[:1], chosen[:1])
    assert prior.log(Index.of(np.array(chosen, object)), np.zeros(len(chosen))).shape == (len(chosen),)
    assert Chosen.compared < 20 * len(chosen)
    assert learnt.class_count_.tolist() == [2.0] * len(chosen)
    assert merged.class_count_.sum() == 2
    assert len(merged.classes_) == len(loaded.classes_) == len(chosen)


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many names each look into an index was about."""
    keys, many = Index._keys, []

    def counted(self: Index, names: list[Any]) -> list[Any]:
        many.append(len(names))
        return keys(self, names)

    monkeypatch.setattr(Index, "_keys", counted)
    return many


@pytest.mark.parametrize(
    ("name", "new"),
    [(name, "label") for name in ("MultinomialNB", "CategoricalNB", "NaiveBayes", "TextClassifier")]
    + [("CategoricalNB", "category"), ("NaiveBayes", "category")],
)
def test_a_new_label_or_category_in_each_call_does_not_cost_as_much_as_all_before(
    name: str, new: str, looked_up: list[int]
) -> None:
    """About 10 names in each call, and 150 if all before were looked up once."""
    model = MODELS[name]()
    for i in range(300):
        X = rows_of(name, 1)
        if new == "category":
            X = (
                pd.DataFrame({"colour": [f"new {i}"]})
                if name == "NaiveBayes"
                else np.array([[f"new {i}", "x"]], object)
            )
        label = f"new {i}" if new == "label" else "ab"[i % 2]
        model.partial_fit(X, [label], classes=[label] if i == 0 else None)
    assert sum(looked_up) < 40 * 300
    assert model.class_count_.sum() == 300


def run_apart(code: str, *arguments: str) -> str:
    """Run code in a new Python process and return its output."""
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


MANY_CLASSES = """
import resource, sys
import naively
many = int(sys.argv[2])
labels = [f"label {i}" for i in range(many)]
if sys.argv[1] == "NaiveBayes":
    rows = {"length": [i % 97 / 2 for i in range(many)], "colour": [f"colour {i % 50}" for i in range(many)]}
    two = {name: values[:2] for name, values in rows.items()}
else:
    rows = [f"word{i % 1000} word{i}" for i in range(many)]
    two = rows[:2]
model = getattr(naively, sys.argv[1])().fit(rows, labels)
chance = model.predict_proba(two)
assert chance.shape == (2, many) and abs(chance.sum(axis=1) - 1).max() < 1e-6
decided = len(model.predict(two))
if sys.platform == "linux":  # where ru_maxrss is at least that of the process that started this one
    with open("/proc/self/status") as status:
        kilobytes = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
else:
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1 << 10 if sys.platform == "darwin" else 1)
print(decided, kilobytes // 1024)
"""


@pytest.mark.parametrize("name", ["NaiveBayes", "TextClassifier"])
def test_a_hundred_thousand_classes_are_learnt_and_scored_in_bounded_memory(name: str) -> None:
    """The scores of each row by each class alone would take 80 GB."""
    rows, megabytes = map(int, run_apart(MANY_CLASSES, name, "100000").split())
    assert rows == 2
    assert megabytes < 2000


def test_a_new_name_does_not_cost_as_much_as_all_before_it(looked_up: list[int]) -> None:
    def grown(many: int) -> Index:
        index = Index.of(["name 0"])
        for i in range(1, many):
            index = index.extended([f"name {i}"])
        return index

    assert grown(100).names.tolist() == [f"name {i}" for i in range(100)]  # type: ignore[union-attr]
    looked_up.clear()
    grown(1000)
    assert sum(looked_up) < 10 * 1000


def test_an_index_does_not_know_the_names_of_those_that_grew_from_it() -> None:
    index = Index.of(["a", "b"])
    assert index.locate(["b", "c"]).tolist() == [1, -1]
    lookup = index.lookup
    one, other = index.extended(["c", "b", "c"]), index.extended(["d"])
    assert one.lookup is lookup
    assert [i.locate(["a", "c", "d"]).tolist() for i in (index, one, other)] == [[0, -1, -1], [0, 2, -1], [0, -1, 2]]
    index.__dict__["lookup"] = lookup  # as a thread would see it that was about to read it
    assert index.locate(["c"]).tolist() == [-1]


# --- several threads


@pytest.fixture
def restless() -> Any:
    """Threads that take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@every_model
def test_no_row_is_lost_when_several_threads_learn(name: str, restless: None) -> None:
    X, model = rows_of(name, 100), MODELS[name]()
    model.fit(X, ["a", "b"] * 50)

    def learn(thread: int) -> None:
        for i in range(20):
            model.partial_fit(X[i : i + 1], [f"class {thread}"])
            model.predict(X[:1])
            with pytest.raises(ValueError, match="inconsistent"):  # which undoes nothing that another thread has done
                model.partial_fit(X[:2], ["a"])
            if i % 5 == 4:
                model.forget(X[i : i + 1], [f"class {thread}"])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(learn, range(4)))
    counts = dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True))
    assert counts == {"a": 50.0, "b": 50.0, **{f"class {thread}": 16.0 for thread in range(4)}}


def test_a_recalibration_does_not_undo_what_was_learnt_meanwhile(restless: None) -> None:
    X, y = rows_of("TextClassifier", 100), ["a", "b"] * 50
    model = MODELS["TextClassifier"]().fit(X, y)
    with ThreadPoolExecutor(2) as pool:
        work = pool.submit(lambda: [model.recalibrate(X, y) for _ in range(20)])
        for _ in range(40):
            model.partial_fit(X[:1], ["a"])
        work.result()
    assert model.class_count_.tolist() == [90.0, 50.0]


@pytest.mark.parametrize("make", [*MODELS.values()])
def test_a_model_that_has_learnt_is_copied_and_pickled(make: Callable[[], Any]) -> None:
    name = make().__class__.__name__
    X = rows_of(name, 6)
    model = make().fit(X, ["a", "b"] * 3)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        assert other.tally_ == model.tally_
        other.partial_fit(X, ["a", "b"] * 3)
        assert (other.class_count_.sum(), model.class_count_.sum()) == (12, 6)
    if hasattr(model, "get_params"):
        assert not hasattr(clone(model), "classes_")


# --- forgetting what was never seen


@pytest.mark.parametrize("many", [4, 400])
@pytest.mark.parametrize("name", ["CategoricalNB", "NaiveBayes"])
def test_forgetting_a_category_never_seen_is_refused(name: str, many: int) -> None:
    """The larger model keeps its counts in several parts."""
    X = pd.DataFrame({"colour": [f"c{i // 2}" for i in range(many)], "shape": "round"})
    model = MODELS[name]().fit(X, ["a", "b"] * (many // 2))
    before = model.tally_
    with pytest.raises(NegativeCount, match="column 'colour', category 'new' in class 'a'; nothing was changed"):
        model.forget(pd.DataFrame({"colour": ["new"], "shape": ["round"]}), ["a"])
    assert model.tally_ == before


# --- rows of weight 0


def some(rows: Any, places: list[int]) -> Any:
    if isinstance(rows, pd.DataFrame):
        return rows.iloc[places]
    return [rows[i] for i in places] if isinstance(rows, list) else rows[places]


@every_model
def test_a_row_of_weight_zero_adds_nothing_not_even_a_name(name: str) -> None:
    y, weight = np.array(["a", "b", "a", "ghost", "b", "a"]), np.array([1, 2, 1, 0, 1, 1])
    counted = [0, 1, 2, 4, 5]
    X, make = rows_of(name, 6), MODELS[name]
    if name in ("TextClassifier", "CategoricalNB"):
        X[3] = "unheard of"
    elif name == "NaiveBayes":
        X["colour"] = X["colour"].where(X.index != 3, "unheard of")
        X["note"] = ["fine words here", "dull words here", "more", "unheard of", "less", "all of it"]
        make = lambda: naively.NaiveBayes(columns={"note": naively.Text(), "length": naively.Number()})  # noqa: E731
    with_it = make().fit(X, y, sample_weight=weight)
    without = make().fit(some(X, counted), y[counted], sample_weight=weight[counted])
    grown = make().fit(X[:2], y[:2], sample_weight=weight[:2])
    grown.partial_fit(X[2:], y[2:], sample_weight=weight[2:])
    for model in (with_it, grown):
        assert model.classes_.tolist() == ["a", "b"]
        assert model.tally_ == without.tally_
        assert repr(model.tally_) == repr(without.tally_)
        np.testing.assert_allclose(model.predict_proba(X), without.predict_proba(X), rtol=1e-12)
    with_it.forget(some(X, [3, 5]), y[[3, 5]], sample_weight=[0, 1])
    assert with_it.classes_.tolist() == ["a", "b"]
    assert with_it.tally_ == without.forget(some(X, [5]), y[[5]]).tally_
    named = make().partial_fit(X, y, classes=["a", "b", "ghost"], sample_weight=weight)
    assert named.classes_.tolist() == ["a", "b", "ghost"]
    assert named.class_count_.tolist() == [3.0, 3.0, 0.0]
    assert len(naively.leave_one_out(make(), X, y, sample_weight=weight).truth) == len(y)


def test_codes_in_rows_of_weight_zero_make_no_room_for_categories() -> None:
    model = naively.CategoricalNB().fit([[0], [1], [7]], [0, 1, 1], sample_weight=[1, 1, 0])
    assert model.n_categories_.tolist() == [2]


def test_a_category_beside_a_row_of_weight_zero_is_counted_as_itself() -> None:
    """In a small batch, whose counts are kept apart from those before it."""
    X = [[f"c{i % 40}"] for i in range(400)]
    for name in ("CategoricalNB", "NaiveBayes"):
        model = MODELS[name]().fit(pd.DataFrame(X, columns=["c"]), ["a", "b"] * 200)
        table = pd.DataFrame({"c": ["c39", "ghost"]})
        model.partial_fit(table, ["a", "a"], sample_weight=[5, 0])
        whole = MODELS[name]().fit(pd.DataFrame([*X, *[["c39"]] * 5], columns=["c"]), [*["a", "b"] * 200, *"aaaaa"])
        np.testing.assert_allclose(model.predict_proba(table[:1]), whole.predict_proba(table[:1]), rtol=1e-12)


@pytest.mark.parametrize("name", ["MultinomialNB", "CategoricalNB", "NaiveBayes"])
def test_an_error_names_the_row_as_it_stands_beside_rows_of_weight_zero(name: str) -> None:
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, np.inf]})
    model = naively.NaiveBayes(columns={"x": naively.Gaussian()}) if name == "NaiveBayes" else MODELS[name]()
    with pytest.raises(InputError, match="row 3, column 'x'"):
        model.fit(X, ["a", "a", "b", "b"], sample_weight=[1, 0, 1, 1])


# --- numbers beyond what float64 holds


@pytest.mark.parametrize("covariance", ["tied", "full"])
def test_classes_too_far_apart_for_their_covariance_are_refused_at_once(covariance: str) -> None:
    X, y = np.array([[1e150, 1.0], [1e150, 2.0], [1e-150, 1.0], [2e-150, 3.0]]), ["a", "a", "b", "b"]
    model = naively.GaussianClassifier(covariance=covariance, var_smoothing=0)
    with pytest.raises(InputError, match=r"column 0 has means that lie 1e\+150 apart.*set var_smoothing above 0"):
        model.fit(X, y)
    model.fit(X[:2], y[:2])
    with pytest.raises(InputError, match="column 0 has means"):
        model.partial_fit(X[2:], y[2:])
    assert model.classes_.tolist() == ["a"]
    model.set_params(var_smoothing=1e-9).partial_fit(X[2:], y[2:])
    assert np.isfinite(model.explain(X[:1]).shares).all()
    assert model.predict(X).tolist() == y


@pytest.mark.parametrize(
    ("rows", "error", "numbers"),
    [
        ([["x"], ["y"], [3]], naively.InputError, "codes"),
        ([["x"], ["y"], [(1,)]], TypeError, "codes"),
        ([[1.0], [2.0], [np.inf]], naively.InputError, "names"),
    ],
)
def test_an_entry_that_is_no_category_is_named_by_its_row_among_all(rows: Any, error: Any, numbers: str) -> None:
    X = np.empty((3, 1), object)
    X[:, 0] = [row[0] for row in rows]
    with pytest.raises(error, match="row 2, column 0"):
        naively.CategoricalNB(numbers=numbers).fit(X, ["a", "b", "a"], sample_weight=[0, 1, 1])
