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

from tidings.errors import Explained, PipelineError
from tidings.logs import VARIABLE as LOG_FORMAT

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

# Out of memory, Java loses threads and hangs. If it exits instead, its supervisor restarts it. Executors do so already.
_EXIT = "-XX:+ExitOnOutOfMemoryError"
_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"

# On one machine there is no page; so what Spark remembers of jobs that are done is not needed either.
_SHORT_MEMORY = {
    "spark.ui.enabled": "false",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
    "spark.sql.ui.retainedExecutions": "20",
}

_ON_LOOPBACK = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}

_OURS = {
    "spark.driver.maxResultSize": "0",  # a batch with very many matches must not end the query
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(ROWS_PER_BATCH),
}

_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
_LOCAL = re.compile(r"local\[(\d+|\*)\]")
_PROBES = 4_096  # numbers to count partitions by: more than any cluster has cores for one query


class NoJava(Explained, PipelineError):
    looked_at: str
    template = (
        f"Spark needs Java {OLDEST_JAVA} or newer, but none was found ({{looked_at}}); "
        "on Debian: apt-get install default-jre-headless, elsewhere set JAVA_HOME"
    )


class LocalStoreOnly(Explained, PipelineError):
    """SQLite, and workers that may be elsewhere: their master."""

    master: str
    template = (
        "a store in SQLite can be read only on this machine, and the workers of {master} may be elsewhere; "
        "use PostgreSQL (--store), or the master 'local[*]'"
    )


class OldJava(Explained, PipelineError):
    java: str
    version: int
    template = (
        f"Spark needs Java {OLDEST_JAVA} or newer and {{java}} is version {{version}}; set JAVA_HOME to a newer one "
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
    """A session on this master; `settings` are Spark's own and win over ours. A cluster keeps its own settings of what
    concerns neither answers nor memory: its pages, logs, partitions."""
    check_java()
    wanted = settings or {}
    # Spark's own default, python3, seldom has Tidings; on machines of one image the driver's path is right.
    os.environ.setdefault("PYSPARK_PYTHON", wanted.get("spark.pyspark.python", sys.executable))
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName(name)
    for key, value in (settings_for(master, wanted.get("spark.driver.extraJavaOptions", "")) | wanted).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def is_local(master: str) -> bool:
    """Whether the workers of this master run on this machine."""
    return master == "local" or master.startswith("local[")


def is_connect(session: SparkSession) -> bool:
    """Whether the session is a client of Spark Connect, whose server may be another machine."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def master_of(session: SparkSession) -> str:
    """The master of a session, however it was made."""
    return str(session.conf.get("spark.master", "a server of Spark Connect"))


def has_local_workers(session: SparkSession) -> bool:
    """Whether the session's workers run on this machine."""
    return not is_connect(session) and is_local(master_of(session))


def check_reach(store_url: str, session: SparkSession) -> None:
    """Whether the session's workers can open the store. Raises LocalStoreOnly."""
    if store_url.startswith("sqlite") and not has_local_workers(session):
        raise LocalStoreOnly("Spark Connect" if is_connect(session) else master_of(session))


def parallelism(session: SparkSession) -> int:
    """How many tasks the session runs at once. There is no SparkContext to ask under Spark Connect, so this counts the
    partitions that Spark gives to a range of numbers."""
    from pyspark.sql.functions import spark_partition_id

    set_by_user = session.conf.get("spark.default.parallelism", None)
    if set_by_user is not None:
        return int(set_by_user)
    if found := _LOCAL.fullmatch(master_of(session)):  # saves a job
        return (os.cpu_count() or 1) if found[1] == "*" else int(found[1])
    partitions = session.range(_PROBES).select(spark_partition_id().alias("partition")).toArrow()
    import pyarrow.compute as pc  # the gateway starts without it

    return len(pc.unique(partitions.column("partition")))


def settings_for(master: str, java_options: str = "") -> dict[str, str]:
    """Our settings for Spark. Options of Java are its defaults: the user's come after them and win. Only of the
    garbage collector there may be one."""
    if not is_local(master):
        return _OURS | {_JAVA_OPTIONS: _EXIT}
    java = [f"-Dlog4j2.configurationFile=file:{_log_settings()}", _EXIT, *_SMALL_JAVA]
    if _COLLECTOR.search(java_options):
        java = [one for one in java if not _COLLECTOR.search(one)]
    return _OURS | _SHORT_MEMORY | _PLAIN_FILES | _ON_LOOPBACK | {_JAVA_OPTIONS: " ".join(java)}


def _log_settings() -> str:
    """Java's own lines have the form of ours."""
    name = "log4j2-json.properties" if os.environ.get(LOG_FORMAT) == "json" else "log4j2.properties"
    return str(files("tidings.pipeline.spark").joinpath(name))
