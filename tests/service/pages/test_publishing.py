"""The form of an event: made from the view, with what is wrong at its field."""

import pytest

from tests.service.conftest import Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.schema import Domain, growth
from tidings.schema.catalog import Attribute, AttributeUse, EventType
from tidings.schema.domain import Kind
from tidings.schema.hierarchy import LEVELS, Hierarchy
from tidings.service.workers.questions import stored
from tidings.store import Grow

pytestmark = on_sqlite


def test_types_are_chosen_first_then_comes_their_view(ann: Visitor) -> None:
    ann.get("/pages/publish")
    assert [box.get("value") for box in ann.tree.iter("input") if box.get("name") == "type"] == ["auction", "car"]
    ann.get("/pages/publish?type=auction&type=car")
    fields = ann.form("/pages/publish")
    assert {"value:title", "value:brand", "value:ends", "value:paint"} <= set(fields)
    required = {node.get("name") for node in ann.tree.iter("input", "select") if node.get("required") is not None}
    assert required == {f"value:{name}" for name in ("title", "price", "ends", "brand", "year")}
    brand = next(node for node in ann.tree.iter("select") if node.get("name") == "value:brand")
    assert [option.text or "" for option in brand] == ["Choose…", "opel", "mini", "audi", "volvo"]
    assert brand[0].get("value") == ""
    ends = next(node for node in ann.tree.iter("input") if node.get("name") == "value:ends")
    assert ends.get("type") == "datetime-local"


def test_a_place_in_a_hierarchy_is_chosen_from_its_tree(service: Service, ann: Visitor) -> None:
    ann.get("/pages/publish?type=auction")
    legend = next(node for node in ann.tree.iter("legend") if node.text.startswith("category"))
    assert "mandatory" in legend.text_content()
    fields = legend.getparent()
    (search,) = fields.xpath(".//input[@type='search']")
    assert search.get("name") is None, "it is not sent"
    path = [node.get("data-node") for node in fields.xpath(".//li[.//input[@value='vehicle > car > convertible']]")]
    assert path == ["vehicle", "vehicle > car", "vehicle > car > convertible"]
    assert {one.get("type") for one in fields.xpath(".//input[@name='value:category']")} == {"radio"}
    assert fields.xpath(".//details[@open]") == []
    filled = {"value:title": "an old one", "value:price": "10", "value:ends": "2030-01-01T10:00:00"}
    ann.submit("/pages/publish", **filled, **{"value:category": None})
    assert ann.page.status_code == 422
    (fields,) = ann.tree.xpath("//fieldset[.//input[@name='value:category']]")
    assert ann.tree.get_element_by_id(fields.get("aria-describedby")).text_content() == "Enter a value."
    ann.submit("/pages/publish", **filled | {"value:price": "x"}, **{"value:category": "vehicle > car > convertible"})
    assert [node.getparent().get("data-node") for node in ann.tree.xpath("//details[@open]")] == [
        "vehicle",
        "vehicle > car",
    ]
    ann.submit("/pages/publish", **filled)
    position = int(ann.page.url.params["published"])
    assert '"category":"vehicle>car>convertible"' in stored(service.store, position).payload.replace(" ", "")


def test_several_places_of_a_tree_and_none(service: Service, ann: Visitor) -> None:
    uses = (AttributeUse("title"), AttributeUse("category", False, False), AttributeUse("condition", False))
    service.store.append([Grow(growth.CreateEventType(EventType("sale", uses)))])
    ann.get("/pages/publish?type=sale")
    assert {one.get("type") for one in ann.tree.xpath("//input[@name='value:category']")} == {"checkbox"}
    ann.submit(
        "/pages/publish", **{"value:title": "all", "value:category": ["vehicle > bicycle", "furniture > table > desk"]}
    )
    payload = stored(service.store, int(ann.page.url.params["published"])).payload.replace(" ", "")
    assert '"category":["vehicle>bicycle","furniture>table>desk"]' in payload
    uses = (AttributeUse("category", False),)
    service.store.append([Grow(growth.CreateEventType(EventType("loss", uses)))])
    ann.get("/pages/publish?type=loss")
    (chosen,) = ann.tree.xpath("//input[@name='value:category' and @checked]")
    assert chosen.get("value") == "", "none is chosen, and may stay so"
    ann.submit("/pages/publish", **{"value:category": ""})
    assert "category" not in stored(service.store, int(ann.page.url.params["published"])).payload


def test_an_event_is_published_as_the_api_would(service: Service, ann: Visitor) -> None:
    ann.get("/pages/publish?type=car")
    filled = {"value:brand": "mini", "value:year": "1971", "value:paint": ["red", "", "white"], "source": "by hand"}
    ann.submit("/pages/publish", **filled)
    assert "Published." in ann.text
    position = int(ann.page.url.params["published"])
    event = stored(service.store, position).payload
    assert '"year":1971' in event.replace(" ", "")
    assert '"paint":["red","white"]' in event.replace(" ", "")
    ann.get(f"/pages/events/{position}")
    assert "by hand" in ann.text
    assert "Not matched yet" in ann.text


def test_what_is_wrong_stands_at_its_field_and_what_was_typed_stays(service: Service, ann: Visitor) -> None:
    ann.get("/pages/publish?type=car")
    tail = service.store.tail()
    ann.submit("/pages/publish", **{"value:brand": "trabant", "value:year": "old", "value:paint": ["red"]})
    assert ann.page.status_code == 422
    errors = ann.errors()
    assert "'trabant'" in errors["value:brand"]
    assert "'old'" in errors["value:year"]
    fields = ann.form("/pages/publish")
    assert fields["value:year"] == ["old"]
    assert fields["value:paint"] == ["red", ""]
    assert service.store.tail() == tail
    ann.submit("/pages/publish", **{"value:brand": "mini", "value:year": ""})
    assert ann.errors() == {"value:year": "Enter a value."}
    assert ann.page.status_code == 422


