"""The compiled tokeniser and vocabulary equal their plain-Python reference, and scikit-learn where it has the same."""

from __future__ import annotations

import math
import pickle
import random
import sys
import unicodedata
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from text_reference import names_from, tokens_of

from naively import _core
from naively.count.vocabulary import Vocabulary
from naively.read.tokens import Tokens

many = settings(max_examples=250)
some = settings(max_examples=60)
few = settings(max_examples=12)

TRICKY = [
    *"aAbtTnN09_-.,;:!?'\"#I i", "\u0130", "\u0131", "\u03a3", "\u03a3", "\u03c3", "\u03c2", "\u0391", "\u0345",
    "\u0301", "\u0307", "\u00ad", "\u2019", "\u00df", "\u1e9e", "\u023a", "\u2126", "\u212a", "\ufb01", "\u01c5",
    "\u00aa", "\u02b0", "\u2160", "\u24b6", "\u0663", "\u00b2", "\u2167", "\u203f", "\ufe4f", "\uff3f", "\u0915\u093f",
    "\u094d", "\u0bcd", "\u0e01\u0e34\u0e48", "\u0e50", "\u0ea5\u0eb2", "\u1780\u17d2", "\u1019\u103c", "\u4e2d",
    "\u6587\u5b57", "\u3042", "\u30ab\u30fc", "\uff76", "\u3005", "\u3007", "\ud55c\uae00", "\u3002", "\uff0c",
    "\uff01", "\uff1f", "\uff1b", "\uff1a", "\U00020000", "\U0001f600", "\U0001f1e9", "\u200d", "\ufe0f", "\U00010400",
    "\U0001d400", "\U0001e900", "\U000e0100", "\U0010ffff", "\ud800", "\udc80", "\udfff", "\ufffd", "\0", "\x1c",
    "\x1d", "\x1e", "\x1f", "\x85", "\xa0", "\u1680", "\u2003", "\u200b", "\u2028", "\u2029", "\u202f", "\u3000",
    "\ufeff", "\t", "\n", "\r\n", "  ", "not ", "No", " isn't", "can\u2019T ", "nor", "never", " without", "the",
    " good film ", "e\u0301", "\x7f", "\x80",
]  # fmt: skip
PLAIN = [c for c in TRICKY if not "\ud800" <= c <= "\udfff"]
STOP = frozenset({"the", "good", "a", "i\u0307", "\u4e2d", "NOT_film"})
texts = st.one_of(st.lists(st.sampled_from(TRICKY), max_size=30).map("".join), st.text(st.characters()))
pure = texts.map(lambda text: "".join(c for c in text if not "\ud800" <= c <= "\udfff"))
ngrams = st.sampled_from([(1, 1), (1, 2), (2, 2), (1, 3), (2, 4), (3, 3), (4, 5)])
threads = st.sampled_from([1, 2, 3])
words = st.sampled_from(["words", "sklearn"])
stops = st.sampled_from([None, STOP])
word_rules = st.builds(Tokens, words, ngrams, st.booleans(), st.booleans(), stop_words=stops)
spelt_rules = st.builds(Tokens, kind=st.sampled_from(["chars", "stream"]), ngrams=ngrams, lowercase=st.booleans())
RULES = [Tokens(kind, (1, 2), negation=True) for kind in ("words", "sklearn")]
RULES += [Tokens("chars", (2, 4)), Tokens("stream", (1, 3))]
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.kind)
peers = st.sampled_from([("sklearn", "word"), ("chars", "char_wb"), ("stream", "char")])
bucketings = st.sampled_from([1, 2, 7, 64, 1 << 20, 2**31 - 1])
names = st.lists(st.one_of(texts, st.text("ab ", max_size=5)), max_size=12)


def by_row(starts: Any, column: Any, count: Any) -> list[dict[int, int]]:
    """What each row holds; every column once."""
    assert starts[0] == 0
    assert starts[-1] == len(column) == len(count)
    rows = []
    for a, b in pairwise(starts.tolist()):
        rows.append(dict(zip(column[a:b].tolist(), count[a:b].tolist(), strict=True)))
        assert len(rows[-1]) == b - a
    return rows


def all_names(vocabulary: Vocabulary) -> list[str]:
    return vocabulary.names_of(np.arange(vocabulary.size))


