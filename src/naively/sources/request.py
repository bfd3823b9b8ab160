"""Request: the data to read, and how to read it."""

from __future__ import annotations

from dataclasses import dataclass

from naively.errors import nearest
from naively.sources.errors import SourceError
from naively.sources.known import FORMATS
from naively.sources.spool import known_encoding

ON_ERROR = ("stop", "skip")
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Request:
    """Files, globs or folders of one format, or an SQL query; and what to do with rows that cannot be read.

    CSV and TSV files may have no header (`no_header`: columns are then called column0, column1, ...), another separator
    (`sep`) and decimal commas (`decimal=","`); text files may have any encoding that Python knows (`encoding`).
    `table` is the table of a database, the sheet of a workbook or the file of a zip archive, where there are several.

    >>> Request(paths=("reviews.csv.gz",), on_error="skip").from_standard_input
    False
    >>> Request(paths=("-",), format="cvs")
    Traceback (most recent call last):
    naively.sources.errors.SourceError: format must be one of csv, tsv, json, jsonl, parquet, arrow, excel, sqlite,
    duckdb, fasttext, folder, lines, got 'cvs'; did you mean 'csv'?
    """

    paths: tuple[str, ...] = ()
    sql: str | None = None
    format: str | None = None
    on_error: str = "stop"
    no_header: bool = False
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    table: str | None = None

    def __post_init__(self) -> None:
        paths = (self.paths,) if isinstance(self.paths, str) else tuple(self.paths)
        object.__setattr__(self, "paths", tuple(str(path) for path in paths))
        if self.format is not None:
            _check("format", self.format, tuple(FORMATS))
        _check("on_error", self.on_error, ON_ERROR)
        if (self.sql is None) == (not self.paths):
            raise SourceError("pass either paths or an SQL query, and not both")
        if self.sql is not None and self.format is not None:
            raise SourceError("a query needs no format: it reads its files itself")
        if self.sql is not None and self.table is not None:
            raise SourceError("a query names its tables itself: leave table out")
        self._check_text_options()
        if STANDARD_INPUT in self.paths and len(self.paths) > 1:
            raise SourceError("standard input ('-') cannot be read together with files")

    def _check_text_options(self) -> None:
        for name in ("no_header", "sep", "decimal", "encoding"):
            if self.sql is not None and getattr(self, name):
                raise SourceError(f"a query reads its files itself: write {name} into it, as an option of read_csv")
        if self.of_delimited_files and self.format not in (None, "csv", "tsv"):
            raise SourceError(f"no_header, sep and decimal are for csv and tsv, got the format {self.format!r}")
        if self.sep is not None:
            object.__setattr__(self, "sep", {"tab": "\t", "\\t": "\t"}.get(self.sep, self.sep))
            if len(self.sep.encode()) != 1 or self.sep in '"\n\r':
                raise SourceError(f"sep must be one character, such as ',', ';' or 'tab', got {self.sep!r}")
        if self.decimal is not None and (self.decimal not in (".", ",") or self.decimal == self.sep):
            other = f", and not that of sep ({self.sep!r})" if self.decimal == self.sep else ""
            raise SourceError(f"decimal must be '.' or ','{other}, got {self.decimal!r}")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", known_encoding(self.encoding))

    @property
    def of_delimited_files(self) -> bool:
        """True if an option was given that only CSV and TSV files have."""
        return self.no_header or self.sep is not None or self.decimal is not None

    @property
    def from_standard_input(self) -> bool:
        return self.paths == (STANDARD_INPUT,)

    @property
    def skips(self) -> bool:
        """True if bad rows are left out."""
        return self.on_error == "skip"


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise SourceError(f"{name} must be one of {', '.join(known)}, got {value!r}{nearest(value, known)}")
