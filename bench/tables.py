"""Tables of mixed columns beside scikit-learn, wnb, mixed-naive-bayes and Arrow: speed, memory, error and log-loss.

    python bench/tables.py --data FOLDER [--quick] [--markdown] [--only speed|accuracy]

FOLDER holds tab_adult.parquet and the other sets that the tables name, each with a column label. wnb and
mixed-naive-bayes are measured where they are installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from report import Line, clock, report
from rich.console import Console
from rich.table import Table
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from timing import medians, peak_added

from naively import NaiveBayes
from naively.count.exact_sums import ExactSums
from naively.count.number_counts import NumberCounts
from naively.names import Index

SETS = (
    "adult", "mushroom", "house_votes84", "titanic_kaggle", "car", "nursery", "letter", "breast_cancer_wisconsin",
    "fars", "kddcup99_10pct",
)  # fmt: skip
UNFINISHED = {("kddcup99_10pct", "wnb")}
"""What had not finished after ten minutes, and is left out."""
LARGE = 60_000
"""Sets with more rows than this are tested on one fold of three."""


class Data:
    """The sets, read when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cache  # noqa: B019
    def table(self, name: str) -> Any:
        table = pq.read_table(self.folder / f"tab_{name}.parquet").combine_chunks()
        for i, field in enumerate(table.schema):  # read as text what was only stored as a dictionary
            if pa.types.is_dictionary(field.type):
                table = table.set_column(i, field.name, table.column(i).cast(pa.large_string()))
        return table

    @cache  # noqa: B019
    def frame(self, name: str) -> pd.DataFrame:
        return self.table(name).to_pandas()


# --- the peers


def numeric(X: pd.DataFrame) -> list[str]:
    return [name for name in X if X[name].dtype.kind in "if"]


def others(X: pd.DataFrame) -> list[str]:
    return [name for name in X if name not in numeric(X)]


class Encoder(OrdinalEncoder):
    """Categories from 0 on, with one left for those never seen."""

    def __init__(self) -> None:
        super().__init__(handle_unknown="use_encoded_value", unknown_value=-1)

    def transform(self, X: Any) -> Any:
        return super().transform(X) + 1

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X, y).transform(X)


def categorical_pipeline(X: pd.DataFrame) -> Any:
    most = [X[name].nunique() + 1 for name in X]
    return make_pipeline(SimpleImputer(strategy="most_frequent"), Encoder(), CategoricalNB(min_categories=most))


class ByHand:
    """What a user of scikit-learn builds: imputers, an encoder, two models, and their joint log-likelihoods added."""

    def fit(self, X: pd.DataFrame, y: Any) -> ByHand:
        self.numeric, self.others = numeric(X), others(X)
        self.models = []
        if self.others:
            self.models.append((self.others, categorical_pipeline(X[self.others]).fit(X[self.others], y)))
        if self.numeric:
            self.models.append((self.numeric, make_pipeline(SimpleImputer(), GaussianNB()).fit(X[self.numeric], y)))
        self.classes_ = self.models[0][1].classes_
        return self

    def joint(self, X: pd.DataFrame) -> Any:
        if not self.models:
            return np.tile(self.prior, (len(X), 1))
        logs = [model.predict_log_proba(X[names]) for names, model in self.models]
        prior = self.models[0][1][-1]
        prior = np.log(prior.class_prior_) if hasattr(prior, "class_prior_") else prior.class_log_prior_
        return sum(logs) - (len(logs) - 1) * prior

    def predict(self, X: pd.DataFrame) -> Any:
        return self.classes_[self.joint(X).argmax(axis=1)]

    def predict_proba(self, X: pd.DataFrame) -> Any:
        joint = self.joint(X)
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        return joint / joint.sum(axis=1, keepdims=True)


