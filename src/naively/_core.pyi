"""The compiled core: arrays in, arrays out. Arrays must be C-contiguous; `threads` is how many may be used.

A fault is (kind, row, column) of the first entry that cannot be used, or None.
Rows are float64, float32, int64, int32 or uint8; sparse indices and indptr are both int32 or both int64.
Counts are int64 where all are whole. Otherwise they are pairs of uint64 along one more axis: 128 bits in two's
complement, lower half first, in units of 2^-64. A third plane, of weights of words, is in units of 2^-32 where whole.
"""

from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

_F8: TypeAlias = NDArray[np.float64]
_I8: TypeAlias = NDArray[np.int64]
_I4: TypeAlias = NDArray[np.int32]
_U1: TypeAlias = NDArray[np.uint8]
_U4: TypeAlias = NDArray[np.uint32]
_U8: TypeAlias = NDArray[np.uint64]
_I1: TypeAlias = NDArray[np.int8]
_B1: TypeAlias = NDArray[np.bool_]
_Values: TypeAlias = NDArray[Any]
_Counts: TypeAlias = _I8 | _U8
_Cells: TypeAlias = tuple[_I8, _I4, _Counts]
_Fault: TypeAlias = tuple[int, int, int] | None
_Exact: TypeAlias = tuple[_I1, _U1, _U8]
_Counted: TypeAlias = tuple[_I1, _I8, _U8, _I8, _I4, _I8, _U8 | None]
_Scores: TypeAlias = tuple[_F8, bool, _Fault]

def encode(records: NDArray[np.uint8]) -> tuple[_I4, _I8]:
    """Equal records get equal numbers, in order of first appearance: each record's number, each number's first row."""

def whole_codes(values: _Values) -> tuple[_I4, _I8, int, bool]:
    """Each number's place among the distinct (-1: missing); these; the first row not whole, or -1; if near enough."""

@overload
def sum_cells(
    left_feature: _I8, left_klass: _I4, left: _I8, right_feature: _I8, right_klass: _I4, right: _I8, subtract: bool
) -> tuple[_I8, _I4, _I8] | tuple[int, int]:
    """Cells added or subtracted: feature, class, values; or the fault (1 overflow, 2 negative) and where in `right`."""

@overload
def sum_cells(
    left_feature: _I8, left_klass: _I4, left: _U8, right_feature: _I8, right_klass: _I4, right: _U8, subtract: bool
) -> tuple[_I8, _I4, _Counts] | tuple[int, int]:
    """The same for pairs."""

@overload
def totals(klass: _I4, values: _I8, classes: int) -> _Counts:
    """The sum of each plane for each class."""

@overload
def totals(klass: _I4, values: _U8, classes: int) -> _Counts:
    """The sum of each plane for each class."""

def widened(values: _I8) -> _U8:
    """Whole counts, planes by cells, as pairs."""

def narrowed(values: _U8) -> _Counts:
    """Pairs as whole counts, where they all are."""

def fixed_rounded(values: _U8) -> _F8:
    """The double nearest to each pair, in the units of whole counts."""

def fixed_added(left: _U8, right: _U8, subtract: bool) -> _Counts:
    """Sums, or differences, of pairs."""

def rows_per_class(klass: _I4, classes: int, weight: _F8) -> _Counts:
    """The sum of the weights of each class."""

def digamma(values: _F8) -> _F8:
    """The digamma function of numbers above zero."""

@overload
def regrouped(feature: _I8, klass: _I4, values: _I8) -> tuple[_I8, _I4, _I8]:
    """Cells whose features have got other numbers, in order again; those of one feature stay together."""

@overload
def regrouped(feature: _I8, klass: _I4, values: _U8) -> _Cells:
    """Cells whose features have got other numbers, in order again; those of one feature stay together."""

def count_dense(
    rows: _Values,
    klass: _I4,
    classes: int,
    weight: _F8 | None,
    low: float,
    high: float,
    threshold: float | None,
    threads: int,
) -> tuple[_Counts, _Counts | None, _Fault]:
    """Sums of products, each rounded to a double and 2^-64, classes by columns; missing weights, or None; the fault."""

def count_sparse(
    data: _Values,
    indices: _I4 | _I8,
    indptr: _I4 | _I8,
    columns: int,
    klass: _I4,
    classes: int,
    weight: _F8 | None,
    low: float,
    high: float,
    threshold: float | None,
    threads: int,
) -> tuple[_Cells, _Cells | None, _Fault]:
    """Cells of such sums, cells of missing weights where there are any, and the fault."""

