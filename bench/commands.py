"""The command line beside scripts with scikit-learn that do the same: whole commands, start to end.

    python bench/commands.py --data FOLDER [--quick] [--markdown]

FOLDER holds imdb.parquet and imdb_unsup_50k.parquet, with columns text and label. Files of some gigabytes are made in a
temporary folder, and removed.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from report import Line, clock, faster, report
from timing import medians, seconds

import naively

NAIVELY = [sys.executable, "-m", "naively.cli"]
TRAIN = """
import joblib, pandas
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
data = pandas.read_{kind}({path!r})
words = CountVectorizer()
model = MultinomialNB().fit(words.fit_transform(data["text"]), data["label"])
joblib.dump((words, model), {out!r})
"""
PREDICT = """
import sys, joblib
words, model = joblib.load({path!r})
for line in sys.stdin:
    chances = model.predict_proba(words.transform([line]))[0]
    print(model.classes_[chances.argmax()], chances.max(), sep="\\t")
"""


# Modules are compiled once, as those of an installed package are: ours and theirs.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run(command: list[str], text: str = "") -> None:
    subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)


def peak(command: list[str]) -> int:
    """The most memory that a command held, in bytes."""
    code = "import resource, subprocess, sys\nsubprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
    code += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", code, *command], check=True, capture_output=True, text=True)
    return int(done.stdout) * 1024


def reviews(data: Path) -> pa.Table:
    """A hundred thousand reviews in a random order: positive, negative and without a label of their own."""
    tables = [pq.read_table(data / f"{name}.parquet", columns=["text", "label"]) for name in ("imdb", "imdb_unsup_50k")]
    both = pa.concat_tables([table.cast(tables[0].schema) for table in tables]).replace_schema_metadata(None)
    return both.take(np.random.default_rng(0).permutation(both.num_rows))


def written(table: pa.Table, folder: Path) -> None:
    pq.write_table(table, folder / "reviews.parquet")
    pq.write_table(table.slice(0, table.num_rows // 10), folder / "tenth.parquet")
    with pq.ParquetWriter(folder / "tenfold.parquet", table.schema) as writer:
        for _ in range(10):
            writer.write_table(table)
    pyarrow.csv.write_csv(table, folder / "reviews.csv")
    with (folder / "reviews.csv").open("rb") as source, gzip.open(folder / "reviews.csv.gz", "wb", 6) as packed:
        shutil.copyfileobj(source, packed)


def train(path: Path, out: Path) -> list[str]:
    return [*NAIVELY, "train", str(path), "--target", "label", "--text", "text", "-o", str(out)]


def training(folder: Path, repeats: int) -> Iterator[Line]:
    kinds = (("reviews.parquet", "parquet", 15), ("reviews.csv", "csv", 10), ("reviews.csv.gz", "csv", 10))
    for name, kind, wanted in kinds:
        script = TRAIN.format(kind=kind, path=str(folder / name), out=str(folder / "theirs.joblib"))
        yield faster(
            f"train on 100,000 reviews, {name.partition('.')[2]}, whole command",
            lambda name=name: run(train(folder / name, folder / "ours.nb")),
            lambda script=script: run([sys.executable, "-c", script]),
            wanted,
            repeats,
        )


def starting(folder: Path, repeats: int) -> Iterator[Line]:
    script, line = PREDICT.format(path=str(folder / "theirs.joblib")), "a wonderful film, well played\n"
    yield faster(
        "predict one line from standard input, whole command",
        lambda: run([*NAIVELY, "predict", str(folder / "ours.nb"), "-"], line),
        lambda: run([sys.executable, "-c", script], line),
        5,
        5 * repeats,
    )
    yield faster(
        "naively --help beside import sklearn.naive_bayes",
        lambda: run([*NAIVELY, "--help"]),
        lambda: run([sys.executable, "-c", "import sklearn.naive_bayes"]),
        10,
        5 * repeats,
    )


def memory(folder: Path) -> Iterator[Line]:
    """The same reviews ten times over bring no new words; ten times as many different ones do."""
    once, tenfold, tenth = (
        peak(train(folder / f"{name}.parquet", folder / "memory.nb")) for name in ("reviews", "tenfold", "tenth")
    )
    share = tenfold / once
    work = "peak memory, 1,000,000 reviews (each ten times) beside 100,000"
    yield Line(work, f"{tenfold / 1e6:.0f} MB", f"{once / 1e6:.0f} MB", f"{share:.2f}×", "≤ 1.2×", share <= 1.2)
    work = "peak memory, 100,000 reviews beside 10,000, which have a third of the words"
    yield Line(work, f"{once / 1e6:.0f} MB", f"{tenth / 1e6:.0f} MB", f"{once / tenth:.2f}×", "", True)


def loading(folder: Path, quick: bool) -> Iterator[Line]:
    """A model of a gigabyte, of words that nobody has ever used."""
    many = 400_000 if quick else 7_000_000
    rng, texts = np.random.default_rng(0), []
    for start in range(0, many, 1000):
        texts.append(" ".join(f"w{n:x}" for n in range(start, start + 1000)))
    labels = rng.integers(0, 2, len(texts)).astype(str)
    model = naively.TextClassifier(family="multinomial", weighting="counts", ngrams=(1, 1), alpha=1.0, calibrate=False)
    fitted = seconds(lambda: model.fit(texts, labels))
    path = folder / "large.nb"
    saved = seconds(lambda: model.save(path))
    size = path.stat().st_size
    naively.load(path).predict(["w1"])
    taken = medians({"load": lambda: naively.load(path), "use": lambda: naively.load(path).predict([texts[0]])}, 5)
    title = f"load a model of {size / 1e9:.2f} GB ({many:,} words)"
    yield Line(title, clock(taken["load"]), f"counting {clock(fitted)}", "", "≤ 50 ms", taken["load"] <= 0.05)
    title = "load it and predict a text of 1,000 words"
    yield Line(title, clock(taken["use"]), f"saving {clock(saved)}", "", "≤ 100 ms", taken["use"] <= 0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("NAIVELY_DATA"), help="folder with the data sets")
    parser.add_argument("--quick", action="store_true", help="few repeats")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown too")
    options = parser.parse_args()
    if not options.data:
        parser.error("--data FOLDER is needed: the tables are of real texts")
    repeats = 1 if options.quick else 3
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        written(reviews(Path(options.data)), folder)
        run(train(folder / "tenth.parquet", folder / "warm.nb"))

        def works() -> Iterator[Line]:
            yield from training(folder, repeats)
            yield from starting(folder, repeats)
            yield from memory(folder)
            yield from loading(folder, options.quick)

        report("whole commands", works(), markdown=options.markdown)


if __name__ == "__main__":
    main()
