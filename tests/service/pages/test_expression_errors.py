"""How often an expression in another language ended in an error, as its owner sees it."""

from tests.service.conftest import Service, car, on_sqlite
from tests.service.pages.visitor import Visitor
from tidings.store.notifications.expression_errors import FailedEvent


@on_sqlite
def test_how_many_events_ended_in_an_error(service: Service, ann: Visitor) -> None:
    made = {"filter": "brand = 'mini' AND LENGTH(paint) > 3", "dialect": "cesql"}
    id = ann.client.post("/v1/subscriptions", json=made).json()["id"]
    path = f"/v1/subscriptions/{id}"
    assert "errors" not in ann.client.get(path).json()
    position = service.client.post("/v1/events", json=car("e1")).json()["position"]
    failed = [FailedEvent(position, service.store.subscription(id).span or 0, "the event has no 'paint'")]
    service.store.commit(service.store.committed() + 1, service.store.tail(), [], failed=failed)
    counted = {"events": 1, "position": position, "detail": "the event has no 'paint'"}
    assert ann.client.get(path).json()["errors"] == counted
    assert [one["errors"] for one in ann.client.get("/v1/subscriptions").json()["items"]] == [counted]
    ann.get(f"/pages/subscriptions/{id}")
    assert "On 1 event the expression ended in an error and so did not match." in ann.text
    assert "The last: the event has no 'paint'" in ann.text
    ann.get(f"/pages/subscriptions/{id}/why/{position}")
    assert "the event has no 'paint'" in ann.text
    ann.client.patch(path, json={"state": "paused"})
    assert "errors" not in ann.client.patch(path, json={"state": "active"}).json(), "a resumed one starts over"
    assert "errors" not in ann.client.get(path).json()
