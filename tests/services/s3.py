"""An S3 server of one's own: moto's, on loopback, in a process of its own, ended by its process id."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyarrow import fs

_WAIT = 60  # seconds for the server to answer
KEY, SECRET = "tidings", "not-a-secret-of-anybody"


@dataclass(frozen=True)
class Bucket:
    """`settings` are what Spark is told to reach it."""

    name: str
    endpoint: str

    @property
    def uri(self) -> str:
        return f"s3a://{self.name}"

    @property
    def settings(self) -> dict[str, str]:
        return {
            "spark.hadoop.fs.s3a.endpoint": self.endpoint,
            "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
            "spark.hadoop.fs.s3a.access.key": KEY,
            "spark.hadoop.fs.s3a.secret.key": SECRET,
            "spark.hadoop.fs.s3a.path.style.access": "true",
        }

    def file_system(self) -> fs.S3FileSystem:
        return fs.S3FileSystem(
            access_key=KEY, secret_key=SECRET, region="us-east-1", endpoint_override=self.endpoint,
            allow_bucket_creation=True,
        )  # fmt: skip


@contextmanager
def s3_bucket(name: str = "tidings", host: str = "127.0.0.1") -> Iterator[Bucket]:
    """An empty bucket; it goes with the block."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "moto.server", "-H", host, "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        bucket = Bucket(name, f"http://{host}:{port}")
        _until_listening(host, port, process)
        bucket.file_system().create_dir(name)
        yield bucket
    finally:
        process.kill()
        process.wait()


def _until_listening(host: str, port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _WAIT
    while True:
        try:
            socket.create_connection((host, port), timeout=1).close()
            return
        except OSError:
            assert process.poll() is None, "the S3 server ended; is moto[server] installed?"
            assert time.monotonic() < deadline, "the S3 server never listened"
            time.sleep(0.1)
