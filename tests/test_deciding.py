"""Deciding: costs, thresholds, other priors, and scores that become probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from families import Array
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from naively import Empirical, GaussianNB, Given, InputError, MultinomialNB, Scores, Smoothed, Uniform
from naively.score import calibration as calibrations
from naively.score.calibration import Isotonic, Losses, PerClass, Temperature, fitted, normalised

few = settings(max_examples=30)
SCORES = Scores(np.array(["a", "b", "c"]), np.log([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.6, 0.3]]), np.zeros(3))
ODD = Scores(np.array(["a", "b"]), np.zeros((2, 2)), np.log([0.5, 0.5]), np.array([[0.0, 1.0], [1.0, 0.0]]))


@st.composite
def any_scores(draw: st.DrawFn) -> Scores:
    """Scores of a few rows, some of which have impossible factors."""
    rows, classes = draw(st.integers(1, 8)), draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    odd = rng.integers(0, 2, (rows, classes)).astype(float) if draw(st.booleans()) else None
    likelihood = rng.normal(size=(rows, classes)) * draw(st.sampled_from([0.1, 3.0, 1e4]))
    return Scores(np.arange(classes) * 10, likelihood, np.log(rng.dirichlet(np.ones(classes))), odd)


# --- costs, thresholds, abstaining


@few
@given(any_scores(), st.integers(0, 99))
def test_the_label_with_the_lowest_expected_cost_is_decided(scores: Scores, seed: int) -> None:
    size = len(scores.classes)
    costs = np.random.default_rng(seed).random((size, size)) * (1 - np.eye(size))
    proba = scores.proba()
    expected = np.array([[sum(p[i] * costs[i, j] for i in range(size)) for j in range(size)] for p in proba])
    found = scores.decide(costs=costs)
    place = np.searchsorted(scores.classes, found)
    np.testing.assert_allclose(expected[np.arange(len(found)), place], expected.min(axis=1), atol=1e-12)
    named = {int(a): {int(b): costs[i, j] for j, b in enumerate(scores.classes)} for i, a in enumerate(scores.classes)}
    assert scores.decide(costs=named).tolist() == found.tolist()
    assert scores.decide(costs=costs.tolist()).tolist() == found.tolist()


@few
@given(any_scores())
def test_equal_costs_decide_as_the_posterior_does(scores: Scores) -> None:
    size = len(scores.classes)
    found, usual = scores.decide(costs=1.0 - np.eye(size)), scores.decide()
    proba, rows = scores.proba(), np.arange(len(scores))
    place = [np.searchsorted(scores.classes, labels) for labels in (found, usual)]
    np.testing.assert_allclose(proba[rows, place[0]], proba[rows, place[1]], atol=1e-9)


def test_costs_that_are_not_named_are_none() -> None:
    assert SCORES.decide(costs={"a": {"b": 1.0, "c": 1.0}}).tolist() == ["a", "a", "a"]
    assert SCORES.decide(costs={"c": {"a": 9.0}, "a": {"b": 1.0, "c": 1.0}, "b": {"a": 2.0}}).tolist() == [
        "b",
        "b",
        "b",
    ]


def test_thresholds_decide_where_they_are_reached_and_nowhere_else() -> None:
    assert SCORES.decide(thresholds={"c": 0.2}).tolist() == ["c", "c", "c"]
    assert SCORES.decide(thresholds={"a": 0.6}).tolist() == ["b", "c", "b"]
    assert SCORES.decide(thresholds={"a": 0.4, "c": 0.5}).tolist() == ["a", "c", "b"]
    assert SCORES.decide(thresholds={"a": 0.9, "b": 0.9, "c": 0.9}).tolist() == [None, None, None]
    assert SCORES.decide(thresholds={"a": 0.5, "b": 0.25}).tolist() == ["b", "c", "b"]  # which exceeds it most
    assert SCORES.decide(thresholds={}).tolist() == SCORES.decide().tolist()
    assert SCORES.decide(thresholds={"a": 1.0}).tolist() == ["b", "c", "b"]
    assert SCORES.decide(thresholds={"b": 0}).tolist() == ["b", "b", "b"]


@few
@given(any_scores(), st.floats(0, 1))
def test_abstaining_leaves_out_what_is_not_probable_enough(scores: Scores, least: float) -> None:
    found, proba = scores.decide(abstain_below=least), scores.proba()
    for label, p in zip(found.tolist(), proba, strict=True):
        if p.max() < least - 1e-12:
            assert label is None
        elif p.max() > least + 1e-12:
            assert p[scores.classes.tolist().index(label)] == p.max()
    assert scores.decide(abstain_below=0.0).tolist() == scores.decide().tolist() or len(scores.classes) > 1


def test_abstaining_goes_with_costs_and_thresholds() -> None:
    assert SCORES.decide(abstain_below=0.55).tolist() == [None, "c", "b"]
    assert SCORES.decide(abstain_below=0.25, costs={"a": {"b": 1.0, "c": 1.0}}).tolist() == ["a", None, None]
    assert SCORES.decide(abstain_below=0.3, thresholds={"c": 0.2}).tolist() == [None, "c", "c"]
    assert SCORES.decide(abstain_below=0.95, thresholds={"a": 0.9, "b": 0.9, "c": 0.9}).tolist() == [None] * 3


@few
@given(any_scores(), st.integers(1, 7))
def test_the_top_labels_are_the_most_probable_ones(scores: Scores, k: int) -> None:
    labels, proba = scores.top(k)
    assert labels.shape == proba.shape == (len(scores), min(k, len(scores.classes)))
    np.testing.assert_allclose(proba, -np.sort(-scores.proba(), axis=1)[:, :k])
    for row, (names, chances) in enumerate(zip(labels.tolist(), proba, strict=True)):
        assert len(set(names)) == len(names)
        places = [scores.classes.tolist().index(name) for name in names]
        np.testing.assert_array_equal(scores.proba()[row, places], chances)


def test_deciding_by_likelihood_leaves_the_prior_out() -> None:
    scores = Scores(np.array(["a", "b"]), np.log([[0.2, 0.1]]), np.log([0.1, 0.9]))
    assert scores.decide().tolist() == ["b"]
    assert scores.decide(by="likelihood").tolist() == ["a"]


BAD: list[tuple[Callable[[], Any], str]] = [
    (lambda: SCORES.decide(by="luck"), "by must be 'posterior' or 'likelihood', got 'luck'"),
    (lambda: SCORES.decide(by="likelihood", costs=np.eye(3)), "costs, thresholds and abstain_below"),
    (lambda: SCORES.decide(by="likelihood", abstain_below=0.5), "costs, thresholds and abstain_below"),
    (lambda: SCORES.decide(costs=np.eye(3), thresholds={"a": 0.5}), "costs and thresholds exclude each other"),
    (lambda: SCORES.decide(costs=np.eye(2)), "costs must be 3 by 3"),
    (lambda: SCORES.decide(costs=[[0, np.nan, 1]] * 3), "costs must be 3 by 3"),
    (lambda: SCORES.decide(costs=[[0, np.inf, 1]] * 3), "costs must be 3 by 3"),
    (lambda: SCORES.decide(costs=3.0), "costs must be 3 by 3"),
    (lambda: SCORES.decide(costs={"a": 3}), "costs of 'a'"),
    (lambda: SCORES.decide(costs={"z": {"a": 1}}), "costs: unknown class 'z'"),
    (lambda: SCORES.decide(costs={"a": {"z": 1}}), "costs: unknown class 'z'"),
    (lambda: SCORES.decide(costs={"a": {"b": np.nan}}), "costs"),
    (lambda: SCORES.decide(thresholds=0.5), "thresholds must be"),
    (lambda: SCORES.decide(thresholds={"z": 0.5}), "thresholds: unknown class 'z'"),
    (lambda: SCORES.decide(thresholds={"a": 1.5}), "the threshold of 'a' must be a probability"),
    (lambda: SCORES.decide(thresholds={"a": "x"}), "the threshold of 'a' must be a probability"),
    (lambda: SCORES.decide(thresholds={"a": np.nan}), "the threshold of 'a' must be a probability"),
    (lambda: SCORES.decide(abstain_below=-0.1), "abstain_below must be a probability"),
    (lambda: SCORES.decide(abstain_below=np.nan), "abstain_below must be a probability"),
    (lambda: SCORES.decide(abstain_below="x"), "abstain_below must be a probability"),
    (lambda: SCORES.top(0), "k must be a whole number above 0, got 0"),
    (lambda: SCORES.top(1.5), "k must be a whole number above 0, got 1.5"),
    (lambda: SCORES.under(None), "under needs the probabilities"),
    (lambda: SCORES.under([0.5, 0.5]), "3 classes"),
    (lambda: SCORES.under([0.5, 0.5, 0.5]), "sum of the priors should be 1"),
    (lambda: SCORES.under({"z": 1.0}), "unknown class 'z'"),
    (lambda: SCORES.under([-1.0, 1.0, 1.0]), "non-negative"),
    (lambda: SCORES.under("often"), "priors must be a list of numbers"),
    (lambda: fitted("magic", np.zeros((1, 2)), np.zeros(1, int)), "'magic'"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "told"), BAD, ids=[told for _, told in BAD])
def test_an_error_names_what_was_wrong(call: Callable[[], Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "costs", ["cheap", [[0, 1, 2], [1], [0, 0, 0]], {"a": {"b": "much"}}, {"a": {"b": None}}], ids=repr
)
def test_costs_that_are_no_numbers_are_told_by_name(costs: Any) -> None:
    with pytest.raises(InputError, match="costs"):
        SCORES.decide(costs=costs)


# --- other priors


@few
@given(any_scores(), st.integers(0, 99))
def test_other_priors_replace_those_of_the_training_rows(scores: Scores, seed: int) -> None:
    prior = np.random.default_rng(seed).dirichlet(np.ones(len(scores.classes)))
    want = Scores(scores.classes, scores.likelihood, np.log(prior), scores.impossible)
    by_label = dict(zip(scores.classes.tolist(), prior.tolist(), strict=True))
    for given_prior in (prior, prior.tolist(), by_label, Given(by_label)):
        found = scores.under(given_prior)
        np.testing.assert_allclose(found.proba(), want.proba(), rtol=1e-7, atol=1e-9)
        assert found.priors == pytest.approx(by_label)
        assert found.decide().tolist() == found.classes[found.proba().argmax(axis=1)].tolist()
    again = scores.under(Uniform()).under(prior)
    np.testing.assert_allclose(again.proba(), want.proba(), rtol=1e-7, atol=1e-9)


def test_priors_are_those_of_the_model_until_others_are_given() -> None:
    model = MultinomialNB().fit([[1, 0], [2, 0], [1, 1], [0, 2]], list("aaab"))
    scores = model.scores([[1, 1]])
    assert scores.priors == pytest.approx({"a": 0.75, "b": 0.25})
    assert scores.under({"a": 0.1, "b": 0.9}).priors == pytest.approx({"a": 0.1, "b": 0.9})
    np.testing.assert_allclose(
        scores.under([0.1, 0.9]).proba(), model.set_params(class_prior=[0.1, 0.9]).predict_proba([[1, 1]])
    )


def test_a_class_that_is_given_no_probability_is_never_decided() -> None:
    found = SCORES.under({"a": 0.0, "b": 0.5, "c": 0.5})
    assert (found.proba()[:, 0] == 0).all()
    np.testing.assert_allclose(found.proba().sum(axis=1), 1)


def test_a_class_without_rows_under_other_priors_is_never_nan() -> None:
    scores = MultinomialNB().partial_fit([[1, 0], [0, 1]], ["a", "b"], classes=["a", "b", "c"]).scores([[1, 0]])
    for prior in ({"a": 0.5, "b": 0.3, "c": 0.2}, {"a": 0.5, "b": 0.5}):
        found = scores.under(prior)
        assert not np.isnan(found.proba()).any()
        assert not np.isnan(list(found.priors.values())).any()
    assert not np.isnan(scores.adapted().proba()).any()


def test_a_row_whose_only_possible_class_is_ruled_out_is_never_nan() -> None:
    found = ODD.under({"b": 1.0})
    assert not np.isnan(found.proba()).any()
    assert not np.isnan(found.log_proba()).any()


def test_only_probabilities_stand_for_other_priors() -> None:
    scores = MultinomialNB().fit([[1, 0], [2, 0], [1, 1], [0, 2]], list("aaab")).scores([[1, 1]])
    assert scores.under(Uniform()).priors == pytest.approx({"a": 0.5, "b": 0.5})
    for rule in (Empirical(), Smoothed(1.0), None):
        with pytest.raises(InputError, match="under needs the probabilities"):
            scores.under(rule)


def test_adapting_recovers_shifted_priors() -> None:
    rng = np.random.default_rng(0)

    def drawn(many: int, share: float) -> tuple[Array, Array]:
        y = (rng.random(many) < share).astype(int)
        return rng.normal(y * 1.5, 1.0)[:, None], y

    X, y = drawn(20_000, 0.5)
    model = GaussianNB().fit(X, y)
    for share in (0.1, 0.8):
        X, y = drawn(20_000, share)
        scores = model.scores(X)
        adapted = scores.adapted()
        assert adapted.priors[1] == pytest.approx(share, abs=0.02)
        assert adapted.priors[0] + adapted.priors[1] == pytest.approx(1.0)
        assert (adapted.decide() == y).mean() > (scores.decide() == y).mean()
        np.testing.assert_allclose(adapted.proba().mean(axis=0)[1], adapted.priors[1], atol=1e-4)


@few
@given(any_scores())
def test_adapting_is_never_nan_and_sums_to_one(scores: Scores) -> None:
    adapted = scores.adapted(steps=50)
    assert np.isfinite(adapted.proba()).all()
    assert sum(adapted.priors.values()) == pytest.approx(1.0)
    assert not np.isnan(adapted.proba()).any()


def test_adapting_no_rows_changes_nothing() -> None:
    none = Scores(np.array(["a", "b"]), np.zeros((0, 2)), np.log([0.3, 0.7]))
    assert none.adapted().priors == pytest.approx({"a": 0.3, "b": 0.7})


def test_rows_that_have_a_prior_each_cannot_be_given_others() -> None:
    scores = Scores(np.array(["a", "b"]), np.zeros((2, 2)), np.log([[0.5, 0.5], [0.4, 0.6]]))
    for call in (lambda: scores.under([0.5, 0.5]), scores.adapted, lambda: scores.priors):
        with pytest.raises(InputError, match="have a prior each"):
            call()


# --- calibration


@st.composite
def labelled_scores(draw: st.DrawFn, rows: int = 400) -> tuple[Array, Array]:
    """Scores less the highest of each row, and labels drawn by these at some temperature."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    classes, temperature = draw(st.integers(2, 4)), draw(st.sampled_from([0.7, 1.0, 3.0, 10.0]))
    logs = rng.normal(size=(rows, classes)) * 2 * temperature
    below = logs - logs.max(axis=1, keepdims=True)
    chance = normalised(below / temperature)
    return below, np.array([rng.choice(classes, p=p) for p in chance])


