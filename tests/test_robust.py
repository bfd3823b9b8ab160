"""Odd files and odd surroundings: each is done right, or refused with a sentence; never NaN, never "this is a bug"."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from families import plain_table, plain_text

import naively
from naively import FileError, NaivelyError
from naively.cli import main
from naively.store import container

Array = np.ndarray[Any, Any]

ROWS = "label,text\nspam,win a prize\nham,see you at noon\nspam,win win\nham,noon lunch\n"
ODD = os.fsdecode(b"caf\xe9")  # no UTF-8


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with data.csv and a model of it."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(ROWS)
    assert main(shlex.split("train data.csv --target label --text text -o model.nb --quiet")) == 0
    return tmp_path


def told(capsys: Any, *argv: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    capsys.readouterr()
    code = main(list(argv))
    out, err = capsys.readouterr()
    return code, out, err


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell, in which `naively` is the command line of this Python."""
    line = f'naively() {{ {shlex.quote(sys.executable)} -m naively.cli "$@"; }}; {line}'
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | environment
    return subprocess.run(["sh", "-c", line], env=known, capture_output=True, encoding="utf-8", timeout=100)


# --- arguments


def test_a_model_and_data_that_are_swapped_are_told_of(here: Path, capsys: Any) -> None:
    before = Path("model.nb").read_bytes()
    for line in ("predict data.csv model.nb", "evaluate data.csv model.nb", "learn data.csv model.nb",
                 "forget data.csv model.nb", "predict data.csv data.csv model.nb", "explain noon model.nb",
                 "explain data.csv --data model.nb --line 1"):  # fmt: skip
        code, out, err = told(capsys, *line.split())
        assert (code, out) == (2, ""), line
        assert "'model.nb' is: the two are swapped; the model comes first" in err, line
    for line in ("train model.nb --target label", "predict model.nb model.nb"):
        code, out, err = told(capsys, *line.split())
        assert (code, out) == (1, ""), line
        assert "model.nb: is a model of naively, not data" in err, line
    assert Path("model.nb").read_bytes() == before


# --- names of files


def _as(format: str) -> bytes:
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    table = csv.read_csv(pa.BufferReader(ROWS.encode()))
    file = pa.BufferOutputStream()
    if format == "parquet":
        parquet.write_table(table, file)
    elif format == "arrow":
        feather.write_feather(table, file, compression="uncompressed")
    elif format == "jsonl":
        file.write("".join(json.dumps(row) + "\n" for row in table.to_pylist()).encode())
    else:
        file.write({"csv": ROWS, "tsv": ROWS.replace(",", "\t"), "txt": "win\nnoon\nwin\nnoon\n"}[format[:3]].encode())
    data = file.getvalue().to_pybytes()
    return gzip.compress(data) if format.endswith("gz") else data


def test_names_that_are_no_utf_8_are_names_like_others(here: Path, capsys: Any) -> None:
    for format in ("csv", "tsv", "csv.gz", "jsonl", "parquet", "arrow", "txt"):
        Path(f"{ODD}.{format}").write_bytes(_as(format))
        code, out, _ = told(capsys, "predict", "model.nb", f"{ODD}.{format}")
        assert (code, [line.split("\t")[0] for line in out.splitlines()]) == (0, ["spam", "ham"] * 2), format
    code, out, _ = told(capsys, "train", f"{ODD}.csv", "--target", "label", "--text", "text", "-o", f"{ODD}.nb")
    assert code == 0
    assert "caf\\xe9.nb" in out
    assert told(capsys, "predict", f"{ODD}.nb", "data.csv", "-o", f"{ODD}-answer.csv")[0] == 0
    code, out, _ = told(capsys, "show", f"{ODD}.nb")
    assert code == 0
    assert "caf\\xe9.csv" in out
    code, _, err = told(capsys, "show", f"{ODD}.none")
    assert code == 1
    assert "caf\\xe9.none: there is no such file" in err


