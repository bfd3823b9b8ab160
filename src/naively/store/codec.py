"""The codec: values as JSON and arrays, and back.

Only values of the kinds listed here can be written, and only these are made when a file is read. A file holds no code;
it names functions that its reader has to trust (`functions`). Each value is checked against the types that its class
declares, and by the `checks` of its class.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from math import isfinite
from typing import Any

import numpy as np

from naively.arrays import FIXED, Array, from_core, to_core
from naively.errors import FileError, InputError
from naively.store.functions import import_path, imported
from naively.store.registry import CHECKS, CLASSES, DERIVED, FORMS, NAMES

_PLAIN = (str, bool, int, float, type(None))
_UNEVEN, _FEW = 64, 1 << 20
"""Names are not stored in an array of equal widths if their lengths differ this much, or if there are more of them."""


class Writer:
    """Converts values to JSON; arrays are kept aside, and the JSON names them."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.shared: list[tuple[Any, str]] = []  # stored values that several others share

    def put(self, value: Any, path: str) -> Any:
        """Return a value as JSON; `path` is its place, for the names of arrays and for errors."""
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
        for form in FORMS.values():
            if isinstance(value, form.kind):
                return form.put(self, value, path)
        return self._put_value(value, path)

    def _put_array(self, value: Array, path: str) -> Any:
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 and value.dtype != np.float16:
            return {"array": self.keep(value, path)}
        if value.dtype == FIXED:
            return {"fixed": self.keep(to_core(value), path)}
        if value.dtype.kind not in "OU":
            raise InputError(f"{path}: values of type {value.dtype} cannot be saved; use text or numbers")
        kind = "O" if value.dtype == object else value.dtype.newbyteorder("<").str
        return {"names": [self._put_name(v, path) for v in value.tolist()], "type": kind}

    def keep(self, array: Array, path: str) -> str:
        """Keep an array under a name of its own: its place, unless a name with dots in it has the same path."""
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

    def _put_value(self, value: Any, path: str) -> Any:
        kind: Any = type(value)
        name = NAMES.get(kind)
        if name is None and callable(value):
            return {"function": import_path(value, path)}
        if name is None or not is_dataclass(value):
            raise InputError(f"{path} cannot be saved: {repr(value)[:60]} is no value that a file can hold")
        if hasattr(kind, "to_save"):
            value = kind.to_save(value)
        made: dict[str, Any] = {"is": name}
        for field in fields(value):
            made[field.name] = self.put(getattr(value, field.name), f"{path}.{field.name}")
        for derived in DERIVED.get(name, ()):
            made[derived] = self.put(getattr(value, derived), f"{path}.{derived}")
        return made

    _ways: dict[type, Callable[..., Any]] = {  # noqa: RUF012
        np.ndarray: _put_array,
        list: _put_list,
        tuple: _put_tuple,
        frozenset: _put_set,
        set: _put_set,
        dict: _put_dict,
    }


