"""Composites by the pages: the builder, checking while somebody writes, pictures, what is detected and waited for."""

from typing import Any

import pytest

from tests.service.conftest import Service, car, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.composite.detector import Entry, Key
from tidings.composite.stored import dump_entry, dump_key
from tidings.language.composites import parse
from tidings.schema import Instant
from tidings.service.pages.forms.composite_builder import Builder
from tidings.service.pages.forms.csrf import PROOF_HEADER
from tidings.service.pages.forms.form import Form
from tidings.service.pages.parts.timeline import detection_picture, picture
from tidings.store.journal.entries import Constituent
from tidings.store.notifications.composite_batch import Changes, CompositeBatch, Detected, detected_rows
from tidings.store.notifications.progress import COMPOSITES
from tidings.store.notifications.waiting import State

MINE, NEW = "/pages/subscriptions", "/pages/composites/new"
PAIR = "[brand = mini] before [year < 1950] within 10 min"


def _ask(visitor: Visitor, path: str, **body: Any) -> dict[str, Any]:
    visitor.get(NEW)
    headers = {PROOF_HEADER: visitor.form(NEW)["proof"][0]}
    answer = visitor.client.post(path, json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"first": "price > 5", "second": "price < 3"}, "[price > 5] before [price < 3] within 10 min"),
        ({"shape": "unless", "first": "a = 1", "second": "b = 2"}, "[a = 1] unless [b = 2] within 10 min"),
        ({"shape": "times", "first": "a = 1", "count": "5", "by": "user"}, "times([a = 1], 5) within 10 min by user"),
        ({"shape": "absent", "first": "a = 1", "amount": "2", "unit": "h"}, "absent([a = 1]) within 2 h"),
        (
            {"shape": "nonsense", "unit": "x", "first": "a = 1", "second": "b = 2"},
            "[a = 1] before [b = 2] within 10 min",
        ),
        ({"shape": "times", "first": "a = 1", "by": "a b"}, 'times([a = 1], 3) within 10 min by "a b"'),
        (
            {"first": "a = 1", "second": "b = 2", "by": "user", "expired": "1"},
            "[a = 1] before [b = 2] within 10 min by user report expired",
        ),
        ({"shape": "absent", "first": "a = 1", "expired": "1"}, "absent([a = 1]) within 10 min"),
    ],
)
def test_the_builder_writes_the_common_shapes(fields: dict[str, str], text: str) -> None:
    assert Builder.of(Form(list(fields.items()))).text() == text
    parse(text)


def test_a_picture_has_the_parts_in_order_and_the_frames_around_them() -> None:
    drawn = picture(parse("([a = 1] before [b = 2] without [c = 3] within 5 min) unless [a = 1] as x within 1 h"))
    assert [(dot.letter, dot.absent, dot.word) for dot in drawn.dots] == [
        ("A", False, "then"), ("B", True, "then"), ("C", False, "not"), ("x", True, ""),
    ]  # fmt: skip
    assert [(frame.told, frame.level) for frame in drawn.frames] == [("within 5 min", 1), ("within 1 h", 2)]
    assert drawn.end is not None
    assert sorted(dot.x for dot in drawn.dots) == [dot.x for dot in drawn.dots]
    times = picture(parse("times([a = 1], 9) within 1 min by user"))
    assert (len(times.dots), len(times.legend), times.by, times.end) == (4, 1, "user", None)


def test_a_detection_is_drawn_in_proportion() -> None:
    drawn = detection_picture([0, 1_000_000, 4_000_000], 4_000_000)
    first, second, third = (one.x for one in drawn.moments)
    assert (second - first) * 3 == pytest.approx(third - second, abs=1)
    assert (drawn.summary, drawn.first, drawn.last) == ("3 events within 4 s", "00:00:00", "00:00:04")
    assert detection_picture([], 0).moments == ()


def test_the_whole_life_of_a_composite(service: Service, ann: Visitor) -> None:
    ann.get(NEW)
    ann.submit(NEW, text=PAIR, name="Mini, then cheap")
    assert ann.page.status_code == 200, ann.text
    assert "Subscribed" in ann.text
    id = ann.page.url.path.rpartition("/")[2]
    assert service.store.subscription(id).composite
    assert ann.tree.xpath("//figure[@class='pattern']//circle"), "its picture"
    assert "Detections" in ann.text
    assert "Waiting for [brand = 'mini']" in _piece(ann, f"{MINE}/{id}/waiting")
    ann.get(MINE)
    assert "Mini, then cheap" in ann.text
    ann.get(f"{MINE}/{id}/edit")
    ann.submit(f"{MINE}/{id}/edit", text=PAIR.replace("10 min", "1 h"))
    assert "Saved." in ann.text
    assert service.store.subscription(id).filter.endswith("within 1 h")
    ann.get(f"{MINE}/{id}/edit")
    ann.submit(f"{MINE}/{id}/edit", text="[brand = mini] before [year < 1950]")
    assert ann.page.status_code == 422
    assert "'before' needs a frame of time" in ann.text


