"""The Spark session that all of Tidings uses, and what must be there before one can start.

Measured with PySpark 4.3: a session starts in 5-15 s and its first Python job takes 2-5 s more, so whoever needs one
asks for it late and keeps it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from tidings.errors import PipelineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST_JAVA = 17
ROWS_PER_BATCH = 10_000  # of an Arrow batch between Spark and Python; 100,000 were slower


# How checkpoints are written. By default Hadoop, without its native library, starts `chmod` and `readlink` several
# times for each of the two files of a batch; this way it starts `chmod` once. Medians of a batch, on two busy cores:
# 282 ms for both files before, 55 ms now.
_PLAIN_FILES = {
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

# Java on one machine. By default its heap is collected by G1, in which each of Spark's larger buffers began a new cycle
# (twice a second), and Java grew from 565 MB to 785 in half an hour though 60 MB of the heap were in use. So it comes
# to rest at 500 MB (docs/images/demo-memory.svg), and batches are as quick as before.
_SMALL_JAVA = ("-XX:+UseSerialGC", "-Xms128m", "-XX:MinHeapFreeRatio=20", "-XX:MetaspaceSize=192m")

# What Spark remembers of jobs that are done, for a page that we do not serve.
_SHORT_MEMORY = {
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
    "spark.sql.ui.retainedExecutions": "20",
}


class NoJava(PipelineError):
    def __init__(self, looked_at: str) -> None:
        super().__init__(looked_at)

    def __str__(self) -> str:
        return (
            f"Spark needs Java {OLDEST_JAVA} or newer and there is none ({self.args[0]}); "
            "on Debian: apt-get install default-jre-headless, elsewhere set JAVA_HOME"
        )


class OldJava(PipelineError):
    def __init__(self, java: str, version: int) -> None:
        super().__init__(java, version)

    def __str__(self) -> str:
        java, version = self.args
        return (
            f"Spark needs Java {OLDEST_JAVA} or newer and {java} is version {version}; set JAVA_HOME to a newer one "
            "or install it (Debian: apt-get install default-jre-headless)"
        )


def check_java() -> None:
    """Raises NoJava or OldJava; what Spark itself would say is a page of stack trace."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None:
        raise NoJava("no java on the PATH and JAVA_HOME is not set")
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        raise NoJava(f"{java} does not run") from None
    found = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    version = int(found[1]) if found else 0
    if version == 1 and found and found[2]:  # 1.8 was the old way to say 8
        version = int(found[2])
    if version < OLDEST_JAVA:
        raise OldJava(java, version)


def spark_session(
    master: str = "local[2]", name: str = "tidings", settings: dict[str, str] | None = None
) -> SparkSession:
    """A session on this master; `settings` are Spark's own and win over ours."""
    check_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    ours = {
        "spark.ui.enabled": "false",
        "spark.driver.maxResultSize": "0",  # a batch with very many matches must not end the query for good
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_PER_BATCH),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "true",
    } | _SHORT_MEMORY
    java = [f"-Dlog4j2.configurationFile=file:{_log_settings()}"]
    if master.startswith("local"):
        java += _SMALL_JAVA
        ours |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"} | _PLAIN_FILES
    ours["spark.driver.extraJavaOptions"] = " ".join(java)
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in (ours | (settings or {})).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _log_settings() -> str:
    return str(files("tidings.pipeline").joinpath("log4j2.properties"))
