"""Recipes: the best family, weighting, word sequences and α for texts, by folds taken out of one count.

Texts are read once. The counts of a fold are subtracted from those of all texts, a table of the rest is made for each
recipe, and the table scores the texts of the fold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.count.cells import Cells
from naively.count.counts import WEIGHT_UNIT
from naively.families.counts_left_out import distinct
from naively.families.words.rows import WordRows, inverse_documents, length_normed
from naively.families.words.selection import DOCUMENTS
from naively.learn.estimates import Estimate
from naively.learn.held_out import folds
from naively.names import Index
from naively.score.priors import Prior
from naively.store.registry import stored
from naively.threads import on_threads, threads

ALPHAS = (1.0, 0.3, 0.1, 0.03)
FOLDS = 5
FIRST, FINALISTS = 1000, 3
"""Number of texts of the first fold that try every recipe, and of recipes that go on to the other folds."""
PAIRS = 1 << 19
"""Largest number of pairs of text and class that are scored in a fold, for each recipe and α."""
BLOCK = 1 << 19
"""Number of scores (α by texts by classes) that are held in memory at a time."""
CLEARLY = 2.0
"""A recipe is dropped when it is this number of standard errors of the difference behind the best."""
PLANES = {"counts": 0, "binary": 1, "tfidf": 2}


RecipeBase = tuple[str, str, tuple[int, int], Any]


@stored()
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


@stored()
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
class Labelled:
    """The classes of texts by number, the prior of the classes, and the weight of each text.

    `text` numbers the different texts: copies have the same number (None: there are no copies).
    """

    codes: Array
    classes: Index
    prior: Prior
    weight: Array | None = None
    text: Array | None = None

    @property
    def each(self) -> Array:
        return np.ones(len(self.codes)) if self.weight is None else self.weight

    @cached_property
    def fold(self) -> Array:
        """The fold of each text; copies stand in the same one."""
        return fold_numbers(self.codes, self.text)


@dataclass(frozen=True, eq=False)
class FoldedRows(Value):
    """Texts read with sequences of words of one length, and their counts, fold by fold.

    `given` is the size of a given vocabulary (None: every word that was seen is known).
    """

    rows: WordRows
    labelled: Labelled
    weights: bool
    given: int | None = None

    @classmethod
    def of(
        cls, rows: WordRows, labelled: Labelled, min_df: int, given: int | None = None, *, weights: bool
    ) -> FoldedRows:
        """Drop words that are in too few texts for any fold, and number the frequent ones first, for the cache."""
        texts = np.bincount(rows.number, minlength=max(rows.words.size, 1))
        often = texts >= max(min_df, 1)
        order = np.flatnonzero(often)[np.argsort(-texts[often], kind="stable")]
        place = np.zeros(len(texts), np.int64)
        place[order] = np.arange(len(order))
        if min_df > 1:
            rows = rows.masked(often, weights=weights)
        elif weights:
            _ = rows.unit  # computed before texts are selected, so that selections share it
        return cls(rows.renumbered(place, Index(len(order))), labelled, weights, None if min_df > 1 else given)

    @cached_property
    def parts(self) -> list[tuple[WordRows, Array]]:
        """The texts of each fold and their numbers."""
        fold = self.labelled.fold
        chosen = [np.flatnonzero(fold == f) for f in range(FOLDS)]
        return [(self.rows.take(rows), rows) for rows in chosen]

    @cached_property
    def counted(self) -> list[Cells]:
        """The counts of each fold."""
        labelled, size = self.labelled, self.labelled.classes.size
        weight = [None if labelled.weight is None else labelled.weight[rows] for _, rows in self.parts]
        return [
            part.counted(labelled.codes[rows], size, w, weights=self.weights)
            for (part, rows), w in zip(self.parts, weight, strict=True)
        ]

    @cached_property
    def total(self) -> Cells:
        labelled = self.labelled
        return self.rows.counted(labelled.codes, labelled.classes.size, labelled.weight, weights=self.weights)

    @cached_property
    def totals(self) -> Array:
        return self.total.totals(self.labelled.classes.size)

    @cached_property
    def documents(self) -> Array:
        """Number of texts that hold each word."""
        return np.bincount(self.total.feature, self.total.values[DOCUMENTS], minlength=self.rows.words.size)

    @cached_property
    def per_class(self) -> list[Array]:
        """The texts of each class in each fold."""
        labelled, size = self.labelled, self.labelled.classes.size
        return [np.bincount(labelled.codes[rows], labelled.each[rows], minlength=size) for _, rows in self.parts]


def _only(cells: Cells, mask: Array) -> Cells:
    """The cells of some words (a mask of all)."""
    mine = np.flatnonzero(mask[cells.feature])
    return cells.taken(mine)


@dataclass(frozen=True, eq=False)
class Fold(Value):
    """The texts of one fold, and the counts of their words in the other folds."""

    rows: WordRows
    truth: Array
    prior: Array
    rest: Cells  # of words that are known, by number
    documents: Array  # in which each word is
    per_class: Array
    words: int  # number of known words
    totals: Array  # planes by classes

    @classmethod
    def of(cls, reading: FoldedRows, f: int | tuple[int, ...], min_df: int, sample: Array | None = None) -> Fold:
        """Take a fold, or several, out of the counts, to score a `sample` of its texts (None: all of the first fold).

        Only the cells of its own words are visited.
        """
        out = (f,) if isinstance(f, int) else f
        labelled, size = reading.labelled, reading.rows.words.size
        mine = reduce(add, (reading.counted[k] for k in out))
        documents = reading.documents - np.bincount(mine.feature, mine.values[DOCUMENTS], minlength=size)
        known = documents >= min_df if min_df > 1 else documents > 1e-9
        rows, whole = reading.parts[out[0]]
        sample = whole if sample is None else sample
        if len(out) > 1 or len(sample) < len(whole):
            rows = reading.rows.take(sample)
        near = np.zeros(size, bool)
        near[mine.feature] = True
        rest = _only(reading.total, near) - mine
        totals = reading.totals - mine.totals(labelled.classes.size)
        if not known.all():  # words that only this fold makes frequent enough
            totals = totals - _only(rest, ~known).totals(labelled.classes.size)
            rest, rows = _only(rest, known), rows.masked(known, weights=False)
        if len(sample) < sum(len(reading.parts[k][1]) for k in out):  # words of others are not looked up
            near = np.zeros(size, bool)
            near[rows.number] = True
            rest = _only(rest, near)
        per_class = np.sum([texts for k, texts in enumerate(reading.per_class) if k not in out], axis=0)
        words = int(np.count_nonzero(known)) if reading.given is None else reading.given
        prior = labelled.prior.log(labelled.classes, per_class)
        return cls(rows, labelled.codes[sample], prior, rest, documents, per_class, words, totals)

    @cached_property
    def starts(self) -> Array:
        """The first cell of each word, and the end."""
        n_cells = np.bincount(self.rest.feature, minlength=self.rows.words.size)
        return np.concatenate([[0], np.cumsum(n_cells)]).astype(np.int64)

    @cached_property
    def weighted(self) -> Array:
        """The tf-idf of the words of the texts."""
        idf = inverse_documents(self.per_class.sum(), self.documents)
        return length_normed(self.rows.starts, self.rows.tf * idf[self.rows.number])

    def data(self, weighting: str) -> Array:
        """Return the weights of the words of the texts."""
        if weighting == "binary":
            return np.ones(len(self.rows.number), np.uint8)
        if weighting == "counts":
            return self.rows.count
        return self.weighted

    def scores(self, family: str, weighting: str, alphas: Sequence[float]) -> Array:
        """Return scores, α by texts by classes, without terms that all classes share."""
        return np.concatenate(list(self._blocks(family, weighting, alphas)), axis=1)

    def right(self, family: str, weighting: str, alphas: Sequence[float]) -> Array:
        """Return α by texts: true where the best class is the label. Scores are made and dropped block by block."""
        best = [scores.argmax(axis=2) for scores in self._blocks(family, weighting, alphas)]
        return np.concatenate(best, axis=1) == self.truth

    def _blocks(self, family: str, weighting: str, alphas: Sequence[float]) -> Iterator[Array]:
        """Yield scores, a block of texts at a time."""
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
        data, row_of = self.data(weighting), row_of.astype(np.int64)
        size = max(BLOCK // (len(wide) * max(len(self.prior), 1)), 1)
        for block in self.rows.blocks(size) if len(self.rows) else [slice(0, 0)]:
            first, last = self.rows.starts[block.start], self.rows.starts[block.stop]
            column, starts = self.rows.number[first:last], self.rows.starts[block.start : block.stop + 1] - first
            scores = _core.score_paths(
                data[first:last], column, starts, self.starts, self.rest.klass, row_of, path, base,
                len(alpha), threads(len(column) * len(wide)),
            )  # fmt: skip
            if family == "multinomial":
                scores += self.prior
            yield scores

    def _against_others(self, count: Array, totals: Array, alpha: Array) -> tuple[Array, Array, Array]:
        everywhere = np.bincount(self.rest.feature, weights=count, minlength=1)
        elsewhere = np.maximum(everywhere[self.rest.feature] - count, 0.0)
        path = np.log(everywhere[:, None] + alpha)[self.rest.feature] - _logs(elsewhere, alpha)
        base = np.log((totals.sum() - totals)[:, None] + alpha * max(self.words, 1))
        return np.arange(len(count)), path, base


def _logs(counts: Array, alpha: Array) -> Array:
    """Return log(count + α), by count and α; made once for each distinct count, if counts are whole."""
    whole = counts.astype(np.int64)
    if not np.array_equal(whole, counts):
        return np.log(counts[:, None] + alpha)
    values, place = distinct(whole)
    return np.log(values[:, None] + alpha)[place]


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
    readings: dict[Any, FoldedRows], candidates: Candidates, n_threads: int | None = None, texts: int = 0
) -> tuple[list[Trial], Estimate]:
    """Return all recipes, the best first: all are tried on the first fold, the best few on the other folds.

    `readings` are by the sequences of words and their `min_df`; `n_threads` may be None: one for each core. The
    estimate is for a model of `texts` texts, of which those that were read are a sample.
    """
    labelled = next(iter(readings.values())).labelled
    contest = RecipeSearch(candidates.alphas, labelled)
    most = max(PAIRS // labelled.classes.size, 1)
    ways = candidates.ways
    for f in range(FOLDS):
        kinds = {way[2:] for way in ways}
        rows = _evenly(np.flatnonzero(labelled.fold == f), min(most, FIRST) if f == 0 else most)
        contest.add(ways, {kind: Fold.of(readings[kind], f, kind[1], rows) for kind in kinds}, rows, n_threads)
        ways = contest.best_ways(ways, FINALISTS)
    tried = contest.tried()
    return tried, _estimate(contest, readings[tried[0].recipe.way[2:]], tried[0].recipe, texts)


def _evenly(rows: Array, most: int) -> Array:
    return rows if len(rows) <= most else rows[np.arange(most) * len(rows) // most]


def _estimate(contest: RecipeSearch, reading: FoldedRows, recipe: Recipe, texts: int) -> Estimate:
    """Estimate the accuracy of a model of `texts` texts, counting copies of a text as one.

    Folds are scored by models of four fifths of the texts. Their error is assumed to fall with one over the root of the
    number of texts; models of three fifths, tried on some texts of two folds, show how fast.
    """
    labelled, later = contest.labelled, np.concatenate(contest.rows[1:])
    right = contest.fairly().astype(np.float64)
    sampled = _evenly(np.arange(sum(map(len, contest.rows[1:3]))), FIRST)
    fewer = Fold.of(reading, (1, 2), recipe.min_df, later[sampled])
    gain = (
        contest.by(recipe)[sampled].astype(np.float64) - fewer.right(recipe.family, recipe.weighting, [recipe.alpha])[0]
    )
    sizes = np.array([(FOLDS - 2) / FOLDS, (FOLDS - 1) / FOLDS, max(texts / len(labelled.codes), 1.0)]) ** -0.5
    right[sampled] += gain * (sizes[1] - sizes[2]) / (sizes[0] - sizes[1]) * (len(later) / len(sampled))
    text = later if labelled.text is None else labelled.text[later]
    share = 1.0 / np.bincount(text)[text]
    return Estimate.of(right, share)


def fold_numbers(codes: Array, text: Array | None = None) -> Array:
    """The fold of each text, each class spread evenly; the same for the same labels. Copies go with the first one."""
    fold = folds(len(codes), FOLDS, 0, codes)
    return fold if text is None else fold[np.unique(text, return_index=True)[1]][text]


def text_numbers(rows: WordRows) -> Array:
    """Number the different texts, in order of appearance: texts of the same words, as often, are copies.

    A text without words is no copy of another. Texts are compared by sums of 64 random bits for each word.
    """
    filled = np.flatnonzero(np.diff(rows.starts))
    key = np.arange(len(rows), dtype=np.uint64)  # of its own
    sums = np.add.reduceat(rows.number, rows.starts[filled], dtype=np.int64) if len(filled) else filled
    _, group, copies = np.unique(sums, return_inverse=True, return_counts=True)
    alike = filled[copies[group] > 1]  # few are, so that few are looked at as a whole
    if len(alike):
        part = rows.take(alike)
        bits = np.random.default_rng(2).integers(1 << 63, size=max(rows.words.size, 1), dtype=np.uint64)
        key[alike] = np.add.reduceat(bits[part.number] * part.count.astype(np.uint64), part.starts[:-1])
    _, first, text = np.unique(key, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[text]
