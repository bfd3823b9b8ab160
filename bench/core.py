"""The counting core beside scikit-learn: speed and memory, in one run, ratios side by side.

    python bench/core.py [--data FOLDER] [--quick]

FOLDER holds `20newsgroups_bydate.parquet` (columns text, label, split). Without it, random counts of the same shape
stand in, and the table says so.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.naive_bayes as theirs
from report import Line, clock, faster, report
from scipy import sparse
from timing import medians, peak_added, seconds

import naively as ours
from naively.count.exact_pairs import ExactPairs
from naively.count.exact_sums import ExactSums
from naively.names import Index

Pair = tuple[Any, Any]


def times_sum(
    work: str, mine: Callable[[], Any], other: Callable[[], Any], X: Any, wanted: float, repeats: int
) -> Line:
    """Beside the time that adding up all numbers takes."""
    taken = medians({"sum": X.sum, "mine": mine, "other": other}, repeats)
    ratio, peer = taken["mine"] / taken["sum"], taken["other"] / taken["sum"]
    shown = f"{ratio:.1f}× sum (scikit-learn {peer:.0f}×)"
    return Line(work, clock(taken["mine"]), clock(taken["other"]), shown, f"≤ {wanted:g}× sum", ratio <= wanted)


def fitted(name: str, X: Any, y: Any, **options: Any) -> Pair:
    return getattr(ours, name)(**options).fit(X, y), getattr(theirs, name)(**options).fit(X, y)


def dense(rows: int, repeats: int) -> Iterator[Line]:
    rng = np.random.default_rng(0)
    columns, classes = 50, 5
    y = rng.integers(0, classes, rows)
    shape = f"{rows // 1000}k×{columns}"

    X = rng.normal(size=(rows, columns)) + y[:, None]
    a, b = fitted("GaussianNB", X, y)
    yield times_sum(f"GaussianNB {shape} float64: fit", lambda: a.fit(X, y), lambda: b.fit(X, y), X, 3, repeats)
    yield times_sum(f"GaussianNB {shape} float64: predict", lambda: a.predict(X), lambda: b.predict(X), X, 4, repeats)

    C = rng.integers(0, 8, (rows, columns))
    a, b = fitted("CategoricalNB", C, y)
    yield faster(f"CategoricalNB {shape}, 8 categories: fit", lambda: a.fit(C, y), lambda: b.fit(C, y), 25, repeats)
    yield faster("CategoricalNB: predict", lambda: a.predict(C), lambda: b.predict(C), 15, repeats)

    B = rng.integers(0, 2, (rows, columns)).astype(np.float64)
    a, b = fitted("BernoulliNB", B, y)
    yield faster(f"BernoulliNB {shape} dense: fit", lambda: a.fit(B, y), lambda: b.fit(B, y), 10, repeats)
    yield faster("BernoulliNB dense: predict", lambda: a.predict(B), lambda: b.predict(B), 10, repeats)


def exact_sums(rows: int, repeats: int) -> Iterator[Line]:
    """Sums of numbers of other types, magnitudes and weights, beside those of float64; and means and variances."""
    rng = np.random.default_rng(0)
    columns, classes = 50, 5
    y = rng.integers(0, classes, rows).astype(np.int32)
    X = rng.normal(size=(rows, columns)) + y[:, None]
    inputs = {"float32": X.astype(np.float32), "int32": (100 * X).astype(np.int32)}
    mixed = np.ldexp(X, rng.integers(-100, 100, X.shape))
    weight = rng.random(rows)

    def count(values: Any, own: Any = None) -> Callable[[], Any]:
        return lambda: ExactSums.counted(values, y, np.ones(classes), Index(columns), own)

    def narrow() -> None:
        os.environ["NAIVELY_NARROW"] = "1"
        count(X)()
        del os.environ["NAIVELY_NARROW"]

    works = {"float64": count(X), "with weights": count(X, weight), "without wide registers": narrow}
    works |= {name: count(values) for name, values in inputs.items()}
    taken = medians(works, repeats)
    for name, wanted in (("float32", 1), ("int32", 1), ("with weights", 2), ("without wide registers", 3)):
        ratio = taken[name] / taken["float64"]
        shown = f"{ratio:.2f}× float64"
        work = f"exact sums {rows // 1000}k×{columns}: {name}"
        yield Line(work, clock(taken[name]), clock(taken["float64"]), shown, f"≤ {wanted}× float64", ratio <= wanted)
    other = theirs.GaussianNB()
    yield faster("magnitudes of 2^-100 to 2^100", count(mixed), lambda: other.fit(mixed, y), 1, max(1, repeats // 3))
    yield means_and_variances(repeats)
    yield products(X[: rows // 10], y[: rows // 10], repeats)


def means_and_variances(repeats: int) -> Line:
    """Time the means and variances of 200 classes and 1,000 columns, as a first prediction needs them."""
    rng = np.random.default_rng(0)
    classes, columns = 200, 1_000
    y = rng.integers(0, classes, 5_000).astype(np.int32)
    sums, _ = ExactSums.counted(rng.normal(size=(len(y), columns)), y, np.ones(classes), Index(columns))

    def first() -> None:
        fresh = replace(sums)
        _ = fresh.mean, fresh.variance, fresh.together.moments

    taken = medians({"mine": first}, repeats)["mine"]
    shown = f"{taken * 1e9 / classes / columns:.0f} ns each"
    return Line("means and variances, 200 × 1,000", clock(taken), "–", shown, "≤ 50 ms", taken <= 0.05)


def products(X: Any, y: Any, repeats: int) -> Line:
    """Time the exact sums of products of all pairs of columns beside plain products of matrices, class by class."""
    classes, columns = int(y.max()) + 1, X.shape[1]
    parts = [np.ascontiguousarray(X[y == k]) for k in range(classes)]
    works: dict[str, Callable[[], Any]] = {
        "mine": lambda: ExactPairs.counted(X, y, np.ones(classes), Index(columns)),
        "plain": lambda: [part.T @ part.copy() for part in parts],
    }
    taken = medians(works, repeats)
    ratio = taken["mine"] / taken["plain"]
    work = f"exact products of pairs {len(X) // 1000}k×{columns}"
    return Line(work, clock(taken["mine"]), clock(taken["plain"]), f"{ratio:.1f}× plain", "≤ 15× plain", ratio <= 15)


def newsgroups(folder: Path | None) -> tuple[str, Any, Any, Any]:
    """Word counts of 20 Newsgroups (train, labels, test), or random ones of that shape."""
    path = folder / "20newsgroups_bydate.parquet" if folder else None
    if path is None or not path.exists():
        rng = np.random.default_rng(0)
        chance = 1 / np.arange(1, 130_001)
        words = rng.choice(130_000, (11_314, 260), p=chance / chance.sum())
        rows = np.repeat(np.arange(11_314), 260)
        X = sparse.csr_matrix((np.ones(words.size, np.int64), (rows, words.ravel())), shape=(11_314, 130_000))
        return "random counts", X, rng.integers(0, 20, 11_314), X[:7_532]
    import pandas
    from sklearn.feature_extraction.text import CountVectorizer

    frame = pandas.read_parquet(path)
    train, test = frame[frame.split == "train"], frame[frame.split == "test"]
    vectorizer = CountVectorizer()
    return (
        "20 Newsgroups",
        vectorizer.fit_transform(train.text),
        train.label.to_numpy(),
        vectorizer.transform(test.text),
    )


def text_counts(folder: Path | None, repeats: int) -> Iterator[Line]:
    what, X, y, T = newsgroups(folder)
    a, b = fitted("MultinomialNB", X, y)
    yield faster(f"MultinomialNB CSR ({what}): fit", lambda: a.fit(X, y), lambda: b.fit(X, y), 3, repeats)
    yield faster("MultinomialNB CSR: predict", lambda: a.predict(T), lambda: b.predict(T), 3, repeats)


def many_classes() -> Iterator[Line]:
    """Each fits in a process of its own, which tells how long it took and how much memory that added at most."""
    results = {}
    for who in ("ours", "theirs"):
        command = [sys.executable, __file__, "--fit-many-classes", who]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        results[who] = float(told[0]), int(told[1])
    (taken, added), (other, other_added) = results["ours"], results["theirs"]
    ratio = other / taken
    yield Line("100k×1k sparse, 2,000 classes: fit", clock(taken), clock(other), f"{ratio:,.1f}×", "≥ 10×", ratio >= 10)
    yield Line(
        "the same: peak memory added", f"{added / 1e6:.0f} MB", f"{other_added / 1e6:,.0f} MB",
        f"{other_added / max(added, 1):,.0f}× less", "≤ 150 MB", added <= 150e6,
    )  # fmt: skip


def fit_many_classes(who: str) -> None:
    X = random_rows(100_000, 1_000, 10, 0)
    X.data[:] = np.random.default_rng(0).integers(1, 5, X.nnz)
    y = np.random.default_rng(1).integers(0, 2_000, 100_000)
    estimator = {"ours": ours, "theirs": theirs}[who].MultinomialNB()
    estimator.fit(X[:10], y[:10])
    print(*peak_added(lambda: estimator.fit(X, y)))


def random_rows(rows: int, features: int, each: int, seed: int) -> Any:
    """Sparse rows with `each` features at random."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_matrix(
        (np.ones(rows * each), rng.integers(0, features, rows * each), np.arange(rows + 1) * each),
        shape=(rows, features),
    )
    X.sum_duplicates()
    X.data[:] = 1.0
    return X


