"""Texts in folds: the counts of each fold, and the scores of its texts by the counts of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np

from naively import _core
from naively.arrays import Array, Value
from naively.count.cells import Cells
from naively.count.counts import WEIGHT_UNIT
from naively.families.counts_left_out import distinct
from naively.families.words.rows import WordRows, inverse_documents, length_normed
from naively.families.words.selection import DOCUMENTS
from naively.names import Index
from naively.score.priors import Prior
from naively.threads import threads

FOLDS = 5
BLOCK = 1 << 19
"""Number of scores (α by texts by classes) that are held in memory at a time."""
PLANES = {"counts": 0, "binary": 1, "tfidf": 2}


@dataclass(frozen=True, eq=False)
class Labelled:
    """The classes of texts by number, the prior of the classes, and the weight of each text.

    Texts are in the order of their keys. `text` numbers the different texts: those of the same words, as often, have
    the same number (None: no two are alike). Texts that are not `judged` are learnt from alone (None: all are judged).
    """

    codes: Array
    classes: Index
    prior: Prior
    weight: Array | None = None
    text: Array | None = None
    judged: Array | None = None

    @property
    def each(self) -> Array:
        return np.ones(len(self.codes)) if self.weight is None else self.weight

    @cached_property
    def fold(self) -> Array:
        """The fold of each text; copies are in the same fold."""
        return fold_numbers(self.codes, self.text)

    def judged_in(self, fold: int, most: int) -> Array:
        """Return the numbers of the texts of a fold that are scored, at most `most`."""
        mine = self.fold == fold if self.judged is None else (self.fold == fold) & self.judged
        return evenly(np.flatnonzero(mine), most)


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
        """The texts of each fold, and their numbers."""
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
    """Return the cells of some words (a mask of all)."""
    mine = np.flatnonzero(mask[cells.feature])
    return cells.taken(mine)


@dataclass(frozen=True, eq=False)
class Fold(Value):
    """The texts of one fold, and the counts of their words in the other folds."""

    rows: WordRows
    truth: Array
    prior: Array
    rest: Cells  # cells of the known words, by number
    documents: Array  # number of texts with each word
    per_class: Array
    words: int  # number of known words
    totals: Array  # sums, planes by classes

    @classmethod
    def of(cls, reading: FoldedRows, f: int | tuple[int, ...], min_df: int, sample: Array | None = None) -> Fold:
        """Subtract a fold, or several, from the counts, to score a `sample` of its texts (None: all of the first fold).

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
        if not known.all():  # some words are frequent enough only with this fold
            totals = totals - _only(rest, ~known).totals(labelled.classes.size)
            rest, rows = _only(rest, known), rows.masked(known, weights=False)
        if len(sample) < sum(len(reading.parts[k][1]) for k in out):  # words of other texts are not looked up
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
        """Return α by texts: True if the best class is the label. Scores are made and dropped block by block."""
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


def evenly(rows: Array, most: int) -> Array:
    return rows if len(rows) <= most else rows[np.arange(most) * len(rows) // most]


def fold_numbers(codes: Array, text: Array | None = None) -> Array:
    """Return the fold of each text, in turns within each class in the order of keys. Copies go with the first."""
    fold = np.empty(len(codes), np.int64)
    fold[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % FOLDS
    return fold if text is None else fold[np.unique(text, return_index=True)[1]][text]


def text_numbers(rows: WordRows) -> Array:
    """Number the different texts, in order of appearance: texts of the same words, as often, are copies.

    A text without words is no copy of another. Texts are compared by sums of 64 random bits for each word.
    """
    filled = np.flatnonzero(np.diff(rows.starts))
    key = np.arange(len(rows), dtype=np.uint64)  # a text without words has a number of its own
    sums = np.add.reduceat(rows.number, rows.starts[filled], dtype=np.int64) if len(filled) else filled
    _, group, copies = np.unique(sums, return_inverse=True, return_counts=True)
    alike = filled[copies[group] > 1]  # few texts are copies, so that few are compared as a whole
    if len(alike):
        part = rows.take(alike)
        bits = np.random.default_rng(2).integers(1 << 63, size=max(rows.words.size, 1), dtype=np.uint64)
        key[alike] = np.add.reduceat(bits[part.number] * part.count.astype(np.uint64), part.starts[:-1])
    _, first, text = np.unique(key, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[text]
