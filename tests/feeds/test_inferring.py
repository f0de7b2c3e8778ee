"""A schema and a mapping from what is there."""

from pathlib import Path
from typing import Any

import pytest

from tests.feeds.conftest import EXAMPLES, Map
from tidings.events import validate
from tidings.feeds import NothingToInfer, Proposal, SchemaClash, infer, propose, read_mapping
from tidings.feeds.auction_site import AuctionSite
from tidings.feeds.changes import changes
from tidings.feeds.making import EventMaker
from tidings.feeds.mapping import Layout, Origin
from tidings.feeds.mapping_file import mapping_of
from tidings.feeds.mapping_writing import write_mapping
from tidings.feeds.records import Content, read_records
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
    assert day.reading.time_format == "%d.%m.%Y"
    assert (paint.reading.split, paint.several, paint.grow) == ("|", True, True)
    domain = found.catalog.domain("paint")
    assert domain is not None
    assert domain.values == ("blue", "red")


def test_attributes_are_optional_unless_told_and_names_can_be_written() -> None:
    text = csv(("First Registered!", MANY), ("first registered", MANY), ("event_type", MANY), ("2nd", MANY))
    found = inferred(text, "csv", mandatory=["_2nd"])
    uses = {use.name: use.mandatory for use in found.catalog.event_types[0].attributes}
    assert uses == {"first_registered": False, "first_registered_2": False, "event_type_": False, "_2nd": True}


def test_an_id_is_a_column_that_is_called_so_and_tells_records_apart() -> None:
    assert inferred(csv(("car_id", MANY), ("b", MANY)), "csv").mapping.id == ("car_id",)
    assert inferred(csv(("car_id", [1] * 12), ("b", MANY)), "csv").mapping.id == ()


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


@pytest.mark.parametrize(("text", "format"), [("", "csv"), ("a,b\n", "csv"), ("[]", "json"), ("<p>x</p>", "html")])
def test_nothing_to_infer(text: str, format: str) -> None:
    with pytest.raises(NothingToInfer, match="--records"):
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
