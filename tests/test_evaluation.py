"""Judging: evaluation, comparison, bias and variance, learning curves, against scikit-learn and brute force."""

import io
import pickle
import sys
from io import StringIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sklearn import metrics
from sklearn.linear_model import LogisticRegression

from naively import (
    Best,
    DataWarning,
    GaussianNB,
    InputError,
    MultinomialNB,
    NaiveBayes,
    TextClassifier,
    bias_variance,
    compare,
    cross_validate,
    evaluate,
    film_reviews,
    learning_curve,
    leave_one_out,
    report,
)
from naively.judge import comparison as comparison_module
from naively.judge.bias_variance import BiasVarianceRow
from naively.judge.comparison import counting_key, selections
from naively.judge.ranking import Coverage, class_ranking
from naively.judge.training import shuffled
from naively.learn.held_out import folds
from naively.report import tracked

WORDS = ["good", "fine", "bad", "dull", "film", "plot", "the", "a"]


def text_model(**parameters):
    plain = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 1.0, "calibrate": False}
    return TextClassifier(**{**plain, **parameters})


def counts(rows=60, classes=3, features=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=rows)
    rates = rng.gamma(1.0, 1.5, (classes, features))
    return rng.poisson(rates[y]), np.array(["ant", "bee", "cat", "dog"])[y]


def measures(rows=60, seed=1):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 3
    return rng.normal(y[:, None], 1.5, (rows, 3)), y


def some_texts(rows=45, seed=2):
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    weight = np.array([[3, 3, 1, 1, 2, 2, 2, 2], [1, 1, 3, 3, 2, 2, 2, 2]]) / 16
    return [" ".join(rng.choice(WORDS, 4, p=weight[k])) for k in y], np.array(["pos", "neg"])[y]


def taken(X, rows):
    return X[rows] if isinstance(X, np.ndarray) else [X[i] for i in rows]


CASES = {
    "counts": (MultinomialNB(alpha=0.5), counts()),
    "numbers": (GaussianNB(), measures()),
    "texts": (text_model(), some_texts()),
}
case = pytest.mark.parametrize(("model", "data"), CASES.values(), ids=CASES)


def refitted(model, X, y, train, test, **parameters):
    """Labels and probabilities of some rows by a model fitted on others, without any tally at hand."""
    fresh = type(model)(**{**model.get_params(), **parameters}).fit(taken(X, train), y[train])
    assert list(fresh.classes_) == sorted(set(y.tolist()))
    return fresh.predict(taken(X, test)), fresh.predict_proba(taken(X, test))


# --- evaluate


@pytest.mark.parametrize("weighted", [False, True])
@case
def test_figures_are_those_of_scikit_learn(model, data, weighted):
    X, y = data
    half = len(y) // 2
    model = type(model)(**model.get_params()).fit(taken(X, range(half)), y[:half])
    X, y = taken(X, range(half, len(y))), y[half:]
    weight = np.random.default_rng(0).random(len(y)) if weighted else None
    found = evaluate(model, X, y, sample_weight=weight)
    decided, proba, classes = model.predict(X), model.predict_proba(X), model.classes_
    assert found.rows == len(y)
    assert found.classes.tolist() == classes.tolist()
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, decided, sample_weight=weight))
    for average in ("micro", "macro", "weighted"):
        expected = metrics.f1_score(y, decided, average=average, sample_weight=weight)
        assert getattr(found, f"f1_{average}") == pytest.approx(expected)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, proba, labels=classes, sample_weight=weight))
    apart = ((proba - (y[:, None] == classes)) ** 2).sum(axis=1)
    assert found.brier == pytest.approx(np.average(apart, weights=weight))
    np.testing.assert_array_equal(
        found.confusion, metrics.confusion_matrix(y, decided, labels=classes, sample_weight=weight)
    )
    expected = metrics.precision_recall_fscore_support(y, decided, labels=classes, sample_weight=weight)
    for mine, theirs in zip((found.precision, found.recall, found.f1, found.support), expected, strict=True):
        np.testing.assert_allclose(mine, theirs)
    for k, name in enumerate(classes):
        one = y == name, proba[:, k]
        assert found.roc_auc[k] == pytest.approx(metrics.roc_auc_score(*one, sample_weight=weight))
        assert found.average_precision[k] == pytest.approx(metrics.average_precision_score(*one, sample_weight=weight))
    assert found.roc_auc_macro == pytest.approx(found.roc_auc.mean())
    assert found.average_precision_macro == pytest.approx(found.average_precision.mean())


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.1, 0.3, 0.5]), st.sampled_from([0.0, 0.5, 1.0, 3.0])),
        min_size=1,
        max_size=12,
    )
)
def test_ranks_with_ties_weights_and_absent_classes_are_those_of_scikit_learn(rows):
    truth, score, weight = (np.array(column) for column in zip(*rows, strict=True))
    proba = np.stack([score, 1 - score, 0.5 - score], axis=1)
    auc, precision = class_ranking(proba, truth, weight)
    for k in range(3):
        one = {"y_true": truth == k, "y_score": proba[:, k], "sample_weight": weight}
        own, others = weight[truth == k].sum() > 0, weight[truth != k].sum() > 0
        assert np.isnan(precision[k]) == (not own)
        assert np.isnan(auc[k]) == (not (own and others))
        if own:
            assert precision[k] == pytest.approx(metrics.average_precision_score(**one))
        if own and others:
            assert auc[k] == pytest.approx(metrics.roc_auc_score(**one))


