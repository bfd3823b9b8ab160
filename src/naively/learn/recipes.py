"""Recipes: the best family, weighting, word sequences and α for texts, by folds taken out of one count.

Texts are read once. The counts of a fold are subtracted from those of all texts, a table of the rest is made for each
recipe, and the table scores the texts of the fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from naively.arrays import Array
from naively.learn.estimates import Estimate
from naively.learn.folded_texts import FOLDS, Fold, FoldedRows, Labelled, evenly
from naively.store.damage import LARGEST, need
from naively.store.registry import stored
from naively.threads import on_threads

ALPHAS = (1.0, 0.3, 0.1, 0.03)
FIRST, FINALISTS = 1000, 3
"""Number of texts of the first fold that try every recipe, and of recipes that go on to the other folds."""
PAIRS = 1 << 19
"""Largest number of pairs of text and class that are scored in a fold, for each recipe and α."""
CLEARLY = 2.0
"""A recipe is dropped when it is this number of standard errors of the difference behind the best."""


Progress = Callable[[float], None]
RecipeBase = tuple[str, str, tuple[int, int], Any]


def _check_recipe(recipe: Recipe) -> None:
    need(isinstance(recipe.min_df, (int, float)) and 0.0 <= recipe.min_df <= LARGEST, "the min_df of a recipe")
    need(0.0 <= recipe.alpha <= LARGEST, "the alpha of a recipe")


@stored(check=_check_recipe)
@dataclass(frozen=True, order=True)
class Recipe:
    """One combination of the parameters that are chosen for a text classifier."""

    family: str
    weighting: str
    ngrams: tuple[int, int]
    min_df: Any
    alpha: float

    @property
    def way(self) -> RecipeBase:
        """The recipe without its α."""
        return self.family, self.weighting, self.ngrams, self.min_df


def _check_trial(trial: Trial) -> None:
    need(0.0 <= trial.right <= trial.rows <= LARGEST, "the texts of a trial")


@stored(check=_check_trial)
@dataclass(frozen=True, eq=False)
class Trial:
    """A recipe, and the number of held-out texts that it got right (`right` of `rows`)."""

    recipe: Recipe
    right: float
    rows: float

    @property
    def accuracy(self) -> float:
        return self.right / self.rows if self.rows else 0.0


@dataclass(frozen=True, eq=False)
class Candidates:
    """The recipes to compare, as the values of each parameter."""

    families: tuple[str, ...] = ("multinomial", "complement")
    weightings: tuple[str, ...] = ("counts", "binary", "tfidf")
    ngrams: tuple[tuple[tuple[int, int], Any], ...] = (((1, 1), 1), ((1, 2), 2))  # and the min_df of each
    alphas: tuple[float, ...] = ALPHAS

    @property
    def longest(self) -> tuple[int, int]:
        """The longest sequences of words."""
        return max((ngrams for ngrams, _ in self.ngrams), key=lambda ngrams: ngrams[1])

    @property
    def ways(self) -> list[RecipeBase]:
        return [(f, w, n, d) for n, d in self.ngrams for w in self.weightings for f in self.families]


@dataclass(eq=False)
class RecipeSearch:
    """The texts that each recipe gets right: α by texts, fold after fold."""

    alphas: tuple[float, ...]
    labelled: Labelled
    rows: list[Array] = field(default_factory=list)  # the texts that were scored in each fold
    right: dict[RecipeBase, list[Array]] = field(default_factory=dict)

    def add(self, ways: Sequence[RecipeBase], made: dict[Any, Fold], rows: Array, n_threads: int | None) -> None:
        def judge(way: RecipeBase) -> Array:
            family, weighting, *words = way
            return made[tuple(words)].right(family, weighting, self.alphas)

        entries = sum(fold.rows.nnz for fold in made.values()) * len(self.alphas)
        results = [judge(way) for way in ways] if n_threads == 1 else on_threads(judge, list(ways), entries)
        self.rows.append(rows)
        for way, right in zip(ways, results, strict=True):
            self.right.setdefault(way, []).append(right)

    def outcome(self, way: RecipeBase, each: Array) -> tuple[Array, Array]:
        """Return a mask of the texts that each α of a recipe gets right, and the weights of these texts."""
        right = self.right[way]
        return np.concatenate(right, axis=1), each[np.concatenate(self.rows[: len(right)])]

    def sums(self, way: RecipeBase, each: Array) -> Array:
        """Return the number of texts that each α gets right."""
        right, weight = self.outcome(way, each)
        return right @ weight

    def best_ways(self, ways: Sequence[RecipeBase], n: int) -> list[RecipeBase]:
        """Rank recipes by accuracy at their best α; drop those clearly behind."""
        ranked = sorted(ways, key=lambda way: -float(self.sums(way, self.labelled.each).max()))
        (best, weight), *others = [self._at_best(way) for way in ranked[:n]]
        return ranked[:1] + [
            way
            for way, (right, _) in zip(ranked[1:], others, strict=False)
            if best @ weight - right @ weight <= CLEARLY * np.sqrt((weight**2)[best != right].sum())
        ]

    def _at_best(self, way: RecipeBase) -> tuple[Array, Array]:
        """Return a mask of the texts that the best α of a recipe gets right, and the weight of each text."""
        right, weight = self.outcome(way, self.labelled.each)
        return right[int(np.argmax(right @ weight))], weight

    def tried(self) -> list[Trial]:
        """Return all trials, the best first; those of all folds come before those that were dropped."""
        found, each = [], self.labelled.each
        for way in self.right:
            right, weight = self.outcome(way, each)
            sums = zip(self.alphas, (right @ weight).tolist(), strict=True)
            found += [Trial(Recipe(*way, alpha), right, float(weight.sum())) for alpha, right in sums]
        found.sort(key=lambda t: (-t.rows, -t.right))
        preferred = self.pick(each)
        return sorted(found, key=lambda t: t.recipe != preferred)

    def pick(self, each: Array) -> Recipe:
        """Return the best recipe of those that all folds have tried; `each` is the weight of each text."""
        ways = [way for way, right in self.right.items() if len(right) == len(self.rows)]
        best = max(ways, key=lambda way: float(self.sums(way, each).max()))
        return self.smoothest(Recipe(*best, self.alphas[int(np.argmax(self.sums(best, each)))]), each)

    def smoothest(self, recipe: Recipe, each: Array) -> Recipe:
        """Return the recipe with the largest α that is within one standard error of the difference."""
        right, weight = self.outcome(recipe.way, each)
        best = right[self.alphas.index(recipe.alpha)]
        for alpha, other in sorted(zip(self.alphas, right, strict=True), key=lambda pair: -pair[0]):
            error = np.sqrt((weight**2)[best != other].sum())
            if alpha >= recipe.alpha and best @ weight - other @ weight <= error:
                return Recipe(*recipe.way, alpha)
        return recipe

    def fairly(self) -> Array:
        """Return which texts are right by a recipe that they had no part in picking.

        The first fold narrows the field, so it is left out; the texts of the others fall into two halves by chance, and
        each half is scored by the recipe that the other half and the first fold pick.
        """
        later = np.concatenate(self.rows[1:])
        text = later if self.labelled.text is None else self.labelled.text[later]
        half = np.random.default_rng(1).random(int(text.max()) + 1)[text] < 0.5
        right = np.zeros(len(later), bool)
        for mine in (half, ~half):
            each = self.labelled.each.copy()
            each[later[mine]] = 0.0
            right[mine] = self.by(self.pick(each))[mine]
        return right

    def by(self, recipe: Recipe) -> Array:
        """Return which texts of the folds after the first a recipe gets right."""
        return np.concatenate(self.right[recipe.way][1:], axis=1)[self.alphas.index(recipe.alpha)]


def choose(
    readings: dict[Any, FoldedRows],
    candidates: Candidates,
    n_threads: int | None = None,
    growth: float = 1.0,
    progress: Progress = lambda done: None,
) -> tuple[list[Trial], Estimate]:
    """Return all recipes, the best first: all are tried on the first fold, the best few on the other folds.

    `readings` are by the sequences of words and their `min_df`; `n_threads` may be None: one for each core. The
    estimate is for a model of `growth` times as many texts. `progress` gets the share of the work that is done.
    """
    labelled = next(iter(readings.values())).labelled
    search = RecipeSearch(candidates.alphas, labelled)
    most = max(PAIRS // labelled.classes.size, 1)
    ways = candidates.ways
    for f in range(FOLDS):
        kinds = {way[2:] for way in ways}
        progress(f / FOLDS)
        rows = labelled.judged_in(f, min(most, FIRST) if f == 0 else most)
        search.add(ways, {kind: Fold.of(readings[kind], f, kind[1], rows) for kind in kinds}, rows, n_threads)
        ways = search.best_ways(ways, FINALISTS)
    tried = search.tried()
    estimate = _estimate(search, readings[tried[0].recipe.way[2:]], tried[0].recipe, growth)
    progress(1.0)
    return tried, estimate


def _estimate(search: RecipeSearch, reading: FoldedRows, recipe: Recipe, growth: float) -> Estimate:
    """Estimate the accuracy of a model of `growth` times as many texts, counting copies of a text as one.

    Folds are scored by models of four fifths of the texts. Their error is assumed to fall with one over the root of the
    number of texts; models of three fifths, tried on some texts of two folds, show how fast.
    """
    labelled, later = search.labelled, np.concatenate(search.rows[1:])
    right = search.fairly().astype(np.float64)
    sampled = evenly(np.arange(sum(map(len, search.rows[1:3]))), FIRST)
    fewer = Fold.of(reading, (1, 2), recipe.min_df, later[sampled])
    gain = (
        search.by(recipe)[sampled].astype(np.float64) - fewer.right(recipe.family, recipe.weighting, [recipe.alpha])[0]
    )
    sizes = np.array([(FOLDS - 2) / FOLDS, (FOLDS - 1) / FOLDS, max(growth, 1.0)]) ** -0.5
    right[sampled] += gain * (sizes[1] - sizes[2]) / (sizes[0] - sizes[1]) * (len(later) / len(sampled))
    text = later if labelled.text is None else labelled.text[later]
    share = labelled.each[later] / np.bincount(text, labelled.each[later])[text]
    return Estimate.of(right, share)
