"""A folder that every machine reaches: by a URI such as `s3a://bucket/plans`, or by a path that all of them mount.

Spark's JVM has Hadoop's file systems, but Python workers do not. pyarrow, which workers have anyway, brings clients for
S3, Azure and Google storage; its client for HDFS needs Hadoop's native library on each machine. What Spark's settings
say of S3 (`spark.hadoop.fs.s3a.…`) is used here too, so that a bucket is described once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard
from urllib.parse import urlsplit

from pyarrow import ArrowException, fs

from tidings.errors import Explained, PipelineError

_S3 = ("s3", "s3a", "s3n")
_S3_SETTINGS = (
    "access.key", "secret.key", "session.token", "endpoint", "endpoint.region", "path.style.access",
    "connection.ssl.enabled",
)  # fmt: skip


class LocationUnusable(Explained, PipelineError):
    """A shared folder cannot be read or written: its URI and the reason."""

    uri: str
    reason: str
    template = "{uri} cannot be used: {reason}"


@dataclass(frozen=True, slots=True)
class Location:
    """`settings` are for its file system and may hold keys; they travel to workers pickled and are never shown."""

    uri: str
    settings: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return self.uri

    def read(self, name: str) -> bytes:
        """Raises FileNotFoundError or LocationUnusable."""
        with self._opened() as (system, root), system.open_input_file(f"{root}/{name}") as file:
            content: bytes = file.read()
            return content

    def write(self, name: str, content: bytes | memoryview) -> None:
        """Replaces what was there. Object stores do so at once; elsewhere a reader may see part of it. Raises
        LocationUnusable."""
        with self._opened() as (system, root):
            path = f"{root}/{name}"
            if system.type_name not in ("s3", "gcs", "abfs"):  # object stores have no folders
                system.create_dir(path.rpartition("/")[0], recursive=True)
            with system.open_output_stream(path) as file:
                file.write(content)

    def names(self) -> list[str]:
        """All files, also in folders."""
        with self._opened() as (system, root):
            found = system.get_file_info(fs.FileSelector(root, allow_not_found=True, recursive=True))
            return [one.path.removeprefix(f"{root}/") for one in found if one.type == fs.FileType.File]

    def delete(self, names: list[str]) -> None:
        with self._opened() as (system, root):
            for name in names:
                system.delete_file(f"{root}/{name}")

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, str]]:
        try:
            yield _file_system(self)
        except FileNotFoundError:
            raise
        except (OSError, ArrowException, ImportError) as problem:
            raise LocationUnusable(self.uri, " ".join(str(problem).split())) from None


def is_uri(text: object) -> TypeGuard[str]:
    """Whether the text names something that is not a file of this machine."""
    return isinstance(text, str) and "://" in text and not text.startswith("file:")


def location_of(uri: str, setting: Callable[[str], str | None]) -> Location:
    """A location by its URI or path; `setting` looks up one of Spark's."""
    if not is_uri(uri):
        return Location(uri if uri.startswith("file:") else Path(uri).absolute().as_uri())
    parts = urlsplit(uri)
    settings = []
    for name in _S3_SETTINGS if parts.scheme in _S3 else ():
        value = setting(f"spark.hadoop.fs.s3a.bucket.{parts.netloc}.{name}") or setting(f"spark.hadoop.fs.s3a.{name}")
        if value is not None:
            settings.append((name, value))
    return Location(uri.rstrip("/"), tuple(settings))


@cache
def _file_system(location: Location) -> tuple[Any, str]:
    """Once in each process: connections are kept."""
    parts = urlsplit(location.uri)
    if parts.scheme in _S3 and (location.settings or parts.scheme != "s3"):
        return _s3(parts.netloc, dict(location.settings)), f"{parts.netloc}{parts.path}".rstrip("/")
    system, path = fs.FileSystem.from_uri(location.uri)
    return system, path.rstrip("/")


def _s3(bucket: str, settings: dict[str, str]) -> Any:
    """Without keys, as Hadoop's client does, by those of the environment, a profile or the machine's role."""
    endpoint = settings.get("endpoint", "")
    encrypted = settings.get("connection.ssl.enabled", "true").lower() != "false"
    options: dict[str, Any] = {
        "access_key": settings.get("access.key"),
        "secret_key": settings.get("secret.key"),
        "session_token": settings.get("session.token"),
        "region": settings.get("endpoint.region"),
        "scheme": urlsplit(endpoint).scheme or ("https" if encrypted else "http"),
        "endpoint_override": endpoint.rpartition("://")[2] or None,
        "force_virtual_addressing": False,
    }
    if not endpoint and options["region"] is None:
        options["region"] = fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(**{name: value for name, value in options.items() if value is not None})
