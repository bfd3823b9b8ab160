"""What every estimator can do beyond learning and predicting."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as peers
from families import CASES, Case, with_holes
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import naively

DROP_INS = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"]
RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 5, (200, 6)), RNG.choice(["a", "b", "c"], 200)
every_family = pytest.mark.parametrize("case", CASES, ids=repr)


@pytest.mark.parametrize(
    "kind", ["int", "float64", "float32", "csr", "csc", "bool", "int16", "uint64", "frame", "list"]
)
@pytest.mark.parametrize("name", DROP_INS)
def test_drop_ins_equal_scikit_learn_where_it_is_right(name: str, kind: str) -> None:
    made = {
        "int": X, "float64": X.astype(float), "float32": X.astype(np.float32), "csr": sparse.csr_matrix(X),
        "csc": sparse.csc_matrix(X), "bool": X > 2, "int16": X.astype(np.int16), "uint64": X.astype(np.uint64),
        "frame": pd.DataFrame(X, columns=list("uvwxyz")), "list": X.tolist(),
    }[kind]  # fmt: skip
    plain = (X > 2).astype(int) if kind == "bool" else X
    ours, theirs = getattr(naively, name)().fit(made, Y), getattr(peers, name)().fit(plain, Y)
    exact = 1e-5 if kind == "float32" else 1e-12
    np.testing.assert_allclose(ours.predict_joint_log_proba(made), theirs.predict_joint_log_proba(plain), rtol=exact)
    np.testing.assert_array_equal(ours.predict(made), theirs.predict(plain))
    wanted = np.float32 if kind == "float32" else np.float64
    for method in ("predict_proba", "predict_log_proba", "predict_joint_log_proba"):
        assert getattr(ours, method)(made).dtype == wanted
    for attribute in ("class_count_", "class_log_prior_", "feature_count_", "feature_log_prob_", "feature_all_",
                      "theta_", "var_", "epsilon_", "class_prior_", "n_categories_"):  # fmt: skip
        if hasattr(theirs, attribute):
            mine, other = getattr(ours, attribute), getattr(theirs, attribute)
            for a, b in zip(mine, other, strict=True) if isinstance(mine, list) else [(mine, other)]:
                np.testing.assert_allclose(a, b, rtol=max(exact, 1e-10), err_msg=attribute)


@pytest.mark.parametrize("name", DROP_INS)
def test_drop_ins_take_the_same_parameters_in_the_same_order(name: str) -> None:
    mine, other = getattr(naively, name)().get_params(), getattr(peers, name)().get_params()
    assert {k: v for k, v in mine.items() if k not in {"unseen", "numbers"}} == other


@pytest.mark.parametrize("case", [case for case in CASES if not case.name.startswith(("text", "table"))], ids=repr)
def test_rows_can_be_drawn_that_look_like_those_counted(case: Case) -> None:
    clf = case.make().fit(case.rows(X), Y)
    drawn, labels = clf.sample(3_000, random_state=0)
    again, _ = clf.sample(3_000, random_state=0)
    assert drawn.shape == (3_000, 6)
    assert set(labels) <= set("abc")
    np.testing.assert_array_equal(drawn, again)
    share = np.array([(labels == c).mean() for c in "abc"])
    np.testing.assert_allclose(share, [(c == Y).mean() for c in "abc"], atol=0.05)
    refit = case.make().fit(drawn, labels)
    if hasattr(clf, "theta_"):
        np.testing.assert_allclose(refit.theta_, clf.theta_, atol=0.3)
    elif not isinstance(clf, naively.CategoricalNB):
        gap = np.exp(refit._feature_log_prob()) - np.exp(clf._feature_log_prob())
        assert np.abs(gap).max() < 0.25


def test_parameters_are_counted_with_and_without_the_naive_assumption() -> None:
    D = 6
    clf = naively.BernoulliNB().fit(X > 2, Y)
    assert clf.n_parameters_ == 2 + 3 * D
    assert clf.n_parameters_joint_ == 2 + 3 * (2**D - 1)
    one = naively.BernoulliNB().fit(X[:, :3] > 2, ["only"] * 200)
    assert (one.n_parameters_, one.n_parameters_joint_) == (3, 7)  # the seeds' example
    assert naively.MultinomialNB().fit(X, Y).n_parameters_ == 2 + 3 * (D - 1)
    assert naively.CategoricalNB().fit(X, Y).n_parameters_ == 2 + 3 * D * 4
    assert naively.CategoricalNB().fit(X, Y).n_parameters_joint_ == 2 + 3 * (5**D - 1)
    assert naively.GaussianNB().fit(X, Y).n_parameters_ == 2 + 3 * 2 * D
    for covariance, spread in (("spherical", 3), ("diagonal", 3 * D), ("tied", 21), ("full", 63)):
        assert naively.GaussianClassifier(covariance=covariance).fit(X, Y).n_parameters_ == 2 + 3 * D + spread
    assert naively.PoissonNB().fit(X, Y).n_parameters_joint_ == math.inf


@every_family
def test_estimators_survive_pickling_and_go_on_learning(case: Case) -> None:
    clf = case.make().fit(case.rows(X), Y)
    clf.predict(case.rows(X))
    back = pickle.loads(pickle.dumps(clf))
    assert back.tally_ == clf.tally_
    np.testing.assert_array_equal(back.predict_proba(case.rows(X)), clf.predict_proba(case.rows(X)))
    back.partial_fit(case.rows(X[:5]), Y[:5])
    assert back.tally_ == clf.partial_fit(case.rows(X[:5]), Y[:5]).tally_
    assert clone(clf).get_params().keys() == clf.get_params().keys()


@every_family
def test_many_threads_may_predict_at_once(case: Case) -> None:
    rows = case.rows(X)
    clf = case.make().fit(rows, Y)
    want = case.make().fit(rows, Y).predict_proba(rows)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: clf.predict_proba(rows), range(40)):
            np.testing.assert_array_equal(found, want)


@every_family
def test_smoothing_and_priors_can_be_changed_after_counting(case: Case) -> None:
    clf = case.make().fit(case.rows(X), Y)
    options: dict[str, Any] = {"var_smoothing": 0.5} if "var_smoothing" in clf.get_params() else {"alpha": 3.0}
    prior = next(name for name in ("priors", "class_prior", "prior") if name in clf.get_params())
    options[prior] = [0.2, 0.3, 0.5]
    fresh = case.make().set_params(**options).fit(case.rows(X), Y)
    np.testing.assert_array_equal(
        clf.set_params(**options).predict_proba(case.rows(X)), fresh.predict_proba(case.rows(X))
    )


def test_map_and_mle_differ_by_the_prior() -> None:
    clf = naively.MultinomialNB().fit([[1, 1]] * 9 + [[0, 2]], ["often"] * 9 + ["rare"])
    scores = clf.scores([[0, 1]])
    assert scores.decide().tolist() == ["often"]
    assert scores.decide(by="likelihood").tolist() == ["rare"]
    uniform = naively.MultinomialNB(fit_prior=False).fit([[1, 1]] * 9 + [[0, 2]], ["often"] * 9 + ["rare"])
    assert uniform.predict([[0, 1]]).tolist() == ["rare"]


def test_priors_follow_their_formulas() -> None:
    for prior, want in (
        (naively.Empirical(), [0.8, 0.2]),
        (naively.Smoothed(2.0), [10 / 14, 4 / 14]),
        (naively.Uniform(), [0.5, 0.5]),
        (naively.Given({"b": 0.9, "a": 0.1}), [0.1, 0.9]),
    ):
        clf = naively.MultinomialNB(class_prior=prior).fit([[1]] * 10, ["a"] * 8 + ["b"] * 2)
        np.testing.assert_allclose(np.exp(clf.class_log_prior_), want)


def test_whole_counts_are_integers_and_fractions_floats() -> None:
    assert naively.MultinomialNB().fit(X.astype(float), Y).tally_.part.cells.values.dtype == np.int64
    assert naively.MultinomialNB().fit(X, Y, sample_weight=np.full(200, 2.0)).tally_.part.cells.values.dtype == np.int64
    assert (
        naively.MultinomialNB().fit(X, Y, sample_weight=np.full(200, 0.3)).tally_.part.cells.values.dtype == np.float64
    )


def test_tallies_of_different_names_are_united_by_name() -> None:
    a = naively.MultinomialNB().fit(pd.DataFrame({"x": [1, 0], "y": [2, 3]}), ["p", "q"])
    b = naively.MultinomialNB().fit(pd.DataFrame({"z": [5], "x": [7]}), ["r"])
    both = a.tally_ + b.tally_
    assert both.part.features.names.tolist() == ["x", "y", "z"]
    assert both.part.dense().tolist() == [[1, 2, 0], [0, 3, 0], [7, 0, 5]]
    assert repr(both) == "Tally(3 rows, 3 classes, 3 features)"
    merged = naively.merge(a, b)
    assert merged.predict(pd.DataFrame({"x": [7], "y": [0], "z": [5]})).tolist() == ["r"]
    c = naively.CategoricalNB().fit([["u"], ["v"]], ["p", "q"])
    d = naively.CategoricalNB().fit([["w"], ["u"]], ["q", "q"])
    assert naively.merge(c, d).category_count_[0].tolist() == [[1, 0, 0], [1, 1, 1]]
    assert (c.tally_ + d.tally_) == (d.tally_ + c.tally_)


def test_moments_of_different_names_are_united_by_name() -> None:
    for make in (naively.GaussianNB, lambda: naively.GaussianClassifier(covariance="full")):
        a = make().fit(pd.DataFrame({"x": [1.0, 3.0], "y": [2.0, 2.5]}), ["p", "p"])
        b = make().fit(pd.DataFrame({"z": [5.0], "x": [7.0]}), ["q"])
        assert a.tally_ + b.tally_ == b.tally_ + a.tally_
        np.testing.assert_allclose(naively.merge(a, b).theta_[0][:2], [2.0, 2.25])


def test_numbers_are_forgotten_without_a_trace_however_wild_they_are() -> None:
    rng = np.random.default_rng(0)
    steady, wild = 1e6 + 1e-3 * rng.normal(size=(50, 1)), 1e6 * rng.normal(size=(50, 1))
    kept = naively.GaussianNB().fit(steady, [0] * 50)
    clf = naively.GaussianNB().fit(np.vstack([steady, wild]), [0] * 100).forget(wild, [0] * 50)
    assert clf.tally_ == kept.tally_
    np.testing.assert_array_equal(clf.var_, kept.var_)
    constant = naively.GaussianNB().fit(np.ones((9, 1)), [0] * 9).forget(np.ones((4, 1)), [0] * 4)
    assert constant.theta_.tolist() == [[1.0]]
    with pytest.raises(naively.NegativeCount, match="other values than were counted"):
        naively.GaussianNB().fit(np.ones((2, 1)), [0, 0]).forget([[3.0], [4.0]], [0, 0])
    with pytest.raises(naively.NegativeCount, match="other values than were counted"):  # no variance is below zero
        naively.GaussianNB().fit([[1.0], [2.0], [3.0]], [0, 0, 0]).forget([[-3.0]], [0])


def test_they_work_inside_pipelines_grids_and_cross_validation() -> None:
    texts, labels = naively.film_reviews()
    pipeline = make_pipeline(CountVectorizer(ngram_range=(1, 2)), naively.MultinomialNB())
    assert cross_val_score(pipeline, texts, labels, cv=5).mean() > 0.75
    digits = load_digits()
    grid = GridSearchCV(naively.BernoulliNB(binarize=4), {"alpha": [1e-3, 1.0]}, cv=3).fit(digits.data, digits.target)
    assert grid.best_score_ > 0.8


def test_negation_defeats_single_words_and_pairs_of_words_help() -> None:
    texts, labels = naively.film_reviews()
    for sentence, wanted in (
        ("I am happy to see this movie", "positive"),
        ("I am not happy to see this movie", "negative"),
    ):
        pairs = CountVectorizer(ngram_range=(1, 2), token_pattern=r"\w+").fit(texts)
        clf = naively.MultinomialNB().fit(pairs.transform(texts), labels)
        assert clf.predict(pairs.transform([sentence])).tolist() == [wanted]


def test_missing_values_leave_a_gaussian_factor_out() -> None:
    iris = load_iris()
    clf = naively.GaussianNB().fit(iris.data, iris.target)
    row = iris.data[:1].copy()
    row[0, 1] = np.nan
    shares = clf.explain(iris.data[:1])
    np.testing.assert_allclose(clf.predict_joint_log_proba(row)[0], shares.score - shares.shares[1], rtol=1e-12)


def test_a_column_missing_in_every_row_says_nothing() -> None:
    values = np.where(np.arange(6) == 2, -1, X)
    for case in CASES:
        clf = case.make().fit(case.rows(values), Y)
        assert not np.isnan(clf.predict_proba(case.rows(values))).any()
    filled = with_holes(values)
    clf = naively.GaussianNB().fit(filled, Y)
    known = filled.copy()
    known[:, 2] = 7.0
    np.testing.assert_allclose(clf.predict_proba(known), clf.predict_proba(filled), rtol=1e-12)


def test_importing_costs_at_most_a_twentieth_of_scikit_learn() -> None:
    def cost(module: str) -> int:
        code = f"import time; s = time.perf_counter_ns(); import {module}; print(time.perf_counter_ns() - s)"
        return min(
            int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout) for _ in range(5)
        )

    assert cost("naively") * 20 <= cost("sklearn")


STARS = [[3.5, -1.0], [4.0, 90210.0], [None, -1.0], [0.5, 7.25]]


def test_numbers_can_name_categories_as_text_does() -> None:
    y = ["good", "good", "bad", "bad"]
    named = naively.CategoricalNB(numbers="names").fit(STARS, y)
    texts = [[None if v is None else f"{v:09.2f}" for v in row] for row in STARS]
    as_text = naively.CategoricalNB().fit(texts, y)
    np.testing.assert_array_equal(named.predict_proba(STARS), as_text.predict_proba(texts))
    assert [c.tolist() for c in named.categories_] == [[0.5, 3.5, 4.0], [-1.0, 7.25, 90210.0]]
    known = np.array([[0.0, 5.0], [-0.0, 5.0]])
    again = naively.CategoricalNB(numbers="names").fit(known, [0, 1])
    assert again.n_categories_.tolist() == [1, 1]
    np.testing.assert_array_equal(
        again.predict_proba(sparse.csr_array(known)), again.predict_proba(known.astype(int).tolist())
    )


def test_named_numbers_are_learnt_merged_forgotten_and_saved(tmp_path: Path) -> None:
    y = ["good", "good", "bad", "bad"]
    whole = naively.CategoricalNB(numbers="names").fit(STARS, y)
    parts = naively.CategoricalNB(numbers="names").fit(STARS[:2], y[:2]).partial_fit(STARS[2:], y[2:])
    assert parts.tally_ == whole.tally_
    assert parts.forget(STARS[2:], y[2:]).categories_[0].tolist() == [3.5, 4.0]
    whole.save(tmp_path / "stars.nb")
    np.testing.assert_array_equal(naively.load(tmp_path / "stars.nb").predict_proba(STARS), whole.predict_proba(STARS))


def test_a_name_in_a_row_of_weight_zero_is_not_known() -> None:
    weighed = naively.CategoricalNB().fit([["a"], ["b"], ["c"]], [0, 1, 1], sample_weight=[1, 0, 2])
    assert weighed.categories_[0].tolist() == ["a", "c"]
    assert weighed.tally_ == naively.CategoricalNB().fit([["a"], ["c"], ["c"]], [0, 1, 1]).tally_


def test_a_row_of_weight_zero_leaves_codes_and_kinds_of_columns_alone() -> None:
    beside = naively.CategoricalNB().fit([["a", 0], ["a", 7]], [0, 1], sample_weight=[1, 0])
    assert beside.n_categories_.tolist() == [1, 1]
    late = naively.CategoricalNB().fit([["a", "x"], ["b", None]], [0, 1], sample_weight=[0, 1])
    assert late.partial_fit([["b", 5]], [0]).n_categories_.tolist() == [1, 6]


def test_named_numbers_need_no_least_number_of_categories() -> None:
    clf = naively.CategoricalNB(numbers="names", min_categories=3).fit([[4.0, 1.0], [3.0, None]], [0, 1])
    assert [c.tolist() for c in clf.categories_] == [[3.0, 4.0], [1.0]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[2.0**53], [2.0**53 - 1]], "row 0, column 0: .* within 2\\^53"),
        ([[np.inf], [1.0]], "row 0, column 0: a number that names a category must be finite"),
        ([[1.0], [2.0**60]], "row 1, column 0: .* within 2\\^53"),
        ([["a"], [1.5]], "row 1, column 0: text and numbers are mixed"),
    ],
)
def test_numbers_that_cannot_be_names_are_refused(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        naively.CategoricalNB(numbers="names").fit(X, [0, 1])


def test_what_numbers_are_cannot_change_after_counting() -> None:
    clf = naively.CategoricalNB().fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="counted with numbers='the default', now it is 'names'; fit again"):
        clf.set_params(numbers="names").predict([[0]])
    named = naively.CategoricalNB(numbers="names").fit([[0.5], [1]], [0, 1])
    with pytest.raises(ValueError, match="its categories were numbers, now text"):
        named.predict([["a"]])
