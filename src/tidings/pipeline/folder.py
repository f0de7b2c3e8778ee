"""A pipeline's data folder: whose it is, and that only one pipeline works in it.

tidings.db          the store, unless another is named
plans/              published plans (tidings.pipeline.plans.plans)
staged/             matches on their way into the store (tidings.pipeline.stream.staging)
checkpoints/NAME/   Spark's checkpoint of each query, with the journal it belongs to, unless they are at a URI
pipeline.lock       held while a pipeline runs
serve.lock          held while a service runs
pipeline.log        what a service's pipeline wrote to its standard error"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from tidings.errors import Explained, PipelineError
from tidings.whole_file import whole_file

_OWNER = "tidings.json"


class FolderInUse(Explained, PipelineError):
    folder: str
    process: str
    template = "a pipeline runs on {folder} already ({who}); stop it, or choose another folder with --data"

    @property
    def who(self) -> str:
        return f"process {self.process}" if self.process else "another process"


class ForeignCheckpoint(Explained, PipelineError):
    folder: str
    owner: str
    wanted: str
    template = (
        "{folder} is the checkpoint of {owner}, not of {wanted}; move it away. The store knows what was done, so "
        "nothing is lost by starting without a checkpoint"
    )


class DataFolder:
    """`checkpoints` is where Spark keeps its own, on a cluster a URI; by default a folder in here."""

    def __init__(self, path: Path, checkpoints: str = "") -> None:
        self.path = path
        self.checkpoints = checkpoints.rstrip("/")
        self._lock: IO[str] | None = None

    @property
    def database(self) -> Path:
        return self.path / "tidings.db"

    @property
    def plans(self) -> Path:
        return self.path / "plans"

    @property
    def staged(self) -> Path:
        return self.path / "staged"

    def lock(self) -> None:
        """Held until the process ends, however it ends."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = locked(self.path / "pipeline.lock", lambda holder: FolderInUse(str(self.path), holder))

    def unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def checkpoint(self, query: str, journal: str) -> str:
        """Where Spark keeps what it has done of a query; raises ForeignCheckpoint where it is another's. At a URI,
        which only Spark can read, the name says whose it is."""
        if self.checkpoints:
            return f"{self.checkpoints}/{query}-{journal}{self._number(query)}"
        folder = self._checkpoint_folder(query)
        owner = folder / _OWNER
        wanted = {"journal": journal, "query": query}
        try:
            found = json.loads(owner.read_text())
        except FileNotFoundError:
            found = None
        except ValueError:
            found = {}
        if found is None and (folder / "metadata").exists():
            raise ForeignCheckpoint(str(folder), "an unknown query", _named(wanted))
        if found is not None and found != wanted:
            raise ForeignCheckpoint(str(folder), _named(found), _named(wanted))
        if found is None:
            folder.mkdir(parents=True, exist_ok=True)
            with whole_file(owner, durable=False) as file:
                file.write(json.dumps(wanted).encode())
        return str(folder)

    def set_aside(self, query: str, journal: str) -> str:
        """Sets a checkpoint aside that no longer fits the store; says where it is now. At a URI it stays, and the next
        one has another name: the time, so that it is new even where this folder was lost."""
        if self.checkpoints:
            before = self.checkpoint(query, journal)
            (self.path / "checkpoints").mkdir(parents=True, exist_ok=True)
            with whole_file(self._checkpoint_folder(query).with_suffix(".number")) as file:
                file.write(f"-{time.time_ns() // 1_000_000}".encode())
            return before
        checkpoint = self._checkpoint_folder(query)
        number = 1
        while (aside := checkpoint.with_name(f"{checkpoint.name}.set-aside-{number}")).exists():
            number += 1
        checkpoint.rename(aside)
        return aside.name

    def _checkpoint_folder(self, query: str) -> Path:
        return (self.path / "checkpoints" / query).absolute()

    def _number(self, query: str) -> str:
        """What the name of a checkpoint at a URI ends with since one was set aside."""
        try:
            return self._checkpoint_folder(query).with_suffix(".number").read_text()
        except FileNotFoundError:
            return ""


def locked(path: Path, in_use: Callable[[str], Exception]) -> IO[str]:
    """A file that only this process holds, until it is closed; raises what `in_use` makes of the holder's number."""
    file = open(path, "a+")  # noqa: SIM115 (held for as long as the caller wants)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        raise in_use(holder) from None
    file.seek(0)
    file.truncate()
    file.write(str(os.getpid()))
    file.flush()
    return file


def _named(owner: dict[str, str]) -> str:
    return f"query {owner.get('query', '?')!r} over journal {owner.get('journal', '?')}"
