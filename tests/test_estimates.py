"""Figures that a model tells of itself: how right it is on other rows, with a margin that holds."""

from __future__ import annotations

import csv
import json
from typing import Any

import numpy as np
import pytest

import naively
from naively import DataWarning, TextClassifier, film_reviews
from naively.cli import main
from naively.learn import folded_texts
from naively.learn.estimates import Estimate, with_margin
from naively.learn.folded_texts import text_numbers

SPLITS = 20


def reviews() -> tuple[list[str], list[str]]:
    """Real sentences, each of them twice."""
    texts, labels = film_reviews()
    return texts * 2, labels * 2


def noise() -> tuple[list[str], list[str]]:
    """Texts without a word about their label, each of them three times."""
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{n}" for n in rng.integers(0, 400, 8)) for _ in range(400)]
    return texts * 3, rng.choice(["a", "b"], len(texts)).tolist() * 3


def splits(corpus: Any) -> Any:
    """Two thirds of the texts with all their copies, and the others once each."""
    texts, labels = map(np.array, corpus())
    different = np.unique(texts)
    for seed in range(SPLITS):
        mine = np.random.default_rng(seed).permutation(different)[: len(different) * 2 // 3]
        train = np.isin(texts, mine)
        others = np.flatnonzero(~train)[np.unique(texts[~train], return_index=True)[1]]
        yield texts[train].tolist(), labels[train], texts[others].tolist(), labels[others]


def held(estimate: Estimate, model: Any, texts: list[str], labels: Any) -> bool:
    """Whether the accuracy on other rows lies inside the margin, which these rows have too."""
    truth = Estimate.of((model.predict(texts) == labels).astype(float))
    return abs(estimate.accuracy - truth.accuracy) <= np.hypot(estimate.margin, truth.margin)


@pytest.mark.parametrize("corpus", [reviews, noise])
def test_the_accuracy_of_a_choice_holds_for_other_texts(corpus: Any) -> None:
    inside = 0
    for texts, labels, others, truth in splits(corpus):
        model = TextClassifier(calibrate=False).fit(texts, labels)
        chosen = model.chosen_
        assert chosen.texts <= len(set(texts))
        inside += held(Estimate(chosen.accuracy, chosen.margin, chosen.texts), model, others, truth)
    assert inside >= 17


@pytest.mark.parametrize("copies", [1, 3])
def test_the_accuracy_of_a_choice_holds_for_a_shuffled_split_of_all_rows(copies: int) -> None:
    """Rows are split as they come, and none is left out for being the copy of another.

    Where every tenth text is there three times, its copies stand on both sides: the truth may only be better.
    """
    texts, labels = map(np.array, film_reviews())
    texts, labels = (np.concatenate([all_of, *[all_of[::10]] * (copies - 1)]) for all_of in (texts, labels))
    inside = better = 0
    for seed in range(SPLITS):
        train, rest = np.split(np.random.default_rng(seed).permutation(len(texts)), [len(texts) * 2 // 3])
        texts = np.array([text.strip() + " " * seed for text in texts])  # whose folds are others
        model = TextClassifier(calibrate=False).fit(texts[train].tolist(), labels[train])
        chosen = model.chosen_
        estimate = Estimate(chosen.accuracy, chosen.margin, chosen.texts)
        inside += (good := held(estimate, model, texts[rest].tolist(), labels[rest]))
        better += not good and bool((model.predict(texts[rest].tolist()) == labels[rest]).mean() > chosen.accuracy)
    assert (inside if copies == 1 else inside + better) >= 17


@pytest.mark.parametrize("options", [["--fast"], []], ids=["left out", "chosen"])
@pytest.mark.parametrize("corpus", [reviews, noise])
def test_the_accuracy_that_training_prints_holds_for_other_rows(
    corpus: Any, options: list[str], tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    inside = 0
    for texts, labels, others, truth in splits(corpus):
        write("some.csv", texts, labels)
        assert (
            main(["train", "some.csv", "--target", "label", "--text", "text", "-o", "some.nb", "--json", *options]) == 0
        )
        told = json.loads(capsys.readouterr().out)["estimate"]
        estimate = Estimate(told["accuracy"], told["margin"], told["rows"])
        assert estimate.rows <= len(set(texts))
        inside += held(estimate, naively.load("some.nb"), others, truth)
    assert inside >= 17


def test_training_says_how_and_for_what_an_accuracy_was_estimated(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    write("some.csv", *reviews())
    cases = {
        "--fast": r"0.82 ± 0.04 on rows like these (480 different rows, each left out in turn)",
        "--fast --loo 100": r"on rows like these (100 different rows, each left out in turn)",
        "": r"on rows like these (384 texts held out, by recipes picked without them)",
    }
    for options, words in cases.items():
        assert main(["train", "some.csv", "--target", "label", "-o", "some.nb", *options.split()]) == 0
        assert words in capsys.readouterr().out
    assert main(["show", "some.nb"]) == 0
    assert "on rows like those that it was trained on" in capsys.readouterr().out


def trained(rows: list[tuple[Any, ...]], capsys: Any) -> dict[str, Any]:
    """The estimate of a training on these rows, the last value of each being its label."""
    with open("some.csv", "w", newline="") as file:
        names = [f"c{j}" for j in range(len(rows[0]) - 1)]
        csv.writer(file).writerows([(*names, "label"), *rows])
    assert main(["train", "some.csv", "--target", "label", "-o", "some.nb", "--force", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["estimate"]


def test_equal_rows_of_a_table_are_rows_of_their_own(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], 600)
    kind = np.where(rng.random(600) < 0.9, y, "c")
    found = trained(list(zip(kind.tolist(), kind.tolist(), y.tolist(), strict=True)), capsys)
    assert found["rows"] == 600
    assert found["accuracy"] == pytest.approx(0.95, abs=0.04)


def test_tables_of_noise_are_no_better_than_chance(tmp_path: Any, monkeypatch: Any, capsys: Any) -> None:
    """Columns and bins that are picked by all rows fit them, but no others."""
    monkeypatch.chdir(tmp_path)
    inside = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = [(*row, label) for row, label in zip(rng.normal(size=(90, 12)).tolist(), "ab" * 45, strict=True)]
        found = trained(rows, capsys)
        inside += abs(found["accuracy"] - 0.5) <= found["margin"]
    assert inside >= 17


@pytest.mark.parametrize(
    ("value", "margin", "shown"),
    [
        (0.85412, 0.03, "0.85 ± 0.03"),
        (0.98769, 0.004, "0.988 ± 0.004"),
        (0.98769, 0.0041, "0.988 ± 0.005"),
        (0.5, 0.0961, "0.5 ± 0.1"),
        (0.5, 0.31, "0.5 ± 0.4"),
        (0.99987, 0.000123, "0.9999 ± 0.0002"),
        (0.5, 0.97, "0 ± 1"),
    ],
)
def test_a_figure_has_as_many_digits_as_its_margin_allows(value: float, margin: float, shown: str) -> None:
    assert with_margin(value, margin) == shown


def test_a_choice_prints_its_accuracy_with_a_margin() -> None:
    chosen = TextClassifier().fit(*film_reviews()).chosen_
    assert repr(chosen).endswith(f"accuracy={with_margin(chosen.accuracy, chosen.margin)})")
    assert set(chosen) >= {"accuracy", "margin", "texts"}
    given = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1)).fit(*film_reviews()).chosen_
    assert given.accuracy is given.margin is given.texts is None


def test_a_row_without_a_mistake_leaves_a_margin() -> None:
    assert Estimate.of(np.ones(100)).margin == pytest.approx(3 / 100, abs=0.01)


def test_copies_of_a_text_stand_in_one_fold() -> None:
    texts = ["a b", "b c", "A, b!", "", "c b", "b b c", "?", "b c"]
    read = TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1), calibrate=False)
    read.fit(texts, list("xyxyxyxy"))
    rows, _, _ = read._labelled(read._model, texts, list("xyxyxyxy"), None)
    assert text_numbers(rows.whole).tolist() == [0, 1, 0, 2, 1, 3, 4, 1]
    text = np.arange(300) % 100
    fold = folded_texts.fold_numbers(np.arange(300) % 2, text)
    assert all(len(set(fold[text == t])) == 1 for t in range(100))


def test_a_choice_among_many_classes_costs_no_more_than_among_half_as_many(monkeypatch: Any) -> None:
    sizes: list[int] = []

    class Core:
        def __getattr__(self, name: str) -> Any:
            return getattr(core, name)

        def score_paths(self, *arguments: Any) -> Any:
            scores = core.score_paths(*arguments)
            sizes.append(scores.size)
            return scores

    core = folded_texts._core
    monkeypatch.setattr(folded_texts, "_core", Core())
    cost = []
    for classes in (1000, 2000):
        sizes.clear()
        y = np.arange(4 * classes) % classes
        texts = [f"c{label} w{n % 97} w{n % 89}" for n, label in enumerate(y)]
        model = TextClassifier(calibrate=False).fit(texts, y)
        assert 100 < model.chosen_.texts < len(y)
        cost.append(sum(sizes))
        assert max(sizes) < 1 << 20  # numbers in memory at a time
    assert cost[1] < 1.5 * cost[0]


def test_where_classes_have_hardly_any_texts_nothing_is_chosen_and_that_is_said() -> None:
    y = np.arange(300) % 200
    texts = [f"c{label} w{n % 7}" for n, label in enumerate(y)]
    with pytest.warns(DataWarning, match="no recipe was chosen, since 300 texts are fewer than two for each of 200"):
        model = TextClassifier(calibrate=False).fit(texts, y)
    assert model.chosen_.accuracy is None
    assert model.chosen_.tried == ()


def write(path: str, texts: Any, labels: Any) -> None:
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("text", "label"), *zip(texts, labels, strict=True)])