class Only(ByHand):
    """A model on the columns that it can take; where there are none, it knows the classes' shares alone."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def fit(self, X: pd.DataFrame, y: Any) -> Only:
        names = numeric(X) if self.kind == "gaussian" else others(X)
        if not names:
            prior = DummyClassifier(strategy="prior").fit(X, y)
            self.models, self.classes_ = [], prior.classes_
            self.prior = np.log(prior.class_prior_)
            return self
        model = (
            make_pipeline(SimpleImputer(), GaussianNB()) if self.kind == "gaussian" else categorical_pipeline(X[names])
        )
        self.models = [(names, model.fit(X[names], y))]
        self.classes_ = model.classes_
        return self


class Wnb:
    """wnb's GeneralNB, with a category for what is missing, and means for missing numbers."""

    def fit(self, X: pd.DataFrame, y: Any) -> Wnb:
        from wnb import Distribution, GeneralNB

        self.means = {name: X[name].mean() for name in numeric(X)}
        kinds = [Distribution.NORMAL if name in self.means else Distribution.CATEGORICAL for name in X]
        self.model = GeneralNB(kinds, alpha=1.0).fit(self.filled(X), y)
        self.classes_ = self.model.classes_
        return self

    def filled(self, X: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame(
            {n: X[n].fillna(self.means[n]) if n in self.means else X[n].fillna("?").astype(str) for n in X}
        )

    def predict(self, X: pd.DataFrame) -> Any:
        return self.model.predict(self.filled(X))

    def predict_proba(self, X: pd.DataFrame) -> Any:
        proba = np.nan_to_num(self.model.predict_proba(self.filled(X)), nan=1.0 / len(self.classes_))
        return proba / proba.sum(axis=1, keepdims=True)


class MixedNaiveBayes:
    """mixed-naive-bayes, which takes numbers alone: categories are encoded first."""

    def fit(self, X: pd.DataFrame, y: Any) -> MixedNaiveBayes:
        from mixed_naive_bayes import MixedNB

        self.numeric, self.others = numeric(X), others(X)
        self.fill, self.mean = SimpleImputer(strategy="most_frequent"), SimpleImputer()
        self.encoder = Encoder()
        self.classes_, codes = np.unique(y, return_inverse=True)
        coded = self.encoder.fit_transform(self.fill.fit_transform(X[self.others]))
        most = [X[name].nunique() + 1 for name in self.others]
        self.model = MixedNB(categorical_features=list(range(coded.shape[1])), max_categories=most)
        self.model.fit(np.hstack([coded, self.mean.fit_transform(X[self.numeric])]), codes)
        return self

    def numbers(self, X: pd.DataFrame) -> Any:
        coded = self.encoder.transform(self.fill.transform(X[self.others]))
        return np.hstack([coded, self.mean.transform(X[self.numeric])])

    def predict(self, X: pd.DataFrame) -> Any:
        return self.classes_[self.model.predict(self.numbers(X))]


class Boosted:
    """Gradient boosting as the ceiling, with some regularisation, without which classes of a few rows upset it."""

    def fit(self, X: pd.DataFrame, y: Any) -> Boosted:
        self.encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan, max_categories=250)
        self.others, self.numeric = others(X), numeric(X)
        self.model = HistGradientBoostingClassifier(
            categorical_features=list(range(len(self.others))),
            random_state=0,
            early_stopping=False,
            l2_regularization=1.0,
        )
        self.model.fit(self.numbers(X, fit=True), y)
        self.classes_ = self.model.classes_
        return self

    def numbers(self, X: pd.DataFrame, *, fit: bool = False) -> Any:
        parts = [X[self.numeric].to_numpy(float)]
        if self.others:
            texts = X[self.others].astype(object).where(X[self.others].notna(), np.nan)
            parts.insert(0, self.encoder.fit_transform(texts) if fit else self.encoder.transform(texts))
        return np.hstack(parts)

    def predict(self, X: pd.DataFrame) -> Any:
        return self.model.predict(self.numbers(X))

    def predict_proba(self, X: pd.DataFrame) -> Any:
        return self.model.predict_proba(self.numbers(X))


def installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


# --- speed

BOTH: dict[str, Callable[[], Any]] = {"mine": NaiveBayes, "other": ByHand}


