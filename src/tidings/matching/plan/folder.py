"""Plans on disk: a matcher's segments as a folder of Arrow files, written atomically and memory-mapped.

    plan/manifest.json       form, format, versions of what cuts texts, catalog, the pieces in order, every file with
                             its size and checksum
    plan/segment-4.arrow     a segment: its index, its bitmaps, the keys of its dimensions
    plan/numbers-0.arrow     by number the subscription's id, where its span begins, the filter's text if it has one
    plan/closings-7.arrow    numbers whose span was closed, and where it ended

A plan never changes once it has its name. The next one shares the unchanged files. Opening a plan reads every byte once
to verify the checksums: a damaged file is refused instead of giving wrong answers."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tidings.errors import MatchingError
from tidings.language.stems import text_versions
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.index.thresholds import DEFAULTS, Thresholds
from tidings.matching.plan.checksum import checksum_of
from tidings.matching.plan.chunks import Chunk
from tidings.matching.plan.saved_files import Piece, SavedFile, UnusablePlan, bytes_of, saved_file, sync
from tidings.matching.plan.segment_file import segment_of
from tidings.schema import json_form

__all__ = ["PlanExists", "PlanNotSaved", "UnusablePlan", "open_plan", "replace_plan", "save_plan"]

FORM, FORMAT = "tidings-plan", 8


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


def save_plan(matcher: BoxMatcher, folder: Path, base: Path | None = None) -> None:
    """Writes everything to a temporary folder, then renames it. Pieces that have not changed since the matcher was
    saved in `base`, or opened from it, are taken from there; if the base is missing or was changed, they are written
    again."""
    if folder.exists():
        raise PlanExists(str(folder))
    hidden = folder.parent / f".{folder.name}.{uuid.uuid4().hex}"
    try:
        hidden.mkdir(parents=True)
        files = _write(matcher, hidden, base)
        os.rename(hidden, folder)
        sync(folder.parent)
    except OSError as problem:
        shutil.rmtree(hidden, ignore_errors=True)
        raise PlanNotSaved(str(folder), problem.strerror or str(problem)) from None
    except BaseException:
        shutil.rmtree(hidden, ignore_errors=True)
        raise
    matcher.saved.know(files)


def replace_plan(matcher: BoxMatcher, folder: Path) -> None:
    """Like `save_plan`, but replaces an existing plan. Readers that have the old one open can go on using it."""
    if not folder.exists():
        return save_plan(matcher, folder)
    if not (folder / "manifest.json").is_file():
        raise PlanExists(str(folder))  # it exists but is not a plan
    new, old = (folder.with_name(f".{folder.name}.{uuid.uuid4().hex}") for _ in range(2))
    save_plan(matcher, new)
    try:
        os.rename(folder, old)
        os.rename(new, folder)
        sync(folder.parent)
    except OSError as problem:
        raise PlanNotSaved(str(folder), problem.strerror or str(problem)) from None
    shutil.rmtree(old, ignore_errors=True)


def open_plan(folder: Path, threads: int | None = None, thresholds: Thresholds = DEFAULTS) -> BoxMatcher:
    """A matcher over the plan's files; raises UnusablePlan rather than misread anything."""
    manifest = _manifest(folder)
    try:
        catalog = json_form.read(manifest["catalog"])
        rows = {name: _rows(folder, name, *expected) for name, expected in manifest["files"].items()}
        segments = [(segment_of(rows[name], thresholds), latest_start) for name, latest_start in manifest["segments"]]
        numbers, closings = (_chunks([rows[name] for name in manifest[part]]) for part in ("numbers", "closings"))
    except (KeyError, ValueError, TypeError, OSError) as problem:
        raise UnusablePlan(str(folder), "manifest.json", f"does not fit its files ({problem})") from None
    matcher = BoxMatcher.restored(catalog, segments, numbers, closings, threads, thresholds)
    pieces: list[Piece] = [*(segment for segment, _ in segments), *numbers, *closings]
    names = [name for name, _ in manifest["segments"]] + manifest["numbers"] + manifest["closings"]
    known = zip(pieces, names, strict=True)
    matcher.saved.know({piece: saved_file(folder / name, manifest["files"][name][1]) for piece, name in known})
    return matcher


def _write(matcher: BoxMatcher, folder: Path, base: Path | None) -> dict[Piece, SavedFile]:
    settled = matcher.settled()
    files: dict[Piece, SavedFile] = {}
    for one in settled.segments:
        files[one.segment] = matcher.saved.put(one.segment, "segment", folder, base)
    for kind, chunks in (("numbers", settled.numbers), ("closings", settled.closings)):
        for chunk in chunks:
            files[chunk] = matcher.saved.put(chunk, kind, folder, base)
    manifest = {
        "form": FORM,
        "format": FORMAT,
        "text": text_versions(),
        "catalog": json_form.write(matcher.catalog),
        "segments": [[files[one.segment].name, one.latest_start] for one in settled.segments],
        "numbers": [files[chunk].name for chunk in settled.numbers],
        "closings": [files[chunk].name for chunk in settled.closings],
        "files": {file.name: [file.size, file.checksum] for file in files.values()},
    }
    sealed = {"checksum": _seal(manifest), "manifest": manifest}
    (folder / "manifest.json").write_text(json.dumps(sealed))
    sync(folder / "manifest.json")
    sync(folder)
    return files


def _seal(manifest: dict[str, Any]) -> str:
    body = json.dumps(manifest)  # in insertion order: the order of a hierarchy's tree is its numbering
    return checksum_of(np.frombuffer(body.encode(), np.uint8))


def _manifest(folder: Path) -> dict[str, Any]:
    try:
        sealed = json.loads((folder / "manifest.json").read_text())
        manifest: dict[str, Any] = sealed["manifest"]
        checksum, seal = sealed["checksum"], _seal(manifest)
        form, version = manifest["form"], manifest["format"]
    except FileNotFoundError:
        raise UnusablePlan(str(folder), "manifest.json", "is missing") from None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise UnusablePlan(str(folder), "manifest.json", f"cannot be read ({problem})") from None
    if form != FORM or version != FORMAT:
        raise UnusablePlan(str(folder), "manifest.json", f"says {form} {version}, this release reads {FORM} {FORMAT}")
    if seal != checksum:
        raise UnusablePlan(str(folder), "manifest.json", "is damaged (its checksum differs)")
    if (made_with := manifest.get("text", "an earlier release")) != text_versions():
        raise UnusablePlan(str(folder), "manifest.json", f"was made with {made_with}, and this is {text_versions()}")
    return manifest


def _rows(folder: Path, name: str, size: int, checksum: str) -> Any:
    """The only record batch of a file; checks that the file is as expected."""
    path = folder / name
    if not path.is_file():
        raise UnusablePlan(str(folder), name, "is missing")
    if path.stat().st_size != size:
        raise UnusablePlan(str(folder), name, f"has {path.stat().st_size:,} bytes instead of {size:,}")
    content = bytes_of(path)
    if checksum_of(content) != checksum:
        raise UnusablePlan(str(folder), name, "is damaged (its checksum differs)")
    return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(content))).get_batch(0)


def _chunks(parts: list[Any]) -> list[Chunk]:
    chunks, first = [], 0
    for rows in parts:
        chunks.append(Chunk(first, rows))
        first += len(rows)
    return chunks
