"""What a feed remembers across restarts: one small file, read when it starts and written while it runs.

It spares work and decides nothing: a file that is damaged, or of another mapping, server or release, is as good as
none, and then all is offered again, of which the server takes each event once.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tidings import __version__
from tidings.feeds.mapping.mapping import EVERY, GROW_LIMIT, Mapping
from tidings.whole_file import whole_file

_FORM = "tidings feed state 1"
_LARGEST = 256 << 20  # bytes; with a million files and all ids it has a third of that


@dataclass(frozen=True, slots=True)
class Owing:
    """A page or file with refused records is read again under another schema, or when the first of them is due."""

    schema: str
    due: float | None = None  # seconds since 1970
    count: int = 0  # refused records


@dataclass(frozen=True, slots=True)
class Kept:
    """`witness` is an event that the server had: if it does not, it is another one, or was set back."""

    witness: dict[str, Any]
    source: dict[str, Any]
    known: list[str]
    owing: dict[str, Owing]


class StateFile:
    """Of one mapping that publishes to one server."""

    def __init__(self, path: Path, mapping: Mapping, server: str) -> None:
        self.path = path
        self._whose = _whose(mapping, server)
        self.digests_differ = False  # what was read was kept for a mapping whose digests are others

    def read(self) -> Kept | None:
        """None: there is nothing to go on from. Raises OSError where the file is there and cannot be read."""
        try:
            with self.path.open("rb") as file:
                content = file.read(_LARGEST + 1)
        except FileNotFoundError:
            return None
        head, _, body = content.partition(b"\n")
        if len(content) > _LARGEST or head != self._head(body):
            words = head.split(b" ")
            whole = len(content) <= _LARGEST and words[-1] == _digest(body) and head.startswith(_FORM.encode())
            self.digests_differ = whole and words[-2].partition(b"-")[0] != self._whose.partition("-")[0].encode()
            return None
        raw = json.loads(body)
        owing = {place: Owing(**one) for place, one in raw["owing"].items()}
        return Kept(raw["witness"], raw["source"], raw["known"], owing)

    def write(self, kept: Kept) -> None:
        """Raises OSError."""
        body = json.dumps(asdict(kept), separators=(",", ":")).encode()
        with whole_file(self.path) as file:
            file.write(self._head(body) + b"\n" + body)

    def _head(self, body: bytes) -> bytes:
        """Says whose state it is, and that it is whole."""
        return f"{_FORM} {self._whose} ".encode() + _digest(body)


def state_path(mapping: Path, folder: Path | None = None) -> Path:
    """Beside the mapping, hidden, so that a feed of that folder does not read it; or in a folder, which may have those
    of several mappings of one name."""
    if folder is None:
        return mapping.with_name(f".{mapping.name}.state")
    place = blake2b(str(mapping.resolve()).encode("utf-8", "surrogateescape"), digest_size=4).hexdigest()
    return folder / f".{mapping.name}.{place}.state"


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).hexdigest().encode()


def _whose(mapping: Mapping, server: str) -> str:
    """Changes with whatever may change an event, and the release, which may read the same record otherwise.

    The part before the hyphen changes with what makes up the id of a record for which the mapping names none."""
    origin = mapping.origin
    folder, file = (None if path is None else path.absolute() for path in (origin.folder, origin.file))
    plain = replace(
        mapping, origin=replace(origin, every=EVERY, folder=folder, file=file), grow_limit=GROW_LIMIT, file=""
    )
    digested = (sorted(mapping.paths), mapping.layout, mapping.source)
    hashed = [repr(one).encode("utf-8", "backslashreplace") for one in (digested, (plain, server, __version__))]
    return "-".join(blake2b(one, digest_size=16).hexdigest() for one in hashed)