def read(rule: Tokens, documents: list[Any], workers: int) -> list[Counter[str]]:
    """The tokens of each document by the core."""
    table, rule = Vocabulary().table, replace(rule)  # a rule that the module keeps would keep what the core made of it
    rows = by_row(*_core.read_growing(rule.texts(documents).core, rule.core, workers, table))
    known = all_names(Vocabulary.all_of(table))
    assert len(set(known)) == len(known)
    return [Counter({known[number]: n for number, n in row.items()}) for row in rows]


def expected(rule: Tokens, documents: list[Any]) -> list[Counter[str]]:
    return [Counter(tokens_of(text, rule)) for text in documents]


@many
@given(word_rules, st.lists(st.none() | texts, max_size=4), threads)
def test_words_equal_the_reference(rule: Tokens, documents: list[Any], workers: int) -> None:
    assert read(rule, documents, workers) == expected(rule, documents)


@many
@given(spelt_rules, st.lists(st.none() | pure, max_size=4), threads)
def test_characters_equal_the_reference(rule: Tokens, documents: list[Any], workers: int) -> None:
    assert read(rule, documents, workers) == expected(rule, documents)


@many
@given(peers, ngrams, st.booleans(), st.sampled_from([None, "unicode", "ascii"]), st.lists(pure, max_size=3))
def test_tokens_are_those_of_scikit_learn(kind: Any, reach: Any, lower: bool, accents: Any, documents: Any) -> None:
    analyzer = CountVectorizer(analyzer=kind[1], ngram_range=reach, lowercase=lower, strip_accents=accents)
    wanted = [Counter(analyzer.build_analyzer()(text)) for text in documents]
    assert read(Tokens(kind[0], reach, lowercase=lower, accents=accents), documents, 1) == wanted


@many
@given(word_rules, st.lists(st.binary() | texts.map(lambda t: t.encode("utf-8", "surrogatepass")[1:]), max_size=4))
@example(Tokens(), [b"a\xf0\x9f\x98b", b"a\xc0\xafb", b"a\xed\xa0\x80b", b"a\xf4\x90\x80\x80b", b"a\xe2\x82", b"\x80a"])
def test_bytes_that_are_no_text_part_words(rule: Tokens, documents: list[bytes]) -> None:
    assert read(rule, documents, 1) == expected(rule, [text.decode("utf-8", "replace") for text in documents])


@pytest.mark.parametrize("rule", RULES[:2], ids=lambda rule: rule.kind)
def test_every_negation_holds_up_to_every_punctuation(rule: Tokens) -> None:
    negators = (
        "not no never cannot neither nor nobody none nothing nowhere without noone nott n't isn't isn\u2019t n''t"
    )
    gaps = ". , ; : ! ? \u3002 \uff0c \uff01 \uff1f \uff1b \uff1a - ' \u2026 \u3001 \xb7 \u037e (! x. .x \u4e2d x't"
    pairs = [(form(n), gap) for n in negators.split() for gap in gaps.split() for form in (str, str.upper, str.title)]
    documents = [f"aa {negator} b bb{gap}cc no dd {gap} {negator}" for negator, gap in pairs]
    for lower in (True, False):
        assert read(replace(rule, lowercase=lower), documents, 1) == expected(replace(rule, lowercase=lower), documents)


@pytest.mark.parametrize("kind", ["words", "sklearn"])
def test_every_character_is_of_its_kind_and_has_its_lower_case(kind: str) -> None:
    points = [chr(p) for p in range(sys.maxunicode + 1)]
    known = [c for c in points if unicodedata.category(c) not in ("Cn", "Co")] + ["\uffff", "\ue000", "\U000f0000"]
    documents = [" ".join(f"a{c}b{c} \u03a3{c}\u03a3" for c in known[i : i + 64]) for i in range(0, len(known), 64)]
    assert read(Tokens(kind), documents, 2) == expected(Tokens(kind), documents)