def count_codes(
    rows: _Values, klass: _I4, classes: int, weight: _F8 | None, largest: int, threads: int
) -> tuple[_I8, _Counts, _Counts | None, _Fault]:
    """How many codes each column has, codes by classes, missing weights, columns by classes (or None), the fault."""

def count_exactly(rows: _Values, klass: _I4, classes: int, weight: _F8 | None, threads: int) -> tuple[_Exact, _Fault]:
    """n (by weight), then Σx, then Σx², classes by columns each; and the fault (column -1: a weight)."""

def count_columns_exactly(
    columns: list[_Values], klass: _I4, classes: int, weight: _F8 | None, threads: int
) -> tuple[_Exact, _Fault]:
    """The same of columns that are kept apart."""

def count_products_exactly(rows: _F8, klass: _I4, classes: int, weight: _F8 | None, threads: int) -> _Exact:
    """For each class and pair of different columns i and j, over finite values and NaN, as exact numbers, classes by
    columns by columns: the rows (by weight) that have i and miss j; the sum of i over them; and, where i is before j,
    the sum of their products over the rows that have both."""

def exact_well_formed(place: _I1, length: _U1, digits: _U8) -> bool:
    """True if every number is written in the one way that it should be."""

def exact_added(left: _Exact, right: _Exact, subtract: bool) -> _Exact:
    """Sums, or differences, number by number."""

def exact_taken(numbers: _Exact, index: _I8) -> _Exact:
    """Numbers by index; below zero, a zero."""

def exact_totals(numbers: _Exact, outer: int, middle: int, inner: int, threads: int) -> _Exact:
    """Sums over the middle one of three axes."""

def exactly(values: _F8) -> _Exact:
    """Finite doubles as exact numbers."""

def exact_signs(numbers: _Exact) -> _I1:
    """-1, 0 or 1 for each number."""

def exact_rounded(numbers: _Exact) -> _F8:
    """The double nearest to each number; infinite where it is too large."""

def exact_moments(sums: _Exact, threads: int) -> tuple[_F8, _F8, _F8]:
    """n, mean and variance, correctly rounded: 0 where n is not above 0; a variance that would be negative is NaN."""

def exact_covariances(sums: _Exact, threads: int) -> _F8:
    """Of numbers that are all n, then sums of x, of y and of x * y: (n * products - x * y) / n^2, correctly rounded."""

def count_values(
    columns: list[_Values], klass: _I4, classes: int, weight: _F8 | None, level: _I1, threads: int
) -> tuple[_Counted, _Fault]:
    """Counts of the values of columns, each from a level on; and the fault (column -1: a weight)."""

def added_values(
    left: _Counted, right: _Counted, subtract: bool
) -> tuple[_Counted, None] | tuple[None, tuple[int, float | None, int]]:
    """The sum or difference; or column, number (None: missing) and class of which more is taken than there is."""

def coarser_values(values: _Counted, level: _I1) -> _Counted:
    """The same counts with each column at this level, or at its own where that is coarser."""

def sums_of_values(values: _Counted, wanted: _B1, place: _I4, present: int) -> _Exact:
    """n, Σx and Σx² of wanted columns that are exact, classes by columns each; class k has the place `place[k]`."""

def well_formed_values(values: _Counted, classes: int) -> bool:
    """True if all ticks are in order and in use, and all counts above zero."""

def count_whole(
    columns: list[_Values], klass: _I4, classes: int, weight: _F8 | None, threads: int
) -> list[tuple[_Cells, _Counts, int, bool]]:
    """For each column: number, class, weight; what is missing; the first row not whole, or -1; if near enough."""

def count_column(codes: _I4, klass: _I4, classes: int, weight: _F8 | None, size: int) -> _Counts:
    """How often each class has each of `size` codes, codes by classes; in the last row, the missing (lowest) code."""

def description_length_cuts(counts: _F8) -> _I8:
    """Where to cut cells (counts: cells by classes) so that the parts tell the classes; after Fayyad and Irani."""

def score_dense(
    rows: _Values,
    weight: _F8,
    base: _F8,
    classes: int,
    low: float,
    high: float,
    threshold: float | None,
    threads: int,
) -> _Scores:
    """`base + rows @ weight`, whether anything was missing, and the fault; weights are padded to four classes."""

def score_sparse(
    data: _Values,
    indices: _I4 | _I8,
    indptr: _I4 | _I8,
    weight: _F8,
    base: _F8,
    classes: int,
    low: float,
    high: float,
    threshold: float | None,
    threads: int,
) -> _Scores:
    """The same for compressed sparse rows."""

