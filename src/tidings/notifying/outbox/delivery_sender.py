"""One attempt: hands a delivery's contents to its channel and turns the outcome into a result for the store."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from tidings.errors import ChannelError
from tidings.events.headline import declared_headline
from tidings.notifying.delivery import Attempt, Channel, OutgoingDelivery, Owed
from tidings.notifying.errors import UnknownChannel
from tidings.notifying.outbox.rhythm import Rhythm, read_rhythm
from tidings.notifying.outbox.schedule import WAITS, next_due
from tidings.schema import Catalog, Instant
from tidings.store import AttemptResult, DeliveryContents, DueNotice, StoredChannel
from tidings.store.journal.entries import Detection
from tidings.store.notifications.notification_id import digest_id, notification_id_of

MailNotice = Callable[[DueNotice, Instant], Awaitable[Attempt]]
_RHYTHMIC = frozenset({"digest", "rate", "quiet"})
_PLAIN = Rhythm()
_log = logging.getLogger(__name__)


class DeliverySender:
    def __init__(
        self,
        channels: Mapping[str, Channel],
        clock: Callable[[], Instant],
        random: Callable[[], float],
        longest: float,
        waits: Sequence[float] = WAITS,
        catalog: Callable[[], Catalog | None] = lambda: None,  # which knows headlines
    ) -> None:
        self._channels, self._clock, self._random, self._longest = channels, clock, random, longest
        self._waits, self._catalog = waits, catalog

    async def attempt(self, contents: DeliveryContents) -> AttemptResult:
        """Never raises for what a channel does."""
        number, tries = contents.delivery.number, contents.delivery.attempts
        started = self._clock()
        delivery = delivery_of(contents, self._catalog())
        if delivery is None:
            reason = "its event was removed; nothing to send"
            return AttemptResult(number, tries, started, 0.0, False, "", problem=reason)
        attempt = await self._send(delivery, contents.channel, started)
        due = None
        if not attempt.ok:
            due = next_due(tries + 1, self._clock(), attempt.retry_after, self._random, self._waits)
            due = None if due is None else rhythm_of(contents.channel).awake(due)
        return AttemptResult(
            number,
            tries,
            started,
            attempt.seconds,
            attempt.ok,
            attempt.request,
            attempt.status,
            attempt.response,
            attempt.problem,
            due,
            attempt.gone,
        )

    async def mail(self, mail_notice: MailNotice, notice: DueNotice) -> Instant | None:
        """When to mail the notice again; None when it was mailed, is no longer needed or was given up."""
        if notice.channel is None or not notice.address:
            return None
        attempt = await mail_notice(notice, self._clock())
        if attempt.ok:
            return None
        due = next_due(notice.attempts + 1, self._clock(), attempt.retry_after, self._random, self._waits)
        again = "never" if due is None else f"again at {due}"
        _log.warning("notice %s could not be mailed to its owner (%s): %s", notice.number, again, attempt.problem)
        return due

    async def _send(self, delivery: OutgoingDelivery, channel: StoredChannel, now: Instant) -> Attempt:
        began = time.perf_counter()
        try:
            if channel.kind not in self._channels:
                raise UnknownChannel(channel.kind, sorted(self._channels))
            async with asyncio.timeout(self._longest):
                return await self._channels[channel.kind].send(delivery, settings_of(channel, now), now)
        except TimeoutError:
            problem = f"the {channel.kind} channel did not end within {self._longest:g} s"
        except UnknownChannel as unknown:
            problem = str(unknown)
        except Exception as unexpected:  # a defect of one channel must not stop the others
            _log.exception("the %s channel failed to send delivery %s", channel.kind, delivery.id)
            problem = f"the {channel.kind} channel failed: {type(unexpected).__name__}: {unexpected}"
        return Attempt(False, time.perf_counter() - began, "", problem=problem)


def delivery_of(contents: DeliveryContents, catalog: Catalog | None = None) -> OutgoingDelivery | None:
    """None when the event of a plain match was removed."""
    stored = contents.delivery
    owed = []
    for item, event in zip(stored.items, contents.events, strict=True):
        detection = contents.detections.get(item.detection)
        if event is not None:
            read = msgspec.json.decode(event)
        elif detection is not None:
            read = _without_event(item.detection, detection)
        else:
            return None
        id = notification_id_of(stored.subscription, event) if event and not item.detection else item.detection
        found = None if detection is None else detection.as_json()
        owed.append(Owed(id, item.sequence, read, item.matched_at, declared_headline(read, catalog), found))
    id = owed[0].id if len(owed) == 1 else digest_id(one.id for one in owed)
    return OutgoingDelivery(id, stored.subscription, stored.owner, contents.filter, tuple(owed), name=contents.name)


def _without_event(id: str, detection: Detection) -> dict[str, Any]:
    """What channels show of a detection that has no event, since nothing happened, or whose last one was removed."""
    return {"id": id, "time": str(detection.time), "event_type": [], "attributes": {}}


def settings_of(channel: StoredChannel, now: Instant) -> dict[str, Any]:
    """A channel's settings with the secrets that sign now."""
    secrets = {"secrets": channel.secrets_at(now)} if channel.secrets else {}
    return {**channel.settings, "kind": channel.kind, **secrets}


def rhythm_of(channel: StoredChannel) -> Rhythm:
    """Unreadable settings delay nothing: they were checked when saved, and deliveries must go out."""
    if channel.settings.keys().isdisjoint(_RHYTHMIC):
        return _PLAIN
    try:
        return read_rhythm(channel.settings)
    except ChannelError as problem:
        _log.error("the channel of subscription %r is sent to without a rhythm: %s", channel.subscription, problem)
        return _PLAIN


@lru_cache(10_000)
def rhythm_of_text(settings: str) -> Rhythm:
    """The same for settings as the store keeps them."""
    try:
        return read_rhythm(msgspec.json.decode(settings))
    except ChannelError as problem:
        _log.error("a channel is sent to without a rhythm: %s", problem)
        return _PLAIN
