"""Names of classes, features and categories: each has a number that never changes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from numbers import Number
from typing import Any

import numpy as np

from naively import _core
from naively.arrays import IntArray, Value
from naively.errors import InputError

Names = np.ndarray[Any, np.dtype[np.generic]]
"""Names in an array: text, numbers, or objects of one kind."""

SEED = int.from_bytes(os.urandom(8), "little")  # random, so that nobody can choose texts that are slow to look up


@dataclass(frozen=True, eq=False, repr=False)
class Index(Value):
    """Names in a fixed order with numbers from 0 on; or, without names, just numbers.

    >>> index = Index.of(["ham", "spam"])
    >>> index.locate(["spam", "eggs"])
    array([ 1, -1])
    >>> index.extended(["eggs"])
    Index(['ham', 'spam', 'eggs'])
    """

    size: int
    names: Names | None = None

    @classmethod
    def of(cls, names: Sequence[Any] | np.ndarray[Any, Any]) -> Index:
        array = names_array(names)
        return cls(len(array), array)

    @cached_property
    def lookup(self) -> dict[Any, int]:
        """Dictionary from name to number, or from the key of a name if `keyed`.

        An index that was extended from this one may have added its own names, with numbers from `size` on.
        """
        return dict(zip(self._keys([] if self.names is None else self.names.tolist()), count()))

    @cached_property
    def keyed(self) -> bool:
        """True if names are looked up by `safe_key`, because some of them are numbers."""
        return self.names is not None and self.names.dtype == object and not set(map(type, self.names)) <= {str}

    def _keys(self, names: list[Any]) -> list[Any]:
        return list(map(safe_key, names)) if self.keyed else names

    @cached_property
    def texts(self) -> _core.KnownTexts:
        """Table of the compiled core for names that are texts."""
        names = [] if self.names is None else self.names.tolist()
        texts = [str(name).encode("utf-8", "surrogatepass") for name in names]
        starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)
        return _core.KnownTexts.of(starts, np.frombuffer(b"".join(texts), np.uint8), SEED)

    @cached_property
    def whole(self) -> _core.KnownNumbers:
        """Table of the compiled core for names that are whole numbers."""
        return _core.KnownNumbers.of(np.array([] if self.names is None else self.names, np.int64))

    @cached_property
    def order(self) -> IntArray | None:
        """Return the numbers in the order of their names; None if they are in that order already."""
        if self.names is None or self.size < 2:
            return None
        order = np.argsort(self.names, kind="stable")
        return None if np.array_equal(order, np.arange(self.size)) else order

    def locate(self, names: Iterable[Any]) -> IntArray:
        """Return the numbers of names; -1 for unknown ones."""
        listed = names.tolist() if isinstance(names, np.ndarray) else list(names)
        found = np.fromiter(map(self.lookup.get, self._keys(listed), repeat(-1)), np.int64, len(listed))
        if len(self.lookup) > self.size:
            found[found >= self.size] = -1
        return found

    def extended(self, names: Sequence[Any]) -> Index:
        """Return this index with the unknown ones of these names appended."""
        places = self.locate(names).tolist()
        new = [name for name, place in zip(names, places, strict=True) if place < 0]
        fresh = list({safe_key(name): name for name in reversed(new)}.values())[::-1]
        if not fresh:
            return self
        if self.names is None or not self.size:
            return Index.of(fresh)
        grown = Index(self.size + len(fresh), _appended(self.names, fresh))
        lookup = self.__dict__.pop("lookup", {})  # reused, so that a new name does not cost as much as all of them
        if len(lookup) == self.size and grown.keyed == self.keyed:
            lookup.update(zip(grown._keys(fresh), count(self.size)))
            grown.__dict__["lookup"] = lookup
        return grown

    def union(self, other: Index, what: str) -> tuple[Index, IntArray | None]:
        """Return the union of two indexes, and the numbers in it of the other's names (None: they are the same)."""
        if other is self:
            return self, None
        if self.names is None and other.names is None:
            return (self if self.size >= other.size else other), None
        if self.size == 0 and self.names is None:
            return other, None
        if other.size == 0:
            return self, None
        if self.names is None or other.names is None:
            raise InputError(f"{what}: named on one side and only numbered on the other; name both or neither")
        shared = min(self.size, other.size)
        if same_names(self.names[:shared], other.names[:shared]):
            return (self if self.size >= other.size else other), None
        both = self.extended(other.names.tolist())
        return both, both.locate(other.names)

    @property
    def listed(self) -> list[Any]:
        """The names as a list; empty if there are none."""
        return [] if self.names is None else self.names.tolist()

    def name(self, number: int) -> Any:
        """Return the name of a number, or the number itself if there are no names."""
        return number if self.names is None else self.names[number : number + 1].tolist()[0]

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        return f"Index({self.size})" if self.names is None else f"Index({self.names.tolist()!r})"


