"""What the XML daemon does: a document in, an answer out, by way of the gateway.

`Operations` knows who asks and whether the request is valid, and carries it out. Connections only bring documents
and take answers; a run of events they hand over at once.
"""

from __future__ import annotations

from asyncio import sleep
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

import msgspec
from lxml import etree

from tidings.errors import TidingsError
from tidings.events import Event, RefusedEvent
from tidings.schema.catalog import NameTaken
from tidings.schema.dtd import FILES
from tidings.service.actions import subscriptions
from tidings.service.actions.publish import publish_valid
from tidings.service.actions.schema import grow
from tidings.service.actions.subscriptions import SubscriptionAsked
from tidings.service.api.notifications.notification_shape import detections
from tidings.service.door import scopes
from tidings.service.door.callers import Caller, UnknownToken
from tidings.service.door.rate_limits import TooManyRequests
from tidings.service.door.scope_check import allow
from tidings.service.gateway import Gateway
from tidings.service.xml import answers as answers
from tidings.service.xml.answers import NoSuchUser
from tidings.service.xml.framing import Document
from tidings.service.xml.growth import Growth
from tidings.service.xml.requests import (
    MatchedEvents,
    Posting,
    Publication,
    Removal,
    Request,
    SubscriptionList,
    inline_as_text,
    read_request,
)
from tidings.service.xml.validity import InvalidRequest, UnknownRequest, Validity, parse
from tidings.store import (
    Accepted,
    Duplicate,
    NoSuchSubscription,
    Outcome,
    PublishValid,
    Refused,
    Standing,
    Store,
)

_PARSED_BESIDE = 1 << 14  # bytes; larger documents are read in a thread
_LONGEST_WAIT = 1.0  # seconds that a connection is held back before its caller hears of too many requests
_MOST_TRIES = 10  # to find a number for a domain that nobody else has just taken
_LARGEST_PAGE = 1 << 20  # bytes of events in one answer, unless one event has more


@dataclass(frozen=True, slots=True)
class Asked:
    """A valid request of somebody who may make it."""

    name: str
    caller: Caller
    request: Request
    root: etree._Element