@given(
    st.lists(
        st.tuples(st.sampled_from([0.4, 0.5, 0.8, 1.0]), st.booleans(), st.sampled_from([0.0, 1.0, 2.5])),
        min_size=1,
        max_size=12,
    ).filter(lambda rows: any(weight for _, _, weight in rows))
)
def test_coverage_is_what_leaving_rows_undecided_would_show(rows):
    probability, right, weight = (np.array(column) for column in zip(*rows, strict=True))
    found = Coverage.of(probability, right, weight)
    expected = []
    for threshold in sorted(set(probability), reverse=True):
        decided = probability >= threshold
        if weight[decided].sum() > 0:
            share = weight[decided].sum() / weight.sum()
            expected.append((threshold, share, weight[decided & right].sum() / weight[decided].sum()))
    np.testing.assert_allclose(np.stack([found.threshold, found.coverage, found.precision], axis=1), expected)
    assert found.at_coverage(1.0)[1] == pytest.approx(1.0)
    best = found.at_precision(float(found.precision.max()))
    assert best is not None
    assert found.at_precision(0.0) == pytest.approx(expected[-1])


def test_coverage_is_looked_up_and_shown():
    found = Coverage.of(np.array([0.9, 0.6, 0.8, 0.6]), np.array([True, False, True, False]), np.ones(4))
    assert found.at_coverage(0.3) == found.at_precision(1.0) == (0.8, 0.5, 1.0)
    assert Coverage.of(np.array([0.9]), np.array([False]), np.ones(1)).at_precision(0.1) is None
    assert found.to_frame().columns.tolist() == ["threshold", "coverage", "precision"]
    assert found.plot().get_xlabel() == "coverage"
    for lookup in (found.at_coverage, found.at_precision):
        with pytest.raises(InputError, match="must be from 0 to 1, got 95"):
            lookup(95)


def test_the_curve_of_an_evaluation_is_that_of_the_decided_labels():
    X, y = counts()
    model = MultinomialNB().fit(X, y)
    found = evaluate(model, X, y).coverage
    threshold, coverage, precision = found.at_coverage(0.5)
    decided = model.predict_proba(X).max(axis=1) >= threshold
    assert coverage == pytest.approx(decided.mean())
    assert precision == pytest.approx((model.predict(X) == y)[decided].mean())


def test_a_class_without_rows_has_no_rank_and_no_part_in_the_means():
    X, y = counts()
    model = MultinomialNB().fit(X, y)
    found = evaluate(model, X[y != "cat"], y[y != "cat"])
    assert np.isnan(found.roc_auc).tolist() == np.isnan(found.average_precision).tolist() == [False, False, True]
    assert found.roc_auc_macro == pytest.approx(found.roc_auc[:2].mean())


def test_of_two_classes_the_brier_score_is_twice_scikit_learns():
    X, y = some_texts()
    model = text_model().fit(X, y)
    expected = 2 * metrics.brier_score_loss(y == "pos", model.predict_proba(X)[:, 1])
    assert evaluate(model, X, y).brier == pytest.approx(expected)


def test_calibration_error_by_hand():
    class Given:
        classes_ = np.array([0, 1])

        def __sklearn_is_fitted__(self):
            return True

        def predict_proba(self, X):
            return np.asarray(X, dtype=float)

    sure = np.array([0.9, 0.91, 0.62, 0.65, 1.0])
    right = np.array([1, 0, 1, 1, 0])
    X = np.stack([sure, 1 - sure], axis=1)
    # In bins of a fifteenth: 0.9 and 0.91, 0.62 and 0.65, 1.0.
    expected = (abs(1 - 1.81) + abs(2 - 1.27) + abs(0 - 1.0)) / 5
    assert evaluate(Given(), X, 1 - right).calibration_error == pytest.approx(expected)