def sized(unit: str, size: int) -> str:
    """A text repeated until it has so many bytes."""
    return unit * (size // max(1, len(unit.encode("utf-8", "surrogatepass"))) + 1)


@st.composite
def long_texts(draw: st.DrawFn) -> str:
    """Texts of some 100 kB: stretches of a few bytes or of tens of thousands, with and without spaces."""
    unit = st.lists(st.sampled_from(PLAIN), min_size=1, max_size=9)
    sizes = st.sampled_from([1, 2, 5, 32_700, 32_768, 40_000, 66_000])
    parts = draw(st.lists(st.tuples(unit.map("".join), sizes), min_size=2, max_size=4))
    return "".join(sized(text, size) for text, size in parts)


@every_rule
@few
@given(document=long_texts(), workers=threads)
def test_long_texts_equal_the_reference(rule: Tokens, document: str, workers: int) -> None:
    assert read(rule, [document, "a b"], workers) == expected(rule, [document, "a b"])


@every_rule
@pytest.mark.parametrize("filler", ["w ", "wx", "\u4e2d\u6587", "a\u0345", ". ", "  ", "not a"])
def test_nothing_is_lost_where_long_texts_are_cut(rule: Tokens, filler: str) -> None:
    rng = random.Random(5)
    documents = []
    for before in range(7):
        start = "x" * (before % 3) + sized(filler, (1 << rng.choice([15, 16])) - 5 * before)
        documents.append(start + "".join(rng.choices(PLAIN, k=8)) + sized(filler, 40) + "A\u03a3")
    assert read(rule, documents, 2) == expected(rule, documents)


@pytest.mark.parametrize("kind", ["words", "sklearn"])
def test_what_reaches_far_in_a_long_text(kind: str) -> None:
    rule = Tokens(kind, (1, 2), negation=True, stop_words=frozenset({"xx"}))
    far = ["not" + " aa" * 40_000 + ". bb", "isn't" + " " * 70_000 + "aa", "isn'" + " " * 70_000 + "t aa"]
    far += ["aa " + "xx " * 40_000 + "bb", "A" + "\u0345" * 40_000 + "\u03a3 b", "A\u03a3" + "'" * 70_000 + "b"]
    far += [
        "no" + "-" * 70_000 + "aa",
        "no" + "-" * 35_000 + "," + "-" * 35_000 + "aa",
        "\U00010400" * 20_000 + "\u03a3",
    ]
    far += ["aa" + "\udc80" * 30_000 + "bb", "A\u03a3" + "\u00ad" * 40_000 + " b"]
    assert read(rule, far, 2) == expected(rule, far)


@every_rule
def test_many_threads_read_what_one_reads(rule: Tokens) -> None:
    rng = random.Random(7)
    documents = ["".join(rng.choices(PLAIN, k=rng.randrange(60))) if rng.random() < 0.9 else None for _ in range(1500)]
    wanted = expected(rule, documents)
    for workers in (1, 2, 3):
        assert read(rule, documents, workers) == wanted


@some
@given(st.data(), word_rules | spelt_rules, st.lists(st.none() | pure, max_size=4), threads)
def test_fixed_reading_takes_what_is_known(draw: Any, rule: Tokens, documents: list[Any], workers: int) -> None:
    wanted = expected(rule, documents)
    seen = sorted(set().union(*wanted, {"a", "b"}))
    chosen = draw.draw(st.lists(st.sampled_from(seen), unique=True, max_size=20))
    vocabulary = Vocabulary.of(chosen, split=not rule.spelt)
    size = draw.draw(st.integers(0, vocabulary.size))
    rng = np.random.default_rng(draw.draw(st.integers(0, 2**32 - 1)))
    place = rng.permutation(vocabulary.size * 2).astype(np.int32)[: vocabulary.size]
    place[rng.random(len(place)) < 0.3] = -1 - draw.draw(st.integers(0, 3))
    for given_place, column in ((None, range(size)), (place, place[:size].tolist())):
        at = {name: c for name, c in zip(all_names(vocabulary), column, strict=False) if c >= 0}
        found = _core.read_fixed(rule.texts(documents).core, rule.core, workers, vocabulary.table, given_place, size)
        assert by_row(*found) == [{at[t]: n for t, n in row.items() if t in at} for row in wanted]


@some
@given(word_rules | spelt_rules, st.lists(pure, min_size=1, max_size=4), bucketings, st.booleans(), threads)
def test_buckets_are_those_of_scikit_learn(rule: Any, documents: Any, buckets: int, signs: bool, workers: int) -> None:
    starts, column, count = _core.read_buckets(rule.texts(documents).core, rule.core, workers, buckets, signs)
    found = sparse.csr_matrix((count.astype(float), column, starts), (len(documents), buckets))
    settled = {"n_features": buckets, "norm": None, "alternate_sign": signs}
    hashing = HashingVectorizer(analyzer=lambda text: tokens_of(text, rule), **settled)
    cells = []
    for matrix in (found, hashing.transform(documents)):
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        rows = np.repeat(np.arange(len(documents)), np.diff(matrix.indptr)).tolist()
        cells.append(list(zip(rows, matrix.indices.tolist(), matrix.data.tolist(), strict=True)))
    assert cells[0] == cells[1]


@some
@given(names, names, names)
def test_vocabularies_grow_and_keep_their_numbers(first: list[str], second: list[str], third: list[str]) -> None:
    base, other, another = map(Vocabulary.of, (first, second, third))
    known, size = all_names(base), base.size
    assert base.names_of(base.locate(first)) == first
    for more in (other, another, other):  # only the first finds the table as it was
        grown, moved = base.grown(more)
        assert grown.names_of(moved) == all_names(more)
        assert all_names(grown)[:size] == known
        assert len(all_names(grown)) == len({*known, *all_names(more)}) == grown.size
        assert grown.locate(all_names(grown)).tolist() == list(range(grown.size))
        assert (base.size, all_names(base)) == (size, known)
        strange = [name for name in {*second, *third} if name not in known]
        assert base.locate(strange).tolist() == [-1] * len(strange)
    copy = base.copied()
    assert copy.table is not base.table
    assert all_names(copy) == known
    assert len(copy.table) == size


@some
@given(names, names)
def test_united_vocabularies_hold_what_both_hold(first: list[str], second: list[str]) -> None:
    base, other = map(Vocabulary.of, (first, second))
    grown, _ = base.grown(other)
    for left, right in ((base, other), (base, grown), (grown, base), (base.copied(), base), (base, Vocabulary())):
        both, moved = left.union(right, "test")
        numbers = np.arange(right.size) if moved is None else moved
        assert both.names_of(numbers) == all_names(right)
        assert both.names_of(np.arange(left.size) if left.size else numbers[:0]) == all_names(left)
        assert set(all_names(both)) == {*all_names(left), *all_names(right)}


@some
@given(names, st.data())
def test_a_subset_holds_these_and_their_parts(listed: list[str], draw: Any) -> None:
    vocabulary = Vocabulary.of(listed)
    numbers = draw.draw(st.lists(st.integers(0, vocabulary.size - 1))) if vocabulary.size else []
    part, moved = vocabulary.subset(np.array(numbers, dtype=np.int64))
    known, wanted = all_names(vocabulary), set()
    for name in vocabulary.names_of(np.array(numbers)):
        words = name.split(" ")
        wanted |= {*words, *(" ".join(words[:n]) for n in range(1, len(words) + 1))}
    assert set(all_names(part)) == wanted
    assert len(moved) == vocabulary.size
    assert [n >= 0 for n in moved.tolist()] == [name in wanted for name in known]
    assert part.names_of(moved[moved >= 0]) == [name for name in known if name in wanted]


@some
@given(st.lists(st.one_of(pure, st.text("\0\1ab \xff\uffff\U00010000", max_size=12)), max_size=20), st.data())
def test_order_is_that_of_names(listed: list[str], draw: Any) -> None:
    vocabulary = Vocabulary.of(listed)
    numbers = np.array(draw.draw(st.permutations(range(vocabulary.size))), dtype=np.int64)
    mine = vocabulary.names_of(numbers)
    assert vocabulary.order_of(numbers).tolist() == sorted(range(len(mine)), key=mine.__getitem__)


@some
@given(names, names, st.booleans())
def test_vocabularies_survive_storage(listed: list[str], more: list[str], split: bool) -> None:
    vocabulary = Vocabulary.of(listed, split=split)
    if split:
        vocabulary.grown(Vocabulary.of(more))  # what others add to the table is not stored
    for again in (pickle.loads(pickle.dumps(vocabulary)), Vocabulary.from_arrays(*vocabulary.to_arrays())):
        assert all_names(again) == all_names(vocabulary)
        assert len(again.table) == again.size == vocabulary.size
        assert again.locate(listed, split=split).tolist() == vocabulary.locate(listed, split=split).tolist()
    data, length, before, last = vocabulary.to_arrays()
    stored = names_from(data, length.tolist(), before.tolist(), last.tolist())
    assert stored == [name.encode("utf-8", "surrogatepass") for name in all_names(vocabulary)]


@pytest.mark.parametrize(
    ("data", "length", "before", "last"),
    [
        (b"ab", [3], [], []), (b"ab", [1, 2], [], []), (b"ab", [2**62, 2**62], [], []), (b"ab", [1], [], []),
        (b"ab", [1, -1, 1], [0], [2]), (b"ab", [1, -1, 1], [1], [0]), (b"ab", [1, 1, -1], [-1], [0]),
        (b"ab", [1, 1, -1], [0], [-5]), (b"ab", [1, 1, -1], [0], [2**32]), (b"ab", [1, 1, -1], [], []),
        (b"ab", [1, 1, -1], [0, 1], [1, 0]), (b"ab", [1, 1, -1], [0, 1], [1]), (b"ab", [1, 1, -1, -1], [0, 0], [1, 1]),
        (b"ab", [1, 1, -1, -1], [0, 0], [1, 2]), (b"aa", [1, 1], [], []), (b"", [0, 0], [], []),
    ],
)  # fmt: skip
def test_damaged_vocabularies_are_refused(data: bytes, length: Any, before: Any, last: Any) -> None:
    assert names_from(data, length, before, last) is None
    with pytest.raises(ValueError, match=r"\w"):
        Vocabulary.from_arrays(data, *(np.array(a, dtype=np.int64) for a in (length, before, last)))


parts = st.lists(st.integers(-1, 4) | st.integers(-(2**63), 2**63 - 1), max_size=3)
lengths = st.lists(st.integers(-1, 2) | st.sampled_from([2**31, 2**63 - 1]), max_size=6)


@many
@given(st.text("ab ", max_size=6).map(str.encode), lengths, parts, parts, st.booleans())
def test_any_arrays_are_a_vocabulary_or_refused(data: bytes, length: Any, before: Any, last: Any, fit: bool) -> None:
    if fit:  # as many bytes and parts as are asked for, so that more of them are whole
        asked = sum(size for size in length if 0 <= size < 9)
        data, sequences = (data + b"abcdefghijkl")[:asked], length.count(-1)
        before, last = ((before + [0] * 9)[:sequences], [*last, 0, 1, 0, 1, 0, 1][:sequences])
    wanted = names_from(data, length, before, last)
    arrays = [np.array(a, dtype=np.int64) for a in (length, before, last)]
    if wanted is None:
        with pytest.raises(ValueError, match=r"\w"):
            Vocabulary.from_arrays(data, *arrays)
    else:
        again = Vocabulary.from_arrays(data, *arrays)
        assert [name.encode() for name in all_names(again)] == wanted
        assert [a.tolist() for a in again.to_arrays()[1:]] == [length, before, last]


@some
@given(st.lists(st.dictionaries(st.integers(0, 30), st.integers(1, 9)), max_size=20), st.integers(0, 999), threads)
def test_reordered_rows_equal_the_reference(rows: list[dict[int, int]], seed: int, workers: int) -> None:
    starts = np.cumsum([0, *map(len, rows)])
    column = np.array([c for row in rows for c in row], dtype=np.int32)
    count = np.array([n for row in rows for n in row.values()], dtype=np.int32)
    rng = np.random.default_rng(seed)
    place = rng.permutation(60).astype(np.int32)[:31]
    place[rng.random(31) < 0.3] = -1
    found = _core.reorder(starts, column, count, place, workers)
    wanted = [sorted((int(place[c]), n) for c, n in row.items() if place[c] >= 0) for row in rows]
    assert [list(row.items()) for row in by_row(*found)] == wanted


@pytest.mark.parametrize(
    ("starts", "column", "places"),
    [([0, 1], [3], 3), ([0, 1], [-1], 3), ([0, 2], [0], 3), ([1, 1], [0], 3), ([0, 2, 1], [0], 3), ([], [], 3)],
)
def test_rows_that_do_not_fit_are_refused(starts: list[int], column: list[int], places: int) -> None:
    columns, place = np.array(column, dtype=np.int32), np.arange(places, dtype=np.int32)
    with pytest.raises(ValueError, match=r"\w"):
        _core.reorder(np.array(starts, dtype=np.int64), columns, columns, place, 1)


def exactly(values: Any) -> list[list[Fraction]]:
    """Counts as the core returns them: whole, of weights in units of 2^-32; or all in units of 2^-64."""
    if values.dtype == np.int64:
        return [[Fraction(v, unit) for v in plane.tolist()] for plane, unit in zip(values, (1, 1, 2**32), strict=True)]
    return [[Fraction(low, 2**64) + high for low, high in plane.tolist()] for plane in values.astype(object)]


@given(
    st.lists(st.dictionaries(st.integers(-1, 9), st.integers(1, 12), max_size=8), max_size=12),
    st.integers(0, 99),
    st.sampled_from([np.int32, np.int64]),
    st.booleans(),
    st.integers(1, 3),
    st.sampled_from([10, 10**6]),
)
def test_counted_rows_equal_the_reference(
    texts: list[dict[int, int]], seed: int, kind: Any, fractions: bool, workers: int, words: int
) -> None:
    rng = np.random.default_rng(seed)
    klass = rng.integers(0, 3, len(texts)).astype(np.int32)
    times = rng.choice([0.0, 1.0, 2.0], len(texts)) + 0.5 * fractions
    sums: dict[tuple[int, int], list[Fraction]] = {}
    for text, k, t in zip(texts, klass.tolist(), times.tolist(), strict=True):
        length = math.sqrt(sum((1 + math.log(n)) ** 2 for n in text.values()))
        for number, n in text.items():
            if number >= 0 and t > 0:
                found = sums.setdefault((number, k), [Fraction(0)] * 3)
                for i, value in enumerate((n, 1, (1 + math.log(n)) / length)):
                    found[i] += Fraction(t) * Fraction(value)
    starts = np.cumsum([0, *map(len, texts)])
    number = np.array([n for text in texts for n in text], kind)
    count = np.array([n for text in texts for n in text.values()], np.int32)
    feature, kls, values = _core.count_rows(starts, number, count, None, words, klass, 3, times, True, workers)
    assert list(zip(feature.tolist(), kls.tolist(), strict=True)) == sorted(sums)
    occurrences, documents, weights = np.array([sums[key] for key in sorted(sums)], object).reshape(-1, 3).T
    found = exactly(values)
    assert found[0] == occurrences.tolist()
    assert found[1] == documents.tolist()
    rounding = Fraction(
        3 * (len(texts) + 1), 2**33
    )  # each word of a text to 2^-32, and the text's weight is 2.5 at most
    assert all(abs(a - b) <= rounding for a, b in zip(found[2], weights.tolist(), strict=True))
    known = np.full(len(number), 0.25)
    _, _, values = _core.count_rows(starts, number, count, known, words, klass, 3, times, True, workers)
    assert exactly(values)[2] == [total / 4 for total in documents.tolist()]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"starts": np.array([0, 3])}, "starts go beyond"),
        ({"starts": np.array([2, 1, 2])}, "starts must not fall"),
        ({"number": np.array([0, 5], np.int32)}, "a number is not of the vocabulary"),
        ({"count": np.array([1, 0], np.int32)}, "once at least"),
        ({"count": np.array([1], np.int32)}, "one count"),
        ({"known": np.array([0.5, np.nan])}, "within 0 and 1"),
        ({"known": np.array([0.5])}, "one count, and one weight"),
        ({"klass": np.array([7], np.int32)}, "label is out of range"),
    ],
)
def test_damaged_rows_are_refused(changed: dict[str, Any], message: str) -> None:
    usual = {
        "starts": np.array([0, 2]), "number": np.array([0, 4], np.int32), "count": np.array([1, 2], np.int32),
        "known": None, "vocabulary": 5, "klass": np.array([0], np.int32), "classes": 1, "weight": None,
        "weights": True, "threads": 1,
    }  # fmt: skip
    _core.count_rows(**usual)
    with pytest.raises(ValueError, match=message):
        _core.count_rows(**{**usual, **changed})
