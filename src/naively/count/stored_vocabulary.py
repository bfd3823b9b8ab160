"""Stored vocabularies: words in a file, looked up there without reading all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import Array, IntArray
from naively.count.vocabulary import Vocabulary, spelt
from naively.errors import FileError
from naively.store.codec import Reader, Writer
from naively.store.damage import are, need
from naively.store.registry import form

_SEQUENCE = 0xFFFFFFFF
"""The length that stands for a sequence of words."""
_WORTH_A_TABLE = 4
"""From this number of bytes of text per name on, it pays to build a table in memory."""


@dataclass(frozen=True, eq=False)
class StoredArrays:
    """The arrays of a vocabulary in a file: places and lengths of words, their bytes, and hash slots for look-up."""

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


@contextmanager
def _of_a_file() -> Iterator[None]:
    """Turn an error of the core about inconsistent arrays into a FileError: the file is damaged."""
    try:
        yield
    except ValueError as error:
        raise FileError(f"the file of the model is damaged ({error})") from None


class Stored(Vocabulary):
    """A vocabulary that looks words up in the file; it is read whole before it grows, or for a large batch of texts."""

    arrays: StoredArrays

    def __init__(self, arrays: StoredArrays):
        self.__dict__.update(arrays=arrays, size=len(arrays.what))
        _ = arrays.core  # which checks that they are consistent

    @cached_property
    def table(self) -> Any:
        return self.copied().table

    @property
    def source(self) -> Any:
        known = self.__dict__  # one that skops made has no arrays
        return known.get("table") or known["arrays"]

    def _put_into(self, table: Any, known: int) -> Any:
        if "table" in self.__dict__:
            return super()._put_into(table, known)
        with _of_a_file():
            return table.absorb_stored(known, self.arrays.core)

    def read(self, texts: Any, rules: Any, n_threads: int, place: Any = None) -> tuple[IntArray, Any, Any]:
        if "table" in self.__dict__ or texts.bytes > _WORTH_A_TABLE * self.size:
            return super().read(texts, rules, n_threads, place)
        with _of_a_file():
            return self.arrays.core.read(texts, rules, n_threads, place, self.size)

    def names_of(self, numbers: IntArray) -> list[str]:
        with _of_a_file():
            return spelt(*self.arrays.core.names(np.ascontiguousarray(numbers, dtype=np.int64)))

    def __reduce__(self) -> Any:
        return Vocabulary.from_arrays, self.copied().to_arrays()


def in_order(vocabulary: Vocabulary) -> tuple[Vocabulary, IntArray]:
    """Return the same names in an order that depends on them alone: by number of words, then by bytes.

    The second value is the new number of each name.
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


def _put_words(writer: Writer, value: Vocabulary, path: str) -> Any:
    """Vocabularies that share a table are stored once, as far as the largest of them reaches."""
    for known, name in writer.shared:
        if not isinstance(known, Vocabulary):
            continue
        if known is value or (known.source is value.source and value.size <= known.size):
            return {"words": name, "size": value.size}
    arrays = StoredArrays.of(value)
    while any(f"{path}.{field.name}" in writer.arrays for field in fields(arrays)):
        path += "'"
    for field in fields(arrays):
        writer.keep(getattr(arrays, field.name), f"{path}.{field.name}")
    writer.shared.append((value, path))
    return {"words": path, "size": value.size}


def _get_words(reader: Reader, node: Any) -> Vocabulary:
    name, size = node["words"], node["size"]
    whole = reader.shared.get(name)
    if not isinstance(whole, Vocabulary):
        arrays = StoredArrays(*(reader.array(f"{name}.{field.name}") for field in fields(StoredArrays)))
        _check_arrays(arrays)
        if reader.thorough:
            _check_words(arrays)
        whole = reader.shared[name] = Stored(arrays)
    if size == whole.size:
        return whole
    need(type(size) is int and 0 <= size < whole.size, "a vocabulary")
    return Vocabulary(whole.table, size)


def _check_arrays(arrays: Any) -> None:
    things = arrays.what.shape[0] if arrays.what.ndim == 1 else None
    need(are(arrays.what, "u8", None) and are(arrays.length, "u4", things), "the list of words")
    need(are(arrays.bytes, "u1", None), "the bytes of words")
    need(are(arrays.words, "u8", None) and are(arrays.sequences, "u8", None), "the slots of words")


def _check_words(arrays: Any) -> None:
    """Check each word: its place, its length, that it is text, and that a sequence refers to earlier words only."""
    what, length, data = arrays.what, arrays.length, arrays.bytes
    several = length == _SEQUENCE
    begin, long = what[~several], length[~several].astype(np.uint64)
    need(bool((long > 0).all()), "a word without letters")
    need(bool((begin <= len(data)).all()) and bool((begin + long <= len(data)).all()), "a word that lies nowhere")
    data.tobytes().decode("utf-8", "surrogatepass")
    edges = np.concatenate([begin, begin + long]).astype(np.int64)
    need(bool((data[edges[edges < len(data)]] & 0xC0 != 0x80).all()), "a word that begins within a letter")
    own, parts = np.flatnonzero(several), what[several]
    before, last = (parts >> np.uint64(32)).astype(np.int64), (parts & np.uint64(_SEQUENCE)).astype(np.int64)
    need(bool((before < own).all()) and bool((last < own).all()), "a sequence of words to come")
    need(not several[last].any(), "a sequence that ends in a sequence")


form("words", Vocabulary, _put_words, _get_words)
