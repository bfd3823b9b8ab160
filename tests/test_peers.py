"""What other libraries get wrong, right here."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as peers
from families import learn
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

import naively


@pytest.mark.parametrize("name", ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"])
def test_a_label_that_classes_did_not_name_becomes_a_new_class(name: str) -> None:
    X, y = np.array([[0, 2], [2, 0], [1, 1]]), ["a", "b", "new"]
    clf = getattr(naively, name)().partial_fit(X, y, classes=["a", "b"])
    assert clf.classes_.tolist() == ["a", "b", "new"]
    assert clf.class_count_.tolist() == [1, 1, 1]
    clf.partial_fit(X[:1], ["aardvark"])
    assert clf.classes_.tolist() == ["a", "aardvark", "b", "new"]
    assert clf.predict_proba(X).shape == (3, 4)
    assert clf.tally_ == getattr(naively, name)().fit(X[[0, 1, 2, 0]], [*y, "aardvark"]).tally_


def test_gaussian_batches_equal_fitting_at_once_epsilon_included() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[np.argsort(X[:, 3])]  # batches that differ as much as they can
    at_once = naively.GaussianNB(var_smoothing=1e-2).fit(X, y)
    stream = naively.GaussianNB(var_smoothing=1e-2)
    for part in np.array_split(np.arange(len(y)), 13):
        learn(stream, X[part], y[part]) if hasattr(stream, "classes_") else stream.partial_fit(X[part], y[part], [0, 1])
    assert stream.epsilon_ == pytest.approx(at_once.epsilon_, rel=1e-12)
    np.testing.assert_allclose(stream.theta_, at_once.theta_, rtol=1e-12)
    np.testing.assert_allclose(stream.var_, at_once.var_, rtol=1e-9)
    np.testing.assert_array_equal(stream.predict(X), at_once.predict(X))


def test_gaussian_variance_is_right_far_from_zero() -> None:
    x = 1e8 + np.random.default_rng(0).normal(size=(10_000, 1))
    for clf in (
        naively.GaussianNB(var_smoothing=0.0),
        naively.GaussianClassifier(covariance="full", var_smoothing=0.0),
    ):
        for part in np.array_split(x, 7):
            learn(clf, part, np.zeros(len(part), int))
        spread = clf.var_[0, 0] if hasattr(clf, "var_") else clf.covariance_[0, 0, 0]
        assert spread == pytest.approx(np.var(x), rel=1e-6)


def test_categories_take_text_missing_values_and_what_was_never_seen() -> None:
    X = np.array([["red", "round"], ["red", None], ["green", "long"], ["green", np.nan]], dtype=object)
    clf = naively.CategoricalNB().fit(X, ["apple", "apple", "cucumber", "cucumber"])
    assert clf.predict([["blue", "round"]]).tolist() == ["apple"]
    # red 2 of 2 with one of two categories added: 3/4 against 1/4; a missing shape says nothing.
    np.testing.assert_allclose(clf.predict_proba([["red", None]]), [[0.75, 0.25]])
    # never seen: 1/4 in either class, as a colour with a count of 0 would have.
    np.testing.assert_allclose(clf.predict_proba([["blue", None]]), [[0.5, 0.5]])
    assert clf.n_categories_.tolist() == [2, 2]


def test_an_unseen_category_is_smoothed_or_left_out() -> None:
    X, y = [[0], [0], [0], [1]], ["a", "a", "a", "b"]
    smooth = naively.CategoricalNB(fit_prior=False).fit(X, y)
    ignore = naively.CategoricalNB(fit_prior=False, unseen="ignore").fit(X, y)
    np.testing.assert_allclose(smooth.predict_proba([[7]]), [[(1 / 5) / (1 / 5 + 1 / 3), (1 / 3) / (1 / 5 + 1 / 3)]])
    np.testing.assert_allclose(ignore.predict_proba([[7]]), [[0.5, 0.5]])


def test_fractions_are_refused_as_categories_not_cut_down() -> None:
    with pytest.raises(naively.InputError, match=r"row 1, column 0 is 1\.5"):
        naively.CategoricalNB().fit([[1.0], [1.5]], [0, 1])


@pytest.mark.parametrize("prior", [[5, -1], [0.5, 0.6], [0.2, 0.2], [float("nan"), 1.0]])
def test_class_priors_must_be_probabilities(prior: list[float]) -> None:
    with pytest.raises(naively.InputError, match=r"[Pp]rior"):
        naively.MultinomialNB(class_prior=prior).fit([[1], [2]], ["a", "b"])


def test_two_thousand_classes_make_no_dense_array() -> None:
    rng = np.random.default_rng(0)
    rows, features, classes = 20_000, 20_000, 2_000
    X = sparse.csr_matrix(
        (np.ones(rows * 5), rng.integers(0, features, rows * 5), np.arange(0, rows * 5 + 1, 5)), (rows, features)
    )
    y = rng.integers(0, classes, rows)
    tracemalloc.start()
    try:
        clf = naively.MultinomialNB().fit(X, y)
        labels = clf.predict(X[:1_000])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (labels == y[:1_000]).mean() > 0.9
    assert peak < 60e6  # classes by features alone would be 320 MB, rows by classes as well


def counted(clf: Any) -> Any:
    """The ledger of the only block."""
    return clf._model.ledger.counted["features"]


def cells_moved(ledger: Any) -> int:
    return sum(len(level.cells) for level in ledger.levels[1:])


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_a_row_costs_what_it_holds_not_what_the_model_holds(name: str) -> None:
    rng = np.random.default_rng(0)
    features = 1 << 18
    X = sparse.csr_matrix(
        (np.ones(200_000), rng.integers(0, features, 200_000), np.arange(0, 200_001, 50)), (4_000, features)
    )
    X.sum_duplicates()
    X.data[:] = 1.0
    y = rng.integers(0, 20, 4_000)
    clf = getattr(naively, name)().fit(X, y)
    big = counted(clf).levels[0]
    for i in range(5):
        clf.partial_fit(X[i], y[i : i + 1])
        clf.predict(X[i])
        assert counted(clf).levels[0].cells.feature is big.cells.feature or (i == 1 and name == "BernoulliNB")
        assert cells_moved(counted(clf)) <= 50 * (i + 1)
        assert clf._model.cache("features").kept_table is None, "a table of all features was made for one row"
        big = counted(clf).levels[0]
    again = getattr(naively, name)().fit(sparse.vstack([X, X[:5]]), np.concatenate([y, y[:5]]))
    np.testing.assert_allclose(clf.predict_joint_log_proba(X[:3]), again.predict_joint_log_proba(X[:3]), rtol=1e-12)


def test_pandas_missing_values_count_for_nothing_in_every_family() -> None:
    frame = pd.DataFrame({"n": pd.array([1, 2, None, 4], dtype="Int64"), "m": [0, 1, 1, pd.NA]}, dtype=object)
    y = ["a", "a", "b", "b"]
    for name in ("BernoulliNB", "ComplementNB", "GaussianNB", "MultinomialNB", "PoissonNB", "CategoricalNB"):
        clf = getattr(naively, name)().fit(frame, y)
        plain = getattr(naively, name)().fit(np.array([[1, 0], [2, 1], [np.nan, 1], [4, np.nan]]), y)
        np.testing.assert_allclose(
            clf.predict_proba(frame), plain.predict_proba([[1, 0], [2, 1], [np.nan, 1], [4, np.nan]])
        )
        assert clf.feature_names_in_.tolist() == ["n", "m"]


def test_alpha_zero_is_the_limit_of_ever_smaller_alpha() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (12, 5)), rng.choice(["a", "b", "c"], 12)
    for name in ("MultinomialNB", "BernoulliNB", "CategoricalNB", "ComplementNB", "PoissonNB"):
        limit = getattr(naively, name)(alpha=0.0).fit(X, y).predict_proba(X)
        near = getattr(naively, name)(alpha=1e-200).fit(X, y).predict_proba(X)
        assert not np.isnan(limit).any()
        np.testing.assert_allclose(limit, near, atol=1e-9)


def test_full_tied_diagonal_and_spherical_gaussians_agree_with_their_definitions() -> None:
    X, y = load_iris(return_X_y=True)
    for covariance in ("spherical", "diagonal", "tied", "full"):
        clf = naively.GaussianClassifier(covariance=covariance, var_smoothing=0.0).fit(X, y)
        own = np.array([np.cov(X[y == k].T, bias=True) for k in range(3)])
        if covariance == "full":
            np.testing.assert_allclose(clf.covariance_, own, rtol=1e-9, atol=1e-12)
        if covariance == "tied":
            np.testing.assert_allclose(clf.covariance_, own.mean(axis=0), rtol=1e-9, atol=1e-12)
        if covariance == "diagonal":
            np.testing.assert_allclose(clf.covariance_, own * np.eye(4), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(
                clf.predict_joint_log_proba(X),
                naively.GaussianNB(var_smoothing=0.0).fit(X, y).predict_joint_log_proba(X),
            )
        if covariance == "spherical":
            np.testing.assert_allclose(clf.covariance_[1], np.eye(4) * np.trace(own[1]) / 4, rtol=1e-9, atol=1e-12)


def test_a_full_gaussian_scores_as_the_density_says_missing_values_left_out() -> None:
    from scipy.stats import multivariate_normal

    X, y = load_iris(return_X_y=True)
    clf = naively.GaussianClassifier(priors=naively.Uniform(), shrinkage=0.2).fit(X, y)
    row = np.array([[5.0, np.nan, 4.0, 1.0]])
    known = [0, 2, 3]
    expected = [
        multivariate_normal(m[known], c[np.ix_(known, known)]).logpdf(row[0, known]) - np.log(3)
        for m, c in zip(clf.theta_, clf.covariance_, strict=True)
    ]
    np.testing.assert_allclose(clf.predict_joint_log_proba(row)[0], expected, rtol=1e-9)


# --- random configurations

Array = np.ndarray[Any, Any]
DRAWN = ["BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"]


def drawn(name: str, rng: np.random.Generator) -> tuple[dict[str, Any], Array, Array, Array | None]:
    """Parameters that scikit-learn takes as well, rows, labels of which each class has some, and weights."""
    rows, columns, classes = int(rng.integers(6, 40)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    y = np.concatenate([np.repeat(np.arange(classes), 3), rng.integers(0, classes, rows)])
    X = rng.normal(size=(len(y), columns)) if name == "GaussianNB" else rng.integers(0, 5, (len(y), columns))
    weight = rng.choice([0.25, 1.0, 2.0, 3.7], len(y)) if rng.random() < 0.5 else None
    share = rng.dirichlet(np.ones(classes)) if rng.random() < 0.3 else None
    if name == "GaussianNB":
        options = {"priors": share, "var_smoothing": float(rng.choice([0.0, 1e-9, 0.1]))}
        return options, X * rng.choice([1e-3, 1.0, 1e4], columns) + rng.choice([0.0, 50.0]), y, weight
    options = {"alpha": float(rng.choice([1e-6, 0.1, 1.0, 12.5])), "fit_prior": bool(rng.random() < 0.7)}
    if name != "CategoricalNB" and rng.random() < 0.3:
        options["alpha"] = rng.uniform(0.1, 2.0, columns)
    if name == "BernoulliNB":
        options["binarize"] = float(rng.choice([0.0, 1.5]))
    if name == "ComplementNB":
        options["norm"] = columns > 1 and bool(rng.random() < 0.5)  # of one column, scikit-learn makes NaN
    return {**options, "class_prior": share}, X, y, weight


@pytest.mark.parametrize("name", DRAWN)
def test_random_configurations_answer_as_scikit_learn_does(name: str) -> None:
    for seed in range(40):
        rng = np.random.default_rng([7, seed])
        options, X, y, weight = drawn(name, rng)
        if name == "GaussianNB" and weight is not None:
            options["var_smoothing"] = 0.0  # scikit-learn takes its epsilon from rows without their weights
        if name == "BernoulliNB" and not isinstance(options["alpha"], float):
            options["alpha"] = 0.5  # scikit-learn takes the alphas of features for those of classes in its totals
        theirs = getattr(peers, name)(**options).fit(X, y, weight)
        form: Callable[[Array], Any] = sparse.csr_matrix if rng.random() < 0.4 and name != "GaussianNB" else np.asarray
        narrow = name != "GaussianNB" and rng.random() < 0.4
        rows = form(X.astype(np.float32 if narrow else np.float64))
        ours = getattr(naively, name)(**options).fit(rows, y, weight)
        note = f"seed {seed}: {options}"
        rtol = 1e-5 if narrow else 1e-9 if name == "GaussianNB" else 1e-11
        joint, expected = ours.predict_joint_log_proba(rows), theirs.predict_joint_log_proba(X)
        np.testing.assert_allclose(joint, expected, rtol=rtol, atol=rtol, err_msg=note)
        for method in ("predict_proba", "predict_log_proba"):
            found, right = getattr(ours, method)(rows), getattr(theirs, method)(X)
            scale = rtol * max(1.0, np.abs(expected).max())
            np.testing.assert_allclose(found, right, rtol=scale, atol=scale, err_msg=note)
        first, second = np.sort(expected, axis=1)[:, [-1, -2]].T
        clear = first - second > rtol * max(1.0, np.abs(expected).max())  # else it is chance which one is chosen
        np.testing.assert_array_equal(ours.predict(rows)[clear], theirs.predict(X)[clear], err_msg=note)


def decimal(value: Any) -> Decimal:
    """The number that a float stands for, to the last digit."""
    return Decimal(float(value))


def decimal_joint(name: str, options: dict[str, Any], X: Array, y: Array, weight: Array | None) -> list[list[Decimal]]:
    """log p(x, c) by the textbook formulas, in as many digits as the context has."""
    weights = [decimal(w) for w in (np.ones(len(y)) if weight is None else weight)]
    classes, columns = range(int(y.max()) + 1), range(X.shape[1])
    values = [[decimal(v) for v in row] for row in X]
    if name == "BernoulliNB":
        values = [[Decimal(v > decimal(options["binarize"])) for v in row] for row in values]
    of = [[i for i in range(len(y)) if y[i] == c] for c in classes]
    n = [sum((weights[i] for i in of[c]), Decimal(0)) for c in classes]
    share = options.get("class_prior", options.get("priors"))
    if share is not None:
        prior = [decimal(p).ln() for p in share]
    else:
        prior = [(n[c] / sum(n)).ln() if options.get("fit_prior", True) else -Decimal(len(n)).ln() for c in classes]

    def added(j: int) -> Decimal:
        return decimal(options["alpha"] if isinstance(options["alpha"], float) else options["alpha"][j])

    def summed(c: int, j: int) -> Decimal:
        return sum((weights[i] * values[i][j] for i in of[c]), Decimal(0))

    if name == "GaussianNB":
        everything = sum(n)
        spread = []
        for j in columns:
            mean = sum(w * row[j] for w, row in zip(weights, values, strict=True)) / everything
            spread.append(sum(w * (row[j] - mean) ** 2 for w, row in zip(weights, values, strict=True)) / everything)
        floor = decimal(options["var_smoothing"]) * max(spread)
        mean_of = [[summed(c, j) / n[c] for j in columns] for c in classes]
        variance = [
            [sum((weights[i] * (values[i][j] - mean_of[c][j]) ** 2 for i in of[c]), Decimal(0)) / n[c] + floor
             for j in columns] for c in classes
        ]  # fmt: skip
        turn = 2 * Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803")

        def term(c: int, j: int, v: Decimal) -> Decimal:
            return -((turn * variance[c][j]).ln() + (v - mean_of[c][j]) ** 2 / variance[c][j]) / 2

    elif name == "MultinomialNB":
        top = [[summed(c, j) + added(j) for j in columns] for c in classes]
        logs = [[(top[c][j] / sum(top[c])).ln() for j in columns] for c in classes]

        def term(c: int, j: int, v: Decimal) -> Decimal:
            return v * logs[c][j]

    elif name == "BernoulliNB":

        def term(c: int, j: int, v: Decimal) -> Decimal:
            p = (summed(c, j) + added(j)) / (n[c] + 2 * added(j))
            return (p if v else 1 - p).ln()

    else:

        def term(c: int, j: int, v: Decimal) -> Decimal:
            count = sum((weights[i] for i in of[c] if values[i][j] == v), Decimal(0))
            return ((count + added(j)) / (n[c] + added(j) * (int(X[:, j].max()) + 1))).ln()

    return [[prior[c] + sum(term(c, j, v) for j, v in enumerate(row)) for c in classes] for row in values]


@pytest.mark.parametrize("name", ["BernoulliNB", "CategoricalNB", "GaussianNB", "MultinomialNB"])
def test_random_configurations_are_right_by_80_digits(name: str) -> None:
    digits = 1e-9 if name == "GaussianNB" else 1e-12
    for seed in range(12):
        options, X, y, weight = drawn(name, np.random.default_rng([8, seed]))
        X, y, weight = X[:14], y[:14], None if weight is None else weight[:14]
        clf = getattr(naively, name)(**options).fit(X, y, weight)
        with localcontext() as context:
            context.prec = 80
            joint = decimal_joint(name, options, X, y, weight)
            totals = [sum(v.exp() for v in row).ln() for row in joint]
            exact = [[float(v - total) for v in row] for row, total in zip(joint, totals, strict=True)]
        expected = np.array([[float(v) for v in row] for row in joint])
        scale = np.maximum(np.abs(expected).max(), 1.0)
        found = clf.predict_joint_log_proba(X)
        np.testing.assert_allclose(found, expected, rtol=digits, atol=digits, err_msg=f"seed {seed}: {options}")
        np.testing.assert_allclose(clf.predict_log_proba(X), exact, rtol=digits * scale, atol=digits * scale)


# --- river, Weka, Spark

WORDS = np.array([[2, 1, 0, 0], [0, 0, 3, 0], [0, 4, 1, 0], [1, 0, 2, 0], [0, 1, 0, 5]])
TOPICS = np.array(["x", "y", "x", "y", "z"])
ASKED = np.array([[1, 1, 0, 0], [0, 0, 2, 1], [3, 0, 0, 0]])
RIVER = {  # the answers of river 0.26.1: joint_log_likelihood of each row that is asked, for x, y and z
    "MultinomialNB": [
        [-2.995732273553991, -4.828313737302301, -5.521460917862246],
        [-6.984716320118266, -4.240527072400182, -6.725433722188182],
        [-5.075173815233827, -5.744604469176456, -8.517193191416236],
    ],
    "ComplementNB": [
        [4.1588830833596715, 2.7362210780689065, 2.6026896854443837],
        [2.9424877590351786, 5.493061443340549, 4.7792949755778675],
        [6.238324625039507, 5.375278407684165, 4.512232190328822],
    ],
    "BernoulliNB": [
        [-2.8779492312309407, -4.669708695792329, -4.617592696986648],
        [-5.0751738032338265, -3.5710964097908864, -4.617592696986648],
        [-3.976561517232384, -3.5710964097908864, -5.310739876046594],
    ],
}


@pytest.mark.parametrize("name", RIVER)
def test_a_stream_of_rows_scores_as_in_river(name: str) -> None:
    clf = getattr(naively, name)(alpha=1.0)
    for row, label in zip(WORDS, TOPICS, strict=True):
        learn(clf, row[None], [label])
    digits = 1e-8 if name == "BernoulliNB" else 1e-13  # to each probability of presence, river adds 1e-9
    np.testing.assert_allclose(clf.predict_joint_log_proba(ASKED), RIVER[name], rtol=digits)


def test_a_stream_of_numbers_is_as_probable_as_in_river() -> None:
    X = [[1.0, 2.0], [4.0, 1.5], [8.0, 0.5], [3.5, 1.0], [2.5, 3.0], [7.0, 2.2]]
    clf = naively.GaussianNB(var_smoothing=0.0)
    for row, label in zip(X, [0, 0, 1, 1, 0, 1], strict=True):
        learn(clf, [row], [label])
    river = [[-5.344859309294446, -3.2770496573417986], [-2.51771646759853, -4.512938975840318]]  # river 0.26.1
    joint = clf.predict_joint_log_proba([[4.5, 1.0], [3.0, 1.8]])
    np.testing.assert_allclose(joint, river, rtol=1e-7)  # to each density, river adds a little


def by_fractions(prior: list[Fraction], factors: list[list[list[Fraction]]]) -> list[list[float]]:
    """Posteriors of rows, from the prior of each class and the factors of each row and class."""
    result = []
    for row in factors:
        joint = [p * np.prod(np.array(chances, dtype=object)) for p, chances in zip(prior, row, strict=True)]
        result.append([float(p / sum(joint)) for p in joint])
    return result


def word_counts() -> tuple[list[list[int]], list[int]]:
    """How often each class has each word, and how many rows it has."""
    by_class = [WORDS[np.array(TOPICS) == c] for c in "xyz"]
    return [part.sum(axis=0).tolist() for part in by_class], [len(part) for part in by_class]


def test_multinomial_probabilities_are_those_of_weka_and_of_spark() -> None:
    """Both smooth the prior as well: Weka (NaiveBayesMultinomial) by 1, Spark (NaiveBayes) by its parameter."""
    counts, rows = word_counts()
    for added in (Fraction(1), Fraction(1, 4)):  # 1 is Weka's and Spark's own choice
        prior = [(n + added) / (5 + 3 * added) for n in rows]
        chance = [[(v + added) / (sum(own) + 4 * added) for v in own] for own in counts]
        factors = [[[p**n for p, n in zip(own, row, strict=True)] for own in chance] for row in ASKED.tolist()]
        clf = naively.MultinomialNB(alpha=float(added), class_prior=naively.Smoothed(float(added))).fit(WORDS, TOPICS)
        np.testing.assert_allclose(clf.predict_proba(ASKED), by_fractions(prior, factors), rtol=1e-14)


def test_presences_are_as_probable_as_in_spark() -> None:
    """NaiveBayes(modelType="bernoulli"): (n_cw + λ) / (n_c + 2λ), and a prior of (n_c + λ) / (n + λ C)."""
    there = [(WORDS[np.array(TOPICS) == c] > 0).sum(axis=0).tolist() for c in "xyz"]
    _, rows = word_counts()
    for added in (Fraction(1), Fraction(1, 2)):
        prior = [(n + added) / (5 + 3 * added) for n in rows]
        chance = [[(v + added) / (n + 2 * added) for v in own] for own, n in zip(there, rows, strict=True)]
        factors = [
            [[p if v else 1 - p for p, v in zip(own, row, strict=True)] for own in chance] for row in ASKED.tolist()
        ]
        clf = naively.BernoulliNB(alpha=float(added), class_prior=naively.Smoothed(float(added))).fit(WORDS, TOPICS)
        np.testing.assert_allclose(clf.predict_proba(ASKED), by_fractions(prior, factors), rtol=1e-14)


def test_categories_are_as_probable_as_in_weka() -> None:
    """NaiveBayes on nominal attributes: 1 is added to every count, those of the classes too; missing says nothing."""
    X = [["sunny", "hot"], ["sunny", "mild"], ["rain", "mild"], ["rain", "cool"], ["fog", "cool"], [None, "mild"]]
    y = ["no", "no", "yes", "yes", "yes", "no"]
    clf = naively.CategoricalNB(alpha=1.0, class_prior=naively.Smoothed(1.0)).fit(X, y)
    sky = {"no": Fraction(3, 5), "yes": Fraction(1, 6)}  # sunny: 2 of 2 and 0 of 3, of three skies
    air = {"no": Fraction(3, 6), "yes": Fraction(2, 6)}  # mild: 2 of 3 and 1 of 3, of three airs
    prior = [Fraction(4, 8), Fraction(4, 8)]
    expected = by_fractions(prior, [[[sky[c], air[c]] for c in ("no", "yes")], [[air[c]] for c in ("no", "yes")]])
    np.testing.assert_allclose(clf.predict_proba([["sunny", "mild"], [None, "mild"]]), expected, rtol=1e-14)
