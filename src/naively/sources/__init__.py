"""Data from anywhere on disk, as a stream of Arrow batches.

    asked        what the user asked for
    files        which files that is
    formats      what is in them
    delimited, records, parquet, ipc, lines, folders, query
                 a reader for each sort of data: its columns, and its rows in order
    exact        types of whole numbers and dates that hold every row of a text file
    engine       DuckDB, which most of them read with
    batches      rows in batches of a fixed size, whatever the pieces they come in
    source       all of it together, as `opening` put it together

Nothing here loads DuckDB or pyarrow before a source is opened.
"""

from naively.sources.errors import BadRow, SourceError
from naively.sources.open import open_source
from naively.sources.request import Asked
from naively.sources.source import Source

__all__ = ["Asked", "BadRow", "Source", "SourceError", "open_source"]
