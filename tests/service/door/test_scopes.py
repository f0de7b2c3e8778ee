"""Who may do what: every row of docs/reference/scopes.md is asked for with every kind of token."""

import http.client
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.docs.pages import code, rows
from tests.service.conftest import Service, car, on_sqlite
from tests.service.networked import networked
from tests.service.xml_served import Served, Speaker
from tidings.schema import Instant
from tidings.service.door import scopes
from tidings.service.door.callers import digest_of, new_token
from tidings.service.pages.forms.csrf import proof_of
from tidings.settings import SCOPES
from tidings.store.accounts.accounts import Account, Token

PAGE = "docs/reference/scopes.md"
FORM = "application/x-www-form-urlencoded"
XML_BODIES = {
    "ADD_DOMAIN": '<DOMAINS><DOMAIN name="mass" type="NUM"/></DOMAINS>',
    "PUBLISH_EVENT": (
        '<EVENT_TYPE><VALUE type="car"/></EVENT_TYPE><ATTRIBUTES><ATTR type="brand">opel</ATTR>'
        '<ATTR type="year">1970</ATTR></ATTRIBUTES>'
    ),
    "PUBLISH_SUB": "<FILTER>price &lt; 5</FILTER>",
}


@dataclass
class Row:
    """`none`, `without`, `right` and `others` are what the page says."""

    request: str
    need: str
    none: str
    without: str
    right: str
    others: str


def _rows(known: dict[str, str]) -> list[Row]:
    found = [[cell.strip() for cell in row] for row in rows(PAGE, "request")]
    read = [Row(code(row[0]) or "", row[1].strip("`"), *row[2:]) for row in found]
    return [row for row in read if row.request in known]


def _token(service: Service | Served, username: str, *allowed: str) -> str:
    token = new_token()
    service.store.add_token(Token(digest_of(token), username, "token", "", frozenset(allowed), Instant(0), None))
    return token


