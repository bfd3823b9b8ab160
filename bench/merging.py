"""Merging beside counting: 64 pieces of word pairs, and two parts of a million words; CPU time and peak memory.

    python bench/merging.py --data FOLDER [--quick] [--markdown]

FOLDER holds imdb.parquet and imdb_unsup_50k.parquet, with columns text and label.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from report import Line, clock, report
from timing import peak_added

import naively

PIECES = 64
MEGABYTE = 1 << 20


def classifier() -> Any:
    """Words and pairs of words, counted and no more."""
    return naively.TextClassifier(
        family="multinomial", weighting="counts", ngrams=(1, 2), alpha=1.0, calibrate=False, threads=1
    )


def cpu_seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def in_a_process_of_its_own(work: Callable[..., Any], *arguments: Any) -> Any:
    """The result of work whose memory is that of the work alone."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def counted_pieces(data: Path, folder: Path, quick: bool) -> tuple[float, list[Path], int]:
    """CPU time of counting the pieces, the files that they are saved to, and the largest one's size as bytes."""
    table = pa.concat_tables(
        pq.read_table(data / f"{name}.parquet", columns=["text", "label"]) for name in ("imdb", "imdb_unsup_50k")
    ).combine_chunks()
    table = table.take(pa.array(range(0, table.num_rows, 10 if quick else 1)))
    taken, paths, largest = 0.0, [], 0
    for number in range(PIECES):
        piece = table.take(pa.array(range(number, table.num_rows, PIECES)))
        texts, labels, model = piece["text"].combine_chunks(), piece["label"].to_pylist(), classifier()
        start = time.process_time()
        model.fit(texts, labels)
        taken += time.process_time() - start
        paths.append(folder / f"{number}.nb")
        model.save(paths[-1])
        largest = max(largest, len(model.to_bytes()))
    return taken, paths, largest


def merged_models(paths: list[Path]) -> float:
    """CPU time of merging models that are in memory."""
    models = [naively.load(path) for path in paths]
    assert all(model.tally_.rows.any() for model in models)  # files are read and checked
    return cpu_seconds(lambda: naively.merge(models))


def merged_files(paths: list[Path]) -> tuple[float, int, int, int]:
    """CPU time and peak memory of merging files one after another; features and size as bytes of the model."""
    naively.merge(naively.load(path) for path in paths[:2])  # everything is imported
    merged: list[Any] = []
    taken: list[float] = []

    def work() -> None:
        taken.append(cpu_seconds(lambda: merged.append(naively.merge(naively.load(path) for path in paths))))

    _, added = peak_added(work)
    return taken[0], added, merged[0].tally_.part.features.size, len(merged[0].to_bytes())


def two_parts(words: int) -> tuple[float, int, int]:
    """CPU time and memory of adding two parts of so many words, and the memory that they take."""
    parts: list[Any] = []

    def count() -> None:
        for first in (0, words // 2):
            texts = [" ".join(f"w{i}" for i in range(at, at + 100)) for at in range(first, first + words, 100)]
            model = naively.TextClassifier(
                family="multinomial", weighting="counts", ngrams=(1, 1), alpha=1.0, calibrate=False, threads=1
            )
            parts.append(model.fit(texts, [i % 2 for i in range(len(texts))]).tally_)

    _, held = peak_added(count)
    sums: list[Any] = []
    taken: list[float] = []
    _, added = peak_added(lambda: taken.append(cpu_seconds(lambda: sums.append(parts[0] + parts[1]))))
    assert sums[0].part.features.size == words * 3 // 2
    return taken[0], added, held


def from_counts(words: int) -> tuple[float, int]:
    """CPU time of a model from counts of so many words in two classes, in any order, and their number."""
    rng = np.random.default_rng(0)
    order = rng.permutation(2 * words)
    names = pa.array([f"word{i}" for i in range(words)])
    table = pa.table(
        {
            "class": pa.array(["a", "b"]).take(pa.array(order % 2)),
            "value": names.take(pa.array(order // 2)),
            "count": rng.integers(3, 9, 2 * words),
            "documents": rng.integers(1, 3, 2 * words),
        }
    )
    times = [cpu_seconds(lambda: naively.TextClassifier.from_counts(table, {"a": 1000, "b": 1000})) for _ in range(3)]
    return sorted(times)[1], len(table)


def lines(data: Path, quick: bool) -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        counting, paths, part = counted_pieces(data, Path(folder), quick)
        merging = in_a_process_of_its_own(merged_models, paths)
        from_files, peak, features, whole = in_a_process_of_its_own(merged_files, paths)
    what = f"{PIECES} pieces of word pairs, {features:,} features"
    for work, taken, wanted in (("merging", merging, 1.0), ("loading, checking and merging files of", from_files, 0.0)):
        ratio = counting / taken
        bound = f"≥ {wanted:g}×" if wanted else "printed"
        beside = f"{work} {what}, CPU beside counting"
        yield Line(beside, clock(taken), clock(counting), f"{ratio:.1f}×", bound, ratio >= wanted)
    yield Line("the same, peak memory", f"{peak / MEGABYTE:,.0f} MB", "", "", "≤ 1,024 MB", peak <= 1024 * MEGABYTE)
    share = part / whole
    yield Line(
        "bytes of a part beside those of the merged model", f"{part / MEGABYTE:,.1f} MB", f"{whole / MEGABYTE:,.1f} MB",
        f"{share:.2f}×", "≤ 1.2×", share <= 1.2,
    )  # fmt: skip
    words = 100_000 if quick else 1_000_000
    taken, added, held = in_a_process_of_its_own(two_parts, words)
    yield Line(f"adding two parts of {words:,} words, CPU", clock(taken), "", "", "≤ 1 s", taken <= 1)
    counting_cells, cells = in_a_process_of_its_own(from_counts, words)
    rate = cells / counting_cells / 1e6
    yield Line(
        f"a model from {cells:,} counts of words, CPU",
        clock(counting_cells),
        "",
        f"{rate:.1f} M/s",
        "≥ 2 M/s",
        rate >= 2,
    )
    share = added / held
    yield Line(
        "the same, memory beside that of the parts", f"{added / MEGABYTE:,.0f} MB", f"{held / MEGABYTE:,.0f} MB",
        f"{share:.1f}×", "≤ 3×", share <= 3,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--quick", action="store_true", help="a tenth of the texts")
    parser.add_argument("--markdown", action="store_true", help="print the table for a document as well")
    arguments = parser.parse_args()
    report("merging", lines(arguments.data, arguments.quick), markdown=arguments.markdown)


if __name__ == "__main__":
    main()
