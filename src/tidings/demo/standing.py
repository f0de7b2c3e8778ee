"""The wishes as subscriptions: each is made once, and noted, so that what its owner deletes stays deleted.

The note (`demo.json` in the data folder) also has the receiver's port, which the webhooks' addresses name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from tidings.client import Client
from tidings.demo.wishes import Wish
from tidings.language import Filter
from tidings.language.composites import BoundComposite
from tidings.schema import Catalog, Instant
from tidings.whole_file import whole_file

FILE = "demo.json"


@dataclass(frozen=True, slots=True)
class Note:
    """`former` are ports at which webhooks may still be that were not led on when we were killed."""

    port: int = 0
    made: tuple[str, ...] = ()  # names of wishes
    former: tuple[int, ...] = ()


def read_note(data: Path) -> Note:
    """An empty one where there is none, or it cannot be read: then what exists already is found by its filter."""
    try:
        return msgspec.json.decode((data / FILE).read_bytes(), type=Note)
    except (FileNotFoundError, msgspec.DecodeError):
        return Note()


def write_note(data: Path, note: Note) -> None:
    with whole_file(data / FILE, durable=True) as file:
        file.write(msgspec.json.encode(note))


@dataclass(frozen=True, slots=True)
class Moment:
    """What filters and expiries speak of: a car that is for sale now, and the time."""

    auction: int
    now: datetime

    def filter_of(self, wish: Wish) -> str:
        soon = Instant.of(self.now + timedelta(hours=36))
        return wish.filter.replace("{auction}", str(self.auction)).replace("{soon}", str(soon))

    @property
    def tomorrow(self) -> str:
        return str(Instant.of(self.now + timedelta(days=1)))


def moment(auction: int) -> Moment:
    return Moment(auction, datetime.now(UTC))


class Standing:
    """Makes what is not made yet. `clients` has one for each owner; whoever has none is left out."""

    def __init__(self, clients: Mapping[str, Client], data: Path, receiver: str) -> None:
        self._clients, self._data, self._receiver = clients, data, receiver

    def make(self, wishes: Iterable[Wish], catalog: Catalog, at: Moment) -> int:
        """How many were made now. Those with a webhook wait for another start where there is no receiver.

        Raises ClientError.
        """
        note = read_note(self._data)
        wanted = [
            wish
            for wish in wishes
            if wish.name not in note.made and wish.owner in self._clients and (self._receiver or not wish.hook)
        ]
        standing = {
            owner: {one.filter or one.composite for one in self._clients[owner].subscriptions()}
            for owner in _owners(wanted)
        }
        for wish in wanted:
            text = canonical(wish, catalog, at)
            if text not in standing[wish.owner]:  # it is when we were killed before the note was written
                self._subscribe(self._clients[wish.owner], wish, text, at)
            note = replace(note, made=(*note.made, wish.name))
            write_note(self._data, note)
        return len(wanted)

    def move(self, port: int) -> None:
        """Leads the webhooks from where the receiver was to where it is now, at this port. Raises ClientError."""
        note = read_note(self._data)
        former = {one for one in (*note.former, note.port) if one not in (0, port)}
        note = replace(note, port=port, former=tuple(sorted(former)))
        write_note(self._data, note)
        left = {f"http://127.0.0.1:{one}" for one in former}
        for client in self._clients.values() if left else ():
            for one in client.subscriptions():
                address, slash, path = str(one.channel.get("url", "")).rpartition("/")
                if address in left:
                    client.edit(one.id, channel={**one.channel, "url": self._receiver + slash + path})
        write_note(self._data, replace(note, former=()))

    def _subscribe(self, client: Client, wish: Wish, text: str, at: Moment) -> None:
        channel: dict[str, Any] | None = None
        if wish.hook:
            channel = {"kind": "webhook", "url": f"{self._receiver}/{wish.hook}", **wish.rhythm}
        expiry = at.tomorrow if wish.ends else None
        if wish.composite:
            made = client.subscribe(composite=text, expiry=expiry, channel=channel, name=wish.title)
        else:
            made = client.subscribe(text, expiry=expiry, channel=channel)
        if wish.paused:
            client.pause(made.id)


def canonical(wish: Wish, catalog: Catalog, at: Moment) -> str:
    """As the server keeps it."""
    if wish.composite:
        return BoundComposite.parse(wish.composite, catalog).text
    return Filter.parse(at.filter_of(wish), catalog).text


def _owners(wishes: Iterable[Wish]) -> set[str]:
    return {wish.owner for wish in wishes}
