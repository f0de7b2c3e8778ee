"""A server without a name has no network; a link's token may do nothing but link."""

from tests.service.conftest import Service, on_sqlite
from tidings.schema import Instant
from tidings.service.door.callers import digest_of, new_token
from tidings.service.door.scopes import HTTP, NETWORK, NOTHING
from tidings.settings import SCOPES
from tidings.store.accounts.accounts import Account, Token


def token_of(service: Service, username: str, *scopes: str) -> dict[str, str]:
    token = new_token()
    kind = "link" if scopes == ("link",) else "token"
    service.store.add_token(Token(digest_of(token), username, kind, "", frozenset(scopes), Instant(0), None))
    return {"authorization": f"Bearer {token}"}


@on_sqlite
def test_every_route_of_the_network_with_every_token(service: Service) -> None:
    service.store.add_account(Account("owner", "", frozenset(SCOPES), Instant(0)))
    everything, link = token_of(service, "owner", *SCOPES), token_of(service, "", "link")
    for request, need in NETWORK.items():
        method, path = request.replace("{name}", "berlin").split(" ")
        answers = {}
        for who, headers in (("nobody", {}), ("operator", everything), ("link", link)):
            query = {"filter": "brand = mini"} if path.endswith("events") else None
            answer = service.anonymous().request(method, path, params=query, json={}, headers=headers)
            answers[who] = answer.status_code
        right, wrong = ("operator", "link") if need != "link" else ("link", "operator")
        assert answers == {"nobody": 401, wrong: 403, right: 404}, request  # it has no name


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
