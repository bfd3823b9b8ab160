"""The container: one file of the safetensors format, with a JSON document that describes its arrays.

Arrays are read in place (memory-mapped). First of all, sizes are compared with the size of the file, and the header
with
its digest. Each array has a digest too: all are compared at once if the file is small, otherwise on request.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from math import prod
from typing import BinaryIO, TypeAlias

import numpy as np

from naively.arrays import Array, DType
from naively.errors import FileError
from naively.store.registry import Json

VERSION = 5
OLDEST = 5
"""The oldest version that is read: the first one that is kept for good."""
_VERSION_NUMBER = re.compile("[1-9][0-9]{0,5}")
SMALL = 16 << 20
"""For files of up to this many bytes, all arrays are compared with their digests when they are opened."""
_LARGEST_HEADER = 100 << 20
_MOST_AXES = 4
_NO_DIGEST = "0" * 64
_BEGINNING = b'{"__metadata__":{"format":"naively"'
_TYPES = {
    "F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1",
}  # fmt: skip
Document: TypeAlias = dict[str, Json]
_NAMES = {np.dtype(kind): name for name, kind in _TYPES.items()}


def write(path: str | os.PathLike[str], document: Document, arrays: Mapping[str, Array]) -> None:
    """Write a whole file, or leave the old one as it was."""
    from naively.store.atomic import replacing

    pieces = _pieces(document, arrays)
    with replacing(path) as file:
        for piece in pieces:
            file.write(piece)


def to_bytes(document: Document, arrays: Mapping[str, Array]) -> bytes:
    """Return what `write` would write."""
    return b"".join(_pieces(document, arrays))


def _pieces(document: Document, arrays: Mapping[str, Array]) -> list[bytes | memoryview]:
    """Return the bytes of a file, one piece after another."""
    ready = {name: _as_stored(name, array) for name, array in arrays.items()}
    # larger items first, so that each array is aligned
    names = sorted(ready, key=lambda name: (-ready[name].dtype.itemsize, name))
    digests: Json = {name: _digest(_bytes(ready[name])) for name in names}
    header = _header({**document, "digests": digests}, {name: ready[name] for name in names})
    if len(header) > _LARGEST_HEADER:
        raise FileError(
            f"the names in this model take {len(header):,} bytes, more than the {_LARGEST_HEADER:,} of a file"
        )
    return [len(header).to_bytes(8, "little"), header, *(_bytes(ready[name]) for name in names)]


def _as_stored(name: str, array: Array) -> Array:
    if array.dtype.newbyteorder("<") not in _NAMES:
        raise FileError(f"{name}: an array of {array.dtype} cannot be written")
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def _bytes(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _digest(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()


def _header(document: Document, arrays: Mapping[str, Array]) -> bytes:
    at, entries = 0, {}
    for name, array in arrays.items():
        entries[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    model = json.dumps(document, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    about = {"format": "naively", "version": str(VERSION), "digest": _NO_DIGEST, "model": model}
    header = json.dumps({"__metadata__": about, **entries}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return header.replace(_NO_DIGEST.encode(), _digest(header).encode(), 1)


@dataclass(frozen=True, eq=False)
class Contents:
    """An opened file: its document, and its arrays in place."""

    path: str
    size: int
    document: Document
    arrays: dict[str, Array]

    def verify(self) -> None:
        """Compare every array with its digest."""
        for name in self.arrays:
            self.verify_one(name)

    def verify_one(self, name: str) -> None:
        if name not in self._unverified:
            return
        if _digest(_bytes(self.arrays[name])) != self.part("digests").get(name):
            raise FileError(f"{self.path}: the file is damaged (array {name!r} is not what was written)")
        self._unverified.discard(name)

    def part(self, name: str) -> Document:
        """Return a part of the document, by name; raise FileError if it has no such part."""
        found = self.document.get(name)
        if not isinstance(found, dict):
            raise FileError(f"{self.path}: the file is damaged (its {name})")
        return found

    @cached_property
    def _unverified(self) -> set[str]:
        return set(self.arrays)

    @property
    def small(self) -> bool:
        return self.size <= SMALL

    @property
    def verified(self) -> bool:
        """True if every array was compared with its digest."""
        return not self._unverified


def read(path: str | os.PathLike[str]) -> Contents:
    """Open a file; raise FileError, before its numbers are used, if it is damaged or not a model."""
    name = os.fspath(path)
    with open(path, "rb", opener=_at_once) as file:
        status = os.fstat(file.fileno())
        size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            raise FileError(f"{name}: is a pipe or a device, and a model is read from a file; write it to one first")
        return _contents(name, size, file, lambda begin: _data(file, begin, size))


def from_bytes(data: object) -> Contents:
    """Open the bytes of a file, which may be compressed; raises FileError as `read` does."""
    from naively.store.packed import unpacked

    plain = unpacked(_bytes_of(data))
    return _contents("the bytes of a model", len(plain), BytesIO(plain), lambda begin: memoryview(plain)[begin:])


def _bytes_of(data: object) -> bytes:
    try:
        return data if isinstance(data, bytes) else memoryview(data).tobytes()  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"a model is read from bytes, got {type(data).__name__}; naively.load reads a file") from None


def _contents(name: str, size: int, file: BinaryIO, data_from: Callable[[int], memoryview]) -> Contents:
    """Read the beginning of a file, and make arrays of the data behind it."""
    if size < 8:
        raise FileError(f"{name}: no model of naively: it has {size} bytes")
    long = int.from_bytes(file.read(8), "little")
    if not 2 <= long <= min(size - 8, _LARGEST_HEADER) or long % 8:
        raise FileError(f"{name}: no model of naively, or cut off or damaged (it does not begin like one)")
    entries, document = _opened(name, file.read(long))
    arrays = _arrays(name, entries, data_from(8 + long))
    contents = Contents(name, size, document, arrays)
    if arrays.keys() != contents.part("digests").keys():
        raise FileError(f"{name}: the file is damaged (arrays and digests do not match)")
    if contents.small:
        contents.verify()
    return contents


def is_model(path: str | os.PathLike[str]) -> bool:
    """True if there is a file that begins like a model.

    >>> is_model(__file__)
    False
    """
    try:
        with open(path, "rb", opener=_at_once) as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            return regular and file.read(8 + len(_BEGINNING))[8:] == _BEGINNING
    except (OSError, ValueError):
        return False


def _at_once(path: str, flags: int) -> int:
    """Open without waiting for a writer, as a named pipe would."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _data(file: BinaryIO, begin: int, size: int) -> memoryview:
    """Return the bytes behind the header: of a small file read, so that nobody can change them, otherwise mapped."""
    if size <= SMALL or size == begin:
        return memoryview(file.read(size - begin))
    return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))[begin:]


