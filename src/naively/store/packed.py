"""Packing of bytes to send: compressed with zstd if that pays, and limited in size when unpacked."""

from __future__ import annotations

from naively.errors import FileError

_FRAME = b"\x28\xb5\x2f\xfd"
"""The first bytes of a zstd frame; no model file begins like that."""
_MOST = 1000
"""The largest ratio of unpacked to packed bytes, so that few bytes cannot fill the memory."""
_PIECE = 1 << 24


def packed(data: bytes) -> bytes:
    """Return the data as a zstd frame if that is smaller, otherwise as it is.

    >>> len(packed(bytes(1000) + bytes(range(256)))) < 400
    True
    >>> packed(b"short")
    b'short'
    """
    import pyarrow as pa

    frame: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return frame if len(frame) < len(data) <= _MOST * len(frame) else data


def unpacked(data: bytes) -> bytes:
    """Return the data that `packed` compressed; raise FileError if a frame is damaged or unpacks to too much.

    >>> unpacked(packed(bytes(1000))) == bytes(1000)
    True
    """
    if not data.startswith(_FRAME):
        return data
    import pyarrow as pa

    pieces, size = [], 0
    try:
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            while piece := stream.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > _MOST * len(data):
                    raise FileError(
                        f"the bytes of a model: {len(data):,} bytes unpack to more than {_MOST} times as many"
                    )
    except OSError as error:
        raise FileError(f"the bytes of a model are cut off or damaged ({error})") from None
    return b"".join(pieces)
