"""Decides on drafts one after another, as the journal's next entries; what came of them is written at the end.

`append` makes a group inside the transaction that holds the journal's lock.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import reduce
from typing import Any

import msgspec
from sqlalchemy import Connection, bindparam, update

from tidings.errors import TidingsError
from tidings.events import BrokenRule, Event, RefusedEvent, validate, write_event
from tidings.events.validation import FARTHEST_AHEAD
from tidings.language import Filter
from tidings.language.composites import BoundComposite
from tidings.language.dialects import refuse_wrong_translation
from tidings.schema import Instant, json_form
from tidings.schema.growth import grow
from tidings.store import tables
from tidings.store.databases.database import Dialect
from tidings.store.deliveries.channels import StoredChannel, end_channel, put_channel
from tidings.store.errors import (
    AccountClosed,
    DraftFailed,
    ExpiryPassed,
    NoSuchSubscription,
    QuotaReached,
    SubscriptionActive,
    SubscriptionExists,
    SubscriptionPaused,
)
from tidings.store.journal.entries import (
    KEEP,
    Accepted,
    Draft,
    Duplicate,
    Edit,
    Grow,
    Keep,
    Outcome,
    Pause,
    Publish,
    PublishPast,
    PublishValid,
    Refused,
    Resume,
    SetProfile,
    SetQuota,
    Standing,
    Subscribe,
    Tick,
    Withdraw,
)
from tidings.store.journal.fitness import check_edit, check_members, check_profile, check_quota, check_text
from tidings.store.journal.projections import Projections, event_key
from tidings.store.network.advertisements import Admits

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode
_NOT_ADVERTISED = BrokenRule(
    "advertised",
    None,
    None,
    "no advertisement of this server matches it; post one that does before publishing (`tidings advertise FILTER`)",
)
_ADVANCE = update(tables.about).values(
    tail=bindparam("last"),
    accepted=bindparam("at"),
    watermark=bindparam("mark"),
    events=tables.about.c.events + bindparam("more_events"),
    event_bytes=tables.about.c.event_bytes + bindparam("more_bytes"),
)


class DraftGroup:
    """Decides on drafts one after another at one time of acceptance; `write` stores what came of it."""

    def __init__(
        self,
        state: Projections,
        tail: int,
        watermark: int | None,
        accepted: Instant,
        closed: frozenset[str] = frozenset(),
    ) -> None:
        self._state = state
        self._closed = closed  # accounts that may not subscribe
        self._tail = tail
        self._watermark = watermark
        self._accepted = accepted
        self._now = int(accepted)  # drivers are quicker with plain integers
        self._rows: list[tuple[int, int, str, int, str, int | None]] = []
        self._channels: list[tuple[str, str, StoredChannel | None]] = []
        self._events = self._event_bytes = 0
        self._is_entering = False
        self.admits: Admits | None = None  # where advertisements bind publishers

    def expire(self, ids: Iterable[str]) -> None:
        for id in ids:
            self._enter("expire", {"id": id})

    def decide(self, draft: Draft) -> Outcome:
        try:
            match draft:
                case PublishValid(event):
                    return self._publish(self._not_too_far_ahead(event))
                case PublishPast(event):
                    return self._keep_past(event)
                case Publish(raw):
                    return self._publish(validate(raw, self._state.catalog, self._accepted))
                case Subscribe():
                    return self._subscribe(draft)
                case Grow():
                    return self._grow(draft)
                case Edit():
                    return self._edit(draft)
                case Withdraw(id):
                    self._known(id)
                    return self._enter("withdraw", {"id": id})
                case Pause(id):
                    if self._known(id).state == "paused":
                        raise SubscriptionPaused(id)
                    return self._enter("pause", {"id": id})
                case Resume(id):
                    if self._known(id).state == "active":
                        raise SubscriptionActive(id)
                    return self._enter("resume", {"id": id})
                case SetQuota(matches, account):
                    check_quota(account, matches)
                    named = {"account": account} if account else {}
                    return self._enter("quota", named | {"matches_per_minute": matches})
                case SetProfile(name, options):
                    check_profile(name, options)
                    return self._enter("profile", {"name": name, "options": options})
                case Tick():
                    return self._tick()
        except TidingsError as problem:
            return Refused(problem)
        except Exception as problem:
            if self._is_entering:  # what was half applied cannot be taken back: nothing of the group is written
                raise
            _log.exception("a draft could not be decided on: %s", type(draft).__name__)
            return Refused(DraftFailed(type(draft).__name__, type(problem).__name__))

    def write(self, connection: Connection, dialect: Dialect) -> None:
        for id, owner, channel in self._channels:
            if channel is None:
                end_channel(connection, id, owner, self._accepted)
            else:
                put_channel(connection, channel, self._accepted)
        if not self._rows:
            return
        dialect.insert(connection, tables.journal, self._rows)
        self._state.write(connection, dialect)
        counts = {"more_events": self._events, "more_bytes": self._event_bytes}
        connection.execute(_ADVANCE, {"last": self._tail, "at": self._now, "mark": self._watermark, **counts})

    def _not_too_far_ahead(self, event: Event) -> Event:
        if event.time is not None and event.time > self._accepted + FARTHEST_AHEAD:
            return validate(write_event(event), self._state.catalog, self._accepted, most_values=None)  # raises
        return event

    def _publish(self, event: Event) -> Outcome:
        key = event_key(event.source, event.id)
        before = self._state.keys.get(key)
        if before is not None:
            return Duplicate(before)
        if self.admits is not None and not self.admits(event, self._accepted):
            raise RefusedEvent(event.id, (_NOT_ADVERTISED,))
        body = _encode(write_event(event))
        text = body.decode()
        self._events += 1
        self._event_bytes += len(body)
        self._tail += 1
        self._state.apply_event(key, self._tail)
        occurred = self._now if event.time is None else int(event.time)
        self._watermark = occurred if self._watermark is None else max(self._watermark, occurred)
        version = self._state.catalog.version
        self._rows.append((self._tail, self._now, "event", version, text, self._watermark))
        return Accepted(self._tail, self._accepted)

    def _keep_past(self, event: Event) -> Outcome:
        """Time does not go on by it, and no query reads it."""
        key = event_key(event.source, event.id)
        before = self._state.keys.get(key)
        if before is not None:
            return Duplicate(before)
        body = _encode(write_event(event))
        self._events += 1
        self._event_bytes += len(body)
        self._tail += 1
        self._state.apply_event(key, self._tail)
        self._rows.append((self._tail, self._now, "past", self._state.catalog.version, body.decode(), None))
        return Accepted(self._tail, self._accepted)

    def _tick(self) -> Outcome:
        self._tail += 1
        self._watermark = self._now if self._watermark is None else max(self._watermark, self._now)
        self._rows.append((self._tail, self._now, "tick", self._state.catalog.version, "{}", self._watermark))
        return Accepted(self._tail, self._accepted)

    def _grow(self, draft: Grow) -> Outcome:
        if draft.more:
            reduce(grow, (draft.change, *draft.more), self._state.catalog)  # raises before the first is entered
        done = self._enter("schema", json_form.write_change(draft.change))
        for change in draft.more:
            done = self._enter("schema", json_form.write_change(change))
        return done

    def _subscribe(self, draft: Subscribe) -> Outcome:
        check_members(draft)
        if draft.owner in self._closed:  # a gateway remembers tokens for some seconds
            raise AccountClosed(draft.owner)
        if draft.id in self._state.standing:
            raise SubscriptionExists(draft.id)
        if draft.most is not None and self._state.owned[draft.owner] >= draft.most:
            raise QuotaReached(draft.most)
        self._not_passed(draft.id, draft.expiry)
        body = {"id": draft.id, **self._canonical(draft.id, draft.filter, draft.composite or None, draft.bound)}
        if draft.owner:
            body["owner"] = draft.owner
        if draft.expiry is not None:
            body["expiry"] = str(draft.expiry)
        if draft.delivery:
            body["delivery"] = draft.delivery
        if draft.name:
            body["name"] = draft.name
        if draft.note:
            body["note"] = draft.note
        self._keep_channel(draft.id, draft.owner, draft.channel or KEEP)
        return self._enter("subscribe", body)

    def _edit(self, draft: Edit) -> Outcome:
        """All that can be wrong is found before the first entry is made."""
        standing = self._known(draft.id)
        check_edit(draft)
        body: dict[str, Any] = {"id": draft.id}
        if draft.filter is not None or draft.composite is not None:
            body |= self._canonical(draft.id, draft.filter or "", draft.composite, draft.bound)
        if not isinstance(draft.expiry, Keep):
            self._not_passed(draft.id, draft.expiry)
            body["expiry"] = None if draft.expiry is None else str(draft.expiry)
        if not isinstance(draft.delivery, Keep):
            body["delivery"] = draft.delivery
        self._keep_channel(draft.id, standing.owner, draft.channel)
        done = Accepted(self._tail, self._accepted)
        if len(body) > 1:
            done = self._enter("edit", body)
        named = {"name": draft.name, "note": draft.note}
        if said := {member: value for member, value in named.items() if not isinstance(value, Keep)}:
            done = self._enter("name", {"id": draft.id, **said})
        if draft.state not in (KEEP, standing.state):
            done = self._enter("pause" if draft.state == "paused" else "resume", {"id": draft.id})
        return done

    def _keep_channel(self, id: str, owner: str, channel: StoredChannel | Keep | None) -> None:
        if isinstance(channel, Keep):
            return
        if channel is not None and (channel.subscription, channel.owner) != (id, owner):
            raise ValueError(f"the channel is that of {channel.subscription!r}, not of {id!r}")
        self._channels.append((id, owner, channel))

    def _not_passed(self, id: str, expiry: Instant | None) -> None:
        if expiry is not None and expiry <= self._accepted:
            raise ExpiryPassed(id, str(expiry), str(self._accepted))

    def _known(self, id: str) -> Standing:
        found = self._state.standing.get(id)
        if found is None:
            raise NoSuchSubscription(id)
        return found

    def _canonical(self, id: str, filter: str, composite: str | None, bound: bool) -> dict[str, str]:
        """The member of the journal's body that says what is wanted. To bind it here holds up all who publish."""
        member, text = ("filter", filter) if composite is None else ("composite", composite)
        check_text(id, member, text)
        if bound:
            return {member: text}
        if composite is not None:
            known = {name: options for name, options in self._state.profiles.items() if options}
            read = BoundComposite.read(composite, self._state.catalog, self._accepted, profiles=known)
            for one in read.filters:
                refuse_wrong_translation(one.tree, "", self._state.catalog)
            return {"composite": read.text}
        return {"filter": Filter.given(filter, self._state.catalog).text}

    def _enter(self, kind: str, body: dict[str, Any]) -> Accepted:
        """Whatever is no event: the next position, and what follows from it."""
        text = _encode(body).decode()
        self._is_entering = kind != "schema"  # which replaces the catalog at once, or not at all
        self._state.apply(kind, self._tail + 1, body)
        self._is_entering = False
        self._tail += 1
        self._rows.append((self._tail, self._now, kind, self._state.catalog.version, text, None))
        return Accepted(self._tail, self._accepted)