def _opened(path: str, header: bytes) -> tuple[Document, Document]:
    """Return the list of arrays and the document in a header."""
    try:
        entries = json.loads(header)
        about = entries.pop("__metadata__")
        known = about.get("format") == "naively"
    except (ValueError, RecursionError, KeyError, AttributeError, TypeError):
        raise FileError(f"{path}: no model of naively, or damaged (its header cannot be read)") from None
    if not known:
        raise FileError(f"{path}: a file of safetensors, but no model of naively")
    version = about.get("version")
    number = int(version) if isinstance(version, str) and _VERSION_NUMBER.fullmatch(version) else 0
    if not OLDEST <= number <= VERSION:
        older = "train the model again" if number else "it is damaged"
        what = "update naively to read it" if number > VERSION else older
        raise FileError(f"{path}: version {version!r} of the format, here version {VERSION} is read: {what}")
    digest = about.get("digest")
    if not isinstance(digest, str) or not digest.isalnum() or not digest.isascii() or len(digest) != 64:
        raise FileError(f"{path}: the file is damaged (its digest)")
    if header.count(digest.encode()) != 1:
        raise FileError(f"{path}: the file is damaged (its digest)")
    if _digest(header.replace(digest.encode(), _NO_DIGEST.encode(), 1)) != digest:
        raise FileError(f"{path}: the file is damaged (its header is not what was written)")
    try:
        document = json.loads(about["model"])
    except (ValueError, RecursionError, KeyError, TypeError):
        document = None
    if not isinstance(document, dict):
        raise FileError(f"{path}: the file is damaged (its document cannot be read)")
    return entries, document


@dataclass(frozen=True)
class _Entry:
    """The type, the shape and the place of an array."""

    kind: DType
    shape: tuple[int, ...]
    begin: int
    end: int

    @classmethod
    def of(cls, node: Json) -> _Entry:
        """Return the entry that some JSON stands for; raise ValueError for one that makes no sense."""
        if not isinstance(node, dict):
            raise ValueError("an entry that is none")
        kind, shape, offsets = np.dtype(_TYPES[str(node["dtype"])]), _whole(node["shape"]), _whole(node["data_offsets"])
        begin, end = offsets
        if len(shape) > _MOST_AXES or end - begin != prod(shape) * kind.itemsize or begin % kind.itemsize:
            raise ValueError("an array that does not fit its place")
        return cls(kind, shape, begin, end)


def _whole(node: Json) -> tuple[int, ...]:
    numbers = tuple(n for n in node if type(n) is int and 0 <= n < 1 << 48) if isinstance(node, list) else ()
    if not isinstance(node, list) or len(numbers) != len(node):
        raise ValueError("numbers that are none")
    return numbers


def _arrays(path: str, listed: Document, data: memoryview) -> dict[str, Array]:
    """Return every array in place: they fill the file without gaps, and none is larger than its bytes."""
    arrays: dict[str, Array] = {}
    try:
        entries = {name: _Entry.of(node) for name, node in listed.items()}
    except (ValueError, KeyError, OverflowError):
        raise FileError(f"{path}: the file is damaged (its list of arrays)") from None
    at = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != at:
            raise FileError(f"{path}: the file is damaged (its list of arrays)")
        at = entry.end
        if at > len(data):
            raise FileError(f"{path}: the file is cut off: {len(data):,} bytes of data are there, {at:,} promised")
        flat = np.frombuffer(data[entry.begin : at], entry.kind) if at > entry.begin else np.zeros(0, entry.kind)
        arrays[name] = flat.reshape(entry.shape)
    if at != len(data):
        raise FileError(f"{path}: the file is damaged ({len(data) - at:,} bytes too many)")
    return arrays