def one_row(repeats: int) -> Iterator[Line]:
    """A row is learnt, then another is judged, again and again."""
    features, classes = 1 << 20, 20
    X, new = random_rows(20_000, features, 50, 0), random_rows(1_000, features, 50, 1)
    rng = np.random.default_rng(0)
    y, label = rng.integers(0, classes, X.shape[0]), rng.integers(0, classes, new.shape[0])
    row = [new[i] for i in range(new.shape[0])]

    def middle(estimator: Any, times: int) -> tuple[float, float]:
        learn, judge = [], []
        for i in range(times):
            learn.append(seconds(lambda i=i: estimator.partial_fit(row[i], label[i : i + 1])))
            judge.append(seconds(lambda i=i: estimator.predict(row[-1 - i])))
        return statistics.median(learn), statistics.median(judge)

    for name in ("MultinomialNB", "BernoulliNB"):
        a, b = fitted(name, X, y)
        mine, other = middle(a, 500), middle(b, max(3, repeats // 2))
        works = [(f"{name}, 2^20 features × 20 classes: one-row partial_fit", mine[0], other[0])]
        if name == "BernoulliNB":
            works.append(("then one-row BernoulliNB predict", mine[1], other[1]))
        for work, left, right in works:
            ratio = right / left
            yield Line(work, clock(left), clock(right), f"{ratio:,.0f}×", "≥ 1,000×", ratio >= 1_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("NAIVELY_DATA"), help="folder with real data sets")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, few repeats")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown too, for the README")
    parser.add_argument("--fit-many-classes", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit_many_classes:
        return fit_many_classes(options.fit_many_classes)
    rows, repeats = (50_000, 3) if options.quick else (500_000, 7)
    folder = Path(options.data) if options.data else None

    works = chain(
        dense(rows, repeats), exact_sums(rows, repeats), text_counts(folder, repeats), many_classes(), one_row(repeats)
    )
    report("counting", works, markdown=options.markdown)
    return None


if __name__ == "__main__":
    main()
