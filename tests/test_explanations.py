"""Explanations: counts behind factors, and how they look in a notebook."""

import copy
import pickle

import numpy as np
import pytest

from naively import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextClassifier,
    from_bytes,
)

X = np.array([[3, 0], [0, 2], [1, 1]])
Y = ["a", "b", "b"]
TEXTS, LABELS = ["good good film", "dull film", "good plot"], ["pos", "neg", "pos"]


@pytest.mark.parametrize(
    ("kind", "feature", "counts"),
    [
        (MultinomialNB, 0, {"a": "3 of 3", "b": "1 of 4"}),
        (BernoulliNB, 0, {"a": "1 of 1", "b": "1 of 2"}),
        (ComplementNB, 0, {"a": "elsewhere 1 of 4", "b": "elsewhere 3 of 3"}),
        (PoissonNB, 0, {"a": "3 in 1 rows", "b": "1 in 2 rows"}),
        (CategoricalNB, 1, {"a": "1 of 1", "b": "0 of 2"}),
        (GaussianNB, 1, {"a": "mean 0, sd 3.944e-05", "b": "mean 1.5, sd 0.5"}),
    ],
)
def test_each_share_names_the_counts_that_it_comes_from(kind, feature, counts):
    found = kind().fit(X, Y).explain(X[:1])
    assert found.counts(feature) == counts
    prior = {"a": "", "b": ""} if kind is ComplementNB else {"a": "1 of 3", "b": "2 of 3"}
    assert found.counts() == prior


def test_columns_of_a_table_have_counts_by_name():
    model = NaiveBayes().fit({"city": ["Rome", "Rome", "Oslo"], "note": TEXTS}, Y)
    found = model.explain({"city": ["Oslo"], "note": ["a good film"]})
    assert found.counts("city") == {"a": "0 of 1", "b": "1 of 2"}
    assert found.counts(found.features[-1]) != {"a": "", "b": ""}


def test_words_have_counts_and_a_frozen_model_has_none():
    model = TextClassifier(choose=False).fit(TEXTS, LABELS)
    assert model.explain("good").counts("good") == {"neg": "0 of 2", "pos": "3 of 5"}
    frozen = from_bytes(model.to_bytes(frozen=True)).explain("good")
    assert frozen.counts("good") == {"neg": "", "pos": ""}
    assert frozen.counts() == {"neg": "1 of 3", "pos": "2 of 3"}


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))])
def test_a_copy_has_the_counts_without_the_model(copied):
    found = MultinomialNB().fit(X, Y).explain(X[:1])
    again = copied(found)
    assert str(again) == str(found)
    assert again.counts(0) == found.counts(0)
    assert again.counts() == found.counts()


def test_the_most_probable_class_comes_first():
    found = MultinomialNB().fit(X, Y).explain(X[:1])
    assert [found.classes[k] for k in found.places] == ["a", "b"]
    assert np.diff(found.probability[found.places]).max() <= 0


def test_words_are_coloured_by_what_they_add():
    found = TextClassifier(choose=False, prior=[0.5, 0.5]).fit(TEXTS, LABELS).explain("good dull film")
    [sheet] = found._sheets()
    winner, runner_up = found.places
    shades = dict(zip([row[0] for row in sheet.rows], sheet.shades, strict=False))
    odds = dict(zip(found.features, found.shares[:, winner] - found.shares[:, runner_up], strict=True))
    assert max(map(abs, shades.values())) == 1.0
    for word, added in odds.items():
        assert shades[word] == pytest.approx(added / max(map(abs, odds.values())))
        colour = "60, 170, 90" if added > 0 else "220, 80, 70"
        assert f'rgba({colour}, {abs(shades[word]):.2f})">{word}</td>' in found._repr_html_()


def test_an_explanation_with_an_impossible_factor_or_one_class_can_be_drawn():
    impossible = MultinomialNB(alpha=0, force_alpha=True).fit(X, Y).explain([[1, 1]])
    assert "-inf" in impossible._repr_html_()
    assert all(-1 <= shade <= 1 for shade in impossible._sheets()[0].shades)
    assert "rgba" not in MultinomialNB().fit(X[:1], ["a"]).explain(X[:1])._repr_html_()
