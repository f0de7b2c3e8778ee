"""Subscribe, change, withdraw: subscription, channel and journal change in one transaction, or not at all.

SubscriptionAsked ──> text bound ──> channel checked, receiver asked ──> one draft ──> journal + channel ──> mail
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.language.dialects import is_evaluated
from tidings.schema import Instant
from tidings.service.actions.channel_values import ChannelAsked, Kept, how_to_confirm
from tidings.service.actions.filters import read_wanted
from tidings.service.actions.keys import IdempotencyKeyReused, subscription_id
from tidings.service.gateway import Gateway
from tidings.store import (
    Edit,
    NoSuchSubscription,
    Standing,
    Store,
    StoredChannel,
    Subscribe,
    SubscriptionExists,
    Withdraw,
)
from tidings.store.errors import QuotaReached
from tidings.store.journal.entries import KEEP, Keep, State
from tidings.store.journal.fitness import check_names, is_id
from tidings.store.notifications.expression_errors import ExpressionErrors


@dataclass(frozen=True, slots=True)
class SubscriptionAsked:
    """A filter or a composite. Without a channel it is only read. `key` is that of the request: the repeat of one that
    was carried out returns what the first one made."""

    filter: str = ""
    expiry: Instant | None = None
    channel: ChannelAsked | None = None
    key: str | None = None
    name: str = ""
    note: str = ""
    composite: str | None = None


@dataclass(frozen=True, slots=True)
class SubscriptionChange:
    """Only what is given changes; a filter may become a composite, and the reverse."""

    filter: str | None = None
    expiry: Instant | Keep | None = KEEP
    state: State | Keep = KEEP
    channel: ChannelAsked | Keep = KEEP
    name: str | Keep = KEEP
    note: str | Keep = KEEP
    composite: str | None = None


@dataclass(frozen=True, slots=True)
class SubscriptionNow:
    """A subscription after an action. `position` is that of a change, None where nothing was to be changed; `secret` is
    there when it is new, `confirm` while the receiver has to agree."""

    standing: Standing
    channel: StoredChannel | None = None
    warnings: tuple[str, ...] = ()
    position: int | None = None
    secret: str = ""
    confirm: str = ""


async def subscribe(gateway: Gateway, owner: str, asked: SubscriptionAsked) -> SubscriptionNow:
    """Raises LanguageError, ChannelError, ExpiryPassed, QuotaReached, UnfitSubscription, IdempotencyKeyReused or
    TooManyRequests."""
    store, channels = gateway.store, gateway.channels
    wanted = None if asked.channel is None else await channels.check(asked.channel)
    text, warnings, _ = await gateway.bind(owner, read_wanted, asked.filter, asked.composite, store)
    filter, composite = (text, "") if asked.composite is None else ("", text)
    id = subscription_id(owner, asked.key)
    name, note = tidy(asked.name), tidy(asked.note)
    check_names(id, name, note)
    found = None if asked.key is None else await gateway.read(_found, gateway, id, owner)
    if found is None:
        most = gateway.settings.subscriptions_per_owner
        if await gateway.read(store.count_subscriptions, owner) >= most:
            raise QuotaReached(most)  # before a receiver is asked; the journal looks again
        new = None if wanted is None else (await channels.prepared(id, owner, wanted)).channel
        kind = "" if new is None else new.kind
        try:
            draft = Subscribe(id, filter, owner, asked.expiry, kind, new, most, name, note, composite, bound=True)
            await gateway.append_one(draft)
        except SubscriptionExists:  # the same request, sent twice at once
            if asked.key is None:
                raise
        found = await gateway.read(store.subscription, id, owner)
    kind = "" if wanted is None else wanted.kind
    stands = found.filter, found.composite, found.expiry, found.delivery, found.name, found.note
    if stands != (text, bool(composite), asked.expiry, kind, name, note):
        raise IdempotencyKeyReused
    if wanted is None:
        return SubscriptionNow(found, None, warnings)
    channel = await channels.of(id, owner)
    if dict(channel.settings) != wanted.settings:
        raise IdempotencyKeyReused
    secret = channel.secrets[0][0] if channel.secrets else ""  # a repeat shows it too: the first answer was lost
    kept = await channels.invite(Kept(channel, secret, how_to_confirm(channel)))
    return SubscriptionNow(found, kept.channel, warnings, None, kept.secret, kept.confirm)


async def change(gateway: Gateway, owner: str, id: str, asked: SubscriptionChange) -> SubscriptionNow:
    """Edit, rename, pause, resume, another channel: all of it or nothing. Raises NoSuchSubscription, LanguageError,
    ChannelError, ExpiryPassed, UnfitSubscription or TooManyRequests."""
    store, channels = gateway.store, gateway.channels
    before = await own(gateway, owner, id)
    filter, composite, warnings = await _changed_text(gateway, before, asked)
    secret = ""
    new: StoredChannel | Keep | None = KEEP
    delivery: str | Keep = KEEP
    if isinstance(asked.channel, ChannelAsked):
        old = await gateway.read(store.channel, id, owner)
        wanted = await channels.check(asked.channel.with_url_of(old))
        if wanted is not None:
            prepared = await channels.prepared(id, owner, wanted, old)
            new, secret = prepared.channel, prepared.secret
        elif old is not None:
            new = None
        kind = "" if wanted is None else wanted.kind
        delivery = kind if kind != before.delivery else KEEP
    name = asked.name if isinstance(asked.name, Keep) else tidy(asked.name)
    note = asked.note if isinstance(asked.note, Keep) else tidy(asked.note)
    check_names(id, name, note)
    name, note = KEEP if name == before.name else name, KEEP if note == before.note else note
    expiry = KEEP if asked.expiry == before.expiry else asked.expiry
    state = KEEP if asked.state == before.state else asked.state
    position: int | None = None
    in_journal = (filter, composite) != (None, None) or not (expiry is delivery is state is name is note is KEEP)
    if in_journal or new is not KEEP:
        draft = Edit(id, filter, expiry, delivery, state, new, name, note, composite, bound=True)
        done = await gateway.append_one(draft)
        position = done.position if in_journal else None
    after = await gateway.read(store.subscription, id, owner)
    channel = await gateway.read(store.channel, id, owner)
    if channel is None or new is KEEP:
        return SubscriptionNow(after, channel, warnings, position)
    kept = await channels.invite(Kept(channel, secret, how_to_confirm(channel)))
    return SubscriptionNow(after, kept.channel, warnings, position, kept.secret, kept.confirm)


async def _changed_text(
    gateway: Gateway, before: Standing, asked: SubscriptionChange
) -> tuple[str | None, str | None, tuple[str, ...]]:
    """The new filter, the new composite, None where it does not change, and warnings. Raises LanguageError."""
    if asked.filter is None and asked.composite is None:
        return None, None, ()
    given = asked.filter or "", asked.composite
    text, warnings, _ = await gateway.bind(before.owner, read_wanted, *given, gateway.store)
    composite = asked.composite is not None
    if (text, composite) == (before.filter, before.composite):
        return None, None, warnings
    return (None, text, warnings) if composite else (text, None, warnings)


def tidy(text: str) -> str:
    """A name or a note as it is kept: without blanks around it, with one kind of line break."""
    return text.replace("\r\n", "\n").strip()


async def withdraw(gateway: Gateway, owner: str, id: str) -> int:
    """The position from which on it does not count. What it found stays readable, and what is owed for it is still
    sent. Raises NoSuchSubscription."""
    await own(gateway, owner, id)
    return (await gateway.append_one(Withdraw(id))).position


async def own(gateway: Gateway, owner: str, id: str) -> Standing:
    """Raises NoSuchSubscription, also for another's."""
    if not is_id(id):  # not every database could be asked for it
        raise NoSuchSubscription(id)
    return await gateway.read(gateway.store.subscription, id, owner)


def check_owned(gateway: Gateway, id: str, owner: str) -> None:
    """Raises NoSuchSubscription. One that was withdrawn is known by what it found."""
    if not is_id(id):
        raise NoSuchSubscription(id)
    try:
        gateway.store.subscription(id, owner)
    except NoSuchSubscription:
        if not gateway.store.notifications(0, 1, id, owner):
            raise


def expression_errors(store: Store, some: Sequence[Standing]) -> dict[str, ExpressionErrors]:
    """By id: on how many events their expressions ended in an error, since each was posted, edited or resumed."""
    spans = {one.span: one.id for one in some if one.span is not None and is_evaluated(one.filter)}
    return {spans[span]: found for span, found in store.expression_errors(spans).items()} if spans else {}


def _found(gateway: Gateway, id: str, owner: str) -> Standing | None:
    try:
        return gateway.store.subscription(id, owner)
    except NoSuchSubscription:
        return None
