"""What a feed keeps for its next run, and that nothing is lost by it."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.conftest import Map, Site
from tests.feeds.test_feed import CARS, Running, rows, stored, until
from tests.service.conftest import Service
from tidings.client import Client
from tidings.feeds import Feed, Mapping, state_path
from tidings.feeds import feed as feeds
from tidings.feeds.feed import AT_ONCE
from tidings.feeds.memory import memory
from tidings.feeds.memory.state import Kept, Owing, StateFile
from tidings.feeds.sources.folder_source import FolderSource

YEARS = {"brand": "brand", "year": "year"}


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / ".own.toml.state"


def once(mapping: Mapping, client: Client, state: Path, **more: Any) -> tuple[Feed, list[str]]:
    heard: list[str] = []
    feed = Feed(mapping, client, heard.append, state=state, **more)
    feed.once()
    return feed, heard


def test_a_page_that_did_not_change_is_not_read_after_a_restart(
    ann: Client, mapped: Map, site: Site, state: Path
) -> None:
    site.pages["/cars"] = rows(("c1", "mini", 1990), ("c2", "trabant", 1990))
    site.headers = {"Content-Type": "text/csv", "ETag": '"1"'}
    mapping = mapped(url=f"{site.url}/cars", format="csv", event_type="car", id="id", fields=YEARS)
    _, first = once(mapping, ann, state)
    assert "'c2' refused" in first[0]
    feed, second = once(mapping, ann, state)
    assert second == []  # nor is the refused one told again
    assert (feed.counters.records, feed.counters.failures) == (0, 0)
    site.pages["/cars"] += b'c3,mini,1990,"red"\n'
    site.headers["ETag"] = '"2"'
    feed, third = once(mapping, ann, state)
    assert (feed.counters.records, feed.counters.known, feed.counters.published) == (3, 2, 1)
    assert third == []
    assert [status for _, status in site.asked] == [200, 304, 200]


def test_files_that_were_read_are_not_read_after_a_restart(
    ann: Client, mapped: Map, tmp_path: Path, state: Path
) -> None:
    (tmp_path / "in").mkdir()
    mapping = mapped(folder="in", pattern="*.csv", event_type="car", id="id", fields=CARS)
    for number in range(20):
        (tmp_path / "in" / f"{number}.csv").write_bytes(rows((f"c{number}", "mini", 1990)))
    assert once(mapping, ann, state)[0].counters.published == 20
    (tmp_path / "in" / "3.csv").write_bytes(rows(("c3", "mini", 1990), ("new", "mini", 1990)))
    (tmp_path / "in" / "20.csv").write_bytes(rows(("c20", "mini", 1990)))
    told = once(mapping, ann, state)[0].counters
    assert (told.records, told.published, told.known) == (3, 2, 1)


def test_a_file_replaced_by_one_of_its_size_and_age_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"x")
    os.utime(path, (1, 1))
    source = FolderSource(tmp_path, "*", 0.0)
    (content,) = source.look()
    source.done(content)
    again = FolderSource(tmp_path, "*", 0.0)
    again.restore(source.kept(set()))
    assert list(again.look()) == []
    (tmp_path / "b").write_bytes(b"y")
    os.utime(tmp_path / "b", (1, 1))
    (tmp_path / "b").rename(path)
    (content,) = again.look()
    assert content.body == b"y"


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content.replace(b"1990", b"1991"),
        lambda content: content.replace(b"state 1", b"state 2"),
        lambda content: b"\xff" * 100,
        lambda content: b"{}\n{}",
    ],
)
def test_damage_means_starting_anew(ann: Client, mapped: Map, tmp_path: Path, state: Path, damage: Any) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(("c1", "mini", 1990)))
    mapping = mapped(file="cars.csv", event_type="car", id="id", fields=CARS)
    once(mapping, ann, state)
    whole = state.read_bytes()
    assert damage(whole) != whole
    state.write_bytes(damage(whole))
    feed, heard = once(mapping, ann, state)
    assert (feed.counters.records, feed.counters.duplicates) == (1, 1)
    assert heard == []
    assert once(mapping, ann, state)[0].counters.records == 0  # it is whole again


def test_another_mapping_or_server_starts_anew(ann: Client, mapped: Map, tmp_path: Path, state: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(("c1", "mini", 1990)))
    keys: dict[str, Any] = {"file": "cars.csv", "event_type": "car", "id": "id", "fields": CARS}
    once(mapped(**keys), ann, state)
    assert once(mapped(**keys, every=5, grow_limit=7), ann, state)[0].counters.records == 0  # the same events
    assert once(mapped(**keys, source="other"), ann, state)[0].counters.published == 1
    other = StateFile(state, mapped(**keys, source="other"), "http://127.0.0.1:1")
    assert other.read() is None
    assert StateFile(state, mapped(**keys, source="other"), ann.url).read() is not None


def test_a_mapping_without_id_that_has_changed_says_that_all_is_new(
    ann: Client, mapped: Map, tmp_path: Path, state: Path
) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(("c1", "mini", 1990)))
    keys: dict[str, Any] = {"file": "cars.csv", "event_type": "car"}
    once(mapped(**keys, fields=YEARS), ann, state)
    feed, heard = once(mapped(**keys, contact="desk@lot.example", fields=YEARS), ann, state)
    assert (feed.counters.duplicates, heard) == (1, [])  # that is not in the digest
    feed, heard = once(mapped(**keys, fields=CARS), ann, state)
    assert feed.counters.published == 1
    assert heard == [
        "own: the mapping has changed and names no `id`, so all records are published again, under new ids"
    ]
    once(mapped(**keys, id="id", fields=YEARS), ann, state)
    assert once(mapped(**keys, id="id", fields=CARS), ann, state)[1] == []


def test_a_server_that_was_set_back_gets_all_again(ann: Client, mapped: Map, tmp_path: Path, state: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(*((f"c{number}", "mini", 1990) for number in range(5))))
    mapping = mapped(file="cars.csv", event_type="car", id="id", fields=CARS)
    once(mapping, ann, state)
    file = StateFile(state, mapping, ann.url)
    kept = file.read()
    assert kept is not None
    lost = {**kept.witness, "id": "lost"}  # published, as the state says, and the server knows nothing of it
    file.write(Kept(lost, kept.source, kept.known, kept.owing))
    feed, heard = once(mapping, ann, state)
    assert (feed.counters.published, feed.counters.duplicates) == (1, 5)
    assert "the server no longer has what was published; all is offered again" in heard[0]
    assert len(stored(ann)) == 6


def test_the_state_stays_in_memory_where_it_cannot_be_written(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(("c1", "mini", 1990)))
    mapping = mapped(file="cars.csv", event_type="car", id="id", fields=CARS)
    feed, heard = once(mapping, ann, tmp_path / "none" / "state")
    assert feed.counters.published == 1
    (line,) = heard
    assert "cannot be kept for the next run" in line
    assert "--state names a folder" in line
    feed, heard = once(mapping, ann, tmp_path)  # a folder is no file
    assert feed.counters.duplicates == 1
    assert "cannot be read for the next run" in heard[0]


def test_a_stop_in_the_middle_keeps_what_is_published(ann: Client, mapped: Map, tmp_path: Path, state: Path) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(*((f"c{n}", "mini", 1990) for n in range(AT_ONCE + 700))))
    os.utime(tmp_path / "cars.csv", (1, 1))
    mapping = mapped(file="cars.csv", event_type="car", id="id", fields=CARS)
    whole = ann.publish_many
    with Running(Feed(mapping, ann, state=state)) as running:

        def first(events: Any) -> Any:
            running.stop.set()
            return whole(events)

        ann.publish_many = first  # type: ignore[method-assign, assignment]
        until(running.stop.is_set)
    ann.publish_many = whole  # type: ignore[method-assign]
    told = once(mapping, ann, state)[0].counters
    assert (told.known, told.published) == (AT_ONCE, 700)


def test_a_refused_record_is_tried_again_though_the_page_did_not_change(
    ann: Client, mapped: Map, site: Site, state: Path
) -> None:
    site.pages["/cars"] = rows(("c1", "trabant", 1990), ("c2", "mini", 1990))
    site.headers = {"Content-Type": "text/csv", "ETag": '"1"'}
    mapping = mapped(url=f"{site.url}/cars", format="csv", every=0.1, event_type="car", id="id", fields=YEARS)
    with Running(Feed(mapping, ann, state=state)) as running:
        until(lambda: running.feed.counters.looks > 3)
        assert [status for _, status in site.asked[:3]] == [200, 304, 304]
        ann.create_domain("unrelated", "numeric")
        looks = running.feed.counters.looks
        until(lambda: running.feed.counters.looks > looks + 2)
        assert running.feed.counters.records == 2  # that growth is nothing to these events
        ann.append_value("brand", "trabant")
        until(lambda: running.feed.counters.published == 2)
    assert (running.feed.counters.refused, running.feed.counters.known) == (1, 1)


def test_a_refused_record_of_a_file_is_tried_again_after_a_restart(
    ann: Client, mapped: Map, tmp_path: Path, state: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_bytes(rows(("c1", "trabant", 1990), ("c2", "mini", 1990)))
    (tmp_path / "in" / "b.csv").write_bytes(rows(("c3", "mini", 1990)))
    mapping = mapped(folder="in", pattern="*.csv", event_type="car", id="id", fields=YEARS)
    assert once(mapping, ann, state)[0].counters.refused == 1
    assert once(mapping, ann, state)[0].counters.records == 0
    ann.append_value("brand", "trabant")
    told = once(mapping, ann, state)[0].counters
    assert (told.records, told.known, told.published) == (2, 1, 1)
    assert once(mapping, ann, state)[0].counters.records == 0


def test_a_refused_record_that_was_put_right_is_tried_at_once(
    ann: Client, mapped: Map, tmp_path: Path, state: Path
) -> None:
    mapping = mapped(file="cars.csv", event_type="car", id="id", fields=YEARS)
    for content, published, refused in [
        (rows(("c0", "mini", 1990), ("c1", "trabant", 1990)), 1, 1),
        (rows(("c0", "mini", 1990), ("c1", "trabant", 1990), ("c1", "mini", 1990)), 1, 0),
        (b"id,brand,year\nc2,mini,old\n", 0, 1),
        (b"id,brand,year\nc2,mini,1990\n", 1, 0),
    ]:
        (tmp_path / "cars.csv").write_bytes(content)
        told = once(mapping, ann, state)[0].counters
        assert (told.published, told.refused) == (published, refused)


def test_what_was_refused_for_its_time_is_tried_when_that_comes(
    service: Service, ann: Client, mapped: Map, tmp_path: Path, state: Path
) -> None:
    (tmp_path / "cars.csv").write_text("id,brand,year,at\nc1,mini,1990,2020-01-01\nc2,mini,1990,2100-01-01\n")
    mapping = mapped(file="cars.csv", event_type="car", id="id", time="at", fields=YEARS)
    feed, heard = once(mapping, ann, state)
    assert (feed.counters.published, feed.counters.refused) == (1, 1)
    assert "5 minutes" in heard[0]
    assert once(mapping, ann, state)[0].counters.records == 0
    kept = StateFile(state, mapping, ann.url).read()
    assert kept is not None
    ((place, owing),) = kept.owing.items()
    assert place.endswith("cars.csv")
    new_year = 4_102_444_800.0  # 2100
    assert owing.due == new_year - 300
    feed, heard = once(mapping, ann, state, clock=lambda: new_year)
    assert (feed.counters.records, feed.counters.known, feed.counters.refused, heard) == (2, 1, 0, [])  # told before


def test_what_was_refused_since_growth_ended_is_tried_by_the_next_run(
    ann: Client, mapped: Map, tmp_path: Path, state: Path
) -> None:
    (tmp_path / "cars.csv").write_bytes(rows(*((f"c{n}", f"brand {n}", 1990) for n in range(5))))
    mapping = mapped(file="cars.csv", event_type="car", id="id", grow_limit=3, fields=CARS)
    assert once(mapping, ann, state)[0].counters.published == 3
    told = once(mapping, ann, state)[0].counters
    assert (told.known, told.published, told.refused) == (3, 2, 0)


def test_where_the_state_is(tmp_path: Path) -> None:
    assert state_path(tmp_path / "cars.toml") == tmp_path / ".cars.toml.state"
    one, other = (state_path(tmp_path / name / "cars.toml", tmp_path / "kept") for name in "ab")
    assert one.parent == other.parent == tmp_path / "kept"
    assert one != other
    assert list(FolderSource(tmp_path, "*", 0.0).look()) == []


def test_what_is_kept_is_read_as_it_was(mapped: Map, tmp_path: Path) -> None:
    mapping = mapped(file="cars.csv", event_type="car", fields=YEARS)
    file = StateFile(tmp_path / "s", mapping, "http://127.0.0.1:1")
    assert file.read() is None
    kept = Kept(
        {"id": "\ud800 é", "attributes": {"year": 1.5}},
        {"a\udcff.csv": [1, 2, 3]},
        ["00ff ", "01 later"],
        {"/in/a\udcff.csv": Owing("mark", 1.5), "/b": Owing("mark")},
    )
    file.write(kept)
    assert file.read() == kept


def test_it_is_kept_while_a_long_file_is_read(
    ann: Client, mapped: Map, tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "AT_ONCE", 10)
    monkeypatch.setattr(memory, "_BETWEEN", 0.0)
    kept: list[tuple[int, int]] = []
    monkeypatch.setattr(StateFile, "write", lambda _, one: kept.append((len(one.known), len(one.source))))
    (tmp_path / "cars.csv").write_bytes(rows(*((f"c{n}", "mini", 1990) for n in range(50))))
    once(mapped(file="cars.csv", event_type="car", id="id", fields=YEARS), ann, state)
    assert kept[:5] == [(10, 0), (20, 0), (30, 0), (40, 0), (50, 0)]
    assert kept[-1] == (50, 1)