@pytest.mark.parametrize("typed", ["1_000", "٣", "nan", "1e999", "9" * 330])
def test_a_number_is_read_as_the_language_reads_it(service: Service, ann: Visitor, typed: str) -> None:
    tail = service.store.tail()
    ann.get("/pages/publish?type=car")
    ann.submit("/pages/publish", **{"value:brand": "mini", "value:year": typed})
    assert ann.page.status_code == 422
    assert "is not a number; expected e.g. 1300 or 12.5" in ann.errors()["value:year"]
    assert service.store.tail() == tail


def test_an_event_that_is_sent_twice_is_published_once(service: Service, ann: Visitor) -> None:
    ann.get("/pages/publish?type=car")
    fields = ann.form("/pages/publish") | {"value:brand": ["mini"], "value:year": ["1971"]}
    first, second = (ann.client.post("/pages/publish", data=fields) for _ in range(2))
    assert first.headers["location"] == second.headers["location"]
    changed = ann.client.post("/pages/publish", data=fields | {"value:year": ["1972"]})
    assert changed.headers["location"] != first.headers["location"], "after going back, it is another event"
    ann.get(first.headers["location"])
    fields = ann.form("/pages/publish") | {"value:brand": ["mini"], "value:year": ["1971"]}
    again = ann.client.post("/pages/publish", data=fields)
    assert again.headers["location"] != first.headers["location"], "the next form is for another one"


def test_a_name_with_blanks_has_its_error_too(service: Service, ann: Visitor) -> None:
    made = growth.CreateAttribute(Attribute("made of it", "money"))
    ticks = growth.CreateAttribute(Attribute("marks seen", "brand"))
    uses = (AttributeUse("made of it"), AttributeUse("marks seen", unique=False))
    service.store.append([Grow(made), Grow(ticks), Grow(growth.CreateEventType(EventType("thing", uses)))])
    ann.get("/pages/publish?type=thing")
    ann.submit("/pages/publish", **{"value:made of it": "gold"})
    assert ann.errors() == {"value:made of it": "'gold' is not a number; expected e.g. 1300 or 12.5."}
    (fields,) = ann.tree.xpath("//fieldset[.//input[@name='value:marks seen']]")
    assert ann.tree.get_element_by_id(fields.get("aria-describedby")).text_content() == "Enter a value."


def test_the_form_says_what_is_mandatory_and_no_kinds(ann: Visitor) -> None:
    ann.get("/pages/publish?type=auction&type=car")
    labels = {label.text_content() for label in ann.tree.xpath("//form//div[@class='field']/label")}
    assert {"title*", "price* a number", "ends* UTC", "paint one or several", "brand*"} <= labels
    assert "numeric" not in ann.text
    assert "* mandatory" in ann.text


def test_a_tree_that_is_too_deep_to_open_is_searched(service: Service, ann: Visitor) -> None:
    deep = Hierarchy(tuple(f"n{level}" for level in range(LEVELS)), tuple(range(-1, LEVELS - 1)))
    changes = (
        growth.CreateDomain(Domain("well", Kind.HIERARCHICAL, hierarchy=deep)),
        growth.CreateAttribute(Attribute("depth", "well")),
        growth.CreateEventType(EventType("dive", (AttributeUse("depth"),))),
    )
    service.store.append([Grow(change) for change in changes])
    assert ann.get("/pages/schema").status_code == 200
    assert "250 nodes, too deep to open here" in ann.text
    ann.get("/pages/publish?type=dive")
    (field,) = ann.tree.xpath("//input[@name='value:depth']")
    assert (field.get("type"), field.get("list") is not None) == (None, True)
    ann.submit("/pages/publish", **{"value:depth": "n249"})
    assert "Published." in ann.text


def test_one_more_value_can_be_asked_for_without_a_script(ann: Visitor) -> None:
    ann.get("/pages/publish?type=car")
    assert ann.form("/pages/publish")["value:paint"] == [""]
    ann.submit("/pages/publish", more="paint", **{"value:paint": ["red"], "value:year": "1990"})
    fields = ann.form("/pages/publish")
    assert fields["value:paint"] == ["red", "", ""]
    assert fields["value:year"] == ["1990"]


@pytest.mark.parametrize(
    "address", ["/pages/publish?type=none", "/pages/publish?type=", "/pages/publish?type=car&type=x"]
)
def test_an_unknown_type_leads_back_to_the_choice(ann: Visitor, address: str) -> None:
    ann.get(address)
    assert "Choose one or more event types" in ann.text


def test_going_on_without_a_type_is_told(ann: Visitor) -> None:
    ann.get("/pages/publish")
    assert "Choose at least one type" not in ann.text, "nothing was asked yet"
    (form,) = ann.tree.xpath("//form[@action='/pages/publish']")
    ann.get("/pages/publish", **dict(form.form_values()))
    assert ann.page.status_code == 422
    assert [one.text for one in ann.tree.xpath("//p[@role='alert']")] == ["Choose at least one type."]
    ann.get("/pages/publish", **dict(form.form_values()), type="car")
    assert "value:brand" in ann.form("/pages/publish")


def test_a_guest_is_led_to_the_log_in_unless_guests_may(service: Service, visitor: Visitor) -> None:
    visitor.get("/pages/publish?type=car")
    assert visitor.page.url.path == "/pages/login"
    from tidings.service.door.callers import Caller

    service.gateway.guest = Caller("", frozenset({"publish", "schema"}))
    visitor.get("/pages/publish?type=car")
    visitor.submit("/pages/publish", **{"value:brand": "mini", "value:year": "1971"})
    assert "Published." in visitor.text
