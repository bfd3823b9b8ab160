"""Raw text beside scikit-learn, wc and fastText: speed, memory and accuracy, in one run, ratios side by side.

    python bench/text.py --data FOLDER [--quick] [--markdown] [--only speed|accuracy]

FOLDER holds imdb.parquet, 20newsgroups_bydate.parquet and the other sets that the tables name, with columns text,
label and split. fastText is measured where its package (`fasttext-wheel`) is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from report import Line, clock, report
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import KFold
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from timing import medians, peak_added

import naively


def TextClassifier(**options: Any) -> Any:
    """Ours with what scikit-learn's pipeline does: multinomial, by counts of single words, smoothed by 1."""
    usual = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": 1.0, "calibrate": False}
    return naively.TextClassifier(**{**usual, **options})


@dataclass(frozen=True)
class Corpus:
    """Texts as an Arrow column, and their labels."""

    texts: Any
    labels: Any

    @property
    def listed(self) -> list[str]:
        return self.texts.to_pylist()


class Data:
    """The sets, read when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cache  # noqa: B019
    def table(self, name: str) -> Any:
        return pq.read_table(self.folder / f"{name}.parquet").combine_chunks()

    @cache  # noqa: B019
    def corpus(self, name: str, split: str | None = None) -> Corpus:
        table = self.table(name)
        if split is not None:
            table = table.filter(pc.equal(table["split"], split))
        column = table["text"].combine_chunks()
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        return Corpus(column, np.array(table["label"].to_pylist()))


def sklearn_pipeline(**options: Any) -> Any:
    return make_pipeline(CountVectorizer(**options), MultinomialNB())


def ratio(work: str, mine: float, other: float, wanted: float, shown: str = "≥ {:g}×", digits: int = 1) -> Line:
    times = other / mine
    return Line(work, clock(mine), clock(other), f"{times:,.{digits}f}×", shown.format(wanted), times >= wanted)


def training(data: Data, repeats: int) -> Iterator[Line]:
    """One thread, from Arrow and from a list, beside wc and scikit-learn, and two threads."""
    corpus = data.corpus("imdb")
    taken = trained(corpus, repeats)
    yield ratio("IMDB, 50k texts: Arrow → model, one thread, beside `wc -w`", taken["arrow"], taken["wc"], 1)
    yield ratio("IMDB, 50k texts: Arrow → model, one thread", taken["arrow"], taken["sklearn"], 20)
    yield ratio("IMDB, 50k texts: list of str → model, one thread", taken["list"], taken["sklearn"], 15)
    yield from two_threads(corpus, 2 * repeats)
    taken = trained(data.corpus("20newsgroups_bydate", "train"), repeats)
    yield ratio("20 Newsgroups: Arrow → model, one thread", taken["arrow"], taken["sklearn"], 20)
    yield ratio("20 Newsgroups: list of str → model, one thread", taken["list"], taken["sklearn"], 15)


def trained(corpus: Corpus, repeats: int) -> dict[str, float]:
    """Median times to train. scikit-learn, which takes long, has a third of the turns."""
    listed, y = corpus.listed, corpus.labels
    single = TextClassifier(threads=1)
    with tempfile.NamedTemporaryFile("wb") as file:
        file.write("\n".join(listed).encode())
        file.flush()
        taken = medians(
            {
                "arrow": lambda: single.fit(corpus.texts, y),
                "list": lambda: single.fit(listed, y),
                "wc": lambda: subprocess.run(["wc", "-w", file.name], capture_output=True, check=True),
            },
            repeats,
        )
    return taken | medians({"sklearn": lambda: sklearn_pipeline().fit(listed, y)}, max(1, repeats // 3))


def two_threads(corpus: Corpus, repeats: int) -> Iterator[Line]:
    """Beside one, and what the machine's cores give to two trainings that have nothing to do with each other."""

    def fit(threads: int) -> Any:
        return TextClassifier(threads=threads).fit(corpus.texts, corpus.labels)

    def apart() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(fit, (1, 1)))

    taken = medians({"one": lambda: fit(1), "two": lambda: fit(2), "apart": apart}, repeats)
    most = 2 * taken["one"] / taken["apart"]
    title = f"IMDB, 50k texts: two threads beside one (two trainings apart: {most:.2f}×)"
    yield ratio(title, taken["two"], taken["one"], 1.7, digits=2)