def test_folders_and_texts_whose_names_are_no_utf_8_are_read(here: Path, capsys: Any) -> None:
    for label, name, text in (("a", "1", "fine"), ("a", ODD, "good"), (ODD, "2", "dull")):
        (here / "texts" / label).mkdir(parents=True, exist_ok=True)
        (here / "texts" / label / name).write_text(text)
    assert told(capsys, "train", "texts", "-o", "texts.nb")[0] == 0
    assert naively.load("texts.nb").classes_.tolist() == ["a", "caf\\xe9"]
    assert told(capsys, "predict", "texts.nb", "texts", "-o", "answer.csv")[0] == 0
    assert "caf\\xe9" in Path("answer.csv").read_text()


def test_names_are_read_and_shown_where_the_locale_has_no_letters(here: Path) -> None:
    Path("é.csv").write_text(ROWS)
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = shell("naively train é.csv --target label --text text -o é.nb", **plain)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "é.nb" in ran.stdout
    assert naively.load("é.nb").classes_.tolist() == ["ham", "spam"]


# --- standard streams


def test_closed_standard_streams_are_no_mistake_of_ours(here: Path) -> None:
    for line, code, err in (
        ("naively predict model.nb data.csv >&-", 0, ""),
        ("naively predict model.nb data.csv --json >&- 2>&- <&-", 0, ""),
        ("naively --help >&-", 0, ""),
        ("naively predict model.nb - <&-", 1, "naively: error: standard input is closed; pipe the data in, or name a"),
        ("naively predict model.nb --format csv - <&- >&-", 1, "naively: error: standard input is closed"),
        ("naively learn model.nb data.csv --target label <&- >&- 2>&-", 0, ""),
    ):
        ran = shell(line)
        assert (ran.returncode, ran.stdout) == (code, ""), line
        assert ran.stderr.startswith(err), line
        assert ran.stderr.count("\n") == (code > 0), line
    assert naively.load("model.nb").tally_.rows.sum() == 8  # the file did not get the place of a stream


def test_help_that_cannot_be_written_is_an_error(here: Path) -> None:
    for command in ("--help", "--version", "show model.nb"):
        ran = shell(f"naively {command} > /dev/full", PYTHONUNBUFFERED="1")
        assert (ran.returncode, ran.stderr) == (1, "naively: error: standard output: No space left on device\n")


# --- what is no plain file, or not whole


def test_a_full_disk_names_the_file(here: Path, capsys: Any) -> None:
    header, rows = ROWS.split("\n", 1)
    Path("long.csv").write_text(f"{header}\n{rows * 2000}")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limit[1]))
    try:
        with pytest.raises(OSError, match="large") as raised:
            plain_text().fit(["a", "b"], [0, 1]).save("new.nb")
        assert raised.value.filename == "new.nb"
        for line, name in (
            ("train data.csv --target label --text text -o new.nb", "new.nb"),
            ("learn model.nb data.csv --target label", "model.nb"),
            *((f"predict model.nb long.csv -o out.{kind}", f"out.{kind}")
              for kind in ("csv", "parquet", "arrow", "jsonl")),
        ):  # fmt: skip
            code, _, err = told(capsys, *line.split())
            assert (code, err) == (1, f"naively: error: {name}: File too large\n"), line
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)


def test_nobody_waits_for_a_pipe_to_become_a_model(here: Path) -> None:
    os.mkfifo("pipe")
    script = """
        import naively
        from naively.cli import main
        try:
            naively.load("pipe")
        except naively.FileError as error:
            print(error)
        print(main(["show", "pipe"]), main(["learn", "pipe", "data.csv"]), main(["merge", "pipe", "pipe", "-o", "x"]))
    """
    ran = subprocess.run([sys.executable, "-c", dedent(script)], capture_output=True, encoding="utf-8", timeout=100)
    first, codes = ran.stdout.splitlines()
    assert first.startswith("pipe: is a pipe or a device")
    assert codes == "1 1 1"
    assert ran.stderr.count("naively: error: pipe: is a pipe or a device") == 3


