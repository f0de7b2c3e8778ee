"""The folder of published plans: what the planner writes, and the source and the workers read.

    plans/current.json            which version is the newest, what it covers, in how many shards
    plans/000000000017/shard-0/   a plan (tidings.matching.plan.folder)

Every box of a plan carries the positions it counts for, so any version that covers a batch's end gives the same
answer: a batch's version is only a hint, and where that one is gone a later one does. Versions grow with the clock,
so that even a folder that was deleted and made anew never has one name for two plans."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from zlib import crc32

from tidings.errors import PipelineError
from tidings.whole_file import whole_file

_POINTER = "current.json"
_REMOVED = "removed-"
_PATIENCE = 20.0  # seconds that a worker waits for the planner to publish again what was deleted under it


class NoPlan(PipelineError):
    """Neither the version of the plan that a batch asks for is there nor a later one: the folder and the version."""

    def __init__(self, folder: str, version: int) -> None:
        super().__init__(folder, version)

    def __str__(self) -> str:
        return (
            "there is no plan {1} nor a later one in {0}: it was deleted, or this worker does not share the path with "
            "the planner. A pipeline that starts anew makes the plan again from the journal"
        ).format(*self.args)


@dataclass(frozen=True, slots=True)
class Published:
    """A version of the plan: every change of the journal up to the position `covers` is in it."""

    version: int
    covers: int
    shards: int
    journal: str


def shard_of(subscription: str, shards: int) -> int:
    """Which shard has a subscription. Numbers of shards are powers of two, so that doubling them splits each in two."""
    return crc32(subscription.encode()) % shards


class Plans:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def newest(self) -> Published | None:
        """What was published last; None when nothing was, or it is gone."""
        try:
            return Published(**json.loads((self.folder / _POINTER).read_text()))
        except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
            return None

    def path(self, version: int, shard: int) -> Path:
        return self.folder / f"{version:012}" / f"shard-{shard}"

    def exists(self, published: Published) -> bool:
        return all(self.path(published.version, shard).is_dir() for shard in range(published.shards))

    def next_version(self) -> int:
        """Greater than all before it."""
        newest = self.newest()
        return max(time.time_ns() // 1_000_000, newest.version + 1 if newest else 1)

    def publish(self, published: Published) -> None:
        """Readers see the old version or this one, never half."""
        with whole_file(self.folder / _POINTER, durable=False) as file:
            file.write(json.dumps(asdict(published)).encode())

    def usable(self, version: int, shard: int, shards: int) -> list[Path]:
        """The folders in which a worker finds its shard of this version; where that is gone, of a later one. There the
        shard may have been split: then there are several."""
        hinted = self.path(version, shard)
        if hinted.is_dir():
            return [hinted]
        deadline = time.monotonic() + _PATIENCE
        while True:
            newest = self.newest()
            if newest is not None and newest.version >= version and self.exists(newest):
                return [
                    self.path(newest.version, other)
                    for other in range(newest.shards)
                    if other % shards == shard or (newest.shards < shards and other == shard)
                ]
            if time.monotonic() > deadline:
                raise NoPlan(str(self.folder), version)
            time.sleep(0.05)

    def sweep(self, before: int) -> None:
        """Removes versions whose successor is below this one: what was the newest until now may be in use. Who has
        one open keeps its pages; who comes later takes a newer one."""
        for left in self.folder.glob(f"{_REMOVED}*"):  # by whoever was killed meanwhile
            shutil.rmtree(left, ignore_errors=True)
        versions = sorted(int(path.name) for path in self.folder.iterdir() if path.is_dir() and path.name.isdigit())
        for version, successor in pairwise(versions):
            if successor < before:
                self.remove(version)

    def remove(self, version: int) -> None:
        """At one moment, so that whoever is just opening it can tell that it is gone from that it is damaged."""
        aside = self.folder / f"{_REMOVED}{version:012}"
        with suppress(FileNotFoundError):
            (self.folder / f"{version:012}").rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