@pytest.mark.parametrize("held", [leave_one_out, cross_validate])
def test_held_out_rows_get_the_same_table(held):
    X, y = counts()
    weight = np.random.default_rng(0).random(len(y))
    found = held(MultinomialNB(), X, y, sample_weight=weight)
    told = evaluate(found)
    labels = found.scores.classes[found.truth]
    assert told.accuracy == pytest.approx(found.accuracy)
    assert told.log_loss == pytest.approx(found.log_loss)
    np.testing.assert_allclose(told.confusion, found.confusion)
    macro = metrics.f1_score(labels, found.labels, average="macro", sample_weight=weight)
    assert told.f1_macro == pytest.approx(macro)
    assert labels.tolist() == y.tolist()


def test_held_out_rows_bring_their_own_labels():
    X, y = counts()
    with pytest.raises(InputError, match="bring their own"):
        evaluate(leave_one_out(MultinomialNB(), X, y), X, y)


def test_models_of_others_are_judged_alike():
    X, y = measures()
    model = LogisticRegression().fit(X, y)
    found = evaluate(model, X, y)
    assert found.accuracy == model.score(X, y)
    assert found.log_loss == pytest.approx(metrics.log_loss(y, model.predict_proba(X)))


@pytest.mark.parametrize("given", [np.float32, np.float64])
def test_probabilities_of_either_width_are_taken(given):
    class Narrow(LogisticRegression):
        def predict_proba(self, X):
            return super().predict_proba(X).astype(given)

    X, y = measures()
    model = Narrow().fit(X, y)
    assert evaluate(model, X, y).log_loss == pytest.approx(metrics.log_loss(y, model.predict_proba(X)), rel=1e-6)


def test_a_label_never_seen_is_a_class_that_is_never_decided():
    X, y = [[3, 0], [0, 2], [1, 0]], ["b", "d", "b"]
    model = MultinomialNB().fit(X, y)
    proba = model.predict_proba(X)
    with pytest.warns(DataWarning, match=r"1 of 3 rows have a label that the model never saw \('c'\)"):
        found = evaluate(model, X, ["b", "c", "b"])
    assert found.unknown == found.clipped == 1
    assert found.classes.tolist() == ["b", "c", "d"]
    assert found.confusion.tolist() == [[2, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert found.recall.tolist() == [1.0, 0.0, 0.0]
    assert found.support.tolist() == [2, 1, 0]
    assert found.accuracy == pytest.approx(2 / 3)
    eps = np.finfo(float).eps
    assert found.log_loss == pytest.approx(-(np.log(proba[0, 0]) + np.log(eps) + np.log(proba[2, 0])) / 3)
    wrong = 1 + (proba[1] ** 2).sum()
    assert found.brier == pytest.approx((2 * proba[0, 1] ** 2 + wrong + 2 * proba[2, 1] ** 2) / 3)


def test_rows_that_are_certainly_wrong_are_told():
    model = MultinomialNB(alpha=0.0).fit([[3, 0], [0, 2]], ["a", "b"])
    found = evaluate(model, [[1, 0], [0, 1]], ["a", "a"])
    assert (found.clipped, found.unknown) == (1, 0)
    assert found.log_loss == pytest.approx(-np.log(np.finfo(float).eps) / 2)


def test_a_single_class_is_sure():
    found = evaluate(MultinomialNB().fit([[1, 2]], ["a"]), [[1, 0], [0, 1]], ["a", "a"])
    assert (found.accuracy, found.log_loss, found.brier, found.calibration_error) == (1.0, 0.0, 0.0, 0.0)


def test_classes_that_are_not_in_the_rows_are_in_the_table_but_not_in_the_average():
    X, y = counts()
    model = MultinomialNB().fit(X, y)
    mine = (y == "ant") & (model.predict(X) != "bee")
    found = evaluate(model, X[mine], y[mine])
    assert found.classes.tolist() == ["ant", "bee", "cat"]
    assert found.f1_macro == pytest.approx(metrics.f1_score(y[mine], model.predict(X[mine]), average="macro"))
    assert found.support.tolist() == [mine.sum(), 0, 0]


@pytest.mark.parametrize("library", ["dict", "pandas", "polars", "pyarrow"])
def test_labels_may_be_a_column_of_the_table(library):
    columns = {"size": [1.0, 2.0, 1.5, 8.0, 9.0, 8.5], "kind": ["s", "s", "s", "l", "l", "l"]}
    table = columns if library == "dict" else pytest.importorskip(library)
    if library in ("pandas", "polars"):
        table = table.DataFrame(columns)
    elif library == "pyarrow":
        table = table.table(columns)
    model = NaiveBayes(alpha=1.0, calibrate=False).fit(table, "kind")
    by_name, by_values = evaluate(model, table, "kind"), evaluate(model, {"size": columns["size"]}, columns["kind"])
    assert by_name.to_dict() == by_values.to_dict()
    assert by_name.accuracy == 1.0


def test_rows_without_a_label_are_left_out():
    X, y = counts()
    model = MultinomialNB().fit(X, y)
    holes = y.astype(object)
    holes[::4] = None
    kept = np.arange(len(y)) % 4 != 0
    weight = np.arange(len(y)) + 1.0
    with pytest.warns(DataWarning, match="15 of 60 rows have no label"):
        found = evaluate(model, X, holes, sample_weight=weight)
    assert found.to_dict() == pytest.approx(evaluate(model, X[kept], y[kept], sample_weight=weight[kept]).to_dict())
    table = NaiveBayes(alpha=1.0, calibrate=False).fit(X, y)
    with pytest.warns(DataWarning, match="15 of 60 rows have no label"):
        found = evaluate(table, X, holes)
    assert found.to_dict() == pytest.approx(evaluate(table, X[kept], y[kept]).to_dict())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((MultinomialNB().fit([[1]], [0]), [[1]]), "y is None"),
        ((MultinomialNB().fit([[1]], [0]), [[1]], "y"), "only NaiveBayes reads labels from a column"),
        ((MultinomialNB().fit([[1]], [0]), [[1]], [0, 1]), "X has 1 rows, y 2|inconsistent numbers"),
        ((MultinomialNB().fit([[1]], [0]), [[1]], [None]), "no row has a label"),
        ((MultinomialNB().fit([[1]], [0]), [[1]], ["a"]), "all text or all numbers"),
        (("a model", [[1]], [0]), "expected a classifier with predict_proba"),
        ((text_model().fit(["a"], ["b"]), [], []), "no row to judge|0 sample"),
    ],
)
def test_what_cannot_be_judged_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        evaluate(*arguments)


