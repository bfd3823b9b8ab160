"""The estimators against the oracle: random data, every family, every smoothing, every way of learning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import naively

COUNTS = st.integers(0, 4) | st.sampled_from([0, 23])
FAMILIES: dict[str, tuple[Any, Any]] = {
    "multinomial": (naively.MultinomialNB, COUNTS),
    "complement": (naively.ComplementNB, COUNTS),
    "bernoulli": (naively.BernoulliNB, st.integers(0, 2)),
    "categorical": (naively.CategoricalNB, st.integers(0, 4)),
    "poisson": (naively.PoissonNB, COUNTS),
    "gaussian": (naively.GaussianNB, st.integers(-9, 9) | st.just(250)),
}
DIGITS = {name: 1e-9 if name == "gaussian" else 1e-12 for name in FAMILIES}
FORMS = ["floats", "integers", "objects", "sparse", "sparse with zeros"]
WEIGHTS = [0, 1, 0.5, 0.25, 2.5, 1 / 3, 0.1, 0.2, 0.7]
MORE_COLUMNS = 40
"""So many more columns, empty in the rows to judge, make a row small beside the model: that is scored another way."""

families = pytest.mark.parametrize("family", FAMILIES)
ways = pytest.mark.parametrize("way", ["at once", "in batches"])
PHASES = [phase for phase in Phase if phase is not Phase.explain]  # which takes minutes
quick = settings(max_examples=30, phases=PHASES, suppress_health_check=[HealthCheck.too_slow])


# --- random cases


@dataclass
class Case:
    """An estimator with what it is to learn, the oracle's model of the same data, and rows to judge."""

    family: str
    options: dict[str, Any]
    prior: dict[str, Any]
    model: oracle.Model
    data: oracle.Data
    rule: Any
    rows: list[list[Any]]
    form: str
    weights: list[float] | None
    announced: list[Any] | None
    cuts: list[int]

    def fitted(self) -> tuple[Any, Any]:
        """The estimator after learning, and the rows to judge; classes that were not announced come as they come."""
        growing = self.announced is None and self.cuts
        estimator = FAMILIES[self.family][0](**self.options, **({} if growing else self.prior))
        X, y, weights = as_input(self.data.rows, self.form), np.array(self.data.labels), self.weights
        for start, stop in zip([0, *self.cuts], [*self.cuts, len(y)], strict=True):
            part = None if weights is None else weights[start:stop]
            if start == 0 and self.announced is None:
                estimator.fit(X[:stop], y[:stop], sample_weight=part)
            else:
                classes = None if start else self.announced
                estimator.partial_fit(X[start:stop], y[start:stop], classes, sample_weight=part)
        return estimator.set_params(**self.prior), as_input(self.rows, self.form)


def as_input(rows: list[list[Any]], form: str) -> Any:
    """Rows as an array or a sparse matrix."""
    if form == "objects":
        return np.array(rows, dtype=object)
    dense = np.array([[np.nan if x is None else x for x in row] for row in rows], dtype=np.float64)
    if form == "sparse with zeros":
        indices = np.tile(np.arange(dense.shape[1]), len(dense))
        return sparse.csr_matrix((dense.ravel(), indices, np.arange(len(dense) + 1) * dense.shape[1]), dense.shape)
    if form == "integers" and not np.isnan(dense).any():
        return dense.astype(np.int64)
    return sparse.csr_matrix(dense) if form == "sparse" else dense


@st.composite
def smoothings(draw: Any, family: str, columns: int) -> tuple[Any, Any]:
    """alpha for the estimator, and the oracle's rule."""
    numbers = st.sampled_from([0.01, 0.5, 1.0, 2.5])
    kinds = ["number", "zero"] + ["epsilon"] * (family != "complement")
    kind = draw(st.sampled_from(kinds + ["array"] * (family not in ("complement", "categorical"))))
    if kind == "epsilon":
        return naively.Epsilon(1e-6), oracle.Epsilon(Fraction(1e-6))
    if kind == "array":
        alphas = draw(st.lists(numbers, min_size=columns, max_size=columns))
        return alphas, oracle.Additive([Fraction(a) for a in alphas])
    if kind == "zero":
        return draw(st.sampled_from([0, naively.Unsmoothed()])), oracle.Additive(Fraction(0))
    alpha = draw(numbers)
    return draw(st.sampled_from([alpha, naively.Additive(alpha)])), oracle.Additive(Fraction(alpha))