def loss(rule: Any, below: Array, truth: Array) -> float:
    logs = rule.logs(below)
    logs = logs - logs.max(axis=1, keepdims=True)
    return float(np.mean(np.log(np.exp(logs).sum(axis=1)) - logs[np.arange(len(truth)), truth]))


@few
@given(labelled_scores(), st.booleans())
def test_the_temperature_loses_least(drawn: tuple[Array, Array], weighted: bool) -> None:
    below, truth = drawn
    weight = np.random.default_rng(0).integers(1, 4, len(truth)).astype(float) if weighted else None
    each = np.ones(len(truth)) if weight is None else weight

    second = np.maximum(-np.sort(below, axis=1)[:, -2], 1e-3)
    margin = np.exp(each @ np.log(second) / each.sum())  # by which one row more is wrong

    def lost(log_t: float) -> float:
        logs = below / np.exp(log_t)
        own = each @ (np.log(np.exp(logs).sum(axis=1)) - logs[np.arange(len(truth)), truth])
        return float(own + np.logaddexp(0.0, margin / np.exp(log_t)))

    best = minimize_scalar(lost, bounds=(np.log(1 / 200), np.log(4000)), method="bounded")
    found = Losses.of(below, truth, weight).temperature.value
    assert lost(np.log(found)) <= best.fun * (1 + 1e-3)


