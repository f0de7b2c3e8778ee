"""Peers that match one event per call, each driven by a small program of ours under `bench/peers`.

A program gets a file with the filters and the events, builds its index and says how long that took. Then each round
is a question over a pipe: how long for the first so many events, one after the other, and how many filters each
matched. Its clock runs inside the program, so the pipe costs it nothing."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from tidings.bench.measurement import TookTooLong, time_limit
from tidings.bench.peers.java import FOLDER, PeerFailed, prepared_java
from tidings.bench.results import Counts
from tidings.events import write_event
from tidings.events.event import Event
from tidings.matching.boxes.predicate_table import OPERATORS, PredicateTable
from tidings.schema.domain import Kind

_SECONDS = 900  # to fetch and compile, once
_OPERATORS = {"=", "<", "<=", ">", ">="}


class Round(NamedTuple):
    seconds: float
    counts: Counts

    @property
    def rate(self) -> float:
        return len(self.counts) / self.seconds


class Peer(NamedTuple):
    name: str
    what: str
    ranges: str  # why it is given equality alone; nothing where it takes ranges too
    prepare: Callable[[], str | None]  # fetches and compiles; says why it cannot be run here
    command: tuple[str, ...]


def _prepared_rust() -> str | None:
    if not (FOLDER / "rust" / "Cargo.toml").exists():
        return "its program is not here: it comes with the source, under bench/peers"
    if shutil.which("cargo") is None:
        return "not available: needs cargo"
    try:
        subprocess.run(
            ["cargo", "build", "--release", "--quiet"],
            cwd=FOLDER / "rust", check=True, capture_output=True, timeout=_SECONDS,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return "not available: `cargo build --release` failed in bench/peers/rust"
    return None


_RELEASE = FOLDER / "rust" / "target" / "release"
_JAVA = ("java", "-Xmx4g", "-XX:+UseSerialGC", "-cp", f"{FOLDER / 'classes'}:{FOLDER / 'lib'}/*", "OneEventRuler")
PROGRAMS = {
    "quamina": Peer(
        "quamina",
        "quamina 0.7 (Rust)",
        "equality only: it ends in a panic with 2,000 filters of which half have ranges",
        _prepared_rust,
        (str(_RELEASE / "quamina"),),
    ),
    "event-ruler": Peer(
        "event-ruler",
        "AWS event-ruler 2.1 (Java)",
        "equality only: ranges multiply its states, and 100,000 filters are not built in time",
        prepared_java,
        _JAVA,
    ),
    "a-tree": Peer("a-tree", "a-tree 0.6 (Rust)", "", _prepared_rust, (str(_RELEASE / "atree"),)),
}


def unable(peer: Peer, table: PredicateTable, events: list[Event]) -> str | None:
    """What of a workload the peer cannot express."""
    used = {OPERATORS[place] for place in np.unique(table.operator).tolist()}
    if peer.ranges and used != {"="}:
        return peer.ranges
    if used - _OPERATORS:
        return f"cannot express {' '.join(sorted(used - _OPERATORS))}"
    kinds = {domain.kind for name in table.attributes if (domain := table.catalog.domain_of(name)) is not None}
    if kinds - {Kind.NUMERIC, Kind.STRING}:
        return "only numbers and text are tried"
    if any(len(values) > 1 for event in events for _, values in event.attributes):
        return "an attribute has several values"
    return None


def write_workload(path: Path, table: PredicateTable, events: list[Event]) -> None:
    """What programs read: a header, a line for each filter, a line for each event in Tidings' own form."""
    texts = [bool(words) for words in table.vocabularies]
    named = [[name, "text" if text else "number"] for name, text in zip(table.attributes, texts, strict=True)]
    with path.open("wb") as out:
        out.write(msgspec.json.encode({"attributes": named, "filters": len(table), "events": len(events)}) + b"\n")
        for filter in _filters(table):
            out.write(msgspec.json.encode(filter) + b"\n")
        for event in events:
            out.write(msgspec.json.encode(write_event(event)) + b"\n")


def _filters(table: PredicateTable) -> Iterator[list[tuple[str, str, Any]]]:
    """(attribute, operator, value) of each filter's predicates."""
    columns = zip(table.attribute.tolist(), table.operator.tolist(), table.value.tolist(), strict=True)
    for size in np.diff(table.offsets).tolist():
        filter = []
        for _ in range(size):
            attribute, operator, value = next(columns)
            words = table.vocabularies[attribute]
            shown = words[int(value)] if words else int(value) if value == int(value) else value
            filter.append((table.attributes[attribute], OPERATORS[operator], shown))
        yield filter


class Program:
    """A peer's process, for as long as it is asked."""

    def __init__(self, peer: Peer, workload: Path, limit: float) -> None:
        """Starts it and waits until it has built its index. Raises TookTooLong and PeerFailed."""
        self._peer = peer
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed by `close`)
        self._process = subprocess.Popen(
            [*peer.command, str(workload)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        try:
            with time_limit(limit):
                self.build_s = float(self._answer()["build_s"])
        except (TookTooLong, PeerFailed):
            self.close()
            raise

    def round(self, events: int, seconds: float) -> Round:
        """The first events, as far as the time allows."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{events} {seconds}\n")
        self._process.stdin.flush()
        answer = self._answer()
        return Round(float(answer["seconds"]), np.array(answer["counts"], np.int64))

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            said = (text for text in self._errors.read().splitlines() if text.strip())
            raise PeerFailed(self._peer.name, next(said, "without a word"))
        return msgspec.json.decode(line)