def test_weights_that_are_all_zero_are_refused():
    X, y = counts()
    model = MultinomialNB().fit(X, y)
    with pytest.raises(InputError, match="every weight is zero"):
        evaluate(model, X, y, sample_weight=np.zeros(len(y)))
    with pytest.warns(DataWarning, match="no label"), pytest.raises(InputError, match="all rows have weight 0"):
        evaluate(model, X[:2], [None, "ant"], sample_weight=[1.0, 0.0])


def test_an_evaluation_shows_itself():
    X, y = counts()
    found = evaluate(MultinomialNB().fit(X, y), X, y)
    assert repr(found).startswith("Evaluation(60 rows, 3 classes, accuracy 0.")
    assert "\n" not in repr(found)
    lines = str(found).splitlines()
    assert lines[0].split() == ["rows", *list(found.to_dict())[1:]]
    assert lines[1].split()[:2] == ["60", f"{found.accuracy:.4f}"]
    assert lines[3].split() == ["class", "precision", "recall", "f1", "support", "roc_auc", "average_precision"]
    assert [line.split()[0] for line in lines[4:]] == ["ant", "bee", "cat"]
    assert found._repr_html_().count("<tr>") == 2 + 4
    frame, confusion = found.to_frame(), found.confusion_frame()
    assert frame.loc["bee", "recall"] == found.recall[1]
    assert list(frame.columns) == ["precision", "recall", "f1", "support", "roc_auc", "average_precision"]
    assert confusion.loc["ant", "cat"] == found.confusion[0, 2]
    assert confusion.sum(axis=1).tolist() == frame["support"].tolist()
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()


def test_names_of_classes_are_not_read_as_markup():
    found = evaluate(MultinomialNB().fit([[1, 0], [0, 1]], ["[red]x", "<b>"]), [[1, 0]], ["[red]x"])
    assert "[red]x" in drawn(found)
    assert "&lt;b&gt;" in found._repr_html_()


def drawn(result):
    console = Console(width=200, file=io.StringIO())
    console.print(result)
    return console.file.getvalue()


def test_without_pandas_a_frame_says_what_is_missing(monkeypatch):
    found = evaluate(MultinomialNB().fit([[1]], ["a"]), [[1]], ["a"])
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match=r"needs pandas.*pip install pandas"):
        found.to_frame()


# --- compare


def test_by_default_selections_of_words_are_compared():
    texts, labels = film_reviews()
    found = compare(None, texts, labels, words=(5, 40), folds=4, by="f1_macro")
    assert len(found) == 9
    values = [row.f1_macro for row in found]
    assert values == sorted(values, reverse=True)
    for name, model in selections((5, 40)).items():
        expected = evaluate(cross_validate(model, texts, labels, folds=4))
        assert found[name].to_dict() == pytest.approx(expected.to_dict())


def test_selection_is_done_within_each_fold():
    X, y = some_texts()
    model = text_model(select=Best(2))
    found = compare({"best": model}, X, y, folds=3)["best"]
    fold = folds(len(y), 3, 0, np.unique(y, return_inverse=True)[1])
    decided = np.empty_like(y)
    for k in range(3):
        test = np.flatnonzero(fold == k)
        decided[test], _ = refitted(model, X, y, np.flatnonzero(fold != k), test)
    assert found.accuracy == np.mean(decided == y)


