"""Tallies as Arrow tables, stored and checked as in a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from naively.count import exact_pairs, number_counts, stored_vocabulary  # noqa: F401  which register
from naively.count.tally import Tally
from naively.errors import InputError
from naively.store.arrow import from_table, to_table
from naively.store.codec import Reader, Writer
from naively.store.damage import Damage
from naively.store.verify import verify

if TYPE_CHECKING:
    import pyarrow as pa


def tally_to_arrow(tally: Tally) -> pa.Table:
    """Return a table of one row that holds the tally."""
    writer = Writer()
    return to_table(writer.put(tally, "tally"), writer.arrays)


def tally_from_arrow(table: pa.Table) -> Tally:
    """Return the tally that a table holds; raise InputError for one that is damaged."""
    try:
        document, arrays = from_table(table)
        tally = Reader(arrays).of(Tally, document)
        verify(tally)
    except Damage as error:
        raise InputError(f"from Arrow: the table is damaged ({error.what})") from None
    return tally
