"""Feeds at work, from a real site or folder to a real server."""

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.client.conftest import QUICK
from tests.feeds.conftest import Map, Site
from tests.service.conftest import Service
from tidings.client import Client, NotAllowed, ServerUnreachable
from tidings.feeds import Feed, SchemaClash, SchemaLacks, SourceUnreachable
from tidings.feeds import feed as feeds
from tidings.feeds.feed import AT_ONCE
from tidings.feeds.memory.dead_letters import DeadLetters, letters_path
from tidings.feeds.records import records
from tidings.feeds.retry import retry
from tidings.feeds.sources.back_off import BackOff
from tidings.feeds.sources.folder_source import FolderSource
from tidings.schema import Catalog

CARS = {"brand": {"from": "brand", "grow": True}, "year": "year", "paint": {"from": "paint", "split": ","}}
SOON = BackOff(0.01, 0.05)


def rows(*cars: tuple[str, str, int]) -> bytes:
    return b"id,brand,year,paint\n" + b"".join(f'{id},{brand},{year},"red,blue"\n'.encode() for id, brand, year in cars)


def stored(client: Client) -> list[dict[str, Any]]:
    return [dict(found.event) for found in client.query()]


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


class Running:
    """A feed in a thread, until the end of the block."""

    def __init__(self, feed: Feed) -> None:
        self.feed, self.stop, self.problem = feed, threading.Event(), None
        self._thread = threading.Thread(target=self._run)

    problem: Exception | None

    def _run(self) -> None:
        try:
            self.feed.run(self.stop)
        except Exception as problem:
            self.problem = problem

    def __enter__(self) -> "Running":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self._thread.join(120)
        assert not self._thread.is_alive()


def test_a_file_becomes_events_and_unseen_values_are_appended(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(("c1", "mini", 1990), ("c2", "trabant", 1985)))
    feed = Feed(mapped(file="cars.csv", event_type="car", id="id", source="lot", fields=CARS), ann)
    told = feed.once()
    assert (told.records, told.published, told.refused, told.appended) == (2, 2, 0, 1)
    assert stored(ann)[1] == {
        "id": "c2",
        "source": "lot",
        "event_type": ["car"],
        "attributes": {"brand": "trabant", "paint": ["red", "blue"], "year": 1985},
    }
    domain = ann.schema().domain("brand")
    assert domain is not None
    assert domain.values[-1] == "trabant"


def test_without_leave_to_grow_an_unseen_value_is_refused_and_stops_nothing(
    ann: Client, mapped: Map, tmp_path: Path
) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(("c1", "trabant", 1990), ("c2", "mini", 1985), ("c3", "mini", 1)))
    fields = {"brand": "brand", "year": {"from": "year", "kind": "numeric"}}
    heard: list[str] = []
    feed = Feed(mapped(file="cars.csv", event_type="car", id="id", fields=fields), ann, heard.append)
    told = feed.once()
    assert (told.published, told.refused, told.appended) == (2, 1, 0)
    (line,) = heard
    assert "cars.csv: line 2: event 'c1' refused: domain: 'brand'" in line


