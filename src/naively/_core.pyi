"""The compiled core: functions of arrays, which must be C-contiguous; `threads` is the most threads to use.

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
    """Number equal records alike, in order of first appearance; return these and each number's first row."""

def whole_codes(values: _Values) -> tuple[_I4, _I8, int, bool]:
    """Return places among distinct numbers (-1: missing); these; first row not whole, or -1; if near enough."""

@overload
def sum_cells(
    left_feature: _I8, left_klass: _I4, left: _I8, right_feature: _I8, right_klass: _I4, right: _I8, subtract: bool
) -> tuple[_I8, _I4, _I8] | tuple[int, int]:
    """Add or subtract cells: feature, class, values; or the fault (1 overflow, 2 negative) and its place in `right`."""

@overload
def sum_cells(
    left_feature: _I8, left_klass: _I4, left: _U8, right_feature: _I8, right_klass: _I4, right: _U8, subtract: bool
) -> tuple[_I8, _I4, _Counts] | tuple[int, int]:
    """Add or subtract cells of pairs."""

@overload
def totals(klass: _I4, values: _I8, classes: int) -> _Counts:
    """The sum of each plane for each class."""

@overload
def totals(klass: _I4, values: _U8, classes: int) -> _Counts:
    """The sum of each plane for each class."""

def widened(values: _I8) -> _U8:
    """Convert whole counts, planes by cells, to pairs."""

def narrowed(values: _U8) -> _Counts:
    """Convert pairs to whole counts, if all are whole."""

def fixed_rounded(values: _U8) -> _F8:
    """Return the double nearest to each pair, in the units of whole counts."""

def fixed_added(left: _U8, right: _U8, subtract: bool) -> _Counts:
    """Add or subtract pairs."""

def rows_per_class(klass: _I4, classes: int, weight: _F8) -> _Counts:
    """The sum of the weights of each class."""

def digamma(values: _F8) -> _F8:
    """The digamma function of numbers above zero."""

@overload
def regrouped(feature: _I8, klass: _I4, values: _I8) -> tuple[_I8, _I4, _I8]:
    """Sort cells whose features have new numbers; cells of one feature are together already."""

@overload
def regrouped(feature: _I8, klass: _I4, values: _U8) -> _Cells:
    """Sort cells whose features have new numbers; cells of one feature are together already."""

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
    """Return sums of products, each rounded to a double and 2^-64; weights of missing values, or None; the fault."""

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
    """Return cells of such sums, cells of the weights of missing values (or None), and the fault."""

def count_codes(
    rows: _Values, klass: _I4, classes: int, weight: _F8 | None, largest: int, threads: int
) -> tuple[_I8, _Counts, _Counts | None, _Fault]:
    """Return codes per column; sums, codes by classes; missing, columns by classes, or None; the fault."""

def count_exactly(rows: _Values, klass: _I4, classes: int, weight: _F8 | None, threads: int) -> tuple[_Exact, _Fault]:
    """Return n (by weight), Σx and Σx², classes by columns each; and the fault (column -1: a weight)."""

def count_columns_exactly(
    columns: list[_Values], klass: _I4, classes: int, weight: _F8 | None, threads: int
) -> tuple[_Exact, _Fault]:
    """Do as `count_exactly` for separate columns."""

def count_products_exactly(rows: _F8, klass: _I4, classes: int, weight: _F8 | None, threads: int) -> _Exact:
    """Return the weight of rows with i and not j, Σxᵢ over them, Σxᵢxⱼ over rows with both: classes by i by j."""

def exact_well_formed(place: _I1, length: _U1, digits: _U8) -> bool:
    """True if every number has its only valid representation."""

def exact_added(left: _Exact, right: _Exact, subtract: bool) -> _Exact:
    """Add or subtract number by number."""

def exact_taken(numbers: _Exact, index: _I8) -> _Exact:
    """Return numbers by index; an index below zero gives a zero."""

def exact_totals(numbers: _Exact, outer: int, middle: int, inner: int, threads: int) -> _Exact:
    """Sum over the middle one of three axes."""

def exactly(values: _F8) -> _Exact:
    """Convert finite doubles to exact numbers."""

def exact_signs(numbers: _Exact) -> _I1:
    """Return -1, 0 or 1 for each number."""

def exact_rounded(numbers: _Exact) -> _F8:
    """Return the double nearest to each number; infinite if it is too large."""

def exact_moments(sums: _Exact, threads: int) -> tuple[_F8, _F8, _F8]:
    """n, mean and variance, correctly rounded: 0 where n is not above 0; a variance that would be negative is NaN."""

def exact_covariances(sums: _Exact, classes: int, width: int, threads: int) -> tuple[_F8, _F8]:
    """Return for each class and pair of columns the rows that have both, and their covariance, correctly rounded."""

