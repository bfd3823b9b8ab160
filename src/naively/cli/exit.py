"""Exit codes and messages for errors: one line for people, one exit code for scripts.

With NAIVELY_DEBUG=1 in the environment the traceback is printed as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from naively.cli.console import Console

DONE = 0
UNUSABLE = 1
WRONG_USAGE = 2
SKIPPED = 3
BUG = 70
INTERRUPTED = 130
BROKEN_PIPE = 141

MEANINGS = {
    DONE: "done",
    UNUSABLE: "the data, the model or a file cannot be used",
    WRONG_USAGE: "the command line was not understood",
    SKIPPED: "done, but bad rows were left out (--on-error skip)",
    BUG: "a mistake in naively itself",
    INTERRUPTED: "interrupted by Ctrl-C",
    BROKEN_PIPE: "the reader of the output went away, as head does",
}


class UsageError(Exception):
    """Raised for a wrong command line, or for options that do not go together; the exit code is 2."""

    def __init__(self, message: str, command: str | None = None):
        super().__init__(message)
        self.message = message
        self.command = command


def exit_code(failure: BaseException, console: Console, command: str | None = None) -> int:
    """Report a failure on standard error, and return the exit code."""
    if isinstance(failure, SystemExit):
        try:
            console.flush()
        except OSError as unwritten:
            return exit_code(unwritten, console, command)
        return failure.code if isinstance(failure.code, int) else DONE if failure.code is None else UNUSABLE
    with suppress(OSError):
        console.clear()
        if os.environ.get("NAIVELY_DEBUG", "0") not in ("", "0"):
            _trace(failure)
        return _report(failure, console, command)
    return BROKEN_PIPE if isinstance(failure, BrokenPipeError) else UNUSABLE


def _report(failure: BaseException, console: Console, command: str | None) -> int:
    if isinstance(failure, BrokenPipeError):
        return BROKEN_PIPE
    if isinstance(failure, KeyboardInterrupt):
        console.interrupted()
        return INTERRUPTED
    if isinstance(failure, UsageError):
        console.error(f"{failure.message}\n{_hint(failure.command or command)}")
        return WRONG_USAGE
    message = _message(failure)
    if message is not None:
        console.error(message)
        return UNUSABLE
    console.error(
        f"{type(failure).__name__}: {failure}\nthis is a bug: please report it; NAIVELY_DEBUG=1 shows where it is"
    )
    return BUG


def _hint(command: str | None) -> str:
    """Return the hint to the help, for wrong usage."""
    return f"try 'naively {f'{command} ' if command else ''}--help'"


def _message(failure: BaseException) -> str | None:
    """Return the message for a failure that users can cause; None for a bug of naively."""
    from naively.errors import NaivelyError

    if isinstance(failure, NaivelyError):
        return str(failure).replace("on_error='skip'", "--on-error skip")
    if isinstance(failure, OSError):
        return _file_message(failure)
    if isinstance(failure, MemoryError):
        return f"not enough memory{f': {failure}' if str(failure) else ''}"
    return None


def _file_message(failure: OSError) -> str:
    names = [_name(name) for name in (failure.filename, failure.filename2) if name is not None]
    reason = failure.strerror or str(failure) or type(failure).__name__
    return f"{' -> '.join(names)}: {reason}" if names else reason


def _name(name: Any) -> str:
    return os.fsdecode(name) if isinstance(name, (str, bytes, os.PathLike)) else f"file {name}"


def _trace(failure: BaseException) -> None:
    import traceback

    traceback.print_exception(type(failure), failure, failure.__traceback__)


@contextmanager
def warnings_on(console: Console) -> Iterator[None]:
    """Write Python's warnings to the console, each once."""
    import warnings

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        console.warn(str(message))

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def flush_streams() -> None:
    """Flush the standard streams; send one that cannot be flushed to the null device, so that Python does not retry."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            _drop(stream)


def _drop(stream: Any) -> None:
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
