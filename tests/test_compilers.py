"""The core is plain C++20: another compiler than the one it was built with takes it too."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

NATIVE = Path(__file__).parent.parent / "native"
KERNELS = sorted(str(path.relative_to(NATIVE)) for path in NATIVE.glob("*/*.cpp") if path.parent.name != "bind")


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what is made when the core is built."""
    folder = tmp_path_factory.mktemp("tables")
    subprocess.run([sys.executable, NATIVE / "text" / "unicode_tables.py", folder / "unicode_tables.hpp"], check=True)
    return folder


@pytest.mark.skipif(shutil.which("clang++") is None, reason="clang++ is not installed")
@pytest.mark.parametrize("name", KERNELS)
def test_clang_compiles_the_kernels_without_a_warning(name: str, tables: Path) -> None:
    options = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{NATIVE}", f"-I{tables}"]
    done = subprocess.run(["clang++", *options, NATIVE / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
