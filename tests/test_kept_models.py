"""Models that earlier versions wrote: they are read, and answer as they did."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import naively
from naively.learn.learner import Learner
from naively.store.container import OLDEST, VERSION

sys.path.insert(0, str(Path(__file__).parent / "data"))
import make_models

FOLDERS = [make_models.FOLDER / f"format-{version}" for version in range(OLDEST, VERSION + 1)]
KEPT = [path for folder in FOLDERS for path in sorted(folder.glob("*.nb"))]


def classes_of_files() -> set[str]:
    """The names of all classes that a file can hold."""
    public = (getattr(naively, name) for name in naively.__all__)
    kinds = [kind for kind in public if isinstance(kind, type)]
    return {kind.__name__ for kind in kinds if issubclass(kind, Learner) or hasattr(kind, "save")}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_two_models_of_each_estimator_are_kept(folder: Path) -> None:
    assert Counter(path.stem.split("-")[0] for path in folder.glob("*.nb")) == dict.fromkeys(classes_of_files(), 2)


@pytest.mark.filterwarnings("ignore::naively.errors.DataWarning")
@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_kept_model_answers_as_it_did(path: Path) -> None:
    kept = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    found = make_models.answers(naively.load(path, verify=True), kept["rows"])
    assert found.keys() == kept["answers"].keys()
    for name, values in kept["answers"].items():
        assert_same(found[name], values)


def assert_same(found: list[Any], expected: list[Any]) -> None:
    if isinstance(expected[0], str):
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_the_models_are_written_alike_each_time(tmp_path: Path) -> None:
    make_models.write(tmp_path / "one")
    make_models.write(tmp_path / "two")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