def score_cells(
    data: _Values,
    indices: _I4 | _I8,
    indptr: _I4 | _I8,
    starts: _I8,
    klass_of: _I4,
    delta: _F8,
    feature: _F8,
    klass: _F8,
    base: _F8,
    low: float,
    high: float,
    threshold: float | None,
    threads: int,
) -> _Scores:
    """The same for weights kept only where something was seen: `feature[f] + klass[c] + delta[f, c]`."""

def score_paths(
    data: _Values,
    indices: _I4 | _I8,
    indptr: _I4 | _I8,
    starts: _I8,
    klass_of: _I4,
    row_of: _I8,
    path: _F8,
    base: _F8,
    many: int,
    threads: int,
) -> _F8:
    """`many` by rows by classes: the cells of a row's features, each x times a row of `path`, and x times `base`."""

@overload
def names_twice(indices: _I4, indptr: _I4, columns: int) -> bool:
    """Whether a sparse row names a column more than once."""

@overload
def names_twice(indices: _I8, indptr: _I8, columns: int) -> bool:
    """The same for wide numbers."""

def sum_log_paths(x: _F8, left: _F8, starts: _I8, alpha: _F8, threads: int) -> _F8:
    """Rows by alphas: the sum of x * log(left + alpha) over the entries of each row."""

class KnownTexts:
    """Texts that have codes, numbered as they come. Nothing of it ever changes."""

    @staticmethod
    def of(offsets: _I8, data: _U1, seed: int) -> KnownTexts:
        """Text i lies between offsets i and i + 1 of the data, which is copied."""

class KnownNumbers:
    """Whole numbers that have codes, numbered as they come. Nothing of it ever changes."""

    @staticmethod
    def of(numbers: _I8) -> KnownNumbers:
        """They are copied."""

class Column:
    """A column that is read as codes, a few rows at a time; the lowest int32 stands for a missing one."""

    @staticmethod
    def of_codes(codes: _I4) -> Column:
        """Codes as they are."""

    @overload
    @staticmethod
    def of_texts(offsets: _I4, data: _U1, there: _U1 | None, first: int, known: KnownTexts) -> Column:
        """Texts among those known; one that is not has the code behind the last."""

    @overload
    @staticmethod
    def of_texts(offsets: _I8, data: _U1, there: _U1 | None, first: int, known: KnownTexts) -> Column:
        """The same for long columns."""

    @staticmethod
    def of_bins(values: _Values, starts: _F8) -> Column:
        """How many of the numbers at which bins begin (ascending) are at or below the number."""

    @staticmethod
    def of_numbers(values: _Values, known: KnownNumbers) -> Column:
        """Whole numbers among those known; one that is not, or a fraction, has the code behind the last."""

def hash_numbers(values: _Values, seed: int) -> _U8:
    """A number for each value that depends on the value alone, whatever its type; 0 for a missing one."""

def read_codes(columns: list[Column], rows: int, threads: int) -> tuple[_I4, _Fault]:
    """The codes of all columns, rows by columns."""

def score_columns(
    terms: list[tuple[list[Column], _F8, _F8, _I8, _I8]], rows: int, classes: int, threads: int
) -> _Scores:
    """The sum of what `score_codes` makes of each term; a fault's column is counted over all of them."""

def decide_columns(
    terms: list[tuple[list[Column], _F8, _F8, _I8, _I8]], rows: int, prior: _F8, threads: int
) -> tuple[_I8, _Fault]:
    """For each row, the first class whose sum plus prior is highest; without keeping the sums."""

def score_codes(
    rows: _Values, weight: _F8, unseen: _F8, base: _F8, offsets: _I8, sizes: _I8, classes: int, threads: int
) -> _Scores:
    """Code k of column j adds row `offsets[j] + k` of the weights, or row j of `unseen` from `sizes[j]` on."""

def score_normal(rows: _Values, mean: _F8, half_precision: _F8, constant: _F8, base: _F8, threads: int) -> _Scores:
    """`base + sum(constant - (rows - mean)**2 * half_precision)` for each class."""

@overload
def look_up(feature: _I8, klass: _I4, values: _I8, wanted: _I8, wanted_klass: _I4) -> _I8:
    """What the cells of the wanted pairs hold, 0 where there is none."""

@overload
def look_up(feature: _I8, klass: _I4, values: _U8, wanted: _I8, wanted_klass: _I4) -> _U8:
    """The same for pairs."""

def gather(layers: list[tuple[_I8, _I4, _Values]], wanted: _I8, whole: bool) -> tuple[_I8, _I4, _Values]:
    """The cells of the wanted features (sorted, each once) of all layers added up: place in `wanted`, class, values."""

