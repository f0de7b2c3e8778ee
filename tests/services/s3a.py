"""The jars with which Spark reads and writes `s3a://`, from Maven Central, once, into the cache folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pyspark

from tests.services.kafka import CannotFetch, _fetched
from tests.services.missing import missing

_JARS = Path(pyspark.__file__).parent / "jars"
_SDK = "2.35.4"


@cache
def s3a_jars() -> Path:
    """Skips the test where they cannot be had. Hadoop names a bundle of 600 MB; these are the parts that it uses."""
    (client,) = _JARS.glob("hadoop-client-api-*.jar")
    hadoop = client.stem.removeprefix("hadoop-client-api-")
    parts = ("s3", "s3-transfer-manager", "sts", "apache-client", "netty-nio-client")
    packages = [f"org.apache.hadoop:hadoop-aws:{hadoop}!", *(f"software.amazon.awssdk:{part}:{_SDK}" for part in parts)]
    packages.append("software.amazon.s3.analyticsaccelerator:analyticsaccelerator-s3:1.3.0")
    try:
        return _fetched(f"s3a-{hadoop}", tuple(packages), without=_JARS)
    except CannotFetch as unavailable:
        missing(str(unavailable))
