"""The codec: values as JSON and arrays, and back.

Only values of the kinds listed here can be written, and only these are made when a file is read: a file names no code.
What is made is checked against the types that its class declares, and against itself (`checks`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from math import isfinite
from typing import Any

import numpy as np

from naively.cells import Array
from naively.errors import FileError, InputError
from naively.files.checks import CHECKS, check_votes, check_words
from naively.stored import Stored, StoredArrays
from naively.vocabulary import Buckets, Vocabulary, spelt

_HOMES = {
    "naively.names": ("Index", "Categories"),
    "naively.vocabulary": ("Kept",),
    "naively.grid": ("Grid",),
    "naively.cells": ("Cells",),
    "naively.tally": ("Tally",),
    "naively.moments": ("Moments", "Comoments"),
    "naively.numbers": ("Numbers",),
    "naively.ledger": ("Ledger", "Uncounted"),
    "naively.blocks.mixed": ("BlockTally", "BlockLedger", "Mixed", "MixedTable", "Presence"),
    "naively.blocks.categories": ("CategoryBlock", "CategoryColumn"),
    "naively.blocks.text": ("TextBlock",),
    "naively.blocks.numbers": ("NumberBlock",),
    "naively.blocks.matrix": ("MatrixBlock",),
    "naively.smoothing": ("Additive", "Epsilon", "Evidence", "Unsmoothed"),
    "naively.backgrounds": ("AbsoluteDiscount", "Dirichlet", "JelinekMercer", "WittenBell"),
    "naively.priors": ("Empirical", "Given", "Smoothed", "Uniform"),
    "naively.select": ("Best", "Limits"),
    "naively.tokens": ("Tokens",),
    "naively.columns": (
        "columns.Bernoulli", "Categorical", "columns.Complement", "Dates", "columns.Gaussian", "Histogram", "Kernel",
        "columns.Multinomial", "Number", "columns.Poisson", "Text",
    ),
    "naively.families.words": ("Words",),
    "naively.families.multinomial": ("Multinomial",),
    "naively.families.complement": ("Complement",),
    "naively.families.bernoulli": ("Bernoulli",),
    "naively.families.poisson": ("Poisson", "LogFactorials"),
    "naively.families.gaussian": ("Gaussian",),
    "naively.families.categorical": ("families.Categorical",),
    "naively.families.numbers": ("AnyNumbers", "Column", "NumberTable"),
    "naively.families.text_table": ("TextTable",),
    "naively.rows": ("Accepts",),
    "naively.table": ("CodeTable", "CovarianceTable", "Holes", "Linear", "LinearTable", "NormalTable"),
    "naively.calibration": ("Isotonic", "Losses", "PerClass", "Temperature"),
    "naively.recipes": ("Recipe", "Tried"),
    "naively.learning.choosing": ("Choice",),
    "naively.learning.calibrating": ("Judged",),
    "naively.learning.schema": ("Schema", "Taken"),
}  # fmt: skip
_HOME = {name: home for home, names in _HOMES.items() for name in names}
_NAME = {(home, name.rpartition(".")[2]): name for name, home in _HOME.items()}
_DERIVED = {"Linear": ("starts",), "TextTable": ("place",)}
"""What is made of a value's fields, and is kept as well since to make it takes a look at all of them."""
_PLAIN = (str, bool, int, float, type(None))
_UNEVEN, _FEW = 64, 1 << 20
"""Names of such different lengths, or more of them, are not kept in an array of equal widths."""


