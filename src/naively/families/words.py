"""Words: texts counted once, and weighed afterwards by any family and weighting."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from naively import _core
from naively.cells import Array, Cells
from naively.errors import InputError
from naively.families.base import rows_per_class
from naively.families.bernoulli import Bernoulli
from naively.families.complement import Complement
from naively.families.multinomial import Multinomial
from naively.ledger import Ledger, entries_of, spectrum_of
from naively.names import Index
from naively.rows import SparseRows
from naively.scores import Scores
from naively.select import DOCUMENTS, OCCURRENCES, WEIGHT, Limits, restricted
from naively.smoothing import Smoothing
from naively.table import LinearTable, Shares
from naively.tally import WEIGHT_UNIT, Tally
from naively.texts import Texts
from naively.threads import threads
from naively.tokens import Tokens
from naively.values import Value
from naively.vocabulary import Buckets, Kept, Vocabulary

FAMILIES = ("multinomial", "complement", "bernoulli")
WEIGHTINGS = {"counts": OCCURRENCES, "binary": DOCUMENTS, "tfidf": WEIGHT}


@dataclass(frozen=True)
class Words:
    """Counts occurrences, documents and weights of words; the table is that of another family over one of these."""

    who: str = "TextClassifier"
    family: str = "multinomial"
    weighting: str = "counts"
    norm: bool = False
    tokens: Tokens = field(default_factory=Tokens)
    limits: Limits = field(default_factory=Limits)
    vocabulary: tuple[str, ...] | None = None
    buckets: int | None = None
    weights: bool = True
    threads: int | None = None

    spectral: ClassVar[bool] = False

    @property
    def kind(self) -> str:
        return "words" if self.weights else "unweighted words"

    @property
    def split(self) -> bool:
        """Whether a blank in a given name parts two words of a sequence."""
        return not self.tokens.spelt and (not callable(self.tokens.kind) or self.tokens.ngrams[1] > 1)

    def no_words(self) -> Vocabulary | Buckets:
        """The features before anything was seen."""
        if self.buckets is not None:
            return Buckets(self.buckets)
        return Vocabulary() if self.vocabulary is None else Vocabulary.of(self.vocabulary, split=self.split)

    def many_threads(self, texts: Texts) -> int:
        return threads(texts.core.bytes) if self.threads is None else self.threads

    def empty(self, classes: Index, features: Vocabulary | Buckets) -> Tally:
        return Tally.empty(self.kind, classes, features)

    def count(
        self, X: Texts, codes: Array, classes: Index, features: Vocabulary | Buckets, weight: Array | None
    ) -> Tally:
        arguments = (X.core, codes, classes.size, weight, self.tokens.core, self.weights, self.many_threads(X))
        if isinstance(features, Buckets):
            cells, buckets, names, leads = _core.count_buckets(*arguments, features.size)
            seen = Buckets.of(features.size, buckets.tolist(), names, leads.tolist())
            return self._tally(X, codes, classes, seen, Cells(*cells), weight)
        own = Vocabulary()
        counted = Cells(*_core.count_texts(*arguments, own.table))
        own = Vocabulary.all_of(own.table)
        if self.vocabulary is not None:
            return self._tally(X, codes, classes, features, self._only_given(own, counted, features), weight)
        if features.size == 0:
            return self._tally(X, codes, classes, own, counted, weight)
        grown, moved = features.grown(own)
        return self._tally(X, codes, classes, grown, counted.renumbered(moved.__getitem__, None), weight)

    def _tally(
        self, X: Texts, codes: Array, classes: Index, features: Any, cells: Cells, weight: Array | None
    ) -> Tally:
        """A missing text is no row either."""
        if cells.values.dtype != np.int64 and not np.isfinite(cells.values).all():
            raise InputError("sample_weight adds up to more than float64 holds; divide the weights by a common factor")
        missing = X.missing
        if len(missing):
            codes, weight = codes[~missing], None if weight is None else weight[~missing]
        return Tally(self.kind, classes, rows_per_class(codes, weight, classes.size), features, cells)

    def _only_given(self, own: Vocabulary, cells: Cells, features: Vocabulary) -> Cells:
        assert self.vocabulary is not None
        moved = np.full(own.size, -1, np.int64)
        here, there = (words.locate(self.vocabulary, split=self.split) for words in (own, features))
        moved[here[here >= 0]] = there[here >= 0]
        mine = moved[cells.feature] >= 0
        return Cells.sorted(moved[cells.feature[mine]], cells.klass[mine], cells.values[:, mine])

    # --- scoring

    def touched(self, X: Texts, rule: Smoothing, ledger: Ledger) -> Array | None:
        """Only where every word counts, and none but those of the texts matters."""
        words = ledger.features
        plain = self.limits.none and self.vocabulary is None and self.tokens.ngrams[0] == 1 and not self.norm
        if self.family == "bernoulli" or not plain or isinstance(words, Buckets):
            return None
        _, column, _ = _core.read_fixed(X.core, self.tokens.core, 1, words.table, None, words.size)
        return np.unique(column).astype(np.int64)

    def localised(self, X: Texts, features: Array) -> Texts:
        return X

    def table(self, ledger: Ledger, rule: Smoothing, prior: Array, features: Array | None = None) -> TextTable:
        if features is None:
            tally = ledger.total
            numbers = self.kept(tally)
            cells, every = restricted(tally.cells, numbers), len(numbers)
            totals = cells.totals(ledger.classes.size)
        else:
            numbers, cells, every, totals = features, ledger.take(features), ledger.features.size, ledger.totals
        plane = WEIGHTINGS["binary" if self.family == "bernoulli" else self.weighting]
        shown = Cells(cells.feature, cells.klass, self._projected(cells.values, plane))
        entries = None
        if self.family == "bernoulli" and shown.values.dtype == np.int64:  # a sum that does not depend on numbers
            entries = entries_of(spectrum_of(shown))
        view = Projection(
            ledger.classes, ledger.rows, self._projected(totals, plane), Index(max(every, 1)), None, len(numbers),
            shown, entries,
        )  # fmt: skip
        linear = self._inner().table(view, rule, prior)  # type: ignore[arg-type]
        words = Kept.among(ledger.features, numbers)
        linear = replace(linear, features=words)
        idf = None
        if self.weighting == "tfidf" and self.family != "bernoulli":
            idf = inverse_documents(cells, len(numbers), float(ledger.rows.sum()))
        return TextTable(self, linear, words, idf, features)

    def kept(self, tally: Tally) -> Array:
        """The words that the table is made of, by number, sorted."""
        if self.vocabulary is None:
            return self.limits.kept(tally, tally.cells.features())
        assert isinstance(tally.features, Vocabulary)
        return self.limits.kept(tally, np.sort(tally.features.locate(self.vocabulary, split=self.split)))

    def _inner(self) -> Multinomial | Bernoulli:
        if self.family == "multinomial":
            return Multinomial(self.who)
        return Complement(self.who, self.norm) if self.family == "complement" else Bernoulli(self.who)

    def _projected(self, values: Array, plane: int) -> Array:
        """One kind of number as the inner family has it."""
        if plane >= len(values):
            raise InputError(
                "weighting='tfidf' needs the weights of words, which were not counted; fit with weights=True"
            )
        if self.family == "bernoulli":
            return np.stack([values[plane], np.zeros_like(values[plane])])
        return values[plane : plane + 1] * WEIGHT_UNIT if plane == WEIGHT else values[plane : plane + 1]

    # --- the model

    def n_parameters(self, tally: Tally) -> int:
        size = len(self.kept(tally))
        return tally.classes.size * (size if self.family == "bernoulli" else max(size - 1, 0))

    def n_parameters_joint(self, tally: Tally) -> int | float:
        """Of which words a text holds, in every combination: 2^V - 1 for each class."""
        return tally.classes.size * (2 ** len(self.kept(tally)) - 1)

    def sample(self, tally: Tally, rule: Smoothing, klass: int, size: int, rng: np.random.Generator) -> list[str]:
        """Texts of words drawn one by one, as long as the class's are on average, in a Poisson manner."""
        numbers = self.kept(tally)
        cells = restricted(tally.cells, numbers)
        mine = cells.klass == klass
        counts = np.zeros(len(numbers))
        counts[cells.feature[mine]] = cells.values[OCCURRENCES][mine]
        total = counts.sum()
        if not len(numbers) or not size:
            return [""] * size
        mass = rule.pseudo(None) * len(numbers)
        finite, odd = rule.log(counts, total, rule.pseudo(None), mass, len(numbers))
        chance = np.exp(finite) if odd is None else np.where(odd > 0, 0.0, np.exp(finite))
        lengths = rng.poisson(total / max(float(tally.rows[klass]), 1.0), size)
        drawn = rng.choice(len(numbers), int(lengths.sum()), p=chance / chance.sum())
        features: Any = tally.features
        seen, where = np.unique(drawn, return_inverse=True)
        names = features.names_of(numbers[seen])
        ends = np.cumsum(lengths)
        return [" ".join(names[w] for w in where[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def without_lost_words(ledger: Ledger, gone: Tally, family: Words) -> Ledger:
    """Without words of which nothing is left now that some texts are gone, unless the words were given."""
    words = ledger.features
    if not isinstance(words, Vocabulary) or family.vocabulary is not None:
        return ledger
    touched = gone.cells.features()
    if len(ledger.take(touched).features()) == len(touched):
        return ledger
    total = ledger.total
    left, moved = words.subset(total.cells.features())
    return Ledger((replace(total, features=left, cells=total.cells.renumbered(moved.__getitem__, None)),))


def _alike(column: Array, starts: Array) -> tuple[Array, Array]:
    """Columns and starts of rows in one type, the narrow one where it will do."""
    narrow = starts[-1] <= np.iinfo(np.int32).max
    return (column, starts.astype(np.int32)) if narrow else (column.astype(np.int64), starts)


def inverse_documents(cells: Cells, words: int, texts: float) -> Array:
    """log((1 + n) / (1 + df)) + 1 for each word."""
    documents = np.bincount(cells.feature, weights=cells.values[DOCUMENTS], minlength=words)
    return np.log((1.0 + texts) / (1.0 + documents)) + 1.0


@dataclass(frozen=True, eq=False)
class Projection:
    """One kind of number of a tally of words, as the view that other families make a table of."""

    classes: Index
    rows: Array
    totals: Array
    every: Index
    features: Array | None
    width: int
    cells: Cells
    entries: tuple[Array, Array, Array, Array] | None

    def view(self) -> Projection:
        return self


@dataclass(frozen=True, eq=False)
class TextTable(Value):
    """A table of words that reads texts: tokens, their places in the table, their weights."""

    words: Words
    linear: LinearTable
    features: Kept
    idf: Array | None
    few: Array | None  # the numbers of the words, where they are not all there are

    @property
    def classes(self) -> Index:
        return self.linear.classes

    @property
    def prior(self) -> Array:
        return self.linear.prior

    @cached_property
    def place(self) -> Array | None:
        """The column of each word by its number; None where they are the same."""
        numbers, every = self.features.numbers, self.features.words
        assert numbers is not None
        assert every is not None
        if len(numbers) == every.size:
            return None
        place = np.full(every.size, -1, np.int32)
        place[numbers] = np.arange(len(numbers), dtype=np.int32)
        return place

    def rows(self, texts: Texts) -> SparseRows:
        """The weights of the words of each text."""
        family = self.words
        many, every = family.many_threads(texts), self.features.words
        if isinstance(every, Buckets):
            starts, column, count = self._bucket_rows(texts, every, many)
        else:
            assert every is not None
            place = None if self.few is not None else self.place
            starts, column, count = _core.read_fixed(
                texts.core, family.tokens.core, many, every.table, place, every.size
            )
        if self.few is not None:
            column = np.searchsorted(self.few, column).astype(np.int32)
        data = self._weighted(starts, column, count)
        return SparseRows(data, *_alike(column, starts), (len(starts) - 1, self.features.size))

    def _bucket_rows(self, texts: Texts, every: Buckets, many: int) -> tuple[Array, Array, Array]:
        """Counts in the columns of the buckets that there are; those that are not are left out."""
        numbers = self.features.numbers
        assert numbers is not None
        starts, bucket, count = _core.read_buckets(texts.core, self.words.tokens.core, many, every.size, False)
        seen, column = np.unique(bucket, return_inverse=True)
        place = np.searchsorted(numbers, seen)
        known = place < len(numbers)
        known[known] = numbers[place[known]] == seen[known]
        return _core.reorder(starts, column.astype(np.int32), count, np.where(known, place, -1).astype(np.int32), many)

    def _weighted(self, starts: Array, column: Array, count: Array) -> Array:
        if self.words.family == "bernoulli" or self.words.weighting == "binary":
            return np.ones(len(count), np.uint8)
        if self.idf is None:
            return count
        weight = (1.0 + np.log(count)) * self.idf[column]
        row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        length = np.sqrt(np.bincount(row, weights=weight * weight, minlength=len(starts) - 1))
        return weight / length[row]

    def score(self, texts: Texts) -> Scores:
        scores = self.linear.score(self.rows(texts))
        missing = texts.missing
        if len(missing):
            scores.likelihood[missing] = 0.0
            if scores.impossible is not None:
                scores.impossible[missing] = 0.0
        return scores

    def shares(self, texts: Texts) -> Shares:
        return self.linear.shares(self.rows(texts).matrix())
