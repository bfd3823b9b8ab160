"""The registry: classes whose values may be stored. Each adds itself when it is loaded, with the check of its values.

A file names no code: only what is registered here is made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar, overload

from naively.errors import InputError
from naively.names import Index, safe_key
from naively.store.damage import need

if TYPE_CHECKING:
    from naively.store.codec import Reader, Writer

T = TypeVar("T")
Check: TypeAlias = Callable[[T], None]
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"


class StoredClass(Protocol):
    """A class whose values are stored by their fields."""

    @property
    def name(self) -> str:
        """The name in files."""

    @property
    def kind(self) -> type[object]:
        """The class itself."""

    @property
    def derived(self) -> tuple[str, ...]:
        """Attributes that are stored too, because making them from the fields takes a look at every number."""

    @property
    def endless(self) -> Mapping[str, float]:
        """For some fields, the one number in them that need not be finite."""

    def prepared(self, value: object) -> object:
        """Return the value in the form that is stored."""

    def check(self, value: object) -> None:
        """Raise FileError if shapes and types make no sense; runs whenever a value is read, so it costs little."""

    def verify(self, value: object) -> None:
        """Raise FileError if numbers make no sense; may look at all of them."""


@dataclass(frozen=True)
class _Fields(Generic[T]):
    name: str
    kind: type[T]
    derived: tuple[str, ...]
    endless: Mapping[str, float]
    _prepare: Callable[[T], T] | None
    _check: Check[T] | None
    _verify: Check[T] | None

    def prepared(self, value: object) -> object:
        return self._prepare(value) if self._prepare is not None and isinstance(value, self.kind) else value

    def check(self, value: object) -> None:
        if self._check is not None and isinstance(value, self.kind):
            self._check(value)

    def verify(self, value: object) -> None:
        if self._verify is not None and isinstance(value, self.kind):
            self._verify(value)


CLASSES: dict[str, StoredClass] = {}
"""Stored classes by their name in files."""


@overload
def stored(name: str = "") -> Callable[[type[T]], type[T]]: ...


@overload
def stored(
    name: str = "",
    *,
    check: Check[T] | None = None,
    verify: Check[T] | None = None,
    derived: tuple[str, ...] = (),
    endless: Mapping[str, float] | None = None,
    prepare: Callable[[T], T] | None = None,
) -> Callable[[type[T]], type[T]]: ...


def stored(
    name: str = "",
    *,
    check: Check[T] | None = None,
    verify: Check[T] | None = None,
    derived: tuple[str, ...] = (),
    endless: Mapping[str, float] | None = None,
    prepare: Callable[[T], T] | None = None,
) -> Callable[[type[T]], type[T]]:
    """Register a dataclass: its values are stored by their fields, under this name (default: that of the class).

    Parameters
    ----------
    name : str, default: the name of the class
        The name in files.
    check : function, default=None
        Raises FileError for a value whose shapes and types make no sense. It runs on every value that is read.
    verify : function, default=None
        Raises FileError for a value whose numbers make no sense. It may look at all of them.
    derived : tuple of str, default=()
        Attributes that are stored beside the fields, because making them takes a look at every number.
    endless : dict of str to float, default=None
        The number that need not be finite, for the fields in which it stands for something.
    prepare : function, default=None
        Returns the value in the form that is stored.
    """

    def register(kind: type[T]) -> type[T]:
        entry = _Fields(name or kind.__name__, kind, derived, endless or {}, prepare, check, verify)
        known = CLASSES.get(entry.name)
        if known is not None and _home(known.kind) != _home(kind):  # a class may be defined again, as in a notebook
            raise InputError(
                f"files name {_home(known.kind)} {entry.name!r}; give {_home(kind)} another: stored('...')"
            )
        CLASSES[entry.name] = _BY_CLASS[kind] = entry
        return kind

    return register


_BY_CLASS: dict[type[object], StoredClass] = {}


def stored_class(kind: type[object]) -> StoredClass | None:
    """Return the entry of a class; None if its values cannot be stored."""
    return _BY_CLASS.get(kind)


def _home(kind: type[object]) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


class StoredForm(Protocol):
    """A class whose values are stored by functions of their own, as a JSON object with the key `mark`."""

    @property
    def mark(self) -> str:
        """The key."""

    @property
    def kind(self) -> type[object]:
        """The class; values of its subclasses are stored alike."""

    def put(self, writer: Writer, value: object, path: str) -> Json:
        """Return a value as JSON, with its arrays kept by the writer."""

    def get(self, reader: Reader, node: dict[str, Json]) -> object:
        """Return the value that some JSON stands for."""


@dataclass(frozen=True)
class _Form(Generic[T]):
    mark: str
    kind: type[T]
    _put: Callable[[Writer, T, str], Json]
    _get: Callable[[Reader, dict[str, Json]], T]

    def put(self, writer: Writer, value: object, path: str) -> Json:
        assert isinstance(value, self.kind)
        return self._put(writer, value, path)

    def get(self, reader: Reader, node: dict[str, Json]) -> object:
        return self._get(reader, node)


FORMS: dict[str, StoredForm] = {}
"""Classes that are stored by functions of their own, by the key of their JSON objects."""


def form(
    mark: str,
    kind: type[T],
    put: Callable[[Writer, T, str], Json],
    get: Callable[[Reader, dict[str, Json]], T],
) -> None:
    """Register a class that is stored by functions of its own."""
    entry: _Form[T] = _Form(mark, kind, put, get)
    FORMS[mark] = entry


_MOST_NAMES = 1 << 40


def _check_index(index: Index) -> None:
    need(0 <= index.size < _MOST_NAMES, "a number of names")
    if index.names is not None:
        names = index.names.tolist()
        need(index.names.ndim == 1 and len(names) == index.size, "names are missing")
        need(len(set(map(safe_key, names))) == len(names), "a name is there twice")
        need(None not in names and len({isinstance(name, str) for name in names}) < 2, "names of several kinds")


stored(check=_check_index)(Index)
