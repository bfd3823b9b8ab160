"""Stored vocabularies: words as they lie in a file, found there without being read all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from naively import _core
from naively.cells import Array
from naively.errors import FileError
from naively.names import IntArray
from naively.vocabulary import Vocabulary, spelt

_SEQUENCE = 0xFFFFFFFF
"""The length that stands for a sequence of words."""
_WORTH_A_TABLE = 4
"""Texts of so many bytes for each name are read faster with a table in memory, the making of it included."""


@dataclass(frozen=True, eq=False)
class StoredArrays:
    """What a vocabulary is, where its words begin and how long they are, their bytes, and slots to find them by."""

    what: Array
    length: Array
    bytes: Array
    words: Array
    sequences: Array

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> StoredArrays:
        if isinstance(vocabulary, Stored) and vocabulary.size == len(vocabulary.arrays.what):
            return vocabulary.arrays
        return cls(*vocabulary.table.stored(np.arange(vocabulary.size)))

    @cached_property
    def core(self) -> Any:
        return _core.StoredVocabulary.of(self.what, self.length, self.bytes, self.words, self.sequences)

    def as_listed(self) -> tuple[Any, IntArray, IntArray, IntArray]:
        """As `Vocabulary.from_arrays` takes them."""
        several = self.length == _SEQUENCE
        parts = self.what[several]
        length = np.where(several, -1, self.length.astype(np.int64))
        return self.bytes.tobytes(), length, (parts >> np.uint64(32)).astype(np.int64), _low(parts)


def _low(values: Array) -> IntArray:
    return (values & np.uint64(_SEQUENCE)).astype(np.int64)


@contextmanager
def _of_a_file() -> Iterator[None]:
    """Raise what the core says of stored words that do not fit each other as the damage that it is."""
    try:
        yield
    except ValueError as error:
        raise FileError(f"the file of the model is damaged ({error})") from None


class Stored(Vocabulary):
    """A vocabulary whose words are found where they lie; it is read whole when it has to grow, or for many texts."""

    arrays: StoredArrays

    def __init__(self, arrays: StoredArrays):
        self.__dict__.update(arrays=arrays, size=len(arrays.what))
        _ = arrays.core  # which looks whether they fit each other

    @cached_property
    def table(self) -> Any:
        with _of_a_file():
            return Vocabulary.from_arrays(*self.arrays.as_listed()).table

    def read(self, texts: Any, rules: Any, many: int, place: Any = None) -> tuple[IntArray, Any, Any]:
        if "table" in self.__dict__ or texts.bytes > _WORTH_A_TABLE * self.size:
            return super().read(texts, rules, many, place)
        with _of_a_file():
            return self.arrays.core.read(texts, rules, many, place, self.size)

    def names_of(self, numbers: IntArray) -> list[str]:
        with _of_a_file():
            return spelt(*self.arrays.core.names(np.ascontiguousarray(numbers, dtype=np.int64)))

    def __reduce__(self) -> Any:
        return Vocabulary.from_arrays, self.arrays.as_listed()


def in_order(vocabulary: Vocabulary) -> tuple[Vocabulary, IntArray]:
    """The same names in an order that depends on them alone: by how many words they have, then by their bytes.

    And the number that each of them then has.
    """
    _, length, before, _ = vocabulary.to_arrays()
    depth = np.ones(len(length), np.int64)
    several = np.flatnonzero(length < 0)
    while not np.array_equal(depth[several], deeper := depth[before] + 1):
        depth[several] = deeper
    order = vocabulary.order_of(np.arange(vocabulary.size))
    if len(several):
        order = order[np.argsort(depth[order], kind="stable")]
    moved = np.empty(len(order), np.int64)
    moved[order] = np.arange(len(order))
    if np.array_equal(order, np.arange(len(order))):
        return vocabulary, moved
    return Stored(StoredArrays(*vocabulary.table.stored(order))), moved
