"""Plans for workers on other machines: the planner uploads what is new, workers fetch it once and map it.

    URI/current.json                     the newest version (tidings.pipeline.plans.plans)
    URI/000000000017/shard-0.json        the manifest of a shard
    URI/pieces/CHECKSUM-SIZE.arrow       its files, under their content: versions share them

Fetched plans are in a folder of this user's cache, one for all workers of a machine. There a piece is a file, and a
version links those it has: files with no link left are removed. No rename is needed at the URI: of a pointer that is
half written a reader sees that it is no JSON, and waits for the next."""

from __future__ import annotations

import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
import numpy as np

from tidings.kernels.cache_folder import private_folder
from tidings.matching.plan.checksum import checksum_of
from tidings.matching.plan.saved_files import UnusablePlan
from tidings.pipeline.plans.plans import POINTER, Plans, Published, later_version, read_pointer, written_pointer
from tidings.pipeline.spark.location import Location, LocationUnusable

_STALE = 0.1  # seconds for which a pointer is not read again
_BRIDGED = 60.0  # seconds without an answer from the location for which the last pointer will do
_KEPT = 120.0  # seconds for which fetched versions are kept
_LOOK = 10.0  # seconds between two looks whether the location still has what was published
_SWEEP = 60.0  # seconds between two looks for what can be removed at the location
_MANIFEST = "manifest.json"


class Manifest(msgspec.Struct):
    """Of a plan's manifest its files: name, size and checksum."""

    files: dict[str, tuple[int, str]]

    def pieces(self) -> dict[str, str]:
        """By name, where its content is."""
        return {name: f"pieces/{checksum}-{size}.arrow" for name, (size, checksum) in self.files.items()}


class _Sealed(msgspec.Struct):
    manifest: Manifest


