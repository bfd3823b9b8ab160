"""A stream (elec2) beside river: accuracy and rows per second, each row predicted first and learnt then.

    python bench/streams.py --data FOLDER [--quick] [--markdown]

FOLDER holds stream_elec2.parquet; river has to be installed. Both are run in turns in one process.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import river
from rich.console import Console
from rich.table import Table
from river import naive_bayes

from naively import Gaussian, GaussianNB, NaiveBayes

BATCH = 1_000


def rivers(X: Any, y: Any, names: list[str]) -> Any:
    """Predict and learn row by row with river; return which rows were right."""
    model, right = naive_bayes.GaussianNB(), np.zeros(len(y), bool)
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    for i, (row, label) in enumerate(zip(rows, y.tolist(), strict=True)):
        right[i] = model.predict_one(row) == label
        model.learn_one(row, label)
    return right


def ours(X: Any, y: Any, size: int, decay: float | None = None, window: int | None = None) -> Any:
    """Predict and learn batches of arrays with GaussianNB."""
    model, right = GaussianNB().partial_fit(X[:1], y[:1], classes=np.unique(y)), np.zeros(len(y), bool)
    for i in range(1, len(y), size):
        part = slice(i, i + size)
        right[part] = model.predict(X[part]) == y[part]
        if decay is not None:
            model.decay(decay ** len(y[part]))
        model.partial_fit(X[part], y[part])
        if window is not None and i >= window:
            gone = slice(i - window, min(i - window + size, len(y)))
            model.forget(X[gone], y[gone])
    return right


def dicts(X: Any, y: Any, names: list[str]) -> Any:
    """Predict and learn rows that are dicts with NaiveBayes, all columns Gaussian."""
    rows = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    model = NaiveBayes(columns=dict.fromkeys(names, Gaussian()), calibrate=False).fit(rows[:1], y[:1])
    right = np.zeros(len(y), bool)
    for i, row in enumerate(rows[1:], 1):
        right[i] = model.predict(row)[0] == y[i]
        model.partial_fit(row, y[i : i + 1])
    return right


def measured(work: Callable[[], Any]) -> tuple[float, float]:
    """Return the accuracy, and the seconds that the work took."""
    begin = perf_counter()
    right = work()
    return float(right[1:].mean()), perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--quick", action="store_true", help="the first 5,000 rows alone")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown too")
    options = parser.parse_args()
    frame = pq.read_table(options.data / "stream_elec2.parquet").to_pandas()
    X, y = frame.drop(columns="label").to_numpy(np.float64), frame["label"].to_numpy()
    rows = 5_000 if options.quick else len(y)
    X, y, names = X[:rows], y[:rows], frame.columns.drop("label").tolist()
    works: dict[str, Callable[[], Any]] = {
        f"river {river.__version__} GaussianNB, row by row (dicts)": lambda: rivers(X, y, names),
        "GaussianNB, row by row (arrays)": lambda: ours(X, y, 1),
        "NaiveBayes, row by row (dicts)": lambda: dicts(X, y, names),
        f"GaussianNB, batches of {BATCH:,}": lambda: ours(X, y, BATCH),
        "GaussianNB, row by row, decay=0.99": lambda: ours(X, y, 1, decay=0.99),
        "GaussianNB, row by row, the last 100 rows": lambda: ours(X, y, 1, window=100),
    }
    lines, first = [], None
    for name, work in works.items():
        accuracy, taken = measured(work)
        first = first or taken
        share = f"{taken / first:.2f}" if taken > first / 2 else f"1/{first / taken:.0f}"
        lines.append((name, f"{accuracy:.4f}", f"{rows / taken:,.0f}", share))
    head = ("model", "accuracy", "rows per second", "time / river's")
    table = Table(*head, title=f"{rows:,} rows of elec2, predicted, then learnt")
    for line in lines:
        table.add_row(*line)
    Console(width=110).print(table)
    if options.markdown:
        print("| " + " | ".join(head) + " |\n|---|---:|---:|---:|")
        for line in lines:
            print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
