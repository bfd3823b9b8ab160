"""Processes of Spark on loopback: a master with two workers, and a Spark Connect server."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

HERE = Path(__file__).parent
MASTER, SERVER = 17077, 15002


def spark_home() -> Path:
    import pyspark

    return Path(pyspark.__file__).parent


def environment(folder: Path, address: str = "127.0.0.1") -> dict[str, str]:
    paths = [str(HERE), str(HERE.parent)]
    return os.environ | {
        "SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": address, "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_DAEMON_MEMORY": "512m", "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(paths),
    }  # fmt: skip


@contextmanager
def running(command: list[str], folder: Path, address: str = "127.0.0.1") -> Iterator[subprocess.Popen[bytes]]:
    """A process with its children, which are ended together."""
    with (folder / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            command, env=environment(folder, address), cwd=folder, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that `running` has started, and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def wait_for(port: int, process: subprocess.Popen[bytes], folder: Path) -> None:
    for _ in range(600):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            break
        time.sleep(0.2)
    raise RuntimeError(f"nothing listens on port {port}:\n{(folder / 'log.txt').read_text('utf-8')[-3000:]}")


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """A master, and two workers of one core at addresses of their own, so that a task can run twice at a time."""
    start = str(spark_home() / "bin" / "spark-class")
    with ExitStack() as stack:
        url = f"spark://127.0.0.1:{MASTER}"
        ports = ["--host", "127.0.0.1", "--port", str(MASTER), "--webui-port", "0"]
        process = stack.enter_context(running([start, "org.apache.spark.deploy.master.Master", *ports], folder))
        wait_for(MASTER, process, folder)
        for address in ("127.0.0.2", "127.0.0.3"):
            own = folder / address
            own.mkdir()
            options = ["--host", address, "--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(own)]
            stack.enter_context(running([start, "org.apache.spark.deploy.worker.Worker", *options, url], own, address))
        yield url


@contextmanager
def connect_server(folder: Path) -> Iterator[str]:
    conf = {
        "spark.connect.grpc.binding.address": "127.0.0.1", "spark.connect.grpc.binding.port": str(SERVER),
        "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "3", "spark.driver.memory": "1g",
    }  # fmt: skip
    options = [word for name, value in conf.items() for word in ("--conf", f"{name}={value}")]
    kind = "org.apache.spark.sql.connect.service.SparkConnectServer"
    submit = [str(spark_home() / "bin" / "spark-submit"), "--master", "local[2,4]", "--class", kind, *options]
    with running([*submit, "spark-internal"], folder) as process:
        wait_for(SERVER, process, folder)
        yield f"sc://127.0.0.1:{SERVER}"


def drive(master: str, work: str, fault: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a driver to its end."""
    command = [sys.executable, str(HERE / "driver.py"), master, work, fault, str(folder)]
    return subprocess.run(
        command, env=environment(folder), cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
