"""What a composite waits for, in words: of states that the detector has after a few events."""

import pytest

from tidings.composite.file_detections import FileDetections
from tidings.composite.waiting import counts_from_start, longest
from tidings.events import EventBatch, validate
from tidings.language.composites import BoundComposite, parse
from tidings.schema import Instant, json_form
from tidings.schema.catalog import Catalog
from tidings.schema.values import UNITS

START = Instant.parse("2026-05-01T00:00:00Z")
SECOND = UNITS["s"]
SCHEMA = {
    "domains": [{"name": "money", "kind": "numeric"}, {"name": "words", "kind": "string"}],
    "attributes": [{"name": "price", "domain": "money"}, {"name": "user", "domain": "words"}],
    "event_types": [{"name": "bid", "attributes": [{"name": "price"}, {"name": "user", "mandatory": False}]}],
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return json_form.read(SCHEMA)


def waits(catalog: Catalog, composite: str, bids: list[tuple[int, int, str]], now: int) -> list[str]:
    """Of bids (second, price, user), each as a sentence at the second `now`."""
    found = FileDetections({"c": BoundComposite.parse(composite, catalog)}, catalog)
    events = [
        validate(
            {
                "id": f"e{second}",
                "event_type": "bid",
                "time": str(Instant(START + second * SECOND)),
                "attributes": {"price": price, "user": user},
            },
            catalog,
        )
        for second, price, user in bids
    ]
    if events:
        found.take(EventBatch.of(events, catalog))
    until = START + now * SECOND
    return [one.sentence(until) for one in found.waits("c", START, until)]


def test_a_start_of_long_ago_brings_no_time_events_of_long_ago(catalog: Catalog) -> None:
    text = "[every 1 s] before [price > 5] within 10 s start '1970-01-01'"
    found = FileDetections({"c": BoundComposite.parse(text, catalog)}, catalog)
    bid = {"id": "e", "event_type": "bid", "time": str(START), "attributes": {"price": 9, "user": "x"}}
    found.take(EventBatch.of([validate(bid, catalog)], catalog))
    assert len(found.detections()) == 10


@pytest.mark.parametrize(
    ("composite", "bids", "now", "told"),
    [
        ("[price > 5] before [price < 5] within 1 h", [], 9, ["waiting for [price > 5]"]),
        ("[price > 5] and [price < 5] within 1 h", [], 9, ["waiting for [price > 5]", "waiting for [price < 5]"]),
        (
            "[price > 5] before [price < 5] within 5 min",
            [(0, 6, "x"), (60, 7, "x")],
            120,
            ["waiting for [price < 5]; 2 partial matches; the oldest expires in 3 min"],
        ),
        (
            "[price > 5] before [price < 5] within 5 min by user",
            [(0, 6, "x"), (60, 7, "y")],
            120,
            ["waiting for [price < 5]; 2 partial matches; the oldest expires in 3 min"],
        ),
        ("[price > 5] before [price < 5] within 5 min", [(0, 6, "x")], 301, ["waiting for [price > 5]"]),
        (
            "[price > 5] before [price < 5] before [price = 5] within 5 min",
            [(0, 6, "x"), (60, 4, "x")],
            100,
            [
                "waiting for [price < 5]; 1 partial match; it expires in 3 min",
                "waiting for [price = 5]; 1 partial match; it expires in 3 min",
            ],
        ),
        (
            "times([price > 5], 5) within 1 min",
            [(0, 6, "x"), (1, 6, "x")],
            15,
            ["waiting for 3 more [price > 5]; 1 partial match; it expires in 45 s"],
        ),
        (
            "[price > 5] unless [price < 5] within 1 h",
            [(0, 6, "x")],
            1,
            ["waiting for time to pass without [price < 5]; 1 partial match; it is complete in 59 min"],
        ),
        ("nth([price > 5], 3)", [(0, 6, "x")], 1, ["waiting for 2 more [price > 5]; 1 partial match"]),
        (
            "absent([price > 5]) within 1 h",
            [],
            60,
            ["waiting for time to pass without [price > 5]; 1 partial match; it is complete in 59 min"],
        ),
    ],
)
def test_in_words(
    catalog: Catalog, composite: str, bids: list[tuple[int, int, str]], now: int, told: list[str]
) -> None:
    assert waits(catalog, composite, bids, now) == told


@pytest.mark.parametrize(
    ("composite", "seconds", "counts"),
    [
        ("[price > 5]", 0, False),
        ("[price > 5] or ([price < 3] before [price = 4] within 1 min)", 60, False),
        ("([price > 5] before [price < 3] within 1 min) unless [price = 4] within 1 h", 3_660, False),
        ("times([price > 5], 2) within 2 min", 120, False),
        ("nth([price > 5], 2)", 0, True),
        ("absent([price > 5]) within 1 h", 3_600, True),
        ("nth([price > 5], 2) before [price < 3] within 1 h", 3_600, True),
    ],
)
def test_how_long_it_takes(composite: str, seconds: int, counts: bool) -> None:
    tree = parse(composite).tree
    assert (longest(tree), counts_from_start(tree)) == (seconds * SECOND, counts)
