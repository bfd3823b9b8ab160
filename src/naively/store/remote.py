"""Remote files: what lies in object stores and on web servers, read as streams.

`s3://` and `gs://` are read by `pyarrow.fs`, `https://` and `http://` by fsspec, `hf://` by huggingface_hub.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO, Protocol, cast

from naively.errors import FileError

STORES = ("s3", "gs")
SCHEMES = (*STORES, "http", "https", "hf")
_MAGIC = "*?["
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""Variables of the environment, as Amazon's own tools read them."""


class FileSystem(Protocol):
    """A place of remote files, as fsspec's classes are."""

    def info(self, path: str) -> Mapping[str, object]: ...

    def find(self, path: str) -> Iterable[str]: ...

    def glob(self, path: str) -> Iterable[str]: ...

    def open(self, path: str, mode: str) -> BinaryIO: ...


@dataclass(frozen=True)
class Found:
    """A remote file: its size (None: the server does not say), what changes with it, and whether parts can be read."""

    path: str
    size: int | None
    stamp: int
    by_parts: bool


def is_remote(path: object) -> bool:
    """True for addresses of remote files.

    >>> is_remote("s3://bucket/rows.parquet"), is_remote("rows.parquet")
    (True, False)
    """
    scheme, mark, _ = str(path).partition("://") if isinstance(path, (str, os.PathLike)) else ("", "", "")
    return bool(mark) and scheme in SCHEMES


@lru_cache(maxsize=64)
def _opened_store(root: str) -> FileSystem:
    """Return the file system of a bucket, as fsspec's interface."""
    from fsspec.implementations.arrow import ArrowFSWrapper

    class Store(ArrowFSWrapper):  # type: ignore[misc]
        """Takes addresses as they are written, and opens files so that their parts can be read."""

        protocol = root.partition("://")[0]
        cachable = False

        def _open(self, path: str, mode: str = "rb", block_size: int | None = None, **options: object) -> object:
            return super()._open(path, mode, block_size, seekable=True)

    return cast(FileSystem, Store(_store_of(root)))


def _store_of(root: str) -> object:
    """Return pyarrow's file system; the region of a bucket is looked up only where the environment names none."""
    import pyarrow.fs

    named = {name: os.environ.get(name) for name in (*_REGIONS, *_ENDPOINTS)}
    region, endpoint = (next(filter(None, map(named.get, names)), None) for names in (_REGIONS, _ENDPOINTS))
    if root.startswith("s3://") and (region or endpoint):
        return pyarrow.fs.S3FileSystem(region=region, endpoint_override=endpoint)
    return pyarrow.fs.FileSystem.from_uri(root)[0]


def filesystem(path: str) -> FileSystem:
    """Return fsspec's interface to where a remote file lies."""
    scheme, _, rest = path.partition("://")
    with _readable(path):
        if scheme in STORES:
            return _opened_store(f"{scheme}://{rest.split('/')[0]}")
        import fsspec

        return cast(FileSystem, fsspec.filesystem("https" if scheme in ("http", "https") else scheme))


def find(path: str) -> Found:
    """Return a remote file; raise FileError if it is not there."""
    with _readable(path):
        about = filesystem(path).info(path)
    if about.get("type") == "directory":
        raise FileError(f"{path}: is a folder; write {path.rstrip('/')}/ to read all files in it")
    size = about.get("size")
    marks = [str(about.get(name)) for name in ("ETag", "mtime", "last_modified", "Last-Modified", "blob_id", "size")]
    stamp = int.from_bytes(hashlib.sha256("|".join(marks).encode()).digest()[:7], "big")
    web = path.startswith("http")
    size = size if isinstance(size, int) else None
    return Found(path, size, stamp, by_parts=bool(about.get("partial")) if web else True)


def matching(path: str) -> list[str]:
    """Return the files that an address stands for, sorted: those of a folder, those that a pattern matches, or itself.

    A question mark in an address of the web begins a query, and is no pattern.
    """
    scheme = path.partition("://")[0]
    web = scheme in ("http", "https")
    with _readable(path):
        if path.endswith("/") and not web:
            names = filesystem(path).find(path)
        elif not web and any(mark in path for mark in _MAGIC):
            names = filesystem(path).glob(path)
        else:
            return [path]
    found = sorted(f"{scheme}://{str(name).removeprefix(f'{scheme}://')}" for name in names)
    found = [name for name in found if not name.rsplit("/", 1)[1].startswith((".", "_"))]
    if not found:
        raise FileError(f"{path}: no file matches; check the address")
    return found


def opened(path: str) -> BinaryIO:
    """Open a remote file to be read from its beginning on."""
    with _readable(path):
        return filesystem(path).open(path, "rb")


def read(path: str) -> bytes:
    """Return a whole remote file."""
    with _readable(path), opened(path) as file:
        return file.read()


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Name the file in every error of the libraries that read it."""
    try:
        yield
    except FileError:
        raise
    except ImportError as error:
        raise FileError(f'{path}: remote files need the library {error.name}: pip install "naively[remote]"') from None
    except Exception as error:  # each library has errors of its own; fsspec calls all of the web FileNotFoundError
        cause = error.__cause__ or error
        if isinstance(cause, FileNotFoundError) or getattr(cause, "status", None) == 404:
            raise FileError(f"{path}: there is no such file; check the address") from None
        raise FileError(f"{path}: cannot be read ({type(cause).__name__}: {cause})") from None
