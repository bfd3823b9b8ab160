"""Every command, end to end, as people run it: files in, files out, and figures that Python's own API confirms."""

import csv
import gzip
import io
import json
import os
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import naively
from naively import NaiveBayes, TextClassifier
from naively.cli import main
from naively.families.columns.declared import Text
from naively.judge.evaluation import evaluate
from naively.learn.estimates import margin_of, with_margin

TEXTS, LABELS = naively.film_reviews()
USUAL = {"family": "multinomial", "weighting": "counts", "ngrams": (1, 1)}
MORE_THAN_A_BATCH = 80_000  # rows
HOSTILE = "a\x1b[31mred\x07\x9b2J\u202e\tb\nc\r"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")

unix = pytest.mark.skipif(os.name != "posix", reason="needs signals, limits and pseudo-terminals of Unix")


# Running


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def document(self):
        return json.loads(self.out)

    @property
    def facts(self):
        """The first lines of an answer: names and values."""
        return dict(re.split(r"  +", line, maxsplit=1) for line in self.out.splitlines() if "  " in line)

    @property
    def rows(self):
        """Lines of values with tabs between them."""
        return [line.split("\t") for line in self.out.splitlines()]


def environment(**more):
    meddling = {"NO_COLOR", "FORCE_COLOR", "COLUMNS", "NAIVELY_DEBUG", "PYTHONUNBUFFERED", "PYTHONWARNINGS"}
    return {name: value for name, value in os.environ.items() if name not in meddling} | {"TERM": "xterm"} | more


def program(argv):
    return [sys.executable, "-m", "naively.cli", *(shlex.split(argv) if isinstance(argv, str) else argv)]


def process(argv, feed=None, env=None, **options):
    """Run a command in a process of its own."""
    given = {"stdin": subprocess.DEVNULL} if feed is None else {"input": feed}
    run = subprocess.run(
        program(argv), capture_output=True, encoding="utf-8", timeout=100, env=environment(**(env or {})),
        **given, **options,
    )  # fmt: skip
    return Ran(run.returncode, run.stdout, run.stderr)


def begun(argv, **options):
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    return subprocess.Popen(program(argv), env=environment(), **pipes | options)


def ended(started, seconds=60):
    """Wait for a process to end; one that does not in time is killed, and its code says so."""
    try:
        out, err = started.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        started.kill()
        out, err = started.communicate()
    return Ran(started.returncode, out, err)


@pytest.fixture
def cli(here, capsys):
    """Run a command in this process, in a folder with the data and models of `shelf`."""

    def call(argv, *more):
        capsys.readouterr()
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            code = main([*shlex.split(argv), *map(str, more)])
        return Ran(code, *capsys.readouterr())

    return call


def done(ran):
    """A run that was all right."""
    assert ran.code == 0, ran.err
    return ran


def failed(ran, *words, code=1):
    """A run that was not, and that says why, in a line or two and without a traceback."""
    assert ran.code == code, (ran.out, ran.err)
    assert "Traceback" not in ran.err
    for word in words:
        assert word in ran.err
    return ran


# Data


def write_csv(path, columns, rows, separator=","):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(columns)
        writer.writerows(rows)


def write_lines(path, rows):
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def reviews(path, start=0, end=None):
    write_csv(path, ["review", "label"], list(zip(TEXTS, LABELS, strict=True))[start:end])


