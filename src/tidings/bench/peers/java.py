"""Peers in Java, driven by our programs under `bench/peers`: libraries by Maven, compiled once, asked over a pipe."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import ClassVar

import numpy as np

from tidings.bench.grid import NOTHING, Grid
from tidings.bench.results import Counts
from tidings.errors import TidingsError

FOLDER = Path(__file__).parents[4] / "bench" / "peers"
_SECONDS = 300  # to fetch and compile, once
_HEAP = "-Xmx4g"


class PeerFailed(TidingsError):
    def __init__(self, name: str, said: str) -> None:
        super().__init__(name, said)

    def __str__(self) -> str:
        return "{} ended: {}".format(*self.args)


class JavaPeer:
    name: str
    what: str
    program: ClassVar[str]
    most: int | None
    extrapolated = False

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.process: subprocess.Popen[str] | None = None

    def unavailable(self) -> str | None:
        return prepared_java()

    def unable(self, grid: Grid) -> str | None:
        return None

    def load(self, grid: Grid) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="tidings-peer-")
        file = Path(self.folder.name) / "grid"
        sizes = np.array([len(grid.attributes), grid.subscriptions, grid.events.shape[1]], np.int32)
        with file.open("wb") as out:
            for part in (sizes, grid.low, grid.high, grid.unequal, grid.events):
                out.write(np.ascontiguousarray(part, "<i4").tobytes())
        command = ["java", _HEAP, f"-XX:ActiveProcessorCount={self.threads}", "-XX:+UseSerialGC"]
        command += ["-cp", f"{FOLDER / 'classes'}:{FOLDER / 'lib'}/*", self.program, str(file)]
        self.errors = (Path(self.folder.name) / "errors").open("w+")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True
        )
        self._line()

    def counts(self, first: int, last: int) -> Counts:
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(f"{first} {last}\n")
        self.process.stdin.flush()
        return np.array(self._line().split(), np.int64)

    def close(self) -> None:
        if self.process is None:
            return
        self.process.kill()
        self.process.communicate()
        self.errors.close()
        self.folder.cleanup()
        self.process = None

    def _line(self) -> str:
        assert self.process is not None
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.errors.seek(0)
            raise PeerFailed(self.name, next(iter(self.errors.read().splitlines()), "without a word"))
        return line


class EventRuler(JavaPeer):
    name = "event-ruler"
    what = "AWS event-ruler"
    program = "EventRuler"
    most = 2_000  # ranges multiply its states: of the thesis's filters it builds 60 a second at 3,000, and ever fewer

    def unable(self, grid: Grid) -> str | None:
        for place in grid.excluding:
            named = grid.unequal[place] != NOTHING
            if ((grid.low[place] > 0) & named).any():
                return f"cannot express a range and != on one attribute ({grid.attributes[place]!r})"
        return None


class LuceneMonitor(JavaPeer):
    name = "lucene-monitor"
    what = "Lucene Monitor"
    program = "LuceneMonitor"
    most = 20_000


def prepared_java() -> str | None:
    """Fetches the libraries and compiles the programs where that is still to be done. Returns what is missing or went
    wrong."""
    pom = FOLDER / "pom.xml"
    if not pom.exists():
        return "its program is not here: it comes with the source, under bench/peers"
    for command in ("java", "javac", "mvn"):
        if shutil.which(command) is None:
            return f"not available: needs {command}"
    steps = []
    wanted = re.findall(r"<artifactId>(.+?)</artifactId>\s*<version>(.+?)</version>\s*</dep", pom.read_text())
    if any(not (FOLDER / "lib" / f"{name}-{version}.jar").exists() for name, version in wanted):
        steps.append(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"])
    sources = [path.name for path in sorted(FOLDER.glob("*.java"))]
    compiled = FOLDER / "classes" / "Grid.class"
    if not compiled.exists() or any((FOLDER / name).stat().st_mtime > compiled.stat().st_mtime for name in sources):
        steps.append(["javac", "-d", "classes", "-cp", "lib/*", *sources])
    for step in steps:
        try:
            subprocess.run(step, cwd=FOLDER, check=True, capture_output=True, text=True, timeout=_SECONDS)
        except (OSError, subprocess.SubprocessError):
            return f"not available: `{' '.join(step[:3])} …` failed in bench/peers"
    return None
