"""Words: texts counted once, and weighed afterwards by any family and weighting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from naively import _core
from naively.arrays import Array, alike, less, rounded, sums_by, total_of
from naively.count.cells import Cells, gathered
from naively.count.counts import WEIGHT_UNIT, Counts
from naively.count.ledger import PartLedger, View, count_histogram_of, entries_of, totals_of
from naively.count.vocabulary import Buckets, Vocabulary, WordSubset
from naively.errors import InputError
from naively.families.base import rows_per_class
from naively.families.bernoulli import Bernoulli
from naively.families.complement import Complement
from naively.families.counts import CountFamily, dense_weights
from naively.families.counts_left_out import Entries, Left, leave_out, one_by_one
from naively.families.multinomial import Multinomial
from naively.families.words.rows import WordRows, inverse_documents, length_normed, read_words
from naively.families.words.selection import (
    DOCUMENTS,
    OCCURRENCES,
    WEIGHT,
    Selection,
    held_among,
    narrowed,
    places,
    restricted,
)
from naively.families.words.table import TextTable
from naively.names import Index
from naively.read.matrix import SparseRows
from naively.read.texts import Texts
from naively.read.tokens import Tokens
from naively.score.table import with_infinities
from naively.smooth.evidence import Draws, Urns
from naively.smooth.logs import exp
from naively.smooth.rules import Settled, Smoothing
from naively.store.registry import stored
from naively.threads import threads

FAMILIES = ("multinomial", "complement", "bernoulli")
WEIGHTINGS = {"counts": OCCURRENCES, "binary": DOCUMENTS, "tfidf": WEIGHT}


@stored()
@dataclass(frozen=True)
class Words:
    """Counts occurrences, documents and weights of words; the table is that of another family over one of these."""

    who: str = "TextClassifier"
    family: str = "multinomial"
    weighting: str = "counts"
    norm: bool = False
    tokens: Tokens = field(default_factory=Tokens)
    limits: Selection = field(default_factory=Selection)
    vocabulary: tuple[str, ...] | None = None
    buckets: int | None = None
    weights: bool = True
    threads: int | None = None

    needs_count_histogram: ClassVar[bool] = False

    @property
    def ignores_prior(self) -> bool:
        return self.family == "complement"

    @property
    def kind(self) -> str:
        return "words" if self.weights else "unweighted words"

    @property
    def split(self) -> bool:
        """True if a blank in a given name separates two words of a sequence."""
        return not self.tokens.spelt and (not callable(self.tokens.kind) or self.tokens.ngrams[1] > 1)

    def with_ngrams(self, ngrams: tuple[int, int]) -> Words:
        """Return the family for sequences of other lengths."""
        return replace(self, tokens=replace(self.tokens, ngrams=ngrams))

    def no_words(self) -> Vocabulary | Buckets:
        """Return the features before any text is counted."""
        if self.buckets is not None:
            return Buckets(self.buckets)
        return Vocabulary() if self.vocabulary is None else Vocabulary.of(self.vocabulary, split=self.split)

    def n_threads(self, texts: Texts) -> int:
        return threads(texts.core.bytes) if self.threads is None else self.threads

    def empty(self, classes: Index, features: Vocabulary | Buckets) -> Counts:
        return Counts.empty(self.kind, classes.size, features)

    def read(self, texts: Texts, words: Vocabulary | Buckets) -> WordRows:
        """Read texts as rows of these words, so that they can be counted or scored more than once."""
        return read_words(self.tokens.core, words, texts, self.n_threads(texts), self.vocabulary, split=self.split)

    def count(
        self, X: Texts | WordRows, codes: Array, classes: Index, features: Vocabulary | Buckets, weight: Array | None
    ) -> Counts:
        if isinstance(X, WordRows):
            seen_words = X.counted(codes, classes.size, weight, weights=self.weights)
            return self._tally(X, codes, classes, X.words, seen_words, weight)
        arguments = (X.core, codes, classes.size, weight, self.tokens.core, self.weights, self.n_threads(X))
        if isinstance(features, Buckets):
            cells, buckets, names, leads = _core.count_buckets(*arguments, features.size)
            seen = Buckets.of(features.size, buckets.tolist(), names, leads.tolist())
            return self._tally(X, codes, classes, seen, Cells.counted(cells), weight)
        own = Vocabulary()
        counted = Cells.counted(_core.count_texts(*arguments, own.table))
        own = Vocabulary.all_of(own.table)
        if self.vocabulary is not None:
            return self._tally(X, codes, classes, features, self._only_given(own, counted, features), weight)
        return self.placed(self._tally(X, codes, classes, own, counted, weight), features)

    def placed(self, tally: Counts, features: Any) -> Counts:
        """Renumber a tally that was counted with a vocabulary of its own, to match other features."""
        if not isinstance(tally.features, Vocabulary) or self.vocabulary is not None or features.size == 0:
            return tally
        grown, moved = features.grown(tally.features)
        return replace(tally, features=grown, cells=tally.cells.renumbered(moved.__getitem__, None))

    def _tally(
        self, X: Texts | WordRows, codes: Array, classes: Index, features: Any, cells: Cells, weight: Array | None
    ) -> Counts:
        """Return the tally of these texts; a missing text is no row of the part."""
        if len(X.missing):
            codes, weight = codes[~X.missing], None if weight is None else weight[~X.missing]
        return Counts(self.kind, rows_per_class(codes, weight, classes.size), features, cells)

    def _only_given(self, own: Vocabulary, cells: Cells, features: Vocabulary) -> Cells:
        assert self.vocabulary is not None
        moved = np.full(own.size, -1, np.int64)
        here, there = (words.locate(self.vocabulary, split=self.split) for words in (own, features))
        moved[here[here >= 0]] = there[here >= 0]
        mine = moved[cells.feature] >= 0
        return Cells.sorted(moved[cells.feature[mine]], cells.klass[mine], cells.exact[:, mine])

    # --- scoring

    def features_in(self, X: Texts | WordRows, rule: Smoothing, ledger: PartLedger) -> Array | None:
        """Return the words of these texts, if a table of them alone gives the same scores; otherwise None."""
        words = ledger.features
        few_limits = self.limits.none or (self.limits.by_rows and frequent_sums(ledger, self.limits.min_df) is not None)
        plain = few_limits and self.vocabulary is None and self.tokens.ngrams[0] == 1 and not self.norm
        if self.family == "bernoulli" or not plain or isinstance(words, Buckets) or not rule.local:
            return None
        if isinstance(X, WordRows):
            return np.unique(X.number).astype(np.int64)
        _, column, _ = words.read(X.core, self.tokens.core, 1)
        return np.unique(column).astype(np.int64)

    def restrict(self, X: Texts, features: Array) -> Texts:
        return X

    def table(self, ledger: PartLedger, rule: Smoothing, prior: Array, features: Array | None = None) -> TextTable:
        unknown = None
        if features is None:
            numbers = self.kept(ledger.total)
            cells = ledger.total.cells
            if self._keeps_empty_columns(ledger, numbers):
                unknown = np.ones(ledger.features.size, bool)
                unknown[numbers] = False
            else:
                cells = restricted(cells, numbers)
            n_known, totals = len(numbers), cells.totals(ledger.classes.size)
        else:
            cells = ledger.take(features)
            held = cells.features()
            if self.limits.none:
                n_known, totals = (
                    ledger.features.size - (len(features) - len(held)),
                    ledger.totals,
                )  # some words of the ledger may have no counts left
            else:
                found = frequent_sums(ledger, self.limits.min_df)
                assert found is not None  # or `features_in` would not have named these words
                n_known, totals = found[0], rounded(found[1]).astype(np.float64)
                documents = sums_by(cells.feature, cells.values[DOCUMENTS], len(features))
                held = np.flatnonzero(documents >= self.limits.min_df)
            numbers = features = features[held]
            cells = restricted(cells, held)
        columns = numbers if unknown is None else np.arange(len(unknown))
        view = self._view(ledger, cells, len(columns), n_known, totals)
        settled = self._settled_for(ledger, rule, lambda: self._urns(view, totals))
        linear = self.count_family.table_of(view, settled, prior)
        words = WordSubset.among(ledger.features, columns)
        linear = replace(linear, features=words)
        idf = None
        if self.weighting == "tfidf" and self.family != "bernoulli":
            documents = sums_by(cells.feature, cells.values[DOCUMENTS], len(columns))
            idf = inverse_documents(total_of(ledger.rows), documents)
        return TextTable(self, linear, words, idf, features, unknown)

    def _keeps_empty_columns(self, ledger: PartLedger, numbers: Array) -> bool:
        """True if so few words have no counts that empty columns are less work than new numbers."""
        words = ledger.features
        whole = isinstance(words, Vocabulary) and self.vocabulary is None and self.limits.none and not self.norm
        return whole and self.family != "bernoulli" and words.size // 2 < len(numbers) < words.size

    def _view(self, ledger: PartLedger, cells: Cells, width: int, n_known: int, totals: Array) -> View:
        """Return the counts of words as the view that the inner family takes."""
        projected = Cells(cells.feature, cells.klass, self._projected(cells.values, self._plane))
        entries = None
        if self.family == "bernoulli" and projected.values.dtype == np.int64:  # a sum that does not depend on numbers
            entries = entries_of(count_histogram_of(projected))
        sums = self._projected(totals, self._plane)
        return View(ledger.classes, ledger.rows, sums, Index(max(n_known, 1)), None, width, projected, entries)

    def totals(self, ledger: PartLedger) -> Array:
        """Return the sum of each class over the words of the table."""
        cells = restricted(ledger.total.cells, self.kept(ledger.total))
        return self._projected(cells.totals(ledger.classes.size), self._plane)[0]

    def counted(self, values: Array) -> Array:
        """Return the plane that the table is made of: occurrences, documents or weights."""
        return self._projected(values, self._plane)[0]

    def settled_by(self, ledger: PartLedger, rule: Smoothing) -> Settled:
        """Return the rule that gives logarithms for the counts of a ledger."""
        return self._settled_for(ledger, rule, lambda: self._urns(*self._whole_view(ledger, self.kept(ledger.total))))

    def _whole_view(self, ledger: PartLedger, numbers: Array) -> tuple[View, Array]:
        """Return the counts of these words (sorted numbers), and the sums of all planes by class."""
        cells = restricted(ledger.total.cells, numbers)
        totals = cells.totals(ledger.classes.size)
        return self._view(ledger, cells, len(numbers), len(numbers), totals), totals

    def dense_counts(self, ledger: PartLedger, numbers: Array) -> Array:
        """Return the counts of these words (sorted numbers) that the table is made of, classes by words."""
        view, _ = self._whole_view(ledger, numbers)
        counts = np.zeros((ledger.classes.size, len(numbers)))
        counts[view.cells.klass, view.cells.feature] = view.cells.values[0]
        return counts

    def log_shares(self, ledger: PartLedger, numbers: Array, rule: Smoothing) -> Array:
        """Return the log-probability of these words (sorted numbers), classes by words; of complements, the weight."""
        view, totals = self._whole_view(ledger, numbers)
        settled, family = self._settled_for(ledger, rule, lambda: self._urns(view, totals)), self.count_family
        if self.family == "complement":
            return dense_weights(family.table_of(view, settled, np.zeros(ledger.classes.size)))
        return np.array([with_infinities(*family.log_shares(view, settled, k)) for k in range(ledger.classes.size)])

    def _settled_for(self, ledger: PartLedger, rule: Smoothing, urns: Callable[[], Urns]) -> Settled:
        if rule.local:
            return rule.settle(urns)
        by_family: dict[Any, Any] = ledger.__dict__.setdefault("_settled", {})
        found: dict[Smoothing, Settled] = by_family.setdefault(replace(self, threads=None), {})
        if rule not in found:
            found[rule] = rule.settle(urns)
        return found[rule]

    def _urns(self, view: View, totals: Array) -> Urns:
        """Return the urns that the counts of words were drawn from."""
        urns = self.count_family.urns(view)
        if self._plane != WEIGHT or not isinstance(urns, Draws) or self.family != "multinomial":
            return urns
        # The sum of weights is below the number of draws, which is the number of occurrences.
        return replace(urns, scale=float(totals[OCCURRENCES].sum() / max(view.totals[0].sum(), WEIGHT_UNIT)))

    @property
    def _plane(self) -> int:
        return WEIGHTINGS["binary" if self.family == "bernoulli" else self.weighting]

    def left_out(
        self, ledger: PartLedger, rules: Sequence[Smoothing], X: Texts | WordRows, codes: Array, weight: Array | None
    ) -> Left:
        """Leave each text out; `min_df` is applied without it, other limits stay as selected with all texts."""
        if self.norm and self.family == "complement":
            return one_by_one(self, ledger, rules, X, codes, weight)
        X = X if isinstance(X, WordRows) else self.read(X, ledger.features)
        numbers = self.kept(ledger.total)
        cells = restricted(ledger.total.cells, numbers)
        totals = cells.totals(ledger.classes.size)
        view = self._view(ledger, cells, len(numbers), len(numbers), totals)
        whole_view = view
        settled = [self._settled_for(ledger, rule, lambda: self._urns(whole_view, totals)) for rule in rules]
        if all(rule.local for rule in settled):  # the words of these texts are enough
            near = held_among(numbers, X.number)
            cells, numbers = narrowed(cells, near, {DOCUMENTS, self._plane}), numbers[near]
            view = self._view(ledger, cells, len(numbers), whole_view.all_features.size, totals)
        entries = self._entries(ledger, view, cells, numbers, X, codes, weight)
        left = leave_out(self.count_family, entries, whole_view, settled)
        for logs in left:
            for part in logs:
                if part is not None and len(X.missing):
                    part[X.missing] = 0.0
        return left

    def _entries(
        self, ledger: PartLedger, view: View, cells: Cells, numbers: Array, X: WordRows, codes: Array,
        weight: Array | None,
    ) -> Entries:  # fmt: skip
        """Return the words of the texts as entries, with what each has added to the counts."""
        each = np.ones(len(codes)) if weight is None else weight.astype(np.float64)
        if len(X.missing):
            each = np.where(X.missing, 0.0, each)
        column = places(numbers, X.number)
        known = column >= 0
        starts = np.concatenate([[0], np.cumsum(known)])[X.starts].astype(np.int64)
        column, count = column[known], X.count[known]
        of_row = np.repeat(each, np.diff(starts))
        documents = np.bincount(cells.feature, weights=cells.values[DOCUMENTS], minlength=len(numbers))
        others = documents[column] - of_row
        dropped = self._dropped(others)
        if self._plane == OCCURRENCES:
            data, own = count.astype(np.float64), count * of_row
        elif self._plane == DOCUMENTS:
            data, own = np.ones(len(count)), of_row
        else:
            texts = np.repeat(ledger.rows.sum() - each, np.diff(starts))
            weighted = X.tf[known] * inverse_documents(texts, np.maximum(others, 0.0))
            data = length_normed(starts, weighted if dropped is None else np.where(dropped, 0.0, weighted))
            own = X.unit[known] * of_row
        rows = SparseRows(data, column.astype(np.int64), starts, (len(codes), len(numbers)))
        return Entries(rows, own, codes, each, view.cells, view.totals[0], view.rows, view.all_features.size, dropped)

    def _dropped(self, others: Array) -> Array | None:
        """Return a mask of words that are unknown without their text, by number of other texts; None: all are known."""
        if self.limits.none:
            dropped = others <= 1e-9
            return dropped if self.vocabulary is None and dropped.any() else None
        if not isinstance(self.limits.min_df, Integral):
            return None
        dropped = others < self.limits.min_df - 1e-9
        return dropped if dropped.any() else None

    def kept(self, tally: Counts) -> Array:
        """Return the numbers of the words of the table, sorted."""
        if self.vocabulary is None:
            return self.limits.kept(tally, tally.cells.features())
        assert isinstance(tally.features, Vocabulary)
        return self.limits.kept(tally, np.sort(tally.features.locate(self.vocabulary, split=self.split)))

    @property
    def count_family(self) -> CountFamily:
        """The family that weighs the counts of words."""
        if self.family == "multinomial":
            return Multinomial(self.who)
        return Complement(self.who, self.norm) if self.family == "complement" else Bernoulli(self.who)

    def _projected(self, values: Array, plane: int) -> Array:
        """Return one plane in the form that the inner family takes."""
        if plane >= len(values):
            raise InputError(
                "weighting='tfidf' needs the weights of words, which were not counted; fit with weights=True"
            )
        if self.family == "bernoulli":
            return np.stack([values[plane], np.zeros_like(values[plane])])
        return values[plane : plane + 1] * WEIGHT_UNIT if plane == WEIGHT else values[plane : plane + 1]

    # --- the model

    def n_parameters(self, ledger: PartLedger) -> int:
        size = len(self.kept(ledger.total))
        return ledger.classes.size * (size if self.family == "bernoulli" else max(size - 1, 0))

    def n_parameters_joint(self, ledger: PartLedger) -> int | float:
        """Return 2^V - 1 for each class, for the sets of words that a text may hold."""
        return ledger.classes.size * (2 ** len(self.kept(ledger.total)) - 1)

    def sample(self, ledger: PartLedger, rule: Smoothing, klass: int, size: int, rng: np.random.Generator) -> list[str]:
        """Draw texts word by word; lengths follow a Poisson distribution with the mean of the class."""
        numbers = self.kept(ledger.total)
        cells = restricted(ledger.total.cells, numbers)
        mine = cells.klass == klass
        counts = np.zeros(len(numbers))
        counts[cells.feature[mine]] = cells.values[OCCURRENCES][mine]
        total = counts.sum()
        if not len(numbers) or not size:
            return [""] * size
        totals = cells.totals(ledger.classes.size)
        view = self._view(ledger, cells, len(numbers), len(numbers), totals)
        plain = replace(view, cells=replace(cells, exact=cells.exact[:1]), exact_totals=totals[:1])
        settled = rule.settle(lambda: self._urns(view, totals))
        chance = exp(Multinomial().log_shares(plain, settled, klass))
        lengths = rng.poisson(total / max(float(ledger.rows[klass]), 1.0), size)
        drawn = rng.choice(len(numbers), int(lengths.sum()), p=chance / chance.sum())
        features: Any = ledger.features
        seen, where = np.unique(drawn, return_inverse=True)
        names = features.names_of(numbers[seen])
        ends = np.cumsum(lengths)
        return [" ".join(names[w] for w in where[a:b]) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def frequent_sums(ledger: PartLedger, least: int) -> tuple[int, Array] | None:
    """Return the number of words in `least` texts or more, and their sums, planes by classes.

    The largest level of the ledger is summed once; later levels change the sums of their own words. None if later
    levels are large, or if the first one does not fit the classes.
    """
    first, size = ledger.levels[0], ledger.classes.size
    since = sum(level.size for level in ledger.levels[1:])
    if since * 4 > first.size or len(first.rows) != size or first.rows.sum() < 2 * least:
        return None
    made: dict[Any, Any] = first.__dict__.setdefault("_kept_sums", {})
    if least not in made:
        made[least] = _sums_of(first.cells, least, size)
    n_words, totals = made[least]
    if len(ledger.levels) == 1:
        return n_words, totals
    words = np.unique(np.concatenate([level.cells.feature for level in ledger.levels[1:]]))
    before, after = (
        _sums_of(gathered(part, words), least, size) for part in ([first.cells], [v.cells for v in ledger.levels])
    )
    return n_words - before[0] + after[0], totals_of([less(*alike([totals, before[1]])), after[1]], size)


def _sums_of(cells: Cells, least: int, classes: int) -> tuple[int, Array]:
    if not len(cells):
        return 0, np.zeros((len(cells.exact), classes), np.int64)
    documents = np.bincount(cells.feature, weights=cells.values[DOCUMENTS])
    mask = (documents >= least)[cells.feature]
    return int(np.count_nonzero(documents >= least)), cells.taken(mask).exact_totals(classes)


def without_unseen_words(ledger: PartLedger, forgotten: Counts, family: Words) -> PartLedger:
    """Return the part without words that only forgotten texts had, unless the words were given."""
    words = ledger.features
    if not isinstance(words, Vocabulary) or family.vocabulary is not None:
        return ledger
    features_in = forgotten.cells.features()
    if len(ledger.take(features_in).features()) == len(features_in):
        return ledger
    total = ledger.total
    left, moved = words.subset(total.cells.features())
    left_words = replace(total, features=left, cells=total.cells.renumbered(moved.__getitem__, None))
    return PartLedger(ledger.classes, (left_words,))