@dataclass
class Asker:
    """Sends requests to one service on a connection that is kept."""

    service: Service
    names: dict[str, str]

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=120)

    def ask(self, request: str, token: str, owner: str = "tester") -> str:
        """What came of it, in the words of the page."""
        method, path = request.split(" ")
        is_page = path == "/" or path.startswith("/pages")
        path = re.sub(r"\{(\w+)\}", lambda part: self.names.get(part[1], "1"), path)
        headers, body = {"Content-Type": "application/json", "Accept": "application/json"}, b"{}"
        if method == "PATCH" and "subscriptions" in path:
            body = b'{"state": "paused"}'
        if is_page:
            headers = {"Content-Type": FORM, "Sec-Fetch-Site": "same-origin", "Accept": "text/html"}
            proof = proof_of(token, owner)
            headers |= {"Cookie": f"tidings_session={token}", "X-Form-Proof": proof} if token else {}
            body = f"proof={proof}&act=pause".encode()
        elif token:
            headers["Authorization"] = f"Bearer {token}"
        if path == "/v1/notifications/stream":
            path += "?after=wrong"  # which ends it
        self.connection.request(method, path, None if method == "GET" else body, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if is_page and (b'action="/pages/login"' in text or "/pages/login" in (answer.getheader("location") or "")):
            return "OK" if request.endswith(("/pages/login", "/pages/register")) else "log in"
        if is_page and answer.status == 401:  # a script asks
            return "log in"
        if answer.status == 403 and b"needs the scope" not in text.replace(b"&#39;", b"'"):
            return "OK"  # a form that was made up, say
        return str(answer.status) if answer.status in (401, 403, 404) else "OK"


@pytest.fixture
def asker(service: Service) -> Iterator[Asker]:
    everything = frozenset(SCOPES)
    for name in ("owner", "another"):
        service.store.add_account(Account(name, "", everything, Instant(0)))
    subscription = service.client.post("/v1/subscriptions", json={"filter": "brand = mini"}).json()["id"]
    position = service.client.post("/v1/events", json=car()).json()["position"]
    names = {"id": subscription, "position": str(position), "username": "tester", "way": "attribute"}
    asking = Asker(service, names | {"name": "brand", "number": "1", "digest": "x", "rest": "x"})
    with networked(service, "athens"):
        yield asking
    asking.connection.close()


@on_sqlite
@pytest.mark.parametrize("known", [scopes.HTTP, scopes.LINKS, scopes.PAGES], ids=["http", "links", "pages"])
def test_every_route_with_every_token(service: Service, asker: Asker, known: dict[str, str]) -> None:
    table = _rows(known)
    assert [row.request for row in table] == list(known)
    ordered = sorted(table, key=lambda row: row.need == scopes.TOKEN)  # what takes its own token back comes last
    single = {scope: _token(service, "owner", scope) for scope in SCOPES}
    nothing = _token(service, "owner")
    for row in ordered:
        for scope in (*SCOPES, ""):
            token = single[scope] if scope else nothing
            if "/current" in row.request or "logout" in row.request:
                token = _token(service, "owner", *([scope] if scope else []))
            answer = asker.ask(row.request, token, "owner")
            is_right = row.need in (scope, scopes.NOTHING, scopes.TOKEN)
            if is_right and answer == "404":
                answer = "OK"  # it is let in, and what it asks for is not there
            assert answer == (row.right if is_right else row.without), (row, scope)
        if row.none != "OK":
            assert asker.ask(row.request, "") == row.none, row
            assert asker.ask(row.request, "tid_junk", "owner") == row.none, row
        else:
            assert asker.ask(row.request, "") in ("OK", "404"), row
            ended = ("log in",) if known is scopes.PAGES else ()  # as a session may have
            assert asker.ask(row.request, "tid_junk", "owner") in ("OK", "404", *ended), row


@on_sqlite
@pytest.mark.parametrize("known", [scopes.HTTP, scopes.PAGES], ids=["http", "pages"])
def test_what_is_anothers(service: Service, asker: Asker, known: dict[str, str]) -> None:
    walked = 0
    for row in _rows(known):
        if row.others:
            walked += 1
            assert asker.ask(row.request, _token(service, "another", *SCOPES), "another") == row.others, row
    assert walked > 8


@on_sqlite
def test_every_route_has_a_class_that_looks(service: Service) -> None:
    from tidings.service.door.guarded_route import GuardedRoute
    from tidings.service.http import _ROUTES
    from tidings.service.pages.page_route import PageRoute

    routes = [route for module in _ROUTES for route in module.router.routes]
    assert all(isinstance(route, GuardedRoute | PageRoute) for route in routes)
    served = {f"{method} {route.path_format}" for route in routes for method in route.methods}
    assert served == scopes.HTTP.keys() | scopes.PAGES.keys() | scopes.LINKS.keys()
    outside = [getattr(route, "path", "") for route in service.app.routes if getattr(route, "methods", None)]
    assert set(outside) <= {"/openapi.json"} | {route.path for route in routes}


def test_a_publishers_token_can_only_publish(service: Service) -> None:
    """What such a token did before: it read everything, took its owner's tokens back and changed the password."""
    sensor = service.anonymous()
    sensor.headers["Authorization"] = f"Bearer {_token(service, 'tester', 'publish')}"
    (main,) = [one["id"] for one in service.client.get("/v1/tokens").json()["items"] if one["current"]]
    refused = {
        "GET": ("/v1/tokens", "/v1/accounts/me", "/v1/events", "/v1/events/1", "/v1/queries", "/v1/notifications"),
        "POST": (
            "/v1/filters/explain",
            "/v1/filters/test",
            "/v1/subscriptions",
            "/v1/accounts/me/password",
            "/v1/schema/domains",
        ),
        "DELETE": (f"/v1/tokens/{main}", "/v1/queries/1"),
        "PATCH": ("/v1/accounts/tester",),
    }
    for method, paths in refused.items():
        for path in paths:
            answer = sensor.request(method, path, json={})
            assert (answer.status_code, answer.json()["type"]) == (403, "/problems/insufficient-scope"), path
    asynchronous = sensor.get("/v1/events", params={"filter": "price > 1"}, headers={"Prefer": "respond-async"})
    assert asynchronous.status_code == 403
    assert sensor.post("/v1/events", json=car()).status_code == 202
    assert service.client.get("/v1/accounts/me").status_code == 200
    assert sensor.delete("/v1/tokens/current").status_code == 204  # it may be thrown away by whoever has it


def _xml(name: str, token: str, **more: str) -> str:
    named = {"token": token} | ({"contact": "a@b.c"} if name == "PUBLISH_EVENT" else {}) | more
    written = "".join(f' {key}="{value}"' for key, value in named.items() if value)
    return f"<{name}{written}>{XML_BODIES.get(name, '')}</{name}>"


@on_sqlite
def test_every_xml_request_with_every_token(daemon: Served) -> None:
    ann = Speaker(daemon, "ann", frozenset(SCOPES))
    daemon.join("bob", frozenset(SCOPES))
    filter = XML_BODIES["PUBLISH_SUB"]
    mine = ann.ok(f'<PUBLISH_SUB username="ann" token="{{token}}">{filter}</PUBLISH_SUB>')["id"]
    single = {scope: _token(daemon, "ann", scope) for scope in SCOPES}
    bob = _token(daemon, "bob", *SCOPES)
    table = _rows(scopes.XML)
    assert [row.request for row in table] == list(scopes.XML)
    for row in table:
        assert ann.client.ask(_xml(row.request, "")).get("name") == row.none, row
        assert ann.client.ask(_xml(row.request, "tid_junk")).get("name") == "UnknownToken", row
        for scope in SCOPES:
            given = ann.client.ask(_xml(row.request, single[scope])).get("name")
            if scope == row.need:
                assert given not in ("OutOfScope", "NoToken", "UnknownToken"), row
            else:
                assert given == row.without, (row, scope)
        if row.others:
            others = {"username": "ann"} if row.others == "NoSuchUser" else {"id": mine}
            assert ann.client.ask(_xml(row.request, bob, **others)).get("name") == row.others, row
