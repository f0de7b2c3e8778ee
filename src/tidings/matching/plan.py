"""Plans on disk: a matcher's segments as a folder of `.npy` files, written whole or not at all and read by memory map.

    plan/manifest.json            form, format, catalog, every file with its size and checksum plan/spans.npy
    [from, to) by number plan/ids.arrow                subscription ids by number; filters.arrow the canonical texts
    of those that were added singly plan/segment-0/*.npy          one file an array of the index and its bitmaps

A plan is never changed once it has its name. Opening one touches every byte once, to compare the checksums: a damaged
file is refused instead of giving wrong answers."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidings.errors import MatchingError
from tidings.matching.bitmaps import Bitmaps
from tidings.matching.boxes import Axis
from tidings.matching.compiling import kernel
from tidings.matching.default import BoxMatcher
from tidings.matching.dimension import Dimension
from tidings.matching.index import Index
from tidings.matching.segment import Segment
from tidings.schema import json_form
from tidings.schema.domain import Kind

FORM, FORMAT = "tidings-plan", 1


class PlanExists(MatchingError):
    def __init__(self, folder: str) -> None:
        super().__init__(folder)

    def __str__(self) -> str:
        return f"{self.args[0]} exists already; plans are never overwritten, so give the new one another name"


class PlanNotSaved(MatchingError):
    def __init__(self, folder: str, problem: str) -> None:
        super().__init__(folder, problem)

    def __str__(self) -> str:
        return "the plan {} was not saved, and nothing of it was left behind: {}".format(*self.args)


class UnusablePlan(MatchingError):
    """A folder that is no plan, is of another format, or is damaged: the folder, the file and what is wrong."""

    def __init__(self, folder: str, file: str, problem: str) -> None:
        super().__init__(folder, file, problem)

    def __str__(self) -> str:
        folder, file, problem = self.args
        return f"{folder} cannot be used as a plan: {file} {problem}; save it again from the subscriptions"


def save_plan(matcher: BoxMatcher, folder: Path) -> None:
    """Writes everything beside the final place, then gives it its name."""
    if folder.exists():
        raise PlanExists(str(folder))
    hidden = folder.parent / f".{folder.name}.{uuid.uuid4().hex}"
    try:
        hidden.mkdir(parents=True)
        _write(matcher, hidden)
        os.rename(hidden, folder)
        _sync(folder.parent)
    except OSError as problem:
        shutil.rmtree(hidden, ignore_errors=True)
        raise PlanNotSaved(str(folder), problem.strerror or str(problem)) from None
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise


def open_plan(folder: Path, threads: int | None = None) -> BoxMatcher:
    """A matcher over the plan's files; raises UnusablePlan rather than reading anything wrongly."""
    manifest = _manifest(folder)
    for name, (size, checksum) in manifest["files"].items():
        _check(folder, name, size, checksum)
    try:
        catalog = json_form.read(manifest["catalog"])
        segments = [_segment(folder / name, meta) for name, meta in manifest["segments"].items()]
        spans = np.load(folder / "spans.npy", mmap_mode="r")
        ids = _strings(folder / "ids.arrow").column("id").combine_chunks()
        filters = _strings(folder / "filters.arrow")
    except (KeyError, ValueError, TypeError, OSError) as problem:
        raise UnusablePlan(str(folder), "manifest.json", f"does not fit its files ({problem})") from None
    return BoxMatcher.restored(catalog, segments, ids, spans, filters, threads)


