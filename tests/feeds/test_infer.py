"""A schema and a mapping from what is there."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.feeds.conftest import EXAMPLES, Map
from tidings.events import validate
from tidings.feeds import (
    NothingToInfer,
    Proposal,
    SchemaClash,
    UnknownColumn,
    UnreadableFeed,
    infer,
    propose,
    read_mapping,
)
from tidings.feeds.event_maker import EventMaker
from tidings.feeds.inference.schema_changes import changes
from tidings.feeds.mapping.mapping import Layout, Origin
from tidings.feeds.mapping.mapping_file import mapping_of
from tidings.feeds.mapping.mapping_text import write_mapping
from tidings.feeds.records.records import read_records
from tidings.feeds.samples.auction_site import AuctionSite
from tidings.feeds.sources.content import Content
from tidings.schema import Catalog, Kind, json_form
from tidings.schema.files import read_catalog
from tidings.schema.growth import grow

CARS, _ = read_catalog(EXAMPLES.parent / "schema.json")


def inferred(text: str, format: str, records: str = "", **more: Any) -> Proposal:
    return infer(Content("there", text.encode()), Layout(format, records), Origin(file=Path("x")), "thing", **more)


def kinds(proposal: Proposal) -> dict[str, str]:
    return {one.attribute: str(one.kind) for one in proposal.mapping.fields}


def csv(*columns: tuple[str, list[Any]]) -> str:
    rows = [[name for name, _ in columns], *zip(*(values for _, values in columns), strict=True)]
    return "\n".join(";".join(str(cell) for cell in row) for row in rows)


MANY = list(range(12))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5 * n for n in MANY], "numeric"),
        ([f"US ${n},000.00" for n in range(1, 13)], "numeric"),
        ([f"{n} km" for n in MANY], "numeric"),
        ([f"M{n}" for n in MANY], "string"),
        ([f"({n})" for n in MANY], "string"),  # a count, or below zero
        (["NA", *(f"{n}.5" for n in range(11))], "numeric"),
        (["n/a", "-", *(f"2026-05-{n:02}" for n in range(1, 11))], "time"),
        (["NA"] * 12, "enumerated"),
        ([f"{n}.2K" for n in MANY], "string"),
        ([f"–{n}" for n in MANY], "numeric"),
        ([f"{n} m²" for n in MANY], "numeric"),
        ([f"210 123 4{n:02}" for n in MANY], "string"),  # whom to call
        ([f"+30 210 123 4{n:02}" for n in MANY], "string"),
        ([f"{n + 95} 123 450" for n in MANY], "numeric"),
        ([f"Fri, {n + 1:02} May 2026 10:00:00 GMT" for n in MANY], "time"),
        ([f"{n + 1:02}/05/2026" for n in MANY], "string"),  # the fifth of January, or the first of May
        ([f"{n + 10:02}/05/2026" for n in MANY], "time"),
        ([f"05/{n + 10:02}/2026 09:30 PM" for n in MANY], "time"),
        ([f"May {n + 1}, 2026" for n in MANY], "time"),
        ([f"{n + 1:02}-May-2026 10:00:01" for n in MANY], "time"),
        (["05/30/2026", "2026-05-30T10:00:00Z"] * 6, "time"),
        ([f"00{n}" for n in MANY], "string"),
        ([f"/cars/{n}" for n in MANY], "string"),
        ([f"part {n} of 12" for n in MANY], "string"),
        ([f"2026-05-{n + 1:02} 10:00" for n in MANY], "time"),
        ([f"{n + 1} May 2026" for n in MANY], "time"),
        (["red", "blue", "red", "red"] * 3, "enumerated"),
        (["red", "blue, red", "red", "blue"] * 3, "enumerated"),
        ([f"name {n}" for n in MANY], "string"),
        ([f"{n} long words of somebody who had very much to tell about this" for n in MANY], "text"),
        ([""] * 12, "string"),
    ],
)
def test_kinds(values: list[Any], kind: str) -> None:
    assert kinds(inferred(csv(("a", values), ("b", MANY)), "csv"))["a"] == kind


def test_how_it_is_read_is_found_too() -> None:
    found = inferred(
        csv(
            ("price", [f"{n}.500,50 €" for n in range(1, 13)]),
            ("day", [f"{n + 1:02}.05.2026" for n in MANY]),
            ("paint", ["red", "blue|red", "blue", "red"] * 3),
        ),
        "csv",
    )
    price, day, paint = found.mapping.fields
    assert price.reading.decimal == ","
    assert price.reading.unit == ("€",)
    assert day.reading.time_format == ("%d.%m.%Y",)
    assert (paint.reading.split, paint.several, paint.open, paint.grow) == ("|", True, True, False)
    domain = found.catalog.domain("paint")
    assert domain is not None
    assert (domain.values, domain.open) == (("blue", "red"), True)


def test_attributes_are_optional_unless_told_and_names_can_be_written() -> None:
    text = csv(("First Registered!", MANY), ("first registered", MANY), ("event_type", MANY), ("2nd", MANY))
    found = inferred(text, "csv", mandatory=["_2nd"])
    uses = {use.name: use.mandatory for use in found.catalog.event_types[0].attributes}
    assert uses == {"first_registered": False, "first_registered_2": False, "event_type_": False, "_2nd": True}


def test_what_is_mandatory_may_be_named_as_the_column_is() -> None:
    text = csv(("First Price", MANY), ("b", MANY))
    for name in ("First Price", "first_price"):
        first, second = inferred(text, "csv", mandatory=[name]).mapping.fields
        assert (first.mandatory, second.mandatory) == (True, False)
    with pytest.raises(UnknownColumn, match="no attribute or column 'Frist Price'; did you mean 'First Price'"):
        inferred(text, "csv", mandatory=["Frist Price"])


def test_numbers_of_json_are_numbers_however_they_are_written() -> None:
    found = inferred(json.dumps([{"a": 1e-05 * n, "b": n % 2 == 0, "c": [n, f"x{n}"]} for n in MANY]), "json")
    assert kinds(found) == {"a": "numeric", "b": "enumerated", "c": "string"}


def test_a_row_that_cannot_be_read_is_a_remark() -> None:
    found = inferred("a,b\n1,2\n1,2,3\n3,4\n", "csv")
    assert (found.records, kinds(found)) == (2, {"a": "numeric", "b": "numeric"})
    assert "line 3 has more cells than the first line" in found.remarks[0]


def test_an_id_is_a_column_that_is_called_so_and_tells_records_apart() -> None:
    assert inferred(csv(("car_id", MANY), ("b", MANY)), "csv").mapping.id == ("car_id",)
    assert inferred(csv(("car_id", [1] * 12), ("b", MANY)), "csv").mapping.id == ()


def test_a_column_that_only_looks_like_an_id_is_offered() -> None:
    codes, prices = [f"k{n}" for n in range(20)], [n + 0.5 for n in range(20)]
    offered = inferred(csv(("price", prices), ("code", codes)), "csv")
    assert offered.mapping.id == ()
    assert offered.remarks == ("every record has its own 'code'; add id = \"code\" if it identifies the event",)
    for other in (csv(("code", codes[1:])), csv(("code", [*codes, "k0"])), csv(("code", codes), ("id", codes))):
        assert inferred(other, "csv").remarks == ()  # too few; one twice; another is the id


def test_what_a_column_says_of_missing_values_and_dates_is_kept() -> None:
    found = inferred(csv(("a", ["NA", "?", "1.5", "2"] * 3), ("d", ["05/30/2026", "2026-05-30"] * 6)), "csv")
    a, d = found.mapping.fields
    assert a.reading.missing == ("?", "NA")
    assert d.reading.time_format == ("%m/%d/%Y",)
    catalog, mapping = found.catalog, mapping_of(tomllib.loads(write_mapping(found.mapping)), "m", Path())
    made = EventMaker(mapping, catalog).make({"a": ("NA",), "d": ("2026-05-30",)})
    assert made.raw["attributes"] == {"d": "2026-05-30T00:00:00Z"}


@pytest.mark.parametrize(
    ("columns", "delimiter", "values"),
    [
        ([("a", "1,5"), ("b", "1.250"), ("c", "7")], ";", [1.5, 1250, 7]),  # the one column says it for the other
        ([("a", "0,125"), ("b", "1,250")], ";", [0.125, 1.25]),
        ([("a", "1,250")], ";", [1.25]),  # semicolons stand where commas are taken
        ([("a", "1.250")], ";", [1.25]),
        ([("a", "1.5"), ("b", "1,250")], ";", [1.5, 1250]),
        ([("a", '"1,250"')], ",", [1250]),
        ([("a", '"1,250"'), ("b", '"1,2"')], ",", [1.25, 1.2]),
        ([("a", "38.82216"), ("b", '"1,250"')], ",", [38.82216, 1250]),
    ],
)
def test_decimal_commas(columns: list[tuple[str, str]], delimiter: str, values: list[float]) -> None:
    text = "\n".join(delimiter.join(line) for line in zip(*columns, strict=True))
    mapping = inferred(text + "\n", "csv").mapping if len(columns) > 1 or delimiter == "," else None
    if mapping is None:  # of one column the delimiter cannot be seen
        layout = Layout("csv", delimiter=delimiter)
        mapping = infer(Content("there", text.encode()), layout, Origin(file=Path("x")), "thing").mapping
    (record,) = read_records(Content("there", text.encode()), mapping.layout, mapping.paths)
    made = EventMaker(mapping, Catalog()).make(record)
    assert list(made.raw["attributes"].values()) == values


@pytest.mark.parametrize(
    ("text", "delimiter", "names"),
    [
        ('\ufeff"a,b,c";d\n1;2\n', ";", ["a_b_c", "d"]),
        ('"pri\nce";d;e\n"x\ny;z";2;3\n', ";", ["pri_ce", "d", "e"]),
        ("a\tb\r1\t2\r", "\t", ["a", "b"]),
        ("sep=;\na;b\n1;2\n", ";", ["a", "b"]),
        ("id,source,time,contact,event_type\n1,2,3,4,5\n", ",", ["id", "source", "time", "contact", "event_type_"]),
        ("Not,in,and,under\n1,2,3,4\n", ",", ["not_", "in_", "and_", "under_"]),
        (",".join(f"c{n}" for n in range(150)) + "\n1\n", ",", [f"c{n}" for n in range(150)]),
    ],
)
def test_headers(text: str, delimiter: str, names: list[str]) -> None:
    found = inferred(text, "csv")
    assert found.mapping.layout.delimiter == delimiter
    assert [one.attribute for one in found.mapping.fields] == names
    assert found.remarks == ()


@pytest.mark.parametrize(
    ("text", "format", "remark"),
    [
        ("a,a,b\n1,2,3\n", "csv", "there are 2 columns 'a'; only the first is read"),
        ("a,,\n1,2,3\n", "csv", "columns without a name are left out: 2"),
        (json.dumps({f"k{n}": {"a": n} for n in range(150)}), "json", "50 of 150 paths are left out"),
        (
            "<table><tr><td>" + "<table>" + "<tr><td>a<td>b" * 5 + "</table></table>" + "<table><tr><td>x",
            "html",
            "are nested in others: their values are mixed",
        ),
    ],
)
def test_what_is_left_out_is_told(text: str, format: str, remark: str) -> None:
    (told,) = inferred(text, format).remarks
    assert remark in told


def test_too_wide_and_packed_and_otherwise_encoded_is_said() -> None:
    with pytest.raises(UnreadableFeed, match="2,000 columns; at most 1,000 are read"):
        inferred(",".join(f"c{n}" for n in range(2_000)), "csv")
    for body, said in [(b"\x28\xb5\x2f\xfd..", r"compressed \(zstd\)"), ("a\nü".encode("cp1252"), "--encoding")]:
        with pytest.raises(UnreadableFeed, match=said):
            infer(Content("there", body), Layout("csv"), Origin(file=Path("x")), "thing")
    german = infer(Content("t", "a\nü".encode("cp1252")), Layout("csv", encoding="cp1252"), Origin(url="u"), "thing")
    assert german.mapping.layout.encoding == "cp1252"
    sheet = infer(Content("t", "a\tb\nü\t1".encode("utf-16")), Layout("csv"), Origin(url="u"), "thing")
    assert kinds(sheet) == {"a": "string", "b": "numeric"}


@pytest.mark.parametrize("as_lines", [True, False])
def test_lists_inside_records_are_no_records(as_lines: bool) -> None:
    records = [{"a": n, "offers": [{"price": 1}, {"price": n}]} for n in MANY]
    text = "\n".join(json.dumps(one) for one in records) if as_lines else json.dumps(records)
    found = inferred(text, "json")
    assert (found.records, found.mapping.layout.records) == (12, "")
    assert [one.reading.path for one in found.mapping.fields] == ["a", "offers/*/price"]


def test_geojson() -> None:
    quakes = [
        {"id": f"us{n}", "properties": {"mag": n / 10}, "geometry": {"type": "Point", "coordinates": [-120.5, 38, n]}}
        for n in MANY
    ]
    found = inferred(json.dumps({"type": "FeatureCollection", "features": quakes, "bbox": [1, 2, 3]}), "json")
    assert (found.mapping.layout.records, found.mapping.id) == ("/features", ("id",))
    paths = [one.reading.path for one in found.mapping.fields]
    assert paths[-2:] == ["geometry/coordinates/1", "geometry/coordinates/2"]
    assert (found.mapping.fields[-2].kind, found.mapping.fields[-2].longitude) == ("place", "geometry/coordinates/0")
    assert not any(one.several for one in found.mapping.fields)


def test_names_that_are_no_path_are_left_out() -> None:
    found = inferred(json.dumps([{"": n, "*": n, "a/b": n} for n in MANY]), "json")
    assert [one.reading.path for one in found.mapping.fields] == ["*", "a~1b"]


def test_json_records_are_found() -> None:
    found = inferred('{"meta": {"n": 2}, "d": {"l": [{"a": {"b": 1}, "t": ["x", "y"]}, {"a": {"b": 2}}]}}', "json")
    assert found.mapping.layout.records == "/d/l"
    assert kinds(found) == {"a_b": "numeric", "t": "string"}
    assert [one.several for one in found.mapping.fields] == [False, True]


def test_a_table_is_read_by_its_headings() -> None:
    rows = "".join(f"<tr><td>Car {n}<td>{n * 100}</tr>" for n in MANY)
    found = inferred(f"<table><tr><th>Name<th>Price (EUR)</tr>{rows}</table>", "html")
    assert kinds(found) == {"name": "string", "price_eur": "numeric"}
    assert [one.reading.path for one in found.mapping.fields] == ["td:1", "td:2"]


def test_headings_over_several_columns_and_beside_rows() -> None:
    rows = "".join(f"<tr><th>Row {n}<td>Mini<td>Cooper {n}<td>{n}" for n in MANY)
    found = inferred(f"<table><tr><th>No<th colspan=2>Car<th>Price{rows}</table>", "html")
    assert {one.reading.path: one.attribute for one in found.mapping.fields} == {
        "th:1": "no",
        "td:1": "car",
        "td:2": "car_2",
        "td:3": "price",
    }
    assert found.records == 12  # the headings are none
    bare = inferred(f"<table>{rows}</table>", "html")
    assert [one.attribute for one in bare.mapping.fields] == ["th_1", "td_1", "td_2", "td_3"]


def test_the_auction_site_is_understood() -> None:
    with AuctionSite(0, rate=0) as site:
        found = inferred(site.cars_page(site.count), "html")
    assert found.records == 100
    assert found.mapping.layout.records == "li.item"
    assert found.mapping.id == ("@data-number",)
    told = kinds(found)
    assert told["brand"] == told["condition"] == told["paint"] == "enumerated"
    assert told["price"] == told["year"] == told["miles"] == "numeric"
    assert told["ends"] == "time"
    assert "title" in told


@pytest.mark.parametrize("name", ["cars.csv", "offers.json", "notices.xml"])
def test_what_is_inferred_accepts_what_it_was_inferred_from(name: str, tmp_path: Path) -> None:
    path = EXAMPLES / name
    content = Content(name, path.read_bytes())
    found = infer(content, Layout(path.suffix[1:]), Origin(file=path), "thing")
    catalog = Catalog()
    for change in changes(found.catalog, catalog):
        catalog = grow(catalog, json_form.read_change(json_form.write_change(change)))
    (tmp_path / "m.toml").write_text(write_mapping(found.mapping))
    mapping = read_mapping(tmp_path / "m.toml")
    maker = EventMaker(mapping, catalog)
    made = [maker.make(record) for record in read_records(content, mapping.layout, mapping.paths)]
    assert len(made) == found.records > 1
    assert all(validate(one.raw, catalog).id and not one.errors for one in made)


@pytest.mark.parametrize(
    ("text", "format", "advice"),
    [
        ("", "csv", "a CSV file needs a line of column names and at least one row"),
        ("a,b\n", "csv", "a CSV file needs a line of column names and at least one row"),
        ("[]", "json", "--records"),
        ("<p>x</p>", "html", "--records"),
    ],
)
def test_nothing_to_infer(text: str, format: str, advice: str) -> None:
    with pytest.raises(NothingToInfer, match=advice):
        inferred(text, format)


def test_what_the_schema_has_is_kept_and_extended() -> None:
    mapping = mapping_of(
        {"file": "x.csv", "event_type": "car", "fields": {"brand": "B", "price": "P", "doors": "D"}}, "f", Path()
    )
    records = [{"B": (brand,), "P": ("US $5",), "D": ("4",)} for brand in ("mini", "trabant")]
    found = propose(mapping, records, CARS)
    assert kinds(found) == {"brand": "enumerated", "price": "numeric", "doors": "numeric"}
    told = [json_form.write_change(change) for change in changes(found.catalog, CARS)]
    assert [one["change"] for one in told] == [
        "create_domain",
        "append_value",
        "create_attribute",
        "extend_event_type",
        "extend_event_type",
    ]
    assert told[1]["value"] == "trabant"
    catalog = CARS
    for change in changes(found.catalog, CARS):
        catalog = grow(catalog, change)
    assert changes(found.catalog, catalog) == []


def test_names_that_mean_other_things_clash(mapped: Map) -> None:
    mapping = mapped(file="x.csv", event_type="car", fields={"year": "Y"})
    with pytest.raises(SchemaClash, match="'year' is numeric in the schema and string"):
        propose(mapping, [{"Y": ("old",)}], CARS)
    told = mapped(file="x.csv", event_type="car", fields={"year": {"from": "Y", "kind": "time"}})
    with pytest.raises(SchemaClash, match="time in the feed"):
        propose(told, [], CARS)


def test_a_hierarchy_grows_below_its_parents(mapped: Map) -> None:
    field = {"from": "M", "kind": "hierarchical", "parent": "B"}
    mapping = mapped(file="x.csv", event_type="thing", fields={"model": field})
    records = [{"M": (model,), "B": (brand,)} for brand, model in [("vw", "golf"), ("vw", "polo"), ("audi", "a4")]]
    domain = propose(mapping, records).catalog.domain("model")
    assert domain is not None
    assert domain.kind is Kind.HIERARCHICAL
    assert domain.hierarchy.tree() == {"vw": {"golf": {}, "polo": {}}, "audi": {"a4": {}}}


def test_two_inferred_feeds_of_one_type_are_told_apart(tmp_path: Path) -> None:
    found = inferred(csv(("id", MANY), ("b", MANY)), "csv")
    sources = []
    for name in ("here", "there"):
        path = tmp_path / f"{name}.toml"
        path.write_text(write_mapping(found.mapping))
        sources.append(read_mapping(path).source)
    assert sources == ["here", "there"]


def test_an_id_of_blanks_is_none() -> None:
    assert inferred(csv(("car_id", [" ", *range(11)]), ("b", MANY)), "csv").mapping.id == ()


def test_blank_lines_before_the_header_hide_no_delimiter() -> None:
    assert list(kinds(inferred("\n\na;b\n" + "x;y\n" * 3, "csv"))) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "records", "paths"),
    [
        ("<car><name>x</name><photo>a</photo><photo>b</photo></car>", "car", ["> name", "> photo"]),
        ("<cars><car no='1'><name>x</name></car></cars>", "> car", ["@no", "> name"]),
        ("<a><b><c><d>1</d><e>2</e></c></b></a>", "> b c", ["> d", "> e"]),
    ],
)
def test_a_single_record_of_xml(text: str, records: str, paths: list[str]) -> None:
    found = infer(Content("there", text.encode()), Layout("xml"), Origin(url="http://x/"), "thing")
    assert (found.mapping.layout.records, list(found.mapping.paths), found.records) == (records, paths, 1)


@pytest.mark.parametrize(("bad", "kinds"), [(2, ["place"]), (5, ["numeric", "numeric"])])
def test_a_few_bad_latitudes_leave_a_place(bad: int, kinds: list[str]) -> None:
    rows = [f"{n},{n}" for n in range(40 - bad)] + ["91.5,2"] * bad
    found = infer(
        Content("there", "\n".join(["lat,lon", *rows]).encode()), Layout("csv"), Origin(url="http://x/"), "thing"
    )
    assert [str(one.kind) for one in found.mapping.fields] == kinds
    assert any("2 bad values left out" in remark for remark in found.remarks) == (bad == 2)
