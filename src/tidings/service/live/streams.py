"""Live streams: notifications go out as they are found, to any number of open connections.

    store ──one task reads what is new, once──> by owner ──> the streams of that owner ──> their sockets

A stream keeps only little of what is to come. One that is slow, or that begins somewhere in the past, reads pages from
the store by itself until it has caught up; it waits for its own socket, and nobody waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from time import monotonic

from tidings.errors import Explained, ServiceError, StoreError
from tidings.service.api.notifications.notification_shape import detections, raw_events, server_sent
from tidings.service.door.callers import Caller, UnknownToken
from tidings.service.door.scopes import need_of
from tidings.service.gateway import Gateway
from tidings.service.live.stream import Stream
from tidings.service.live.watch import Watching
from tidings.store import Notification

HEARTBEAT = 15.0  # seconds of silence after which a line says that the stream lives
RETRY = 2_000  # milliseconds after which a reader whose connection broke should come back
_PAGE = 100  # notifications that one stream reads at once
_READ = 1_000  # that are read at once for all
_PAGE_BYTES = 256 << 10
_CHECK = 5.0  # seconds between two looks whether tokens are still valid
_PATIENCE = 1.0  # seconds before a store that failed is asked again
_BEAT = b": still here\n\n"
_NEED = need_of("GET", "/v1/notifications/stream")

log = logging.getLogger("tidings.service")


class TooManyStreams(Explained, ServiceError):
    """How many this account may have open."""

    seconds = 5
    most: int
    template = "this account has {most!n} streams open, the most allowed; close one first"


class NoMoreStreams(Explained, ServiceError):
    """How many the service has open, for all."""

    seconds = 5
    most: int
    template = "the service has {most!n} streams open, the most allowed; try again later, or read in pages"


class Streams:
    """All open streams of one event loop."""

    def __init__(self, gateway: Gateway, watching: Watching) -> None:
        self._gateway = gateway
        self._watching = watching
        self._by_owner: dict[str, set[Stream]] = {}
        self._open = 0
        self._closed = False
        self._tasks: tuple[asyncio.Task[None], ...] = ()

    @property
    def count(self) -> int:
        return self._open

    def open(self, caller: Caller, subscription: str | None, cursor: int) -> Stream:
        """The caller that opens it must leave it. Raises TooManyStreams or NoMoreStreams."""
        settings = self._gateway.settings
        mine = self._by_owner.setdefault(caller.owner, set())
        try:
            if self._open >= settings.streams:
                raise NoMoreStreams(settings.streams)
            if len(mine) >= settings.streams_per_owner:
                raise TooManyStreams(settings.streams_per_owner)
            stream = Stream(caller, subscription, cursor)
            stream.ended = self._closed
            mine.add(stream)
            self._open += 1
        finally:
            if not mine:
                del self._by_owner[caller.owner]
        if not self._tasks and not self._closed:
            loop = asyncio.get_running_loop()
            self._tasks = (loop.create_task(self._read()), loop.create_task(self._look_at_tokens()))
        return stream

    def leave(self, stream: Stream) -> None:
        mine = self._by_owner.get(stream.owner, set())
        if stream in mine:
            mine.remove(stream)
            self._open -= 1
            if not mine:
                del self._by_owner[stream.owner]
        if not self._open:
            self._stop()

    async def close(self) -> None:
        """The service stops: every stream comes to its end, and its reader will come back."""
        self._closed = True
        for stream in self._streams():
            stream.end()
        if tasks := self._stop():
            await asyncio.wait(tasks)

    async def texts(self, stream: Stream, is_new: bool) -> AsyncIterator[bytes]:
        """What is sent over the connection, until the stream ends. `is_new`: the reader knows no cursor yet."""
        yield b"retry: %d\n%b\n" % (RETRY, b"id: %d\n" % stream.cursor if is_new else b"")
        while not stream.ended:
            if stream.behind:
                stream.behind = False  # what is found from now on is kept, and what was found before is in the page
                text, is_last = await self._page(stream)
                stream.behind = stream.behind or not is_last
            else:
                text = stream.take()
            if text:
                yield text
            elif not stream.behind and not await stream.wait(HEARTBEAT):
                yield _BEAT

    async def _page(self, stream: Stream) -> tuple[bytes, bool]:
        """The next page of a stream that is behind, and whether it was the last."""
        try:
            text, cursor, is_last = await self._gateway.read(self._page_of, stream)
        except StoreError as problem:
            log.warning("a stream waits for the store: %s", problem)
            await asyncio.sleep(_PATIENCE)
            return b"", False
        stream.cursor = cursor
        return text, is_last

    def _page_of(self, stream: Stream) -> tuple[bytes, int, bool]:
        """In a thread. No more than some bytes, however large the events are."""
        store = self._gateway.store
        found = store.notifications(stream.cursor, _PAGE, stream.subscription, stream.owner)
        events, detected = raw_events(store, found), detections(store, found)
        names = store.subscription_names(one.subscription for one in found)
        text, cursor = bytearray(), stream.cursor
        for one in found:
            if len(text) > _PAGE_BYTES:
                return bytes(text), cursor, False
            name = names.get((one.subscription, stream.owner), "")
            text += server_sent(one, events.get(one.position), name, detected.get(one.detection))
            cursor = one.cursor
        return bytes(text), cursor, len(found) < _PAGE

    async def _read(self) -> None:
        """Reads for all. A stream opened meanwhile is behind and catches up by itself."""
        cursor: int | None = None
        while True:
            try:
                newest = await self._watching.newest()
                if cursor is None:
                    cursor = await self._gateway.read(self._gateway.store.last_cursor)
                    for stream in self._streams():
                        stream.fall_behind()  # what it may have missed, it reads
                else:
                    cursor, texts = await self._gateway.read(self._news, cursor, frozenset(self._by_owner))
                    for owner, one, text in texts:
                        for stream in self._by_owner.get(owner, ()):
                            if stream.subscription in (None, one.subscription):
                                stream.hand(one.cursor, text)
                    if texts:
                        await asyncio.sleep(0)  # streams that were handed something may send it first
                        continue
            except StoreError as problem:
                log.warning("streams wait for the store: %s", problem)
                await asyncio.sleep(_PATIENCE)
                continue
            await self._watching.wait(newest, HEARTBEAT)

    def _news(self, after: int, owners: frozenset[str]) -> tuple[int, list[tuple[str, Notification, bytes]]]:
        """In a thread: what was found for these owners, written once for all their streams."""
        store = self._gateway.store
        while True:
            after_before = after
            after, found = store.owned_notifications(after, _READ)
            wanted = [(owner, one) for owner, one in found if owner in owners]
            if wanted or after == after_before:
                break
        events = raw_events(store, (one for _, one in wanted))
        detected = detections(store, (one for _, one in wanted))
        names = store.subscription_names(one.subscription for _, one in wanted)
        texts = []
        for owner, one in wanted:
            name = names.get((one.subscription, owner), "")
            text = server_sent(one, events.get(one.position), name, detected.get(one.detection))
            texts.append((owner, one, text))
        return after, texts

    async def _look_at_tokens(self) -> None:
        """A stream must not outlive its token."""
        while True:
            began = monotonic()
            digests = {stream.digest for stream in self._streams()}
            try:
                gone = await self._gateway.read(self._invalid, digests)
            except StoreError:
                gone = set()  # nothing is known: it is looked at again
            for stream in self._streams():
                if stream.digest in gone:
                    stream.end()
            await asyncio.sleep(max(0.0, _CHECK - (monotonic() - began)))

    def _invalid(self, digests: Iterable[bytes]) -> set[bytes]:
        gone = set()
        for digest in digests:
            try:
                caller = self._gateway.callers.look_up(digest)
            except UnknownToken:
                gone.add(digest)
            else:
                if _NEED not in caller.scopes:
                    gone.add(digest)
        return gone

    def _stop(self) -> tuple[asyncio.Task[None], ...]:
        """Nobody reads: nothing needs to be looked at."""
        tasks, self._tasks = self._tasks, ()
        for task in tasks:
            task.cancel()
        return tasks

    def _streams(self) -> list[Stream]:
        return [stream for mine in self._by_owner.values() for stream in mine]
