"""Many subscriptions from lines of JSON: each is accepted, a duplicate or refused; none holds up the others.

    lines ──read──> SubscriptionLine ──> id, channel of a place that has agreed ──> drafts, 1,000 in a group ──> results

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
from tidings.service.actions.channel_values import KINDS, STORED, destination
from tidings.service.actions.filters import read_wanted
from tidings.service.actions.keys import digest, subscription_id
from tidings.service.actions.subscription_lines import (
    LineResult,
    NeitherOrBoth,
    OtherContent,
    PlaceNotAgreed,
    RepeatedId,
    SubscriptionLine,
)
from tidings.service.actions.subscriptions import tidy
from tidings.service.actions.times import read_future_time
from tidings.service.gateway import Gateway
from tidings.store import Accepted, Draft, Outcome, Pause, Refused, Standing, Store, StoredChannel, Subscribe
from tidings.store.errors import ExpiryPassed, QuotaReached
from tidings.store.journal.fitness import check_names, is_id

MOST_LINES = 10_000  # in one request
_AT_ONCE = 1_000  # in one transaction
_DIGITS = 20


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A line that says all that is needed."""

    line: int
    draft: Subscribe
    paused: bool


async def import_lines(
    gateway: Gateway,
    owner: str,
    lines: Sequence[tuple[int, SubscriptionLine | TidingsError]],
    key: str | None = None,
    check: bool = False,
) -> list[LineResult]:
    """A result for each numbered line, in order. With `check` nothing is stored: what would be is 'accepted'."""
    reader = _Reader(gateway.store, owner, gateway.settings.subscriptions_per_owner, key)
    found: list[LineResult] = []
    for start in range(0, len(lines), _AT_ONCE):
        done, wanted = await gateway.read(reader.read, lines[start : start + _AT_ONCE], check)
        found += done
        if check:
            found += [LineResult(one.line, "accepted", one.draft.id) for one in wanted]
        elif wanted:
            drafts: list[Draft] = []
            for one in wanted:
                drafts += (one.draft, Pause(one.draft.id)) if one.paused else (one.draft,)
            found += _results(wanted, await gateway.append(drafts))
    return sorted(found, key=lambda result: result.line)


class _Reader:
    """Of one request. Its methods wait for the store: call them in a thread."""

    def __init__(self, store: Store, owner: str, most: int, key: str | None) -> None:
        self._store, self._owner, self._most, self._key = store, owner, most, key
        self._seen: dict[str, int] = {}
        self._places: dict[tuple[str, object], StoredChannel] | None = None
        self._room = most - store.count_subscriptions(owner)

    def read(
        self, lines: Sequence[tuple[int, SubscriptionLine | TidingsError]], check: bool
    ) -> tuple[list[LineResult], list[_Wanted]]:
        given = {one.id for _, one in lines if isinstance(one, SubscriptionLine) and one.id and is_id(one.id)}
        ids = given | {self._derived(id) for id in given}
        standing = {one.id: one for one in self._store.subscriptions_with(ids) if one.owner == self._owner}
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
                made = self._wanted(line, id, one, check)
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

    def _wanted(self, line: int, id: str, one: SubscriptionLine, check: bool) -> _Wanted:
        """Filters and composites are bound by the journal, in their turn; here only where nothing is stored."""
        name, note = tidy(one.name or ""), tidy(one.note or "")
        check_names(id, name, note)
        expiry = None if one.expiry is None else read_future_time("expiry", one.expiry)
        if check:
            read_wanted(one.core_filter, one.composite, self._store)
            now = self._store.clock.now()
            if expiry is not None and expiry <= now:
                raise ExpiryPassed(id, str(expiry), str(now))
        channel = self._channel(id, one.channel)
        kind = "" if channel is None else channel.kind
        text, composite = one.core_filter, one.composite or ""
        draft = Subscribe(id, text, self._owner, expiry, kind, channel, self._most, name, note, composite)
        return _Wanted(line, draft, one.state == "paused")

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
        text, _ = read_wanted(draft.filter, draft.composite or None, self._store)
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
