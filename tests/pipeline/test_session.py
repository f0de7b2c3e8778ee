"""Sessions that we make, sessions that others made, and what is said where Spark cannot start."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tidings.pipeline.spark.session import (
    NoJava,
    OldJava,
    check_java,
    is_connect,
    is_local,
    master_of,
    parallelism,
    settings_for,
)


def java(folder: Path, says: str, code: int = 0) -> str:
    (folder / "bin").mkdir(parents=True)
    program = folder / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\nexit {code}\n")
    program.chmod(0o755)
    return str(folder)


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoJava, match="apt-get install"):
        check_java()


def test_java_home_that_leads_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(NoJava, match="does not run"):
        check_java()


@pytest.mark.parametrize(
    ("says", "version"),
    [('openjdk version "11.0.2" 2019-01-15', 11), ('java version "1.8.0_401"', 8), ("something else", 0)],
)
def test_old_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str, version: int) -> None:
    monkeypatch.setenv("JAVA_HOME", java(tmp_path, says))
    with pytest.raises(OldJava, match=f"is version {version}"):
        check_java()


@pytest.mark.parametrize("says", ['openjdk version "17.0.15" 2025-04-15', 'openjdk version "21" 2023-09-19'])
def test_java_that_will_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, says: str) -> None:
    monkeypatch.setenv("JAVA_HOME", java(tmp_path, says))
    check_java()


def test_a_cluster_keeps_its_own_settings() -> None:
    ours = settings_for("spark://host:7077")
    for name in (
        "spark.ui.enabled",
        "spark.sql.shuffle.partitions",
        "spark.hadoop.fs.file.impl",
    ):
        assert name in settings_for("local[4]")
        assert name not in ours
    assert ours["spark.sql.session.timeZone"] == "UTC"


@pytest.mark.parametrize("master", ["local[2]", "spark://host:7077", "yarn"])
def test_java_exits_when_it_is_out_of_memory(master: str) -> None:
    """Whatever options a user gives: ours are defaults, which Spark puts before them."""
    ours = settings_for(master, "-XX:+UseG1GC -Dmine=1")
    assert "-XX:+ExitOnOutOfMemoryError" in ours["spark.driver.defaultJavaOptions"].split()
    assert "spark.driver.extraJavaOptions" not in ours


def test_there_is_one_collector() -> None:
    """Java does not start with two."""
    ours = [settings_for("local[2]", given)["spark.driver.defaultJavaOptions"] for given in ("-Dx=1", "-XX:+UseZGC")]
    assert ["-XX:+UseSerialGC" in one for one in ours] == [True, False]


@pytest.mark.slow
def test_a_users_options_of_java_come_after_ours() -> None:
    program = """
from tidings.pipeline.spark.session import spark_session
session = spark_session("local[1]", settings={"spark.driver.extraJavaOptions": "-Dmine=1 -XX:+UseParallelGC"})
print(*session._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    given = done.stdout.split()
    assert given.index("-XX:+ExitOnOutOfMemoryError") < given.index("-Dmine=1"), done.stderr


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("local[*]", True), ("local[2,3]", True), ("local-cluster[2,1,1024]", False), ("yarn", False)],
)
def test_local(master: str, local: bool) -> None:
    assert is_local(master) is local


def test_a_session_is_asked_without_a_context(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (master_of(spark), is_connect(spark), parallelism(spark)) == ("local[2]", False, 2)
    monkeypatch.setattr("tidings.pipeline.spark.session.master_of", lambda _: "yarn")
    assert parallelism(spark) == 2, "by the partitions of a range"


@pytest.mark.slow
def test_the_python_that_workers_run_is_the_users_choice(tmp_path: Path) -> None:
    """PYSPARK_PYTHON is a program that takes a note and goes on as the real one."""
    chosen = tmp_path / "python"
    chosen.write_text(f'#!/bin/sh\ntouch {tmp_path}/chosen\nexec {sys.executable} "$@"\n')
    chosen.chmod(0o755)
    program = """
from tidings.pipeline.spark.session import spark_session
session = spark_session("local[1]")
print(session.range(3).mapInArrow(lambda batches: batches, "id long").count())
"""
    environ = os.environ | {"PYSPARK_PYTHON": str(chosen)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environ, check=False)
    assert done.stdout.strip() == "3", done.stderr
    assert (tmp_path / "chosen").exists()
