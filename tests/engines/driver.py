"""A driver as users write one: python driver.py MASTER WORK FAULT FOLDER writes FOLDER/model.nb.

MASTER is a master of Spark, or the address of a Spark Connect server. FAULT is what befalls the task of one partition
on its first attempt.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Any

from cases import WORK, uneven

STRUCK = 5
"""The partition that a fault befalls."""


def fails(folder: Path) -> None:
    raise RuntimeError("a fault of a test")


def loses_its_python(folder: Path) -> None:
    """End the worker as a system does that has no memory left."""
    os.kill(os.getpid(), signal.SIGKILL)


def loses_its_executor(folder: Path) -> None:
    """Kill the executor, whose daemon has started this worker."""
    daemon = os.getppid()
    status = Path(f"/proc/{daemon}/status").read_text("utf-8")
    os.kill(int(status.split("PPid:")[1].split()[0]), signal.SIGKILL)


def is_slow(folder: Path) -> None:
    time.sleep(60)


FAULTS: dict[str, Callable[[Path], None]] = {
    each.__name__: each for each in (fails, loses_its_python, loses_its_executor, is_slow)
}


def struck(fault: Callable[[Path], None], folder: Path) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return rows as they are, with a fault in the middle of one partition, once."""

    def strike(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        for batch in batches:
            yield batch
            if TaskContext.get().partitionId() == STRUCK and _first(folder / "struck"):
                fault(folder)

    return strike


def _first(mark: Path) -> bool:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def session_of(master: str) -> Any:
    from components import SPARK
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if master.startswith("sc://"):
        session = builder.remote(master).getOrCreate()
        session.conf.set("spark.sql.unionOutputPartitioning", "false")
        return session
    speculation = {"speculation": "true", "speculation.interval": "100ms", "speculation.quantile": "0.3"}
    options = SPARK | {f"spark.{name}": value for name, value in speculation.items()}
    options |= {"spark.executor.memory": "512m", "spark.python.worker.reuse": "true", "spark.cores.max": "2"}
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.master(master).getOrCreate()


def main(master: str, name: str, fault: str, folder: Path) -> None:
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import spark_partition_id

    from naively import spark

    spark.GATHERED = 0
    session = session_of(master)
    work = next(work for work in WORK if work.name == name)
    pieces = [session.createDataFrame(piece).coalesce(1) for piece in uneven(work.table(), work.label) if len(piece)]
    df = reduce(DataFrame.union, pieces)
    assert df.select(spark_partition_id()).distinct().count() == len(pieces)
    if fault != "none":
        df = df.mapInArrow(struck(FAULTS[fault], folder), df.schema)
    model = spark.fit(df, work.label, model=work.learner(), **work.options)
    (folder / "model.nb").write_bytes(model.to_bytes())
    labels = spark.predict(model, df, **{k: v for k, v in work.options.items() if k == "text"}).select("prediction")
    (folder / "rows").write_text(str(labels.count()))
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4]))
