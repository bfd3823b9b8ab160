"""Threads that are done take over what others have left; what they find together is what one thread finds."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from naively import _core
from naively.count.vocabulary import Vocabulary
from naively.read.tokens import Tokens

RULES = [Tokens("words", (1, 2)), Tokens("sklearn", (1, 3), negation=True), Tokens("chars", (3, 3))]
every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.kind} {rule.ngrams}")
every_number = pytest.mark.parametrize("threads", [2, 3])


@pytest.fixture(scope="module")
def texts() -> list[str | None]:
    """The first half is read in no time, so that its threads take over from the others."""
    rng = random.Random(3)
    words = ["".join(rng.choices("abcdefghij", k=rng.randrange(1, 8))) for _ in range(3000)]
    slow = [" ".join(rng.choices(words, k=rng.randrange(900))) for _ in range(2600)]
    return [" " * 4096, "\n" * 4096] * 700 + [None, "", *slow]


def listed(vocabulary: Any) -> list[Any]:
    return [array.tolist() for array in Vocabulary.all_of(vocabulary).to_arrays()[1:]]


def assert_same(found: Any, wanted: Any) -> None:
    for mine, theirs in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@every_rule
@every_number
def test_words_are_numbered_and_rows_are_read_as_by_one_thread(rule: Tokens, threads: int, texts: Any) -> None:
    documents, tables = rule.texts(texts).core, (Vocabulary().table, Vocabulary().table)
    one, more = (_core.read_growing(documents, rule.core, n, t) for n, t in zip((1, threads), tables, strict=True))
    assert_same(more, one)
    assert listed(tables[1]) == listed(tables[0])
    size = Vocabulary.all_of(tables[0]).size // 2
    assert_same(*(_core.read_fixed(documents, rule.core, n, tables[0], None, size) for n in (1, threads)))
    assert_same(*(_core.read_buckets(documents, rule.core, n, 1 << 10, True) for n in (1, threads)))


@every_rule
@every_number
def test_texts_are_counted_as_by_one_thread(rule: Tokens, threads: int, texts: Any) -> None:
    rng = np.random.default_rng(5)
    klass = np.sort(rng.integers(0, 3, len(texts))).astype(np.int32)
    times = rng.integers(0, 3, len(texts)).astype(float)
    found, tables = [], []
    for n in (1, threads):
        tables.append(Vocabulary().table)
        found.append(_core.count_texts(rule.texts(texts).core, klass, 3, times, rule.core, True, n, tables[-1]))
    assert_same(*found)
    assert listed(tables[1]) == listed(tables[0])


@every_number
def test_rows_are_counted_as_by_one_thread(threads: int, texts: Any) -> None:
    rule, klass = RULES[0], (np.arange(len(texts)) % 4).astype(np.int32)
    table = Vocabulary().table
    starts, number, count = _core.read_growing(rule.texts(texts).core, rule.core, 1, table)
    times, size = 4, Vocabulary.all_of(table).size
    starts = np.concatenate([starts[:1], *(starts[1:] + n * starts[-1] for n in range(times))])
    rows = starts, np.tile(number, times), np.tile(count, times)
    klass = np.tile(klass, times)
    one, more = (_core.count_rows(*rows, None, size, klass, 4, None, True, n) for n in (1, threads))
    assert_same(more, one)


@every_number
def test_fractions_come_to_the_bits_of_one_thread(threads: int, texts: Any) -> None:
    rule, rng = RULES[0], np.random.default_rng(8)
    klass, times = np.zeros(len(texts), np.int32), rng.random(len(texts))
    one, more = (
        _core.count_texts(rule.texts(texts).core, klass, 1, times, rule.core, True, n, Vocabulary().table)
        for n in (1, threads)
    )
    assert_same(more, one)


@pytest.mark.parametrize("threads", [-1, 0, 4, 10**6])
def test_any_number_of_threads_will_do(threads: int) -> None:
    rule, few = RULES[0], ["a b", "", None, "b c " * 40_000]
    klass, wanted = np.array([0, 1, 0, 1], np.int32), None
    for n in (1, threads):
        table = Vocabulary().table
        found = _core.count_texts(rule.texts(few).core, klass, 2, None, rule.core, True, n, table)
        wanted = wanted or (found, listed(table))
        assert_same(found, wanted[0])
        assert listed(table) == wanted[1]