def count_values(
    columns: list[_Values], klass: _I4, classes: int, weight: _F8 | None, level: _I1, threads: int
) -> tuple[_Counted, _Fault]:
    """Count the values of columns, each from a level on; return the counts and the fault (column -1: a weight)."""

def added_values(
    left: _Counted, right: _Counted, subtract: bool
) -> tuple[_Counted, None] | tuple[None, tuple[int, float | None, int]]:
    """Add or subtract; or return column, number (None: missing) and class of a count that would be below zero."""

def coarser_values(values: _Counted, level: _I1) -> _Counted:
    """Return the counts with each column at this level, or at its own if that is coarser."""

def sums_of_values(values: _Counted, wanted: _B1, place: _I4, present: int) -> _Exact:
    """Return n, Σx and Σx² of wanted columns that are exact, classes by columns each; class k has place `place[k]`."""

def well_formed_values(values: _Counted, classes: int) -> bool:
    """True if all ticks are in order and in use, and all counts above zero."""

def count_whole(
    columns: list[_Values], klass: _I4, classes: int, weight: _F8 | None, threads: int
) -> list[tuple[_Cells, _Counts, int, bool]]:
    """Return for each column number, class, weight; missing weights; the first row not whole, or -1; if near enough."""

def count_column(codes: _I4, klass: _I4, classes: int, weight: _F8 | None, size: int) -> _Counts:
    """Count each of `size` codes by class, codes by classes; the last row counts the missing (lowest) code."""

def description_length_cuts(counts: _F8) -> _I8:
    """Find cuts between cells (counts: cells by classes) that separate the classes; after Fayyad and Irani."""

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
    """Return `base + rows @ weight`, True if anything was missing, the fault; weights are padded to four classes."""

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
    """Score compressed sparse rows."""

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
    """Score by weights stored only where something was seen: `feature[f] + klass[c] + delta[f, c]`."""

def score_paths(
    data: _Values,
    indices: _I4 | _I8,
    indptr: _I4 | _I8,
    starts: _I8,
    klass_of: _I4,
    row_of: _I8,
    path: _F8,
    base: _F8,
    path_length: int,
    threads: int,
) -> _F8:
    """Return `path_length` by rows by classes: the sum over a row of x times `base` and x times its cells' path."""

@overload
def names_twice(indices: _I4, indptr: _I4, columns: int) -> bool:
    """True if a sparse row has a column more than once."""

@overload
def names_twice(indices: _I8, indptr: _I8, columns: int) -> bool:
    """True if a sparse row has a column more than once."""

def sum_log_paths(x: _F8, left: _F8, starts: _I8, alpha: _F8, threads: int) -> _F8:
    """Return rows by alphas: the sum of x * log(left + alpha) over the entries of each row."""

class KnownTexts:
    """A table from text to code that never changes; codes are in the order of the texts."""

    @staticmethod
    def of(offsets: _I8, data: _U1, seed: int) -> KnownTexts:
        """Copy the texts; text i lies between offsets i and i + 1 of the data."""

class KnownNumbers:
    """A table from whole number to code that never changes; codes are in the order of the numbers."""

    @staticmethod
    def of(numbers: _I8) -> KnownNumbers:
        """Copy the numbers."""

class Column:
    """A column that is read as codes, a few rows at a time; the lowest int32 stands for a missing one."""

    @staticmethod
    def of_codes(codes: _I4) -> Column:
        """Read codes."""

    @overload
    @staticmethod
    def of_texts(offsets: _I4, data: _U1, there: _U1 | None, first: int, known: KnownTexts) -> Column:
        """Read texts by their known codes; an unknown text has the code behind the last."""

    @overload
    @staticmethod
    def of_texts(offsets: _I8, data: _U1, there: _U1 | None, first: int, known: KnownTexts) -> Column:
        """Read texts of a long column."""

    @staticmethod
    def of_bins(values: _Values, starts: _F8) -> Column:
        """Read numbers by bins: the code is the number of bin starts (ascending) at or below the number."""

    @staticmethod
    def of_numbers(values: _Values, known: KnownNumbers) -> Column:
        """Read whole numbers by their known codes; an unknown number or a fraction has the code behind the last."""

def hash_numbers(values: _Values, seed: int) -> _U8:
    """Return a hash for each value that depends on the value alone, whatever its type; 0 for a missing one."""

def read_codes(columns: list[Column], rows: int, threads: int) -> tuple[_I4, _Fault]:
    """Return the codes of all columns, rows by columns."""

def score_columns(
    terms: list[tuple[list[Column], _F8, _F8, _I8, _I8]], rows: int, classes: int, threads: int
) -> _Scores:
    """Return the sum of `score_codes` over all terms; a fault's column is counted over all of them."""

