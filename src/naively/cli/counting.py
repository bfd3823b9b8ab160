"""Count a source into a learner, batch by batch; with checkpoints, so that a run that was killed can be resumed."""

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
from naively.cli.prefetch import Prefetch
from naively.errors import FileError, InputError
from naively.read.matrix import RowError
from naively.sources.source import Source
from naively.store.atomic import sweep


@dataclass
class Counted:
    """The state and the result of counting a source."""

    rows: int = 0
    unlabelled: int = 0
    start: int = 0  # number of the first row of the current batch, from 0
    labelled: Any = None  # mask of the rows of that batch that have a label
    seen: int = 0  # labelled rows that were read, counted now or before


@dataclass
class Checkpoint:
    """A file to which a learner is written now and then, and the options and data that identify the run."""

    path: Path
    identity: dict[str, Any]
    seconds: float
    _written: float = field(default_factory=time.monotonic)

    def resume(self, learner: Any, console: Console) -> int:
        """Load the state of a killed run into the learner; return the number of rows it had counted, or 0."""
        from naively.learn.checkpoints import load_checkpoint

        sweep(self.path)
        if not self.path.exists():
            return 0
        try:
            stored = load_checkpoint(learner, self.path, lambda run: run == self.identity)
        except FileError as error:
            raise FileError(f"{error}; delete it to start anew") from None
        if stored is None:
            raise InputError(
                f"{self.path} belongs to other data or other options; run the command that it belongs to, or delete it "
                "to start anew"
            )
        rows = _rows_of(learner)
        console.note(f"going on from {self.path}: {rows:,} rows were counted")
        return rows

    def due(self) -> bool:
        return time.monotonic() - self._written >= self.seconds

    def write(self, learner: Any) -> None:
        from naively.learn.checkpoints import save_checkpoint

        save_checkpoint(learner, self.path, self.identity)
        self._written = time.monotonic()

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


def count(
    source: Source, roles: Roles, learner: Any, console: Console, label: str, *,
    forget: bool = False, checkpoint: Checkpoint | None = None, batches: Any = None,
) -> Counted:  # fmt: skip
    """Count (or forget) all rows that have a label; read `batches` if given."""
    counted = Counted()
    done = 0 if checkpoint is None else checkpoint.resume(learner, console)
    batches = Prefetch(source.batches(roles.read)) if batches is None else batches
    try:
        with closing(batches), console.progress(label, rows=source.rows, size_bytes=source.size) as progress:
            rows = _labelled(batches, roles, learner, counted, done)
            counted.rows = done
            with closing(_learn(learner, rows, forget)) as learning:
                for n_rows in learning:
                    counted.rows += n_rows
                    if checkpoint is not None and checkpoint.due():
                        checkpoint.write(learner)
                    progress.update(counted.rows - progress.rows, source.read_bytes - progress.bytes)
    except KeyboardInterrupt:
        if checkpoint is not None:
            _save_on_interrupt(checkpoint, learner, console)
        raise
    except RowError as error:
        error = error.among(counted.labelled).offset(counted.start)
        raise InputError(f"{source.called}, with rows counted from 0: {error}") from None
    except InputError as error:
        raise InputError(f"{source.called}: {error}") if type(error) is InputError else error from None
    warn_of_bad_rows(source, console)
    if counted.rows == 0:
        problem = "no row has a label" if counted.unlabelled else "there are no rows"
        raise InputError(f"{source.called}: {problem}, so there is nothing to count")
    if counted.seen < done:
        raise InputError(f"{source.called}: has fewer rows than {done:,}, which the checkpoint has counted")
    if counted.unlabelled:
        console.warn(f"{counted.unlabelled:,} of {counted.unlabelled + counted.rows:,} rows have no label: left out")
    return counted


def _labelled(batches: Any, roles: Roles, learner: Any, counted: Counted, done: int) -> Iterator[tuple[Any, Any]]:
    """Yield the rows that have a label, with their labels, except those that are counted already."""
    read = 0
    for batch in batches:
        counted.start, counted.labelled = read, roles.has_label(batch)
        read += batch.num_rows
        rows = roles.labelled(batch)
        counted.unlabelled += batch.num_rows - rows.num_rows
        counted.seen += rows.num_rows
        if rows.num_rows and counted.seen > done:
            yield roles.rows(rows), roles.coded_labels(rows, getattr(learner, "classes_", None))


def _learn(learner: Any, rows: Iterator[tuple[Any, Any]], forget: bool) -> Generator[int, None, None]:
    """Add rows to a learner, or take them out; yield the number of rows after each batch."""
    if learner.reads_text and not forget:
        yield from learner.learn_batches(rows)
        return
    change = learner.forget if forget else learner.partial_fit
    for X, y in rows:
        change(X, y)
        yield len(y)


def _rows_of(learner: Any) -> int:
    """Return the number of rows that a learner has counted; each has weight 1."""
    return int(learner.class_count_.sum()) if hasattr(learner, "class_count_") else 0


def _save_on_interrupt(checkpoint: Checkpoint, learner: Any, console: Console) -> None:
    rows = _rows_of(learner)
    if rows:
        checkpoint.write(learner)
        console.on_interrupt(f"{rows:,} rows are in {checkpoint.path}: run the same command to go on")


def warn_of_bad_rows(source: Source, console: Console) -> None:
    """Warn of the first rows that were left out because they cannot be read."""
    for bad in source.bad[:5]:
        console.warn(f"left out: {bad}")
    console.skipped(source.bad_rows, str(source.bad[0]) if source.bad else "")


def checkpoint_path(output: str) -> Path:
    target = Path(os.path.realpath(output))
    return target.with_name(f"{target.name}.checkpoint")
