"""Locks: only one command at a time changes a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from naively.errors import FileError, InputError
from naively.store.atomic import sweep

try:
    import fcntl
except ImportError:  # without such locks, the mere presence of the file is one
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], waiting: Callable[[], object] | None = None) -> Iterator[None]:
    """Hold the lock of a file; if another process holds it, call `waiting` once and wait.

    The lock ends with the process, however that ends. Where the system has no locks, a file stands for one.
    """
    target = Path(os.path.realpath(path))
    mark = target.with_name(f".{target.name}.lock")
    if not target.parent.is_dir():
        raise FileError(f"{os.fspath(path)}: there is no folder {str(target.parent)!r}")
    try:
        handle = _taken(mark) if fcntl is None else _locked(mark, waiting)
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be written there ({error.strerror or error})") from None
    try:
        sweep(target)
        yield
    finally:
        if fcntl is None:  # there an open file cannot be removed
            os.close(handle)
        with contextlib.suppress(OSError):
            mark.unlink()
        if fcntl is not None:  # removed before it is released, or another process's would be removed
            os.close(handle)


def _locked(mark: Path, waiting: Callable[[], object] | None) -> int:
    while True:
        handle = os.open(mark, os.O_RDWR | os.O_CREAT, 0o666)
        with contextlib.ExitStack() as closing:
            closing.callback(os.close, handle)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting is not None:
                    waiting()
                    waiting = None
                fcntl.flock(handle, fcntl.LOCK_EX)
            if _is(mark, handle):  # otherwise the former holder has removed it meanwhile
                closing.pop_all()
                return handle


def _is(mark: Path, handle: int) -> bool:
    """True if the open file still has this name."""
    try:
        return os.path.samestat(os.stat(mark), os.fstat(handle))
    except FileNotFoundError:
        return False


def _taken(mark: Path) -> int:
    try:
        return os.open(mark, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        raise InputError(
            f"another command is changing this model; wait for it to end (or, if none is at work, delete {mark})"
        ) from None
