"""The examples in the help of the commands, run as they stand."""

import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

from naively import NaiveBayes, film_reviews
from naively.cli import main
from naively.cli.arguments import parser

COMMANDS = parser().commands
SHELL = re.compile(r"[|>]|\$\(")


def examples(help_text):
    """The lines of help that are commands, without what is said of them."""
    lines = re.findall(r"^  (\S.*)$", help_text, re.M)
    return [re.sub(r"\s{2,}#.*", "", line) for line in lines if "naively " in line]


LINES = [line for name in COMMANDS for line in examples(COMMANDS[name].epilog)]
SESSION = examples(parser().format_help().partition("a first session:")[2].partition("\n\n")[0])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with all files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    texts, labels = (column[:90] for column in film_reviews())
    reviews = pa.table({"review": texts, "label": labels})
    parts = {"reviews": reviews, "withdrawn": reviews.slice(0, 3), "train": reviews, "test": reviews.slice(60)}
    for name in ("monday", "tuesday", "more", "new", "held_out"):
        parts[name] = reviews.slice(30, 20)
    for name, table in parts.items():
        csv.write_csv(table, folder / f"{name}.csv")
    csv.write_csv(pa.table({"subject": texts[::-1], "body": texts, "label": labels}), folder / "mails.csv")
    (folder / "mails.txt").write_text("\n".join(texts))
    rows = [{"size": k, "colour": "red" if k % 3 else "blue", "label": "a" if k % 2 else "b"} for k in range(40)]
    (folder / "huge.jsonl").write_text("\n".join(map(json.dumps, rows)))
    people = {
        "id": range(40),
        "name": ["x"] * 40,
        "age": [20 + k % 9 for k in range(40)],
        "job": ["clerk", "cook"] * 20,
    }
    people = pa.table({**people, "income": ["low", "high"] * 20})
    sales = pa.table(
        {"year": [2019, 2021] * 20, "price": [k * 1.5 for k in range(40)], "returned": ["no", "no", "yes", "yes"] * 10}
    )
    for name, table in (("people", people), ("sales", sales)):
        (folder / name).mkdir()
        for k in range(2):
            parquet.write_table(pa.table(table).slice(k * 20, 20), folder / name / f"{k}.parquet")
    NaiveBayes().fit({name: people[name] for name in ("age", "job")}, people["income"]).save(folder / "income.nb")
    NaiveBayes().fit({"rooms": [2, 3, 5, 6], "area": [40.0, 61.5, 120.0, 150.0]}, list("llhh")).save(
        folder / "homes.nb"
    )
    (folder / "parts").mkdir()
    trained = folder / "reviews.nb"
    assert main(["train", str(folder / "reviews.csv"), "--target", "label", "-o", str(trained)]) == 0
    for name in ("spam.nb", "north.nb", "south.nb", "parts/1.nb", "parts/2.nb"):
        shutil.copy(trained, folder / name)
    return folder


@pytest.fixture
def here(files, tmp_path, monkeypatch):
    """A copy of that folder as the working directory; it is the home directory as well."""
    shutil.copytree(files, tmp_path / "work")
    for folder in (".zfunc", ".config/fish/completions"):
        (tmp_path / "work" / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def run(line, here):
    """Run a line as a shell does, and return its exit code."""
    if SHELL.search(line):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "HOME": str(here), "PATH": path}
        return subprocess.run(["bash", "-c", line], env=environment, stdout=subprocess.DEVNULL, timeout=60).returncode
    words = shlex.split(line)
    assert words[0] == "naively"
    found = [sorted(glob.glob(word)) if re.search(r"^[^ ]*\*", word) else [word] for word in words[1:]]
    return main([word for each in found for word in each])


@pytest.mark.parametrize("line", LINES)
def test_an_example_runs(line, here, capsys):
    assert run(line, here) == 0, capsys.readouterr().err


def test_the_first_session_runs_from_begin_to_end(here, capsys):
    (here / "reviews.nb").unlink()
    for line in SESSION:
        assert run(line, here) == 0, (line, capsys.readouterr().err)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name):
    assert any(re.search(rf"\bnaively {name}\b", line) for line in examples(COMMANDS[name].epilog))
