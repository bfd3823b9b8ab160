"""Counting a source into a learner, batch after batch; with checkpoints, so that a run that was killed goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from naively.cli.column_roles import Roles
from naively.cli.console import Console
from naively.cli.prefetch import ahead
from naively.cli.progress import Progress
from naively.errors import FileError, InputError
from naively.learn.sample import Sample
from naively.read.matrix import RowError
from naively.sources import Source
from naively.store.atomic import sweep


@dataclass
class Counted:
    """What came of a run over a source."""

    rows: int = 0
    unlabelled: int = 0
    start: int = 0  # the row of the source, from 0, at which the batch begins that is being counted
    labelled: Any = None  # which rows of that batch have a label
    sample: Sample = field(default_factory=lambda: Sample(0))
    state: tuple[Any, int] | None = None  # the model and the rows it has counted, which belong together at any moment


@dataclass
class Checkpoint:
    """Where the state of a run is written now and then, and what the run is told by."""

    path: Path
    told: dict[str, Any]
    seconds: float
    _written: float = field(default_factory=time.monotonic)

    def resume(self, learner: Any, console: Console) -> int:
        """Give the learner the state that a killed run has left; the number of rows it had counted, 0 without any."""
        from naively.learn.checkpoints import load_checkpoint

        sweep(self.path)
        if not self.path.exists():
            return 0
        found = learner._fresh()
        try:
            told = load_checkpoint(found, self.path, lambda told: {**told, "rows": 0} == {**self.told, "rows": 0})
        except FileError as error:
            raise FileError(f"{error}; delete it to start anew") from None
        if told is None:
            raise InputError(
                f"{self.path} belongs to other data or other options; run the command that it belongs to, or delete it "
                "to start anew"
            )
        learner._model, rows = found._model, int(told["rows"])
        console.note(f"going on from {self.path}: {rows:,} rows were counted")
        return rows

    def due(self) -> bool:
        return time.monotonic() - self._written >= self.seconds

    def write(self, state: tuple[Any, int]) -> None:
        from naively.learn.checkpoints import save_checkpoint

        model, rows = state
        save_checkpoint(model, self.path, {**self.told, "rows": rows})
        self._written = time.monotonic()

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def count(
    source: Source, roles: Roles, learner: Any, console: Console, label: str, *,
    forget: bool = False, most: int = 0, checkpoint: Checkpoint | None = None, batches: Any = None,
) -> Counted:  # fmt: skip
    """Count all rows that have a label (or forget them), and keep a sample of `most`; `batches` may be on their way."""
    counted = Counted(sample=Sample(most))
    done = 0 if checkpoint is None else checkpoint.resume(learner, console)
    batches = ahead(source.batches(roles.read)) if batches is None else batches
    try:
        with closing(batches), Progress(console, label, source.size, source.rows) as progress:
            rows = _labelled(batches, roles, learner, counted, done)
            counted.rows = done
            with closing(_learnt(learner, rows, forget)) as learning:
                for many in learning:
                    counted.state = learner._model, counted.rows + many
                    counted.rows += many
                    if checkpoint is not None and checkpoint.due():
                        checkpoint.write(counted.state)
                    progress.update(counted.rows - progress.rows, source.read_bytes - progress.bytes)
    except KeyboardInterrupt:
        if checkpoint is not None:
            _save_before_leaving(checkpoint, counted.state, done, console)
        raise
    except RowError as error:
        error = error.among(counted.labelled).offset(counted.start)
        raise InputError(f"{source.called}, with rows counted from 0: {error}") from None
    except InputError as error:
        raise InputError(f"{source.called}: {error}") if type(error) is InputError else error from None
    tell_of_bad_rows(source, console)
    if counted.rows == 0:
        what = "no row has a label" if counted.unlabelled else "there are no rows"
        raise InputError(f"{source.called}: {what}, so there is nothing to count")
    if counted.sample.seen < done:
        raise InputError(f"{source.called}: has fewer rows than {done:,}, which the checkpoint has counted")
    if counted.unlabelled:
        console.warn(f"{counted.unlabelled:,} of {counted.unlabelled + counted.rows:,} rows have no label: left out")
    return counted


def _labelled(batches: Any, roles: Roles, learner: Any, counted: Counted, done: int) -> Iterator[tuple[Any, Any]]:
    """The rows that have a label, with their labels, but for those that are counted already."""
    read = 0
    for batch in batches:
        counted.start, counted.labelled = read, roles.has_label(batch)
        read += batch.num_rows
        rows = roles.labelled(batch)
        counted.unlabelled += batch.num_rows - rows.num_rows
        counted.sample.see(rows)
        if rows.num_rows and counted.sample.seen > done:
            yield roles.rows(rows), roles.labels(rows, learner.classes_ if "_model" in vars(learner) else None)


def _learnt(learner: Any, rows: Iterator[tuple[Any, Any]], forget: bool) -> Generator[int, None, None]:
    """Count rows into a learner, or out of it, and tell how many after each batch."""
    if learner.reads_text and not forget:
        yield from learner.learn_batches(rows)
        return
    change = learner.forget if forget else learner.partial_fit
    for X, y in rows:
        change(X, y)
        yield len(y)


def _save_before_leaving(checkpoint: Checkpoint, state: tuple[Any, int] | None, done: int, console: Console) -> None:
    if state is not None:
        checkpoint.write(state)
        done = state[1]
    if done:
        console.on_interrupt(f"{done:,} rows are in {checkpoint.path}: run the same command to go on")


def tell_of_bad_rows(source: Source, console: Console) -> None:
    """Show the first rows that were left out since they cannot be read."""
    for bad in source.bad[:5]:
        console.warn(f"left out: {bad}")
    console.skipped(source.bad_rows, str(source.bad[0]) if source.bad else "")


def checkpoint_path(output: str) -> Path:
    target = Path(os.path.realpath(output))
    return target.with_name(f"{target.name}.checkpoint")
