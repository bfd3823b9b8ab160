"""Lines: one text per line, with or without fastText labels, from files or from standard input.

Standard input is handed on as it arrives: what arrives within a moment is one batch, so that a person who types lines
gets an answer to each at once. Bytes that are not UTF-8 are decoded as Latin-1, line by line.
"""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress
from typing import Any

from naively.sources.errors import BadRow, SourceError, shortened
from naively.sources.reader import SKIP, Part, Progress
from naively.sources.spool import as_utf_8
from naively.sources.unpack import chunks

_CHUNK = 1 << 20
_PIPE = 1 << 16
_LONGEST_LINE = 256 << 20
_MOMENT = 0.05
_MARK = b"\xef\xbb\xbf"
_LABEL = "__label__"


@dataclass(frozen=True)
class Block:
    """Some whole lines: their bytes, the number of the first line, and how many bytes were read up to their end."""

    data: bytes
    line: int
    read: int

    @property
    def text(self) -> str:
        """All lines, each with its end."""
        if _is_utf_8(self.data):
            return self.data.decode()
        return "".join(decoded(line + b"\n") for line in self.data.split(b"\n")[:-1])

    def array(self) -> Any:
        """The lines as a column of text."""
        import numpy as np
        import pyarrow as pa

        data = self.data if _is_utf_8(self.data) else self.text.encode()
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
        offsets = np.concatenate([[0], ends - np.arange(len(ends))])
        # Copy into Arrow's memory: megabytes that Python holds for the length of a batch fragment its own.
        texts = pa.allocate_buffer(len(data) - len(ends))
        np.frombuffer(texts, dtype=np.uint8)[:] = np.frombuffer(data.replace(b"\n", b""), dtype=np.uint8)
        return pa.LargeStringArray.from_buffers(len(ends), pa.py_buffer(offsets.astype(np.int64)), texts)


@dataclass(frozen=True)
class Lines:
    """Reader of the lines of text files, or of standard input if there are no files; with labels for fastText."""

    parts: tuple[Part, ...]
    labelled: bool
    encoding: str | None = None
    held: list[tuple[bytes, int]] = field(default_factory=list)  # read already, to find the first line

    rows = None

    @property
    def live(self) -> bool:
        return not self.parts

    @cached_property
    def _arriving(self) -> Iterator[tuple[bytes, int]]:
        return _arriving() if self.encoding is None else as_utf_8(_arriving(), self.encoding, None)

    @property
    def first_line(self) -> str:
        """The first line of standard input; `pieces` still yields it with the others."""
        while sum(len(chunk) for chunk, _ in self.held) < _PIPE and not any(b"\n" in chunk for chunk, _ in self.held):
            if (chunk := next(self._arriving, None)) is None:
                break
            self.held.append(chunk)
        return decoded(b"".join(chunk for chunk, _ in self.held).removeprefix(_MARK).partition(b"\n")[0])

    @property
    def columns(self) -> Mapping[str, str]:
        return dict.fromkeys(["text", "label"] if self.labelled else ["text"], "VARCHAR")

    def pieces(self, columns: Sequence[str], progress: Progress) -> Iterator[Any]:
        """Yield all rows."""
        return (piece.select(list(columns)) for piece in self._all("label" in columns, progress))

    def _all(self, needs_label: bool, progress: Progress) -> Iterator[Any]:
        import pyarrow as pa

        for name, block in self._blocks():
            progress.reached(block.read)
            if self.labelled:
                yield _with_labels(block, name, needs_label, progress)
            else:
                yield pa.RecordBatch.from_arrays([block.array()], names=["text"])

    def _blocks(self) -> Iterator[tuple[str | None, Block]]:
        if not self.parts:
            yield from ((None, block) for block in blocks(chain(self.held, self._arriving), None))
        before = 0
        for part in self.parts:
            for block in part_blocks(part):
                yield part.path, Block(block.data, block.line, before + block.read)
            before += part.file.size


