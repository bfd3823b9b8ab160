"""What reviewers found, each kept from coming back."""

from __future__ import annotations

import pickle
import threading
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError

import naively

RNG = np.random.default_rng(0)
WIDE = sparse.csr_matrix(
    (RNG.integers(1, 4, 8_000).astype(float), RNG.integers(0, 3_000, 8_000), np.arange(0, 8_001, 20)), (400, 3_000)
)
WIDE.sum_duplicates()
LABELS = RNG.integers(0, 4, 400)


def whole_table(clf: Any, X: Any) -> Any:
    """Scores by the table of all features, never by one of those touched alone."""
    return clf.table_.score({"features": X}, X.shape[0]).joint


@pytest.mark.parametrize("name", ["BernoulliNB", "PoissonNB", "MultinomialNB", "ComplementNB"])
def test_fractions_and_whole_counts_may_come_in_turns(name: str) -> None:
    clf = getattr(naively, name)().fit(WIDE, LABELS)
    clf.predict(WIDE[1])
    for weight in (0.5, 1.0, 0.25):
        clf.partial_fit(WIDE[0], LABELS[:1], sample_weight=[weight])
        few = clf.predict_joint_log_proba(WIDE[1])
        np.testing.assert_allclose(few, whole_table(clf, WIDE[1]), rtol=1e-10)
    for weight in (0.5, 0.25):
        clf.forget(WIDE[0], LABELS[:1], sample_weight=[weight])
    assert clf.tally_.part.cells.values.dtype == np.int64
    np.testing.assert_allclose(clf.predict_joint_log_proba(WIDE[1]), whole_table(clf, WIDE[1]), rtol=1e-10)


@pytest.mark.parametrize("name", ["BernoulliNB", "PoissonNB"])
def test_counts_beyond_thirty_one_bits_are_scored_as_any_other(name: str) -> None:
    heavy = getattr(naively, name)().fit(WIDE, LABELS, sample_weight=np.full(400, 2.0**33))
    np.testing.assert_allclose(heavy.predict_joint_log_proba(WIDE[1]), whole_table(heavy, WIDE[1]), rtol=1e-10)
    clf = getattr(naively, name)().fit(WIDE, LABELS)
    clf.predict(WIDE[1])
    clf.partial_fit(WIDE[0], LABELS[:1], sample_weight=[2.0**33])
    np.testing.assert_allclose(clf.predict_joint_log_proba(WIDE[1]), whole_table(clf, WIDE[1]), rtol=1e-10)


@pytest.mark.parametrize("covariance", ["spherical", "diagonal", "tied", "full"])
def test_numbers_whose_squares_overflow_are_named(covariance: str) -> None:
    X, y = [[1e200], [-1e200], [1.0], [2.0]], [0, 0, 1, 1]
    with pytest.raises(
        naively.InputError, match=r"column 0 .* in class 0; rescale"
    ):  # exact sums hold them: only a table of theirs does not
        naively.GaussianClassifier(covariance=covariance).fit(X, y).predict([[1.0]])


def test_counts_that_overflow_are_named() -> None:
    with pytest.raises(naively.InputError, match=r"column 0 adds up to more than 2\^62; rescale it"):
        naively.MultinomialNB().fit([[1e308, 1], [1e308, 1]], [0, 0])


def test_a_fraction_is_no_category_however_few_rows_come() -> None:
    codes = RNG.integers(0, 300, (2_000, 2))
    clf = naively.CategoricalNB().fit(codes, RNG.integers(0, 3, 2_000))
    with pytest.raises(naively.InputError, match="Negative values"):
        clf.predict([[1.5, -0.5]])
    with pytest.raises(naively.InputError, match=r"row 0, column 1 is 2\.5"):
        clf.predict([[1.0, 2.5]])


