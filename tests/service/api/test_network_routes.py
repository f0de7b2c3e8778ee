"""A server without a name has no network; a link's token may do nothing but link."""

import threading
from dataclasses import replace

import pytest

from tests.service.conftest import Service, on_sqlite
from tests.service.networked import networked, operator
from tidings.language import Filter
from tidings.schema import Catalog, Instant
from tidings.service.door.callers import digest_of, new_token
from tidings.service.door.scopes import HTTP, LINK, LINKS, NOTHING
from tidings.settings import SCOPES
from tidings.store.accounts.accounts import Account, Token


def token_of(service: Service, username: str, *scopes: str) -> dict[str, str]:
    token = new_token()
    kind = "link" if scopes == ("link",) else "token"
    service.store.add_token(Token(digest_of(token), username, kind, "", frozenset(scopes), Instant(0), None))
    return {"authorization": f"Bearer {token}"}


@on_sqlite
def test_only_a_token_of_a_link_opens_what_servers_send_each_other(service: Service) -> None:
    service.store.add_account(Account("owner", "", frozenset(SCOPES), Instant(0)))
    everything, link = token_of(service, "owner", *SCOPES), token_of(service, "", "link")
    assert set(LINKS.values()) == {LINK}
    for request in LINKS:
        method, path = request.split(" ")
        answers = [
            service.anonymous().request(method, path, json={}, headers=headers).status_code
            for headers in ({}, everything, link)
        ]
        assert answers == [401, 403, 404], request  # it has no name


@on_sqlite
def test_every_route_of_a_server_without_a_name(service: Service) -> None:
    """Says so, whoever may ask."""
    service.store.add_account(Account("owner", "", frozenset(SCOPES), Instant(0)))
    everything = token_of(service, "owner", *SCOPES)
    asked = [request for request in HTTP if request.partition(" ")[2].startswith("/v1/network")]
    assert len(asked) == 14
    for request in asked:
        method, path = request.replace("{name}", "berlin").replace("{id}", "1").split(" ")
        query = {"filter": "brand = mini"} if path.endswith("events") else None
        answer = service.anonymous().request(method, path, params=query, json={}, headers=everything)
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-network"), request


@on_sqlite
def test_a_repeated_request_gets_the_first_answer(service: Service) -> None:
    with networked(service, "athens"):
        client = operator(service)
        for path in ("invitations", "tickets", "advertisements"):
            body = {"filter": "brand = mini"} if path == "advertisements" else {}
            first, second = (
                client.post(f"/v1/network/{path}", json=body, headers={"Idempotency-Key": path}) for _ in range(2)
            )
            assert (first.status_code, second.json()) == (201, first.json()), path
            assert second.headers["Idempotency-Replayed"] == "true"
        assert len(client.get("/v1/network/advertisements").json()["items"]) == 1


@on_sqlite
def test_an_invitation_ends_with_the_account_that_gave_it(service: Service) -> None:
    with networked(service, "athens"):
        client = operator(service)
        operator(service, "another")  # the last one cannot be disabled
        token = client.post("/v1/network/invitations").json()["token"]
        assert [one["kind"] for one in client.get("/v1/tokens").json()["items"]] == ["token", "link"]
        link = service.anonymous()
        link.headers["Authorization"] = f"Bearer {token}"
        assert link.post("/v1/network/join", json={}).status_code == 422
        service.store.disable_account("operator")
        service.gateway.callers.forget()
        assert link.post("/v1/network/join", json={}).status_code == 401


@on_sqlite
def test_advertisements_are_parsed_beside_the_event_loop_and_bounded(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse, threads = Filter.parse, []

    def noted(text: str, catalog: Catalog) -> Filter:
        threads.append(threading.current_thread().name)
        return parse(text, catalog)

    monkeypatch.setattr(Filter, "parse", noted)
    with networked(service, "athens"):
        service.gateway.settings = replace(service.gateway.settings, advertisements_per_owner=1)
        client = operator(service)
        threads.clear()
        assert client.post("/v1/network/advertisements", json={"filter": "year > 1"}).status_code == 201
        assert threads[0].startswith("tidings-binding")
        answer = client.post("/v1/network/advertisements", json={"filter": "year > 2"})
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/quota-reached")
        assert client.post("/v1/network/advertisements", json={"filter": "year > " + "1" * 10_000}).status_code == 422


@on_sqlite
def test_lists_come_in_pages_and_what_is_anothers_stays(service: Service) -> None:
    with networked(service, "athens"):
        client, another = operator(service), operator(service, "another")
        for number in range(3):
            client.post("/v1/network/advertisements", json={"filter": f"year > {number}"})
        first = client.get("/v1/network/advertisements", params={"limit": 2})
        assert len(first.json()["items"]) == 2
        assert 'rel="next"' in first.headers["Link"]
        rest = client.get("/v1/network/advertisements", params={"limit": 2, "after": first.json()["next"]}).json()
        (last,) = rest["items"]
        assert rest["next"] is None
        assert (last["own"], another.get("/v1/network/advertisements").json()["items"][0]["own"]) == (True, False)
        assert another.delete(f"/v1/network/advertisements/{last['id']}").status_code == 404
        assert client.delete(f"/v1/network/advertisements/{last['id']}").json() == {"withdrawn": last["id"]}
        assert client.get("/v1/network/moves").json() == {"items": [], "next": None}
        assert client.delete("/v1/network/links/berlin").status_code == 404


@on_sqlite
def test_a_token_of_a_link_may_do_nothing_else(service: Service) -> None:
    link = token_of(service, "", "link")
    for request, need in HTTP.items():
        if need == NOTHING:
            continue
        method, path = request.replace("{", "").replace("}", "").split(" ")
        answer = service.anonymous().request(method, path, headers=link)
        assert answer.status_code == 403, request


@on_sqlite
def test_a_subscription_of_a_server_alone_has_settled(service: Service) -> None:
    made = service.client.post("/v1/subscriptions?wait=settled", json={"filter": "brand = mini"})
    assert (made.status_code, made.json()["settled"]) == (201, True)
    assert "settled" not in service.client.post("/v1/subscriptions", json={"filter": "brand = opel"}).json()


@on_sqlite
def test_the_page_of_a_server_without_a_name(service: Service) -> None:
    service.store.change_account("tester", None, frozenset(SCOPES))
    headers = {"cookie": f"tidings_session={token_of(service, 'tester', *SCOPES)['authorization'].split()[1]}"}
    answer = service.anonymous().get("/pages/network", headers=headers | {"accept": "text/html"})
    assert answer.status_code == 200
    assert "no name" in answer.text
