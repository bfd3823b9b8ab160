"""Asked: what the user asked for."""

from __future__ import annotations

from dataclasses import dataclass

from naively.errors import nearest
from naively.sources.trouble import SourceError

FORMATS = ("csv", "tsv", "json", "jsonl", "parquet", "arrow", "fasttext", "folder", "lines")
ON_ERROR = ("stop", "skip")
STANDARD_INPUT = "-"


@dataclass(frozen=True)
class Asked:
    """Files, globs or folders of one format, or a query; and what to do with rows that cannot be read.

    >>> Asked(paths=("reviews.csv.gz",), on_error="skip").from_standard_input
    False
    >>> Asked(paths=("-",), format="cvs")
    Traceback (most recent call last):
    naively.sources.trouble.SourceError: format must be one of csv, tsv, json, jsonl, parquet, arrow, fasttext, folder,
    lines, got 'cvs'; did you mean 'csv'?
    """

    paths: tuple[str, ...] = ()
    sql: str | None = None
    format: str | None = None
    on_error: str = "stop"

    def __post_init__(self) -> None:
        paths = (self.paths,) if isinstance(self.paths, str) else tuple(self.paths)
        object.__setattr__(self, "paths", tuple(str(path) for path in paths))
        if self.format is not None:
            _check("format", self.format, FORMATS)
        _check("on_error", self.on_error, ON_ERROR)
        if (self.sql is None) == (not self.paths):
            raise SourceError("pass either paths or an SQL query, and not both")
        if self.sql is not None and self.format is not None:
            raise SourceError("a query needs no format: it reads its files itself")
        if STANDARD_INPUT in self.paths and len(self.paths) > 1:
            raise SourceError("standard input ('-') cannot be read together with files")

    @property
    def from_standard_input(self) -> bool:
        return self.paths == (STANDARD_INPUT,)

    @property
    def skips(self) -> bool:
        """Whether bad rows are left out."""
        return self.on_error == "skip"


def _check(what: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise SourceError(f"{what} must be one of {', '.join(known)}, got {value!r}{nearest(value, known)}")