def test_a_detection_is_shown_with_its_events(service: Service, ann: Visitor) -> None:
    now = service.store.clock.now()
    ann.get(NEW)
    ann.submit(NEW, text=PAIR)
    id = ann.page.url.path.rpartition("/")[2]
    span = service.store.subscription(id).span
    assert span is not None
    events = []
    for name, seconds, values in (("one", 320, {}), ("two", 0, {"brand": "opel", "year": 1940})):
        time = Instant(now - seconds * 1_000_000)
        posted = service.client.post("/v1/events", json=car(name, **values) | {"time": str(time)})
        events.append(Constituent(int(time), "", name, posted.json()["position"]))
    found = Detected(id, "ann", span, ("x",), tuple(events), int(now))
    assert service.store.begin_composites()
    first = service.store.committed(COMPOSITES) + 1
    entry = dump_entry(
        Entry(None, [None, None, [[], [[[[int(now), int(now), ["e"], None], 0, None]], []], [], {}, [], []]])
    )
    state = State(dump_key(Key(str(span))), 0, None, entry)
    silent = Detected(id, "ann", span, ("y",), (), int(now))
    expired = Detected(id, "ann", span, ("x",), tuple(events[:1]), int(now), awaited=1, expired="[year < 1950]")
    batch = CompositeBatch(first, service.store.tail(), None, [Changes([state])])
    rows = detected_rows([found, silent, expired], service.store.known_places(first, batch.last))
    assert service.store.commit_detections(batch, [rows]) == 3
    told = ann.client.get("/v1/notifications").json()["items"]
    assert [one["detection"].get("expired") for one in told].count("[year < 1950]") == 1
    ann.get(f"{MINE}/{id}")
    assert "2 events within 5 min 20 s" in ann.text
    assert len(ann.tree.xpath("//figure[@class='detection']//circle")) == 3
    assert "one event, expired after 5 min 20 s" in ann.text
    assert "waited for [year < 1950]" in ann.text
    assert "1940" in ann.text
    assert "Why?" not in ann.text
    assert "2 events within" in _piece(ann, f"{MINE}/{id}/newer?after=0")
    ann.get(f"/pages/events/{events[1].position}")
    assert "before" in ann.text, "the composite that found it"
    assert "Why?" not in ann.text
    assert ann.get(f"{MINE}/{id}/why/{events[1].position}").status_code == 404
    assert "found by" in _piece(ann, "/")
    told = _piece(ann, f"{MINE}/{id}/waiting")
    assert told.startswith("Waiting for [year < 1950]; 1 partial match; it expires in"), "read from the query's state"


def _piece(visitor: Visitor, path: str) -> str:
    visitor.get(path)
    return visitor.text


@on_sqlite
def test_without_scripts_it_is_built_and_tried(service: Service, ann: Visitor) -> None:
    now = service.store.clock.now()
    for id, seconds, values in (("one", 400, {}), ("two", 100, {"brand": "opel", "year": 1940})):
        event = car(id, **values) | {"time": str(Instant(now - seconds * 1_000_000))}
        assert service.client.post("/v1/events", json=event).status_code == 202
    ann.get(NEW)
    ann.submit(NEW, first="brand = mini", second="year < 1950", build="1")
    assert ann.form(NEW)["text"][0].strip() == "[brand = 'mini'] before [year < 1950] within 10 min"
    assert "Detects 1 in the last 2 events." in ann.text
    assert ann.tree.xpath("//figure[@class='detection']//circle")
    assert "2 events within 5 min" in ann.text
    ann.submit(NEW, first="brandy = mini", build="1")
    assert "did you mean 'brand'?" in ann.text
    assert service.store.subscriptions("ann") == []


@on_sqlite
def test_checked_while_it_is_written(ann: Visitor) -> None:
    told = _ask(ann, "/pages/composite", text=PAIR)
    assert told["text"] == "[brand = 'mini'] before [year < 1950] within 10 min"
    assert "<svg" in told["pattern"]
    assert told["warnings"] == []
    wrong = _ask(ann, "/pages/composite", text="[brand = mini] before\n[yaer < 1950] within 1 h")["error"]
    assert (wrong["line"], wrong["column"]) == (2, 2)
    assert "did you mean 'year'?" in wrong["told"]
    assert _ask(ann, "/pages/composite", text=" ")["empty"]
    fields = {"shape": "absent", "first": "brand = mini", "amount": "5"}
    assert _ask(ann, "/pages/composite", fields=fields)["text"] == "absent([brand = 'mini']) within 5 min"
    assert "There are no events yet" in _ask(ann, "/pages/composite/count", text=PAIR)["newest"]
    assert "error" in _ask(ann, "/pages/composite/count", text="[price <")
