"""Arithmetic, `now` and places: worked examples on the default algorithm, as plans and after merges too."""

from __future__ import annotations

import math
from pathlib import Path

import pyarrow as pa
import pytest

from tidings.events import Event, EventBatch, validate
from tidings.language import Filter, Subscription
from tidings.matching.index.box_matcher import BoxMatcher
from tidings.matching.naive_matcher import NaiveMatcher
from tidings.matching.plan.folder import open_plan, save_plan
from tidings.schema import Catalog, Instant
from tidings.schema.region import RADIUS, distance, is_inside

NAMES = {"price": "n", "estimate": "n", "starts": "t", "ends": "t", "spot": "p", "spots": "p", "bids": "n"}
SCHEMA = Catalog.from_dict(
    {
        "domains": [
            {"name": "n", "kind": "numeric"},
            {"name": "t", "kind": "time"},
            {"name": "p", "kind": "place"},
        ],
        "attributes": [{"name": name, "domain": domain} for name, domain in NAMES.items()],
        "event_types": [
            {
                "name": "any",
                "attributes": [
                    {"name": name, "mandatory": False, "unique": name not in ("spots", "bids")} for name in NAMES
                ],
            }
        ],
    }
)
DAY = 86_400_000_000


def event(time: str | None = None, **attributes: object) -> Event:
    raw = {"id": "e", "event_type": "any", "attributes": attributes} | ({"time": time} if time else {})
    return validate(raw, SCHEMA)


CASES = [
    ("price < 1.1 * estimate + 50", event(price=159, estimate=100), True),
    ("price < 1.1 * estimate + 50", event(price=161, estimate=100), False),
    ("price < 1.1 * estimate + 50", event(price=1), False),
    ("not (price < 2 * estimate)", event(price=200, estimate=100), True),
    ("price = -1 * estimate", event(price=-7, estimate=7), True),
    ("bids > 2 * estimate and bids < 2 * estimate + 3", event(bids=[19, 24], estimate=10), False),
    ("bids > 2 * estimate and bids < 2 * estimate + 3", event(bids=[19, 22], estimate=10), True),
    ("ends > starts + 2 h", event(starts="2026-01-01T00:00", ends="2026-01-01T02:00:00.000001"), True),
    ("ends > starts + 2 h", event(starts="2026-01-01T00:00", ends="2026-01-01T02:00"), False),
    ("ends = starts - 1 day", event(starts="9999-12-31T23:59:59.999999", ends="9999-12-30T23:59:59.999999"), True),
    ("ends <= now + 1 day", event("2026-01-01", ends="2026-01-02"), True),
    ("ends < now + 1 day", event("2026-01-01", ends="2026-01-02"), False),
    ("ends < now + 1 day", event(ends="2026-01-02"), False),
    ("not (ends < now + 1 day)", event(ends="2026-01-02"), False),
    ("spot near (37.8, -122.4) within 10 km", event(spot=[37.8, -122.3]), True),
    ("spot near (37.8, -122.4) within 8 km", event(spot=[37.8, -122.3]), False),
    ("spot near (0, 179.9) within 12 km", event(spot=[0, -180]), True),
    ("spot near (0, 179.9) within 25 km", event(spot=[0, -179.9]), True),
    ("spot near (90, 77) within 12 km", event(spot=[89.9, -10]), True),
    ("spot near (89.95, 0) within 17 km", event(spot=[89.9, 180]), True),
    ("spot not near (0, 0) within 1 km", event(spot=[0, 0]), False),
    ("spots near (0, 0) within 1 km and spots near (0, 1) within 1 km", event(spots=[[0, 0], [0, 1]]), False),
    ("spots near (0, 0) within 70 km and spots near (0, 1) within 70 km", event(spots=[[0, 0.5], [9, 9]]), True),
    ("spot inside (-10, 170, 10, -170)", event(spot=[0, 180]), True),
    ("spot inside (-10, 170, 10, -170)", event(spot=[0, 169]), False),
    ("spot inside (-10, -180, 10, -170)", event(spot=[0, 180]), True),
    ("spot inside (80, 10, 90, 20)", event(spot=[90, -100]), True),
    ("spot near (0, 0) within 900 km and price < 2 * estimate", event(spot=[5, 5], price=19, estimate=10), True),
    ("spot near (0, 0) within 900 km and price < 2 * estimate", event(spot=[5, 5], price=21, estimate=10), False),
    ("spot near (0, 0) within 900 km and price < 2 * estimate", event(spot=[5, 5], price=-1), False),
    ("spot near (0, 0) within 900 km and price > 2 * estimate", event(spot=[5, 5], price=1), False),
    ("spots contains (1, 2)", event(spots=[[1, 2], [3, 4]]), True),
    ("spots contains (2, 1)", event(spots=[[1, 2], [3, 4]]), False),
]