@few
@given(labelled_scores(40), st.integers(0, 40))
def test_losses_add_up(drawn: tuple[Array, Array], at: int) -> None:
    below, truth = drawn
    weight = np.arange(len(truth)) % 3 + 0.5
    both = Losses.of(below, truth, weight)
    parts = Losses.of(below[:at], truth[:at], weight[:at]) + Losses.of(below[at:], truth[at:], weight[at:])
    assert parts.rows == pytest.approx(both.rows) == weight.sum()
    np.testing.assert_allclose(parts.sums, both.sums, rtol=1e-12, atol=1e-9)
    assert parts.temperature.value == pytest.approx(both.temperature.value)
    rows, warm = np.arange(40), calibrations.TEMPERATURES > 0.2
    by_hand = [weight @ -np.log(normalised(below / t)[rows, truth]) for t in calibrations.TEMPERATURES[warm]]
    np.testing.assert_allclose(both.sums[warm], by_hand, rtol=1e-6, atol=1e-6)


def test_nothing_to_learn_from_leaves_scores_as_they_are() -> None:
    assert Losses.of(np.zeros((0, 2)), np.zeros(0, int)).temperature == Temperature()
    for method in calibrations.METHODS:
        assert fitted(method, np.zeros((0, 2)), np.zeros(0, int)) == Temperature()


