"""Vocabularies: words, and sequences of words, by number; and buckets, where words are hashed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array, IntArray, Value
from naively.errors import InputError
from naively.names import Index
from naively.store.codec import Reader, Writer
from naively.store.damage import are, need
from naively.store.registry import form, stored

_MOST_ROWS = 1 << 62
_SMALL_SHARE = 4


def _secret_key() -> int:
    """A random key for hashing, so that nobody can choose words that collide."""
    return int.from_bytes(os.urandom(8), "little")


def _new_table() -> Any:
    return _core.Vocabulary(_secret_key())


@dataclass(frozen=True, eq=False, repr=False)
class Vocabulary(Value):
    """The first `size` names of a table that only grows and in which the number of a name never changes.

    >>> vocabulary = Vocabulary.of(["good", "film", "good film"])
    >>> vocabulary.locate(["film", "good film", "bad"]).tolist()
    [1, 2, -1]
    >>> vocabulary.name(2)
    'good film'
    """

    table: Any = field(default_factory=_new_table)
    size: int = 0

    @classmethod
    def of(cls, names: Iterable[str], *, split: bool = True) -> Vocabulary:
        """Return the vocabulary of these names; with `split`, a name with blanks is a sequence of words."""
        table = _new_table()
        table.add(list(names), split)
        return cls(table, len(table))

    @classmethod
    def all_of(cls, table: Any) -> Vocabulary:
        return cls(table, len(table))

    def grown(self, other: Vocabulary) -> tuple[Vocabulary, IntArray]:
        """Return the vocabulary extended by the names of another, and the numbers of these names in it.

        The cost is that of the other, unless the table has already grown for a third vocabulary.
        """
        absorbed = other._put_into(self.table, self.size)
        if absorbed is None:
            return self.copied().grown(other)
        moved, size = absorbed
        return Vocabulary(self.table, size), moved

    def copied(self) -> Vocabulary:
        """Return the same names in a table of its own."""
        table = _new_table()
        _, size = self._put_into(table, 0)
        return Vocabulary(table, size)

    @property
    def source(self) -> Any:
        """The table or arrays that hold the names; vocabularies of one source agree on their numbers."""
        return self.table

    def _put_into(self, table: Any, known: int) -> Any:
        """Add these names to another table of size `known`; return their numbers there and its size (None: it grew)."""
        return table.absorb(known, self.table, self.size)

    def union(self, other: Vocabulary, what: str) -> tuple[Vocabulary, IntArray | None]:
        """Return the union, and the numbers of the other's names in it (None: unchanged)."""
        if not isinstance(other, Vocabulary):
            raise InputError(f"{what}: words on one side and {type(other).__name__} on the other; count the same way")
        if other.source is self.source:
            return (self if self.size >= other.size else other), None
        if other.size == 0:
            return self, None
        if self.size == 0:
            return other, None
        small = other.size * _SMALL_SHARE <= self.size  # few names, which may stay in the table
        return (self if small else self.copied()).grown(other)

    def subset(self, numbers: IntArray) -> tuple[Vocabulary, IntArray]:
        """Return a vocabulary of these alone, and the new number of each name of this one (-1: none)."""
        table, moved = self.table.subset(numbers)
        return Vocabulary.all_of(table), moved[: self.size]

    def locate(self, names: Iterable[str], *, split: bool = True) -> IntArray:
        """The numbers of these names; -1 for unknown ones."""
        found: IntArray = self.table.find(list(names), split)
        return np.where(found < self.size, found, -1)

    def read(self, texts: Any, rules: Any, n_threads: int, place: Any = None) -> tuple[IntArray, Any, Any]:
        """Return texts as sparse rows of known names: starts, numbers (mapped by `place`, if given), counts."""
        return _core.read_fixed(texts, rules, n_threads, self.table, place, self.size)

    def names_of(self, numbers: IntArray) -> list[str]:
        """Return the names of these numbers."""
        return spelt(*self.table.names(np.ascontiguousarray(numbers, dtype=np.int64)))

    def order_of(self, numbers: IntArray) -> IntArray:
        """Return the order of these numbers by name."""
        return self.table.order(np.ascontiguousarray(numbers, dtype=np.int64))

    def name(self, number: int) -> str:
        return self.names_of(np.array([number]))[0]

    def __getstate__(self) -> dict[str, Any]:
        return {"arrays": self.to_arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        other = Vocabulary.from_arrays(*state["arrays"])
        self.__dict__.update(table=other.table, size=other.size)

    def to_arrays(self) -> tuple[bytes, IntArray, IntArray, IntArray]:
        """Bytes of words, lengths (-1: a sequence), and both parts of each sequence."""
        return self.table.to_arrays(self.size)

    @classmethod
    def from_arrays(cls, data: bytes, length: IntArray, before: IntArray, last: IntArray) -> Vocabulary:
        return cls.all_of(_core.Vocabulary.from_arrays(_secret_key(), data, length, before, last))

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"Vocabulary({self.size:_} words and sequences)"


def spelt(data: bytes, ends: IntArray) -> list[str]:
    """Split bytes at these ends into names."""
    return [_text(data[a:b]) for a, b in pairwise([0, *ends.tolist()])]


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


Votes = dict[int, tuple[str, int]]
"""For each bucket a name, and its lead over all other names."""


@dataclass(frozen=True, eq=False, repr=False)
class Buckets(Value):
    """Buckets that words are hashed to. A bucket is named after the word that makes up most of it, if there is one."""

    size: int
    parts: tuple[Votes, ...] = ()

    @classmethod
    def of(cls, size: int, buckets: Sequence[int], names: Sequence[bytes], leads: Sequence[int]) -> Buckets:
        each = ({b: (_text(name), lead)} for b, name, lead in zip(buckets, names, leads, strict=True))
        return cls(size, (counted_together(each),))

    @cached_property
    def votes(self) -> Votes:
        return self.parts[0] if len(self.parts) == 1 else counted_together(self.parts)

    def union(self, other: Buckets, what: str) -> tuple[Buckets, None]:
        """Return the union; votes are counted at the first look-up of a name, or beyond a number of parts."""
        if not isinstance(other, Buckets) or other.size != self.size:
            raise InputError(f"{what}: hashed to {self.size} buckets on one side and not on the other; count alike")
        if other is self or not other.parts:
            return self, None
        both = Buckets(self.size, self.parts + other.parts)
        return (both if len(both.parts) <= _APART else Buckets(self.size, (both.votes,))), None

    def name(self, number: int) -> str:
        name, lead = self.votes.get(number, ("", 0))
        return name if lead else f"bucket {number}"

    def names_of(self, numbers: IntArray) -> list[str]:
        return [self.name(n) for n in numbers.tolist()]

    def order_of(self, numbers: IntArray) -> IntArray:
        return np.argsort(numbers, kind="stable")

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"Buckets({self.size:_}, {len(self.votes):_} of them named)"


_APART = 64


def counted_together(parts: Iterable[Votes]) -> Votes:
    """Merge votes for the names of buckets: equal names add their leads, of different names the stronger one wins.

    >>> counted_together([{7: ("a", 3)}, {7: ("b", 1)}, {7: ("a", 2), 8: ("c", 1)}])
    {7: ('a', 4), 8: ('c', 1)}
    """
    total: Votes = {}
    for part in parts:
        for bucket, (name, lead) in part.items():
            before, led = total.get(bucket, (name, 0))
            if before == name:
                total[bucket] = name, led + lead
            else:
                total[bucket] = (before, led - lead) if led >= lead else (name, lead - led)
    return total


WordFeatures = Vocabulary | Buckets


def _check_subset(subset: WordSubset) -> None:
    need(are(subset.numbers, "i8", subset.size) and subset.words is not None, "the numbers of words")


def _verify_subset(subset: WordSubset) -> None:
    numbers, words = subset.numbers, subset.words
    assert numbers is not None
    assert words is not None
    need(not len(numbers) or (numbers.min() >= 0 and numbers.max() < words.size), "the numbers of words")


@stored(check=_check_subset, verify=_verify_subset)
@dataclass(frozen=True, eq=False, repr=False)
class WordSubset(Index):
    """Some words, numbered anew; names are looked up at first use."""

    words: WordFeatures | None = None
    numbers: IntArray | None = None

    @classmethod
    def among(cls, words: WordFeatures, numbers: IntArray) -> WordSubset:
        return cls(len(numbers), None, words, numbers)

    def name(self, number: int) -> str:
        assert self.words is not None
        assert self.numbers is not None
        return self.words.name(int(self.numbers[number]))


def _put_buckets(writer: Writer, value: Buckets, path: str) -> Any:
    """Store names of buckets and their leads as arrays: there may be millions of them."""
    parts = []
    for i, votes in enumerate(value.parts):
        order = sorted(votes)
        names = [votes[bucket][0].encode("utf-8", "surrogatepass") for bucket in order]
        arrays: dict[str, Array] = {
            "bucket": np.array(order, np.int64),
            "lead": np.array([votes[bucket][1] for bucket in order], np.int64),
            "length": np.array([len(name) for name in names], np.int64),
            "bytes": np.frombuffer(b"".join(names), np.uint8),
        }
        parts.append({name: writer.keep(array, f"{path}.{i}.{name}") for name, array in arrays.items()})
    return {"buckets": value.size, "votes": parts}


def _get_buckets(reader: Reader, node: Any) -> Buckets:
    size, parts = node["buckets"], []
    need(type(size) is int and 1 <= size < 1 << 31, "a number of buckets")
    for votes in node["votes"]:
        arrays = tuple(reader.array(votes[name]) for name in ("bucket", "lead", "length", "bytes"))
        _check_votes(size, *arrays)
        bucket, lead, length, data = arrays
        ends = np.cumsum(length)
        names = spelt(data.tobytes(), ends)
        listed = zip(bucket.tolist(), names, lead.tolist(), strict=True)
        parts.append({b: (name, lead) for b, name, lead in listed})
    return Buckets(size, tuple(parts))


def _check_votes(size: int, bucket: Any, lead: Any, length: Any, data: Any) -> None:
    """Names of buckets."""
    n_names = len(bucket)
    need(are(bucket, "i8", None) and are(lead, "i8", n_names) and are(length, "i8", n_names), "the names of buckets")
    need(are(data, "u1", None) and bool((length >= 0).all()) and int(length.sum()) == len(data), "names of buckets")
    need(not n_names or (bucket.min() >= 0 and bucket.max() < size), "the names of buckets")
    need(not n_names or (lead.min() >= 0 and lead.max() < _MOST_ROWS), "the names of buckets")


form("buckets", Buckets, _put_buckets, _get_buckets)