def part_blocks(part: Part) -> Iterator[Block]:
    """Yield the lines of a file in blocks."""
    return blocks(chunks(part), part.path)


def blocks(chunks: Iterable[tuple[bytes, int]], file: str | None) -> Iterator[Block]:
    """Regroup chunks of bytes, which may end within a line, into blocks of whole lines."""
    held: list[bytes] = []
    line, read = 1, 0
    for chunk, read in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            data = b"".join((*held, chunk[:end]))
            yield Block(data.removeprefix(_MARK) if line == 1 else data, line, read)
            line += data.count(b"\n")
            held = []
        held.append(chunk[end:])
        if sum(map(len, held)) > _LONGEST_LINE:
            raise SourceError(f"is longer than {_LONGEST_LINE >> 20} MB; is this text?", file=file, line=line)
    rest = b"".join(held)
    if rest:
        yield Block((rest.removeprefix(_MARK) if line == 1 else rest) + b"\n", line, read)


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def decoded(data: bytes) -> str:
    """Decode bytes as UTF-8, or as Latin-1 if they are not UTF-8.

    >>> decoded("café".encode("latin-1")), decoded("café".encode())
    ('café', 'café')
    """
    return data.decode("utf-8" if _is_utf_8(data) else "latin-1")


def _arriving() -> Iterator[tuple[bytes, int]]:
    """Yield standard input in chunks: what arrives within a moment, up to a megabyte."""
    stream: Any = sys.stdin.buffer
    read = 0
    while chunk := stream.read1(_PIPE):
        gathered, until = [chunk], time.monotonic() + _MOMENT
        size = len(chunk)
        while size < _CHUNK and _has_more(stream, until - time.monotonic()):
            chunk = stream.read1(_PIPE)
            if not chunk:
                break
            gathered.append(chunk)
            size += len(chunk)
        read += size
        yield b"".join(gathered), read


def _has_more(stream: Any, seconds: float) -> bool:
    if seconds <= 0:
        return False
    try:
        return bool(select.select([stream], [], [], seconds)[0])
    except (OSError, ValueError):
        return False


def _with_labels(block: Block, file: str | None, needs_label: bool, progress: Progress) -> Any:
    """Split lines into texts and labels; if labels are needed, a line without exactly one label is a bad row."""
    import pyarrow as pa

    lines = block.text.split("\n")[:-1]
    split = [_split(line.rstrip("\r")) for line in lines]
    if needs_label:
        keep = [
            len(labels) == 1
            or (bool(text or labels) and _leave_out(block.line + number, labels, lines[number], file, progress))
            for number, (labels, text) in enumerate(split)
        ]
        split = list(compress(split, keep))
    texts = pa.array([text for _, text in split], pa.large_string())
    labels = pa.array([labels[0] if len(labels) == 1 else None for labels, _ in split], pa.large_string())
    return pa.RecordBatch.from_arrays([texts, labels], names=["text", "label"])


def _leave_out(line: int, labels: Sequence[str], text: str, file: str | None, progress: Progress) -> bool:
    """Count a line without exactly one label as a bad row, or raise; return False, as the line is not kept."""
    problem = f"has {len(labels)} labels" if labels else f"has no label ({_LABEL}...)"
    advice = f"each line must have exactly one; {SKIP}"
    progress.leave_out(BadRow(file, line, "label", problem, shortened(text)), advice)
    return False


def _split(line: str) -> tuple[list[str], str]:
    """Return the labels of a line and its text.

    >>> _split("__label__good what a film")
    (['good'], 'what a film')
    """
    if line.startswith(_LABEL) and line.find(_LABEL, 1) < 0:
        label, _, text = line.partition(" ")
        if "\t" not in label:
            return [label[len(_LABEL) :]], text.lstrip()
    words = line.split()
    labels = [word[len(_LABEL) :] for word in words if word.startswith(_LABEL)]
    return labels, " ".join(word for word in words if not word.startswith(_LABEL)) if labels else line
