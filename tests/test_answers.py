"""Answers that must be right whatever a caller does with arrays, masks, precision and names."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils import get_tags

import naively

X = np.array([[1, 2, 0], [3, 0, 1], [0, 1, 4], [2, 2, 2], [1, 0, 3], [4, 1, 0]])
Y = np.array(["a", "b", "a", "b", "a", "a"])
TEXTS = ["fine old film", "dull film", "fine cast", "dull old plot", "a fine plot", "fine"]
TABLE = {"n": [1.0, 2.5, 0.5, 4.0, 3.0, 1.5], "c": ["u", "v", "u", "v", "u", "u"]}
CLASSIFIERS: list[Any] = [
    naively.BernoulliNB, naively.CategoricalNB, naively.ComplementNB, naively.GaussianClassifier, naively.GaussianNB,
    naively.MultinomialNB, naively.NaiveBayes, naively.PoissonNB, naively.TextClassifier,
]  # fmt: skip
NUMBERS = [kind for kind in CLASSIFIERS if kind is not naively.TextClassifier]
DROP_INS = [kind for kind in NUMBERS if kind is not naively.NaiveBayes]
ESTIMATORS = [*CLASSIFIERS, naively.CountVectorizer, naively.HashingVectorizer, naively.TfidfVectorizer]
PLAIN_TEXT = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 1.0, "calibrate": False}


def name_of(value: Any) -> str:
    """The id of a parameter: names of classes and parameters; sets have no order to be printed in."""
    return value if isinstance(value, str) else getattr(value, "__name__", type(value).__name__)


def rows_for(kind: Any) -> Any:
    return TEXTS if kind is naively.TextClassifier else TABLE if kind is naively.NaiveBayes else X


# --- the caller's arrays

P = [0.2, 0.8]
WIRED: list[tuple[Any, str, Any, Any, dict[str, Any]]] = [
    *((kind, "class_prior", np.array(P), [0.5, 9.0], {}) for kind in CLASSIFIERS if kind.__name__ in (
        "BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB", "PoissonNB")),
    *((kind, "alpha", np.array([0.5, 1.0, 2.0]), [-1.0, 0.0, 7.0], {}) for kind in CLASSIFIERS if kind.__name__ in (
        "BernoulliNB", "ComplementNB", "MultinomialNB", "PoissonNB")),
    (naively.MultinomialNB, "alpha", [0.5, 1.0, 2.0], [7.0, 7.0, 7.0], {}),
    (naively.MultinomialNB, "class_prior", list(P), [0.5, 0.5], {}),
    (naively.MultinomialNB, "class_prior", pd.Series(P, index=["a", "b"]), [0.5, 0.5], {}),
    (naively.GaussianNB, "priors", np.array(P), [0.5, 0.5], {}),
    (naively.GaussianNB, "priors", {"a": 0.2, "b": 0.8}, {"a": 0.5, "b": 0.5}, {}),
    (naively.GaussianClassifier, "priors", np.array(P), [3.0, 4.0], {}),
    (naively.CategoricalNB, "min_categories", np.array([6, 6, 6]), [9, 9, 9], {}),
    (naively.NaiveBayes, "prior", np.array(P), [0.5, 0.5], {"calibrate": False}),
    (naively.NaiveBayes, "columns", {"n": naively.Gaussian()}, {"c": None}, {"calibrate": False}),
    (naively.TextClassifier, "prior", np.array(P), [0.5, 0.5], PLAIN_TEXT),
    (naively.TextClassifier, "stop_words", ["old"], ["fine"], PLAIN_TEXT),
    (naively.TextClassifier, "vocabulary", ["old", "fine", "dull"], ["a", "cast", "plot"], PLAIN_TEXT),
    (naively.TextClassifier, "vocabulary", {"old", "fine"}, {"plot"}, PLAIN_TEXT),
    (naively.TextClassifier, "ngrams", [1, 1], [1, 2], {**PLAIN_TEXT, "alpha": 1.0}),
]  # fmt: skip


def overwrite(mine: Any, values: Any) -> None:
    if isinstance(mine, (dict, set)):
        mine.clear()
        mine.update(values)
    elif isinstance(mine, pd.Series):
        mine.iloc[:] = values
    else:
        mine[:] = values


def answers(model: Any, rows: Any) -> list[Any]:
    one = rows[:1] if not isinstance(rows, dict) else {name: values[:1] for name, values in rows.items()}
    shares = model.explain(one).score
    return [model.predict_proba(rows), model.predict(rows), model.table_.classes.names, shares]


def assert_same(left: list[Any], right: list[Any]) -> None:
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("kind", "name", "value", "others", "options"), WIRED, ids=name_of)
def test_a_model_keeps_its_own_copy_of_a_callers_array(
    tmp_path: Path, kind: Any, name: str, value: Any, others: Any, options: dict[str, Any]
) -> None:
    rows, mine = rows_for(kind), copy.deepcopy(value)
    model = kind(**{**options, name: mine})
    assert getattr(model, name) is mine
    overwrite(mine, value)  # before fitting, the caller's array counts
    model.fit(rows, Y)
    before = answers(model, rows)
    again = answers(kind(**{**options, name: copy.deepcopy(value)}).fit(rows, Y), rows)
    assert_same(before, again)
    overwrite(mine, others)
    assert getattr(model, name) is mine
    assert model.get_params(deep=False)[name] is mine
    assert_same(before, answers(model, rows))
    assert_same(before, answers(pickle.loads(pickle.dumps(model)), rows))
    assert_same(before, answers(copy.deepcopy(model), rows))
    if not isinstance(mine, pd.Series):  # which no model file holds
        model.save(tmp_path / "model.nb")
        assert_same(before, answers(naively.load(tmp_path / "model.nb"), rows))
    assert_same(before, answers(naively.merge(model), rows))
    some = rows if not isinstance(rows, dict) else dict(rows)
    model.partial_fit(some, Y).forget(some, Y)
    np.testing.assert_allclose(model.predict_proba(rows), before[0], rtol=1e-9)
    assert getattr(clone(model), name) is not mine


def test_a_parameter_that_is_assigned_anew_is_copied_anew() -> None:
    mine = np.array(P)
    model = naively.GaussianNB(priors=mine).fit(X, Y)
    mine[:] = [0.6, 0.4]
    np.testing.assert_array_equal(model.class_prior_, P)
    for assign in (lambda: model.set_params(priors=mine), lambda: setattr(model, "priors", mine)):
        mine[:] = mine[::-1].copy()
        now = mine.tolist()
        assign()
        mine[:] = [7.0, -1.0]
        np.testing.assert_array_equal(model.class_prior_, now)
        mine[:] = now
    mine[:] = [0.1, 0.9]
    np.testing.assert_array_equal(model.fit(X, Y).class_prior_, [0.1, 0.9])
    mine[:] = P
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, Y[:2])
    np.testing.assert_array_equal(model.class_prior_, [0.1, 0.9])
    np.testing.assert_array_equal(model.set_params(priors=None).class_prior_, [4 / 6, 2 / 6])


def test_refitting_takes_the_present_values_of_the_same_list() -> None:
    mine = list(P)
    model = naively.TextClassifier(**PLAIN_TEXT, prior=mine).fit(TEXTS, Y)
    before = model.predict_proba(["film"])
    mine[:] = [0.5, 0.5]
    np.testing.assert_array_equal(model.predict_proba(["film"]), before)
    expected = naively.TextClassifier(**PLAIN_TEXT, prior=[0.5, 0.5]).fit(TEXTS, Y).predict_proba(["film"])
    np.testing.assert_array_equal(model.refit(prior=mine).predict_proba(["film"]), expected)


def test_a_prior_rule_keeps_its_own_copy() -> None:
    for mine in (np.array(P), list(P), {"a": 0.2, "b": 0.8}):
        rule = naively.Given(mine)
        model = naively.GaussianNB(priors=rule).fit(X, Y)
        overwrite(mine, {"a": 1.0, "b": 0.0} if isinstance(mine, dict) else [1.0, 0.0])
        np.testing.assert_array_equal(model.class_prior_, P)
        assert rule == naively.Given({"a": 0.2, "b": 0.8} if isinstance(mine, dict) else P)


# --- precision


@pytest.mark.parametrize("kind", DROP_INS, ids=name_of)
def test_the_log_probability_of_float32_rows_is_narrowed_once(kind: Any) -> None:
    model = kind().fit(X, Y)
    rows = np.vstack([X * n for n in (1, 2, 3, 5, 8)]).astype(np.float32)
    if kind is naively.CategoricalNB:
        rows = np.minimum(rows, 4)
    exact = model.predict_log_proba(rows.astype(np.float64))
    narrow = model.predict_log_proba(rows)
    assert narrow.dtype == np.float32
    seen = np.exp(exact).astype(np.float32) < 1  # what float32 cannot tell from 1 has the log 0
    np.testing.assert_array_equal(narrow, np.where(seen, exact, 0.0).astype(np.float32))


def test_a_log_probability_near_0_keeps_its_digits_in_float32() -> None:
    model = naively.GaussianNB(priors=[0.5, 0.5], var_smoothing=0.0).fit([[-1.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1])
    row = np.float32([[2 - np.log(1e7 - 1) / 4]])  # the log-odds are 4 (2 - x)
    logs = model.predict_log_proba(row)
    odds = np.exp(4 * (2 - float(row[0, 0])))
    np.testing.assert_allclose(logs[0], [-np.log1p(1 / odds), -np.log1p(odds)], rtol=1e-6)
    assert logs[0, 0] == pytest.approx(-1.0e-7, rel=1e-3)


RULES = [None, naively.Empirical(), naively.Smoothed(0.5), naively.Uniform(), naively.Given([0.1, 0.2, 0.7])]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("kind", [naively.GaussianNB, naively.GaussianClassifier], ids=name_of)
def test_a_class_prior_is_the_quotient_itself_not_the_exponential_of_a_logarithm(kind: Any, rule: Any) -> None:
    values = np.random.default_rng(0).normal(size=(20, 2))
    labels = np.array(["b"] * 7 + ["c"] * 11 + ["a"] * 2)
    counts = np.array([2.0, 7.0, 11.0])
    expected = {
        "Smoothed": (counts + 0.5) / 21.5, "Uniform": np.full(3, 1 / 3), "Given": np.array([0.1, 0.2, 0.7]),
    }.get(type(rule).__name__, counts / 20)  # fmt: skip
    model = kind(priors=rule).fit(values, labels)
    np.testing.assert_array_equal(model.class_prior_, expected)
    stream = kind(priors=rule).partial_fit(values, labels, classes=["a", "b", "c"])
    np.testing.assert_array_equal(stream.class_prior_, expected)
    grown = kind().partial_fit(values[:7], labels[:7], classes=["b"]).partial_fit(values[7:], labels[7:])
    np.testing.assert_array_equal(grown.set_params(priors=rule).class_prior_, expected)
    np.testing.assert_allclose(np.log(model.class_prior_), model.table_.prior, rtol=1e-12)


def test_two_equal_classes_have_a_prior_of_one_half_each() -> None:
    for n in range(1, 60):
        model = naively.GaussianNB().fit(np.arange(2.0 * n)[:, None], [0, 1] * n)
        assert model.class_prior_.tolist() == [0.5, 0.5]


# --- masks

HIDDEN = np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 0]], bool)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, np.int16, np.uint8, np.uint64])
@pytest.mark.parametrize("kind", NUMBERS, ids=name_of)
def test_a_masked_value_is_no_information(kind: Any, dtype: Any) -> None:
    filled = np.where(HIDDEN, 99, X).astype(dtype)
    masked = np.ma.array(filled, mask=HIDDEN)
    holes = np.where(HIDDEN, np.nan, X)
    if np.dtype(dtype).kind == "f" and kind is not naively.NaiveBayes:
        holes = holes.astype(dtype)
    model, plain = kind().fit(masked, Y), kind().fit(holes, Y)
    assert model.tally_ == plain.tally_
    for rows in (masked, list(masked), masked[:, ::-1][:, ::-1]):
        np.testing.assert_array_equal(model.predict_proba(rows), plain.predict_proba(holes))
        np.testing.assert_array_equal(model.predict(rows), plain.predict(holes))
    for row in range(len(X)):
        mine, theirs = model.explain(masked[row : row + 1]), plain.explain(holes[row : row + 1])
        np.testing.assert_array_equal(mine.score, theirs.score)
    model.partial_fit(masked[:3], Y[:3])
    assert model.tally_ == plain.partial_fit(holes[:3], Y[:3]).tally_
    assert model.forget(masked[:3], Y[:3]).tally_ == plain.forget(holes[:3], Y[:3]).tally_
    nothing = np.ma.array(filled, mask=False)
    assert kind().fit(nothing, Y).tally_ == kind().fit(filled, Y).tally_


def test_masked_text_is_a_missing_category_or_text() -> None:
    words = np.array([["red", "round"], ["red", "-"], ["green", "long"]])
    masked = np.ma.array(words, mask=words == "-")
    model = naively.CategoricalNB().fit(masked, ["a", "a", "b"])
    assert [names.tolist() for names in model.categories_] == [["green", "red"], ["long", "round"]]
    plain = naively.CategoricalNB().fit(np.where(words == "-", None, words), ["a", "a", "b"])
    np.testing.assert_array_equal(model.predict_proba(masked), plain.predict_proba(np.where(words == "-", None, words)))
    texts = np.ma.array(["a fine film", "-999", "dull"], mask=[0, 1, 0])
    tally = naively.TextClassifier().fit(texts, ["x", "x", "y"]).tally_
    assert (tally.rows.tolist(), tally.part.rows.tolist()) == ([2, 1], [1, 1])


def test_masked_whole_numbers_beyond_2_to_53_are_refused_not_rounded() -> None:
    wide = np.array([[2**60 + 1, 1], [3, 4]])
    naively.MultinomialNB().fit(np.ma.array(wide, mask=[[1, 0], [0, 0]]), [0, 1])  # behind the mask, nothing matters
    with pytest.raises(naively.InputError, match=r"row 0, column 0: 1152921504606846977 is beyond 2\^53"):
        naively.MultinomialNB().fit(np.ma.array(wide, mask=[[0, 0], [1, 0]]), [0, 1])


@pytest.mark.parametrize("kind", [kind for kind in CLASSIFIERS if kind is not naively.NaiveBayes], ids=name_of)
def test_masked_labels_and_weights_are_refused_with_their_row(kind: Any) -> None:
    rows, hidden = rows_for(kind), [0, 0, 0, 1, 0, 0]
    with pytest.raises(naively.InputError, match="label of row 3 is masked; leave such rows out"):
        kind().fit(rows, np.ma.array(Y, mask=hidden))
    with pytest.raises(naively.InputError, match="sample_weight of row 3 is masked; leave such rows out"):
        kind().fit(rows, Y, sample_weight=np.ma.array(np.ones(6), mask=hidden))
    assert kind().fit(rows, np.ma.array(Y), np.ma.ones(6)).tally_ == kind().fit(rows, Y, np.ones(6)).tally_


def test_a_table_leaves_rows_with_masked_labels_out_and_refuses_masked_weights() -> None:
    hidden = [0, 0, 0, 1, 0, 0]
    with pytest.warns(naively.DataWarning, match="1 of 6 rows have no label"):
        model = naively.NaiveBayes().fit(TABLE, np.ma.array(Y, mask=hidden))
    assert model.class_count_.tolist() == [4, 1]
    with pytest.raises(naively.InputError, match="sample_weight of row 3 is masked"):
        naively.NaiveBayes().fit(TABLE, Y, sample_weight=np.ma.array(np.ones(6), mask=hidden))


# --- tags, and arrays of other libraries


def test_bernoulli_says_that_it_takes_no_negatives_where_nothing_is_binarized() -> None:
    assert not get_tags(naively.BernoulliNB()).input_tags.positive_only
    assert get_tags(naively.BernoulliNB(binarize=None)).input_tags.positive_only
    with pytest.raises(naively.InputError, match="Negative values in data"):
        naively.BernoulliNB(binarize=None).fit([[-1.0], [0.0]], [0, 1])


class Foreign:
    """An array of another library that has what the array API standard asks for, and no `__array__`."""

    def __init__(self, values: Any):
        self._values = np.array(values)

    def __array_namespace__(self, api_version: Any = None) -> Any:
        return np

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._values.__dlpack_device__()

    @property
    def shape(self) -> Any:
        return self._values.shape

    @property
    def ndim(self) -> int:
        return self._values.ndim

    @property
    def dtype(self) -> Any:
        return self._values.dtype.name  # which is no dtype of NumPy's

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, key: Any) -> Foreign:
        return Foreign(self._values[key])


@pytest.mark.parametrize("dispatch", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("kind", NUMBERS, ids=name_of)
def test_arrays_of_other_libraries_are_read_and_answers_are_of_numpy(
    kind: Any, dtype: Any, dispatch: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # without which scikit-learn allows no dispatch
    values, labels, weight = X.astype(dtype), np.array([0, 1, 0, 1, 0, 0]), np.array([1.0, 2.0, 1.0, 1.0, 3.0, 1.0])
    rows = Foreign(values)
    with sklearn.config_context(array_api_dispatch=dispatch):
        model = kind().fit(rows, Foreign(labels), sample_weight=Foreign(weight))
        plain = kind().fit(values, labels, sample_weight=weight)
        assert model.tally_ == plain.tally_
        for method in ("predict", "predict_proba", "predict_log_proba"):
            found, expected = getattr(model, method)(rows), getattr(plain, method)(values)
            assert type(found) is np.ndarray
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(model.explain(rows[:1]).score, plain.explain(values[:1]).score)
        model.partial_fit(rows, Foreign(labels)).forget(rows, Foreign(labels))
        assert model.class_count_.tolist() == plain.class_count_.tolist()


def test_an_array_that_numpy_cannot_reach_is_refused_in_words() -> None:
    class Elsewhere(Foreign):
        def __dlpack__(self, **options: Any) -> Any:
            raise BufferError("on another device")

        def __array__(self, *options: Any, **more: Any) -> Any:
            raise TypeError("use .cpu()")

    for kind in NUMBERS:
        with pytest.raises(naively.InputError, match=r"type Elsewhere: use \.cpu\(\); move it to main memory first"):
            kind().fit(Elsewhere(X), Y)


# --- names

UNKNOWN = {
    "TextClassifier": {"ngram_range": "ngrams", "class_prior": "prior", "stopwords": "stop_words"},
    "NaiveBayes": {"column": "columns", "priors": "prior"},
    "GaussianNB": {"prior": "priors", "var_smooth": "var_smoothing"},
    "GaussianClassifier": {"covariances": "covariance"},
    "MultinomialNB": {"alhpa": "alpha", "fit_priors": "fit_prior"},
    "BernoulliNB": {"binarise": "binarize"},
    "CategoricalNB": {"min_category": "min_categories"},
    "ComplementNB": {"nrom": "norm"},
    "PoissonNB": {"aplha": "alpha"},
    "CountVectorizer": {"ngrams": "ngram_range"},
    "HashingVectorizer": {"n_feature": "n_features"},
    "TfidfVectorizer": {"use_idff": "use_idf"},
}


@pytest.mark.parametrize("kind", ESTIMATORS, ids=name_of)
def test_an_unknown_parameter_is_named_with_its_class_and_the_nearest(kind: Any) -> None:
    for wrong, right in UNKNOWN[kind.__name__].items():
        message = rf"^{kind.__name__} has no parameter '{wrong}'; did you mean ('\w+' or )*'{right}'"
        with pytest.raises(TypeError, match=message):
            kind(**{wrong: 1})
        message = rf"^Invalid parameter '{wrong}' for {kind.__name__}; did you mean ('\w+' or )*'{right}'"
        with pytest.raises(ValueError, match=message):
            kind().set_params(**{wrong: 1})
    known = list(inspect.signature(kind).parameters)
    with pytest.raises(
        TypeError, match=f"^{kind.__name__} has no parameter 'zzzz'; its parameters are {', '.join(known)}"
    ):
        kind(zzzz=1)
    with pytest.raises(
        TypeError, match=rf"^{kind.__name__} takes its parameters by name, got 0.5 .*\({known[0]}=\.\.\.\)"
    ):
        kind(0.5)


METHODS = {
    "fit": {"smple_weight": "sample_weight", "weights": "sample_weight", "target": "X"},
    "partial_fit": {"clases": "classes", "smple_weight": "sample_weight", "raw_document": "raw_documents"},
    "forget": {"sample_wieght": "sample_weight"},
    "predict": {"x": "X"},
    "predict_proba": {"x": "X"},
    "predict_log_proba": {"x": "X"},
    "predict_joint_log_proba": {"x": "X"},
    "explain": {"x": "X"},
    "score": {"sample_weights": "sample_weight"},
    "sample": {"random_sate": "random_state"},
    "recalibrate": {"sample_weigth": "sample_weight"},
    "save": {"forzen": "frozen"},
    "transform": {"doc": "raw_documents", "x": "X"},
    "fit_transform": {"raw_document": "raw_documents"},
}


@pytest.mark.parametrize("kind", ESTIMATORS, ids=name_of)
def test_an_unknown_argument_of_a_method_is_named_with_its_class_and_the_nearest(kind: Any) -> None:
    for method in sorted(METHODS.keys() & set(dir(kind))):
        call = getattr(kind(), method)
        known = inspect.signature(call).parameters
        for wrong, right in METHODS[method].items():
            if right in known:
                message = rf"^{kind.__name__}\.{method}\(\) has no parameter '{wrong}'.*'?{right}'?"
                with pytest.raises(TypeError, match=message):
                    call(**{wrong: 1})
        message = rf"^{kind.__name__}\.{method}\(\) has no parameter 'zzzz'; its parameters are {', '.join(known)}"
        with pytest.raises(TypeError, match=message):
            call(zzzz=1)
        with pytest.raises(TypeError, match=rf"^{kind.__name__}\.{method}\(\) takes "):
            call(*range(10))


def test_refit_names_the_nearest_parameter_and_learners_name_themselves() -> None:
    model = naively.TextClassifier(**PLAIN_TEXT).fit(TEXTS, Y)
    with pytest.raises(ValueError, match="Invalid parameter 'min_dif' for TextClassifier; did you mean 'min_df'"):
        model.refit(min_dif=2)
    learners: list[Callable[..., Any]] = [naively.TextClassifier, naively.NaiveBayes]
    for learner in learners:
        with pytest.raises(TypeError, match=rf"^{name_of(learner)} has no parameter 'priors'; did you mean 'prior'"):
            learner(priors=None)


def test_classes_of_ones_own_may_have_other_parameters() -> None:
    class Mine(naively.MultinomialNB):
        def __init__(self, smoothing: float = 1.0, *, alpha: float = 1.0):
            super().__init__(alpha=alpha)
            self.smoothing = smoothing

    assert Mine(2.0).smoothing == 2.0
    assert clone(Mine(2.0, alpha=0.5)).fit(X, Y).get_params()["smoothing"] == 2.0
    with pytest.raises(TypeError, match="unexpected keyword"):
        Mine(beta=1)  # type: ignore[call-arg]


def test_a_complement_of_one_class_scores_few_entries_as_it_scores_many() -> None:
    """A row of few entries is scored by a table of these alone, which knows nothing of the others' counts."""
    seen = csr_matrix(np.repeat([[1.0] * 100 + [0.0]], 3, axis=0))
    row = csr_matrix(([2.0, 1.0], ([0, 0], [3, 100])), (1, 101))
    model = naively.ComplementNB(alpha=0).fit(seen, ["a"] * 3)
    one = model.predict_joint_log_proba(row)
    np.testing.assert_array_equal(one, model.predict_joint_log_proba(np.repeat(row.toarray(), 50, axis=0))[:1])
    assert one[0, 0] == pytest.approx(3 * np.log(101))


