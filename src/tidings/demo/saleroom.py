"""A made-up saleroom: a lot goes up every few seconds, people bid for a minute, then the hammer falls.

What happens to a lot is a pure function of its number, and its number says when it goes up. So nothing has to be kept,
and a restart continues with the lots that are open."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Instant, Kind

SOURCE = "saleroom"
EVERY = 12  # seconds from one lot to the next
OPEN = 60  # seconds that a lot is open
LAST_CALL = 10  # seconds before the hammer falls
_MOST_BIDS = 7
_BIDDERS = ("Amal", "Bela", "Chen", "Dora", "Emil", "Fatou", "Goran", "Hana", "Ines", "Jonas")
_SECOND = 1_000_000  # microseconds


def saleroom_schema() -> Catalog:
    """Event types `bid`, `last_call` and `hammer`; `auction` is the number of the lot."""
    auction, amount, bidder = AttributeUse("auction"), AttributeUse("amount"), AttributeUse("bidder")
    optional = (AttributeUse("amount", mandatory=False), AttributeUse("bidder", mandatory=False))
    return Catalog(
        (
            Domain("lot_number", Kind.NUMERIC),
            Domain("dollars", Kind.NUMERIC),
            Domain("bidder", Kind.ENUMERATED, values=_BIDDERS),
        ),
        (Attribute("auction", "lot_number"), Attribute("amount", "dollars"), Attribute("bidder", "bidder")),
        (
            EventType("bid", (auction, bidder, amount)),
            EventType("last_call", (auction, *optional)),
            EventType("hammer", (auction, *optional)),
        ),
    )


def happenings(since: float, until: float) -> list[dict[str, Any]]:
    """The raw events of the times [since, until), in seconds since 1970, in order."""
    lots = range(int(since - OPEN) // EVERY, int(until) // EVERY + 1)
    found = [one for lot in lots for one in _lot(lot) if since * _SECOND <= one[0] < until * _SECOND]
    return [raw | {"time": str(Instant(time))} for time, raw in sorted(found, key=lambda one: one[0])]


def _lot(number: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """What happens to a lot, and when, in microseconds."""
    draw = random.Random(number)
    begin = number * EVERY * _SECOND
    # In two of three lots somebody bids after the last call.
    latest = OPEN if draw.random() < 2 / 3 else OPEN - LAST_CALL - 1
    times = sorted(draw.randrange(_SECOND, latest * _SECOND) for _ in range(draw.randint(1, _MOST_BIDS)))
    amount, bidder = 10 * draw.randint(5, 50), ""
    moments = [(time, "bid") for time in times]
    moments += [((OPEN - LAST_CALL) * _SECOND, "last_call"), (OPEN * _SECOND, "hammer")]
    told: dict[str, Any] = {}
    for count, (time, event_type) in enumerate(_apart(sorted(moments))):
        if event_type == "bid":
            amount += 10 * draw.randint(1, 5)
            bidder = draw.choice([one for one in _BIDDERS if one != bidder])
            told = {"amount": amount, "bidder": bidder}
        yield (
            begin + time,
            {
                "id": f"{number}/{count}",
                "source": SOURCE,
                "event_type": event_type,
                "attributes": {"auction": number, **told},
            },
        )


def _apart(moments: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Without those that would happen at one time: the first stays."""
    return [*(one for one, after in pairwise(moments) if one[0] < after[0]), moments[-1]]
