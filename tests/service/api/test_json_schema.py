"""The generated JSON Schema says what `validate` says, as far as JSON Schema can say it."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import schemas
from tests.strategies.filters import RICH, events, pool
from tidings.events import RefusedEvent, validate, write_event
from tidings.events.validation import written_value
from tidings.schema import Attribute, AttributeUse, Catalog, Domain, EventType, Kind, json_form
from tidings.service.api.documents.json_schema import json_schema, key

EXAMPLES = Path(__file__).parents[3] / "examples"
AUCTIONS = json_form.read((EXAMPLES / "schema.json").read_text())
FIRST, *_, LAST = [json.loads(line) for line in (EXAMPLES / "events.jsonl").read_text().splitlines()]
ANTIQUES = Catalog(  # semantics 2
    (Domain("number", Kind.NUMERIC), Domain("words", Kind.STRING), Domain("when", Kind.TIME)),
    (
        *(Attribute(name, "number") for name in ("price", "period", "quantity", "cc")),
        Attribute("brand", "words"),
        Attribute("colour", "words"),
        Attribute("seen", "when"),
    ),
    (
        EventType("antique", tuple(AttributeUse(name) for name in ("price", "period", "quantity"))),
        EventType(
            "car",
            (*(AttributeUse(name) for name in ("brand", "cc", "price")), AttributeUse("colour", mandatory=False)),
        ),
        EventType("repainted", (AttributeUse("colour", unique=False), AttributeUse("seen", mandatory=False))),
    ),
)
ANTIQUE_CAR = {"price": 1300, "period": 1970, "quantity": 1, "brand": "cooper", "cc": 1000}


def accepts(catalog: Catalog, raw: object) -> bool:
    document = json_schema(catalog)
    jsonschema_rs.meta.validate(document)
    return bool(jsonschema_rs.validator_for(document).is_valid(raw))


def is_valid(catalog: Catalog, raw: object) -> bool:
    try:
        validate(raw, catalog)
    except RefusedEvent:
        return False
    return True


def test_the_examples() -> None:
    for line in (EXAMPLES / "events.jsonl").read_text().splitlines():
        raw = json.loads(line)
        assert accepts(AUCTIONS, raw) == is_valid(AUCTIONS, raw)
    assert accepts(AUCTIONS, FIRST)
    assert not accepts(AUCTIONS, LAST)


@pytest.mark.parametrize(
    "change",
    [
        {"id": None},
        {"id": ""},
        {"id": "x" * 1001},
        {"id": 7},
        {"source": 7},
        {"time": "yesterday"},
        {"contact": ["a"]},
        {"colour": "red"},
        {"event_type": []},
        {"event_type": None},
        {"event_type": "boat"},
        {"event_type": ["car", "boat"]},
        {"attributes": None},
        {"attributes": []},
        {"attributes": FIRST["attributes"] | {"price": "cheap"}},
        {"attributes": FIRST["attributes"] | {"price": True}},
        {"attributes": FIRST["attributes"] | {"price": [1, 2]}},
        {"attributes": FIRST["attributes"] | {"price": []}},
        {"attributes": FIRST["attributes"] | {"price": [[1]]}},
        {"attributes": FIRST["attributes"] | {"price": None}},
        {"attributes": FIRST["attributes"] | {"brand": "lada"}},
        {"attributes": FIRST["attributes"] | {"category": "boat"}},
        {"attributes": FIRST["attributes"] | {"ends": "soon"}},
        {"attributes": FIRST["attributes"] | {"wheels": 4}},
        {"attributes": FIRST["attributes"] | {"event_type": "car"}},
    ],
    ids=str,
)
def test_what_is_refused(change: dict[str, Any]) -> None:
    raw = FIRST | change
    assert not is_valid(AUCTIONS, raw)
    assert not accepts(AUCTIONS, raw)


@pytest.mark.parametrize(
    "change",
    [
        {"source": None, "time": None, "contact": None},
        {"time": "2026-05-01"},
        {"time": "20260501T10"},
        {"time": "2026-W18-5 10:00"},
        {"event_type": ["car", "auction", "car"]},
        {"attributes": FIRST["attributes"] | {"price": [900, 900.0]}},
        {"attributes": FIRST["attributes"] | {"paint": ["red", "white", "blue"]}},
        {"attributes": FIRST["attributes"] | {"wheels": None, "condition": None}},
        {"attributes": FIRST["attributes"] | {"ends": ["2026-05-08T18:00:00Z", "2026-05-08T20:00:00+02:00"]}},
        {"attributes": FIRST["attributes"] | {"price": -1e300}},
    ],
    ids=str,
)
def test_what_is_accepted(change: dict[str, Any]) -> None:
    raw = FIRST | change
    assert is_valid(AUCTIONS, raw)
    assert accepts(AUCTIONS, raw)


def test_the_view_of_several_types() -> None:
    both = {"id": "e", "event_type": ["antique", "car"], "attributes": ANTIQUE_CAR}
    assert accepts(ANTIQUES, both)
    assert not accepts(ANTIQUES, both | {"attributes": ANTIQUE_CAR | {"quantity": None}})
    assert not accepts(ANTIQUES, both | {"event_type": "car"})  # a car has no period


def test_several_values_need_a_type_that_allows_them() -> None:
    painted = {"brand": "mini", "cc": 1000, "price": 900, "colour": ["red", "white"]}
    assert not accepts(ANTIQUES, {"id": "e", "event_type": "car", "attributes": painted})
    assert accepts(ANTIQUES, {"id": "e", "event_type": ["car", "repainted"], "attributes": painted})


def test_nothing_is_valid_under_an_empty_schema() -> None:
    assert not accepts(Catalog(), {"id": "e", "event_type": "car"})


def test_what_it_cannot_say_is_said_in_a_comment() -> None:
    assert "2^53" in json_schema(AUCTIONS)["$comment"]


@given(schemas.names, schemas.names)
def test_keys_are_as_different_as_names(one: str, other: str) -> None:
    assert (key("type", one) == key("type", other)) == (one == other)
    assert all(letter.isascii() and (letter.isalnum() or letter in "._-") for letter in key("type", one))


values = st.sampled_from([0, 1, 1.0, -7, 2.5, "a", "b", "", "2026-05-01", "x", True, None, [1], {}])
members = st.fixed_dictionaries(
    {},
    optional={
        "source": st.sampled_from(["", "a", None, 1]),
        "time": st.sampled_from(["2026-05-01T10:00:00Z", "2026-05-01", None, "no", 7]),
        "contact": st.sampled_from(["a", None, []]),
        "colour": st.none(),
    },
)


@st.composite
def raw_events(draw: st.DrawFn, catalog: Catalog) -> dict[str, Any]:
    """Often valid, often nearly so. A list has at most two values, of times one: beyond, JSON Schema is at a loss."""
    known = catalog.event_type_names
    types = draw(st.lists(st.sampled_from((*known, *known, "boat")), min_size=1, max_size=3))
    attributes: dict[str, Any] = {}
    uses = {name: use for one in types if one in known for name, use in catalog.view((one,)).uses.items()}
    for name in (*uses, *(["stray"] if draw(st.integers(0, 9)) == 0 else [])):
        domain = catalog.domain_of(name)
        legal = [written_value(v) for v in pool(domain)] if domain is not None else []
        some = st.sampled_from(legal) if legal and draw(st.integers(0, 9)) else values
        most = 1 if domain is not None and domain.kind is Kind.TIME else 2
        if draw(st.integers(0, 5)):
            attributes[name] = draw(some | st.lists(some, max_size=most))
    raw = {"id": draw(st.sampled_from(["e", "e", "e", "", None])), **draw(members), "attributes": attributes}
    return raw | {"event_type": types[0] if len(types) == 1 and draw(st.booleans()) else types}


@given(st.data())
def test_it_decides_as_validation_does(data: st.DataObject) -> None:
    catalog = data.draw(st.sampled_from([AUCTIONS, ANTIQUES, RICH]) | schemas.small_catalogs())
    raw = data.draw(raw_events(catalog))
    assert accepts(catalog, raw) == is_valid(catalog, raw)


@given(st.data())
def test_every_valid_event_is_accepted(data: st.DataObject) -> None:
    catalog = data.draw(schemas.catalogs().filter(lambda one: bool(one.event_type_names)) | st.just(RICH))
    event = data.draw(events(catalog))
    raw = write_event(event)
    if is_valid(catalog, raw):  # an enumeration may have no values for what is mandatory
        assert accepts(catalog, raw)