def test_with_test_rows_models_are_trained_on_all_others():
    texts, labels = film_reviews()
    labels = np.asarray(labels)
    train, test = (texts[:300], labels[:300]), (texts[300:], labels[300:])
    models = {**selections((20,)), "bernoulli": text_model(family="bernoulli"), "pairs": text_model(ngrams=(1, 2))}
    found = compare(models, *train, test=test, by="log_loss")
    assert [row.log_loss for row in found] == sorted(row.log_loss for row in found)
    for name, model in models.items():
        assert found[name].to_dict() == pytest.approx(evaluate(model.fit(*train), *test).to_dict())


def test_calibrated_models_are_fitted_each_by_itself():
    texts, labels = film_reviews()
    models = {"one": text_model(calibrate=True), "two": text_model(calibrate=True, alpha=0.1)}
    test = texts[300:], labels[300:]
    found = compare(models, texts[:300], labels[:300], test=test)
    for name, model in models.items():
        expected = evaluate(model.fit(texts[:300], labels[:300]), *test)
        assert found[name].log_loss == pytest.approx(expected.log_loss)


@pytest.mark.parametrize("test", [None, (["good film"], ["pos"])])
def test_texts_that_are_counted_alike_are_counted_once(monkeypatch, test):
    X, y = some_texts()
    fits = []

    class Watched(TextClassifier):
        def fit(self, *arguments):
            fits.append(self)
            return super().fit(*arguments)

    monkeypatch.setattr(comparison_module, "TextClassifier", Watched)
    models = {name: Watched(**model.get_params()) for name, model in selections((2, 3)).items()}
    compare({**models, "pairs": Watched(**text_model(ngrams=(1, 2)).get_params())}, X, y, folds=3, test=test)
    assert [model.ngrams for model in fits] == [(1, 1), (1, 2)]


def test_what_is_chosen_by_fitting_is_not_shared():
    assert counting_key(text_model()) == counting_key(text_model(alpha="auto", family="bernoulli", select=Best(3)))
    assert counting_key(text_model()) != counting_key(text_model(lowercase=False))
    for model in (text_model(family="auto"), text_model(calibrate=True), MultinomialNB()):
        assert counting_key(model) is None


def test_models_of_any_kind_are_compared_on_the_same_folds():
    X, y = measures()
    found = compare({"gaussian": GaussianNB(), "table": NaiveBayes(alpha=1.0, calibrate=False)}, X, y, folds=5)
    assert found["gaussian"].accuracy == cross_validate(GaussianNB(), X, y, folds=5).accuracy
    assert found["table"].rows == found["gaussian"].rows == 60


def test_models_given_are_left_as_they_were():
    X, y = counts()
    model = MultinomialNB()
    compare({"one": model}, X, y, folds=3)
    assert not hasattr(model, "classes_")


