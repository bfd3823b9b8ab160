"""What the tests of engines need, and how Spark is set up for them."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec

import pytest

SPARK = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.unionOutputPartitioning": "false",  # or single partitions would become one
}


def absent(what: str, install: str) -> None:
    """Skip for want of a component; fail where everything must be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what} is missing: {install}")
    pytest.skip(f"{what} is missing: {install}")


def need(library: str, extra: str) -> None:
    if find_spec(library) is None:
        absent(library, f"pip install 'naively[{extra}]'")
    if library == "pyspark" and shutil.which("java") is None:
        absent("Java", "install openjdk-17-jre-headless")
