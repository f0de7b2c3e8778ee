"""What a server sends back, and what a caller gets of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar

from tidings.client.errors import ServerUnreachable, refusal

T = TypeVar("T")
MOST_RESULTS = 10_000  # of events that may be without end
_MOST_REFUSED = 1_000  # that are kept with their errors


@dataclass(frozen=True, slots=True)
class ServerResponse:
    """One HTTP answer, read whole. Names of headers are in small letters."""

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> dict[str, Any]:
        """Raises ServerUnreachable if it is not a JSON object: something other than Tidings answers there."""
        try:
            body = json.loads(self.content)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise ServerUnreachable(self.url, f"the answer (status {self.status}) is not JSON") from None
        return body

    def retry_after(self, now: float) -> float | None:
        """The seconds that the server asks to wait; `now` is the time of day, since it may name a date."""
        text = self.headers.get("retry-after", "")
        try:
            return max(0.0, float(text))
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - now)
        except ValueError:
            return None

    def checked(self) -> ServerResponse:
        """Itself; raises ServerRefused or ServerUnreachable if it is not a success."""
        if self.status < 300:
            return self
        if self.status < 400:
            raise ServerUnreachable(self.url, f"it redirects elsewhere (status {self.status}); use that address")
        raise refusal(self.status, self.problem())

    def problem(self) -> dict[str, Any]:
        """Why it failed, as far as it says."""
        try:
            return self.json()
        except ServerUnreachable:
            return {"status": self.status, "detail": f"the server answered {self.status}"}


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer. `sent`: the server may have got the request all the same."""

    url: str
    reason: str
    sent: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """An open stream has ended: after which event, and why."""

    last: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of many; `next` is the cursor from which the others go on."""

    items: tuple[T, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Published:
    """One event that the server accepted, now or (a duplicate) before."""

    id: str
    position: int
    duplicate: bool


@dataclass(frozen=True, slots=True)
class PublishedMany:
    """Counts, the first refused events with their errors, and what became of each event.

    A result is `{"line": 1, "status": "accepted", "id": "e1", "position": 17}`; `duplicate` has the position of the
    first, `refused` its `errors`, as in `{"line": 7, "status": "refused", "id": "e7", "errors": […]}`.
    """

    accepted: int = 0
    duplicates: int = 0
    refused_total: int = 0
    refused: tuple[dict[str, Any], ...] = ()
    results: tuple[dict[str, Any], ...] = ()

    def and_then(self, other: PublishedMany, lines_before: int, most_results: int = MOST_RESULTS) -> PublishedMany:
        """Both together; the other one's lines are counted on."""
        return PublishedMany(
            self.accepted + other.accepted,
            self.duplicates + other.duplicates,
            self.refused_total + other.refused_total,
            _joined(self.refused, other.refused, lines_before, _MOST_REFUSED),
            _joined(self.results, other.results, lines_before, most_results),
        )


def _joined(
    one: tuple[dict[str, Any], ...], other: tuple[dict[str, Any], ...], lines_before: int, most: int
) -> tuple[dict[str, Any], ...]:
    if len(one) >= most:
        return one
    return (*one, *({**result, "line": result["line"] + lines_before} for result in other))[:most]


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token as its owner sees it, without its secret. `kind` is token, or session for a browser's; `current` is the
    one that asks."""

    id: str
    name: str
    kind: str
    scopes: tuple[str, ...]
    created: str
    expires: str | None
    current: bool


@dataclass(frozen=True, slots=True)
class StoredSubscription:
    """A subscription as the server has it, with a filter or a composite. `since` is the journal position from which on
    it counts, and `position`, in the answer to a change, that of the change. `name` and `note` are what you called it.

    Of a channel that sends, `channel_state` says how it is; once, when it is made, `secret` is what it signs with, and
    `confirm` says what must be done before it sends.

    `errors`, of a filter in another language: on how many `events` it ended in an error and so did not match, the
    `position` of the last one, and what went wrong (`detail`).
    """

    id: str
    filter: str | None
    state: str
    expiry: str | None
    channel: dict[str, Any]
    since: int
    warnings: tuple[str, ...] = ()
    channel_state: str | None = None
    secret: str | None = field(default=None, repr=False)
    confirm: str | None = None
    position: int | None = None
    name: str | None = None
    note: str | None = None
    composite: str | None = None
    errors: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Notification:
    """A match: the event (None when it was removed since) and the subscription it is for, by name if it has one.

    Of a composite the event is the last constituent, None if there is none. `detection` then has `key` (the values of
    its `by`), `time` (its last time), `events` (the `source`, `id` and `time` of each constituent, in order) and, of a
    partial match that expired, `expired`: the part that it waited for.

    `resume` is a cursor: continue from it to miss nothing after this one. Some from before it may be repeated, with
    the same ids.
    """

    id: str
    subscription: str
    event: dict[str, Any] | None
    matched_at: str
    resume: str | None = field(default=None, compare=False)
    subscription_name: str | None = None
    detection: dict[str, Any] | None = None

    @classmethod
    def read(cls, body: Mapping[str, Any], resume: str | None) -> Notification:
        """Of the JSON that pages and streams have."""
        event, matched_at, name = body["event"], body["matched_at"], body.get("subscription_name")
        return cls(body["id"], body["subscription"], event, matched_at, resume, name, body.get("detection"))


@dataclass(frozen=True, slots=True)
class StoredEvent:
    position: int
    accepted: str
    event: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt to deliver: what was asked, and what came back."""

    ok: bool
    seconds: float
    request: str
    status: int | None
    response: str
    problem: str
    attempt: int | None = None  # of a test there is only one
    started: str | None = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """What is sent at once: one notification, or several in a digest. `state` is due, delivered or dead.

    `held`: its channel is not active. `tried` is there where one delivery was asked for.
    """

    number: int
    state: str
    held: bool
    collecting: bool
    attempts: int
    due: str
    created: str
    done: str | None
    sequences: tuple[int, ...]
    notifications: tuple[str, ...]
    tried: tuple[Tried, ...] = ()
