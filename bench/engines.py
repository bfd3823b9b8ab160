"""Counting and predicting on Spark and Dask, beside Spark ML and beside naively alone: CPU time of all processes.

    python bench/engines.py --data FOLDER [--quick] [--markdown]

FOLDER holds imdb.parquet and imdb_unsup_50k.parquet, with columns text and label. Needs `naively[spark,dask]` and Java.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from report import Line, clock, report

import naively

PARTITIONS = 16
_TICK = os.sysconf("SC_CLK_TCK")


def prepared(data: Path, folder: Path, quick: bool) -> Path:
    """Write the reviews as one file for each partition."""
    table = pa.concat_tables(
        pq.read_table(data / f"{name}.parquet", columns=["text", "label"]) for name in ("imdb", "imdb_unsup_50k")
    ).combine_chunks()
    table = table.take(pa.array(range(0, table.num_rows, 10 if quick else 1)))
    for number in range(PARTITIONS):
        pq.write_table(table.take(pa.array(range(number, table.num_rows, PARTITIONS))), folder / f"{number:02}.parquet")
    return folder


def single_words() -> Any:
    return naively.TextClassifier(ngrams=(1, 1), choose=False)


def cpu_of_all() -> float:
    """CPU seconds of this process and of all that it has started, directly or not."""
    used, children = {}, {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        number = int(status.parent.name)
        used[number] = sum(map(int, fields[11:15])) / _TICK
        children.setdefault(int(fields[1]), []).append(number)
    waiting, total = [os.getpid()], 0.0
    while waiting:
        number = waiting.pop()
        total += used.get(number, 0.0)
        waiting += children.get(number, [])
    return total


def in_turns(works: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The median CPU time of each, after one run that is not measured."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(repeats + 1):
        for name, work in works.items():
            start = cpu_of_all()
            work()
            if turn:
                taken[name].append(cpu_of_all() - start)
    return {name: statistics.median(times) for name, times in taken.items()}


def lines(folder: Path, repeats: int) -> Iterator[Line]:
    yield from of_spark(folder, repeats)
    yield from of_dask(folder, repeats)


def of_spark(folder: Path, repeats: int) -> Iterator[Line]:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.ml import Pipeline
    from pyspark.ml.classification import NaiveBayes
    from pyspark.ml.feature import CountVectorizer, HashingTF, Tokenizer
    from pyspark.sql import SparkSession
    from pyspark.sql.functions import col

    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    settings = {"ui.enabled": "false", "ui.showConsoleProgress": "false", "sql.files.openCostInBytes": "128m"}
    for name, value in settings.items():
        builder = builder.config(f"spark.{name}", value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    df = session.read.parquet(str(folder))
    first = df.first().label
    numbered = df.withColumn("y", (col("label") == first).cast("double")).select("text", "y")

    def pipeline(features: Any) -> Any:
        return Pipeline(stages=[Tokenizer(inputCol="text", outputCol="words"), features, NaiveBayes(labelCol="y")])

    counting = CountVectorizer(inputCol="words", outputCol="features")
    hashing = HashingTF(inputCol="words", outputCol="features")
    table = pq.read_table(folder)
    texts, labels = table["text"], table["label"]
    taken = in_turns(
        {
            "spark": lambda: naively.spark.fit(df, "label", text="text", model=single_words()),
            "vectorizer": lambda: pipeline(counting).fit(numbered),
            "hashing": lambda: pipeline(hashing).fit(numbered),
            "alone": lambda: single_words().fit(texts, labels),
        },
        repeats,
    )
    yield compared("fit on Spark: Spark ML CountVectorizer, NaiveBayes", taken["spark"], taken["vectorizer"], 8)
    yield compared("fit on Spark: Spark ML HashingTF, NaiveBayes", taken["spark"], taken["hashing"], 3)
    yield compared("fit on Spark: naively alone", taken["spark"], taken["alone"], None)
    ours, theirs = single_words().fit(texts, labels), pipeline(hashing).fit(numbered)

    def predicted(frame: Any) -> None:
        frame.write.format("noop").mode("overwrite").save()

    taken = in_turns(
        {
            "naively": lambda: predicted(naively.spark.predict(ours, df, text="text").select("prediction")),
            "spark": lambda: predicted(theirs.transform(numbered).select("prediction")),
        },
        repeats,
    )
    yield compared("predict on Spark: Spark ML HashingTF, NaiveBayes", taken["naively"], taken["spark"], 1.5)
    session.stop()
    plan = single_words().plan()
    part = plan.count(texts[: len(texts) // PARTITIONS], labels[: len(texts) // PARTITIONS])
    size, whole = len(part.to_bytes()), len(ours.to_bytes())
    reached = size <= 1.2 * whole
    yield Line("bytes of a part: final model", f"{size:,}", f"{whole:,}", f"{size / whole:.2f}", "≤ 1.2", reached)


def compared(work: str, mine: float, other: float, wanted: float | None) -> Line:
    reached = wanted is None or other >= wanted * mine
    target = "printed" if wanted is None else f"≥ {wanted:g}×"
    return Line(work, clock(mine), clock(other), f"{other / mine:.2f}×", target, reached)


def of_dask(folder: Path, repeats: int) -> Iterator[Line]:
    """Time on the clock: two processes against one."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    clocks: dict[int, float] = {}
    for processes in (1, 2):
        with (
            LocalCluster(n_workers=processes, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster),
        ):
            df = dd.read_parquet(str(folder), split_row_groups=False, aggregate_files=False)
            times = []
            for _ in range(repeats + 1):
                start = time.perf_counter()
                naively.dask.fit(df, "label", text="text", model=single_words())
                times.append(time.perf_counter() - start)
            clocks[processes] = statistics.median(times[1:])
    ratio = clocks[1] / clocks[2]
    yield Line(
        "fit on Dask, two processes: one process", clock(clocks[2]), clock(clocks[1]), f"{ratio:.2f}×", "≥ 1.6×",
        ratio >= 1.6,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder with the data sets")
    parser.add_argument("--quick", action="store_true", help="a tenth of the data, measured once")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepared(arguments.data, Path(folder), arguments.quick)
        what = "engines, CPU time (Dask: time on the clock)"
        report(what, lines(Path(folder), 1 if arguments.quick else 3), markdown=arguments.markdown)


if __name__ == "__main__":
    main()
