"""The form of an event: made from the view, with what is wrong at its field."""

import pytest

from tests.service.conftest import Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.schema import growth
from tidings.schema.catalog import AttributeUse, EventType
from tidings.service.questions import stored
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
    assert [option.text or "" for option in brand] == ["", "opel", "mini", "audi", "volvo"]
    ends = next(node for node in ann.tree.iter("input") if node.get("name") == "value:ends")
    assert ends.get("type") == "datetime-local"


def test_a_place_in_a_hierarchy_is_chosen_from_its_tree(service: Service, ann: Visitor) -> None:
    ann.get("/pages/publish?type=auction")
    legend = next(node for node in ann.tree.iter("legend") if node.text.startswith("category"))
    assert "mandatory" in legend.text_content()
    fields = legend.getparent()
    (search,) = fields.xpath(".//input[@type='search']")
    assert search.get("name") is None, "it is not sent"
    path = [node.get("data-node") for node in fields.xpath(".//li[.//input[@value='convertible']]")]
    assert path == ["vehicle", "car", "convertible"]
    assert {one.get("type") for one in fields.xpath(".//input[@name='value:category']")} == {"radio"}
    assert fields.xpath(".//details[@open]") == []
    filled = {"value:title": "an old one", "value:price": "10", "value:ends": "2030-01-01T10:00:00"}
    ann.submit("/pages/publish", **filled, **{"value:category": None})
    assert ann.page.status_code == 422
    assert ann.tree.get_element_by_id("wrong-value:category").text_content()
    ann.submit("/pages/publish", **filled | {"value:price": "x"}, **{"value:category": "convertible"})
    assert [node.getparent().get("data-node") for node in ann.tree.xpath("//details[@open]")] == ["vehicle", "car"]
    ann.submit("/pages/publish", **filled)
    position = int(ann.page.url.params["published"])
    assert '"category":"convertible"' in stored(service.store, position).payload.replace(" ", "")


def test_several_places_of_a_tree_and_none(service: Service, ann: Visitor) -> None:
    uses = (AttributeUse("title"), AttributeUse("category", False, False), AttributeUse("condition", False))
    service.store.append([Grow(growth.CreateEventType(EventType("sale", uses)))])
    ann.get("/pages/publish?type=sale")
    assert {one.get("type") for one in ann.tree.xpath("//input[@name='value:category']")} == {"checkbox"}
    ann.submit("/pages/publish", **{"value:title": "all", "value:category": ["bicycle", "desk"]})
    payload = stored(service.store, int(ann.page.url.params["published"])).payload.replace(" ", "")
    assert '"category":["bicycle","desk"]' in payload
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
    assert "Published at position" in ann.text
    position = int(ann.page.url.params["published"])
    event = stored(service.store, position).payload
    assert '"year":1971' in event.replace(" ", "")
    assert '"paint":["red","white"]' in event.replace(" ", "")
    ann.get(f"/pages/events/{position}")
    assert "by hand" in ann.text
    assert "It is yet to be matched" in ann.text


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
    assert "year" in ann.text
    assert ann.page.status_code == 422


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
    assert "Choose one type, or several" in ann.text


def test_a_guest_is_led_to_the_log_in_unless_guests_may(service: Service, visitor: Visitor) -> None:
    visitor.get("/pages/publish?type=car")
    assert visitor.page.url.path == "/pages/login"
    from tidings.service.callers import Caller

    service.gateway.guest = Caller("", frozenset({"publish", "schema"}))
    visitor.get("/pages/publish?type=car")
    visitor.submit("/pages/publish", **{"value:brand": "mini", "value:year": "1971"})
    assert "Published at position" in visitor.text
