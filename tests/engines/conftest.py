"""The engines, started for the tests and stopped after them; what is missing is a failure where CI is true."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from components import SPARK, absent, need
from loopback import interfaces

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.engines)


@pytest.fixture(scope="session")
def alone() -> None:
    """A network with nothing but loopback, which Ray needs: it listens on the machine's own address."""
    if interfaces() != {"lo"}:
        absent("a network of its own", "run the tests by 'make engines', where unshare -n is allowed")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of Spark on two threads of this machine; a task may be tried four times."""
    need("pyspark", "spark")
    folder = tmp_path_factory.mktemp("spark")
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(folder)}
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,4]").config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    for name, value in SPARK.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def dask_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of two processes of one thread."""
    need("distributed", "dask")
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None,
        local_directory=str(tmp_path_factory.mktemp("dask")),
    )  # fmt: skip
    with cluster, Client(cluster) as client:
        yield client


@pytest.fixture(scope="session")
def ray_cluster(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Ray with two workers."""
    need("ray", "ray")
    os.environ |= {"RAY_DATA_DISABLE_PROGRESS_BARS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    import ray

    folder = Path("/tmp") / f"naively-ray-{os.getpid()}"  # paths of its sockets must be short
    ray.init(
        num_cpus=2, include_dashboard=False, object_store_memory=200 << 20, _temp_dir=str(folder),
        _node_ip_address="127.0.0.1", log_to_driver=False, logging_level="ERROR",
    )  # fmt: skip
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)
