"""Choosing and judging beside scikit-learn: leave-one-out, calibration, cross-validation, recipes, suspects.

    python bench/choosing.py --data FOLDER [--quick] [--markdown] [--only speed|accuracy]

FOLDER holds 20newsgroups_bydate.parquet and the other sets that the tables name, with columns text, label and split.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from report import Line, clock, report
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from text import Corpus, Data, ratio, sklearn_pipeline
from timing import medians, seconds

import naively
from naively import TextClassifier

ALPHAS = np.geomspace(1e-4, 10.0, 50)
GRID = (1.0, 0.3, 0.1, 0.03, 0.01)
PLAIN: dict[str, Any] = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1), "alpha": "auto"}
SETS = {
    "20 Newsgroups": ("20newsgroups_bydate", 85.0),
    "R8": ("reuters_r8_allterms", 96.0),
    "Ohsumed": ("ohsumed_single23", 66.3),
    "IMDB": ("imdb", 87.2),
    "AG News, 12k": ("ag_news_test7600_train12k", 87.4),
    "MR, 8,000/2,662": ("mr", 78.5),
    "SMS spam, half/half": ("sms_spam", 98.3),
}
"""The file of each set, and the accuracy that is wanted."""


def at_most(work: str, mine: float, other: float, wanted: float) -> Line:
    times = mine / other
    return Line(work, clock(mine), clock(other), f"{times:,.2f}×", f"≤ {wanted:g}×", times <= wanted)


def split(data: Data, name: str) -> tuple[Corpus, Corpus]:
    """The set's own split where it has one; otherwise the first texts in a random order against the rest."""
    if name not in ("mr", "sms_spam"):
        kinds = sorted(set(data.table(name)["split"].to_pylist()) - {"test"})
        return data.corpus(name, kinds[0]), data.corpus(name, "test")
    table = data.table("sms_spam" if name == "sms_spam" else "sentence_sets_mr_subj_cr_mpqa_trec_sst")
    if name == "mr":
        table = table.filter(pc.equal(table["dataset"], "mr"))
    order = np.random.default_rng(0).permutation(table.num_rows)
    first = 8000 if name == "mr" else table.num_rows // 2
    return tuple(  # type: ignore[return-value]
        Corpus(part["text"].combine_chunks(), np.array(part["label"].to_pylist()))
        for part in (table.take(pa.array(order[:first])), table.take(pa.array(order[first:])))
    )


def paths(data: Data, repeats: int) -> Iterator[Line]:
    """Fifty α by exact leave-one-out, beside a search in ten folds; both on ready counts."""
    corpus = data.corpus("20newsgroups_bydate", "train")
    X, y = CountVectorizer().fit_transform(corpus.listed), corpus.labels

    def ours() -> float:
        found = naively.leave_one_out(naively.MultinomialNB(), X, y, alpha=ALPHAS.tolist())
        return max(one.accuracy for one in found)

    mine = medians({"mine": ours}, repeats)["mine"]
    search = GridSearchCV(MultinomialNB(), {"alpha": ALPHAS.tolist()}, cv=10)
    other = seconds(lambda: search.fit(X, y))
    yield ratio("20 Newsgroups, ready counts: 50 α, each row left out (theirs: ten folds)", mine, other, 100)


def calibration(data: Data, repeats: int) -> Iterator[Line]:
    for shown, name in (("20 Newsgroups", "20newsgroups_bydate"), ("IMDB", "imdb")):
        corpus = data.corpus(name, "train")
        listed, y = corpus.listed, corpus.labels
        taken = medians(
            {
                "with": lambda c=corpus: TextClassifier(**PLAIN).fit(c.texts, c.labels),
                "without": lambda c=corpus: TextClassifier(**PLAIN, calibrate=False).fit(c.texts, c.labels),
            },
            3 * repeats,
        )
        yield at_most(f"{shown}: training with calibration beside without", taken["with"], taken["without"], 1.6)
        theirs = CalibratedClassifierCV(sklearn_pipeline(), cv=5)
        other = seconds(lambda t=theirs, x=listed, z=y: t.fit(x, z))
        yield ratio(f"{shown}: calibrated model from text (theirs: cv=5)", taken["with"], other, 30)


def folds(data: Data, repeats: int) -> Iterator[Line]:
    for shown, name in (("20 Newsgroups", "20newsgroups_bydate"), ("IMDB", "imdb")):
        corpus = data.corpus(name, "train")
        model = TextClassifier(**{**PLAIN, "alpha": 0.1}, calibrate=False)
        taken = medians(
            {
                "folds": lambda m=model, c=corpus: naively.cross_validate(m, c.texts, c.labels, folds=10),
                "once": lambda m=model, c=corpus: m.fit(c.texts, c.labels),
            },
            2 * repeats,
        )
        yield at_most(f"{shown}: ten folds from raw text beside one training", taken["folds"], taken["once"], 4)