@pytest.mark.parametrize("method", calibrations.METHODS)
@settings(max_examples=12)
@given(labelled_scores())
def test_calibration_lowers_the_loss_on_its_own_rows(method: str, drawn: tuple[Array, Array]) -> None:
    below, truth = drawn
    rule = fitted(method, below, truth)
    assert isinstance(rule, {"temperature": Temperature, "per class": PerClass, "isotonic": Isotonic}[method])
    assert loss(rule, below, truth) <= loss(Temperature(), below, truth) * 1.001 + 2e-2 * (method == "isotonic")
    assert not np.isnan(rule.logs(below)).any()


def test_per_class_constants_and_steps_put_right_what_a_temperature_cannot() -> None:
    rng = np.random.default_rng(1)
    logs = rng.normal(size=(2000, 3)) * 2
    below = logs - logs.max(axis=1, keepdims=True)
    truth = np.array([rng.choice(3, p=p) for p in normalised(below + np.array([1.5, 0.0, -1.0]))])
    plain = loss(fitted("temperature", below, truth), below, truth)
    per_class = fitted("per class", below, truth)
    assert loss(per_class, below, truth) < plain - 0.05
    np.testing.assert_allclose(per_class.offsets - per_class.offsets[1], [1.5, 0.0, -1.0], atol=0.3)
    assert loss(fitted("isotonic", below, truth), below, truth) < plain - 0.02


