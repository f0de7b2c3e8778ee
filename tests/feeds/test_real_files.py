"""Real files through an inferred mapping, against what a few lines without Tidings find in them."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path

import pytest
from lxml import etree

from tests.feeds.real_files import real_file
from tidings.events import EventBatch, validate
from tidings.feeds import Proposal, infer
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.mapping.mapping import Layout, Origin
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content
from tidings.language import Filter, Subscription
from tidings.matching.algorithms import make_matcher

pytestmark = pytest.mark.slow


def inferred(path: Path, layout: Layout, event_type: str) -> tuple[Proposal, EventBatch]:
    """The mapping as it is proposed, and all events that it makes of the file; none may be refused."""
    content = Content(str(path), path.read_bytes())
    proposal = infer(content, layout, Origin(file=path), event_type)
    maker = EventMaker(proposal.mapping, proposal.catalog)
    made = [maker.make(one) for one in read_records(content, proposal.mapping.layout, proposal.mapping.paths)]
    assert not any(one.errors or one.left_out for one in made)
    return proposal, EventBatch.of([validate(one.raw, proposal.catalog) for one in made], proposal.catalog)


def matched(proposal: Proposal, batch: EventBatch, text: str) -> set[str]:
    """The ids of the events that match."""
    matcher = make_matcher("default", proposal.catalog)
    matcher.add(Subscription("s", Filter.parse(text, proposal.catalog)), 0)
    found = matcher.match(batch)
    return {one.id for row, one in enumerate(batch) if len(found.of(row))}


def haversine(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Kilometres between two points of a sphere as large as the earth."""
    (a, b), (c, d) = (map(math.radians, point) for point in (one, other))
    half = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * 6_371.0088 * math.asin(math.sqrt(half))


@pytest.mark.parametrize(("year", "rows"), [(2023, 10_560), (2025, 9_366)])
def test_earthquakes_near_san_francisco(year: int, rows: int) -> None:
    path = real_file(f"earthquakes/usgs-all-month-{year}.csv.gz")
    proposal, batch = inferred(path, Layout("csv"), "earthquake")
    assert len(batch) == rows
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        quakes = [row for row in csv.DictReader(file) if row["mag"]]
    found = 0
    for kilometres, magnitude in ((300, 4.0), (300, 2.5), (1_000, 4.0)):
        expected = {
            row["id"]
            for row in quakes
            if float(row["mag"]) >= magnitude
            and haversine((37.8, -122.4), (float(row["latitude"]), float(row["longitude"]))) <= kilometres
        }
        text = f"location near (37.8, -122.4) within {kilometres} km and mag >= {magnitude}"
        assert matched(proposal, batch, text) == expected, text
        found += len(expected)
    assert found > 20


def test_nested_bids_are_events_with_the_id_of_their_auction_and_item() -> None:
    path = real_file("xml-xmark/qt3/XMark/XMarkAuction.xml")
    layout = Layout("xml", "open_auctions open_auction", each="> bidder")
    proposal, batch = inferred(path, layout, "bid")
    bids = [
        (auction.get("id"), auction.xpath("string(itemref/@item)"), float(bid.findtext("increase") or "nan"))
        for auction in etree.parse(str(path)).iterfind(".//open_auction")
        for bid in auction.iterfind("bidder")
    ]
    assert len(batch) == len(bids) == 1_779
    made = [dict(one.attributes) for one in batch]
    assert [(one["open_auction_id"][0], one["itemref_item"][0], one["increase"][0]) for one in made] == bids
    assert len(matched(proposal, batch, "open_auction_id = 'open_auction0' and increase > 10")) == 2