class PlanUploads:
    """The planner's side. Only one planner writes to a location."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self._pieces: dict[str, set[str]] = {}  # by manifest, of those at the location
        self._present: set[str] | None = None  # pieces at the location; None: not looked at yet
        self._swept = time.monotonic()
        self._newest: Published | None = None  # as the pointer said when it was last looked at
        self._looked = 0.0

    def publish(self, plans: Plans, published: Published) -> None:
        """Raises LocationUnusable."""
        if self._present is None:
            self._look()
        assert self._present is not None
        for shard in range(published.shards):
            folder = plans.path(published.version, shard)
            content = (folder / _MANIFEST).read_bytes()
            pieces = _manifest(content).pieces()
            for name, piece in pieces.items():
                if piece not in self._present:
                    self.location.write(piece, memoryview(_mapped(folder / name)))
                    self._present.add(piece)
            manifest = _at(published.version, shard)
            self.location.write(manifest, content)
            self._pieces[manifest] = set(pieces.values())
        self.location.write(POINTER, written_pointer(published))
        self._newest, self._looked = published, time.monotonic()

    def newest(self) -> Published | None:
        """What workers find there, by a look now and then. Raises LocationUnusable."""
        if self._newest is None or time.monotonic() - self._looked > _LOOK:
            try:
                self._newest = read_pointer(self.location.read(POINTER))
            except FileNotFoundError:  # all of it may have been deleted
                self._newest = self._present = None
            self._looked = time.monotonic()
        return self._newest

    def for_workers(self) -> FetchedPlans:
        return FetchedPlans(self.location)

    def sweep(self, kept: list[int]) -> None:
        """Removes versions that are not kept, and what only they needed."""
        if self._present is None or time.monotonic() - self._swept < _SWEEP:
            return
        self._swept = time.monotonic()
        gone = [name for name in self._pieces if int(name.partition("/")[0]) not in kept]
        for name in gone:
            del self._pieces[name]
        unused = self._present - set().union(*self._pieces.values())
        self._present -= unused
        self.location.delete([*gone, *unused])

    def _look(self) -> None:
        """What an earlier planner left."""
        names = self.location.names()
        self._present = {name for name in names if name.startswith("pieces/")}
        for name in names:
            if name.endswith(".json") and name.partition("/")[0].isdigit():
                self._pieces[name] = set(_manifest(self.location.read(name)).pieces().values())


@dataclass(frozen=True, slots=True)
class FetchedPlans:
    """The workers' side, with what they ask of `Plans`. Spark ships it pickled."""

    location: Location

    def __str__(self) -> str:
        return str(self.location)

    def newest(self) -> Published | None:
        """What was published last; None when nothing was, or it is being replaced."""
        known = _pointers.get(self.location)
        now = time.monotonic()
        if known is not None and now - known[0] < _STALE:
            return known[1]
        try:
            found = read_pointer(self.location.read(POINTER))
        except FileNotFoundError:
            found = None
        except LocationUnusable:  # an old pointer is right, too: it covers less
            if known is None or now - known[0] > _BRIDGED:
                raise
            return known[1]
        _pointers[self.location] = (now, found)
        return found

    def usable(self, version: int, shard: int, shards: int) -> list[Path]:
        """As `Plans.usable`: the folders of this machine in which the shard is, or those of a later version."""
        hinted = self._fetched(version, shard)
        if hinted is not None:
            return [hinted]

        def whole(newest: Published, wanted: list[int]) -> list[Path] | None:
            found = [self._fetched(newest.version, one) for one in wanted]
            return None if None in found else [folder for folder in found if folder is not None]

        return later_version(self, str(self.location), version, shard, shards, whole)

    def drop(self, folder: Path) -> None:
        """Removes a fetched shard whose files turned out to be damaged, so that it is fetched again."""
        with _locked(self._cache()):
            for piece in _manifest((folder / _MANIFEST).read_bytes()).pieces().values():
                (self._cache() / piece).unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)

    def _cache(self) -> Path:
        return private_folder(f"plans-{crc32(self.location.uri.encode()):08x}")

    def _fetched(self, version: int, shard: int) -> Path | None:
        """The folder of a shard, fetched unless it is here; None where the location has it no longer."""
        cache = self._cache()
        target = cache / f"{version:012}" / f"shard-{shard}"
        if target.is_dir():
            return target
        with _locked(cache):
            if target.is_dir():  # another worker has fetched it meanwhile
                return target
            hidden = cache / f".{uuid.uuid4().hex}"
            hidden.mkdir()
            try:
                content = self.location.read(_at(version, shard))
                for name, piece in _manifest(content).pieces().items():
                    self._fetch(cache, piece)
                    os.link(cache / piece, hidden / name)
                (hidden / _MANIFEST).write_bytes(content)
                target.parent.mkdir(exist_ok=True)
                hidden.rename(target)
            except FileNotFoundError:
                return None
            finally:
                shutil.rmtree(hidden, ignore_errors=True)
                _sweep(cache, version)
        return target

    def _fetch(self, cache: Path, piece: str) -> None:
        """Raises UnusablePlan where the location's file is not what its name says."""
        if (cache / piece).is_file():
            return
        content = self.location.read(piece)
        name = piece.removeprefix("pieces/")
        if f"{checksum_of(np.frombuffer(content, np.uint8))}-{len(content)}.arrow" != name:
            raise UnusablePlan(str(self.location), name, "is damaged (its checksum differs)")
        (cache / "pieces").mkdir(exist_ok=True)
        partial = cache / "pieces" / f".{uuid.uuid4().hex}"
        try:
            partial.write_bytes(content)
            partial.rename(cache / piece)
        finally:
            partial.unlink(missing_ok=True)


_pointers: dict[Location, tuple[float, Published | None]] = {}  # and when they were read


def _at(version: int, shard: int) -> str:
    return f"{version:012}/shard-{shard}.json"


def _manifest(content: bytes) -> Manifest:
    return msgspec.json.decode(content, type=_Sealed).manifest


def _mapped(path: Path) -> Any:
    return np.memmap(path, np.uint8, mode="r")


@contextmanager
def _locked(cache: Path) -> Iterator[None]:
    """One worker of this machine at a time."""
    with open(cache / "lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _sweep(cache: Path, newest: int) -> None:
    """Removes versions that were replaced a while ago, and pieces that no version has. Readers that have them open go
    on using them."""
    for folder in cache.iterdir():
        if folder.name.isdigit() and int(folder.name) < newest and time.time() - folder.stat().st_mtime > _KEPT:
            shutil.rmtree(folder, ignore_errors=True)
    for piece in cache.glob("pieces/*"):
        if piece.stat().st_nlink == 1:
            piece.unlink(missing_ok=True)
