"""Rows left out by subtraction score as they do by models that were fitted without them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from families import Array, as_csr, as_numbers, as_table, as_text, data, with_holes
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import ndtr

import naively
from naively import (
    AbsoluteDiscount,
    Additive,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    Dirichlet,
    Epsilon,
    GaussianClassifier,
    GaussianNB,
    HeldOut,
    InputError,
    JelinekMercer,
    MultinomialNB,
    NaiveBayes,
    NegativeCount,
    PoissonNB,
    Scores,
    Smoothed,
    TextClassifier,
    WittenBell,
    cross_validate,
    leave_one_out,
)
from naively.learn import held_out

few = settings(max_examples=12)
fewer = settings(max_examples=5)
BACKGROUNDS = [JelinekMercer(0.3), Dirichlet(5.0), AbsoluteDiscount(0.4), WittenBell()]
RULES: list[Any] = [1.0, 0.3, 0.0, Epsilon(1e-4), Additive(2.0)]
Make = Callable[[], Any]


def text(**options: Any) -> Any:
    """A text classifier that leaves nothing to defaults that may change."""
    usual = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 0.3, **options}
    if "calibrate" in TextClassifier().get_params():
        usual.setdefault("calibrate", False)
    return TextClassifier(**usual)


def note(**options: Any) -> naively.Text:
    return naively.Text(**{"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 0.5, **options})


def some(X: Any, rows: Any) -> Any:
    """Some rows (a mask) of an array, a matrix, a list of texts or a table."""
    if isinstance(X, dict):
        return {name: some(column, rows) for name, column in X.items()}
    return [X[i] for i in np.flatnonzero(rows)] if isinstance(X, list) else X[np.asarray(rows)]


def nearly(found: Array, want: Array, tolerance: float = 1e-9) -> None:
    """Equal but for rounding; what is impossible is so in both."""
    np.testing.assert_allclose(found, want, rtol=tolerance, atol=tolerance)


def fewer_categories(model: Any, X: Any, rows: Array) -> bool:
    """Whether some rows lack categories that all of them have."""
    if not isinstance(X, dict):
        return False
    named = [name for name, rule in model.columns.items() if isinstance(rule, naively.Categorical)]
    return any({*X[name]} - {None} != {*some(X[name], rows)} - {None} for name in named)


def equals_refitting(
    make: Make, X: Any, y: Array, groups: Array, found: HeldOut, weight: Array | None = None,
    tolerance: float = 1e-9, compared: Array | None = None,
) -> int:  # fmt: skip
    """Compares with models fitted without each group, where these know all the classes; how many rows that were."""
    many = 0
    assert found.scores.classes.tolist() == np.unique(y).tolist()
    assert found.scores.classes[found.truth].tolist() == y.tolist()
    for group in np.unique(groups):
        out = groups == group
        if len(np.unique(y[~out])) < len(np.unique(y)) or (compared is not None and not compared[out].any()):
            continue
        if out.sum() > 1 and fewer_categories(make(), X, ~out):
            continue  # which stay as they are with all rows
        of_rest = None if weight is None else weight[~out]
        want = make().fit(some(X, ~out), y[~out], sample_weight=of_rest).scores(some(X, out))
        nearly(found.scores.joint[out], want.joint, tolerance)
        nearly(
            found.scores.below[out],
            want.below,
            max(tolerance, 1e-9 * np.abs(want.joint[np.isfinite(want.joint)]).max(initial=1.0)),
        )
        many += int(out.sum())
    assert np.isfinite(found.log_loss)
    return many


def exact(
    make: Make, X: Any, y: Array, weight: Array | None = None, tolerance: float = 1e-9, compared: Array | None = None
) -> None:
    found = leave_one_out(make(), X, y, sample_weight=weight)
    equals_refitting(make, X, y, np.arange(len(y)), found, weight, tolerance, compared)


def weights(draw: Any, rows: int) -> Array | None:
    """None, or a weight for each row."""
    listed = st.lists(st.sampled_from([0.5, 1.0, 1.5, 3.0]), min_size=rows, max_size=rows)
    drawn = draw.draw(st.none() | listed)
    return None if drawn is None else np.array(drawn)


def whole(values: Array) -> Array:
    return np.maximum(values, 0)


@st.composite
def rows_of(draw: st.DrawFn, columns: int | None = None) -> tuple[Array, Array]:
    """Rows and labels, of which the first rows are known and something is there."""
    values, y = draw(data(least=4))
    if columns is not None:
        values = np.hstack([values, values[:, :1]][: 1 + (values.shape[1] < columns)])
        values = np.tile(values, (1, columns))[:, :columns]
    values = values.copy()
    values[:4] = np.maximum(values[:4], 0)
    values[0] = np.maximum(values[0], 1)
    return values, y


def apart(values: Array) -> Array:
    """Numbers, no two of which are the same, so that what is left varies still."""
    return with_holes(values) + 0.37 * np.sin(np.arange(values.size)).reshape(values.shape)


def apart_column(column: list[Any]) -> list[Any]:
    return [None if v is None else v + 0.37 * float(np.sin(i)) for i, v in enumerate(column)]


def table_apart(values: Array) -> dict[str, list[Any]]:
    rows = as_table(values)
    return {**rows, "number": apart_column(rows["number"])}


def numbers_apart(values: Array) -> dict[str, list[Any]]:
    rows = as_numbers(values)
    return {**rows, "b": apart_column(rows["b"])}


def fractions(values: Array) -> Array:
    return with_holes(values) / 4


def pairs_apart(values: Array) -> dict[str, list[Any]]:
    known = as_numbers(whole(values))
    return {**as_numbers(values), **{name: apart_column(known[name]) for name in "cd"}}


# --- one by one: arrays

ARRAYS: dict[str, tuple[Make, Callable[[Array], Any]]] = {
    "multinomial": (MultinomialNB, whole),
    "multinomial holes": (MultinomialNB, with_holes),
    "multinomial fractions": (lambda: MultinomialNB(alpha=0.3), fractions),
    "multinomial csr": (MultinomialNB, lambda v: as_csr(whole(v))),
    "multinomial csr holes": (lambda: MultinomialNB(alpha=0.0), as_csr),
    "multinomial smoothed prior": (lambda: MultinomialNB(class_prior=Smoothed(1.0)), whole),
    "multinomial uniform": (lambda: MultinomialNB(fit_prior=False), whole),
    "complement csr": (lambda: ComplementNB(alpha=0.3), lambda v: as_csr(whole(v))),
    "complement norm": (lambda: ComplementNB(norm=True), whole),
    "complement norm csr": (lambda: ComplementNB(norm=True, alpha=0.3), lambda v: as_csr(whole(v))),
    "bernoulli": (BernoulliNB, with_holes),
    "bernoulli csr": (BernoulliNB, as_csr),
    "bernoulli above 1": (lambda: BernoulliNB(binarize=1.0), with_holes),
    "bernoulli fractions": (lambda: BernoulliNB(binarize=None), fractions),
    "bernoulli fractions unsmoothed": (lambda: BernoulliNB(binarize=None, alpha=0.0), fractions),
    "poisson csr": (PoissonNB, as_csr),
    "poisson fractions": (PoissonNB, fractions),
    "categorical": (lambda: CategoricalNB(min_categories=5), with_holes),
    "categorical csr": (lambda: CategoricalNB(min_categories=6), lambda v: as_csr(whole(v))),
    "categorical ignore": (lambda: CategoricalNB(min_categories=5, unseen="ignore"), with_holes),
    "gaussian": (lambda: GaussianNB(var_smoothing=0.1), apart),
    "gaussian csr": (lambda: GaussianNB(var_smoothing=0.1), lambda v: sparse.csr_matrix(apart(v))),
    **{
        f"{name}, {rule!r}": (partial(make, alpha=rule, **options), rows)
        for name, make, options, rows in [
            ("multinomial", MultinomialNB, {}, whole),
            ("bernoulli", BernoulliNB, {}, with_holes),
            ("poisson", PoissonNB, {}, with_holes),
            ("categorical", CategoricalNB, {"min_categories": 5}, with_holes),
            ("complement", ComplementNB, {}, whole),
        ]
        for rule in RULES
        if not (isinstance(rule, Epsilon) and make is ComplementNB)
    },
    **{f"multinomial, {rule!r}": (partial(MultinomialNB, alpha=rule), whole) for rule in BACKGROUNDS},
    "multinomial csr, WittenBell()": (lambda: MultinomialNB(alpha=WittenBell()), lambda v: as_csr(whole(v))),
}  # fmt: skip
COVARIANCES: dict[str, tuple[Make, Callable[[Array], Any]]] = {
    **{
        f"gaussian {covariance}": (
            partial(GaussianClassifier, covariance=covariance, var_smoothing=0.1),
            apart if covariance in ("diagonal", "spherical") else lambda v: apart(whole(v)),
        )
        for covariance in ("diagonal", "spherical", "tied", "full")
    },
    "gaussian shrunk": (
        lambda: GaussianClassifier(covariance="full", shrinkage=0.3, var_smoothing=0.1),
        lambda v: apart(whole(v)),
    ),
    "gaussian shrunk by itself": (
        lambda: GaussianClassifier(covariance="diagonal", shrinkage="auto", var_smoothing=0.1),
        lambda v: apart(whole(v)),
    ),
}


@pytest.mark.parametrize("name", ARRAYS)
@few
@given(rows_of(), st.data())
def test_each_row_left_out_scores_as_by_a_model_without_it(name: str, rows: tuple[Array, Array], draw: Any) -> None:
    make, as_rows = ARRAYS[name]
    values, y = rows
    exact(make, as_rows(values), y, weights(draw, len(y)))


@pytest.mark.parametrize("name", COVARIANCES)
def test_each_row_left_out_of_a_covariance_scores_as_by_a_model_without_it(name: str) -> None:
    make, as_rows = COVARIANCES[name]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = as_rows(rng.integers(-1, 5, (24, 3))), np.array(list("abc") * 8)
        exact(make, X, y, rng.integers(1, 4, 24) / 2 if seed % 2 else None)


@pytest.mark.parametrize("name", [*COVARIANCES, "gaussian", "gaussian csr"])
def test_leaving_out_the_one_row_that_differs_leaves_a_constant(name: str) -> None:
    """What varies no more without a row is no reason to refuse, nor to take rounding for a variance."""
    make, _ = (COVARIANCES | ARRAYS)[name]
    X, y = np.array([[0.1], [0.1], [1.0], [0.3], [0.7], [0.9]]), np.array(list("aaabbb"))
    exact(make, X, y)


@pytest.mark.parametrize("name", [*COVARIANCES, "gaussian", "gaussian csr"])
def test_one_of_two_rows_of_a_class_is_left_out_exactly(name: str) -> None:
    make, _ = (COVARIANCES | ARRAYS)[name]
    X, y = np.array([[0.1, 2.0], [0.7, 1.1], [1.0, 0.4], [0.3, 0.3]]), np.array(list("aabb"))
    exact(make, X, y)


def test_rows_that_hold_nothing_at_all_are_left_out() -> None:
    X, y = np.zeros((4, 2), int), np.array(list("aabb"))
    for make in (MultinomialNB, ComplementNB, BernoulliNB, PoissonNB, partial(MultinomialNB, alpha=WittenBell())):
        exact(make, X, y)


def test_texts_without_a_known_word_are_left_out() -> None:
    texts, y = ["fine", "dull", "film", "the"], np.array(list("aabb"))
    for family in ("multinomial", "complement", "bernoulli"):
        with pytest.warns(naively.DataWarning, match="no text has a word"):
            found = leave_one_out(text(family=family, vocabulary=["never"]), texts, y)
        assert np.isfinite(found.log_loss)


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB, BernoulliNB, PoissonNB])
@few
@given(rows_of(), st.data())
def test_an_alpha_for_each_feature_is_left_out_exactly(make: Any, rows: tuple[Array, Array], draw: Any) -> None:
    values, y = rows
    each = st.sampled_from([0.1, 0.5, 1.0, 2.5])
    alpha = draw.draw(st.lists(each, min_size=values.shape[1], max_size=values.shape[1]))
    exact(lambda: make(alpha=np.array(alpha)), whole(values), y, weights(draw, len(y)))


@few
@given(rows_of(), st.data())
def test_named_categories_are_left_out_exactly_where_others_have_them(rows: tuple[Array, Array], draw: Any) -> None:
    values, y = rows
    named = as_text(values)
    alone = [[int((named[:, j] == v).sum()) == 1 for j, v in enumerate(row)] for row in named.tolist()]
    exact(CategoricalNB, named, y, weights(draw, len(y)), compared=~np.any(alone, axis=1))
    exact(lambda: CategoricalNB(unseen="ignore"), named, y, weights(draw, len(y)))


def test_numbers_of_any_size_are_left_out_with_the_usual_smoothing() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(list("abc"), 60)
    X = rng.normal(size=(60, 4)) * [1, 1e-6, 1e6, 3] + [0, 1, -1e6, 100]
    exact(GaussianNB, X, y, tolerance=1e-8)
    exact(GaussianNB, np.where(rng.random(X.shape) < 0.2, np.nan, X), y, rng.random(60) + 0.1, tolerance=1e-8)


def test_an_outlier_left_out_costs_no_digits() -> None:
    X, y = np.array([[1e8], [1.0], [2.0], [4.0], [0.0], [3.0], [5.0]]), np.array(list("aaaabbb"))
    exact(GaussianNB, X, y, tolerance=1e-6)


def test_a_class_that_is_constant_but_for_the_row_left_out_is_constant() -> None:
    X, y = np.array([[1 / 3], [1 / 3], [1 / 3], [5.1], [0.2], [1.7]]), np.array(list("aaaabb"))
    exact(GaussianNB, X, y, tolerance=1e-6)


@pytest.mark.parametrize("covariance", ["diagonal", "spherical", "tied", "full"])
def test_an_outlier_among_numbers_may_be_left_out_of_every_covariance(covariance: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(20, 2)), np.array(list("ab") * 10)
    X[3] = 1e9
    found = leave_one_out(GaussianClassifier(covariance=covariance, var_smoothing=1e-3), X, y)
    assert np.isfinite(found.log_loss)


# --- one by one: texts

WORDS = ["fine", "film", "dull", "the", "a", "não", "incomprehensibilities"]
TEXT_OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "min_df": {"min_df": 2},
    "bigrams": {"ngrams": (1, 2)},
    "bigrams min_df": {"ngrams": (1, 2), "min_df": 2},
    "given": {"vocabulary": ["fine", "dull", "the", "never"]},
    "hashing": {"hashing": 4},
}
documents = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@st.composite
def reviews(draw: st.DrawFn) -> tuple[list[str], Array]:
    """Texts, some of them empty, and labels; there are always some words that remain."""
    texts = draw(st.lists(documents, min_size=2, max_size=8))
    labels = draw(st.lists(st.sampled_from("abc"), min_size=len(texts), max_size=len(texts)))
    return ["the film fine the", "film the dull", "fine the film", *texts], np.array(["a", "b", "a", *labels])


MISSING = ["fine film the", "dull film the", None, "the film", "dull the", None], np.array(list("abbaba"))


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
def test_missing_texts_are_left_out_exactly(family: str) -> None:
    texts, y = MISSING
    for weight in (None, np.array([1.0, 2.0, 3.0, 0.5, 1.5, 1.0])):
        found = leave_one_out(text(family=family), texts, y, sample_weight=weight)
        for i in range(6):
            out = np.arange(6) == i
            rest = text(family=family).fit(some(texts, ~out), y[~out], None if weight is None else weight[~out])
            nearly(found.scores.joint[out], rest.scores(some(texts, out)).joint)


def test_missing_texts_keep_their_own_labels() -> None:
    texts, y = MISSING
    assert leave_one_out(text(), texts, y).truth.tolist() == [0, 1, 1, 0, 1, 0]


@pytest.mark.parametrize("options", TEXT_OPTIONS)
@pytest.mark.parametrize("weighting", ["counts", "binary", "tfidf"])
@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
@fewer
@given(reviews(), st.data())
def test_each_text_left_out_scores_as_by_a_model_without_it(
    family: str, weighting: str, options: str, rows: tuple[list[str], Array], draw: Any
) -> None:
    texts, y = rows
    rule = draw.draw(st.sampled_from([1.0, 0.3, 0.0]))
    rule = 0.1 if options == "given" and rule == 0.0 else rule  # where a word was never seen: see below
    make = partial(text, family=family, weighting=weighting, alpha=rule, **TEXT_OPTIONS[options])
    weight = None if "min_df" in options else weights(draw, len(y))  # by weight, min_df would leave no words
    exact(make, texts, y, weight)


@pytest.mark.parametrize("rule", [Epsilon(1e-4), *BACKGROUNDS], ids=repr)
@pytest.mark.parametrize("weighting", ["counts", "binary", "tfidf"])
@fewer
@given(reviews(), st.data())
def test_texts_are_left_out_exactly_under_every_rule(
    rule: Any, weighting: str, rows: tuple[list[str], Array], draw: Any
) -> None:
    texts, y = rows
    options = draw.draw(st.sampled_from([{}, {"min_df": 2}, {"hashing": 4}, {"vocabulary": ["fine", "the", "never"]}]))
    exact(partial(text, weighting=weighting, alpha=rule, **options), texts, y)


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
def test_given_words_that_were_never_seen_need_no_smoothing(family: str) -> None:
    texts, y = ["fine film", "fine", "film the", "the"], np.array(list("aabb"))
    exact(partial(text, family=family, alpha=0.0, vocabulary=["fine", "never"]), texts, y)
    one = partial(text, family=family, alpha=0.0, vocabulary=["fine", "never"])
    assert one().fit(["fine", "film"], ["a", "b"]).predict(["fine"]).tolist() == ["a"]


@pytest.mark.parametrize("rule", [0.0, JelinekMercer(0.0), Dirichlet(0.0), AbsoluteDiscount(0.0)], ids=repr)
def test_labels_that_are_equally_impossible_are_ranked_as_by_a_model_without_the_text(rule: Any) -> None:
    texts, y = ["the film fine the", "film the dull", "fine the film", "", "fine dull"], np.array(list("abaaa"))
    exact(partial(text, alpha=rule), texts, y)


@fewer
@given(reviews())
def test_normed_complements_of_texts_are_left_out_exactly(rows: tuple[list[str], Array]) -> None:
    exact(partial(text, family="complement", norm=True), *rows)


@pytest.mark.parametrize(
    "options",
    [{"tokens": "chars", "ngrams": (1, 3)}, {"negation": True}, {"stop_words": ["the"]}, {"accents": "unicode"}],
)
@fewer
@given(reviews())
def test_texts_are_left_out_exactly_however_they_are_read(
    options: dict[str, Any], rows: tuple[list[str], Array]
) -> None:
    exact(partial(text, **options), *rows)


def test_words_that_were_selected_stay_when_a_text_is_left_out() -> None:
    texts, y = ["fine film", "fine the", "dull film", "dull the a", "fine"], np.array(list("aabba"))
    best = text(select=naively.Best(2), weights=True).fit(texts, y)
    found = leave_one_out(best, texts, y)
    for i in range(len(y)):
        out = np.arange(len(y)) == i
        given_words = text(vocabulary=["dull", "fine"]).fit(some(texts, ~out), y[~out])
        nearly(found.scores.joint[out], given_words.scores(some(texts, out)).joint)


# --- one by one: tables


def table(columns: dict[Any, Any], **options: Any) -> Any:
    """A model of a table that leaves nothing to defaults that may change."""
    usual = {"alpha": 1.0, **({"calibrate": False} if "calibrate" in NaiveBayes().get_params() else {})}
    return NaiveBayes(columns=columns, **{**usual, **options})


def table_rules(number: Any = None, **options: Any) -> Any:
    columns = {
        "number": number or naively.Gaussian(var_smoothing=0.1),
        "colour": naively.Categorical(),
        "flag": naively.Bernoulli(),
        "note": note(),
    }
    return table(columns, **options)


TABLES: dict[str, tuple[Make, Callable[[Array], Any]]] = {
    "mixed": (table_rules, table_apart),
    "mixed 0.3": (lambda: table_rules(alpha=0.3), table_apart),
    "mixed unsmoothed": (lambda: table_rules(alpha=0.0), table_apart),
    "mixed epsilon": (lambda: table_rules(alpha=Epsilon(1e-4)), table_apart),
    "mixed informative": (lambda: table_rules(missing="informative"), table_apart),
    "mixed informative unsmoothed": (lambda: table_rules(missing="informative", alpha=0.0), table_apart),
    "mixed prior": (lambda: table_rules(prior=Smoothed(2.0)), table_apart),
    "numbers": (
        lambda: table(
            columns={"a": naively.Poisson(), "b": naively.Gaussian(0.1), ("c", "d"): naively.Multinomial()}
        ),
        numbers_apart,
    ),
    "numbers informative": (
        lambda: table(
            columns={"a": naively.Poisson(), "b": naively.Bernoulli(1.0), ("c", "d"): naively.Complement()},
            missing="informative",
        ),
        numbers_apart,
    ),
    "tied group": (
        lambda: table(
            columns={"a": None, "b": naively.Categorical(), ("c", "d"): naively.Gaussian(0.1, covariance="tied")}
        ),
        pairs_apart,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
@few
@given(rows_of(columns=4), st.data())
def test_each_row_of_a_table_left_out_scores_as_by_a_model_without_it(
    name: str, rows: tuple[Array, Array], draw: Any
) -> None:
    make, as_rows = TABLES[name]
    values, y = rows
    exact(make, as_rows(values), y, weights(draw, len(y)))


def test_a_column_that_varies_no_more_without_a_row_says_nothing() -> None:
    y = np.array(list("aaab"))
    for column in ([0.1, 0.1, 1.0, 0.1], [0, 0, 1, 0], [None, None, 0.3, 0.7], [0.1, 0.1, 0.7, None]):
        exact(lambda: table(columns={"x": naively.Gaussian()}), {"x": column}, y)


def test_a_text_column_without_words_says_nothing() -> None:
    rows, y = {"t": [None, None, None, None], "c": list("rgrg")}, np.array(list("aabb"))
    columns = {"t": note(), "c": naively.Categorical()}
    exact(lambda: table(columns=columns), rows, y)
    exact(lambda: table(columns=columns), {**rows, "t": ["", "", "fine", ""]}, y)


def by_bins(x: Array, y: Array, ends: Array, alpha: float) -> Array:
    """Log p(bin, class) of each number without itself, the bins being what they are with all."""
    at, classes = np.searchsorted(ends, x, side="right"), np.unique(y)
    result = np.zeros((len(x), len(classes)))
    for i in range(len(x)):
        rest = np.arange(len(x)) != i
        for c, label in enumerate(classes):
            mine = rest & (y == label) & ~np.isnan(x)
            result[i, c] = np.log((rest & (y == label)).sum() / rest.sum())
            if not np.isnan(x[i]):
                top, bottom = (at[mine] == at[i]).sum() + alpha, mine.sum() + alpha * (len(ends) + 1)
                result[i, c] += np.log(top / bottom)
    return result


@pytest.mark.parametrize("rule", [naively.Histogram("width", 4), naively.Histogram("frequency", 3), naively.Number()])
def test_bins_stay_when_a_number_is_left_out(rule: Any) -> None:
    rng = np.random.default_rng(2)
    y = np.array(list("aab") * 10)
    x = np.where(y == "a", rng.integers(0, 9, 30), rng.integers(5, 20, 30)).astype(float)
    x[4] = np.nan
    rows = {"x": [None if np.isnan(v) else v for v in x.tolist()]}
    model = table(columns={"x": rule}, alpha=0.5).fit(rows, y)
    (column,) = model.table_.blocks["numbers"].columns
    found = leave_one_out(model, rows, y)
    if column.edges is None:
        exact(lambda: table(columns={"x": naively.Gaussian()}, alpha=0.5), rows, y, tolerance=1e-8)
    else:
        nearly(found.scores.joint, by_bins(x, y, column.edges, 0.5))


def test_bandwidths_and_bins_of_a_kernel_stay_when_a_number_is_left_out() -> None:
    rng = np.random.default_rng(3)
    y = np.array(list("aab") * 8)
    x = (rng.integers(0, 40, 24) + np.where(y == "a", 0, 20)).astype(float)  # whole numbers have a cell each
    rows = {"x": x.tolist()}
    model = table(columns={"x": naively.Kernel(3.0)}, alpha=0.5).fit(rows, y)
    (column,) = model.table_.blocks["numbers"].columns
    ends = column.edges
    below = np.hstack([np.zeros((24, 1)), ndtr((ends - x[:, None]) / 3.0), np.ones((24, 1))])
    curves, at = np.diff(below, axis=1), np.searchsorted(ends, x, side="right")
    pseudo = 0.5 * 10 / (len(ends) + 1)
    want = np.zeros((24, 2))
    for i in range(24):
        rest = np.arange(24) != i
        for c, label in enumerate("ab"):
            mine = rest & (y == label)
            top, bottom = curves[mine][:, at[i]].sum() + pseudo, mine.sum() + pseudo * (len(ends) + 1)
            want[i, c] = np.log(mine.sum() / rest.sum()) + np.log(top / bottom)
    nearly(leave_one_out(model, rows, y).scores.joint, want)


# --- the last row of a class


@pytest.mark.parametrize("name", ARRAYS)
@fewer
@given(rows_of())
def test_the_last_row_of_a_class_has_a_smoothed_prior_and_a_finite_loss(name: str, rows: tuple[Array, Array]) -> None:
    make, as_rows = ARRAYS[name]
    values, y = rows
    y = np.array(["last", *y[1:]])
    found = leave_one_out(make(), as_rows(values), y)
    at = found.scores.classes.tolist().index("last")
    assert found.truth[0] == at
    assert np.isfinite(found.losses).all()
    assert not np.isnan(found.scores.joint).any()
    left = np.array([(y[1:] == label).sum() for label in found.scores.classes])
    prior = Smoothed(1.0).log(naively.names.Index.of(found.scores.classes), left)
    if make().get_params().get("fit_prior", True) and "complement" not in name and "prior" not in name:
        nearly(found.scores.prior[0], prior)


def test_the_last_row_of_a_class_in_tables_and_texts_is_defined() -> None:
    texts, y = ["fine film", "fine the", "dull film"], np.array(["a", "a", "last"])
    for family in ("multinomial", "complement", "bernoulli"):
        assert np.isfinite(leave_one_out(text(family=family), texts, y).log_loss)
    rows = {"x": [1.0, 2.0, 3.0], "c": ["r", None, "g"], "t": texts}
    for rule in (naively.Gaussian(), naively.Kernel(), naively.Histogram("sqrt")):
        for missing in ("ignored", "informative"):
            model = table(columns={"x": rule, "c": naively.Categorical(), "t": note()}, missing=missing)
            assert np.isfinite(leave_one_out(model, rows, y).log_loss)


# --- paths


PATH = [2.0, 1.0, 0.5, 0.1, 0.01]


@pytest.mark.parametrize(
    ("make", "as_rows"),
    [
        (MultinomialNB, whole),
        (MultinomialNB, as_csr),
        (ComplementNB, whole),
        (BernoulliNB, with_holes),
        (PoissonNB, with_holes),
        (lambda: CategoricalNB(min_categories=5), with_holes),
        (table_rules, table_apart),
        (lambda: table_rules(naively.Histogram("width", 3)), table_apart),
        (lambda: table_rules(naively.Kernel(2.0)), table_apart),
    ],
)
@few
@given(rows_of(columns=4), st.data())
def test_a_path_of_alpha_equals_single_runs(make: Make, as_rows: Any, rows: tuple[Array, Array], draw: Any) -> None:
    values, y = rows
    X, weight = as_rows(values), weights(draw, len(y))
    for path in (np.array(PATH), [*PATH, 0.0]):
        found = leave_one_out(make(), X, y, alpha=path, sample_weight=weight)
        assert len(found) == len(path)
        for alpha, one in zip(path, found, strict=True):
            single = leave_one_out(make().set_params(alpha=float(alpha)), X, y, sample_weight=weight)
            nearly(one.scores.joint, single.scores.joint)
            nearly(one.log_loss, single.log_loss)


@pytest.mark.parametrize("options", TEXT_OPTIONS)
@fewer
@given(reviews())
def test_a_path_of_alpha_over_texts_equals_single_runs(options: str, rows: tuple[list[str], Array]) -> None:
    texts, y = rows
    model = text(**TEXT_OPTIONS[options])
    rules = [1.0, 0.3, Epsilon(1e-3), WittenBell(), 0.0]
    for path in (PATH, rules):
        for alpha, one in zip(path, leave_one_out(model, texts, y, alpha=path), strict=True):
            single = leave_one_out(model.set_params(alpha=alpha), texts, y)
            nearly(one.scores.joint, single.scores.joint)


@pytest.mark.parametrize("alpha", [0.3, Additive(0.3), WittenBell(), "auto"], ids=repr)
def test_one_alpha_gives_one_result(alpha: Any) -> None:
    X, y = [[2, 1, 0], [1, 2, 0], [0, 1, 3], [0, 2, 2]], list("aabb")
    assert isinstance(leave_one_out(MultinomialNB(), X, y, alpha=alpha), HeldOut)
    assert isinstance(cross_validate(MultinomialNB(), X, y, alpha=alpha, folds=2), HeldOut)
    assert len(leave_one_out(MultinomialNB(), X, y, alpha=[alpha])) == 1


def test_a_long_path_and_many_rows_and_threads_equal_single_runs(monkeypatch: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (3000, 12)), rng.choice(list("abc"), 3000)
    path = np.geomspace(1e-3, 10, 33)
    results = []
    for threads in ("1", "3"):
        monkeypatch.setenv("NAIVELY_THREADS", threads)
        results.append(leave_one_out(MultinomialNB(), X, y, alpha=path))
    for k, (one, other) in enumerate(zip(*results, strict=True)):
        np.testing.assert_array_equal(one.scores.joint, other.scores.joint)
        if k % 16 == 0:
            nearly(one.scores.joint, leave_one_out(MultinomialNB(alpha=path[k]), X, y).scores.joint)


def test_a_path_needs_a_value_and_a_model_with_an_alpha() -> None:
    X, y = [[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]], list("aab")
    with pytest.raises(InputError, match="alpha: the path is empty"):
        leave_one_out(MultinomialNB(), X, y, alpha=[])
    with pytest.raises(InputError, match="GaussianNB has no alpha"):
        leave_one_out(GaussianNB(), X, y, alpha=[1.0])
    with pytest.raises(ValueError, match="alpha"):
        leave_one_out(MultinomialNB(), X, y, alpha=[1.0, -1.0])


# --- groups

GROUPED: dict[str, tuple[Make, Callable[[Array], Any]]] = {
    name: ARRAYS[name]
    for name in (
        "multinomial", "multinomial csr holes", "multinomial, WittenBell()", "complement norm", "complement csr",
        "bernoulli csr", "poisson, 0.3", "categorical", "gaussian", "gaussian csr",
        "bernoulli, Epsilon(eps=0.0001)",
    )
} | TABLES  # fmt: skip


@pytest.mark.parametrize("name", GROUPED)
@few
@given(rows_of(columns=4), st.data())
def test_groups_left_out_score_as_by_models_without_them(name: str, rows: tuple[Array, Array], draw: Any) -> None:
    make, as_rows = GROUPED[name]
    values, y = rows
    number = st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y)).filter(lambda g: len(set(g)) > 1)
    groups, weight = np.array(draw.draw(number)), weights(draw, len(y))
    X = as_rows(values)
    found = leave_one_out(make(), X, y, groups=groups, sample_weight=weight)
    equals_refitting(make, X, y, groups, found, weight)


@pytest.mark.parametrize("options", ["plain", "hashing"])
@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
@fewer
@given(reviews(), st.data())
def test_groups_of_texts_left_out_score_as_by_models_without_them(
    family: str, options: str, rows: tuple[list[str], Array], draw: Any
) -> None:
    texts, y = [*rows[0], " ".join(WORDS), " ".join(WORDS)], np.array([*rows[1], "a", "b"])
    number = st.lists(st.integers(0, 3), min_size=len(y) - 2, max_size=len(y) - 2)
    groups = np.array([*draw.draw(number), 4, 5])
    weighting = draw.draw(st.sampled_from(["counts", "binary", "tfidf"]))
    make = partial(text, family=family, weighting=weighting, **TEXT_OPTIONS[options])
    found = leave_one_out(make(), texts, y, groups=groups)
    equals_refitting(make, texts, y, groups, found)


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("options", [{}, {"ngrams": (1, 2)}])
def test_words_that_only_a_small_group_has_are_not_known_without_it(family: str, options: dict[str, Any]) -> None:
    texts = [
        "the film fine good story plot actor", "film the dull bad story plot actor", "fine the film good music",
        "the film bad music", "unheard the", "the film",
    ]  # fmt: skip
    y, groups = np.array(list("abaaba")), np.array([0, 1, 2, 3, 4, 3])
    make = partial(text, family=family, **options)
    equals_refitting(make, texts, y, groups, leave_one_out(make(), texts, y, groups=groups))


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("weighting", ["counts", "tfidf"])
def test_given_words_are_left_out_by_groups_and_folds(family: str, weighting: str) -> None:
    texts, y = ["the film fine", "dull film", "fine the a", "a dull film", "the fine"], np.array(list("ababa"))
    make = partial(text, family=family, weighting=weighting, vocabulary=["fine", "dull", "the", "never"])
    groups = np.array([0, 0, 1, 1, 2])
    equals_refitting(make, texts, y, groups, leave_one_out(make(), texts, y, groups=groups))
    assert np.isfinite(cross_validate(make(), texts, y, folds=2).log_loss)


@pytest.mark.parametrize(
    "name", ["multinomial", "bernoulli", "gaussian", "gaussian full", "categorical", "poisson csr"]
)
def test_groups_of_one_row_each_are_as_leaving_out_one(name: str) -> None:
    make, as_rows = (ARRAYS | COVARIANCES)[name]
    rng = np.random.default_rng(4)
    values, y = rng.integers(0, 5, (100, 3)), rng.choice(list("ab"), 100)
    X = as_rows(values)
    one_by_one = leave_one_out(make(), X, y)
    for groups in (np.arange(100), [f"g{i}" for i in range(100)], np.arange(100) * 0.5):
        nearly(leave_one_out(make(), X, y, groups=groups).scores.joint, one_by_one.scores.joint)


@pytest.mark.parametrize("name", [*TABLES, *COVARIANCES, "gaussian"])
@pytest.mark.parametrize("many", [5, 80])
def test_few_and_many_groups_equal_refitting(name: str, many: int) -> None:
    make, as_rows = (GROUPED | COVARIANCES)[name]
    rng = np.random.default_rng(5)
    values, y = rng.integers(-1, 5, (160, 4)), rng.choice(list("abc"), 160)
    groups = np.concatenate([np.arange(many), rng.integers(0, many, 160 - many)])
    X, weight = as_rows(values), rng.integers(1, 4, 160) / 2
    found = leave_one_out(make(), X, y, groups=groups, sample_weight=weight)
    assert equals_refitting(make, X, y, groups, found, weight) == 160


def test_far_numbers_in_many_groups_are_left_out() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(160, 2)), rng.choice(list("ab"), 160)
    X[7] = 1e12
    groups = np.arange(160) // 2
    found = leave_one_out(GaussianNB(), X, y, groups=groups)
    equals_refitting(GaussianNB, X, y, groups, found, tolerance=1e-6)


@pytest.mark.parametrize("name", GROUPED)
def test_groups_that_are_whole_classes_are_defined(name: str) -> None:
    make, as_rows = GROUPED[name]
    rng = np.random.default_rng(7)
    values, y = rng.integers(0, 5, (12, 4)), np.array(list("abc") * 4)
    found = leave_one_out(make(), as_rows(values), y, groups=y)
    assert np.isfinite(found.losses).all()
    assert not np.isnan(found.scores.joint).any()


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("options", [name for name in TEXT_OPTIONS if name != "given"])
def test_texts_in_groups_that_are_whole_classes_are_defined(family: str, options: str) -> None:
    texts, y = ["the film fine", "the film film", "the dull film", "film the a"], np.array(list("aabb"))
    found = leave_one_out(text(family=family, **TEXT_OPTIONS[options]), texts, y, groups=y)
    assert np.isfinite(found.losses).all()


def test_groups_that_do_not_fit_are_refused() -> None:
    X, y = [[1, 2], [0, 1], [3, 1]], list("aab")
    with pytest.raises(InputError, match="groups: all rows are in one"):
        leave_one_out(MultinomialNB(), X, y, groups=[1, 1, 1])
    for groups in ([1, 2], [1, 2, 3, 4], [[1], [2], [3]], 3):
        with pytest.raises(InputError, match=r"groups must be one for each of 3 rows, got shape"):
            leave_one_out(MultinomialNB(), X, y, groups=groups)


def test_groups_may_be_named_by_anything() -> None:
    X, y = np.array([[1, 2], [0, 1], [3, 1], [2, 2]]), np.array(list("aabb"))
    want = leave_one_out(MultinomialNB(), X, y, groups=[0, 1, 0, 2]).scores.joint
    for groups in (["x", "y", "x", "z"], np.array(["x", None, "x", 3], dtype=object), [0.5, 1.5, 0.5, 7.0]):
        nearly(leave_one_out(MultinomialNB(), X, y, groups=groups).scores.joint, want)


# --- folds


@pytest.mark.parametrize("name", GROUPED)
def test_cross_validation_equals_refitting_on_the_same_folds(name: str) -> None:
    make, as_rows = GROUPED[name]
    rng = np.random.default_rng(8)
    values, y = rng.integers(0, 5, (40, 4)), rng.choice(list("abc"), 40)
    X, weight = as_rows(values), rng.integers(1, 4, 40) / 2
    codes = make().fit(X, y)._model.ledger.classes.locate(y)
    repeats = cross_validate(make(), X, y, folds=4, repeats=2, random_state=11, sample_weight=weight)
    assert len(repeats) == 2
    for repeat, found in enumerate(repeats):
        fold = held_out.folds(40, 4, 11 + repeat, codes)
        assert equals_refitting(make, X, y, fold, found, weight) == 40
    again = cross_validate(make(), X, y, folds=4, random_state=11, sample_weight=weight)
    np.testing.assert_array_equal(again.scores.joint, repeats[0].scores.joint)
    assert (repeats[0].scores.joint != repeats[1].scores.joint).any()


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
@pytest.mark.parametrize("weighting", ["counts", "binary", "tfidf"])
@pytest.mark.parametrize("options", [name for name in TEXT_OPTIONS if name != "given"])
def test_cross_validation_of_texts_equals_refitting(family: str, weighting: str, options: str) -> None:
    rng = np.random.default_rng(9)
    texts = [" ".join(rng.choice(WORDS, rng.integers(2, 9))) + f" w{i // 3}" for i in range(24)]
    y = rng.choice(list("ab"), 24)
    make = partial(text, family=family, weighting=weighting, **TEXT_OPTIONS[options])
    codes = make().fit(texts, y)._model.ledger.classes.locate(y)
    found = cross_validate(make(), texts, y, folds=3, random_state=1)
    assert equals_refitting(make, texts, y, held_out.folds(24, 3, 1, codes), found) == 24


def test_a_path_and_repeats_give_lists_of_lists() -> None:
    rng = np.random.default_rng(10)
    X, y = rng.poisson(1.0, (30, 4)), rng.choice(list("ab"), 30)
    found = cross_validate(MultinomialNB(), X, y, folds=3, repeats=2, alpha=[1.0, 0.1])
    assert [len(of_repeat) for of_repeat in found] == [2, 2]
    for repeat in range(2):
        for k, alpha in enumerate((1.0, 0.1)):
            one = cross_validate(MultinomialNB(alpha=alpha), X, y, folds=3, random_state=repeat)
            nearly(found[repeat][k].scores.joint, one.scores.joint)


@settings(max_examples=50)
@given(st.integers(2, 60), st.integers(2, 80), st.integers(0, 99), st.integers(1, 4))
def test_folds_are_even_and_spread_every_class(rows: int, many: int, seed: int, classes: int) -> None:
    codes = np.random.default_rng(seed).integers(0, classes, rows)
    for fold in (held_out.folds(rows, many, seed, codes), held_out.folds(rows, many, seed)):
        sizes = np.bincount(fold, minlength=min(many, rows))
        assert len(sizes) == min(many, rows)
        assert sizes.max() - sizes.min() <= 1
    fold = held_out.folds(rows, many, seed, codes)
    for c in range(classes):
        of_class = np.bincount(fold[codes == c], minlength=min(many, rows))
        assert of_class.max() - of_class.min() <= 1


def test_more_folds_than_rows_are_as_many_as_rows() -> None:
    X, y = np.array([[2, 1], [1, 2], [0, 3], [1, 1]]), np.array(list("aabb"))
    nearly(
        cross_validate(MultinomialNB(), X, y, folds=99).scores.joint, leave_one_out(MultinomialNB(), X, y).scores.joint
    )


@pytest.mark.parametrize("folds", [1, 0, -3])
def test_fewer_than_two_folds_are_refused(folds: int) -> None:
    with pytest.raises(InputError, match=r"folds must be .*2 or more, got"):
        cross_validate(MultinomialNB(), [[1, 2], [2, 1]], list("ab"), folds=folds)


@pytest.mark.parametrize("folds", [2.5, "five", None])
def test_folds_that_are_no_whole_number_are_refused_by_name(folds: Any) -> None:
    with pytest.raises(InputError, match="folds must be"):
        cross_validate(MultinomialNB(), [[1, 2], [2, 1], [1, 1]], list("aab"), folds=folds)


@pytest.mark.parametrize("repeats", [0, -1, 1.5, "two"])
def test_repeats_that_are_no_whole_number_are_refused(repeats: Any) -> None:
    with pytest.raises(InputError, match="repeats must be a whole number, 1 or more"):
        cross_validate(MultinomialNB(), [[1, 2], [2, 1]], list("ab"), repeats=repeats)


def test_one_row_cannot_be_cross_validated() -> None:
    with pytest.raises(InputError, match="2 rows or more, got 1"):
        cross_validate(MultinomialNB(), [[1, 2]], ["a"])


# --- what cannot be left out

UNCOUNTED: dict[str, tuple[Any, Any, Any]] = {
    "multinomial": (MultinomialNB(), [[1, 0], [0, 1]], [[5, 0], [0, 1]]),
    "complement": (ComplementNB(), [[1, 0], [0, 1]], [[5, 0], [0, 1]]),
    "complement norm": (ComplementNB(norm=True), [[1, 0], [0, 1]], [[5, 0], [0, 1]]),
    "bernoulli": (BernoulliNB(), [[1, 0], [0, 1]], [[1, 1], [0, 1]]),
    "poisson": (PoissonNB(), [[1, 0], [0, 1]], [[5, 0], [0, 1]]),
    "categorical": (CategoricalNB(min_categories=3), [[1, 0], [0, 1]], [[2, 0], [0, 1]]),
    "table": (
        table(columns={"c": naively.Categorical()}),
        {"c": ["r", "g"]},
        {"c": ["g", "g"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", UNCOUNTED)
def test_rows_that_were_never_counted_cannot_be_left_out(name: str) -> None:
    model, counted, others = UNCOUNTED[name]
    fitted = model.fit(counted, ["a", "b"])
    leave_one_out(fitted, counted, ["a", "b"])
    with pytest.raises(NegativeCount):
        leave_one_out(fitted, others, ["a", "b"])


@pytest.mark.parametrize("make", [GaussianNB, lambda: GaussianClassifier(covariance="full")])
def test_heavier_rows_than_were_counted_cannot_be_left_out(make: Make) -> None:
    X, y = [[1.0, 2.0], [0.0, 1.0], [3.0, 3.0]], list("aab")
    with pytest.raises(NegativeCount):
        leave_one_out(make().fit(X, y), X, y, sample_weight=[1.0, 1.0, 7.0])


@pytest.mark.parametrize("family", ["multinomial", "complement", "bernoulli"])
def test_texts_that_were_never_counted_cannot_be_left_out(family: str) -> None:
    fitted = text(family=family).fit(["fine film", "dull film"], ["a", "b"])
    with pytest.raises(NegativeCount):
        leave_one_out(fitted, ["dull film", "dull film"], ["a", "b"])


def test_labels_that_were_never_seen_are_refused() -> None:
    rows = {"c": ["r", "g", "g"]}
    for model, X in (
        (MultinomialNB(), [[1, 2], [2, 1], [0, 1]]),
        (GaussianNB(), [[1, 2], [2, 1], [0, 1]]),
        (text(), ["fine", "dull", "fine"]),
        (table(columns={"c": naively.Categorical()}), rows),
    ):
        fitted = model.fit(X, ["a", "b", "a"])
        for judge in (leave_one_out, partial(cross_validate, folds=2)):
            with pytest.raises(naively.NaivelyError, match="zzz"):
                judge(fitted, X, ["a", "b", "zzz"])


def test_what_is_no_model_of_naivelys_is_refused() -> None:
    with pytest.raises(InputError, match="expected a model of naively's, got dict"):
        leave_one_out({}, [[1]], ["a"])


def test_a_fitted_model_is_left_as_it_was_and_may_know_more_rows() -> None:
    X, y = np.array([[2, 1], [1, 2], [0, 3], [1, 1]]), np.array(list("aabb"))
    model = MultinomialNB().fit(X, y)
    before = model.predict_proba(X)
    some_rows = leave_one_out(model, X[:2], y[:2], alpha=[1.0, 0.1])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.alpha == 1.0
    nearly(some_rows[0].scores.joint, leave_one_out(MultinomialNB(), X, y).scores.joint[:2])


def test_classes_that_came_in_any_order_are_told_in_sorted_order() -> None:
    X, y = np.array([[2, 1], [1, 2], [0, 3], [1, 1], [4, 0]]), np.array(list("caabc"))
    model = MultinomialNB()
    for i in range(5):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=None if i else ["c"])
    for groups in (None, [0, 0, 1, 1, 2]):
        found = leave_one_out(model, X, y, groups=groups)
        want = leave_one_out(MultinomialNB(), X, y, groups=groups)
        assert found.scores.classes.tolist() == ["a", "b", "c"]
        assert found.truth.tolist() == want.truth.tolist() == [2, 0, 0, 1, 2]
        nearly(found.scores.joint, want.scores.joint)


# --- what scores of rows left out come to


@st.composite
def judged(draw: st.DrawFn) -> tuple[HeldOut, Array]:
    rows, classes = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    prior = rng.dirichlet(np.ones(classes), rows)
    odd = (rng.random((rows, classes)) < 0.3).astype(float) if draw(st.booleans()) else None
    scores = Scores(np.arange(classes), rng.normal(size=(rows, classes)) * 3, np.log(prior), odd)
    weight = rng.integers(1, 4, rows) / 2 if draw(st.booleans()) else None
    truth = rng.integers(0, classes, rows)
    return HeldOut(scores, truth, weight), np.ones(rows) if weight is None else weight


@settings(max_examples=60)
@given(judged())
def test_accuracy_loss_confusion_and_odds_are_what_they_say(drawn: tuple[HeldOut, Array]) -> None:
    found, weight = drawn
    logs, truth, rows = found.scores.log_proba(), found.truth, np.arange(len(found.truth))
    place = logs.argmax(axis=1)
    assert found.labels.tolist() == found.scores.classes[place].tolist()
    assert found.accuracy == pytest.approx(weight[place == truth].sum() / weight.sum())
    lost = np.minimum(-logs[rows, truth], 708.3964185322641)
    nearly(found.losses, lost)
    assert found.log_loss == pytest.approx((weight * lost).sum() / weight.sum())
    table = np.zeros((logs.shape[1],) * 2)
    for t, p, w in zip(truth, place, weight, strict=True):
        table[t, p] += w
    nearly(found.confusion, table)
    for i, t in enumerate(truth.tolist()):
        others = np.delete(logs[i], t)
        best = others.max(initial=-np.inf)
        if np.isneginf(best):
            assert found.odds[i] == np.inf
        else:
            assert found.odds[i] == pytest.approx(logs[i, t] - best, abs=1e-9)
    assert f"{len(truth):_} rows" in repr(found)


def test_an_impossible_label_loses_much_but_not_everything() -> None:
    scores = Scores(np.array(["a", "b"]), np.zeros((1, 2)), np.log([[0.5, 0.5]]), np.array([[0.0, 1.0]]))
    found = HeldOut(scores, np.array([1]))
    assert 708 < found.log_loss < 709
    assert found.odds.tolist() == [-np.inf]
    assert HeldOut(scores, np.array([0])).log_loss == 0.0


def test_rows_of_weight_zero_do_not_count() -> None:
    X, y = np.array([[2, 1], [1, 2], [0, 3], [1, 1], [9, 0]]), np.array(list("aabbb"))
    weight = np.array([1.0, 1, 1, 1, 0])
    found = leave_one_out(MultinomialNB(), X, y, sample_weight=weight)
    want = leave_one_out(MultinomialNB(), X[:4], y[:4])
    nearly(found.scores.joint[:4], want.scores.joint)
    assert found.log_loss == pytest.approx(want.log_loss)
    assert found.accuracy == pytest.approx(want.accuracy)