class Writer:
    """Takes values apart: what is no array becomes JSON, which names the arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._words: list[tuple[Vocabulary, str]] = []

    def put(self, value: Any, path: str) -> Any:
        """A value as JSON; `path` tells where it stands, for the names of arrays and for errors."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not isfinite(value):
            return {"float": repr(value)}
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 63:
            return {"int": str(value)}
        if isinstance(value, _PLAIN):
            return value
        for kind, put in self._ways.items():
            if isinstance(value, kind):
                return put(self, value, path)
        return self._put_value(value, path)

    def _put_array(self, value: Array, path: str) -> Any:
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 and value.dtype != np.float16:
            return {"array": self._store(value, path)}
        if value.dtype.kind not in "OU":
            raise InputError(f"{path}: values of type {value.dtype} cannot be saved; use text or numbers")
        kind = "O" if value.dtype == object else value.dtype.newbyteorder("<").str
        return {"names": [self._put_name(v, path) for v in value.tolist()], "type": kind}

    def _store(self, array: Array, path: str) -> str:
        """Keep an array under a name of its own: where it stands, unless a name with dots in it stands there too."""
        while path in self.arrays:
            path += "'"
        self.arrays[path] = array
        return path

    def _put_name(self, value: Any, path: str) -> Any:
        made = self.put(value, path)
        if isinstance(made, (list, dict)) and "float" not in made and "int" not in made:
            raise InputError(
                f"{path}: {value!r} ({type(value).__name__}) cannot be saved as a name; use text or numbers"
            )
        return made

    def _put_list(self, value: Any, path: str) -> Any:
        return [self.put(v, f"{path}.{i}") for i, v in enumerate(value)]

    def _put_tuple(self, value: Any, path: str) -> Any:
        return {"tuple": self._put_list(value, path)}

    def _put_set(self, value: Any, path: str) -> Any:
        return {"set": self._put_list(sorted(value, key=lambda v: (type(v).__name__, v)), path)}

    def _put_dict(self, value: Any, path: str) -> Any:
        return {"dict": [[self.put(k, f"{path}.key"), self.put(v, f"{path}.{k}")] for k, v in value.items()]}

    def _put_words(self, value: Vocabulary, path: str) -> Any:
        """Vocabularies that share a table are stored once, as far as the largest of them reaches."""
        for known, name in self._words:
            if known is value or (_table(known) is _table(value) and value.size <= known.size):
                return {"words": name, "size": value.size}
        arrays = StoredArrays.of(value)
        while any(f"{path}.{field.name}" in self.arrays for field in fields(arrays)):
            path += "'"
        for field in fields(arrays):
            self._store(getattr(arrays, field.name), f"{path}.{field.name}")
        self._words.append((value, path))
        return {"words": path, "size": value.size}

    def _put_buckets(self, value: Buckets, path: str) -> Any:
        """Names of buckets and what they lead by, as arrays: there may be millions of them."""
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
            parts.append({name: self._store(array, f"{path}.{i}.{name}") for name, array in arrays.items()})
        return {"buckets": value.size, "votes": parts}

    def _put_value(self, value: Any, path: str) -> Any:
        kind: Any = type(value)
        name = _NAME.get((kind.__module__, kind.__name__))
        if name is None or not is_dataclass(value):
            shown = getattr(value, "__name__", repr(value)) if callable(value) else repr(value)
            raise InputError(f"{path} cannot be saved: {shown[:60]} is no value that a file can hold (no code is)")
        if hasattr(kind, "to_save"):
            value = kind.to_save(value)
        made: dict[str, Any] = {"is": name}
        for field in fields(value):
            made[field.name] = self.put(getattr(value, field.name), f"{path}.{field.name}")
        for derived in _DERIVED.get(name, ()):
            made[derived] = self.put(getattr(value, derived), f"{path}.{derived}")
        return made

    _ways: dict[type, Callable[..., Any]] = {  # noqa: RUF012
        np.ndarray: _put_array,
        list: _put_list,
        tuple: _put_tuple,
        frozenset: _put_set,
        set: _put_set,
        dict: _put_dict,
        Vocabulary: _put_words,
        Buckets: _put_buckets,
    }


def _table(words: Vocabulary) -> Any:
    """The table that a vocabulary is part of; of one that still lies in a file, what it lies in."""
    return words.__dict__.get("table", words.__dict__.get("arrays"))