def speed(data: Data, *, quick: bool) -> Iterator[Line]:
    repeats = 3 if quick else 9
    frame = data.frame("adult")
    X, y = frame.drop(columns=["label", "split"]), frame["label"]
    train = (frame["split"] == "train").to_numpy()
    rows, test, labels = X[train], X[~train], y[~train].to_numpy()

    def right_of(make: Callable[[], Any]) -> float:
        return float((make().fit(rows, y[train]).predict(test) == labels).mean())

    taken = medians({name: lambda m=make: m().fit(X, y).predict(X) for name, make in BOTH.items()}, repeats)
    right = {name: right_of(make) for name, make in BOTH.items()}
    times = taken["other"] / taken["mine"]
    yield Line(
        f"adult (pandas, {len(X):,} rows): fit and predict, beside scikit-learn by hand",
        f"{clock(taken['mine'])}, {right['mine']:.2%} right", f"{clock(taken['other'])}, {right['other']:.2%}",
        f"{times:,.1f}×", "≥ 10×, as accurate", times >= 10 and right["mine"] >= right["other"],
    )  # fmt: skip
    mine = NaiveBayes().fit(X, y)
    mine.predict(X)
    for name, package, make in (
        ("wnb GeneralNB", "wnb", Wnb),
        ("mixed-naive-bayes", "mixed_naive_bayes", MixedNaiveBayes),
    ):
        if not installed(package):
            print(f"{package} is not installed: left out", file=sys.stderr)
            continue
        peer = make().fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            turns = {"mine": lambda: mine.predict(X), "other": lambda p=peer: p.predict(X)}
            taken = medians(turns, repeats * (1 if make is Wnb else 5))  # which are short, but for wnb's
        times = taken["other"] / taken["mine"]
        work = f"adult (pandas): predict, beside {name}"
        yield Line(work, clock(taken["mine"]), clock(taken["other"]), f"{times:,.1f}×", "≥ 50×", times >= 50)
    yield from kdd(data, repeats)
    yield from number_counts(data, repeats)


def kdd(data: Data, repeats: int) -> Iterator[Line]:
    table = data.table("kddcup99_10pct")

    def arrow() -> None:
        for column in table.columns:
            if pa.types.is_large_string(column.type):
                pc.dictionary_encode(column)
            else:
                pc.sum(column)

    taken = medians({"mine": lambda: NaiveBayes().fit(table, "label"), "other": arrow}, repeats)
    times = taken["mine"] / taken["other"]
    work = "kddcup99 (Arrow): fit, beside Arrow's encoding of text and sums of numbers"
    yield Line(work, clock(taken["mine"]), clock(taken["other"]), f"{times:.1f}× as long", "≤ 3×", times <= 3)
    once = peak_added(lambda: NaiveBayes().fit(table, "label"))[1]
    batches = [batch for _ in range(4) for batch in table.to_batches(max_chunksize=1 << 16)]
    many = peak_added(lambda: NaiveBayes().fit(iter(batches), "label"))[1]
    work = "kddcup99: memory added by fitting four times over in batches (other: once)"
    yield Line(work, f"{many / 2**20:.0f} MB", f"{once / 2**20:.0f} MB", "", "no more", many <= max(once, 64 << 20))


def number_counts(data: Data, repeats: int) -> Iterator[Line]:
    """Counts of the values of columns of numbers by class, on one thread: their sums follow from them."""
    table = data.table("kddcup99_10pct")
    columns = [c.to_numpy() for c in table.columns if pa.types.is_integer(c.type) or pa.types.is_floating(c.type)]
    labels = pc.dictionary_encode(table.column("label")).combine_chunks()
    codes, features = labels.indices.to_numpy(), Index(len(columns))
    rows = np.bincount(codes)
    with one_thread():
        works = {
            "mine": lambda: NumberCounts.counted(columns, codes, rows, features),
            "other": lambda: ExactSums.counted(columns, codes, rows, features),
        }
        taken = medians(works, repeats)
        ratio = taken["mine"] / taken["other"]
        work = f"kddcup99: counts of the values of {len(columns)} columns of numbers, beside their exact sums"
        yield Line(work, clock(taken["mine"]), clock(taken["other"]), f"{ratio:.1f}× as long", "≤ 2.5×", ratio <= 2.5)
        rng = np.random.default_rng(0)
        x, codes = rng.normal(size=1_000_000), rng.integers(0, 5, 1_000_000).astype(np.int32)
        rows = np.bincount(codes)
        peak = peak_added(lambda: NumberCounts.counted([x], codes, rows, Index(1)))[1]
    yield Line(
        "memory added by counting a column of a million different numbers",
        f"{peak / 2**20:.0f} MB", "", "", "≤ 20 MB", peak <= 20 << 20,
    )  # fmt: skip