def names_array(names: Sequence[Any] | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return names as one array of one type; numbers and strings must not be mixed."""
    if isinstance(names, np.ndarray) and names.dtype != object:
        return names
    listed = names.tolist() if isinstance(names, np.ndarray) else list(names)
    kinds = set(map(kind_of, listed[:1] if len(set(map(type, listed))) == 1 else listed))
    if len(kinds) > 1:
        raise InputError(f"names must be all text or all numbers, got both: {_some(listed)}; convert one kind")
    array = np.array(listed, dtype=object if isinstance(names, np.ndarray) else None)
    if array.ndim != 1:
        raise InputError("names must be single values, not sequences")
    if not len(listed):
        return np.array([], dtype=object)
    # whole numbers that float64 cannot hold
    return array if array.tolist() == listed else np.array(listed, dtype=object)


def kind_of(name: Any) -> str:
    """Return the kind of a name: names of different kinds are never equal and cannot be sorted together."""
    if isinstance(name, str):
        return "text"
    return "number" if isinstance(name, (Number, np.bool_)) else type(name).__name__


def safe_key(name: Any) -> Any:
    """Return a dictionary key for a name: equal names have equal keys, and nobody can choose names whose keys collide.

    Python hashes text by a key of chance, but numbers by their value modulo 2^61 - 1: they are looked up by digits.

    >>> safe_key(255), safe_key(255.0), safe_key("255")
    (('ff',), ('ff',), '255')
    """
    if isinstance(name, (int, np.integer, np.bool_)):
        return (f"{int(name):x}",)
    if not isinstance(name, Number) or not hasattr(name, "as_integer_ratio"):
        return name
    try:
        above, below = name.as_integer_ratio()
    except (OverflowError, ValueError):  # infinity or NaN
        return name
    return (f"{above:x}",) if below == 1 else (f"{above:x}", f"{below:x}")


def same_names(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """True if two arrays hold equal names; numbers of different types are compared exactly."""
    if a.dtype.kind == b.dtype.kind:
        return np.array_equal(a, b)
    return len(a) == len(b) and a.tolist() == b.tolist()


def _appended(names: np.ndarray[Any, Any], fresh: list[Any]) -> np.ndarray[Any, Any]:
    """Return names with new ones appended, as one array of one type."""
    behind = names_array(fresh)
    if kind_of(fresh[0]) != kind_of(names[0]):
        raise InputError(
            f"names must be all text or all numbers, got both: {_some([names[0], fresh[0]])}; convert one kind"
        )
    if names.dtype == object or behind.dtype.kind == names.dtype.kind:
        return np.concatenate([names, behind])
    return names_array(names.tolist() + fresh)


def _some(values: list[Any]) -> str:
    texts = [v for v in values if isinstance(v, str)][:1] + [v for v in values if not isinstance(v, str)][:1]
    return " and ".join(map(repr, texts))