def test_a_comparison_shows_itself():
    X, y = counts()
    models = {"weak": MultinomialNB(alpha=1e6), "fair": MultinomialNB(), "same": MultinomialNB()}
    found = compare(models, X, y, folds=3)
    assert found.best == "fair"
    assert [row.name for row in found.rows] == ["fair", "same", "weak"]
    lines = str(found).splitlines()
    assert lines[0].split() == ["method", "accuracy", "f1_micro", "f1_macro", "f1_weighted", "log_loss"]
    assert [line[0] for line in lines[1:]] == ["*", "*", " "]
    assert repr(found) == f"Comparison(3 models, best by accuracy: fair {found['fair'].accuracy:.4f})"
    assert found._repr_html_().count("<b>") == 2 * 7
    assert "weak" in drawn(found)
    assert found.to_frame().loc["same", "log_loss"] == found["same"].log_loss
    with pytest.raises(KeyError, match="did you mean 'same'"):
        found["sane"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"by": "acuracy"}, "did you mean 'accuracy'"),
        ({"models": {}}, "none to compare"),
        ({"models": [MultinomialNB()]}, "models must be estimators by name"),
        ({"models": {"other": LogisticRegression()}}, "expected a model of naively's"),
        ({"models": {"class": MultinomialNB}}, "expected a model of naively's"),
        ({"models": {"one": text_model(), "two": text_model(alpha=-1.0)}}, "alpha"),
        ({"folds": 1}, "folds must be a whole number, 2 or more"),
        ({"folds": 2.5}, "folds must be a whole number, 2 or more"),
        ({"random_state": None}, "random_state"),
        ({"test": ["a", "b"]}, r"test must be \(X, y\)"),
        ({"models": None, "words": (0,)}, "n must be a whole number above 0"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(arguments, message):
    X, y = some_texts()
    with pytest.raises(ValueError, match=message):
        compare(**{"models": {"one": text_model()}, "X": X, "y": y, **arguments})


# --- bias and variance


def test_a_row_that_is_told_apart_by_hand():
    # Two of three models say 0 of a row of class 0; of a row of class 1, one says 1 and two say 0.
    found = BiasVarianceRow.of(1.0, np.array([[0, 1], [0, 0], [1, 0]]), np.array([0, 1]))
    assert found.error == pytest.approx((1 / 3 + 2 / 3) / 2)
    assert found.bias2 == pytest.approx((1 / 9 + 4 / 9) / 2)
    assert found.variance == pytest.approx(0.5 * (1 - 5 / 9))
    assert found.bias == 0.5
    assert found.unbiased_variance == pytest.approx(1 / 6)
    assert found.biased_variance == pytest.approx(1 / 6)
    assert found.net_variance == pytest.approx(0.0)


def test_of_labels_decided_as_often_the_first_is_the_main_one():
    found = BiasVarianceRow.of(None, np.array([[2], [1], [2], [1]]), np.array([1]))
    assert (found.bias, found.unbiased_variance) == (0.0, 0.5)
    assert BiasVarianceRow.of(None, np.array([[2], [1]]), np.array([2])).bias == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_both_ways_add_up_to_the_error(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=50)
    decided = np.where(rng.random((7, 50)) < 0.5, truth, rng.integers(4, size=(7, 50)))
    found = BiasVarianceRow.of(1.0, decided, truth)
    assert found.error == pytest.approx(np.mean(decided != truth))
    assert found.bias2 + found.variance == pytest.approx(found.error, abs=1e-14)
    assert found.bias + found.net_variance == pytest.approx(found.error, abs=1e-14)
    chance = np.array([(decided == k).mean(axis=0) for k in range(4)])
    one = np.arange(4)[:, None] == truth
    assert found.bias2 == pytest.approx(0.5 * ((one - chance) ** 2).sum(axis=0).mean())
    assert found.variance == pytest.approx(0.5 * (1 - (chance**2).sum(axis=0)).mean())


def brute_decided(model, X, y, repeats, many, share=None, seed=0, **parameters):
    """What models refitted from scratch decide, in the folds and with the rows that bias_variance uses."""
    classes, codes = np.unique(y, return_inverse=True)
    decided = np.empty((repeats, len(y)), int)
    for repeat in range(repeats):
        fold = folds(len(y), many, seed + repeat, codes)
        least = len(y) - np.bincount(fold).max()
        for k in range(fold.max() + 1):
            train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            if share is not None:
                rng = np.random.default_rng([seed + repeat, k])
                train = shuffled(train, codes, rng)[: round(share * least)]
            labels, _ = refitted(model, X, y, train, test, **parameters)
            decided[repeat, test] = np.searchsorted(classes, labels)
    return decided, codes


@pytest.mark.parametrize("share", [None, 0.5])
@case
def test_models_are_as_if_they_had_been_refitted(model, data, share):
    X, y = data
    found = bias_variance(model, X, y, repeats=4, folds=3, share=share, random_state=3)
    expected = BiasVarianceRow.of(None, *brute_decided(model, X, y, 4, 3, share, 3))
    (row,) = found
    for name in ("error", "bias2", "variance", "bias", "net_variance"):
        assert getattr(row, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    assert row.alpha == getattr(model, "alpha", None)
    assert (found.tested, found.repeats) == (len(y), 4)
    assert found.trained == round((share or 1.0) * (len(y) - -(-len(y) // 3)))


@pytest.mark.parametrize("share", [None, 0.7])
@pytest.mark.parametrize("name", ["counts", "texts"])
def test_along_a_path_each_alpha_is_as_if_by_itself(name, share):
    model, (X, y) = CASES[name]
    found = bias_variance(model, X, y, alpha=[0.0, 0.5, 50.0], repeats=3, share=share)
    assert [row.alpha for row in found] == [0.0, 0.5, 50.0]
    for row in found:
        (alone,) = bias_variance(model, X, y, alpha=row.alpha, repeats=3, share=share)
        assert alone == row
        expected = BiasVarianceRow.of(None, *brute_decided(model, X, y, 3, 3, share, alpha=row.alpha))
        assert row.error == pytest.approx(expected.error)


def test_the_error_is_that_of_repeated_cross_validation():
    X, y = counts()
    found = bias_variance(MultinomialNB(), X, y, repeats=5, folds=4)
    held = cross_validate(MultinomialNB(), X, y, repeats=5, folds=4)
    assert found.best.error == pytest.approx(1 - np.mean([one.accuracy for one in held]))


def test_a_share_of_one_is_no_share():
    X, y = counts()
    assert bias_variance(MultinomialNB(), X, y, share=1.0).rows == bias_variance(MultinomialNB(), X, y).rows


def test_a_model_that_was_fitted_before_is_judged_by_these_rows_alone():
    X, y = counts()
    fitted = MultinomialNB().fit(*counts(seed=9))
    assert bias_variance(fitted, X, y).rows == bias_variance(MultinomialNB(), X, y).rows
    assert learning_curve(fitted, X, y).rows == learning_curve(MultinomialNB(), X, y).rows


def test_more_folds_than_rows_leave_one_out():
    X, y = counts(rows=12)
    found = bias_variance(MultinomialNB(), X, y, folds=100, repeats=2)
    assert found.trained == 11
    assert found.best.error == pytest.approx(1 - leave_one_out(MultinomialNB(), X, y).accuracy)
    assert found.best.variance == 0.0
    assert learning_curve(MultinomialNB(), X, y, folds=100).rows[-1].trained == 11


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"folds": 1}, "folds must be a whole number, 2 or more, got 1"),
        ({"repeats": 0}, "repeats must be a whole number, 1 or more"),
        ({"random_state": -1}, "random_state must be a whole number, 0 or more"),
        ({"alpha": [1.0, -1.0]}, "alpha must be 0 or more"),
        ({"alpha": []}, "path is empty"),
        ({"share": 0.0}, "share must be above 0.0 and at most 1.0"),
        ({"share": 1.5}, "share must be above 0.0 and at most 1.0"),
        ({"share": "half"}, "share must be above 0.0 and at most 1.0"),
        ({"model": GaussianNB(), "alpha": 1.0}, "GaussianNB has no alpha"),
        ({"model": LogisticRegression()}, "expected a model of naively's"),
        ({"X": [[1]], "y": [0]}, "2 rows or more"),
    ],
)
def test_bad_input_to_bias_variance_is_refused(arguments, message):
    X, y = counts()
    with pytest.raises(InputError, match=message):
        bias_variance(**{"model": MultinomialNB(), "X": X, "y": y, **arguments})


def test_bias_and_variance_show_themselves():
    X, y = counts()
    found = bias_variance(MultinomialNB(), X, y, alpha=[0.01, 1.0, 1e6], repeats=2)
    lines = str(found).splitlines()
    assert lines[0] == "60 rows, each judged by 2 models of 40 others"
    assert lines[1].split()[:4] == ["alpha", "error", "bias2", "variance"]
    assert [line.split()[0] for line in lines[2:]] == ["0.01", "1", "1e+06"]
    assert repr(found).startswith("BiasVariance(60 rows, 2 repeats, error 0.")
    assert "bias2" in drawn(found)
    assert "<caption>60 rows" in found._repr_html_()
    assert found.to_frame()["error"].tolist() == [row.error for row in found.rows]
    assert str(bias_variance(GaussianNB(), X, y, repeats=2)).splitlines()[2].startswith("      ")


# --- learning curves


@case
def test_a_curve_is_as_if_models_had_been_refitted(model, data):
    X, y = data
    sizes = [0.5, 20, 1.0]
    found = learning_curve(model, X, y, sizes=sizes, folds=4, repeats=2, random_state=5)
    codes = np.unique(y, return_inverse=True)[1]
    most = len(y) - -(-len(y) // 4)
    assert [row.trained for row in found] == sorted({round(0.5 * most), 20, most})
    for row in found:
        right, losses = [], []
        for repeat in range(2):
            fold = folds(len(y), 4, 5 + repeat, codes)
            for k in range(4):
                train, test = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
                train = shuffled(train, codes, np.random.default_rng([5 + repeat, k]))[: row.trained]
                labels, proba = refitted(model, X, y, train, test)
                right.append(labels == y[test])
                losses.append(-np.log(proba[np.arange(len(test)), codes[test]]))
        assert row.accuracy == pytest.approx(np.concatenate(right).mean())
        assert row.log_loss == pytest.approx(np.concatenate(losses).mean(), rel=1e-6)
        assert row.accuracy_spread == pytest.approx(np.std([r.mean() for r in right]))
        assert row.log_loss_spread == pytest.approx(np.std([v.mean() for v in losses]), rel=1e-6, abs=1e-9)


def test_with_all_rows_the_curve_ends_where_cross_validation_is():
    X, y = measures()
    held = cross_validate(GaussianNB(), X, y, folds=5)
    last = learning_curve(GaussianNB(), X, y).rows[-1]
    assert last.trained == 48
    assert last.accuracy == pytest.approx(held.accuracy)
    assert last.log_loss == pytest.approx(held.log_loss)


def test_tables_of_mixed_columns_have_curves_too():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    table = {"number": rng.normal(y * 3.0), "kind": np.where(rng.random(80) < 0.8, y, 1 - y).astype(str)}
    model = NaiveBayes(alpha=1.0, calibrate=False)
    held = cross_validate(model, table, y, folds=4)
    last = learning_curve(model, table, y, folds=4, sizes=[10, 1.0]).rows[-1]
    assert last.accuracy == pytest.approx(held.accuracy)
    assert last.log_loss == pytest.approx(held.log_loss)
    assert 0 < bias_variance(model, table, y, share=0.3, repeats=2).best.error < 0.5


def test_a_class_without_rows_yet_is_possible_all_the_same():
    X, y = counts()
    found = learning_curve(MultinomialNB(), X, y, sizes=[1, 2])
    assert [row.trained for row in found] == [1, 2]
    assert all(np.isfinite(row.log_loss) and row.log_loss < 100 for row in found)


def test_sizes_that_come_to_the_same_number_are_told_once():
    X, y = counts(rows=10)
    assert [row.trained for row in learning_curve(MultinomialNB(), X, y, sizes=(0.1, 1, 0.11, 1.0))] == [1, 8]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": []}, "sizes: there is none"),
        ({"sizes": [0]}, "from 1 to 48, which the largest fold leaves, got 0"),
        ({"sizes": [49]}, "from 1 to 48, which the largest fold leaves, got 49"),
        ({"sizes": [1.5]}, "sizes: a share must be above 0.0"),
        ({"sizes": [float("nan")]}, "sizes: a share must be above 0.0"),
        ({"sizes": [True]}, "sizes: a share must be above 0.0"),
        ({"folds": 1}, "folds must be a whole number, 2 or more"),
        ({"repeats": 1.0}, "repeats must be a whole number, 1 or more"),
        ({"model": LogisticRegression()}, "expected a model of naively's"),
    ],
)
def test_bad_input_to_learning_curve_is_refused(arguments, message):
    X, y = counts()
    with pytest.raises(InputError, match=message):
        learning_curve(**{"model": MultinomialNB(), "X": X, "y": y, **arguments})