@pytest.mark.parametrize("method", calibrations.METHODS)
def test_weights_are_as_so_many_rows(method: str) -> None:
    rng = np.random.default_rng(2)
    logs = rng.normal(size=(300, 2)) * 4
    below = logs - logs.max(axis=1, keepdims=True)
    truth = rng.integers(0, 2, 300)
    weight = rng.integers(1, 5, 300)
    weighted = fitted(method, below, truth, weight.astype(float))
    repeated = fitted(method, np.repeat(below, weight, axis=0), np.repeat(truth, weight))
    np.testing.assert_allclose(normalised(weighted.logs(below)), normalised(repeated.logs(below)), atol=0.01)


def impossible_rows() -> tuple[Array, Array]:
    """Scores of which some are impossible, some of these the right ones."""
    rng = np.random.default_rng(3)
    logs = rng.normal(size=(300, 3)) * 2
    below = logs - logs.max(axis=1, keepdims=True)
    truth = np.array([rng.choice(3, p=p) for p in normalised(below)])
    below[:60][np.arange(60), (below[:60].argmax(axis=1) + 1) % 3] = -np.inf
    return below, truth


@pytest.mark.parametrize("method", calibrations.METHODS)
def test_what_is_impossible_stays_impossible_and_nothing_is_nan(method: str) -> None:
    below, truth = impossible_rows()
    logs = fitted(method, below, truth).logs(below)
    assert not np.isnan(logs).any()
    assert np.isneginf(logs[np.isneginf(below)]).all()
    assert np.isfinite(logs[np.isfinite(below)]).all()