def test_what_cannot_be_read_is_refused_with_the_value(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(b"brand,year\nmini,old\nmini,1990\n")
    heard: list[str] = []
    told = Feed(mapped(file="cars.csv", event_type="car", fields={"brand": "brand", "year": "year"}), ann, heard.append)
    assert (told.once().published, told.counters.refused) == (1, 1)
    assert "'old' cannot be read as a number" in heard[0]


def test_a_record_without_the_id_that_is_named_is_refused(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(("c1", "mini", 1990), ("", "mini", 1991)))
    heard: list[str] = []
    told = Feed(mapped(file="cars.csv", event_type="car", id="id", fields=CARS), ann, heard.append).once()
    assert (told.published, told.refused) == (1, 1)
    assert "form: id: nothing found at 'id'" in heard[0]


def test_the_same_again_is_a_duplicate_also_for_another_run(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(*((f"c{n}", "mini", 1990) for n in range(1_200))))
    for keys in ({"id": "id"}, {}):
        mapping = mapped(file="cars.csv", event_type="car", fields=CARS, **keys)
        assert Feed(mapping, ann).once().published == (1_200 if keys else 1)  # by what is read they are all one
        told = Feed(mapping, ann).once()
        assert (told.published, told.duplicates + told.known) == (0, 1_200)


def test_a_page_is_asked_for_only_when_it_has_changed(ann: Client, mapped: Map, site: Site) -> None:
    site.pages["/cars"] = rows(("c1", "mini", 1990))
    site.headers = {"Content-Type": "text/csv", "ETag": '"1"'}
    mapping = mapped(url=f"{site.url}/cars", format="csv", every=0.1, event_type="car", id="id", fields=CARS)
    with Running(Feed(mapping, ann)) as running:
        until(lambda: len(site.asked) >= 3)
        site.pages["/cars"] = rows(("c1", "mini", 1990), ("c2", "mini", 1991))
        site.headers["ETag"] = '"2"'
        until(lambda: running.feed.counters.published == 2)
    assert [status for _, status in site.asked[:3]] == [200, 304, 304]
    told = running.feed.counters
    assert (told.records, told.known, told.duplicates, told.failures) == (3, 1, 0, 0)
    assert running.problem is None


def test_a_site_that_fails_is_asked_again(ann: Client, mapped: Map, site: Site) -> None:
    site.pages["/cars"] = rows(("c1", "mini", 1990))
    site.status = 500
    heard: list[str] = []
    mapping = mapped(url=f"{site.url}/cars", format="csv", every=0.1, event_type="car", fields=CARS)
    with Running(Feed(mapping, ann, heard.append, back_off=SOON)) as running:
        until(lambda: running.feed.counters.failures >= 2)
        site.status = 200
        until(lambda: running.feed.counters.published == 1)
    assert "it answered 500" in heard[0]


def test_pauses_grow_and_are_bounded() -> None:
    back_off = BackOff(1.0, 300.0, draw=lambda: 1.0)
    assert [back_off.pause(2.0, failures) for failures in (0, 1, 2, 3, 50)] == [2.0, 2.0, 4.0, 8.0, 300.0]
    assert back_off.pause(1_000.0, 5) == 1_000.0
    assert BackOff(1.0, 300.0, draw=lambda: 0.0).pause(2.0, 2) == 2.0


def test_a_folder_is_followed(ann: Client, mapped: Map, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    mapping = mapped(folder="in", pattern="*.csv", every=0.1, event_type="car", id="id", fields=CARS)
    heard: list[str] = []
    source = FolderSource(folder, "*.csv", 0.0)
    with Running(Feed(mapping, ann, heard.append, source=source)) as running:
        (folder / "a.csv").write_bytes(rows(("c1", "mini", 1990)))
        until(lambda: running.feed.counters.published == 1)
        (folder / "broken.csv").write_bytes(b"\xff\xfe\xff")
        (folder / "b.csv").write_bytes(rows(("c2", "mini", 1990)))
        (folder / ".hidden.csv").write_bytes(rows(("c3", "mini", 1990)))
        (folder / "other.txt").write_bytes(rows(("c4", "mini", 1990)))
        until(lambda: running.feed.counters.published == 2 and running.feed.counters.failures == 1)
        looks = running.feed.counters.looks
        until(lambda: running.feed.counters.looks > looks + 2)
    assert len(heard) == 1  # a broken file is told once
    assert "broken.csv: byte 2" in heard[0]
    assert [event["id"] for event in stored(ann)] == ["c1", "c2"]


def test_a_file_is_left_alone_while_it_is_written(tmp_path: Path) -> None:
    now = 1_000_000.0
    source = FolderSource(tmp_path, "*", 1.0, clock=lambda: now)
    path = tmp_path / "a.csv"
    path.write_bytes(b"x")
    os.utime(path, (now - 0.5, now - 0.5))
    assert list(source.look()) == []
    os.utime(path, (now - 2, now - 2))
    (content,) = source.look()
    assert content.body == b"x"
    assert len(list(source.look())) == 1  # not yet done with
    source.done(content)
    assert list(source.look()) == []
    path.write_bytes(b"xy")
    os.utime(path, (now - 2, now - 2))
    assert len(list(source.look())) == 1


def test_a_clock_that_was_set_back_does_not_open_a_file_that_is_written(tmp_path: Path) -> None:
    now = 1_000_000.0
    source = FolderSource(tmp_path, "*", 1.0, clock=lambda: now)
    path = tmp_path / "a.csv"
    path.write_bytes(b"x")
    os.utime(path, (now + 3_600, now + 3_600))
    assert list(source.look()) == []
    path.write_bytes(b"xy")
    os.utime(path, (now + 3_601, now + 3_601))
    assert list(source.look()) == []
    (content,) = source.look()  # nobody wrote between two looks
    assert content.body == b"xy"


def test_what_is_not_there(ann: Client, mapped: Map, site: Site) -> None:
    def feed(**where: Any) -> Feed:
        return Feed(mapped(**where, format="csv", event_type="car", fields=CARS), ann)

    for where, said in [
        ({"file": "none.csv"}, "no such file"),
        ({"folder": "none"}, "no such folder"),
        ({"url": f"{site.url}/none"}, "404"),
        ({"url": "http://127.0.0.1:1/"}, "refused"),
    ]:
        with pytest.raises(SourceUnreachable, match=said):
            feed(**where).once()


def test_a_schema_that_lacks_something_is_said_before_anything_is_read(ann: Client, mapped: Map) -> None:
    with pytest.raises(
        SchemaLacks, match=r"no event type 'boat', no attribute 'sails'; `tidings feed infer own\.toml`"
    ):
        Feed(mapped(file="x.csv", event_type="boat", fields={"sails": "s"}), ann).once()
    with pytest.raises(SchemaLacks, match="'estimate' in 'car'"):
        Feed(mapped(file="x.csv", event_type="car", fields={"estimate": "s"}), ann).once()
    with pytest.raises(SchemaClash):
        Feed(mapped(file="x.csv", event_type="car", fields={"year": {"from": "y", "kind": "time"}}), ann).once()


def test_growth_ends_at_its_limit(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(*((f"c{n}", f"brand {n}", 1990) for n in range(10))))
    heard: list[str] = []
    mapping = mapped(file="cars.csv", event_type="car", id="id", grow_limit=3, fields=CARS)
    told = Feed(mapping, ann, heard.append).once()
    assert (told.appended, told.published, told.refused) == (3, 3, 7)
    assert "grow_limit is reached, first by 'brand 3'" in heard[0]


def test_a_token_without_leave_to_grow_publishes_what_it_can(
    service: Service, ann: Client, mapped: Map, tmp_path: Path
) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(("c1", "trabant", 1990), ("c2", "mini", 1990)))
    heard: list[str] = []
    with Client(service.address, patience=QUICK) as client:
        client.log_in("ann", "correct horse battery", scopes=["publish"])
        told = Feed(mapped(file="cars.csv", event_type="car", fields=CARS), client, heard.append).once()
    assert (told.published, told.refused, told.appended) == (1, 1, 0)
    assert "unseen values cannot be appended" in heard[0]


def test_without_a_token_it_ends(service: Service, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(("c2", "mini", 1990)))
    mapping = mapped(file="cars.csv", event_type="car", fields=CARS)
    with Client(service.address, patience=QUICK) as client:
        with pytest.raises(NotAllowed):
            Feed(mapping, client).once()
        with Running(Feed(mapping, client, source=FolderSource(tmp_path, "cars.csv", 0.0))) as running:
            until(lambda: running.problem is not None)
    assert isinstance(running.problem, NotAllowed)


def test_a_refused_event_is_tried_again_when_the_schema_has_grown(ann: Client, mapped: Map, site: Site) -> None:
    site.pages["/cars"] = rows(("c1", "trabant", 1990), ("c2", "mini", 1990))
    mapping = mapped(
        url=f"{site.url}/cars", format="csv", every=0.1, event_type="car", id="id",
        fields={"brand": "brand", "year": "year"},
    )  # fmt: skip
    with Running(Feed(mapping, ann)) as running:
        until(lambda: running.feed.counters.looks > 3)
        assert (running.feed.counters.refused, running.feed.counters.published) == (1, 1)
        ann.append_value("brand", "trabant")
        until(lambda: running.feed.counters.published == 2)
    assert running.feed.counters.duplicates == 0


def test_the_ids_remembered_are_bounded(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(*((f"c{n}", "mini", 1990) for n in range(50))))
    feed = Feed(mapped(file="cars.csv", event_type="car", id="id", fields=CARS), ann, remembered=10)
    assert feed.once().published == 50
    assert len(feed._memory.known) == 10


def test_what_was_read_before_a_broken_line_is_published(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(
        rows(("c1", "mini", 1990), ("c2", "mini", 1990)) + b"x" * 4_200_000 + b",mini\n"
    )
    heard: list[str] = []
    feed = Feed(mapped(file="cars.csv", event_type="car", id="id", fields=CARS), ann, heard.append)
    told = feed.once()
    assert (told.records, told.published, told.failures) == (2, 2, 1)
    assert "cars.csv: line 4: not valid CSV" in heard[0]


def test_what_is_damaged_is_refused_alone(ann: Client, mapped: Map, tmp_path: Path) -> None:
    """A cell of 200,000 characters ended a table; a line or a byte, all of a file."""
    cars = rows(("c1", "mini", 1990), *(("c2", "mini", 1990),) * 200)
    (tmp_path / "cars.csv").write_bytes(
        cars + b"c3,mini," + 200_000 * b"x" + b",red\nc4,mini,1990,r\xff\nc5,mini,1990,\n"
    )
    heard: list[str] = []
    told = Feed(mapped(file="cars.csv", event_type="car", id="id", fields=CARS), ann, heard.append).once()
    assert (told.published, told.refused, told.failures) == (4, 1, 1)
    assert told.faults == {"year: not a number": 1, "paint: not text": 1}
    assert "cars.csv: line 204: not valid UTF-8; set another with the mapping's `encoding`" in heard[-1]

    lines = [json.dumps({"id": f"j{n}", "brand": "mini", "year": 1990}) for n in range(3)]
    (tmp_path / "cars.json").write_text("\n".join([lines[0], lines[1][:20], "", lines[1], lines[2]]))
    fields = {"brand": "brand", "year": "year"}
    state, heard = tmp_path / "state", []
    feed = Feed(mapped(file="cars.json", event_type="car", id="id", fields=fields), ann, heard.append, state=state)
    assert (feed.once().published, feed.counters.refused, feed.counters.failures) == (3, 1, 0)
    assert feed.counters.faults == {"record: unreadable": 1}
    assert "cars.json: line 2: event" in heard[0]
    assert "not valid JSON: " in heard[0]
    (letter,) = DeadLetters(letters_path(state)).letters.values()
    assert (letter["line"], letter["record"]) == (2, {"(unreadable)": [lines[1][:20]]})
    assert retry(feed.mapping, ann, DeadLetters(letters_path(state))).unread == 1
    again = Feed(feed.mapping, ann, state=state)
    assert (again.once().records, again.counters.waiting) == (0, 1)


def test_more_records_than_are_read_are_told(
    ann: Client, mapped: Map, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "MOST_RECORDS", 7)
    for cars, failures in [(7, 0), (8, 1)]:
        (tmp_path / "cars.csv").write_bytes(rows(*((f"{cars}-{n}", "mini", 1990) for n in range(cars))))
        heard: list[str] = []
        told = Feed(mapped(file="cars.csv", event_type="car", id="id", fields=CARS), ann, heard.append).once()
        assert (told.records, told.published, told.failures) == (7, 7, failures)
    assert "cars.csv: only its first 7 records were read; split it" in heard[0]


def test_more_values_than_are_read_are_refused(ann: Client, mapped: Map, tmp_path: Path) -> None:
    cars = [{"b": "mini", "y": 1990, "p": [{"c": f"{car} {n}"} for n in range(1_000 + car)]} for car in range(2)]
    (tmp_path / "cars.json").write_text(json.dumps(cars))
    fields = {"brand": "b", "year": "y", "paint": "p/*/c"}
    heard: list[str] = []
    told = Feed(mapped(file="cars.json", event_type="car", fields=fields), ann, heard.append).once()
    assert (told.published, told.refused) == (1, 1)
    assert "more than 1,000 values at 'p/*/c'" in heard[0]


def test_a_server_that_goes_away_loses_nothing(service: Service, ann: Client, mapped: Map, site: Site) -> None:
    site.pages["/cars"] = rows(("c1", "mini", 1990))
    mapping = mapped(url=f"{site.url}/cars", format="csv", every=0.1, event_type="car", id="id", fields=CARS)
    address = ann.url
    with Running(Feed(mapping, ann, back_off=SOON)) as running:
        until(lambda: running.feed.counters.published == 1)
        ann.url = "http://127.0.0.1:1"  # where nobody is
        site.pages["/cars"] = rows(("c1", "mini", 1990), ("c2", "mini", 1990))
        until(lambda: running.feed.counters.failures >= 2)
        ann.url = address
        until(lambda: running.feed.counters.published == 2)
    assert running.problem is None


def test_once_does_not_wait_for_a_server(mapped: Map) -> None:
    with Client("http://127.0.0.1:1", "tid_x", patience=QUICK) as client, pytest.raises(ServerUnreachable):
        Feed(mapped(file="x.csv", event_type="car", fields=CARS), client).once()


def test_it_stops_in_the_middle_of_a_large_file(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(*((f"c{n}", "mini", 1990) for n in range(3_000))))
    stop = threading.Event()
    feed = Feed(
        mapped(file="cars.csv", event_type="car", id="id", fields=CARS),
        ann,
        source=FolderSource(tmp_path, "cars.csv", 0),
    )
    whole = ann.publish_many

    def first(events: Any) -> Any:
        stop.set()
        return whole(events)

    ann.publish_many = first  # type: ignore[method-assign, assignment]
    assert feed.run(stop).published == AT_ONCE


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; DROP TABLE events; --",
    "{{7*7}} ${7*7}",
    "\u202eevil\u202c \u200b",
    "=cmd|' /C calc'!A0",
]


def test_hostile_content_stays_text(ann: Client, mapped: Map, tmp_path: Path) -> None:
    cars = [{"n": f"{number}{text}", "b": text, "y": 1990, "p": [text]} for number, text in enumerate(HOSTILE)]
    cars += [{"n": "lone", "b": "mini", "y": 1990, "p": "\ud800"}, {"n": "long", "b": "x" * 500, "y": 1990}]
    cars += [{"n": "huge", "b": "mini", "y": 1990, "p": "x" * 400_000}, {"n": "nan", "b": "mini", "y": float("nan")}]
    (tmp_path / "cars.json").write_text(json.dumps(cars))
    fields = {"brand": {"from": "b", "grow": True}, "year": "y", "paint": "p"}
    told = Feed(mapped(file="cars.json", event_type="car", id="n", fields=fields), ann).once()
    printable = [text for text in HOSTILE if text.isprintable()]
    assert (told.published, told.refused) == (len(printable) + 1, len(cars) - len(printable) - 1)
    *found, lone = [event["attributes"] for event in stored(ann)]
    assert [one["brand"] for one in found] == printable
    assert lone == {"brand": "mini", "year": 1990}
    domain = ann.schema().domain("brand")
    assert domain is not None
    assert domain.values[-len(printable) :] == tuple(printable)


def test_a_large_schema_is_gone_through_once_and_not_for_each_file(
    ann: Client, mapped: Map, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """1,000 small files took 21 seconds with a tree of 11,000 nodes."""
    gone_through: list[Catalog] = []

    def mark(_: object, catalog: Catalog) -> str:
        gone_through.append(catalog)
        return str(len(gone_through))

    monkeypatch.setattr(feeds, "schema_mark", mark)
    (tmp_path / "in").mkdir()
    for number in range(20):
        (tmp_path / "in" / f"{number}.csv").write_bytes(rows((f"c{number}", "trabant" if number > 9 else "mini", 1990)))
    told = Feed(mapped(folder="in", pattern="*.csv", event_type="car", id="id", fields=CARS), ann).once()
    assert (told.published, told.appended) == (20, 1)
    assert len(gone_through) == 2, "once before the new value, and once after it"
