"""An inferred mapping takes the records from which it was made, and says what it saw."""

import json
from pathlib import Path
from typing import Any

import pytest

from tidings.feeds import NoValues, Proposal, infer, propose
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.inference.schema_changes import changes, check_values
from tidings.feeds.mapping.mapping import Layout, Origin
from tidings.feeds.mapping.mapping_file import mapping_of
from tidings.feeds.mapping.mapping_text import write_mapping
from tidings.feeds.preview import Preview
from tidings.feeds.records.records import Record, read_records
from tidings.feeds.sources.content import Content
from tidings.schema import Catalog, Instant

ITEMS = """<Items>
<Item a="1"><N>x</N><Country>Greece</Country>
<Bids><Bid no="7"><Bidder><Country>Italy</Country></Bidder></Bid></Bids></Item>
<Item a="2"><N currency="EUR">y</N><Country>Greece</Country></Item>
</Items>"""


def inferred(text: str, form: str, records: str = "", each: str = "") -> tuple[Proposal, list[dict[str, Any]]]:
    content = Content("there", text.encode())
    found = infer(content, Layout(form, records, each=each), Origin(url="http://x/"), "thing")
    mapping = found.mapping
    assert changes(found.catalog, Catalog())
    maker = EventMaker(mapping, found.catalog)
    made = [maker.make(record) for record in read_records(content, mapping.layout, mapping.paths)]
    if not any("would be refused" in remark for remark in found.remarks):
        assert not any(one.errors or one.left_out for one in made)
    return found, [one.raw["attributes"] for one in made]


def test_records_below_the_root_of_xml_are_found_with_attributes_and_nested_elements_apart() -> None:
    found, made = inferred(ITEMS, "xml")
    assert found.mapping.layout.records == "> Item"
    assert made == [
        {"a": 1, "n": "x", "country": "Greece", "bids_bid_no": 7, "bids_bid_bidder_country": "Italy"},
        {"a": 2, "n": "y", "country": "Greece", "n_currency": "EUR"},
    ]


def test_records_of_xml_may_have_attributes_alone() -> None:
    found, made = inferred('<r><list><x a="1" b="u"/><x a="2" b="v"/></list></r>', "xml")
    assert found.mapping.layout.records == "list x"
    assert made == [{"a": 1, "b": "u"}, {"a": 2, "b": "v"}]


def test_a_field_that_is_null_or_a_list_of_objects_refuses_nothing() -> None:
    records = [{"id": n, "bids": None if n % 2 else [{"who": "ann", "sum": n}], "none": []} for n in range(20)]
    found, made = inferred(json.dumps(records), "json")
    assert [one.attribute for one in found.mapping.fields] == ["id", "bids_who", "bids_sum", "none"]
    assert found.remarks == ("at 'bids' are records inside the records; --each 'bids' makes events of them",)
    assert made[0] == {"id": 0, "bids_who": "ann", "bids_sum": 0}


AUCTIONS = """<site><auctions>
<auction id="a1"><seller>ann</seller>
<bid><who>bob</who><sum>5</sum></bid><bid><who>eve</who><sum>6</sum></bid></auction>
<auction id="a2"><seller>eve</seller><bid><who>bob</who><sum>7</sum></bid></auction>
</auctions></site>"""


def test_records_inside_records_of_xml_are_offered_and_inferred_with_what_is_around() -> None:
    found, _ = inferred(AUCTIONS, "xml")
    assert found.remarks == ("at '> bid' are records inside the records; --each '> bid' makes events of them",)
    _, made = inferred(AUCTIONS, "xml", "auctions auction", each="> bid")
    assert made == [
        {"who": "bob", "sum": 5, "auction_id": "a1", "seller": "ann"},
        {"who": "eve", "sum": 6, "auction_id": "a1", "seller": "ann"},
        {"who": "bob", "sum": 7, "auction_id": "a2", "seller": "eve"},
    ]


