"""The form of an event: made from the view, with what is wrong at its field."""

import pytest

from tests.service.conftest import Service, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.service.questions import stored

pytestmark = on_sqlite


def test_types_are_chosen_first_then_comes_their_view(ann: Visitor) -> None:
    ann.get("/pages/publish")
    assert [box.get("value") for box in ann.tree.iter("input") if box.get("name") == "type"] == ["auction", "car"]
    ann.get("/pages/publish?type=auction&type=car")
    fields = ann.form("/pages/publish")
    assert {"value:title", "value:brand", "value:ends", "value:paint"} <= set(fields)
    required = {node.get("name") for node in ann.tree.iter("input", "select") if node.get("required") is not None}
    assert required == {f"value:{name}" for name in ("title", "price", "category", "ends", "brand", "year")}
    brand = next(node for node in ann.tree.iter("select") if node.get("name") == "value:brand")
    assert [option.text or "" for option in brand] == ["", "opel", "mini", "audi", "volvo"]
    category = next(node for node in ann.tree.iter("input") if node.get("name") == "value:category")
    offered = [option.get("value") for option in ann.tree.get_element_by_id(category.get("list"))]
    assert "convertible" in offered
    ends = next(node for node in ann.tree.iter("input") if node.get("name") == "value:ends")
    assert ends.get("type") == "datetime-local"


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
