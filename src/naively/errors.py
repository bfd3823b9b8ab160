"""Errors and warnings that naively raises.

    NaivelyError
    ├── InputError       rows, labels, weights or parameters that cannot be used
    │   └── NoCounts     a model that was saved without its counts cannot do something that needs them
    ├── FileError        the file is not a model, is damaged, or has another version
    └── NegativeCount    rows were to be forgotten that were never counted

All of them are `ValueError`s, as scikit-learn's users expect. `DataWarning` warns of data that can be used, but may
be other than the user thinks.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class NaivelyError(ValueError):
    """The root of all errors raised by naively."""


class InputError(NaivelyError):
    """Rows, labels, weights or parameters that cannot be used."""


class NoCounts(InputError, AttributeError):
    """Raised when a model that was saved without its counts is used for something that needs them.

    It is an `AttributeError` too, since such a model has no counts.
    """


class FileError(NaivelyError):
    """Raised for a file that is not a model, is damaged, or was written by another version."""


class NegativeCount(NaivelyError):
    """Raised when rows are to be forgotten that were never counted; nothing has changed then."""


class DataWarning(UserWarning):
    """Warns of data that can be used, but may be other than the user thinks."""


def warn_caller(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn, naming the line of the first caller outside this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "naively":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def naming(name: str | os.PathLike[str]) -> Iterator[None]:
    """Replace the file name in errors of the operating system by `name`; the class of the error stays the same."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(name)) from None


def nearest(name: object, known: Iterable[object], *, cutoff: float = 0.6) -> str:
    """Return the known names most similar to an unknown one, as the end of a sentence.

    `cutoff` is the least similarity, from 0 to 1.

    >>> nearest("agee", ["age", "sex", "page"])
    "; did you mean 'age' or 'page'?"
    >>> nearest("zzz", ["age"])
    ''
    """
    import difflib  # --help does not need it

    close = difflib.get_close_matches(str(name), [str(k) for k in known], n=3, cutoff=cutoff)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