def visits(many=240):
    """A table with numbers, categories, flags and holes in all of them."""
    chance = np.random.default_rng(7)
    again = chance.random(many) < 0.4
    price = np.round(np.where(again, 9, 24) + chance.normal(0, 4, many), 2)
    stars = np.where(again, chance.integers(3, 6, many), chance.integers(1, 5, many))
    city = np.where(chance.random(many) < np.where(again, 0.7, 0.3), "Rome", "Oslo")
    flag = chance.random(many) < np.where(again, 0.8, 0.4)
    columns = {"price": price.tolist(), "stars": stars.tolist(), "city": city.tolist(), "open": flag.tolist()}
    for values in columns.values():
        for hole in chance.choice(many, many // 12, replace=False):
            values[hole] = None
    return pa.table(columns), np.where(again, "again", "never").tolist()


def with_labels(table, labels, name="visit"):
    return table.append_column(name, pa.array(labels))


def write_table(path, table):
    pa.csv.write_csv(table, path)


def iris():
    from sklearn.datasets import load_iris

    data = load_iris()
    names = [name.replace(" (cm)", "").replace(" ", "_") for name in data.feature_names]
    table = pa.table(dict(zip(names, data.data.T, strict=True)))
    return table, [str(data.target_names[k]) for k in data.target]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """A folder with data and a model of each kind."""
    folder = tmp_path_factory.mktemp("shelf")
    reviews(folder / "reviews.csv")
    write_table(folder / "visits.csv", with_labels(*visits()))
    write_table(folder / "iris.csv", with_labels(*iris(), "species"))
    write_csv(folder / "ints.csv", ["text", "y"], [["good fine film", 1], ["bad dull film", 0]] * 60)
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert main(shlex.split("train reviews.csv --target label --text review -o reviews.nb")) == 0
        assert main(shlex.split("train visits.csv --target visit -o visits.nb")) == 0
        assert main(shlex.split("train iris.csv --target species -o iris.nb")) == 0
        assert main(shlex.split("train ints.csv --target y --text text -o ints.nb")) == 0
        assert main(shlex.split("train reviews.csv --target label --text review -o frozen.nb --frozen")) == 0
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def here(shelf, tmp_path, monkeypatch):
    shutil.copytree(shelf, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "NAIVELY_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def tally(path):
    return naively.load(path).tally_


def rows_by_label(path):
    model = naively.load(path)
    return dict(zip(model.classes_.tolist(), model.class_count_.tolist(), strict=True))


def same_model(path, model, rows):
    """Whether a file holds the same counts, and says the same of rows, as a model that Python has fitted."""
    loaded = naively.load(path)
    assert loaded.tally_ == model.tally_
    assert type(loaded) is type(model)
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert np.array_equal(loaded.predict_proba(rows), model.predict_proba(rows))


# train


def test_training_by_a_column_of_texts_prints_figures_that_are_right(cli):
    ran = done(cli("train reviews.csv --target label --text review --fast -o new.nb"))
    model = TextClassifier(choose=False).fit(TEXTS, LABELS)
    same_model("new.nb", model, TEXTS)
    left_out = naively.leave_one_out(model, TEXTS, LABELS)
    assert ran.facts["rows"] == "480"
    assert ran.facts["classes"] == "2: negative, positive"
    assert ran.facts["vocabulary"] == f"{len(model.get_feature_names_out()):,} words"
    assert ran.facts["alpha"] == f"{model.chosen_.alpha:.4g}"
    assert ran.facts["accuracy"] == "0.84 ± 0.04 on rows like these (480 rows, each left out in turn)"
    assert round(left_out.accuracy, 2) == 0.84
    assert ran.facts["saved"].startswith("new.nb, ")
    assert ran.err == ""


def test_training_answers_machines_with_the_same_figures(cli):
    told = done(cli("train reviews.csv --target label --text review --fast -o new.nb --json")).document
    model = TextClassifier(choose=False).fit(TEXTS, LABELS)
    assert told["rows"] == 480
    assert told["unlabelled"] == 0
    assert told["classes"] == ["negative", "positive"]
    assert told["features"] == len(model.get_feature_names_out())
    assert told["chosen"]["alpha"] == model.chosen_.alpha
    estimate = told["estimate"]
    assert estimate["accuracy"] == naively.leave_one_out(model, TEXTS, LABELS).accuracy
    assert estimate["margin"] == pytest.approx(0.034, abs=0.001)
    assert (estimate["rows"], estimate["sampled"], estimate["method"]) == (480, 480, "leave one out")
    assert told["bytes"] == os.path.getsize("new.nb")


def test_two_columns_of_which_one_holds_texts_need_no_more_words(cli, here):
    done(cli("train reviews.csv --target label -o new.nb"))
    assert (here / "new.nb").read_bytes() == (here / "reviews.nb").read_bytes()


def test_the_same_command_writes_the_same_bytes_in_a_process_of_its_own(here):
    done(process("train reviews.csv --target label --text review -o new.nb"))
    assert (here / "new.nb").read_bytes() == (here / "reviews.nb").read_bytes()


TEXT_OPTIONS = {
    "--family complement --weighting tfidf": {"family": "complement", "weighting": "tfidf"},
    "--family bernoulli": {"family": "bernoulli"},
    "--weighting binary": {"weighting": "binary"},
    "--ngrams 2": {"ngrams": (1, 2)},
    "--ngrams 2-3": {"ngrams": (2, 3)},
    "--alpha 0.5": {"alpha": 0.5},
    "--alpha 0": {"alpha": 0.0},
    "--tokens sklearn": {"tokens": "sklearn"},
    "--tokens chars": {"tokens": "chars"},
    "--negation": {"negation": True},
    "--min-df 3": {"min_df": 3},
    "--hashing 12": {"hashing": 12},
    "--prior uniform": {"prior": naively.Uniform()},
    "--no-calibrate": {"calibrate": False},
    "": {},
    "--fast": {"choose": False},
    "--fast --tokens chars": {"choose": False, "tokens": "chars"},
    "--family bernoulli --tokens sklearn": {"family": "bernoulli", "tokens": "sklearn"},
    "--threads 1": {},
}  # fmt: skip


@pytest.mark.parametrize("options", TEXT_OPTIONS)
def test_each_option_of_a_text_model_is_that_of_python(cli, options):
    uneven = 420  # so that priors matter
    reviews("some.csv", end=uneven)
    told = done(cli(f"train some.csv --target label --text review -o new.nb --json {options}")).document
    texts, labels = TEXTS[:uneven], LABELS[:uneven]
    model = TextClassifier(**TEXT_OPTIONS[options]).fit(texts, labels)
    same_model("new.nb", model, TEXTS)
    assert naively.load("new.nb").parameters() == model.parameters()
    left_out = naively.leave_one_out(model, texts, labels).accuracy
    assert told["estimate"]["accuracy"] == (left_out if model.chosen_.accuracy is None else model.chosen_.accuracy)
    assert told["chosen"]["family"] == model.chosen_.family
    assert tuple(told["chosen"]["ngrams"]) == tuple(model.chosen_.ngrams)


def test_a_choice_among_recipes_says_what_was_chosen(cli):
    ran = done(cli("train reviews.csv --target label -o new.nb"))
    chosen = TextClassifier().fit(TEXTS, LABELS).chosen_
    assert f"chosen with {chosen.family}, {chosen.weighting}" in ran.facts["alpha"]
    assert f"out of {len(chosen.tried)} recipes" in ran.facts["alpha"]


TABLE_OPTIONS = {
    "": ({}, None),
    "--alpha 1": ({"alpha": 1.0}, None),
    "--prior uniform": ({"prior": naively.Uniform()}, None),
    "--no-calibrate": ({"calibrate": False}, None),
    "--columns price,city": ({}, ["price", "city"]),
    "--drop stars --drop open": ({}, ["price", "city"]),
    "--text city --columns price": ({"columns": {"city": Text()}}, ["city", "price"]),
}


@pytest.mark.parametrize("options", TABLE_OPTIONS)
def test_a_table_is_counted_as_python_counts_it(cli, options):
    told = done(cli(f"train visits.csv --target visit -o new.nb --json {options}")).document
    parameters, columns = TABLE_OPTIONS[options]
    table, labels = visits()
    table = table.select(columns) if columns else table
    model = NaiveBayes(**parameters).fit(table, labels)
    same_model("new.nb", model, table)
    left_out = naively.leave_one_out(model, table, labels)  # in which copies of a row are not left out together
    assert told["estimate"]["accuracy"] == pytest.approx(left_out.accuracy, abs=told["estimate"]["margin"])
    assert told["features"] == {row.column: row.taken_as for row in model.schema_}


def test_the_columns_of_a_table_are_told(cli):
    facts = done(cli("train iris.csv --target species -o new.nb")).facts
    schema = NaiveBayes().fit(*iris()).schema_
    assert facts["columns"] == ", ".join(f"{row.column} ({row.taken_as})" for row in schema)
    assert facts["classes"] == "3: setosa, versicolor, virginica"


def test_breast_cancer_is_told_as_well_as_by_python(cli):
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    table = pa.table(dict(zip(map(str, data.feature_names), data.data.T, strict=True)))
    write_table("cancer.csv", with_labels(table, data.target.tolist(), "y"))
    told = done(cli("train cancer.csv --target y -o cancer.nb --json")).document
    model = NaiveBayes().fit(table, data.target)
    assert told["classes"] == [0, 1]
    folds = naively.cross_validate(model, table, data.target, folds=5)
    assert told["estimate"]["accuracy"] == pytest.approx(folds.accuracy, abs=told["estimate"]["margin"])
    same_model("cancer.nb", model, table)


def test_an_option_of_texts_is_refused_for_a_table(cli):
    failed(cli("train visits.csv --target visit -o new.nb --negation"), "--negation", "--text", code=2)


def test_two_columns_of_texts_make_a_table_of_texts(cli):
    rows = [[text, f"about {label}", label, 3] for text, label in zip(TEXTS, LABELS, strict=True)]
    write_csv("two.csv", ["body", "subject", "label", "n"], rows)
    done(cli("train two.csv --target label --text subject,body -o new.nb"))
    table = pa.table({"subject": [row[1] for row in rows], "body": TEXTS})
    same_model("new.nb", NaiveBayes(columns={"subject": Text(), "body": Text()}).fit(table, LABELS), table)


def test_rows_without_a_label_are_left_out_and_told(cli):
    write_csv("holes.csv", ["review", "label"], [*zip(TEXTS, LABELS, strict=True), ["what a film", None]])
    ran = done(cli("train holes.csv --target label --text review -o new.nb"))
    assert "1 of 481 rows have no label: left out" in ran.err
    assert tally("new.nb") == tally("reviews.nb")


def test_rows_that_all_have_no_label_are_refused(cli, here):
    write_lines("none.jsonl", [{"t": "a film", "y": None}, {"t": "another film", "y": None}])
    failed(cli("train none.jsonl --target y --text t -o new.nb"), "none.jsonl", "label")
    assert not (here / "new.nb").exists()


BAD_CSV = 'review,label\n"good film, really fine",pos\nbad,neg,extra,fields\n"dull film, really bad",neg\n'


def test_a_bad_row_stops_training_and_says_where_it_is(cli, here):
    Path("bad.csv").write_text(BAD_CSV)
    ran = failed(cli("train bad.csv --target label --text review -o new.nb"), "bad.csv, line 3", "2", "3")
    assert "--on-error skip" in ran.err
    assert not (here / "new.nb").exists()


def test_bad_rows_can_be_skipped_and_are_counted_and_shown(cli):
    Path("bad.csv").write_text(BAD_CSV)
    ran = cli("train bad.csv --target label --text review -o new.nb --on-error skip")
    assert ran.code == 3
    assert "1 row was left out" in ran.err
    assert "bad.csv, line 3" in ran.err
    assert "bad,neg,extra,fields" in ran.err
    assert "BadRow(" not in ran.err
    assert naively.load("new.nb").class_count_.tolist() == [1, 1]


def test_a_bad_row_is_counted_for_machines_too(cli):
    Path("bad.csv").write_text(BAD_CSV)
    ran = cli("train bad.csv --target label --text review -o new.nb --on-error skip --json")
    assert ran.code == 3
    assert ran.document["rows"] == 2


def test_what_is_no_model_is_not_replaced(cli, here):
    precious = here / "thesis.txt"
    precious.write_text("ten years of work")
    failed(cli("train reviews.csv --target label -o thesis.txt"), "thesis.txt", "--force")
    assert precious.read_text() == "ten years of work"
    failed(cli("train reviews.csv --target label -o reviews.csv"), "reviews.csv")
    done(cli("train reviews.csv --target label -o thesis.txt --force"))
    assert precious.read_bytes() == (here / "reviews.nb").read_bytes()


def test_a_model_is_replaced_without_a_word(cli):
    done(cli("train visits.csv --target visit -o reviews.nb"))
    assert tally("reviews.nb") == tally("visits.nb")


def test_a_folder_is_no_place_for_a_model(cli, here):
    (here / "folder").mkdir()
    failed(cli("train reviews.csv --target label -o folder"), "folder")


@pytest.mark.parametrize("output", ["nowhere/new.nb", "reviews.csv/new.nb"])
def test_a_place_that_is_not_there_is_named(cli, output):
    ran = failed(cli(f"train reviews.csv --target label -o {output}"), output.partition("/")[0])
    assert ".lock" not in ran.err


def test_a_wrong_name_of_a_column_is_met_with_the_nearest(cli):
    failed(cli("train reviews.csv --target lable -o new.nb"), "'lable'", "did you mean 'label'?")
    failed(cli("train reviews.csv --target label --text revew -o new.nb"), "did you mean 'review'?")
    failed(cli("train visits.csv --target visit --drop pirce -o new.nb"), "did you mean 'price'?")


def test_training_needs_a_target_unless_the_format_has_it(cli):
    failed(cli("train reviews.csv -o new.nb"), "--target", "review, label", code=2)


def test_the_target_cannot_tell_itself(cli):
    failed(cli("train reviews.csv --target label --text label -o new.nb"), "'label'", code=2)


def test_data_that_are_not_there_are_named(cli):
    failed(cli("train nothing.csv --target label -o new.nb"), "nothing.csv")


def test_left_out_rows_can_be_fewer_or_none(cli):
    told = done(cli("train reviews.csv --target label --fast -o new.nb --loo 100 --json")).document
    assert told["estimate"]["rows"] == 100
    assert done(cli("train reviews.csv --target label -o new.nb --loo 0 --json")).document["estimate"] is None
    assert tally("new.nb") == tally("reviews.nb")


def test_a_frozen_model_predicts_the_same_and_is_smaller(cli, here):
    whole, frozen = naively.load("reviews.nb"), naively.load("frozen.nb")
    assert np.array_equal(whole.predict_proba(TEXTS), frozen.predict_proba(TEXTS))
    assert (here / "frozen.nb").stat().st_size < (here / "reviews.nb").stat().st_size
    assert cli("predict frozen.nb reviews.csv --proba").out == cli("predict reviews.nb reviews.csv --proba").out


@pytest.mark.parametrize(
    "argv",
    ["learn frozen.nb reviews.csv", "forget frozen.nb reviews.csv", "merge frozen.nb reviews.nb -o new.nb"],
)
def test_a_frozen_model_learns_no_more(cli, here, argv):
    before = (here / "frozen.nb").read_bytes()
    failed(cli(argv), "frozen")
    assert (here / "frozen.nb").read_bytes() == before


# Formats


def _in_folders(folder):
    for number, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        place = folder / "texts" / label
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number:04}.txt").write_text(text, encoding="utf-8")
    return "texts"


def _fasttext(folder):
    lines = [f"__label__{label} {text}\n" for text, label in zip(TEXTS, LABELS, strict=True)]
    (folder / "data.ft").write_text("".join(lines), encoding="utf-8")
    return "data.ft"


def _table():
    return pa.table({"review": TEXTS, "label": LABELS})


def _tsv(folder):
    write_csv(folder / "data.tsv", ["review", "label"], zip(TEXTS, LABELS, strict=True), "\t")
    return "data.tsv --target label"


def _json(folder):
    (folder / "data.json").write_text(json.dumps(_table().to_pylist()))
    return "data.json --target label"


def _jsonl(folder):
    write_lines(folder / "data.jsonl", _table().to_pylist())
    return "data.jsonl --target label"


def _parquet(folder):
    pa.parquet.write_table(_table(), folder / "data.parquet", row_group_size=100)
    return "data.parquet --target label"


def _dictionary_parquet(folder):
    table = _table()
    table = table.set_column(1, "label", table["label"].dictionary_encode())
    pa.parquet.write_table(table, folder / "coded.parquet")
    return "coded.parquet --target label"


def _arrow(folder):
    with pa.ipc.new_file(folder / "data.arrow", _table().schema) as file:
        file.write_table(_table(), max_chunksize=77)
    return "data.arrow --target label"


def _feather(folder):
    pa.feather.write_feather(_table(), folder / "data.feather")
    return "data.feather --target label"


def _gz(folder):
    with gzip.open(folder / "data.csv.gz", "wb") as file:
        file.write((folder / "reviews.csv").read_bytes())
    return "data.csv.gz --target label"


def _zst(folder):
    with pa.output_stream(folder / "data.csv.zst", compression="zstd") as file:
        file.write((folder / "reviews.csv").read_bytes())
    return "data.csv.zst --target label"


def _glob(folder):
    for part in range(4):
        reviews(folder / f"part{part}.csv", part * 120, part * 120 + 120)
    return "'part*.csv' --target label"


def _several(folder):
    _glob(folder)
    return "part0.csv part1.csv part2.csv part3.csv --target label"


def _folder_of_files(folder):
    (folder / "parts").mkdir()
    _glob(folder / "parts")
    return "parts --target label"


def _sql(folder):
    return "--sql \"select label, review from 'reviews.csv'\" --target label"


def _nameless(folder):
    shutil.copy(folder / "reviews.csv", folder / "data")
    return "data --format csv --target label"


@pytest.mark.parametrize(
    "write",
    [_tsv, _json, _jsonl, _parquet, _dictionary_parquet, _arrow, _feather, _gz, _zst, _glob, _several,
     _folder_of_files, _in_folders, _fasttext, _sql, _nameless],
)  # fmt: skip
def test_the_same_rows_make_the_same_model_whatever_their_format(cli, here, write):
    argv = write(here)
    done(cli(f"train {argv} -o new.nb"))
    assert tally("new.nb") == tally("reviews.nb")
    # In folders rows are in another order, and so is what the temperature is a sum of.
    said, expected = (naively.load(name).predict_proba(TEXTS) for name in ("new.nb", "reviews.nb"))
    assert np.allclose(said, expected, rtol=1e-9) if write is _in_folders else np.array_equal(said, expected)


@pytest.mark.parametrize("format", ["csv", "jsonl", "fasttext"])
def test_training_reads_standard_input(here, format):
    argv = {"csv": "reviews.csv", "jsonl": _jsonl(here).split()[0], "fasttext": _fasttext(here)}[format]
    target = "" if format == "fasttext" else "--target label"
    done(process(f"train - --format {format} {target} -o new.nb", Path(argv).read_text(encoding="utf-8")))
    assert tally("new.nb") == tally("reviews.nb")


# predict


def test_labels_and_probabilities_are_those_of_python(cli):
    ran = done(cli("predict reviews.nb reviews.csv --proba"))
    model = naively.load("reviews.nb")
    every = model.predict_proba(TEXTS)
    assert [row[0] for row in ran.rows] == model.predict(TEXTS).tolist()
    assert [row[1] for row in ran.rows] == [f"{p:.4f}" for p in every.max(axis=1)]
    assert [row[2:] for row in ran.rows] == [[f"{p:.4f}" for p in row] for row in every]


def test_lines_of_json_have_every_digit(cli):
    lines = [json.loads(line) for line in done(cli("predict reviews.nb reviews.csv --proba --json")).out.splitlines()]
    every = naively.load("reviews.nb").predict_proba(TEXTS)
    assert [[line["p(negative)"], line["p(positive)"]] for line in lines] == every.tolist()


def test_a_table_is_labelled_as_by_python(cli):
    done(cli("predict visits.nb visits.csv --proba -o answer.parquet"))
    answer = pa.parquet.read_table("answer.parquet")
    table, _ = visits()
    model = naively.load("visits.nb")
    assert answer["label"].to_pylist() == model.predict(table).tolist()
    assert np.array_equal(np.column_stack([answer["p(again)"], answer["p(never)"]]), model.predict_proba(table))


def _read(path):
    kind = path.rpartition(".")[2]
    if kind == "parquet":
        return pa.parquet.read_table(path)
    if kind == "arrow":
        return pa.ipc.open_file(path).read_all()
    if kind == "jsonl":
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        return pa.Table.from_pylist([json.loads(line) for line in lines])
    return pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(delimiter="\t" if kind == "tsv" else ","))


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "jsonl", "arrow"])
def test_an_answer_in_a_file_keeps_the_columns_and_never_hides_one(cli, kind):
    write_csv(
        "new.csv", ["id", "review", "label", "predicted_label"],
        [[n, text, "?", "!"] for n, text in enumerate(TEXTS)],
    )  # fmt: skip
    ran = done(cli(f"predict reviews.nb new.csv -o answer.{kind}"))
    answer = _read(f"answer.{kind}")
    model = naively.load("reviews.nb")
    assert answer.column_names == [
        "id",
        "review",
        "label",
        "predicted_label",
        "predicted_predicted_label",
        "probability",
    ]
    assert answer["id"].to_pylist() == list(range(480))
    assert answer["review"].to_pylist() == TEXTS
    assert set(answer["label"].to_pylist()) == {"?"}
    assert answer["predicted_predicted_label"].to_pylist() == model.predict(TEXTS).tolist()
    assert answer["probability"].to_pylist() == model.predict_proba(TEXTS).max(axis=1).tolist()
    assert ran.facts["rows"] == "480"