def test_encodings_are_called_by_their_names(here: Path, capsys: Any) -> None:
    for name, data in {
        "UTF-32": b"\xff\xfe\0\0" + ROWS.encode("utf-32-le"),
        "UTF-32 backwards": b"\0\0\xfe\xff" + ROWS.encode("utf-32-be"),
    }.items():
        Path("odd.csv").write_bytes(data)
        code, _, err = told(capsys, "predict", "model.nb", "odd.csv")
        assert code == 1, name
        assert "odd.csv: is UTF-32" in err, name


def test_zeros_behind_gzip_are_its_end_and_anything_else_is_refused(here: Path, capsys: Any) -> None:
    chance = np.random.default_rng(0)
    noise = "".join(f"ham,{n}\n" for n in chance.integers(0, 2**60, 20_000))  # more than is looked at to tell a format
    for name, rows in (("small", ROWS), ("large", ROWS + noise)):
        packed, many = gzip.compress(rows.encode()), rows.count("\n") - 1
        for zeros in (1, 512, 100_000):
            Path(f"{name}.csv.gz").write_bytes(packed + bytes(zeros))
            code, out, _ = told(capsys, "evaluate", "model.nb", f"{name}.csv.gz", "--target", "label", "--json")
            assert (code, json.loads(out)["rows"]) == (0, many), (name, zeros)
        for tail in (b"x", bytes(512) + b"x", packed[:-5]):
            Path(f"{name}.csv.gz").write_bytes(packed + tail)
            code, _, err = told(capsys, "predict", "model.nb", f"{name}.csv.gz")
            assert code == 1, (name, tail[-9:])
            assert "cannot be read to its end" in err


# --- forged model files, with digests that are right

TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "U64": "<u8",
    "U32": "<u4",
    "U8": "|u1",
    "I8": "|i1",
    "BOOL": "|b1",
}
NAMES = {kind: name for name, kind in TYPES.items()}


def taken_apart(path: Path) -> tuple[Any, dict[str, Array]]:
    """The document of a file, and its arrays."""
    data = path.read_bytes()
    long = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + long])
    document = json.loads(entries.pop("__metadata__")["model"])
    arrays = {}
    for name, entry in entries.items():
        begin, end = (8 + long + at for at in entry["data_offsets"])
        arrays[name] = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
    return document, arrays


def concat(path: Path, document: Any, arrays: dict[str, Array]) -> Path:
    digests = {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}
    at, entries, data = 0, {}, b""
    for name in sorted(arrays, key=lambda name: -arrays[name].itemsize):
        raw, kind = arrays[name].tobytes(), NAMES[arrays[name].dtype.str]
        entries[name] = {"dtype": kind, "shape": list(arrays[name].shape), "data_offsets": [at, at + len(raw)]}
        at, data = at + len(raw), data + raw
    model = json.dumps({**document, "digests": digests})
    about = {"format": "naively", "version": str(container.VERSION), "digest": "0" * 64, "model": model}
    header = json.dumps({"__metadata__": about, **entries}).encode()
    header += b" " * (-len(header) % 8)
    header = header.replace(b"0" * 64, hashlib.sha256(header).hexdigest().encode(), 1)
    path.write_bytes(len(header).to_bytes(8, "little") + header + data)
    return path


