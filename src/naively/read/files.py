"""Files as tables, read whole into memory."""

from __future__ import annotations

import os
from typing import Any

from naively.errors import warn_caller


def is_file(X: Any) -> bool:
    """True if rows are given as the path of a file, or as a request for files."""
    return isinstance(X, (str, os.PathLike)) or type(X).__name__ == "Request"


def read_file(X: Any) -> Any:
    """Read the file at a path, or what a request names, as a table of Arrow."""
    import pyarrow as pa

    from naively.sources.errors import SourceError
    from naively.sources.open import open_source
    from naively.sources.request import Request

    request = X if isinstance(X, Request) else Request(paths=(os.fspath(X),))
    with open_source(request) as source:
        batches = list(source.batches())
        if source.bad_rows:
            warn_caller(f"{source.bad_rows} rows of {source.called} cannot be read and are left out: {source.bad[0]}")
        if not batches:
            raise SourceError(f"{source.called} has no rows")
        return pa.concat_tables(batches)
