"""Recipes: which family, weighting, word sequences and α suit a set of texts, by folds that are taken out of one count.

Texts are read once. A fold's counts are subtracted from those of all, the rest makes a table for each recipe, and the
texts of the fold are judged by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from naively import _core
from naively.cells import Array, Cells
from naively.families.left_out import distinct
from naively.families.word_rows import WordRows, length_normed
from naively.held_out import folds
from naively.names import Index
from naively.priors import Prior
from naively.select import DOCUMENTS
from naively.tally import WEIGHT_UNIT
from naively.threads import on_threads, threads
from naively.values import Value

ALPHAS = (1.0, 0.3, 0.1, 0.03)
FOLDS = 5
FIRST, KEPT = 1000, 3
"""How many texts of the first fold judge all ways of weighing, and how many ways go on to the other folds."""
CLEARLY = 2.0
"""A way goes on no further that is so many standard errors of the difference behind the best."""
PLANES = {"counts": 0, "binary": 1, "tfidf": 2}


Way = tuple[str, str, tuple[int, int], Any]


@dataclass(frozen=True, order=True)
class Recipe:
    """What there is to decide about a text classifier."""

    family: str
    weighting: str
    ngrams: tuple[int, int]
    min_df: Any
    alpha: float

    @property
    def way(self) -> Way:
        """Everything but α."""
        return self.family, self.weighting, self.ngrams, self.min_df


@dataclass(frozen=True, eq=False)
class Tried:
    """A recipe, and how many of the texts that judged it came out right."""

    recipe: Recipe
    right: float
    rows: float

    @property
    def accuracy(self) -> float:
        return self.right / self.rows if self.rows else 0.0


@dataclass(frozen=True, eq=False)
class Labelled:
    """The classes of texts by number, what is expected of the classes, and what each text counts for."""

    codes: Array
    classes: Index
    prior: Prior
    weight: Array | None = None

    @property
    def each(self) -> Array:
        return np.ones(len(self.codes)) if self.weight is None else self.weight


@dataclass(frozen=True, eq=False)
class Reading(Value):
    """Texts read with sequences of words of one length, and their counts, fold by fold.

    `given` is how many words there are in any case (None: as many as were seen).
    """

    rows: WordRows
    labelled: Labelled
    fold: Array
    weights: bool
    given: int | None = None

    @classmethod
    def of(
        cls, rows: WordRows, labelled: Labelled, fold: Array, min_df: int, given: int | None = None, *, weights: bool
    ) -> Reading:
        """Without the words that are in too few texts for any fold; frequent ones come first, where they stay near."""
        texts = np.bincount(rows.number, minlength=max(rows.words.size, 1))
        often = texts >= max(min_df, 1)
        order = np.flatnonzero(often)[np.argsort(-texts[often], kind="stable")]
        place = np.zeros(len(texts), np.int64)
        place[order] = np.arange(len(order))
        rows = rows.shown(often, weights=weights)
        return cls(rows.renumbered(place, Index(len(order))), labelled, fold, weights, None if min_df > 1 else given)

    @cached_property
    def parts(self) -> list[tuple[WordRows, Array]]:
        """The texts of each fold and their numbers."""
        chosen = [np.flatnonzero(self.fold == f) for f in range(int(self.fold.max()) + 1)]
        return [(self.rows.take(rows), rows) for rows in chosen]

    @cached_property
    def counted(self) -> list[Cells]:
        """What each fold has seen."""
        told, size = self.labelled, self.labelled.classes.size
        weight = [None if told.weight is None else told.weight[rows] for _, rows in self.parts]
        return [
            part.counted(told.codes[rows], size, w, weights=self.weights)
            for (part, rows), w in zip(self.parts, weight, strict=True)
        ]

    @cached_property
    def total(self) -> Cells:
        told = self.labelled
        return self.rows.counted(told.codes, told.classes.size, told.weight, weights=self.weights)

    @cached_property
    def totals(self) -> Array:
        return self.total.totals(self.labelled.classes.size)

    @cached_property
    def documents(self) -> Array:
        """In how many texts each word is."""
        return np.bincount(self.total.feature, self.total.values[DOCUMENTS], minlength=self.rows.words.size)

    @cached_property
    def per_class(self) -> list[Array]:
        """The texts of each class in each fold."""
        told, size = self.labelled, self.labelled.classes.size
        return [np.bincount(told.codes[rows], told.each[rows], minlength=size) for _, rows in self.parts]


def _only(cells: Cells, kept: Array) -> Cells:
    """The cells of some words (a mask of all)."""
    mine = np.flatnonzero(kept[cells.feature])
    return Cells(cells.feature[mine], cells.klass[mine], cells.values.take(mine, axis=1))


@dataclass(frozen=True, eq=False)
class Fold(Value):
    """The texts of one fold, and what the others have seen of their words."""

    rows: WordRows
    truth: Array
    weight: Array
    prior: Array
    rest: Cells  # of words that are known, by number
    documents: Array  # in which each word is
    per_class: Array
    words: int  # how many are known
    totals: Array  # planes by classes

    @classmethod
    def of(cls, reading: Reading, f: int, min_df: int, most: int | None = None) -> Fold:
        """With `most` texts of the fold at most, taken evenly. Only the cells of its own words are gone through."""
        rows, at = reading.parts[f]
        told, mine, size = reading.labelled, reading.counted[f], rows.words.size
        documents = reading.documents - np.bincount(mine.feature, mine.values[DOCUMENTS], minlength=size)
        known = documents >= min_df if min_df > 1 else documents > 1e-9
        near = np.zeros(size, bool)
        near[mine.feature] = True
        rest = _only(reading.total, near) - mine
        totals = reading.totals - mine.totals(told.classes.size)
        if not known.all():  # words that only this fold makes frequent enough
            totals = totals - _only(rest, ~known).totals(told.classes.size)
            rest, rows = _only(rest, known), rows.shown(known, weights=False)
        if most is not None and len(at) > most:
            some = np.arange(most) * len(at) // most
            rows, at = rows.take(some), at[some]
            near = np.zeros(size, bool)
            near[rows.number] = True
            rest = _only(rest, near)
        per_class = sum(reading.per_class) - reading.per_class[f]
        words = int(np.count_nonzero(known)) if reading.given is None else reading.given
        prior = told.prior.log(told.classes, per_class)
        return cls(rows, told.codes[at], told.each[at], prior, rest, documents, per_class, words, totals)

    @cached_property
    def starts(self) -> Array:
        """Where the cells of each word begin."""
        many = np.bincount(self.rest.feature, minlength=self.rows.words.size)
        return np.concatenate([[0], np.cumsum(many)]).astype(np.int64)

    @cached_property
    def weighted(self) -> Array:
        """The tf-idf of the words of the texts."""
        idf = np.log((1.0 + self.per_class.sum()) / (1.0 + self.documents)) + 1.0
        return length_normed(self.rows.starts, self.rows.tf * idf[self.rows.number])

    def data(self, weighting: str) -> Array:
        """What the words of the texts weigh."""
        if weighting == "binary":
            return np.ones(len(self.rows.number), np.uint8)
        if weighting == "counts":
            return self.rows.count
        return self.weighted

    def scores(self, family: str, weighting: str, alphas: Sequence[float]) -> Array:
        """α by texts by classes, but for what is the same for all classes."""
        plane = PLANES[weighting]
        unit = WEIGHT_UNIT if weighting == "tfidf" else 1.0
        count, totals = self.rest.values[plane] * unit, self.totals[plane] * unit
        alpha = np.array(alphas)
        wide = np.concatenate([alpha, np.ones(-len(alpha) % 4)])
        if family == "complement":
            row_of, path, base = self._against_others(count, totals, wide)
        else:
            whole = unit == 1.0
            values, row_of = distinct(self.rest.values[plane]) if whole else (count, np.arange(len(count)))
            path = np.log(values[:, None] + wide) - np.log(wide)
            base = np.log(wide) - np.log(totals[:, None] + wide * max(self.words, 1))
        data, many = self.data(weighting), threads(len(self.rows.number) * len(wide))
        column = self.rows.number
        scores = _core.score_paths(
            data, column, self.rows.starts, self.starts, self.rest.klass, row_of.astype(np.int64), path, base,
            len(alpha), many,
        )  # fmt: skip
        if family == "multinomial":
            scores += self.prior
        return scores

    def _against_others(self, count: Array, totals: Array, alpha: Array) -> tuple[Array, Array, Array]:
        everywhere = np.bincount(self.rest.feature, weights=count, minlength=1)
        elsewhere = np.maximum(everywhere[self.rest.feature] - count, 0.0)
        path = np.log(everywhere[:, None] + alpha)[self.rest.feature] - _logs(elsewhere, alpha)
        base = np.log((totals.sum() - totals)[:, None] + alpha * max(self.words, 1))
        return np.arange(len(count)), path, base


def _logs(counts: Array, alpha: Array) -> Array:
    """log(count + α), by count and α; whole counts, of which few are different, once each."""
    whole = counts.astype(np.int64)
    if not np.array_equal(whole, counts):
        return np.log(counts[:, None] + alpha)
    values, place = distinct(whole)
    return np.log(values[:, None] + alpha)[place]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The ways that are to be judged."""

    families: tuple[str, ...] = ("multinomial", "complement")
    weightings: tuple[str, ...] = ("counts", "binary", "tfidf")
    ngrams: tuple[tuple[tuple[int, int], Any], ...] = (((1, 1), 1), ((1, 2), 2))  # and the min_df of each
    alphas: tuple[float, ...] = ALPHAS

    @property
    def ways(self) -> list[Way]:
        return [(f, w, n, d) for n, d in self.ngrams for w in self.weightings for f in self.families]