def test_float32_is_compared_with_the_threshold_alike_everywhere() -> None:
    X = np.array([[0.1, 1], [0.1, 1], [0.2, 0], [0.1, 0]], np.float32)
    y = [0, 1, 0, 1]
    dense, rows = (
        naively.BernoulliNB(binarize=0.1).fit(X, y),
        naively.BernoulliNB(binarize=0.1).fit(sparse.csr_matrix(X), y),
    )
    np.testing.assert_array_equal(dense.feature_count_, rows.feature_count_)
    np.testing.assert_array_equal(
        rows.predict_proba(sparse.csr_matrix(X[:3])), rows.predict_proba(sparse.csr_matrix(X))[:3]
    )


def test_merging_tells_long_parameters_apart_and_keeps_declared_classes() -> None:
    alpha = np.ones(3_000)
    other = alpha.copy()
    other[1_500] = 7
    a, b = naively.MultinomialNB(alpha=alpha).fit(WIDE, LABELS), naively.MultinomialNB(alpha=other).fit(WIDE, LABELS)
    with pytest.raises(naively.InputError, match="same parameters"):
        naively.merge(a, b)
    c, d = (naively.MultinomialNB().partial_fit([[1, 2]], [k], classes=[0, 1, 2]) for k in (0, 1))
    assert naively.merge(c, d).forget([[1, 2]], [1]).classes_.tolist() == [0, 1, 2]
    with pytest.raises(naively.InputError, match="cannot merge 2 features with 3"):
        naively.merge(c, naively.MultinomialNB().fit([[1, 2, 3]], [0]))


def test_forgetting_fractions_leaves_no_ghost_of_a_class() -> None:
    clf = naively.MultinomialNB().fit(WIDE, LABELS)
    before = clf.tally_
    for weight in (0.1, 0.2):
        clf.partial_fit(WIDE[0], [9], sample_weight=[weight])
    with pytest.raises(naively.NegativeCount, match=r"0\.3 rows, 0\.3 to forget \(2\.8e-17 too many\)"):
        clf.forget(WIDE[0], [9], sample_weight=[0.1 + 0.2])  # which is rounded up
    assert clf.forget(WIDE[0], [9], sample_weight=[0.2]).classes_.tolist() == [0, 1, 2, 3, 9]
    assert clf.forget(WIDE[0], [9], sample_weight=[0.1]).classes_.tolist() == [0, 1, 2, 3]
    assert clf.tally_ == before


def test_predicting_goes_on_while_learning_fails() -> None:
    clf = naively.MultinomialNB().fit(WIDE, LABELS)
    failures: list[BaseException] = []
    done = threading.Event()

    def predict() -> None:
        while not done.is_set():
            try:
                clf.predict(WIDE[:5])
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=predict) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        with pytest.raises(ValueError, match="sample_weight"):
            clf.partial_fit(WIDE[:3], LABELS[:3], sample_weight=[1, -1, 1])
        clf.partial_fit(WIDE[:1], [7])
        clf.forget(WIDE[:1], [7])
    done.set()
    for thread in threads:
        thread.join()
    assert not failures


def test_what_counting_depends_on_cannot_be_changed_afterwards() -> None:
    clf = naively.BernoulliNB().fit([[1, 3], [3, 1]], [0, 1])
    with pytest.raises(naively.InputError, match=r"counted with binarize=0.0, now it is 2"):
        clf.set_params(binarize=2).predict([[1, 3]])
    rows = RNG.normal(size=(30, 3))
    full = naively.GaussianClassifier(covariance="full").fit(rows, [0, 1, 2] * 10)
    plain = naively.GaussianClassifier(covariance="diagonal").fit(rows, [0, 1, 2] * 10)
    np.testing.assert_allclose(full.set_params(covariance="diagonal").predict_proba(rows), plain.predict_proba(rows))
    with pytest.raises(naively.InputError, match="needs a new fit"):
        plain.set_params(covariance="full").predict(rows)


