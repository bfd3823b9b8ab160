"""The examples of docs/engines.md."""

from __future__ import annotations

import doctest
from pathlib import Path
from typing import Any

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def test_the_examples_of_engines_run(spark: Any, ray_cluster: Any) -> None:
    document = Path(__file__).parents[2] / "docs" / "engines.md"
    result = doctest.testfile(str(document), module_relative=False, optionflags=FLAGS, encoding="utf-8")
    assert result.attempted > 25
    assert result.failed == 0
