"""What a model chooses by itself, how sure it is, and what is told of rows that are left out."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from families import plain_text
from sklearn.base import clone
from sklearn.metrics import log_loss

import naively
from naively import (
    BernoulliNB,
    Best,
    CategoricalNB,
    DataWarning,
    Empirical,
    InputError,
    MultinomialNB,
    NaiveBayes,
    TextClassifier,
    WittenBell,
    _core,
    film_reviews,
    leave_one_out,
    suspects,
    tune,
)
from naively.learn.folded_texts import FOLDS, Fold, FoldedRows, Labelled, fold_numbers
from naively.learn.recipes import FIRST, Candidates

TEXTS, LABELS = film_reviews()
Y = np.array(LABELS)
RECIPE = ("family", "weighting", "ngrams", "min_df", "alpha")


def told(clf: Any) -> dict[str, Any]:
    return {name: clf.chosen_[name] for name in RECIPE}


# --- choosing


def test_a_choice_is_among_what_was_tried_and_is_the_same_every_time() -> None:
    clf = TextClassifier().fit(TEXTS, LABELS)
    first = clf.chosen_.tried[0]
    assert first.recipe.way == (clf.chosen_.family, clf.chosen_.weighting, clf.chosen_.ngrams, clf.chosen_.min_df)
    assert clf.chosen_.accuracy == pytest.approx(first.accuracy, abs=clf.chosen_.margin)
    assert len({tried.recipe for tried in clf.chosen_.tried}) == len(clf.chosen_.tried)
    assert told(TextClassifier().fit(TEXTS, LABELS)) == told(clf)
    assert told(pickle.loads(pickle.dumps(clf))) == told(clf)
    assert not hasattr(clone(clf), "_model")
    assert "accuracy" in str(clf.chosen_)


def test_the_chosen_recipe_given_makes_the_same_model() -> None:
    chosen = TextClassifier(calibrate=False).fit(TEXTS, LABELS)
    given = TextClassifier(**told(chosen), calibrate=False).fit(TEXTS, LABELS)
    assert given.tally_ == chosen.tally_
    np.testing.assert_allclose(given.predict_proba(TEXTS), chosen.predict_proba(TEXTS))


@pytest.mark.parametrize("family", ["multinomial", "complement"])
@pytest.mark.parametrize("weighting", ["counts", "binary", "tfidf"])
@pytest.mark.parametrize(("ngrams", "min_df"), [((1, 1), 1), ((1, 2), 2)])
def test_a_recipe_is_judged_as_models_of_the_other_folds_would(
    family: str, weighting: str, ngrams: tuple[int, int], min_df: int
) -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(Y)) < 0.2, "neutral", Y)  # three classes, so that the complement is another family
    clf = plain_text(family=family, weighting=weighting, ngrams=ngrams, min_df=min_df).fit(TEXTS, y)
    rows, codes, _ = clf._labelled(clf._model, TEXTS, y, None)
    fold = fold_numbers(codes)
    reading = FoldedRows.of(rows.whole, Labelled(codes, clf._model.ledger.classes, Empirical()), min_df, weights=True)
    names = clf._model.ledger.classes.names
    for f in range(FOLDS):
        judged = Fold.of(reading, f, min_df)
        scores = judged.scores(family, weighting, (1.0, 0.1))
        for k, alpha in enumerate((1.0, 0.1)):
            others = [i for i in range(len(y)) if fold[i] != f]
            model = plain_text(family=family, weighting=weighting, ngrams=ngrams, min_df=min_df, alpha=alpha)
            model.fit([TEXTS[i] for i in others], y[others])
            mine = [TEXTS[i] for i in np.flatnonzero(fold == f)]
            found = model.predict_joint_log_proba(mine)
            order = np.argsort(names)
            apart = scores[k][:, order] - found
            np.testing.assert_allclose(apart, apart[:, :1] + np.zeros(3), atol=1e-9)  # but for what all share


def test_what_is_given_is_not_chosen() -> None:
    clf = TextClassifier(family="complement", ngrams=(1, 1), alpha=0.5).fit(TEXTS, LABELS)
    assert (clf.chosen_.family, clf.chosen_.ngrams, clf.chosen_.alpha) == ("complement", (1, 1), 0.5)
    assert {tried.recipe.weighting for tried in clf.chosen_.tried} == {"counts", "binary", "tfidf"}
    nothing = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1)).fit(TEXTS, LABELS)
    assert nothing.chosen_.tried == ()
    assert nothing.chosen_.accuracy is None
    assert 0.1 < nothing.chosen_.alpha < 1.0


@pytest.mark.parametrize(
    "options",
    [
        {"weights": False},
        {"hashing": 12},
        {"tokens": "chars"},
        {"tokens": str.split},
        {"vocabulary": ["film", "good", "waste of", "not"]},
        {"alpha": WittenBell()},
        {"family": "bernoulli"},
        {"select": Best(50)},
        {"min_df": 3},
        {"min_df": 0.01},
        {"stop_words": "english"},
        {"alpha": 0.0},
    ],
    ids=str,
)
def test_choosing_gets_along_with_every_other_option(options: dict[str, Any]) -> None:
    clf = TextClassifier(**options).fit(TEXTS, LABELS)
    assert set(clf.predict(TEXTS[:20])) <= {"negative", "positive"}
    np.testing.assert_allclose(clf.predict_proba(TEXTS[:20]).sum(axis=1), 1.0)
    assert clf.chosen_.weighting in ("counts", "binary") or clf.weights


def test_a_few_texts_are_weighed_as_ever() -> None:
    clf = TextClassifier().fit(TEXTS[:60], LABELS[:60])
    assert told(clf) | {"alpha": None} == {
        "family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "min_df": 1, "alpha": None,
    }  # fmt: skip


def test_all_batches_choose_and_forgetting_gives_back_the_counts() -> None:
    clf = TextClassifier().partial_fit(TEXTS[:300], LABELS[:300]).partial_fit(TEXTS[300:], LABELS[300:])
    assert told(clf) == told(TextClassifier().fit(TEXTS, LABELS))
    given = {name: clf.chosen_[name] for name in RECIPE if name != "alpha"}
    assert clf.tally_ == TextClassifier(**given).fit(TEXTS, LABELS).tally_
    before = clf.tally_
    clf.partial_fit(["ein guter Film"], ["german"]).forget(["ein guter Film"], ["german"])
    assert clf.tally_ == before


def test_models_that_chose_apart_are_merged_by_the_choice_of_the_first() -> None:
    a, b = (TextClassifier(ngrams=(1, 1)).fit(TEXTS[part], LABELS[part]) for part in (slice(240), slice(240, None)))
    both = naively.merge(a, b)
    assert told(both) == told(a)
    assert both.tally_ == a.tally_ + b.tally_
    with pytest.raises(InputError, match="same parameters"):
        naively.merge(a, TextClassifier(ngrams=(1, 2)).fit(TEXTS, LABELS))


def test_the_judges_of_the_first_round_are_taken_evenly() -> None:
    y = np.repeat(["a", "b"], 6 * FIRST)  # sorted by label
    texts = [f"{'red' if label == 'a' else 'blue'} {i}" for i, label in enumerate(y)]
    clf = TextClassifier().fit(texts, y)
    assert max(t.rows for t in clf.chosen_.tried) == len(y) - len(y) // FOLDS + FIRST
    assert clf.chosen_.accuracy == 1.0


def test_there_are_as_many_recipes_as_the_guide_says() -> None:
    assert len(Candidates().ways) * len(Candidates().alphas) == 48


def test_rows_that_count_for_nothing_have_no_say_in_the_choice() -> None:
    junk = [" ".join(np.random.default_rng(i).permutation(TEXTS[i].split())) for i in range(200)]
    labels = np.random.default_rng(0).permutation(Y)[:200]
    weight = [1.0] * len(TEXTS) + [0.0] * 200
    clf = TextClassifier().fit(TEXTS + junk, [*LABELS, *labels], sample_weight=weight)
    assert told(clf) == told(TextClassifier().fit(TEXTS, LABELS))
    twice = TextClassifier().fit(TEXTS, LABELS, sample_weight=[2.0] * len(TEXTS))
    assert twice.chosen_.accuracy > 0.8


def test_what_a_choice_was_not_made_with_takes_its_accuracy_away() -> None:
    clf = TextClassifier(calibrate=False).fit(TEXTS, LABELS)
    assert clf.chosen_.accuracy is not None
    assert clf.refit(select=Best(20)).chosen_.accuracy is None
    assert clf.refit(select=None, prior=[0.9, 0.1]).chosen_.accuracy is None
    assert clf.refit(prior=None).chosen_.accuracy is not None
    before = len(clf.get_feature_names_out())
    assert len(clf.refit(min_df=5).get_feature_names_out()) < before
    with_prior = TextClassifier(prior=[0.999, 0.001]).fit(TEXTS, LABELS)
    assert with_prior.chosen_.accuracy < 0.8


def test_a_limit_that_was_chosen_gives_way_where_it_would_leave_nothing() -> None:
    light = TextClassifier().fit(TEXTS, LABELS, sample_weight=np.full(len(TEXTS), 1 / len(TEXTS)))
    assert set(light.predict(TEXTS)) == {"negative", "positive"}
    clf = TextClassifier().fit(TEXTS, LABELS)
    assert clf.forget(TEXTS[1:], LABELS[1:]).predict(["a film"]).tolist() == [LABELS[0]]
    assert TextClassifier(max_df=1).fit(TEXTS, LABELS).predict(TEXTS[:1]).tolist() == [LABELS[0]]
    with pytest.raises(InputError, match="fewer documents"):
        TextClassifier(min_df=1000).fit(TEXTS, LABELS).predict(TEXTS[:1])


# --- calibration


def test_probabilities_of_texts_never_seen_lose_less_when_calibrated() -> None:
    half = len(TEXTS) // 2
    for options in ({}, {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 0.01}):
        sure = TextClassifier(**options, calibrate=False).fit(TEXTS[:half], LABELS[:half])
        clf = TextClassifier(**options).fit(TEXTS[:half], LABELS[:half])
        before, after = (log_loss(LABELS[half:], m.predict_proba(TEXTS[half:])) for m in (sure, clf))
        assert after < before
        assert sure.temperature_ == 1.0 < clf.temperature_
        assert clf.predict(TEXTS).tolist() == sure.predict(TEXTS).tolist()


@pytest.mark.parametrize("method", [True, "temperature", "per class", "isotonic"])
def test_what_is_predicted_is_what_is_most_probable(method: Any) -> None:
    clf = TextClassifier(family="complement", weighting="counts", ngrams=(1, 1), calibrate=method).fit(TEXTS, LABELS)
    proba = clf.predict_proba(TEXTS)
    assert clf.predict(TEXTS).tolist() == clf.classes_[proba.argmax(axis=1)].tolist()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert np.isfinite(clf.temperature_)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_allclose(again.predict_proba(TEXTS), proba)


def test_the_temperature_is_that_of_texts_that_are_left_out() -> None:
    clf = plain_text(calibrate=True).fit(TEXTS, LABELS)
    found = leave_one_out(clf, TEXTS, LABELS)
    losses = [
        naively.HeldOut(
            found.scores.at(naively.score.calibration.Temperature(clf.temperature_ * f)), found.truth
        ).log_loss
        for f in (0.9, 1.0, 1.1)
    ]
    assert min(losses) == losses[1]


def test_other_rules_are_calibrated_by_the_sample_or_when_asked_for(tmp_path: Path) -> None:
    clf = plain_text(calibrate=True).fit(TEXTS, LABELS)
    before = clf.temperature_
    clf.save(tmp_path / "model")
    assert clf.refit(family="bernoulli").temperature_ not in (1.0, before)  # by the sample, which a file does not keep
    assert clf.refit(family="multinomial").temperature_ == before
    clf = naively.load(tmp_path / "model")
    with pytest.warns(DataWarning, match="recalibrate"):
        clf.refit(family="bernoulli")
    assert clf.temperature_ == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.recalibrate(TEXTS, LABELS)
        assert clf.temperature_ > 1.0
        clf.refit(family="bernoulli", threads=1)
    with pytest.warns(DataWarning, match="recalibrate"):
        clf.refit(family="multinomial")
    raw = clf.predict_proba(TEXTS)
    assert clf.recalibrate(TEXTS, LABELS).temperature_ == pytest.approx(before, rel=0.05)
    assert np.abs(clf.predict_proba(TEXTS) - raw).max() > 0.01
    held = plain_text(calibrate=True).fit(TEXTS[:300], LABELS[:300])
    assert held.recalibrate(TEXTS[300:], LABELS[300:], counted=False).temperature_ > 1.0
    with pytest.raises(InputError, match="calibrate=False"):
        plain_text().fit(TEXTS, LABELS).recalibrate(TEXTS, LABELS)


def test_batches_and_merged_models_add_to_what_is_known_of_the_temperature() -> None:
    a, b = (plain_text(calibrate=True).fit(TEXTS[part], LABELS[part]) for part in (slice(240), slice(240, None)))
    whole = plain_text(calibrate=True).fit(TEXTS, LABELS)
    assert naively.merge(a, b).temperature_ == whole.temperature_
    assert a.partial_fit(TEXTS[240:], LABELS[240:]).temperature_ == whole.temperature_
    assert a.forget(TEXTS[:240], LABELS[:240]).temperature_ == b.temperature_


def test_a_loaded_model_keeps_recipe_and_temperature_until_it_has_learnt_as_much_again(tmp_path: Path) -> None:
    old = TextClassifier().fit(TEXTS[:200], LABELS[:200])
    old.save(tmp_path / "model")
    clf = naively.load(tmp_path / "model")
    assert (told(clf), clf.temperature_) == (told(old), old.temperature_)
    clf.partial_fit(TEXTS[200:399], LABELS[200:399])
    assert (told(clf), clf.temperature_) == (told(old), old.temperature_)
    clf.partial_fit(TEXTS[399:], LABELS[399:])
    assert clf.temperature_ != old.temperature_
    again = naively.load(tmp_path / "model")
    for i in np.random.default_rng(0).permutation(np.arange(200, 480)):
        again.partial_fit(TEXTS[i : i + 1], LABELS[i : i + 1])
    assert (told(again), again.temperature_) == (told(clf), clf.temperature_)
    assert clf.chosen_.ngrams == old.chosen_.ngrams  # the only words that the file has


@pytest.mark.parametrize("method", ["per class", "isotonic"])
def test_classes_that_come_and_go_are_not_calibrated_by_those_there_were(method: str) -> None:
    clf = plain_text(calibrate=method).fit(TEXTS, LABELS)
    proba = clf.predict_proba(TEXTS[:5])
    clf.partial_fit(["ein guter Film"], ["aaa"])
    np.testing.assert_allclose(clf.predict_proba(TEXTS[:5]).sum(axis=1), 1.0)
    clf.forget(["ein guter Film"], ["aaa"])
    np.testing.assert_allclose(clf.predict_proba(TEXTS[:5]), proba)
    assert set(clf.predict(TEXTS)) == {"negative", "positive"}


def test_a_handful_of_rows_leaves_probabilities_as_they_are() -> None:
    assert TextClassifier().fit(TEXTS[:10], LABELS[:10]).temperature_ == 1.0
    assert NaiveBayes().fit({"x": [1.0, 2.0, 8.0]}, ["a", "a", "b"]).temperature_ == 1.0


def test_tables_are_calibrated_as_well() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 800)
    same = np.where(rng.random(800) < 0.8, y, 1 - y)
    table = {f"copy {i}": same.astype(str).tolist() for i in range(6)}  # six times the same evidence
    clf, sure = NaiveBayes().fit(table, y), NaiveBayes(calibrate=False).fit(table, y)
    assert clf.temperature_ > 3.0
    assert clf.predict_proba(table).max() == pytest.approx(0.8, abs=0.05)
    assert sure.predict_proba(table).max() > 0.99
    explained = clf.explain({name: column[:1] for name, column in table.items()})
    np.testing.assert_allclose(explained.probability, clf.predict_proba(table)[0])
    assert f"score / {clf.temperature_:.4g}" in str(explained)


# --- intervals


def test_intervals_are_those_of_draws_from_the_counts() -> None:
    rng = np.random.default_rng(1)
    X = rng.poisson(2.0, (30, 5))
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, 30)]
    drawn = {k: rng.dirichlet(X[y == k].sum(axis=0) + 0.7, 20_000) for k in "abc"}
    clf = MultinomialNB(alpha=0.7).fit(X, y)
    scores = np.stack([np.log(drawn[k]) @ X[0] + np.log((y == k).mean()) for k in "abc"], axis=1)
    odds = scores[:, 0] - np.logaddexp(scores[:, 1], scores[:, 2])
    low, high = clf.intervals(X[:1], level=0.9)
    wanted = 1 / (1 + np.exp(-np.quantile(odds, [0.05, 0.95])))
    np.testing.assert_allclose([low[0, 0], high[0, 0]], wanted, atol=0.06)


@pytest.mark.parametrize("clf", [MultinomialNB(), BernoulliNB(alpha=0.1), CategoricalNB(), MultinomialNB(alpha="auto")])
def test_an_interval_holds_the_probability_and_narrows_with_more_rows(clf: Any) -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (40, 4))
    y = rng.integers(0, 2, 40)
    widths = []
    for times in (1, 50):
        clf.fit(np.tile(X, (times, 1)), np.tile(y, times))
        low, high = clf.intervals(X)
        proba = clf.predict_proba(X)
        assert ((low <= proba + 1e-12) & (proba <= high + 1e-12)).all()
        narrow = clf.intervals(X, level=0.5)
        assert (narrow[0] >= low - 1e-12).all()
        widths.append((high - low).mean())
    assert widths[1] < widths[0] / 3


def test_intervals_are_told_of_texts_and_tables_and_refused_where_they_make_no_sense() -> None:
    for family in ("multinomial", "bernoulli"):
        low, high = plain_text(family=family, calibrate=True).fit(TEXTS, LABELS).intervals(TEXTS[:5])
        assert ((low >= 0) & (low < high) & (high <= 1)).all()
    table = {"x": list(range(40)), "c": ["u", "v"] * 20, "t": TEXTS[:40]}
    low, high = NaiveBayes().fit(table, ["a"] * 20 + ["b"] * 20).intervals(table)
    assert (low < high).all()
    for clf, what in (
        (plain_text(family="complement"), "complement"),
        (plain_text(alpha=WittenBell()), "α"),
        (plain_text(alpha=0.0), "α"),
    ):
        with pytest.raises(InputError, match=what):
            clf.fit(TEXTS, LABELS).intervals(TEXTS[:1])
    sure = MultinomialNB().fit([[500, 0], [0, 500]], ["a", "b"]).intervals([[500, 0]])
    assert np.isfinite(sure).all()
    assert np.isfinite(plain_text().fit(["a b"], ["x"]).intervals(["a"])).all()
    with pytest.raises(InputError, match="level"):
        plain_text().fit(TEXTS, LABELS).intervals(TEXTS[:1], level=95)
    with pytest.raises(InputError, match="no interval"):
        naively.GaussianNB().fit([[1.0], [2.0]], [0, 1]).intervals([[1.0]])


# --- tuning


def test_tuning_tells_what_leaving_one_out_tells() -> None:
    grid = {"family": ["multinomial", "bernoulli"], "alpha": [1.0, 0.1, "auto"]}
    tuned = tune(plain_text(), TEXTS, LABELS, grid)
    assert len(tuned.attempts) == 6
    for attempt in tuned.attempts:
        found = leave_one_out(plain_text(**attempt.parameters), TEXTS, LABELS)
        assert attempt.accuracy == pytest.approx(found.accuracy)
    accuracies = [attempt.accuracy for attempt in tuned.attempts]
    assert accuracies == sorted(accuracies, reverse=True)
    assert tuned.model.get_params()["family"] == tuned.best["family"]
    assert len(tuned.to_frame()) == 6
    assert "leaving one row out" in str(tuned)
    assert repr(tuned).startswith("Tuned(6 tried")


def test_words_are_selected_anew_in_every_fold() -> None:
    tuned = tune(plain_text(), TEXTS, LABELS, {"select": [None, Best(20), Best(200)]})
    assert "in 10 folds" in str(tuned)
    for attempt in tuned.attempts:
        found = naively.cross_validate(plain_text(**attempt.parameters), TEXTS, LABELS, folds=10)
        assert attempt.accuracy == pytest.approx(found.accuracy)


def test_tuning_counts_anew_what_must_be_counted_anew() -> None:
    tuned = tune(plain_text(), TEXTS, LABELS, {"ngrams": [(1, 1), (1, 2)], "negation": [False, True]}, by="log_loss")
    for attempt in tuned.attempts:
        found = leave_one_out(plain_text(**attempt.parameters), TEXTS, LABELS)
        assert attempt.accuracy == pytest.approx(found.accuracy)
    losses = [attempt.log_loss for attempt in tuned.attempts]
    assert losses == sorted(losses)


def test_what_is_left_to_choose_is_chosen_for_every_candidate() -> None:
    for grid in ({"alpha": [1.0, 0.03]}, {"alpha": [0.03, 1.0]}):
        for attempt in tune(TextClassifier(), TEXTS, LABELS, grid).attempts:
            found = leave_one_out(TextClassifier(**attempt.parameters), TEXTS, LABELS)
            assert attempt.accuracy == pytest.approx(found.accuracy)


def test_other_models_are_tuned_too() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    assert tune(naively.GaussianNB(), X, y, {"var_smoothing": [1e-9, 0.1]}).best["var_smoothing"] in (1e-9, 0.1)
    assert tune(BernoulliNB(), X, y, {"binarize": [0.0, 0.5], "alpha": [1.0, 0.1]}, folds=5).model.binarize in (
        0.0,
        0.5,
    )
    assert len(tune(NaiveBayes(), {"x": X[:, 0]}, y, {"alpha": [1.0, "auto"]}, groups=np.arange(60) // 2).attempts) == 2


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"grid": {}}, "grid must be a dict"),
        ({"grid": {"alhpa": [1.0]}}, "no parameter 'alhpa'; did you mean 'alpha'"),
        ({"grid": {"alpha": []}}, "list of values"),
        ({"grid": {"alpha": "auto"}}, "list of values"),
        ({"grid": {"alpha": [-1.0]}}, "alpha"),
        ({"grid": {"alpha": [1.0]}, "by": "f1"}, "by must be"),
        ({"grid": {"alpha": [1.0]}, "folds": 3, "groups": [0] * 480}, "exclude"),
        ({"grid": {"alpha": [1.0]}, "groups": [0] * 480}, "two groups"),
    ],
)
def test_tuning_says_what_is_wrong(arguments: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        tune(plain_text(), TEXTS, LABELS, **arguments)


# --- suspects


def test_planted_mistakes_are_among_the_first_suspects() -> None:
    rng = np.random.default_rng(0)
    wrong = rng.choice(len(Y), 24, replace=False)
    labels = Y.copy()
    labels[wrong] = np.where(Y[wrong] == "positive", "negative", "positive")
    found = suspects(TextClassifier(), TEXTS, labels)
    assert np.isin(found.rows[:48], wrong).sum() >= 16
    assert (np.diff(found.log_odds) <= 0).all()
    assert sorted(found.rows.tolist()) == list(range(len(Y)))
    assert found[0].label != found[0].suggested
    assert found.labels.tolist() == labels[found.rows].tolist()
    assert found[-1].row == found.rows[-1]
    assert found.to_frame()["log_odd" if "log_odd" in found.to_frame() else "log_odds"].iloc[0] == found.log_odds[0]
    assert len(list(found)) == len(found) == len(Y)
    assert "contradicted" in str(found)


def test_copies_do_not_speak_for_each_other_when_left_out_together() -> None:
    texts = ["good film", "good plot", "bad film", "bad plot"] * 3 + ["bad bad film"] * 2
    labels = ["pos", "pos", "neg", "neg"] * 3 + ["pos"] * 2
    groups = [*range(12), 12, 12]
    model = plain_text()
    alone, together = suspects(model, texts, labels), suspects(model, texts, labels, groups=groups)
    assert together.log_odds[0] > alone.log_odds[0]
    assert set(together.rows[:2]) == {12, 13}


def test_rows_without_a_label_keep_their_numbers() -> None:
    rng = np.random.default_rng(0)
    x = np.r_[np.zeros(30), np.ones(30)] * 10 + rng.normal(size=60)
    y: list[Any] = [None] * 10 + ["a"] * 20 + ["b"] * 30
    y[40] = "a"
    with pytest.warns(DataWarning, match="no label"):
        found = suspects(NaiveBayes(columns={"x": naively.Gaussian()}), {"x": x}, y)
    assert found.rows[0] == 40
    assert len(found) == 50
    with pytest.warns(DataWarning, match="no label"):
        assert len(leave_one_out(NaiveBayes(), {"x": x}, y, groups=np.arange(60) // 5).truth) == 50
    assert [s.row for s in found[:2]] == found.rows[:2].tolist()


def test_what_is_no_model_or_no_rows_is_told() -> None:
    for call in (leave_one_out, naively.cross_validate, suspects):
        with pytest.raises(InputError, match=r"write TextClassifier\(\)"):
            call(TextClassifier, TEXTS, LABELS)
        with pytest.raises(InputError, match="iterator"):
            call(TextClassifier(), iter(TEXTS), LABELS)
    with pytest.raises(InputError, match="model of naively"):
        leave_one_out(object(), TEXTS, LABELS)


def test_tables_of_pandas_go_by_their_labels() -> None:
    import pandas as pd

    clf = plain_text().fit(TEXTS, LABELS)
    series = pd.Series({"positive": 0.9, "negative": 0.1})
    assert clf.scores(["the film"]).under(series).priors["positive"] == pytest.approx(0.9)
    assert plain_text(prior=series).fit(TEXTS, LABELS)._log_prior is not None
    costs = {"negative": {"positive": 10.0, "negative": 0.0}, "positive": {"negative": 1.0, "positive": 0.0}}
    frame = pd.DataFrame([[0, 1], [10, 0]], index=["positive", "negative"], columns=["positive", "negative"])
    assert clf.decide(TEXTS, costs=frame).tolist() == clf.decide(TEXTS, costs=costs).tolist()


def test_a_table_is_judged_when_probabilities_are_first_asked_for() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    table = {"x": y + rng.normal(size=400), "c": np.where(rng.random(400) < 0.7, y, 1 - y).astype(str)}
    clf = NaiveBayes().fit(table, y)
    again = pickle.loads(pickle.dumps(clf))
    judged = NaiveBayes().fit(table, y)
    expected = judged.temperature_
    assert clf.temperature_ == again.temperature_ == expected
    late, read = NaiveBayes().fit(table, y), NaiveBayes().fit(table, y)
    _ = read.temperature_  # by the rules of now, whenever that is asked for
    assert late.set_params(alpha=1.0).temperature_ == read.set_params(alpha=1.0).temperature_ > 1.0
    assert late.set_params(alpha="auto").temperature_ == expected
    less = NaiveBayes(columns={"x": naively.Histogram()}).fit(table, y)
    less.forget({name: column[:100] for name, column in table.items()}, y[:100])
    assert np.isfinite(less.predict_proba(table)).all()
    merged = naively.merge(NaiveBayes().fit(table, y), NaiveBayes().fit(table, y))
    assert merged.temperature_ == pytest.approx(expected, rel=0.2)


def test_a_row_learnt_is_judged_by_a_table_of_a_few_words_as_by_that_of_all() -> None:
    rng = np.random.default_rng(0)
    words = np.array(" ".join(TEXTS).split())
    many = [" ".join(rng.choice(words, 8)) for _ in range(3000)]
    labels = rng.choice(["negative", "positive"], 3000)
    for options in ({"weighting": "binary"}, {"family": "complement", "weighting": "tfidf"}):
        clf = plain_text(ngrams=(1, 2), min_df=2, **options).fit(many, labels)
        for i in range(12):
            text = f"{' '.join(rng.choice(words, 8))} new{i // 2}"
            clf.partial_fit([text], [rng.choice(["negative", "positive"])])
            assert len(clf._model.ledger.counted["words"].levels) > 1
            found = clf.predict_joint_log_proba([text, "new1 new2 unknown", TEXTS[i]])
            frame, _ = clf._frame([text, "new1 new2 unknown", TEXTS[i]])
            whole = clf.table_.score({"words": frame.whole}, 3)
            np.testing.assert_allclose(found, whole.joint, atol=1e-12)


# --- texts are read once


@pytest.fixture
def bytes_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of texts that each call of the core's tokeniser reads."""
    sizes: list[int] = []

    def recorded(name: str) -> Any:
        function = getattr(_core, name)
        return lambda texts, *rest: sizes.append(texts.bytes) or function(texts, *rest)

    for name in ("read_growing", "read_fixed", "read_buckets", "count_texts", "count_buckets"):
        monkeypatch.setattr(_core, name, recorded(name))
    return sizes