class Operations:
    """Of one daemon, in its event loop."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._validity: Validity | None = None

    async def ask(self, document: Document, address: str) -> Asked | bytes:
        """What is asked, or the answer that refuses it. Raises MalformedRequest."""
        large = len(document.text) > _PARSED_BESIDE
        root = await self._gateway.read(parse, document) if large else parse(document)
        name = str(root.tag)
        try:
            if name not in FILES:
                raise UnknownRequest(name)
            caller = await self._caller(root, address)
            allow(caller, scopes.XML[name])
            return Asked(name, caller, await self._read(root, caller, large), root)
        except TidingsError as problem:
            if isinstance(problem, RefusedEvent):
                self._gateway.published["refused"] += 1
            return answers.refused(problem, name if name in FILES else None)

    async def publish(self, events: Sequence[Event]) -> list[bytes]:
        """An answer for each."""
        try:
            outcomes = await publish_valid(self._gateway, [PublishValid(event) for event in events])
        except TidingsError as problem:
            return [answers.refused(problem, "PUBLISH_EVENT")] * len(events)
        return [_published(event, outcome) for event, outcome in zip(events, outcomes, strict=True)]

    async def carry_out(self, asked: Asked) -> bytes:
        """The answer to one request."""
        try:
            match asked.request:
                case Publication(event):
                    return (await self.publish((event,)))[0]
                case Growth():
                    return await self._grow(asked)
                case Posting():
                    return await self._subscribe(asked.request, asked.caller.owner)
                case Removal(id):
                    return await self._withdraw(id, asked.caller.owner)
                case SubscriptionList(after, limit):
                    return await self._gateway.read(self._subscriptions, asked.caller.owner, after, limit)
                case MatchedEvents():
                    return await self._gateway.read(self._matched, asked.caller.owner, asked.request)
        except TidingsError as problem:
            return answers.refused(problem, asked.name)

    async def _caller(self, root: etree._Element, address: str) -> Caller:
        """Raises UnknownToken, NoSuchUser or TooManyRequests."""
        token, username = root.get("token"), root.get("username")
        try:
            caller = await self._admitted(token, address)
        except UnknownToken:
            if username is not None:
                raise NoSuchUser(username) from None
            raise
        if username is not None and caller.digest and caller.username != username:
            raise NoSuchUser(username)
        return caller

    async def _admitted(self, token: str | None, address: str) -> Caller:
        """Holds the connection back for a while; raises TooManyRequests where that was not enough, or UnknownToken."""
        last = monotonic() + _LONGEST_WAIT
        while True:
            try:
                return await self._gateway.admission.admit(token, address)
            except TooManyRequests as problem:
                if monotonic() + problem.seconds > last:
                    raise
                await sleep(problem.seconds)

    async def _read(self, root: etree._Element, caller: Caller, large: bool = False) -> Request:
        """By the catalog that is known; where that refuses it, once more by the newest, which says why."""
        validity = self._validity
        growing = scopes.XML[str(root.tag)] == "schema"  # then numbers of domains must be up to date
        if validity is None or growing:
            validity = await self._newest()
        documents = root.tag == "PUBLISH_EVENT" and bool(validity.catalog.document_attributes)
        beside = (
            large or documents or validity.wide or root.tag == "PUBLISH_SUB"
        )  # a short filter may have a long normal form
        try:
            if beside:
                return await self._beside(root, caller, validity)
            return self._valid(root, validity, hints=False)
        except TidingsError:
            newest = await self._newest()
            if beside and newest is validity:
                raise
            return await self._beside(root, caller, newest)

    async def _beside(self, root: etree._Element, caller: Caller, validity: Validity) -> Request:
        if root.tag == "PUBLISH_SUB":
            return await self._gateway.bind(caller.owner, self._valid, root, validity)
        return await self._gateway.read(self._valid, root, validity)

    def _valid(self, root: etree._Element, validity: Validity, hints: bool = True) -> Request:
        """Raises TidingsError. Our own checks have the better words, so they speak before the DTD."""
        inline_as_text(root, validity.catalog)
        problem = validity.problem(root, beside=hints)
        request = read_request(root, validity.catalog, hints, self._gateway.settings.values_per_attribute)
        if problem is not None:
            raise InvalidRequest(str(root.tag), problem)
        return request

    async def _newest(self) -> Validity:
        catalog = await self._gateway.read(self._gateway.store.catalog)
        known = self._validity
        if known is None or known.catalog.version < catalog.version:
            known = self._validity = Validity(catalog)
        return known

    async def _grow(self, asked: Asked) -> bytes:
        growth, tries = asked.request, 0
        while True:
            assert isinstance(growth, Growth)
            tries += 1
            try:
                grown = await grow(self._gateway, growth.changes)
            except NameTaken:
                if not growth.numbered or tries == _MOST_TRIES:
                    raise
                growth = await self._read(asked.root, asked.caller)  # somebody else was quicker to take the number
                continue
            name = growth.created or None
            return answers.done(asked.name, position=grown.position, version=grown.version, name=name)

    async def _subscribe(self, posting: Posting, owner: str) -> bytes:
        asked = SubscriptionAsked(
            posting.filter, posting.expiry, name=posting.name, note=posting.note, composite=posting.composite
        )
        made = await subscriptions.subscribe(self._gateway, owner, asked)
        return answers.done("PUBLISH_SUB", made.warnings, position=made.standing.since, id=made.standing.id)

    async def _withdraw(self, id: str, owner: str) -> bytes:
        position = await subscriptions.withdraw(self._gateway, owner, id)
        return answers.done("DELETE_SUB", position=position, id=id)

    def _subscriptions(self, owner: str, after: str, limit: int) -> bytes:
        found = self._gateway.store.subscriptions(owner, after, limit + 1)
        page = found[:limit]
        next = page[-1].id if len(found) > limit else None
        return answers.user_log("LIST_SUBS", owner, [answers.subscription(standing) for standing in page], next)

    def _matched(self, owner: str, asked: MatchedEvents) -> bytes:
        store = self._gateway.store
        standing: dict[str, Standing | None] = {}
        if asked.subscription is not None:
            standing[asked.subscription] = _standing(store, asked.subscription, owner)
            if standing[asked.subscription] is None and not store.notifications(0, 1, asked.subscription, owner):
                raise NoSuchSubscription(asked.subscription)  # one that was withdrawn is known by what it found
        found = store.notifications(asked.after, asked.limit, asked.subscription, owner)
        texts = store.events_at({one.position for one in found})
        detected = detections(store, found)
        matched: dict[str, list[str]] = {id: [] for id in standing}
        next, size = asked.after, 0
        for one in found:
            text = texts.get(one.position)
            size += len(text or "")
            if size > _LARGEST_PAGE and next != asked.after:
                break
            raw = None if text is None else msgspec.json.decode(text)
            told = answers.event(raw, one.position, one.stored, detected.get(one.detection))
            matched.setdefault(one.subscription, []).append(told)
            next = one.cursor
        listed = []
        for id, events in matched.items():
            known = standing[id] if id in standing else _standing(store, id, owner)
            if known is None:
                listed.append(answers.former_subscription(id, owner, events))
            else:
                listed.append(answers.subscription(known, events))
        return answers.user_log("LIST_EVENTS", owner, listed, next)


def _standing(store: Store, id: str, owner: str) -> Standing | None:
    try:
        return store.subscription(id, owner)
    except NoSuchSubscription:
        return None


def _published(event: Event, outcome: Outcome) -> bytes:
    match outcome:
        case Refused(problem):
            return answers.refused(problem, "PUBLISH_EVENT")
        case Accepted(position) | Duplicate(position):
            duplicate = isinstance(outcome, Duplicate)
            return answers.done("PUBLISH_EVENT", position=position, id=event.id, duplicate=duplicate)