class Reader:
    """Puts values together again."""

    def __init__(self, arrays: dict[str, Array], thorough: bool = True):
        """With `thorough`, every word is looked at, which takes a look at all of their bytes."""
        self._arrays, self._thorough = arrays, thorough
        self._words: dict[str, Vocabulary] = {}

    def get(self, told: Any) -> Any:
        """The value that some JSON stands for; raises FileError where it stands for none."""
        try:
            return self._get(told)
        except FileError:
            raise
        except Exception as error:  # whatever a forged value does to the code that meets it
            raise FileError(f"the file is damaged ({type(error).__name__}: {str(error)[:200]})") from None

    def _get(self, told: Any) -> Any:
        if isinstance(told, _PLAIN):
            return told
        if isinstance(told, list):
            return [self._get(v) for v in told]
        if "is" in told:
            return self._get_value(told)
        for mark, get in self._ways.items():
            if mark in told:
                return get(self, told)
        raise FileError(f"the file is damaged: {sorted(told)[:3]} is nothing known")

    def _get_array(self, told: Any) -> Array:
        return self._arrays[told["array"]]

    def _get_names(self, told: Any) -> Array:
        told_kind, names = told["type"], self._get(told["names"])
        if not isinstance(names, list) or not all(isinstance(name, _PLAIN) for name in names):
            raise FileError("the file is damaged (names that are none)")
        kind: Any = object
        if told_kind != "O":
            if not (
                isinstance(told_kind, str) and told_kind.startswith("<U") and all(isinstance(n, str) for n in names)
            ):
                raise FileError("the file is damaged (names of no kind)")
            longest = max((len(name) for name in names), default=0)
            if longest * len(names) <= _UNEVEN * sum(map(len, names)) + _FEW:  # otherwise one long name would cost all
                kind = f"<U{max(longest, 1)}"
        array = np.empty(len(names), kind)
        array[:] = names
        return array

    def _get_float(self, told: Any) -> float:
        return {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}[told["float"]]

    def _get_int(self, told: Any) -> int:
        if len(told["int"]) > 400:
            raise FileError("the file is damaged (a number)")
        return int(told["int"])

    def _get_tuple(self, told: Any) -> tuple[Any, ...]:
        return tuple(self._get(v) for v in told["tuple"])

    def _get_set(self, told: Any) -> frozenset[Any]:
        return frozenset(self._get(v) for v in told["set"])

    def _get_dict(self, told: Any) -> dict[Any, Any]:
        return {self._get(k): self._get(v) for k, v in told["dict"]}

    def _get_words(self, told: Any) -> Vocabulary:
        name, size = told["words"], told["size"]
        whole = self._words.get(name)
        if whole is None:
            arrays = StoredArrays(*(self._arrays[f"{name}.{field.name}"] for field in fields(StoredArrays)))
            CHECKS["StoredArrays"](arrays)
            if self._thorough:
                check_words(arrays)
            whole = self._words[name] = Stored(arrays)
        if size == whole.size:
            return whole
        if not (type(size) is int and 0 <= size < whole.size):
            raise FileError("the file is damaged (a vocabulary)")
        return Vocabulary(whole.table, size)

    def _get_buckets(self, told: Any) -> Buckets:
        size, parts = told["buckets"], []
        if not (type(size) is int and 1 <= size < 1 << 31):
            raise FileError("the file is damaged (a number of buckets)")
        for votes in told["votes"]:
            arrays = tuple(self._arrays[votes[name]] for name in ("bucket", "lead", "length", "bytes"))
            check_votes(size, *arrays)
            bucket, lead, length, data = arrays
            ends = np.cumsum(length)
            names = spelt(data.tobytes(), ends)
            listed = zip(bucket.tolist(), names, lead.tolist(), strict=True)
            parts.append({b: (name, lead) for b, name, lead in listed})
        return Buckets(size, tuple(parts))

    def _get_value(self, told: Any) -> Any:
        name = told["is"]
        kind = getattr(import_module(_HOME[name]), name.rpartition(".")[2])
        derived = _DERIVED.get(name, ())
        given = {key: self._get(value) for key, value in told.items() if key != "is"}
        kept = {key: given.pop(key) for key in derived}
        for field in fields(kind):
            if not _fits(str(field.type), given.get(field.name, field.default)):
                raise FileError(f"the file is damaged ({name}.{field.name} is no {field.type})")
        value = kind(**given)
        value.__dict__.update(kept)
        CHECKS.get(name, lambda value: None)(value)
        return value

    _ways: dict[str, Callable[..., Any]] = {  # noqa: RUF012
        "array": _get_array,
        "names": _get_names,
        "float": _get_float,
        "int": _get_int,
        "tuple": _get_tuple,
        "set": _get_set,
        "dict": _get_dict,
        "words": _get_words,
        "buckets": _get_buckets,
    }


