"""Writes files so that there is always a whole one: the one before, or the new one."""

from __future__ import annotations

import contextlib
import glob
import io
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from naively.errors import naming

if TYPE_CHECKING:
    from typing_extensions import Buffer

try:
    import fcntl
except ImportError:  # this system has no such locks
    fcntl = None  # type: ignore[assignment]

_PART = ".part"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a file to write to, which replaces `path` once it is whole and on disk; after an error nothing changes."""
    target = Path(os.path.realpath(path))  # a link stays a link
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}{_PART}")
    with contextlib.ExitStack() as undo:
        file = _created(part, path)
        undo.callback(part.unlink, missing_ok=True)
        with file:
            yield file
            file.flush()
            with naming(path):
                os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            part.chmod(target.stat().st_mode & 0o7777)
        os.replace(part, target)
        undo.pop_all()
    _sync_folder(target.parent)


def _created(part: Path, path: str | os.PathLike[str]) -> BinaryIO:
    """Create the new file; if it cannot be made or written, the error names the path that it is for."""
    with naming(path):
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    if fcntl is not None:
        with contextlib.suppress(OSError):  # another process is writing it
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return io.BufferedWriter(_Raw(handle, path))


class _Raw(io.FileIO):
    """An open file whose failed writes name the path that it stands for."""

    def __init__(self, handle: int, path: str | os.PathLike[str]):
        super().__init__(handle, "wb")
        self._path = path

    def write(self, data: Buffer) -> int:
        with naming(self._path):
            return super().write(data)


def _sync_folder(folder: Path) -> None:
    """Write the folder to disk too, where the system allows it, so that the new name survives a crash."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):  # some file systems do not support this
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sweep(path: str | os.PathLike[str]) -> None:
    """Remove the files that killed writers of `path` have left."""
    target = Path(os.path.realpath(path))
    for left in target.parent.glob(f".{glob.escape(target.name)}.????????{_PART}"):
        if _abandoned(left):
            left.unlink(missing_ok=True)


def _abandoned(part: Path) -> bool:
    """True if no process is writing the file; if the system cannot say, it counts as left behind."""
    if fcntl is None:
        return True
    try:
        with part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # removed meanwhile
        return True
    return True