def test_the_answer_can_take_the_place_of_the_data(cli):
    done(cli("predict reviews.nb reviews.csv -o reviews.csv"))
    assert _read("reviews.csv").column_names == ["review", "label", "predicted_label", "probability"]
    assert _read("reviews.csv")["review"].to_pylist() == TEXTS


def test_the_likeliest_labels_come_in_order(cli):
    lines = [json.loads(line) for line in done(cli("predict iris.nb iris.csv --top 9 --json")).out.splitlines()]
    table, _ = iris()
    model = naively.load("iris.nb")
    every = model.predict_proba(table)
    assert list(lines[0]) == ["label_1", "probability_1", "label_2", "probability_2", "label_3", "probability_3"]
    assert [line["label_1"] for line in lines] == model.predict(table).tolist()
    for line, chances in zip(lines, every, strict=True):
        shown = [line[f"probability_{k}"] for k in (1, 2, 3)]
        assert shown == sorted(chances.tolist(), reverse=True)
        by_label = dict(zip(model.classes_.tolist(), chances.tolist(), strict=True))
        assert all(by_label[line[f"label_{k}"]] == line[f"probability_{k}"] for k in (1, 2, 3))


def test_where_it_is_less_sure_there_is_no_label(cli):
    rows = done(cli("predict reviews.nb reviews.csv --abstain 0.9")).rows
    chances = naively.load("reviews.nb").predict_proba(TEXTS).max(axis=1)
    assert [row[0] != "" for row in rows] == (chances >= 0.9).tolist()
    assert 0 < sum(row[0] == "" for row in rows) < 480
    done(cli("predict reviews.nb reviews.csv --abstain 0.9 -o answer.parquet"))
    assert pa.parquet.read_table("answer.parquet")["predicted_label"].null_count == (chances < 0.9).sum()


def test_numbers_as_labels_stay_numbers_when_a_whole_batch_has_none(cli):
    write_csv("new.csv", ["text", "n"], [["film", 1]] * MORE_THAN_A_BATCH + [["good fine good", 2]])
    done(cli("predict ints.nb new.csv --abstain 0.9 -o answer.parquet"))
    assert pa.parquet.read_table("answer.parquet")["label"].to_pylist() == [None] * MORE_THAN_A_BATCH + [1]


def test_by_likelihood_all_labels_are_alike_beforehand(cli):
    rows = [*zip(TEXTS, LABELS, strict=True)]
    write_csv("uneven.csv", ["review", "label"], rows[:300])
    done(cli("train uneven.csv --target label -o uneven.nb"))
    lines = done(cli("predict uneven.nb reviews.csv --by likelihood --proba --json")).out.splitlines()
    model = naively.load("uneven.nb")
    told = model.scores(TEXTS).under(naively.Uniform()).proba()
    assert [[json.loads(line)[f"p({name})"] for name in model.classes_.tolist()] for line in lines] == told.tolist()


def test_what_is_said_of_a_model_is_heeded_by_predict_and_evaluate(cli):
    write_csv("other.csv", ["body", "verdict", "x"], [[t, y, 1] for t, y in zip(TEXTS, LABELS, strict=True)])
    ran = done(cli("predict reviews.nb other.csv --text body"))
    assert ran.out == cli("predict reviews.nb reviews.csv").out
    failed(cli("predict reviews.nb other.csv"), "review")
    judged = done(cli("evaluate reviews.nb other.csv --text body --target verdict --json"))
    assert judged.out == cli("evaluate reviews.nb reviews.csv --json").out


@unix
def test_a_line_is_answered_before_the_next_one_is_sent(here):
    started = begun("predict reviews.nb -", stdin=subprocess.PIPE, bufsize=1)
    try:
        for text, label in (("a tedious, dull mess", "negative"), ("warm and charming", "positive"), ("\n", None)):
            started.stdin.write(text.strip() + "\n")
            started.stdin.flush()
            assert select.select([started.stdout], [], [], 30)[0], "no answer, though the line was sent"
            answer = started.stdout.readline().split("\t")
            assert label is None or answer[0] == label
            assert len(answer) == 2
    finally:
        started.stdin.close()
        assert started.wait(30) == 0
        started.stdout.close()
        started.stderr.close()