_TYPES: dict[str, Any] = {
    "None": type(None), "str": str, "bool": bool, "int": int, "float": (int, float), "tuple": tuple, "dict": dict,
    "list": list, "frozenset": frozenset, "np.ndarray": np.ndarray,
}  # fmt: skip
_NUMBERS = ("Array", "IntArray")
_SAME = {
    "BlockLedger": ("BlockLedger", "Uncounted"), "Index": ("Index", "Kept"),
    "WordFeatures": ("Vocabulary", "Stored", "Buckets"),
    "Block": ("CategoryBlock", "TextBlock", "NumberBlock", "MatrixBlock"),
    "Calibration": ("Temperature", "PerClass", "Isotonic"), "Moments": ("Moments", "Comoments"),
    "Features": ("Index", "Categories", "Grid", "Vocabulary", "Stored", "Buckets"),
    "Rule": (
        "Number", "Gaussian", "Histogram", "Kernel", "Categorical", "Bernoulli", "Poisson", "Dates", "Text",
        "Multinomial", "Complement",
    ),
    "Prior": ("Empirical", "Smoothed", "Uniform", "Given"),
    "Smoothing": (
        "Additive", "Epsilon", "Evidence", "Unsmoothed", "AbsoluteDiscount", "Dirichlet", "JelinekMercer", "WittenBell",
    ),
}  # fmt: skip
"""What may stand where a class declares these."""
_KNOWN = {name.rpartition(".")[2] for name in _HOME} | set(_SAME)


def _fits(declared: str, value: Any) -> bool:
    """Whether a value is of a declared type, and what is inside of a tuple or a dict as well."""
    return any(_fits_one(part, value) for part in _split(declared, " | "))


def _fits_one(declared: str, value: Any) -> bool:
    outer, _, inner = declared.partition("[")
    if outer in _NUMBERS:
        return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    if outer in _KNOWN:
        return type(value).__name__ in _SAME.get(outer, (outer,))
    kind = _TYPES.get(outer)
    if kind is None:
        return True
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        return False
    parts = _split(inner.removesuffix("]"), ", ") if inner else []
    if outer == "tuple" and parts:
        if len(parts) == 2 and parts[1] == "...":
            return all(_fits(parts[0], item) for item in value)
        return len(parts) == len(value) and all(map(_fits, parts, value))
    if outer == "dict" and len(parts) == 2:
        return all(_fits(parts[0], key) and _fits(parts[1], item) for key, item in value.items())
    return True


@cache
def _split(text: str, mark: str) -> list[str]:
    """The parts of a declaration, as far as they are not inside brackets.

    >>> _split("tuple[int, str], None", ", ")
    ['tuple[int, str]', 'None']
    """
    parts, depth = [""], 0
    for piece in re.split(f"({re.escape(mark)}|[\\[\\]])", text):
        depth += (piece == "[") - (piece == "]")
        if piece == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts
