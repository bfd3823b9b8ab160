"""What can go wrong.

NaivelyError
├── InputError       rows, labels, weights or parameters that cannot be used
│   └── NoCounts     something that needs counts, asked of a model that was saved without them
├── FileError        a file that is no model, or damaged
└── NegativeCount    forgetting what was never counted

All of them are `ValueError`s, as scikit-learn's users expect. `DataWarning` tells of data that can be used, but may
not be what they seem.
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
    """Counts, asked of a model that was saved without them; also an `AttributeError`, since it has none."""


class FileError(NaivelyError):
    """A file that is no model, is damaged, or was written by another version."""


class NegativeCount(NaivelyError):
    """Forgetting what was never counted; nothing was changed."""


class DataWarning(UserWarning):
    """Data that can be used, but may not be what they seem."""


def warn_caller(message: str, category: type[Warning] = DataWarning) -> None:
    """Warn, and name the line of the first caller outside of this package."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "naively":
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def naming(name: str | os.PathLike[str]) -> Iterator[None]:
    """Raise an error of the system again with this name for its file; its class stays the same."""
    try:
        yield
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(name)) from None


def nearest(name: object, known: Iterable[object], *, cutoff: float = 0.6) -> str:
    """The known names closest to an unknown one, as the end of a sentence; `cutoff` is how alike they must be, 0 to 1.

    >>> nearest("agee", ["age", "sex", "page"])
    "; did you mean 'age' or 'page'?"
    >>> nearest("zzz", ["age"])
    ''
    """
    import difflib  # which --help can do without

    close = difflib.get_close_matches(str(name), [str(k) for k in known], n=3, cutoff=cutoff)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
