"""The folder of published plans: what the planner writes, and the source and the workers read.

    plans/current.json            which version is the newest, what it covers, in how many shards
    plans/000000000017/shard-0/   a plan (tidings.matching.plan.folder)

For workers on other machines they are uploaded, too (tidings.pipeline.plans.shared_plans).

Every box of a plan carries the positions it counts for, so any version that covers a batch's end gives the same
answer: a batch's version is only a hint, and where that one is gone a later one does. Versions grow with the clock,
so that even a folder that was deleted and made anew never has one name for two plans."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol
from zlib import crc32

from tidings.errors import Explained, PipelineError
from tidings.whole_file import whole_file

POINTER = "current.json"
_REMOVED = "removed-"
_PATIENCE = 20.0  # seconds that a worker waits for the planner to publish again what was deleted under it


class NoPlan(Explained, PipelineError):
    """Neither the version of the plan that a batch asks for is there nor a later one: the place and the version."""

    place: str
    version: int
    template = (
        "no plan {version} or later in {place}: it was deleted, or this worker cannot read it. "
        "Workers on other machines need --plans URI. A pipeline that starts makes the plan again from the journal"
    )


@dataclass(frozen=True, slots=True)
class Published:
    """A version of the plan: every change of the journal up to the position `covers` is in it."""

    version: int
    covers: int
    shards: int
    incarnation: str  # of the journal
    fingerprint: str = ""  # of its entry at `covers`, if it is there: by it a journal that was put back is noticed


def shard_of(subscription: str, shards: int) -> int:
    """Which shard has a subscription. Numbers of shards are powers of two, so that doubling them splits each in two."""
    return crc32(subscription.encode()) % shards


class WorkerPlans(Protocol):
    """What the source and the workers ask for."""

    def newest(self) -> Published | None: ...

    def usable(self, version: int, shard: int, shards: int) -> list[Path]: ...

    def drop(self, folder: Path) -> None: ...


class Uploads(Protocol):
    """Where plans are published for other machines."""

    def publish(self, plans: Plans, published: Published) -> None: ...

    def newest(self) -> Published | None: ...

    def sweep(self, kept: list[int]) -> None: ...

    def for_workers(self) -> WorkerPlans: ...


class Plans:
    """A folder of this machine; with `uploads` also a location that other machines reach."""

    def __init__(self, folder: Path, uploads: Uploads | None = None) -> None:
        self.folder = folder
        self.uploads = uploads

    def __str__(self) -> str:
        return str(self.folder)

    def for_workers(self) -> WorkerPlans:
        """What goes to workers, wherever they are."""
        return self if self.uploads is None else self.uploads.for_workers()

    def newest(self) -> Published | None:
        """What was published last; None when nothing was, or it is gone."""
        try:
            return read_pointer((self.folder / POINTER).read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None

    def path(self, version: int, shard: int) -> Path:
        return self.folder / f"{version:012}" / f"shard-{shard}"

    def exists(self, published: Published) -> bool:
        return all(self.path(published.version, shard).is_dir() for shard in range(published.shards)) and (
            self.uploads is None or self.uploads.newest() == published
        )

    def next_version(self, now: int) -> int:
        """Greater than all before it; `now` in milliseconds."""
        known = (self.newest(), self.uploads.newest() if self.uploads else None)
        return max(now, *(one.version + 1 if one else 1 for one in known))

    def publish(self, published: Published) -> None:
        """Readers see the old version or this one, never half."""
        with whole_file(self.folder / POINTER, durable=False) as file:
            file.write(written_pointer(published))
        if self.uploads is not None:
            self.uploads.publish(self, published)

    def usable(self, version: int, shard: int, shards: int) -> list[Path]:
        """The folders in which a worker finds its shard of this version; where that is gone, of a later one. There the
        shard may have been split: then there are several."""
        hinted = self.path(version, shard)
        if hinted.is_dir():
            return [hinted]

        def whole(newest: Published, wanted: list[int]) -> list[Path] | None:
            return [self.path(newest.version, one) for one in wanted] if self.exists(newest) else None

        return later_version(self, str(self.folder), version, shard, shards, whole)

    def drop(self, folder: Path) -> None:
        """Nothing: the planner makes damaged plans again."""

    def sweep(self, before: int) -> None:
        """Removes versions whose successor is below this one: what was the newest until now may be in use. Who has
        one open keeps its pages; who comes later takes a newer one."""
        for left in self.folder.glob(f"{_REMOVED}*"):  # by whoever was killed meanwhile
            shutil.rmtree(left, ignore_errors=True)
        versions = sorted(int(path.name) for path in self.folder.iterdir() if path.is_dir() and path.name.isdigit())
        for version, successor in pairwise(versions):
            if successor < before:
                self.remove(version)
                versions = [one for one in versions if one != version]
        if self.uploads is not None:
            self.uploads.sweep(versions)

    def remove(self, version: int) -> None:
        """At one moment, so that whoever is just opening it can tell that it is gone from that it is damaged."""
        aside = self.folder / f"{_REMOVED}{version:012}"
        with suppress(FileNotFoundError):
            (self.folder / f"{version:012}").rename(aside)
        shutil.rmtree(aside, ignore_errors=True)


def folders_of(plans: WorkerPlans, version: int, shards: int) -> list[Path]:
    """Where a worker finds all shards of this version; where that is gone, those of a later one."""
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline:
        found = [folder for shard in range(shards) for folder in plans.usable(version, shard, shards)]
        if len({folder.parent for folder in found}) == 1:
            return sorted(found)
        newest = plans.newest()  # of the one asked for some shards are gone
        if newest is not None:
            version, shards = newest.version, newest.shards
    raise NoPlan(str(plans), version)


def read_pointer(content: bytes) -> Published | None:
    """None where it is damaged or half written: readers wait for the next."""
    try:
        return Published(**json.loads(content))
    except (ValueError, TypeError):
        return None


def written_pointer(published: Published) -> bytes:
    return json.dumps(asdict(published)).encode()


def later_version(
    plans: WorkerPlans, place: str, version: int, shard: int, shards: int,
    whole: Callable[[Published, list[int]], list[Path] | None],
) -> list[Path]:  # fmt: skip
    """The folders of a shard in the newest version, where the one asked for is gone. The shard may have been split:
    then there are several. `whole` gives the folders of some shards of a version, None where it is not all there. Waits
    for the planner to publish again what was deleted. Raises NoPlan."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        newest = plans.newest()
        if newest is not None and newest.version >= version:
            wanted = [
                other
                for other in range(newest.shards)
                if other % shards == shard or (newest.shards < shards and other == shard)
            ]
            found = whole(newest, wanted)
            if found is not None:
                return found
        if time.monotonic() > deadline:
            raise NoPlan(place, version)
        time.sleep(0.05)
