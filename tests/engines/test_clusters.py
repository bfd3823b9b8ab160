"""A standalone cluster of Spark and a Spark Connect server give the model of one machine, whatever befalls a task."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import WORK, Work, check_same
from clusters import HERE, cluster, connect_server, drive, running
from components import need
from driver import FAULTS

import naively


@pytest.fixture(scope="module")
def master(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    need("pyspark", "spark")
    with cluster(tmp_path_factory.mktemp("cluster")) as url:
        yield url


@pytest.fixture(scope="module")
def server(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    need("pyspark", "spark")
    need("grpc", "engines")
    with connect_server(tmp_path_factory.mktemp("connect")) as url:
        yield url


def check_driven(work: Work, master: str, fault: str, folder: Path) -> None:
    run = drive(master, work.name, fault, folder)
    assert run.returncode == 0, run.stderr[-3000:]
    check_same(work, naively.from_bytes((folder / "model.nb").read_bytes()), work.here())
    assert int((folder / "rows").read_text()) == len(work.table())
    assert (folder / "struck").exists() == (fault != "none")


@pytest.mark.parametrize("work", [WORK[0], WORK[6]], ids=repr)
def test_spark_connect_gives_the_model_of_one_machine(server: str, work: Work, tmp_path: Path) -> None:
    check_driven(work, server, "none", tmp_path)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_changes_nothing(master: str, fault: str, tmp_path: Path) -> None:
    check_driven(WORK[0], master, fault, tmp_path)


def test_a_table_is_counted_on_a_cluster(master: str, tmp_path: Path) -> None:
    check_driven(WORK[4], master, "none", tmp_path)


def test_a_driver_that_was_killed_is_run_again(master: str, tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "driver.py"), master, WORK[0].name, "is_slow", str(tmp_path)]
    with running(command, tmp_path):
        until = time.monotonic() + 120
        while not (tmp_path / "struck").exists() and time.monotonic() < until:
            time.sleep(0.1)
    assert (tmp_path / "struck").exists()
    assert not (tmp_path / "model.nb").exists()
    (tmp_path / "struck").unlink()
    check_driven(WORK[0], master, "none", tmp_path)
