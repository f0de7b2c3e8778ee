"""Every route of the application, by its OpenAPI document, as somebody else."""

from dataclasses import replace
from typing import Any

from tests.service.conftest import Service, car
from tests.service.delivering import deliver
from tidings.service.door.scopes import NOTHING, need_of
from tidings.store import StoredChannel

# What has an id in its address but belongs to all: stored events, and names of the schema.
COMMON = {"/v1/events/{position}", "/v1/schema/event-types/{name}/attributes", "/v1/schema/domains/{name}/values"} | {
    "/v1/schema/event-types/{name}/headline",
    "/v1/documents/{event_type}",
}


def routes(service: Service) -> list[tuple[str, str, dict[str, Any]]]:
    document = service.anonymous().get("/openapi.json").json()
    return [
        (method.upper(), path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]


def test_what_is_anothers_is_not_there(service: Service) -> None:
    subscription = service.client.post("/v1/subscriptions", json={"filter": "brand = mini"}).json()["id"]
    kept = StoredChannel(subscription, "tester", "webhook", {"url": "https://example.org"}, secrets=(("whsec_", None),))
    channel = service.store.set_channel(kept)
    position = service.client.post("/v1/events", json=car()).json()["position"]
    service.commit(1, position, [(position, [subscription])])
    deliver(service)
    number = str(service.client.get(f"/v1/subscriptions/{subscription}/deliveries").json()["items"][0]["number"])
    token = service.client.get("/v1/tokens").json()["items"][0]["id"]
    ann = service.joined("ann")
    bodies = {"PATCH /v1/subscriptions/{id}": {"state": "paused"}}
    walked = []
    for method, path, _ in routes(service):
        if "{" not in path or path in COMMON or need_of(method, path) in (NOTHING, "operate"):
            continue
        for id in (subscription, token):
            place = path.replace("{id}", id).replace("{number}", number)
            assert "{" not in place, f"say whose {path} is"
            answer = ann.request(method, place, json=bodies.get(f"{method} {path}", {}))
            assert answer.status_code == 404, (method, place, answer.text)
        walked.append(f"{method} {path}")
    assert {"GET /v1/subscriptions/{id}", "GET /v1/subscriptions/{id}/notifications", "DELETE /v1/tokens/{id}"} <= set(
        walked
    )
    assert {"GET /v1/subscriptions/{id}/deliveries/{number}", "POST /v1/subscriptions/{id}/replay"} <= set(walked)
    assert service.store.channel(subscription, "tester") == replace(channel, sequence=1)
    assert ann.get("/v1/notifications").json()["items"] == []
    assert ann.get("/v1/subscriptions").json()["items"] == []
    assert service.client.get(f"/v1/subscriptions/{subscription}").json()["state"] == "active"
    assert len(service.client.get("/v1/tokens").json()["items"]) == 1