def test_parameters_set_between_predictions_are_checked_each_time() -> None:
    table = {"x": ["a", "b", "b"], "n": [1.0, 2.0, 2.5]}
    for model, rows in ((naively.NaiveBayes(), table), (naively.TextClassifier(), ["good", "bad", "so so"])):
        model.fit(rows, ["yes", "no", "no"])
        for _ in range(2):
            labels = model.predict(rows).tolist()
            with pytest.raises(InvalidParameterError, match="prior"):
                model.set_params(prior=3.5).predict(rows)
            assert model.set_params(prior=None).predict(rows).tolist() == labels
        assert pickle.loads(pickle.dumps(model)).predict(rows).tolist() == labels
        with pytest.raises(InvalidParameterError, match="alpha"):
            clone(model).set_params(alpha="enough").fit(rows, ["yes", "no", "no"])


def test_an_explanation_agrees_with_the_decision_where_factors_are_impossible() -> None:
    clf = naively.MultinomialNB(alpha=0.0).fit([[1, 1, 8], [9, 0, 1]], ["a", "b"])
    explanation = clf.explain([[2, 1, 0]])
    np.testing.assert_array_equal(explanation.score, clf.predict_joint_log_proba([[2, 1, 0]])[0])
    assert explanation.shares[1].tolist()[1] == -np.inf
    assert explanation.top()[0] == (1, np.inf)
    codes = naively.CategoricalNB(alpha=0.0).fit([[0, 1], [1, 0]], ["a", "b"])
    assert str(codes.explain(sparse.csr_matrix([[0, 1]]))).count("-inf") == 3


@pytest.mark.parametrize("name", ["MultinomialNB", "BernoulliNB"])
def test_faults_are_named_by_their_own_row_and_column(name: str) -> None:
    clf = getattr(naively, name)().fit(WIDE, LABELS)
    one = WIDE[:1].copy()
    one.indices[3], one.data[3] = 2_777, np.inf
    with pytest.raises(naively.InputError, match="row 0, column 2777"):
        clf.predict(one)
    one.indices[3] = 5_000
    with pytest.raises(ValueError, match=r"damaged|must be <"):
        clf.predict(one)
    many = np.zeros((300_000, 5))
    many[299_999, 2] = np.inf
    clf = getattr(naively, name)().fit(np.ones((4, 5)), [0, 1, 2, 3])
    with pytest.raises(naively.InputError, match="row 299999, column 2"):
        clf.predict(many)


def test_faults_in_blocks_of_sparse_rows_name_their_own_row() -> None:
    X = sparse.random(5_000, 1_000, density=0.001, format="csr", random_state=0)
    X.data[-1] = np.inf
    row = int(np.searchsorted(X.indptr, X.nnz - 1, "right")) - 1
    with pytest.raises(naively.InputError, match=f"row {row}, column"):
        naively.GaussianNB().fit(X, np.zeros(5_000, int))


def test_what_cannot_be_forgotten_is_called_by_name() -> None:
    clf = naively.CategoricalNB().fit([["a"], ["b"], ["b"]], ["x", "y", "y"])
    with pytest.raises(naively.NegativeCount, match="column 0, category 'a' in class 'y'"):
        clf.forget([["a"]], ["y"])
    wide = naively.MultinomialNB().fit(WIDE, LABELS)
    stranger = sparse.csr_matrix(([9_999.0], [777], [0, 1]), (1, 3_000))
    with pytest.raises(naively.NegativeCount, match="feature 777 in class 2"):
        wide.forget(stranger, [2])


def test_missing_values_in_lists_of_text_are_missing() -> None:
    X = [["red", "round"], ["red", float("nan")], ["green", "long"]]
    clf = naively.CategoricalNB().fit(X, ["apple", "apple", "cucumber"])
    assert clf.categories_[1].tolist() == ["long", "round"]
    np.testing.assert_array_equal(clf.predict_proba([["red", float("nan")]]), clf.predict_proba([["red", None]]))
    np.testing.assert_allclose(clf.predict_proba([[float("nan"), float("nan")]]), [[2 / 3, 1 / 3]])
    mixed = naively.CategoricalNB().fit([["a", 1], ["b", 2]], [0, 1])
    assert mixed.predict([["b", 2], [None, 2]]).tolist() == [1, 1]


def test_a_feature_that_no_class_ever_saw_says_nothing_however_large() -> None:
    clf = naively.GaussianNB().fit([[1.0, np.nan], [9.0, np.nan]], [0, 1])
    np.testing.assert_array_equal(clf.predict_proba([[1.0, 1e200]]), clf.predict_proba([[1.0, np.nan]]))


