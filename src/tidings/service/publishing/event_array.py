"""An array of events: parsed and validated in a thread, appended some thousand at a time. Its items count as lines,
from 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tidings.errors import Explained, ServiceError
from tidings.events import BrokenRule, RefusedEvent
from tidings.service.actions.keys import EventIds
from tidings.service.actions.publish import too_large
from tidings.service.api.shapes import RAW_ITEMS, WrongBody, decoded
from tidings.service.gateway import Gateway
from tidings.service.publishing.batch_results import BatchResults, Sifted
from tidings.service.publishing.event_lines import sift

_AT_ONCE = 5_000  # events of one request in one transaction
MOST_EVENTS = 100_000  # in one array
_MOST_VALUES = 2_000_000  # in these events: they are all in memory at once


class TooManyEvents(Explained, ServiceError):
    template = (
        f"an array has at most {MOST_EVENTS:,} events and {_MOST_VALUES:,} values; send more as a stream of lines"
    )


async def publish_array(
    body: bytes,
    gateway: Gateway,
    results: BatchResults,
    read: Callable[[Any], dict[str, Any]] | None = None,
    ids: EventIds | None = None,
) -> None:
    """`read` makes a raw event of another form. Raises WrongBody or TooManyEvents before anything is done, or what the
    journal fails with; `results` then has what was done before."""
    array = _Array(body, gateway, read, ids)
    start = 0
    while start == 0 or start < len(array.items):
        sifted = await gateway.read(array.sift, start)
        results.add(sifted, await gateway.append(sifted.drafts) if sifted.drafts else ())
        start += _AT_ONCE


class _Array:
    """`items` are there after the first call of `sift`, so that parsing needs no thread of its own."""

    def __init__(
        self, body: bytes, gateway: Gateway, read: Callable[[Any], dict[str, Any]] | None, ids: EventIds | None
    ) -> None:
        self._body = body
        self._gateway = gateway
        self._read = read
        self._id_of = None if ids is None else ids.of
        self.items: Sequence[Any] = ()

    def sift(self, start: int) -> Sifted:
        """In a thread; those from `start` on. Raises WrongBody or TooManyEvents."""
        settings = self._gateway.settings
        if not start:
            self.items = _items(self._body, settings.largest_event)
        some = self.items[start : start + _AT_ONCE]
        numbers = range(start + 1, start + len(some) + 1)
        largest = settings.largest_event
        parsed = (_parsed(item, largest) if isinstance(item, msgspec.Raw) else item for item in some)
        catalog = self._gateway.store.catalog()
        return sift(parsed, numbers, catalog, settings.values_per_attribute, self._read, self._id_of)


def _items(body: bytes, largest: int) -> Sequence[Any]:
    """Each is parsed, or raw JSON where the array is long.

    16 MB of numbers are 7 million values, which took a thread 56 s and hundreds of megabytes to refuse one by one.
    """
    if body.count(b",") > _MOST_VALUES:
        raise TooManyEvents
    found: Sequence[Any] = decoded(body, list[Any]) if len(body) <= largest else decoded(body, RAW_ITEMS)
    if len(found) > MOST_EVENTS:
        raise TooManyEvents
    return found


def _parsed(part: msgspec.Raw, largest: int) -> Any:
    """Or an error in place of an event that is too large or has a key twice."""
    if len(part) > largest:
        return too_large(len(part), largest)
    try:
        return decoded(bytes(part), Any)
    except WrongBody as problem:
        return RefusedEvent(None, (BrokenRule("form", None, None, str(problem)),))
