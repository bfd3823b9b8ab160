"""Attributes: what models have learnt, under the names that users of scikit-learn look for."""

from typing import Any

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer

import naively
from naively import (
    BernoulliNB,
    ComplementNB,
    GaussianClassifier,
    Given,
    MultinomialNB,
    NaiveBayes,
    TextClassifier,
    Uniform,
    film_reviews,
)

X, Y = load_iris(return_X_y=True)
COUNTS = np.round(X * 3)
TEXTS = [" ".join(f"w{int(value)}" for value in row) for row in COUNTS]
KINDS: list[tuple[Any, Any, str]] = [
    (naively.MultinomialNB, COUNTS, "class_prior"),
    (naively.ComplementNB, COUNTS, "class_prior"),
    (naively.BernoulliNB, COUNTS, "class_prior"),
    (naively.PoissonNB, COUNTS, "class_prior"),
    (naively.CategoricalNB, COUNTS.astype(int), "class_prior"),
    (naively.GaussianNB, X, "priors"),
    (naively.GaussianClassifier, X, "priors"),
    (naively.NaiveBayes, X, "prior"),
    (naively.TextClassifier, TEXTS, "prior"),
]


@pytest.mark.parametrize(("kind", "rows", "prior"), KINDS, ids=lambda value: getattr(value, "__name__", ""))
def test_every_classifier_tells_the_prior_of_its_classes(kind: Any, rows: Any, prior: str) -> None:
    keep = slice(0, 120)
    model = kind().fit(rows[keep], Y[keep])
    np.testing.assert_allclose(model.class_prior_, np.array([50, 50, 20]) / 120)
    np.testing.assert_allclose(model.class_log_prior_, np.log(model.class_prior_))
    model.set_params(**{prior: Uniform()})
    np.testing.assert_allclose(model.class_prior_, np.full(3, 1 / 3))
    model.set_params(**{prior: Given([0.2, 0.3, 0.5])}).partial_fit(rows[120:], Y[120:])
    np.testing.assert_allclose(model.class_prior_, [0.2, 0.3, 0.5])
    for name in ("class_prior_", "class_log_prior_"):
        assert not hasattr(kind(), name)


def test_classes_that_come_late_have_their_prior_in_sorted_order() -> None:
    model = naively.GaussianNB().fit([[1.0], [2.0], [3.0]], ["b", "b", "c"]).partial_fit([[0.0]], ["a"])
    assert model.class_prior_.tolist() == [0.25, 0.5, 0.25]
    np.testing.assert_allclose(model.class_log_prior_, np.log([0.25, 0.5, 0.25]))


@pytest.mark.parametrize("classes", [[0, 1, 2], [1, 2]])
def test_linear_scores_are_those_of_linear_discriminants(classes: list[int]) -> None:
    rows = np.isin(Y, classes) & (np.arange(len(Y)) % 7 > 0)
    model = GaussianClassifier(covariance="tied", var_smoothing=0).fit(X[rows], Y[rows])
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X[rows], Y[rows])
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-6)
    linear, found = X @ model.coef_.T + model.intercept_, model.decision_function(X)
    if len(classes) == 2:
        np.testing.assert_allclose(found, linear[:, 0])
        np.testing.assert_allclose(found, theirs.decision_function(X))
    else:
        np.testing.assert_allclose(found - found[:, :1], linear - linear[:, :1], atol=1e-8)


def test_the_decision_function_of_full_covariances_is_that_of_quadratic_discriminants() -> None:
    model = GaussianClassifier(covariance="full", var_smoothing=0).fit(X, Y)
    theirs = QuadraticDiscriminantAnalysis().fit(X, Y)
    for found in (model.decision_function(X), model.predict_joint_log_proba(X)):
        assert (found.argmax(axis=1) == model.predict(X)).all()
    agreed = model.predict(X) == theirs.predict(X)  # their covariances are divided by n - 1
    assert agreed.mean() > 0.99