@contextmanager
def one_thread() -> Iterator[None]:
    before = os.environ.get("NAIVELY_THREADS")
    os.environ["NAIVELY_THREADS"] = "1"
    try:
        yield
    finally:
        del os.environ["NAIVELY_THREADS"]
        if before is not None:
            os.environ["NAIVELY_THREADS"] = before


# --- accuracy


@dataclass(frozen=True)
class Result:
    """Error and log-loss, averaged over folds."""

    error: float
    loss: float


def folds(frame: pd.DataFrame) -> list[tuple[Any, Any]]:
    if "split" in frame:
        train = (frame["split"] == "train").to_numpy()
        return [(np.flatnonzero(train), np.flatnonzero(~train))]
    labels = frame["label"].to_numpy()
    many = 3 if len(frame) > LARGE else 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds
        cut = list(StratifiedKFold(many, shuffle=True, random_state=0).split(np.zeros(len(frame)), labels))
    return cut[:1] if len(frame) > LARGE else cut


def judged(make: Callable[[], Any], frame: pd.DataFrame) -> Result:
    X, y = frame.drop(columns=["label", "split"], errors="ignore"), frame["label"].to_numpy()
    errors, losses = [], []
    for train, test in folds(frame):
        model = make().fit(X.iloc[train], y[train])
        proba = np.clip(model.predict_proba(X.iloc[test]), 1e-15, 1.0)
        labels = np.asarray(model.classes_)
        known = np.isin(y[test], labels)
        errors.append(float((labels[proba.argmax(axis=1)] != y[test]).mean()))
        proba /= proba.sum(axis=1, keepdims=True)
        losses.append(float(log_loss(y[test][known], proba[known], labels=labels)))
    return Result(float(np.mean(errors)), float(np.mean(losses)))


def accuracy(data: Data, *, quick: bool, markdown: bool) -> None:
    makers: dict[str, Callable[[], Any]] = {
        "naively": NaiveBayes,
        "GaussianNB": lambda: Only("gaussian"),
        "CategoricalNB": lambda: Only("categorical"),
        "both by hand": ByHand,
        "boosting": Boosted,
    }
    if installed("wnb"):
        makers["wnb"] = Wnb
    names = [name for name in SETS if not (quick and name in ("fars", "kddcup99_10pct", "letter"))]
    results: dict[str, dict[str, Result | None]] = {}
    for name in names:
        results[name] = {}
        for who, make in makers.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results[name][who] = None if (name, who) in UNFINISHED else judged(make, data.frame(name))
            print(f"… {name}, {who}: {shown(results[name][who])}", flush=True)
    print_accuracy(results, list(makers), markdown=markdown)


def shown(result: Result | None) -> str:
    return "–" if result is None else f"{100 * result.error:.1f} / {result.loss:.3f}"


def print_accuracy(results: dict[str, dict[str, Result | None]], makers: list[str], *, markdown: bool) -> None:
    rows = [[name, *(shown(by[who]) for who in makers)] for name, by in results.items()]

    def average(who: str, mine: bool) -> str:
        sets = [by for by in results.values() if by[who] is not None]
        chosen = [by["naively" if mine else who] for by in sets]
        return shown(Result(*(float(np.mean([getattr(r, part) for r in chosen])) for part in ("error", "loss"))))

    rows.append(["average", *(average(who, mine=False) for who in makers)])
    rows.append(["naively on the same sets", *(average(who, mine=True) for who in makers)])
    table = Table(title="error in % / log-loss")
    for heading in ("set", *makers):
        table.add_column(heading, justify="left" if heading == "set" else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=150).print(table)
    if markdown:
        print("| set | " + " | ".join(makers) + " |")
        print("|---|" + "---:|" * len(makers))
        for row in rows:
            print("| " + " | ".join(row) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--only", choices=["speed", "accuracy"])
    options = parser.parse_args()
    data = Data(options.data)
    if options.only != "accuracy":
        report("tables", speed(data, quick=options.quick), markdown=options.markdown)
    if options.only != "speed":
        accuracy(data, quick=options.quick, markdown=options.markdown)


if __name__ == "__main__":
    main()
