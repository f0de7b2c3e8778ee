"""How large the newest plan is, by what its planner wrote down: the pointer and the manifests. No array is opened.

For the operator's page and the metrics. A plan that is replaced while it is looked at is looked for once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from tidings.pipeline.plans.plans import Plans, Published


@dataclass(frozen=True, slots=True)
class ShardFigures:
    segments: int
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """`covers` is the last position whose changes are in it; `made` is when, in milliseconds since 1970."""

    version: int
    covers: int
    shards: tuple[ShardFigures, ...]

    @property
    def made(self) -> int:
        return self.version  # versions grow with the clock

    @property
    def segments(self) -> int:
        return sum(one.segments for one in self.shards)

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.shards)


class _Manifest(msgspec.Struct):
    """Of a plan's manifest what is wanted here; the catalog in it may be large and is passed over."""

    segments: list[tuple[str, int]]
    files: dict[str, tuple[int, str]]


class _Sealed(msgspec.Struct):
    manifest: _Manifest


class PlanReader:
    """Reads each version once."""

    def __init__(self, folder: Path) -> None:
        self._plans = Plans(folder)
        self._known: PlanFigures | None = None

    def read(self) -> PlanFigures | None:
        """None where there is no plan here, or none that can be read."""
        for _ in range(2):
            newest = self._plans.newest()
            if newest is None:
                return None
            known = self._known
            if known is not None and (known.version, known.covers) == (newest.version, newest.covers):
                return known
            try:
                shards = tuple(self._shard(newest, number) for number in range(newest.shards))
            except (OSError, msgspec.DecodeError):
                continue
            self._known = PlanFigures(newest.version, newest.covers, shards)
            return self._known
        return None

    def _shard(self, newest: Published, number: int) -> ShardFigures:
        text = (self._plans.path(newest.version, number) / "manifest.json").read_bytes()
        manifest = msgspec.json.decode(text, type=_Sealed).manifest
        return ShardFigures(
            len(manifest.segments), len(manifest.files), sum(size for size, _ in manifest.files.values())
        )