def test_texts_that_are_missing_are_told_by_the_prior(cli):
    write_lines("new.jsonl", [{"review": None}, {"review": ""}, {"review": "warm and charming"}])
    rows = done(cli("predict reviews.nb new.jsonl --proba --json")).out.splitlines()
    first, second, third = map(json.loads, rows)
    assert first == second
    assert first["p(negative)"] == first["p(positive)"] == 0.5
    assert third["label"] == "positive"


def test_a_column_that_is_missing_counts_for_nothing_and_more_of_them_are_left_alone(cli):
    table, _ = visits()
    fewer = table.select(["city", "price"]).append_column("extra", pa.array(["x"] * 240))
    write_table("fewer.csv", fewer)
    done(cli("predict visits.nb fewer.csv --proba -o answer.parquet"))
    answer = pa.parquet.read_table("answer.parquet")
    expected = naively.load("visits.nb").predict_proba(table.select(["city", "price"]))
    assert np.array_equal(np.column_stack([answer["p(again)"], answer["p(never)"]]), expected)
    assert answer.column_names[:3] == ["city", "price", "extra"]


def test_none_of_the_columns_is_said(cli):
    failed(cli("predict visits.nb reviews.csv"), "reviews.csv", "price", "city")


@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl", "arrow"])
def test_no_rows_have_an_answer_without_rows(cli, kind):
    Path("none.csv").write_text("review,id\n")
    assert done(cli("predict reviews.nb none.csv")).out == ""
    done(cli(f"predict reviews.nb none.csv -o answer.{kind}"))
    if kind == "jsonl":
        assert Path("answer.jsonl").read_bytes() == b""
    else:
        assert _read(f"answer.{kind}").column_names == ["review", "id", "label", "probability"]


def test_an_empty_pipe_has_no_answer(here):
    assert done(process("predict reviews.nb -", "")).out == ""


LONE = "\ud83d".encode("utf-8", "replace").decode()
STRANGE = [
    "", " ", "café naïve", "日本語のテキスト", "👩\u200d👩\u200d👧", "a\u0000b", LONE, "\ufb01lm",
    "x" * 100_000, HOSTILE,
]  # fmt: skip


def test_strange_texts_have_an_answer_each_and_cannot_drive_the_terminal(cli):
    write_lines("strange.jsonl", [{"review": text} for text in STRANGE])
    ran = done(cli("predict reviews.nb strange.jsonl"))
    assert [row[0] for row in ran.rows] == naively.load("reviews.nb").predict(STRANGE).tolist()
    done(cli("predict reviews.nb strange.jsonl -o answer.parquet"))
    assert pa.parquet.read_table("answer.parquet")["review"].to_pylist() == STRANGE
    explained = done(cli("explain reviews.nb --data strange.jsonl --line 10"))
    assert not CONTROL.search(explained.out)


def test_lines_that_are_no_utf8_have_an_answer(here):
    run = subprocess.run(
        program("predict reviews.nb -"), input=b"caf\xe9\n\xff\xfe\nfine\n", capture_output=True, timeout=60
    )
    assert run.returncode == 0
    assert len(run.stdout.splitlines()) == 3


@pytest.fixture
def hostile(here):
    """A model whose labels and words would drive a terminal."""
    rows = [{"text": f"good {HOSTILE}", "label": HOSTILE}, {"text": "bad dull", "label": "tame"}] * 60
    write_lines("hostile.jsonl", rows)
    assert main(shlex.split("train hostile.jsonl --target label --text text -o hostile.nb -q")) == 0


@pytest.mark.parametrize(
    "argv",
    ["predict hostile.nb hostile.jsonl --proba", "predict hostile.nb hostile.jsonl --proba --json",
     "show hostile.nb", "show hostile.nb --json", "evaluate hostile.nb hostile.jsonl",
     "evaluate hostile.nb hostile.jsonl --json", "explain hostile.nb good", "explain hostile.nb good --json",
     "suspects hostile.jsonl --target label --text text", "train hostile.jsonl --target label --text text -o new.nb",
     "learn hostile.nb hostile.jsonl", "show hostile.nb nothing", "predict reviews.nb nothing\x1b[31m.csv",
     "train hostile.jsonl --target label\x9b2J -o new.nb"],
)  # fmt: skip
def test_labels_and_names_cannot_drive_the_terminal(cli, hostile, argv):
    ran = cli(argv)
    assert ran.code in (0, 1)
    assert not CONTROL.search(ran.out)
    assert not CONTROL.search(ran.err)


def test_each_row_has_one_line_whatever_its_label(cli, hostile):
    ran = done(cli("predict hostile.nb hostile.jsonl"))
    assert len(ran.rows) == 120
    assert all(len(row) == 2 for row in ran.rows)


def test_numbers_as_labels_stay_numbers(cli):
    lines = done(cli("predict ints.nb ints.csv --json")).out.splitlines()
    assert [json.loads(line)["label"] for line in lines] == [1, 0] * 60
    done(cli("predict ints.nb ints.csv -o answer.parquet"))
    assert pa.parquet.read_table("answer.parquet").schema.field("label").type == pa.int64()


def test_truth_as_labels_stays_truth(cli):
    rows = [{"text": text, "y": label == "positive"} for text, label in zip(TEXTS, LABELS, strict=True)]
    write_lines("truth.jsonl", rows)
    told = done(cli("train truth.jsonl --target y --text text -o truth.nb --json")).document
    assert told["classes"] == [False, True]
    done(cli("predict truth.nb truth.jsonl -o answer.parquet"))
    answer = pa.parquet.read_table("answer.parquet")
    assert answer.schema.field("label").type == pa.bool_()
    assert answer["label"].to_pylist() == naively.load("truth.nb").predict(TEXTS).tolist()
    assert done(cli("evaluate truth.nb truth.jsonl --json")).document["accuracy"] > 0.9
    done(cli("learn truth.nb truth.jsonl"))
    done(cli("forget truth.nb truth.jsonl"))
    done(cli("explain truth.nb charming"))
    done(cli("show truth.nb True"))


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv", "tsv"])
def test_columns_of_lists_go_through_or_are_refused_with_a_reason(cli, kind):
    write_lines("nested.jsonl", [{"review": "a warm film", "tags": ["a", "b"], "of": {"x": 1}}] * 3)
    ran = cli(f"predict reviews.nb nested.jsonl -o answer.{kind}")
    if kind in ("parquet", "jsonl"):
        assert done(ran)
        assert _read(f"answer.{kind}")["tags"].to_pylist() == [["a", "b"]] * 3
    elif ran.code:
        failed(ran, "tags")


def test_texts_that_look_like_numbers_or_dates_are_texts(cli):
    Path("years.csv").write_text("review\n1984\n2012\n")
    assert len(done(cli("predict reviews.nb years.csv")).rows) == 2
    Path("days.csv").write_text("review\n2020-01-01\n2020-01-02\n")
    assert len(done(cli("predict reviews.nb days.csv")).rows) == 2


def test_categories_that_look_like_numbers_in_one_file_are_still_categories(cli):
    rows = [[code, code in ("A1", "7")] for code in ["A1", "7", "12", "13"] * 20]
    write_csv("first.csv", ["code", "y"], rows)
    write_csv("second.csv", ["code", "y"], [row for row in rows if row[0] != "A1"])
    done(cli("train first.csv --target y -o codes.nb"))
    lines = done(cli("predict codes.nb second.csv --json")).out.splitlines()
    assert [json.loads(line)["label"] for line in lines] == ["True", "False", "False"] * 20  # as they are written
    done(cli("learn codes.nb second.csv"))
    assert naively.load("codes.nb").class_count_.sum() == 140


def test_a_bad_row_is_left_out_of_the_answer_when_asked_for(cli):
    Path("bad.csv").write_text(BAD_CSV)
    failed(cli("predict reviews.nb bad.csv"), "bad.csv, line 3")
    ran = cli("predict reviews.nb bad.csv --on-error skip")
    assert ran.code == 3
    assert len(ran.rows) == 2


def test_a_failure_in_the_middle_leaves_the_old_answer(cli, here):
    (here / "answer.csv").write_text("old")
    Path("bad.csv").write_text(BAD_CSV)
    before = sorted(os.listdir())
    failed(cli("predict reviews.nb bad.csv -o answer.csv"), "bad.csv")
    assert (here / "answer.csv").read_text() == "old"
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("command", ["predict", "evaluate", "learn", "explain"])
def test_models_of_arrays_are_referred_to_python(cli, command):
    naively.MultinomialNB().fit([[1, 2], [2, 1]], [0, 1]).save("array.nb")
    failed(cli(f"{command} array.nb reviews.csv"), "array.nb", "MultinomialNB", "naively.load")


@pytest.mark.parametrize("command", ["predict", "evaluate", "learn", "forget", "explain", "show"])
def test_what_is_no_model_is_said(cli, command):
    data = "" if command == "show" else "reviews.csv"
    failed(cli(f"{command} reviews.csv {data}"), "reviews.csv")
    failed(cli(f"{command} nothing.nb {data}"), "nothing.nb", "no such file")


# evaluate


def _same_evaluation(told, found):
    assert {name: told[name] for name in found.to_dict()} == found.to_dict()
    assert [tuple(point.values()) for point in told["coverage"]] == found.coverage.points()
    assert [one["roc_auc"] for one in told["classes"]] == found.roc_auc.tolist()
    assert [one["average_precision"] for one in told["classes"]] == found.average_precision.tolist()
    assert told["confusion"] == found.confusion.tolist()
    for told_of, precision, recall, support in zip(
        told["classes"], found.precision, found.recall, found.support, strict=True
    ):
        assert (told_of["precision"], told_of["recall"], told_of["rows"]) == (precision, recall, support)


