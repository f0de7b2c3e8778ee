"""Bad values and refused records: left out, told with their place, counted, listed, and taken once they are mended."""

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.conftest import Map
from tidings.client import Client
from tidings.feeds import Feed, PatternTooSlow, feed, propose
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.mapping.mapping import Layout
from tidings.feeds.memory.rejects import Rejects
from tidings.feeds.records import patterns
from tidings.feeds.records.records import located_records
from tidings.feeds.sources.content import Content
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind
from tidings.schema.growth import CreateAttribute, CreateDomain, CreateEventType

CATALOG = Catalog(
    (Domain("sum", Kind.NUMERIC), Domain("label", Kind.STRING)),
    (Attribute("asked", "sum"), Attribute("driven", "sum"), Attribute("label", "label")),
    (EventType("offer", (AttributeUse("asked", True), AttributeUse("driven", False), AttributeUse("label", False))),),
)
FIELDS: dict[str, Any] = {"asked": {"from": "asked", "unit": "$"}, "driven": "driven", "label": "label"}


@pytest.fixture
def offers(ann: Client) -> Client:
    for domain in CATALOG.domains:
        ann.grow(CreateDomain(domain))
    for attribute in CATALOG.attributes:
        ann.grow(CreateAttribute(attribute))
    ann.grow(CreateEventType(CATALOG.event_types[0]))
    return ann


def test_a_bad_value_of_an_optional_attribute_is_left_out(mapped: Map) -> None:
    mapping = mapped(file="x.json", event_type="offer", fields=FIELDS)
    made = EventMaker(mapping, CATALOG).make({"asked": ("$5",), "driven": ("12 Raten",), "label": ("a",)})
    assert made.errors == ()
    assert made.raw["attributes"] == {"asked": 5, "label": "a"}
    assert [bad.attribute for bad in made.left_out] == ["driven"]
    assert made.faults == ("driven: not a number",)


def test_a_bad_value_of_a_mandatory_attribute_refuses_the_event(mapped: Map) -> None:
    mapping = mapped(file="x.json", event_type="offer", fields=FIELDS)
    made = EventMaker(mapping, CATALOG).make({"asked": ("EUR 900",)})
    assert [bad.attribute for bad in made.errors] == ["asked"]
    assert made.faults == ("asked: another unit",)


@pytest.mark.parametrize(("on_bad", "refused"), [("refuse", True), ("missing", False)])
def test_the_mapping_says_what_a_bad_value_does(mapped: Map, on_bad: str, refused: bool) -> None:
    fields = {name: {"from": name, "on_bad": on_bad} for name in ("asked", "driven")}
    made = EventMaker(mapped(file="x.json", event_type="offer", fields=fields), CATALOG).make(
        {"asked": ("x",), "driven": ("y",)}
    )
    assert (len(made.errors), len(made.left_out)) == ((2, 0) if refused else (0, 2))


def test_only_the_bad_one_of_several_values_is_left_out(mapped: Map) -> None:
    fields = {"driven": {"from": "driven", "split": ";"}}
    made = EventMaker(mapped(file="x.json", event_type="offer", fields=fields), CATALOG).make({"driven": ("5;x;6",)})
    assert made.raw["attributes"] == {"driven": [5, 6]}
    assert len(made.left_out) == 1


def test_a_bad_time_refuses_unless_the_mapping_says_otherwise(mapped: Map) -> None:
    for on_bad, errors in (("refuse", 1), ("missing", 0), (None, 1)):
        time = {"from": "t"} if on_bad is None else {"from": "t", "on_bad": on_bad}
        mapping = mapped(file="x.json", event_type="offer", time=time, fields=FIELDS)
        made = EventMaker(mapping, CATALOG).make({"t": ("soon",), "asked": (5,)})
        assert (len(made.errors), "time" in made.raw) == (errors, False)
        assert made.faults == ("time: not a time",)


@pytest.mark.parametrize(
    ("form", "body", "places"),
    [
        ("csv", 'a\n1\n\n"2\n2"\n3\n', ["line 2", "line 4", "line 6"]),
        ("json", '{"a": 1}\n\n{"a": 2}\n', ["line 1", "line 3"]),
        ("json", '[{"a": 1},\n{"a": 2}]', ["record 1", "record 2"]),
        ("xml", "<r>\n<x><a>1</a></x>\n<x><a>2</a></x></r>", ["line 2", "line 3"]),
    ],
)
def test_records_have_places(form: str, body: str, places: list[str]) -> None:
    layout = Layout(form, "x" if form == "xml" else "")
    assert [found.place for found in located_records(Content("there", body.encode()), layout, ["a"])] == places


DIRTY = b"id,asked,driven,label\n1,$5,10,a\n2,EUR 900,20,b\n3,$7,12 Raten,c\n4,nicht unter 5000,1,d\n,$1,1,e\n"


