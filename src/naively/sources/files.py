"""Files: find the files that paths, globs and folders stand for, in the order in which they are read."""

from __future__ import annotations

import errno
import glob
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from naively.errors import nearest
from naively.sources.errors import SourceError
from naively.store import remote

_GLOB = set("*?[")
_MARKERS = ("_SUCCESS", "_metadata", "_common_metadata", "__MACOSX")


@dataclass(frozen=True)
class File:
    """A file with its size and time of change, as they were when it was found."""

    path: str
    size: int
    mtime_ns: int

    @classmethod
    def at(cls, path: str) -> File:
        """Return the file at this path, or raise if it does not exist or cannot be read."""
        if remote.is_remote(path):
            found = remote.find(path)
            return cls(path, found.size or 0, found.stamp)
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                raise SourceError("is not a file that can be read twice; pipe it in, and read '-'", file=path)
            with open(path, "rb"):
                pass
        except OSError as error:
            raise unreadable(path, error) from None
        return cls(path, status.st_size, status.st_mtime_ns)

    @cached_property
    def native(self) -> str:
        """A path in UTF-8, for libraries that take no other: a link to the file if its own name is not UTF-8."""
        try:
            return os.fsencode(self.path).decode()
        except UnicodeDecodeError:
            folder = tempfile.mkdtemp(prefix="naively-")
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
            link = os.path.join(folder, "link")
            os.symlink(os.path.abspath(self.path), link)
            return link


def as_text(name: str) -> str:
    """Return the name of a file or folder as text, with bytes that are not UTF-8 escaped.

    >>> print(as_text(os.fsdecode(b"caf\\xe9")))
    caf\\xe9
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def matching(path: str) -> list[str]:
    """Return the paths that a glob matches, sorted; a path that exists literally is returned as it is."""
    if remote.is_remote(path):
        return remote.matching(path)
    path = os.path.expanduser(path)
    if os.path.lexists(path):
        return [path]
    if _GLOB.isdisjoint(path):
        raise missing(path)
    found = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
    if not found:
        raise SourceError(f"no file matches {path!r}; check the folder and the pattern")
    return found


def under(folder: str) -> list[str]:
    """Return all files in a folder and its sub-folders, sorted, without hidden files and markers such as _SUCCESS."""
    return sorted(_walk(folder))


def sub_folders(folder: str) -> list[str]:
    """Return the names of the folders directly in a folder, sorted."""
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir() and not _is_hidden(entry.name))


def unique(paths: Iterable[str]) -> list[str]:
    """Drop repeated paths, so that no row is counted twice; keep the order."""
    seen: dict[str, str] = {}
    for path in paths:
        seen.setdefault(os.path.realpath(path), path)
    return list(seen.values())


def missing(path: str) -> SourceError:
    """Return the error for a path that does not exist, with the nearest names in its folder."""
    folder, name = os.path.split(path)
    if "://" in path:
        known = ", ".join(f"{scheme}://" for scheme in remote.SCHEMES)
        return SourceError(f"{path}: addresses begin with {known}; copy the file here, or read it with an SQL query")
    if not os.path.isdir(folder or "."):
        return SourceError(f"there is no folder {folder!r}, so {name!r} cannot be read from it")
    close = nearest(name, sorted(as_text(other) for other in os.listdir(folder or ".")))
    return SourceError(f"there is no file '{as_text(path)}'{close or '; check the name and the folder'}")


def unreadable(path: str, error: OSError) -> SourceError:
    """Return the error for a file that the system does not let us read."""
    if error.errno == errno.ENOENT:
        return missing(path)
    return SourceError(f"cannot be read: {error.strerror or error}; check that you may read it", file=path)


def _walk(folder: str) -> Iterator[str]:
    def refuse(error: OSError) -> None:
        raise unreadable(error.filename or folder, error)

    for parent, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        yield from (os.path.join(parent, name) for name in names if not _is_hidden(name))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name in _MARKERS
