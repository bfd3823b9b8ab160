"""Smoothing by a background, and by the α that the counts make most probable."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from families import Array, with_holes
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import gammaln

import naively
from naively import (
    AbsoluteDiscount,
    Additive,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    Dirichlet,
    InputError,
    JelinekMercer,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextClassifier,
    WittenBell,
    merge,
)
from naively.smooth.evidence import HIGHEST, LOWEST, Draws, best_alpha, best_shape

few = settings(max_examples=20)
RULES = [JelinekMercer(0.3), Dirichlet(5.0), AbsoluteDiscount(0.4), AbsoluteDiscount(), WittenBell()]
LIMITS: list[Any] = [JelinekMercer(0.0), JelinekMercer(1.0), Dirichlet(0.0), Dirichlet(1e12)]
LIMITS += [AbsoluteDiscount(0.0), AbsoluteDiscount(1.0)]
every_rule = pytest.mark.parametrize("rule", RULES, ids=repr)
every_limit = pytest.mark.parametrize("rule", [*RULES, *LIMITS], ids=repr)


def text(**options: Any) -> Any:
    """A text classifier that leaves nothing to defaults that may change."""
    usual = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 0.3, **options}
    if "calibrate" in TextClassifier().get_params():
        usual.setdefault("calibrate", False)
    return TextClassifier(**usual)


def table(columns: dict[Any, Any], **options: Any) -> Any:
    usual = {"alpha": 1.0, **({"calibrate": False} if "calibrate" in NaiveBayes().get_params() else {})}
    return NaiveBayes(columns=columns, **{**usual, **options})


@st.composite
def counted(draw: st.DrawFn, seen: bool = True) -> tuple[Array, Array]:
    """Counts of a few features in rows of up to three classes; with `seen`, each feature is somewhere."""
    rows, columns = draw(st.integers(2, 8)), draw(st.integers(2, 5))
    values = draw(st.lists(st.integers(0, 4), min_size=rows * columns, max_size=rows * columns))
    labels = draw(st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows))
    X = np.array(values).reshape(rows, columns)
    if seen:
        X[0] = np.maximum(X[0], X.sum(axis=0) == 0)
    return X, np.array(labels)


def by_class(X: Array, y: Array) -> Array:
    return np.array([X[y == label].sum(axis=0) for label in np.unique(y)])


# --- backgrounds


def ney(counts: Array) -> Fraction:
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    return Fraction(once, once + 2 * twice) if once else Fraction(1, 2)


def chance(rule: Any, counts: Array, c: int, w: int) -> Fraction:
    """p(w | c) by hand."""
    n, total = Fraction(int(counts[c, w])), Fraction(int(counts[c].sum()))
    p = Fraction(int(counts[:, w].sum()), int(counts.sum()))
    types = int((counts[c] > 0).sum())
    if not total:
        return p
    if isinstance(rule, JelinekMercer):
        lam = Fraction(rule.lam)
        return (1 - lam) * n / total + lam * p
    if isinstance(rule, Dirichlet):
        return (n + Fraction(rule.mu) * p) / (total + Fraction(rule.mu))
    if isinstance(rule, WittenBell):
        return (n + types * p) / (total + types)
    d = ney(counts) if rule.d is None else Fraction(rule.d)
    return (max(n - d, Fraction(0)) + d * types * p) / total


@every_limit
@few
@given(counted())
def test_backgrounds_are_what_their_formulas_say(rule: Any, rows: tuple[Array, Array]) -> None:
    X, y = rows
    counts = by_class(X, y)
    model = MultinomialNB(alpha=rule).fit(X, y)
    found = np.exp(model.feature_log_prob_)
    want = [[float(chance(rule, counts, c, w)) for w in range(X.shape[1])] for c in range(len(counts))]
    np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    as_csr = MultinomialNB(alpha=rule).fit(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(as_csr.feature_log_prob_, model.feature_log_prob_)
    joint = model.predict_joint_log_proba(X)
    assert not np.isnan(joint).any()
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(want)
    by_hand = model.class_log_prior_ + np.array(
        [[sum(x * logs[c, w] for w, x in enumerate(row) if x) for c in range(len(counts))] for row in X.tolist()]
    )
    np.testing.assert_allclose(joint, by_hand, rtol=1e-9, atol=1e-9)


@every_limit
@few
@given(counted(seen=False))
def test_no_limit_is_nan_and_probabilities_sum_to_one(rule: Any, rows: tuple[Array, Array]) -> None:
    X, y = rows
    model = MultinomialNB(alpha=rule).fit(X, y)
    for rows_to_score in (X, sparse.csr_matrix(X), np.ones_like(X)):
        proba = model.predict_proba(rows_to_score)
        assert np.isfinite(proba).all()
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    drawn, labels = model.sample(20, random_state=0)
    assert drawn.shape == (20, X.shape[1])
    assert set(labels) <= set(y)


@every_rule
def test_a_feature_that_no_class_has_seen_takes_its_share_from_the_others(rule: Any) -> None:
    """What is taken as seen once has to be counted in the whole, too."""
    X, y = [[2, 1, 0], [1, 2, 0], [0, 3, 0], [0, 1, 0]], list("aabb")
    probabilities = np.exp(MultinomialNB(alpha=rule).fit(X, y).feature_log_prob_)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@every_rule
def test_without_any_counts_all_features_are_alike(rule: Any) -> None:
    model = MultinomialNB(alpha=rule).fit(np.zeros((2, 4), int), ["a", "b"])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), 0.25)


@every_limit
@few
@given(counted())
def test_a_table_holds_only_the_cells_that_were_seen(rule: Any, rows: tuple[Array, Array]) -> None:
    X, y = rows
    table_of = MultinomialNB(alpha=rule).fit(X, y).table_.block
    assert len(table_of.present.delta) == np.count_nonzero(by_class(X, y))
    assert len(table_of.present.feature) == X.shape[1]
    assert len(table_of.present.klass) == len(np.unique(y))


@every_limit
def test_a_class_that_has_seen_nothing_is_as_all_classes_together(rule: Any) -> None:
    X, y = np.array([[2, 1, 0], [0, 1, 4], [0, 0, 0]]), ["a", "b", "none"]
    found = np.exp(MultinomialNB(alpha=rule).fit(X, y).feature_log_prob_[2])
    np.testing.assert_allclose(found, [2 / 8, 2 / 8, 4 / 8])
    known = MultinomialNB(alpha=rule).partial_fit(X[:2], y[:2], classes=["a", "b", "later"])
    assert np.isfinite(known.predict_proba(X)).all()


def test_the_discount_is_that_of_ney() -> None:
    assert AbsoluteDiscount().told(np.array([1, 1, 1, 2, 5])).d == pytest.approx(3 / 5)
    assert AbsoluteDiscount().told(np.array([1, 1, 2, 2, 2])).d == pytest.approx(2 / 8)
    assert AbsoluteDiscount().told(np.array([3, 4])).d == 0.5
    assert AbsoluteDiscount().told(np.zeros(0)).d == 0.5
    assert AbsoluteDiscount(0.1).told(np.array([1, 1])).d == 0.1


@every_rule
def test_a_background_is_as_good_after_batches_forgetting_merging_and_pickling(rule: Any) -> None:
    X, y = np.array([[2, 1, 0], [0, 1, 4], [1, 1, 0], [0, 2, 2]]), np.array(list("abab"))
    whole = MultinomialNB(alpha=rule).fit(X, y)
    want = whole.predict_joint_log_proba(X)
    stream = MultinomialNB(alpha=rule)
    for i in range(4):
        stream.partial_fit(X[i : i + 1], y[i : i + 1], classes=None if i else ["a", "b"])
    stream.partial_fit([[9, 9, 9]], ["a"]).forget([[9, 9, 9]], ["a"])
    parts = MultinomialNB(alpha=rule).fit(X[:2], y[:2]), MultinomialNB(alpha=rule).fit(X[2:], y[2:])
    for other in (stream, merge(*parts), pickle.loads(pickle.dumps(whole))):
        np.testing.assert_allclose(other.predict_joint_log_proba(X), want)
    explanation = whole.explain(X[:1])
    assert "nan" not in repr(explanation)
    one_row = sparse.csr_matrix(X[:1])
    np.testing.assert_allclose(MultinomialNB(alpha=rule).fit(X, y).predict_joint_log_proba(one_row), want[:1])


@every_limit
@pytest.mark.parametrize("weighting", ["counts", "binary", "tfidf"])
def test_texts_are_smoothed_by_a_background(rule: Any, weighting: str) -> None:
    texts, y = ["the film fine", "the dull film film", "fine fine", "a dull plot"], list("abab")
    model = text(alpha=rule, weighting=weighting).fit(texts, y)
    assert np.isfinite(model.predict_proba([*texts, "", "unheard", None])).all()
    assert len(model.sample(5, random_state=0)[0]) == 5
    assert len(model.table_.block.linear.present.delta) == len(model.tally_.part.cells)
    if weighting == "counts":
        words = sorted({w for words in texts for w in words.split()})
        X = [[words_of.split().count(w) for w in words] for words_of in texts]
        np.testing.assert_allclose(
            model.predict_joint_log_proba(texts), MultinomialNB(alpha=rule).fit(X, y).predict_joint_log_proba(X)
        )


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: JelinekMercer(-0.1), "lam must be 0 to 1"),
        (lambda: JelinekMercer(1.1), "lam must be 0 to 1"),
        (lambda: JelinekMercer(np.nan), "lam must be 0 to 1"),
        (lambda: JelinekMercer("x"), "lam must be 0 to 1"),
        (lambda: Dirichlet(-1.0), "mu must be 0 or more"),
        (lambda: Dirichlet(np.inf), "mu must be 0 or more"),
        (lambda: Dirichlet(np.nan), "mu must be 0 or more"),
        (lambda: AbsoluteDiscount(1.5), "d must be None, or 0 to 1"),
        (lambda: AbsoluteDiscount(-1), "d must be None, or 0 to 1"),
        (lambda: AbsoluteDiscount(np.nan), "d must be None, or 0 to 1"),
    ],
)
def test_parameters_out_of_range_are_told(make: Callable[[], Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        make()


X2, Y2 = [[1, 0], [0, 1], [1, 1]], list("aab")


@every_rule
@pytest.mark.parametrize("make", [ComplementNB, BernoulliNB, PoissonNB, CategoricalNB], ids=lambda make: make.__name__)
def test_families_that_know_no_background_refuse_one_when_fitted(make: Any, rule: Any) -> None:
    with pytest.raises(ValueError, match=rf"alpha.*{type(rule).__name__}|{type(rule).__name__}.*alpha"):
        make(alpha=rule).fit(X2, Y2)


@every_rule
def test_tables_refuse_a_background_for_all_columns_when_fitted(rule: Any) -> None:
    with pytest.raises(ValueError, match=rf"alpha.*{type(rule).__name__}"):
        NaiveBayes(alpha=rule).fit({"x": [1.0, 2.0, 3.0]}, Y2)


@every_rule
@pytest.mark.parametrize("family", ["complement", "bernoulli"])
def test_words_of_other_families_refuse_a_background_when_fitted(family: str, rule: Any) -> None:
    with pytest.raises(InputError, match=rf"family='{family}'.*{type(rule).__name__}"):
        text(family=family, alpha=rule).fit(["fine", "dull", "film"], Y2)


@pytest.mark.parametrize("family", ["complement", "bernoulli"])
def test_columns_of_words_of_other_families_refuse_a_background_when_fitted(family: str) -> None:
    column = naively.Text(family=family, weighting="counts", ngrams=(1, 1), alpha=WittenBell())
    with pytest.raises(InputError, match=rf"family='{family}'.*WittenBell"):
        table({"t": column}).fit({"t": ["fine", "dull", "film"]}, Y2)


# --- evidence


def log_evidence(urns: list[tuple[Array, int]], alpha: Any) -> Any:
    """Log-probability of draws from urns (counts of all their outcomes), by Dirichlet-multinomials."""
    total = 0.0
    for counts, outcomes in urns:
        n = np.sum(counts)
        total = total + gammaln(outcomes * alpha) - gammaln(n + outcomes * alpha)
        for count in np.asarray(counts, dtype=float).ravel():
            total = total + gammaln(count + alpha) - gammaln(alpha)
    return total


GRID = np.geomspace(LOWEST, HIGHEST, 4001)


def expected(alpha: Any) -> Any:
    """What is expected of α beforehand: its logarithm is a standard normal."""
    return -0.5 * np.log(alpha) ** 2


def is_best(alpha: float, evidence: Callable[[Any], Any]) -> None:
    """No α of a fine grid is more probable."""
    assert LOWEST * (1 - 1e-9) <= alpha <= HIGHEST * (1 + 1e-9)
    on_grid = evidence(GRID) + expected(GRID)
    assert evidence(alpha) + expected(alpha) >= on_grid.max() - 1e-6 * max(1.0, np.abs(on_grid.max()))
    step = GRID[1] / GRID[0]
    inside = LOWEST * step < alpha < HIGHEST / step
    if inside and on_grid.max() - np.sort(on_grid)[-9] > 1e-6:  # where the top is no plateau
        assert GRID[on_grid.argmax()] == pytest.approx(alpha, rel=2 * (step - 1) + 1e-3)


@few
@given(counted())
def test_the_alpha_of_a_multinomial_is_the_most_probable(rows: tuple[Array, Array]) -> None:
    X, y = rows
    assume(X.any())
    counts = by_class(X, y)
    alpha = best_alpha(Draws.of(counts, counts.sum(axis=1), X.shape[1]))
    is_best(alpha, lambda a: log_evidence([(row, X.shape[1]) for row in counts], a))
    check_auto(MultinomialNB, X, y, alpha)


@few
@given(counted())
def test_the_alpha_of_a_complement_is_the_most_probable(rows: tuple[Array, Array]) -> None:
    X, y = rows
    counts = by_class(X, y)
    assume(X.any() and len(counts) > 1)
    others = counts.sum(axis=0) - counts
    alpha = best_alpha(Draws.of(others, others.sum(axis=1), X.shape[1]))
    is_best(alpha, lambda a: log_evidence([(row, X.shape[1]) for row in others], a))
    check_auto(ComplementNB, X, y, alpha)


@few
@given(counted(seen=False), st.booleans())
def test_the_alpha_of_presences_is_the_most_probable(rows: tuple[Array, Array], holes: bool) -> None:
    X, y = rows
    there = with_holes(np.where(X == 4, -1, X)) if holes else X.astype(float)
    urns = []
    for label in np.unique(y):
        for column in there[y == label].T:
            known = column[~np.isnan(column)] > 0
            urns.append((np.array([known.sum(), (~known).sum()]), 2))
    assume(any(counts.any() for counts, _ in urns))
    counts = np.array([counts for counts, _ in urns])
    alpha = best_alpha(Draws.of(counts, counts.sum(axis=1), 2.0))
    is_best(alpha, lambda a: log_evidence(urns, a))
    check_auto(BernoulliNB, there, y, alpha)


@few
@given(counted(seen=False), st.booleans())
def test_the_alpha_of_each_column_of_categories_is_the_most_probable(rows: tuple[Array, Array], holes: bool) -> None:
    X, y = rows
    codes = with_holes(np.where(X == 4, -1, X)) if holes else X.astype(float)
    codes[0] = 3
    model = CategoricalNB(alpha="auto", min_categories=5).fit(codes, y)
    for column, logs in zip(codes.T, model.feature_log_prob_, strict=True):
        urns = [(np.array([(column[y == label] == k).sum() for k in range(5)]), 5) for label in np.unique(y)]
        counts = np.array([counts for counts, _ in urns])
        alpha = best_alpha(Draws.of(counts, counts.sum(axis=1), 5.0))
        is_best(alpha, lambda a, urns=urns: log_evidence(urns, a))
        np.testing.assert_allclose(np.exp(logs), (counts + alpha) / (counts.sum(axis=1, keepdims=True) + 5 * alpha))


@few
@given(counted(seen=False), st.booleans())
def test_the_shape_of_rates_is_the_most_probable(rows: tuple[Array, Array], holes: bool) -> None:
    X, y = rows
    x = with_holes(np.where(X == 4, -1, X)) if holes else X.astype(float)
    events = np.array([np.nansum(x[y == label], axis=0) for label in np.unique(y)]).ravel()
    known = np.array([(~np.isnan(x[y == label])).sum(axis=0) for label in np.unique(y)]).ravel()
    assume(events.any())

    def evidence(a: Any) -> Any:
        total = 0.0
        for s, n in zip(events, known, strict=True):
            if n:
                total = total + gammaln(s + a) - gammaln(a) + a * np.log(a) - (s + a) * np.log(n + a)
        return total

    alpha = best_shape(events, known, np.ones(len(events)))
    is_best(alpha, evidence)
    check_auto(PoissonNB, x, y, alpha)


def check_auto(make: Any, X: Array, y: Array, alpha: float) -> None:
    automatic, by_hand = make(alpha="auto").fit(X, y), make(alpha=Additive(alpha)).fit(X, y)
    np.testing.assert_allclose(
        automatic.predict_joint_log_proba(X), by_hand.predict_joint_log_proba(X), rtol=1e-6, atol=1e-6
    )


def test_without_counts_alpha_is_one() -> None:
    none = np.zeros(0)
    assert best_alpha(Draws.of(none, none, 2.0)) == 1.0
    assert best_alpha(Draws.of(np.zeros((2, 3)), np.zeros(2), 3.0)) == 1.0
    assert best_alpha(Draws.of(np.array([3.0, 2.0]), np.array([3.0, 2.0]), 1.0)) == 1.0  # one outcome tells nothing
    assert best_shape(np.zeros(2), np.array([3.0, 4.0]), np.ones(2)) == 1.0
    assert best_shape(none, none, none) == 1.0


def test_alpha_stays_within_its_bounds() -> None:
    many, totals = np.full(4, 1e9), np.full(2, 50.0)
    one_sided, even = np.array([50.0, 0, 0, 50]), np.full(4, 25.0)
    assert best_alpha(Draws.of(one_sided, totals, 2.0, many, many[:2])) == pytest.approx(LOWEST)
    assert best_alpha(Draws.of(even, totals, 2.0, many, many[:2])) == pytest.approx(HIGHEST)
    assert LOWEST <= best_shape(np.array([1e9, 0.0]), np.array([1.0, 1e9]), np.ones(2)) <= HIGHEST
    assert best_shape(np.array([100.0]), np.array([100.0]), np.array([1e12])) == pytest.approx(HIGHEST)


@few
@given(st.lists(st.floats(1e-3, 1e6), min_size=4, max_size=12), st.integers(1, 3))
def test_fractions_are_rounded_but_little(counts: list[float], repeat: int) -> None:
    rows = np.array(counts[: len(counts) // 2 * 2]).reshape(2, -1)
    outcomes = rows.shape[1] + 2
    many = np.tile(rows, (repeat, 1))
    alpha = best_alpha(Draws.of(many, many.sum(axis=1), outcomes))
    urns = [(row, outcomes) for row in many]
    on_grid = log_evidence(urns, GRID) + expected(GRID)
    found = log_evidence(urns, np.array([alpha]))[0] + expected(alpha)
    assert found >= on_grid.max() - 1e-3 * max(1.0, abs(on_grid.max()))


def test_many_urns_are_put_together_and_give_nearly_the_same() -> None:
    rng = np.random.default_rng(0)
    totals = rng.integers(1, 50, 3000)
    heads = rng.binomial(totals, rng.beta(2.0, 2.0, 3000))
    counts = np.stack([heads, totals - heads], axis=1)
    alpha = best_alpha(Draws.of(counts, totals, 2.0))
    assert alpha == pytest.approx(2.0, rel=0.15)
    is_best(alpha, lambda a: _pairs(counts, a))


def _pairs(counts: Array, alpha: Any) -> Any:
    a = np.atleast_1d(alpha)
    heads, tails = counts[:, 0, None], counts[:, 1, None]
    each = gammaln(2 * a) - gammaln(heads + tails + 2 * a) + gammaln(heads + a) + gammaln(tails + a) - 2 * gammaln(a)
    return each.sum(axis=0) if np.ndim(alpha) else each.sum()


COUNTS = np.array([[2, 1, 0], [0, 1, 4], [1, 1, 0], [0, 2, 2], [3, 0, 1], [0, 0, 1]])
LABELS = np.array(list("ababab"))
TEXTS = ["the film fine", "the dull film film", "fine fine", "a dull plot", "the plot", "a film dull"]
TABLE = {
    "n": [1.0, 2.5, 1.5, 4.0, 0.5, None],
    "h": [3.0, 1.0, 4.0, 1.0, 5.0, 9.0],
    "c": ["r", "g", "r", None, "g", "g"],
    "b": [True, False, None, True, True, False],
    "t": TEXTS,
}
COLUMNS = {
    "n": naively.Gaussian(),
    "h": naively.Histogram("width", 3),
    "c": naively.Categorical(),
    "b": naively.Bernoulli(),
    "t": naively.Text(family="multinomial", weighting="counts", ngrams=(1, 1)),
}
AUTOMATIC: dict[str, tuple[Callable[..., Any], Any]] = {
    "multinomial": (MultinomialNB, COUNTS),
    "multinomial csr": (MultinomialNB, sparse.csr_matrix(COUNTS)),
    "complement": (ComplementNB, COUNTS),
    "complement norm": (lambda **o: ComplementNB(norm=True, **o), COUNTS),
    "bernoulli": (BernoulliNB, COUNTS),
    "bernoulli csr": (BernoulliNB, sparse.csr_matrix(COUNTS)),
    "poisson": (PoissonNB, COUNTS),
    "categorical": (CategoricalNB, COUNTS),
    **{
        f"text {family} {weighting}": (lambda f=family, w=weighting, **o: text(family=f, weighting=w, **o), TEXTS)
        for family in ("multinomial", "complement", "bernoulli")
        for weighting in ("counts", "binary", "tfidf")
    },
    "table": (lambda **o: table(COLUMNS, **o), TABLE),
    "table kernel": (lambda **o: table({**COLUMNS, "h": naively.Kernel()}, **o), TABLE),
    "table informative": (lambda **o: table(COLUMNS, missing="informative", **o), TABLE),
}


def part(X: Any, rows: slice) -> Any:
    return {name: column[rows] for name, column in X.items()} if isinstance(X, dict) else X[rows]


@pytest.mark.parametrize("name", AUTOMATIC)
def test_automatic_smoothing_does_all_that_any_other_does(name: str) -> None:
    make, X = AUTOMATIC[name]
    model = make(alpha="auto").fit(X, LABELS)
    want = model.predict_proba(X)
    assert np.isfinite(want).all()
    assert model.predict(X).tolist() == model.classes_[want.argmax(axis=1)].tolist()
    assert len(model.sample(7, random_state=0)[1]) == 7
    assert "nan" not in repr(model.explain(part(X, slice(0, 1))))

    def equal(other: Any) -> None:
        np.testing.assert_allclose(other.predict_proba(X), want, rtol=1e-6, atol=1e-8)

    stream = make(alpha="auto")
    for i in range(6):
        rows = slice(i, i + 1)
        classes = None if hasattr(stream, "classes_") else ["a", "b"]
        stream.partial_fit(part(X, rows), LABELS[rows], classes=classes)
    equal(stream)
    if not name.startswith("table"):  # moments may refuse
        more = make(alpha="auto").fit(X, LABELS)
        equal(more.partial_fit(part(X, slice(0, 2)), LABELS[:2]).forget(part(X, slice(0, 2)), LABELS[:2]))
    first, second = (make(alpha="auto").fit(part(X, rows), LABELS[rows]) for rows in (slice(0, 3), slice(3, 6)))
    equal(merge(first, second))
    equal(pickle.loads(pickle.dumps(model)))
    assert np.isfinite(naively.leave_one_out(model, X, LABELS).log_loss)
    assert np.isfinite(naively.cross_validate(model, X, LABELS, folds=2).log_loss)
    for rows in (slice(0, 1), slice(2, 3)):
        np.testing.assert_allclose(make(alpha="auto").fit(X, LABELS).predict_proba(part(X, rows)), want[rows])


@pytest.mark.parametrize("name", [name for name in AUTOMATIC if "text" not in name and "table" not in name])
def test_automatic_smoothing_tells_its_probabilities(name: str) -> None:
    make, X = AUTOMATIC[name]
    model = make(alpha="auto").fit(X, LABELS)
    found = model.feature_log_prob_
    assert all(np.isfinite(column).all() for column in found)
    if hasattr(model, "rate_"):
        assert (model.rate_ > 0).all()


def test_automatic_smoothing_of_texts_is_that_of_their_words() -> None:
    words = sorted({w for words in TEXTS for w in words.split()})
    X = np.array([[words_of.split().count(w) for w in words] for words_of in TEXTS])
    for family, weighting, make, rows in (
        ("multinomial", "counts", MultinomialNB, X),
        ("multinomial", "binary", MultinomialNB, X > 0),
        ("complement", "counts", ComplementNB, X),
        ("bernoulli", "counts", BernoulliNB, X),
    ):
        model = text(family=family, weighting=weighting, alpha="auto").fit(TEXTS, LABELS)
        want = make(alpha="auto").fit(rows.astype(int), LABELS).predict_joint_log_proba(rows.astype(int))
        np.testing.assert_allclose(model.predict_joint_log_proba(TEXTS), want, rtol=1e-6)


@pytest.mark.parametrize(
    "make", [MultinomialNB, ComplementNB, BernoulliNB, PoissonNB, CategoricalNB, NaiveBayes, TextClassifier]
)
@pytest.mark.parametrize("alpha", ["automatic", "Auto", ""])
def test_other_words_than_auto_are_refused(make: Any, alpha: str) -> None:
    with pytest.raises(ValueError, match="alpha"):
        make(alpha=alpha).fit([[1], [2]] if make is not TextClassifier else ["a", "b"], ["a", "b"])