# --- documented differences


def test_what_is_refused_where_scikit_learn_takes_it() -> None:
    with pytest.raises(naively.InputError, match="Negative values in data passed to `sample_weight`: row 1"):
        naively.GaussianNB().fit(X, Y, sample_weight=[1, -1, 1, 1, 1, 1])
    with pytest.raises(naively.InputError, match="labels must be text or whole numbers, got datetime64"):
        naively.GaussianNB().fit(X, np.arange("2020-01-01", "2020-01-07", dtype="M8[D]"))
    model = naively.GaussianNB().fit(X, Y)
    for name in ("theta_", "var_", "class_prior_", "class_count_", "classes_", "epsilon_"):
        with pytest.raises(AttributeError):
            setattr(model, name, 0)
    told = " ".join((Path(__file__).parent.parent / "docs" / "design.md").read_text().split())
    for words in ("Negative weights", "datetime64", "Fitted attributes", "what a mask hides", "array API"):
        assert words in told.split("## Where it differs from scikit-learn")[1]


WARNED: dict[str, Callable[[], Any]] = {
    "fit": lambda: naively.NaiveBayes().fit({"x": [1.5, 2.5, 3.5]}, ["a", "b", None]),
    "partial_fit": lambda: naively.NaiveBayes().partial_fit({"x": [1.5, 2.5, 3.5]}, ["a", "b", None]),
    "texts": lambda: naively.TextClassifier().fit(["", ""], ["a", "b"]),
    "text batch": lambda: naively.TextClassifier().partial_fit(["", ""], ["a", "b"]),
    "alpha": lambda: naively.MultinomialNB(alpha=0.0, force_alpha=False).fit(X, Y),
    "names": lambda: naively.NaiveBayes().fit({"x": [1.5, 2.5]}, ["a", "b"]).predict([[1.5]]),
}


@pytest.mark.parametrize("call", WARNED.values(), ids=WARNED)
def test_a_warning_names_the_line_of_the_one_who_called(call: Callable[[], Any]) -> None:
    with pytest.warns(UserWarning, match=".") as caught:
        call()
    assert [warning.filename for warning in caught] == [__file__] * len(caught)