@st.composite
def priors(draw: Any, family: str, data: oracle.Data) -> tuple[dict[str, Any], list[Fraction]]:
    """Parameters of the estimator, and the oracle's prior."""
    name = "priors" if family == "gaussian" else "class_prior"
    parts = draw(st.lists(st.integers(0, 3), min_size=len(data.classes), max_size=len(data.classes)).filter(any))
    shares = [part / sum(parts) for part in parts]
    exact = [Fraction(share) for share in shares]
    by_label = dict(zip(data.classes, shares, strict=True))
    options = [({}, oracle.empirical(data)), ({name: naively.Empirical()}, oracle.empirical(data))]
    options += [({name: naively.Smoothed(b)}, oracle.smoothed(data, Fraction(b))) for b in (1.0, 0.5)]
    options += [({name: rule}, exact) for rule in (shares, naively.Given(shares), naively.Given(by_label))]
    flat: list[dict[str, Any]] = [{name: naively.Uniform()}] + [{"fit_prior": False}] * (family != "gaussian")
    chosen, prior = draw(st.sampled_from(options + [(rule, oracle.uniform(data)) for rule in flat]))
    return chosen, oracle.complement_prior(data, prior) if family == "complement" else prior


@st.composite
def rules(draw: Any, family: str, data: oracle.Data, text: bool) -> tuple[dict[str, Any], Any, oracle.Likelihood]:
    """Parameters of the estimator, the oracle's rule and its likelihood."""
    if family == "gaussian":
        share = draw(st.sampled_from([1e-9, 1e-3, 0.1]))
        return {"var_smoothing": share}, Fraction(share), oracle.gaussian(data, Fraction(share))
    alpha, rule = draw(smoothings(family, len(data.columns)))
    if family == "complement":
        norm = rule.at(0) > 0 and draw(st.booleans())  # for the limit of both there is a test of its own
        return {"alpha": alpha, "norm": norm}, rule, oracle.complement(data, rule, norm)
    if family != "categorical":
        return {"alpha": alpha}, rule, getattr(oracle, family)(data, rule)
    ignore, least = draw(st.booleans()), None if text else draw(st.none() | st.integers(1, 3))
    rows = [row for row, w in zip(data.rows, data.weights, strict=True) if w]  # a category must count
    columns = [{row[j] for row in rows} - {None} for j in data.columns]
    values = columns if text else [range(max([least or 0, *(code + 1 for code in of)])) for of in columns]
    options = {"alpha": alpha, "min_categories": least, "unseen": "ignore" if ignore else "smooth"}
    return options, rule, oracle.categorical(data, rule, values, ignore)


def filling(family: str, text: bool, i: int, j: int) -> Any:
    """What row i has in the j-th of the columns added: always the same, a category of its own, or a count."""
    value = {"gaussian": 0, "categorical": i}.get(family, (i + j) % 3)
    return f"v{value}" if text else value


@st.composite
def cases(draw: Any, family: str, way: str) -> Case:
    names = draw(st.sampled_from([["ham", "eggs", "spam"], [-3, 0, 10], ["b", "a"], [7]]))
    columns, text = draw(st.integers(1, 4)), family == "categorical" and draw(st.booleans())
    cells = FAMILIES[family][1].map(lambda x: f"v{x}" if text else x)
    cells = draw(st.sampled_from([cells, st.none() | cells]))
    more = range(draw(st.sampled_from([0, 0, MORE_COLUMNS])))
    row = st.lists(cells, min_size=columns, max_size=columns)
    weight = draw(st.sampled_from([st.just(1), st.integers(0, 3), st.sampled_from(WEIGHTS)]))
    many = {"min_size": 10, "max_size": 12} if more else {"min_size": 1, "max_size": 8}
    learnt = draw(st.lists(st.tuples(row, st.sampled_from(names), weight), **many))
    rows, labels, weights = map(list, zip(*learnt, strict=True))
    rows = [row + [filling(family, text, i, j) for j in more] for i, row in enumerate(rows)]
    assume(any(weights))
    announced, cuts = None, []
    if way == "in batches":
        announced = draw(st.sampled_from([None, names]))
        for i in range(1, len(rows)):  # no batch may be without weight
            if any(weights[cuts[-1] if cuts else 0 : i]) and any(weights[i:]) and draw(st.booleans()):
                cuts.append(i)
    seen = {label for label, w in zip(labels, weights, strict=True) if w}  # a row of weight 0 names no class
    data = oracle.Data(rows, labels, [Fraction(w) for w in weights], sorted(announced or seen))
    if family == "gaussian":  # without any variance there is no density
        assume(any(m and m[1] for m in (oracle.moments(data, j, data.classes) for j in data.columns)))
    prior, probabilities = draw(priors(family, data))
    options, rule, likelihood = draw(rules(family, data, text))
    model = oracle.Model(data.classes, probabilities, likelihood)
    form = "objects" if text else draw(st.sampled_from(FORMS + ["sparse"] * 5 * bool(more and family != "categorical")))
    judged = [row + [filling(family, text, 0, 0) for _ in more] for row in draw(st.lists(row, min_size=1, max_size=3))]
    sample_weight = None if set(weights) == {1} else weights
    return Case(family, options, prior, model, data, rule, judged, form, sample_weight, announced, cuts)


