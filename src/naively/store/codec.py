"""The codec: values as JSON and arrays, and back.

Only values of the kinds listed here and of registered classes can be written, and only these are made when a file is
read. A file holds no code; it names functions that its reader has to trust (`functions`). What is made is compared with
the types that its class declares, and checked by its class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import TypeAlias, TypeVar

import numpy as np

from naively.arrays import FIXED, Array, from_core, to_core
from naively.errors import FileError, InputError
from naively.store.damage import Damage, need
from naively.store.fits import declared, fits
from naively.store.functions import import_path, imported
from naively.store.registry import CLASSES, FORMS, Json, stored_class

T = TypeVar("T")
Node: TypeAlias = dict[str, Json]
_PLAIN = (str, bool, int, float, type(None))
_UNEVEN, _FEW = 64, 1 << 20
"""Names of such different lengths, or more of them, are not kept in an array of equal widths."""
_LONGEST_NUMBER = 400


class Writer:
    """Takes values apart: what is no array becomes JSON, which names the arrays."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self.shared: list[tuple[object, str]] = []
        """Values of which several may share what is stored, and the name of it."""

    def put(self, value: object, path: str) -> Json:
        """Return a value as JSON; `path` is its place, for the names of arrays and for errors."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, float) and not isfinite(value):
            return {"float": repr(value)}
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 63:
            return {"int": str(value)}
        if isinstance(value, _PLAIN):
            return value
        if isinstance(value, np.ndarray):
            return self._put_array(value, path)
        if isinstance(value, list):
            return self._put_list(value, path)
        if isinstance(value, tuple):
            return {"tuple": self._put_list(value, path)}
        if isinstance(value, (set, frozenset)):
            return {"set": self._put_list(sorted(value, key=lambda v: (type(v).__name__, v)), path)}
        if isinstance(value, dict):
            return {"dict": [[self.put(k, f"{path}.key"), self.put(v, f"{path}.{k}")] for k, v in value.items()]}
        for form in FORMS.values():
            if isinstance(value, form.kind):
                return form.put(self, value, path)
        return self._put_value(value, path)

    def _put_array(self, value: Array, path: str) -> Json:
        if value.dtype.kind in "biuf" and value.dtype.itemsize <= 8 and value.dtype != np.float16:
            return {"array": self.keep(value, path)}
        if value.dtype == FIXED:
            return {"fixed": self.keep(to_core(value), path)}
        if value.dtype.kind not in "OU":
            raise InputError(f"{path}: values of type {value.dtype} cannot be saved; use text or numbers")
        kind = "O" if value.dtype == object else value.dtype.newbyteorder("<").str
        return {"names": [self._put_name(v, path) for v in value.tolist()], "type": kind}

    def keep(self, array: Array, path: str) -> str:
        """Keep an array under a name of its own: its place, unless a name with dots in it is there already."""
        while path in self.arrays:
            path += "'"
        self.arrays[path] = array
        return path

    def _put_name(self, value: object, path: str) -> Json:
        made = self.put(value, path)
        if isinstance(made, (list, dict)) and "float" not in made and "int" not in made:
            raise InputError(
                f"{path}: {value!r} ({type(value).__name__}) cannot be saved as a name; use text or numbers"
            )
        return made

    def _put_list(self, values: list[object] | tuple[object, ...], path: str) -> Json:
        return [self.put(v, f"{path}.{i}") for i, v in enumerate(values)]

    def _put_value(self, value: object, path: str) -> Json:
        entry = stored_class(type(value))
        value = value if entry is None else entry.prepared(value)
        if entry is None and callable(value):
            return {"function": import_path(value, path)}
        if entry is None or not is_dataclass(value):
            raise InputError(f"{path} cannot be saved: {repr(value)[:60]} is no value that a file can hold")
        made: Node = {"is": entry.name}
        for name in (*(field.name for field in fields(value)), *entry.derived):
            made[name] = self.put(getattr(value, name), f"{path}.{name}")
        return made


class Reader:
    """Puts values together again."""

    def __init__(self, arrays: Mapping[str, Array], thorough: bool = True, trust: frozenset[str] = frozenset()):
        """With `thorough`, the bytes of every word are looked at.

        `trust` are the import paths of functions, or of modules, that may be imported.
        """
        self.arrays, self.thorough, self.trust = arrays, thorough, trust
        self.shared: dict[str, object] = {}
        """Values that were read and that others share, by the name of what is stored."""

    def get(self, node: Json) -> object:
        """Return the value that some JSON stands for; raise FileError if it stands for none."""
        try:
            return self._get(node)
        except FileError:
            raise
        except Exception as error:  # whatever a forged value does to the code that meets it
            raise Damage(f"{type(error).__name__}: {str(error)[:200]}") from None

    def of(self, kind: type[T], node: Json) -> T:
        """Return the value of this class that some JSON stands for; raise FileError if it is of another."""
        value = self.get(node)
        if not isinstance(value, kind):
            raise Damage(f"a {type(value).__name__} in place of a {kind.__name__}")
        return value

    def by_name(self, node: Json) -> dict[str, object]:
        """Return the values by name that some JSON stands for."""
        return {str(name): value for name, value in self.of(dict, node).items()}

    def array(self, name: Json) -> Array:
        """Return an array by its name."""
        need(isinstance(name, str) and name in self.arrays, "an array that is not there")
        assert isinstance(name, str)
        return self.arrays[name]

    def _get(self, node: Json) -> object:
        if isinstance(node, _PLAIN):
            return node
        if isinstance(node, list):
            return [self._get(v) for v in node]
        if "is" in node:
            return self._get_value(node)
        for mark, get in _WAYS.items():
            if mark in node:
                return get(self, node)
        for mark, form in FORMS.items():
            if mark in node:
                return form.get(self, node)
        raise Damage(f"{sorted(node)[:3]} is nothing known")

    def _get_array(self, node: Node) -> Array:
        return self.array(node["array"])

    def _get_fixed(self, node: Node) -> Array:
        pairs = self.array(node["fixed"])
        need(pairs.dtype == np.uint64 and pairs.ndim > 1 and pairs.shape[-1] == 2, "counts that are no pairs")
        return from_core(np.ascontiguousarray(pairs))

    def _get_names(self, node: Node) -> Array:
        dtype, names = node["type"], self._get(node["names"])
        if not isinstance(names, list) or not all(isinstance(name, _PLAIN) for name in names):
            raise Damage("names that are none")
        kind = "O"
        if dtype != "O":
            need(isinstance(dtype, str) and dtype.startswith("<U"), "names of no kind")
            need(all(isinstance(name, str) for name in names), "names of no kind")
            longest = max((len(name) for name in names), default=0)
            if longest * len(names) <= _UNEVEN * sum(map(len, names)) + _FEW:  # otherwise one long name would cost all
                kind = f"<U{max(longest, 1)}"
        array = np.empty(len(names), kind)
        array[:] = names
        return array

    def _get_float(self, node: Node) -> float:
        need(node["float"] in ("inf", "-inf", "nan"), "a number")
        return float(str(node["float"]))

    def _get_int(self, node: Node) -> int:
        digits = node["int"]
        if not isinstance(digits, str) or len(digits) > _LONGEST_NUMBER:
            raise Damage("a number")
        return int(digits)

    def _get_tuple(self, node: Node) -> tuple[object, ...]:
        return tuple(map(self._get, _listed(node["tuple"])))

    def _get_set(self, node: Node) -> frozenset[object]:
        return frozenset(map(self._get, _listed(node["set"])))

    def _get_dict(self, node: Node) -> dict[object, object]:
        pairs = [[self._get(item) for item in _listed(pair)] for pair in _listed(node["dict"])]
        need(all(len(pair) == 2 for pair in pairs), "pairs of a dict")
        return {pair[0]: pair[1] for pair in pairs}

    def _get_function(self, node: Node) -> object:
        return imported(node["function"], self.trust)

    def _get_value(self, node: Node) -> object:
        name = node["is"]
        entry = CLASSES.get(name) if isinstance(name, str) else None
        if entry is None:
            raise Damage(f"a value of the class {str(name)[:40]!r}")
        given = {key: self._get(value) for key, value in node.items() if key != "is"}
        derived = {key: given.pop(key) for key in entry.derived}
        hints = declared(entry.kind)
        need(hints.keys() >= given.keys(), f"the fields of {entry.name}")
        for field, value in given.items():
            need(fits(hints[field], value), f"{entry.name}.{field} is no {hints[field]}")
        made = entry.kind(**given)
        vars(made).update(derived)
        entry.check(made)
        return made


def _listed(node: Json) -> list[Json]:
    if not isinstance(node, list):
        raise Damage("a list")
    return node


_WAYS: dict[str, Callable[[Reader, Node], object]] = {
    "array": Reader._get_array,
    "fixed": Reader._get_fixed,
    "names": Reader._get_names,
    "float": Reader._get_float,
    "int": Reader._get_int,
    "tuple": Reader._get_tuple,
    "set": Reader._get_set,
    "dict": Reader._get_dict,
    "function": Reader._get_function,
}