@pytest.mark.parametrize("name", ["reviews", "visits", "iris", "ints"])
def test_a_model_is_judged_as_by_python(cli, name):
    rows, labels = {
        "reviews": lambda: (TEXTS, LABELS), "visits": visits, "iris": iris,
        "ints": lambda: (["good fine film", "bad dull film"] * 60, [1, 0] * 60),
    }[name]()  # fmt: skip
    told = done(cli(f"evaluate {name}.nb {name}.csv --json")).document
    _same_evaluation(told, evaluate(naively.load(f"{name}.nb"), rows, labels))


@pytest.mark.parametrize("options", ["", "--family complement --alpha 0.3", "--ngrams 2 --negation"])
def test_rows_left_out_are_judged_as_by_python(cli, options):
    python = {
        "": {}, "--family complement --alpha 0.3": {"family": "complement", "alpha": 0.3},
        "--ngrams 2 --negation": {"ngrams": (1, 2), "negation": True},
    }[options]  # fmt: skip
    model = TextClassifier(**python)
    told = done(cli(f"evaluate reviews.csv --target label --cv 5 --json {options}")).document
    _same_evaluation(told, evaluate(naively.cross_validate(model, TEXTS, LABELS, folds=5)))
    told = done(cli(f"evaluate reviews.csv --target label --loo --json {options}")).document
    _same_evaluation(told, evaluate(naively.leave_one_out(model, TEXTS, LABELS)))


def test_rows_of_a_table_left_out_are_judged_as_by_python(cli):
    told = done(cli("evaluate iris.csv --target species --cv 10 --json")).document
    _same_evaluation(told, evaluate(naively.cross_validate(NaiveBayes(), *iris(), folds=10)))
    told = done(cli("evaluate visits.csv --target visit --loo --json")).document
    _same_evaluation(told, evaluate(naively.leave_one_out(NaiveBayes(), *visits())))


def test_an_evaluation_is_shown_with_what_is_mixed_up(cli):
    ran = done(cli("evaluate iris.nb iris.csv"))
    found = evaluate(naively.load("iris.nb"), *iris())
    assert ran.facts["rows"] == "150"
    assert ran.facts["accuracy"] == with_margin(found.accuracy, margin_of(found.accuracy, found.rows))
    for name in ("setosa", "versicolor", "virginica"):
        assert re.search(rf"^{name} +\d\.\d{{4}} ", ran.out, re.M)
    wrong = found.confusion[1, 2]
    assert re.search(rf"^versicolor +virginica +{wrong}$", ran.out, re.M)


def test_labels_that_the_model_does_not_know_are_judged_wrong(cli):
    write_csv("new.csv", ["review", "label"], [*zip(TEXTS[:20], LABELS[:20], strict=True), ["so so", "mixed"]])
    told = done(cli("evaluate reviews.nb new.csv --json")).document
    right = (naively.load("reviews.nb").predict(TEXTS[:20]) == np.array(LABELS[:20])).sum()
    assert told["accuracy"] == right / 21


def test_more_folds_than_rows_are_refused(cli):
    write_csv("few.csv", ["review", "label"], zip(TEXTS[:4], "abab", strict=True))
    failed(cli("evaluate few.csv --target label --text review --cv 5"), "5", "4", code=2)


def test_labels_of_another_kind_are_refused_with_both_of_them(cli, here):
    write_lines("text.jsonl", [{"text": "good film", "y": "one"}])
    before = (here / "ints.nb").read_bytes()
    for command in ("evaluate", "learn", "forget"):
        failed(cli(f"{command} ints.nb text.jsonl"), "'one'", "0")
    assert (here / "ints.nb").read_bytes() == before


# compare, suspects


def test_kinds_of_text_models_are_compared(cli):
    told = done(cli("compare reviews.csv --target label --folds 5 --json")).document
    methods = {method["method"]: method for method in told["methods"]}
    found = evaluate(naively.cross_validate(TextClassifier(**USUAL), TEXTS, LABELS, folds=5))
    assert methods["multinomial"]["accuracy"] == pytest.approx(float(found.accuracy), abs=1e-12)
    assert {"complement", "Bernoulli", "multinomial, tf-idf"} <= set(methods)
    assert told["folds"] == 5


def test_kinds_of_table_models_are_compared_by_other_data(cli):
    ran = done(cli("compare iris.csv --target species --test iris.csv"))
    header, *lines = ran.out.splitlines()
    assert header.split("  ")[0] == "method"
    assert any(line.startswith("alpha 1 ") for line in lines)
    told = done(cli("compare iris.csv --target species --test iris.csv --json")).document
    model = NaiveBayes().fit(*iris())
    by_name = {method["method"]: method["accuracy"] for method in told["methods"]}
    assert by_name["alpha found for each column"] == pytest.approx(float(evaluate(model, *iris()).accuracy))


@pytest.fixture
def planted(here):
    """The reviews with ten labels turned around, and the numbers of those rows, from 1."""
    model = TextClassifier(**USUAL).fit(TEXTS, LABELS)
    labels = np.array(LABELS)
    sure = model.predict_proba(TEXTS)[np.arange(480), model.classes_.searchsorted(labels)]
    turned = np.argsort(-sure, kind="stable")[:10]
    labels[turned] = np.where(labels[turned] == "positive", "negative", "positive")
    write_csv("planted.csv", ["review", "label"], zip(TEXTS, labels.tolist(), strict=True))
    return {int(row) + 1 for row in turned}, labels.tolist()


def test_wrong_labels_that_were_planted_are_found(cli, planted):
    turned, labels = planted
    told = done(cli("suspects planted.csv --target label --text review --top 15 --json")).document["suspects"]
    assert len(turned & {row["row"] for row in told}) >= 9
    found = naively.suspects(TextClassifier(**USUAL), TEXTS, labels)
    assert [row["row"] - 1 for row in told] == found.rows[:15].tolist()
    assert [row["log_odds"] for row in told] == found.log_odds[:15].tolist()
    assert all(row["label"] != row["suggested"] for row in told)


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_suspects_go_to_a_file_with_their_texts(cli, planted, kind):
    done(cli(f"suspects planted.csv --target label --text review --top 5 -o answer.{kind}"))
    answer = _read(f"answer.{kind}")
    assert answer["review"].to_pylist() == [TEXTS[row - 1] for row in answer["row"].to_pylist()]
    done(cli(f"suspects iris.csv --target species --top 5 -o answer.{kind}"))
    answer = _read(f"answer.{kind}")
    table, _ = iris()
    assert answer["petal_width"].to_pylist() == [
        table["petal_width"][row - 1].as_py() for row in answer["row"].to_pylist()
    ]


def test_suspects_are_shown_with_what_they_say(cli, planted):
    ran = done(cli("suspects planted.csv --target label --text review --top 3"))
    first = naively.suspects(TextClassifier(**USUAL), TEXTS, planted[1]).rows[0]
    assert TEXTS[first][:40] in ran.out


# explain


@pytest.fixture
def small(here):
    """A model whose counts are few enough to be counted by hand."""
    write_csv(
        "small.csv", ["text", "label"],
        [["good good film", "up"], ["good plot", "up"], ["prior art", "up"],
         ["bad film", "down"], ["bad prior art", "down"]],
    )  # fmt: skip
    assert main(shlex.split("train small.csv --target label --text text -o small.nb -q")) == 0


def _adds_up(told):
    names = list(told["score"])
    for name in names:
        parts = [told["prior"][name], told["rest"][name], *(factor["shares"][name] for factor in told["factors"])]
        assert sum(parts) == pytest.approx(told["score"][name], rel=1e-12)
    tempered = np.array([told["score"][name] for name in names]) / told["temperature"]
    chances = np.exp(tempered - tempered.max())
    chances /= chances.sum()
    assert [told["probability"][name] for name in names] == pytest.approx(chances.tolist(), abs=1e-12)


def _cells(out):
    """The rows of a table, by their first cell."""
    return {row[0]: row for row in (re.split(r"  +", line) for line in out.splitlines())}


def test_the_arithmetic_of_an_explanation_adds_up(cli):
    text = "Not a bad film, but a tedious, tedious last half hour"
    told = done(cli("explain reviews.nb --json", text)).document
    _adds_up(told)
    model = naively.load("reviews.nb")
    assert list(told["probability"].values()) == model.predict_proba([text])[0].tolist()
    assert told["label"] == model.predict([text])[0]


@pytest.mark.parametrize("top", [2, 10])
def test_the_shown_columns_sum_to_the_shown_sum(cli, top):
    done(cli("train reviews.csv --target label --fast -o fast.nb"))
    out = done(cli(f"explain fast.nb --top {top}", "Not a bad film, but a tedious last half hour")).out
    rows = [re.split(r"  +", line) for line in out.splitlines()[1:]]
    ends = next(n for n, row in enumerate(rows) if row[0] == "sum")
    for column in (-1, -2):
        values = [float(row[column]) for row in rows[:ends]]
        assert sum(values) == pytest.approx(float(rows[ends][column]), abs=1e-4 * (len(values) + 1))
    shown = rows[1 : min(ends, 1 + top)]
    assert len(shown) == min(top, 9)


def test_the_counts_in_an_explanation_are_true(cli, small):
    cells = _cells(done(cli("explain small.nb", "good film good plot")).out)
    assert cells["factor"] == ["factor", "in up", "up", "in down", "down", "for up"]
    assert (cells["good"][1], cells["good"][3]) == ("3 of 7", "0 of 5")
    assert (cells["film"][1], cells["film"][3]) == ("1 of 7", "1 of 5")
    assert (cells["prior"][1], cells["prior"][3]) == ("3 of 5", "2 of 5")


