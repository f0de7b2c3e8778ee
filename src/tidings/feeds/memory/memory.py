"""What a feed has done, so that it is not done again: in this run, and by a state file in the next.

`Feed` says what became of each event and each page or file; `Memory` says what is to be read once more."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tidings.client import Client
from tidings.feeds.event_maker import Made
from tidings.feeds.mapping.mapping import Mapping
from tidings.feeds.memory.known import LATER, Known
from tidings.feeds.memory.state import Kept, Owing, StateFile
from tidings.feeds.sources.sources import Source

_BETWEEN = 10.0  # seconds between two writings of the state
_MOST_OWING = 100_000


class Memory:
    def __init__(
        self, mapping: Mapping, client: Client, tell: Callable[[str], None], state: Path | None, remembered: int
    ) -> None:
        self.known = Known(remembered)
        self.owing: dict[str, Owing] = {}
        self._name, self._client, self._tell = mapping.name, client, tell
        self._has_id = bool(mapping.id)
        self._state = None if state is None else StateFile(state, mapping, client.url)
        self.recalled = False
        self._witness: dict[str, Any] | None = None
        self._changed = self._told = False
        self._written = time.monotonic()

    def recall(self, source: Source) -> int:
        """Goes on from the state file, if the server is the one of which it tells; how many events were published.

        The witness is offered again: a server that takes it was set back or is a new one at the old address, and
        must get all. Asking for it would need a token that may read."""
        kept = None if self.recalled or self._state is None else self._read(self._state)
        published = 0
        if kept is not None:
            done = self._client.publish_many([kept.witness])
            published = done.accepted
            if done.duplicates:
                self.known.restore(kept.known)
                self.owing = dict(kept.owing)
                source.restore(kept.source)
                self._witness = kept.witness
            else:
                self._tell(f"{self._name}: the server no longer has what was published; all is offered again")
        self.recalled = True
        return published

    def published(self, made: Made) -> None:
        self.known.publish(made)
        self._witness = made.raw
        self._changed = True

    def refused(self, made: Made, schema: str, due: float | None) -> bool:
        """Whether that is news."""
        self._changed = True
        return self.known.refuse(made, schema if due is None else LATER)

    def done(self, place: str, owing: Owing | None) -> None:
        self._changed = True
        self.owing.pop(place, None)
        if owing is not None:
            self.owing[place] = owing

    @property
    def waiting(self) -> int:
        """Refused records of all pages and files."""
        return sum(one.count for one in self.owing.values())

    def ask_again(self, source: Source, schema: str, now: float, all: bool = False) -> None:
        """For what was refused and may be taken now, or all that was refused."""
        surplus = len(self.owing) - _MOST_OWING
        for number, (place, one) in enumerate(list(self.owing.items())):
            if all or number < surplus or one.schema != schema or (one.due is not None and one.due <= now):
                del self.owing[place]
                source.again(place)

    def keep(self, source: Source, stunted: bool, at_once: bool = False) -> None:
        """Writes the state, now and then. `stunted`: the schema did not grow as it should have, so what was refused
        may be taken in the next run. Before anything is published there is no witness and nothing to write."""
        if self._state is None or self._witness is None or not self._changed:
            return
        if not at_once and time.monotonic() < self._written + _BETWEEN:
            return
        without = set(self.owing) if stunted else set()
        kept = Kept(self._witness, source.kept(without), self.known.written(not stunted), {} if stunted else self.owing)
        self._written, self._changed = time.monotonic(), False
        try:
            self._state.write(kept)
        except OSError as problem:
            self._cannot("kept", problem)

    def _read(self, state: StateFile) -> Kept | None:
        try:
            kept = state.read()
            if state.digests_differ and not self._has_id:
                advice = "the mapping has changed and names no `id`, so all records are published again, under new ids"
                self._tell(f"{self._name}: {advice}")
            return kept
        except OSError as problem:
            self._cannot("read", problem)
            return None

    def _cannot(self, done: str, problem: OSError) -> None:
        """Told once; the feed works without."""
        if not self._told and self._state is not None:
            self._told = True
            why = f"{self._state.path}: {problem.strerror or problem}"
            self._tell(f"{self._name}: what was read cannot be {done} for the next run: {why}; --state names a folder")