def _write(matcher: BoxMatcher, folder: Path) -> None:
    segments: dict[str, Any] = {}
    for place, segment in enumerate(matcher.settled_segments()):
        name = f"segment-{place}"
        (folder / name).mkdir()
        for part, arrays in (("index", segment.index), ("bitmaps", segment.bitmaps)):
            for field, array in arrays._asdict().items():
                np.save(folder / name / f"{part}.{field}.npy", array)
        segments[name] = _described(segment, folder / name)
    np.save(folder / "spans.npy", np.stack([matcher.spans.start, matcher.spans.stop]))
    _write_strings(folder / "ids.arrow", {"id": pa.array(list(matcher.spans.ids), pa.string())})
    numbers, texts = matcher.filter_texts()
    _write_strings(
        folder / "filters.arrow",
        {"number": pa.array(numbers, pa.int32()), "filter": pa.array(texts, pa.string())},
    )
    files = {
        path.relative_to(folder).as_posix(): [path.stat().st_size, f"{_checksum(path):016x}"]
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    manifest = {
        "form": FORM,
        "format": FORMAT,
        "catalog": json_form.write(matcher.catalog),
        "segments": segments,
        "files": files,
    }
    body = json.dumps(manifest)  # in the order written: the order of a hierarchy's tree is its numbering
    sealed = {"checksum": f"{checksum_of(np.frombuffer(body.encode(), np.uint8)):016x}", "manifest": manifest}
    (folder / "manifest.json").write_text(json.dumps(sealed))
    for path in folder.rglob("*"):
        _sync(path)


def _described(segment: Segment, folder: Path) -> dict[str, Any]:
    """What a segment is besides its arrays; keys of dimensions go to files of their own."""
    dimensions = []
    for place, dimension in enumerate(segment.dimensions):
        strings = isinstance(dimension.keys, list)
        if strings:
            _write_strings(folder / f"keys-{place}.arrow", {"key": pa.array(dimension.keys, pa.string())})
        elif not dimension.given:
            np.save(folder / f"keys-{place}.npy", dimension.keys)
        dimensions.append(
            {
                "attribute": dimension.axis.attribute,
                "role": dimension.axis.role,
                "kind": str(dimension.kind),
                "only_points": dimension.only_points,
                "keys": "strings" if strings else "given" if dimension.given else "numbers",
            }
        )
    return {
        "dimensions": dimensions,
        "relations": [list(pair) for pair in segment.relations],
        "numbers": [segment.first_number, segment.last_number],
        "repeats": segment.repeats,
    }


def _segment(folder: Path, meta: dict[str, Any]) -> Segment:
    dimensions = []
    for place, one in enumerate(meta["dimensions"]):
        keys: Any = ()
        if one["keys"] == "strings":
            keys = _strings(folder / f"keys-{place}.arrow").column("key").to_pylist()
        elif one["keys"] == "numbers":
            keys = np.load(folder / f"keys-{place}.npy")
        axis = Axis(one["attribute"], one["role"])
        dimensions.append(Dimension(axis, Kind(one["kind"]), keys, one["only_points"]))
    first, last = meta["numbers"]
    return Segment(
        tuple(dimensions),
        tuple((left, right) for left, right in meta["relations"]),
        Index(*(_mapped(folder / f"index.{field}.npy") for field in Index._fields)),
        Bitmaps(*(_mapped(folder / f"bitmaps.{field}.npy") for field in Bitmaps._fields)),
        first,
        last,
        meta["repeats"],
    )


def _mapped(path: Path) -> npt.NDArray[Any]:
    """The array in the file's own pages, shared by all who read it."""
    mapped: npt.NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
    return mapped


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        sealed = json.loads((folder / "manifest.json").read_text())
        manifest = sealed["manifest"]
        body = json.dumps(manifest)
        form, version = manifest["form"], manifest["format"]
    except FileNotFoundError:
        raise UnusablePlan(str(folder), "manifest.json", "is missing") from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise UnusablePlan(str(folder), "manifest.json", f"cannot be read ({problem})") from None
    if form != FORM or version != FORMAT:
        raise UnusablePlan(str(folder), "manifest.json", f"says {form} {version}, this release reads {FORM} {FORMAT}")
    if f"{checksum_of(np.frombuffer(body.encode(), np.uint8)):016x}" != sealed["checksum"]:
        raise UnusablePlan(str(folder), "manifest.json", "is damaged (its checksum differs)")
    found: dict[str, Any] = manifest
    return found


def _check(folder: Path, name: str, size: int, checksum: str) -> None:
    path = folder / name
    if not path.is_file():
        raise UnusablePlan(str(folder), name, "is missing")
    if path.stat().st_size != size:
        raise UnusablePlan(str(folder), name, f"has {path.stat().st_size:,} bytes instead of {size:,}")
    if f"{_checksum(path):016x}" != checksum:
        raise UnusablePlan(str(folder), name, "is damaged (its checksum differs)")


def _checksum(path: Path) -> int:
    if not path.stat().st_size:
        return 0
    return int(checksum_of(np.memmap(path, np.uint8, mode="r").view(np.ndarray)))


def checksum_of(data: npt.NDArray[np.uint8]) -> int:
    whole = len(data) // 32 * 32
    tail = np.zeros(32, np.uint8)
    tail[: len(data) - whole] = data[whole:]
    state = np.array([len(data), 2, 3, 4], np.uint64)
    fold(data[:whole].view(np.uint64), state)
    fold(tail.view(np.uint64), state)
    return int(state[0] ^ state[1] ^ state[2] ^ state[3])


@kernel
def fold(words: Any, state: Any) -> None:
    """Stirs words into four lanes, so that the processor need not wait for one multiplication before the next
    (measured: about 10 GB/s; zlib's crc32 1 GB/s)."""
    for i in range(0, len(words), 4):
        for lane in range(4):
            h = (state[lane] ^ words[i + lane]) * np.uint64(0x9E3779B97F4A7C15)
            state[lane] = h ^ (h >> np.uint64(29))


def _write_strings(path: Path, columns: dict[str, Any]) -> None:
    table = pa.table(columns)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def _strings(path: Path) -> Any:
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