class Reader:
    """Makes values from JSON and arrays."""

    def __init__(self, arrays: dict[str, Array], thorough: bool = True, trust: frozenset[str] = frozenset()):
        """With `thorough`, check every word, which reads all of their bytes.

        `trust` are the import paths of functions, or of modules, that may be imported.
        """
        self.arrays, self.thorough, self.trust = arrays, thorough, trust
        self.shared: dict[str, Any] = {}

    def get(self, node: Any) -> Any:
        """Return the value that some JSON stands for; raise FileError if it stands for none."""
        try:
            return self._get(node)
        except FileError:
            raise
        except Exception as error:  # a forged value may make any code fail
            raise FileError(f"the file is damaged ({type(error).__name__}: {str(error)[:200]})") from None

    def _get(self, node: Any) -> Any:
        if isinstance(node, _PLAIN):
            return node
        if isinstance(node, list):
            return [self._get(v) for v in node]
        if "is" in node:
            return self._get_value(node)
        for mark, get in self._ways.items():
            if mark in node:
                return get(self, node)
        for mark, form in FORMS.items():
            if mark in node:
                return form.get(self, node)
        raise FileError(f"the file is damaged: {sorted(node)[:3]} is nothing known")

    def _get_array(self, node: Any) -> Array:
        return self.arrays[node["array"]]

    def _get_fixed(self, node: Any) -> Array:
        pairs = self.arrays[node["fixed"]]
        if pairs.dtype != np.uint64 or pairs.ndim < 2 or pairs.shape[-1] != 2:
            raise FileError("the file is damaged (counts that are no pairs)")
        return from_core(np.ascontiguousarray(pairs))

    def _get_names(self, node: Any) -> Array:
        dtype, names = node["type"], self._get(node["names"])
        if not isinstance(names, list) or not all(isinstance(name, _PLAIN) for name in names):
            raise FileError("the file is damaged (names that are none)")
        kind: Any = object
        if dtype != "O":
            if not (isinstance(dtype, str) and dtype.startswith("<U") and all(isinstance(n, str) for n in names)):
                raise FileError("the file is damaged (names of no kind)")
            longest = max((len(name) for name in names), default=0)
            # otherwise one long name would make all of them long
            if longest * len(names) <= _UNEVEN * sum(map(len, names)) + _FEW:
                kind = f"<U{max(longest, 1)}"
        array = np.empty(len(names), kind)
        array[:] = names
        return array

    def _get_float(self, node: Any) -> float:
        return {"inf": float("inf"), "-inf": float("-inf"), "nan": float("nan")}[node["float"]]

    def _get_int(self, node: Any) -> int:
        if len(node["int"]) > 400:
            raise FileError("the file is damaged (a number)")
        return int(node["int"])

    def _get_tuple(self, node: Any) -> tuple[Any, ...]:
        return tuple(self._get(v) for v in node["tuple"])

    def _get_set(self, node: Any) -> frozenset[Any]:
        return frozenset(self._get(v) for v in node["set"])

    def _get_dict(self, node: Any) -> dict[Any, Any]:
        return {self._get(k): self._get(v) for k, v in node["dict"]}

    def _get_function(self, node: Any) -> Any:
        return imported(node["function"], self.trust)

    def _get_value(self, node: Any) -> Any:
        name = node["is"]
        kind: Any = CLASSES[name]
        derived = DERIVED.get(name, ())
        given = {key: self._get(value) for key, value in node.items() if key != "is"}
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
        "fixed": _get_fixed,
        "names": _get_names,
        "float": _get_float,
        "int": _get_int,
        "tuple": _get_tuple,
        "set": _get_set,
        "dict": _get_dict,
        "function": _get_function,
    }


_TYPES: dict[str, Any] = {
    "None": type(None), "str": str, "bool": bool, "int": int, "float": (int, float), "tuple": tuple, "dict": dict,
    "list": list, "frozenset": frozenset, "np.ndarray": np.ndarray,
}  # fmt: skip
_NUMBERS = ("Array", "IntArray")
_SAME = {
    "Index": ("Index", "WordSubset"), "WordFeatures": ("Vocabulary", "Stored", "Buckets"),
    "Part": ("Counts", "ExactSums", "NumberCounts", "ExactPairs", "ColumnCounts"),
    "Block": (
        "CategoryBlock", "TextBlock", "NumberBlock", "DensityBlock", "MatrixBlock", "ArrayBlock", "CategoryArrayBlock",
        "TextsBlock",
    ),
    "BlockTable": ("LinearTable", "CodeTable", "Density", "CovarianceTable", "NumberTable", "TextTable"),
    "Calibration": ("Temperature", "PerClass", "Isotonic"),
    "Features": ("Index", "Categories", "Grid", "Vocabulary", "Stored", "Buckets"),
    "Rule": (
        "Number", "NumberFamily", "Histogram", "Kernel", "Categorical", "Bernoulli", "Poisson", "Dates", "Text",
        "Multinomial", "Complement",
    ),
    "NumberFamily": ("NumberFamily",),
    "Prior": ("Empirical", "Smoothed", "Uniform", "Given"),
    "Settled": ("Additive", "Epsilon", "AbsoluteDiscount", "Dirichlet", "JelinekMercer", "WittenBell"),
    "Smoothing": (
        "Additive", "Epsilon", "Evidence", "Unsmoothed", "AbsoluteDiscount", "Dirichlet", "JelinekMercer", "WittenBell",
    ),
}  # fmt: skip
"""Types that may be stored where a class declares these."""


def _fits(declared: str, value: Any) -> bool:
    """True if a value has the declared type; the items of a tuple or a dict are checked too."""
    return any(_fits_one(part, value) for part in _split(declared, " | "))


def _fits_one(declared: str, value: Any) -> bool:
    outer, _, inner = declared.partition("[")
    if outer in _NUMBERS:
        return isinstance(value, np.ndarray) and (value.dtype.kind in "biuf" or value.dtype == FIXED)
    if outer in _SAME or outer in CLASSES or f"columns.{outer}" in CLASSES:
        kinds = {
            kind.__name__ for kind in type(value).__mro__
        }  # any registered family of numbers may stand for the base
        return not kinds.isdisjoint(_SAME.get(outer, (outer,)))
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
    """Split a declaration at a mark, but not inside brackets.

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