@dataclass(eq=False)
class Contest:
    """Keeps which texts each recipe gets right: α by texts, fold after fold."""

    alphas: tuple[float, ...]
    right: dict[Way, list[Array]] = field(default_factory=dict)
    weight: dict[Way, list[Array]] = field(default_factory=dict)

    def add(self, ways: Sequence[Way], made: dict[Any, Fold], many: int | None) -> None:
        def judge(way: Way) -> Array:
            family, weighting, *words = way
            fold = made[tuple(words)]
            return fold.scores(family, weighting, self.alphas).argmax(axis=2) == fold.truth

        entries = sum(fold.rows.nnz for fold in made.values()) * len(self.alphas)
        judged = [judge(way) for way in ways] if many == 1 else on_threads(judge, list(ways), entries)
        for way, right in zip(ways, judged, strict=True):
            self.right.setdefault(way, []).append(right)
            self.weight.setdefault(way, []).append(made[way[2:]].weight)

    def sums(self, way: Way) -> Array:
        """How many texts each α gets right."""
        pairs = zip(self.right[way], self.weight[way], strict=True)
        return np.sum([right @ weight for right, weight in pairs], axis=0)

    def best_ways(self, ways: Sequence[Way], many: int) -> list[Way]:
        """Those whose best α is right most often, the first of equals first; without those that are clearly behind."""
        ranked = sorted(ways, key=lambda way: -float(self.sums(way).max()))
        (best, weight), *others = [self._at_best(way) for way in ranked[:many]]
        return ranked[:1] + [
            way
            for way, (right, _) in zip(ranked[1:], others, strict=False)
            if best @ weight - right @ weight <= CLEARLY * np.sqrt((weight**2)[best != right].sum())
        ]

    def _at_best(self, way: Way) -> tuple[Array, Array]:
        """Which texts the best α of a way gets right, and what each text counts for."""
        at = int(np.argmax(self.sums(way)))
        return np.concatenate([right[at] for right in self.right[way]]), np.concatenate(self.weight[way])

    def tried(self) -> list[Tried]:
        """Everything, the best first; what was judged by all folds before what was not."""
        found = []
        for way in self.right:
            rows = float(sum(weight.sum() for weight in self.weight[way]))
            told = zip(self.alphas, self.sums(way).tolist(), strict=True)
            found += [Tried(Recipe(*way, alpha), right, rows) for alpha, right in told]
        found.sort(key=lambda t: (-t.rows, -t.right))
        first = found[0].recipe
        preferred = self.smoothest(first)
        return sorted(found, key=lambda t: t.recipe != preferred)

    def smoothest(self, recipe: Recipe) -> Recipe:
        """The same with the largest α that is as good, to within one standard error of the difference."""
        right = np.concatenate(self.right[recipe.way], axis=1)
        weight = np.concatenate(self.weight[recipe.way])
        best = right[self.alphas.index(recipe.alpha)]
        for alpha, other in sorted(zip(self.alphas, right, strict=True), key=lambda pair: -pair[0]):
            error = np.sqrt((weight**2)[best != other].sum())
            if alpha >= recipe.alpha and best @ weight - other @ weight <= error:
                return Recipe(*recipe.way, alpha)
        return recipe


def choose(readings: dict[Any, Reading], candidates: Candidates, many: int | None = None) -> list[Tried]:
    """All recipes, the best first: judged by the first fold, the best few of them by the others as well.

    `readings` are by the sequences of words and their `min_df`; `many` threads are used (None: one for each core).
    """
    contest = Contest(candidates.alphas)
    ways = candidates.ways
    for f in range(FOLDS):
        kinds = {way[2:] for way in ways}
        most = FIRST if f == 0 else None
        contest.add(ways, {kind: Fold.of(readings[kind], f, kind[1], most) for kind in kinds}, many)
        ways = contest.best_ways(ways, KEPT)
    return contest.tried()


def fold_numbers(codes: Array) -> Array:
    """The fold of each text, each class spread evenly; the same for the same labels."""
    return folds(len(codes), FOLDS, 0, codes)