def close(actual: float, expected: float, digits: float, scale: float = 1.0) -> bool:
    if math.isinf(expected):
        return actual == expected
    return bool(abs(actual - expected) <= digits * max(1.0, abs(expected), scale))


def agree(actual: Any, expected: Any, digits: float, scale: float = 1.0) -> bool:
    return all(close(a, e, digits, scale) for a, e in zip(np.ravel(actual), np.ravel(expected), strict=True))


def decided(label: Any, classes: Any, factors: list[oracle.Factor], digits: float) -> bool:
    """Whether this label is the best, or as good as it to so many digits."""
    chosen, top = factors[list(classes).index(label)], max(factors, key=lambda f: f.rank)
    return chosen.order == top.order and close(chosen.finite, top.finite, digits)


# --- the estimators and the oracle agree


@families
@ways
@quick
@given(data=st.data())
def test_joint_scores_equal_the_oracle_to_twelve_digits(family: str, way: str, data: Any) -> None:
    case = data.draw(cases(family, way))
    estimator, X = case.fitted()
    one_by_one = [estimator.predict_joint_log_proba(X[i : i + 1])[0] for i in range(len(case.rows))]
    together = estimator.predict_joint_log_proba(X)
    assert estimator.classes_.tolist() == case.model.classes
    for row, *joints in zip(case.rows, one_by_one, together, strict=True):
        expected = [factor.log for factor in case.model.joint(row)]
        for joint in joints:
            assert agree(joint, expected, DIGITS[family]), (joint, expected)


@families
@ways
@quick
@given(data=st.data())
def test_posteriors_and_decisions_are_those_of_the_oracle(family: str, way: str, data: Any) -> None:
    case = data.draw(cases(family, way))
    (estimator, X), model, digits = case.fitted(), case.model, DIGITS[family]
    posterior, log_posterior = estimator.predict_proba(X), estimator.predict_log_proba(X)
    by_posterior, by_likelihood = estimator.predict(X), estimator.scores(X).decide(by="likelihood")
    for i, row in enumerate(case.rows):
        joint, expected = model.joint(row), model.posterior(row)
        scale = max(1.0, *(abs(f.finite) for f in joint))
        assert agree(posterior[i], expected, digits, scale), (posterior[i], expected)
        assert close(posterior[i].sum(), 1.0, 1e-12)
        assert np.allclose(np.exp(log_posterior[i]), posterior[i], rtol=1e-12, atol=0)
        assert decided(by_posterior[i], model.classes, joint, digits)
        assert decided(by_likelihood[i], model.classes, model.likelihood(row), digits)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "poisson"])
@quick
@given(data=st.data())
def test_learnt_log_probabilities_are_those_of_the_oracle(family: str, data: Any) -> None:
    case = data.draw(cases(family, "in batches"))
    if family == "poisson":
        factors = oracle.rates(case.data, case.rule)
    else:
        lone = [[1 if j == k else None for j in case.data.columns] for k in case.data.columns]
        factors = list(zip(*map(case.model.likelihood, lone), strict=True))
    estimator, _ = case.fitted()
    assert agree(estimator.feature_log_prob_, [[f.log for f in of] for of in factors], 1e-12)
    assert agree(estimator.class_log_prior_, [f.log for f in map(oracle.certain, case.model.prior)], 1e-12)


@quick
@given(case=cases("gaussian", "in batches"))
def test_learnt_means_and_variances_are_those_of_the_oracle(case: Case) -> None:
    (estimator, _), exact = case.fitted(), oracle.normals(case.data, case.rule)
    for k, j in np.ndindex(estimator.theta_.shape):
        if exact[k][j]:
            mean, variance = map(float, exact[k][j])
            assert close(estimator.theta_[k, j], mean, 1e-12)
            assert math.isclose(estimator.var_[k, j], variance, rel_tol=1e-9)


@quick
@given(case=cases("bernoulli", "at once"))
def test_sparse_bernoulli_scores_are_all_absent_less_the_absence_of_the_present(case: Case) -> None:
    there, gone = (
        [case.model.likelihood([x if j == k else None for j in case.data.columns]) for k in case.data.columns]
        for x in (1, 0)
    )
    rows = [[0 if x is None else x for x in row] for row in case.rows]
    joint = case.fitted()[0].predict_joint_log_proba(sparse.csr_matrix(np.array(rows, dtype=np.float64)))
    for row, scores in zip(rows, joint, strict=True):
        held = [j for j, x in enumerate(row) if x]
        for k, (prior, direct) in enumerate(zip(case.model.prior, case.model.likelihood(row), strict=True)):
            everything, hidden = (oracle.product(gone[j][k] for j in of) for of in (case.data.columns, held))
            by_identity = oracle.product(there[j][k] for j in held) * everything * hidden.inverse
            assert by_identity == direct
            assert close(scores[k], (oracle.certain(prior) * by_identity).log, 1e-12)


