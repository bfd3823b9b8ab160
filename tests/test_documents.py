"""Sessions in the documents are run and compared; what is generated is up to date; links and the index are whole."""

import doctest
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "commands.md"]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def sessions(document):
    """Commands with the output that is shown below each; those of `make` are for a fresh machine."""
    blocks = re.findall(r"^```console\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)
    for block in blocks:
        for session in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = session.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command = command[:-1] + more
            if not command.startswith("make "):
                yield command, output


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_sessions_print_what_is_shown(document, tmp_path):
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "naively").write_text(f'#!/bin/sh\nexec {sys.executable} -m naively.cli "$@"\n')
    (bin / "naively").chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    env = {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "NO_COLOR": "1"}
    shown = list(sessions(document))
    assert shown
    for command, expected in shown:
        done = subprocess.run(["bash", "-c", command], cwd=work, env=env, capture_output=True, text=True)
        got = done.stdout + done.stderr
        assert doctest.OutputChecker().check_output(expected, got, FLAGS), f"$ {command}\n{got}\nexpected:\n{expected}"


def generator(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_that_of_the_docstrings():
    made = generator("make_reference")
    assert made.TARGET.read_text("utf-8") == made.page(), "docs/reference.md is out of date: run make docs"


def test_the_drawing_is_that_of_the_folders():
    made = generator("make_drawing")
    assert made.TARGET.read_text("utf-8") == made.drawing(), "docs/architecture.svg is out of date: run make docs"
    drawn = {folder.name for folder in (ROOT / "src/naively").iterdir() if (folder / "__init__.py").exists()}
    assert drawn <= {name for layer in made.layers() for name in layer}
    assert set(made.core_folders()) == {folder.name for folder in (ROOT / "native").iterdir() if folder.is_dir()}


PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")])


def links(page):
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not link.startswith(("http:", "https:", "#"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    missing = [link for link in links(page) if not (page.parent / link.partition("#")[0]).exists()]
    assert missing == []


def test_every_document_is_in_the_index():
    listed = {link.partition("#")[0] for link in links(ROOT / "docs" / "README.md")}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"} <= listed