@pytest.mark.parametrize("parameters", [{}, {"ngrams": (1, 1)}, {"ngrams": (1, 2)}, {"weighting": "tfidf"}])
def test_a_default_fit_reads_each_text_once(parameters: dict[str, Any], bytes_read: list[int]) -> None:
    TextClassifier(**parameters).fit(TEXTS, LABELS)
    assert sum(bytes_read) == sum(len(text.encode()) for text in TEXTS)


def spelled(clf: Any) -> list[str]:
    words = clf.tally_.part.features
    return words.names_of(np.arange(words.size))


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), "auto"])
@pytest.mark.parametrize("weights", [None, 1.0, 0.3])
def test_texts_that_were_read_to_choose_are_counted_as_if_they_were_read_again(ngrams: Any, weights: Any) -> None:
    texts = [None if i % 50 == 7 else text for i, text in enumerate(TEXTS)]
    weight = None if weights is None else np.where(np.arange(len(texts)) % 9 == 0, 0.0, weights)
    fitted = TextClassifier(ngrams=ngrams).fit(texts, LABELS, weight)
    again = TextClassifier(**told(fitted)).fit(texts, LABELS, weight)
    assert fitted.tally_ == again.tally_
    assert sorted(spelled(fitted)) == sorted(spelled(again))
    assert fitted.temperature_ == pytest.approx(again.temperature_, rel=1e-12)
    np.testing.assert_allclose(fitted.predict_proba(TEXTS[:50]), again.predict_proba(TEXTS[:50]), rtol=1e-10)
