"""Ready mappings on small files of each format, and the readers behind them."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tidings.feeds import Proposal, UnreadableFeed, WrongMapping
from tidings.feeds.mapping.mapping import Layout, Origin
from tidings.feeds.mapping.mapping_file import mapping_of, read_mapping
from tidings.feeds.mapping.mapping_text import write_mapping
from tidings.feeds.preview import previewed
from tidings.feeds.ready.ready import READY, proposed, ready_mapping
from tidings.feeds.ready.recognition import recognized
from tidings.feeds.records.icalendar import LONGEST, calendar_entries
from tidings.feeds.records.log_lines import parts
from tidings.feeds.records.records import read_records
from tidings.feeds.sources.content import Content
from tidings.schema import Attribute, Catalog, Domain, Kind

FORMATS = Path(__file__).parent / "formats"


def content(name: str) -> Content:
    return Content(name, (FORMATS / name).read_bytes())


def proposal(name: str, there: Catalog | None = None) -> Proposal:
    found = recognized(content(name), name)
    return proposed(content(name), found, Origin(file=FORMATS / name), "" if found.ready else "boat", there)


def events(name: str) -> list[dict[str, Any]]:
    """As they would be published; none may be refused."""
    made = proposal(name)
    records = read_records(content(name), made.mapping.layout, made.mapping.paths)
    shown = list(previewed(made.mapping, records, made.catalog))
    assert all(one.keys() == {"event"} for one in shown), shown
    return [one["event"] for one in shown]


@pytest.mark.parametrize(
    ("name", "format", "ready"),
    [
        ("news.rss", "xml", "rss"),
        ("news.rdf", "xml", "rss"),
        ("news.atom", "xml", "atom"),
        ("quakes.geojson", "json", "earthquakes"),
        ("stations.geojson", "json", ""),
        ("harbour.ics", "icalendar", "icalendar"),
        ("access.log", "log", "common_log"),
        ("combined.log", "log", "combined_log"),
        ("boats.csv", "csv", ""),
        ("boats.jsonl", "json", ""),
    ],
)
def test_a_format_is_recognized_by_its_content(name: str, format: str, ready: str) -> None:
    for called in (name, "download", "wrong.html" if format != "csv" else "x"):
        found = recognized(content(name), called)
        assert (found.format, found.ready) == (format, ready), called


@pytest.mark.parametrize("name", READY)
def test_a_ready_mapping_is_a_mapping_that_can_be_written_and_read(name: str, tmp_path: Path) -> None:
    mapping = ready_mapping(name, Origin(file=tmp_path / "data")).mapping
    path = tmp_path / f"{name}.toml"
    path.write_text(write_mapping(mapping))
    again = read_mapping(path)
    assert (again.fields, again.time, again.layout) == (mapping.fields, mapping.time, mapping.layout)


def test_rss() -> None:
    first, second = events("news.rss")
    assert (first["id"], first["time"]) == ("news-1", "2026-05-01T10:00:00Z")
    assert first["attributes"] == {
        "headline": "Ferry to Aegina late",
        "summary": "<p>Strong winds.</p>",
        "link": "http://example.org/1",
        "creator": "Ann",
        "topic": ["ferries", "weather"],
    }
    assert second["time"] == "2026-05-02T05:30:00Z"


def test_rss_without_guid_and_date_takes_what_is_there() -> None:
    (only,) = events("news.rdf")
    assert (only["id"], only["time"]) == ("http://example.org/1", "2026-05-01T10:00:00Z")


def test_atom() -> None:
    (only,) = events("news.atom")
    assert (only["id"], only["time"], only["event_type"]) == ("urn:news:1", "2026-05-01T10:00:00Z", "article")
    assert only["attributes"]["topic"] == "ferries"
    assert only["attributes"]["updated"] == "2026-05-01T11:00:00Z"


def test_earthquakes_have_a_place_and_come_again_when_updated() -> None:
    first, second = events("quakes.geojson")
    assert first["id"] == "nc1/1777630000000"
    assert first["time"] == "2026-05-01T10:00:00Z"
    shown = first["attributes"]
    assert (shown["place"], shown["magnitude"], shown["depth"], shown["quake"]) == ([37.8, -122.4], 4.2, 8.5, "nc1")
    assert second["attributes"]["place"] == [-17.5, 180]  # the date line has one name


def test_other_geojson_is_inferred_with_a_place() -> None:
    assert [one["attributes"]["place"] for one in events("stations.geojson")] == [[37.9, 23.6], [37.7, 23.5]]


def test_a_calendar() -> None:
    board, feast = (one["attributes"] for one in events("harbour.ics"))
    assert board["headline"] == "Harbour board, open to the public"
    assert (board["starts"], board["ends"]) == ("2026-06-01T07:00:00Z", "2026-06-01T08:30:00Z")  # Athens is 3 h ahead
    assert board["description"] == "First line\nsecond line"  # not that of its alarm
    assert board["topic"] == ["board", "public, open"]
    assert board["place"] == [37.94, 23.64]
    assert feast == {"headline": "Feast", "starts": "2026-08-15T00:00:00Z", "uid": "feast@example.org"}
    assert [one.get("time") for one in events("harbour.ics")] == ["2026-04-30T12:00:00Z", None]


def test_a_calendar_that_is_cut_off_or_none() -> None:
    whole = (FORMATS / "harbour.ics").read_bytes()
    cut = calendar_entries(Content("c", whole[: whole.index(b"SUMMARY:Feast")]), Layout("icalendar"))
    assert len(list(islice(cut, 1))) == 1
    with pytest.raises(UnreadableFeed, match="has no END"):
        next(cut)
    with pytest.raises(UnreadableFeed, match="not iCalendar"):
        list(calendar_entries(Content("c", b"name,time\n"), Layout("icalendar")))


def test_a_long_property_is_ignored() -> None:
    attached = b"ATTACH:" + b"\r\n ".join([b"x" * 75] * (LONGEST // 70))
    lines = [b"BEGIN:VCALENDAR", b"BEGIN:VEVENT", attached, b"SUMMARY:s", b"END:VEVENT", b"END:VCALENDAR"]
    ((line, entry),) = calendar_entries(Content("c", b"\r\n".join(lines)), Layout("icalendar"))
    assert (line, entry) == (2, {"SUMMARY": ("s",)})


def test_a_log_counts_equal_lines_and_refuses_what_is_no_line() -> None:
    made = proposal("access.log")
    records = list(read_records(content("access.log"), made.mapping.layout, made.mapping.paths))
    first, second, third, wrong = previewed(made.mapping, records, made.catalog)
    assert first["event"]["id"] != second["event"]["id"]
    assert first["event"]["attributes"] == second["event"]["attributes"]
    assert first["event"]["attributes"]["path"] == "/cars?make=mini"
    assert third["event"]["attributes"] == {"client": "192.0.2.7", "status": 408}
    assert third["event"]["time"] == "2026-05-01T09:30:01Z"
    assert wrong["errors"][0]["message"] == "id: nothing found at 'time'"


def test_a_combined_log() -> None:
    first, second = events("combined.log")
    assert first["attributes"]["referer"] == r"http://example.org/a \"b\""
    assert first["attributes"]["agent"] == "Mozilla/5.0 (X11)"
    assert "agent" not in second["attributes"]


def test_a_hostile_line_takes_no_time() -> None:
    assert parts("a " * 9_000 + "[") is None
    assert parts('h - - [t] "' + "\\" * 19_000) is None
    assert parts("x" * 10_000_000) is None


def test_csv_with_coordinates() -> None:
    first, second = events("boats.csv")
    assert (first["id"], first["attributes"]["place"]) == ("b1", [37.94, 23.64])
    assert second["attributes"]["length"] == 9.1


def test_json_lines() -> None:
    first, _ = events("boats.jsonl")
    assert (first["id"], first["attributes"]["berth_number"]) == ("b1", 7)


def test_names_that_mean_something_else_in_the_schema_are_changed() -> None:
    domains = (Domain("place", Kind.STRING), Domain("depth", Kind.TEXT))
    there = Catalog(domains, (Attribute("place", "place"),))
    made = proposal("quakes.geojson", there)
    fields = {one.attribute: one for one in made.mapping.fields}
    assert "earthquake_place" in fields
    assert "place" not in fields
    assert fields["depth"].domain == "earthquake_depth"
    assert "'place' means something else in the schema; here it is 'earthquake_place'" in made.remarks


# Keys of mappings that these need


def made_of(tmp_path: Path, record: dict[str, Any], **field: Any) -> dict[str, Any]:
    mapping = mapping_of({"file": "d.json", "event_type": "t", "fields": {"a": field}}, "m.toml", tmp_path)
    body = Content("d.json", json.dumps([record]).encode())
    from tidings.feeds.event_maker import EventMaker

    (only,) = read_records(body, mapping.layout, mapping.paths)
    made = EventMaker(mapping, Catalog()).make(only)
    return {**made.raw["attributes"], **({"faults": made.faults} if made.faults else {})}


@pytest.mark.parametrize(
    ("record", "path", "value"),
    [
        ({"c": ["Clothing", " Women ", "Shoes"]}, True, "Clothing > Women > Shoes"),
        ({"c": [["A", "B"], ["A", "C"]]}, True, ["A > B", "A > C"]),
        ({"c": "Clothing/Women/Shoes"}, "/", "Clothing > Women > Shoes"),
        ({"c": ["A>B", "A > C"]}, ">", ["A > B", "A > C"]),
        ({"c": "Shoes"}, "/", "Shoes"),
    ],
)
def test_category_paths(tmp_path: Path, record: dict[str, Any], path: str | bool, value: Any) -> None:
    assert made_of(tmp_path, record, **{"from": "c"}, kind="hierarchical", path=path) == {"a": value}


def test_places(tmp_path: Path) -> None:
    both = {"latitude": "n", "longitude": "e", "kind": "place"}
    assert made_of(tmp_path, {"n": "37.8", "e": -122.4}, **both) == {"a": [37.8, -122.4]}
    assert made_of(tmp_path, {"n": [1, 2], "e": [3, 4]}, **both) == {"a": [[1, 3], [2, 4]]}
    assert made_of(tmp_path, {"n": None, "e": ""}, **both) == {}
    assert made_of(tmp_path, {"n": 91, "e": 0}, **both) == {"faults": ("a: not a place",)}
    assert made_of(tmp_path, {"n": 1, "e": None}, **both) == {"faults": ("a: not a place",)}
    assert made_of(tmp_path, {"p": "37.8, -122.4"}, **{"from": "p"}, kind="place") == {"a": [37.8, -122.4]}


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ({"latitude": "n"}, "a place needs both"),
        ({"latitude": "n", "longitude": "e", "from": "p"}, "remove this key"),
        ({"latitude": "n", "longitude": "e", "kind": "numeric"}, "only places have one"),
        ({"from": "c", "path": ""}, "expected the separator"),
        ({"from": "c", "path": ">", "kind": "string"}, "only hierarchical values"),
        ({"from": "c", "path": ">", "parent": "p"}, "remove `parent`"),
    ],
)
def test_keys_that_do_not_fit(tmp_path: Path, field: dict[str, Any], problem: str) -> None:
    with pytest.raises(WrongMapping, match=problem):
        mapping_of({"file": "d.json", "event_type": "t", "fields": {"a": field}}, "m.toml", tmp_path)


def test_paths_of_logs_and_calendars_are_checked(tmp_path: Path) -> None:
    for format, path in (("log", "hosst"), ("icalendar", "sum mary")):
        with pytest.raises(WrongMapping, match="the path"):
            mapping_of({"file": "d", "format": format, "event_type": "t", "fields": {"a": path}}, "m.toml", tmp_path)


def test_a_file_named_csv_may_begin_with_a_bracket() -> None:
    table = Content("x.csv", b"[a],b\n1,2\n")
    assert recognized(table, "x.csv").format == "csv"