def test_records_inside_records_of_json_are_inferred_with_what_is_around() -> None:
    auctions = [{"id": n, "who": "ann", "bids": [{"who": "bob", "sum": n}, {"who": "eve", "sum": 5}]} for n in (1, 2)]
    _, made = inferred(json.dumps(auctions), "json", each="bids")
    assert made[1:3] == [
        {"who": "eve", "sum": 5, "outer_id": 1, "outer_who": "ann"},
        {"who": "bob", "sum": 2, "outer_id": 2, "outer_who": "ann"},
    ]


def test_the_whole_document_may_be_the_record_and_names_may_have_dots() -> None:
    story = "<nitf><body.head><hl1>News</hl1></body.head><body.content><p>A <b>bold</b> word</p></body.content></nitf>"
    found, made = inferred(story, "xml", "nitf")
    assert found.mapping.layout.records == "nitf"
    assert made == [{"body_head_hl1": "News", "body_content_p": "A bold word"}]


def test_what_would_be_left_out_is_announced() -> None:
    records = [{"id": n, "seller": "ann" if n % 2 else {"name": "bob"}} for n in range(20)]
    found, _ = inferred(json.dumps(records), "json")
    assert found.remarks == (
        "'seller' is a value in some records and nested in others, where it is left out",
        "of these 20 records 0 would be refused and 10 bad values left out; first: record 1: 'seller': {'name': "
        "'bob'} is nested, not a single value",
    )


def test_names_keep_their_words() -> None:
    found, _ = inferred("yearOfRegistration,XMLFile,powerPS,not_repaired,Day2Night\n" + "1,2,3,4,5\n" * 3, "csv")
    names = [one.attribute for one in found.mapping.fields]
    assert names == ["year_of_registration", "xml_file", "power_ps", "not_repaired", "day2_night"]


def test_what_was_seen_of_each_field_is_told_and_written() -> None:
    rows = "".join(f"{n},{('audi', 'bmw')[n % 2]},{'' if n % 4 else '$5'}\n" for n in range(12))
    found, _ = inferred("no,brand,price\n" + rows, "csv")
    assert found.seen == {
        "no": "100 % of 12 records, 12 distinct: '0', '1', '2'; numeric: every value is a number",
        "brand": "100 % of 12 records, 2 distinct: 'audi', 'bmw'; enumerated: few short values repeat",
        "price": "25 % of 12 records, 1 distinct: '$5'; numeric: every value is a number",
    }
    assert "# 25 % of 12 records, 1 distinct: '$5'; numeric: every value is a number\n[fields.price]" in write_mapping(
        found.mapping, found.seen
    )


def test_three_day_auctions_are_no_numbers() -> None:
    found, _ = inferred("a,b\n" + "3 day auction,5 km\n" * 5, "csv")
    assert [str(one.kind) for one in found.mapping.fields] == ["enumerated", "numeric"]
    assert found.mapping.fields[1].reading.unit == ("km",)


def test_paths_of_categories_in_texts_and_lists_become_a_tree_with_all_of_them() -> None:
    paths = [("Cars", "Parts", f"p{n}") for n in range(30)] + [("Boats", "Parts", f"p{n}") for n in range(30)]
    rows = "".join(f"{n},{' > '.join(path)}\n" for n, path in enumerate(paths))
    found, made = inferred("no,category\n" + rows, "csv")
    _, category = found.mapping.fields
    assert (str(category.kind), category.path, category.grow) == ("hierarchical", " > ", True)
    records = [{"no": n, "category": list(path)} for n, path in enumerate(paths)]
    listed, also = inferred(json.dumps(records), "json")
    assert listed.mapping.fields[1].path is True
    assert (
        [one["category"] for one in made] == [one["category"] for one in also] == [" > ".join(path) for path in paths]
    )
    for one in (found, listed):
        domain = one.catalog.domain("category")
        assert domain is not None
        assert len(domain.hierarchy) == 2 + 2 + 60
        assert one.remarks == ("every record has its own 'no'; add id = \"no\" if it identifies the event",)


def test_tags_are_no_path() -> None:
    tags = [["red", "old"], ["old", "red"], ["red"], ["blue", "red", "old"]] * 10
    found, _ = inferred(json.dumps([{"no": n, "tags": one} for n, one in enumerate(tags)]), "json")
    assert str(found.mapping.fields[1].kind) == "enumerated"