def decide_columns(
    terms: list[tuple[list[Column], _F8, _F8, _I8, _I8]], rows: int, prior: _F8, threads: int
) -> tuple[_I8, _Fault]:
    """Return for each row the first class whose sum plus prior is highest, without keeping the sums."""

def score_codes(
    rows: _Values, weight: _F8, unseen: _F8, base: _F8, offsets: _I8, sizes: _I8, classes: int, threads: int
) -> _Scores:
    """Code k of column j adds row `offsets[j] + k` of the weights, or row j of `unseen` from `sizes[j]` on."""

def score_normal(rows: _Values, mean: _F8, half_precision: _F8, constant: _F8, base: _F8, threads: int) -> _Scores:
    """Return `base + sum(constant - (rows - mean)**2 * half_precision)` for each class."""

@overload
def look_up(feature: _I8, klass: _I4, values: _I8, wanted: _I8, wanted_klass: _I4) -> _I8:
    """Return the values of the wanted pairs; 0 for a pair without a cell."""

@overload
def look_up(feature: _I8, klass: _I4, values: _U8, wanted: _I8, wanted_klass: _I4) -> _U8:
    """Return the values of the wanted pairs; 0 for a pair without a cell."""

def gather(layers: list[tuple[_I8, _I4, _Values]], wanted: _I8, whole: bool) -> tuple[_I8, _I4, _Values]:
    """Add up the cells of wanted features (sorted, each once) in all layers: place in `wanted`, class, values."""

def histogram_change(before: _I8, added: _I8, klass: _I4) -> tuple[_I8, _I4, _I8]:
    """Return by how many the cells of each kind (`count << 31 | missing`) change when `added` is added, by class."""

def decide(score: _F8, prior: _F8) -> _I8:
    """Return for each row the first class whose score plus prior is highest."""

class Texts:
    """Texts as bytes, which are not copied, or as lists of tokens."""

    @staticmethod
    def of_list(texts: object) -> Texts:
        """Read str, bytes and None (missing); `odd` is the first row that is none of them."""

    @staticmethod
    def of_tokens(tokens: object) -> Texts:
        """Read lists of tokens and None (missing)."""

    @overload
    @staticmethod
    def of_buffers(offsets: _I4, data: _U1, missing: _U1 | None) -> Texts:
        """Read bytes, the ends of each text, and marks of missing ones."""

    @overload
    @staticmethod
    def of_buffers(offsets: _I8, data: _U1, missing: _U1 | None) -> Texts:
        """Read bytes of a large column."""

    @staticmethod
    def joined(parts: list[Texts]) -> Texts:
        """Join several, one after another."""

    def part(self, start: int, stop: int) -> Texts:
        """Return some rows."""

    def take(self, rows: _I8) -> Texts:
        """Return some rows, in any order."""

    def hashes(self) -> _U8:
        """Return a hash for each text that depends on its bytes alone, in every process; 0 for a missing one."""

    def lengths(self) -> _I8:
        """Return the number of bytes of each text."""

    def buffers(self) -> tuple[_I8, _U1, _U1]:
        """Return copies of the ends of each text, the bytes, and marks of missing ones (length 0: none is)."""

    def tokens(self) -> list[list[bytes] | None]:
        """Return the tokens of each text, if texts are lists of tokens."""

    @property
    def given(self) -> bool:
        """True if texts are lists of tokens."""

    @property
    def odd(self) -> int:
        """The first row that is not a text; -1: all are."""

    @property
    def bytes(self) -> int:
        """Number of bytes of all texts."""

    @property
    def missing(self) -> _U1:
        """A mark for each missing row; of length 0 if none is missing."""

    def __len__(self) -> int:
        """Return the number of rows."""

class TokenRules:
    """The rules that split a text into tokens."""

    @staticmethod
    def of(kind: int, lower: bool, negation: bool, shortest: int, longest: int, stop: object | None) -> TokenRules:
        """kind: 0 words, 1 as scikit-learn, 2 characters within words, 3 characters; stop: words to leave out."""

class CellSum:
    """A growing sum of cells of whole numbers, which is not copied for each addition."""

    def __init__(self, planes: int) -> None:
        """Start with no cells; each will have this many values."""

    def add(self, feature: _I8, klass: _I4, values: _I8) -> None:
        """Add cells of features from 0 to 2**32 - 1, in any order; OverflowError beyond 64 bits."""

    def take(self) -> tuple[_I8, _I4, _I8]:
        """Return feature, class and values of the sum, sorted; the sum is then empty."""