@pytest.mark.parametrize("covariance", ["spherical", "diagonal", "full"])
def test_scores_that_are_not_linear_have_no_weights(covariance: str) -> None:
    model = GaussianClassifier(covariance=covariance).fit(X, Y)
    for name in ("coef_", "intercept_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"{name} needs covariance='tied'"):
            getattr(model, name)
    assert model.decision_function(X[:2]).shape == (2, 3)


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("alpha", [0.5, 0.0])
def test_a_text_classifier_has_the_counts_and_log_probabilities_of_estimators_of_arrays(
    family: str, alpha: float
) -> None:
    texts, labels = ["b a a", "c a", "", "c c b d"], ["z", "y", "z", "x"]
    model = TextClassifier(family=family, weighting="counts", ngrams=(1, 1), alpha=alpha, calibrate=False)
    model.fit(texts[:3], labels[:3]).partial_fit(texts[3:], labels[3:])
    rows = CountVectorizer(token_pattern=r"\w+").fit_transform(texts)
    kinds = {"multinomial": MultinomialNB, "complement": ComplementNB, "bernoulli": BernoulliNB}
    theirs = kinds[family](alpha=alpha).fit(rows, labels)
    assert model.get_feature_names_out().tolist() == ["a", "b", "c", "d"]
    np.testing.assert_array_equal(model.feature_count_, theirs.feature_count_)
    np.testing.assert_allclose(model.feature_log_prob_, theirs.feature_log_prob_)


def test_a_text_classifiers_attributes_follow_its_selection_and_smoothing() -> None:
    model = TextClassifier(weighting="tfidf", choose=False, min_df=2).fit(["a b", "a c c", "c"], ["x", "y", "y"])
    assert (
        model.feature_count_.shape == model.feature_log_prob_.shape == (2, len(model.get_feature_names_out())) == (2, 2)
    )
    np.testing.assert_allclose(np.exp(model.feature_log_prob_).sum(axis=1), 1.0)
    before = model.feature_log_prob_
    assert (model.refit(alpha=10.0).feature_log_prob_ != before).all()
    assert model.refit(min_df=1).feature_count_.shape == (2, 3)
    for name in ("feature_count_", "feature_log_prob_"):
        assert not hasattr(TextClassifier(), name)


@pytest.mark.parametrize("covariance", ["tied", "full"])
def test_ledoit_wolf_shrinkage_is_that_of_scikit_learn_on_normal_rows_on_average(covariance: str) -> None:
    rng = np.random.default_rng(0)
    root, found, theirs = rng.normal(size=(8, 8)), [], []
    for _ in range(100):
        rows = rng.normal(size=(40, 8)) @ root
        model = GaussianClassifier(covariance=covariance, shrinkage="ledoit-wolf", var_smoothing=0)
        model.fit(rows, np.zeros(len(rows)))
        own, plain = model.covariance_.reshape(8, 8), np.cov(rows.T, bias=True)
        found.append(1 - own[0, 1] / plain[0, 1])
        np.testing.assert_allclose(own, (1 - found[-1]) * plain + found[-1] * np.trace(plain) / 8 * np.eye(8))
        theirs.append(ledoit_wolf_shrinkage(rows))
    assert np.std(theirs) > 0.01
    assert abs(np.mean(found) - np.mean(theirs)) < 0.003


def test_ledoit_wolf_shrinkage_follows_its_formula_row_by_row() -> None:
    rows = X[Y == 0]
    model = GaussianClassifier(shrinkage="ledoit-wolf", var_smoothing=0).fit(rows[:25], Y[:25])
    model.partial_fit(rows[25:], Y[25:50])
    plain = np.cov(rows.T, bias=True)
    t, u, n = np.trace(plain) ** 2, np.trace(plain @ plain), 50
    share = ((n - 2) / n * u + t) / ((n + 2) * (u - t / 4))
    np.testing.assert_allclose(model.covariance_[0], (1 - share) * plain + share * np.trace(plain) / 4 * np.eye(4))
    constant = GaussianClassifier(shrinkage="ledoit-wolf").fit([[1.0, 1.0], [1.0, 1.0]], [0, 0])
    assert np.isfinite(constant.predict_joint_log_proba([[1.0, 2.0]])).all()
    with pytest.raises(ValueError, match=r"'shrinkage' parameter of GaussianClassifier must be.*ledoit-wolf"):
        GaussianClassifier(shrinkage="ledoit").fit(X, Y)


# What commands show of a model


def test_a_table_has_the_types_of_its_columns():
    table = {"price": [1.5, 2.0], "city": ["Rome", "Oslo"], "open": [True, False]}
    model = NaiveBayes()
    assert not hasattr(model, "column_types_")
    assert model.fit(table, ["a", "b"]).column_types_ == {"price": "double", "city": "string", "open": "bool"}


def test_the_calibration_is_public_and_its_temperature_is_the_models():
    texts, labels = film_reviews()
    model = TextClassifier(choose=False).fit(texts, labels)
    assert model.calibration_.value == model.temperature_ > 1.0
    assert TextClassifier(choose=False, calibrate=False).fit(texts, labels).calibration_ is None


@pytest.mark.parametrize(("alpha", "kept"), [("auto", None), (0.5, 0.5)])
def test_a_model_without_counts_knows_its_words_and_its_recipe(alpha, kept):
    model = TextClassifier(choose=False, alpha=alpha).fit(["good good film", "dull film"], ["pos", "neg"])
    frozen = naively.from_bytes(model.to_bytes(frozen=True))
    assert model.n_words_ == frozen.n_words_ == len(model.get_feature_names_out()) == 3
    assert {**frozen.chosen_, "alpha": None} == {**model.chosen_, "alpha": None}
    assert frozen.chosen_.alpha == kept


def test_the_values_that_speak_most_are_those_of_the_class():
    table = {"city": ["Rome"] * 5 + ["Oslo"] * 5, "size": [1.0, 1.1, 0.9, 1.2, 1.0, 5.0, 5.2, 4.9, 5.1, 5.0]}
    model = NaiveBayes(columns={"size": naively.Gaussian()}).fit(table, ["a"] * 5 + ["b"] * 5)
    for label, start in (("a", ("city = Rome (5 of 5)", "size low")), ("b", ("city = Oslo (5 of 5)", "size high"))):
        values = model.top_values(2)[label]
        assert all(any(value.startswith(each) for value, _ in values) for each in start)
        assert [z for _, z in values] == sorted((z for _, z in values), reverse=True)
    assert model.top_values(0) == {"a": [], "b": []}
    with pytest.raises(naively.InputError, match="n must be a whole number"):
        model.top_values(-1)