def test_the_word_prior_is_no_prior(cli, small):
    told = done(cli("explain small.nb --json", "prior film")).document["compared"]
    first, *rest = told["lines"]
    assert dict(zip(told["classes"], first["counts"], strict=True)) == {"up": "3 of 5", "down": "2 of 5"}
    word = next(line for line in rest if line["factor"] == "prior")
    assert dict(zip(told["classes"], word["counts"], strict=True)) == {"up": "1 of 7", "down": "1 of 5"}


@pytest.mark.parametrize("label", ["for", "factor", "x counts"])
def test_a_class_may_have_any_name_and_its_shares_are_its_own(cli, label):
    write_csv("named.csv", ["text", "label"], [["good film", label], ["bad film", "x"], ["bad plot", "x"]])
    done(cli("train named.csv --target label --text text -o named.nb"))
    out = done(cli("explain named.nb --json", "good film", "--class", label)).document
    _adds_up(out)
    rows = [
        re.split(r"  +", line) for line in done(cli("explain named.nb --class", label, "good film")).out.splitlines()
    ]
    sums = next(row for row in rows if row[0] == "sum")
    film = next(row for row in rows if row[0] == "film")
    shares = next(factor["shares"] for factor in out["factors"] if factor["factor"] == "film")
    assert rows[0] == ["factor", f"in {label}", label, "in x", "x", f"for {label}"]
    assert [float(film[2]), float(film[4])] == pytest.approx([shares[label], shares["x"]], abs=1e-4)
    assert float(sums[1]) == pytest.approx(out["score"][label], abs=1e-4)


def test_a_row_of_a_table_is_explained_by_its_counts(cli):
    row = {"price": 9.5, "city": "Rome", "open": True, "stars": None}
    told = done(cli("explain visits.nb --json --row", json.dumps(row))).document
    _adds_up(told)
    table, labels = visits()
    city = Counter(zip(table["city"].to_pylist(), labels, strict=True))
    classes = told["compared"]["classes"]
    compared = {
        line["factor"]: {f"{c} counts": n for c, n in zip(classes, line["counts"], strict=True)}
        for line in told["compared"]["lines"]
    }
    for label in ("again", "never"):
        known = city["Rome", label] + city["Oslo", label]
        assert compared["city"][f"{label} counts"] == f"{city['Rome', label]} of {known}"
        prices = [p for p, y in zip(table["price"].to_pylist(), labels, strict=True) if y == label and p is not None]
        assert f"mean {np.mean(prices):.4g}, sd {np.std(prices):.4g}" == compared["price"][f"{label} counts"]
        assert compared["prior"][f"{label} counts"] == f"{labels.count(label)} of 240"
    opened = [f for f, y in zip(table["open"].to_pylist(), labels, strict=True) if y == "again" and f is not None]
    assert compared["open"]["again counts"] == f"{sum(opened)} of {len(opened)}"
    alone = {name: [value] for name, value in row.items()}
    assert list(told["probability"].values()) == naively.load("visits.nb").predict_proba(alone)[0].tolist()


@pytest.mark.parametrize("line", [1, 17, 480])
def test_a_row_of_a_file_is_explained_like_its_text(cli, line):
    by_line = done(cli(f"explain reviews.nb --data reviews.csv --line {line}")).out
    assert by_line == cli("explain reviews.nb", TEXTS[line - 1]).out
    by_row = done(cli("explain reviews.nb --row", json.dumps({"review": TEXTS[line - 1]}))).out
    assert by_row == by_line


def test_a_row_of_a_table_in_a_file_is_explained(cli):
    table, _ = visits()
    told = done(cli("explain visits.nb --data visits.csv --line 30 --json")).document
    _adds_up(told)
    assert list(told["probability"].values()) == naively.load("visits.nb").predict_proba(table.slice(29, 1))[0].tolist()


def test_what_cannot_be_explained_is_said(cli):
    failed(cli("explain reviews.nb fine --class positiv"), "'positiv'", "'positive'")
    failed(cli("explain reviews.nb --data reviews.csv --line 481"), "480 rows", "481")
    failed(cli("explain visits.nb", "a text"), "--row")
    failed(cli("explain visits.nb --row", '{"pirce": 3}'), "'pirce'", "price")
    failed(cli("explain reviews.nb --row", '{"review": 3}'), "text")
    failed(cli("explain visits.nb --row", '{"price": "cheap"}'), "price")


def test_a_frozen_model_explains_without_counts(cli):
    told = done(cli("explain frozen.nb charming --json")).document
    _adds_up(told)
    assert told["score"] == cli("explain reviews.nb charming --json").document["score"]
    done(cli("explain frozen.nb charming"))


# show


def test_a_model_is_shown(cli):
    ran = done(cli("show reviews.nb --top 3"))
    model = naively.load("reviews.nb")
    for name, words in model.top_words(3).items():
        assert re.search(rf"^{name} +240 +0\.5000  {', '.join(word for word, _ in words)}$", ran.out, re.M)
    assert ran.facts["label column"] == "label"
    assert ran.facts["trained on"] == "reviews.csv"
    told = done(cli("show reviews.nb --json --verify")).document
    assert told["rows"] == 480
    assert told["verified"] is True
    assert told["bytes"] == os.path.getsize("reviews.nb")


def test_one_class_is_shown(cli):
    ran = done(cli("show reviews.nb positive --top 4"))
    for word, odds in naively.load("reviews.nb").top_words(4)["positive"]:
        assert re.search(rf"^{word} +{odds:.4f}|^{word} +{odds:.2f}", ran.out, re.M)
    assert "negative" not in ran.out
    failed(cli("show reviews.nb positve"), "'positve'", "'positive'")
    done(cli("show ints.nb 1"))


def test_a_table_and_a_frozen_model_are_shown(cli):
    out = done(cli("show visits.nb")).out
    assert "city = Rome" in out
    assert re.search(r"price low \(mean \d", out)
    assert "frozen" in done(cli("show frozen.nb")).facts["model"]
    assert done(cli("show frozen.nb --json")).document["frozen"] is True
    done(cli("show frozen.nb positive"))


@pytest.mark.parametrize("share", [0.02, 0.3, 0.6, 0.97])
def test_a_damaged_model_is_found_out(cli, here, share):
    data = bytearray((here / "reviews.nb").read_bytes())
    data[int(share * len(data))] ^= 0x10
    (here / "hurt.nb").write_bytes(data)
    failed(cli("show hurt.nb --verify"), "hurt.nb")
    failed(cli("predict hurt.nb reviews.csv"), "hurt.nb")
    (here / "short.nb").write_bytes(data[: int(share * len(data))])
    failed(cli("show short.nb"), "short.nb")


# learn, forget, merge


def test_learning_in_steps_is_training_at_once(cli):
    reviews("first.csv", end=200)
    reviews("second.csv", 200, 300)
    reviews("third.csv", 300)
    done(cli("train first.csv --target label --text review --fast -o new.nb"))
    ran = done(cli("learn new.nb second.csv third.csv"))
    assert tally("new.nb") == TextClassifier(choose=False).fit(TEXTS, LABELS).tally_
    assert ran.facts["rows"] == "480 (before: 200)"
    told = done(cli("learn new.nb first.csv -o larger.nb --json")).document
    assert (told["rows"], told["changed"]) == (680, 200)
    assert naively.load("new.nb").class_count_.sum() == 480


def test_a_table_learns_in_steps_what_it_would_at_once(cli):
    table, labels = visits()
    whole = with_labels(table, labels)
    write_table("first.csv", whole.slice(0, 150))
    write_table("second.csv", whole.slice(150))
    done(cli("train first.csv --target visit -o new.nb"))
    done(cli("learn new.nb second.csv"))
    stepwise = NaiveBayes().fit(table.slice(0, 150), labels[:150]).partial_fit(table.slice(150), labels[150:])
    assert tally("new.nb") == stepwise.tally_
    assert naively.load("new.nb").class_count_.tolist() == naively.load("visits.nb").class_count_.tolist()


