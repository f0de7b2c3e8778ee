"""One Spark session for all tests of a process: to start one takes longer than most tests.

Whoever asks `spark_session` for one in the same process, as the commands do, gets this one. Under xdist each worker
has at most one, and only when one of its tests asks for it."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.services.kafka import connector
from tests.services.postgresql import postgresql
from tidings.pipeline.ingest.kafka_source import JARS, bring_connector
from tidings.pipeline.spark.session import spark_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = spark_session("local[2]", "tidings-tests")
    yield session
    session.stop()


@pytest.fixture
def postgresql_url() -> Iterator[str]:
    """A fresh database on a server of its own."""
    with postgresql() as server:
        yield server.database()


@pytest.fixture
def with_kafka(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    monkeypatch.setenv(JARS, str(connector()))
    bring_connector(spark)
    return spark
