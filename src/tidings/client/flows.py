"""What a call does, step by step, without doing it: the one place where both clients' behaviour is written.

A flow is a generator. It yields steps (a request to send, a pause to make, items for the caller) and receives what
came of each; `Client` and `AsyncClient` carry the steps out.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from tidings.client.answers import MOST_RESULTS, Ended, Lost, Page, PublishedMany, ServerResponse, StoredEvent
from tidings.client.errors import QueryFailed, ServerUnreachable
from tidings.client.lines import EventLike, lines_of
from tidings.client.request import LARGEST_PAGE, Request
from tidings.client.requests import delivery_requests, event_requests
from tidings.client.requests.delivery_requests import Listen

T = TypeVar("T")

_AGAIN = frozenset({429, 502, 503, 504})
_UNDER_WAY = "/problems/idempotency-key-in-use"  # the server still works on the first sending of this one
_LINES_AT_ONCE = 5_000
_BYTES_AT_ONCE = 4 << 20
_LONGEST_PAUSE = 30.0  # of `stream`, between attempts to come back
_QUERY_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0)


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


@dataclass(frozen=True, slots=True)
class Give:
    items: Iterable[Any]


Tell: TypeAlias = Callable[[PublishedMany], None]
Heard: TypeAlias = ServerResponse | Lost | Ended | None
Step: TypeAlias = Request[Any] | Listen | Pause | Give
Flow: TypeAlias = Generator[Step, Heard, T]


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a request is sent again (`retries`), within how many seconds in all, and the pauses between.

    A pause doubles from `first` up to `longest`; of that, a random half to whole is waited, so that many
    clients do not come back at once. The server's Retry-After wins where it asks for longer.
    """

    retries: int = 5
    deadline: float = 30.0
    first: float = 0.1
    longest: float = 5.0
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)
    draw: Callable[[], float] = field(default=random.random, repr=False)

    def pause(self, failures: int) -> float:
        """Seconds before the next attempt, by the number of attempts so far."""
        whole = min(self.longest, self.first * 2.0 ** min(failures - 1, 30))
        return whole * (0.5 + self.draw() / 2)


def call(request: Request[T], patience: Patience) -> Flow[T]:
    """Sends until there is an answer that counts. Raises ClientError."""
    end = patience.clock() + patience.deadline
    failures = 0
    while True:
        heard = yield request
        assert isinstance(heard, ServerResponse | Lost)
        failures += 1
        if isinstance(heard, ServerResponse) and (heard.status in request.fine or not _passes(heard)):
            return _result(request, heard)
        pause = patience.pause(failures)
        if isinstance(heard, ServerResponse):
            pause = max(pause, heard.retry_after(time.time()) or 0.0)
        spent = failures > patience.retries or patience.clock() + pause > end
        if spent or not request.retried or not _may_be_sent_again(request, heard):
            return _result(request, heard)
        yield Pause(pause)


def _passes(answer: ServerResponse) -> bool:
    """Whether it may be another answer in a while."""
    return answer.status in _AGAIN or (answer.status == 409 and answer.problem().get("type") == _UNDER_WAY)


def _may_be_sent_again(request: Request[T], heard: ServerResponse | Lost) -> bool:
    if request.idempotent:
        return True
    return heard.status == 429 if isinstance(heard, ServerResponse) else not heard.sent


def _result(request: Request[T], heard: ServerResponse | Lost) -> T:
    if isinstance(heard, Lost):
        raise ServerUnreachable(heard.url, heard.reason)
    if heard.status not in request.fine:
        heard.checked()
    try:
        return request.read(heard)
    except (KeyError, TypeError, ValueError) as problem:
        reason = f"its answer to {request.method} {request.path} has an unexpected form ({problem!r})"
        raise ServerUnreachable(heard.url, reason) from problem


def pages(ask: Callable[[str | None], Request[Page[T]]], patience: Patience, most: int | None = None) -> Flow[None]:
    """Yields all items of all pages, or the first `limit`."""
    after: str | None = None
    while True:
        page = yield from call(ask(after), patience)
        yield Give(page.items if most is None else page.items[:most])
        if most is not None:
            most -= len(page.items)
        if page.next is None or (most is not None and most <= 0):
            return
        after = page.next


def listed(ask: Callable[[str | None], Request[Page[T]]], patience: Patience) -> Flow[list[T]]:
    """All items of all pages, of a list that is short."""
    found: list[T] = []
    page: Page[T] = Page((), None)
    while True:
        page = yield from call(ask(page.next), patience)
        found += page.items
        if page.next is None:
            return found


def stream(after: str | None, subscription: str | None, patience: Patience) -> Flow[None]:
    """Yields notifications as they come, forever: a stream that ends is reopened where it ended. Only what will not
    pass by itself (no token, no such subscription) is raised."""
    failures = 0
    while True:
        heard = yield delivery_requests.stream(after, subscription)
        pause = 0.0
        if isinstance(heard, Ended):
            failures, after = 0, heard.last
        elif isinstance(heard, ServerResponse):
            if heard.status < 500 and heard.status != 429:
                heard.checked()
            pause = heard.retry_after(time.time()) or 0.0
        failures += 1
        yield Pause(min(_LONGEST_PAUSE, max(pause, patience.pause(failures))))


def silent(done: PublishedMany) -> None:
    """Tells nobody."""


def publish_many(
    events: Iterable[EventLike | bytes | str], tell: Tell, patience: Patience, most_results: int = MOST_RESULTS
) -> Flow[PublishedMany]:
    """JSON Lines in chunks, one request each; every event has an id, so a chunk may be sent again."""
    done, lines_before = PublishedMany(), 0
    for lines in _chunks(lines_of(events)):
        part = yield from call(event_requests.publish_lines(lines), patience)
        done = done.and_then(part, lines_before, most_results)
        lines_before += len(lines)
        tell(done)
    return done


def _chunks(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    size = 0
    for line in lines:
        if chunk and (len(chunk) == _LINES_AT_ONCE or size + len(line) > _BYTES_AT_ONCE):
            yield chunk
            chunk, size = [], 0
        chunk.append(line)
        size += len(line)
    if chunk:
        yield chunk


def query(
    filter: str | None, since: str | None, until: str | None, limit: int | None, patience: Patience
) -> Flow[None]:
    """Gives the stored events that match; where the server makes a job of it, waits for that."""
    after, left = None, limit
    while left is None or left > 0:
        size = LARGEST_PAGE if left is None and after else left  # without a size the first may become a job
        page = yield from call(event_requests.events(filter, since, until, size, after), patience)
        if isinstance(page, str):
            yield from job_events(page, left, patience)
            return
        yield Give(page.items)
        after = page.next
        if after is None:
            return
        left = None if left is None else left - len(page.items)


def job_events(id: str, most: int | None, patience: Patience) -> Flow[None]:
    """Waits until a query is done, then yields its events."""
    looked = 0
    while True:
        state: dict[str, Any] = yield from call(event_requests.query_state(id), patience)
        if state["state"] == "done":
            break
        if state["state"] not in ("waiting", "running"):
            raise QueryFailed(id, str(state["state"]), str(state.get("problem") or "the server gave no reason"))
        yield Pause(_QUERY_PAUSES[min(looked, len(_QUERY_PAUSES) - 1)])
        looked += 1

    def ask(after: str | None) -> Request[Page[StoredEvent]]:
        return event_requests.query_events(id, after)

    yield from pages(ask, patience, most)
