"""Tables: choose one of the tables of a database, the sheets of a workbook or the files of an archive."""

from __future__ import annotations

from collections.abc import Sequence

from naively.errors import nearest
from naively.sources.errors import SourceError

_LISTED = 20


def chosen(wanted: str | None, names: Sequence[str], kind: str, file: str) -> str:
    """Return the name that is wanted, or the only one; otherwise raise an error that lists the names.

    >>> chosen(None, ["orders"], "table", "shop.db")
    'orders'
    >>> chosen("order", ["orders", "customers"], "table", "shop.db")
    Traceback (most recent call last):
    naively.sources.errors.SourceError: shop.db: has no table 'order'; did you mean 'orders'? It has: 'orders',
    'customers'
    """
    if not names:
        raise SourceError(f"has no {kind}s; there is nothing to read", file=file)
    if wanted in names:
        return str(wanted)
    listed = ", ".join(map(repr, names[:_LISTED])) + (", ..." if len(names) > _LISTED else "")
    if wanted is not None:
        close = nearest(wanted, names) or "."
        raise SourceError(f"has no {kind} {wanted!r}{close} It has: {listed}", file=file)
    if len(names) > 1:
        advice = f"choose one by --table NAME (Python: table={names[0]!r})"
        raise SourceError(f"has {len(names)} {kind}s: {listed}; {advice}", file=file)
    return names[0]
