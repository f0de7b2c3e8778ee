"""A page that holds nothing any more, or lacks something in all its records, is told when that is news."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.conftest import Map, Site
from tests.feeds.test_feed import SOON, Running, until
from tidings.client import Client
from tidings.feeds import Feed, NoRecords
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content

FIELDS = {"brand": ".brand", "year": ".year"}


def page(*cars: str, year: str = "1990") -> bytes:
    items = "".join(f"<li class=item id={car}><b class=brand>mini</b><i class=year>{year}</i></li>" for car in cars)
    return f"<ul>{items}</ul>".encode()


def test_a_page_without_records_is_told_once_and_again_after_it_had_some(ann: Client, mapped: Map, site: Site) -> None:
    site.pages["/cars"] = b"<p>Are you a robot?</p>"
    heard: list[str] = []
    mapping = mapped(
        url=f"{site.url}/cars", format="html", records="li.item", every=0.1, event_type="car", id="@id", fields=FIELDS
    )
    with Running(Feed(mapping, ann, heard.append, back_off=SOON)) as running:
        until(lambda: running.feed.counters.looks > 2)
        assert len(heard) == 1
        assert "/cars: nothing found at 'li.item'; if the source has changed, correct the mapping" in heard[0]
        site.pages["/cars"] = page("c1")
        until(lambda: running.feed.counters.published == 1)
        site.pages["/cars"] = b"<p>Are you a robot?</p>"
        until(lambda: len(heard) == 2)
    assert heard[0] == heard[1]
    assert running.problem is None


def test_a_single_look_at_a_page_without_records_has_failed(ann: Client, mapped: Map, site: Site) -> None:
    site.pages["/cars"] = b"<p>Are you a robot?</p>"
    mapping = mapped(url=f"{site.url}/cars", format="html", records="li.item", event_type="car", fields=FIELDS)
    assert Feed(mapping, ann).once().failures == 1


def test_a_path_that_leads_to_nothing_in_a_whole_page_is_told_once(ann: Client, mapped: Map, site: Site) -> None:
    cars = [f"c{number}" for number in range(10)]
    site.pages["/cars"] = page(*cars, year="")
    heard: list[str] = []
    mapping = mapped(
        url=f"{site.url}/cars", format="html", records="li.item", every=0.1, event_type="car", id="@id", fields=FIELDS
    )
    with Running(Feed(mapping, ann, heard.append)) as running:
        until(lambda: running.feed.counters.looks > 2)
    told = [line for line in heard if "nothing found" in line]
    assert len(told) == 1
    assert told[0].endswith(
        "/cars: nothing found at '.year' in any of 10 records; if the source has changed, correct the mapping"
    )


def test_a_few_records_without_something_are_not_strange(ann: Client, mapped: Map, tmp_path: Path) -> None:
    (tmp_path / "cars.json").write_text(json.dumps([{"b": "mini", "y": 1990}] * 9))
    heard: list[str] = []
    fields = {"brand": "b", "year": "y", "paint": "p"}
    Feed(mapped(file="cars.json", event_type="car", fields=fields), ann, heard.append).once()
    assert heard == []


@pytest.mark.parametrize(
    ("text", "layout", "said"),
    [
        ("<p>x</p>", Layout("html", "li.item"), "nothing found at 'li.item'"),
        ("<ul><li class=item>x</ul>", Layout("html", "li.item"), "none of the mapping's fields found in the records"),
        ("<rss/>", Layout("xml", "item"), "nothing found at 'item'"),
        ('{"error": "no key"}', Layout("json", "/data/cars"), "nothing found at '/data/cars'"),
    ],
)
def test_no_records(text: str, layout: Layout, said: str) -> None:
    with pytest.raises(NoRecords, match=said):
        list(read_records(Content("there", text.encode()), layout, ["a", "td"][: 1 + (layout.format == "html")]))


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        ("td,b\n", Layout("csv")),
        ('{"cars": []}', Layout("json", "/cars")),
        ("<table><tr><th>Name</table>", Layout("html", "tr")),
    ],
)
def test_what_is_there_and_empty_is_nothing_wrong(text: str, layout: Layout) -> None:
    found: list[Any] = list(read_records(Content("there", text.encode()), layout, ["td"]))
    assert found == []