@pytest.mark.parametrize("name", ["reviews", "visits", "iris"])
def test_forgetting_what_was_learnt_gives_back_the_counts(cli, name):
    before = tally(f"{name}.nb")
    data = Path(f"{name}.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    Path("some.csv").write_text("".join([data[0], *data[5:45]]), encoding="utf-8")
    done(cli(f"learn {name}.nb some.csv"))
    assert tally(f"{name}.nb") != before
    done(cli(f"forget {name}.nb some.csv"))
    if name == "reviews":
        assert tally(f"{name}.nb") == before
    else:
        kept = naively.load(f"{name}.nb")
        assert kept.class_count_.sum() == (240 if name == "visits" else 150)
        rows, _ = visits() if name == "visits" else iris()
        done(cli(f"train {name}.csv --target {'visit' if name == 'visits' else 'species'} --no-calibrate -o again.nb"))
        kept.set_params(calibrate=False)
        assert np.allclose(kept.predict_proba(rows), naively.load("again.nb").predict_proba(rows), atol=1e-6)


def test_everything_can_be_forgotten_and_learnt_again(cli):
    done(cli("forget reviews.nb reviews.csv"))
    assert naively.load("reviews.nb").class_count_.tolist() == [0, 0]
    done(cli("predict reviews.nb reviews.csv"))
    done(cli("show reviews.nb"))
    done(cli("learn reviews.nb reviews.csv"))
    assert tally("reviews.nb") == TextClassifier().fit(TEXTS, LABELS).tally_


def test_new_labels_and_words_are_taken_up(cli):
    write_csv("new.csv", ["review", "label"], [["bellissimo film", "italian"]] * 3)
    done(cli("learn reviews.nb new.csv"))
    model = naively.load("reviews.nb")
    assert model.classes_.tolist() == ["italian", "negative", "positive"]
    assert model.class_count_.tolist() == [3, 240, 240]
    expected = TextClassifier(ngrams=(1, 2)).fit([*TEXTS, *["bellissimo film"] * 3], [*LABELS, *["italian"] * 3])
    assert model.tally_ == expected.tally_


@pytest.mark.parametrize("label", ["True", "007", "1.50", "2020-01-05", "Infinity"])
def test_labels_that_look_like_something_else_stay_the_texts_they_were(cli, label):
    """A file in which all labels look like numbers has the same labels as one in which only some do."""
    write_csv("first.csv", ["text", "y"], [["good film here", label], ["bad film there", "other"]])
    write_csv("second.csv", ["text", "y"], [["good film again", label]])
    done(cli("train first.csv --target y --text text -o new.nb"))
    done(cli("learn new.nb second.csv"))
    assert rows_by_label("new.nb") == {label: 2, "other": 1}
    assert done(cli("evaluate new.nb second.csv --json")).document["rows"] == 1


def test_numbers_are_taken_for_texts_where_labels_are_texts(cli):
    write_lines("first.jsonl", [{"t": "good film here", "y": "1"}, {"t": "bad film there", "y": "0"}])
    write_csv("second.csv", ["t", "y"], [["good film again", 1]])
    done(cli("train first.jsonl --target y --text t -o new.nb"))
    done(cli("learn new.nb second.csv"))
    assert naively.load("new.nb").class_count_.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("rows", "why"),
    [([["never seen words here", "negative"]], "a word"), ([[TEXTS[0], "neutral"]], "a label"),
     ([[text, "negative"] for text in TEXTS], "too many")],
)  # fmt: skip
def test_forgetting_what_was_never_counted_changes_not_a_byte(cli, here, rows, why):
    before, files = (here / "reviews.nb").read_bytes(), sorted([*os.listdir(), "never.csv"])
    write_csv("never.csv", ["review", "label"], rows)
    failed(cli("forget reviews.nb never.csv"))
    assert (here / "reviews.nb").read_bytes() == before
    assert sorted(os.listdir()) == files


def test_forgetting_more_in_a_later_batch_changes_not_a_byte(cli, here):
    rows = [["a good film", "x"], ["a bad film", "y"]] * (MORE_THAN_A_BATCH // 2)
    write_csv("known.csv", ["review", "label"], rows)
    write_csv("never.csv", ["review", "label"], [*rows, ["unheard of", "x"]])
    done(cli("train known.csv --target label --text review --loo 0 -o new.nb"))
    before = (here / "new.nb").read_bytes()
    failed(cli("forget new.nb never.csv"))
    assert (here / "new.nb").read_bytes() == before


@pytest.mark.parametrize("options", ["--fast", "--fast --ngrams 2 --weighting tfidf"])
def test_merging_is_training_on_all_to_the_last_byte(cli, here, options):
    reviews("north.csv", end=170)
    reviews("south.csv", 170)
    for name in ("north", "south"):
        done(cli(f"train {name}.csv --target label --text review --loo 0 --no-calibrate {options} -o {name}.nb"))
    done(cli(f"train north.csv south.csv --target label --text review --loo 0 --no-calibrate {options} -o all.nb"))
    done(cli("merge north.nb south.nb -o sum.nb"))
    assert tally("sum.nb") == tally("all.nb")
    assert (here / "sum.nb").read_bytes() == (here / "all.nb").read_bytes()
    done(cli("merge south.nb north.nb -o other.nb"))
    assert tally("other.nb") == tally("sum.nb")


def test_a_model_can_be_merged_into_itself_and_more_than_two(cli):
    done(cli("merge reviews.nb reviews.nb reviews.nb -o reviews.nb"))
    assert naively.load("reviews.nb").class_count_.tolist() == [720, 720]


def test_tables_are_merged(cli):
    table, labels = visits()
    whole = with_labels(table, labels)
    write_table("first.csv", whole.slice(0, 150))
    write_table("second.csv", whole.slice(150))
    for name in ("first", "second"):
        done(cli(f"train {name}.csv --target visit -o {name}.nb"))
    ran = cli("merge first.nb second.nb -o sum.nb")
    one, two = naively.load("first.nb"), naively.load("second.nb")
    try:
        expected = naively.merge(one, two)
    except naively.NaivelyError:
        failed(ran)
    else:
        done(ran)
        assert tally("sum.nb") == expected.tally_


@pytest.mark.parametrize("other", ["visits.nb", "pairs.nb", "ints.nb"])
def test_models_that_are_unlike_are_not_merged(cli, here, other):
    done(cli("train reviews.csv --target label --ngrams 2 -o pairs.nb"))
    ran = failed(cli(f"merge reviews.nb {other} -o sum.nb"))
    assert "this is a bug" not in ran.err
    assert not (here / "sum.nb").exists()


def test_a_sum_does_not_replace_what_is_no_model(cli, here):
    before = (here / "reviews.csv").read_bytes()
    failed(cli("merge reviews.nb reviews.nb -o reviews.csv"), "reviews.csv")
    failed(cli("learn reviews.nb reviews.csv -o reviews.csv"), "reviews.csv")
    assert (here / "reviews.csv").read_bytes() == before


def test_judging_needs_no_more_than_the_counts_so_all_commands_work_on_what_was_merged(cli):
    done(cli("merge reviews.nb reviews.nb -o sum.nb"))
    for argv in ("predict sum.nb reviews.csv", "evaluate sum.nb reviews.csv", "show sum.nb", "explain sum.nb fine"):
        done(cli(argv))


# demo


def test_the_tour_takes_less_than_a_minute_and_leaves_nothing(here):
    before, begin = sorted(os.listdir()), time.monotonic()
    ran = done(process("demo"))
    assert time.monotonic() - begin < 60
    assert "Text" in ran.out
    assert ran.err == ""
    assert sorted(os.listdir()) == before


def test_the_tour_answers_machines_with_json_or_not_at_all(here):
    ran = process("demo --json")
    if ran.code == 0:
        assert isinstance(json.loads(ran.out or "{}"), dict)
    else:
        failed(ran, code=2)


# Durability


def test_nothing_is_lost_when_several_learn_at_once(here):
    for k in range(6):
        reviews(f"part{k}.csv", 80 * k, 80 * k + 80)
    shutil.copy("reviews.nb", "shared.nb")
    started = [begun(f"learn shared.nb part{k}.csv") for k in range(6)]
    runs = [ended(one) for one in started]
    assert [ran.code for ran in runs] == [0] * 6, [ran.err for ran in runs]
    assert tally("shared.nb") == naively.merge(naively.load("reviews.nb"), naively.load("reviews.nb")).tally_
    assert not [name for name in os.listdir() if name.endswith((".lock", ".part"))]


def test_a_reader_always_finds_a_whole_model(here):
    for k in range(3):
        reviews(f"part{k}.csv", 80 * k, 80 * k + 80)
    stop, seen, broken = threading.Event(), set(), []

    def read():
        while not stop.is_set():
            try:
                seen.add(int(naively.load("reviews.nb").class_count_.sum()))
            except Exception as error:
                broken.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for k in range(3):
            done(process(f"learn reviews.nb part{k}.csv"))
    finally:
        stop.set()
        reader.join()
    assert not broken
    assert seen <= {480, 560, 640, 720}
    assert {480, 640} <= seen


def _many_rows(path, rows):
    chance = np.random.default_rng(3)
    words = np.array([f"w{n}" for n in range(2000)])
    labels = np.array(["a", "b", "c"])[chance.integers(0, 3, rows)]
    drawn = words[chance.integers(0, 2000, (rows, 5))]
    lines = [f"__label__{y} {' '.join(row)}\n" for y, row in zip(labels, drawn.tolist(), strict=True)]
    Path(path).write_text("".join(lines))


def _wait_for(path, started, seconds=30):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert started.poll() is None, ended(started)
        assert time.monotonic() < deadline
        time.sleep(0.002)


@unix
def test_ctrl_c_keeps_the_checkpoint_and_the_next_run_goes_on_to_the_same_bytes(tmp_path):
    _many_rows(tmp_path / "many.ft", 200_000)
    done(process("train many.ft -o whole.nb", cwd=tmp_path))
    argv = "train many.ft -o new.nb --checkpoint --checkpoint-seconds 0"
    started = begun(argv, cwd=tmp_path)
    _wait_for(tmp_path / "new.nb.checkpoint", started)
    started.send_signal(signal.SIGINT)
    ran = ended(started)
    assert ran.code == 130, ran.err
    assert re.search(r"naively: interrupted\n  [\d,]+ rows are in .*new\.nb\.checkpoint: run the same command", ran.err)
    assert not (tmp_path / "new.nb").exists()
    failed(process(argv.replace("--checkpoint ", "--checkpoint --alpha 1 "), cwd=tmp_path), "other options")
    again = done(process(argv, cwd=tmp_path))
    assert "going on from" in again.err
    assert (tmp_path / "new.nb").read_bytes() == (tmp_path / "whole.nb").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["many.ft", "new.nb", "whole.nb"]


@unix
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ("train - --format fasttext -o reviews.nb", "nothing was saved"),
        ("learn reviews.nb - --format fasttext --target label", "reviews.nb was not changed"),
    ],
)
def test_ctrl_c_while_more_is_awaited_leaves_the_old_model_and_says_so(here, argv, said):
    before = (here / "reviews.nb").read_bytes()
    started = begun(argv, stdin=subprocess.PIPE)
    started.stdin.write("__label__negative some words here\n" * 10)
    started.stdin.flush()
    _wait_for(here / ".reviews.nb.lock", started)
    time.sleep(1.5)  # until it has read them
    started.send_signal(signal.SIGINT)
    try:
        code = started.wait(8)
    except subprocess.TimeoutExpired:
        started.kill()
        code = started.wait()
    ran = ended(started)
    assert code == 130, ran
    assert said in ran.err
    assert (here / "reviews.nb").read_bytes() == before
    assert not [name for name in os.listdir() if name.startswith(".reviews.nb")]