# --- the examples of the seeds, by hand

WORDS = ["I", "am", "happy", "not", "to", "see", "this", "movie"]
POSITIVE = ["I am happy to see this movie", "I am happy"]
NEGATIVE = ["I am not happy to see this movie", "not this movie"]


def words(*sentences: str) -> list[list[int]]:
    return [[sentence.split().count(word) for word in WORDS] for sentence in sentences]


def test_the_sentiment_example_comes_out_as_by_hand() -> None:
    clf = naively.MultinomialNB(alpha=1.0).fit(words(*POSITIVE, *NEGATIVE), ["positive"] * 2 + ["negative"] * 2)
    negative = Fraction(2 * 2 * 2 * 2 * 2 * 3 * 3, 2 * (11 + 8) ** 7)
    positive = Fraction(3 * 3 * 3 * 2 * 2 * 2 * 2, 2 * (10 + 8) ** 7)
    sentence = words(POSITIVE[0])
    assert agree(clf.predict_joint_log_proba(sentence), [math.log(negative), math.log(positive)], 1e-12)
    assert agree(clf.predict_proba(sentence)[0, 1], float(positive / (negative + positive)), 1e-12)
    clf.set_params(alpha=0)
    assert agree(np.exp(clf.feature_log_prob_[:, WORDS.index("happy")]), [1 / 11, 2 / 10], 1e-12)
    assert clf.predict_proba(words(NEGATIVE[0])).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(("features", "classes"), [(3, 1), (3, 2), (1, 4), (10, 3)])
def test_parameters_grow_with_features_but_joint_ones_with_their_combinations(features: int, classes: int) -> None:
    clf = naively.BernoulliNB().fit(np.eye(classes, features), np.arange(classes))
    assert clf.n_parameters_ == classes - 1 + classes * features
    assert clf.n_parameters_joint_ == classes - 1 + classes * (2**features - 1)


def test_maximum_likelihood_leaves_out_the_prior_that_decides_the_posterior() -> None:
    rows, labels = [[1, 0]] * 8 + [[0, 1]] * 2 + [[0, 1]], ["often"] * 10 + ["rare"]
    data = oracle.Data(rows, labels, [Fraction(1)] * 11, ["often", "rare"])
    model = oracle.Model(data.classes, oracle.empirical(data), oracle.bernoulli(data, oracle.Additive()))
    scores = naively.BernoulliNB().fit(rows, labels).scores([[0, 1]])
    assert scores.decide().tolist() == [model.maximum_a_posteriori([0, 1])] == ["often"]
    assert scores.decide(by="likelihood").tolist() == [model.maximum_likelihood([0, 1])] == ["rare"]


# --- corners that chance seldom finds


def test_probabilities_sum_to_one_however_unlikely_the_row() -> None:
    clf = naively.GaussianNB().fit([[0, 1], [1, 0], [0, 1], [1, 0]], list("aabb"))
    assert agree(clf.predict_proba([[0, 1e5], [0, 1e9]]), [[0.5, 0.5], [0.5, 0.5]], 1e-12)


@pytest.mark.parametrize(("alpha", "expected"), [(0, -math.inf), (naively.Epsilon(1e-6), math.log(0.3 / 1.3 * 1e-6))])
def test_what_was_never_absent_stays_so_under_weights_that_round(alpha: Any, expected: float) -> None:
    clf = naively.BernoulliNB(alpha=alpha).fit([[1], [np.nan], [0]], list("aab"), sample_weight=[0.1, 0.2, 1])
    assert close(clf.predict_joint_log_proba([[0]])[0, 0], expected, 1e-12)


def test_the_complement_without_smoothing_prefers_an_infinite_weight_to_an_even_one() -> None:
    clf = naively.ComplementNB(alpha=0).fit([[0, 0], [1, 0]], ["ham", "eggs"])
    assert clf.predict_joint_log_proba([[0, 1]]).tolist() == [[math.log(2), math.inf]]
    assert clf.predict([[0, 1]]).tolist() == ["ham"]


def test_normalised_complement_weights_without_smoothing_are_their_limit() -> None:
    clf = naively.ComplementNB(alpha=0, norm=True).fit([[1, 0, 3], [1, 2, 0]], ["a", "b"])
    assert agree(clf.predict_joint_log_proba(np.eye(3)).T, [[0, 0, 1], [0, 1, 0]], 1e-12)


def test_the_complement_refuses_epsilon_before_it_counts() -> None:
    with pytest.raises(naively.InputError, match="Additive"):
        naively.ComplementNB(alpha=naively.Epsilon(1e-6)).fit([[1, 0], [1, 2]], ["a", "b"])
