"""Workers of Dask and Ray that are killed in the middle of a partition: nothing is lost, nothing is counted twice."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from cases import WORK, Work, check_same, uneven

from naively.errors import FileError

STRUCK = 3
"""The partition whose first worker is killed."""


def numbered(work: Work) -> list[pa.Table]:
    """The partitions, with a column that holds their numbers."""
    pieces = [piece for piece in uneven(work.table(), work.label) if len(piece)]
    return [piece.append_column("part", pa.array([number] * len(piece))) for number, piece in enumerate(pieces)]


def columns_of(work: Work) -> list[str]:
    return [name for name in work.table().column_names if name not in (work.label, "weight")]


@pytest.mark.parametrize("work", [WORK[0], WORK[4]], ids=repr)
def test_a_killed_worker_of_dask_changes_nothing(dask_client: Any, work: Work, tmp_path: Path) -> None:
    import dask.dataframe as dd
    import pandas as pd

    from naively import dask

    def struck_frame(frame: Any, mark: Path) -> Any:
        if len(frame) and frame["part"].iloc[0] == STRUCK and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return frame

    frames = [piece.to_pandas(types_mapper=pd.ArrowDtype) for piece in numbered(work)]
    df = dd.from_map(struck_frame, frames, mark=tmp_path / "struck", meta=frames[0].iloc[:0])
    options = {"columns": columns_of(work)} if work.options == {} else {}
    model = dask.fit(df, work.label, model=work.learner(), **work.options, **options)
    assert (tmp_path / "struck").exists()
    check_same(work, model, work.here())


@pytest.mark.parametrize("work", [WORK[0], WORK[4]], ids=repr)
def test_a_killed_worker_of_ray_changes_nothing(ray_cluster: Any, work: Work, tmp_path: Path) -> None:
    from naively import ray

    mark = tmp_path / "struck"

    def struck_table(table: Any) -> Any:
        if len(table) and table["part"][0].as_py() == STRUCK and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return table

    pieces = [piece.combine_chunks() for piece in numbered(work)]
    ds = ray_cluster.data.from_arrow(pieces).map_batches(struck_table, batch_size=None, batch_format="pyarrow")
    options = {"columns": columns_of(work)} if work.options == {} else {}
    model = ray.fit(ds, work.label, model=work.learner(), **work.options, **options)
    assert mark.exists()
    check_same(work, model, work.here())


def test_a_damaged_part_is_refused() -> None:
    from naively.engines.base import add, planned

    work, table = WORK[1], WORK[1].table()
    counting = planned(work.learner(), table.column_names, table.select, "label", "text", None, None)
    part = counting.count([table])
    with pytest.raises(FileError):
        add([part, part[: len(part) // 2]])