@unix
def test_ctrl_c_in_the_middle_of_a_query_is_no_bug(here):
    endless = (
        "select 'a' y, 'b c' t from range(9) where (select count(*) from range(40000000000) r(i) where hash(i) = 7) > 0"
    )
    started = begun(["train", "--sql", endless, "--target", "y", "--text", "t", "-o", "new.nb"])
    _wait_for(here / ".new.nb.lock", started)
    time.sleep(0.5)
    started.send_signal(signal.SIGINT)
    ran = ended(started, 10)
    assert ran.code in (130, -signal.SIGINT), ran
    assert "interrupted" in ran.err
    assert "this is a bug" not in ran.err


def _full_disk(size):
    def limit():
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@unix
@pytest.mark.parametrize(
    "argv",
    ["learn reviews.nb reviews.csv", "forget reviews.nb some.csv", "merge reviews.nb reviews.nb -o reviews.nb",
     "train reviews.csv --target label -o reviews.nb", "train reviews.csv --target label -o new.nb",
     "train reviews.csv --target label -o new.nb --checkpoint --checkpoint-seconds 0",
     "predict reviews.nb reviews.csv -o answer.jsonl", "predict reviews.nb reviews.csv -o answer.parquet",
     "predict reviews.nb reviews.csv -o answer.csv", "suspects reviews.csv --target label --top 400 -o answer.arrow"],
)  # fmt: skip
def test_a_full_disk_leaves_all_as_it_was(here, argv):
    reviews("some.csv", end=100)
    before = {name: (here / name).read_bytes() for name in os.listdir()}
    ran = failed(process(argv, preexec_fn=_full_disk(8_000)))
    assert re.search(r"too large|No space", ran.err), ran.err
    assert "this is a bug" not in ran.err
    assert {name: (here / name).read_bytes() for name in os.listdir()} == before


@unix
def test_a_full_disk_behind_standard_output_is_told(here):
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            program("predict reviews.nb reviews.csv"), stdout=full, stderr=subprocess.PIPE, encoding="utf-8", timeout=60
        )
    assert run.returncode == 1
    assert "No space left" in run.stderr
    assert "Traceback" not in run.stderr


@unix
def test_a_folder_that_cannot_be_written_to_is_named(here):
    place = here / "sealed"
    place.mkdir()
    place.chmod(0o555)
    if os.access(place, os.W_OK):  # root may write anywhere, but not here
        place = Path("/proc")
    for argv in (
        "train reviews.csv --target label -o",
        "predict reviews.nb reviews.csv -o",
        "merge reviews.nb reviews.nb -o",
    ):
        ran = failed(process([*shlex.split(argv), str(place / "new.csv")]), str(place))
        assert ".part" not in ran.err
        assert ".lock" not in ran.err


def test_a_link_to_a_model_stays_a_link(cli, here):
    (here / "link.nb").symlink_to("reviews.nb")
    done(cli("learn link.nb reviews.csv"))
    assert (here / "link.nb").is_symlink()
    assert naively.load("reviews.nb").class_count_.sum() == 960


@unix
def test_a_pipe_is_not_replaced_by_a_file(cli, here):
    os.mkfifo("pipe.nb")
    ran = process("train reviews.csv --target label -o pipe.nb --force")
    assert ran.code in (0, 1)
    assert (here / "pipe.nb").is_fifo()


@unix
def test_a_reader_that_goes_away_ends_it_quietly(here):
    write_csv("many.csv", ["review"], [[text] for text in TEXTS] * 100)
    started = begun("predict reviews.nb many.csv")
    assert started.stdout.readline()
    started.stdout.close()
    err = started.stderr.read()
    assert started.wait(60) == 141
    started.stderr.close()
    assert err == ""


@unix
def test_a_checkpoint_belongs_to_what_columns_were_taken_for(here):
    rows = [[f"word{n % 7} is here", f"other{n % 5} there too", "xyz"[n % 3]] for n in range(150_000)]
    write_csv("two.csv", ["a", "b", "label"], rows)
    argv = "train two.csv --target label -o new.nb --checkpoint --checkpoint-seconds 0"
    started = begun(f"{argv} --text a,b")
    _wait_for(here / "new.nb.checkpoint", started)
    started.kill()
    ended(started)
    failed(process(f"{argv} --columns a,b"), "other data or other options")


def test_a_checkpoint_needs_what_can_be_read_again(cli):
    failed(cli("train --sql 'select 1 y, 2 x' --target y --checkpoint -o new.nb"), "--checkpoint", code=2)


@unix
def test_data_that_have_changed_do_not_go_on_from_a_checkpoint(tmp_path):
    _many_rows(tmp_path / "many.ft", 150_000)
    argv = "train many.ft -o new.nb --checkpoint --checkpoint-seconds 0"
    started = begun(argv, cwd=tmp_path)
    _wait_for(tmp_path / "new.nb.checkpoint", started)
    started.kill()
    ended(started)
    with open(tmp_path / "many.ft", "a") as file:
        file.write("__label__a one more\n")
    failed(process(argv, cwd=tmp_path), "new.nb.checkpoint", "delete it")
    (tmp_path / "new.nb.checkpoint").write_bytes(b"rubbish")
    failed(process(argv, cwd=tmp_path), "new.nb.checkpoint", "delete it")


# Progress


def _in_terminal(argv, feed, folder, env=None):
    """What a command shows in a pseudo-terminal, while what it reads comes slowly."""
    pty = pytest.importorskip("pty")
    outside, inside = pty.openpty()
    started = subprocess.Popen(
        program(argv), stdin=subprocess.PIPE, stdout=inside, stderr=inside, cwd=folder, env=environment(**(env or {}))
    )
    os.close(inside)

    def send():
        _wait_for(folder / ".new.nb.lock", started)
        for piece in feed:
            started.stdin.write(piece)
            started.stdin.flush()
            time.sleep(0.15)
        started.stdin.close()

    sender = threading.Thread(target=send)
    sender.start()
    shown = b""
    while True:
        assert select.select([outside], [], [], 60)[0]
        try:
            got = os.read(outside, 65536)
        except OSError:  # the other end is closed
            break
        if not got:
            break
        shown += got
    sender.join()
    os.close(outside)
    assert started.wait(60) == 0, shown
    return shown.decode()


def _slowly():
    return [b"__label__pos a fine film\n__label__neg a dull film\n" * 200] * 16


def _drawn(label, shown):
    """The lines of progress that were drawn over each other, without colours."""
    return re.findall(rf"{label}[^\r\n]*", re.sub(r"\x1b\[[?\d;]*[A-Za-z]", "", shown))


@unix
def test_progress_is_drawn_in_a_terminal_and_gone_at_the_end(tmp_path):
    shown = _in_terminal("train - --format fasttext -o new.nb", _slowly(), tmp_path)
    drawn = _drawn("counting", shown)
    rows = [int(found[1].replace(",", "")) for line in drawn if (found := re.search(r"([\d,]+) rows", line))]
    assert len(rows) >= 2
    assert rows == sorted(rows)
    assert rows[-1] <= 6400
    assert shown.rfind("\x1b[2K") > shown.rfind("counting")
    assert "6,400" in shown[shown.rfind("\x1b[2K") :]
    assert "\x1b[2mrows" in shown


class _Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self):
        return True


def test_choosing_draws_its_progress(tmp_path, monkeypatch):
    monkeypatch.setattr("naively.report._FIRST", 0.0)  # however fast the machine is
    monkeypatch.setattr("naively.report._BETWEEN", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    rng = np.random.default_rng(0)
    lines = [f"__label__{'ab'[i % 2]} {' '.join(map(str, rng.integers(0, 900, 30)))}\n" for i in range(900)]
    (tmp_path / "texts.txt").write_text("".join(lines))
    drawn = []
    for option in ([], ["--fast"]):
        monkeypatch.setattr(sys, "stderr", _Terminal())
        data, model = str(tmp_path / "texts.txt"), str(tmp_path / "model.nb")
        assert main(["train", data, "--format", "fasttext", "-o", model, *option]) == 0
        drawn.append(_drawn("choosing", sys.stderr.getvalue()))
    shares = [int(found[1]) for line in drawn[0] if (found := re.search(r"(\d+)%", line))]
    assert shares
    assert shares == sorted(shares)
    assert not re.search(r"rows|/s", "".join(drawn[0]))
    assert not drawn[1]


@unix
def test_without_colour_no_code_of_one_is_sent(tmp_path):
    for option, env in (("", {"NO_COLOR": "1"}), ("--no-color", {})):
        shown = _in_terminal(f"train - --format fasttext -o new.nb {option}", _slowly()[:10], tmp_path, env)
        assert "counting" in shown
        assert not re.search(r"\x1b\[[\d;]*m", shown)


def test_nothing_is_drawn_in_a_pipe(tmp_path):
    feed = b"".join(_slowly()).decode()
    ran = done(process("train - --format fasttext -o new.nb", feed, cwd=tmp_path))
    assert ran.err == ""
    assert "\x1b" not in ran.out


@pytest.mark.parametrize(
    "argv",
    ["train reviews.csv --target label -o new.nb", "learn reviews.nb reviews.csv", "forget reviews.nb reviews.csv",
     "merge reviews.nb reviews.nb -o new.nb", "predict reviews.nb reviews.csv -o answer.csv", "explain reviews.nb fine",
     "show reviews.nb", "evaluate reviews.nb reviews.csv", "compare iris.csv --target species --folds 2",
     "suspects reviews.csv --target label"],
)  # fmt: skip
def test_every_command_answers_with_one_document_and_no_more(cli, argv):
    ran = done(cli(f"{argv} --json"))
    assert isinstance(ran.document, dict)
    assert ran.err == ""
