"""Many subscriptions from lines of JSON: each is accepted, a duplicate or refused; none holds up the others.

    lines ──read──> SubscriptionLine ──> bound text, id, channel of a place that has agreed ──> drafts ──> results

Lines are read and stored in groups, so that everybody else's filters and events come in between.

A line may have the `id` that it had elsewhere. It keeps an id that is the owner's own; any other becomes one that
follows from it, so that a file imported twice makes everything once. Nobody is written to: a channel must go where an
active channel of the owner goes already, and signs with the same secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidings.errors import TidingsError
from tidings.notifying.apprise_place import apprise_place
from tidings.notifying.errors import UnknownChannel
from tidings.notifying.outbox.rhythm import read_rhythm, rhythm_json
from tidings.schema import Catalog
from tidings.service.actions.channel_values import KINDS, STORED, destination
from tidings.service.actions.filters import BoundText, read_wanted
from tidings.service.actions.keys import digest, subscription_id
from tidings.service.actions.subscription_lines import (
    LineResult,
    NeitherOrBoth,
    OtherContent,
    PlaceNotAgreed,
    RepeatedId,
    SubscriptionLine,
    TooManyToBind,
)
from tidings.service.actions.subscriptions import tidy
from tidings.service.actions.times import read_future_time
from tidings.service.gateway import Gateway
from tidings.store import Accepted, Draft, Outcome, Pause, Refused, Standing, Store, StoredChannel, Subscribe
from tidings.store.errors import ExpiryPassed, QuotaReached
from tidings.store.journal.fitness import check_names, is_id

MOST_LINES = 10_000  # in one request
_AT_ONCE = 1_000  # in one transaction,
_CHARACTERS_AT_ONCE = 1 << 16  # unless these are more
_MOST_PREDICATES = 1_000_000  # in the alternatives of all lines: some seconds of binding
_DIGITS = 20


NumberedLine = tuple[int, SubscriptionLine | TidingsError]  # or what is wrong with its form


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A line that says all that is needed."""

    line: int
    draft: Subscribe
    paused: bool


async def import_lines(
    gateway: Gateway,
    owner: str,
    lines: Sequence[NumberedLine],
    key: str | None = None,
    check: bool = False,
) -> list[LineResult]:
    """A result for each numbered line, in order. With `check` nothing is stored: what would be is 'accepted'."""
    reader = _Reader(gateway.store, owner, gateway.settings.subscriptions_per_owner, key)
    found: list[LineResult] = []
    for some in _groups(lines):
        done, wanted = await gateway.bind(owner, reader.read, some, check)
        found += done
        if check:
            found += [LineResult(one.line, "accepted", one.draft.id) for one in wanted]
        elif wanted:
            drafts: list[Draft] = []
            for one in wanted:
                drafts += (one.draft, Pause(one.draft.id)) if one.paused else (one.draft,)
            found += _results(wanted, await gateway.append(drafts))
    return sorted(found, key=lambda result: result.line)


def _groups(lines: Sequence[NumberedLine]) -> Iterator[list[NumberedLine]]:
    """As many lines as may be read, and stored, in one go."""
    group: list[NumberedLine] = []
    characters = 0
    for number, line in lines:
        group.append((number, line))
        if isinstance(line, SubscriptionLine):
            characters += len(line.filter or "") + len(line.composite or "")
        if len(group) == _AT_ONCE or characters >= _CHARACTERS_AT_ONCE:
            yield group
            group, characters = [], 0
    if group:
        yield group