def test_every_case_by_kernel_by_merge_by_plan_and_by_specification(tmp_path: Path) -> None:
    boxes, naive = BoxMatcher(SCHEMA, 1), NaiveMatcher(SCHEMA)
    for number, (text, _, _) in enumerate(CASES):
        subscription = Subscription(f"{number:02}", Filter.parse(text, SCHEMA))
        for matcher in (boxes, naive):
            matcher.add(subscription)
        boxes.settled_segments()  # each in a segment of its own, to be merged
    batch = EventBatch.of([one for _, one, _ in CASES], SCHEMA)
    expected = [[naive.id(n) for n in naive.match(batch).of(row).tolist()] for row in range(len(batch))]
    for row, (text, _, holds) in enumerate(CASES):
        assert (f"{row:02}" in expected[row]) is holds, text
    boxes.merge()
    save_plan(boxes, tmp_path / "plan", None)
    for matcher in (boxes, open_plan(tmp_path / "plan", 1)):
        found = matcher.match(batch)
        assert [sorted(matcher.id(n) for n in found.of(row).tolist()) for row in range(len(batch))] == expected
        alone = [sorted(matcher.id(n) for n in matcher.match_one(one).tolist()) for _, one, _ in CASES]
        assert alone == expected


def test_now_is_the_time_of_acceptance_where_there_is_one() -> None:
    boxes = BoxMatcher(SCHEMA, 1)
    boxes.add(Subscription("soon", Filter.parse("ends < now + 1 day", SCHEMA)))
    made = event("2026-01-01", ends="2026-01-05")
    batch = EventBatch.of([made, made], SCHEMA)
    accepted = pa.array([int(Instant.parse("2026-01-03")), int(Instant.parse("2026-01-05"))], pa.int64())
    batch = EventBatch.from_arrow(batch.to_arrow(), SCHEMA)
    batch = EventBatch.concat([type(batch)(**{**vars(batch), "accepted": accepted})])
    assert boxes.match(batch).offsets.tolist() == [0, 0, 1]
    assert boxes.match(batch.slice(1)).offsets.tolist() == [0, 1]


@pytest.mark.parametrize("other", [(51.5, -0.1), (-33.9, 151.2), (0, 180), (90, 0), (-37.8, 57.6)])
def test_a_distance_agrees_with_the_angle_between_two_vectors(other: tuple[float, float]) -> None:
    def vector(latitude: float, longitude: float) -> tuple[float, float, float]:
        a, b = math.radians(latitude), math.radians(longitude)
        return math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)

    dot = sum(one * two for one, two in zip(vector(37.8, -122.4), vector(*other), strict=True))
    assert distance(37.8, -122.4, *other) == pytest.approx(RADIUS * math.acos(dot), abs=0.5)


def test_a_box_includes_its_edges_and_a_pole_has_every_longitude() -> None:
    assert is_inside(37.0, -123.0, 37, -123, 38, -122)
    assert not is_inside(37.0, -123.1, 37, -123, 38, -122)
    assert is_inside(-90.0, 0.0, -90, 20, -89, 30)