def recipes(data: Data, repeats: int) -> Iterator[Line]:
    """Choosing everything beside training what was chosen."""
    for shown, (name, _) in SETS.items():
        train, _ = split(data, name)
        chosen = TextClassifier().fit(train.texts, train.labels).chosen_
        given = {key: chosen[key] for key in ("family", "weighting", "ngrams", "min_df", "alpha")}
        taken = medians(
            {
                "auto": lambda c=train: TextClassifier().fit(c.texts, c.labels),
                "given": lambda c=train, g=given: TextClassifier(**g).fit(c.texts, c.labels),
            },
            repeats,
        )
        yield at_most(f"{shown}: everything chosen, beside the same given", taken["auto"], taken["given"], 8)


def right(model: Any, corpus: Corpus, texts: Any = None) -> float:
    return 100 * float((model.predict(corpus.texts if texts is None else texts) == corpus.labels).mean())


def reach(work: str, mine: float, other: str, wanted: str, reached: bool) -> Line:
    return Line(work, f"{mine:.2f}", other, "", wanted, reached)


def evidence(data: Data) -> Iterator[Line]:
    for shown, reference in (("20 Newsgroups", 80.5), ("R8", 96.2), ("Ohsumed", 61.3)):
        train, test = split(data, SETS[shown][0])
        model = TextClassifier(**PLAIN, tokens="sklearn", calibrate=False).fit(train.texts, train.labels)
        mine, alpha = right(model, test), model.chosen_.alpha
        best = max(right(model.refit(alpha=a), test) for a in GRID)
        theirs = right(sklearn_pipeline().fit(train.listed, train.labels), test, test.listed)
        shown_others = f"best of grid {best:.2f}, α = 1 {theirs:.2f}, reference {reference}"
        yield reach(
            f"{shown}: accuracy with alpha='auto' ({alpha:.4f})", mine, shown_others, "≥ best − 0.3", mine >= best - 0.3
        )


def temperatures(data: Data) -> Iterator[Line]:
    for shown, wanted in (("20 Newsgroups", 1.2), ("Ohsumed", 1.5)):
        train, test = split(data, SETS[shown][0])
        model = TextClassifier(**PLAIN, tokens="sklearn").fit(train.texts, train.labels)
        place = np.searchsorted(model.classes_, test.labels)
        scores = model.scores(test.texts)
        mine, raw = (
            -float(np.mean(np.maximum(s.log_proba()[np.arange(len(place)), place], -708)))
            for s in (scores, scores.at(None))
        )
        theirs = sklearn_pipeline().fit(train.listed, train.labels)
        clipped = log_loss(test.labels, theirs.predict_proba(test.listed))
        others = f"uncalibrated {raw:.2f}, scikit-learn {clipped:.2f} (clipped at 36)"
        yield reach(f"{shown}: log-loss, T = {model.temperature_:.1f}", mine, others, f"≤ {wanted}", mine <= wanted)


def everything(data: Data) -> Iterator[Line]:
    for shown, (name, wanted) in SETS.items():
        train, test = split(data, name)
        model = TextClassifier().fit(train.texts, train.labels)
        mine, c = right(model, test), model.chosen_
        theirs = right(sklearn_pipeline().fit(train.listed, train.labels), test, test.listed)
        recipe = f"{c.weighting} {c.family}, {c.ngrams[0]}–{c.ngrams[1]}-grams, α = {c.alpha:g}"
        reached = mine >= wanted and mine > theirs
        yield reach(f"{shown}: TextClassifier() ({recipe})", mine, f"scikit-learn {theirs:.2f}", f"≥ {wanted}", reached)


def planted(data: Data) -> Iterator[Line]:
    """Wrong labels planted in one of twenty rows, and how many of the first twentieth of the suspects are such."""
    for shown, name, wanted in (("SMS spam", "sms_spam", 0.8), ("20 Newsgroups", "20newsgroups_bydate", None)):
        corpus = data.corpus(name)
        rng = np.random.default_rng(0)
        labels, classes = corpus.labels.copy(), np.unique(corpus.labels)
        wrong = rng.choice(len(labels), len(labels) // 20, replace=False)
        labels[wrong] = [rng.choice(classes[classes != label]) for label in labels[wrong]]
        found = naively.suspects(TextClassifier(), corpus.texts, labels)
        mine = float(np.isin(found.rows[: len(wrong)], wrong).mean())
        least = "" if wanted is None else f"≥ {wanted}"
        yield reach(f"{shown}: precision of suspects at 5 %", mine, "by chance 0.05", least, mine >= (wanted or 0.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("NAIVELY_DATA"), help="folder with the data sets")
    parser.add_argument("--quick", action="store_true", help="few repeats")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown too")
    parser.add_argument("--only", choices=["speed", "accuracy"], help="one of the two tables")
    options = parser.parse_args()
    if not options.data:
        parser.error("--data FOLDER is needed: the tables are of real texts")
    data = Data(Path(options.data))
    repeats = 1 if options.quick else 3
    if options.only != "accuracy":
        works = chain(calibration(data, repeats), folds(data, repeats), recipes(data, repeats), paths(data, repeats))
        report("choosing and judging, speed", works, markdown=options.markdown)
    if options.only != "speed":
        works = chain(evidence(data), temperatures(data), everything(data), planted(data))
        report("choosing and judging, accuracy", works, markdown=options.markdown)


if __name__ == "__main__":
    main()
