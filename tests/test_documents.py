"""Every session with the command line that the documents show is run, and its output compared."""

import doctest
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
        for told in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = told.partition("\n")
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
