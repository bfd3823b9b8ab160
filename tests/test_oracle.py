"""The estimators against the oracle: random data, every family, every smoothing, every way of learning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import naively

CLASSES = {
    "multinomial": naively.MultinomialNB,
    "complement": naively.ComplementNB,
    "bernoulli": naively.BernoulliNB,
    "categorical": naively.CategoricalNB,
    "poisson": naively.PoissonNB,
    "gaussian": naively.GaussianNB,
}
CELLS = {
    "multinomial": st.integers(0, 4) | st.sampled_from([0, 0, 37]),
    "complement": st.integers(0, 4) | st.sampled_from([0, 0, 37]),
    "bernoulli": st.integers(0, 2),
    "categorical": st.integers(0, 4),
    "poisson": st.integers(0, 4) | st.just(23),
    "gaussian": st.integers(-9, 9) | st.just(250),
}
DIGITS = {name: 1e-9 if name == "gaussian" else 1e-12 for name in CLASSES}
FORMS = ["floats", "integers", "objects", "sparse", "sparse with zeros"]
WEIGHTS = [1, 2, 3, 0, 0.5, 0.25, 2.5, 1 / 3, 0.1, 0.2, 0.7]
UNUSED_COLUMNS = 24
"""So many columns without anything make a row few cells beside the model, which is scored by another path."""

families = pytest.mark.parametrize("family", CLASSES)
ways = pytest.mark.parametrize("way", ["at once", "in batches"])
quick = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


# --- random cases


@dataclass
class Case:
    """An estimator with what it is to learn, the oracle's model of the same data, and rows to judge."""

    estimator: Any
    model: oracle.Model
    data: oracle.Data
    rule: Any
    rows: list[list[Any]]
    form: str
    weights: list[float] | None
    known_classes: list[Any] | None
    cuts: list[int]

    @property
    def X(self) -> Any:
        return as_input(self.rows, self.form)

    def fitted(self) -> Any:
        """The estimator after learning at once, or in batches where the classes are known beforehand."""
        X, y, weights = as_input(self.data.rows, self.form), np.array(self.data.labels), self.weights
        if self.known_classes is None:
            return self.estimator.fit(X, y, sample_weight=weights)
        for start, stop in zip([0, *self.cuts], [*self.cuts, len(y)], strict=True):
            part = None if weights is None else weights[start:stop]
            classes = None if start else self.known_classes
            self.estimator.partial_fit(X[start:stop], y[start:stop], classes, sample_weight=part)
        return self.estimator


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
def tables(draw: Any, family: str, columns: int, most: int) -> list[list[Any]]:
    cells = CELLS[family]
    cells = draw(st.sampled_from([cells, st.none() | cells]))
    return draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=1, max_size=most))


@st.composite
def smoothings(draw: Any, family: str, columns: int) -> tuple[Any, Any]:
    """alpha for the estimator, and the oracle's rule."""
    numbers = st.sampled_from([0.01, 0.5, 1.0, 2.5])
    kinds = ["number", "zero"] + ["epsilon"] * (family != "complement")
    kind = draw(st.sampled_from(kinds + ["array"] * (family in ("multinomial", "bernoulli", "poisson"))))
    if kind == "epsilon":
        return naively.Epsilon(1e-6), oracle.Epsilon(Fraction(1e-6))
    if kind == "array":
        alphas = draw(st.lists(numbers, min_size=columns, max_size=columns))
        return alphas, oracle.Additive([Fraction(a) for a in alphas])
    alpha = draw(numbers) if kind == "number" else 0.0
    rule = draw(st.sampled_from([alpha, naively.Additive(alpha), *([naively.Unsmoothed()] if alpha == 0 else [])]))
    return rule, oracle.Additive(Fraction(alpha))


@st.composite
def priors(draw: Any, family: str, data: oracle.Data) -> tuple[dict[str, Any], list[Fraction]]:
    """Parameters of the estimator, and the oracle's prior."""
    name = "priors" if family == "gaussian" else "class_prior"
    beta = draw(st.sampled_from([1.0, 0.5]))
    parts = draw(st.lists(st.integers(0, 3), min_size=len(data.classes), max_size=len(data.classes)))
    given_ = [p / sum(parts) for p in parts] if any(parts) else [1 / len(parts)] * len(parts)
    exact = [Fraction(p) for p in given_]
    options = [
        ({}, oracle.empirical(data)),
        ({name: naively.Empirical()}, oracle.empirical(data)),
        ({name: naively.Smoothed(beta)}, oracle.smoothed(data, Fraction(beta))),
        ({name: naively.Uniform()}, oracle.uniform(data)),
        ({name: given_}, exact),
        ({name: naively.Given(given_)}, exact),
        ({name: naively.Given(dict(zip(data.classes, given_, strict=True)))}, exact),
        *([] if family == "gaussian" else [({"fit_prior": False}, oracle.uniform(data))]),
    ]
    return draw(st.sampled_from(options))