class _Reader:
    """Of one request. Its methods wait for the store: call them in a thread."""

    def __init__(self, store: Store, owner: str, most: int, key: str | None) -> None:
        self._store, self._owner, self._most, self._key = store, owner, most, key
        self._seen: dict[str, int] = {}
        self._places: dict[tuple[str, object], StoredChannel] | None = None
        self._room = most - store.count_subscriptions(owner)
        self._predicates = 0

    def read(self, lines: Sequence[NumberedLine], check: bool) -> tuple[list[LineResult], list[_Wanted]]:
        given = {one.id for _, one in lines if isinstance(one, SubscriptionLine) and one.id and is_id(one.id)}
        ids = given | {self._derived(id) for id in given}
        standing = {one.id: one for one in self._store.subscriptions_with(ids) if one.owner == self._owner}
        catalog = self._store.catalog()
        results: list[LineResult] = []
        wanted: list[_Wanted] = []
        for line, one in lines:
            id = None
            try:
                if not isinstance(one, SubscriptionLine):
                    raise one
                if (one.filter is None) == (one.composite is None):
                    raise NeitherOrBoth
                id = self._id(line, one, standing)
                if (before := self._seen.setdefault(id, line)) != line:
                    raise RepeatedId(one.id or id, before)
                made = self._wanted(line, id, one, catalog)
                if (now := standing.get(id)) is None:
                    self._room -= check
                    if self._room < 0:
                        raise QuotaReached(self._most)
                    wanted.append(made)
                elif self._is_same(made, now):
                    results.append(LineResult(line, "duplicate", id, now.since))
                else:
                    raise OtherContent(id)
            except TidingsError as error:
                results.append(LineResult(line, "refused", id, error=error.with_traceback(None)))
        return results, wanted

    def _derived(self, given: str) -> str:
        return f"s-{digest('import', self._owner, given).hex()[:_DIGITS]}"

    def _id(self, line: int, one: SubscriptionLine, standing: Mapping[str, Standing]) -> str:
        if one.id:
            return one.id if one.id in standing else self._derived(one.id)
        text = one.composite if one.filter is None else one.filter
        return subscription_id(self._owner, None if self._key is None else f"{self._key} line {line} {text}")

    def _wanted(self, line: int, id: str, one: SubscriptionLine, catalog: Catalog) -> _Wanted:
        name, note = tidy(one.name or ""), tidy(one.note or "")
        check_names(id, name, note)
        expiry = None if one.expiry is None else read_future_time("expiry", one.expiry)
        if expiry is not None and expiry <= (now := self._store.clock.now()):
            raise ExpiryPassed(id, str(expiry), str(now))
        bound = self._bound(one, catalog)
        channel = self._channel(id, one.channel)
        kind = "" if channel is None else channel.kind
        text, composite = (bound.text, "") if one.composite is None else ("", bound.text)
        draft = Subscribe(id, text, self._owner, expiry, kind, channel, self._most, name, note, composite, bound=True)
        return _Wanted(line, draft, one.state == "paused")

    def _bound(self, one: SubscriptionLine, catalog: Catalog) -> BoundText:
        if self._predicates >= _MOST_PREDICATES:
            raise TooManyToBind(_MOST_PREDICATES)
        bound = read_wanted(one.core_filter, one.composite, self._store, catalog)
        self._predicates += bound.predicates
        return bound

    def _channel(self, id: str, asked: Mapping[str, Any] | None) -> StoredChannel | None:
        """One like the owner's own that goes to the same place, with the digest, rate and quiet hours of the line."""
        if asked is None or asked.get("kind", STORED) == STORED:
            return None
        kind = asked["kind"]
        if kind not in KINDS:
            raise UnknownChannel(str(kind), KINDS)
        if self._places is None:
            self._places = {_place(one): one for one in self._store.active_channels(self._owner)}
        place = destination(kind, asked)
        like = self._places.get(place) if isinstance(place[1], str) else None
        if like is None:
            raise PlaceNotAgreed(kind, str(place[1]))
        rhythm = rhythm_json(read_rhythm(dict(asked)))
        target = {name: like.settings[name] for name in ("url", "address") if name in like.settings}
        return StoredChannel(id, self._owner, kind, target | rhythm, "active", "", like.secrets)

    def _is_same(self, made: _Wanted, now: Standing) -> bool:
        draft = made.draft
        composite = bool(draft.composite)
        text = draft.composite or draft.filter
        stands = now.filter, now.composite, now.expiry, now.delivery, now.name, now.note, now.state == "paused"
        return stands == (text, composite, draft.expiry, draft.delivery, draft.name, draft.note, made.paused)


def _place(channel: StoredChannel) -> tuple[str, object]:
    """Where it goes, as its owner is shown it: an Apprise URL by scheme and host."""
    kind, place = destination(channel.kind, channel.settings)
    return kind, apprise_place(place) if kind == "apprise" and isinstance(place, str) else place


def _results(wanted: Sequence[_Wanted], outcomes: Sequence[Outcome]) -> Iterator[LineResult]:
    rest = iter(outcomes)
    for one in wanted:
        outcome = next(rest)
        if one.paused:
            next(rest)
        match outcome:
            case Accepted(position):
                yield LineResult(one.line, "accepted", one.draft.id, position)
            case Refused(error):
                yield LineResult(one.line, "refused", one.draft.id, error=error)