def test_a_learning_curve_shows_itself():
    X, y = counts()
    found = learning_curve(MultinomialNB(), X, y)
    assert str(found).splitlines()[0] == "60 rows, each judged without its fold"
    assert [line.split()[0] for line in str(found).splitlines()[2:]] == ["5", "10", "24", "48"]
    assert repr(found).startswith("LearningCurve(5 to 48 rows, accuracy 0.")
    assert "accuracy_spread" in drawn(found)
    assert found._repr_html_().count("<tr>") == 5
    assert found.to_frame()["trained"].tolist() == [5, 10, 24, 48]


# --- plots


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot.subplots()[1]
    pyplot.close("all")


@pytest.mark.parametrize("alpha", [[0.1, 1.0], [0.0, 1.0], [0.0], ["auto", 1.0], None])
def test_bias_and_variance_are_drawn(axes, alpha):
    X, y = counts()
    found = bias_variance(MultinomialNB(), X, y, alpha=alpha, repeats=2)
    assert found.plot(axes) is axes
    assert [line.get_label() for line in axes.lines] == ["error", "bias²", "variance"]
    assert axes.lines[0].get_ydata().tolist() == [row.error for row in found]
    axes.figure.canvas.draw()
    assert found.plot() is not axes


@pytest.mark.parametrize("by", ["accuracy", "log_loss"])
def test_a_learning_curve_is_drawn(axes, by):
    X, y = counts()
    found = learning_curve(MultinomialNB(), X, y)
    assert found.plot(axes, by=by) is axes
    assert axes.lines[0].get_xdata().tolist() == [5, 10, 24, 48]
    axes.figure.canvas.draw()
    with pytest.raises(InputError, match="by must be"):
        found.plot(axes, by="f1")