def with_node(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of a document with one node replaced."""
    document = json.loads(json.dumps(document))
    at = document
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return document


WORDS = np.array(["fine", "dull", "não", "not", "a", "film", "good", "bad"])
chance = np.random.default_rng(3)
TEXTS = [" ".join(chance.choice(WORDS, 4)) for _ in range(30)]
LABELS = np.array(["x", "y", "z"])[chance.integers(0, 3, 30)]
COUNTS = chance.integers(0, 4, (30, 3)).astype(float)
TABLE = {
    "n": [None if i % 7 == 0 else i * 0.5 for i in range(30)], "h": [float(i % 5) for i in range(30)],
    "c": ["r", "g", None] * 10, "t": TEXTS,
}  # fmt: skip
RULES = {"n": naively.Gaussian(), "h": naively.Histogram("width", 3), "c": naively.Categorical(), "t": naively.Text()}
MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "multinomial": (naively.MultinomialNB, COUNTS),
    "complement": (lambda: naively.ComplementNB(norm=True), COUNTS),
    "bernoulli": (naively.BernoulliNB, COUNTS),
    "weighted": (naively.BernoulliNB, COUNTS),
    "categorical": (lambda: naively.CategoricalNB(alpha=0.0), COUNTS),
    "poisson": (naively.PoissonNB, COUNTS),
    "gaussian": (naively.GaussianNB, COUNTS),
    "tied": (lambda: naively.GaussianClassifier(covariance="tied"), COUNTS),
    "full": (lambda: naively.GaussianClassifier(covariance="full", shrinkage=0.1), COUNTS),
    "words": (lambda: plain_text(ngrams=(1, 2), weighting="tfidf"), TEXTS),
    "isotonic": (lambda: plain_text(calibrate="isotonic"), TEXTS),
    "per class": (lambda: plain_text(calibrate="per class", family="bernoulli"), TEXTS),
    "hashed": (lambda: plain_text(hashing=5, calibrate=True), TEXTS),
    "given words": (lambda: plain_text(vocabulary=["fine", "dull", "a"]), TEXTS),
    "table": (lambda: plain_table(columns=RULES, missing="informative", calibrate=True), TABLE),
}


def rows_of(X: Any, rows: slice) -> Any:
    return {name: column[rows] for name, column in X.items()} if isinstance(X, dict) else X[rows]


def saved(name: str, path: Path, *, frozen: bool = False) -> tuple[Any, dict[str, Array]]:
    make, X = MODELS[name]
    weight = np.arange(1, len(LABELS) + 1) / 3 if name == "weighted" else None
    make().fit(X, LABELS, sample_weight=weight).save(path, frozen=frozen)
    return taken_apart(path)


def one(array: Array, at: int, value: Any) -> Array:
    changed = array.copy()
    changed.reshape(-1)[at] = value
    return changed


def pair(document: Any, name: str) -> tuple[Any, ...]:
    """The way to a parameter or an attribute in its list of pairs."""
    return ("dict", [key for key, _ in document["dict"]].index(name), 1)


NAMED: dict[str, tuple[str, str, Callable[[Array], Array]]] = {
    "isotonic steps that fall": ("isotonic", "judged.calibration.steps.0.0", lambda a: a[::-1]),
    "isotonic probabilities that fall": ("isotonic", "judged.calibration.steps.0.1", lambda a: one(a, -1, 0.0)),
    "isotonic steps of NaN": ("isotonic", "judged.calibration.steps.0.1", lambda a: one(a, 0, np.nan)),
    "no isotonic steps": ("isotonic", "judged.calibration.steps.0.0", lambda a: a[:0]),
    "constants of NaN": ("per class", "judged.calibration.offsets", lambda a: one(a, 0, np.nan)),
    "losses of NaN": ("hashed", "judged.losses.sums", lambda a: one(a, 0, np.nan)),
    "a word without letters": ("words", "tally.parts.words.features.length", lambda a: one(a, 0, 0)),
    "a word beyond the bytes": ("words", "tally.parts.words.features.length", lambda a: one(a, 0, 2**31)),
    "a sequence of itself": ("words", "tally.parts.words.features.what", lambda a: one(a, -1, (len(a) - 1) << 32)),
    "words that are no text": ("words", "tally.parts.words.features.bytes", lambda a: one(a, 0, 0xFF)),
    "a covariance of NaN": ("full", "table.blocks.features.covariance", lambda a: one(a, 0, np.nan)),
    "an endless covariance": ("tied", "table.blocks.features.covariance", lambda a: one(a, 0, 1e308)),
    "a mean of NaN": ("gaussian", "table.blocks.features.parameters.0", lambda a: one(a, 0, np.nan)),
    "a variance below zero": ("gaussian", "table.blocks.features.parameters.1", lambda a: one(a, 0, -1.0)),
    "weights of NaN": ("multinomial", "table.blocks.features.present.feature", lambda a: one(a, 0, np.nan)),
    "weights of categories of NaN": ("table", "table.blocks.categories.weights", lambda a: one(a, 0, np.nan)),
    "more counts than rows": ("bernoulli", "tally.exact_rows", lambda a: one(a, 0, 0)),
    "a fraction more than rows": ("weighted", "tally.exact_rows", lambda a: a - np.array([1, 0], np.uint64)),
    "fractions that are none": ("weighted", "tally.exact_rows", lambda a: a * np.array([0, 1], np.uint64)),
    "fractions below zero": ("weighted", "tally.parts.features.cells.exact", lambda a: one(a, 1, 2**63)),
    "counts that are no pairs": ("weighted", "tally.parts.features.cells.exact", lambda a: a[..., :1]),
    "whole numbers for pairs": ("weighted", "tally.parts.features.cells.exact", lambda a: a.astype(np.int64)),
}  # fmt: skip


@pytest.mark.parametrize(("model", "name", "change"), NAMED.values(), ids=NAMED)
def test_numbers_that_cannot_be_are_refused_when_the_file_is_loaded(
    model: str, name: str, change: Callable[[Array], Array], tmp_path: Path
) -> None:
    document, arrays = saved(model, tmp_path / "model")
    forged = concat(tmp_path / "forged", document, {**arrays, name: np.ascontiguousarray(change(arrays[name]))})
    with pytest.raises(FileError, match="forged: the file is damaged"):
        naively.load(forged)


def test_attributes_that_are_not_those_of_the_counts_are_refused(tmp_path: Path) -> None:
    for model in ("multinomial", "categorical", "full"):
        document, arrays = saved(model, tmp_path / "model")
        place = ("attributes", *pair(document["attributes"], "n_features_in_"))
        for path, value in ((("attributes", "dict"), []), *((place, n) for n in (2, 4, -1, None, "3", 3.0))):
            forged = concat(tmp_path / "forged", with_node(document, path, value), arrays)
            with pytest.raises(FileError, match="damaged"):
                naively.load(forged)


def test_unknown_parts_of_a_model_are_refused(tmp_path: Path) -> None:
    document, arrays = saved("multinomial", tmp_path / "model")
    for name, value in (("_touched", 7), ("decided", [1]), ("declared", 3), ("judged", 3)):
        with pytest.raises(FileError, match="damaged"):
            naively.load(concat(tmp_path / "forged", with_node(document, ("model", name), value), arrays))


def test_cells_of_a_class_that_is_not_there_are_refused_in_large_files_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "SMALL", -1)
    for model, name in (
        ("words", "table.blocks.words.linear.present.cell_klass"),
        ("multinomial", "table.blocks.features.present.cell_klass"),
    ):
        document, arrays = saved(model, tmp_path / "model")
        for value in (3, 99, -1):
            forged = concat(tmp_path / "forged", document, {**arrays, name: one(arrays[name], 0, value)})
            with pytest.raises(FileError, match="a cell of no class"):
                naively.load(forged)
    document, arrays = saved("words", tmp_path / "model")
    arrays["tally.parts.words.features.length"] = one(arrays["tally.parts.words.features.length"], 0, 2**31)
    with pytest.raises(FileError, match="damaged"):
        naively.load(concat(tmp_path / "forged", document, arrays)).predict(TEXTS)
    with pytest.raises(FileError, match="damaged"):
        naively.load(tmp_path / "forged", verify=True)


def test_vectorizers_that_cannot_work_are_refused(tmp_path: Path) -> None:
    counting, hashing = naively.CountVectorizer(), naively.HashingVectorizer()
    for vectorizer in (counting.fit(TEXTS), naively.CountVectorizer(), hashing):
        vectorizer.save(tmp_path / "model")
        document, arrays = taken_apart(tmp_path / "model")
        naively.load(concat(tmp_path / "same", document, arrays))
        for name, value in (("token_pattern", "("), ("token_pattern", 7), ("encoding", "x("), ("dtype", "object"),
                            ("stop_words", "x"), ("ngram_range", {"tuple": [2, 1]})):  # fmt: skip
            changed = with_node(document, ("parameters", *pair(document["parameters"], name)), value)
            with pytest.raises(FileError, match="forged: the file is damaged"):
                naively.load(concat(tmp_path / "forged", changed, arrays))


# --- every value of every kind of model, changed


def nodes(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if path:
        yield path, document
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        if isinstance(value, (dict, list)):
            yield from nodes(value, (*path, key))
        else:
            yield (*path, key), value


def other_values(value: Any) -> list[Any]:
    """What might stand in place of a value."""
    if isinstance(value, bool) or value is None:
        return [3, "x", {"float": "nan"}]
    if isinstance(value, int):
        return [-1, value + 1, {"int": str(10**30)}, None]
    if isinstance(value, float):
        return [{"float": "nan"}, {"float": "inf"}, -1.0, "x"]
    if isinstance(value, str):
        return ["", None, "x("]
    if isinstance(value, list):
        return [[], value[::-1], value[:-1]]
    return [None, 1, {"dict": []}]


def other_arrays(array: Array) -> list[Array]:
    """What might stand in place of an array."""
    last, kind = array.size - 1, array.dtype.kind
    odd: list[Any] = (
        [np.nan, np.inf, -1.0, 1e308] if kind == "f" else [0, np.iinfo(array.dtype).max] if kind in "iu" else []
    )
    odd += [-1] if kind == "i" else []
    found = [one(array, at, value) for value in odd for at in (0, last)] if array.size else []
    return [*found, array[:0], array[:-1], array.reshape(-1)[::-1].reshape(array.shape), array.astype("<f8")]


@pytest.mark.parametrize("model", MODELS)
def test_any_value_of_a_file_that_is_changed_is_refused_or_does_no_harm(model: str, tmp_path: Path) -> None:
    """A sample of all changes, the same each time; a model that is loaded gives no NaN, and no errors but ours."""
    X = MODELS[model][1]
    for frozen in (False, True):
        document, arrays = saved(model, tmp_path / "model", frozen=frozen)
        changes = [
            (path, other) for path, value in nodes(document) if path[0] != "digests" for other in other_values(value)
        ]
        changed = [(name, other) for name, array in arrays.items() for other in other_arrays(array)]
        some = np.random.default_rng(len(changes)).permutation(len(changes) + len(changed))[:40]
        for number in some.tolist():
            if number < len(changes):
                path, value = changes[number]
                concat(tmp_path / "forged", with_node(document, path, value), arrays)
            else:
                name, array = changed[number - len(changes)]
                concat(tmp_path / "forged", document, {**arrays, name: np.ascontiguousarray(array)})
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                use(tmp_path / "forged", X)


def use(path: Path, X: Any) -> None:
    """Load a file and do all that can be done with it; raises what is no error of ours, and where there is NaN."""
    try:
        model = naively.load(path)
        assert np.isfinite(model.predict_proba(X)).all()
        assert not np.isnan(model.explain(rows_of(X, slice(1))).shares).any()
        model.save(path.with_name("again"), frozen=model._model.ledger.__class__.__name__ == "Uncounted")
        model.partial_fit(rows_of(X, slice(9)), LABELS[:9])
        model.forget(rows_of(X, slice(9)), LABELS[:9])
        assert np.isfinite(model.predict_proba(X)).all()
        model.save(path.with_name("again"))
    except NaivelyError:
        return
