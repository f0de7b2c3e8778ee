"""Accounts and tokens over HTTP."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest
from argon2 import PasswordHasher

from tests.service.conftest import PASSWORD, Service, car, on_sqlite
from tidings.service.actions import accounts
from tidings.service.actions.accounts import Accounts
from tidings.service.door.callers import digest_of, new_token
from tidings.settings import SCOPES
from tidings.store import Account
from tidings.store.notifications.quotas import DEFAULT_QUOTA


def test_register_log_in_and_out(service: Service) -> None:
    client = service.anonymous()
    answer = client.post("/v1/accounts", json={"username": "ann", "password": PASSWORD})
    assert answer.status_code == 201
    assert answer.json()["username"] == "ann"
    assert answer.json()["scopes"] == ["publish", "subscribe", "read", "account", "schema"]  # on a loopback address
    first = answer.json()["token"]
    second = client.post("/v1/tokens", json={"username": "ann", "password": PASSWORD}).json()["token"]
    assert first.startswith("tid_")
    assert first != second
    for token in (first, second):
        assert _me(client, token).json()["username"] == "ann"
    assert client.delete("/v1/tokens/current", headers=_bearer(second)).status_code == 204
    assert _me(client, second).status_code == 401
    assert _me(client, first).status_code == 200


@on_sqlite
def test_an_old_hash_is_renewed_at_the_next_log_in(service: Service) -> None:
    before = service.store.account("tester")
    assert before is not None
    service.app.state.accounts.passwords.hasher = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    made = service.anonymous().post("/v1/tokens", json={"username": "tester", "password": PASSWORD})
    assert made.status_code == 201, made.text
    after = service.store.account("tester")
    assert after is not None
    assert "m=16,t=2,p=1" in after.password != before.password
    assert service.client.get("/v1/accounts/me").status_code == 200  # tokens stay
    again = service.anonymous().post("/v1/tokens", json={"username": "tester", "password": PASSWORD})
    assert again.status_code == 201
    unchanged = service.store.account("tester")
    assert unchanged == after


def test_the_store_has_neither_token_nor_password(service: Service) -> None:
    account = service.store.account("tester")
    assert account is not None
    assert account.password.startswith("$argon2id$")
    token = service.client.headers["Authorization"].removeprefix("Bearer ")
    (kept,) = service.store.tokens_of("tester")
    assert kept.digest == digest_of(token)


@on_sqlite
@pytest.mark.parametrize("username", ["ab", "Ann", "-ann", "a b c", "ann\n", "ü" * 5, "a" * 65, "nul\0"])
def test_an_illegal_username_is_refused_with_the_rule(service: Service, username: str) -> None:
    answer = service.anonymous().post("/v1/accounts", json={"username": username, "password": PASSWORD})
    assert answer.status_code == 422
    assert answer.json()["type"] == "/problems/invalid-username"
    assert "3 to 64 lower-case letters" in answer.json()["detail"]


@on_sqlite
@pytest.mark.parametrize("password", ["short", "x" * 1001, "zero\0zero\0"])
def test_an_illegal_password_is_refused(service: Service, password: str) -> None:
    answer = service.anonymous().post("/v1/accounts", json={"username": "ann", "password": password})
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-password")


def test_a_name_is_taken_once(service: Service) -> None:
    for name in ("tester", "operator"):
        answer = service.anonymous().post("/v1/accounts", json={"username": name, "password": PASSWORD})
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/account-exists")


@on_sqlite
def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(service: Service) -> None:
    client = service.anonymous()
    wrong = client.post("/v1/tokens", json={"username": "tester", "password": "not this one"})
    unknown = client.post("/v1/tokens", json={"username": "nobody", "password": "not this one"})
    odd = client.post("/v1/tokens", json={"username": "no\0body", "password": "x" * 5000})
    assert wrong.status_code == unknown.status_code == odd.status_code == 401
    first, *others = [{**answer.json(), "request_id": ""} for answer in (wrong, unknown, odd)]
    assert others == [first, first]


@on_sqlite
def test_guessing_is_slowed_down_by_name_and_address(service: Service) -> None:
    now = 0.0
    accounts = Accounts(service.gateway, clock=lambda: now)
    service.app.state.accounts = accounts
    client = service.anonymous()
    guesses = [client.post("/v1/tokens", json={"username": "tester", "password": f"guess {n}"}) for n in range(11)]
    assert [guess.status_code for guess in guesses] == [401] * 10 + [429]
    assert int(guesses[-1].headers["Retry-After"]) == 10
    right = {"username": "tester", "password": PASSWORD}
    assert client.post("/v1/tokens", json=right).status_code == 429  # even that, or the throttle would tell it
    assert service.joined("ann").get("/v1/accounts/me").status_code == 200  # others are not held up
    now = 11.0
    assert client.post("/v1/tokens", json=right).status_code == 201


@on_sqlite
def test_logging_in_often_with_the_right_password_is_no_guessing(service: Service) -> None:
    client = service.anonymous()
    answers = [client.post("/v1/tokens", json={"username": "tester", "password": PASSWORD}) for _ in range(12)]
    assert {answer.status_code for answer in answers} == {201}


def test_a_token_may_have_a_name_fewer_scopes_and_an_end(service: Service) -> None:
    asked = {"name": "sensor", "scopes": ["publish"], "expires": "2999-01-01T00:00:00Z"}
    answer = service.anonymous().post("/v1/tokens", json={"username": "tester", "password": PASSWORD, **asked})
    assert answer.json()["scopes"] == ["publish"]
    token = answer.json()["token"]
    listed = service.client.get("/v1/tokens").json()["items"]
    assert [(one["name"], one["scopes"], one["expires"], one["current"]) for one in listed] == [
        ("registration", ["publish", "subscribe", "read", "account", "schema"], None, True),
        ("sensor", ["publish"], "2999-01-01T00:00:00Z", False),
    ]
    assert token not in str(listed)
    refused = service.anonymous().get("/v1/subscriptions", headers=_bearer(token))
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/insufficient-scope")
    assert service.client.delete(f"/v1/tokens/{listed[1]['id']}").status_code == 204
    assert _me(service.anonymous(), token).status_code == 401


@on_sqlite
def test_a_token_cannot_have_more_than_its_account_or_end_in_the_past(service: Service) -> None:
    right = {"username": "tester", "password": PASSWORD}
    more = service.anonymous().post("/v1/tokens", json={**right, "scopes": ["operate"]})
    assert (more.status_code, more.json()["type"]) == (403, "/problems/insufficient-scope")
    for expires in ("2001-01-01", "soon"):
        answer = service.anonymous().post("/v1/tokens", json={**right, "expires": expires})
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-time")


def test_another_users_token_cannot_be_taken_back(service: Service) -> None:
    ann = service.joined("ann")
    (token,) = ann.get("/v1/tokens").json()["items"]
    answer = service.client.delete(f"/v1/tokens/{token['id']}")
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-such-token")
    assert ann.get("/v1/accounts/me").status_code == 200


def test_a_new_password_takes_all_other_tokens_back(service: Service) -> None:
    other = service.anonymous().post("/v1/tokens", json={"username": "tester", "password": PASSWORD}).json()["token"]
    assert _me(service.anonymous(), other).status_code == 200
    wrong = service.client.post("/v1/accounts/me/password", json={"old": "not this one", "new": "another password"})
    assert (wrong.status_code, wrong.json()["type"]) == (401, "/problems/wrong-password")
    answer = service.client.post("/v1/accounts/me/password", json={"old": PASSWORD, "new": "another password"})
    assert answer.status_code == 204
    assert _me(service.anonymous(), other).status_code == 401
    assert service.client.get("/v1/accounts/me").status_code == 200
    log_in = {"username": "tester", "password": "another password"}
    assert service.anonymous().post("/v1/tokens", json=log_in).status_code == 201
    assert service.anonymous().post("/v1/tokens", json={**log_in, "password": PASSWORD}).status_code == 401


def test_only_an_operator_sets_quotas(service: Service) -> None:
    assert service.client.put("/v1/accounts/tester/quota", json={"matches_per_minute": 7}).status_code == 403
    assert service.store.quotas().at("tester", service.store.tail()) == DEFAULT_QUOTA
    token = new_token()
    assert service.store.add_operator(digest_of(token))
    operator = service.anonymous()
    operator.headers.update(_bearer(token))
    answer = operator.put("/v1/accounts/tester/quota", json={"matches_per_minute": 7})
    assert answer.json() == {"username": "tester", "matches_per_minute": 7}
    assert service.store.quotas().at("tester", service.store.tail()) == 7
    assert operator.put("/v1/accounts/nobody/quota", json={"matches_per_minute": 7}).status_code == 404
    assert operator.put("/v1/accounts/tester/quota", json={"matches_per_minute": -1}).status_code == 422


def test_only_an_operator_gives_scopes(service: Service) -> None:
    for client in (service.client, service.joined("ann")):
        answer = client.patch("/v1/accounts/tester", json={"scopes": ["operate"]})
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/insufficient-scope")
    token = new_token()
    assert service.store.add_operator(digest_of(token))
    operator = service.anonymous()
    operator.headers.update(_bearer(token))
    answer = operator.patch("/v1/accounts/tester", json={"scopes": ["publish"]})
    assert answer.status_code == 200
    assert answer.json()["scopes"] == ["publish"]
    assert service.client.get("/v1/subscriptions").status_code == 401  # its token could do more, so it is gone
    assert operator.patch("/v1/accounts/nobody", json={"scopes": []}).status_code == 404
    assert operator.patch("/v1/accounts/a%00b", json={"scopes": []}).status_code == 404
    assert operator.patch("/v1/accounts/tester", json={"scopes": ["rule"]}).status_code == 422


@on_sqlite
def test_nobody_registers_when_that_is_closed(service: Service) -> None:
    service.gateway.settings = replace(service.settings, registration=False)
    answer = service.anonymous().post("/v1/accounts", json={"username": "ann", "password": PASSWORD})
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/registration-closed")


def test_a_disabled_account_cannot_log_in(service: Service) -> None:
    body = {"username": "tester", "password": PASSWORD}
    assert service.store.disable_account("tester") == 0
    service.gateway.callers.forget()  # which happens by itself within five seconds
    assert service.client.get("/v1/accounts/me").status_code == 401
    answer = service.anonymous().post("/v1/tokens", json=body)
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/account-disabled")
    guess = service.anonymous().post("/v1/tokens", json={**body, "password": "not this one"})
    assert (guess.status_code, guess.json()["type"]) == (401, "/problems/wrong-password")
    assert service.store.enable_account("tester")
    assert service.anonymous().post("/v1/tokens", json=body).status_code == 201


def test_a_deleted_account_is_as_if_it_never_was_but_for_its_name(service: Service) -> None:
    body = {"username": "tester", "password": PASSWORD}
    remembered = service.client.get("/v1/accounts/me")
    assert remembered.status_code == 200
    assert service.store.delete_account("tester") is not None
    refused = service.client.post("/v1/subscriptions", json={"filter": "year > 1"})  # the gateway still knows the token
    assert (refused.status_code, refused.json()["type"]) == (403, "/problems/account-disabled")
    assert service.anonymous().post("/v1/tokens", json=body).json()["type"] == "/problems/wrong-password"
    again = service.anonymous().post("/v1/accounts", json=body)
    assert (again.status_code, again.json()["type"]) == (409, "/problems/account-exists")


def test_an_account_deletes_itself_with_its_password(service: Service) -> None:
    other = service.anonymous().post("/v1/tokens", json={"username": "tester", "password": PASSWORD}).json()["token"]
    id = service.client.post("/v1/subscriptions", json={"filter": "year > 1"}).json()["id"]
    published = service.client.post("/v1/events", json=car("mine")).json()["position"]
    mine = service.client.headers["Authorization"].removeprefix("Bearer ")
    wrong = service.client.post("/v1/accounts/me/delete", json={"password": "not this one"})
    assert (wrong.status_code, wrong.json()["type"]) == (401, "/problems/wrong-password")
    assert service.store.subscription(id).state == "active"
    answer = service.client.post("/v1/accounts/me/delete", json={"password": PASSWORD})
    assert answer.json() == {"username": "tester", "subscriptions": 1, "deliveries": 0}
    assert service.store.subscriptions("tester") == []
    assert [_me(service.anonymous(), token).status_code for token in (other, mine)] == [401, 401]
    assert service.joined("ann").get(f"/v1/events/{published}").status_code == 200, "published events stay"


def test_the_last_operator_cannot_delete_its_account(service: Service) -> None:
    assert service.store.change_account("tester", None, frozenset(SCOPES))
    body = {"username": "tester", "password": PASSWORD}
    token = service.anonymous().post("/v1/tokens", json=body).json()["token"]
    answer = service.anonymous().post("/v1/accounts/me/delete", json={"password": PASSWORD}, headers=_bearer(token))
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/last-operator")
    assert _me(service.anonymous(), token).status_code == 200


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _me(client: httpx.Client, token: str) -> httpx.Response:
    return client.get("/v1/accounts/me", headers=_bearer(token))


@on_sqlite
def test_names_that_nobody_can_have_share_one_throttle(service: Service) -> None:
    service.app.state.accounts = Accounts(service.gateway, clock=lambda: 0.0)
    client = service.anonymous()
    names = ["X" * 1_000 + str(number) for number in range(11)]
    guesses = [client.post("/v1/tokens", json={"username": name, "password": "guess 123"}) for name in names]
    assert [guess.status_code for guess in guesses] == [401] * 10 + [429]


@on_sqlite
@pytest.mark.parametrize("path", ["/v1/accounts", "/v1/tokens", "/v1/accounts/me/password", "/v1/accounts/me/delete"])
def test_bodies_about_accounts_are_small(service: Service, path: str) -> None:
    answer = service.client.post(path, json={"username": "x" * (1 << 16), "password": PASSWORD})
    assert (answer.status_code, answer.json()["type"]) == (413, "/problems/body-too-large")


@on_sqlite
def test_whoever_only_reads_does_not_wait_for_accounts_to_be_written(service: Service) -> None:
    def log_in() -> int:
        body = {"username": "tester", "password": PASSWORD}
        return httpx.post(f"{service.address}/v1/tokens", json=body, timeout=60).status_code

    with ThreadPoolExecutor(6) as pool:
        with service.store.database.writing("accounts"):
            waiting = [pool.submit(log_in) for _ in range(6)]
            seen = [service.client.get("/v1/accounts/me", timeout=20).status_code for _ in range(100)]
            time.sleep(1)  # until all passwords are verified, on a machine that is not too busy
            seen.append(service.client.get("/v1/accounts/me", timeout=20).status_code)
            assert not any(one.done() for one in waiting)
        assert {one.result() for one in waiting} == {201}
    assert set(seen) == {200}


@on_sqlite
def test_the_oldest_token_makes_room(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "MOST_TOKENS", 3)
    right = {"username": "tester", "password": PASSWORD}
    for number in range(4):
        assert service.anonymous().post("/v1/tokens", json={**right, "name": str(number)}).status_code == 201
    assert [one.name for one in service.store.tokens_of("tester")] == ["1", "2", "3"]


@on_sqlite
def test_a_password_that_was_changed_meanwhile_gives_no_token(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    prove = Accounts.prove

    async def slowly(self: Accounts, username: str, password: str, address: str) -> Account:
        account = await prove(self, username, password, address)
        service.store.change_account(username, "another hash")
        return account

    monkeypatch.setattr(Accounts, "prove", slowly)
    answer = service.anonymous().post("/v1/tokens", json={"username": "tester", "password": PASSWORD})
    assert (answer.status_code, answer.json()["type"]) == (401, "/problems/wrong-password")
    assert [one.name for one in service.store.tokens_of("tester")] == ["registration"]
    again = service.client.post("/v1/accounts/me/password", json={"old": PASSWORD, "new": "another password"})
    assert (again.status_code, again.json()["type"]) == (401, "/problems/wrong-password")


def test_a_tokens_name_has_no_zero(service: Service) -> None:
    right = {"username": "tester", "password": PASSWORD}
    answer = service.anonymous().post("/v1/tokens", json={**right, "name": "a\0b"})
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-body")
    assert service.anonymous().post("/v1/tokens", json={**right, "name": "a b\n"}).status_code == 201


def test_the_last_operator_stays_one(service: Service) -> None:
    token = new_token()
    assert service.store.add_operator(digest_of(token))
    operator = service.anonymous()
    operator.headers.update(_bearer(token))
    refused = operator.patch("/v1/accounts/operator", json={"scopes": ["publish"]})
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/last-operator")
    assert operator.patch("/v1/accounts/tester", json={"scopes": ["operate"]}).status_code == 200
    assert operator.patch("/v1/accounts/operator", json={"scopes": ["publish"]}).status_code == 200
    assert operator.get("/v1/accounts/me").status_code == 401  # its token could do more
