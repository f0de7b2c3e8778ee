"""How a subscriber is notified: checked, agreed to by the receiver, stored with the subscription.

    ChannelAsked ──check──> Wanted ──prepared──> a channel for `subscriptions` to store ──invite──> a mail that asks

A webhook's receiver is asked by a handshake, an email's by a mail with a link. Until the receiver has agreed, the
channel is 'unconfirmed' and its deliveries are held. Sending is the outbox's work; only a test is sent from here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from urllib.parse import urlsplit

from tidings.notifying.channels.kinds import Kinds
from tidings.notifying.channels.webhook import MOST_SECRETS
from tidings.notifying.delivery import Attempt, OutgoingDelivery
from tidings.notifying.errors import UnknownChannel
from tidings.notifying.outbox.delivery_sender import settings_of
from tidings.notifying.outbox.rhythm import read_rhythm, rhythm_json
from tidings.notifying.signatures import new_secret
from tidings.schema import Instant
from tidings.service.actions.channel_values import (
    KINDS,
    STORED,
    ChannelAsked,
    ChannelDisabled,
    ChannelUnconfirmed,
    Kept,
    NoSecret,
    Wanted,
    destination,
    how_to_confirm,
)
from tidings.service.door.rate_limits import Throttle
from tidings.store import ChannelState, NoSuchChannel, NoSuchSubscription, StoredChannel
from tidings.store.journal.fitness import is_id

if TYPE_CHECKING:
    from tidings.service.gateway import Gateway

P = ParamSpec("P")
R = TypeVar("R")

BOTH_SIGN = 24 * 3_600 * 1_000_000  # microseconds for which an old secret signs beside the new one
_THREADS = 8  # that look up names and load Apprise
_HOUR = 3_600.0
_MAILS = 10  # that ask for consent, an hour and account
_MAILS_TO_ONE = 3  # an hour and address, by all callers together
_TESTS = 10  # at once; one more every other second
_RHYTHM = ("digest", "rate", "quiet")
_NOT_ASKED = "not asked yet"
_UNSUBSCRIBED = "the recipient unsubscribed"


class Channels:
    """Of one event loop. The kinds of channels are made when they are first needed: Apprise and TLS load slowly."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._made: Kinds | None = None
        self._threads = ThreadPoolExecutor(_THREADS, "tidings-channels")
        self._mails = Throttle(_MAILS / _HOUR, _MAILS)
        self._mails_to_one = Throttle(_MAILS_TO_ONE / _HOUR, _MAILS_TO_ONE)
        self._tests = Throttle(0.5, _TESTS)

    @property
    def kinds(self) -> Kinds:
        if self._made is None:
            self._made = Kinds(self._gateway.settings)
        return self._made

    async def close(self) -> None:
        if self._made is not None:
            await self._made.close()
        self._threads.shutdown()

    async def check(self, asked: ChannelAsked) -> Wanted | None:
        """None: it is only stored. Raises ChannelError."""
        if asked.kind not in KINDS:
            raise UnknownChannel(asked.kind, KINDS)
        settings = {"kind": asked.kind, **asked.settings}
        rhythm = rhythm_json(read_rhythm(settings))
        if asked.kind == STORED:
            return None
        checked = await self._in_thread(self.kinds.by_name[asked.kind].check, settings)
        for member in ("kind", "secrets", *_RHYTHM):
            checked.pop(member, None)
        return Wanted(asked.kind, checked | rhythm)

    async def prepared(self, id: str, owner: str, wanted: Wanted, before: StoredChannel | None = None) -> Kept:
        """The channel to store in place of the one before. To the same place it goes on as it was; elsewhere the
        receiver is asked. An email's mail is not sent yet: see `invite`. Raises TooManyRequests."""
        state: ChannelState
        if before is not None and self._is_known(before, wanted):
            state, reason = before.state, before.reason
        else:
            state, reason = await self._agree(owner, wanted)
        secret, secrets = "", before.secrets if before is not None and before.kind == wanted.kind else ()
        if wanted.kind == "webhook" and not secrets:
            secret = new_secret()
            secrets = ((secret, None),)
        return Kept(StoredChannel(id, owner, wanted.kind, wanted.settings, state, reason, secrets), secret)

    async def invite(self, kept: Kept) -> Kept:
        """Sends the mail that asks, where one is due. A failure becomes the channel's reason, and can be retried."""
        channel = kept.channel
        if channel.kind != "email" or channel.state != "unconfirmed" or channel.reason != _NOT_ASKED:
            return kept
        address = str(channel.settings["address"])
        sent = await self.kinds.email.ask_to_confirm(
            channel.subscription, channel.owner, address, self._gateway.store.clock.now()
        )
        reason = "a confirmation mail was sent" if sent.ok else f"the confirmation mail was not sent: {sent.problem}"
        change = self._gateway.store.change_channel
        changed = await self._gateway.write(change, channel.subscription, channel.owner, reason=reason)
        return Kept(changed, kept.secret, how_to_confirm(changed))

    async def pause(self, subscription: str, owner: str) -> StoredChannel:
        """What it is owed is kept. Raises NoSuchChannel, ChannelUnconfirmed or ChannelDisabled."""
        channel = await self.of(subscription, owner)
        if channel.state == "paused":
            return channel
        self.check_sendable(channel)
        change = self._gateway.store.change_channel
        return await self._gateway.write(change, subscription, owner, state="paused", reason="by its owner")

    async def resume(self, subscription: str, owner: str) -> Kept:
        """One that was paused goes on. Where the other side did not agree, or does not want it any more, it is asked
        again. Raises NoSuchChannel, TooManyRequests, or what is wrong with the settings by now."""
        channel = await self.of(subscription, owner)
        state: ChannelState = "active"
        reason = ""
        if channel.state == "active":
            return Kept(channel)
        if channel.state != "paused":
            state, reason = await self._agree(owner, Wanted(channel.kind, dict(channel.settings)))
        change = self._gateway.store.change_channel
        changed = await self._gateway.write(change, subscription, owner, state=state, reason=reason)
        return await self.invite(Kept(changed, "", how_to_confirm(changed)))

    async def rotate(self, subscription: str, owner: str) -> tuple[str, Instant]:
        """A new secret, and until when the old ones sign beside it. Raises NoSuchChannel or NoSecret."""
        channel = await self.of(subscription, owner)
        if not channel.secrets:
            raise NoSecret(channel.kind)
        moment, secret = self._gateway.store.clock.now(), new_secret()
        until = Instant(moment + BOTH_SIGN)
        old = [(one, until if end is None else end) for one, end in channel.secrets if end is None or end > moment]
        secrets = ((secret, None), *old[: MOST_SECRETS - 1])
        await self._gateway.write(self._gateway.store.change_channel, subscription, owner, secrets=secrets)
        return secret, until

    async def confirm(self, channel: StoredChannel) -> None:
        """The recipient agreed: sends what is due."""
        if channel.state == "unconfirmed":
            await self._set(channel, "active", "")

    async def unsubscribe(self, channel: StoredChannel) -> None:
        """The recipient wants no more mails; only a new confirmation starts them again."""
        if channel.state != "disabled":
            await self._set(channel, "disabled", _UNSUBSCRIBED)

    async def _set(self, channel: StoredChannel, state: ChannelState, reason: str) -> None:
        change = self._gateway.store.change_channel
        await self._gateway.write(change, channel.subscription, channel.owner, state=state, reason=reason)

    async def send_test(self, channel: StoredChannel, delivery: OutgoingDelivery) -> Attempt:
        """At once. Raises ChannelUnconfirmed, ChannelDisabled or TooManyRequests."""
        if channel.state == "unconfirmed" or channel.kind == "email":
            self.check_sendable(channel)  # else anybody could be written to
        self._tests.take(channel.owner)
        moment = self._gateway.store.clock.now()
        return await self.kinds.by_name[channel.kind].send(delivery, settings_of(channel, moment), moment)

    def check_sendable(self, channel: StoredChannel) -> None:
        if channel.state == "unconfirmed":
            raise ChannelUnconfirmed(channel.subscription, how_to_confirm(channel))
        if channel.state == "disabled":
            raise ChannelDisabled(channel.subscription, channel.reason)

    async def of(self, subscription: str, owner: str) -> StoredChannel:
        """Raises NoSuchSubscription, or NoSuchChannel where it is only stored."""
        found = await self.owned(subscription, owner)
        if found is None:
            raise NoSuchChannel(subscription)
        return found

    async def owned(self, subscription: str, owner: str) -> StoredChannel | None:
        """None where the subscription is only stored. Raises NoSuchSubscription; one that was withdrawn is known by
        what it is still owed."""
        return await self._gateway.read(self._owned, subscription, owner)

    def _owned(self, subscription: str, owner: str) -> StoredChannel | None:
        if not is_id(subscription):
            raise NoSuchSubscription(subscription)
        store = self._gateway.store
        channel = store.channel(subscription, owner)
        if channel is None:
            try:
                store.subscription(subscription, owner)
            except NoSuchSubscription:
                if not store.deliveries_of(subscription, owner, limit=1):
                    raise
        return channel

    def _is_known(self, before: StoredChannel, wanted: Wanted) -> bool:
        same = destination(before.kind, before.settings) == wanted.destination
        return same and before.state != "disabled"

    async def _agree(self, owner: str, wanted: Wanted) -> tuple[ChannelState, str]:
        """The state in which the channel begins, and why."""
        if wanted.kind == "webhook" and self._gateway.settings.webhook_handshake == "ask":
            origin = urlsplit(self._gateway.settings.links_lead_to).hostname or ""
            consent = await self.kinds.webhook.consent(wanted.settings["url"], origin)
            return ("active", "") if consent.granted else ("unconfirmed", consent.problem)
        if wanted.kind == "email":
            self._mails.take(owner)
            self._mails_to_one.take(wanted.settings["address"])
            return "unconfirmed", _NOT_ASKED
        return "active", ""

    async def _in_thread(self, work: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Not the gateway's threads: a name server that does not answer must not hold up the store's readers."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: work(*args, **named))