def test_a_tree_has_the_paths_of_all_records_not_only_of_those_looked_at() -> None:
    rows = "".join(f"{n},Goods > g{n % 5} > {n}\n" for n in range(10_400))
    found = infer(Content("there", f"no,category\n{rows}".encode()), Layout("csv"), Origin(url="http://x/"), "thing")
    domain = found.catalog.domain("category")
    assert domain is not None
    assert (found.records, len(domain.hierarchy)) == (10_400, 10_406)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"a": 300_000 * "x"}, "the event has 300,1"),
        ({"t": "2026-05-01T10:05:01Z"}, "more than 5 minutes after the time of acceptance"),
        ({"t": "9999-05-01T10:05:01Z"}, "more than 5 minutes after the time of acceptance"),
    ],
    ids=["too large", "too early", "much too early"],
)
def test_a_preview_knows_the_rules_that_only_a_server_has(wrong: dict[str, str], told: str) -> None:
    fields = {"a": {"from": "a", "kind": "string"}}
    mapping = mapping_of({"file": "x.json", "event_type": "thing", "time": "t", "fields": fields}, "m.toml", Path())
    good: Record = {"t": ("2026-05-01T10:04:59Z",), "a": ("x",)}
    catalog = propose(mapping, [good]).catalog
    preview = Preview(mapping, catalog, Instant.parse("2026-05-01T10:00:00Z"))
    assert preview.of(good).keys() == {"event"}
    [error] = preview.of(good | {path: (value,) for path, value in wrong.items()})["errors"]
    assert told in error["message"]


def test_inference_announces_what_only_a_server_would_refuse() -> None:
    records = [{"t": "2020-05-01", "a": "x"}, {"t": "2020-05-01", "a": 300_000 * "x"}, {"t": "9999-05-01", "a": "x"}]
    mapping = mapping_of({"file": "x.json", "event_type": "thing", "time": "t", "fields": {"a": "a"}}, "m.toml", Path())
    found = propose(mapping, [{path: (value,) for path, value in one.items()} for one in records])
    assert any("of these 3 records 2 would be refused" in remark for remark in found.remarks)


def test_paths_that_find_nothing_are_named_and_nothing_is_created_that_they_would_fill() -> None:
    fields: dict[str, Any] = {"a": "a", "rig": {"from": "cat/nam", "kind": "hierarchical"}}
    record: Record = {"a": ("x",), "cat/nam": ()}
    mapping = mapping_of({"file": "x.json", "event_type": "boat", "fields": fields}, "m.toml", Path())
    found = propose(mapping, [record])
    assert [remark.partition("; ")[0].partition(": ")[2] for remark in found.remarks] == [
        "nothing found at 'cat/nam' in any of 1 records"
    ]
    with pytest.raises(NoValues, match="domain 'rig' would have no value"):
        check_values(found.mapping, changes(found.catalog, Catalog()))
    check_values(found.mapping, changes(found.catalog, found.catalog))
    for value, more in (((), {"grow": True}), (("ketch",), {})):
        good = mapping_of(
            {"file": "x.json", "event_type": "boat", "fields": {**fields, "rig": fields["rig"] | more}}, "m", Path()
        )
        found = propose(good, [record | {"cat/nam": value}])
        check_values(found.mapping, changes(found.catalog, Catalog()))


def test_a_name_under_two_parents_is_two_nodes() -> None:
    records: list[Record] = [{"b": (brand,), "m": ("andere",)} for brand in ("peugeot", "audi")]
    model = {"from": "m", "parent": "b", "kind": "hierarchical"}
    mapping = mapping_of({"file": "x.json", "event_type": "car", "fields": {"model": model}}, "m.toml", Path())
    found = propose(mapping, records)
    maker = EventMaker(found.mapping, found.catalog)
    assert [maker.make(record).raw["attributes"]["model"] for record in records] == [
        "peugeot > andere",
        "audi > andere",
    ]
