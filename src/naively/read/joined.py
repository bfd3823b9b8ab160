"""Rows of several frames, one after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from naively.read.columns import type_of
from naively.read.frame import Frame
from naively.read.texts import Texts


def types_of(frame: Frame) -> Any:
    """Return the names and types of the columns: frames that have the same can be joined."""
    return None if frame.whole is not None else frozenset((name, type_of(v)) for name, v in frame.columns.items())


def joined_frames(frames: list[Frame]) -> Frame:
    """Return the rows of frames with the same columns, one after another."""
    if len(frames) == 1:
        return frames[0]
    first = frames[0]
    if first.whole is not None:
        return Frame.of_rows(Texts.joined([frame.whole for frame in frames]))
    columns = {name: _joined_columns([frame.columns[name] for frame in frames]) for name in first.columns}
    return Frame(columns, sum(map(len, frames)), first.named)


def _joined_columns(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    import pyarrow as pa

    chunks = [chunk for part in parts for chunk in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])]
    together = pa.chunked_array(chunks, parts[0].type)
    return together.unify_dictionaries() if pa.types.is_dictionary(together.type) else together