def test_without_matplotlib_a_plot_says_what_is_missing(monkeypatch):
    X, y = counts()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for found in (learning_curve(MultinomialNB(), X, y), bias_variance(MultinomialNB(), X, y, repeats=1)):
        with pytest.raises(InputError, match=r"naively\[plot\]"):
            found.plot()


# --- progress


class Terminal(StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.mark.parametrize(("terminal", "show"), [(True, True), (True, False), (False, True)])
def test_progress_is_shown_on_terminals_alone(monkeypatch, terminal, show):
    stderr = Terminal(terminal)
    monkeypatch.setattr(report.sys, "stderr", stderr)
    monkeypatch.setattr(report, "_FIRST", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    assert list(tracked((i for i in range(3)), "work", 3, show)) == [0, 1, 2]
    assert ("work" in stderr.getvalue()) == (terminal and show)


def test_random_order_keeps_the_classes_together_in_proportion():
    codes = np.repeat([0, 1, 2], [60, 30, 10])
    rows = shuffled(np.arange(100), codes, np.random.default_rng(0))
    assert sorted(rows.tolist()) == list(range(100))
    for many in (10, 20, 50):
        np.testing.assert_allclose(
            np.bincount(codes[rows[:many]], minlength=3), np.array([6, 3, 1]) * many / 10, atol=1
        )