def changed_kinds(before: _I8, added: _I8, klass: _I4) -> tuple[_I8, _I4, _I8]:
    """How many cells come to be of each kind (`count << 31 | missing`), class by class, when `added` is added."""

def decide(score: _F8, prior: _F8) -> _I8:
    """For each row, the first class whose score plus prior is highest."""

class Texts:
    """Texts as bytes that stay where they are, or as lists of tokens."""

    @staticmethod
    def of_list(texts: object) -> Texts:
        """From str, bytes and None (missing); `odd` is the first row that is none of them."""

    @staticmethod
    def of_tokens(tokens: object) -> Texts:
        """From lists of tokens and None (missing)."""

    @overload
    @staticmethod
    def of_buffers(offsets: _I4, data: _U1, missing: _U1 | None) -> Texts:
        """From bytes, where each text begins and ends, and which are missing."""

    @overload
    @staticmethod
    def of_buffers(offsets: _I8, data: _U1, missing: _U1 | None) -> Texts:
        """The same for large columns."""

    @staticmethod
    def joined(parts: list[Texts]) -> Texts:
        """Several one after another."""

    def part(self, start: int, stop: int) -> Texts:
        """Some rows."""

    def take(self, rows: _I8) -> Texts:
        """Some of them, in any order."""

    def hashes(self) -> _U8:
        """A number for each text that depends on its bytes alone, in every process; 0 for a missing one."""

    def lengths(self) -> _I8:
        """The number of bytes of each text."""

    def buffers(self) -> tuple[_I8, _U1, _U1]:
        """Copies: where each text begins and ends, the bytes, and marks of missing ones (length 0: none is)."""

    def tokens(self) -> list[list[bytes] | None]:
        """The tokens of each text, where texts are lists of tokens."""

    @property
    def given(self) -> bool:
        """Whether texts are lists of tokens."""

    @property
    def odd(self) -> int:
        """The first row that is no text; -1: all are."""

    @property
    def bytes(self) -> int:
        """How many there are in all."""

    @property
    def missing(self) -> _U1:
        """A mark for each row; of length 0 where none is missing."""

    def __len__(self) -> int:
        """How many rows there are."""

class TokenRules:
    """What a token is."""

    @staticmethod
    def of(kind: int, lower: bool, negation: bool, shortest: int, longest: int, stop: object | None) -> TokenRules:
        """kind: 0 words, 1 as scikit-learn, 2 characters within words, 3 characters; stop: words left out."""

class CellSum:
    """A growing sum of cells of whole numbers, to which many more are added without copying it for each of them."""

    def __init__(self, planes: int) -> None:
        """Nothing yet; each cell has so many values."""

    def add(self, feature: _I8, klass: _I4, values: _I8) -> None:
        """Cells of features from 0 to 2**32 - 1, in any order; OverflowError beyond 64 bits."""

    def take(self) -> tuple[_I8, _I4, _I8]:
        """Feature, class and values of all that was added, sorted; the sum is then empty."""

class Vocabulary:
    """Words and sequences of words by number; grows for ever, many may read it at once."""

    def __init__(self, seed: int) -> None:
        """Nothing yet; the seed keys the hash."""

    def __len__(self) -> int:
        """How many things have a number."""

    def names(self, numbers: _I8) -> tuple[bytes, _I8]:
        """The bytes of these names one after another, and where each ends."""

    def order(self, numbers: _I8) -> _I8:
        """The order of these numbers by name."""

    def find(self, names: object, split: bool) -> _I8:
        """The numbers of these names, -1 for unknown ones; a blank parts two words where they are split."""

    def add(self, names: object, split: bool) -> _I8:
        """The numbers of these names, new ones where they are unknown."""

    def absorb(self, known: int, other: Vocabulary, size: int) -> tuple[_I8, int] | None:
        """Numbers here of the other's first things, and the size then; None where this is no longer of size `known`."""

    def absorb_stored(self, known: int, other: StoredVocabulary) -> tuple[_I8, int] | None:
        """The same for all names of a file; ValueError where they make no sense."""

    def subset(self, numbers: _I8) -> tuple[Vocabulary, _I8]:
        """A vocabulary of these alone, and the numbers that things have there (-1: none)."""

    def to_arrays(self, size: int) -> tuple[bytes, _I8, _I8, _I8]:
        """Bytes of words; lengths (-1: a sequence); both parts of each sequence."""

    def stored(self, numbers: _I8) -> tuple[_U8, _U4, _U1, _U8, _U8]:
        """Things in this order, as a file holds them: what each is, lengths, bytes, slots of words and sequences."""

    @staticmethod
    def from_arrays(seed: int, bytes: bytes, length: _I8, before: _I8, last: _I8) -> Vocabulary:
        """From what `to_arrays` made; ValueError where that is damaged."""