@pytest.mark.parametrize("method", ["temperature", "per class"])
def test_rows_whose_label_is_impossible_do_not_spoil_the_others(method: str) -> None:
    below, truth = impossible_rows()
    known = np.isfinite(below[np.arange(len(truth)), truth])
    assert not known.all()
    with_all, without = fitted(method, below, truth), fitted(method, below[known], truth[known])
    assert loss(with_all, below[known], truth[known]) <= loss(without, below[known], truth[known]) + 0.05


@pytest.mark.parametrize("method", calibrations.METHODS)
@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e5, 1e300])
def test_scores_of_any_size_are_calibrated_without_nan(method: str, scale: float) -> None:
    rng = np.random.default_rng(4)
    logs = rng.normal(size=(50, 3)) * scale
    below = logs - logs.max(axis=1, keepdims=True)
    rule = fitted(method, below, rng.integers(0, 3, 50))
    assert not np.isnan(rule.logs(below)).any()
    scores = Scores(np.arange(3), logs, np.zeros(3), calibration=rule)
    assert not np.isnan(scores.proba()).any()
    np.testing.assert_allclose(scores.proba().sum(axis=1), 1)


@pytest.mark.parametrize("method", calibrations.METHODS)
def test_calibrated_scores_decide_by_their_probabilities(method: str) -> None:
    below, truth = impossible_rows()
    scores = Scores(np.array(["a", "b", "c"]), np.where(np.isneginf(below), -1e3, below), np.zeros(3))
    made = Scores(scores.classes, scores.likelihood, scores.prior, calibration=fitted(method, scores.below, truth))
    np.testing.assert_allclose(made.proba().sum(axis=1), 1)
    proba, place = made.proba(), np.searchsorted(made.classes, made.decide())
    np.testing.assert_allclose(proba[np.arange(len(proba)), place], proba.max(axis=1), rtol=1e-9)
    assert made.under([1.0, 0.0, 0.0]).decide().tolist() == ["a"] * len(made)


def test_one_class_and_one_row_are_calibrated() -> None:
    for method in calibrations.METHODS:
        for below, truth in ((np.zeros((3, 1)), np.zeros(3, int)), (np.array([[0.0, -2.0]]), np.array([1]))):
            rule = fitted(method, below, truth)
            assert not np.isnan(rule.logs(below)).any()