@st.composite
def own_options(draw: Any, family: str, data: oracle.Data, text: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """What only one family has: parameters of the estimator, and the oracle's."""
    if family == "complement":
        norm = draw(st.booleans())
        return {"norm": norm}, {"norm": norm}
    if family != "categorical":
        return {}, {}
    columns = [[row[j] for row in data.rows if row[j] is not None] for j in data.columns]
    ignore = draw(st.booleans())
    own: dict[str, Any] = {"unseen": "ignore" if ignore else "smooth"}
    if text:
        return own, {"values": [sorted(set(column)) for column in columns], "ignore_unseen": ignore}
    least = draw(st.none() | st.integers(1, 3))
    values = [range(max([least or 0, *(v + 1 for v in column)])) for column in columns]
    return own | {"min_categories": least}, {"values": values, "ignore_unseen": ignore}


@st.composite
def rules(draw: Any, family: str, data: oracle.Data, text: bool) -> tuple[dict[str, Any], Any, oracle.Likelihood]:
    """Parameters of the estimator, the oracle's rule and its likelihood."""
    if family == "gaussian":
        share = draw(st.sampled_from([1e-9, 1e-3, 0.1]))
        return {"var_smoothing": share}, Fraction(share), oracle.gaussian(data, Fraction(share))
    alpha, rule = draw(smoothings(family, len(data.columns)))
    own, exact = draw(own_options(family, data, text))
    return own | {"alpha": alpha}, rule, getattr(oracle, family)(data, rule, **exact)


@st.composite
def batches(draw: Any, weights: list[float]) -> list[int]:
    """Where to cut the rows into batches, none of which may be without weight."""
    cuts: list[int] = []
    for i in range(1, len(weights)):
        if any(weights[cuts[-1] if cuts else 0 : i]) and any(weights[i:]) and draw(st.booleans()):
            cuts.append(i)
    return cuts


@st.composite
def cases(draw: Any, family: str, way: str) -> Case:
    names = draw(st.sampled_from([["ham", "eggs", "spam"], [-3, 0, 10], ["b", "a"], [7]]))
    columns = draw(st.integers(1, 4))
    unused = [0] * draw(st.sampled_from([0, 0, UNUSED_COLUMNS]))
    rows, judged = ([row + unused for row in draw(tables(family, columns, most))] for most in (9, 3))
    text = family == "categorical" and draw(st.booleans())
    if text:
        rows, judged = ([[x if x is None else f"v{x}" for x in row] for row in table] for table in (rows, judged))
    labels = draw(st.lists(st.sampled_from(names), min_size=len(rows), max_size=len(rows)))
    weights = draw(st.none() | st.lists(st.sampled_from(WEIGHTS), min_size=len(rows), max_size=len(rows)))
    assume(weights is None or any(weights))
    classes = sorted(set(labels) if way == "at once" else names)
    data = oracle.Data(rows, labels, [Fraction(w) for w in weights or [1] * len(rows)], classes)
    if family == "gaussian":
        overall = [oracle.moments(data, j, lambda label: True) for j in data.columns]
        assume(any(m and m[1] for m in overall))
    options, prior = draw(priors(family, data))
    prior = oracle.complement_prior(data, prior) if family == "complement" else prior
    more, rule, likelihood = draw(rules(family, data, text))
    form = "objects" if text else draw(st.sampled_from(FORMS))
    cuts = draw(batches(weights or [1] * len(rows)))
    model, known = oracle.Model(classes, prior, likelihood), None if way == "at once" else names
    return Case(CLASSES[family](**options, **more), model, data, rule, judged, form, weights, known, cuts)


def close(actual: float, expected: float, digits: float, scale: float = 1.0) -> bool:
    return actual == expected or abs(actual - expected) <= digits * max(1.0, abs(expected), scale)


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
    estimator, X = case.fitted(), case.X
    one_by_one = [estimator.predict_joint_log_proba(X[i : i + 1])[0] for i in range(len(case.rows))]
    together = estimator.predict_joint_log_proba(X)
    assert estimator.classes_.tolist() == case.model.classes
    for row, *joints in zip(case.rows, one_by_one, together, strict=True):
        expected = [factor.log for factor in case.model.joint(row)]
        for joint in joints:
            assert all(close(a, e, DIGITS[family]) for a, e in zip(joint, expected, strict=True)), (joint, expected)


@families
@ways
@quick
@given(data=st.data())
def test_posteriors_and_decisions_are_those_of_the_oracle(family: str, way: str, data: Any) -> None:
    case = data.draw(cases(family, way))
    estimator, X, model, digits = case.fitted(), case.X, case.model, DIGITS[family]
    posterior, log_posterior = estimator.predict_proba(X), estimator.predict_log_proba(X)
    by_posterior, by_likelihood = estimator.predict(X), estimator.scores(X).decide(by="likelihood")
    for i, row in enumerate(case.rows):
        joint, expected = model.joint(row), model.posterior(row)
        scale = max(1.0, *(abs(f.finite) for f in joint))
        assert all(close(a, e, digits, scale) for a, e in zip(posterior[i], expected, strict=True)), (posterior[i], expected)
        assert close(posterior[i].sum(), 1.0, 1e-12)
        assert np.allclose(np.exp(log_posterior[i]), posterior[i], rtol=1e-12, atol=0)
        assert decided(by_posterior[i], model.classes, joint, digits)
        assert decided(by_likelihood[i], model.classes, model.likelihood(row), digits)