class RecordWatch:
    """Scans a delimited file for long records, kinds of line ends, and shapes of values. For one thread at a time."""

    @staticmethod
    def of(delimiter: str, quote: str, longest: int, watched: list[bool], header: bool) -> RecordWatch:
        """For records of at most `longest` bytes. An empty `quote`: none. `watched`: columns that need shapes."""

    def feed(self, bytes: bytes) -> None:
        """The next bytes of the file."""

    def finish(self, unclosed: bool) -> int:
        """Where the first record begins that is too long (or whose quotes are never closed); -1: there is none."""

    def kinds_of_line_ends(self) -> int:
        """How many kinds of line ends there are outside quotes."""

    def shapes(self) -> list[int]:
        """Sums of shapes in each watched column: 1 whole, 2 date, 4 boolean, 8 other, 16 quoted or of 16+ digits."""

class StoredVocabulary:
    """A vocabulary in arrays as `stored` made them; whatever they hold, nothing outside of them is read."""

    @staticmethod
    def of(what: _U8, length: _U4, bytes: _U1, words: _U8, sequences: _U8) -> StoredVocabulary:
        """Nothing is copied; ValueError where the arrays do not fit each other."""

    def names(self, numbers: _I8) -> tuple[bytes, _I8]:
        """The bytes of these names one after another, and where each ends."""

    def read(self, texts: Texts, rules: TokenRules, threads: int, place: _I4 | None, size: int) -> tuple[_I8, _I4, _I4]:
        """Sparse rows of counts, as `read_fixed` makes them."""

@overload
def encode_strings(offsets: _I4, data: _U1, missing: _U1 | None, seed: int) -> tuple[_I4, _I8]:
    """Equal texts get equal numbers, in order of first appearance (-1: missing); and each number's first row."""

@overload
def encode_strings(offsets: _I8, data: _U1, missing: _U1 | None, seed: int) -> tuple[_I4, _I8]:
    """Equal texts get equal numbers, in order of first appearance (-1: missing); and each number's first row."""

def count_texts(
    texts: Texts,
    klass: _I4,
    classes: int,
    weight: _F8 | None,
    rules: TokenRules,
    weights: bool,
    threads: int,
    vocabulary: Vocabulary,
) -> tuple[_I8, _I4, _Values]:
    """Cells of occurrences, documents and, where asked for, weights in units of 2**-32; the vocabulary grows."""

def count_buckets(
    texts: Texts,
    klass: _I4,
    classes: int,
    weight: _F8 | None,
    rules: TokenRules,
    weights: bool,
    threads: int,
    buckets: int,
) -> tuple[tuple[_I8, _I4, _Values], NDArray[np.uint32], list[bytes], NDArray[np.uint32]]:
    """The same by hash; and buckets that have a name, their names, and by how much each leads."""

@overload
def count_rows(
    starts: _I8,
    number: _I4,
    count: _I4,
    known: _F8 | None,
    vocabulary: int,
    klass: _I4,
    classes: int,
    weight: _F8 | None,
    weights: bool,
    threads: int,
) -> tuple[_I8, _I4, _Values]:
    """The same of texts read before; words with a number below zero only make them longer; weights may be known."""

@overload
def count_rows(
    starts: _I8,
    number: _I8,
    count: _I4,
    known: _F8 | None,
    vocabulary: int,
    klass: _I4,
    classes: int,
    weight: _F8 | None,
    weights: bool,
    threads: int,
) -> tuple[_I8, _I4, _Values]:
    """The same of texts read before; words with a number below zero only make them longer; weights may be known."""

def read_growing(texts: Texts, rules: TokenRules, threads: int, vocabulary: Vocabulary) -> tuple[_I8, _I4, _I4]:
    """Sparse rows of counts: where each row begins, columns, counts; what is new gets the next number."""

def read_fixed(
    texts: Texts, rules: TokenRules, threads: int, vocabulary: Vocabulary, place: _I4 | None, size: int
) -> tuple[_I8, _I4, _I4]:
    """The same, of the first `size` things alone, in the columns that `place` says (below zero: none)."""

def read_buckets(texts: Texts, rules: TokenRules, threads: int, buckets: int, with_signs: bool) -> tuple[_I8, _I4, _I4]:
    """The same by hash; with signs, a token may count below zero."""

def reorder(starts: _I8, column: _I4, count: _I4, place: _I4, threads: int) -> tuple[_I8, _I4, _I4]:
    """Rows with other columns (below zero: left out), each in order."""