def test_weights_too_small_to_count_make_no_cells() -> None:
    X = sparse.csr_matrix(np.full((3, 2), 1e-200))
    tally = naively.MultinomialNB().fit(X, [0, 0, 0], sample_weight=[0.5] * 3).tally_
    assert tally.rows.tolist() == [1.5]
    assert len(tally.part.cells) == 0
    with pytest.raises(naively.InputError, match=r"every weight is zero or rounded to zero \(below 2\^-65\)"):
        naively.MultinomialNB().fit(X, [0, 0, 0], sample_weight=[1e-200] * 3)


def test_classes_handed_out_are_copies() -> None:
    clf = naively.MultinomialNB().fit([[1], [2]], ["a", "b"])
    clf.classes_[0] = "z"
    assert clf.predict([[1]]).tolist() == ["a"]
    assert clf.classes_.tolist() == ["a", "b"]


def test_dates_are_refused_as_numbers_and_as_labels() -> None:
    dates = np.array(["2026-01-01", "NaT"], dtype="M8[D]")
    with pytest.raises(naively.InputError, match="got dates"):
        naively.GaussianNB().fit(dates[:, None], [0, 1])
    with pytest.raises(naively.InputError, match="convert them to text"):
        naively.GaussianNB().fit([[1.0], [2.0]], dates)


def test_forged_arrow_tables_are_refused_or_read_in_the_right_types() -> None:
    import pyarrow as pa

    tally = naively.MultinomialNB().fit([[1, 2]], [0]).tally_
    table = tally.to_arrow()
    names = table.column_names[1:]
    narrow = pa.table({name: table[name].cast(pa.list_(table[name].type.value_type)) for name in names})
    assert naively.Tally.from_arrow(narrow.add_column(0, "naively", table["naively"])) == tally
    for column in names[1:]:  # without those of the classes, which may be any numbers
        kind = table[column].type.value_type
        forged = [[], [-1], [-1, -1], [1, 2, 3], [None], [1, None], None]
        for values in (pa.array([v], pa.large_list(kind)) for v in forged):
            with pytest.raises(naively.InputError, match="from Arrow"):
                naively.Tally.from_arrow(table.set_column(table.column_names.index(column), column, values))
        floats = table[column].cast(pa.large_list(pa.float64()))
        with pytest.raises(naively.InputError, match="from Arrow"):
            naively.Tally.from_arrow(table.set_column(table.column_names.index(column), column, floats))
        with pytest.raises(naively.InputError, match="from Arrow"):
            naively.Tally.from_arrow(table.drop_columns([column]))
    document = table["naively"].to_pylist()[0]
    for bad in ("", "[]", "3", document[:-1], document.replace('"version": ', '"version": 9'), "null"):
        with pytest.raises(naively.InputError, match=r"to_arrow|version"):
            naively.Tally.from_arrow(table.set_column(0, "naively", pa.array([bad])))
    for bad in (
        document.replace('"is": "Tally"', '"is": "Index"'),
        document.replace('"is": "Counts"', '"is": "Popen"'),
    ):
        with pytest.raises(naively.InputError, match="from Arrow"):
            naively.Tally.from_arrow(table.set_column(0, "naively", pa.array([bad])))
    for none in (None, pa.table({}), pa.concat_tables([table, table]), table.slice(1)):
        with pytest.raises(naively.InputError, match="one row made by to_arrow"):
            naively.Tally.from_arrow(none)


def test_a_rule_with_too_few_alphas_is_refused() -> None:
    with pytest.raises(naively.InputError, match="got 2 for 3 features"):
        naively.MultinomialNB(alpha=naively.Additive((1.0, 2.0))).fit([[1, 2, 3]], [0])