class Vocabulary:
    """Words and sequences of words by number; it only grows, and several threads may read it at once."""

    def __init__(self, seed: int) -> None:
        """Start with no names; the seed is the key of the hash."""

    def __len__(self) -> int:
        """Return the number of names."""

    def names(self, numbers: _I8) -> tuple[bytes, _I8]:
        """Return the bytes of these names one after another, and where each ends."""

    def order(self, numbers: _I8) -> _I8:
        """Return the order of these numbers by name."""

    def find(self, names: object, split: bool) -> _I8:
        """Return the numbers of names, -1 for unknown ones; with `split`, a blank separates two words."""

    def add(self, names: object, split: bool) -> _I8:
        """Return the numbers of names; unknown ones get new numbers."""

    def absorb(self, known: int, other: Vocabulary, size: int) -> tuple[_I8, int] | None:
        """Add the other's first names; return their numbers and the new size; None if the size is not `known`."""

    def absorb_stored(self, known: int, other: StoredVocabulary) -> tuple[_I8, int] | None:
        """Do the same for all names of a file; ValueError if they contradict each other."""

    def subset(self, numbers: _I8) -> tuple[Vocabulary, _I8]:
        """Return a vocabulary of these names alone, and the number of each name in it (-1: none)."""

    def to_arrays(self, size: int) -> tuple[bytes, _I8, _I8, _I8]:
        """Return the bytes of words; lengths (-1: a sequence); both parts of each sequence."""

    def stored(self, numbers: _I8) -> tuple[_U8, _U4, _U1, _U8, _U8]:
        """Return names in this order, as in a file: starts or parts, lengths, bytes, slots of words and sequences."""

    @staticmethod
    def from_arrays(seed: int, bytes: bytes, length: _I8, before: _I8, last: _I8) -> Vocabulary:
        """Make a vocabulary from the arrays of `to_arrays`; ValueError if they are damaged."""

class RecordWatch:
    """Scans a delimited file for long records, kinds of line ends, and shapes of values. For one thread at a time."""

    @staticmethod
    def of(delimiter: str, quote: str, longest: int, watched: list[bool], header: bool) -> RecordWatch:
        """Watch for records above `longest` bytes. An empty `quote`: none. `watched`: columns that need shapes."""

    def feed(self, bytes: bytes) -> None:
        """Read the next bytes of the file."""

    def finish(self, unclosed: bool) -> int:
        """Return the start of the first record that is too long (or whose quotes are never closed); -1: none is."""

    def kinds_of_line_ends(self) -> int:
        """Return the number of kinds of line ends outside quotes."""

    def shapes(self) -> list[int]:
        """Sums of shapes in each watched column: 1 whole, 2 date, 4 boolean, 8 other, 16 quoted or of 16+ digits."""

class StoredVocabulary:
    """A vocabulary in the arrays of `stored`; whatever they hold, nothing outside of them is read."""

    @staticmethod
    def of(what: _U8, length: _U4, bytes: _U1, words: _U8, sequences: _U8) -> StoredVocabulary:
        """Use the arrays without copying; ValueError if they contradict each other."""

    def names(self, numbers: _I8) -> tuple[bytes, _I8]:
        """Return the bytes of these names one after another, and where each ends."""

    def read(self, texts: Texts, rules: TokenRules, threads: int, place: _I4 | None, size: int) -> tuple[_I8, _I4, _I4]:
        """Return sparse rows of counts, as `read_fixed` does."""

@overload
def encode_strings(offsets: _I4, data: _U1, missing: _U1 | None, seed: int) -> tuple[_I4, _I8]:
    """Number equal texts alike, in order of first appearance (-1: missing); return also each number's first row."""

@overload
def encode_strings(offsets: _I8, data: _U1, missing: _U1 | None, seed: int) -> tuple[_I4, _I8]:
    """Number equal texts alike, in order of first appearance (-1: missing); return also each number's first row."""

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
    """Return cells of occurrences, documents and, if wanted, weights in units of 2**-32; the vocabulary grows."""

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
    """Count by hash; return also the buckets that have a name, their names, and the lead of each."""

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
    """Count texts read before; words with a number below zero only make them longer; weights may be known."""

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
    """Count texts read before; words with a number below zero only make them longer; weights may be known."""

def read_growing(texts: Texts, rules: TokenRules, threads: int, vocabulary: Vocabulary) -> tuple[_I8, _I4, _I4]:
    """Return sparse rows of counts: starts of rows, columns, counts; a new token gets the next number."""

def read_fixed(
    texts: Texts, rules: TokenRules, threads: int, vocabulary: Vocabulary, place: _I4 | None, size: int
) -> tuple[_I8, _I4, _I4]:
    """Read only the first `size` names, in the columns that `place` gives (below zero: none)."""

def read_buckets(texts: Texts, rules: TokenRules, threads: int, buckets: int, with_signs: bool) -> tuple[_I8, _I4, _I4]:
    """Read by hash; with signs, a token may count below zero."""

def reorder(starts: _I8, column: _I4, count: _I4, place: _I4, threads: int) -> tuple[_I8, _I4, _I4]:
    """Renumber the columns of rows (below zero: left out), and sort each row."""
