"""Checkpoints: files of learners in the middle of a stream, from which learning continues as if never interrupted.

Unlike a saved model, a checkpoint keeps the levels of the ledger, so that later batches are added in the same order:
the result is the same to the last bit.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from naively.count.ledger import Ledger, PartLedger
from naively.count.tally import Tally
from naively.errors import FileError, InputError
from naively.learn.model import Model
from naively.read.frame import Frame
from naively.read.texts import Texts
from naively.store.codec import Reader, Writer
from naively.store.container import Contents, read, write
from naively.store.registry import form
from naively.store.verify import verify


def save_checkpoint(learner: Any, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
    """Write the state of a learner, and a record of what its caller needs to continue."""
    model, writer = learner._state, Writer()
    made = put_state(writer, model)
    write(path, {"checkpoint": writer.put(about, "about"), "model": made}, writer.arrays)


def put_state(writer: Writer, model: Any) -> dict[str, Any]:
    """Store a state with its sample, and with its ledger level by level."""
    parts = {name: PartLedger(part.classes, part.levels) for name, part in model.ledger.counted.items()}
    words = [part.features for part in parts.values() if hasattr(part.levels[0], "features")]
    ledger = Ledger(model.ledger.classes, model.ledger.exact_rows, parts)  # those of a loaded model become plain ones
    state: dict[str, Any] = {"words": words, "ledger": ledger}  # words first: levels hold leading parts of them
    state |= {name: getattr(model, name) for name in ("declared", "counted", "chosen", "schema", "began")}
    state |= {"dtype": np.dtype(model.dtype).name, "judged": model.calibrated}
    state |= {"sample": None if model.sample is None else model.sample.settled}
    return {name: writer.put(value, name) for name, value in state.items()}


def load_checkpoint(
    learner: Any, path: str | os.PathLike[str], suits: Callable[[dict[str, Any]], bool] = lambda about: True
) -> dict[str, Any] | None:
    """Give a learner the state of a file, and return the record; None, and no state, if the record does not suit."""
    contents = read(path)
    if "checkpoint" not in contents.document:
        raise FileError(f"{contents.path}: no checkpoint")
    contents.verify()
    try:
        return _restored(learner, contents, suits)
    except (ValueError, TypeError, AttributeError, KeyError, IndexError, OverflowError, RecursionError) as error:
        raise FileError(f"{contents.path}: the checkpoint is damaged ({error})") from None


def _restored(learner: Any, contents: Contents, suits: Callable[[dict[str, Any]], bool]) -> dict[str, Any] | None:
    document, reader = contents.document, Reader(contents.arrays)
    about = reader.get(document["checkpoint"])
    if not isinstance(about, dict):
        raise FileError("its record is no dict")
    if not suits(about):
        return None
    model = get_state(learner, reader, contents.part("model"))
    learner._check_counted(model)
    learner._commit(model)
    return about


def get_state(learner: Any, reader: Reader, document: dict[str, Any]) -> Model:
    """Return the state of a learner like this one that `put_state` stored."""
    state: dict[str, Any] = {name: reader.get(value) for name, value in document.items() if name != "ledger"}
    state.pop("words")
    ledger = reader.of(Ledger, document["ledger"])
    for name, part in ledger.counted.items():
        for level in part.levels:
            verify(Tally(ledger.classes, ledger.exact_rows, {name: level}))
    dtype = {"float64": np.float64, "float32": np.float32}[state.pop("dtype")]
    model = Model(ledger, dtype, calibrated=state.pop("judged"), **state)
    if model.schema is not None and not hasattr(model.schema, "blocks_of"):
        raise FileError("the schema is none")
    if {block.name for block in learner._counting_blocks(model).blocks} != set(ledger.counted):
        raise FileError("what was counted is not what the learner counts")
    return model


def _put_frame(writer: Writer, frame: Frame, path: str) -> Any:
    """Store rows of a sample: texts, or columns of a table as one stream of Arrow."""
    if isinstance(frame.whole, Texts):
        if frame.whole.core.given:
            raise InputError("a checkpoint holds no lists of tokens: their words are made by code of yours")
        arrays = zip(("starts", "bytes", "missing"), frame.whole.core.buffers(), strict=True)
        return {"rows": [writer.keep(array, f"{path}.{name}") for name, array in arrays]}
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    table = pa.table({name: pa.array(v) if isinstance(v, np.ndarray) else v for name, v in frame.columns.items()})
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    arrays_of = [isinstance(v, np.ndarray) for v in frame.columns.values()]
    name = writer.keep(np.frombuffer(sink.getvalue(), np.uint8), f"{path}.table")
    return {"rows": name, "size": len(frame), "named": frame.named, "arrays": arrays_of}


def _get_frame(reader: Reader, node: Any) -> Frame:
    if isinstance(node["rows"], list):
        return Frame.of_rows(Texts.of_arrays(*(reader.array(name) for name in node["rows"])))
    import pyarrow as pa

    table = pa.ipc.open_stream(pa.py_buffer(reader.array(node["rows"]))).read_all()
    columns = zip(table.column_names, table.columns, node["arrays"], strict=True)
    return Frame({n: v.to_numpy() if is_array else v for n, v, is_array in columns}, node["size"], node["named"])


form("rows", Frame, _put_frame, _get_frame)
