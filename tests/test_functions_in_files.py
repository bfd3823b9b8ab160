"""Functions of one's own in model files: named by their import path, and imported only where that is trusted."""

from __future__ import annotations

import functools
import importlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively
from naively import FileError, InputError, NaiveBayes, Text, TextClassifier


def own_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str = "return text.split('/')") -> Any:
    """Write a module with a tokeniser, and return the tokeniser."""
    name = f"own_tokens_{os.urandom(4).hex()}"
    (tmp_path / f"{name}.py").write_text(f"def split(text):\n    {code}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return importlib.import_module(name).split


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("kind", ["text", "table", "vectorizer"])
def test_a_model_with_a_tokeniser_of_ones_own_is_loaded_where_its_import_path_is_trusted(
    kind: str, frozen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split, texts, path = own_tokens(tmp_path, monkeypatch), ["a/b c", "b c/d", "a/a"], tmp_path / "model.nb"
    model: Any
    if kind == "vectorizer":
        model = naively.CountVectorizer(tokenizer=split, token_pattern=None).fit(texts)
        model.save(path)
    elif kind == "text":
        model = TextClassifier(tokens=split).fit(texts, [0, 1, 0])
        model.save(path, frozen=frozen)
    else:
        model = NaiveBayes(columns={"t": Text(tokens=split)}).fit({"t": texts, "x": [1.0, 2.0, 3.0]}, [0, 1, 0])
        model.save(path, frozen=frozen)
    dotted = f"{split.__module__}.split"
    with pytest.raises(FileError, match=rf"model.nb: the model calls the function {dotted}.*trust='{dotted}'"):
        naively.load(path)
    for trust in (dotted, split.__module__, [f"{split.__module__}:split", "other"]):
        again = naively.load(path, trust=trust)
        if kind == "vectorizer":
            assert (again.transform(texts) != model.transform(texts)).nnz == 0
        else:
            rows = texts if kind == "text" else {"t": texts}
            np.testing.assert_array_equal(again.predict_proba(rows), model.predict_proba(rows))
    if kind == "text":
        data = model.to_bytes(frozen=frozen)
        with pytest.raises(FileError, match="trust="):
            TextClassifier.from_bytes(data)
        assert TextClassifier.from_bytes(data, trust=dotted).predict(["d/d"]).tolist() == [1]
        assert naively.from_bytes(data, trust=dotted).predict(["d/d"]).tolist() == [1]
    monkeypatch.delitem(sys.modules, split.__module__)
    (tmp_path / f"{split.__module__}.py").unlink()
    importlib.invalidate_caches()
    with pytest.raises(FileError, match=f"{dotted}, which cannot be imported: No module named '{split.__module__}'"):
        naively.load(path, trust=dotted)


def test_a_function_that_nobody_trusts_is_neither_imported_nor_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = own_tokens(tmp_path, monkeypatch, "return [text]")
    TextClassifier(tokens=split).fit(["a", "b"], [0, 1]).save(tmp_path / "model.nb")
    monkeypatch.delitem(sys.modules, split.__module__)
    module = tmp_path / f"{split.__module__}.py"
    module.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + module.read_text())
    for trust in ((), "os", f"{split.__module__}.other", split.__module__[:-1]):
        with pytest.raises(FileError, match="trust="):
            naively.load(tmp_path / "model.nb", trust=trust)
    assert split.__module__ not in sys.modules
    assert not (tmp_path / "ran").exists()


class Splitter:
    def __call__(self, text: str) -> list[str]:
        return text.split()


NAMELESS = {"lambda": lambda text: text.split(), "object": Splitter(), "partial": functools.partial(str.split, sep="/")}


@pytest.mark.parametrize("function", NAMELESS.values(), ids=NAMELESS)
def test_a_tokeniser_that_cannot_be_imported_is_refused_when_it_is_saved(function: Any, tmp_path: Path) -> None:
    model = TextClassifier(tokens=function).fit(["a b"], [0])
    with pytest.raises(InputError, match=r"cannot be imported.*define a function at the top of a module"):
        model.save(tmp_path / "model.nb")
    assert not list(tmp_path.iterdir())


def test_a_tokeniser_of_the_program_itself_is_refused_when_it_is_saved(tmp_path: Path) -> None:
    program = """
        from naively import TextClassifier
        def split(text):
            return text.split()
        TextClassifier(tokens=split).fit(["a b"], [0]).save("model.nb")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "split is defined in the program that runs (no file holds code); move it to a module" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_method_of_a_builtin_class_is_a_function_too(tmp_path: Path) -> None:
    TextClassifier(tokens=str.split).fit(["a b", "c"], [0, 1]).save(tmp_path / "model.nb")
    assert naively.load(tmp_path / "model.nb", trust="builtins.str.split").predict(["c"]).tolist() == [1]