def judging(data: Data, repeats: int) -> Iterator[Line]:
    train, test = data.corpus("imdb", "train"), data.corpus("imdb", "test")
    listed = test.listed
    mine = TextClassifier(threads=1).fit(train.texts, train.labels)
    theirs = sklearn_pipeline().fit(train.listed, train.labels)
    taken = medians({"mine": lambda: mine.predict(test.texts)}, repeats)["mine"]
    other = medians({"other": lambda: theirs.predict(listed)}, max(1, repeats // 3))["other"]
    yield ratio("IMDB, 25k texts → labels, one thread", taken, other, 20)
    short = ["I am not happy to see this movie"]
    taken = medians({"mine": lambda: mine.predict(short), "other": lambda: theirs.predict(short)}, 300)
    yield ratio("one short text, predict", taken["mine"], taken["other"], 10)


def bigrams(data: Data, repeats: int) -> Iterator[Line]:
    train, test = data.corpus("imdb", "train"), data.corpus("imdb", "test")
    many = max(1, repeats // 3)
    mine = TextClassifier(ngrams=(1, 2), tokens="sklearn", threads=1)
    theirs = sklearn_pipeline(ngram_range=(1, 2))
    learnt = medians(
        {
            "mine": lambda: mine.fit(train.texts, train.labels),
            "other": lambda: theirs.fit(train.listed, train.labels),
        },
        many,
    )
    words = len(np.unique(mine.tally_.part.cells.feature))
    judged = medians({"mine": lambda: mine.predict(test.texts), "other": lambda: theirs.predict(test.listed)}, many)
    yield ratio(f"IMDB, 25k texts, 1–2-grams ({words:,} features): train", learnt["mine"], learnt["other"], 12)
    yield ratio("the same: predict", judged["mine"], judged["other"], 12)


def vectorizing(data: Data, repeats: int) -> Iterator[Line]:
    train = data.corpus("imdb", "train")
    listed = train.listed
    mine, theirs = naively.CountVectorizer(), CountVectorizer()
    many = max(1, repeats // 3)
    learnt = medians({"mine": lambda: mine.fit_transform(listed), "other": lambda: theirs.fit_transform(listed)}, many)
    judged = medians({"mine": lambda: mine.transform(listed), "other": lambda: theirs.transform(listed)}, many)
    different = (mine.transform(listed) != theirs.transform(listed)).nnz + (mine.vocabulary_ != theirs.vocabulary_)
    same = "same matrix" if different == 0 else f"{different} entries differ"
    yield ratio(f"CountVectorizer.fit_transform, IMDB 25k ({same})", learnt["mine"], learnt["other"], 10)
    yield ratio("CountVectorizer.transform", judged["mine"], judged["other"], 10)
    texts = [text for part in ("train", "test") for text in data.corpus("20newsgroups_bydate", part).listed]
    weighing, other = naively.TfidfVectorizer(), TfidfVectorizer()
    learnt = medians({"mine": lambda: weighing.fit_transform(texts), "other": lambda: other.fit_transform(texts)}, many)
    yield ratio("TfidfVectorizer.fit_transform, 20 Newsgroups", learnt["mine"], learnt["other"], 5)


def memory(data: Data, options: argparse.Namespace) -> Iterator[Line]:
    """Each in a process of its own, which tells how much memory training added at most."""

    def added(who: str, rows: int) -> float:
        command = [sys.executable, __file__, "--data", str(options.data), "--fit-memory", who, "--rows", str(rows)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]) / 1e6

    mine, other = added("ours", 25_000), added("theirs", 25_000)
    fits = other / mine
    yield Line(
        "IMDB, 25k texts: peak memory of training", f"{mine:.0f} MB", f"{other:.0f} MB", f"{fits:.1f}× less",
        "≥ 5× less", fits >= 5,
    )  # fmt: skip
    sizes = [added("ours", rows) for rows in (25_000, 50_000, 100_000)]
    words = [
        len(TextClassifier().fit(*unlabelled(data, rows)).tally_.part.cells.features()) for rows in (25_000, 100_000)
    ]
    growth, more_words = sizes[-1] / sizes[0], words[1] / words[0]
    yield Line(
        f"25k → 50k → 100k IMDB texts: peak memory ({words[0]:,} → {words[1]:,} words)",
        " → ".join(f"{size:.0f}" for size in sizes) + " MB", "texts ×4", f"×{growth:.1f}, words ×{more_words:.1f}",
        "as the words", growth <= 1.25 * more_words,
    )  # fmt: skip


def unlabelled(data: Data, rows: int) -> tuple[Any, Any]:
    """Reviews, with and without a label of their own, and labels that stand in."""
    tables = [data.table("imdb").select(["text"]), data.table("imdb_unsup_50k").select(["text"])]
    return pa.concat_tables([t.cast(tables[0].schema) for t in tables])["text"][:rows], np.arange(rows) % 2


def fit_memory(data: Data, who: str, rows: int) -> None:
    texts, labels = unlabelled(data, rows)
    if who == "ours":
        TextClassifier().fit(texts[:10], labels[:10])
        _, added = peak_added(lambda: TextClassifier(threads=1).fit(texts, labels))
    else:
        listed = texts.to_pylist()
        sklearn_pipeline().fit(listed[:10], labels[:10])
        _, added = peak_added(lambda: sklearn_pipeline().fit(listed, labels))
    print(added)


def fasttext(data: Data) -> Iterator[Line]:
    if importlib.util.find_spec("fasttext") is None:
        return
    import fasttext as library

    train, test = data.corpus("imdb", "train"), data.corpus("imdb", "test")
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for name, corpus in (("train", train), ("test", test)):
            paths[name] = f"{folder}/{name}.txt"
            lines = [
                f"__label__{label} {' '.join(text.split())}"
                for text, label in zip(corpus.listed, corpus.labels, strict=True)
            ]
            random.Random(0).shuffle(lines)  # it learns from one text after another, so their order matters
            Path(paths[name]).write_text("\n".join(lines))
        for n, title in ((1, "words"), (2, "words and bigrams")):
            told: dict[str, Any] = {}

            def theirs(n: int = n, told: dict[str, Any] = told) -> None:
                told["model"] = library.train_supervised(paths["train"], epoch=5, wordNgrams=n, thread=2, verbose=0)

            other = medians({"other": theirs}, 3)["other"]
            mine = TextClassifier(ngrams=(1, n), weighting="binary", threads=2)
            taken = medians({"mine": lambda mine=mine: mine.fit(train.texts, train.labels)}, 7)["mine"]
            ours, peer = mine.score(test.texts, test.labels), told["model"].test(paths["test"])[1]
            yield ratio(
                f"fastText, 5 epochs, {title}, two threads each (accuracy {ours:.3f}, fastText {peer:.3f}): train",
                taken, other, 20,
            )  # fmt: skip


def folds(corpus: Corpus, make: Callable[[], Any]) -> float:
    """Mean accuracy of ten folds."""
    texts, found = np.array(corpus.listed, dtype=object), []
    for train, test in KFold(10, shuffle=True, random_state=0).split(texts):
        found.append(make().fit(texts[train], corpus.labels[train]).score(texts[test], corpus.labels[test]))
    return float(np.mean(found))


def accuracy(data: Data) -> Iterator[Line]:
    def reach(work: str, mine: float, other: str, least: float, shown: str = "") -> Line:
        return Line(
            work, f"{mine:.2%}", other, shown or f"{100 * (mine - least):+.2f}", f"≥ {least:.1%}", mine >= least
        )

    for name, title in (("20newsgroups_bydate", "20 Newsgroups"), ("imdb", "IMDB")):
        train, test = data.corpus(name, "train"), data.corpus(name, "test")
        mine = TextClassifier(tokens="sklearn").fit(train.texts, train.labels)
        theirs = sklearn_pipeline().fit(train.listed, train.labels)
        a, b = mine.predict(test.texts), theirs.predict(test.listed)
        yield Line(
            f"{title}, counts of words, tokens='sklearn'", f"{np.mean(a == test.labels):.2%}",
            f"{np.mean(b == test.labels):.2%}", f"{(a != b).sum()} rows differ", "0 rows", bool((a == b).all()),
        )  # fmt: skip
    train, test = data.corpus("imdb", "train"), data.corpus("imdb", "test")
    pairs = TextClassifier(tokens="sklearn", ngrams=(1, 2), weighting="binary").fit(train.texts, train.labels)
    theirs = make_pipeline(CountVectorizer(ngram_range=(1, 2), binary=True), MultinomialNB())
    b = theirs.fit(train.listed, train.labels).predict(test.listed)
    a = pairs.predict(test.texts)
    yield Line(
        "IMDB, binarised 1–2-grams, tokens='sklearn'", f"{np.mean(a == test.labels):.2%}",
        f"{np.mean(b == test.labels):.2%}", f"{(a != b).sum()} rows differ", "0 rows", bool((a == b).all()),
    )  # fmt: skip
    yield reach("IMDB, binarised multinomial bigrams", pairs.score(test.texts, test.labels), "", 0.864)

    table = data.table("sentence_sets_mr_subj_cr_mpqa_trec_sst")
    reviews = table.filter(pc.equal(table["dataset"], "mr"))
    polarity = Corpus(reviews["text"].combine_chunks(), np.array(reviews["label"].to_pylist()))
    for n, published in ((1, 0.7794), (2, 0.7903)):
        found = folds(polarity, lambda n=n: TextClassifier(tokens=str.split, ngrams=(1, n), weighting="binary"))
        yield Line(
            f"sentence polarity, 10 folds, binarised, up to {n} words", f"{found:.2%}", f"{published:.2%} published",
            f"{100 * (found - published):+.2f}", "within 0.5", abs(found - published) <= 0.005,
        )  # fmt: skip

    train, test = data.corpus("20newsgroups_bydate", "train"), data.corpus("20newsgroups_bydate", "test")
    weighed = TextClassifier(tokens="sklearn", family="complement", weighting="tfidf").fit(train.texts, train.labels)
    yield reach("20 Newsgroups by date, complement, tf-idf", weighed.score(test.texts, test.labels), "", 0.844)

    for name, title in (
        ("zh_online_shopping_10_cats", "Chinese reviews, 10 categories"),
        ("th_wisesight", "Thai posts"),
    ):
        train, test = held_out(data, name)
        mine = TextClassifier().fit(train.texts, train.labels).score(test.texts, test.labels)
        peer = sklearn_pipeline(analyzer="char", ngram_range=(1, 2)).fit(train.listed, train.labels)
        other = peer.score(test.listed, test.labels)
        yield Line(
            f"{title}, no option set, beside scikit-learn's character 1–2-grams", f"{mine:.2%}", f"{other:.2%}",
            f"{100 * (mine - other):+.2f}", "≥ 0", mine >= other,
        )  # fmt: skip


def held_out(data: Data, name: str) -> tuple[Corpus, Corpus]:
    """The set's own split where it has one; otherwise every fifth text is kept for the test."""
    table = data.table(name)
    if "split" in table.column_names and len(set(table["split"].to_pylist())) > 1:
        return data.corpus(name, "train"), data.corpus(name, "test")
    corpus = data.corpus(name)
    test = np.arange(len(corpus.labels)) % 5 == 0
    return tuple(Corpus(corpus.texts.filter(pa.array(m)), corpus.labels[m]) for m in (~test, test))  # type: ignore[return-value]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("NAIVELY_DATA"), help="folder with the data sets")
    parser.add_argument("--quick", action="store_true", help="few repeats")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown too")
    parser.add_argument("--only", choices=["speed", "accuracy"], help="one of the two tables")
    parser.add_argument("--fit-memory", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    parser.add_argument("--rows", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.data:
        parser.error("--data FOLDER is needed: the tables are of real texts")
    data = Data(Path(options.data))
    if options.fit_memory:
        return fit_memory(data, options.fit_memory, options.rows)
    repeats = 3 if options.quick else 9
    if options.only != "accuracy":
        works = chain(
            training(data, repeats), judging(data, repeats), bigrams(data, repeats), vectorizing(data, repeats),
            memory(data, options), fasttext(data),
        )  # fmt: skip
        report("raw text, speed", works, markdown=options.markdown)
    if options.only != "speed":
        report("raw text, accuracy", accuracy(data), markdown=options.markdown)
    return None


if __name__ == "__main__":
    main()