def test_refused_records_are_listed_counted_and_taken_once_the_mapping_is_mended(
    offers: Client, mapped: Map, tmp_path: Path
) -> None:
    (tmp_path / "offers.csv").write_bytes(DIRTY)
    keys: dict[str, Any] = {"file": "offers.csv", "event_type": "offer", "id": "id"}
    state, listed = tmp_path / "state", tmp_path / "refused.jsonl"
    heard: list[str] = []

    def run(fields: dict[str, Any], rejects: bool = True) -> tuple[Feed, list[dict[str, Any]]]:
        kept = Rejects(listed) if rejects else None
        feed = Feed(mapped(**keys, fields=fields), offers, heard.append, state=state, rejects=kept)
        feed.once()
        if kept is not None:
            kept.close()
        return feed, [json.loads(line) for line in listed.read_text().splitlines()]

    first, told = run(FIELDS)
    assert (first.counters.published, first.counters.refused, first.counters.left_out) == (2, 3, 1)
    assert first.counters.faults == {
        "asked: another unit": 1,
        "asked: not a number": 1,
        "driven: not a number": 1,
        "id: missing": 1,
    }
    assert [(one["file"].rpartition("/")[2], one["line"]) for one in told] == [("offers.csv", n) for n in (3, 5, 6)]
    assert told[0]["record"] == {"id": ["2"], "asked": ["EUR 900"], "driven": ["20"], "label": ["b"]}
    assert told[0]["errors"][0]["attribute"] == "asked"
    assert any("offers.csv: line 3: event '2' refused: domain: 'asked': 'EUR 900'" in line for line in heard)
    assert any("offers.csv: line 4: event '3' without 'driven': '12 Raten'" in line for line in heard)

    second, _ = run(FIELDS, rejects=False)  # nothing is read, and yet they are not forgotten
    assert (second.counters.records, second.counters.waiting) == (0, 3)
    again, told = run(FIELDS)
    assert (again.counters.refused, again.counters.waiting, len(told)) == (0, 3, 3)

    pattern = "([$]?[0-9]+)$"
    mended, told = run({**FIELDS, "asked": {"from": "asked", "pattern": pattern}})
    assert (mended.counters.published, mended.counters.duplicates, mended.counters.refused) == (2, 2, 1)
    assert [one["line"] for one in told] == [6]
    assert mended.counters.waiting == 1


def test_every_fault_of_a_dirty_file_is_counted_under_its_name(mapped: Map) -> None:
    draw = random.Random(17)
    rows, wanted = ["id,asked,seen,driven"], Counter[str]()
    dirt = [
        ("asked: not a number", 1, ("nicht unter 5000", "12 Raten", "3 day auction", "1.2K")),
        ("asked: another unit", 1, ("EUR 900", "5 km")),
        ("seen: not a time", 2, ("05.03.16 ca.", "soon")),
        ("driven: pattern does not match", 3, ("wenig",)),
        ("id: missing", 0, ("", " ")),
    ]
    for n in range(5_000):
        row = [f"c{n}", f'"${draw.randrange(30_000):,}"', f"2016-03-{draw.randrange(1, 29):02}", f"{n} km gelaufen"]
        which = int(draw.random() / 0.02)  # 2 % of each
        if which < len(dirt):
            fault, column, texts = dirt[which]
            row[column] = draw.choice(texts)
            wanted[fault] += 1
        rows.append(",".join(row))
    fields = {
        "asked": {"from": "asked", "kind": "numeric", "unit": "$"},
        "seen": {"from": "seen", "kind": "time"},
        "driven": {"from": "driven", "kind": "numeric", "pattern": "([0-9]+) km"},
    }
    mapping = mapped(file="x.csv", event_type="offer", id="id", fields=fields)
    maker = EventMaker(mapping, Catalog())
    found = located_records(Content("there", "\n".join(rows).encode()), mapping.layout, mapping.paths)
    made = [maker.make(one.record) for one in found]
    assert len(made) == 5_000
    assert Counter(fault for one in made for fault in one.faults) == wanted
    assert sum(bool(one.errors) for one in made) == wanted["id: missing"]


def test_a_pattern_that_takes_too_long_for_a_whole_file_stops_it_with_the_line(
    offers: Client, mapped: Map, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "_SECONDS", 0.1)
    monkeypatch.setattr(feed, "AT_ONCE", 2)
    rows = [f"{n},1,{'a' * n}" for n in range(1, 5)] + [f"{n},1,{'a' * 40}{n}b" for n in range(5, 100)]
    (tmp_path / "slow.csv").write_text("id,asked,label\n" + "\n".join(rows) + "\n")
    (tmp_path / "other.csv").write_text("id,asked,label\n200,1,aa\n")
    label = {"from": "label", "kind": "string", "pattern": "((?:a|a)*)$"}
    keys: dict[str, Any] = {"folder": ".", "pattern": "*.csv", "event_type": "offer", "id": "id"}
    mapping = mapped(**keys, fields={"asked": "asked", "label": label})
    heard: list[str] = []
    done = Feed(mapping, offers, heard.append).once()
    (told,) = (line for line in heard if "too long for a whole file" in line)
    assert f"{tmp_path / 'slow.csv'}: the pattern '((?:a|a)*)$' took 0 s for" in told
    assert "nothing was published from about line" in told
    assert done.failures == 1
    assert 5 <= done.published < 80, "those before, and the other file"
    records = [{"label": (f"{'a' * 40}{n}b",)} for n in range(100)]
    mapping = replace(mapping, fields=mapping.fields[1:])
    with pytest.raises(PatternTooSlow, match=r"simplify it: repetition inside repetition, as in '\(a\+\)\+'"):
        propose(mapping, records)
