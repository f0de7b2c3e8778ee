"""Every operation of the API, called once or more as a user would, in an order that makes sense."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import httpx

from tests.notifying.smtp_sink import Sink
from tests.service.conftest import PASSWORD, Service
from tests.service.contract.recording import LATER, LINES, TIME, Recording
from tests.service.delivering import send
from tests.service.networked import linked, networked, until
from tests.service.networked import operator as an_operator
from tests.service.receiver import Receiver
from tidings.service.api.events.cloud_events import BATCH, STRUCTURED
from tidings.service.door.callers import digest_of

MINI = {
    "id": "e1",
    "source": "auctions",
    "time": TIME,
    "event_type": ["auction", "car"],
    "attributes": {
        "title": "Red Mini, one owner",
        "price": 900,
        "category": "convertible",
        "brand": "mini",
        "year": 1971,
        "paint": ["red", "white"],
        "ends": "2026-05-08T18:00:00Z",
    },
}
TABLE = {
    "id": "e2",
    "source": "auctions",
    "event_type": "auction",
    "attributes": {"title": "Oak table", "price": 240, "category": "dining table", "ends": "2026-05-03T09:00:00Z"},
}
CLOUD_EVENT = {
    "specversion": "1.0",
    "id": "c1",
    "source": "https://auctions.example.org",
    "type": "car",
    "data": {"brand": "opel", "year": 1998},
}
FILTER = "brand = mini and price < 1300"
COMPOSITE = "[brand = mini] unless [price < 300] within 10 min"


def make_all_calls(service: Service, other: Service, hook: Receiver, sink: Sink) -> Recording:
    """`other` is one to link to."""
    ann = Recording(service, service.anonymous())
    _register(ann)
    _look_at_schema(ann)
    plain, webhook = _subscribe(ann, hook)
    position = _publish(ann)
    service.commit(service.store.committed() + 1, service.store.tail(), [(position, sorted([plain, webhook]))])
    _read_notifications(ann, plain)
    _ask(ann, position)
    _deliver(ann, webhook)
    _lose_webhook(ann, webhook, hook)
    _confirm_by_mail(ann, sink)
    _operate(ann)
    _grow_schema(ann)
    _watch(ann)
    _join_network(ann, other)
    _leave(ann, plain)
    return ann


def _register(ann: Recording) -> None:
    credentials = {"username": "ann", "password": PASSWORD}
    made = ann.call("POST /v1/accounts", "register", "A new account", 201, credentials).json()
    ann.client.headers["Authorization"] = f"Bearer {made['token']}"
    ann.call("GET /v1/accounts/me", "me", "Your account", 200)
    narrow = {**credentials, "name": "publisher", "scopes": ["publish"], "expires": LATER}
    ann.call("POST /v1/tokens", "narrow", "A token for publishing alone", 201, narrow)


def _look_at_schema(ann: Recording) -> None:
    ann.call("GET /v1/schema", "schema", "The newest schema", 200)
    in_xml = {"Accept": "application/xml"}
    ann.call("GET /v1/schema", "xml", "The beginning, in XML", 200, headers=in_xml, shortened=_first_line)
    ann.call("GET /v1/schema/history", "first", "The first change", 200, limit=1)


def _subscribe(ann: Recording, hook: Receiver) -> tuple[str, str]:
    request = "POST /v1/subscriptions"
    told = "Notifications are stored, to be polled or streamed"
    made = ann.call(request, "stored", told, 201, {"filter": FILTER}, headers={"Idempotency-Key": "cheap-minis"}).json()
    plain = ann.stands_for(made["id"], "sub-1")
    channel = {"kind": "webhook", "url": hook.url, "rate": {"count": 10, "seconds": 60}}
    by_webhook = {"filter": FILTER, "channel": channel, "expiry": LATER}
    told = "Notifications are also sent to a webhook"
    made = ann.call(request, "webhook", told, 201, by_webhook, headers={"Idempotency-Key": "by-webhook"}).json()
    webhook = ann.stands_for(made["id"], "sub-2")
    ann.call("GET /v1/subscriptions", "first", "The first page", 200, limit=1, state="active")
    ann.call("GET /v1/subscriptions/{id}", "one", "A subscription with a webhook", 200, id=webhook)
    change = {"filter": f"{FILTER} and year < 1980"}
    ann.call("PATCH /v1/subscriptions/{id}", "edit", "Another filter", 200, change, id=plain)
    return plain, webhook


def _publish(ann: Recording) -> int:
    request = "POST /v1/events"
    made = ann.call(request, "one", "One event", 202, MINI)
    ann.call(request, "batch", "Several events, one of which is a duplicate", 202, [MINI, TABLE])
    wrong = {"id": "e9", "event_type": "car", "attributes": {"brand": "mini"}}
    ann.call(request, "partly", "Several events, one of which is refused", 207, [{**TABLE, "id": "e8"}, wrong])
    ann.call(request, "cloudEvent", "A CloudEvent", 202, CLOUD_EVENT, takes=STRUCTURED)
    ann.call(request, "cloudEvents", "Several CloudEvents", 202, [CLOUD_EVENT], takes=BATCH)
    line = '{"id": "l1", "event_type": "car", "attributes": {"brand": "audi", "year": 2004}}\n'
    ann.call(request, "lines", "A stream of lines", 202, line, takes=LINES)
    position: int = made.json()["position"]
    return position


def _read_notifications(ann: Recording, id: str) -> None:
    ann.call("GET /v1/notifications", "first", "The first page", 200, limit=1)
    ann.call("GET /v1/subscriptions/{id}/notifications", "all", "All of them", 200, id=id)
    ann.stream("GET /v1/notifications/stream", "live", "From the first notification on", subscription=id)


def _ask(ann: Recording, position: int) -> None:
    ann.call("GET /v1/events/{position}", "event", "A stored event", 200, position=position)
    searched = {"filter": "price < 1300", "type": "auction"}
    ann.call("GET /v1/events/search", "search", "The latest first, and how many match", 200, **searched)
    ann.call("GET /v1/events", "search", "The newest that matches", 200, filter="price < 1300", order="newest", limit=1)
    asked = {"filter": FILTER, "position": position}
    ann.call("POST /v1/filters/explain", "stored", "A stored event, by its position", 200, asked)
    tested = {"filter": "price < 1000", "since": "1d", "limit": 1}
    ann.call("POST /v1/filters/test", "day", "The last day", 200, tested)
    tested = {"composite": COMPOSITE, "since": "1d", "limit": 1}
    ann.call("POST /v1/composites/test", "day", "The last day", 200, tested)
    told = "In the background"
    started = ann.call(
        "GET /v1/events", "job", told, 202, filter="price < 1300", headers={"Prefer": "respond-async"}
    ).json()
    job = ann.stands_for(started["query"], "query-1")
    _wait(lambda: ann.client.get(f"/v1/queries/{job}").json()["state"] == "done")
    ann.call("GET /v1/queries", "all", "One that is done", 200)
    ann.call("GET /v1/queries/{id}", "done", "It is done", 200, id=job)
    ann.call("GET /v1/queries/{id}/events", "found", "All that it found", 200, id=job)
    ann.call("DELETE /v1/queries/{id}", "delete", "Delete it", 204, id=job)


def _deliver(ann: Recording, id: str) -> None:
    path = "/v1/subscriptions/{id}"
    send(ann.service)
    ann.call(f"GET {path}/deliveries", "delivered", "Those that arrived", 200, id=id, state="delivered")
    ann.call(f"GET {path}/deliveries/{{number}}", "one", "A delivery and its only attempt", 200, id=id, number="1")
    ann.call(f"POST {path}/replay", "numbers", "By number", 200, {"deliveries": [1]}, id=id)
    ann.call(f"POST {path}/replay", "sequences", "By sequence number", 200, {"from": 1, "to": 10}, id=id)
    ann.call(f"POST {path}/test-delivery", "test", "The newest match", 200, id=id)
    ann.call(f"GET {path}/channel", "webhook", "A webhook that works", 200, id=id)
    ann.call(f"POST {path}/channel/pause", "pause", "Pause it", 200, id=id)
    ann.call(f"POST {path}/channel/resume", "resume", "Resume it", 200, id=id)
    ann.call(f"POST {path}/channel/rotate-secret", "rotate", "A new secret", 200, id=id)


def _lose_webhook(ann: Recording, id: str, hook: Receiver) -> None:
    """The receiver wants nothing more, so the channel is disabled and its owner gets a notice."""
    hook.status = 410
    _match(ann, {**MINI, "id": "e3"}, id)
    send(ann.service)
    notices = ann.call("GET /v1/notices", "first", "A channel was disabled", 200, limit=1).json()
    ann.call("POST /v1/notices/seen", "seen", "All up to `next`", 204, {"upto": notices["next"]})


def _match(ann: Recording, event: dict[str, Any], id: str) -> None:
    """What the pipeline does: the subscription matches the event."""
    position = ann.client.post("/v1/events", json=event).json()["position"]
    ann.service.commit(ann.service.store.committed() + 1, position, [(position, [id])])


def _confirm_by_mail(ann: Recording, sink: Sink) -> None:
    channel = {"kind": "email", "address": "ann@example.org"}
    asked, key = {"filter": "brand = audi", "channel": channel}, {"Idempotency-Key": "by-mail"}
    made = ann.client.post("/v1/subscriptions", json=asked, headers=key).json()
    id = ann.stands_for(made["id"], "sub-3")
    anybody = ann.service.anonymous()
    token = ann.stands_for(_link(sink, "confirm"), "c29tZW9uZQ")
    ann.call("GET /confirm/{token}", "page", "A page with a button", 200, client=anybody, token=token)
    ann.call("POST /confirm/{token}", "confirm", "The button", 200, client=anybody, token=token)
    _match(ann, {**MINI, "id": "e4"}, id)
    send(ann.service)
    token = ann.stands_for(_link(sink, "unsubscribe"), "c29tZWJvZHk")
    ann.call("GET /unsubscribe/{token}", "page", "A page with a button", 200, client=anybody, token=token)
    ann.call("POST /unsubscribe/{token}", "unsubscribe", "The button", 200, client=anybody, token=token)


def _operate(ann: Recording) -> None:
    token = "tid_operator-of-the-tests"
    assert ann.service.store.add_operator(digest_of(token))
    operator = ann.service.anonymous()
    operator.headers["Authorization"] = f"Bearer {token}"
    call: Any = ann.call
    call("GET /v1/operator/channels", "all", "Those in trouble", 200, client=operator)
    quota = {"matches_per_minute": 1000}
    call("PUT /v1/accounts/{username}/quota", "quota", "1,000 a minute", 200, quota, client=operator, username="ann")
    scopes = {"scopes": ["publish", "subscribe", "read", "account", "schema"]}
    call(
        "PATCH /v1/accounts/{username}",
        "scopes",
        "It may grow the schema",
        200,
        scopes,
        client=operator,
        username="ann",
    )


def _grow_schema(ann: Recording) -> None:
    credentials = {"username": "ann", "password": PASSWORD}
    token = ann.client.post("/v1/tokens", json=credentials).json()["token"]
    ann.client.headers["Authorization"] = f"Bearer {token}"
    domain = {"name": "colour", "kind": "enumerated", "values": ["red", "green"]}
    ann.call("POST /v1/schema/domains", "enumerated", "A list of values", 201, domain)
    values = "POST /v1/schema/domains/{name}/values"
    ann.call(values, "value", "A value of an enumeration", 201, {"value": "blue"}, name="colour")
    ann.call(values, "node", "A node of a hierarchy", 201, {"node": "tricycle", "parent": "vehicle"}, name="category")
    ann.call("POST /v1/schema/attributes", "colour", "An attribute", 201, {"name": "colour", "domain": "colour"})
    kite = {"name": "kite", "attributes": [{"name": "colour"}, {"name": "price", "mandatory": False}]}
    ann.call("POST /v1/schema/event-types", "kite", "A type with two attributes", 201, kite)
    shown, title = "POST /v1/schema/event-types/{name}/headline", {"attribute": "title"}
    ann.call(shown, "headline", "Auctions are shown by their title", 201, title, name="auction")
    use = "POST /v1/schema/event-types/{name}/attributes"
    ann.call(use, "year", "An optional attribute", 201, {"name": "year", "mandatory": False}, name="kite")


def _publish_document(ann: Recording) -> None:
    article = {"name": "article", "kind": "document", "root": "article"}
    urgency = {"name": "urgency", "mandatory": False}
    for path, body in (
        ("domains", article),
        ("domains", {"name": "urgency", "kind": "numeric"}),
        ("attributes", {"name": "article", "domain": "article"}),
        ("attributes", {"name": "urgency", "domain": "urgency"}),
        ("event-types", {"name": "news", "attributes": [{"name": "article"}, urgency]}),
    ):
        made = ann.client.post(f"/v1/schema/{path}", json=body)
        assert made.status_code == 201, made.text
    document = "<article><title>Storm over the coast</title></article>"
    ann.call(
        "POST /v1/documents/{event_type}", "article", "An article", 202, document, takes="application/xml",
        event_type="news", id="a1", urgency="2",
    )  # fmt: skip


def _watch(ann: Recording) -> None:
    ann.service.commit(ann.service.store.committed() + 1, ann.service.store.tail(), [])
    short = "The beginning"
    ann.call("GET /schema.json", "schema", short, 200, shortened=lambda whole: _without(whole, "allOf", "$defs"))
    documented = ("operations", "channels", "components")
    ann.call("GET /asyncapi.json", "asyncapi", short, 200, shortened=lambda whole: _without(whole, *documented))
    ann.call("GET /dtds/{name}.dtd", "publish", short, 200, name="pub_event", shortened=_first_line)
    ann.call("GET /healthz", "alive", "It runs", 200)
    ann.call("GET /readyz", "ready", "It is ready", 200)
    ann.call(
        "GET /metrics",
        "lag",
        "One of many",
        200,
        shortened=lambda text: re.search(r"# HELP tidings_lag.*\n.*\n.*\n", text)[0],
    )


def _join_network(ann: Recording, other: Service) -> None:
    with networked(ann.service, "athens"), networked(other, "berlin"):
        operator, there = an_operator(ann.service, "zoe"), an_operator(other, "zoe")
        invitation = ann.call("POST /v1/network/invitations", "invite", "A token for a server", 201, client=operator)
        linked(there, operator, invitation.json())
        ann.call("GET /v1/network", "network", "Two servers", 200, client=operator, shortened=_still)
        _ask_the_home(ann, operator, there)
        ann.call("GET /v1/network/links", "all", "One", 200, client=operator)
        _advertise(ann)
        _move(ann, there)
        ann.call("POST /v1/network/home", "home", "It is the home already", 200, client=operator)
        ann.call("DELETE /v1/network/links/{name}", "remove", "Remove it", 200, client=operator, name="berlin")
        there.delete("/v1/network/links/athens")
        again = {"url": other.address, "token": there.post("/v1/network/invitations").json()["token"]}
        ann.call("POST /v1/network/links", "link", "With a token from there", 201, again, client=operator)


def _ask_the_home(ann: Recording, operator: httpx.Client, there: httpx.Client) -> None:
    asked = {"kind": "distribute", "value": "subscriptions"}
    ann.call("POST /v1/network/orders", "distribute", "Only what subscriptions match", 201, asked, client=operator)
    before = ann.service.store.tail()
    assert there.post("/v1/events", json={**MINI, "id": "b1"}).status_code == 202
    until(lambda: ann.service.store.tail() > before)  # a subscription here matches it
    found = "Events of both servers"
    ann.call("GET /v1/network/events", "search", found, 200, client=operator, filter="brand = mini", limit=1)


def _advertise(ann: Recording) -> None:
    path = "/v1/network/advertisements"
    made = ann.call(f"POST {path}", "cars", "You will publish cars", 201, {"filter": "event_type = car"})
    id = ann.stands_for(made.json()["id"], "adv-1")
    ann.call(f"GET {path}", "all", "One of yours", 200)
    ann.call(f"DELETE {path}/{{id}}", "withdraw", "Withdraw it", 200, id=id)


def _move(ann: Recording, there: httpx.Client) -> None:
    """The other server takes no subscription with a ticket that it does not know, so this one is listed."""
    ann.call("POST /v1/network/tickets", "ticket", "A ticket of this server", 201)
    made = ann.client.post(
        "/v1/subscriptions", json={"filter": "year > 2000"}, headers={"Idempotency-Key": "to-move"}
    ).json()
    id = ann.stands_for(made["id"], "sub-5")
    asked = {"to": "berlin", "ticket": "tid_not-a-ticket-of-berlin-at-all", "subscriptions": [id]}
    ann.call("POST /v1/network/moves", "move", "One subscription", 202, asked)
    until(lambda: ann.client.get("/v1/network/moves").json()["items"][0]["problem"])
    ann.call("GET /v1/network/moves", "refused", "The new server refused the ticket", 200)


def _still(network: dict[str, Any]) -> dict[str, Any]:
    """As it might be at one moment."""
    (link,) = network["links"]
    link |= {
        "weight": 1.0,
        "waiting": 0,
        "behind_seconds": 0.0,
        "events": 12,
        "bytes": 4096,
        "posted": 3,
        "interest": 1,
    }
    link |= {"state": "alive", "in_tree": True, "sent_per_second": 4.0, "received_per_second": 4.0, "problem": ""}
    servers = [{**one, "head": 21, "mark": 21, "reached": True, "level": True} for one in network["servers"]]
    counts = {"taken": 5, "journaled": 5, "refused": 0, "dropped": 0, "failed": 0}
    mutual = [{**one, "weight": 1.0} for one in network["mutual"]]
    more = {"incarnation": 1777629600000, "schema": 12, "filters": 3, "counts": counts, "mutual": mutual}
    return network | {"links": [link], "servers": servers} | more


def _without(whole: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in whole.items() if name not in names}


def _first_line(text: str) -> str:
    return text.splitlines()[0]


def _wait_for_pattern(ann: Recording) -> None:
    told, key = "A pattern over time", {"Idempotency-Key": "a-pattern"}
    made = ann.call("POST /v1/subscriptions", "composite", told, 201, {"composite": COMPOSITE}, headers=key).json()
    id = ann.stands_for(made["id"], "sub-4")
    ann.call("GET /v1/subscriptions/{id}/waiting", "nothing", "Nothing has happened yet", 200, id=id)


def _leave(ann: Recording, id: str) -> None:
    _import(ann)
    _wait_for_pattern(ann)
    ann.call("DELETE /v1/subscriptions/{id}", "withdraw", "Withdraw it", 200, id=id)
    listed = ann.call("GET /v1/tokens", "all", "All of them", 200).json()["items"]
    for number, token in enumerate(listed, 1):
        ann.stands_for(token["id"], f"token-{number}")
    ann.call("DELETE /v1/tokens/{id}", "delete", "Delete it", 204, id=listed[0]["id"])
    passwords = {"old": PASSWORD, "new": "correct horse battery staples"}
    ann.call("POST /v1/accounts/me/password", "change", "A new password", 204, passwords)
    ann.call("DELETE /v1/tokens/current", "logOut", "Log out", 204)
    credentials = {"username": "ann", "password": passwords["new"]}
    token = ann.client.post("/v1/tokens", json=credentials).json()["token"]
    ann.client.headers["Authorization"] = f"Bearer {token}"
    _publish_document(ann)
    password = {"password": passwords["new"]}
    ann.call("POST /v1/accounts/me/delete", "delete", "Delete it, with all its subscriptions", 200, password)


def _link(sink: Sink, purpose: str) -> str:
    """The token in the last mail's link."""
    body = sink.last.get_body(("plain",))
    assert body is not None
    found = re.search(rf"https?://\S+?/{purpose}/(\S+)", body.get_content())
    assert found, body.get_content()
    return found[1]


def _wait(holds: Any) -> None:
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)


def _import(ann: Recording) -> None:
    lines = [{"id": "old-1", "filter": "price < 5", "name": "Bargains"}, {"id": "old-2", "filter": "prise < 5"}]
    request = "POST /v1/subscriptions/import"
    ann.call(request, "check", "What would be done", 200, lines, check=True)
    ann.call(request, "import", "One that is right, and one that is wrong", 207, lines)
    text = "".join(f"{json.dumps(line)}\n" for line in lines[:1])
    ann.call(request, "lines", "As lines; it exists already", 202, text, takes=LINES)
    ann.call("GET /v1/subscriptions/export", "all", "All of yours", 200)
