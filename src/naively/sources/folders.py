"""Folders: one text per file, in one folder per label, as in 20 Newsgroups."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from naively.sources.errors import SourceError
from naively.sources.files import File, as_text, sub_folders, under, unreadable
from naively.sources.lines import decoded
from naively.sources.reader import Progress
from naively.sources.spool import as_utf_8

_PIECE_FILES = 512
_PIECE_BYTES = 4 << 20


@dataclass(frozen=True)
class Folder:
    """Reader of labelled folders; an empty file is an empty text."""

    texts: tuple[tuple[str, File], ...]
    encoding: str | None = None

    live = False

    @classmethod
    def of(cls, folders: Sequence[str], encoding: str | None = None) -> Folder:
        """Find all files below the sub-folders of these folders; the name of the sub-folder is the label."""
        texts = [
            (label, File.at(path))
            for folder in folders
            for label in sub_folders(folder)
            for path in under(os.path.join(folder, label))
        ]
        if not texts:
            raise SourceError(
                "has no folders with files in them; one folder for each label is expected", file=folders[0]
            )
        return cls(tuple(texts), encoding)

    @property
    def columns(self) -> Mapping[str, str]:
        return dict.fromkeys(["text", "label", "file"], "VARCHAR")

    @property
    def rows(self) -> int:
        return len(self.texts)

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all texts."""
        held: list[tuple[str, str, str]] = []
        size = read = 0
        for label, file in self.texts:
            held.append((_text(file.path, self.encoding), as_text(label), as_text(file.path)))
            size += file.size
            read += file.size
            progress.reached(read)
            if len(held) == _PIECE_FILES or size >= _PIECE_BYTES:
                yield _piece(held).select(list(columns))
                held, size = [], 0
        if held:
            yield _piece(held).select(list(columns))


def _text(path: str, encoding: str | None) -> str:
    try:
        with open(path, "rb") as stream:
            data = stream.read()
    except OSError as error:
        raise unreadable(path, error) from None
    if encoding is None:
        return decoded(data)
    return b"".join(piece for piece, _ in as_utf_8([(data, len(data))], encoding, path)).decode()


def _piece(rows: list[tuple[str, str, str]]) -> Any:
    import pyarrow as pa

    columns = [pa.array(values, pa.large_string()) for values in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays(columns, names=["text", "label", "file"])
