"""Spool: copies of text files that DuckDB can read: as UTF-8, without a byte-order mark, with one kind of line end.

They are written piece by piece into the engine's temporary folder, and are removed when the engine is closed.
"""

from __future__ import annotations

import codecs
import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace

from naively.errors import nearest
from naively.sources.duck import Engine
from naively.sources.errors import SourceError
from naively.sources.reader import Part
from naively.sources.unpack import chunks

MARK = b"\xef\xbb\xbf"
_COMMON = (
    "utf-8",
    "latin-1",
    "cp1252",
    "iso8859-15",
    "utf-16",
    "utf-32",
    "cp1250",
    "cp1251",
    "shift_jis",
    "gb18030",
    "big5",
)
_UTF_8 = ("utf-8", "utf-8-sig", "ascii")


def known_encoding(name: str) -> str | None:
    """Return Python's name of an encoding, or None for UTF-8, which need not be decoded; raise for an unknown encoding.

    >>> known_encoding("Latin-1"), known_encoding("UTF8")
    ('iso8859-1', None)
    """
    try:
        codec = codecs.lookup(name)
        "".encode(name)  # raises for codecs that are no encodings of text
    except (LookupError, UnicodeError):
        close = nearest(name, _COMMON)
        raise SourceError(
            f"encoding must be one that Python knows, such as {', '.join(_COMMON[:5])}, got {name!r}{close}"
        ) from None
    return None if codec.name in _UTF_8 else codec.name


def as_utf_8(pieces: Iterable[tuple[bytes, int]], encoding: str, file: str | None) -> Iterator[tuple[bytes, int]]:
    """Convert pieces to UTF-8; yield each with the number of bytes read so far."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line, read = 1, 0
    try:
        for piece, read in pieces:
            text = decoder.decode(piece)
            line += text.count("\n")
            yield text.encode(), read
        yield decoder.decode(b"", final=True).encode(), read
    except UnicodeError as error:
        if isinstance(error, UnicodeDecodeError):
            line += error.object[: error.start].decode(encoding, "ignore").count("\n")
        raise SourceError(
            f"is not encoded as {encoding} ({error}); pass another encoding", file=file, line=line
        ) from None


def decoded_copy(part: Part, encoding: str, engine: Engine) -> Part:
    """Copy a part to a file in UTF-8, and return it with that copy."""
    return _copy(part, (piece for piece, _ in as_utf_8(chunks(part), encoding, part.path)), engine)


def unpacked_copy(part: Part, engine: Engine) -> Part:
    """Copy a part to a file without its compression, and return it with that copy."""
    return _copy(part, (piece for piece, _ in chunks(part)), engine)


def without_mark(part: Part, engine: Engine) -> Part:
    """Copy a part to a file without its byte-order mark, and return it with that copy."""

    def rest() -> Iterator[bytes]:
        for number, (piece, _) in enumerate(chunks(part)):
            yield piece.removeprefix(MARK) if number == 0 else piece

    return _copy(part, rest(), engine)


def with_line_feeds(part: Part, quote: str, engine: Engine) -> Part:
    """Copy a part to a file with line feeds as line ends, except within quotes, and return it with that copy."""
    ends = LineEnds(quote)

    def lines() -> Iterator[bytes]:
        for piece, _ in chunks(part):
            yield ends.see(piece)
        yield ends.finish()

    return _copy(part, lines(), engine)


def with_empty_lines(part: Part, wanted: bytes, engine: Engine) -> tuple[Part, list[int]]:
    """Copy a part to a file where lines equal to an earlier one are empty; return the numbers of these lines."""
    found: list[int] = []

    def lines() -> Iterator[bytes]:
        seen = False
        for number, line in enumerate(_lines(part), 1):
            same = line.removeprefix(MARK).rstrip(b"\r\n") == wanted
            if same and seen:
                found.append(number)
            yield b"\n" if same and seen else line
            seen = seen or same

    return _copy(part, lines(), engine), found


def _lines(part: Part) -> Iterator[bytes]:
    """Yield the lines of a file, each with its line feed."""
    rest = b""
    for piece, _ in chunks(part):
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line + b"\n" for line in whole)
    yield rest


def _copy(part: Part, pieces: Iterable[bytes], engine: Engine) -> Part:
    path = os.path.join(engine.folder, secrets.token_hex(8))
    with open(path, "wb") as spool:
        for piece in pieces:
            try:
                spool.write(piece)
            except OSError as error:
                raise no_room(part.path, error) from None
    return replace(part, stored=path, content=replace(part.content, compression="none"))


def no_room(name: str, error: OSError) -> SourceError:
    """Return the error for a temporary file that cannot be written."""
    problem = f"cannot be written to a temporary file in {tempfile.gettempdir()} ({error.strerror})"
    return SourceError(f"{problem}; set the environment variable TMPDIR to a folder with more room", file=name)


class LineEnds:
    r"""Converts line ends outside quotes to line feeds, and collects the kinds that it met.

    >>> ends = LineEnds('"')
    >>> ends.see(b'a,b\r\n"x\r\ny",1\n') + ends.finish(), sorted(ends.kinds)
    (b'a,b\n"x\r\ny",1\n', [b'\n', b'\r\n'])
    """

    def __init__(self, quote: str) -> None:
        self.kinds: set[bytes] = set()
        self._quote = quote.encode()
        self._inside = False
        self._held = b""

    def see(self, piece: bytes) -> bytes:
        """Convert the next piece; a carriage return at its end is held back."""
        piece = self._held + piece
        self._held = b""
        if b"\r" not in piece:
            if b"\n" in piece:
                self.kinds.add(b"\n")
            self._inside ^= bool(self._quote) and piece.count(self._quote) % 2 == 1
            return piece
        if piece.endswith(b"\r"):
            piece, self._held = piece[:-1], b"\r"
        parts = piece.split(self._quote) if self._quote else [piece]
        for number in range(int(self._inside), len(parts), 2):
            parts[number] = self._plain(parts[number])
        self._inside ^= len(parts) % 2 == 0
        return self._quote.join(parts)

    def finish(self) -> bytes:
        """Return the rest, once the file has ended."""
        rest, self._held = self._held, b""
        return rest if self._inside else self._plain(rest)

    def _plain(self, text: bytes) -> bytes:
        both, returns = text.count(b"\r\n"), text.count(b"\r")
        counts = {b"\r\n": both, b"\r": returns - both, b"\n": text.count(b"\n") - both}
        self.kinds |= {end for end, count in counts.items() if count}
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if returns else text