@pytest.mark.parametrize(
    "name", ["MultinomialNB", "BernoulliNB", "CategoricalNB", "GaussianNB", "PoissonNB", "ComplementNB"]
)
@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("indices", [10**8] * 6),
        ("indices", [-(10**8)] * 6),
        ("indptr", [0, 10**8, 4]),
        ("indptr", [1, 3, 6]),
        ("indptr", [0, 6]),
    ],
)
def test_damaged_sparse_rows_are_refused_by_every_family(name: str, part: str, values: list[int]) -> None:
    good = sparse.csr_matrix(np.array([[1.0, 2, 3], [4, 1, 3]]))
    clf = getattr(naively, name)().fit(good, [0, 1])
    bad = good.copy()
    setattr(bad, part, np.array(values, np.int32))
    for call in (clf.predict, lambda X: getattr(naively, name)().fit(X, [0, 1])):
        with pytest.raises(ValueError, match=r"damaged|ind"):
            call(bad)


def test_tables_of_categories_are_bounded_in_all() -> None:
    with pytest.raises(naively.InputError, match="which would make a table of that many categories"):
        naively.CategoricalNB().fit(np.full((4, 200), 10**6), [0, 1, 0, 1])
    for least in (10**12, [-5, 3], 0):
        with pytest.raises(ValueError, match="min_categories"):
            naively.CategoricalNB(min_categories=least).fit([[1, 2], [0, 1]], [0, 1])


def test_labels_of_odd_types_stay_apart() -> None:
    X = [[1, 2], [0, 1], [2, 2], [1, 0]]
    wide = naively.PoissonNB().fit(X, [2**53, 2**53 + 1] * 2).partial_fit(X[:1], [7.0])
    assert len(set(wide.classes_.tolist())) == 3
    long = naively.GaussianNB().fit(X, np.array([1, 2, 1, 2], dtype=np.longdouble))
    assert long.classes_.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("classes", [[np.nan, 0, 1], [[0, 1], [2, 3]], [1j, 2], 5, [None, 1]])
def test_classes_are_checked_like_labels(classes: Any) -> None:
    with pytest.raises(naively.InputError, match="classes"):
        naively.MultinomialNB().partial_fit([[1], [2]], [0, 1], classes=classes)


def test_numbers_beyond_float64_are_named() -> None:
    with pytest.raises(naively.InputError, match="row 0, column 0"):
        naively.MultinomialNB().fit(np.array([[10**400, 1], [1, 2]], dtype=object), [0, 1])
    with pytest.raises(naively.InputError, match="sample_weight"):
        naively.MultinomialNB().fit([[1], [2]], [0, 1], sample_weight=[10**400] * 2)
    for clf in (naively.GaussianClassifier(), naively.CategoricalNB(), naively.GaussianNB()):
        with pytest.raises(naively.InputError, match="sample_weight"):
            clf.fit([[1], [2]], [0, 1], sample_weight=[1.7e308] * 2)
    with pytest.raises(naively.InputError, match=r"row 0, column 1.*rescale"):
        naively.GaussianNB().fit([[1.0, 2], [2, 1], [3, 4], [4, 3]], [0, 0, 1, 1]).predict([[1.0, 1e300]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: naively.Smoothed("x"),
        lambda: naively.Epsilon("x"),
        lambda: naively.Given("abc"),
        lambda: naively.Additive("x"),
        lambda: naively.Additive(10**400),
    ],
)
def test_rules_of_no_numbers_are_refused(make: Any) -> None:
    with pytest.raises(naively.InputError, match="must be"):
        make()


def test_large_codes_are_unseen_in_few_rows_as_in_many() -> None:
    codes = RNG.integers(0, 50, (2_000, 40))
    clf = naively.CategoricalNB().fit(codes, np.arange(2_000) % 3)
    few = clf.predict_proba(np.full((1, 40), 1e19))
    np.testing.assert_allclose(few, clf.predict_proba(np.full((500, 40), 1e19))[:1])


def test_a_tally_goes_only_with_a_tally() -> None:
    tally = naively.MultinomialNB().fit([[1], [2]], [0, 1]).tally_
    for other in (3, naively.GaussianNB().fit([[1], [2]], [0, 1]).tally_):
        with pytest.raises(naively.InputError, match="cannot be put together"):
            tally + other
